//! Gather without an index: visits every file below the roots that the rules let through.
//!
//! Folders are taken by all cores from one stack, last in first out, so that few are open at a
//! time. Each is opened by name relative to the folder above; a link is never entered. What a
//! file is worth is the visitor's business; this file knows nothing of patterns and order.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::filter::{Entry, Filter};
use crate::halt::{Alarm, Halt};
use crate::ignore::{Complaint, Reader, Rules, Shown};
use crate::query::{IgnoreFlavour, Kind, Reason};
use crate::scope::{Bounds, Folder, Identity, NOT_THERE};

/// How many folders may be open at a time; beyond it they are opened anew from the root.
const OPEN_FOLDERS: usize = 128;
/// A folder with more files than this is shared out among the threads.
const FILES_A_TASK: usize = 64;
/// How many entries of a listing may pass before the deadline is looked at.
const ENTRIES_BETWEEN_LOOKS: usize = 1024;
/// How long an idle thread sleeps before it looks at the deadline again.
const IDLE: Duration = Duration::from_millis(5);

/// A folder that was asked for, opened.
pub(crate) struct Ground {
    /// Its place among the roots.
    pub(crate) root: usize,
    /// Its path as it was spelled, with one slash at the end.
    pub(crate) spelled: Vec<u8>,
    /// Its path without links, likewise.
    pub(crate) real: Vec<u8>,
    pub(crate) folder: Folder,
    pub(crate) identity: Identity,
    /// The rules of the folders above it, and how many rules the query holds.
    pub(crate) above: Option<Arc<Rules>>,
    pub(crate) held: Arc<AtomicUsize>,
}

impl Ground {
    /// Opens a folder below it, by its path from here.
    pub(crate) fn beneath(&self, path: &[u8]) -> Result<Folder, i32> {
        self.folder.beneath(path)
    }
}

/// A folder met by the walk.
pub(crate) struct Spot {
    pub(crate) ground: Arc<Ground>,
    /// Its path from the root, with a slash at the end; empty for the root itself.
    pub(crate) path: Vec<u8>,
    depth: usize,
}

/// A folder being worked on.
struct Level {
    spot: Arc<Spot>,
    /// Its descriptor, as long as not too many are open.
    folder: Option<Folder>,
    device: u64,
    rules: Option<Arc<Rules>>,
    open: Option<Arc<AtomicUsize>>,
}

impl Drop for Level {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            open.fetch_sub(1, Relaxed);
        }
    }
}

/// Takes what the walk finds; each thread has its own.
pub(crate) trait Visitor: Send {
    /// A file that the rules let through, to be opened by its name in `folder`.
    fn file(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8]);
    /// Another entry that the rules let through and that is wanted.
    fn entry(&mut self, spot: &Arc<Spot>, folder: &Folder, name: &[u8], kind: Kind);
    /// A folder was listed.
    fn folder(&mut self);
    /// Something was left out.
    fn skip(&mut self, path: Vec<u8>, reason: Reason, error: i32);
}

enum Task {
    Folder { above: Arc<Level>, name: Vec<u8> },
    Top(Arc<Ground>),
    Files { level: Arc<Level>, names: Names },
}

/// Names in one piece of memory.
#[derive(Default)]
struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}

#[derive(Default)]
struct Stack {
    tasks: Vec<Task>,
    busy: usize,
}

struct Shared<'w> {
    stack: Mutex<Stack>,
    changed: Condvar,
    filter: &'w Filter,
    bounds: &'w Bounds,
    halt: &'w Halt<'w>,
    open: Arc<AtomicUsize>,
    threads: usize,
}

/// Walks the grounds with as many threads as the machine has cores for, and gives the visitors
/// back. The calling thread works too; the others start when there is something to share.
pub(crate) fn walk<V: Visitor>(
    grounds: Vec<Arc<Ground>>,
    filter: &Filter,
    bounds: &Bounds,
    halt: &Halt<'_>,
    threads: usize,
    visitor: impl Fn() -> V + Sync,
) -> Vec<V> {
    let tasks = grounds.into_iter().rev().map(Task::Top).collect();
    let shared = Shared {
        stack: Mutex::new(Stack { tasks, busy: 0 }),
        changed: Condvar::new(),
        filter,
        bounds,
        halt,
        open: Arc::new(AtomicUsize::new(0)),
        threads,
    };
    let work = |help: &mut dyn FnMut()| {
        let mut worker = Worker::new(&shared, visitor());
        worker.run(help);
        worker.visitor
    };
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        let mut help = || {
            while others.len() + 1 < threads {
                let started = std::thread::Builder::new().spawn_scoped(scope, || work(&mut || ()));
                match started {
                    Ok(thread) => others.push(thread),
                    // Fewer threads instead of none.
                    Err(_) => break,
                }
            }
        };
        let mut visitors = vec![work(&mut help)];
        for thread in others {
            match thread.join() {
                Ok(visitor) => visitors.push(visitor),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        visitors
    })
}

