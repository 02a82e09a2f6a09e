//! Ignore rules as ripgrep applies them, over the `ignore` crate's matcher of one rule file.
//!
//! The crate's own walker opens rule files by path, and would wait for ever on a pipe of that
//! name; here their bytes come through `scope`, capped, and only from regular files. Which file
//! wins is ripgrep's order: `.rgignore`, `.ignore`, `.gitignore`, `.git/info/exclude`, the global
//! excludes; in each of them the innermost folder first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::globs::{self, path_of};
use crate::halt::Halt;
use crate::query::{GitPlaces, Kind};
use crate::scope::{Bounds, File, Folder, Handle, IS_LINK, Identity, NOT_REGULAR, NOT_THERE};

/// The most that is read of one rule file.
const RULE_FILE_BYTES: usize = 1 << 20;
/// The most rules that hold at a time, of all files of a query: some 4 KiB of memory each.
const RULES: usize = 20_000;
/// A longer rule is lost: it would match no path that the system can hold.
const RULE_BYTES: usize = 8 << 10;
/// How many rules may pass before the deadline is looked at.
const RULES_BETWEEN_LOOKS: usize = 256;

/// What the rules say of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    None,
    /// Leave it out.
    Ignored,
    /// Take it, hidden or not.
    Kept,
}

/// Which names a listing showed that matter here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    rgignore: Option<Kind>,
    ignore: Option<Kind>,
    gitignore: Option<Kind>,
    git: Option<Kind>,
    jj: bool,
}

impl Shown {
    /// Looks at one entry of a listing.
    pub(crate) fn see(&mut self, name: &[u8], kind: Kind) {
        match name {
            b".rgignore" => self.rgignore = Some(kind),
            b".ignore" => self.ignore = Some(kind),
            b".gitignore" => self.gitignore = Some(kind),
            b".git" => self.git = Some(kind),
            b".jj" => self.jj = true,
            _ => {}
        }
    }

    fn nothing(self) -> bool {
        self.rgignore.is_none()
            && self.ignore.is_none()
            && self.gitignore.is_none()
            && self.git.is_none()
            && !self.jj
    }

    /// For a folder that is not listed: each name is asked for.
    fn ask(folder: &Folder) -> Shown {
        let mut shown = Shown::default();
        for name in [&b".rgignore"[..], b".ignore", b".gitignore", b".git", b".jj"] {
            if let Ok(meta) = folder.meta(name) {
                shown.see(name, meta.kind);
            }
        }
        shown
    }
}

/// The rules of one folder, and through `above` those of the folders it lies in. Folders without
/// rules have no node.
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// How many bytes of an entry's absolute path are this folder's, its slash included.
    base: usize,
    rgignore: Gitignore,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    /// Whether the folder is the top of a repository.
    is_repository: bool,
    /// Whether this folder or one above is.
    in_repository: bool,
    /// How many rules these are, and where they are counted.
    count: usize,
    held: Arc<AtomicUsize>,
}

impl Drop for Rules {
    /// A chain as long as the tree is deep must not be freed by recursion (R20).
    fn drop(&mut self) {
        self.held.fetch_sub(self.count, Relaxed);
        let mut next = self.above.take();
        while let Some(mut rules) = next.and_then(Arc::into_inner) {
            next = rules.above.take();
        }
    }
}

/// A rule file that was not taken whole: its path, and the system's number or 0 for a cap.
pub(crate) type Complaint = (Vec<u8>, i32);

/// What reading a folder's rules needs to know.
pub(crate) struct Reader<'q> {
    pub(crate) bounds: &'q Bounds,
    pub(crate) halt: &'q Halt<'q>,
    /// How many rules the query holds.
    pub(crate) held: &'q Arc<AtomicUsize>,
    /// The search root: beneath it a linked rule file is followed.
    pub(crate) root: Identity,
}

