"""Finds dialects: the sub-folders here, then the entry points of other packages.

A dialect is a package with `UPSTREAM`, `Settings` and `tools(settings)`; nothing lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
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
    module = f"{__name__}.{name}"
    if name.isidentifier():
        try:
            return cast(Dialect, import_module(module))
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
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
    # Imported here, like the next: only a list of names needs them.
    from pkgutil import iter_modules

    return [each.name for each in iter_modules(__path__) if each.ispkg]


def _installed() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}
