//! Resolve: which paths exist for the caller, and the only way to open any of them.
//!
//! A search root is opened once, judged by the identity of what was opened, and everything below
//! it is opened by name relative to its folder's descriptor, never following a link. No string is
//! ever compared to decide containment: an opened folder is climbed by `..` until an allowed
//! folder's device and inode turn up, or the top. What lies outside, or matches a denied pattern,
//! is answered with the error of a path that is not there.
//!
//! `linux.rs` holds the system calls; `plain.rs` is the portable stand-in for other systems, by
//! path and so without that guarantee. It is built on Linux too with `--cfg evergrep_plain`, so
//! that it keeps compiling and answering.

#[cfg(all(target_os = "linux", not(evergrep_plain)))]
mod linux;
#[cfg(all(target_os = "linux", not(evergrep_plain)))]
use linux as system;
#[cfg(not(all(target_os = "linux", not(evergrep_plain))))]
mod plain;
#[cfg(not(all(target_os = "linux", not(evergrep_plain))))]
use plain as system;

pub(crate) use system::{File, Folder, Handle, current_user};

use ignore::gitignore::Gitignore;

use crate::error::Error;
use crate::globs::{self, path_of};
use crate::query::{Kind, Stat, Time};

/// The system's number for a path that is not there; also the answer to every forbidden one.
pub(crate) const NOT_THERE: i32 = 2;
/// The system's number for too many links, which is how a link refuses to be opened as a file.
pub(crate) const IS_LINK: i32 = 40;
/// The longest path that the system opens.
const PATH_BYTES: usize = 4096;
/// Ours: what was opened is not a regular file.
pub(crate) const NOT_REGULAR: i32 = -1;

/// Which paths exist for the caller; the fields are those of `src/evergrep/scope.py`.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The folder that denied patterns are relative to.
    pub root: Vec<u8>,
    /// The folders that everything must lie in.
    pub allow: Option<Vec<Vec<u8>>>,
    /// Patterns, in the manner of `.gitignore`, of what is not there.
    pub deny: Vec<String>,
}

/// What tells one file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// What the system says of an entry; the portable stand-in knows less.
#[cfg_attr(any(not(target_os = "linux"), evergrep_plain), allow(dead_code))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    pub(crate) kind: Kind,
    pub(crate) identity: Identity,
    pub(crate) size: u64,
    pub(crate) modified: Time,
    pub(crate) changed: Time,
    /// Its owner, and whether its mode lets the owner read it; where the system has owners.
    pub(crate) owner: u32,
    pub(crate) owner_reads: bool,
}

/// A path that exists for the caller: opened, judged, not yet read.
pub(crate) struct Place {
    handle: Handle,
    pub(crate) meta: Meta,
    /// Its path without links, where the system tells it.
    pub(crate) real: Vec<u8>,
}

impl Place {
    /// Opens it for listing.
    pub(crate) fn folder(&self) -> Result<Folder, i32> {
        self.handle.folder()
    }

    /// Opens it for reading; only a regular file.
    pub(crate) fn file(&self) -> Result<File, i32> {
        self.handle.file()
    }
}

/// A Scope made ready for one query.
pub(crate) struct Bounds {
    /// The allowed folders; `None` where everything is.
    allowed: Option<Vec<Identity>>,
    /// Beneath these a linked rule file is followed.
    homes: Vec<Identity>,
    denied: Vec<Denied>,
}

struct Denied {
    /// The real path of the folder that the patterns are relative to.
    base: Vec<u8>,
    patterns: Gitignore,
}

