//! One function per bug, named after what was wrong.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use std::time::{Duration, Instant};

use engine::query::{Kind, Order, Page, Pattern, Query, Reading, Unit, WantKind};
use engine::{Scope, search, stat};
use tree::{Tree, matching, regex};

/// Runs one test of this file in a process of its own, which it may end.
fn in_a_process_of_its_own(test: &str, body: impl Fn()) {
    const CHILD: &str = "EVERGREP_TEST_CHILD";
    if std::env::var_os(CHILD).is_some_and(|name| name == test) {
        return body();
    }
    let own = std::env::current_exe().expect("this program");
    let mut child = std::process::Command::new(own);
    let run = child.args(["--exact", test]).env(CHILD, test).output();
    let status = run.expect("it starts").status;
    assert!(status.success(), "it ended with {status}");
}

/// Deep enough for any stack, shallow enough for the caps on rule files.
fn braces() -> String {
    "{".repeat(200_000) + "a" + &"}".repeat(200_000)
}

/// The `globset` crate descends into braces by recursion; a repository's `.gitignore` must not
/// end the process.
#[test]
fn nested_braces_in_a_rule_file_overflowed_the_stack() {
    in_a_process_of_its_own("nested_braces_in_a_rule_file_overflowed_the_stack", || {
        let tree = Tree::of(&[("x", ""), (".ignore", &(braces() + "\n"))]);
        assert_eq!(["x"], *tree.told(&tree.query()));
    });
}

/// The same in a glob, which an agent writes.
#[test]
fn nested_braces_in_a_glob_overflowed_the_stack() {
    in_a_process_of_its_own("nested_braces_in_a_glob_overflowed_the_stack", || {
        let tree = Tree::of(&[("x", "")]);
        let mut query = tree.query();
        query.files.globs = vec![braces()];
        assert_eq!("glob", tree.try_ask(&query).expect_err("too deep").kind());
    });
}

/// The same in a denied pattern.
#[test]
fn nested_braces_in_a_denied_pattern_overflowed_the_stack() {
    in_a_process_of_its_own("nested_braces_in_a_denied_pattern_overflowed_the_stack", || {
        let tree = Tree::of(&[("x", "")]);
        let scope = Scope { deny: vec![braces()], ..tree.scope() };
        let error = search(&tree.query(), &scope, None, None).expect_err("too deep");
        assert_eq!("glob", error.kind());
    });
}

/// Denied patterns are relative to the scope's root; when that could not be opened, they were
/// dropped, and everything else on the machine was shown.
#[test]
fn denied_patterns_were_lost_with_their_root() {
    let tree = Tree::of(&[("d/secret", "x"), ("d/a", "x")]);
    let scope = Scope { root: tree.bytes("gone"), allow: None, deny: vec!["secret".to_owned()] };
    let answer = search(&tree.query(), &scope, None, None).expect("an answer");
    assert_eq!(["d/a"], *tree.tell(&answer));
    let told = stat(&tree.bytes("d/secret"), &scope).expect("an answer");
    assert_eq!((None, 2), (told.kind, told.error));
}

/// A path through a folder outside and back in told whether that folder is there.
#[test]
fn dots_told_what_lies_outside() {
    let tree = Tree::of(&[("in/a", "x"), ("in/secret/b", "x"), ("out/d/f", "")]);
    let scope = Scope {
        root: tree.bytes("in"),
        allow: Some(vec![tree.bytes("in")]),
        deny: vec!["secret".to_owned()],
    };
    for (there, absent) in
        [("out/d/../../in/a", "out/e/../../in/a"), ("in/secret/../a", "in/secrecy/../a")]
    {
        let of = |path: &str| {
            let told = stat(&tree.bytes(path), &scope).expect("an answer");
            (told.kind, told.error)
        };
        assert_eq!(of(absent), of(there), "{there}");
    }
}

/// Where the system does not tell a path without links, because it is too long, denied patterns
/// were held against the path as it was spelled.
#[test]
#[cfg(all(target_os = "linux", not(evergrep_plain)))]
fn a_link_past_the_greatest_length_of_a_path_led_to_what_is_denied() {
    let tree = Tree::new();
    let long = format!("{}/", "n".repeat(200)).repeat(15);
    tree.folder(&long);
    tree.link("one", long.trim_end_matches('/'));
    tree.folder(format!("one/{long}secret"));
    tree.link("one/two", long.trim_end_matches('/'));
    tree.file("one/two/secret/f", "x");
    tree.link("one/two/open", "secret");
    let scope = Scope { deny: vec!["secret".to_owned()], ..tree.scope() };
    let query = Query { roots: tree.roots(&["one/two/open", "one/two/open/f"]), ..tree.query() };
    let answer = search(&query, &scope, None, None).expect("an answer");
    let states: Vec<_> = answer.roots.iter().map(|root| root.found).collect();
    assert_eq!([""; 0], *tree.tell(&answer));
    let gone = engine::query::Found::Missing;
    assert_eq!([gone, gone], *states);
}

