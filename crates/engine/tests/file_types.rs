//! File types: which names they fit, as ripgrep's own table has it.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::error::Error;
use tree::Tree;

const FILES: &[(&str, &str)] = &[
    (".ignore", "skipped.py"),
    (".hidden.py", ""),
    (".bashrc", ""),
    ("Makefile", ""),
    ("a.py", ""),
    ("a.rs", ""),
    ("skipped.py", ""),
    ("sub/b.pyi", ""),
    ("sub/c.txt", ""),
];

/// Why, the types searched, those not searched, what is left.
type Case<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);

const TYPES: &[Case<'_>] = &[
    (
        "a type takes its names, hidden ones too, but none that a rule takes away",
        &["py"],
        &[],
        &[".hidden.py", "a.py", "sub/b.pyi"],
    ),
    ("several types add up", &["py", "rust"], &[], &[".hidden.py", "a.py", "a.rs", "sub/b.pyi"]),
    ("a type may fit whole names", &["make"], &[], &["Makefile"]),
    ("even hidden ones", &["sh"], &[], &[".bashrc"]),
    ("a type left out leaves the rest", &[], &["py"], &["Makefile", "a.rs", "sub/c.txt"]),
    (
        "one taken and another left out",
        &["py", "rust"],
        &["rust"],
        &[".hidden.py", "a.py", "sub/b.pyi"],
    ),
    (
        "all names any type fits",
        &["all"],
        &[],
        &[".bashrc", ".hidden.py", "Makefile", "a.py", "a.rs", "sub/b.pyi", "sub/c.txt"],
    ),
    ("a type no file here has", &["ada"], &[], &[]),
];

#[test]
fn types_leave_what_ripgrep_leaves() {
    let tree = Tree::of(FILES);
    for (reason, types, types_not, expected) in TYPES {
        let mut query = tree.query();
        query.files.types = types.iter().map(ToString::to_string).collect();
        query.files.types_not = types_not.iter().map(ToString::to_string).collect();
        assert_eq!(*expected, tree.told(&query), "{reason}");
    }
}

#[test]
fn a_glob_overrules_a_type() {
    let tree = Tree::of(FILES);
    let mut query = tree.query();
    query.files.types = vec!["py".to_owned()];
    query.files.globs = vec!["*.rs".to_owned()];
    assert_eq!(["a.rs"], *tree.told(&query));
}

#[test]
fn a_type_that_does_not_exist_fails_the_query() {
    let tree = Tree::new();
    let expected = Error::Type("unrecognized file type: nonsense".to_owned());
    let mut query = tree.query();
    query.files.types = vec!["nonsense".to_owned()];
    assert_eq!(Some(&expected), tree.try_ask(&query).err().as_ref());
    query.files.types = Vec::new();
    query.files.types_not = vec!["nonsense".to_owned()];
    assert_eq!(Some(&expected), tree.try_ask(&query).err().as_ref());
}