impl Bounds {
    pub(crate) fn new(scope: &Scope) -> Result<Bounds, Error> {
        let mut bounds = Bounds { allowed: None, homes: Vec::new(), denied: Vec::new() };
        let patterns = globs::compile_denied(&scope.deny)?;
        let mut open = |path: &[u8]| {
            let handle = Handle::open(path).ok();
            if let Some(patterns) = &patterns {
                // Also for a folder that is gone: patterns must not go with it.
                let base = handle.as_ref().and_then(Handle::real).unwrap_or_else(|| path.to_vec());
                bounds.denied.push(Denied { base, patterns: patterns.clone() });
            }
            handle?.meta().ok().map(|meta| meta.identity)
        };
        let root = open(&scope.root);
        match &scope.allow {
            None => bounds.homes.extend(root),
            Some(folders) => {
                bounds.homes = folders.iter().filter_map(|path| open(path)).collect();
                bounds.allowed = Some(bounds.homes.clone());
            }
        }
        Ok(bounds)
    }

    /// Whether any pattern denies anything.
    pub(crate) fn denies(&self) -> bool {
        !self.denied.is_empty()
    }

    /// Whether the caller may not see everything.
    pub(crate) fn confines(&self) -> bool {
        self.allowed.is_some()
    }

    /// Opens a path for this caller, links in it followed. The error is the system's number.
    pub(crate) fn resolve(&self, path: &[u8]) -> Result<Place, i32> {
        let restricted = self.allowed.is_some() || self.denies();
        // No such path can be opened, and looking at each of its steps would take long.
        if restricted && (path.len() > PATH_BYTES || !self.steps_back_within(path)) {
            return Err(NOT_THERE);
        }
        match Handle::open(path) {
            Ok(handle) => self.judged(handle, path),
            Err(error) if restricted => Err(self.veiled(path, error)),
            Err(error) => Err(error),
        }
    }

    /// What was opened, if it is for this caller.
    fn judged(&self, handle: Handle, path: &[u8]) -> Result<Place, i32> {
        let meta = handle.meta()?;
        let real = handle.real();
        if let Some(allowed) = &self.allowed
            && !is_beneath(&handle, meta, real.as_deref(), allowed)
        {
            return Err(NOT_THERE);
        }
        if self.denies() {
            // Patterns judge names: what has no name of its own, or lost it, is not shown.
            let Some(real) = &real else { return Err(NOT_THERE) };
            let named = Handle::open(real).and_then(|named| named.meta());
            let same = named.is_ok_and(|named| named.identity == meta.identity);
            if !same || self.is_denied_from_top(real, meta.kind == Kind::Folder) {
                return Err(NOT_THERE);
            }
        }
        Ok(Place { handle, meta, real: real.unwrap_or_else(|| path.to_vec()) })
    }

    /// Whether every folder that a `..` of the path steps back from is one for this caller:
    /// `outside/../inside` would else tell whether `outside` is there.
    fn steps_back_within(&self, path: &[u8]) -> bool {
        let mut start = 0;
        for name in path.split(|&byte| byte == b'/') {
            if name == b".." && start > 0 {
                let before = &path[..start];
                let before =
                    before.strip_suffix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(before);
                let place = Handle::open(before).and_then(|handle| self.judged(handle, before));
                if place.is_err() {
                    return false;
                }
            }
            start += name.len() + 1;
        }
        true
    }

    /// What the system says of a path, links followed.
    pub(crate) fn stat(&self, path: &[u8]) -> Stat {
        match self.resolve(path) {
            Ok(place) => Stat {
                kind: Some(place.meta.kind),
                size: place.meta.size,
                time: place.meta.modified,
                error: 0,
            },
            Err(error) => Stat { kind: None, size: 0, time: Time::default(), error },
        }
    }

    /// Opens a rule file that is a link: only where it leads to a regular file beneath one of the
    /// caller's folders or the search root, as git would refuse it everywhere.
    pub(crate) fn linked_file(&self, path: &[u8], root: Identity) -> Result<File, i32> {
        let handle = Handle::open(path)?;
        let meta = handle.meta()?;
        let mut homes = self.homes.clone();
        if self.allowed.is_none() {
            homes.push(root);
        }
        if !is_beneath(&handle, meta, handle.real().as_deref(), &homes) {
            return Err(NOT_THERE);
        }
        handle.file()
    }

