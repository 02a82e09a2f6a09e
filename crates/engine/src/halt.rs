//! When to stop: the deadline, the caller's flag, and a fault in another thread.
//!
//! Every loop of the engine asks `Halt::now` at least once a file, a folder or 64 KiB read.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A flag that ends every query it is given to.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Ends them, now and later.
    pub fn set(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it was set.
    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Asked now and then by the calling thread; true ends the query as a cancel does.
pub type Interrupt<'a> = &'a (dyn Fn() -> bool + Sync);

const RUNNING: u8 = 0;
const DEADLINE: u8 = 1;
const CANCELLED: u8 = 2;
const FAULT: u8 = 3;

/// How often the calling thread asks its `Interrupt`.
const INTERRUPT_EVERY: Duration = Duration::from_millis(50);

/// The reasons of one query to stop, shared by its threads.
pub(crate) struct Halt<'a> {
    state: AtomicU8,
    cancel: Option<&'a Cancel>,
    deadline: Option<Instant>,
    interrupt: Option<Interrupt<'a>>,
    caller: std::thread::ThreadId,
    asked: std::sync::Mutex<Instant>,
}

impl<'a> Halt<'a> {
    pub(crate) fn new(
        seconds: Option<f64>,
        cancel: Option<&'a Cancel>,
        interrupt: Option<Interrupt<'a>>,
    ) -> Halt<'a> {
        let start = Instant::now();
        let wait = seconds.filter(|s| s.is_finite()).map(|s| s.max(0.0));
        Halt {
            state: AtomicU8::new(RUNNING),
            cancel,
            deadline: wait
                .and_then(|s| Duration::try_from_secs_f64(s).ok())
                .and_then(|wait| start.checked_add(wait)),
            interrupt,
            caller: std::thread::current().id(),
            asked: std::sync::Mutex::new(start),
        }
    }

    /// Whether to stop now.
    pub(crate) fn now(&self) -> bool {
        if self.state.load(Relaxed) != RUNNING {
            return true;
        }
        if self.cancel.is_some_and(Cancel::is_set) {
            return self.stop(CANCELLED);
        }
        if self.deadline.is_none() && self.interrupt.is_none() {
            return false;
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return self.stop(DEADLINE);
        }
        self.interrupted(now)
    }

    fn interrupted(&self, now: Instant) -> bool {
        let Some(interrupt) = self.interrupt else {
            return false;
        };
        if std::thread::current().id() != self.caller {
            return false;
        }
        let Ok(mut asked) = self.asked.try_lock() else {
            return false;
        };
        if now.duration_since(*asked) < INTERRUPT_EVERY {
            return false;
        }
        *asked = now;
        interrupt() && self.stop(CANCELLED)
    }

    /// The first reason counts.
    fn stop(&self, reason: u8) -> bool {
        let _ = self.state.compare_exchange(RUNNING, reason, Relaxed, Relaxed);
        true
    }

    /// Stops the other threads because this one is going down.
    fn fault(&self) {
        self.state.store(FAULT, Relaxed);
    }

    /// Whether time was over before the end.
    pub(crate) fn by_deadline(&self) -> bool {
        self.state.load(Relaxed) == DEADLINE
    }

    /// Whether the caller ended it.
    pub(crate) fn by_cancel(&self) -> bool {
        self.state.load(Relaxed) == CANCELLED
    }
}

/// Stops the other threads when the one that holds it goes down.
pub(crate) struct Alarm<'a>(pub(crate) &'a Halt<'a>);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fault();
        }
    }
}
