"""The harness itself: each planted fault must be reported, or a pass would prove nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contract.cases import Case, Expected, Outcome, Suite, fault, request, suite
from contract.doors import DOORS, ORDINARY, passes
from contract.recorded_trees import CannotBuildError, built
from contract.requirements import missing
from contract.standing import Standing
from trees import File, ground, plant

STAND_IN = "codex"
"""Any agent with cases will do: the harness is the same for all."""


@pytest.fixture
def some(standing: Callable[[str], Standing]) -> tuple[Standing, list[Case]]:
    """A few cases that pass through every door, on trees that stand."""
    cases = [each for each in suite(STAND_IN).ours if "args" in each.raw and not each.ordinary]
    return standing(STAND_IN), cases[:3]


# --- answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("door", list(DOORS))
def test_a_wrong_text_is_reported_through_every_door(
    door: str, some: tuple[Standing, list[Case]]
) -> None:
    """One byte more than was recorded is a fault of that case, and of no other."""
    standing, cases = some
    assert standing.faults(door, cases) == ([], len(cases))
    first = cases[0]
    planted = replace(first, expected=replace(first.expected, text=first.expected.text + "\n"))
    faults, _ = standing.faults(door, [planted, *cases[1:]])
    assert [each.split()[0] for each in faults] == [first.id]
    assert "expected" in faults[0]
    assert "got" in faults[0]


@pytest.mark.parametrize("flag", ["is_error", "success"])
def test_a_wrong_flag_is_reported(flag: str, some: tuple[Standing, list[Case]]) -> None:
    """A right text under a wrong flag would mislead a host."""
    standing, cases = some
    right = getattr(cases[0].expected, flag)
    planted = replace(cases[0], expected=replace(cases[0].expected, **{flag: not right}))
    faults, _ = standing.faults("library", [planted])
    assert faults[0].endswith(f"{flag}: expected {not right}, got {right}")


def test_a_fault_in_the_tree_is_reported(some: tuple[Standing, list[Case]]) -> None:
    """A tree built otherwise than recorded can't give the recorded answer."""
    standing, cases = some
    case = next(each for each in cases if each.expected.success)
    place = standing.place(case.tree)
    named = Path(place.fill(case.expected.text).split("\n")[0])
    body, status = named.read_bytes(), named.stat()
    named.write_bytes(b"\n")
    try:
        faults, _ = standing.faults("library", [case])
    finally:
        named.write_bytes(body)
        os.utime(named, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert len(faults) == 1
    assert standing.faults("library", [case]) == ([], 1)


def test_ties_may_change_places_and_nothing_else_may() -> None:
    """Equal times come in any order; a file in the wrong group or twice is still a fault."""
    times = {"a": 2, "b": 2, "c": 1}
    with ground() as root:
        plant(root, {name: File(b"", time=time * 10**9) for name, time in times.items()})
        with built([]) as place:

            def judged(order: str, names: str) -> bool:
                raw = {"order": order} if order else {}
                expected = Expected("\n".join(str(root / each) for each in "abc"))
                case = Case("planted", "", "", raw, expected)
                text = "\n".join(str(root / each) for each in names)
                return fault(case, place, Outcome(text)) is None

            assert [names for names in ("abc", "bac", "acb", "cab", "aac", "ab", "abcc")
                    if judged("ties", names)] == ["abc", "bac"]  # fmt: skip
            assert not judged("", "bac")


def test_random_characters_are_compared_in_number_only() -> None:
    """What was random in the recording is random in ours."""
    case = Case("planted", "", "", {}, Expected("a {RAND}.b"))
    with built([]) as place:
        assert fault(case, place, Outcome("a x1_y2z.b")) is None
        assert fault(case, place, Outcome("a x1_y2z5.b")) is not None
        assert fault(case, place, Outcome("a x1_y2zxb")) is not None


def test_permission_bits_bind_where_a_case_needs_them() -> None:
    """Root reads what a mode forbids; without this the cases about it would test nothing."""
    with ground() as root:
        plant(root, {"shut": File(b"secret", mode=0)})
        program = f"open({str(root / 'shut')!r}).read()"
        command = [sys.executable, ORDINARY, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "PermissionError" in done.stderr


# --- trees ------------------------------------------------------------------------------------


def test_a_tree_is_built_as_it_is_written() -> None:
    """Every kind of entry, with its body, target, time and mode."""
    entries: list[Any] = [
        {"path": "a/b.txt", "text": "at {ROOT}\n", "mtime_ns": -1_500_000_001},
        {"path": "a/bytes", "b64": "AP8=", "mode": "0640"},
        {"path_b64": "YmFk/w==", "text": ""},
        {
            "path": "parts",
            "parts": [{"text": "{i},", "times": 3, "count_from": 9}, {"b64": "/w=="}],
        },
        {"path": "shut", "kind": "dir", "mode": "0500"},
        {"path": "shut/in", "text": "x"},
        {"path": "link", "kind": "symlink", "target": "{ROOT}/a"},
        {"path": "again", "kind": "hardlink", "target": "a/b.txt"},
        {"path": "pipe", "kind": "fifo"},
        {"path": "n" * 90 + "/sock", "kind": "socket"},
        {"path": "../beside", "text": "y"},
        {"path": "{HOME}/.gitconfig", "text": "z"},
        {"path": "{ALT}/far", "text": "{HOME}"},
    ]
    with built(entries) as place:
        root = place.root
        assert (root / "a/b.txt").read_text() == f"at {root}\n"
        assert (root / "a/b.txt").stat().st_mtime_ns == -1_500_000_001
        assert (root / "a/bytes").read_bytes() == b"\x00\xff"
        assert (root / "a/bytes").stat().st_mode & 0o777 == 0o640
        assert os.fsencode(root) + b"/bad\xff" in map(bytes, root.iterdir())
        assert (root / "parts").read_bytes() == b"9,10,11,\xff"
        assert (root / "shut").stat().st_mode & 0o777 == 0o500
        assert (root / "link").readlink() == root / "a"
        assert (root / "again").samefile(root / "a/b.txt")
        assert (root / "pipe").is_fifo()
        assert (root / ("n" * 90) / "sock").is_socket()
        assert (root.parent / "beside").read_text() == "y"
        assert (place.home / ".gitconfig").read_text() == "z"
        assert (place.alt / "far").read_text() == str(place.home)
        assert place.alt.parts[1] != root.parts[1]
    assert not root.exists()


def test_what_no_one_builds_yet_is_refused() -> None:
    """A tree that silently lacked an entry would make its cases pass for nothing."""
    entries: list[Any] = [{"path": "a.zip", "kind": "archive", "format": "zip", "members": []}]
    with pytest.raises(CannotBuildError, match=r"archive.*a\.zip"), built(entries):
        pass


# --- doors ------------------------------------------------------------------------------------


def test_only_an_object_that_keeps_its_bytes_goes_over_mcp(
    some: tuple[Standing, list[Case]],
) -> None:
    """The protocol carries an object; its text is lost, and so are columns in messages."""
    standing, cases = some
    whole = request(cases[0], standing.place(cases[0].tree))
    column = "expected `,` or `}` at line 1 column 22"
    texts = ['{"a":1}', '{"a": 1}', '{"a" :1}', '{"a":1,"a":2}', "[1]", "", '{"a":"\\u00e4"}']
    verdicts = {
        text: [passes("mcp", replace(whole, arguments=text), each) for each in ("paths", column)]
        for text in texts
    }
    assert verdicts == {
        '{"a":1}': [True, True],
        '{"a": 1}': [True, False],
        '{"a" :1}': [False, False],
        '{"a":1,"a":2}': [False, False],
        "[1]": [False, False],
        "": [False, False],
        '{"a":"\\u00e4"}': [True, False],
    }
    assert passes("batch", replace(whole, arguments=""), column)


# --- suites and requirements ------------------------------------------------------------------

GOOD = """
[[excluded]]
order = "history"
reason = "not ours"
[[requirement]]
id = "A-1"
says = "It does."
source = "seed"
shown_by = ["one", "test_own.py::test_it"]
"""


def planted(folder: Path, table: str, **raw: Any) -> Suite:
    """A suite of two cases, of which `two` may be altered."""
    plain = {"tool": "t", "tree": "x", "args": {}, "expect": {"text": "", "success": True}}
    cases = [{"id": "one", **plain}, {"id": "two", **plain, "order": "history", **raw}]
    plant(folder, {
        "requirements.toml": table,
        "cases.jsonl": "".join(json.dumps(each) + "\n" for each in cases),
        "trees.jsonl": json.dumps({"tree": "x", "entries": []}) + "\n",
        "test_own.py": "def test_it() -> None: ...\n",
    })  # fmt: skip
    return Suite(folder)


def test_a_requirement_without_evidence_is_reported(tmp_path: Path) -> None:
    """Each way in which evidence can be missing has its line; none is missing here at first."""
    assert missing(planted(tmp_path, GOOD)) == []
    for old, new, told in [
        ('shown_by = ["one", "test_own.py::test_it"]', "", "A-1 has neither a case nor a test"),
        ('"one", ', '"none", ', "A-1: there is no case none"),
        ('"one", ', '"two", ', "A-1: case two is left out (not ours)"),
        ("::test_it", "::test_that", "A-1: there is no test test_own.py::test_that"),
        ("test_own.py", "test_no.py", "A-1: there is no test test_no.py::test_it"),
        ('says = "It does."', "", "A-1 lacks its sentence or its source"),
        ('source = "seed"', 'source = "seed"\nshow_by = []', "A-1 has unknown fields: ['show_by']"),
    ]:
        found = missing(planted(tmp_path, GOOD.replace(old, new)))
        assert len(found) == 1
        assert found[0].startswith(told)
    twice = GOOD + GOOD[GOOD.index("[[requirement]]") :]
    assert missing(planted(tmp_path, twice)) == ["A-1 stands there twice"]
    excused = GOOD.replace('"one", ', '"two", ') + 'difference = "so"\n'
    assert missing(planted(tmp_path, excused)) == []


def test_a_rule_leaves_out_what_it_names_and_is_counted(tmp_path: Path) -> None:
    """What is left out is said, so that nothing falls out of sight."""
    cases = planted(tmp_path, GOOD)
    assert [each.id for each in cases.ours] == ["one"]
    assert cases.summary() == "1 of 2 cases; 1 left out: not ours"


def test_a_known_difference_is_run_with_our_text(tmp_path: Path) -> None:
    """A difference is a promise too: the case counts, and must answer as we say."""
    table = GOOD + '[[differs]]\ncase = "two"\ntext = "ours"\nsuccess = false\nreason = "so"\n'
    ours = planted(tmp_path, table).ours
    assert [(each.id, each.expected.text) for each in ours] == [("one", ""), ("two", "ours")]
    stray = table.replace('case = "two"', 'case = "three"')
    with pytest.raises(ValueError, match="names no case: \\['three'\\]"):
        _ = planted(tmp_path, stray).cases


def test_what_no_one_runs_or_compares_yet_is_refused(tmp_path: Path) -> None:
    """A later agent's cases may ask for more; then the harness says so and passes nothing."""
    with pytest.raises(ValueError, match=r"two needs \['steps'\]"):
        _ = planted(tmp_path, GOOD, order="", steps=[]).ours
    with pytest.raises(ValueError, match="nothing here compares"):
        _ = planted(tmp_path, GOOD, expect={"ok": False, "error": "x"}).cases
