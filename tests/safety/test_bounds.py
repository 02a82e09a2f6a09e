"""Time and memory, whatever a file's size or a tree's depth (tests.md BO, SP-4, SP-5)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from judges import ask
from trees import File, Link, Recipe, plant
from watched import MEMORY, MIB, listing, memory, needle, watched

from evergrep import Cancel, Files, Pattern, QueryError, Reading, Want, Workspace

GIB = 1024 * MIB
SLACK = 10
"""Bounds are those of the requirements, ten times over: no fast test depends on a time."""


def test_a_line_of_2_gib_is_searched_within_the_memory_bound(big_line: Path) -> None:
    """ripgrep keeps a whole line in memory, and more than once (safety.md 1, row 4)."""
    file = os.fsencode(big_line / "big.txt")
    files, counts, lines, named, absent = watched(
        big_line,
        [
            needle(big_line),
            needle(big_line, want=Want("counts")),
            needle(big_line, want=Want("lines", before=1, after=1, spans=True)),
            needle(file, want=Want("lines"), reading=Reading(line_bytes=100)),
            needle(big_line, pattern="nowhere"),
        ],
        seconds=120,
    )
    results = [files, counts, lines, named, absent]
    assert [each.memory < MEMORY for each in results] == [True] * 5, [
        each.memory // MIB for each in results
    ]
    assert [[file], [file], [file], [file], []] == [each.paths for each in results]
    assert counts.found.hits[0].count == 2
    assert {file: "long line"} == lines.told == named.told
    first, second = named.found.hits[0].lines
    # Its length is that of the window that matched.
    assert (first.number, len(first.bytes)) == (1, 100)
    assert first.length <= 64 * MIB
    assert (second.number, second.bytes) == (2, b"needle behind it")


def test_ripgrep_does_not_stay_within_1_gib_on_that_line(big_line: Path) -> None:
    """Four times our bound, and it still ends without an answer."""
    verdict = ask(
        ["--files-with-matches", "--regexp=needle", "--", big_line], memory=GIB, seconds=60
    )
    assert ("needle" in verdict.out.decode(), verdict.code) in [(False, 2), (False, -6)], verdict


def test_a_deadline_ends_the_search_of_a_long_line(big_line: Path) -> None:
    """The engine asks for the time itself, within a line too (safety.md R15)."""
    [result] = watched(
        big_line, [needle(big_line, pattern="(?:[a-z]+[0-9]+)+X", deadline=0.2)], seconds=60
    )
    assert getattr(result.found.stopped, "kind", None) == "deadline"
    assert result.seconds < 0.2 * SLACK
    assert result.memory < MEMORY


def test_a_deadline_ends_a_slow_search_of_letters_beyond_ascii(top: Path) -> None:
    """There some patterns run at a few megabytes a second, and nothing interrupts one search."""
    lines = (("é" * 50 + "\n") * 300_000).encode()
    root = plant(top / "tree", {"line.txt": "é" * (24 * MIB), "lines.txt": lines})
    for name in ("line.txt", "lines.txt"):
        query = needle(root / name, pattern=r"\b\d\w\d\b", deadline=0.2)
        [result] = watched(root, [query], seconds=60)
        assert result.seconds < 0.2 * SLACK
        assert result.memory < MEMORY


@pytest.fixture
def terabyte(top: Path) -> Path:
    """A file of a terabyte that takes no place on the disk, beside a needle."""
    return plant(top / "tree", {"a.txt": "needle\n", "hole.txt": File(b"needle\n", size=1 << 40)})


def test_a_sparse_terabyte_costs_a_walk_nothing(terabyte: Path) -> None:
    """Its first piece shows that it is binary."""
    [result] = watched(terabyte, [needle(terabyte)], seconds=20)
    assert [os.fsencode(terabyte / "a.txt")] == result.paths
    assert (result.found.stopped, result.memory < MEMORY) == (None, True)


PATTERNS = ["needle", "nowhere", "^$", "(?s).", r"\w+$", "x*"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_sparse_terabyte_as_root_ends_in_time(pattern: str, terabyte: Path) -> None:
    """A named file is never given up at a NUL, and reading this one would take hours."""
    hole = terabyte / "hole.txt"
    wants = [Want(), Want("counts"), Want("lines", before=2, after=2, spans=True)]
    queries = [needle(hole, pattern=pattern, want=want, deadline=0.3) for want in wants]
    for result in watched(terabyte, queries, seconds=20):
        ended = getattr(result.found.stopped, "kind", None) == "deadline"
        assert (ended or result.paths != [], result.seconds < 0.3 * SLACK) == (True, True)
        assert result.memory < MEMORY


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_sparse_terabyte_taken_as_text_keeps_the_deadline(pattern: str, terabyte: Path) -> None:
    """As `--text` has it, in a walk and named; ripgrep's memory grows without end."""
    text = Reading(binary="none")
    wants = [Want("counts"), Want("lines", before=2, after=2, spans=True)]
    queries = [
        needle(root, pattern=pattern, want=want, reading=text, deadline=0.3)
        for root in (terabyte, terabyte / "hole.txt")
        for want in wants
    ]
    for result in watched(terabyte, queries, seconds=20):
        assert getattr(result.found.stopped, "kind", None) == "deadline"
        assert result.seconds < 0.3 * SLACK
        assert result.memory < MEMORY


