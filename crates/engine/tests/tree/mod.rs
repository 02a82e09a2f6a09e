//! A small tree on disk for one test, and an answer over it as text that can be compared whole.
//!
//! Paths are relative to the tree's own unique folder, which goes when the value goes. What the
//! machine has of git's configuration is kept out of every query made here.

#![allow(dead_code, reason = "every test file uses another part of it")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, UNIX_EPOCH};

use engine::error::Error;
use engine::query::{Answer, Files, GitPlaces, Order, Pattern, Query, Root, Want, WantKind};
use engine::{Scope, search};

static MADE: AtomicUsize = AtomicUsize::new(0);

/// A folder of its own, removed at the end.
pub struct Tree {
    top: PathBuf,
}

impl Tree {
    /// An empty one.
    pub fn new() -> Tree {
        let number = MADE.fetch_add(1, Relaxed);
        let name = format!("evergrep-engine-{}-{number}", std::process::id());
        // Without links, so that what the engine tells of real paths can be compared.
        let above = fs::canonicalize(std::env::temp_dir()).expect("a temporary folder");
        let top = above.join(name);
        fs::create_dir(&top).expect("a folder of its own");
        Tree { top }
    }

    /// One with these files; a path that ends in a slash is a folder.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let tree = Tree::new();
        for (path, text) in files {
            match path.strip_suffix('/') {
                Some(folder) => tree.folder(folder),
                None => tree.file(path, text),
            };
        }
        tree
    }

    /// The system's path of one of its entries; the empty path is the tree itself.
    pub fn at(&self, path: impl AsRef<[u8]>) -> PathBuf {
        match path.as_ref() {
            b"" => self.top.clone(),
            path => self.top.join(Path::new(OsStr::from_bytes(path))),
        }
    }

    /// The same as bytes.
    pub fn bytes(&self, path: impl AsRef<[u8]>) -> Vec<u8> {
        self.at(path).into_os_string().into_encoded_bytes()
    }

    /// Makes a folder, and those above it.
    pub fn folder(&self, path: impl AsRef<[u8]>) -> &Tree {
        fs::create_dir_all(self.at(path)).expect("a folder");
        self
    }

    /// Makes a file, and the folders above it.
    pub fn file(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &Tree {
        let path = self.at(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).expect("its folder");
        }
        fs::write(path, content).expect("a file");
        self
    }

    /// Makes a file of that size without writing it.
    pub fn hole(&self, path: &str, size: u64) -> &Tree {
        let file = fs::File::create(self.at(path)).expect("a file");
        file.set_len(size).expect("its size");
        self
    }

    /// Makes a symbolic link.
    pub fn link(&self, path: impl AsRef<[u8]>, target: impl AsRef<Path>) -> &Tree {
        std::os::unix::fs::symlink(target, self.at(path)).expect("a link");
        self
    }

    /// Makes a second name for a file.
    pub fn twin(&self, path: impl AsRef<[u8]>, old: impl AsRef<[u8]>) -> &Tree {
        fs::hard_link(self.at(old), self.at(path)).expect("a second name");
        self
    }

    /// Makes a named pipe, which holds whoever opens it the plain way.
    #[cfg(target_os = "linux")]
    pub fn pipe(&self, path: impl AsRef<[u8]>) -> &Tree {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.at(path), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        self
    }

    /// Sets a file's modification time.
    pub fn time(&self, path: impl AsRef<[u8]>, seconds: i64, nanoseconds: u32) -> &Tree {
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let time = match seconds < 0 {
            true => UNIX_EPOCH - whole,
            false => UNIX_EPOCH + whole,
        } + Duration::from_nanos(nanoseconds.into());
        let file = fs::File::options().append(true).open(self.at(path));
        file.and_then(|file| file.set_modified(time)).expect("a time");
        self
    }

    /// A query over the whole tree: every file, by path.
    pub fn query(&self) -> Query {
        Query {
            roots: vec![Root { path: self.bytes("") }],
            files: Files { glob_base: self.bytes(""), places: nowhere(), ..Files::default() },
            order: Order::Path,
            ..Query::default()
        }
    }

    /// A query for the lines that match.
    pub fn lines(&self, pattern: &str) -> Query {
        Query {
            pattern: Some(regex(pattern)),
            want: Want { kind: WantKind::Lines, ..Want::default() },
            ..self.query()
        }
    }

    /// The same with other roots, relative to the tree.
    pub fn roots(&self, paths: &[&str]) -> Vec<Root> {
        let path = |path: &&str| Root { path: self.bytes(path) };
        paths.iter().map(path).collect()
    }

    /// Answers a query without bounds.
    pub fn ask(&self, query: &Query) -> Answer {
        self.try_ask(query).expect("an answer")
    }

    /// The same where it may fail.
    pub fn try_ask(&self, query: &Query) -> Result<Answer, Error> {
        search(query, &self.scope(), None, None)
    }

    /// A scope that allows everything.
    pub fn scope(&self) -> Scope {
        Scope { root: self.bytes(""), ..Scope::default() }
    }

    /// Answers a query and tells the hits.
    pub fn told(&self, query: &Query) -> Vec<String> {
        self.tell(&self.ask(query))
    }

    /// An answer's hits as text, paths relative to the tree. `path` or `path=count` where there
    /// are no lines; `path:3:text [1..2]` a match with its spans, `path-3-text` context,
    /// `(of 9)` a cut line; `path!70` a NUL at 70; `...` more remain; `stopped` out of time.
    pub fn tell(&self, answer: &Answer) -> Vec<String> {
        let mut told = Vec::new();
        for hit in &answer.hits {
            let path = self.short(&hit.path);
            if hit.lines.is_empty() {
                let count = hit.count.map_or(String::new(), |count| format!("={count}"));
                told.push(format!("{path}{count}"));
            }
            for line in &hit.lines {
                let mark = if line.is_match { ':' } else { '-' };
                let text = line.bytes.escape_ascii();
                let mut one = format!("{path}{mark}{}{mark}{text}", line.number);
                if line.length != line.bytes.len() {
                    one += &format!(" (of {})", line.length);
                }
                if !line.spans.is_empty() {
                    let spans: Vec<_> =
                        line.spans.iter().map(|(a, b)| format!("{a}..{b}")).collect();
                    one += &format!(" [{}]", spans.join(","));
                }
                told.push(one);
            }
            if let Some(at) = hit.binary {
                told.push(format!("{path}!{at}"));
            }
        }
        if answer.more {
            told.push("...".to_owned());
        }
        if answer.stopped.is_some() {
            told.push("stopped".to_owned());
        }
        told
    }

    /// An answer's left-out paths as text: path, reason, the system's number.
    pub fn skipped(&self, answer: &Answer) -> Vec<String> {
        let skipped = answer.skipped.iter();
        skipped
            .map(|each| {
                let path = self.short(&each.path);
                format!("{path} {:?} {}", each.reason, each.error)
            })
            .collect()
    }

    /// A path without the tree's own.
    pub fn short(&self, path: &[u8]) -> String {
        let top = self.bytes("");
        let rest = path.strip_prefix(&top[..]).unwrap_or(path);
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        rest.escape_ascii().to_string()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.top);
        if !std::thread::panicking() {
            removed.expect("the tree goes");
        }
    }
}

/// Places where no git configuration is.
pub fn nowhere() -> GitPlaces {
    GitPlaces { system_config: Some(b"/nonexistent/evergrep".to_vec()), ..GitPlaces::default() }
}

/// A plain regular expression.
pub fn regex(text: &str) -> Pattern {
    Pattern { text: text.to_owned(), ..Pattern::default() }
}

/// A query for the files that match.
pub fn matching(query: Query, pattern: &str) -> Query {
    Query { pattern: Some(regex(pattern)), ..query }
}

/// Numbers that look random and are the same on every run (xorshift).
pub struct Dice(pub u64);

impl Dice {
    /// The next one, below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
