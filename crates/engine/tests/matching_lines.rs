//! Matching lines: context, spans, counts, line ends and cuts, as ripgrep has them.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::query::{Pattern, Query, Want, WantKind};
use tree::{Tree, regex};

/// Why, the pattern, lines of context before and after, the text, what is told.
type Case<'a> = (&'a str, &'a str, (usize, usize), &'a str, &'a [&'a str]);

const CONTEXT: &[Case<'_>] = &[
    ("none", "c", (0, 0), "a\nb\nc\nd\n", &["f:3:c"]),
    ("before", "c", (1, 0), "a\nb\nc\nd\n", &["f-2-b", "f:3:c"]),
    ("after", "c", (0, 1), "a\nb\nc\nd\n", &["f:3:c", "f-4-d"]),
    ("less where there is less", "a", (9, 9), "a\nb", &["f:1:a", "f-2-b"]),
    (
        "contexts that overlap are told once",
        "x",
        (2, 2),
        "a\nx\nb\nx\nc\n",
        &["f-1-a", "f:2:x", "f-3-b", "f:4:x", "f-5-c"],
    ),
    (
        "contexts that touch leave no gap",
        "x",
        (1, 1),
        "x\na\nb\nx\n",
        &["f:1:x", "f-2-a", "f-3-b", "f:4:x"],
    ),
    (
        "between others there is one",
        "x",
        (1, 1),
        "x\na\nb\nc\nx\n",
        &["f:1:x", "f-2-a", "f-4-c", "f:5:x"],
    ),
    ("a match within context is a match", "x", (0, 3), "x\nx\na\n", &["f:1:x", "f:2:x", "f-3-a"]),
    ("empty lines", "^$", (1, 1), "a\n\nb\n", &["f-1-a", "f:2:", "f-3-b"]),
    ("no line behind the last line end", "b", (0, 1), "a\nb\n", &["f:2:b"]),
    ("no line end at the end", "b", (1, 0), "a\nb", &["f-1-a", "f:2:b"]),
    (
        "a carriage return belongs to the line",
        "b",
        (1, 1),
        "a\r\nb\r\nc\r\n",
        &[r"f-1-a\r", r"f:2:b\r", r"f-3-c\r"],
    ),
    ("an old carriage return alone ends none", "b", (0, 0), "a\rb\rc", &[r"f:1:a\rb\rc"]),
];

#[test]
fn context_is_told_as_ripgrep_tells_it() {
    for (reason, pattern, (before, after), text, expected) in CONTEXT {
        let tree = Tree::of(&[("f", text)]);
        let mut query = tree.lines(pattern);
        (query.want.before, query.want.after) = (*before, *after);
        assert_eq!(*expected, tree.told(&query), "{reason}");
    }
}

/// Why, the pattern, the text, what is told.
type Spans<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

const SPANS: &[Spans<'_>] = &[
    ("every match of a line", "a", "aba\nb\na\n", &["f:1:aba [0..1,2..3]", "f:3:a [0..1]"]),
    ("bytes, not letters", "b", "éb\n", &["f:1:\\xc3\\xa9b [2..3]"]),
    ("leftmost and longest by rule, not overlapping", "aa", "aaaaa\n", &["f:1:aaaaa [0..2,2..4]"]),
    ("the first alternative wins", "a|ab", "ab\n", &["f:1:ab [0..1]"]),
    ("empty ones", "x*", "ab\n", &["f:1:ab [0..0,1..1,2..2]"]),
    ("at the end", "$", "ab\n", &["f:1:ab [2..2]"]),
    ("of empty lines", "^", "\na\n", &["f:1: [0..0]", "f:2:a [0..0]"]),
    ("what lies before counts", r"\bb", "a b\nab b\n", &["f:1:a b [2..3]", "f:2:ab b [3..4]"]),
    ("the carriage return is text", "b.", "b\r\n", &[r"f:1:b\r [0..2]"]),
    ("without line end", "a+$", "baa", &["f:1:baa [1..3]"]),
];

#[test]
fn spans_are_ranges_of_the_line() {
    for (reason, pattern, text, expected) in SPANS {
        let tree = Tree::of(&[("f", text)]);
        let mut query = tree.lines(pattern);
        query.want.spans = true;
        assert_eq!(*expected, tree.told(&query), "{reason}");
    }
}