impl Reader<'_> {
    /// The rules that hold in a folder, given those above it and what its listing showed.
    /// `path` is the folder's absolute path with its slash.
    pub(crate) fn enter(
        &self,
        above: &Option<Arc<Rules>>,
        folder: &Folder,
        path: &[u8],
        shown: Shown,
        complaints: &mut Vec<Complaint>,
    ) -> Option<Arc<Rules>> {
        if shown.nothing() {
            return above.clone();
        }
        let mut one = |name: &[u8], kind: Option<Kind>| match kind {
            None => Gitignore::empty(),
            Some(kind) => self.read(folder, path, name, kind, complaints),
        };
        let rgignore = one(b".rgignore", shown.rgignore);
        let ignore = one(b".ignore", shown.ignore);
        let gitignore = one(b".gitignore", shown.gitignore);
        let has_git = match shown.git {
            None => false,
            Some(Kind::Link) => folder.leads_somewhere(b".git"),
            Some(_) => true,
        };
        let exclude = match shown.git {
            Some(kind) if has_git => self.exclude(folder, path, kind, complaints),
            _ => Gitignore::empty(),
        };
        let is_repository = has_git || shown.jj;
        let mut rules = Rules {
            count: 0,
            held: self.held.clone(),
            in_repository: is_repository || above.as_ref().is_some_and(|up| up.in_repository),
            above: above.clone(),
            base: path.len(),
            rgignore,
            ignore,
            gitignore,
            exclude,
            is_repository,
        };
        let all = [&rules.rgignore, &rules.ignore, &rules.gitignore, &rules.exclude];
        rules.count = all.iter().map(|each| each.len()).sum();
        self.held.fetch_add(rules.count, Relaxed);
        if rules.count == 0 && !is_repository { above.clone() } else { Some(Arc::new(rules)) }
    }

    /// The rules of all folders above a search root, which ripgrep reads up to the top.
    pub(crate) fn above_root(
        &self,
        root: &Folder,
        real: &[u8],
        complaints: &mut Vec<Complaint>,
    ) -> Option<Arc<Rules>> {
        // From the root upwards by descriptor, then the rules from the top down.
        let mut folders: Vec<(Folder, usize)> = Vec::new();
        let mut end = real.strip_suffix(b"/").unwrap_or(real).len();
        while let Some(slash) = memchr::memrchr(b'/', &real[..end]) {
            let parent = match folders.last() {
                Some((folder, _)) => folder.parent(),
                None => root.parent(),
            };
            let Ok(parent) = parent else { break };
            folders.push((parent, slash + 1));
            end = slash;
        }
        let mut rules = None;
        for (folder, base) in folders.iter().rev() {
            rules = self.enter(&rules, folder, &real[..*base], Shown::ask(folder), complaints);
        }
        rules
    }

    fn read(
        &self,
        folder: &Folder,
        path: &[u8],
        name: &[u8],
        kind: Kind,
        complaints: &mut Vec<Complaint>,
    ) -> Gitignore {
        let opened = match kind {
            Kind::File => folder.file(name),
            Kind::Link => self.bounds.linked_file(&[path, name].concat(), self.root),
            _ => Err(NOT_REGULAR),
        };
        match opened {
            Ok(file) => self.rules_of(&file, || [path, name].concat(), complaints),
            // Gone since it was listed; what stands there as a link or a pipe is told.
            Err(NOT_THERE) if kind == Kind::File => Gitignore::empty(),
            Err(error) => {
                complaints.push(([path, name].concat(), error.max(0)));
                Gitignore::empty()
            }
        }
    }

    /// `.git/info/exclude`, or that of the repository which a worktree's `.git` file names.
    fn exclude(
        &self,
        folder: &Folder,
        path: &[u8],
        kind: Kind,
        complaints: &mut Vec<Complaint>,
    ) -> Gitignore {
        let info = match kind {
            Kind::Folder => folder.beneath(b".git/info"),
            Kind::Link => self.bounds.named_folder(&[path, b".git/info"].concat()),
            Kind::File => match folder.file(b".git") {
                Ok(file) => self.worktree_info(&file, path, complaints),
                Err(error) => Err(error),
            },
            Kind::Other => Err(NOT_THERE),
        };
        let exclude = || [path, b".git/info/exclude"].concat();
        match info.and_then(|info| info.file(b"exclude")) {
            Ok(file) => self.rules_of(&file, exclude, complaints),
            Err(error) => {
                if matches!(error, NOT_REGULAR | IS_LINK) {
                    complaints.push((exclude(), 0));
                }
                Gitignore::empty()
            }
        }
    }

    /// Follows `gitdir: …`, relative to its own folder as git has it, and that folder's
    /// `commondir`.
    fn worktree_info(
        &self,
        file: &File,
        path: &[u8],
        complaints: &mut Vec<Complaint>,
    ) -> Result<Folder, i32> {
        let line = first_line(file).ok_or(NOT_THERE)?;
        let git = from(path, line.strip_prefix(b"gitdir: ").ok_or(NOT_THERE)?);
        let folder = self.bounds.named_folder(&git)?;
        let git = [&git[..], b"/"].concat();
        let common = folder.file(b"commondir").map_err(|error| {
            if matches!(error, NOT_REGULAR | IS_LINK) {
                complaints.push(([&git[..], b"commondir"].concat(), 0));
            }
            NOT_THERE
        })?;
        let common = from(&git, &first_line(&common).ok_or(NOT_THERE)?);
        self.bounds.named_folder(&[&common[..], b"/info"].concat())
    }

    fn rules_of(
        &self,
        file: &File,
        path: impl Fn() -> Vec<u8>,
        complaints: &mut Vec<Complaint>,
    ) -> Gitignore {
        let most = RULES.saturating_sub(self.held.load(Relaxed));
        let (rules, whole) = rules_from(file, path_of(b""), most, self.halt);
        if !whole {
            complaints.push((path(), 0));
        }
        rules
    }
}

