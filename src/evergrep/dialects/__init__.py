"""Finds dialects: the sub-folders here, then the entry points of other packages.

A dialect is a package with `UPSTREAM`, `Settings` and `tools(settings)`; nothing lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from typing import Any, Protocol, cast

from evergrep.tools import Tool, make_settings

GROUP = "evergrep.dialects"


class Dialect(Protocol):
    """What a dialect's package must have."""

    UPSTREAM: str
    Settings: type[Any]

    def tools(self, settings: Any) -> Sequence[Tool]: ...


def names() -> list[str]:
    """The names of all dialects there are, in order."""
    return sorted({*_own(), *_installed()})


def find(name: str) -> Dialect:
    """The dialect of that name; the error for an unknown one lists those there are."""
    if name in _own():
        return cast(Dialect, import_module(f"{__name__}.{name}"))
    point = _installed().get(name)
    if point is None:
        raise LookupError(f"no dialect is called {name!r}; there are: {', '.join(names())}")
    return cast(Dialect, point.load())


def tools(name: str, settings: Mapping[str, Any]) -> dict[str, Tool]:
    """A dialect's tools by their bare names; one set of them shares one session."""
    dialect = find(name)
    made = dialect.tools(make_settings(dialect.Settings, settings, name))
    return {tool.name: tool for tool in made}


def tool(full_name: str, settings: Mapping[str, Any]) -> Tool:
    """The tool of that full name, such as `codex.grep_files`."""
    dialect, _, name = full_name.partition(".")
    found = tools(dialect, settings)
    if name not in found:
        raise LookupError(f"{dialect} has no tool {name!r}; it has: {', '.join(sorted(found))}")
    return found[name]


def _own() -> list[str]:
    return [each.name for each in files(__name__).iterdir() if each.joinpath("__init__.py").is_file()]


def _installed() -> dict[str, Any]:
    # Imported here: it costs more than the rest of a command line's start, and few have one.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}
