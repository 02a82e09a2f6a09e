"""The rules of the house: ARCHITECTURE.md states them, this file holds them.

Each rule is a function that returns complaints about texts it is handed; one test runs it on the
house, another on a small text that breaks it, since a check that never failed proves nothing.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

import evergrep
from evergrep import _engine

HOME = Path(__file__).parent.parent
PACKAGE = HOME / "src" / "evergrep"
CRATES = HOME / "crates"
ENGINE = CRATES / "engine" / "src"

Sources = Mapping[str, str]


def python_sources() -> dict[str, str]:
    """Module name to text, for every module of the package."""
    return {
        ".".join(["evergrep", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): path.read_text()
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def rust_sources() -> dict[str, str]:
    """Path below the engine's `src` to text."""
    return {
        str(path.relative_to(ENGINE)): path.read_text() for path in sorted(ENGINE.rglob("*.rs"))
    }


# --- who may import whom: Python ------------------------------------------------------------

DOORS = {"cli", "mcp", "library", "frameworks"}
BELOW_DOORS = {"dialects", "tools", "workspace", "ripgrep", "cluster", "scope", "query"}
ROOMS: dict[str, set[str]] = {
    **dict.fromkeys(DOORS, BELOW_DOORS),
    "__main__": {"cli"},
    "__init__": {"_engine", "library", *BELOW_DOORS},
    "dialects": {"tools"},
    "cluster": {"workspace", "query", "scope", "_engine"},
    "workspace": {"query", "scope", "_engine"},
    "ripgrep": {"query", "scope", "_engine"},
    # The cancel flag, and the reader of arguments that reads as serde_json does.
    "tools": {"query", "_engine"},
    "query": set(),
    "scope": set(),
}
"""What each room may import of the package; a room may also import itself."""

DIALECT = {"query", "tools"}
CLOSED_TO_DIALECTS = {"os", "io", "pathlib", "subprocess", "tempfile", "socket", "shutil", "glob"}

LATE = {("cli", "mcp")}
"""Imports that are allowed inside a function only: the verb `evergrep mcp`, when it runs."""

NAMES_OF_THE_PACKAGE = {"__version__"}
"""What a door may take from `evergrep` itself."""


def room(module: str) -> str:
    """The room of a module; each dialect's folder is a room of its own."""
    parts = module.split(".")[1:]
    if not parts:
        return "__init__"
    return ".".join(parts[:2]) if parts[0] == "dialects" else parts[0]


