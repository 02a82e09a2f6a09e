//! Pages: skip, cut, and whether more remain; in files and in lines.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::query::{Order, Page, Unit};
use tree::{Tree, matching};

/// Why, offset and limit, what is told.
type Case<'a> = (&'a str, u64, Option<u64>, &'a [&'a str]);

const FILES: &[Case<'_>] = &[
    ("all", 0, None, &["a", "b", "c"]),
    ("all but the first", 1, None, &["b", "c"]),
    ("the first", 0, Some(1), &["a", "..."]),
    ("the second", 1, Some(1), &["b", "..."]),
    ("the last: no more", 2, Some(1), &["c"]),
    ("exactly all: no more", 0, Some(3), &["a", "b", "c"]),
    ("behind the end", 3, Some(1), &[]),
    ("far behind it", u64::MAX, Some(u64::MAX), &[]),
    ("nothing asked, but more there", 0, Some(0), &["..."]),
    ("nothing asked at the end", 3, Some(0), &[]),
];

#[test]
fn a_page_counts_files() {
    let tree = Tree::of(&[("a", "x"), ("b", "x"), ("c", "x"), ("d", "-")]);
    for (reason, offset, limit, expected) in FILES {
        for order in [Order::Path, Order::Walk, Order::Newest, Order::Oldest] {
            for (file, seconds) in [("a", 10), ("b", 20), ("c", 30), ("d", 25)] {
                let seconds = if order == Order::Newest { -seconds } else { seconds };
                tree.time(file, seconds, 0);
            }
            let mut query = matching(tree.query(), "x");
            query.order = order;
            query.page = Page { offset: *offset, limit: *limit, ..Page::default() };
            assert_eq!(*expected, tree.told(&query), "{reason}, {order:?}");
        }
    }
}

#[test]
fn a_page_of_a_listing_counts_files_too() {
    let tree = Tree::of(&[("a", ""), ("b", ""), ("c", "")]);
    for (reason, offset, limit, expected) in FILES {
        let mut query = tree.query();
        (query.page.offset, query.page.limit) = (*offset, *limit);
        assert_eq!(*expected, tree.told(&query), "{reason}");
    }
}

const LINES: &[Case<'_>] = &[
    ("all", 0, None, &["a:1:x1", "a:3:x2", "b:1:x3", "c:2:x4", "c:3:x5"]),
    ("cut within a file", 0, Some(1), &["a:1:x1", "..."]),
    ("from within a file into the next", 1, Some(2), &["a:3:x2", "b:1:x3", "..."]),
    ("whole files passed over", 3, Some(1), &["c:2:x4", "..."]),
    ("the last: no more", 4, Some(1), &["c:3:x5"]),
    ("exactly all: no more", 0, Some(5), &["a:1:x1", "a:3:x2", "b:1:x3", "c:2:x4", "c:3:x5"]),
    ("behind the end", 5, Some(1), &[]),
    ("nothing asked, but more there", 0, Some(0), &["..."]),
    ("nothing asked at the end", 5, Some(0), &[]),
];

fn with_lines() -> Tree {
    Tree::of(&[("a", "x1\n-\nx2\n"), ("b", "x3\n"), ("c", "-\nx4\nx5\n"), ("d", "-\n")])
}

#[test]
fn a_page_counts_matching_lines() {
    let tree = with_lines();
    for (reason, offset, limit, expected) in LINES {
        for order in [Order::Path, Order::Oldest] {
            for (file, seconds) in [("a", 1), ("b", 2), ("c", 3)] {
                tree.time(file, seconds, 0);
            }
            let mut query = tree.lines("x");
            query.order = order;
            query.page = Page { unit: Unit::Lines, offset: *offset, limit: *limit, per_file: None };
            assert_eq!(*expected, tree.told(&query), "{reason}, {order:?}");
        }
    }
}

#[test]
fn a_page_of_lines_counts_what_each_file_may_give() {
    let tree = with_lines();
    let mut query = tree.lines("x");
    query.page = Page { unit: Unit::Lines, offset: 1, limit: Some(1), per_file: Some(1) };
    assert_eq!(["b:1:x3", "..."], *tree.told(&query));
}

#[test]
fn context_goes_with_its_match() {
    let tree = Tree::of(&[("a", "1\nx\n3\n4\n5\nx\n7\n")]);
    let mut query = tree.lines("x");
    (query.want.before, query.want.after) = (1, 1);
    query.page.unit = Unit::Lines;
    query.page.limit = Some(1);
    assert_eq!(["a-1-1", "a:2:x", "a-3-3", "..."], *tree.told(&query));
    (query.page.offset, query.page.limit) = (1, None);
    assert_eq!(["a-5-5", "a:6:x", "a-7-7"], *tree.told(&query));
}

#[test]
fn pages_together_are_the_whole() {
    let tree = Tree::new();
    for file in 0..40 {
        let text: String = (0..=file % 7).map(|line| format!("x{line}\n-\n")).collect();
        tree.file(format!("f{file:02}"), text);
    }
    for unit in [Unit::Files, Unit::Lines] {
        let mut query = tree.lines("x");
        let whole = tree.told(&query);
        query.page.unit = unit;
        query.page.limit = Some(3);
        let mut together = Vec::new();
        loop {
            let answer = tree.ask(&query);
            let told = tree.tell(&answer);
            together.extend(told.into_iter().filter(|line| line != "..."));
            query.page.offset += 3;
            if !answer.more {
                break;
            }
        }
        assert_eq!(whole, together, "{unit:?}");
    }
}
