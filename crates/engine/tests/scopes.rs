//! Scopes: what lies outside, or is denied, is as if it were not there.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::error::Error;
use engine::query::{Found, Kind, Query};
use engine::{Scope, search, stat};
use tree::{Tree, matching};

fn files() -> Tree {
    let tree = Tree::of(&[
        ("in/a", "x"),
        ("in/d/b", "x"),
        ("in/d/secret/c", "x"),
        ("in/secret", "x"),
        ("in/e/key.pem", "x"),
        ("out/a", "x"),
        ("out/d/b", "x"),
    ]);
    tree.link("in/to-out", "../out")
        .link("in/to-out-file", "../out/a")
        .link("in/to-secret", "d/secret")
        .link("in/to-d", "d")
        .link("out/to-in", "../in")
        .link("in/dangling", "../out/nothing")
        .link("in/loop", "loop");
    tree
}

fn confined(tree: &Tree, deny: &[&str]) -> Scope {
    Scope {
        root: tree.bytes("in"),
        allow: Some(vec![tree.bytes("in")]),
        deny: deny.iter().map(ToString::to_string).collect(),
    }
}

fn found(tree: &Tree, query: &Query, scope: &Scope) -> (Vec<String>, Vec<(Found, i32)>) {
    let answer = search(query, scope, None, None).expect("an answer");
    let states = answer.roots.iter().map(|root| (root.found, root.error));
    assert_eq!([""; 0], *tree.skipped(&answer), "nothing is told of what is not there");
    (tree.tell(&answer), states.collect())
}

const GONE: (Found, i32) = (Found::Missing, 2);
const FOLDER: (Found, i32) = (Found::Folder, 0);
const FILE: (Found, i32) = (Found::File, 0);

