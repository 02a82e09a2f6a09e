"""What could not be searched, told on standard error: each path and why, a few lines at most."""

from __future__ import annotations

import os

from evergrep.cli.grep import roots
from evergrep.cli.grep.lines import safe_path
from evergrep.cli.grep.options import Options
from evergrep.cli.grep.roots import Typed
from evergrep.cli.printing import complain
from evergrep.query import Answer

TOLD = 10
"""How many paths are told one by one."""


def tell_faults(answers: list[Answer], typed: list[Typed], options: Options) -> bool:
    """Say what could not be searched; returns whether the answer lacks something by it."""
    faults: dict[str, str] = {}
    notes: dict[str, str] = {}
    hidden = 0
    for answer in answers:
        for state in answer.roots:
            # The empty file that people add to make a single path two.
            if state.found not in ("file", "folder") and state.path != b"/dev/null":
                faults[_shown(state.path, typed)] = _reason(state.found, state.error)
        for skipped in answer.skipped:
            if skipped.reason == "unreadable":
                faults[_shown(skipped.path, typed)] = _reason(skipped.reason, skipped.error)
            elif skipped.reason in ("long line", "changing", "rule file"):
                notes[_shown(skipped.path, typed)] = _reason(skipped.reason, skipped.error)
        told = sum(skipped.reason == "unreadable" for skipped in answer.skipped)
        hidden += max(0, dict(answer.seen.skipped).get("unreadable", 0) - told)
        if options.mode == "matches":
            named = {state.path for state in answer.roots if state.found == "file"}
            for hit in answer.hits:
                if hit.binary is not None and hit.path in named:
                    reason = "a binary file, whose matches can't be counted; -a takes it as text"
                    faults[_shown(hit.path, typed)] = reason
    if options.messages:
        for path, reason in list(faults.items())[:TOLD]:
            complain(f"{path}: {reason}")
        hidden += max(0, len(faults) - TOLD)
        if hidden:
            complain(f"and {hidden} more paths could not be read")
        for path, reason in list(notes.items())[:TOLD]:
            complain(f"{path}: {reason}")
        if len(notes) > TOLD:
            complain(f"and {len(notes) - TOLD} more files were searched with such limits")
    stopped = [answer.stopped for answer in answers if answer.stopped is not None]
    for each in stopped:
        lost = f", without {', '.join(each.lost)}" if each.lost else ""
        complain(f"the answer is not complete: stopped by {each.kind}{lost}")
    # A zero must mean zero: nothing was found because nothing was looked at.
    nothing = (
        not typed[0].shown
        and options.mode != "list"
        and not any(answer.seen.searched for answer in answers)
    )
    if nothing and options.messages and not faults:
        complain("no file was searched: there is none, or flags and ignore rules leave out all")
    return bool(faults or hidden or stopped or nothing)


def _shown(path: bytes, typed: list[Typed]) -> str:
    return os.fsdecode(safe_path(roots.shown_path(path, typed)))


def _reason(reason: str, error: int) -> str:
    if error:
        return os.strerror(error)
    return {
        "missing": "No such file or directory",
        "other": "neither a file nor a folder, so not searched",
        "long line": "a very long line was searched in pieces",
        "changing": "changed while it was searched",
        "rule file": "ignore rules in it could not be used",
    }.get(reason, "could not be read")
