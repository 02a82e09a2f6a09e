//! Ignore rules: which files they leave, as ripgrep has it.

#![cfg(unix)] // paths are bytes here, and links are made
#![allow(clippy::disallowed_methods, reason = "a test makes its own tree")]

mod tree;

use engine::query::{Files, GitPlaces, IgnoreFlavour, Query};
use tree::Tree;

/// Why, what is there, what is left.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

const RULES: &[Case<'_>] = &[
    (
        "outside a repository .gitignore says nothing",
        &[(".gitignore", "x"), ("x", ""), ("y", "")],
        &["x", "y"],
    ),
    (
        "in a repository it counts",
        &[(".git/", ""), (".gitignore", "x"), ("x", ""), ("y", "")],
        &["y"],
    ),
    (
        "a .jj folder makes a repository too",
        &[(".jj/", ""), (".gitignore", "x"), ("x", ""), ("y", "")],
        &["y"],
    ),
    (".ignore needs no repository", &[(".ignore", "x"), ("x", ""), ("y", "")], &["y"]),
    (
        ".ignore wins over .gitignore",
        &[(".git/", ""), (".gitignore", "x\n!y"), (".ignore", "!x\ny"), ("x", ""), ("y", "")],
        &["x"],
    ),
    (
        ".rgignore wins over .ignore",
        &[(".ignore", "x\n!y"), (".rgignore", "!x\ny"), ("x", ""), ("y", "")],
        &["x"],
    ),
    (
        "an outer .ignore wins over an inner .gitignore",
        &[(".git/", ""), (".ignore", "x"), ("d/.gitignore", "!x"), ("d/x", ""), ("d/y", "")],
        &["d/y"],
    ),
    (
        "the inner file of a kind wins over the outer one",
        &[(".ignore", "*.log"), ("d/.ignore", "!k.log"), ("d/k.log", ""), ("d/l.log", "")],
        &["d/k.log"],
    ),
    (
        "below an ignored folder nothing can be taken back",
        &[(".ignore", "d/"), ("d/.ignore", "!x"), ("d/x", ""), ("y", "")],
        &["y"],
    ),
    (
        "the last rule of a file that fits wins",
        &[(".ignore", "*.a\n!x.a\nx.*"), ("x.a", ""), ("x.b", ""), ("y", "")],
        &["y"],
    ),
    (
        "a slash at the start binds a rule to its folder",
        &[(".ignore", "/x"), ("x", ""), ("d/x", "")],
        &["d/x"],
    ),
    ("so does one in the middle", &[(".ignore", "d/x"), ("d/x", ""), ("e/d/x", "")], &["e/d/x"]),
    (
        "two stars span folders, none too",
        &[
            (".ignore", "**/x\na/**/z"),
            ("x", ""),
            ("d/e/x", ""),
            ("a/z", ""),
            ("a/b/c/z", ""),
            ("y", ""),
        ],
        &["y"],
    ),
    (
        "a slash at the end means folders alone",
        &[(".ignore", "x/"), ("x/a", ""), ("d/x", "")],
        &["d/x"],
    ),
    (
        "one star stays within a name",
        &[(".ignore", "/a*z"), ("abz", ""), ("a/z", ""), ("az", "")],
        &["a/z"],
    ),
    (
        "a hidden name that a rule keeps is shown",
        &[(".ignore", "!.h"), (".h", ""), (".i", "")],
        &[".h"],
    ),
    (
        "an inner repository is free of the outer one's .gitignore, not of its .ignore",
        &[
            (".git/", ""),
            (".gitignore", "x"),
            (".ignore", "y"),
            ("d/.git/", ""),
            ("d/x", ""),
            ("d/y", ""),
        ],
        &["d/x"],
    ),
    (
        ".git/info/exclude counts last",
        &[(".git/info/exclude", "x\ny"), (".gitignore", "!y"), ("x", ""), ("y", "")],
        &["y"],
    ),
    (
        "blank lines and comments are no rules; a backslash makes one",
        &[(".ignore", "\n# x\n\\#x\n"), ("x", ""), ("# x", ""), ("#x", "")],
        &["# x", "x"],
    ),
    (
        "carriage returns at line ends are not part of rules",
        &[(".ignore", "x\r\ny\r\n"), ("x", ""), ("y", ""), ("z", "")],
        &["z"],
    ),
    ("nor a byte order mark", &[(".ignore", "\u{feff}x\n"), ("x", ""), ("y", "")], &["y"]),
    (
        "braces are alternatives here, though not to git",
        &[(".ignore", "x.{a,b}"), ("x.a", ""), ("x.b", ""), ("x.c", "")],
        &["x.c"],
    ),
    ("a line that is no glob is lost alone", &[(".ignore", "{x\ny"), ("x", ""), ("y", "")], &["x"]),
    (
        "rule files are hidden names themselves",
        &[(".ignore", ""), (".rgignore", ""), (".gitignore", ""), ("x", "")],
        &["x"],
    ),
];