    /// Opens a folder that a rule file names (a worktree's git folder): anything the caller may
    /// reach.
    pub(crate) fn named_folder(&self, path: &[u8]) -> Result<Folder, i32> {
        self.resolve(path)?.folder()
    }

    /// Whether an entry is denied, its folders having passed.
    pub(crate) fn is_denied(&self, real: &[u8], is_folder: bool) -> bool {
        self.denied.iter().any(|denied| {
            denied.patterns.matched(path_of(denied.below(real)), is_folder).is_ignore()
        })
    }

    /// The same for a path of which nothing has been judged yet.
    fn is_denied_from_top(&self, real: &[u8], is_folder: bool) -> bool {
        self.denied.iter().any(|denied| {
            let below = denied.below(real);
            let ancestors = memchr::memchr_iter(b'/', below).map(|end| (&below[..end], true));
            ancestors.chain(std::iter::once((below, is_folder))).any(|(path, is_folder)| {
                !path.is_empty() && denied.patterns.matched(path_of(path), is_folder).is_ignore()
            })
        })
    }

    /// The error to tell a restricted caller for a path that could not be opened: one that would
    /// speak of something that is not for him becomes `NOT_THERE`.
    fn veiled(&self, path: &[u8], error: i32) -> i32 {
        let mut end = path.len();
        while let Some(slash) = memchr::memrchr(b'/', &path[..end]) {
            let parent = if slash == 0 { &path[..1] } else { &path[..slash] };
            if let Ok(handle) = Handle::open(parent) {
                let Ok(place) = self.judged(handle, parent) else { return NOT_THERE };
                // The next step may be a link, and then the error may be about where it leads.
                let name = path[slash + 1..].split(|&b| b == b'/').next().unwrap_or_default();
                return match place.handle.entry(name) {
                    Ok(meta) if meta.kind == Kind::Link => NOT_THERE,
                    _ => error,
                };
            }
            end = slash;
        }
        NOT_THERE
    }
}

impl Denied {
    /// The part of a real path that the patterns judge: what is below their folder, or, outside
    /// it, everything below the top, so that a pattern without a slash holds everywhere.
    fn below<'p>(&self, real: &'p [u8]) -> &'p [u8] {
        let base = self.base.strip_suffix(b"/").unwrap_or(&self.base);
        match real.strip_prefix(base) {
            Some(rest) if rest.is_empty() || rest[0] == b'/' => {
                rest.strip_prefix(b"/").unwrap_or(rest)
            }
            _ => real.strip_prefix(b"/").unwrap_or(real),
        }
    }
}

/// Whether what was opened lies beneath one of the folders, judged by identity alone. The real
/// path only finds a file's folder; that it is the file's folder is then checked.
fn is_beneath(handle: &Handle, meta: Meta, real: Option<&[u8]>, folders: &[Identity]) -> bool {
    let climb = |mut folder: Folder| {
        loop {
            let Ok(here) = folder.identity() else {
                return false;
            };
            if folders.contains(&here) {
                return true;
            }
            let Ok(parent) = folder.parent() else {
                return false;
            };
            if parent.identity().is_ok_and(|above| above == here) {
                return false;
            }
            folder = parent;
        }
    };
    if meta.kind == Kind::Folder {
        return handle.anchor().is_ok_and(climb);
    }
    let Some(real) = real else { return false };
    let Some(slash) = memchr::memrchr(b'/', real) else {
        return false;
    };
    let parent = if slash == 0 { &real[..1] } else { &real[..slash] };
    let Ok(folder) = Handle::open(parent).and_then(|handle| handle.anchor()) else {
        return false;
    };
    folder.meta(&real[slash + 1..]).is_ok_and(|entry| entry.identity == meta.identity)
        && climb(folder)
}