/// A path that may be relative to a folder, which is given with its slash.
fn from(folder: &[u8], path: &[u8]) -> Vec<u8> {
    if path.starts_with(b"/") { path.to_vec() } else { [folder, path].concat() }
}

/// Judges one entry by its folder's rules and the global excludes. `absolute` is its path from
/// the top without links; `spelled` its path as the search root was spelled, which is what
/// ripgrep tries the global excludes on.
pub(crate) fn judge(
    rules: &Option<Arc<Rules>>,
    global: &Gitignore,
    absolute: &[u8],
    spelled: &[u8],
    is_folder: bool,
) -> Verdict {
    let mut verdicts = [Verdict::None; 4];
    let in_repository = rules.as_ref().is_some_and(|rules| rules.in_repository);
    let mut left_repository = !in_repository;
    let mut next = rules.as_deref();
    while let Some(rules) = next {
        let below = path_of(&absolute[rules.base..]);
        let mut ask = |slot: usize, matcher: &Gitignore| {
            if verdicts[slot] == Verdict::None && !matcher.is_empty() {
                verdicts[slot] = verdict(matcher.matched(below, is_folder));
            }
        };
        ask(0, &rules.rgignore);
        ask(1, &rules.ignore);
        if !left_repository {
            ask(2, &rules.gitignore);
            ask(3, &rules.exclude);
        }
        left_repository |= rules.is_repository;
        next = rules.above.as_deref();
    }
    for found in verdicts {
        if found != Verdict::None {
            return found;
        }
    }
    if in_repository && !global.is_empty() {
        return verdict(global.matched(path_of(spelled), is_folder));
    }
    Verdict::None
}

fn verdict<T>(found: Match<T>) -> Verdict {
    match found {
        Match::None => Verdict::None,
        Match::Ignore(_) => Verdict::Ignored,
        Match::Whitelist(_) => Verdict::Kept,
    }
}

