"""How a command ends: exit codes, a closed pipe, a full device, Ctrl-C; never with a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from command_line import SECONDS, run, start
from trees import File, plant

FLOOD = {"x": b"foo\n" * 200_000}
"""More than any pipe holds."""


def requests(count: int) -> bytes:
    """That many requests that a tool answers."""
    line = json.dumps({"tool": "codex.grep_files", "args": {"pattern": "foo"}}).encode()
    return (line + b"\n") * count


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([], 2, b"evergrep grep PATTERN"),
        (["nothing"], 2, b"there is no verb 'nothing'; the verbs are grep, tools, call and mcp"),
        (["grep"], 2, b"a search needs a pattern"),
        (["grep", "("], 2, b"unclosed group"),
        (["call"], 2, b"takes a TOOL and its arguments"),
        (["call", "codex.nothing", "{}"], 2, b"codex has no tool 'nothing'"),
        (["call", "nothing.grep", "{}"], 2, b"no dialect is called 'nothing'"),
        (["tools", "codex.nothing"], 2, b"codex has no tool 'nothing'"),
        (["tools", "a", "b"], 2, b"one NAME at most"),
    ],
    ids=str,
)
def test_a_wrong_command_ends_with_two_and_says_why(
    tmp_path: Path, arguments: list[str], code: int, told: bytes
) -> None:
    """Standard output stays empty: what reads it must not take a complaint for an answer."""
    done = run(*arguments, cwd=tmp_path)
    assert (done.code, done.out) == (code, b"")
    assert told in done.err
    assert b"Traceback" not in done.err


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["grep", "-h"], ["call", "--help"]])
def test_help_goes_to_standard_output(arguments: list[str]) -> None:
    """Asked for, it is the answer."""
    done = run(*arguments)
    assert (done.code, done.err) == (0, b"")
    assert done.out.startswith(b"evergrep")


def test_the_version_is_the_engines() -> None:
    """One version, in one place."""
    from evergrep import __version__

    assert run("--version") == (0, f"evergrep {__version__}\n".encode(), b"")


@pytest.mark.parametrize("verb", ["grep", "grep --json", "call --batch"])
def test_a_closed_pipe_ends_quietly(tmp_path: Path, verb: str) -> None:
    """R26: `| head` is no fault, yet the exit code tells that not all was written."""
    plant(tmp_path, FLOOD)
    arguments = verb.split() + ([] if "--batch" in verb else ["foo"])
    given = requests(5000) if "--batch" in verb else b""
    with (tmp_path / "given").open("wb+") as stdin:
        stdin.write(given)
        stdin.seek(0)
        process = start(*arguments, cwd=tmp_path, stdin=stdin)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() != b""
    process.stdout.close()
    assert process.wait(SECONDS) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize(
    "verb", ["grep -l", "grep", "grep --json", "tools", "--help", "call --batch"]
)
def test_a_full_device_is_a_failure_that_is_told(tmp_path: Path, verb: str) -> None:
    """R26: an answer that could not be written must not look like one."""
    plant(tmp_path, FLOOD)
    arguments = verb.split() + (["foo"] if "grep" in verb else [])
    with Path("/dev/full").open("wb") as full:
        done = run(*arguments, cwd=tmp_path, given=requests(1), stdout=full)
    expected = b"evergrep: the answer can't be written: No space left on device\n"
    assert (done.code, done.err) == (2, expected)


def test_a_closed_standard_output_is_a_failure_that_is_told(tmp_path: Path) -> None:
    """The descriptor could by then be any other file."""
    plant(tmp_path, {"x": b"foo\n"})
    command = 'exec "$@" >&-'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *_command("grep", "foo")],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
    )
    expected = b"evergrep: the answer can't be written: standard output is closed\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_a_pipe_that_does_not_block_gets_everything(tmp_path: Path) -> None:
    """Node gives its children such pipes; a slow reader must not lose a byte."""
    plant(tmp_path, FLOOD)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = start("grep", "foo", "x", cwd=tmp_path, stdout=writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == FLOOD["x"]
    assert process.communicate(timeout=SECONDS) == (None, b"")
    assert process.returncode == 0


def test_ctrl_c_ends_a_search_quietly(tmp_path: Path) -> None:
    """A shell tells such an end by 130; nobody wants to read where it was."""
    plant(tmp_path, {"hole": File(size=1 << 42)})
    process = start("grep", "-a", "foo", cwd=tmp_path)
    io = Path(f"/proc/{process.pid}/io")
    # The search is under way once more was read than all of Python's own files.
    while process.poll() is None and _bytes_read(io) < 1 << 28:
        pass
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=SECONDS) == (b"", b"")
    assert process.returncode == 130


def test_ctrl_c_ends_a_batch_that_waits_quietly(tmp_path: Path) -> None:
    """The same between requests."""
    process = start("call", "--batch", cwd=tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(requests(1))
    process.stdin.flush()
    assert process.stdout.readline() != b""
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=SECONDS) == (b"", b"")
    assert process.returncode == 130


def _command(*arguments: str) -> list[str]:
    from command_line import COMMAND

    return [*COMMAND, *arguments]


def _bytes_read(io: Path) -> int:
    try:
        text = io.read_text()
    except OSError:  # it has ended
        return 1 << 62
    return int(text.partition("rchar: ")[2].split()[0])
