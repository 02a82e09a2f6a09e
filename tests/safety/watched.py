"""Searches in a process of their own, timed, their memory measured, killed when they hang.

The child of `watched` takes pickled queries and gives pickled answers; what it uses above its
idle memory is the high-water mark of its own pages, which no parent's size leaks into.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergrep import Answer, Pattern, Query, QueryError, Root

NOBODY = 65534
MIB = 1024 * 1024
MEMORY = 256 * MIB
"""What no query may use above idle (issue 2, done when 4)."""
WAITING = b'{"jsonrpc": "2.0", "method": "meant for somebody else"}\n'


@dataclass(frozen=True)
class Refused:
    """What a QueryError said."""

    kind: str
    text: str


@dataclass(frozen=True)
class Watched:
    """An answer, and what it cost."""

    answer: Answer | Refused
    seconds: float
    memory: int
    """Bytes above idle at the peak."""

    @property
    def paths(self) -> list[bytes]:
        return [hit.path for hit in self.found.hits]

    @property
    def found(self) -> Answer:
        assert isinstance(self.answer, Answer), self.answer
        return self.answer

    @property
    def told(self) -> dict[bytes, str]:
        return {each.path: each.reason for each in self.found.skipped}


def watched(
    root: Path,
    queries: Sequence[Query],
    *,
    seconds: float = 20,
    nobody: bool = False,
    **scope: Any,
) -> list[Watched]:
    """Answer the queries on `Workspace(root, **scope)` in a child; a hang is an AssertionError.

    With `nobody` the child is an ordinary user's, whoever we are. Its standard input is open and
    holds bytes meant for others, which must still be there afterwards.
    """
    waiting, writer = os.pipe()
    os.write(writer, WAITING)
    with tempfile.NamedTemporaryFile() as order:
        order.write(pickle.dumps((os.fspath(root), list(queries), nobody, scope)))
        order.flush()
        try:
            done = subprocess.run(
                [sys.executable, __file__, order.name],
                stdin=waiting,
                capture_output=True,
                timeout=seconds,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        except subprocess.TimeoutExpired:
            raise AssertionError(f"hang: no answer within {seconds} s to {queries}") from None
        finally:
            os.close(writer)
            left = os.read(waiting, 1000)
            os.close(waiting)
    assert left == WAITING, f"bytes waiting on standard input were taken: {left!r} is left"
    assert done.returncode == 0, f"died with {done.returncode}: {done.stderr.decode()[-2000:]}"
    return pickle.loads(done.stdout)


def needle(*roots: str | bytes | Path, pattern: str = "needle", **fields: Any) -> Query:
    """A query for a word below those roots."""
    return Query(
        roots=tuple(Root(os.fsencode(each)) for each in roots), pattern=Pattern(pattern), **fields
    )


def listing(*roots: str | bytes | Path, **fields: Any) -> Query:
    """A query for every file below those roots."""
    return Query(roots=tuple(Root(os.fsencode(each)) for each in roots), **fields)


def memory(name: str) -> int:
    """A row of this process's memory table, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def child() -> None:
    from evergrep import Workspace

    root, queries, nobody, scope = pickle.loads(Path(sys.argv[1]).read_bytes())
    if nobody and os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    results = []
    for query in queries:
        workspace = Workspace(root, **scope)
        # Without it the mark of the query before stays, which only makes this stricter.
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        idle = memory("VmRSS")
        start = time.monotonic()
        try:
            answer: Any = workspace.search(query)
        except QueryError as error:
            answer = Refused(error.kind, error.text)
        seconds = time.monotonic() - start
        results.append(Watched(answer, seconds, memory("VmHWM") - idle))
    sys.stdout.buffer.write(pickle.dumps(results))


if __name__ == "__main__":
    import watched as again  # so that the answers pickle under this module's own name

    again.child()
