"""The verb `grep`: a search as people know it from ripgrep.

Flags become a Query (`options`, `pattern`, `roots`, `question`), the Answer becomes lines
(`show`, `lines`, `json_lines`) and messages (`faults`). Standard input is never searched, and no
configuration is ever read.
"""

from __future__ import annotations

import gc
import os

from evergrep.cli.flags import FlagError, describe, read_flags
from evergrep.cli.grep import roots
from evergrep.cli.grep.faults import tell_faults
from evergrep.cli.grep.options import FLAGS, Options, make_options
from evergrep.cli.grep.question import current_folder, make_query, typed_paths
from evergrep.cli.grep.roots import Typed
from evergrep.cli.grep.show import Found, show
from evergrep.cli.printing import to_terminal, write
from evergrep.query import Answer, Hit, Query, QueryError
from evergrep.workspace import Workspace

USAGE = """\
evergrep grep [FLAG]... PATTERN [PATH]...     search files, and folders with all below them
evergrep grep [FLAG]... -e PATTERN... [PATH]...
evergrep grep [FLAG]... --files [PATH]...

Without a PATH the current folder is searched. The exit code is 0 with a match, 1 without, and 2
when something failed or could not be read. Of two flags that contradict, the later one counts.

"""


def main(arguments: list[str]) -> int:
    """Run the verb and return its exit code."""
    # An answer can be millions of objects, all of which live until the end.
    gc.disable()
    given = read_flags(FLAGS, arguments, "grep")
    if any(name == "-h" for name, _ in given.flags):
        write((USAGE + describe(FLAGS)).encode())
        return 0
    terminal = to_terminal()
    options = make_options(given, terminal, os.environ)
    cwd = current_folder()
    typed = typed_paths(options.paths, cwd)
    if options.per_file == 0:
        return 1
    query = make_query(options, typed, cwd)
    try:
        answers = _search(query, typed, os.fsdecode(cwd), options.sort)
    except QueryError as error:
        raise FlagError(error.text) from None
    failed = tell_faults(answers, typed, options)
    found = _gather(answers, typed, options)
    if not options.quiet:
        show(found, answers, options, terminal=terminal)
    if found and (options.quiet or not failed):
        return 0
    return 2 if failed else 1


def _search(query: Query, typed: list[Typed], cwd: str, sort: str) -> list[Answer]:
    """The answers, one, or one for every path where they must be told apart."""
    workspace = Workspace(cwd)
    capped = query.reading.max_size is not None
    if not capped and (len(typed) == 1 or (sort == "none" and not roots.overlap(typed))):
        return [workspace.search(query)]
    from dataclasses import replace

    answers: list[Answer] = []
    for root in query.roots:
        part = replace(query, roots=(root,))
        if capped and workspace.stat(root.path).kind == "file":
            # A file that was named is meant, whatever its size.
            part = replace(part, reading=replace(query.reading, max_size=None))
        answers.append(workspace.search(part))
    return answers


def _gather(answers: list[Answer], typed: list[Typed], options: Options) -> Found:
    """The hits with their paths as shown, in the order that was asked for."""
    found: Found = []
    for place, answer in enumerate(answers):
        below = typed if len(answers) == 1 else [typed[place]]
        part = list(zip(roots.shown_paths(answer.hits, below), answer.hits, strict=True))
        if options.sort == "path":
            part.sort(key=_by_parts)
        found.extend(part)
    if options.sort == "path" and options.reverse:
        found.sort(key=_by_parts, reverse=True)
    elif options.sort == "modified" and len(answers) > 1:
        found.sort(key=lambda each: each[1].time or 0, reverse=options.reverse)
    if options.mode in ("counts", "matches"):
        # The count of a file that was given up is no count of the file.
        return [each for each in found if each[1].binary is None]
    return found


def _by_parts(found: tuple[bytes, Hit]) -> bytes:
    # Names are compared one by one, so that `a/b` comes before `a-b`.
    return found[0].replace(b"/", b"\0")
