"""Recorded trees: builds a tree of `trees.jsonl` and knows what its placeholders stand for.

The format is told in README.md. It is apart from `trees.py`, whose recipes are ours to choose:
this one was fixed by the recordings. It knows no agent and no tool.
"""

from __future__ import annotations

import base64
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trees import ground

PLACEHOLDER = re.compile(r"\{(ROOT|PARENT|HOME|ALT|TMP)\}")


class CannotBuildError(Exception):
    """A tree asks for something that nothing here makes yet."""


@dataclass(frozen=True)
class Place:
    """Where a tree stands, and what its placeholders stand for."""

    root: Path
    home: Path
    alt: Path
    """A folder below another top-level folder than the root."""

    def fill(self, value: Any) -> Any:
        """The same value with every placeholder in its texts replaced."""
        if isinstance(value, str):
            return PLACEHOLDER.sub(lambda found: self._named(found[1]), value)
        if isinstance(value, Mapping):
            return {self.fill(key): self.fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        return value

    def path(self, entry: Mapping[str, Any]) -> Path:
        """Where an entry of the tree belongs."""
        if "path_b64" in entry:
            return self.root / os.fsdecode(base64.b64decode(entry["path_b64"]))
        return self.root / self.fill(entry["path"])

    def _named(self, name: str) -> str:
        places = {
            "ROOT": self.root,
            "PARENT": self.root.parent,
            "HOME": self.home,
            "ALT": self.alt,
            "TMP": Path("/tmp"),
        }
        return str(places[name])


@contextmanager
def built(entries: list[Mapping[str, Any]]) -> Iterator[Place]:
    """One tree on grounds of its own, gone afterwards."""
    with ground() as here, ground("/var/tmp") as there:
        place = Place(here / "up" / "root", here / "home", there / "alt")
        build(place, entries)
        yield place


def build(place: Place, entries: list[Mapping[str, Any]]) -> None:
    """Make the entries in order, then their times, then their modes."""
    for folder in (place.root, place.home, place.alt):
        folder.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        path = place.path(entry)
        path.parent.mkdir(parents=True, exist_ok=True)
        _make(place, path, entry)
    for entry in entries:
        if "mtime_ns" in entry:
            os.utime(place.path(entry), ns=(entry["mtime_ns"],) * 2, follow_symlinks=False)
    # The deepest first: a folder's mode may close the way to what is in it.
    for entry in sorted(entries, key=lambda each: -len(place.path(each).parts)):
        if "mode" in entry:
            place.path(entry).chmod(int(entry["mode"], 8))


def _make(place: Place, path: Path, entry: Mapping[str, Any]) -> None:
    match entry.get("kind", "file"):
        case "file":
            with path.open("wb") as file:
                for piece in entry.get("parts", [entry]):
                    file.writelines(_bodies(place, piece))
        case "dir":
            path.mkdir(parents=True, exist_ok=True)
        case "symlink":
            path.symlink_to(place.fill(entry["target"]))
        case "hardlink":
            path.hardlink_to(place.path({"path": entry["target"]}))
        case "fifo":
            os.mkfifo(path)
        case "socket":
            _bind(path)
        case other:
            raise CannotBuildError(f"nothing here makes a {other!r} yet: {entry.get('path')}")


def _bodies(place: Place, piece: Mapping[str, Any]) -> Iterator[bytes]:
    if "b64" in piece:
        body = base64.b64decode(piece["b64"])
        counted = None
    else:
        text = place.fill(piece["text"])
        body = text.encode("utf-8", "surrogatepass")
        counted = piece.get("count_from")
    for turn in range(piece.get("times", 1)):
        if counted is None:
            yield body
        else:
            yield body.replace(b"{i}", str(counted + turn).encode())


def _bind(path: Path) -> None:
    # A socket's address is short, so it is bound by its name from within its folder.
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.fchdir(before)
        os.close(before)