def imports(module: str, text: str, modules: Iterable[str]) -> Iterator[tuple[str, bool, int]]:
    """Every module that a text imports, whether late (in a function), and the line."""
    known = set(modules)
    package = module if module in {each.rpartition(".")[0] for each in known} else ""
    base = (package or module.rpartition(".")[0]).split(".")
    tree = ast.parse(text)
    late = {
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name, node in late, node.lineno
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                above = base[: len(base) - node.level + 1]
                source = ".".join([*above, *([source] if source else [])])
            for each in node.names:
                whole = f"{source}.{each.name}"
                yield (
                    (whole if source == "evergrep" or whole in known else source),
                    (node in late),
                    node.lineno,
                )


def import_complaints(sources: Sources) -> list[str]:
    """Imports that go upward, sideways, or out of a dialect to the system."""
    complaints = []
    modules = {*sources, "evergrep._engine"}
    for module, text in sources.items():
        here = room(module)
        dialect = here.startswith("dialects.")
        allowed = DIALECT if dialect else ROOMS.get(here)
        if allowed is None:
            complaints.append(f"{module}: no rule for the room {here!r}")
            continue
        for target, late, line in imports(module, text, modules):
            where = f"{module}:{line}: {here} may not import"
            if not (target + ".").startswith("evergrep."):
                if dialect and target.partition(".")[0] in CLOSED_TO_DIALECTS:
                    complaints.append(f"{where} {target}")
                continue
            there = room(target) if target in modules else "__init__"
            name = target.removeprefix("evergrep.")
            if there == here or there in allowed or (late and (here, there) in LATE):
                continue
            if there == "__init__" and here in DOORS and name in NAMES_OF_THE_PACKAGE:
                continue
            complaints.append(f"{where} {target}")
        if dialect:
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            complaints += [
                f"{module}:{call.lineno}: a dialect opens no file"
                for call in calls
                if isinstance(call.func, ast.Name) and call.func.id in ("open", "__import__")
            ]
    return complaints


def test_python_rooms_import_only_rooms_below_them() -> None:
    """A call goes down through the rooms and never up (ARCHITECTURE.md)."""
    assert import_complaints(python_sources()) == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("evergrep.query", "import evergrep.tools"),
        ("evergrep.scope", "from evergrep import query"),
        ("evergrep.tools", "from evergrep.workspace import Workspace"),
        ("evergrep.workspace", "def late():\n    from evergrep import tools"),
        ("evergrep.library", "from evergrep.cli import main"),
        ("evergrep.cli", "from evergrep import mcp"),
        ("evergrep.mcp", "def late():\n    import evergrep.cli"),
        ("evergrep.mcp", "from evergrep import Workspace"),
        ("evergrep.cli.grep", "from evergrep import _engine"),
        ("evergrep.dialects.one.tool", "from evergrep.dialects import two"),
        ("evergrep.dialects.one.tool", "from ..two import words"),
        ("evergrep.dialects.one.tool", "from evergrep.workspace import Workspace"),
        ("evergrep.dialects.one.tool", "import evergrep._engine"),
        ("evergrep.dialects.one.tool", "import evergrep"),
        ("evergrep.dialects.one", "import os.path"),
        ("evergrep.dialects.one", "def late():\n    from pathlib import Path"),
        ("evergrep.dialects.one", "text = open('file')"),
        ("evergrep.helpers", "import sys"),
    ],
)
def test_an_import_out_of_bounds_is_caught(module: str, text: str) -> None:
    """Each is one of the ways to break the rule above."""
    others = [*python_sources(), "evergrep.dialects.one", "evergrep.dialects.two"]
    sources = dict.fromkeys(others, "") | {module: text}
    assert len(import_complaints(sources)) == 1


def environment_complaints(sources: Sources) -> list[str]:
    """Readings of the process's environment outside a door."""
    return [
        f"{module}: {found[0]}"
        for module, text in sources.items()
        if room(module) not in DOORS
        and (
            found := re.search(r"\bos\.(?:environb?|getenvb?)\b|\bimport (?:environ|getenv)", text)
        )
    ]


def test_the_environment_is_read_at_the_doors_only() -> None:
    """What decides an answer is handed down with the call (ARCHITECTURE.md, law 10)."""
    assert environment_complaints(python_sources()) == []
    assert len(environment_complaints({"evergrep.tools": "a = os.environ['HOME']"})) == 1
    assert len(environment_complaints({"evergrep.dialects": "from os import getenv"})) == 1


def names_only_complaints(text: str) -> list[str]:
    """Statements of a package file that are more than a list of names."""
    body = ast.parse(text).body
    allowed = (ast.ImportFrom, ast.Import)
    return [
        f"line {node.lineno}: {type(node).__name__}"
        for node in body
        if not isinstance(node, allowed)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    ]


def test_the_package_file_lists_names_and_nothing_else() -> None:
    """Whoever reads it learns what is public, and importing it does no work."""
    assert names_only_complaints((PACKAGE / "__init__.py").read_text()) == []


def test_work_in_the_package_file_is_caught() -> None:
    """A constant or a function would be the beginning of a room without walls."""
    assert names_only_complaints("A = 1\ndef f(): ...") == ["line 1: Assign", "line 2: FunctionDef"]


def test_the_public_names_are_these() -> None:
    """A name that people import is a promise; adding one is a decision."""
    expected = [
        "Answer", "Call", "Cancel", "Files", "GitPlaces", "Hit", "Line", "Page", "Pattern", "Query",
        "QueryError", "Reading", "Reply", "Root", "Searcher", "Tool", "ToolError", "Want",
        "Workspace", "__version__", "tool",
    ]  # fmt: skip
    assert expected == sorted(evergrep.__all__)
    assert [name for name in expected if not hasattr(evergrep, name)] == []


# --- who may use whom: Rust -----------------------------------------------------------------

