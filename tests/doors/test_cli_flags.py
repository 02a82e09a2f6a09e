"""Flags are read as ripgrep reads them, and a fault in them is told so that it can be mended."""

from __future__ import annotations

import pytest

from evergrep.cli.flags import Flag, FlagError, describe, read_flags

TABLE = (
    Flag(("-n", "--number"), "", "a switch"),
    Flag(("-e", "--regexp"), "PATTERN", "a value"),
    Flag(("--quiet-one",)),
)

READ = {
    "-n": ([("-n", "")], []),
    "--number a -n b": ([("-n", ""), ("-n", "")], ["a", "b"]),
    "-e x": ([("-e", "x")], []),
    "-ex": ([("-e", "x")], []),
    "-e=x": ([("-e", "x")], []),
    "-nex": ([("-n", ""), ("-e", "x")], []),
    "-ne x": ([("-n", ""), ("-e", "x")], []),
    "-e -n": ([("-e", "-n")], []),
    "-e --": ([("-e", "--")], []),
    "--regexp=x=y": ([("-e", "x=y")], []),
    "--regexp --number": ([("-e", "--number")], []),
    "--regexp=": ([("-e", "")], []),
    "a -- -n -- b": ([], ["a", "-n", "--", "b"]),
    "-": ([], ["-"]),
}

FAULTS = {
    "-x": "unsupported flag -x; `evergrep verb --help` lists those there are",
    "-nx": "unsupported flag -x; `evergrep verb --help` lists those there are",
    "--num": "unsupported flag --num; `evergrep verb --help` lists those there are",
    "--number=3": "--number takes no value, but '3' was given",
    "-e": "-e needs a value: -e PATTERN",
    "--regexp": "--regexp needs a value: --regexp PATTERN",
}


@pytest.mark.parametrize("line", READ)
def test_reads(line: str) -> None:
    """Clusters, values with and without a space, flags among words, and the end of flags."""
    assert READ[line] == tuple(read_flags(TABLE, line.split(), "verb"))


@pytest.mark.parametrize("line", FAULTS)
def test_names_the_fault(line: str) -> None:
    """What was wrong, and what to do."""
    with pytest.raises(FlagError) as caught:
        read_flags(TABLE, line.split(), "verb")
    assert FAULTS[line] == str(caught.value)


def test_describes_what_has_a_meaning_to_tell() -> None:
    """A flag without help is there for habit's sake."""
    expected = "  -n, --number                a switch\n  -e, --regexp PATTERN        a value\n"
    assert expected == describe(TABLE)
