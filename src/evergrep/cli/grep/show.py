"""Prints what was found, in the mode that was asked for, in large blocks."""

from __future__ import annotations

from collections.abc import Iterable

from evergrep.cli.grep import lines
from evergrep.cli.grep.options import Options
from evergrep.cli.printing import inert, write
from evergrep.query import Answer, Hit

BLOCK = 1 << 18
"""How many bytes are gathered before they are written."""

Found = list[tuple[bytes, Hit]]
"""Each hit with its path as it is shown."""


def show(found: Found, answers: list[Answer], options: Options, *, terminal: bool) -> None:
    """Print all that was found; to a terminal, made inert."""
    clean = inert if terminal else None
    if options.mode in ("files", "list"):
        if found:
            write(lines.path_list([path for path, _ in found], options, clean))
    elif options.mode == "json":
        from evergrep.cli.grep import json_lines

        _write_blocks(json_lines.file_messages(path, hit) for path, hit in found)
    else:
        states = [root for answer in answers for root in answer.roots]
        named = {root.path for root in states if root.found == "file"}
        with_path = options.with_path
        if with_path is None:
            with_path = options.each_match or len(states) != 1 or states[0].found == "folder"
        layout = lines.Layout(options, named, with_path=with_path, clean=clean)
        if options.mode == "counts":
            _write_blocks(layout.count(path, hit.count or 0) for path, hit in found)
        elif options.mode == "matches":
            _write_blocks(layout.count(path, _matches(hit)) for path, hit in found)
        else:
            _write_blocks(layout.file(path, hit) for path, hit in found)
    if options.stats or options.mode == "json":
        _print_numbers(found, answers, options)


def _write_blocks(blocks: Iterable[bytes]) -> None:
    waiting: list[bytes] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block)
        if size >= BLOCK:
            write(b"".join(waiting))
            waiting, size = [], 0
    if waiting:
        write(b"".join(waiting))


def _matches(hit: Hit) -> int:
    return sum(len(line.spans) for line in hit.lines)


def _print_numbers(found: Found, answers: list[Answer], options: Options) -> None:
    matched = sum(hit.count or 0 for _, hit in found)
    matches = sum(_matches(hit) for _, hit in found)
    searched = sum(answer.seen.searched for answer in answers)
    size = sum(answer.seen.bytes for answer in answers)
    seconds = sum(answer.seen.seconds for answer in answers)
    if options.mode == "json":
        from evergrep.cli.grep import json_lines

        numbers = {
            "searches": searched,
            "searches_with_match": len(found),
            "bytes_searched": size,
            "matched_lines": matched,
            "matches": matches,
        }
        write(json_lines.summary_message(numbers, seconds))
        return
    told: list[str] = []
    if options.mode in ("lines", "matches"):
        told.append(f"{matches} matches")
    if options.mode not in ("files", "list"):
        told.append(f"{matched} matched lines")
    told.append(f"{len(found)} files contained matches")
    told.append(f"{searched} files searched")
    told.append(f"{size} bytes searched")
    told.append(f"{seconds:.6f} seconds")
    told.append(f"answered by: {answers[0].seen.mode}")
    write(("\n" + "\n".join(told) + "\n").encode())