/// Why, the root, what became of it, the hits.
type Case<'a> = (&'a str, &'a str, (Found, i32), &'a [&'a str]);

const CONFINED: &[Case<'_>] = &[
    (
        "the allowed folder",
        "in",
        FOLDER,
        &["in/a", "in/d/b", "in/d/secret/c", "in/e/key.pem", "in/secret"],
    ),
    ("a folder of it", "in/d", FOLDER, &["in/d/b", "in/d/secret/c"]),
    ("a file of it", "in/a", FILE, &["in/a"]),
    ("the folder above", "", GONE, &[]),
    ("one beside", "out", GONE, &[]),
    ("a file beside", "out/a", GONE, &[]),
    ("one that is not there, outside", "out/nothing", GONE, &[]),
    ("nor inside", "in/nothing", GONE, &[]),
    ("below a file outside", "out/a/x", GONE, &[]),
    ("dots that lead out", "in/../out", GONE, &[]),
    ("dots that lead out and in", "in/../in/a", FILE, &["in/../in/a"]),
    ("a link that leads out", "in/to-out", GONE, &[]),
    ("a file behind it", "in/to-out/a", GONE, &[]),
    ("nothing behind it", "in/to-out/nothing", GONE, &[]),
    ("below a file behind it", "in/to-out/a/x", GONE, &[]),
    ("a link to a file outside", "in/to-out-file", GONE, &[]),
    ("below it", "in/to-out-file/x", GONE, &[]),
    ("a link to nothing outside", "in/dangling", GONE, &[]),
    ("a link to itself", "in/loop", GONE, &[]),
    ("a link that leads in", "in/to-d", FOLDER, &["in/to-d/b", "in/to-d/secret/c"]),
    ("from outside, a link that leads in", "out/to-in/a", FILE, &["out/to-in/a"]),
    ("the system's own links", "../../proc/self/root", GONE, &[]),
];

#[test]
fn a_confined_caller_sees_the_allowed_folders_alone() {
    let tree = files();
    let scope = confined(&tree, &[]);
    for (reason, root, state, expected) in CONFINED {
        for query in [tree.query(), matching(tree.query(), "x")] {
            let query = Query { roots: tree.roots(&[root]), ..query };
            let (hits, states) = found(&tree, &query, &scope);
            assert_eq!([*state], *states, "{reason}");
            assert_eq!(*expected, hits, "{reason}");
        }
    }
}

#[test]
fn asking_about_a_path_tells_no_more_than_searching_it() {
    let tree = files();
    let scope = confined(&tree, &["secret"]);
    let cases = [
        ("in/a", Some(Kind::File), 0),
        ("in/d", Some(Kind::Folder), 0),
        ("in/to-d", Some(Kind::Folder), 0),
        ("in/secret", None, 2),
        ("in/d/secret", None, 2),
        ("in/d/secret/c", None, 2),
        ("in/d/secret/nothing", None, 2),
        ("in/secret/below", None, 2),
        ("in/to-secret", None, 2),
        ("in/to-secret/c", None, 2),
        ("out/a", None, 2),
        ("out/nothing", None, 2),
        ("out/a/below", None, 2),
        ("in/nothing", None, 2),
        ("in/a/below", None, 20),
    ];
    for (path, kind, error) in cases {
        let told = stat(&tree.bytes(path), &scope).expect("an answer");
        assert_eq!((kind, error), (told.kind, told.error), "{path}");
        assert!(kind.is_some() || (told.size, told.time) == (0, Default::default()), "{path}");
    }
}

#[test]
fn no_folder_allowed_means_nothing_is() {
    let tree = files();
    let scope = Scope { allow: Some(Vec::new()), ..confined(&tree, &[]) };
    let query = matching(tree.query(), "x");
    assert_eq!((vec![], vec![GONE]), found(&tree, &query, &scope));
}

#[test]
fn an_allowed_folder_that_is_not_there_allows_nothing() {
    let tree = files();
    let scope = Scope { allow: Some(vec![tree.bytes("nothing")]), ..confined(&tree, &[]) };
    let query = Query { roots: tree.roots(&["in", "in/a"]), ..tree.query() };
    assert_eq!((vec![], vec![GONE, GONE]), found(&tree, &query, &scope));
}

#[test]
fn an_allowed_folder_may_be_a_link_or_the_top() {
    let tree = files();
    let query = Query { roots: tree.roots(&["in/a", "out/a"]), ..tree.query() };
    let through = Scope { allow: Some(vec![tree.bytes("out/to-in")]), ..confined(&tree, &[]) };
    assert_eq!((vec!["in/a".to_owned()], vec![FILE, GONE]), found(&tree, &query, &through));
    let top = Scope { allow: Some(vec![b"/".to_vec()]), ..confined(&tree, &[]) };
    assert_eq!(vec![FILE, FILE], found(&tree, &query, &top).1);
}

/// Why, the patterns, what is left of `in`.
type Denied<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

const DENIED: &[Denied<'_>] = &[
    ("a name, on every level", &["secret"], &["in/a", "in/d/b", "in/e/key.pem"]),
    ("a folder alone", &["secret/"], &["in/a", "in/d/b", "in/e/key.pem", "in/secret"]),
    ("bound to the root", &["/secret"], &["in/a", "in/d/b", "in/d/secret/c", "in/e/key.pem"]),
    ("bound by a slash", &["d/secret"], &["in/a", "in/d/b", "in/e/key.pem", "in/secret"]),
    ("an ending", &["*.pem"], &["in/a", "in/d/b", "in/d/secret/c", "in/secret"]),
    ("a folder and all below", &["d/**"], &["in/a", "in/e/key.pem", "in/secret"]),
    (
        "a later one that takes back",
        &["secret", "!/secret"],
        &["in/a", "in/d/b", "in/e/key.pem", "in/secret"],
    ),
    ("everything", &["*"], &[]),
    (
        "nothing",
        &["# secret", ""],
        &["in/a", "in/d/b", "in/d/secret/c", "in/e/key.pem", "in/secret"],
    ),
];

#[test]
fn what_is_denied_is_not_there() {
    let tree = files();
    for (reason, deny, expected) in DENIED {
        let unconfined = Scope { allow: None, ..confined(&tree, deny) };
        for scope in [confined(&tree, deny), unconfined] {
            for query in [tree.query(), matching(tree.query(), "x")] {
                let mut query = query;
                query.roots = tree.roots(&["in"]);
                assert_eq!(*expected, found(&tree, &query, &scope).0, "{reason}");
                // The same one by one, as named roots.
                query.roots =
                    tree.roots(&["in/a", "in/d/b", "in/d/secret/c", "in/e/key.pem", "in/secret"]);
                assert_eq!(*expected, found(&tree, &query, &scope).0, "{reason}, named");
            }
        }
    }
}

#[test]
fn neither_rules_nor_globs_nor_types_bring_back_what_is_denied() {
    let tree = files();
    tree.file("in/.ignore", "!secret");
    let mut query = tree.query();
    query.roots = tree.roots(&["in"]);
    query.files.globs = vec!["*secret*".to_owned(), "c".to_owned()];
    assert_eq!([""; 0], *found(&tree, &query, &confined(&tree, &["secret"])).0);
}

#[test]
fn a_link_to_what_is_denied_is_denied() {
    let tree = files();
    let query = Query {
        roots: tree.roots(&["in/to-secret", "in/to-secret/c", "in/to-d/secret"]),
        ..tree.query()
    };
    assert_eq!((vec![], vec![GONE; 3]), found(&tree, &query, &confined(&tree, &["secret"])));
}

#[test]
fn outside_every_root_a_bare_name_is_denied_too() {
    let tree = files();
    tree.file("out/secret", "x");
    let scope = Scope { allow: None, ..confined(&tree, &["secret"]) };
    let query = Query { roots: tree.roots(&["out", "out/secret"]), ..tree.query() };
    let expected = vec!["out/a".to_owned(), "out/d/b".to_owned()];
    assert_eq!((expected, vec![FOLDER, GONE]), found(&tree, &query, &scope));
}

#[test]
fn a_bad_pattern_of_denial_fails_the_query() {
    let tree = files();
    let scope = confined(&tree, &["{a"]);
    let error = search(&tree.query(), &scope, None, None).expect_err("a bad pattern");
    assert!(matches!(error, Error::Glob(_)), "{error:?}");
    assert_eq!(Some(error), stat(&tree.bytes("in"), &scope).err());
}

#[test]
fn the_folder_above_stays_dark_even_for_its_rules_text() {
    // Rules above an allowed folder hold, as the one documented exception, and are never told.
    let tree = files();
    tree.file(".ignore", "/in/a");
    let query = Query { roots: tree.roots(&["in"]), ..tree.query() };
    let left = ["in/d/b", "in/d/secret/c", "in/e/key.pem", "in/secret"];
    assert_eq!(left, *found(&tree, &query, &confined(&tree, &[])).0);
}