def test_a_sparse_terabyte_across_line_ends_is_left_out_and_told(terabyte: Path) -> None:
    """A match over line ends needs the whole file at once, which has a cap."""
    hole = terabyte / "hole.txt"
    pattern = Pattern(r"needle\s+hay", multi_line=True)
    for root in (terabyte, hole):
        query = replace(needle(root), pattern=pattern, reading=Reading(binary="none"), deadline=5.0)
        [result] = watched(terabyte, [query], seconds=20)
        assert {os.fsencode(hole): "too large"} == result.told
        assert result.memory < MEMORY


def test_ripgrep_grows_without_end_on_a_hole_taken_as_text(terabyte: Path) -> None:
    """What the bound above is for."""
    verdict = ask(["--text", "--regexp=nowhere", "--", terabyte], memory=GIB, seconds=20)
    assert verdict.end == "signal" or verdict.code == 2, verdict


def test_many_matches_stay_within_the_memory_bound_when_not_kept(top: Path) -> None:
    """Counting, or a page of a few, must not keep what it passes."""
    root = plant(top / "tree", {"many.txt": b"needle\n" * 8_000_000})
    [counts, files] = watched(root, [needle(root, want=Want("counts")), needle(root)], seconds=30)
    assert (counts.found.hits[0].count, len(files.paths)) == (8_000_000, 1)
    assert [each.memory < MEMORY for each in (counts, files)] == [True, True]


def test_a_cancel_ends_a_running_search(terabyte: Path) -> None:
    """Within ten times the 10 ms that a loop of the engine may take (issue 2)."""
    cancel, ended = Cancel(), []

    def search() -> None:
        try:
            Workspace(terabyte).search(needle(terabyte / "hole.txt", pattern="nowhere"), cancel)
        except QueryError as error:
            ended.append((error.kind, time.monotonic()))

    before = read_so_far()
    thread = threading.Thread(target=search)
    thread.start()
    poll = threading.Event()
    limit = time.monotonic() + 20
    while read_so_far() < before + 8 * MIB and time.monotonic() < limit:
        poll.wait(0.001)
    start = time.monotonic()
    cancel.set()
    thread.join(20)
    [(kind, end)] = ended
    assert kind == "cancelled"
    assert end - start < 0.010 * SLACK


def read_so_far() -> int:
    """What this process has read, by its own count of the system."""
    return int(Path("/proc/self/io").read_text().split()[1])


def test_a_flag_set_before_ends_the_search_at_once(top: Path) -> None:
    """`set` ends every query that was given the flag, now and later."""
    root = plant(top / "tree", {"a.txt": "needle\n"})
    cancel = Cancel()
    cancel.set()
    with pytest.raises(QueryError) as error:
        Workspace(root).search(needle(root), cancel)
    assert error.value.kind == "cancelled"


@pytest.mark.parametrize("seconds", [0.0, 1e-9, -1.0])
def test_a_deadline_already_over_says_so(seconds: float, top: Path) -> None:
    """Never an empty answer that looks whole (safety.md R25)."""
    root = plant(top / "tree", {f"{number}/a.txt": "needle\n" for number in range(50)})
    answer = Workspace(root).search(needle(root, deadline=seconds))
    assert getattr(answer.stopped, "kind", None) == "deadline"


@contextlib.contextmanager
def inside(folder: int):
    try:
        yield folder
    finally:
        os.close(folder)


def nest(root: Path, levels: int, marks: set[int]) -> list[bytes]:
    """A chain of folders too deep for any path, with needles at the marks; their paths."""
    root.mkdir()
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    paths = []
    for level in range(1, levels + 1):
        os.mkdir("d", dir_fd=folder)
        deeper = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder = deeper
        if level in marks:
            opener = lambda name, flags, at=folder: os.open(name, flags, dir_fd=at)  # noqa: E731
            with open("mark.txt", "w", opener=opener) as file:
                file.write("needle\n")
            paths.append(os.fsencode(root) + b"/d" * level + b"/mark.txt")
    os.close(folder)
    return paths


