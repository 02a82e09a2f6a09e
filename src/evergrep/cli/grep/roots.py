"""Paths as they were typed, the absolute roots they stand for, and the way back.

The engine wants absolute roots; a person wants to read paths as they typed them. No disk access.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from evergrep.query import Hit


class Typed(NamedTuple):
    """A path of the command line."""

    asked: bytes
    """Where it is: absolute, without a `./` in front, which would hide it from globs."""
    root: bytes
    """The same without slashes at the end, as every path below it begins."""
    shown: bytes
    """What is printed for the root itself."""
    below: bytes
    """What is printed in front of a path below it."""


def read_path(typed: bytes, cwd: bytes) -> Typed:
    """A path as it was typed; an empty one is a current folder that nobody named."""
    rest = typed
    while rest.startswith(b"./"):
        rest = rest[2:].lstrip(b"/")
    if rest in (b"", b"."):
        asked = cwd
    elif rest.startswith(b"/"):
        asked = rest
    else:
        asked = inner(cwd) + rest
    if asked.endswith(b"//"):
        # One tells a folder from a file; more would stand in every path of the answer.
        asked = asked.rstrip(b"/") + b"/"
    below = typed if not typed or typed.endswith(b"/") else typed + b"/"
    return Typed(asked, asked.rstrip(b"/") or b"/", typed, below)


def inner(root: bytes) -> bytes:
    """What every path below a root starts with."""
    return root if root.endswith(b"/") else root + b"/"


def overlap(typed: list[Typed]) -> bool:
    """Whether a path could lie below two of them."""
    ordered = sorted(inner(each.root) for each in typed)
    return any(after.startswith(before) for before, after in pairwise(ordered))


def shown_path(path: bytes, typed: list[Typed]) -> bytes:
    """A path of the answer as the person who typed the roots expects it."""
    for each in typed:
        if path in (each.root, each.asked):
            return each.shown or b"."
        start = inner(each.root)
        if path.startswith(start):
            return each.below + path[len(start) :]
    return path


def shown_paths(hits: tuple[Hit, ...], typed: list[Typed]) -> list[bytes]:
    """The same for all hits of an answer."""
    if len(typed) == 1 and typed[0].root != b"/":
        cut, below, root = len(typed[0].root) + 1, typed[0].below, typed[0].root
        if hits and hits[0].path != root:
            if not below:
                return [hit.path[cut:] for hit in hits]
            return [below + hit.path[cut:] for hit in hits]
    return [shown_path(hit.path, typed) for hit in hits]
