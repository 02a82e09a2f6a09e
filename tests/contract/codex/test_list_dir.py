"""What no recording of `list_dir` can show: its defaults, both orders, and how it fails.

Real trees and the real engine; every expectation is the whole text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from contract.codex.test_grep_files import RECORDED, plain, sentences
from trees import Folder, ground, plant

import evergrep
from evergrep import Reply, Workspace
from evergrep.dialects.codex.list_dir import cut


@pytest.fixture
def top() -> Iterator[Path]:
    """An empty folder that any user may enter."""
    with ground() as folder:
        yield folder


def ask(root: Path, arguments: Any, *, structured: bool = False, **settings: Any) -> Reply:
    """One call on an unconfined Workspace, with an empty environment."""
    tool = evergrep.tool("codex.list_dir", Workspace(root), env={}, **settings)
    return tool(arguments, structured=structured)


def test_the_definition_is_the_recorded_one_in_our_words(top: Path) -> None:
    """Models were trained on these names, types and this order; the sentences are ours."""
    recorded = json.loads(RECORDED.read_text("utf-8"))["0.116.0"]
    wanted = next(each for each in recorded if each["name"] == "list_dir")
    tool = evergrep.tool("codex.list_dir", Workspace(top))
    ours = json.dumps([tool.name, plain(tool.input_schema)])
    assert ours == json.dumps([wanted["name"], plain(wanted["parameters"])])
    said, theirs = sentences(tool.input_schema), sentences(wanted["parameters"])
    assert len(said) == len(theirs) == 4
    assert not {*said, tool.description} & {*theirs, wanted["description"]}


def test_the_seeds_first_example_is_answered_as_it_says(top: Path) -> None:
    """CX-LD-58: two levels, each level two spaces further right."""
    plant(top, {"nested/child.txt": b"", "root.txt": b""})
    reply = ask(top, {"dir_path": str(top), "offset": 1, "limit": 10, "depth": 2})
    assert reply == Reply(f"Absolute path: {top}\nnested/\n  child.txt\nroot.txt", success=True)


def test_the_page_is_taken_in_the_walks_order_unless_the_setting_says_otherwise(top: Path) -> None:
    """CX-LD-33: the seed sorts the page, later releases the whole listing."""
    plant(top, {"nested/child.txt": b"", "nested/deeper/grandchild.txt": b"", "root.txt": b""})
    arguments = {"dir_path": str(top), "limit": 3, "depth": 3}
    head, tail = f"Absolute path: {top}\nnested/\n  child.txt\n", "More than 3 entries found"
    assert ask(top, arguments).text == f"{head}root.txt\n{tail}"
    assert ask(top, arguments, sort_before_paging=True).text == f"{head}  deeper/\n{tail}"


def test_twenty_five_entries_of_two_levels_are_the_default(top: Path) -> None:
    """CX-LD-10 and CX-LD-13."""
    plant(top, {f"file_{index:02}.txt": b"" for index in range(40)} | {"z/y/x": b""})
    lines = ask(top, {"dir_path": str(top)}).text.split("\n")
    assert lines[1:] == [f"file_{index:02}.txt" for index in range(25)] + [
        "More than 25 entries found"
    ]
    lines = ask(top, {"dir_path": str(top), "offset": 41}).text.split("\n")
    assert lines[1:] == ["z/", "  y/"]


def test_an_offset_one_past_the_end_is_refused(top: Path) -> None:
    """CX-LD-36; where there is nothing at all the offset is not looked at."""
    plant(top, {"a": b"", "empty": Folder()})
    reply = ask(top, {"dir_path": str(top), "offset": 3})
    assert reply == Reply("offset exceeds directory entry count", is_error=True, success=False)
    reply = ask(top, {"dir_path": str(top / "empty"), "offset": 3})
    assert reply == Reply(f"Absolute path: {top / 'empty'}", success=True)


def test_the_numbers_are_checked_before_the_path(top: Path) -> None:
    """CX-LD-15 to CX-LD-19: a zero is told though the path is relative, too."""
    reply = ask(top, {"dir_path": "./relative", "depth": 0})
    assert reply == Reply("depth must be greater than zero", is_error=True, success=False)
    assert ask(top, {"dir_path": str(top), "depth": 0}).text == reply.text


def test_a_text_is_cut_at_500_bytes_and_no_character_by_half() -> None:
    """CX-LD-50: on Linux no name of that length can be made but of bytes that are not UTF-8."""
    assert cut("a" * 501) == "a" * 500
    assert cut("a" + "é" * 250) == "a" + "é" * 249
    assert cut("é" * 250) == "é" * 250


def test_a_missing_folder_is_told_before_a_huge_offset(top: Path) -> None:
    """CX-LD-22: the offset is compared only after the entries are there."""
    reply = ask(top, {"dir_path": str(top / "gone"), "offset": 2**64 - 1})
    assert reply.text == "failed to read directory: No such file or directory (os error 2)"


def test_a_name_that_would_forge_a_line_is_escaped(top: Path) -> None:
    """A listing is lines; `raw_names` prints them as the original does."""
    plant(top, {"a\nb": b""})
    arguments = {"dir_path": str(top)}
    assert ask(top, arguments).text == f"Absolute path: {top}\na\\nb"
    assert ask(top, arguments, raw_names=True).text == f"Absolute path: {top}\na\nb"


def test_a_confined_workspace_lists_nothing_outside(top: Path) -> None:
    """What is outside looks absent, and what is denied is not listed."""
    plant(top, {"in/a": b"", "in/secret": b"", "out/b": b""})
    confined = Workspace(top / "in", allow=[top / "in"], deny=["secret"])
    tool = evergrep.tool("codex.list_dir", confined, env={})
    gone = "failed to read directory: No such file or directory (os error 2)"
    assert tool({"dir_path": str(top / "out")}).text == gone
    assert tool({"dir_path": str(top / "in")}).text == f"Absolute path: {top / 'in'}\na"


def test_the_structured_result_is_the_answer(top: Path) -> None:
    """It is only made when asked for."""
    plant(top, {"a": b""})
    arguments = {"dir_path": str(top)}
    assert ask(top, arguments).structured is None
    hits = ask(top, arguments, structured=True).structured["hits"]
    assert [(hit["path"], hit["kind"]) for hit in hits] == [(f"{top}/a", "file")]