/// Rules above an allowed folder hold, but a confined caller must not hear of their files.
#[test]
fn a_rule_file_outside_was_told_to_a_confined_caller() {
    let tree = Tree::of(&[("in/a", "x")]);
    tree.file(".ignore", "\n".repeat((1 << 20) + 1));
    let scope = Scope { allow: Some(vec![tree.bytes("in")]), ..tree.scope() };
    let query = Query { roots: tree.roots(&["in"]), ..tree.query() };
    let answer = search(&query, &scope, None, None).expect("an answer");
    assert_eq!(["in/a"], *tree.tell(&answer));
    assert_eq!([""; 0], *tree.skipped(&answer));
}

/// Every line of a block of matches looked at every span of the block.
#[test]
fn spans_across_many_lines_took_quadratic_time() {
    let tree = Tree::of(&[("f", &"ab\n".repeat(60_000))]);
    let mut query = tree.lines("");
    query.want.spans = true;
    query.pattern = Some(Pattern { multi_line: true, ..regex("b\n") });
    let begun = Instant::now();
    let answer = tree.ask(&query);
    assert_eq!(60_000, answer.hits[0].lines.len());
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// Every line of context looked at every match that the page keeps.
#[test]
fn a_page_of_lines_with_context_took_quadratic_time() {
    let tree = Tree::of(&[("f", &"a\nb\n".repeat(40_000))]);
    let mut query = tree.lines("a");
    query.want.after = 1;
    query.page.unit = Unit::Lines;
    query.page.limit = Some(100_000);
    let begun = Instant::now();
    let answer = tree.ask(&query);
    assert_eq!(80_000, answer.hits[0].lines.len());
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// A named binary file is a hit without lines; a page of lines was decided by such hits and then
/// dropped them, so that nothing was left. It counts as one.
#[test]
fn named_binary_files_left_a_page_of_lines_empty() {
    let tree = Tree::of(&[("z", "x1\nx2\n")]);
    tree.file("a", "x\0\n").file("b", "x\0\n").file("c", "x\0\n");
    let mut query = tree.lines("x");
    query.roots = tree.roots(&["a", "b", "c", "z"]);
    query.page = Page { unit: Unit::Lines, limit: Some(1), ..Page::default() };
    assert_eq!(["a=1", "a!1", "..."], *tree.told(&query));
}

/// The bytes of UTF-16 hold NULs, which made a named file binary though its text has none.
#[test]
fn a_named_utf16_file_told_no_lines() {
    let tree = Tree::new();
    let text = "\u{feff}one\nneedle\n".encode_utf16();
    tree.file("f", text.flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    let mut query = tree.lines("needle");
    query.roots = tree.roots(&["f"]);
    assert_eq!(["f:2:needle"], *tree.told(&query));
}

/// Line ends were sought in the bytes of UTF-16, where other letters hold one, so a line of any
/// length was kept whole.
#[test]
fn a_long_line_of_utf16_was_kept_whole() {
    let tree = Tree::new();
    let mut bytes = vec![0x0a; (64 << 20) + 4096];
    bytes[..2].copy_from_slice(&[0xff, 0xfe]);
    tree.file("f", &bytes);
    drop(bytes);
    let answer = tree.ask(&matching(tree.query(), "needle"));
    let told = tree.skipped(&answer);
    assert!(
        matches!(&told[..], [one] if one == "f LongLine 0" || one == "f TooLarge 0"),
        "{told:?}"
    );
}

/// A line searched in windows gave a line for each window with a match.
#[test]
fn a_long_line_was_counted_once_a_window() {
    let tree = Tree::new();
    tree.hole("f", 70 << 20);
    let file = std::fs::OpenOptions::new().write(true).open(tree.at("f"));
    let file = file.expect("the file");
    for at in [10, 69 << 20] {
        std::os::unix::fs::FileExt::write_all_at(&file, b"needle", at).expect("written");
    }
    let mut query = matching(tree.query(), "needle");
    query.reading.binary = engine::query::BinaryFlavour::None;
    query.want.kind = WantKind::Counts;
    assert_eq!(["f=1"], *tree.told(&query));
}

/// Files named as roots were searched one after another without a look at the deadline.
#[test]
fn named_files_were_searched_after_the_deadline() {
    let tree = Tree::new();
    let names: Vec<_> = (0..20).map(|number| format!("f{number}")).collect();
    for name in &names {
        tree.file(name, "x");
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let query =
        Query { roots: tree.roots(&names), deadline: Some(0.0), ..matching(tree.query(), "x") };
    let answer = tree.ask(&query);
    assert_eq!((true, 0), (answer.stopped.is_some(), answer.seen.searched));
}

/// Only pages in the order of time stopped early; any other order searched, and kept, everything.
#[test]
fn a_page_in_walk_order_searched_the_whole_tree() {
    let tree = Tree::new();
    for number in 0..1_000 {
        tree.file(format!("f{number}"), "x\n");
    }
    for order in [Order::Walk, Order::Path] {
        let mut query = tree.lines("x");
        query.order = order;
        query.page.limit = Some(1);
        let answer = tree.ask(&query);
        assert_eq!(2, tree.tell(&answer).len());
        assert!(answer.seen.searched < 900, "{order:?}: {}", answer.seen.searched);
    }
}

/// What was left out depended on which files the threads had met when the engine found the
/// pattern frequent.
#[test]
fn left_out_files_differed_from_run_to_run() {
    let tree = Tree::new();
    for number in 0..2_000_u32 {
        let text = if number.is_multiple_of(3) { "x\0" } else { "x" };
        let name = format!("d{}/f{number}", number % 17);
        tree.file(&name, text).time(&name, i64::from(number * 7 % 100), 0);
    }
    let mut query = matching(tree.query(), "x");
    query.order = Order::Newest;
    query.page.limit = Some(20);
    let told = || {
        let answer = tree.ask(&query);
        (tree.tell(&answer), tree.skipped(&answer), answer.seen.skipped)
    };
    let first = told();
    for _ in 0..10 {
        assert!(first == told(), "another answer to the same question");
    }
}

/// A relative `gitdir:` was looked for from the folder that the process happens to be in.
#[test]
fn a_relative_gitdir_started_from_the_process_folder() {
    let tree = Tree::of(&[
        (".git", "gitdir: modules/m\n"),
        ("modules/m/commondir", "../../common\n"),
        ("common/info/exclude", "x\n"),
        ("x", ""),
        ("y", ""),
    ]);
    let mut query = tree.query();
    query.files.globs = vec!["!modules".to_owned(), "!common".to_owned()];
    assert_eq!(["y"], *tree.told(&query));
}

/// A root's spelling survives into its hits, so ripgrep prints `d///f`.
#[test]
fn slashes_at_the_end_of_a_root_were_lost() {
    let tree = Tree::of(&[("d/f", "")]);
    let query = Query { roots: tree.roots(&["d///"]), ..tree.query() };
    assert_eq!(["d///f"], *tree.told(&query));
}

/// The greatest context that a caller can write.
#[test]
fn the_greatest_context_is_all_there_is() {
    let tree = Tree::of(&[("f", "a\nx\nb\nx\nc\n")]);
    let mut query = tree.lines("x");
    (query.want.before, query.want.after) = (usize::MAX, usize::MAX);
    let expected = ["f-1-a", "f:2:x", "f-3-b", "f:4:x", "f-5-c"];
    assert_eq!(expected, *tree.told(&query));
    query.page.unit = Unit::Lines;
    assert_eq!(expected, *tree.told(&query), "in a page of lines");
}

/// A file of a special file system has no size; across line ends it was cut at a mebibyte and
/// nothing said so.
#[test]
#[cfg(target_os = "linux")]
fn a_file_without_a_size_was_cut_without_a_word() {
    let path = "/proc/kallsyms";
    let lines = std::fs::read(path).map_or(0, |bytes| memchr::memchr_iter(b'\n', &bytes).count());
    let query = |multi_line| Query {
        roots: vec![engine::query::Root { path: path.into() }],
        pattern: Some(Pattern { multi_line, ..regex("^.+$") }),
        want: engine::query::Want { kind: WantKind::Counts, ..Default::default() },
        reading: Reading::default(),
        ..Query::default()
    };
    let scope = Scope::default();
    let ask = |multi_line| search(&query(multi_line), &scope, None, None).expect("an answer");
    let plain = ask(false);
    if lines == 0 || plain.hits.is_empty() {
        return; // Not on this machine.
    }
    assert_eq!(Some(lines as u64), plain.hits[0].count);
    let across = ask(true);
    let whole = across.hits.first().is_some_and(|hit| hit.count == plain.hits[0].count);
    assert!(whole || !across.skipped.is_empty(), "cut in silence");
    assert_eq!(Kind::File, plain.hits[0].kind);
}

/// A pattern that can't match a line end was counted by matches, only because it might have been
/// one that can; ripgrep then counts lines.
#[test]
fn counts_across_lines_counted_matches_of_a_pattern_within_lines() {
    let tree = Tree::of(&[("f", "foo bar\nfoo\n")]);
    let mut query = matching(tree.query(), r"\w+");
    query.pattern.as_mut().expect("a pattern").multi_line = true;
    query.want.kind = WantKind::Counts;
    assert_eq!(["f=2"], *tree.told(&query));
    query.pattern.as_mut().expect("a pattern").text = r"\w+\s".to_owned();
    assert_eq!(["f=3"], *tree.told(&query));
}
