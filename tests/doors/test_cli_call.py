"""`evergrep call` and `evergrep tools`: one call from a shell, and what there is to call."""

from __future__ import annotations

import json
import os
from pathlib import Path

from command_line import run
from echo_dialect_source import install
from trees import plant

TREE = {"a.txt": b"foo\n", "secret/b.txt": b"foo\n", "c.txt": b"bar\n"}


def test_the_answer_is_the_text_and_one_newline(tmp_path: Path) -> None:
    """A shell's user expects a whole line; who takes one newline off has the contract's bytes."""
    plant(tmp_path, TREE)
    done = run("call", "codex.grep_files", '{"pattern":"bar"}', cwd=tmp_path)
    assert done == (0, os.fsencode(tmp_path) + b"/c.txt\n", b"")


def test_an_error_reply_ends_with_two(tmp_path: Path) -> None:
    """The text is the tool's own, and goes where its answers go."""
    done = run("call", "codex.grep_files", '{"pattern":""}', cwd=tmp_path)
    assert done == (2, b"pattern must not be empty\n", b"")


def test_nothing_found_is_no_error(tmp_path: Path) -> None:
    """Codex's own flag says false, and yet the tool did not fail."""
    plant(tmp_path, TREE)
    done = run("call", "codex.grep_files", '{"pattern":"nothing"}', cwd=tmp_path)
    assert done == (0, b"No matches found.\n", b"")


def test_arguments_can_come_from_standard_input(tmp_path: Path) -> None:
    """For what is too long for a command line, or was made by a program."""
    plant(tmp_path, TREE)
    given = b'{"pattern":"bar"}'
    done = run("call", "codex.grep_files", "-", cwd=tmp_path, given=given)
    assert done.out == os.fsencode(tmp_path) + b"/c.txt\n"


def test_arguments_reach_the_tool_as_they_are(tmp_path: Path) -> None:
    """Faults in them are judged by the contract, not by the door."""
    done = run("call", "codex.grep_files", '{"pattern": 1, ', cwd=tmp_path)
    assert done.code == 2
    assert done.out.startswith(b"failed to parse function arguments: invalid type: integer `1`")


def test_cwd_allow_and_deny_bound_the_call(tmp_path: Path) -> None:
    """The folder of the call, what it may reach, and what it must not show."""
    plant(tmp_path, {f"tree/{name}": body for name, body in TREE.items()})
    call = ("call", "codex.grep_files", '{"pattern":"foo"}')
    tree = os.fsencode(tmp_path) + b"/tree"
    both = run(*call, "--cwd", "tree", cwd=tmp_path).out.splitlines()
    assert sorted(both) == [tree + b"/a.txt", tree + b"/secret/b.txt"]
    denied = run(*call, "--cwd", "tree", "--deny", "secret", cwd=tmp_path)
    assert denied.out == tree + b"/a.txt\n"
    inside = run(*call, "--cwd", "tree/secret", "--allow", "tree/secret", cwd=tmp_path)
    assert inside.out == tree + b"/secret/b.txt\n"
    outside = run(*call, "--cwd", "tree", "--allow", "tree/secret", cwd=tmp_path)
    assert outside.code == 2


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """And no tool is asked anything."""
    done = run("call", "codex.grep_files", "{}", "--cwd", "nothing", cwd=tmp_path)
    assert (done.code, done.out) == (2, b"")
    assert done.err.endswith(b"/nothing is not a folder that can be opened\n")


def test_settings_are_json_or_text(tmp_path: Path) -> None:
    """A value is JSON where it parses, else the text itself; the dialect judges its type."""
    env = install(tmp_path)
    call = ("call", "echo.echo", "{}", "--set", 'greeting="a"', "--set", "times=2")
    assert run(*call, env=env).out.startswith(b"a a ")
    assert run(*call, "--set", "greeting=b", env=env).out.startswith(b"b b ")
    wrong = run("call", "echo.echo", "{}", "--set", "times=many", env=env)
    assert (wrong.code, wrong.out) == (2, b"")
    assert b"setting 'times' of echo takes a int, not 'many'" in wrong.err
    unknown = run("call", "echo.echo", "{}", "--set", "cwd=1", env=env)
    assert b"echo has no setting 'cwd'; its settings: greeting, times" in unknown.err
    no_value = run("call", "echo.echo", "{}", "--set", "times", env=env)
    assert b"--set takes key=value, not 'times'" in no_value.err


def test_structured_prints_the_whole_reply(tmp_path: Path) -> None:
    """What a batch would reply, for one call."""
    plant(tmp_path, TREE)
    done = run("call", "codex.grep_files", '{"pattern":"bar"}', "--structured", cwd=tmp_path)
    reply = json.loads(done.out)
    assert list(reply) == ["text", "is_error", "success", "structured"]
    assert (reply["text"], reply["success"]) == (f"{tmp_path}/c.txt", True)
    assert [each["path"] for each in reply["structured"]["hits"]] == [f"{tmp_path}/c.txt"]


def test_tools_are_listed_with_what_they_do(tmp_path: Path) -> None:
    """Full names, as `call` takes them, and the first sentence of each description."""
    lines = run("tools", env=install(tmp_path)).out.decode().splitlines()
    listed = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
    assert listed["echo.echo"] == "Says what it was told."
    assert {"codex.grep_files"} <= set(listed)
    assert all(sentence.endswith(".") for sentence in listed.values())


def test_a_definition_is_printed_as_json(tmp_path: Path) -> None:
    """As an agent is given it."""
    import evergrep

    done = run("tools", "codex.grep_files")
    tool = evergrep.tool("codex.grep_files", evergrep.Workspace(tmp_path))
    assert json.loads(done.out) == {
        "name": "grep_files",
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
