//! The recipe: resolve, gather, order, match, page.
//!
//! Where the order goes by time and a page is asked for, files are searched as they are met until
//! it shows that the pattern is frequent; from then on they are only put in order, and searched
//! in that order until the page is certain. The answer is the same either way.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use grep_regex::RegexMatcher;
use ignore::gitignore::Gitignore;

use crate::error::Error;
use crate::halt::{Cancel, Halt, Interrupt};
use crate::ignore::Reader;
use crate::lines::{Seeker, Sought};
use crate::order::{self, Candidate};
use crate::page;
use crate::query::{
    Answer, Found, Hit, IgnoreFlavour, Kind, Query, Reason, RootState, Seen, Skipped, Stat,
    Stopped, StoppedKind, Time, WantKind,
};
use crate::scope::{
    Bounds, File, Folder, IS_LINK, NOT_REGULAR, NOT_THERE, Place, Scope, current_user,
};
use crate::walk::{self, Filter, Ground, Spot, Visitor};
use crate::{globs, pattern, types};

/// More threads than this find nothing to do faster.
const THREADS: usize = 16;
/// At most this many left-out paths are named, the first by path; all are counted.
const SKIPPED_NAMED: usize = 1000;
/// Files that a thread takes at a time when they are searched in order.
const FILES_A_GRAB: usize = 8;

/// What the system says of a path within the scope.
pub fn stat(path: &[u8], scope: &Scope) -> Result<Stat, Error> {
    Ok(Bounds::new(scope)?.stat(path))
}

/// Answers a query within a scope.
pub fn search(
    query: &Query,
    scope: &Scope,
    cancel: Option<&Cancel>,
    interrupt: Option<Interrupt<'_>>,
) -> Result<Answer, Error> {
    let start = Instant::now();
    let halt = Halt::new(query.deadline, cancel, interrupt);
    let files = &query.files;
    // The order in which ripgrep finds fault.
    let overrides = globs::compile(&files.globs, &files.glob_base)?;
    let types = types::compile(&files.types, &files.types_not)?;
    let matcher = match &query.pattern {
        Some(text) => Some(pattern::compile(text, query.reading.binary)?),
        None => None,
    };
    let bounds = Bounds::new(scope)?;
    let global = match files.ignore {
        IgnoreFlavour::Git => crate::ignore::global_excludes(&files.places, &files.glob_base),
        IgnoreFlavour::None => Gitignore::empty(),
    };
    let filter = Filter {
        overrides,
        types,
        ignore: files.ignore,
        global,
        hidden: files.hidden,
        depth: files.depth.unwrap_or(usize::MAX),
    };

    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS));
    let shared = Shared::new(query);
    let mut first = Hunt::new(query, matcher.as_ref(), &halt, &shared);
    let resolved = resolve(query, &bounds, &mut first);
    let hunts = walk::walk(resolved.grounds, &filter, &bounds, &halt, threads, || {
        Hunt::new(query, matcher.as_ref(), &halt, &shared)
    });
    let mut found = first.gathered;
    for hunt in hunts {
        found.absorb(hunt.gathered);
    }
    if !found.waiting.is_empty() {
        let late = match_in_order(&mut found, query, matcher.as_ref(), &halt, &shared, threads);
        found.absorb(late);
    }
    if halt.by_cancel() {
        return Err(Error::Cancelled);
    }
    Ok(answer(query, found, resolved.states, &halt, start))
}

struct Resolved {
    grounds: Vec<Arc<Ground>>,
    states: Vec<RootState>,
}