MODULES: dict[str, set[str]] = {
    "error": set(),
    "query": set(),
    "halt": set(),
    "scope": {"error", "globs", "query"},
    "types": {"error", "query"},
    "pattern": {"error", "query"},
    "page": {"error", "query"},
    "globs": {"error", "query"},
    "ignore": {"globs", "halt", "query", "scope"},
    "filter": {"globs", "ignore", "query", "scope", "types"},
    "walk": {"filter", "halt", "ignore", "query", "scope"},
    "read": {"halt", "query", "scope"},
    "stoppable": {"halt"},
    "lines": {"halt", "query", "read", "stoppable"},
    "seek": {"halt", "lines", "page", "query", "read", "scope", "stoppable"},
    "order": {"error", "lines", "query", "walk"},
    "gathered": {"order", "query"},
    "hunt": {"gathered", "halt", "lines", "order", "query", "scope", "seek", "walk"},
    "late": {"gathered", "halt", "hunt", "order", "page", "query", "scope", "walk"},
}
"""What each module of the engine may use; `search` and `lib` may use all of them."""

RECIPE = {"search", "lib"}
NOTHING = {f"{name}.rs": "" for name in {*MODULES, *RECIPE} - {"scope"}} | {"scope/mod.rs": ""}
"""An engine of the same modules, all of them empty."""


def rust_module(path: str) -> str:
    return path.removesuffix(".rs").split("/")[0]


def without_comments(text: str) -> str:
    """Rust without its comments, its strings and what is only compiled for tests."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'b?"(?:[^"\\]|\\.)*"', '""', text)
    return re.split(r"#\[cfg\(test\)\]\s*mod ", text)[0]


def used(path: str, text: str) -> set[str]:
    """The modules of its crate that a Rust text names, however it names them."""
    text = without_comments(text)
    depth = path.removesuffix("/mod.rs").count("/")
    names = set(re.findall(r"\bcrate\s*::\s*(?:r#)?(\w+)", text))
    if depth == 0 or path.endswith("/mod.rs"):
        names |= set(re.findall(r"\bsuper\s*::\s*(\w+)", text))
    else:
        names |= set(re.findall(r"\bsuper\s*::\s*super\s*::\s*(\w+)", text))
    for group in re.findall(r"\bcrate\s*::\s*\{([^;]*)\}\s*;", text):
        while "{" in group:
            group = re.sub(r"\{[^{}]*\}", "", group)
        names |= {each.split("::")[0].strip() for each in group.split(",") if each.strip()}
    return names


def rust_complaints(sources: Sources) -> list[str]:
    """Uses that go upward, modules without a rule, and names of what an engine may not know."""
    complaints = []
    known = {rust_module(path) for path in sources}
    for path, text in sources.items():
        here = rust_module(path)
        if here in RECIPE:
            continue
        if here not in MODULES:
            complaints.append(f"{path}: no rule for the module {here!r}")
            continue
        over = (used(path, text) & known) - MODULES[here] - {here}
        complaints += [f"{path}: {here} may not use {each}" for each in sorted(over)]
    complaints += [
        f"{path}: the engine knows no Python"
        for path, text in sources.items()
        if re.search(r"\bpyo3\b|\bevergrep_bindings\b", without_comments(text))
    ]
    return complaints


def test_rust_modules_use_only_modules_below_them() -> None:
    """The same law inside the engine; only the recipe may use everything."""
    assert rust_complaints(rust_sources()) == []


def test_the_rules_for_rust_modules_let_nothing_go_in_a_circle() -> None:
    """Then the modules have an order in which they can be read."""
    left = dict(MODULES)
    while free := [name for name, below in left.items() if not below & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("query.rs", "use crate::search::search;"),
        ("scope/linux.rs", "use crate::{query::Kind, walk};"),
        ("scope/linux.rs", "use super::super::walk::Spot;"),
        ("pattern.rs", "fn f() { crate::lines::seek() }"),
        ("page.rs", "use super::order::Candidate;"),
        ("read.rs", "use crate::{halt::{Halt, Cancel}, lines};"),
        ("extra.rs", "use std::io;"),
        ("walk.rs", "use pyo3::prelude::*;"),
    ],
)
def test_a_use_out_of_bounds_is_caught(path: str, text: str) -> None:
    """Each is one of the ways to break the rule above."""
    assert len(rust_complaints({**NOTHING, path: text})) == 1


def test_a_use_that_is_only_spoken_of_is_no_complaint() -> None:
    """Comments and the module's own tests may name what they like."""
    text = '// crate::search\n/// [`crate::walk`]\nlet a = "crate::walk";\n'
    text += "#[cfg(test)]\nmod tests { use crate::walk; }"
    assert rust_complaints({**NOTHING, "query.rs": text}) == []