/// Git's global excludes: the file that its configuration names, or its default place.
pub(crate) fn global_excludes(places: &GitPlaces, base: &[u8], halt: &Halt<'_>) -> Gitignore {
    let home = places.home.as_deref();
    let under =
        |folder: Option<&[u8]>, rest: &[u8]| folder.map(|folder| [folder, b"/", rest].concat());
    let config_home = places.config_home.clone().or_else(|| under(home, b".config"));
    let configurations = [
        places.global_config.clone(),
        under(home, b".gitconfig"),
        under(config_home.as_deref(), b"git/config"),
        places.system_config.clone(),
    ];
    let named = configurations
        .into_iter()
        .flatten()
        .find_map(|path| excludes_file(&small_file(&path)?, home));
    let Some(path) = named.or_else(|| under(config_home.as_deref(), b"git/ignore")) else {
        return Gitignore::empty();
    };
    match Handle::open(&path).and_then(|handle| handle.file()) {
        Ok(file) => rules_from(&file, path_of(base), RULES, halt).0,
        Err(_) => Gitignore::empty(),
    }
}

/// The value of `excludesFile` in a git configuration, `~` replaced.
fn excludes_file(text: &[u8], home: Option<&[u8]>) -> Option<Vec<u8>> {
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        let Some(split) = memchr::memchr(b'=', line) else {
            continue;
        };
        if !line[..split].trim_ascii().eq_ignore_ascii_case(b"excludesfile") {
            continue;
        }
        let value = line[split + 1..].trim_ascii();
        let value = value.strip_prefix(b"\"").unwrap_or(value).trim_ascii_start();
        let value = value.strip_suffix(b"\"").unwrap_or(value).trim_ascii_end();
        if value.is_empty() || value.iter().any(u8::is_ascii_whitespace) {
            continue;
        }
        return Some(match (value.strip_prefix(b"~"), home) {
            (Some(rest), Some(home)) => [home, rest].concat(),
            _ => value.to_vec(),
        });
    }
    None
}

/// The rules of one file, and whether it was taken whole. A line that is no glob is lost, and so
/// is everything after one that is not UTF-8: ripgrep's answers depend on that.
fn rules_from(
    file: &File,
    base: &std::path::Path,
    most: usize,
    halt: &Halt<'_>,
) -> (Gitignore, bool) {
    let Some((bytes, mut whole)) = start_of(file, RULE_FILE_BYTES) else {
        return (Gitignore::empty(), false);
    };
    let mut builder = GitignoreBuilder::new(base);
    let mut taken = 0;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if taken >= most || index % RULES_BETWEEN_LOOKS == RULES_BETWEEN_LOOKS - 1 && halt.now() {
            whole = false;
            break;
        }
        let Ok(line) = std::str::from_utf8(line) else { break };
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = if index == 0 { line.trim_start_matches('\u{feff}') } else { line };
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.len() > RULE_BYTES || globs::is_too_deep(line) {
            whole = false;
            continue;
        }
        taken += usize::from(builder.add_line(None, line).is_ok());
    }
    match builder.build() {
        Ok(rules) => (rules, whole),
        Err(_) => (Gitignore::empty(), false),
    }
}

/// The start of a file, and whether that is all of it.
fn start_of(file: &File, most: usize) -> Option<(Vec<u8>, bool)> {
    let size = usize::try_from(file.meta.size).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(size.min(most) + 1);
    while bytes.len() <= most {
        if file.read_some(&mut bytes, 1).ok()? == 0 {
            return Some((bytes, true));
        }
    }
    // Up to the last whole line: half a rule would be another rule.
    let end = memchr::memrchr(b'\n', &bytes[..most]).unwrap_or(0);
    bytes.truncate(end);
    Some((bytes, false))
}

fn first_line(file: &File) -> Option<Vec<u8>> {
    let (bytes, _) = start_of(file, 64 * 1024)?;
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    (!line.is_empty()).then(|| line.to_vec())
}

fn small_file(path: &[u8]) -> Option<Vec<u8>> {
    let file = Handle::open(path).and_then(|handle| handle.file()).ok()?;
    start_of(&file, RULE_FILE_BYTES).map(|(bytes, _)| bytes)
}