/// Opens the roots: folders to walk, files to search at once.
fn resolve(query: &Query, bounds: &Bounds, hunt: &mut Hunt<'_>) -> Resolved {
    let mut resolved = Resolved {
        grounds: Vec::new(),
        states: Vec::new(),
    };
    for (index, root) in query.roots.iter().enumerate() {
        let path = &root.path;
        let (found, error) = match bounds.resolve(path) {
            Err(error) => (Found::Missing, error),
            Ok(place) => match place.meta.kind {
                Kind::Folder => match ground(query, bounds, index, path, &place, hunt) {
                    Ok(ground) => {
                        if query.files.depth != Some(0) {
                            resolved.grounds.push(Arc::new(ground));
                        }
                        (Found::Folder, 0)
                    }
                    Err(error) => (Found::Unreadable, error),
                },
                Kind::File => match hunt.named(index, path, &place) {
                    Ok(()) => (Found::File, 0),
                    Err(error) => (Found::Unreadable, error),
                },
                Kind::Link | Kind::Other => (Found::Other, 0),
            },
        };
        if found == Found::Unreadable {
            hunt.gathered
                .skips
                .add(path.clone(), Reason::Unreadable, error);
        }
        resolved.states.push(RootState {
            path: path.clone(),
            found,
            error,
        });
    }
    resolved
}

fn ground(
    query: &Query,
    bounds: &Bounds,
    root: usize,
    path: &[u8],
    place: &Place,
    hunt: &mut Hunt<'_>,
) -> Result<Ground, i32> {
    let folder = place.folder()?;
    let identity = folder.identity()?;
    let mut complaints = Vec::new();
    let above = match query.files.ignore {
        IgnoreFlavour::None => None,
        IgnoreFlavour::Git => Reader {
            bounds,
            root: identity,
        }
        .above_root(&folder, &place.real, &mut complaints),
    };
    for (path, error) in complaints {
        hunt.gathered.skips.add(path, Reason::RuleFile, error);
    }
    Ok(Ground {
        root,
        spelled: with_slash(path),
        real: with_slash(&place.real),
        folder,
        identity,
        above,
    })
}

fn with_slash(path: &[u8]) -> Vec<u8> {
    let end = path
        .iter()
        .rposition(|&byte| byte != b'/')
        .map_or(0, |last| last + 1);
    [&path[..end], b"/"].concat()
}

/// What the threads of one query share.
struct Shared {
    hits: AtomicU64,
    /// With this many hits the pattern counts as frequent.
    frequent: u64,
    user: u32,
}

impl Shared {
    fn new(query: &Query) -> Shared {
        let deciding = page::deciding(&query.page).filter(|_| order::is_timed(query.order));
        Shared {
            hits: AtomicU64::new(0),
            frequent: deciding.map_or(u64::MAX, |hits| hits.saturating_mul(2).saturating_add(64)),
            user: current_user(),
        }
    }
}

/// What was gathered, by one thread or by all.
#[derive(Default)]
struct Gathered {
    hits: Vec<Candidate>,
    /// Files put aside to be searched in order.
    waiting: Vec<Candidate>,
    skips: Skips,
    folders: u64,
    files: u64,
    searched: u64,
    bytes: u64,
}

impl Gathered {
    fn absorb(&mut self, mut other: Gathered) {
        self.hits.append(&mut other.hits);
        self.waiting.append(&mut other.waiting);
        self.skips.absorb(other.skips);
        self.folders += other.folders;
        self.files += other.files;
        self.searched += other.searched;
        self.bytes += other.bytes;
    }
}

/// The paths that were left out: all counted, the first by path named.
#[derive(Default)]
struct Skips {
    named: BTreeSet<Skipped>,
    counts: Vec<(Reason, u64)>,
}

impl Skips {
    fn add(&mut self, path: Vec<u8>, reason: Reason, error: i32) {
        self.count(reason, 1);
        self.name(Skipped {
            path,
            reason,
            error,
        });
    }

    fn absorb(&mut self, other: Skips) {
        for (reason, count) in other.counts {
            self.count(reason, count);
        }
        for skipped in other.named {
            self.name(skipped);
        }
    }

    fn count(&mut self, reason: Reason, more: u64) {
        match self.counts.binary_search_by_key(&reason, |entry| entry.0) {
            Ok(at) => self.counts[at].1 += more,
            Err(at) => self.counts.insert(at, (reason, more)),
        }
    }

