"""Query and Answer alike on both sides, and the native module as its stub tells it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable

import pytest
from house.sources import ENGINE, PACKAGE, without_comments

from evergrep import _engine

SHARED = [
    "Root", "GitPlaces", "Files", "Pattern", "Want", "Reading", "Page", "Query",
    "Line", "Hit", "RootState", "Skipped", "Stopped", "Seen", "Answer", "Stat",
]  # fmt: skip


def rust_fields(text: str) -> dict[str, list[str]]:
    """The public fields of every public struct, in order."""
    structs = {}
    for name, body in re.findall(
        r"\bpub struct (\w+)(?:<[^>]*>)?\s*\{(.*?)\n\}", without_comments(text), re.S
    ):
        structs[name] = re.findall(r"^\s*pub (?:r#)?(\w+)\s*:", body, re.M)
    return structs


def python_fields(text: str) -> dict[str, list[str]]:
    """The annotated fields of every class, in order."""
    return {
        node.name: [
            each.target.id
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        ]
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
    }


def vocabulary_complaints(python: str, rust: str, names: Iterable[str]) -> list[str]:
    """Types whose fields are not the same, in the same order, on both sides."""
    ours, theirs = python_fields(python), rust_fields(rust)
    return [
        f"{name}: {ours.get(name)} in Python, {theirs.get(name)} in Rust"
        for name in names
        if not ours.get(name) or ours.get(name) != theirs.get(name)
    ]


def test_queries_and_answers_have_the_same_fields_in_both_languages() -> None:
    """Two short definitions instead of one hidden one (house plan, 13), held together here."""
    python = (PACKAGE / "query.py").read_text()
    rust = (ENGINE / "query.rs").read_text()
    assert vocabulary_complaints(python, rust, SHARED) == []
    assert set(SHARED) == {name for name, fields in python_fields(python).items() if fields}


@pytest.mark.parametrize(
    "rust",
    [
        "pub struct Root {\n    pub path: Vec<u8>,\n    pub glob: String,\n}",
        "pub struct Root {\n    pub paths: Vec<u8>,\n}",
        "pub struct Other {\n    pub path: Vec<u8>,\n}",
        "pub struct Root {\n    // pub path: Vec<u8>,\n}",
    ],
)
def test_a_field_that_differs_is_caught(rust: str) -> None:
    """One too many, another name, another struct, one too few."""
    python = "class Root:\n    path: bytes\n"
    assert (
        vocabulary_complaints(python, "pub struct Root {\n    pub path: Vec<u8>,\n}", ["Root"])
        == []
    )
    assert len(vocabulary_complaints(python, rust, ["Root"])) == 1


def described(functions: Iterable[ast.stmt]) -> dict[str, list[str]]:
    """Name to parameters, of the functions in a stub's body."""
    return {
        node.name: [
            *(each.arg for each in (*node.args.posonlyargs, *node.args.args)),
            *(f"*{each.arg}" for each in node.args.kwonlyargs),
        ]
        for node in functions
        if isinstance(node, ast.FunctionDef)
    }


def parameters(function: object) -> list[str]:
    """The same, of a function that is there."""
    if getattr(function, "__text_signature__", None) is None:
        return ["no signature"]
    return [
        ("*" if each.kind is each.KEYWORD_ONLY else "") + each.name
        for each in inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    ]


def stub_complaints(stub: str, module: object) -> list[str]:
    """Names, parameters and descriptions in which a stub and a module differ."""
    body = ast.parse(stub).body
    complaints = []
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    values = {node.target.id for node in body if isinstance(node, ast.AnnAssign)}  # type: ignore[union-attr]
    functions = described(body)
    wanted = {*classes, *functions, *values}
    there = {name for name in vars(module) if not name.startswith("_") or name in wanted}
    complaints += [f"only in the stub: {name}" for name in sorted(wanted - there)]
    complaints += [f"only in the module: {name}" for name in sorted(there - wanted)]
    for name in sorted(functions.keys() & there):
        made = getattr(module, name)
        if functions[name] != parameters(made):
            complaints.append(f"{name}: {functions[name]} in the stub, {parameters(made)} built")
        if not made.__doc__:
            complaints.append(f"{name}: no description")
    for name in sorted(classes.keys() & there):
        made = getattr(module, name)
        methods = described(classes[name].body)
        public = {each for each in vars(made) if not each.startswith("_")}
        complaints += [
            f"{name}.{each}: only on one side"
            for each in sorted(public ^ {each for each in methods if not each.startswith("_")})
        ]
        for method in sorted(public & methods.keys()):
            if methods[method] != parameters(getattr(made, method)):
                complaints.append(f"{name}.{method}: parameters differ")
            if not getattr(made, method).__doc__:
                complaints.append(f"{name}.{method}: no description")
        if not made.__doc__:
            complaints.append(f"{name}: no description")
    return complaints


def test_the_stub_tells_what_the_native_module_holds() -> None:
    """Types are checked against the stub, so a stub that lies checks nothing."""
    assert stub_complaints((PACKAGE / "_engine.pyi").read_text(), _engine) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def stat(path: bytes,", "def stat(name: bytes,"),
        ("def stat(", "def status("),
        ("def is_set(self)", "def was_set(self)"),
        ("def set(self)", "def set(self, now: bool)"),
        ("__version__: str", "__version__: str\nmore: int"),
        ("class Cancel:", "class Stop:"),
    ],
)
def test_a_stub_that_differs_is_caught(old: str, new: str) -> None:
    """A renamed parameter, function, method or class, and a name too many."""
    stub = (PACKAGE / "_engine.pyi").read_text()
    assert old in stub
    assert stub_complaints(stub.replace(old, new), _engine)