#[test]
fn rules_leave_what_ripgrep_leaves() {
    for (reason, files, expected) in RULES {
        let tree = Tree::of(files);
        assert_eq!(*expected, tree.told(&tree.query()), "{reason}");
    }
}

#[test]
fn without_rules_every_plain_name_is_left() {
    let tree =
        Tree::of(&[(".git/", ""), (".gitignore", "x"), (".ignore", "y"), ("x", ""), ("y", "")]);
    let mut query = tree.query();
    query.files.ignore = IgnoreFlavour::None;
    assert_eq!(["x", "y"], *tree.told(&query));
}

#[test]
fn hidden_names_are_still_ignored_where_a_rule_says_so() {
    let tree = Tree::of(&[(".ignore", ".x"), (".x", ""), (".y", "")]);
    let mut query = tree.query();
    query.files.hidden = true;
    assert_eq!([".ignore", ".y"], *tree.told(&query));
}

#[test]
fn rules_above_the_root_hold_below_it() {
    let tree = Tree::of(&[
        (".git/", ""),
        (".gitignore", "x\n/d/e/y\n/z"),
        (".git/info/exclude", "w"),
        ("d/e/x", ""),
        ("d/e/y", ""),
        ("d/e/z", ""),
        ("d/e/w", ""),
    ]);
    let mut query = tree.query();
    query.roots = tree.roots(&["d/e"]);
    assert_eq!(["d/e/z"], *tree.told(&query));
}

#[test]
fn rules_above_a_linked_root_are_those_of_where_it_leads() {
    let tree = Tree::of(&[("a/.ignore", "x"), ("a/d/x", ""), ("a/d/y", ""), ("b/.ignore", "y")]);
    tree.link("b/l", tree.at("a/d"));
    let mut query = tree.query();
    query.roots = tree.roots(&["b/l"]);
    assert_eq!(["b/l/y"], *tree.told(&query));
}

#[test]
fn a_worktree_takes_the_excludes_of_its_repository() {
    for commondir in ["../..", "{top}/main/.git"] {
        let tree = Tree::of(&[("main/.git/info/exclude", "x"), ("work/x", ""), ("work/y", "")]);
        let top = tree.at("").display().to_string();
        let common = commondir.replace("{top}", &top);
        tree.file("main/.git/worktrees/w/commondir", common + "\n");
        tree.file("work/.git", format!("gitdir: {top}/main/.git/worktrees/w\n"));
        let mut query = tree.query();
        query.roots = tree.roots(&["work"]);
        assert_eq!(["work/y"], *tree.told(&query), "{commondir}");
    }
}

#[test]
fn global_excludes_count_in_a_repository_and_after_its_own_rules() {
    let files: &[_] = &[
        ("home/.gitconfig", "[core]\n\texcludesFile = \"~/rules\"\n"),
        ("home/rules", "x\ny\n/d/z\n"),
        ("r/.git/", ""),
        ("r/.gitignore", "!y"),
        ("r/x", ""),
        ("r/y", ""),
        ("r/z", ""),
        ("q/x", ""),
    ];
    let tree = Tree::of(files);
    let query = Query {
        roots: tree.roots(&["r", "q"]),
        files: Files {
            places: GitPlaces { home: Some(tree.bytes("home")), ..tree::nowhere() },
            ..tree.query().files
        },
        ..tree.query()
    };
    assert_eq!(["q/x", "r/y", "r/z"], *tree.told(&query));
}

