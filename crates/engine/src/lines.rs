//! Match, step three: whether a file matches, how often, and its lines.
//!
//! ripgrep's own searcher finds the lines; what a NUL does is left to it wherever there is one,
//! since its answer depends on the 64 KiB pieces it reads.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};

use crate::halt::Halt;
use crate::query::{BinaryFlavour, Line, Query, Reason, WantKind};
use crate::read::{self, Noticed, Permit, Steadiness, Stream};
use crate::scope::File;

/// In a file that was named as a root, a NUL this early makes it binary when lines are wanted.
const BINARY_BYTES: u64 = 64 << 10;
/// How many matches of one file may pass before the deadline is looked at.
const MATCHES_BETWEEN_LOOKS: u64 = 64;

/// What a file gave.
pub(crate) struct Sought {
    /// Matching lines; at least 1 for a hit.
    pub(crate) count: u64,
    pub(crate) lines: Vec<Line>,
    /// Where its first NUL was met, if its search ended there.
    pub(crate) binary: Option<u64>,
    /// What is to be told of it besides.
    pub(crate) notes: Vec<Reason>,
    /// Bytes read.
    pub(crate) bytes: u64,
}

impl Sought {
    pub(crate) fn is_hit(&self) -> bool {
        self.count > 0
    }
}

/// One thread's searcher with its buffers.
pub(crate) struct Seeker<'q> {
    query: &'q Query,
    matcher: RegexMatcher,
    /// For text without any NUL.
    plain: Searcher,
    buffer: Vec<u8>,
    multi_line: bool,
}

impl<'q> Seeker<'q> {
    pub(crate) fn new(query: &'q Query, matcher: &RegexMatcher) -> Seeker<'q> {
        Seeker {
            query,
            matcher: matcher.clone(),
            plain: searcher(query, BinaryDetection::none()),
            buffer: Vec::new(),
            multi_line: query.pattern.as_ref().is_some_and(|pattern| pattern.multi_line),
        }
    }

    /// Searches one file; `walked` where the walk met it, against being named as a root.
    /// The error is the system's number.
    pub(crate) fn seek(
        &mut self,
        file: &mut File,
        walked: bool,
        halt: &Halt<'_>,
    ) -> Result<Sought, i32> {
        let size = file.meta.size;
        if walked && self.query.reading.max_size.is_some_and(|most| size > most) {
            return Ok(left_out(Reason::TooLarge));
        }
        let quits_at_nul = walked && self.query.reading.binary == BinaryFlavour::Nul;
        if self.multi_line {
            if size > read::MULTI_LINE_BYTES {
                return Ok(left_out(Reason::TooLarge));
            }
            let Ok(permit) = Permit::for_size(size, halt) else {
                return Ok(nothing(0));
            };
            let sought = self.seek_whole(file, quits_at_nul, halt);
            if permit.is_some() {
                self.buffer = Vec::new();
            }
            return sought;
        }
        if size > read::WHOLE_BYTES {
            return self.seek_stream(file, quits_at_nul, halt);
        }
        self.seek_whole(file, quits_at_nul, halt)
    }

    fn seek_whole(&mut self, file: &mut File, quits: bool, halt: &Halt<'_>) -> Result<Sought, i32> {
        let steadiness = read::whole(file, &mut self.buffer)?;
        if self.buffer.len() as u64 > file.meta.size.max(read::WHOLE_BYTES) && !self.multi_line {
            // It grew out of being small, or has no size at all.
            file.rewind()?;
            return self.seek_stream(file, quits, halt);
        }
        // UTF-16 is full of them, and is text once it is decoded.
        let decoded = !quits && read::is_utf16(&self.buffer);
        let nul = memchr::memchr(0, &self.buffer).filter(|_| !decoded).map(|at| at as u64);
        let noticed = Noticed::default();
        noticed.nul.set(nul);
        let mut take =
            Take::new(self.query, &self.matcher, self.multi_line, halt, &noticed, !quits);
        let outcome =
            match (nul, quits, self.multi_line) {
                (Some(_), true, true) => searcher(self.query, BinaryDetection::quit(0))
                    .search_slice(&self.matcher, &self.buffer, &mut take),
                // A searcher of its own, for a buffer that no other file has stretched.
                (Some(_), true, false) => searcher(self.query, BinaryDetection::quit(0))
                    .search_reader(&self.matcher, &self.buffer[..], &mut take),
                _ => self.plain.search_slice(&self.matcher, &self.buffer, &mut take),
            };
        let mut sought = take.sought(self.buffer.len() as u64);
        if let Err(error) = outcome
            && !halt.now()
        {
            return Err(error.raw_os_error().unwrap_or(5));
        }
        if steadiness == Steadiness::Changing {
            sought.notes.push(Reason::Changing);
        }
        Ok(sought)
    }

    fn seek_stream(&mut self, file: &File, quits: bool, halt: &Halt<'_>) -> Result<Sought, i32> {
        let detection = if quits { BinaryDetection::quit(0) } else { BinaryDetection::none() };
        let noticed = Noticed::default();
        let mut stream = Stream::new(file, halt, &noticed, !quits);
        let mut take = Take::new(self.query, &self.matcher, false, halt, &noticed, !quits);
        let outcome =
            searcher(self.query, detection).search_reader(&self.matcher, &mut stream, &mut take);
        if let Err(error) = outcome
            && !halt.now()
        {
            return Err(error.raw_os_error().unwrap_or(5));
        }
        let mut sought = take.sought(file.meta.size);
        if noticed.long_line.get() {
            sought.notes.push(Reason::LongLine);
        }
        Ok(sought)
    }
}

fn searcher(query: &Query, binary: BinaryDetection) -> Searcher {
    let lines = query.want.kind == WantKind::Lines;
    SearcherBuilder::new()
        .binary_detection(binary)
        .line_number(lines)
        .multi_line(query.pattern.as_ref().is_some_and(|pattern| pattern.multi_line))
        .before_context(if lines { query.want.before } else { 0 })
        .after_context(if lines { query.want.after } else { 0 })
        .max_matches(query.page.per_file)
        .build()
}

fn nothing(bytes: u64) -> Sought {
    Sought { count: 0, lines: Vec::new(), binary: None, notes: Vec::new(), bytes }
}

fn left_out(reason: Reason) -> Sought {
    Sought { notes: vec![reason], ..nothing(0) }
}

/// Takes what the searcher finds.
struct Take<'a> {
    query: &'a Query,
    matcher: &'a RegexMatcher,
    multi_line: bool,
    halt: &'a Halt<'a>,
    noticed: &'a Noticed,
    /// Whether the file was named as a root: then a NUL ends lines, but never hides the file.
    named: bool,
    count: u64,
    lines: Vec<Line>,
    binary: Option<u64>,
}

