"""Who may import whom in the package; dialects and the environment among it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import pytest
from house.sources import PACKAGE, Sources, python_sources

import evergrep

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
