//! A matcher that looks at the halt: ripgrep's, asked for a piece of the text at a time.
//!
//! One search of a regular expression can't be interrupted, and where text is not ASCII some run
//! at a few megabytes a second. So that a query stops within 10 ms, no more than `PIECE` is given
//! to one search, cut at a line end, where cutting changes no answer: a match never crosses one.
//! A single longer line, and a search across lines, are the exceptions.

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;

use crate::halt::Halt;

/// How much text one search is given; at 5 MB/s, 6 ms.
const PIECE: usize = 32 << 10;

/// The query has to stop.
#[derive(Debug)]
pub(crate) struct Halted;

impl std::fmt::Display for Halted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("halted")
    }
}

impl std::error::Error for Halted {}

/// ripgrep's matcher, in pieces.
pub(crate) struct Stoppable<'a> {
    pub(crate) matcher: &'a RegexMatcher,
    pub(crate) halt: &'a Halt<'a>,
}

impl Stoppable<'_> {
    fn go_on(&self) -> Result<(), Halted> {
        if self.halt.now() { Err(Halted) } else { Ok(()) }
    }
}

/// What never fails, as a result that can.
fn sure<T>(found: Result<T, grep_matcher::NoError>) -> Result<T, Halted> {
    found.map_err(|_| Halted)
}

impl Matcher for Stoppable<'_> {
    type Captures = NoCaptures;
    type Error = Halted;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, Halted> {
        self.go_on()?;
        sure(self.matcher.find_at(text, at))
    }

    fn new_captures(&self) -> Result<NoCaptures, Halted> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, Halted> {
        self.go_on()?;
        sure(self.matcher.shortest_match_at(text, at))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, Halted> {
        let mut start = 0;
        while text.len() - start > PIECE {
            self.go_on()?;
            let end = line_end_near(text, start + PIECE);
            let found = sure(self.matcher.find_candidate_line(&text[start..end]))?;
            match found {
                // Behind the last line end begins the next piece, which looks for itself what is
                // there: here it would seem to be an empty line.
                Some(LineMatchKind::Confirmed(at)) if start + at >= end && end < text.len() => {}
                Some(LineMatchKind::Confirmed(at)) => {
                    return Ok(Some(LineMatchKind::Confirmed(start + at)));
                }
                Some(LineMatchKind::Candidate(at)) => {
                    return Ok(Some(LineMatchKind::Candidate(start + at)));
                }
                None => {}
            }
            start = end;
        }
        let found = sure(self.matcher.find_candidate_line(&text[start..]))?;
        Ok(found.map(|found| match found {
            LineMatchKind::Confirmed(at) => LineMatchKind::Confirmed(start + at),
            LineMatchKind::Candidate(at) => LineMatchKind::Candidate(start + at),
        }))
    }
}

/// The end of the last line that ends before a place, or of the line that the place is in.
fn line_end_near(text: &[u8], place: usize) -> usize {
    let piece = &text[place - PIECE..place];
    match memchr::memrchr(b'\n', piece) {
        Some(at) => place - PIECE + at + 1,
        None => memchr::memchr(b'\n', &text[place..]).map_or(text.len(), |at| place + at + 1),
    }
}
