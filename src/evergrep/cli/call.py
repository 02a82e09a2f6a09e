"""The verb `call`: one call of an agent's tool, or with `--batch` one for every line of input."""

from __future__ import annotations

import os
import sys

from evergrep import dialects
from evergrep.cli.calling import Setup, read_settings, reply_json
from evergrep.cli.flags import Flag, FlagError, describe, read_flags
from evergrep.cli.printing import complain, encode_text, inert_text, to_terminal, write
from evergrep.query import QueryError

FLAGS = (
    Flag(("--cwd",), "DIR", "the folder the call is made in; without it the current one"),
    Flag(("--allow",), "DIR", "confine the call to this folder; repeatable"),
    Flag(("--deny",), "GLOB", "never show what matches, as in .gitignore; repeatable"),
    Flag(("--set",), "KEY=VALUE", "a field of the dialect's settings; repeatable"),
    Flag(("--structured",), "", "print the whole reply as one line of JSON"),
    Flag(("--batch",), "", "answer one request a line, until the input ends"),
    Flag(("-h", "--help"), "", "print this"),
)
USAGE = """\
evergrep call TOOL JSON     call a tool with these arguments and print its answer
evergrep call TOOL -        the same, the arguments read from standard input
evergrep call --batch       answer one JSON request a line, each before the next is read

The answer is followed by one newline. The exit code is 0, or 2 when the tool answers with an
error. VALUE is read as JSON where it is JSON, else as text.

"""
BATCH = """
A request is an object:
  id         anything; it comes back with the reply
  tool       the tool's full name
  args       its arguments, an object; or args_raw, their JSON text, passed on as it is
  cwd        the folder the call is made in, relative to --cwd
  settings   fields of the dialect's settings; they override --set
  env        variables laid over this process's environment
  session    requests that name the same session share the tool's memory of it

A reply has id, text, is_error, success and structured, and rpc (code and message) where the
original answers with a protocol error. The exit code is 0 when every line got its reply.
"""


def main(arguments: list[str]) -> int:
    """Run the verb and return its exit code."""
    given = read_flags(FLAGS, arguments, "call")
    asked = {name for name, _ in given.flags}
    if "-h" in asked:
        write((USAGE + describe(FLAGS) + BATCH).encode())
        return 0

    def values(flag: str) -> tuple[str, ...]:
        return tuple(value for name, value in given.flags if name == flag)

    try:
        here = os.getcwd()
    except OSError as error:
        raise FlagError(f"the current folder can't be read: {error.strerror}") from None
    cwd = os.path.join(here, *values("--cwd")[-1:])
    if not os.path.isdir(cwd):
        raise FlagError(f"--cwd {cwd} is not a folder that can be opened")
    setup = Setup(cwd, values("--allow") or None, values("--deny"), read_settings(values("--set")))
    if "--batch" not in asked:
        return _one(setup, given.words, "--structured" in asked)
    if given.words:
        raise FlagError(f"--batch reads its calls from standard input, not {given.words[0]!r}")
    from evergrep.cli import batch

    return batch.answer_all(setup)


def _one(setup: Setup, words: list[str], structured: bool) -> int:
    if len(words) != 2:
        raise FlagError("`evergrep call` takes a TOOL and its arguments as JSON (or -)")
    name, text = words
    try:
        tool = setup.place(dialects.tool(name, setup.settings), "", dict(os.environ))
    except (LookupError, ValueError, NotADirectoryError) as error:
        raise FlagError(str(error)) from None
    try:
        reply = tool(_standard_input() if text == "-" else os.fsencode(text), structured=structured)
    except QueryError as error:
        complain(f"{name} could not answer: {error.text}")
        return 2
    if structured:
        write(reply_json(reply))
    else:
        write(encode_text(inert_text(reply.text) if to_terminal() else reply.text) + b"\n")
    return 2 if reply.is_error else 0


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise FlagError("the arguments can't be read: standard input is closed")
    return sys.stdin.buffer.read()