OPENING = re.compile(r"\bstd::fs\b|\bFile::open\b|\brustix::fs\b|\bopenat2?\b|\blibc::")
MAPPING = re.compile(r"\bmemmap\w*|\bMmap\b|\bmmap\b|\bmemory_map\b")


def opening_complaints(sources: Sources) -> list[str]:
    """Modules beside `scope` that could open something, and any that could map it."""
    return [
        f"{path}: {found[0]}"
        for path, text in sources.items()
        for rule in (MAPPING, *([] if rust_module(path) == "scope" else [OPENING]))
        if (found := rule.search(without_comments(text)))
    ]


def test_only_scope_can_open_and_nothing_is_mapped() -> None:
    """One way to open (clippy knows the standard library's only), and no page that can vanish."""
    assert opening_complaints(rust_sources()) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("walk.rs", "use std::fs;"),
        ("read.rs", "use rustix::fs::openat;"),
        ("lines.rs", "fn f() { std::fs::File::open(path) }"),
        ("scope/linux.rs", "use memmap2::Mmap;"),
        ("lines.rs", "builder.memory_map(choice);"),
    ],
)
def test_an_opening_or_a_mapping_is_caught(path: str, text: str) -> None:
    """Each is a way around `scope`, or around its promise."""
    assert len(opening_complaints({path: text})) == 1


def test_the_map_shows_every_module() -> None:
    """A file that ARCHITECTURE.md does not know is found by nobody."""
    shown = (HOME / "ARCHITECTURE.md").read_text()
    files = {path.partition("/")[0] + "/" * ("/" in path) for path in rust_sources()}
    files |= {
        path.name + "/" * path.is_dir()
        for path in PACKAGE.iterdir()
        if not path.name.startswith("__") and path.suffix not in (".so", ".typed", ".pyd")
    }
    assert sorted(name for name in files if f"  {name}" not in shown) == []


# --- no agent's name in the engine ----------------------------------------------------------

AGENTS = [
    "codex", "claude", "boris", "gemini", "copilot", "opencode", "windsurf", "anthropic", "openai",
    "oh-my-pi", "oh_my_pi", "omp", "cursor", "cline", "aider",
]  # fmt: skip


def agent_complaints(sources: Sources) -> list[str]:
    """Where an agent's name stands as a word, in any case, in a path or a line."""
    name = re.compile(rf"(?<![a-z])(?:{'|'.join(AGENTS)})(?![a-z])", re.I)
    spoken = re.compile(r"(?<=[a-z])(?:Codex|Claude|Boris|Gemini|Omp|Cursor|Cline)(?![a-z])")
    return [
        f"{path}:{number}: {found[0]}"
        for path, text in sources.items()
        for number, line in enumerate([path, *text.splitlines()])
        # A reader over bytes in memory has that name in Rust's own library.
        if (
            found := name.search(each := re.sub(r"\bio::Cursor\b", "", line)) or spoken.search(each)
        )
    ]


def test_no_agent_is_named_in_the_crates() -> None:
    """The engine answers queries and knows nobody who asks (ARCHITECTURE.md, law 10)."""
    sources = {
        str(path.relative_to(CRATES)): path.read_text(errors="replace")
        for path in sorted(CRATES.rglob("*"))
        if path.is_file() and "target" not in path.parts
    }
    assert sources
    assert agent_complaints(sources) == []


@pytest.mark.parametrize(
    "line",
    ["// as Codex has it", "fn codex_order()", "enum A { ForClaude }", "OMP", "let omp_tags = 1;"],
)
def test_an_agent_named_in_the_engine_is_caught(line: str) -> None:
    """In a comment, a function, a type or a constant."""
    assert len(agent_complaints({"order.rs": line})) == 1


def test_words_that_hold_an_agents_name_are_no_complaint() -> None:
    """`compile` and `std::io::Cursor` are innocent."""
    assert agent_complaints({"a.rs": "fn compile() { std::io::Cursor::new(component) }"}) == []


# --- size -----------------------------------------------------------------------------------

