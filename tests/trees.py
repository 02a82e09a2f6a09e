"""Trees for our own tests: a recipe is a small table from path to what stands there.

A text or bytes is a file, a path that ends in a slash is a folder, and the classes below are the
rest. Parents are made on demand; modes and times are set last, so that they stay as asked.
"""

# Paths are bytes here, which pathlib does not hold.
# ruff: noqa: PTH101, PTH103, PTH118, PTH120, PTH123, PTH211

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class File:
    """A file with a mode or a time (in nanoseconds) of its own; `size` makes a hole behind it."""

    body: bytes = b""
    mode: int | None = None
    time: int | None = None
    size: int | None = None

    def __repr__(self) -> str:
        body = f"{self.body!r:.200}" + (
            f"... {len(self.body)} bytes" if len(self.body) > 99 else ""
        )
        return f"File({body}, mode={self.mode}, time={self.time}, size={self.size})"


@dataclass(frozen=True)
class Folder:
    """A folder with a mode of its own."""

    mode: int | None = None


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str | bytes


@dataclass(frozen=True)
class Pipe:
    """A named pipe."""


@dataclass(frozen=True)
class Socket:
    """A socket's name, with nobody listening."""


Node = str | bytes | File | Folder | Link | Pipe | Socket
Recipe = Mapping[str, Node] | Mapping[bytes, Node] | Mapping[str | bytes, Node]


def plant(root: str | bytes | Path, recipe: Recipe) -> Path:
    """Build the recipe below `root`, which is made when absent, and return `root`."""
    base = os.fsencode(root)
    os.makedirs(base, exist_ok=True)
    late: list[tuple[bytes, int | None, int | None]] = []
    for name, node in recipe.items():
        path = os.path.join(base, os.fsencode(name))
        os.makedirs(os.path.dirname(path.rstrip(b"/")), exist_ok=True)
        match node:
            case Folder(mode):
                os.makedirs(path, exist_ok=True)
                late.append((path, mode, None))
            case Link(target):
                os.symlink(os.fsencode(target), path)
            case Pipe():
                os.mkfifo(path)
            case Socket():
                with socket.socket(socket.AF_UNIX) as made:
                    made.bind(path)
            case File(body, mode, time, size):
                _write(path, body, size)
                late.append((path, mode, time))
            case str() | bytes():
                if path.endswith(b"/"):
                    os.makedirs(path, exist_ok=True)
                else:
                    _write(path, node.encode() if isinstance(node, str) else node, None)
    # The deepest first: a folder's mode may close it.
    for path, mode, time in sorted(late, key=lambda each: -each[0].count(b"/")):
        if time is not None:
            os.utime(path, ns=(time, time))
        if mode is not None:
            os.chmod(path, mode)
    return Path(os.fsdecode(base))


def _write(path: bytes, body: bytes, size: int | None) -> None:
    with open(path, "wb") as file:
        file.write(body)
        if size is not None:
            file.truncate(size)


MEMORY = "/dev/shm"
"""Where many small trees are built and removed at no cost, on systems that have it."""


@contextmanager
def ground(where: str | None = None) -> Iterator[Path]:
    """A folder that any user may enter, gone afterwards whatever was built in it.

    pytest's own `tmp_path` is closed to other users, and is removed by a recursion that a deep
    tree breaks.
    """
    folder = Path(tempfile.mkdtemp(prefix="evergrep-", dir=where)).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        clear(folder)


def clear(folder: str | bytes | Path) -> None:
    """Remove a tree, also one deeper than Python's own removal goes or with closed folders."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["chmod", "-R", "u+rwX", "--", folder], check=False, **quiet)
        subprocess.run(["rm", "-rf", "--", folder], check=True)
