"""Workspace: a local tree that answers queries, through our own engine.

It holds a root and a Scope, and crosses the border once a query. Doors and tools are above it;
it knows neither.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from evergrep import _engine
from evergrep.query import Answer, Cancellation, Query, QueryError, Stat, encode_path
from evergrep.scope import Scope

PathText = str | os.PathLike[str]


class Workspace:
    """A local tree that answers queries.

    `allow=None` reaches whatever the original tool would reach, that is, anything its user may
    read; a list of folders confines every tool to them. `deny` holds patterns, in the manner of
    .gitignore and relative to each root, of what no tool shows. `index="off"` answers every query
    by a plain scan, which today is the only way there is.
    """

    def __init__(
        self,
        root: PathText,
        *,
        allow: Iterable[PathText] | None = None,
        deny: Sequence[str] = (),
        index: str = "off",
    ) -> None:
        if isinstance(allow, str | bytes) or isinstance(deny, str | bytes):
            raise TypeError("allow and deny each take a list, not one text")
        if index != "off":
            raise ValueError(f"index takes 'off', not {index!r}")
        self.root = _absolute(root)
        if not os.path.isdir(self.root):
            raise NotADirectoryError(f"{self.root} is not a folder that can be opened")
        allowed = None
        if allow is not None:
            allowed = tuple(encode_path(_absolute(each)) for each in allow)
        self.scope = Scope(encode_path(self.root), allowed, tuple(deny))
        try:
            self.stat(self.scope.root)
        except QueryError as error:
            raise ValueError(f"deny: {error.text}") from None

    def search(self, query: Query, cancel: Cancellation | None = None) -> Answer:
        """What the tree holds now; the interpreter is free while the engine works."""
        if cancel is not None and not isinstance(cancel, _engine.Cancel):
            raise TypeError("cancel takes an evergrep.Cancel")
        return _engine.search(query, self.scope, cancel)

    def stat(self, path: bytes) -> Stat:
        """What the system says of a path; outside the scope it is not there."""
        return _engine.stat(path, self.scope)

    def __repr__(self) -> str:
        confined = "" if self.scope.allow is None else f", allow={list(self.scope.allow)!r}"
        return f"Workspace({self.root!r}{confined})"


def _absolute(path: PathText) -> str:
    """From the top, without `.` and doubled slashes; `..` stays, for a link may stand before it."""
    text = os.path.join(os.getcwd(), path) if not os.path.isabs(path) else os.fspath(path)
    drive, rest = os.path.splitdrive(text)
    return (
        drive + os.sep + os.sep.join(part for part in rest.split(os.sep) if part not in ("", "."))
    )
