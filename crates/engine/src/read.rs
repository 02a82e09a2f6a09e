//! Match, step one: the bytes of a file, bounded in memory and time.
//!
//! A small file is read whole into a buffer that its thread keeps; a larger one passes through in
//! pieces. No file of the tree is ever mapped: one that is cut short under a mapping would end
//! the process (R12).

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::time::Duration;

use crate::halt::Halt;
use crate::scope::File;

/// Files up to this size are read whole; the deadline is looked at between files.
pub(crate) const WHOLE_BYTES: u64 = 1 << 20;
/// A longer line is searched in windows of this size.
pub(crate) const LINE_BYTES: usize = 64 << 20;
/// The windows after the first are smaller, since the first may have to be kept as context.
const WINDOW_BYTES: usize = 4 << 20;
/// The most that ripgrep's searcher may keep of a file: two lines of the greatest length.
pub(crate) const BUFFER_BYTES: usize = 2 * LINE_BYTES;
/// How much of the end of a window the next one repeats.
pub(crate) const WINDOW_OVERLAP: usize = 1 << 20;
/// How much of the text of such a line is kept.
pub(crate) const LONG_LINE_KEPT: usize = 64 << 10;
/// A larger file is left out of a search across line ends, which needs it whole.
pub(crate) const MULTI_LINE_BYTES: u64 = 16 << 20;
/// From this line length or file size on, a thread must hold the permit for large memory.
const PERMIT_BYTES: usize = 8 << 20;
/// How often a file that changes while it is read is read again.
pub(crate) const ATTEMPTS: usize = 3;
/// The most that one system call reads, between two looks at the deadline.
const READ_BYTES: usize = 1 << 20;

/// Whether one reading saw one content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steadiness {
    Steady,
    /// It changed under every attempt; the bytes are those of the last one.
    Changing,
}

/// Reads a file whole. It is read again when it changed meanwhile, so that what is searched is
/// the content of one moment (R13).
pub(crate) fn whole(
    file: &mut File,
    buffer: &mut Vec<u8>,
    most: u64,
    halt: &Halt<'_>,
) -> Result<Steadiness, i32> {
    let mut attempt = 1;
    loop {
        buffer.clear();
        let size = usize::try_from(file.meta.size).unwrap_or(usize::MAX);
        // One byte of room more than the size, so that growth shows.
        while buffer.len() != size || size == 0 {
            let room = size.saturating_sub(buffer.len()).clamp(4096, READ_BYTES) + 1;
            if file.read_some(buffer, room)? == 0 || buffer.len() as u64 > most || halt.now() {
                break;
            }
        }
        if !file.moved_on()? {
            return Ok(Steadiness::Steady);
        }
        if attempt == ATTEMPTS || halt.now() {
            return Ok(Steadiness::Changing);
        }
        attempt += 1;
        file.rewind()?;
    }
}

/// Whether text starts with the mark of UTF-16, which the searcher decodes.
pub(crate) fn is_utf16(start: &[u8]) -> bool {
    start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff")
}

/// What a stream noticed; shared with whoever takes the lines.
#[derive(Default)]
pub(crate) struct Noticed {
    /// Whether a line was longer than `LINE_BYTES`.
    pub(crate) long_line: Cell<bool>,
    /// Where, in the bytes given out, windows of long lines end: line ends that are not there.
    pub(crate) breaks: RefCell<Vec<u64>>,
    /// The first NUL.
    pub(crate) nul: Cell<Option<u64>>,
}

