"""The verb `tools`: which tools there are, and the definition of one, as an agent is given it."""

from __future__ import annotations

import json

from evergrep import dialects
from evergrep.cli.calling import read_settings
from evergrep.cli.flags import Flag, FlagError, describe, read_flags
from evergrep.cli.printing import encode_text, inert_text, to_terminal, write

FLAGS = (
    Flag(("--set",), "KEY=VALUE", "a field of the dialect's settings, for a NAME; repeatable"),
    Flag(("-h", "--help"), "", "print this"),
)
USAGE = """\
evergrep tools          list every tool: its full name and what it does
evergrep tools NAME     print one tool's definition as JSON: name, description, input_schema

"""


def main(arguments: list[str]) -> int:
    """Run the verb and return its exit code."""
    given = read_flags(FLAGS, arguments, "tools")
    if any(name == "-h" for name, _ in given.flags):
        write((USAGE + describe(FLAGS)).encode())
        return 0
    if len(given.words) > 1:
        raise FlagError("`evergrep tools` takes one NAME at most")
    settings = read_settings(value for _, value in given.flags)
    if settings and not given.words:
        raise FlagError("--set needs the NAME of the tool that it is for")
    try:
        text = _definition(given.words[0], settings) if given.words else _list()
    except (LookupError, ValueError) as error:
        raise FlagError(str(error)) from None
    write(encode_text(inert_text(text) if to_terminal() else text))
    return 0


def _list() -> str:
    found = [tool for name in dialects.names() for tool in dialects.tools(name, {}).values()]
    width = max((len(tool.full_name) for tool in found), default=0)
    return "".join(
        f"{tool.full_name:<{width}}  {_first_sentence(tool.description)}\n" for tool in found
    )


def _first_sentence(description: str) -> str:
    flat = " ".join(description.split())
    end = flat.find(". ")
    return flat if end < 0 else flat[: end + 1]


def _definition(name: str, settings: dict[str, object]) -> str:
    tool = dialects.tool(name, settings)
    fields = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
