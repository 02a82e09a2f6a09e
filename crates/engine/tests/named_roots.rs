//! Named roots: what becomes of each, and how its spelling survives.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::query::{Found, Order, Query, Root};
use tree::{Tree, matching};

fn files() -> Tree {
    let tree = Tree::of(&[
        (".ignore", "skipped"),
        (".hidden/x", "x"),
        ("a", "x"),
        ("d/b", "x"),
        ("d/e/c", "x"),
        ("skipped/s", "x"),
    ]);
    tree.link("l", "d").link("m", "a").link("n", "nothing").link("o", "o");
    tree
}

/// Why, the spelling, what was found and the system's number, the hits as spelled.
type Case<'a> = (&'a str, &'a str, (Found, i32), &'a [&'a str]);

/// The system's number for too many links.
const LOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

const ROOTS: &[Case<'_>] = &[
    ("a folder", "d", (Found::Folder, 0), &["d/b", "d/e/c"]),
    ("a folder with a slash", "d/", (Found::Folder, 0), &["d/b", "d/e/c"]),
    ("a file", "a", (Found::File, 0), &["a"]),
    ("a file as if it were a folder", "a/", (Found::Missing, 20), &[]),
    ("below a file", "a/x", (Found::Missing, 20), &[]),
    ("nothing", "nothing", (Found::Missing, 2), &[]),
    ("a link to a folder, under its own name", "l", (Found::Folder, 0), &["l/b", "l/e/c"]),
    ("a link to a file", "m", (Found::File, 0), &["m"]),
    ("a link to nothing", "n", (Found::Missing, 2), &[]),
    ("a link to itself", "o", (Found::Missing, LOOP), &[]),
    ("dots are kept", "d/../d/.", (Found::Folder, 0), &["d/../d/./b", "d/../d/./e/c"]),
    ("through a link and back", "l/../a", (Found::File, 0), &["l/../a"]),
    ("what rules would skip, named", "skipped/s", (Found::File, 0), &["skipped/s"]),
    ("a hidden folder, named", ".hidden", (Found::Folder, 0), &[".hidden/x"]),
];

#[test]
fn each_root_is_told_and_keeps_its_spelling() {
    let tree = files();
    for (reason, spelled, state, expected) in ROOTS {
        for query in [tree.query(), matching(tree.query(), "x")] {
            let query = Query { roots: tree.roots(&[spelled]), ..query };
            let answer = tree.ask(&query);
            let states: Vec<_> = answer.roots.iter().map(|root| (root.found, root.error)).collect();
            assert_eq!([*state], *states, "{reason}");
            assert_eq!(query.roots[0].path, answer.roots[0].path, "{reason}");
            assert_eq!(*expected, tree.tell(&answer), "{reason}");
        }
    }
}

#[test]
fn a_folder_that_rules_skip_is_searched_where_it_is_named() {
    // The rule is about the folder, not about what lies in it; so ripgrep has it.
    let tree = files();
    let mut query = tree.query();
    query.roots = tree.roots(&["skipped"]);
    assert_eq!(["skipped/s"], *tree.told(&query));
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_or_a_device_is_told_and_not_read() {
    let tree = Tree::new();
    tree.pipe("p");
    let mut query = matching(tree.query(), "x");
    query.roots = tree.roots(&["p"]);
    query.roots.push(Root { path: b"/dev/zero".to_vec() });
    let answer = tree.ask(&query);
    let states: Vec<_> = answer.roots.iter().map(|root| root.found).collect();
    assert_eq!([Found::Other, Found::Other], *states);
    assert_eq!([""; 0], *tree.tell(&answer));
}

#[test]
fn a_pipe_below_a_root_is_passed_over() {
    let tree = Tree::of(&[("a", "x")]);
    #[cfg(target_os = "linux")]
    tree.pipe("p");
    let answer = tree.ask(&matching(tree.query(), "x"));
    assert_eq!(["a"], *tree.tell(&answer));
    assert_eq!([""; 0], *tree.skipped(&answer));
}

#[test]
fn links_below_a_root_are_neither_entered_nor_read() {
    let tree = files();
    let expected = ["a", "d/b", "d/e/c"];
    assert_eq!(expected, *tree.told(&tree.query()));
    assert_eq!(expected, *tree.told(&matching(tree.query(), "x")));
}

#[test]
fn a_missing_root_takes_nothing_from_the_others() {
    let tree = files();
    let mut query = matching(tree.query(), "x");
    query.roots = tree.roots(&["nothing", "d/e", "a"]);
    let answer = tree.ask(&query);
    let states: Vec<_> = answer.roots.iter().map(|root| root.found).collect();
    assert_eq!([Found::Missing, Found::Folder, Found::File], *states);
    assert_eq!(["a", "d/e/c"], *tree.tell(&answer));
}

#[test]
fn overlapping_roots_give_a_file_once_each() {
    let tree = files();
    let mut query = matching(tree.query(), "x");
    query.roots = tree.roots(&["d", "d/e", "d/e/c", "d"]);
    let once = ["d/b", "d/b", "d/e/c", "d/e/c", "d/e/c", "d/e/c"];
    assert_eq!(once, *tree.told(&query));
    query.order = Order::Walk;
    let by_root = ["d/b", "d/e/c", "d/e/c", "d/e/c", "d/b", "d/e/c"];
    assert_eq!(by_root, *tree.told(&query), "in the order of the roots");
}

#[test]
fn no_roots_no_hits() {
    let tree = files();
    let mut query = matching(tree.query(), "x");
    query.roots.clear();
    let answer = tree.ask(&query);
    assert_eq!((0, 0, false), (answer.hits.len(), answer.roots.len(), answer.more));
}

// Other systems refuse names that are not UTF-8.
#[test]
#[cfg(target_os = "linux")]
fn names_are_bytes() {
    let tree = Tree::new();
    tree.file(b"d\xff/f\xfe\n", "x");
    let mut query = matching(tree.query(), "x");
    query.roots = vec![Root { path: tree.bytes(b"d\xff") }];
    assert_eq!([r"d\xff/f\xfe\n"], *tree.told(&query));
}

#[test]
fn depth_bounds_what_is_entered() {
    let tree = Tree::of(&[("a", ""), ("d/b", ""), ("d/e/c", "")]);
    let cases: [(Option<usize>, &[&str]); 5] = [
        (Some(0), &[]),
        (Some(1), &["a"]),
        (Some(2), &["a", "d/b"]),
        (Some(3), &["a", "d/b", "d/e/c"]),
        (Some(usize::MAX), &["a", "d/b", "d/e/c"]),
    ];
    for (depth, expected) in cases {
        let mut query = tree.query();
        query.files.depth = depth;
        assert_eq!(expected, tree.told(&query), "{depth:?}");
        query.roots = tree.roots(&["a"]);
        assert_eq!(["a"], *tree.told(&query), "a file that is named, {depth:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_listing_names_the_kinds_that_are_wanted() {
    use engine::query::Kind;
    let tree = Tree::of(&[("a", ""), ("d/b", ""), ("d/e/", "")]);
    tree.link("l", "d").pipe("p");
    let mut query = tree.query();
    assert_eq!(["a", "d/b"], *tree.told(&query), "files, where nothing is named");
    query.files.kinds = vec![Kind::Folder];
    assert_eq!(["d", "d/e"], *tree.told(&query));
    query.files.kinds = vec![Kind::Link, Kind::Other];
    assert_eq!(["l", "p"], *tree.told(&query), "a link is told and not entered");
    query.files.kinds = vec![Kind::File, Kind::Folder, Kind::Link, Kind::Other];
    query.files.depth = Some(1);
    assert_eq!(["a", "d", "l", "p"], *tree.told(&query), "a folder at the last level is told");
    query.pattern = Some(tree::regex(""));
    query.files.depth = None;
    assert_eq!([""; 0], *tree.told(&query), "only files are searched, and these are empty");
}
