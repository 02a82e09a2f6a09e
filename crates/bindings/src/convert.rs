//! The only place that knows both the Python and the Rust Query and Answer.
//!
//! The Python values are those of `src/evergrep/query.py` and `scope.py`; a field that is missing
//! or of a wrong type is a TypeError or ValueError that names it.

use engine::query::{
    Answer, BinaryFlavour, Files, Found, GitPlaces, Hit, IgnoreFlavour, Kind, Line, Order, Page,
    Pattern, Query, Reading, Reason, Root, RootState, Seen, Skipped, Stat, Stopped, StoppedKind,
    Time, Unit, Want, WantKind,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyTuple, PyType};

/// Reads one field, naming it when it does not fit.
fn field<'py, T>(owner: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let value = owner.getattr(name)?;
    value.extract::<T>().map_err(|cause| {
        let cause: PyErr = cause.into();
        PyTypeError::new_err(format!("{name}: {}", cause.value(owner.py())))
    })
}

/// Reads a field that is one of a few words.
fn word<T: Copy>(owner: &Bound<'_, PyAny>, name: &str, words: &[(&str, T)]) -> PyResult<T> {
    let text: String = field(owner, name)?;
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        PyValueError::new_err(format!("{name}: {text:?} is none of {}", known.join(", ")))
    })
}

pub fn scope(value: &Bound<'_, PyAny>) -> PyResult<engine::Scope> {
    Ok(engine::Scope {
        root: field(value, "root")?,
        allow: field(value, "allow")?,
        deny: field(value, "deny")?,
    })
}

pub fn query(value: &Bound<'_, PyAny>) -> PyResult<Query> {
    let mut roots = Vec::new();
    for root in value.getattr("roots")?.try_iter()? {
        roots.push(Root { path: field(&root?, "path")? });
    }
    let pattern = value.getattr("pattern")?;
    let want = want(&value.getattr("want")?)?;
    let page = page(&value.getattr("page")?)?;
    if page.unit == Unit::Lines && want.kind != WantKind::Lines {
        return Err(PyValueError::new_err("page: counts lines, and no lines are wanted"));
    }
    Ok(Query {
        roots,
        pattern: if pattern.is_none() { None } else { Some(one_pattern(&pattern)?) },
        files: files(&value.getattr("files")?)?,
        want,
        reading: reading(&value.getattr("reading")?)?,
        order: word(
            value,
            "order",
            &[
                ("newest", Order::Newest),
                ("oldest", Order::Oldest),
                ("path", Order::Path),
                ("walk", Order::Walk),
            ],
        )?,
        page,
        deadline: deadline(value)?,
    })
}

fn deadline(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let seconds: Option<f64> = field(value, "deadline")?;
    match seconds {
        Some(seconds) if seconds.is_nan() => {
            Err(PyValueError::new_err("deadline: takes seconds, not NaN"))
        }
        seconds => Ok(seconds),
    }
}

fn one_pattern(value: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    Ok(Pattern {
        text: field(value, "text")?,
        ignore_case: field(value, "ignore_case")?,
        smart_case: field(value, "smart_case")?,
        literal: field(value, "literal")?,
        word: field(value, "word")?,
        whole_line: field(value, "whole_line")?,
        multi_line: field(value, "multi_line")?,
    })
}

fn files(value: &Bound<'_, PyAny>) -> PyResult<Files> {
    let places = value.getattr("places")?;
    Ok(Files {
        hidden: field(value, "hidden")?,
        ignore: word(
            value,
            "ignore",
            &[("git", IgnoreFlavour::Git), ("none", IgnoreFlavour::None)],
        )?,
        places: GitPlaces {
            home: field(&places, "home")?,
            config_home: field(&places, "config_home")?,
            global_config: field(&places, "global_config")?,
            system_config: field(&places, "system_config")?,
        },
        globs: field(value, "globs")?,
        glob_base: field(value, "glob_base")?,
        types: field(value, "types")?,
        types_not: field(value, "types_not")?,
        kinds: kinds(value)?,
        depth: field(value, "depth")?,
    })
}

fn kinds(value: &Bound<'_, PyAny>) -> PyResult<Vec<Kind>> {
    let words: Vec<String> = field(value, "kinds")?;
    let known = |word: &String| match word.as_str() {
        "file" => Ok(Kind::File),
        "folder" => Ok(Kind::Folder),
        "link" => Ok(Kind::Link),
        "other" => Ok(Kind::Other),
        _ => Err(PyValueError::new_err(format!(
            "kinds: {word:?} is none of file, folder, link, other"
        ))),
    };
    words.iter().map(known).collect()
}

fn want(value: &Bound<'_, PyAny>) -> PyResult<Want> {
    Ok(Want {
        kind: word(
            value,
            "kind",
            &[("files", WantKind::Files), ("counts", WantKind::Counts), ("lines", WantKind::Lines)],
        )?,
        before: field(value, "before")?,
        after: field(value, "after")?,
        spans: field(value, "spans")?,
        unreadable: field(value, "unreadable")?,
    })
}

fn reading(value: &Bound<'_, PyAny>) -> PyResult<Reading> {
    Ok(Reading {
        binary: word(
            value,
            "binary",
            &[("nul", BinaryFlavour::Nul), ("none", BinaryFlavour::None)],
        )?,
        max_size: field(value, "max_size")?,
        line_bytes: field(value, "line_bytes")?,
    })
}

