//! The vocabulary: what is asked and what is found, as plain data.
//!
//! The same names and fields as `src/evergrep/query.py`, which says what each means;
//! `tests/house` compares the two. Paths are bytes, as the system holds them.

/// Where a search starts.
#[derive(Clone, Debug, Default)]
pub struct Root {
    /// One absolute path, whose spelling survives into every hit below it.
    pub path: Vec<u8>,
}

/// Where git's configuration may name a global excludes file.
#[derive(Clone, Debug, Default)]
pub struct GitPlaces {
    /// `HOME`.
    pub home: Option<Vec<u8>>,
    /// `XDG_CONFIG_HOME`.
    pub config_home: Option<Vec<u8>>,
    /// `GIT_CONFIG_GLOBAL`.
    pub global_config: Option<Vec<u8>>,
    /// `GIT_CONFIG_SYSTEM`.
    pub system_config: Option<Vec<u8>>,
}

/// Which ignore files count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoreFlavour {
    /// Git's files, `.ignore` and `.rgignore`, as ripgrep reads them.
    #[default]
    Git,
    /// None.
    None,
}

/// Which files are searched or listed.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Whether names that start with a dot count.
    pub hidden: bool,
    /// Which ignore files count.
    pub ignore: IgnoreFlavour,
    /// Where global excludes are found.
    pub places: GitPlaces,
    /// Globs as ripgrep's `--glob` takes them.
    pub globs: Vec<String>,
    /// The folder that a glob with a slash starts from.
    pub glob_base: Vec<u8>,
    /// File types that are searched.
    pub types: Vec<String>,
    /// File types that are not.
    pub types_not: Vec<String>,
    /// What is listed where there is no pattern; files, where nothing is named.
    pub kinds: Vec<Kind>,
    /// How many levels below a root are entered.
    pub depth: Option<usize>,
}

/// A regular expression.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Its text.
    pub text: String,
    /// Whether letter case counts not.
    pub ignore_case: bool,
    /// Whether it counts only if the pattern has a capital.
    pub smart_case: bool,
    /// Whether the text stands for itself.
    pub literal: bool,
    /// Whether a match must be a whole word.
    pub word: bool,
    /// Whether a match must be a whole line.
    pub whole_line: bool,
    /// Whether a match may cross line ends.
    pub multi_line: bool,
}

/// What is asked of each matching file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WantKind {
    /// Its path.
    #[default]
    Files,
    /// The number of its matching lines.
    Counts,
    /// Those lines.
    Lines,
}

/// What is asked of each matching file, and of the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Want {
    /// Path, count or lines.
    pub kind: WantKind,
    /// Lines of context before a match.
    pub before: usize,
    /// Lines of context after it.
    pub after: usize,
    /// Whether the ranges of the matches are wanted.
    pub spans: bool,
    /// Whether every unreadable file must be told.
    pub unreadable: bool,
}

/// When a file counts as binary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BinaryFlavour {
    /// At a NUL, where the walk met the file.
    #[default]
    Nul,
    /// Never.
    None,
}

/// How the bytes of a file are taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// When a file counts as binary.
    pub binary: BinaryFlavour,
    /// Larger files that the walk meets are left out.
    pub max_size: Option<u64>,
    /// How many bytes of a line are kept.
    pub line_bytes: Option<usize>,
}

/// What a page counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Hits.
    #[default]
    Files,
    /// Their matching lines.
    Lines,
}

/// The slice of the answer that is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page {
    /// What it counts.
    pub unit: Unit,
    /// How many are passed over.
    pub offset: u64,
    /// How many are taken.
    pub limit: Option<u64>,
    /// The most matching lines taken from one file.
    pub per_file: Option<u64>,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Newest modification first.
    Newest,
    /// Oldest first.
    Oldest,
    /// By the bytes of the path.
    Path,
    /// A folder's files by name, then its subfolders by name.
    #[default]
    Walk,
}

/// What to find. Without a pattern every entry of the wanted kinds is a hit.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Where to start.
    pub roots: Vec<Root>,
    /// What to match.
    pub pattern: Option<Pattern>,
    /// Which files.
    pub files: Files,
    /// What of each.
    pub want: Want,
    /// How they are read.
    pub reading: Reading,
    /// In which order.
    pub order: Order,
    /// Which slice.
    pub page: Page,
    /// Seconds.
    pub deadline: Option<f64>,
}

/// A line of a hit, without its line end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// The line or its start.
    pub bytes: Vec<u8>,
    /// Or context.
    pub is_match: bool,
    /// Its full length in bytes.
    pub length: usize,
    /// Where it matches, as byte ranges.
    pub spans: Vec<(usize, usize)>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Anything else: a pipe, a socket, a device.
    Other,
}

/// A modification time; seconds and nanoseconds, so that any year fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Since 1970.
    pub seconds: i64,
    /// Of that second.
    pub nanoseconds: u32,
}

/// A file of the answer.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The root as it was spelled, and the rest.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// Its modification time, where the order needed it.
    pub time: Option<Time>,
    /// Matching lines, where wanted.
    pub count: Option<u64>,
    /// The lines, where wanted.
    pub lines: Vec<Line>,
    /// Where its first NUL was met, if its search ended there.
    pub binary: Option<u64>,
}

/// What was found at a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Nothing, or nothing that the caller may know of.
    Missing,
    /// Something that can't be opened.
    Unreadable,
    /// A pipe, a socket, a device.
    Other,
}

/// What became of a root.
#[derive(Clone, Debug)]
pub struct RootState {
    /// As it was asked for.
    pub path: Vec<u8>,
    /// What was there.
    pub found: Found,
    /// The system's error number.
    pub error: i32,
}

/// Why a path was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The system refused.
    Unreadable,
    /// It holds a NUL.
    Binary,
    /// It is over a cap.
    TooLarge,
    /// It was searched, but a line of it only in windows.
    LongLine,
    /// It changed under every attempt to read it; the last one counts.
    Changing,
    /// A pseudo file system below a root.
    Special,
    /// A rule file that was not read, or not to its end.
    RuleFile,
}

/// A path that was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Which.
    pub path: Vec<u8>,
    /// Why.
    pub reason: Reason,
    /// The system's error number.
    pub error: i32,
}

/// Why an answer is not whole.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// `deadline` or `lost`.
    pub kind: StoppedKind,
    /// The parts that did not answer.
    pub lost: Vec<String>,
}

/// The two ways to be incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedKind {
    /// Time was over.
    Deadline,
    /// Parts did not answer.
    Lost,
}

/// Numbers for logs.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Which mode answered.
    pub mode: &'static str,
    /// Folders listed.
    pub folders: u64,
    /// Files that the rules let through.
    pub files: u64,
    /// Files searched.
    pub searched: u64,
    /// Bytes read.
    pub bytes: u64,
    /// How many paths were left out, by reason.
    pub skipped: Vec<(Reason, u64)>,
    /// How long it took.
    pub seconds: f64,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The files.
    pub hits: Vec<Hit>,
    /// Whether hits remain behind the page.
    pub more: bool,
    /// What became of each root.
    pub roots: Vec<RootState>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Why it is not whole.
    pub stopped: Option<Stopped>,
    /// Numbers for logs.
    pub seen: Seen,
}

/// What the system says of one path.
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    /// What it is, links followed.
    pub kind: Option<Kind>,
    /// In bytes.
    pub size: u64,
    /// Of its last modification.
    pub time: Time,
    /// Why it can't be had.
    pub error: i32,
}
