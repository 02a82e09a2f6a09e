//! Looks into the files that one thread meets: opens, searches, notes what can't be had.
//!
//! Knows nothing of roots and of the walk's order; `search` and `late` say what it is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use grep_regex::RegexMatcher;

use crate::gathered::Gathered;
use crate::halt::Halt;
use crate::lines::Sought;
use crate::order::{self, Candidate};
use crate::query::{Kind, Query, Reason, Time};
use crate::scope::{File, Folder, IS_LINK, NOT_REGULAR, NOT_THERE, Place, current_user};
use crate::seek::Seeker;
use crate::walk::{Spot, Visitor};

/// So many hits of one thread, and at least one in so many files, make a pattern frequent. Below
/// that rate a page needs more files searched than are cheaply put aside; the figures only decide
/// how long an answer takes.
const FREQUENT_HITS: u64 = 8;
const FREQUENT_RATE: u64 = 500;

/// What the threads of one query share.
pub(crate) struct Shared {
    /// Whether a page is asked for, so that files may be put aside.
    paged: bool,
    /// Whether the pattern showed itself frequent, so that files are put aside from now on.
    frequent: AtomicBool,
    user: u32,
}

impl Shared {
    pub(crate) fn new(query: &Query) -> Shared {
        Shared {
            paged: query.page.limit.is_some(),
            frequent: AtomicBool::new(false),
            user: current_user(),
        }
    }
}

/// Looks into the files that one thread meets.
pub(crate) struct Hunt<'q> {
    query: &'q Query,
    seeker: Option<Seeker<'q>>,
    pub(crate) halt: &'q Halt<'q>,
    shared: &'q Shared,
    timed: bool,
    pub(crate) gathered: Gathered,
}