fn page(value: &Bound<'_, PyAny>) -> PyResult<Page> {
    Ok(Page {
        unit: word(value, "unit", &[("files", Unit::Files), ("lines", Unit::Lines)])?,
        offset: field(value, "offset")?,
        limit: field(value, "limit")?,
        per_file: field(value, "per_file")?,
    })
}

/// A class of `evergrep.query`, looked up once.
fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, "evergrep.query", name)
}

macro_rules! class {
    ($py:expr, $name:literal) => {{
        static CELL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        class($py, &CELL, $name)
    }};
}

/// The error that a query ends with.
pub fn query_error(py: Python<'_>, kind: &str, text: &str) -> PyErr {
    match class!(py, "QueryError").and_then(|class| class.call1((kind, text))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// From this many values on the collector is held while they are made: it would look through
/// all of them again and again, and find nothing to collect.
const MANY: usize = 2000;

/// Holds Python's garbage collector, if it was on.
struct Collector<'py>(Option<Bound<'py, PyModule>>);

impl<'py> Collector<'py> {
    fn held(py: Python<'py>, answer: &Answer) -> PyResult<Collector<'py>> {
        let values =
            answer.hits.len() + answer.hits.iter().map(|hit| hit.lines.len()).sum::<usize>();
        if values < MANY {
            return Ok(Collector(None));
        }
        let gc = py.import("gc")?;
        if !gc.call_method0("isenabled")?.is_truthy()? {
            return Ok(Collector(None));
        }
        gc.call_method0("disable")?;
        Ok(Collector(Some(gc)))
    }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        if let Some(gc) = &self.0 {
            let _ = gc.call_method0("enable");
        }
    }
}

pub fn answer(py: Python<'_>, answer: Answer) -> PyResult<Bound<'_, PyAny>> {
    let _held = Collector::held(py, &answer)?;
    let hit_class = class!(py, "Hit")?;
    let hits = tuple(py, answer.hits, |each| hit(py, hit_class, each))?;
    let state_class = class!(py, "RootState")?;
    let roots = tuple(py, answer.roots, |each: RootState| {
        let found = match each.found {
            Found::File => "file",
            Found::Folder => "folder",
            Found::Missing => "missing",
            Found::Unreadable => "unreadable",
            Found::Other => "other",
        };
        state_class.call1((PyBytes::new(py, &each.path), found, each.error))
    })?;
    let skipped_class = class!(py, "Skipped")?;
    let skipped = tuple(py, answer.skipped, |each: Skipped| {
        skipped_class.call1((PyBytes::new(py, &each.path), reason(each.reason), each.error))
    })?;
    let stopped = match answer.stopped {
        None => None,
        Some(Stopped { kind, lost }) => {
            let kind = match kind {
                StoppedKind::Deadline => "deadline",
                StoppedKind::Lost => "lost",
            };
            Some(class!(py, "Stopped")?.call1((kind, PyTuple::new(py, lost)?))?)
        }
    };
    let seen = seen(py, answer.seen)?;
    class!(py, "Answer")?.call1((hits, answer.more, roots, skipped, stopped, seen))
}

fn tuple<'py, T>(
    py: Python<'py>,
    items: Vec<T>,
    convert: impl Fn(T) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let items: Vec<_> = items.into_iter().map(convert).collect::<PyResult<_>>()?;
    PyTuple::new(py, items)
}

fn hit<'py>(py: Python<'py>, class: &Bound<'py, PyType>, hit: Hit) -> PyResult<Bound<'py, PyAny>> {
    let kind = kind(hit.kind);
    let lines = if hit.lines.is_empty() {
        PyTuple::empty(py)
    } else {
        let line_class = class!(py, "Line")?;
        tuple(py, hit.lines, |each| line(py, line_class, each))?
    };
    class.call1((
        PyBytes::new(py, &hit.path),
        kind,
        hit.time.map(nanoseconds),
        hit.count,
        lines,
        hit.binary,
    ))
}

fn line<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyType>,
    line: Line,
) -> PyResult<Bound<'py, PyAny>> {
    let spans =
        if line.spans.is_empty() { PyTuple::empty(py) } else { PyTuple::new(py, line.spans)? };
    class.call1((line.number, PyBytes::new(py, &line.bytes), line.is_match, line.length, spans))
}

fn seen(py: Python<'_>, seen: Seen) -> PyResult<Bound<'_, PyAny>> {
    let skipped: Vec<_> =
        seen.skipped.into_iter().map(|(each, count)| (reason(each), count)).collect();
    class!(py, "Seen")?.call1((
        seen.mode,
        seen.folders,
        seen.files,
        seen.searched,
        seen.bytes,
        PyTuple::new(py, skipped)?,
        seen.seconds,
    ))
}

pub fn stat(py: Python<'_>, stat: Stat) -> PyResult<Bound<'_, PyAny>> {
    let time = nanoseconds(stat.time);
    class!(py, "Stat")?.call1((stat.kind.map(kind), stat.size, time, stat.error))
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Folder => "folder",
        Kind::Link => "link",
        Kind::Other => "other",
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Unreadable => "unreadable",
        Reason::Binary => "binary",
        Reason::TooLarge => "too large",
        Reason::LongLine => "long line",
        Reason::Changing => "changing",
        Reason::Special => "special",
        Reason::RuleFile => "rule file",
    }
}

fn nanoseconds(time: Time) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}
