"""Scope: which paths exist for a caller.

A value, not a judge: the engine opens every path by it (`crates/engine/src/scope`), and whatever
lies outside, or matches a denied pattern, answers exactly like a path that is not there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """What a Workspace may show."""

    root: bytes
    """The Workspace's own folder; denied patterns are relative to it and to each allowed one."""
    allow: tuple[bytes, ...] | None = None
    """The folders that everything must lie in; None reaches whatever the user may read."""
    deny: tuple[str, ...] = ()
    """Patterns, in the manner of .gitignore, of what no tool shows."""
