//! Match, step two: compiles a pattern, with ripgrep's own regex crate and settings.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::error::Error;
use crate::query::{BinaryFlavour, Pattern};

/// The compiled pattern may take this much memory; ripgrep's figure, which its error text names.
const COMPILED_BYTES: usize = 100 << 20;
/// What one thread's lazy automaton may take. It changes speed only, never an answer.
const AUTOMATON_BYTES: usize = 16 << 20;

/// Compiles a pattern.
pub(crate) fn compile(pattern: &Pattern, binary: BinaryFlavour) -> Result<RegexMatcher, Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(pattern.ignore_case)
        .case_smart(pattern.smart_case)
        .fixed_strings(pattern.literal)
        .word(pattern.word)
        .whole_line(pattern.whole_line)
        .size_limit(COMPILED_BYTES)
        .dfa_size_limit(AUTOMATON_BYTES);
    if !pattern.multi_line {
        builder.line_terminator(Some(b'\n'));
    }
    if binary == BinaryFlavour::Nul {
        builder.ban_byte(Some(0));
    }
    builder.build_many(&[&pattern.text]).map_err(|error| Error::Pattern(error.to_string()))
}
