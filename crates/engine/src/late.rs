//! Match in order: searches what was put aside, until the page is certain.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use grep_regex::RegexMatcher;

use crate::gathered::Gathered;
use crate::halt::{Alarm, Halt};
use crate::hunt::{Hunt, Shared};
use crate::order::{self, Candidate};
use crate::page;
use crate::query::Query;
use crate::scope::Folder;
use crate::walk::Spot;

/// Files that a thread takes at a time.
const FILES_A_GRAB: usize = 8;

/// Searches what was put aside, in order, until the page is certain. Files are handed out in
/// order and every file handed out is finished, so as many hits as decide the page are, however
/// the threads take turns, the first ones.
pub(crate) fn match_in_order(
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
    let mut step = usize::try_from(needed).unwrap_or(usize::MAX).saturating_mul(4).max(256);
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
        let parts = in_parallel(work, threads.min(all.len() / FILES_A_GRAB / 4 + 1), halt);
        for (gathered, sought) in parts {
            late.absorb(gathered);
            for (index, hit) in sought {
                all[index].sought = Some(hit);
            }
        }
        late.hits.extend(all.into_iter().filter(|candidate| candidate.sought.is_some()));
        all = rest;
        step = step.saturating_mul(8);
    }
    late.hits.extend(all.into_iter().filter(|candidate| candidate.sought.is_some()));
    late
}

/// Runs the same work on several threads, the calling one among them, which asks the halt until
/// the others are done.
fn in_parallel<T: Send>(work: impl Fn() -> T + Sync, threads: usize, halt: &Halt<'_>) -> Vec<T> {
    let alarmed = || {
        let _alarm = Alarm(halt);
        work()
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map_while(|_| std::thread::Builder::new().spawn_scoped(scope, alarmed).ok())
            .collect();
        let mut parts = vec![alarmed()];
        while !others.iter().all(|thread| thread.is_finished()) {
            let _ = halt.now();
            std::thread::sleep(Duration::from_micros(200));
        }
        for thread in others {
            match thread.join() {
                Ok(part) => parts.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts
    })
}
