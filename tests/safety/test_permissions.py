"""What may not be read is told, and the rest is found (tests.md SP-7, safety.md R14, R25).

Searches run as an ordinary user, whoever runs the tests: nothing is unreadable to root.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from judges import ask, rg
from trees import File, Folder, plant
from watched import NOBODY, listing, needle, watched

from evergrep import Page, Want


@pytest.fixture
def closed(top: Path) -> Path:
    """Files and folders that an ordinary user may not read, among others."""
    return plant(
        top / "tree",
        {
            "a.txt": "needle\n",
            "file.txt": File(b"needle\n", mode=0),
            "folder/b.txt": "needle\n",
            "folder/": Folder(mode=0),
            "list only/b.txt": "needle\n",
            "list only/": Folder(mode=0o444),
            "enter only/b.txt": "needle\n",
            "enter only/": Folder(mode=0o111),
            "z.txt": "needle\n",
        },
    )


def test_what_cannot_be_read_is_told(closed: Path) -> None:
    """An answer is complete, or says what is missing (safety.md R25)."""
    [result] = watched(closed, [needle(closed, order="path")], nobody=True)
    assert [os.fsencode(closed / name) for name in ("a.txt", "z.txt")] == result.paths
    refused = {(each.path, each.reason, each.error) for each in result.found.skipped}
    names = ["file.txt", "folder", "enter only", "list only/b.txt"]
    assert {(os.fsencode(closed / name), "unreadable", errno.EACCES) for name in names} == refused
    assert result.found.seen.skipped == (("unreadable", 4),)


def test_what_a_page_never_reached_is_told_when_asked_for(top: Path) -> None:
    """Codex's answer depends on whether anything is unreadable (contracts/codex.md 3.4)."""
    year = 1_700_000_000_000_000_000
    recipe: dict[str, File] = {"new.txt": File(b"needle\n", time=year + 9)}
    recipe |= {f"{n}.txt": File(b"needle\n", time=year) for n in range(50)}
    recipe["old.txt"] = File(b"needle\n", time=year - 9, mode=0)
    root = plant(top / "tree", recipe)
    asked = needle(root, order="newest", page=Page(limit=1), want=Want(unreadable=True))
    [result] = watched(root, [asked], nobody=True)
    assert [os.fsencode(root / "new.txt")] == result.paths
    assert {os.fsencode(root / "old.txt"): "unreadable"} == result.told


def test_a_storm_of_refusals_is_counted_and_capped(top: Path) -> None:
    """Five hundred closed folders are one number, and the needle behind them is found."""
    recipe: dict[str, Folder | str] = {f"{number}/": Folder(mode=0) for number in range(500)}
    root = plant(top / "tree", {**recipe, "zz/a.txt": "needle\n"})
    [result] = watched(root, [needle(root)], nobody=True)
    assert [os.fsencode(root / "zz/a.txt")] == result.paths
    assert result.found.seen.skipped == (("unreadable", 500),)
    assert len(result.found.skipped) <= 500


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("file.txt", "unreadable"),
        ("folder", "unreadable"),
        ("enter only", "unreadable"),
        # Nobody can say whether that one is there.
        ("folder/b.txt", "missing"),
    ],
)
def test_an_unreadable_root_is_told(name: str, found: str, closed: Path) -> None:
    """It is not the same as a root with nothing in it."""
    [result] = watched(closed, [needle(closed / name)], nobody=True)
    [state] = result.found.roots
    assert (found, errno.EACCES, ()) == (state.found, state.error, result.found.hits)


def test_a_folder_that_may_be_entered_but_not_listed_gives_the_named_file(closed: Path) -> None:
    """A path is opened step by step, and each step needs no more than the system asks for."""
    [result] = watched(closed, [needle(closed / "enter only" / "b.txt")], nobody=True)
    assert [os.fsencode(closed / "enter only" / "b.txt")] == result.paths
    [confined] = watched(
        closed, [needle(closed / "enter only" / "b.txt")], nobody=True, allow=[closed]
    )
    assert result.paths == confined.paths


def test_a_listing_needs_no_leave_to_read_files(closed: Path) -> None:
    """Names are the folder's; `rg --files` gives them too."""
    [result] = watched(closed, [listing(closed, order="path")], nobody=True)
    shutil.copy(rg(), closed.parent / "rg")
    theirs = ask(
        ["--files", "--null", "--no-messages", "--", closed],
        program=closed.parent / "rg",
        **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}),
    )
    assert sorted(theirs.out.split(b"\x00")[:-1]) == result.paths


def test_ripgrep_leaves_refusals_to_its_exit_code(closed: Path) -> None:
    """The gap is told by nothing but a 2, beside matches or without."""
    shutil.copy(rg(), closed.parent / "rg")
    verdict = ask(
        ["--files-with-matches", "--no-messages", "--regexp=needle", "--", closed],
        program=closed.parent / "rg",
        **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}),
    )
    assert (verdict.code, verdict.err, verdict.out.count(b"\n")) == (2, b"", 2)
