"""From the options of a search to its Query: what is searched for, where, and what is wanted of it.

The environment and the current folder are read here, as a door may; no file is.
"""

from __future__ import annotations

import os

from evergrep.cli.flags import FlagError
from evergrep.cli.grep import roots
from evergrep.cli.grep.options import Options
from evergrep.cli.grep.pattern import make_pattern
from evergrep.cli.grep.roots import Typed
from evergrep.query import Files, OrderName, Page, Query, Reading, Root, Want, git_places


def current_folder() -> bytes:
    try:
        return os.getcwdb()
    except OSError as error:
        raise FlagError(f"the current folder can't be read: {error.strerror}") from None


def typed_paths(paths: list[str], cwd: bytes) -> list[Typed]:
    if "-" in paths:
        raise FlagError("standard input is not searched; name a file, or ./- for one called -")
    if "" in paths:
        raise FlagError("a PATH is empty; leave it out to search the current folder")
    return [roots.read_path(os.fsencode(path), cwd) for path in paths or [""]]


def make_query(options: Options, typed: list[Typed], cwd: bytes) -> Query:
    for text in (*options.patterns, *options.globs, *options.types, *options.types_not):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise FlagError(f"{text!r} is not UTF-8; write a byte as (?-u:\\xFF)") from None
    by_line = options.mode in ("lines", "json", "matches")
    return Query(
        roots=tuple(Root(each.asked) for each in typed),
        pattern=None if options.mode == "list" else make_pattern(options),
        files=Files(
            hidden=options.hidden,
            ignore="git" if options.ignore else "none",
            places=git_places(os.environ),
            globs=tuple(options.globs),
            glob_base=cwd,
            types=tuple(options.types),
            types_not=tuple(options.types_not),
            depth=options.depth,
        ),
        want=_make_want(options, by_line),
        reading=Reading(
            binary="none" if options.text else "nul",
            max_size=options.max_size,
            line_bytes=None if options.only_matching else options.max_columns,
        ),
        order=_order(options),
        page=Page(limit=1 if options.quiet else None, per_file=options.per_file),
    )


def _make_want(options: Options, by_line: bool) -> Want:
    if options.mode in ("files", "list") or options.quiet:
        return Want("files")
    if not by_line:
        return Want("counts")
    spans = (
        options.mode != "lines"
        or options.only_matching
        or options.each_match
        or options.column
        or options.color
        or options.stats
    )
    if options.mode == "matches":
        return Want("lines", spans=True)
    return Want("lines", before=options.before, after=options.after, spans=spans)


def _order(options: Options) -> OrderName:
    if options.sort == "modified":
        return "newest" if options.reverse else "oldest"
    return "walk"
