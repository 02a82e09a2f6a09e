//! The recipe: resolve, gather, order, match, page.
//!
//! Where the order goes by time and a page is asked for, files are searched as they are met until
//! it shows that the pattern is frequent; from then on they are only put in order, and searched
//! in that order until the page is certain. The answer is the same either way.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use ignore::gitignore::Gitignore;

use crate::error::Error;
use crate::filter::Filter;
use crate::gathered::Gathered;
use crate::halt::{Cancel, Halt, Interrupt};
use crate::hunt::{Hunt, Shared};
use crate::ignore::Reader;
use crate::late::match_in_order;
use crate::order;
use crate::page;
use crate::query::{
    Answer, Found, Hit, IgnoreFlavour, Kind, Query, Reason, RootState, Seen, Stat, Stopped,
    StoppedKind, WantKind,
};
use crate::scope::{Bounds, Place, Scope};
use crate::walk::{self, Ground};
use crate::{globs, pattern, types};

/// More threads than this find nothing to do faster.
const THREADS: usize = 16;

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
        IgnoreFlavour::Git => {
            crate::ignore::global_excludes(&files.places, &files.glob_base, &halt)
        }
        IgnoreFlavour::None => Gitignore::empty(),
    };
    let filter = Filter {
        overrides,
        types,
        ignore: files.ignore,
        global,
        hidden: files.hidden,
        depth: files.depth.unwrap_or(usize::MAX),
        kinds: match (&query.pattern, files.kinds.is_empty()) {
            (None, false) => files.kinds.clone(),
            _ => vec![Kind::File],
        },
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
    let mut resolved = Resolved { grounds: Vec::new(), states: Vec::new() };
    let held = Arc::new(AtomicUsize::new(0));
    for (index, root) in query.roots.iter().enumerate() {
        let path = &root.path;
        let (found, error) = match bounds.resolve(path) {
            Err(error) => (Found::Missing, error),
            Ok(place) => match place.meta.kind {
                Kind::Folder => match ground(query, bounds, index, path, &place, &held, hunt) {
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
        resolved.states.push(RootState { path: path.clone(), found, error });
    }
    resolved
}

fn ground(
    query: &Query,
    bounds: &Bounds,
    root: usize,
    path: &[u8],
    place: &Place,
    held: &Arc<AtomicUsize>,
    hunt: &mut Hunt<'_>,
) -> Result<Ground, i32> {
    let folder = place.folder()?;
    let identity = folder.identity()?;
    let mut complaints = Vec::new();
    let above = match query.files.ignore {
        IgnoreFlavour::None => None,
        IgnoreFlavour::Git => {
            let reader = Reader { bounds, halt: hunt.halt, held, root: identity };
            reader.above_root(&folder, &place.real, &mut complaints)
        }
    };
    // What stands above an allowed folder is not for a confined caller to know.
    if !bounds.confines() {
        for (path, error) in complaints {
            hunt.gathered.skips.add(path, Reason::RuleFile, error);
        }
    }
    Ok(Ground {
        root,
        spelled: with_slash(path),
        real: with_slash(&place.real),
        folder,
        identity,
        above,
        held: held.clone(),
    })
}

/// A folder's path as ripgrep joins it with a name: all its own slashes stay.
fn with_slash(path: &[u8]) -> Vec<u8> {
    if path.ends_with(b"/") { path.to_vec() } else { [path, b"/"].concat() }
}

fn answer(
    query: &Query,
    mut found: Gathered,
    roots: Vec<RootState>,
    halt: &Halt<'_>,
    start: Instant,
) -> Answer {
    found.hits.sort_unstable_by(|one, other| order::compare(query.order, one, other));
    let timed = order::is_timed(query.order);
    let hits = found.hits.into_iter().map(|candidate| {
        let path = candidate.path();
        let time = timed.then_some(candidate.time);
        let (count, lines, binary) = match candidate.sought {
            None => (None, Vec::new(), None),
            Some(sought) if query.want.kind == WantKind::Files => (None, Vec::new(), sought.binary),
            Some(sought) => (Some(sought.count), sought.lines, sought.binary),
        };
        Hit { path, kind: candidate.kind, time, count, lines, binary }
    });
    let (hits, more) = match page::deciding(&query.page) {
        // Paths are put together for the hits that the page may hold, not for all.
        Some(most) => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            page::cut(hits.take(most).collect(), &query.page, query.want.before, query.want.after)
        }
        None => page::cut(hits.collect(), &query.page, query.want.before, query.want.after),
    };
    if more {
        // Files behind the page were searched or not as the threads took turns.
        found.skips.forget_searched();
    }
    Answer {
        hits,
        more,
        roots,
        stopped: halt
            .by_deadline()
            .then(|| Stopped { kind: StoppedKind::Deadline, lost: Vec::new() }),
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
