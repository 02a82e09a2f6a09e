"""On a terminal: ripgrep's colours and headings, and nothing that the terminal would act on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import COMMAND, on_terminal, run
from judges import rg
from trees import plant

TREE = {
    "src/x.txt": b"one foo bar\ntwo\nthree\nfour\nsix foo\n",
    "src/y.txt": b"foo\n",
    "a/crlf.txt": b"foo\tcrlf\r\nbar\r\n",
}


@pytest.mark.parametrize(
    "line",
    [
        "--sort path foo",
        "--sort path -C1 foo",
        "--sort path -l foo",
        "--sort path -c foo",
        "--sort path -N foo",
        "--sort path --no-heading foo",
        "--sort path --color never foo",
        "--sort path --column foo src",
        "--sort path --vimgrep foo src",
        "foo src/x.txt",
        "-o foo src/x.txt",
        "-q foo",
    ],
)
@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_shows_what_ripgrep_shows(
    tmp_path: Path, line: str, env: dict[str, str]
) -> None:
    """The same colours, headings and numbers, and the same ways to switch them off."""
    plant(tmp_path, TREE)
    theirs = on_terminal([os.fspath(rg()), "--no-config", *line.split()], cwd=tmp_path, env=env)
    ours = on_terminal([*COMMAND, "grep", *line.split()], cwd=tmp_path, env=env)
    # Half a line end, which is not shown, so that no other carriage return is.
    assert (theirs[0], theirs[1].replace(b"\r\n", b"\n")) == ours


HOSTILE = (
    b"foo \x1b]52;c;Zm9v\x07 \x1b[2J \r\x08 \x9b2J \xc2\x9b2J \xe2\x80\xae \xff caf\xc3\xa9 foo\n"
)
INERT = (
    rb"foo \x1b]52;c;Zm9v\x07 \x1b[2J \x0d\x08 \x9b2J \x9b2J \u202e \xff " + "café foo\n".encode()
)


def test_text_cannot_command_the_terminal(tmp_path: Path) -> None:
    """R23: a line of the tree must not set the clipboard, clear the screen or hide itself."""
    plant(tmp_path, {"x": HOSTILE})
    plain = on_terminal([*COMMAND, "grep", "--color=never", "-N", "foo", "x"], cwd=tmp_path)
    assert plain == (0, INERT)
    painted = on_terminal([*COMMAND, "grep", "-N", "foo", "x"], cwd=tmp_path)
    match = b"\x1b[0m\x1b[1m\x1b[31mfoo\x1b[0m"
    assert painted == (0, INERT.replace(b"foo", match))


def test_a_pipe_gets_the_bytes(tmp_path: Path) -> None:
    """R23: to a pipe the text is exact."""
    plant(tmp_path, {"x": HOSTILE})
    assert run("grep", "foo", "x", cwd=tmp_path) == (0, HOSTILE, b"")


def test_a_name_cannot_command_the_terminal(tmp_path: Path) -> None:
    """R21, in each of the forms that print names."""
    plant(tmp_path, {b"\x1b[2J\xc2\x9b": b"foo\n"})
    for flags in (["-l"], ["-c"], ["-l0"], ["--files"], ["-H"], ["--no-heading"]):
        pattern = [] if flags == ["--files"] else ["foo"]
        command = [*COMMAND, "grep", "--color=never", *flags, *pattern]
        shown = on_terminal(command, cwd=tmp_path)[1]
        assert b"\x1b" not in shown
        assert b"\xc2\x9b" not in shown
        assert shown.startswith(rb"\x1b[2J")


def test_an_answer_of_a_tool_cannot_command_the_terminal(tmp_path: Path) -> None:
    """The same for `call`; a pipe gets the contract's bytes."""
    plant(tmp_path, {b"\x1b[2J": b"foo\n"})
    call = ["call", "codex.grep_files", '{"pattern":"foo"}', "--set", "raw_names=true"]
    exact = b"%s/\x1b[2J\n" % os.fsencode(tmp_path)
    assert run(*call, cwd=tmp_path) == (0, exact, b"")
    inert = exact.replace(b"\x1b", rb"\x1b")
    assert on_terminal([*COMMAND, *call], cwd=tmp_path) == (0, inert)
