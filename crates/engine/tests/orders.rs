//! Orders: which hit comes before which, ties included, and that a page of them is always the
//! same one, by whatever way the engine came to it.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::query::{Order, Query};
use tree::{Dice, Tree, matching};

const NAMES: [&str; 9] = ["a", "a.b", "a/b", "a/b.c", "a/b/c", "a-b/c", "B", "z/a", "z/b/c"];

fn of_names(names: &[&str]) -> Tree {
    let tree = Tree::new();
    for name in names {
        tree.file(name, "x");
    }
    tree
}

#[test]
fn path_goes_by_the_bytes_of_the_whole_path() {
    let tree = of_names(&["a.b", "a/b", "a/c/d", "a-b/c", "B", "aa", "a/c.d", "a/c-d"]);
    let expected = ["B", "a-b/c", "a.b", "a/b", "a/c-d", "a/c.d", "a/c/d", "aa"];
    assert_eq!(expected, *tree.told(&tree.query()));
}

#[test]
fn walk_takes_a_folders_files_then_its_folders() {
    let tree = of_names(&["a.b", "a/b", "a/c/d", "a-b/c", "B", "aa", "a/c.d", "z"]);
    let mut query = tree.query();
    query.order = Order::Walk;
    let expected = ["B", "a.b", "aa", "z", "a/b", "a/c.d", "a/c/d", "a-b/c"];
    assert_eq!(expected, *tree.told(&query));
}

#[test]
fn times_go_to_the_nanosecond_and_before_1970() {
    let tree = of_names(&["a", "b", "c", "d", "e", "f", "g"]);
    let times = [
        ("a", 1, 1),
        ("b", 1, 0),
        ("c", 0, 999_999_999),
        ("d", -1, 999_999_999),
        ("e", -1, 0),
        ("f", 4_000_000_000, 0),
        ("g", -2_000_000_000, 5),
    ];
    for (path, seconds, nanoseconds) in times {
        tree.time(path, seconds, nanoseconds);
    }
    let newest = ["f", "a", "b", "c", "d", "e", "g"];
    let mut oldest = newest;
    oldest.reverse();
    for query in [tree.query(), matching(tree.query(), "x")] {
        let newest_first = Query { order: Order::Newest, ..query.clone() };
        assert_eq!(newest, *tree.told(&newest_first));
        let oldest_first = Query { order: Order::Oldest, ..query };
        assert_eq!(oldest, *tree.told(&oldest_first));
        let told = tree.ask(&newest_first).hits;
        let told: Vec<_> = told.iter().filter_map(|hit| hit.time).collect();
        let expected: Vec<_> = newest
            .iter()
            .filter_map(|name| times.iter().find(|time| time.0 == *name))
            .map(|&(_, seconds, nanoseconds)| engine::query::Time { seconds, nanoseconds })
            .collect();
        assert_eq!(expected, told, "each hit tells its time");
    }
}

#[test]
fn equal_times_go_by_path_both_ways() {
    let tree = of_names(&NAMES[..2]);
    for name in ["c/b", "c/a/z", "c-d/a", "B"] {
        tree.file(name, "x");
    }
    let by_path = tree.told(&tree.query());
    for path in &by_path {
        tree.time(path, 1_000, 7);
    }
    for order in [Order::Newest, Order::Oldest] {
        let mut query = tree.query();
        query.order = order;
        assert_eq!(by_path, tree.told(&query), "{order:?}");
    }
}

#[test]
fn a_time_is_told_only_where_the_order_needs_it() {
    let tree = of_names(&["a"]);
    for order in [Order::Path, Order::Walk] {
        let mut query = tree.query();
        query.order = order;
        assert_eq!(None, tree.ask(&query).hits[0].time, "{order:?}");
    }
}

#[test]
fn the_time_of_a_linked_root_is_that_of_the_file() {
    let tree = of_names(&["a", "b"]);
    tree.time("a", 10, 0).time("b", 20, 0).link("l", "a");
    let mut query = matching(tree.query(), "x");
    query.order = Order::Newest;
    query.roots = tree.roots(&["l", "b"]);
    assert_eq!(["b", "l"], *tree.told(&query));
}

