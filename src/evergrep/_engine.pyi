"""The contract of the native module: the engine's three questions, a flag, and one parser.

Private: `evergrep.Workspace` and `evergrep.tool` are the way in.
Every call releases the interpreter while it works. A fault inside becomes a `QueryError` of
kind `fault`, never the end of the process.
"""

from collections.abc import Sequence
from typing import final

from evergrep.query import Answer, Query, Stat
from evergrep.scope import Scope

__version__: str

@final
class Cancel:
    """A flag that ends a running query within 10 ms; safe to set from any thread."""

    def __new__(cls) -> Cancel: ...
    def set(self) -> None:
        """End every query that was given this flag, now and later."""

    def is_set(self) -> bool:
        """Whether it was set."""

def search(query: Query, scope: Scope, cancel: Cancel | None = None) -> Answer:
    """Answer a Query within a Scope.

    Raises `QueryError` for a bad pattern, glob or type and for a cancel, and whatever a signal
    handler raises (`KeyboardInterrupt`) when called from the main thread.
    """

def stat(path: bytes, scope: Scope) -> Stat:
    """What the system says of a path; outside the scope it is not there."""

def read_arguments(
    text: bytes, name: str, fields: Sequence[tuple[str, str]]
) -> tuple[str | int | None, ...]:
    """Read JSON text as Rust's serde_json reads it into a struct, with serde_json's own errors.

    `fields` are (name, kind) in the order of declaration; kinds are `string`, `string?` and
    `usize?`, a question mark allowing the field to be absent; `string?` also takes null.
    A field that is absent comes back as None. Raises `ValueError` with serde_json's message.
    """
