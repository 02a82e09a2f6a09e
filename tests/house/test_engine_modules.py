"""Who may use whom in the engine; who opens; and that no agent is named there."""

from __future__ import annotations

import re

import pytest
from house.sources import CRATES, Sources, rust_sources, without_comments

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
