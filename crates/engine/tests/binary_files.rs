//! Binary files and encodings: what a NUL, a byte order mark and a root's name change.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::query::{BinaryFlavour, Query, Want, WantKind};
use tree::{Tree, matching};

/// ripgrep reads in pieces of this size, and judges a walked file piece by piece.
const PIECE: usize = 64 * 1024;

/// A match at the start, and a NUL at that place.
fn with_nul_at(place: usize) -> Vec<u8> {
    let mut bytes = b"needle\n".to_vec();
    bytes.resize_with(place, || b'-');
    for end in (7..place).step_by(80) {
        bytes[end] = b'\n';
    }
    bytes.extend_from_slice(b"\0 tail\n");
    bytes
}

fn counts(query: Query) -> Query {
    let want = Want { kind: WantKind::Counts, ..Want::default() };
    Query { want, ..query }
}

/// Why, where the NUL is, what `files`, `counts` and `lines` tell.
type Case<'a> = (&'a str, usize, [&'a [&'a str]; 3]);

const NULS: &[Case<'_>] = &[
    ("in the first piece", 100, [&[], &[], &[]]),
    ("its last byte", PIECE - 1, [&[], &[], &[]]),
    ("the first behind it", PIECE, [&["f"], &[], &["f:1:needle", "f!65536"]]),
    ("further on", PIECE + 1, [&["f"], &[], &["f:1:needle", "f!65537"]]),
];

#[test]
fn a_walked_file_is_given_up_at_the_piece_with_its_first_nul() {
    for (reason, place, expected) in NULS {
        let tree = Tree::new();
        tree.file("f", with_nul_at(*place));
        let files = tree.told(&matching(tree.query(), "needle"));
        let counts = tree.told(&counts(matching(tree.query(), "needle")));
        let lines = tree.told(&tree.lines("needle"));
        assert_eq!(*expected, [&files[..], &counts, &lines], "{reason}");
    }
}

#[test]
fn a_walked_file_given_up_without_a_hit_is_told() {
    let tree = Tree::new();
    tree.file("f", b"x\0needle\n").file("g", b"needle\n");
    let answer = tree.ask(&matching(tree.query(), "needle"));
    assert_eq!(["g"], *tree.tell(&answer));
    assert_eq!(["f Binary 0"], *tree.skipped(&answer));
}

#[test]
fn without_the_flavour_a_nul_is_a_byte_like_others() {
    let tree = Tree::new();
    tree.file("f", b"a\0b\nneedle\0\n");
    let mut query = tree.lines("needle");
    query.reading.binary = BinaryFlavour::None;
    let answer = tree.ask(&query);
    assert_eq!([r"f:2:needle\x00"], *tree.tell(&answer));
    assert_eq!([""; 0], *tree.skipped(&answer));
}

#[test]
fn a_named_file_is_never_hidden_by_a_nul() {
    let tree = Tree::new();
    tree.file("f", b"x\0\nneedle\nneedle\n");
    let named = |query: Query| Query { roots: tree.roots(&["f"]), ..query };
    assert_eq!(["f"], *tree.told(&named(matching(tree.query(), "needle"))));
    let counted = counts(matching(tree.query(), "needle"));
    assert_eq!(["f=2"], *tree.told(&named(counted)));
    // Its lines are not told: the NUL is.
    assert_eq!(["f=1", "f!1"], *tree.told(&named(tree.lines("needle"))));
}

#[test]
fn a_named_file_tells_its_lines_up_to_one_with_a_late_nul() {
    let tree = Tree::new();
    let mut bytes = with_nul_at(PIECE + 10);
    bytes.extend_from_slice(b"needle 2\nneedle \0 3\nneedle 4\n");
    tree.file("f", &bytes);
    let mut query = tree.lines("needle");
    query.roots = tree.roots(&["f"]);
    let nul = memchr::memrchr(0, &bytes).expect("the second one");
    let told = tree.told(&query);
    let number = bytes.iter().filter(|byte| **byte == b'\n').count() - 2;
    let second = format!("f:{number}:needle 2");
    assert_eq!(["f:1:needle".to_owned(), second, format!("f!{nul}")], *told);
}

/// A text in UTF-16 behind its byte order mark.
fn encoded(text: &str, little: bool) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units
        .flat_map(|unit| match little {
            true => unit.to_le_bytes(),
            false => unit.to_be_bytes(),
        })
        .collect()
}

#[test]
fn utf16_with_a_mark_is_text() {
    for little in [true, false] {
        let tree = Tree::new();
        tree.file("f", encoded("one\nnéedle\nthree", little));
        let mut query = tree.lines("n.edle");
        query.want.spans = true;
        let told = tree.told(&query);
        assert_eq!([r"f:2:n\xc3\xa9edle [0..7]"], *told, "little {little}");
        assert_eq!(["f"], *tree.told(&matching(tree.query(), "three$")));
    }
}

#[test]
fn utf16_without_a_mark_is_binary() {
    let tree = Tree::new();
    tree.file("f", &encoded("needle\n", true)[2..]);
    let answer = tree.ask(&matching(tree.query(), "needle"));
    assert_eq!([""; 0], *tree.tell(&answer));
    assert_eq!([""; 0], *tree.tell(&tree.ask(&matching(tree.query(), "n"))), "as in ripgrep");
}

#[test]
fn a_utf8_mark_is_no_text() {
    let tree = Tree::new();
    tree.file("f", "\u{feff}needle\n");
    let mut query = tree.lines("^needle$");
    query.want.spans = true;
    assert_eq!(["f:1:needle [0..6]"], *tree.told(&query));
}

#[test]
fn a_large_file_with_a_mark_is_decoded_as_it_passes() {
    let tree = Tree::new();
    let text = "0123456789\n".repeat(60_000) + "needle";
    tree.file("f", encoded(&text, true));
    assert_eq!(["f:60001:needle"], *tree.told(&tree.lines("needle")));
}

#[test]
fn a_large_walked_file_is_given_up_like_a_small_one() {
    let tree = Tree::new();
    let mut bytes = with_nul_at(2 << 20);
    bytes.extend_from_slice(b"needle 2\n");
    tree.file("f", &bytes);
    assert_eq!(["f"], *tree.told(&matching(tree.query(), "needle")));
    assert_eq!(["f:1:needle", "f!2097152"], *tree.told(&tree.lines("needle")));
    let answer = tree.ask(&matching(tree.query(), "needle 2"));
    assert_eq!([""; 0], *tree.tell(&answer));
    assert_eq!(["f Binary 0"], *tree.skipped(&answer));
}

#[test]
fn a_file_over_its_size_cap_is_left_out_and_told() {
    let tree = Tree::of(&[("f", "needle\n"), ("g", "needle -\n")]);
    let mut query = matching(tree.query(), "needle");
    query.reading.max_size = Some(7);
    let answer = tree.ask(&query);
    assert_eq!(["f"], *tree.tell(&answer));
    assert_eq!(["g TooLarge 0"], *tree.skipped(&answer));
}