#[test]
fn global_excludes_are_found_where_git_looks_in_its_order() {
    let configuration = |name: &str| format!("[core]\nexcludesfile={name}\n");
    let tree = Tree::of(&[(".git/", ""), ("g", ""), ("h", ""), ("c", ""), ("s", ""), ("d", "")]);
    tree.folder("p/config/git");
    for name in ["g", "h", "c", "s"] {
        let rules = tree.at(format!("p/rules-{name}")).display().to_string();
        tree.file(format!("p/rules-{name}"), name);
        let at = match name {
            "g" => "p/global",
            "h" => "p/.gitconfig",
            "c" => "p/config/git/config",
            _ => "p/system",
        };
        tree.file(at, configuration(&rules));
    }
    tree.file("p/config/git/ignore", "d");
    let mut query = tree.query();
    query.files.places = GitPlaces {
        home: Some(tree.bytes("p")),
        config_home: Some(tree.bytes("p/config")),
        global_config: Some(tree.bytes("p/global")),
        system_config: Some(tree.bytes("p/system")),
    };
    query.files.globs = vec!["!p".to_owned()];
    for (gone, left) in [
        ("", "cdhs"),
        ("global", "cdgs"),
        (".gitconfig", "dghs"),
        ("config/git/config", "cdgh"),
        ("system", "cghs"),
    ] {
        if !gone.is_empty() {
            std::fs::remove_file(tree.at(format!("p/{gone}"))).expect("gone");
        }
        let told = tree.told(&query).concat();
        assert_eq!(left, told, "without {gone:?} and those before it");
    }
}

#[test]
fn rules_behind_a_byte_that_is_not_utf8_are_lost_as_in_ripgrep() {
    let tree = Tree::of(&[("x", ""), ("y", "")]);
    tree.file(".ignore", b"x\n\xff\ny\n");
    let answer = tree.ask(&tree.query());
    assert_eq!(["y"], *tree.tell(&answer));
}

#[test]
#[cfg(target_os = "linux")]
fn pipes_in_place_of_rule_files_hold_nobody() {
    let tree = Tree::of(&[("a/.git/info/", ""), ("a/x", ""), ("b/x", "")]);
    for name in ["a/.gitignore", "a/.ignore", "a/.rgignore", "a/.git/info/exclude", "b/.git"] {
        tree.pipe(name);
    }
    let answer = tree.ask(&tree.query());
    assert_eq!(["a/x", "b/x"], *tree.tell(&answer));
}

#[test]
fn a_linked_rule_file_counts_only_where_it_leads_beneath_the_root() {
    let outside = Tree::of(&[("rules", "x")]);
    let tree =
        Tree::of(&[("rules", "x\nrules"), ("a/x", ""), ("b/x", ""), ("c/x", ""), ("d/x", "")]);
    tree.link("a/.ignore", tree.at("rules"));
    tree.link("b/.ignore", outside.at("rules"));
    tree.link("c/.ignore", "/dev/zero");
    tree.link("d/.ignore", "nothing");
    let answer = tree.ask(&tree.query());
    assert_eq!(["b/x", "c/x", "d/x", "rules"], *tree.tell(&answer));
}

#[test]
fn a_rule_file_over_the_cap_is_taken_to_its_last_whole_line_and_told() {
    let tree = Tree::of(&[("x", ""), ("y", ""), ("zz", "")]);
    let comment = format!("#{}\n", "-".repeat((1 << 20) - 6));
    tree.file(".ignore", format!("x\n{comment}zz\ny\n"));
    let answer = tree.ask(&tree.query());
    assert_eq!(["y", "zz"], *tree.tell(&answer));
    assert_eq!([".ignore RuleFile 0"], *tree.skipped(&answer));
}

#[test]
fn a_rule_file_of_exactly_the_cap_is_taken_whole() {
    let tree = Tree::of(&[("x", ""), ("y", "")]);
    let comment = format!("#{}\n", "-".repeat((1 << 20) - 4));
    tree.file(".ignore", format!("x\n{comment}"));
    let answer = tree.ask(&tree.query());
    assert_eq!(["y"], *tree.tell(&answer));
    assert_eq!([""; 0], *tree.skipped(&answer));
}

#[test]
fn more_rules_than_the_cap_are_told() {
    let tree = Tree::of(&[("x", ""), ("y", "")]);
    let rules: String = (1..20_000).map(|index| format!("no{index}\n")).collect();
    tree.file(".ignore", format!("x\n{rules}y\n"));
    let answer = tree.ask(&tree.query());
    assert_eq!(["y"], *tree.tell(&answer));
    assert_eq!([".ignore RuleFile 0"], *tree.skipped(&answer));
}
