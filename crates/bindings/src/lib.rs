//! The native module `evergrep._engine`; `src/evergrep/_engine.pyi` is its contract.

mod arguments;
mod convert;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pyo3::prelude::*;

/// A flag that ends a running query within 10 ms; safe to set from any thread.
#[pyclass(frozen, module = "evergrep._engine")]
#[derive(Default)]
struct Cancel(Arc<engine::Cancel>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// End every query that was given this flag, now and later.
    fn set(&self) {
        self.0.set();
    }

    /// Whether it was set.
    fn is_set(&self) -> bool {
        self.0.is_set()
    }
}

/// Answer a Query within a Scope.
#[pyfunction]
#[pyo3(signature = (query, scope, cancel=None))]
fn search<'py>(
    query: &Bound<'py, PyAny>,
    scope: &Bound<'py, PyAny>,
    cancel: Option<&Bound<'py, Cancel>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = query.py();
    let question = convert::query(query)?;
    let bounds = convert::scope(scope)?;
    let flag = cancel.map(|cancel| cancel.get().0.clone());
    // Ctrl-C must end a search: signals are looked at by the main thread, now and then.
    let raised = std::sync::Mutex::new(None);
    let interrupt = || {
        // Where the interpreter is going down no one waits for the answer.
        Python::try_attach(|py| match py.check_signals() {
            Ok(()) => false,
            Err(error) => {
                if let Ok(mut raised) = raised.lock() {
                    *raised = Some(error);
                }
                true
            }
        })
        .unwrap_or(true)
    };
    // Python runs signal handlers on the main thread only; the others need not ask.
    let main = on_main_thread(py)?;
    let answered = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| {
            let interrupt: engine::halt::Interrupt<'_> = &interrupt;
            engine::search(&question, &bounds, flag.as_deref(), main.then_some(interrupt))
        }))
    });
    if let Ok(Some(error)) = raised.into_inner() {
        return Err(error);
    }
    match answered {
        Ok(Ok(answer)) => convert::answer(py, answer),
        Ok(Err(error)) => Err(convert::query_error(py, error.kind(), &error.to_string())),
        Err(panic) => Err(fault(py, &*panic)),
    }
}

/// What the system says of a path; outside the scope it is not there.
#[pyfunction]
fn stat<'py>(path: Vec<u8>, scope: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = scope.py();
    let bounds = convert::scope(scope)?;
    match py.detach(|| catch_unwind(AssertUnwindSafe(|| engine::stat(&path, &bounds)))) {
        Ok(Ok(stat)) => convert::stat(py, stat),
        Ok(Err(error)) => Err(convert::query_error(py, error.kind(), &error.to_string())),
        Err(panic) => Err(fault(py, &*panic)),
    }
}

fn on_main_thread(py: Python<'_>) -> PyResult<bool> {
    if !cfg!(target_os = "linux") {
        return Ok(true);
    }
    let thread: u64 = py.import("_thread")?.call_method0("get_native_id")?.extract()?;
    Ok(thread == u64::from(std::process::id()))
}

/// A panic is an error of its call.
fn fault(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    convert::query_error(py, "fault", &format!("a fault in the engine: {text}"))
}

/// The native module.
#[pymodule(gil_used = true)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Cancel>()?;
    module.add_function(wrap_pyfunction!(search, module)?)?;
    module.add_function(wrap_pyfunction!(stat, module)?)?;
    module.add_function(wrap_pyfunction!(arguments::read_arguments, module)?)?;
    Ok(())
}
