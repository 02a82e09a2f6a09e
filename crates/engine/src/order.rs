//! Order: which hit comes before which, ties included.
//!
//! Every order is total and depends only on names, paths and times, so that the answer is the
//! same on every run, on any number of threads, and on a copy of the tree.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::lines::Sought;
use crate::query::{Kind, Order, Time};
use crate::walk::Spot;

/// A file that is, or may become, a hit.
pub(crate) struct Candidate {
    /// Its root's place in the query.
    pub(crate) root: usize,
    /// The folder that the walk met it in; `None` where it was named as a root.
    pub(crate) spot: Option<Arc<Spot>>,
    /// Its name there, or the root's whole path.
    pub(crate) name: Box<[u8]>,
    pub(crate) kind: Kind,
    /// Its modification time, where the order needs it.
    pub(crate) time: Time,
    /// What searching it gave; `None` until then, and where nothing is searched for.
    pub(crate) sought: Option<Sought>,
}

impl Candidate {
    /// Its path as the root was spelled.
    pub(crate) fn path(&self) -> Vec<u8> {
        match &self.spot {
            Some(spot) => [&spot.ground.spelled[..], &spot.path, &self.name].concat(),
            None => self.name.to_vec(),
        }
    }
}

/// Whether an order goes by time.
pub(crate) fn is_timed(order: Order) -> bool {
    matches!(order, Order::Newest | Order::Oldest)
}

/// Which of two comes first.
pub(crate) fn compare(order: Order, one: &Candidate, other: &Candidate) -> Ordering {
    match order {
        Order::Newest => other.time.cmp(&one.time).then_with(|| by_path(one, other)),
        Order::Oldest => one.time.cmp(&other.time).then_with(|| by_path(one, other)),
        Order::Path => by_path(one, other),
        Order::Walk => one.root.cmp(&other.root).then_with(|| by_walk(one, other)),
    }
}

/// By the bytes of the whole path, which is put together only where it decides.
fn by_path(one: &Candidate, other: &Candidate) -> Ordering {
    let by_root = || one.root.cmp(&other.root);
    let (Some(here), Some(there)) = (&one.spot, &other.spot) else {
        return one.path().cmp(&other.path()).then_with(by_root);
    };
    if Arc::ptr_eq(here, there) {
        return one.name.cmp(&other.name);
    }
    if !Arc::ptr_eq(&here.ground, &there.ground) {
        return one.path().cmp(&other.path()).then_with(by_root);
    }
    let common = here.path.len().min(there.path.len());
    here.path[..common].cmp(&there.path[..common]).then_with(|| {
        let ours = here.path[common..].iter().chain(&*one.name);
        ours.cmp(there.path[common..].iter().chain(&*other.name))
    })
}

/// Folder by folder: a folder before those below it, its files by name.
fn by_walk(one: &Candidate, other: &Candidate) -> Ordering {
    let (Some(here), Some(there)) = (&one.spot, &other.spot) else {
        return Ordering::Equal;
    };
    if Arc::ptr_eq(here, there) {
        return one.name.cmp(&other.name);
    }
    // A slash ends a name, so it sorts before every byte that a name may hold.
    let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    here.path
        .iter()
        .map(key)
        .cmp(there.path.iter().map(key))
        .then_with(|| one.name.cmp(&other.name))
}
