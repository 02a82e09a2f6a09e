"""Pipes, sockets, devices and pseudo files, in a walk and as roots (tests.md SP-1, SP-3)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from judges import ask
from trees import Link, Pipe, Socket, plant
from watched import MEMORY, MIB, listing, needle, watched

from evergrep import Files


@pytest.fixture
def odd(top: Path) -> Path:
    """One ordinary file among all that is none."""
    return plant(
        top / "odd",
        {
            "a.txt": "needle\n",
            "pipe": Pipe(),
            "socket": Socket(),
            "zero": Link("/dev/zero"),
            "stdin": Link("/dev/stdin"),
            "memory": Link("/proc/self/mem"),
            "pipe link": Link("pipe"),
            "loop": Link("loop"),
            "sub/pipe": Pipe(),
        },
    )


def test_a_walk_passes_whatever_is_no_file(odd: Path) -> None:
    """Opening a pipe waits for its writer, and a device may never end (safety.md R9)."""
    hidden = Files(hidden=True, ignore="none")
    results = watched(odd, [needle(odd), listing(odd), needle(odd, files=hidden)])
    for result in results:
        assert [os.fsencode(odd / "a.txt")] == result.paths
        assert result.found.stopped is None
        assert result.memory < MEMORY


@pytest.mark.parametrize("name", ["pipe", "socket", "pipe link", "zero", "stdin"])
def test_a_root_that_is_no_file_is_told_and_not_read(name: str, odd: Path) -> None:
    """A model may name anything; the call ends, and says what it met."""
    path = os.fsencode(odd / name)
    for query in (needle(path), listing(path), needle(path, odd)):
        [result] = watched(odd, [query], seconds=10)
        assert result.found.roots[0].found == "other"
        assert path not in result.paths
        assert result.memory < MEMORY


@pytest.mark.parametrize(
    "path",
    ["/dev/null", "/dev/zero", "/dev/stdin", "/dev/tty", "/proc/self/mem", "/proc/self/fd/0"],
)
def test_a_device_as_root_is_told_and_not_read(path: str, top: Path) -> None:
    """`/dev/stdin` is where an agent's protocol arrives."""
    [result] = watched(top, [needle(path)], seconds=10)
    [state] = result.found.roots
    assert state.found in ("other", "missing", "unreadable")
    assert (result.found.hits, result.found.stopped) == ((), None)


def test_ripgrep_hangs_on_a_pipe_and_on_a_device(odd: Path) -> None:
    """What the tests above would miss if they asked nothing."""
    arguments = ["--text", "--regexp=needle", "--"]
    assert ask([*arguments, odd / "pipe"], seconds=1).end == "hang"
    assert ask([*arguments, "/dev/zero"], seconds=3, memory=1024 * MIB).end in ("hang", "signal")


def test_pseudo_files_below_a_root_are_passed_and_told(top: Path) -> None:
    """`/proc` holds files that block, change or never end (safety.md R10)."""
    [result] = watched(Path("/"), [listing("/", files=Files(depth=2, hidden=True, ignore="none"))])
    inside = [path for path in result.paths if path.startswith((b"/proc/", b"/sys/"))]
    assert inside == []
    assert result.told[b"/proc"] == "special"
    listed = ask(["--files", "--max-depth=2", "--hidden", "--no-ignore", "--", "/"]).out
    assert b"/proc/meminfo" in listed.split()


def test_a_root_within_a_pseudo_file_system_is_searched(top: Path) -> None:
    """Who names it means it; reads stay bounded."""
    file, folder = watched(
        Path("/proc"), [needle("/proc/self/status", pattern="^Name:"), listing("/proc/self/net")]
    )
    assert file.paths == [b"/proc/self/status"]
    assert folder.found.roots[0].found == "folder"
    assert folder.paths


def test_an_endless_read_within_a_pseudo_file_system_keeps_its_deadline(top: Path) -> None:
    """A file there may block or grow while it is read."""
    [result] = watched(
        Path("/proc"), [needle("/proc/self", files=Files(depth=1), deadline=0.5)], seconds=15
    )
    assert result.seconds < 5
    assert result.memory < MEMORY


def test_names_of_any_bytes_come_back_as_they_are(top: Path) -> None:
    """One result is one record, whatever its name holds; no byte is lost or changed."""
    names = [
        b"line\nfeed.txt", b"return\r.txt", b"\x1b[31mred.txt", b"\xff\xfe.txt", b" blank ",
        b"a:1:needle", b"tab\t.txt", b"-rf", b"--", b"n" * 255, b"\x7f\x01", "e\u0301".encode(),
        b"/dev\\null".replace(b"/", b""), b"\xe2\x80\xae.txt", b"*", b"?", b"~", b"$HOME",
    ]  # fmt: skip
    root = plant(top / "names", dict.fromkeys(names, b"needle\n"))
    searched, listed = watched(root, [needle(root, order="path"), listing(root, order="path")])
    expected = sorted(os.fsencode(root) + b"/" + name for name in names)
    assert (expected, expected) == (searched.paths, listed.paths)
