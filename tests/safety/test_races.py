"""A tree that another process changes while it is searched (tests.md SC-3, CO-1, CO-2).

How long each race runs is bounded by `EVERGREP_RACE` seconds; `make soak` gives it more.
"""

# Paths are bytes here, which pathlib does not hold.
# ruff: noqa: PTH119

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from judges import ask
from trees import Link, plant
from watched import listing, needle

import evergrep
from evergrep import Want, Workspace

SECONDS = float(os.environ.get("EVERGREP_RACE", "6"))
SECRET = b"OUTSIDE-4be1"
CONTROL = b"INSIDE-90af"


@contextmanager
def racing(*arguments: str | Path) -> Iterator[None]:
    """The writer at work; that it did work is checked at the end."""
    program = Path(__file__).with_name("swapper.py")
    writer = subprocess.Popen(
        [sys.executable, program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    try:
        assert writer.stdout.readline() == "ready\n"
        yield
        out, _ = writer.communicate(timeout=20)
    finally:
        writer.kill()
        writer.wait(20)
        writer.stdin.close()
        writer.stdout.close()
    assert int(out) > 1


def rounds(seconds: float = SECONDS, least: int = 1) -> Iterator[int]:
    """Numbers, until the time is over and there were enough."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end or number < least:
        yield number
        number += 1


PAIRS = 8


@pytest.fixture
def swapped(top: Path) -> tuple[Path, list[Path]]:
    """A tree with folders and files inside, and beside each a link to outside to swap it with."""
    plant(
        top / "outside",
        {"deep/er/secret.txt": SECRET + b"\n", "secret.txt": SECRET + b"\n", "x.txt": SECRET},
    )
    recipe: dict[str, bytes | Link] = {"control.txt": CONTROL + b"\n"}
    pairs = []
    for number in range(PAIRS):
        recipe[f"f{number}/x.txt"] = b"inside\n"
        recipe[f"f{number}/deep/er/x.txt"] = b"inside\n"
        recipe[f"g{number}"] = Link(top / "outside")  # type: ignore[arg-type]
        pairs += [f"f{number}", f"g{number}"]
    recipe["file.txt"] = b"inside\n"
    recipe["link.txt"] = Link(top / "outside" / "secret.txt")  # type: ignore[arg-type]
    pairs += ["file.txt", "link.txt"]
    tree = plant(top / "tree", recipe)
    return tree, [tree / each for each in pairs]


def leaks(answer: evergrep.Answer) -> list[object]:
    """Whatever of the outside shows in an answer."""
    return [
        hit
        for hit in answer.hits
        if b"secret" in hit.path or any(SECRET in line.bytes for line in hit.lines)
    ]


@pytest.mark.parametrize("confined", [False, True])
def test_nothing_outside_is_read_while_folders_change_into_links(
    confined: bool, swapped: tuple[Path, list[Path]]
) -> None:
    """A check of the path before the open does not hold; ripgrep has none (safety.md 1, row 2)."""
    tree, pairs = swapped
    workspace = Workspace(tree, allow=[tree] if confined else None)
    wanted = needle(tree, pattern=f"{SECRET.decode()}|{CONTROL.decode()}", want=Want("lines"))
    with racing("exchange", *pairs):
        for _ in rounds(SECONDS / 2, least=200):
            for query in (wanted, listing(tree)):
                answer = workspace.search(query)
                assert leaks(answer) == []
                assert os.fsencode(tree / "control.txt") in [hit.path for hit in answer.hits]


def test_nothing_outside_is_read_through_roots_that_change_into_links(
    swapped: tuple[Path, list[Path]],
) -> None:
    """A confined root's every step is judged as it is opened, not before."""
    tree, pairs = swapped
    workspace = Workspace(tree, allow=[tree])
    tails = ["", "deep/er", "deep/../x.txt", "../f1/x.txt", "secret.txt", "deep/er/secret.txt"]
    roots = [tree / "f0" / tail if tail else tree / "f0" for tail in tails]
    roots += [tree / "file.txt", tree / "link.txt"]
    queries = [needle(root, pattern=SECRET.decode(), want=Want("lines")) for root in roots]
    queries += [listing(root) for root in roots]
    control = needle(tree / "control.txt", pattern=CONTROL.decode())
    with racing("exchange", *pairs[:2], *pairs[-2:]):
        for _ in rounds(least=100):
            for query in queries:
                assert leaks(workspace.search(query)) == []
            for root in roots:
                stat = workspace.stat(os.fsencode(root))
                assert len(SECRET) + 1 != stat.size
            assert len(workspace.search(control).hits) == 1


def test_ripgrep_reads_outside_while_folders_change_into_links(
    swapped: tuple[Path, list[Path]],
) -> None:
    """The race above does catch who has the fault."""
    tree, pairs = swapped
    with racing("exchange", *pairs):
        escaped = any(
            SECRET in ask(["--no-filename", "--regexp", SECRET.decode(), "--", tree]).out
            for _ in rounds(30)
        )
    assert escaped


SIZE = 4 * 1024 * 1024


@pytest.mark.parametrize("size", [SIZE // 64, SIZE])
def test_a_file_cut_and_refilled_is_answered_as_it_was_at_some_moment(size: int, top: Path) -> None:
    """No mapping, so no signal; and a mixture of two moments is told (safety.md R12, R13)."""
    tree = plant(top / "tree", {"control.txt": CONTROL + b"\n"})
    file = tree / "changing.txt"
    path = os.fsencode(file)
    workspace = Workspace(tree)
    queries = [
        needle(root, pattern=f"^[AB]|{CONTROL.decode()}", want=want)
        for root in (tree, file)
        for want in (Want("lines"), Want("counts"), Want("files"))
    ]
    mixed = told = filled = 0
    with racing("refill", file, str(size)):
        for _ in rounds(SECONDS / 2):
            for query in queries:
                answer = workspace.search(query)
                told += (path, "changing") in {each[:2] for each in answer.skipped}
                for hit in answer.hits:
                    if hit.path != path:
                        continue
                    letters = {line.bytes[:1] for line in hit.lines}
                    filled += 1
                    assert (hit.count or 0) <= size // 64
                    if len(letters) > 1:
                        mixed += 1
                        assert (path, "changing") in {each[:2] for each in answer.skipped}
                if query.roots[0].path != path:
                    assert os.fsencode(tree / "control.txt") in [hit.path for hit in answer.hits]
    assert filled > 0, (mixed, told, filled)


def test_ripgrep_dies_of_a_file_that_is_cut(top: Path) -> None:
    """It maps a file that is named, and a page that is gone is a signal."""
    tree = plant(top / "tree", {"changing.txt": b""})
    with racing("refill", tree / "changing.txt", str(SIZE)):
        died = any(
            ask(["--count", "--regexp=^[AB]x", "--", tree / "changing.txt"]).code == -signal.SIGBUS
            for _ in rounds(30)
        )
    assert died


def test_files_that_stand_still_are_found_while_others_come_and_go(top: Path) -> None:
    """A rename beside them loses nothing (tests.md CO-2)."""
    recipe = {f"still/{number}.txt": b"needle\n" for number in range(200)}
    tree = plant(top / "tree", {**recipe, "coming/x.txt": b"needle\n"})
    workspace = Workspace(tree)
    expected = {os.fsencode(tree / name) for name in recipe}
    with racing("rename", tree / "coming", tree / "going"):
        for _ in rounds(SECONDS / 3):
            answer = workspace.search(needle(tree))
            assert set() == expected - {hit.path for hit in answer.hits}
            assert None is answer.stopped


def test_a_rule_file_that_flips_gives_one_of_two_answers(top: Path) -> None:
    """Rules are read once a folder: whole, or not at all."""
    tree = plant(
        top / "tree",
        {
            "a.txt": "needle\n",
            "b.txt": "needle\n",
            "c.txt": "needle\n",
            ".ignore": "a.txt\n",
            "other": "b.txt\n",
        },
    )
    workspace = Workspace(tree)
    seen: set[bytes] = set()
    with racing("exchange", tree / ".ignore", tree / "other"):
        for _ in rounds(SECONDS / 3):
            hits = workspace.search(needle(tree, order="path")).hits
            names = b" ".join(os.path.basename(hit.path) for hit in hits)
            seen.add(names)
    assert seen <= {b"a.txt c.txt", b"b.txt c.txt"}