    fn name(&mut self, skipped: Skipped) {
        self.named.insert(skipped);
        if self.named.len() > SKIPPED_NAMED {
            self.named.pop_last();
        }
    }
}

/// Looks into the files that one thread meets.
struct Hunt<'q> {
    query: &'q Query,
    seeker: Option<Seeker<'q>>,
    halt: &'q Halt<'q>,
    shared: &'q Shared,
    timed: bool,
    gathered: Gathered,
}

impl<'q> Hunt<'q> {
    fn new(
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
    fn named(&mut self, root: usize, path: &[u8], place: &Place) -> Result<(), i32> {
        self.gathered.files += 1;
        let mut candidate = Candidate {
            root,
            spot: None,
            name: path.into(),
            time: place.meta.modified,
            sought: None,
        };
        if self.seeker.is_none() {
            self.gathered.hits.push(candidate);
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

    /// A file that can't be had: gone or swapped for something else since it was listed is as if
    /// it had never been there; anything else is told.
    fn refuse(&mut self, path: Vec<u8>, error: i32) {
        if !matches!(error, NOT_THERE | NOT_REGULAR | IS_LINK) {
            self.gathered.skips.add(path, Reason::Unreadable, error);
        }
    }

    /// Puts a file aside with its time, to be searched in order.
    fn put_aside(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8]) {
        let path = || [&spot.ground.spelled[..], &spot.path, name].concat();
        let meta = match folder.meta(name) {
            Ok(meta) if meta.kind == Kind::File => meta,
            Ok(_) => return,
            Err(error) => return self.refuse(path(), error),
        };
        if self.query.want.unreadable
            && let Err(error) = folder.readable(name, &meta, self.shared.user)
        {
            return self.refuse(path(), error);
        }
        let candidate = new_candidate(spot, name, meta.modified);
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

    fn file(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8]) {
        self.gathered.files += 1;
        if self.seeker.is_none() {
            let time = match self.timed {
                false => Time::default(),
                true => match folder.meta(name) {
                    Ok(meta) => meta.modified,
                    Err(_) => return,
                },
            };
            self.gathered.hits.push(new_candidate(spot, name, time));
            return;
        }
        if self.shared.hits.load(Relaxed) >= self.shared.frequent {
            return self.put_aside(spot, folder, name);
        }
        if let Some((sought, time)) = self.look(spot, folder, name) {
            self.shared.hits.fetch_add(1, Relaxed);
            let mut candidate = new_candidate(spot, name, time);
            candidate.sought = Some(sought);
            self.gathered.hits.push(candidate);
        }
    }
}

fn new_candidate(spot: &Arc<Spot>, name: &[u8], time: Time) -> Candidate {
    Candidate {
        root: spot.ground.root,
        spot: Some(spot.clone()),
        name: name.into(),
        time,
        sought: None,
    }
}

/// Searches what was put aside, in order, until the page is certain. Files are handed out in
/// order and every file handed out is finished, so as many hits as decide the page are, however
/// the threads take turns, the first ones.
fn match_in_order(
    found: &mut Gathered,
    query: &Query,
    matcher: Option<&RegexMatcher>,
    halt: &Halt<'_>,
    shared: &Shared,
    threads: usize,
) -> Gathered {
    let needed = page::deciding(&query.page).unwrap_or(u64::MAX);
    let mut all: Vec<Candidate> = std::mem::take(&mut found.hits);
    all.append(&mut found.waiting);
    let compare = |one: &Candidate, other: &Candidate| order::compare(query.order, one, other);
    let hits = AtomicU64::new(0);
    let mut late = Gathered::default();
    let mut step = usize::try_from(needed)
        .unwrap_or(usize::MAX)
        .saturating_mul(4)
        .max(256);
    // Only as much is put in order as is searched: a step, then a larger one.
    while !all.is_empty() && hits.load(Relaxed) < needed && !halt.now() {
        let rest = if step < all.len() {
            all.select_nth_unstable_by(step, compare);
            all.split_off(step)
        } else {
            Vec::new()
        };
        all.sort_unstable_by(compare);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut hunt = Hunt::new(query, matcher, halt, shared);
            let mut last: Option<(Arc<Spot>, Folder)> = None;
            let mut sought = Vec::new();
            while hits.load(Relaxed) < needed && !halt.now() {
                let start = next.fetch_add(FILES_A_GRAB, Relaxed);
                let end = (start + FILES_A_GRAB).min(all.len());
                if start >= end {
                    break;
                }
                for (index, candidate) in all[start..end].iter().enumerate() {
                    if candidate.sought.is_some() {
                        hits.fetch_add(1, Relaxed);
                    } else if let Some(hit) = hunt.look_again(candidate, &mut last) {
                        hits.fetch_add(1, Relaxed);
                        sought.push((start + index, hit));
                    }
                }
            }
            (hunt.gathered, sought)
        };
        let parts = in_parallel(work, threads.min(all.len() / FILES_A_GRAB / 4 + 1));
        for (gathered, sought) in parts {
            late.absorb(gathered);
            for (index, hit) in sought {
                all[index].sought = Some(hit);
            }
        }
        late.hits.extend(
            all.into_iter()
                .filter(|candidate| candidate.sought.is_some()),
        );
        all = rest;
        step = step.saturating_mul(8);
    }
    late.hits.extend(
        all.into_iter()
            .filter(|candidate| candidate.sought.is_some()),
    );
    late
}

/// Runs the same work on several threads, the calling one among them.
fn in_parallel<T: Send>(work: impl Fn() -> T + Sync, threads: usize) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map_while(|_| std::thread::Builder::new().spawn_scoped(scope, &work).ok())
            .collect();
        let mut parts = vec![work()];
        for thread in others {
            match thread.join() {
                Ok(part) => parts.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts
    })
}

