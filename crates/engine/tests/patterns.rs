//! Patterns: pattern and text in, numbers of matching lines out; and the words of bad ones.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::error::Error;
use engine::query::{BinaryFlavour, Pattern};
use tree::{Tree, regex};

fn lines_of(tree: &Tree, pattern: Pattern, text: &[u8]) -> Vec<u64> {
    tree.file("text", text);
    let mut query = tree.lines("");
    query.pattern = Some(pattern);
    let answer = tree.ask(&query);
    let lines = answer.hits.iter().flat_map(|hit| &hit.lines);
    lines.map(|line| line.number).collect()
}

/// Why, the pattern, the text, the numbers of its matching lines.
type Case<'a> = (&'a str, &'a str, &'a str, &'a [u64]);

const PLAIN: &[Case<'_>] = &[
    ("a word", "b", "a\nb\nab\n", &[2, 3]),
    ("nothing", "x", "a\nb\n", &[]),
    ("an empty pattern fits every line", "", "a\n\nb", &[1, 2, 3]),
    ("but none of an empty file", "", "", &[]),
    ("an empty line", "^$", "a\n\nb\n", &[2]),
    ("line starts", "^b", "ab\nba\n", &[2]),
    ("line ends", "b$", "ab\nba\nb", &[1, 3]),
    ("the last line end begins no line", "$", "a\n", &[1]),
    ("a carriage return is text", "a$", "a\r\na\n", &[2]),
    ("a dot fits no line end", "a.b", "a\nb\na-b\n", &[3]),
    ("a dot fits one letter, not one byte", "^.$", "é\nee\n", &[1]),
    ("nor a byte that is no text", "^.$", "\u{fffd}\n", &[1]),
    ("case counts", "A", "a\nA\n", &[2]),
    ("unless told otherwise", "(?i)A", "a\nA\n", &[1, 2]),
    ("Unicode classes", r"^\w+$", "größe\n--\n", &[1]),
    ("Unicode digits", r"^\d$", "٣\nx\n", &[1]),
    ("word ends", r"\bb\b", "ab\na b\n", &[2]),
    ("alternatives", "a|c", "a\nb\nc\n", &[1, 3]),
    ("a class that leaves out", "[^a]", "a\nab\n", &[2]),
    ("a negated class does not cross lines", "a[^x]b", "a\nb\na-b", &[3]),
    ("white space does not cross lines", r"a\sb", "a\nb\na b\n", &[3]),
    ("repetition", "^a{2,3}$", "a\naa\naaa\naaaa\n", &[2, 3]),
    ("the start of the text is that of each line", r"\Ab", "b\nb\n", &[1, 2]),
    ("lines without any line end", "a", "a", &[1]),
];

#[test]
fn patterns_find_the_lines_that_ripgrep_finds() {
    let tree = Tree::new();
    for (reason, pattern, text, expected) in PLAIN {
        let found = lines_of(&tree, regex(pattern), text.as_bytes());
        assert_eq!(*expected, found, "{reason}: {pattern:?} in {text:?}");
    }
}

const CASELESS: &[Case<'_>] = &[
    ("letters", "straße", "STRASSE\nSTRAßE\n", &[2]),
    ("simple folding alone", "k", "K\n\u{212a}\n", &[1, 2]),
    ("classes too", "[a-b]", "B\nC\n", &[1]),
];

#[test]
fn case_is_ignored_where_asked() {
    let tree = Tree::new();
    for (reason, pattern, text, expected) in CASELESS {
        let pattern = Pattern { ignore_case: true, ..regex(pattern) };
        assert_eq!(*expected, lines_of(&tree, pattern, text.as_bytes()), "{reason}");
    }
}

const LITERAL: &[Case<'_>] = &[
    ("points", "a.b", "a.b\naxb\n", &[1]),
    ("open brackets", "f(", "f(\nf\n", &[1]),
    ("a backslash", "\\d", "\\d\n1\n", &[1]),
];

#[test]
fn a_literal_stands_for_itself() {
    let tree = Tree::new();
    for (reason, pattern, text, expected) in LITERAL {
        let pattern = Pattern { literal: true, ..regex(pattern) };
        assert_eq!(*expected, lines_of(&tree, pattern, text.as_bytes()), "{reason}");
    }
}

const WORDS: &[Case<'_>] = &[
    ("whole ones", "foo", "foo\nfoobar\na foo b\n_foo\n", &[1, 3]),
    ("all alternatives", "foo|bar", "foo\nbarn\nbar\n", &[1, 3]),
    ("a later match in the line counts", "foo", "foobar foo\n", &[1]),
    ("a sign at the edge is none, but needs no word before it", "-2", "a-2\n -2 \n", &[2]),
];

