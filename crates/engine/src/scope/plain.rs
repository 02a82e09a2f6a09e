//! The portable stand-in: the same calls as `linux.rs`, by path, over the standard library.
//!
//! It answers on every system, but promises less: between looking at a path and opening it,
//! another process may put a link there, and paths have the system's greatest length. Linux is
//! where the promises of `mod.rs` are proved.

#![allow(clippy::disallowed_methods)] // this file is one of the two that may open

use std::fs;
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::{Identity, Meta, NOT_REGULAR, NOT_THERE};
use crate::globs::path_of;
use crate::query::{Kind, Time};

const NOT_A_FOLDER: i32 = 20;

/// A path that was looked at.
pub(crate) struct Handle(PathBuf);

impl Handle {
    pub(crate) fn open(path: &[u8]) -> Result<Handle, i32> {
        let path = path_of(path);
        fs::metadata(path).map_err(number)?;
        Ok(Handle(path.to_path_buf()))
    }

    pub(crate) fn meta(&self) -> Result<Meta, i32> {
        fs::metadata(&self.0).map(|meta| meta_of(&meta, &self.0)).map_err(number)
    }

    /// What an entry of this folder is, not following a link.
    pub(crate) fn entry(&self, name: &[u8]) -> Result<Meta, i32> {
        Folder(self.0.clone()).meta(name)
    }

    /// Its path without links.
    pub(crate) fn real(&self) -> Option<Vec<u8>> {
        fs::canonicalize(&self.0).ok().map(bytes_of)
    }

    pub(crate) fn anchor(&self) -> Result<Folder, i32> {
        fs::canonicalize(&self.0).map(Folder).map_err(number)
    }

    pub(crate) fn folder(&self) -> Result<Folder, i32> {
        fs::read_dir(&self.0).map_err(number)?;
        self.anchor()
    }

    pub(crate) fn file(&self) -> Result<File, i32> {
        File::open(&self.0, fs::metadata(&self.0))
    }
}

/// A folder, by path.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn identity(&self) -> Result<Identity, i32> {
        fs::metadata(&self.0).map(|meta| meta_of(&meta, &self.0).identity).map_err(number)
    }

    pub(crate) fn parent(&self) -> Result<Folder, i32> {
        Ok(Folder(self.0.parent().unwrap_or(&self.0).to_path_buf()))
    }

    pub(crate) fn entries(
        &self,
        _: &mut Vec<u8>,
        mut each: impl FnMut(&[u8], Kind) -> bool,
    ) -> Result<(), i32> {
        for entry in fs::read_dir(&self.0).map_err(number)? {
            let entry = entry.map_err(number)?;
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if !each(&bytes_of(entry.file_name().into()), kind_of(kind)) {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn meta(&self, name: &[u8]) -> Result<Meta, i32> {
        let path = self.0.join(path_of(name));
        fs::symlink_metadata(&path).map(|meta| meta_of(&meta, &path)).map_err(number)
    }

    pub(crate) fn leads_somewhere(&self, name: &[u8]) -> bool {
        self.0.join(path_of(name)).exists()
    }

    pub(crate) fn folder(&self, name: &[u8]) -> Result<Folder, i32> {
        let path = self.0.join(path_of(name));
        if !fs::symlink_metadata(&path).map_err(number)?.is_dir() {
            return Err(NOT_A_FOLDER);
        }
        fs::read_dir(&path).map_err(number)?;
        Ok(Folder(path))
    }

    pub(crate) fn file(&self, name: &[u8]) -> Result<File, i32> {
        let path = self.0.join(path_of(name));
        File::open(&path, fs::symlink_metadata(&path))
    }

    pub(crate) fn beneath(&self, path: &[u8]) -> Result<Folder, i32> {
        let mut here = Folder(self.0.clone());
        for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            here = here.folder(name)?;
        }
        Ok(here)
    }

    /// Only opening shows it here.
    pub(crate) fn readable(&self, name: &[u8], _: &Meta, _: u32) -> Result<(), i32> {
        fs::File::open(self.0.join(path_of(name))).map(|_| ()).map_err(number)
    }

    pub(crate) fn is_special(&self) -> bool {
        false
    }
}

/// An opened regular file.
pub(crate) struct File {
    file: fs::File,
    pub(crate) meta: Meta,
}

impl File {
    fn open(path: &std::path::Path, meta: io::Result<fs::Metadata>) -> Result<File, i32> {
        let meta = meta.map_err(number)?;
        if meta.is_symlink() {
            return Err(super::IS_LINK);
        }
        if !meta.is_file() {
            return Err(NOT_REGULAR);
        }
        let file = fs::File::open(path).map_err(number)?;
        Ok(File { file, meta: meta_of(&meta, path) })
    }

    pub(crate) fn moved_on(&mut self) -> Result<bool, i32> {
        let now = self.file.metadata().map_err(number)?;
        let now = Meta { identity: self.meta.identity, ..meta_of(&now, std::path::Path::new("")) };
        let moved = now.size != self.meta.size || now.modified != self.meta.modified;
        self.meta = now;
        Ok(moved)
    }

    pub(crate) fn rewind(&self) -> Result<(), i32> {
        (&self.file).rewind().map_err(number)
    }

    pub(crate) fn read_some(&self, buffer: &mut Vec<u8>, room: usize) -> Result<usize, i32> {
        let start = buffer.len();
        buffer.resize(start + room, 0);
        let read = self.read_into(&mut buffer[start..]).map_err(number)?;
        buffer.truncate(start + read);
        Ok(read)
    }

    pub(crate) fn read_into(&self, slice: &mut [u8]) -> io::Result<usize> {
        loop {
            match (&self.file).read(slice) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                done => return done,
            }
        }
    }
}

fn number(error: io::Error) -> i32 {
    match error.kind() {
        io::ErrorKind::NotFound => NOT_THERE,
        _ => error.raw_os_error().unwrap_or(5),
    }
}

fn bytes_of(path: PathBuf) -> Vec<u8> {
    path.into_os_string().into_encoded_bytes()
}

fn kind_of(kind: fs::FileType) -> Kind {
    if kind.is_symlink() {
        Kind::Link
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else {
        Kind::Other
    }
}

fn meta_of(meta: &fs::Metadata, path: &std::path::Path) -> Meta {
    let modified = meta.modified().map_or_else(|_| Time::default(), time_of);
    Meta {
        kind: kind_of(meta.file_type()),
        identity: identity_of(meta, path),
        size: meta.len(),
        modified,
        changed: modified,
        owner: 0,
        owner_reads: false,
    }
}

fn time_of(time: std::time::SystemTime) -> Time {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => Time {
            seconds: since.as_secs().try_into().unwrap_or(i64::MAX),
            nanoseconds: since.subsec_nanos(),
        },
        Err(before) => {
            let before = before.duration();
            let seconds = -i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            match before.subsec_nanos() {
                0 => Time { seconds, nanoseconds: 0 },
                part => Time { seconds: seconds - 1, nanoseconds: 1_000_000_000 - part },
            }
        }
    }
}

#[cfg(unix)]
fn identity_of(meta: &fs::Metadata, _: &std::path::Path) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity { device: meta.dev(), inode: meta.ino() }
}

/// Where the standard library tells no identity, the path without links stands for it.
#[cfg(not(unix))]
fn identity_of(_: &fs::Metadata, path: &std::path::Path) -> Identity {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()).hash(&mut hasher);
    Identity { device: 0, inode: hasher.finish() }
}

/// No one is known to own anything here.
pub(crate) fn current_user() -> u32 {
    u32::MAX
}
