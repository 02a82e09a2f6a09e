//! Lines over 64 MiB: searched in windows, cut, told, in bounded memory.
//!
//! Such files are mostly holes, so they cost neither disk nor much time.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use std::os::unix::fs::FileExt;

use engine::query::{Answer, BinaryFlavour, Query};
use tree::Tree;

const MIB: u64 = 1 << 20;
/// The engine's window, and what a window repeats of the one before.
const WINDOW: u64 = 64 * MIB;

/// A file of that size with these bytes in it, else nothing but zeros.
fn holed(tree: &Tree, size: u64, bytes: &[(u64, &str)]) {
    tree.hole("f", size);
    let file = std::fs::OpenOptions::new().write(true).open(tree.at("f"));
    let file = file.expect("the file");
    for (at, text) in bytes {
        file.write_all_at(text.as_bytes(), *at).expect("written");
    }
}

fn lines(tree: &Tree, pattern: &str) -> Query {
    let mut query = tree.lines(pattern);
    query.reading.binary = BinaryFlavour::None;
    query.reading.line_bytes = Some(0);
    query
}

/// Numbers of matching lines, and whether the file is told to have a long line.
fn numbers(tree: &Tree, answer: &Answer) -> (Vec<u64>, Vec<String>) {
    let lines = answer.hits.iter().flat_map(|hit| &hit.lines);
    let numbers = lines.filter(|line| line.is_match).map(|line| line.number);
    (numbers.collect(), tree.skipped(answer))
}

#[test]
fn a_long_line_is_searched_in_windows_and_told() {
    let tree = Tree::new();
    let end = WINDOW + 2 * MIB;
    // Across the edge of the first window, and in lines behind the long one.
    let needles =
        [(0, "one\ntwo\n"), (WINDOW + 5, "needle"), (end, "\nneedle four\nneedle five\n")];
    holed(&tree, end + 100, &needles);
    let mut query = lines(&tree, "needle");
    query.reading.line_bytes = None;
    // Two at once: only one thread of a process may hold a window.
    let answers = std::thread::scope(|scope| {
        [(), ()]
            .map(|()| scope.spawn(|| tree.ask(&query)))
            .map(|asked| asked.join().expect("no panic"))
    });
    for answer in answers {
        let told = vec!["f LongLine 0".to_owned()];
        assert_eq!((vec![3, 4, 5], told), numbers(&tree, &answer));
        let kept = answer.hits[0].lines.iter().map(|line| line.bytes.len());
        assert_eq!([64 << 10, 11, 11], *kept.collect::<Vec<_>>(), "the text is cut");
    }
    #[cfg(target_os = "linux")]
    assert!(peak() < 256 * MIB, "{} MiB", peak() / MIB);
}

#[test]
fn a_line_just_under_the_window_is_an_ordinary_one() {
    let tree = Tree::new();
    holed(&tree, WINDOW + 10, &[(7, "needle"), (WINDOW - 1, "\nneedle\n")]);
    let answer = tree.ask(&lines(&tree, "needle"));
    assert_eq!((vec![1, 2], vec![]), numbers(&tree, &answer));
    assert_eq!(WINDOW as usize - 1, answer.hits[0].lines[0].length);
}

#[test]
fn a_walked_file_full_of_zeros_is_given_up_at_once() {
    let tree = Tree::new();
    tree.hole("f", 1 << 40);
    let mut query = lines(&tree, "needle");
    query.reading.binary = BinaryFlavour::Nul;
    let answer = tree.ask(&query);
    assert_eq!((vec![], vec!["f Binary 0".to_owned()]), numbers(&tree, &answer));
}

#[test]
fn across_line_ends_a_large_file_is_left_out_and_told() {
    let tree = Tree::new();
    holed(&tree, WINDOW + 1, &[(0, "needle")]);
    let mut query = lines(&tree, r"needle\s");
    if let Some(pattern) = &mut query.pattern {
        pattern.multi_line = true;
    }
    let answer = tree.ask(&query);
    assert_eq!((vec![], vec!["f TooLarge 0".to_owned()]), numbers(&tree, &answer));
}

/// The most memory this process ever had, where the system tells.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse::<u64>().ok()).expect("a number") << 10
}
