//! Match, step three: whether a file matches, how often, and its lines.
//!
//! Takes what ripgrep's searcher finds, and knows nothing of files and how they are read.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::halt::Halt;
use crate::query::{BinaryFlavour, Line, Query, Reason, WantKind};
use crate::read::{self, Noticed};
use crate::stoppable::Stoppable;

/// In a file that was named as a root, a NUL this early makes it binary when lines are wanted.
const BINARY_BYTES: u64 = 64 << 10;
/// The most ranges of matches that are told of one line.
const SPANS: usize = 100_000;
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

    pub(crate) fn nothing(bytes: u64) -> Sought {
        Sought { count: 0, lines: Vec::new(), binary: None, notes: Vec::new(), bytes }
    }

    pub(crate) fn left_out(reason: Reason) -> Sought {
        Sought { notes: vec![reason], ..Sought::nothing(0) }
    }
}

/// Takes what the searcher finds.
pub(crate) struct Take<'a> {
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
    /// The number of the last matching line.
    last: Option<u64>,
}

impl<'a> Take<'a> {
    pub(crate) fn new(
        query: &'a Query,
        matcher: &'a RegexMatcher,
        halt: &'a Halt<'a>,
        noticed: &'a Noticed,
        named: bool,
        multi_line: bool,
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
            last: None,
        }
    }

    /// A walked file with a NUL in what was read of it is no hit, but for lines found before.
    pub(crate) fn sought(self, bytes: u64) -> Sought {
        let mut sought = Sought { count: self.count, lines: self.lines, ..Sought::nothing(bytes) };
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
        let before = breaks.partition_point(|&at| at < offset) as u64;
        number.unwrap_or(0).saturating_sub(before)
    }

    /// Whether this is a further window of a long line that matched before.
    fn is_window_of_last(&mut self, number: u64) -> bool {
        let again = self.last == Some(number) && !self.noticed.breaks.borrow().is_empty();
        self.last = Some(number);
        again
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

    /// Calls `each` with every match within a found range, as ranges of the searcher's buffer,
    /// until it says no.
    fn matches(
        &self,
        found: &SinkMatch<'_>,
        mut each: impl FnMut((usize, usize)) -> bool,
    ) -> io::Result<()> {
        let range = found.bytes_range_in_buffer();
        // A match must not look past its own line, but may look back over the lines before.
        let end =
            if self.multi_line { found.buffer().len() } else { trimmed(found.buffer(), &range) };
        let matcher = Stoppable { matcher: self.matcher, halt: self.halt };
        matcher
            .find_iter_at(&found.buffer()[..end], range.start, |found| {
                found.start() < range.end && each((found.start(), found.end().min(range.end)))
            })
            .map_err(io::Error::other)
    }

    /// The ranges of the matches, where they are wanted.
    fn spans(&self, found: &SinkMatch<'_>) -> io::Result<Vec<(usize, usize)>> {
        let mut spans = Vec::new();
        if self.query.want.spans {
            self.matches(found, |span| {
                spans.push(span);
                self.multi_line || spans.len() < SPANS
            })?;
        }
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
            // ripgrep counts lines, but matches where this pattern may cross line ends.
            let number = self.number(found.line_number(), found.absolute_byte_offset());
            if self.multi_line {
                let mut count = 0;
                self.matches(found, |_| {
                    count += 1;
                    true
                })?;
                self.count += count.max(1);
            } else if !self.is_window_of_last(number) {
                self.count += 1;
            }
            return Ok(true);
        }
        let offset = found.absolute_byte_offset();
        if let Some(nul) = self.shows_binary(found.bytes(), offset) {
            self.count += 1;
            self.binary = Some(nul);
            return Ok(false);
        }
        let mut spans = self.spans(found)?.into_iter().peekable();
        let first = self.number(found.line_number(), offset);
        let mut start = found.bytes_range_in_buffer().start;
        for (number, line) in (first..).zip(found.lines()) {
            let end = start + line.len();
            let text = end - usize::from(line.ends_with(b"\n"));
            let mut own = Vec::new();
            while let Some(&(from, to)) = spans.peek()
                && from < end
            {
                if own.len() < SPANS {
                    own.push((from.max(start).min(text) - start, to.min(text) - start));
                }
                if to > end {
                    break;
                }
                spans.next();
            }
            if !self.is_window_of_last(number) {
                self.count += 1;
                self.push(line, number, true, own);
            }
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
