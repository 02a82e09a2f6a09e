//! Path globs: which files they leave, as ripgrep's `--glob` has it, and the words of bad ones.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::error::Error;
use tree::Tree;

const FILES: &[(&str, &str)] = &[
    (".git/", ""),
    (".gitignore", "ignored.rs"),
    (".hidden/in.rs", ""),
    (".point.rs", ""),
    ("A.RS", ""),
    ("a.rs", ""),
    ("b.toml", ""),
    ("ignored.rs", ""),
    ("src/a.rs", ""),
    ("src/deep/c.rs", ""),
    ("src/deep/d.txt", ""),
];

/// Why, the globs, what is left.
type Case<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

const GLOBS: &[Case<'_>] = &[
    (
        "none: everything that no rule takes",
        &[],
        &["A.RS", "a.rs", "b.toml", "src/a.rs", "src/deep/c.rs", "src/deep/d.txt"],
    ),
    (
        "a glob without a slash fits names on every level, overrules ignore rules and hidden names",
        &["*.rs"],
        &[".point.rs", "a.rs", "ignored.rs", "src/a.rs", "src/deep/c.rs"],
    ),
    (
        "an exclamation mark leaves out, and takes nothing in",
        &["!*.rs"],
        &["A.RS", "b.toml", "src/deep/d.txt"],
    ),
    ("the later glob wins", &["*.rs", "!a.rs"], &[".point.rs", "ignored.rs", "src/deep/c.rs"]),
    (
        "whatever its sign",
        &["!a.rs", "*.rs"],
        &[".point.rs", "a.rs", "ignored.rs", "src/a.rs", "src/deep/c.rs"],
    ),
    ("a slash at the start binds it to its base", &["/a.rs"], &["a.rs"]),
    ("a slash in the middle too", &["src/*.rs"], &["src/a.rs"]),
    ("two stars span folders", &["src/**"], &["src/a.rs", "src/deep/c.rs", "src/deep/d.txt"]),
    ("and fit none", &["src/**/*.rs"], &["src/a.rs", "src/deep/c.rs"]),
    ("an excluded folder is not entered", &["!src"], &["A.RS", "a.rs", "b.toml"]),
    ("the name of a folder takes none of its files", &["src"], &[]),
    ("braces are alternatives", &["b.{toml,txt}"], &["b.toml"]),
    ("an empty alternative fits nothing", &["b.tom{l,}"], &["b.toml"]),
    ("classes", &["[ab].*"], &["a.rs", "b.toml", "src/a.rs"]),
    ("case counts", &["a.RS"], &[]),
    ("a question mark fits one byte", &["?.toml"], &["b.toml"]),
    ("nothing fits", &["*.none"], &[]),
];

#[test]
fn globs_leave_what_ripgrep_leaves() {
    let tree = Tree::of(FILES);
    for (reason, globs, expected) in GLOBS {
        let mut query = tree.query();
        query.files.globs = globs.iter().map(ToString::to_string).collect();
        assert_eq!(*expected, tree.told(&query), "{reason}: {globs:?}");
    }
}

#[test]
fn a_glob_with_a_slash_starts_from_its_base_not_from_the_root() {
    let tree = Tree::of(FILES);
    let mut query = tree.query();
    query.files.globs = vec!["/deep/*.rs".to_owned()];
    assert_eq!([""; 0], *tree.told(&query));
    query.files.glob_base = tree.bytes("src");
    assert_eq!(["src/deep/c.rs"], *tree.told(&query));
}

// Other systems refuse names that are not UTF-8.
#[test]
#[cfg(target_os = "linux")]
fn names_are_bytes_to_globs() {
    let tree = Tree::new();
    tree.file(b"a\xff.rs", "").file(b"b\xff.md", "");
    let mut query = tree.query();
    query.files.globs = vec!["*.rs".to_owned()];
    assert_eq!(["a\\xff.rs"], *tree.told(&query));
}

#[test]
fn a_bad_glob_fails_the_query_in_ripgreps_words() {
    let tree = Tree::new();
    let cases = [
        (
            "{a",
            "error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
        ),
        (
            "a}",
            "error parsing glob 'a}': unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)",
        ),
        ("[z-a]", "error parsing glob '[z-a]': invalid range; 'z' > 'a'"),
    ];
    for (glob, text) in cases {
        let mut query = tree.query();
        query.files.globs = vec![glob.to_owned()];
        let expected = Error::Glob(text.to_owned());
        assert_eq!(Some(expected), tree.try_ask(&query).err(), "{glob}");
    }
}

#[test]
fn the_first_fault_is_told_globs_before_types_before_patterns() {
    let tree = Tree::new();
    let mut query = tree::matching(tree.query(), "(");
    query.files.types = vec!["nonsense".to_owned()];
    query.files.globs = vec!["{".to_owned()];
    assert_eq!("glob", tree.try_ask(&query).expect_err("a bad glob").kind());
    query.files.globs.clear();
    assert_eq!("type", tree.try_ask(&query).expect_err("a bad type").kind());
    query.files.types.clear();
    assert_eq!("pattern", tree.try_ask(&query).expect_err("a bad pattern").kind());
}