@pytest.mark.parametrize(
    "levels", [5_000, pytest.param(20_000, marks=pytest.mark.long)]
)  # fmt: skip
def test_files_are_found_at_any_depth(levels: int, top: Path) -> None:
    """No path of the system reaches them, and no stack may grow with them (safety.md R20)."""
    marks = {1, levels // 2, levels - 1, levels}
    paths = nest(top / "deep", levels, marks)
    root = top / "deep"
    found, listed, newest = watched(
        root, [needle(root), listing(root), needle(root, order="newest")], seconds=60
    )
    assert sorted(paths) == sorted(found.paths) == sorted(listed.paths) == sorted(newest.paths)
    assert None is found.found.stopped
    assert [each.memory < MEMORY for each in (found, listed, newest)] == [True] * 3


def test_ripgrep_misses_the_deepest(top: Path) -> None:
    """It opens by path, and a path ends at 4,096 bytes."""
    nest(top / "deep", 5_000, {1, 5_000})
    verdict = ask(["--files-with-matches", "--regexp=needle", "--", top / "deep"], seconds=60)
    assert (verdict.code, verdict.out.count(b"\n")) == (2, 1)


def ladder(levels: int) -> Recipe:
    rungs: dict[str, Link | str] = {}
    for level in range(levels):
        rungs[f"l{level}/a"] = Link(f"../l{level + 1}")
        rungs[f"l{level}/b"] = Link(f"../l{level + 1}")
    rungs[f"l{levels}/mark.txt"] = "needle\n"
    return rungs


def test_a_ladder_of_links_is_walked_once(top: Path) -> None:
    """Two links a level make 2^40 ways to the same file; ours is one."""
    root = plant(top / "ladder", ladder(40))
    [result] = watched(root, [needle(root)], seconds=10)
    assert [os.fsencode(root / "l40/mark.txt")] == result.paths
    # A root through the ladder is a path like any other.
    [through] = watched(root, [needle(root / "l30" / "/".join("ab" * 5))], seconds=10)
    assert [os.fsencode(root / "l30" / "/".join("ab" * 5) / "mark.txt")] == through.paths


def test_the_ladder_catches_ripgrep_when_it_follows(top: Path) -> None:
    """The fault is in following; without `--follow` it is not caught either."""
    root = plant(top / "ladder", ladder(24))
    assert ask(["--follow", "--files", "--", root], seconds=2).end == "hang"


def test_a_storm_of_rule_files_stays_within_the_memory_bound(top: Path) -> None:
    """Each folder's rules count for what is below it, and for no longer than its walk."""
    body = "".join(f"nothing-{number}-*.tmp\n" for number in range(20))
    recipe = {f"{number}/.ignore": body for number in range(300)}
    root = plant(top / "tree", {**recipe, "299/a.txt": "needle\n"})
    [result] = watched(root, [needle(root)], seconds=30)
    assert [os.fsencode(root / "299/a.txt")] == result.paths
    assert result.memory < MEMORY


@pytest.mark.long
def test_a_million_files_in_a_folder_are_listed_within_300_mib(top: Path) -> None:
    """tests.md SP-6; in a process of its own, whose answer holds a million paths twice."""
    root = top / "flat"
    root.mkdir()
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    with inside(folder):
        for number in range(1_000_000):
            os.close(os.open(f"{number:07}", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    (root / "needle.txt").write_text("needle\n")
    [result] = watched(root, [needle(root)], seconds=120)
    assert [os.fsencode(root / "needle.txt")] == result.paths
    assert result.memory < 300 * MIB


def test_patterns_that_want_too_much_are_refused_or_bounded(top: Path) -> None:
    """Memory of a pattern counts like any other (safety.md R17)."""
    root = plant(top / "tree", {"a.txt": "a" * 100_000 + "\n" + "needle\n"})
    workspace = Workspace(root)
    for text in [r"(\w{100}){100}", "(" * 300 + ")" * 300, "a{1000}{1000}{1000}"]:
        with pytest.raises(QueryError) as error:
            workspace.search(needle(root, pattern=text))
        assert error.value.kind == "pattern"
    for text in ["(a+)+$", "(a|a)*b", "a*a*a*a*a*a*b", "|".join(f"w{n}" for n in range(20_000))]:
        result = workspace.search(needle(root, pattern=text, deadline=20))
        assert None is result.stopped, text


def test_globs_that_want_too_much_are_refused_or_bounded(top: Path) -> None:
    """Thirty brace groups would be 2^30 alternatives if they were spelled out (R18)."""
    root = plant(top / "tree", {"a.txt": "needle\n"})
    workspace = Workspace(root)
    for glob in ["{a,b}" * 30, "*a" * 500, "**/" * 300 + "a.txt", "{" + "a," * 5_000 + "a.txt}"]:
        start = time.monotonic()
        with contextlib.suppress(QueryError):
            workspace.search(needle(root, files=Files(globs=(glob,)), deadline=5))
        assert time.monotonic() - start < 0.1 * SLACK * SLACK, glob[:20]
    assert memory("VmRSS") < 4 * GIB