#[test]
fn a_word_has_no_word_beside_it() {
    let tree = Tree::new();
    for (reason, pattern, text, expected) in WORDS {
        let pattern = Pattern { word: true, ..regex(pattern) };
        assert_eq!(*expected, lines_of(&tree, pattern, text.as_bytes()), "{reason}");
    }
}

const ACROSS: &[Case<'_>] = &[
    ("a line end in the pattern", "a\nb", "a\nb\nc\n", &[1, 2]),
    ("white space crosses lines", r"a\sb", "a\nb\n", &[1, 2]),
    ("a dot does not", "a.b", "a\nb\n", &[]),
    ("unless told", "(?s)a.b", "a\nb\n", &[1, 2]),
    ("the start of the text is one", r"\Aa", "a\na\n", &[1]),
    ("line starts are many", "^a", "a\na\n", &[1, 2]),
    ("a match that ends with its line end takes no next line", "a\n", "a\nb\n", &[1]),
    ("no line behind the last line end", "^$", "a\n", &[]),
    ("an empty pattern fits every line", "", "a\n\nb", &[1, 2, 3]),
];

#[test]
fn a_match_crosses_line_ends_where_asked() {
    let tree = Tree::new();
    for (reason, pattern, text, expected) in ACROSS {
        let pattern = Pattern { multi_line: true, ..regex(pattern) };
        assert_eq!(*expected, lines_of(&tree, pattern, text.as_bytes()), "{reason}");
    }
}

#[test]
fn bytes_that_are_no_text_are_found_by_their_numbers() {
    let tree = Tree::new();
    assert_eq!([2], *lines_of(&tree, regex(r"(?-u)\xff"), b"a\n\xff\n"));
    assert_eq!([2], *lines_of(&tree, regex("b"), b"\xff-\n\xffb\xff\n"));
    assert_eq!([1], *lines_of(&tree, regex("^[^a]$|^-"), b"-\n\xff\n"));
}

#[test]
fn a_bad_pattern_fails_the_query_in_ripgreps_words() {
    let cases = [
        ("(", false, "regex parse error:\n    (?:()\n    ^\nerror: unclosed group"),
        (
            "a{2,1}",
            false,
            "regex parse error:\n    (?:a{2,1})\n        ^^^^^\nerror: invalid repetition count range, the start must be <= the end",
        ),
        (
            r"(?<=a)b",
            false,
            "regex parse error:\n    (?:(?<=a)b)\n       ^^^^\nerror: look-around, including look-ahead and look-behind, is not supported",
        ),
        (
            r"(a)\1",
            false,
            "regex parse error:\n    (?:(a)\\1)\n          ^^\nerror: backreferences are not supported",
        ),
        ("a\nb", false, "the literal \"\\n\" is not allowed in a regex"),
        (r"a\nb", false, "the literal \"\\n\" is not allowed in a regex"),
        ("a\nb", true, "the literal \"\\n\" is not allowed in a regex"),
        (r"a\x00b", false, "pattern contains \"\\0\" but it is impossible to match"),
    ];
    let tree = Tree::new();
    for (text, literal, words) in cases {
        let mut query = tree.query();
        query.pattern = Some(Pattern { literal, ..regex(text) });
        let expected = Error::Pattern(words.to_owned());
        assert_eq!(Some(expected), tree.try_ask(&query).err(), "{text:?}");
    }
}

#[test]
fn a_pattern_with_a_nul_is_taken_where_nothing_is_binary() {
    let tree = Tree::of(&[("x", "a\0b\n"), ("y", "ab\n")]);
    let mut query = tree.lines(r"a\x00b");
    query.reading.binary = BinaryFlavour::None;
    assert_eq!([r"x:1:a\x00b"], *tree.told(&query));
}

#[test]
fn a_pattern_too_large_to_compile_is_refused_soon() {
    let tree = Tree::new();
    let query = tree::matching(tree.query(), r"(\w{1000}){1000}");
    let error = tree.try_ask(&query).expect_err("too large");
    let expected = "compiled regex exceeds size limit of 104857600";
    assert_eq!(("pattern", expected), (error.kind(), &*error.to_string()));
}

#[test]
fn nesting_does_not_use_up_the_stack() {
    let tree = Tree::new();
    for text in ["(".repeat(100_000) + &")".repeat(100_000), "[".repeat(100_000)] {
        let query = tree::matching(tree.query(), &text);
        assert_eq!("pattern", tree.try_ask(&query).expect_err("too deep").kind());
    }
}