/// A file given out in pieces, in which no line is longer than `LINE_BYTES`.
pub(crate) struct Stream<'a> {
    file: &'a File,
    halt: &'a Halt<'a>,
    noticed: &'a Noticed,
    watch_nul: bool,
    /// A file that grows while it is read is read to the size it had.
    left: u64,
    given: u64,
    line: usize,
    /// How long the line, or its next window, may become.
    most: usize,
    /// The last bytes of a line that is about to be too long.
    tail: Vec<u8>,
    pending: io::Cursor<Vec<u8>>,
    permit: Option<Permit>,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(
        file: &'a File,
        halt: &'a Halt<'a>,
        noticed: &'a Noticed,
        watch_nul: bool,
    ) -> Stream<'a> {
        // Files of special file systems have no size; the deadline bounds them.
        let left = if file.meta.size == 0 { u64::MAX } else { file.meta.size };
        Stream {
            file,
            halt,
            noticed,
            watch_nul,
            left,
            given: 0,
            line: 0,
            most: LINE_BYTES,
            tail: Vec::new(),
            pending: io::Cursor::new(Vec::new()),
            permit: None,
        }
    }

    /// How much it has given out.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }

    /// Follows the length of the current line through a piece, and ends it where it is too long.
    fn follow(&mut self, piece: &[u8]) {
        match memchr::memrchr(b'\n', piece) {
            Some(end) => {
                self.line = piece.len() - end - 1;
                self.most = LINE_BYTES;
                self.tail.clear();
            }
            None => self.line += piece.len(),
        }
        if self.line + WINDOW_OVERLAP + piece.len() > self.most {
            let of_line = piece.len().min(self.line);
            self.tail.extend_from_slice(&piece[piece.len() - of_line..]);
            let spare = self.tail.len().saturating_sub(WINDOW_OVERLAP);
            self.tail.drain(..spare);
        }
        if self.line >= self.most {
            self.noticed.long_line.set(true);
            self.noticed.breaks.borrow_mut().push(self.given);
            let mut again = Vec::with_capacity(self.tail.len() + 1);
            again.push(b'\n');
            again.extend_from_slice(&self.tail);
            self.line = self.tail.len();
            self.most = WINDOW_BYTES;
            self.tail.clear();
            self.pending = io::Cursor::new(again);
        }
    }
}

impl io::Read for Stream<'_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if self.halt.now() {
            return Err(io::Error::other("halted"));
        }
        let read = io::Read::read(&mut self.pending, piece)?;
        if read > 0 {
            self.given += read as u64;
            return Ok(read);
        }
        let most = piece.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        // Never past the end of a window, so that the break can be put right there.
        let most = most.min(self.most.saturating_sub(self.line).max(1)).min(READ_BYTES);
        let read = self.file.read_into(&mut piece[..most])?;
        self.left -= read as u64;
        if self.watch_nul
            && self.noticed.nul.get().is_none()
            && let Some(at) = memchr::memchr(0, &piece[..read])
        {
            self.noticed.nul.set(Some(self.given + at as u64));
        }
        self.given += read as u64;
        self.follow(&piece[..read]);
        if self.line > PERMIT_BYTES && self.permit.is_none() {
            self.permit = Some(Permit::wait(self.halt).ok_or_else(|| io::Error::other("halted"))?);
        }
        Ok(read)
    }
}

/// Leave to use large memory: one thread of the process at a time, whatever the number of calls.
pub(crate) struct Permit(());

/// The process that holds the permit, 0 for none: a forked child is not bound by its parent's.
static HOLDER: AtomicU32 = AtomicU32::new(0);

impl Permit {
    /// Waits for it; `None` when the query has to stop first.
    pub(crate) fn wait(halt: &Halt<'_>) -> Option<Permit> {
        let own = std::process::id();
        loop {
            let holder = HOLDER.load(Acquire);
            if holder != own && HOLDER.compare_exchange(holder, own, AcqRel, Acquire).is_ok() {
                return Some(Permit(()));
            }
            if halt.now() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The same where that many bytes ask for it; `None` when the query has to stop first.
    pub(crate) fn for_bytes(bytes: u64, halt: &Halt<'_>) -> Option<MaybePermit> {
        if bytes <= PERMIT_BYTES as u64 {
            return Some(MaybePermit(None));
        }
        Permit::wait(halt).map(|permit| MaybePermit(Some(permit)))
    }
}

/// A permit, or that none is needed.
pub(crate) struct MaybePermit(Option<Permit>);

impl MaybePermit {
    pub(crate) fn is_held(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        HOLDER.store(0, Release);
    }
}
