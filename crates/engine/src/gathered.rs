//! What a query's threads bring together: hits, files put aside, what was left out, numbers.

use std::collections::BTreeSet;

use crate::order::Candidate;
use crate::query::{Reason, Skipped};

/// At most this many left-out paths are named, the first by path; all are counted.
const SKIPPED_NAMED: usize = 1000;

/// What was gathered, by one thread or by all.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) hits: Vec<Candidate>,
    /// Files put aside to be searched in order.
    pub(crate) waiting: Vec<Candidate>,
    pub(crate) skips: Skips,
    pub(crate) folders: u64,
    pub(crate) files: u64,
    pub(crate) searched: u64,
    pub(crate) bytes: u64,
}

impl Gathered {
    pub(crate) fn absorb(&mut self, mut other: Gathered) {
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
pub(crate) struct Skips {
    pub(crate) named: BTreeSet<Skipped>,
    pub(crate) counts: Vec<(Reason, u64)>,
}

impl Skips {
    pub(crate) fn add(&mut self, path: Vec<u8>, reason: Reason, error: i32) {
        self.count(reason, 1);
        self.name(Skipped { path, reason, error });
    }

    pub(crate) fn absorb(&mut self, other: Skips) {
        for (reason, count) in other.counts {
            self.count(reason, count);
        }
        for skipped in other.named {
            self.name(skipped);
        }
    }

    /// Forgets what was only told of files that were searched.
    pub(crate) fn forget_searched(&mut self) {
        let of_the_walk =
            |reason| matches!(reason, Reason::Unreadable | Reason::Special | Reason::RuleFile);
        self.counts.retain(|entry| of_the_walk(entry.0));
        self.named.retain(|skipped| of_the_walk(skipped.reason));
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
