"""A process of its own that changes a tree as fast as it can, until its standard input closes.

    python swapper.py exchange A B [A B]...   each pair changes places, in turn
    python swapper.py refill FILE SIZE        FILE is cut to nothing, then filled with one letter
                                              a line, in turn A and B
    python swapper.py rename A B              A is renamed to B and back

It says `ready` when it has begun. Only the standard library is used: it must be quick to start.
"""

# Paths are bytes here, which pathlib does not hold.
# ruff: noqa: PTH104

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import cycle

EXCHANGE = 2
HERE = -100


def exchange(*paths: str) -> Iterator[None]:
    """Two names change places in one step; nobody ever sees neither."""
    libc = ctypes.CDLL(None, use_errno=True)
    pairs = [(os.fsencode(a), os.fsencode(b)) for a, b in zip(paths[::2], paths[1::2], strict=True)]
    for one, other in cycle(pairs):
        if libc.renameat2(HERE, one, HERE, other, EXCHANGE):
            raise OSError(ctypes.get_errno(), "renameat2")
        yield


def refill(path: str, size: str) -> Iterator[None]:
    """Cut, then filled in one write, so that at every moment the file is of one letter."""
    bodies = [(letter * 63 + b"\n") * (int(size) // 64) for letter in (b"A", b"B")]
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    for body in cycle(bodies):
        os.ftruncate(file, 0)
        os.pwrite(file, body, 0)
        yield


def rename(one: str, other: str) -> Iterator[None]:
    """There and back."""
    for source, target in cycle([(one, other), (other, one)]):
        os.rename(source, target)
        yield


def main(work: Callable[..., Iterator[None]], paths: list[str]) -> None:
    over = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        over.set()

    threading.Thread(target=wait, daemon=True).start()
    rounds = 0
    for rounds, _ in enumerate(work(*paths)):
        if rounds == 0:
            print("ready", flush=True)
        if over.is_set():
            break
    print(rounds, flush=True)


if __name__ == "__main__":
    main({"exchange": exchange, "refill": refill, "rename": rename}[sys.argv[1]], sys.argv[2:])
