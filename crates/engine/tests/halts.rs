//! Halts: a cancel is an error, a deadline an answer that says so; both soon.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use engine::error::Error;
use engine::query::{Answer, Order, Query, StoppedKind};
use engine::{Cancel, search};
use tree::{Tree, matching};

/// Ten times what is promised, and a debug build's slowness on top.
const SOON: Duration = Duration::from_secs(2);

/// Far more to search than any test waits for: one file under many names, the last of them large.
fn endless() -> Tree {
    let tree = Tree::new();
    tree.file("f", "some line of text\n".repeat(50_000));
    for folder in 0..40 {
        tree.folder(format!("d{folder}"));
        for name in 0..100 {
            tree.twin(format!("d{folder}/f{name}"), "f");
        }
    }
    tree.file("large/f", "");
    std::fs::OpenOptions::new()
        .write(true)
        .open(tree.at("large/f"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a hole");
    tree
}

fn ask(tree: &Tree, query: &Query, cancel: Option<&Cancel>) -> Result<Answer, Error> {
    search(query, &tree.scope(), cancel, None)
}

#[test]
fn a_cancel_before_the_start_is_an_error() {
    let tree = endless();
    let cancel = Cancel::default();
    cancel.set();
    assert!(cancel.is_set());
    for query in [tree.query(), matching(tree.query(), "absent")] {
        assert_eq!(Some(Error::Cancelled), ask(&tree, &query, Some(&cancel)).err());
    }
}

#[test]
fn a_cancel_on_the_way_ends_every_order_soon() {
    let tree = endless();
    for (order, pattern, limit) in [
        (Order::Walk, "absent", None),
        (Order::Newest, "absent", Some(10)),
        (Order::Newest, "text", Some(3_000)),
    ] {
        let mut query = matching(tree.query(), pattern);
        query.order = order;
        query.page.limit = limit;
        query.want.kind = engine::query::WantKind::Counts;
        query.reading.binary = engine::query::BinaryFlavour::None;
        let cancel = Cancel::default();
        let (ended, after) = std::thread::scope(|scope| {
            let asked = scope.spawn(|| (ask(&tree, &query, Some(&cancel)), Instant::now()));
            // Far less than the search takes; were it done earlier, the assertion would tell.
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(150) {
                std::thread::yield_now();
            }
            let set = Instant::now();
            cancel.set();
            let (answered, at) = asked.join().expect("no panic");
            (answered, at.duration_since(set))
        });
        assert_eq!(Some(Error::Cancelled), ended.err(), "{order:?} {pattern}");
        assert!(after < SOON, "{order:?} {pattern}: {after:?}");
    }
}

#[test]
fn a_flag_set_after_the_end_changes_nothing() {
    let tree = Tree::of(&[("a", "x")]);
    let cancel = Cancel::default();
    let answer = ask(&tree, &tree.query(), Some(&cancel)).expect("an answer");
    cancel.set();
    assert_eq!(["a"], *tree.tell(&answer));
}

#[test]
fn no_time_at_all_gives_an_answer_that_says_so() {
    let tree = endless();
    for deadline in [0.0, -1.0, f64::MIN_POSITIVE] {
        for query in [tree.query(), matching(tree.query(), "absent")] {
            let mut query = query;
            query.deadline = Some(deadline);
            let answer = ask(&tree, &query, None).expect("an answer");
            let stopped = answer.stopped.expect("it was stopped");
            assert_eq!((StoppedKind::Deadline, 0), (stopped.kind, stopped.lost.len()));
        }
    }
}

#[test]
fn a_deadline_on_the_way_is_kept() {
    let tree = endless();
    for order in [Order::Walk, Order::Oldest] {
        let mut query = matching(tree.query(), "absent");
        query.order = order;
        query.deadline = Some(0.1);
        query.reading.binary = engine::query::BinaryFlavour::None;
        let begun = Instant::now();
        let answer = ask(&tree, &query, None).expect("an answer");
        assert!(answer.stopped.is_some(), "{order:?}");
        assert!(begun.elapsed() < SOON, "{order:?}: {:?}", begun.elapsed());
    }
}

#[test]
fn time_enough_stops_nothing() {
    let tree = Tree::of(&[("a", "x")]);
    for deadline in [3600.0, 1e300, f64::INFINITY] {
        let mut query = matching(tree.query(), "x");
        query.deadline = Some(deadline);
        assert_eq!(["a"], *tree.told(&query), "{deadline}");
    }
}

#[test]
fn an_interrupt_is_asked_by_the_calling_thread_and_ends_the_query() {
    let tree = endless();
    let query = Query {
        reading: engine::query::Reading {
            binary: engine::query::BinaryFlavour::None,
            ..Default::default()
        },
        ..matching(tree.query(), "absent")
    };
    let caller = std::thread::current().id();
    let asked = AtomicUsize::new(0);
    let interrupt = || {
        assert_eq!(caller, std::thread::current().id());
        asked.fetch_add(1, Relaxed) == 2
    };
    let begun = Instant::now();
    let answer = search(&query, &tree.scope(), None, Some(&interrupt));
    assert_eq!(Some(Error::Cancelled), answer.err());
    assert_eq!(3, asked.load(Relaxed), "never again once it said so");
    assert!(begun.elapsed() < SOON * 2);
}

#[test]
fn a_panic_on_the_way_leaves_no_thread_behind() {
    let tree = endless();
    let mut query = matching(tree.query(), "absent");
    query.reading.binary = engine::query::BinaryFlavour::None;
    let interrupt = || -> bool { std::panic::panic_any("planted") };
    let begun = Instant::now();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        search(&query, &tree.scope(), None, Some(&interrupt))
    }));
    let panic = ended.expect_err("the panic comes out");
    assert_eq!(Some(&"planted"), panic.downcast_ref::<&str>());
    assert!(begun.elapsed() < SOON, "the others stopped: {:?}", begun.elapsed());
}