BUDGET = 500
OVER_BUDGET: dict[str, str] = {}
"""Files that may be longer, each with its reason."""


def size_complaints(lengths: Mapping[str, int], over: Mapping[str, str]) -> list[str]:
    """Files over the budget that nobody has named, and names that need no exception."""
    long = {path for path, length in lengths.items() if length > BUDGET}
    return [f"{path}: {lengths[path]} lines" for path in sorted(long - over.keys())] + [
        f"{path}: is within the budget and needs no exception"
        for path in sorted(over.keys() - long)
    ]


def test_no_file_is_over_its_budget() -> None:
    """A file holds one idea; a long one holds two."""
    files = [*PACKAGE.rglob("*.py"), *CRATES.rglob("src/**/*.rs"), *HOME.glob("scripts/*.py")]
    lengths = {
        str(path.relative_to(HOME)): len(path.read_text().splitlines()) for path in sorted(files)
    }
    assert size_complaints(lengths, OVER_BUDGET) == []


def test_a_long_file_and_a_stale_exception_are_caught() -> None:
    """An exception outlives its reason unless it is looked for."""
    found = size_complaints({"a.py": 501, "b.py": 10, "c.py": 999}, {"b.py": "why", "c.py": "why"})
    assert found == ["a.py: 501 lines", "b.py: is within the budget and needs no exception"]


# --- the vocabulary on both sides -----------------------------------------------------------

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


# --- the stub of the native module ----------------------------------------------------------


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


# --- importing does nothing -----------------------------------------------------------------

WATCHED_IMPORT = """
    import json, os, sys, threading

    seen = []
    quiet = False

    class Told(dict):
        pass

    def telling(name):
        def tell(self, *arguments):
            seen.append(" ".join(["environment", *map(str, arguments[:1])]))
            return getattr(dict, name)(self, *arguments)
        return tell

    for name in ("__getitem__", "get", "__contains__", "__iter__", "keys", "items", "copy"):
        setattr(Told, name, telling(name))

    def hook(event, arguments):
        if quiet:
            return
        if event == "open":
            path, mode, flags = arguments
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                seen.append(f"write {path}")
        elif event.split(".")[0] in ("socket", "subprocess", "shutil", "tempfile", "ctypes"):
            seen.append(event)
        elif event in ("os.exec", "os.fork", "os.posix_spawn", "os.system", "os.mkdir", "os.remove",
                       "os.rename", "os.putenv", "_thread.start_new_thread"):
            seen.append(event)

    import importlib.machinery
    os.environ = Told(os.environ)
    threads = len(os.listdir("/proc/self/task"))
    sys.addaudithook(hook)
    STATEMENT
    quiet = True
    seen += [f"threads {len(os.listdir('/proc/self/task'))}"] * (
        len(os.listdir("/proc/self/task")) != threads
    )
    heavy = ("asyncio", "mcp", "argparse", "logging", "evergrep.cli", "evergrep.mcp", "socket")
    seen += [f"module {name}" for name in heavy if name in sys.modules]
    print(json.dumps(seen), file=sys.__stderr__)
"""