impl Hunt<'_> {
    /// Searches a file that was put aside; its neighbours in order are often of the same folder.
    fn look_again(
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
        self.look(spot, folder, &candidate.name)
            .map(|(sought, _)| sought)
    }
}

fn answer(
    query: &Query,
    mut found: Gathered,
    roots: Vec<RootState>,
    halt: &Halt<'_>,
    start: Instant,
) -> Answer {
    found
        .hits
        .sort_unstable_by(|one, other| order::compare(query.order, one, other));
    let timed = order::is_timed(query.order);
    let hits = found.hits.into_iter().map(|candidate| {
        let path = candidate.path();
        let time = timed.then_some(candidate.time);
        let (count, lines, binary) = match candidate.sought {
            None => (None, Vec::new(), None),
            Some(sought) if query.want.kind == WantKind::Files => (None, Vec::new(), sought.binary),
            Some(sought) => (Some(sought.count), sought.lines, sought.binary),
        };
        Hit {
            path,
            kind: Kind::File,
            time,
            count,
            lines,
            binary,
        }
    });
    let (hits, more) = match page::deciding(&query.page) {
        // Paths are put together for the hits that the page may hold, not for all.
        Some(most) => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            page::cut(
                hits.take(most).collect(),
                &query.page,
                query.want.before,
                query.want.after,
            )
        }
        None => page::cut(
            hits.collect(),
            &query.page,
            query.want.before,
            query.want.after,
        ),
    };
    Answer {
        hits,
        more,
        roots,
        stopped: halt.by_deadline().then(|| Stopped {
            kind: StoppedKind::Deadline,
            lost: Vec::new(),
        }),
        seen: Seen {
            mode: "scan",
            folders: found.folders,
            files: found.files,
            searched: found.searched,
            bytes: found.bytes,
            skipped: found.skips.counts,
            seconds: start.elapsed().as_secs_f64(),
        },
        skipped: found.skips.named.into_iter().collect(),
    }
}
