//! The system calls of Linux: every name is opened relative to its folder's descriptor, without
//! following links, without waiting on a pipe, and only what the descriptor proves to be a
//! regular file or a folder is read.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{
    Access, AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, accessat, fstat, fstatfs,
    openat, openat2, readlinkat, statat,
};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::{IS_LINK, Identity, Meta, NOT_REGULAR};
use crate::query::{Kind, Time};

/// How much of a folder's listing one system call brings.
pub(crate) const LISTING_BYTES: usize = 32 * 1024;

/// O_NONBLOCK: a pipe in place of a file must not hold us. O_NOCTTY: nor a terminal take us.
const QUIET: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Magic numbers of file systems whose files are not files (procfs, sysfs and their kin).
const SPECIAL: [u64; 10] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6367_7270, // cgroup2
    0x0027_e0eb, // cgroup
    0xcafe_4a11, // bpf
    0xf97c_ff8c, // selinux
    0x6165_676c, // pstore
];

/// A path that was opened only to know what it is.
pub(crate) struct Handle(OwnedFd);

impl Handle {
    pub(crate) fn open(path: &[u8]) -> Result<Handle, i32> {
        openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map(Handle).map_err(number)
    }

    pub(crate) fn meta(&self) -> Result<Meta, i32> {
        fstat(&self.0).map(|stat| meta_of(&stat)).map_err(number)
    }

    /// What an entry of this folder is, not following a link.
    pub(crate) fn entry(&self, name: &[u8]) -> Result<Meta, i32> {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| meta_of(&stat)).map_err(number)
    }

    /// Its path without links, as the system knows it now.
    pub(crate) fn real(&self) -> Option<Vec<u8>> {
        let path = readlinkat(CWD, self.own_name(), Vec::new()).ok()?.into_bytes();
        path.starts_with(b"/").then_some(path)
    }

    /// The same folder, for opening names in it.
    pub(crate) fn anchor(&self) -> Result<Folder, i32> {
        openat(&self.0, c".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map(Folder)
            .map_err(number)
    }

    /// The same folder, for listing: opened by its descriptor, since one that may be read but not
    /// entered has no `.` to open.
    pub(crate) fn folder(&self) -> Result<Folder, i32> {
        match openat(CWD, self.own_name(), FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => openat(&self.0, c".", FOLDER, Mode::empty()),
            opened => opened,
        }
        .map(Folder)
        .map_err(number)
    }

    /// The same file, for reading: opened by its descriptor, so that it cannot be another one.
    pub(crate) fn file(&self) -> Result<File, i32> {
        if self.meta()?.kind != Kind::File {
            return Err(NOT_REGULAR);
        }
        File::checked(openat(CWD, self.own_name(), OFlags::RDONLY | QUIET, Mode::empty()))
    }

    fn own_name(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }
}

/// An opened folder.
pub(crate) struct Folder(OwnedFd);

impl Folder {
    pub(crate) fn identity(&self) -> Result<Identity, i32> {
        fstat(&self.0).map(|stat| meta_of(&stat).identity).map_err(number)
    }