struct Worker<'w, V> {
    shared: &'w Shared<'w>,
    visitor: V,
    listing: Vec<u8>,
    names: Names,
    kinds: Vec<Kind>,
    spelled: Vec<u8>,
    real: Vec<u8>,
    complaints: Vec<Complaint>,
}

impl<'w, V: Visitor> Worker<'w, V> {
    fn new(shared: &'w Shared<'w>, visitor: V) -> Worker<'w, V> {
        Worker {
            shared,
            visitor,
            listing: Vec::new(),
            names: Names::default(),
            kinds: Vec::new(),
            spelled: Vec::new(),
            real: Vec::new(),
            complaints: Vec::new(),
        }
    }

    fn run(&mut self, help: &mut dyn FnMut()) {
        let shared = self.shared;
        let _alarm = Alarm(shared.halt);
        // Asked without the lock: it may have to wait for the interpreter's.
        while !shared.halt.now() {
            let mut stack = lock(&shared.stack);
            if let Some(task) = stack.tasks.pop() {
                let much = !stack.tasks.is_empty();
                stack.busy += 1;
                drop(stack);
                if much {
                    help();
                }
                self.work(task);
                lock(&shared.stack).busy -= 1;
            } else if stack.busy == 0 {
                break;
            } else {
                drop(shared.changed.wait_timeout(stack, IDLE));
            }
        }
        shared.changed.notify_all();
    }

    fn work(&mut self, task: Task) {
        match task {
            Task::Top(ground) => self.top(ground),
            Task::Folder { above, name } => self.enter(&above, &name),
            Task::Files { level, names } => self.files(&level, &names),
        }
    }

    fn top(&mut self, ground: Arc<Ground>) {
        let device = ground.identity.device;
        let above = ground.above.clone();
        let opened = ground.beneath(b"");
        let spot = Arc::new(Spot { ground, path: Vec::new(), depth: 0 });
        match opened {
            Ok(folder) => self.list(spot, folder, device, &above),
            Err(error) => self.refuse(&spot, b"", error),
        }
    }

    fn enter(&mut self, above: &Level, name: &[u8]) {
        let opened = match &above.folder {
            Some(folder) => folder.folder(name),
            None => above.spot.ground.beneath(&[&above.spot.path, name].concat()),
        };
        let folder = match opened {
            Ok(folder) => folder,
            Err(error) => return self.refuse(&above.spot, name, error),
        };
        let device = match folder.identity() {
            Ok(identity) => identity.device,
            Err(error) => return self.refuse(&above.spot, name, error),
        };
        if device != above.device && folder.is_special() {
            let path = [&above.spot.ground.spelled, &above.spot.path, name].concat();
            return self.visitor.skip(path, Reason::Special, 0);
        }
        let spot = Arc::new(Spot {
            ground: above.spot.ground.clone(),
            path: [&above.spot.path, name, b"/"].concat(),
            depth: above.spot.depth + 1,
        });
        self.list(spot, folder, device, &above.rules);
    }

    /// A folder that can't be opened: gone or swapped for something else meanwhile is as if it
    /// had never been listed; anything else is told.
    fn refuse(&mut self, spot: &Spot, name: &[u8], error: i32) {
        const NOT_A_FOLDER: i32 = 20;
        if error != NOT_THERE && error != NOT_A_FOLDER && error != crate::scope::IS_LINK {
            let path = [&spot.ground.spelled, &spot.path, name].concat();
            self.visitor.skip(path, Reason::Unreadable, error);
        }
    }

    fn list(&mut self, spot: Arc<Spot>, folder: Folder, device: u64, above: &Option<Arc<Rules>>) {
        self.visitor.folder();
        let mut shown = Shown::default();
        let (names, kinds) = (&mut self.names, &mut self.kinds);
        names.bytes.clear();
        names.ends.clear();
        kinds.clear();
        let halt = self.shared.halt;
        let listed = folder.entries(&mut self.listing, |name, kind| {
            shown.see(name, kind);
            names.push(name);
            kinds.push(kind);
            !kinds.len().is_multiple_of(ENTRIES_BETWEEN_LOOKS) || !halt.now()
        });
        if let Err(error) = listed {
            let path = [&spot.ground.spelled[..], &spot.path].concat();
            let path = path.strip_suffix(b"/").unwrap_or(&path).to_vec();
            self.visitor.skip(path, Reason::Unreadable, error);
        }
        self.stand_in(&spot);
        let filter = self.shared.filter;
        let rules = match filter.ignore {
            IgnoreFlavour::None => None,
            IgnoreFlavour::Git => {
                let Shared { bounds, halt, .. } = *self.shared;
                let held = &spot.ground.held;
                let reader = Reader { bounds, halt, held, root: spot.ground.identity };
                reader.enter(above, &folder, &self.real, shown, &mut self.complaints)
            }
        };
        for (path, error) in self.complaints.drain(..) {
            self.visitor.skip(path, Reason::RuleFile, error);
        }

        let mut files = Names::default();
        let mut folders = Vec::new();
        let names = std::mem::take(&mut self.names);
        for (index, (name, &kind)) in names.iter().zip(&self.kinds).enumerate() {
            if index % ENTRIES_BETWEEN_LOOKS == ENTRIES_BETWEEN_LOOKS - 1 && halt.now() {
                break;
            }
            // Links and special files are neither entered nor read.
            let is_folder = kind == Kind::Folder;
            let enters = is_folder && spot.depth + 1 < filter.depth;
            if !enters && !filter.wants(kind) {
                continue;
            }
            put_name(&mut self.spelled, &mut self.real, &spot, name);
            let (spelled, real) = (&self.spelled, &self.real);
            let entry = Entry { name, spelled, real, is_folder };
            if !filter.passes(&entry, &rules, self.shared.bounds) {
                continue;
            }
            if kind == Kind::File {
                files.push(name);
                continue;
            }
            if filter.wants(kind) {
                self.visitor.entry(&spot, &folder, name, kind);
            }
            if enters {
                folders.push(name.to_vec());
            }
        }
        self.names = names;
        self.go_on(spot, folder, device, rules, files, folders);
    }

    /// Visits the files of a folder and puts its subfolders on the stack.
    fn go_on(
        &mut self,
        spot: Arc<Spot>,
        folder: Folder,
        device: u64,
        rules: Option<Arc<Rules>>,
        files: Names,
        folders: Vec<Vec<u8>>,
    ) {
        let shared = self.shared;
        let share = files.ends.len() > FILES_A_TASK && shared.threads > 1;
        if folders.is_empty() && !share {
            return self.visit(&spot, &folder, files.iter());
        }
        let many = shared.open.fetch_add(1, Relaxed) >= OPEN_FOLDERS;
        if many {
            // Files first, while the folder is open; its subfolders are opened from the root.
            shared.open.fetch_sub(1, Relaxed);
            self.visit(&spot, &folder, files.iter());
            let level = Level { spot, folder: None, device, rules, open: None };
            return self.push_folders(Arc::new(level), folders);
        }
        let open = Some(shared.open.clone());
        let level = Arc::new(Level { spot, folder: Some(folder), device, rules, open });
        self.push_folders(level.clone(), folders);
        if share {
            self.push_files(&level, &files);
        } else {
            self.files(&level, &files);
        }
    }

    fn push_folders(&mut self, level: Arc<Level>, folders: Vec<Vec<u8>>) {
        if folders.is_empty() {
            return;
        }
        let mut stack = lock(&self.shared.stack);
        for name in folders {
            stack.tasks.push(Task::Folder { above: level.clone(), name });
        }
        drop(stack);
        self.shared.changed.notify_all();
    }

    fn push_files(&mut self, level: &Arc<Level>, files: &Names) {
        let mut tasks = Vec::new();
        let mut part = Names::default();
        for name in files.iter() {
            part.push(name);
            if part.ends.len() == FILES_A_TASK {
                tasks.push(Task::Files { level: level.clone(), names: std::mem::take(&mut part) });
            }
        }
        tasks.push(Task::Files { level: level.clone(), names: part });
        lock(&self.shared.stack).tasks.extend(tasks);
        self.shared.changed.notify_all();
    }

    fn files(&mut self, level: &Level, names: &Names) {
        if let Some(folder) = &level.folder {
            self.visit(&level.spot, folder, names.iter());
        }
    }

    fn visit<'n>(
        &mut self,
        spot: &Arc<Spot>,
        folder: &Folder,
        names: impl Iterator<Item = &'n [u8]>,
    ) {
        for name in names {
            if self.shared.halt.now() {
                return;
            }
            self.visitor.file(spot, folder, name);
        }
    }

    /// Puts the folder's own paths in place of the last one's.
    fn stand_in(&mut self, spot: &Spot) {
        self.spelled.clear();
        self.real.clear();
        put_name(&mut self.spelled, &mut self.real, spot, b"");
    }
}

fn put_name(spelled: &mut Vec<u8>, real: &mut Vec<u8>, spot: &Spot, name: &[u8]) {
    let ground = &spot.ground;
    for (path, top) in [(spelled, &ground.spelled), (real, &ground.real)] {
        let folder = top.len() + spot.path.len();
        if path.is_empty() {
            path.extend_from_slice(top);
            path.extend_from_slice(&spot.path);
        }
        path.truncate(folder);
        path.extend_from_slice(name);
    }
}

/// A lock that a fault in another thread does not take from the rest.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