impl<'q> Hunt<'q> {
    pub(crate) fn new(
        query: &'q Query,
        matcher: Option<&RegexMatcher>,
        halt: &'q Halt<'q>,
        shared: &'q Shared,
    ) -> Hunt<'q> {
        Hunt {
            query,
            seeker: matcher.map(|matcher| Seeker::new(query, matcher)),
            halt,
            shared,
            timed: order::is_timed(query.order),
            gathered: Gathered::default(),
        }
    }

    /// A file that was named as a root: no rule applies to it.
    pub(crate) fn named(&mut self, root: usize, path: &[u8], place: &Place) -> Result<(), i32> {
        self.gathered.files += 1;
        let mut candidate = Candidate {
            root,
            spot: None,
            name: path.into(),
            kind: Kind::File,
            time: place.meta.modified,
            sought: None,
        };
        if self.seeker.is_none() {
            self.gathered.hits.push(candidate);
            return Ok(());
        }
        if self.halt.now() {
            return Ok(());
        }
        let mut file = place.file()?;
        if let Some(sought) = self.seek(&mut file, false, || path.to_vec())? {
            candidate.sought = Some(sought);
            self.gathered.hits.push(candidate);
        }
        Ok(())
    }

    /// Searches an opened file; what it gives, if it is a hit.
    fn seek(
        &mut self,
        file: &mut File,
        walked: bool,
        path: impl Fn() -> Vec<u8>,
    ) -> Result<Option<Sought>, i32> {
        let Some(seeker) = &mut self.seeker else {
            return Ok(None);
        };
        let sought = seeker.seek(file, walked, self.halt)?;
        self.gathered.searched += 1;
        self.gathered.bytes += sought.bytes;
        for &reason in &sought.notes {
            self.gathered.skips.add(path(), reason, 0);
        }
        Ok(sought.is_hit().then_some(sought))
    }

    /// Opens and searches a file of a folder.
    fn look(&mut self, spot: &Spot, folder: &Folder, name: &[u8]) -> Option<(Sought, Time)> {
        let path = || [&spot.ground.spelled[..], &spot.path, name].concat();
        let mut file = match folder.file(name) {
            Ok(file) => file,
            Err(error) => {
                self.refuse(path(), error);
                return None;
            }
        };
        match self.seek(&mut file, true, path) {
            Ok(sought) => sought.map(|sought| (sought, file.meta.modified)),
            Err(error) => {
                self.refuse(path(), error);
                None
            }
        }
    }

    /// Searches a file that was put aside; its neighbours in order are often of the same folder.
    pub(crate) fn look_again(
        &mut self,
        candidate: &Candidate,
        last: &mut Option<(Arc<Spot>, Folder)>,
    ) -> Option<Sought> {
        let spot = candidate.spot.as_ref()?;
        if !last.as_ref().is_some_and(|(at, _)| Arc::ptr_eq(at, spot)) {
            match spot.ground.beneath(&spot.path) {
                Ok(folder) => *last = Some((spot.clone(), folder)),
                Err(error) => {
                    self.refuse(candidate.path(), error);
                    return None;
                }
            }
        }
        let (_, folder) = last.as_ref()?;
        self.look(spot, folder, &candidate.name).map(|(sought, _)| sought)
    }

    /// A file that can't be had: gone or swapped for something else since it was listed is as if
    /// it had never been there; anything else is told.
    fn refuse(&mut self, path: Vec<u8>, error: i32) {
        if !matches!(error, NOT_THERE | NOT_REGULAR | IS_LINK) {
            self.gathered.skips.add(path, Reason::Unreadable, error);
        }
    }

    /// An entry is a hit by being there; its size and time are asked for where they matter.
    fn list(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8], kind: Kind) {
        let path = || [&spot.ground.spelled[..], &spot.path, name].concat();
        let most = self.query.reading.max_size;
        let mut time = Time::default();
        if self.timed || most.is_some() {
            match folder.meta(name) {
                Ok(meta) if meta.kind != kind => return,
                Ok(meta) if kind == Kind::File && most.is_some_and(|most| meta.size > most) => {
                    return self.gathered.skips.add(path(), Reason::TooLarge, 0);
                }
                Ok(meta) => time = meta.modified,
                Err(error) => return self.refuse(path(), error),
            }
        }
        let candidate = Candidate { kind, ..new_candidate(spot, name, time) };
        self.gathered.hits.push(candidate);
    }

    /// Puts a file aside with its time, to be searched in order.
    fn put_aside(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8]) {
        let path = || [&spot.ground.spelled[..], &spot.path, name].concat();
        let mut time = Time::default();
        if self.timed || self.query.want.unreadable {
            let meta = match folder.meta(name) {
                Ok(meta) if meta.kind == Kind::File => meta,
                Ok(_) => return,
                Err(error) => return self.refuse(path(), error),
            };
            time = meta.modified;
            if self.query.want.unreadable
                && let Err(error) = folder.readable(name, &meta, self.shared.user)
            {
                return self.refuse(path(), error);
            }
        }
        let candidate = new_candidate(spot, name, time);
        self.gathered.waiting.push(candidate);
    }
}

impl Visitor for Hunt<'_> {
    fn folder(&mut self) {
        self.gathered.folders += 1;
    }

    fn skip(&mut self, path: Vec<u8>, reason: Reason, error: i32) {
        self.gathered.skips.add(path, reason, error);
    }

    fn entry(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8], kind: Kind) {
        self.list(spot, folder, name, kind);
    }

    fn file(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8]) {
        self.gathered.files += 1;
        if self.seeker.is_none() {
            return self.list(spot, folder, name, Kind::File);
        }
        if self.shared.frequent.load(Relaxed) {
            return self.put_aside(spot, folder, name);
        }
        if let Some((sought, time)) = self.look(spot, folder, name) {
            let mut candidate = new_candidate(spot, name, time);
            candidate.sought = Some(sought);
            self.gathered.hits.push(candidate);
            let hits = self.gathered.hits.len() as u64;
            if self.shared.paged
                && hits >= FREQUENT_HITS
                && hits * FREQUENT_RATE >= self.gathered.searched
            {
                self.shared.frequent.store(true, Relaxed);
            }
        }
    }
}

fn new_candidate(spot: &Arc<Spot>, name: &[u8], time: Time) -> Candidate {
    Candidate {
        root: spot.ground.root,
        spot: Some(spot.clone()),
        name: name.into(),
        kind: Kind::File,
        time,
        sought: None,
    }
}
