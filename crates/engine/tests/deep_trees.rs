//! Deep trees: neither the greatest length of a path nor the stack bounds a walk.
//!
//! Linux alone: elsewhere folders are opened by path, which has a greatest length.

#![cfg(all(target_os = "linux", not(evergrep_plain)))]
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use std::os::fd::OwnedFd;

use engine::query::{Order, Query};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use tree::{Tree, matching};

const NAME: &str = "some-long-name-of-a-folder";

fn open(folder: &OwnedFd, name: &str) -> OwnedFd {
    openat(folder, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).expect("a folder")
}

fn write(folder: &OwnedFd, name: &str, text: &str) {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::RUSR | Mode::WUSR).expect("a file");
    rustix::io::write(&file, text.as_bytes()).expect("written");
}

/// A chain of folders, each opened relative to the one above; `each` fills them.
fn chain(tree: &Tree, depth: usize, each: impl Fn(usize, &OwnedFd)) {
    let mut here: OwnedFd = std::fs::File::open(tree.at("")).expect("the top").into();
    for level in 1..=depth {
        mkdirat(&here, NAME, Mode::RWXU).expect("a folder");
        here = open(&here, NAME);
        each(level, &here);
    }
}

/// Takes a chain apart from the top, since nothing goes down it by path.
fn unchain(tree: &Tree, names: &[&str]) {
    let top: OwnedFd = std::fs::File::open(tree.at("")).expect("the top").into();
    loop {
        let first = open(&top, NAME);
        for name in names {
            let _ = unlinkat(&first, *name, AtFlags::empty());
        }
        let last = renameat(&first, NAME, &top, "next").is_err();
        unlinkat(&top, NAME, AtFlags::REMOVEDIR).expect("it is empty");
        if last {
            break;
        }
        renameat(&top, "next", &top, NAME).expect("the rest moves up");
    }
}

#[test]
fn a_file_further_down_than_any_path_reaches_is_found() {
    let tree = Tree::new();
    let depth = 1_000;
    chain(&tree, depth, |level, folder| {
        if level % 250 == 0 {
            write(folder, "f", "needle");
        }
    });
    // By path and by walk alike; told as depths, since the paths themselves would fill a screen.
    let expected = [250, 500, 750, 1_000];
    for order in [Order::Path, Order::Walk] {
        let query = Query { order, ..matching(tree.query(), "needle") };
        let told = tree.told(&query);
        let rest = |path: &String| path.replace(&format!("{NAME}/"), "/");
        let depths: Vec<_> = told.iter().map(|path| rest(path).len() - 1).collect();
        assert_eq!(expected, *depths, "{order:?}");
    }
    // In the order of time files are opened anew from the root.
    let mut query = matching(tree.query(), "needle");
    query.order = Order::Oldest;
    let answer = tree.ask(&query);
    assert_eq!((4, 0), (answer.hits.len(), answer.skipped.len()));
    unchain(&tree, &["f"]);
}

#[test]
fn thousands_of_nested_rule_files_are_read_and_dropped() {
    let tree = Tree::new();
    let depth = 1_500;
    chain(&tree, depth, |level, folder| {
        write(folder, ".ignore", "x");
        if level % 500 == 0 {
            write(folder, "x", "");
            write(folder, "y", "");
        }
    });
    // A small stack: were the chain of rules freed by recursion, this would end the process.
    let told = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(384 << 10);
        let asked = thread.spawn_scoped(scope, || tree.ask(&tree.query()));
        asked.expect("a thread").join().expect("no panic")
    });
    let names: Vec<_> = told.hits.iter().map(|hit| hit.path.last().copied()).collect();
    assert_eq!((vec![Some(b'y'); 3], 0), (names, told.skipped.len()));
    unchain(&tree, &[".ignore", "x", "y"]);
}

#[test]
fn more_folders_than_may_be_open_are_all_entered() {
    let tree = Tree::new();
    // Each level has a side folder that waits while the chain goes down, so its level stays open.
    let depth = 300;
    chain(&tree, depth, |_, folder| {
        mkdirat(folder, "side", Mode::RWXU).expect("a folder");
        let side = open(folder, "side");
        write(&side, "f", "needle");
    });
    let answer = tree.ask(&matching(tree.query(), "needle"));
    assert_eq!((depth, 0), (answer.hits.len(), answer.skipped.len()));
    let folders = answer.seen.folders;
    assert_eq!(2 * depth as u64 + 1, folders);
    // Out of the way of `unchain`.
    for level in 1..=depth {
        let side = format!("{}side", format!("{NAME}/").repeat(level));
        if level < 100 {
            std::fs::remove_dir_all(tree.at(side)).expect("gone");
        }
    }
    let mut here: OwnedFd = std::fs::File::open(tree.at("")).expect("the top").into();
    for _ in 1..=depth {
        here = open(&here, NAME);
        if let Ok(side) = openat(&here, "side", OFlags::DIRECTORY, Mode::empty()) {
            unlinkat(&side, "f", AtFlags::empty()).expect("gone");
            unlinkat(&here, "side", AtFlags::REMOVEDIR).expect("gone");
        }
    }
    unchain(&tree, &[]);
}

#[test]
fn a_root_deep_down_has_the_rules_of_all_folders_above() {
    let tree = Tree::new();
    let folder = format!("{NAME}/").repeat(100);
    tree.folder(&folder);
    tree.file(".ignore", "x").file(format!("{NAME}/.ignore"), "y");
    for name in ["x", "y", "z"] {
        tree.file(format!("{folder}{name}"), "");
    }
    let mut query = tree.query();
    query.roots = tree.roots(&[folder.trim_end_matches('/')]);
    assert_eq!([format!("{folder}z")], *tree.told(&query));
}

#[test]
fn a_wide_folder_is_shared_out_and_whole() {
    let tree = Tree::new();
    let names: Vec<_> = (0..1_000).map(|number| format!("f{number:04}")).collect();
    for name in &names {
        tree.file(name, "needle");
    }
    assert_eq!(names, tree.told(&matching(tree.query(), "needle")));
}