const ACROSS: &[Spans<'_>] = &[
    ("each line has its part", "b\nc", "ab\ncd\n", &["f:1:ab [1..2]", "f:2:cd [0..1]"]),
    (
        "over three lines",
        "b\n.*\nc",
        "ab\nxyz\ncd\n",
        &["f:1:ab [1..2]", "f:2:xyz [0..3]", "f:3:cd [0..1]"],
    ),
    (
        "matches that share a line",
        "(?s)a.b",
        "a\nba\nb\n",
        &["f:1:a [0..1]", "f:2:ba [0..1,1..2]", "f:3:b [0..1]"],
    ),
    (
        "an empty line within",
        "a\n\nb",
        "a\n\nb\n",
        &["f:1:a [0..1]", "f:2: [0..0]", "f:3:b [0..1]"],
    ),
    ("the line end itself belongs to no line's part", "a\n", "a\nb\n", &["f:1:a [0..1]"]),
    ("matches on one line", "a", "aa\nb\n", &["f:1:aa [0..1,1..2]"]),
    ("matches that touch", "a\n", "a\na\nb\n", &["f:1:a [0..1]", "f:2:a [0..1]"]),
];

#[test]
fn spans_across_lines_are_shared_out() {
    for (reason, pattern, text, expected) in ACROSS {
        let tree = Tree::of(&[("f", text)]);
        let mut query = tree.lines("");
        query.pattern = Some(Pattern { multi_line: true, ..regex(pattern) });
        query.want.spans = true;
        assert_eq!(*expected, tree.told(&query), "{reason}");
    }
}

#[test]
fn context_surrounds_a_match_of_several_lines() {
    let tree = Tree::of(&[("f", "a\nb\nc\nd\ne\nf\n")]);
    let mut query = tree.lines("");
    query.pattern = Some(Pattern { multi_line: true, ..regex("c\nd") });
    (query.want.before, query.want.after) = (1, 1);
    assert_eq!(["f-2-b", "f:3:c", "f:4:d", "f-5-e"], *tree.told(&query));
}

#[test]
fn counts_are_of_lines_and_across_lines_of_matches() {
    let tree = Tree::of(&[("f", "aa\nb\na\n"), ("g", "b\n"), ("h", "a")]);
    let want = Want { kind: WantKind::Counts, ..Want::default() };
    let mut query = Query { want, ..tree::matching(tree.query(), "a") };
    assert_eq!(["f=2", "h=1"], *tree.told(&query), "lines");
    query.pattern = Some(Pattern { multi_line: true, ..regex(r"a|\n\n\n") });
    assert_eq!(["f=3", "h=1"], *tree.told(&query), "matches");
}

#[test]
fn a_file_is_left_after_its_most_lines() {
    let tree = Tree::of(&[("f", "a1\na2\nx\na3\n"), ("g", "a1\n")]);
    let mut query = tree.lines("a");
    query.page.per_file = Some(2);
    assert_eq!(["f:1:a1", "f:2:a2", "g:1:a1"], *tree.told(&query));
    query.want.after = 1;
    let expected = ["f:1:a1", "f:2:a2", "f-3-x", "g:1:a1"];
    assert_eq!(expected, *tree.told(&query), "the last one has its context");
    query.want.kind = WantKind::Counts;
    assert_eq!(["f=2", "g=1"], *tree.told(&query));
}

#[test]
fn a_line_is_cut_and_its_full_length_told() {
    let tree = Tree::of(&[("f", "0123456789 b\nab\n")]);
    let mut query = tree.lines("b");
    query.reading.line_bytes = Some(4);
    query.want.spans = true;
    let expected = ["f:1:0123 (of 12) [11..12]", "f:2:ab [1..2]"];
    assert_eq!(expected, *tree.told(&query));
    query.reading.line_bytes = Some(0);
    query.want.spans = false;
    assert_eq!(["f:1: (of 12)", "f:2: (of 2)"], *tree.told(&query));
    query.reading.line_bytes = Some(usize::MAX);
    assert_eq!(["f:1:0123456789 b", "f:2:ab"], *tree.told(&query));
}

#[test]
fn a_file_read_in_pieces_gives_the_same_lines() {
    // Over a mebibyte a file is no longer read whole.
    let filler = "0123456789abcde\n".repeat(1 << 17);
    let tree = Tree::of(&[("f", &format!("x1\n{filler}x2\ny\n{filler}x3"))]);
    let mut query = tree.lines("^x");
    query.want.spans = true;
    query.want.after = 1;
    let expected = [
        "f:1:x1 [0..1]",
        "f-2-0123456789abcde",
        "f:131074:x2 [0..1]",
        "f-131075-y",
        "f:262148:x3 [0..1]",
    ];
    assert_eq!(expected, *tree.told(&query));
}

#[test]
fn sizes_around_the_whole_reading_are_all_searched_to_their_end() {
    for size in [(1 << 20) - 1, 1 << 20, (1 << 20) + 1] {
        let tree = Tree::of(&[("f", &("-\n".repeat(size / 2 + 1)[..size - 1].to_owned() + "x"))]);
        let query = tree::matching(tree.query(), "x$");
        assert_eq!(["f"], *tree.told(&query), "{size}");
    }
}