    /// The folder above, by descriptor.
    pub(crate) fn parent(&self) -> Result<Folder, i32> {
        openat(&self.0, c"..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map(Folder)
            .map_err(number)
    }

    /// Calls `each` with every entry's name and kind, until it says no; `buffer` serves the listing. An error after
    /// the first entries is given at the end.
    pub(crate) fn entries(
        &self,
        buffer: &mut Vec<u8>,
        mut each: impl FnMut(&[u8], Kind) -> bool,
    ) -> Result<(), i32> {
        buffer.reserve(LISTING_BYTES);
        let mut listing = RawDir::new(self.0.as_fd(), buffer.spare_capacity_mut());
        while let Some(entry) = listing.next() {
            let entry = entry.map_err(number)?;
            let name: &CStr = entry.file_name();
            let bytes = name.to_bytes();
            if bytes == b"." || bytes == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems leave the kind to be asked for.
                FileType::Unknown => match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind_of(FileType::from_raw_mode(stat.st_mode)),
                    Err(_) => continue,
                },
                known => kind_of(known),
            };
            if !each(bytes, kind) {
                break;
            }
        }
        Ok(())
    }

    /// What an entry is, not following a link.
    pub(crate) fn meta(&self, name: &[u8]) -> Result<Meta, i32> {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| meta_of(&stat)).map_err(number)
    }

    /// Whether a name leads to anything, links followed: presence only, nothing is read.
    pub(crate) fn leads_somewhere(&self, name: &[u8]) -> bool {
        statat(&self.0, name, AtFlags::empty()).is_ok()
    }

    /// Opens a folder in it for listing.
    pub(crate) fn folder(&self, name: &[u8]) -> Result<Folder, i32> {
        openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()).map(Folder).map_err(number)
    }

    /// Opens a regular file in it for reading.
    pub(crate) fn file(&self, name: &[u8]) -> Result<File, i32> {
        File::checked(openat(
            &self.0,
            name,
            OFlags::RDONLY | OFlags::NOFOLLOW | QUIET,
            Mode::empty(),
        ))
    }

    /// Opens a folder further down for listing; no step of the way may be a link. The empty path
    /// is the folder itself, by the same open descriptor: it can be listed once.
    pub(crate) fn beneath(&self, path: &[u8]) -> Result<Folder, i32> {
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        if !path.is_empty() {
            // EAGAIN: a rename elsewhere made the kernel unsure. A few tries, then step by step.
            for _ in 0..3 {
                match openat2(&self.0, path, FOLDER, Mode::empty(), resolve) {
                    Ok(fd) => return Ok(Folder(fd)),
                    Err(Errno::AGAIN) => continue,
                    Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG | Errno::INVAL) => break,
                    Err(error) => return Err(number(error)),
                }
            }
        }
        let mut here: Option<Folder> = None;
        for name in path.split(|&b| b == b'/').filter(|name| !name.is_empty()) {
            here = Some(here.as_ref().unwrap_or(self).folder(name)?);
        }
        match here {
            Some(folder) => Ok(folder),
            None => fcntl_dupfd_cloexec(&self.0, 0).map(Folder).map_err(number),
        }
    }

    /// Whether the caller may read an entry; its content is not touched.
    pub(crate) fn readable(&self, name: &[u8], meta: &Meta, user: u32) -> Result<(), i32> {
        // The owner's bit decides for the owner, whatever access lists say of others.
        if meta.owner == user && meta.owner_reads {
            return Ok(());
        }
        let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
        match accessat(&self.0, name, Access::READ_OK, flags) {
            // Old kernels and sandboxes do not have the call: then only opening tells.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::NOTSUP) => {
                self.file(name).map(|_| ())
            }
            answer => answer.map_err(number),
        }
    }

    /// Whether it belongs to a file system whose files are not files.
    pub(crate) fn is_special(&self) -> bool {
        fstatfs(&self.0).is_ok_and(|system| SPECIAL.contains(&(system.f_type as u64 & 0xffff_ffff)))
    }
}

/// An opened regular file.
pub(crate) struct File {
    fd: OwnedFd,
    /// As it was when opened.
    pub(crate) meta: Meta,
}

impl File {
    fn checked(opened: rustix::io::Result<OwnedFd>) -> Result<File, i32> {
        let fd = opened.map_err(|error| match error {
            // A socket can't be opened at all, nor a device without its driver.
            Errno::NXIO | Errno::NODEV => NOT_REGULAR,
            error => number(error),
        })?;
        let meta = fstat(&fd).map(|stat| meta_of(&stat)).map_err(number)?;
        if meta.kind != Kind::File {
            return Err(NOT_REGULAR);
        }
        Ok(File { fd, meta })
    }

    /// Whether its content may have changed since it was last asked; takes note of what it is now.
    pub(crate) fn moved_on(&mut self) -> Result<bool, i32> {
        let now = fstat(&self.fd).map(|stat| meta_of(&stat)).map_err(number)?;
        let moved = now.size != self.meta.size
            || now.modified != self.meta.modified
            || now.changed != self.meta.changed;
        self.meta = now;
        Ok(moved)
    }

    /// Back to its start.
    pub(crate) fn rewind(&self) -> Result<(), i32> {
        rustix::fs::seek(&self.fd, rustix::fs::SeekFrom::Start(0)).map(|_| ()).map_err(number)
    }

    /// Appends what one read brings, into at least `room` bytes of space.
    pub(crate) fn read_some(&self, buffer: &mut Vec<u8>, room: usize) -> Result<usize, i32> {
        buffer.reserve(room);
        loop {
            match rustix::io::read(&self.fd, rustix::buffer::spare_capacity(buffer)) {
                Ok(read) => return Ok(read),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(number(error)),
            }
        }
    }

    /// Reads into a slice.
    pub(crate) fn read_into(&self, slice: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::io::read(&self.fd, &mut *slice) {
                Ok(read) => return Ok(read),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn number(error: Errno) -> i32 {
    // A link where a file was opened without following: LOOP; where a folder was: NOTDIR.
    debug_assert_eq!(Errno::LOOP.raw_os_error(), IS_LINK);
    error.raw_os_error()
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // their types differ by processor
fn meta_of(stat: &rustix::fs::Stat) -> Meta {
    let mode = stat.st_mode;
    Meta {
        kind: kind_of(FileType::from_raw_mode(mode)),
        identity: Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: Time { seconds: stat.st_mtime as i64, nanoseconds: stat.st_mtime_nsec as u32 },
        changed: Time { seconds: stat.st_ctime as i64, nanoseconds: stat.st_ctime_nsec as u32 },
        owner: stat.st_uid,
        owner_reads: mode & 0o400 != 0,
    }
}

/// The user that the system judges this process by.
pub(crate) fn current_user() -> u32 {
    rustix::process::geteuid().as_raw()
}
