"""Flags: a verb's table of them, and how arguments are read by it, in ripgrep's manner.

Why not argparse: it refuses a value that starts with a dash (`-e -x`, `-g -x`), it can't take
paths between flags, it forgets the order in which flags were given (the last one wins), and it
costs a third of a small search. This file knows no particular flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Flag(NamedTuple):
    """One flag of a verb."""

    names: tuple[str, ...]
    """The spellings, the first of which stands for it everywhere."""
    value: str = ""
    """What its value is called in the help; empty for a flag without one."""
    help: str = ""
    """What it does; empty leaves it out of the help."""


class Given(NamedTuple):
    """The arguments as they were given."""

    flags: list[tuple[str, str]]
    """Each flag's first spelling and its value, in order."""
    words: list[str]
    """Everything else, in order."""


class FlagError(Exception):
    """Arguments that can't be used; its text is for the person who typed them."""


def read_flags(table: Iterable[Flag], arguments: Sequence[str], verb: str) -> Given:
    """The flags and words among a verb's arguments; a wrong one is a FlagError."""
    known = {name: flag for flag in table for name in flag.names}
    given = Given([], [])
    rest = iter(arguments)

    def find(name: str) -> Flag:
        if name not in known:
            raise FlagError(
                f"unsupported flag {name}; `evergrep {verb} --help` lists those there are"
            )
        return known[name]

    def take(flag: Flag, name: str) -> None:
        value = next(rest, None)
        if value is None:
            raise FlagError(f"{name} needs a value: {name} {flag.value}")
        given.flags.append((flag.names[0], value))

    for argument in rest:
        if argument == "--":
            given.words.extend(rest)
        elif argument.startswith("--"):
            name, equals, value = argument.partition("=")
            flag = find(name)
            if not flag.value and equals:
                raise FlagError(f"{name} takes no value, but {value!r} was given")
            if flag.value and not equals:
                take(flag, name)
            else:
                given.flags.append((flag.names[0], value))
        elif argument.startswith("-") and argument != "-":
            # A cluster: letters up to the first that takes a value, which is all that follows.
            for place, letter in enumerate(argument[1:], start=2):
                flag = find(f"-{letter}")
                if not flag.value:
                    given.flags.append((flag.names[0], ""))
                    continue
                if place < len(argument):
                    given.flags.append((flag.names[0], argument[place:].removeprefix("=")))
                else:
                    take(flag, f"-{letter}")
                break
        else:
            given.words.append(argument)
    return given


def describe(table: Iterable[Flag]) -> str:
    """The table as the lines of a help text."""
    lines: list[str] = []
    for flag in table:
        if flag.help:
            names = ", ".join(flag.names) + (f" {flag.value}" if flag.value else "")
            # A long name gets a line of its own, so that the explanations stay in one column.
            lines.append(
                f"  {names:<28}{flag.help}" if len(names) < 27 else f"  {names}\n{'':30}{flag.help}"
            )
    return "\n".join(lines) + "\n"


def number(name: str, value: str) -> int:
    """A flag's value as a whole number, zero or more."""
    if not (value.isascii() and value.isdigit()):
        raise FlagError(f"{name} takes a whole number, not {value!r}")
    if len(value) > 18:
        raise FlagError(f"{name} takes a smaller number than {value}")
    return int(value)


def choice(name: str, value: str, choices: Sequence[str]) -> str:
    """A flag's value as one of a few words."""
    if value not in choices:
        raise FlagError(f"{name} takes {' or '.join(choices)}, not {value!r}")
    return value