impl<'a> Take<'a> {
    fn new(
        query: &'a Query,
        matcher: &'a RegexMatcher,
        multi_line: bool,
        halt: &'a Halt<'a>,
        noticed: &'a Noticed,
        named: bool,
    ) -> Take<'a> {
        Take {
            query,
            matcher,
            multi_line,
            halt,
            noticed,
            named,
            count: 0,
            lines: Vec::new(),
            binary: None,
        }
    }

    /// A walked file with a NUL in what was read of it is no hit, but for lines found before.
    fn sought(self, bytes: u64) -> Sought {
        let mut sought = Sought { count: self.count, lines: self.lines, ..nothing(bytes) };
        match self.binary {
            Some(_) if !self.named && self.query.want.kind != WantKind::Lines => {
                sought.count = 0;
                sought.notes.push(Reason::Binary);
            }
            Some(_) if sought.count == 0 => sought.notes.push(Reason::Binary),
            binary => sought.binary = binary,
        }
        sought
    }

    /// Whether this line shows a file that was named as a root to be binary.
    fn shows_binary(&self, bytes: &[u8], offset: u64) -> Option<u64> {
        if !self.named || self.query.reading.binary != BinaryFlavour::Nul {
            return None;
        }
        let nul = self.noticed.nul.get()?;
        if nul < BINARY_BYTES {
            return Some(nul);
        }
        memchr::memchr(0, bytes).map(|at| offset + at as u64)
    }

    /// The number of a line, less the line ends that windows of long lines put in.
    fn number(&self, number: Option<u64>, offset: u64) -> u64 {
        let breaks = self.noticed.breaks.borrow();
        let before = breaks.iter().filter(|&&at| at < offset).count() as u64;
        number.unwrap_or(0).saturating_sub(before)
    }

    fn push(&mut self, line: &[u8], number: u64, is_match: bool, spans: Vec<(usize, usize)>) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut kept = self.query.reading.line_bytes.unwrap_or(usize::MAX);
        if self.noticed.long_line.get() {
            kept = kept.min(read::LONG_LINE_KEPT);
        }
        self.lines.push(Line {
            number,
            bytes: line[..line.len().min(kept)].to_vec(),
            is_match,
            length: line.len(),
            spans,
        });
    }

    /// Every match within a found range, as ranges of the searcher's buffer.
    fn matches(&self, found: &SinkMatch<'_>) -> io::Result<Vec<(usize, usize)>> {
        let range = found.bytes_range_in_buffer();
        let mut spans = Vec::new();
        // A match must not look past its own line, but may look back over the lines before.
        let end =
            if self.multi_line { found.buffer().len() } else { trimmed(found.buffer(), &range) };
        self.matcher
            .find_iter_at(&found.buffer()[..end], range.start, |each| {
                if each.start() >= range.end {
                    return false;
                }
                spans.push((each.start(), each.end().min(range.end)));
                true
            })
            .map_err(io::Error::other)?;
        Ok(spans)
    }
}

/// The end of a line without its line end.
fn trimmed(buffer: &[u8], range: &std::ops::Range<usize>) -> usize {
    range.end - usize::from(buffer[range.clone()].ends_with(b"\n"))
}

impl Sink for Take<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.query.want.kind == WantKind::Files {
            self.count = 1;
            return Ok(false);
        }
        if self.count.is_multiple_of(MATCHES_BETWEEN_LOOKS) && self.halt.now() {
            return Ok(false);
        }
        if self.query.want.kind == WantKind::Counts {
            // ripgrep counts lines, but matches where they may cross line ends.
            self.count +=
                if self.multi_line { self.matches(found)?.len().max(1) as u64 } else { 1 };
            return Ok(true);
        }
        let offset = found.absolute_byte_offset();
        if let Some(nul) = self.shows_binary(found.bytes(), offset) {
            self.count += 1;
            self.binary = Some(nul);
            return Ok(false);
        }
        let spans = if self.query.want.spans { self.matches(found)? } else { Vec::new() };
        let first = self.number(found.line_number(), offset);
        let mut start = found.bytes_range_in_buffer().start;
        for (number, line) in (first..).zip(found.lines()) {
            let end = start + line.len();
            let text = end - usize::from(line.ends_with(b"\n"));
            let own = spans
                .iter()
                .filter(|span| span.0 < end && (span.1 > start || span.0 >= start))
                .map(|span| (span.0.max(start).min(text) - start, span.1.min(text) - start))
                .collect();
            self.count += 1;
            self.push(line, number, true, own);
            start = end;
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = self.number(context.line_number(), context.absolute_byte_offset());
        self.push(context.bytes(), number, false, Vec::new());
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        if !self.named {
            self.binary = finish.binary_byte_offset();
        }
        Ok(())
    }
}