def import_effects(statement: str) -> tuple[str, list[str]]:
    """What a process prints, and does beside, while it runs a statement."""
    program = dedent(WATCHED_IMPORT).replace("STATEMENT", statement)
    done = subprocess.run(
        [sys.executable, "-B", "-s", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(done.stderr)


def test_importing_the_package_has_no_effect() -> None:
    """No output, no file, no environment, no thread, no network, nothing slow (house plan, 11)."""
    assert import_effects("import evergrep") == ("", [])


@pytest.mark.parametrize(
    ("statement", "effect"),
    [
        ("open('/dev/null', 'w').close()", "write /dev/null"),
        ("os.environ.get('HOME')", "environment HOME"),
        ("threading.Thread(target=threading.Event().wait, daemon=True).start()", "threads 2"),
        ("import asyncio", "module asyncio"),
        ("import argparse", "module argparse"),
        ("import socket; socket.socket()", "socket.__new__"),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
    ],
)
def test_an_effect_of_an_import_is_caught(statement: str, effect: str) -> None:
    """Each is something that the check above must see."""
    assert effect in import_effects(statement)[1]


def test_output_of_an_import_is_caught() -> None:
    """A word on standard output would break a protocol that is spoken there."""
    assert import_effects("print('word')")[0] == "word\n"


# --- one version, and nothing of one machine ------------------------------------------------


def version_complaints(cargo: str, changes: str, built: str) -> list[str]:
    """Places that tell another version than Cargo.toml, which is the one place."""
    version = tomllib.loads(cargo)["workspace"]["package"]["version"]
    heading = re.search(r"^## \[?v?(\d[^\]\s]*)", changes, re.M)
    newest = heading[1] if heading else "none"
    return [
        f"{where} says {said}, Cargo.toml {version}"
        for where, said in [("CHANGELOG.md", newest), ("the native module", built)]
        if said != version
    ]


def test_the_version_is_told_alike_everywhere() -> None:
    """It stands in Cargo.toml; a change log that lags behind is of no use to its readers."""
    cargo, changes = (HOME / "Cargo.toml").read_text(), (HOME / "CHANGELOG.md").read_text()
    assert version_complaints(cargo, changes, evergrep.__version__) == []


def test_a_version_that_differs_is_caught() -> None:
    """In the change log or in the module."""
    cargo = '[workspace.package]\nversion = "0.2.0"'
    assert version_complaints(cargo, "# Changes\n\n## 0.2.0\n\n## 0.1.0\n", "0.2.0") == []
    assert len(version_complaints(cargo, "## 0.1.0 - 2026-11-19\n## 0.2.0\n", "0.2.0")) == 1
    assert len(version_complaints(cargo, "## [0.2.0]\n", "0.1.0")) == 1


MACHINE = re.compile(
    r"(?<![\w.])/(?:work|home/[a-z]+|root|Users|tmp/w|opt/wheels)/"
    r"|https?://[^\s/\"')>]*(?:artifactory|nexus|mirror|proxy|internal|registry\.(?!npmjs))[^\s/]*"
    r"|https?://(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+"
    r"|\b(?:extra-)?index-url\b"
)
INDEX = "registry+https://github.com/rust-lang/crates.io-index"
MAY_HOLD_MACHINES = re.compile(r"^tests/(?:contract/.*\.jsonl|test_house\.py|safety/|doors/)")
"""Recorded trees and made-up paths in tests: data, not places."""


def machine_complaints(sources: Sources) -> list[str]:
    """Paths and hosts that exist on one machine only."""
    complaints = [
        f"{path}:{number}: {found[0]}"
        for path, text in sources.items()
        if not MAY_HOLD_MACHINES.match(path)
        for number, line in enumerate(text.splitlines(), 1)
        if INDEX not in line and (found := MACHINE.search(line))
    ]
    lock = sources.get("Cargo.lock", "")
    return complaints + [
        f"Cargo.lock: {source}"
        for source in sorted(set(re.findall(r'^source = "(.*)"', lock, re.M)) - {INDEX})
    ]


def tracked() -> dict[str, str]:
    """Every text file that is or would be committed."""
    listed = subprocess.run(
        # Whose folder it is does not matter to a listing.
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "-c", "-o", "--exclude-standard"],
        cwd=HOME,
        capture_output=True,
        check=True,
        timeout=60,
    )
    sources = {}
    for name in listed.stdout.decode().split("\0")[:-1]:
        path = HOME / name
        if path.is_file() and not path.is_symlink():
            body = path.read_bytes()
            if b"\0" not in body[:8000]:
                sources[name] = body.decode(errors="replace")
    return sources


def test_no_file_names_a_place_of_one_machine() -> None:
    """What is committed must build and run anywhere."""
    sources = tracked()
    assert "pyproject.toml" in sources
    assert machine_complaints(sources) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("Makefile", "RG = /work/main/target/rg"),
        ("a.toml", 'index-url = "https://pypi.org/simple"'),
        ("README.md", "see /home/someone/notes"),
        ("a.py", 'URL = "https://nexus.example.com/simple"'),
        ("a.py", 'URL = "http://10.0.0.7:8081/"'),
        ("Cargo.lock", 'source = "sparse+https://somewhere.example/index/"'),
    ],
)
def test_a_place_of_one_machine_is_caught(path: str, line: str) -> None:
    """A path, an index, a private host, a lock file made against another registry."""
    assert len(machine_complaints({path: line})) == 1