/// A file of a large tree: its path, its time, and how rare the words in it are.
struct Known {
    path: String,
    time: (i64, u32),
    text: String,
}

/// Many files, few different times, words of any frequency.
fn large(files: u64, seed: u64) -> (Tree, Vec<Known>) {
    let mut dice = Dice(seed);
    let mut known = Vec::new();
    for number in 0..files {
        let text = [("all", 1), ("half", 2), ("some", 40), ("rare", 700)]
            .iter()
            .filter(|(_, one_in)| dice.below(*one_in) == 0)
            .map(|(word, _)| format!("{word}\n"))
            .collect();
        let folder = match dice.below(30) {
            0 => String::new(),
            at if at < 10 => format!("d{at}/"),
            at => format!("d{}/e{at}/", at % 4),
        };
        known.push(Known {
            path: format!("{folder}f{number}"),
            time: (dice.below(60) as i64 - 10, dice.below(3) as u32),
            text,
        });
    }
    let tree = Tree::new();
    for file in &known {
        tree.file(&file.path, &file.text);
        tree.time(&file.path, file.time.0, file.time.1);
    }
    (tree, known)
}

/// The page as anyone would find it: look at everything, sort, cut.
fn by_force(known: &[Known], word: &str, query: &Query) -> Vec<String> {
    let mut hits: Vec<_> = known.iter().filter(|file| file.text.contains(word)).collect();
    hits.sort_by(|one, other| {
        let by_time = match query.order {
            Order::Newest => other.time.cmp(&one.time),
            Order::Oldest => one.time.cmp(&other.time),
            Order::Path | Order::Walk => std::cmp::Ordering::Equal,
        };
        by_time.then_with(|| one.path.as_bytes().cmp(other.path.as_bytes()))
    });
    let offset = query.page.offset as usize;
    let limit = query.page.limit.map_or(usize::MAX, |limit| limit as usize);
    let after = hits.iter().skip(offset);
    let mut page: Vec<_> = after.take(limit).map(|file| file.path.clone()).collect();
    if hits.len() > offset.saturating_add(limit) {
        page.push("...".to_owned());
    }
    page
}

#[test]
fn every_page_is_the_one_found_by_force() {
    let (tree, known) = large(3_000, 0x5eed);
    let pages = [
        (0, Some(1)),
        (0, Some(100)),
        (3, Some(7)),
        (900, Some(40)),
        (1490, Some(60)),
        (0, None),
        (2_990, Some(9)),
    ];
    for word in ["all", "half", "some", "rare", "none"] {
        for order in [Order::Newest, Order::Oldest, Order::Path] {
            for (offset, limit) in pages {
                let mut query = matching(tree.query(), word);
                query.order = order;
                query.want.unreadable = offset == 0;
                (query.page.offset, query.page.limit) = (offset, limit);
                let expected = by_force(&known, word, &query);
                let told = tree.told(&query);
                assert_eq!(expected, told, "{word} {order:?} {offset} {limit:?}");
            }
        }
    }
}

#[test]
fn the_lines_of_a_page_do_not_depend_on_the_way_to_it() {
    let (tree, known) = large(1_500, 0xfeed);
    let mut query = tree.lines("half");
    query.order = Order::Newest;
    query.want.spans = true;
    let whole = tree.told(&query);
    assert!(whole.len() > 500, "enough to count as frequent");
    query.page.limit = Some(50);
    query.page.unit = engine::query::Unit::Lines;
    let mut page = whole[..50].to_vec();
    page.push("...".to_owned());
    assert_eq!(page, tree.told(&query));
    assert_eq!(1_500, known.len());
}

#[test]
fn repeated_runs_give_equal_hits() {
    let (tree, _) = large(1_000, 0xdeed);
    for order in [Order::Newest, Order::Walk] {
        let mut query = tree.lines("half");
        query.order = order;
        query.page.limit = Some(20);
        let first = tree.told(&query);
        for _ in 0..15 {
            assert_eq!(first, tree.told(&query), "{order:?}");
        }
    }
}
