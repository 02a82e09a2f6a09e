//! Searches one opened file, by the searcher that its size and its bytes ask for.
//!
//! ripgrep's own searcher finds the lines; what a NUL does is left to it wherever there is one,
//! since its answer depends on the 64 KiB pieces it reads.

use std::io;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

use crate::halt::Halt;
use crate::lines::{Sought, Take};
use crate::page;
use crate::query::{BinaryFlavour, Query, Reason, WantKind};
use crate::read::{self, Noticed, Permit, Steadiness, Stream};
use crate::scope::File;
use crate::stoppable::Stoppable;

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
        let plain = searcher(query, BinaryDetection::none(), false);
        // A pattern that can match no line end is searched for line by line all the same.
        let multi_line = plain.multi_line_with_matcher(matcher);
        Seeker { query, matcher: matcher.clone(), plain, buffer: Vec::new(), multi_line }
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
            return Ok(Sought::left_out(Reason::TooLarge));
        }
        let quits = walked && self.query.reading.binary == BinaryFlavour::Nul;
        if self.multi_line {
            return self.seek_across_lines(file, quits, halt);
        }
        if size <= read::WHOLE_BYTES {
            let steadiness = read::whole(file, &mut self.buffer, read::WHOLE_BYTES, halt)?;
            if self.buffer.len() as u64 <= read::WHOLE_BYTES {
                return self.seek_whole(steadiness, quits, halt);
            }
            // It grew out of being small, or has no size at all.
            file.rewind()?;
        }
        self.seek_stream(file, quits, halt)
    }

    /// A match across lines needs the file whole.
    fn seek_across_lines(
        &mut self,
        file: &mut File,
        quits: bool,
        halt: &Halt<'_>,
    ) -> Result<Sought, i32> {
        let most = read::MULTI_LINE_BYTES;
        if file.meta.size > most {
            return Ok(Sought::left_out(Reason::TooLarge));
        }
        let Some(permit) = Permit::for_bytes(file.meta.size, halt) else {
            return Ok(Sought::nothing(0));
        };
        let steadiness = read::whole(file, &mut self.buffer, most, halt)?;
        let sought = if self.buffer.len() as u64 > most {
            Ok(Sought::left_out(Reason::TooLarge))
        } else {
            self.seek_whole(steadiness, quits, halt)
        };
        if permit.is_held() {
            // The searcher, too, keeps what it has decoded.
            self.buffer = Vec::new();
            self.plain = searcher(self.query, BinaryDetection::none(), false);
        }
        sought
    }

    /// Searches what the buffer holds.
    fn seek_whole(
        &mut self,
        steadiness: Steadiness,
        quits: bool,
        halt: &Halt<'_>,
    ) -> Result<Sought, i32> {
        // UTF-16 is full of them, and is text once it is decoded.
        let decoded = !quits && read::is_utf16(&self.buffer);
        let nul = memchr::memchr(0, &self.buffer).filter(|_| !decoded).map(|at| at as u64);
        let noticed = Noticed::default();
        noticed.nul.set(nul);
        let mut take =
            Take::new(self.query, &self.matcher, halt, &noticed, !quits, self.multi_line);
        let matcher = Stoppable { matcher: &self.matcher, halt };
        let outcome = if nul.is_none() || !quits {
            self.plain.search_slice(&matcher, &self.buffer, &mut take)
        } else {
            // A searcher of its own, for a buffer that no other file has stretched.
            let mut fresh = searcher(self.query, BinaryDetection::quit(0), false);
            if self.multi_line {
                fresh.search_slice(&matcher, &self.buffer, &mut take)
            } else {
                fresh.search_reader(&matcher, &self.buffer[..], &mut take)
            }
        };
        let mut sought = take.sought(self.buffer.len() as u64);
        unless_halted(outcome, halt)?;
        if steadiness == Steadiness::Changing {
            sought.notes.push(Reason::Changing);
        }
        Ok(sought)
    }

    /// Searches a large file in pieces; again, if it changed meanwhile.
    fn seek_stream(
        &mut self,
        file: &mut File,
        quits: bool,
        halt: &Halt<'_>,
    ) -> Result<Sought, i32> {
        let utf16 = file.meta.size > read::WHOLE_BYTES && starts_as_utf16(file)?;
        if utf16 && file.meta.size > read::LINE_BYTES as u64 {
            // Its lines can't be told from its bytes, and so neither their length.
            return Ok(Sought::left_out(Reason::TooLarge));
        }
        let bytes = if utf16 { file.meta.size } else { 0 };
        let Some(_permit) = Permit::for_bytes(bytes, halt) else {
            return Ok(Sought::nothing(0));
        };
        let detection = if quits { BinaryDetection::quit(0) } else { BinaryDetection::none() };
        let matcher = Stoppable { matcher: &self.matcher, halt };
        let numbered = self.query.want.kind == WantKind::Counts;
        let mut attempt = 1;
        loop {
            let noticed = Noticed::default();
            let mut stream = Stream::new(file, halt, &noticed, !quits && !utf16);
            let mut take =
                Take::new(self.query, &self.matcher, halt, &noticed, !quits, self.multi_line);
            let outcome = searcher(self.query, detection.clone(), numbered).search_reader(
                &matcher,
                &mut stream,
                &mut take,
            );
            let given = stream.given();
            drop(stream);
            let mut sought = take.sought(given);
            if outcome.as_ref().is_err_and(|error| error.raw_os_error().is_none()) && !halt.now() {
                // Lines of context that don't fit into the buffer any more.
                sought.notes.push(Reason::TooLarge);
                return Ok(sought);
            }
            unless_halted(outcome, halt)?;
            if noticed.long_line.get() {
                sought.notes.push(Reason::LongLine);
            }
            if !file.moved_on()? || halt.now() {
                return Ok(sought);
            }
            if attempt == read::ATTEMPTS {
                sought.notes.push(Reason::Changing);
                return Ok(sought);
            }
            attempt += 1;
            file.rewind()?;
        }
    }
}

fn starts_as_utf16(file: &File) -> Result<bool, i32> {
    let mut start = [0; 2];
    let read = file.read_into(&mut start).map_err(|error| error.raw_os_error().unwrap_or(5))?;
    file.rewind()?;
    Ok(read::is_utf16(&start[..read]))
}

/// The system's number of a failed reading; a query that has to stop fails its readings itself.
fn unless_halted(outcome: io::Result<()>, halt: &Halt<'_>) -> Result<(), i32> {
    const INPUT_OUTPUT: i32 = 5;
    match outcome {
        Err(error) if !halt.now() => Err(error.raw_os_error().unwrap_or(INPUT_OUTPUT)),
        _ => Ok(()),
    }
}

/// `numbered` where counting needs to tell lines from windows of a long one.
fn searcher(query: &Query, binary: BinaryDetection, numbered: bool) -> Searcher {
    let lines = query.want.kind == WantKind::Lines;
    SearcherBuilder::new()
        .binary_detection(binary)
        .line_number(lines || numbered)
        .multi_line(query.pattern.as_ref().is_some_and(|pattern| pattern.multi_line))
        .before_context(if lines { query.want.before } else { 0 })
        .after_context(if lines { query.want.after } else { 0 })
        .heap_limit(Some(read::BUFFER_BYTES))
        .max_matches(page::lines_of_one_file(&query.page))
        .build()
}
