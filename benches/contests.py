"""What is timed against what: ours and ripgrep, for one query, in one mode, with its goal.

Each side hands back a Timing whose answer was brought into one form after the clock stopped, so
that the two can be compared. Rounds, turns and ratios are `rounds.py`'s; words are `report.py`'s.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from queries import Question
from trees import Tree

import evergrep

LIMIT = 100
FREQUENT_GOAL, FREQUENT_AIM, OTHER_GOAL = 0.2, 0.1, 0.6
CONTENT_QUERIES = (
    "rare-literal",
    "common-words",
    "word-identifier",
    "todo-fixme",
    "no-literal",
    "no-match",
    "multiline-struct",
)
MODES = {
    "newest": "the newest 100 files, newest first: library, against rg --sortr=modified -l",
    "ties": "the same, with the times an archive gives, nearly all of them equal",
    "walk": "all matching files, unsorted: library, against rg -l",
    "command": "all matching files: evergrep grep -l less Python's start, against rg -l",
    "content": "all matching lines: library, against rg -n",
}


@dataclass(frozen=True)
class Timing:
    """One run of one side."""

    seconds: float
    cpu: float
    """Seconds of processor time, over all threads."""
    answer: Any = None
    fault: str = ""
    """What went wrong instead of an answer."""


@dataclass(frozen=True)
class Contest:
    """Ours and ripgrep on one query."""

    tree: str
    mode: str
    query: str
    kind: str
    goal: float | None
    aim: float | None
    within_spread: bool
    """Whether a ratio whose spread reaches down to the goal meets it."""
    ours: Callable[[], Timing]
    peer: Callable[[], Timing]
    start: Callable[[], Timing] | None = None
    """What is subtracted from ours, and shown: the interpreter's own start."""


@dataclass(frozen=True)
class Bench:
    """The sides' surroundings: programs, and an environment without anyone's configuration."""

    rg: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """The process's, less whatever could configure ripgrep, git or Python's start."""
        mute = ("RIPGREP_CONFIG_PATH", "XDG_CONFIG_HOME", "GIT_CONFIG", "PYTHON")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(mute)}
        return {**kept, "HOME": str(self.home)}


def contests(bench: Bench, tree: Tree, mode: str, questions: list[Question]) -> Iterator[Contest]:
    """The contests of one mode on one tree."""
    make = {"newest": _newest, "ties": _newest, "walk": _walk, "command": _command}
    for question in questions:
        if mode in ("newest", "ties") and question.multi_line:
            continue  # Codex's tool has no way to ask for it
        if mode == "ties" and question.kind not in ("frequent", "absent", "literal-free"):
            continue
        if mode == "content":
            if question.id in CONTENT_QUERIES:
                yield _content(bench, tree, question)
        else:
            yield make[mode](bench, tree, mode, question)


# --- the modes --------------------------------------------------------------------------------


def _newest(bench: Bench, tree: Tree, mode: str, question: Question) -> Contest:
    pattern = f"(?i){question.pattern}" if question.ignore_case else question.pattern
    workspace = evergrep.Workspace(tree.path, index="off")
    tool = evergrep.tool("codex.grep_files", workspace, env=bench.environment)

    def ours() -> Timing:
        timing = library(lambda: tool({"pattern": pattern, "limit": LIMIT}))
        if timing.fault:
            return timing
        reply = timing.answer
        if reply.text == "No matches found.":
            return replace(timing, answer=[])
        if not reply.success:
            return replace(timing, answer=[], fault=reply.text)
        return replace(timing, answer=[os.fsencode(path) for path in reply.text.split("\n")])

    # As Codex runs it: everything is searched and read, then cut.
    sorting = ["--files-with-matches", "--sortr=modified", "--regexp", pattern, "--no-messages"]

    def peer() -> Timing:
        timing = program(
            [bench.rg, "--no-config", *sorting, "--", tree.path], bench.environment, tree.path
        )
        # ripgrep leaves ties in the order of the folder; ours go by path, as the contract has it.
        paths = sorted(timing.answer.splitlines(), key=_newest_first)
        return replace(timing, answer=paths[:LIMIT])

    frequent = question.kind == "frequent" and tree.large
    goal, aim = (FREQUENT_GOAL, FREQUENT_AIM) if frequent else (OTHER_GOAL, None)
    return Contest(tree.name, mode, question.id, question.kind, goal, aim, False, ours, peer)


def _newest_first(path: bytes) -> tuple[int, bytes]:
    return -os.lstat(path).st_mtime_ns, path


def query_for(tree: Tree, question: Question, want: Literal["files", "lines"]) -> evergrep.Query:
    """A question as a Query for everything there is, in the order of the walk."""
    return evergrep.Query(
        roots=(evergrep.Root(os.fsencode(tree.path)),),
        pattern=evergrep.Pattern(
            question.pattern, ignore_case=question.ignore_case, multi_line=question.multi_line
        ),
        want=evergrep.Want(kind=want),
        order="walk",
    )


def _walk(bench: Bench, tree: Tree, mode: str, question: Question) -> Contest:
    workspace = evergrep.Workspace(tree.path, index="off")
    query = query_for(tree, question, "files")

    def ours() -> Timing:
        timing = library(lambda: workspace.search(query))
        hits = timing.answer.hits if timing.answer else ()
        return replace(timing, answer=sorted(hit.path for hit in hits))

    peer = _rg_files(bench, tree, question)
    return Contest(tree.name, mode, question.id, question.kind, 1.0, None, True, ours, peer)


def _command(bench: Bench, tree: Tree, mode: str, question: Question) -> Contest:
    evergrep_program = Path(sys.executable).parent / "evergrep"
    command = [evergrep_program, "grep", "-l", *question.flags, question.pattern, tree.path]

    def ours() -> Timing:
        timing = program(command, bench.environment, tree.path)
        return replace(timing, answer=sorted(timing.answer.splitlines()))

    def start() -> Timing:
        return program([sys.executable, "-c", "pass"], bench.environment, tree.path)

    peer = _rg_files(bench, tree, question)
    return Contest(tree.name, mode, question.id, question.kind, 1.0, None, True, ours, peer, start)


def _content(bench: Bench, tree: Tree, question: Question) -> Contest:
    workspace = evergrep.Workspace(tree.path, index="off")
    query = query_for(tree, question, "lines")

    def ours() -> Timing:
        timing = library(lambda: workspace.search(query))
        lines = as_ripgrep_prints(timing.answer) if timing.answer else ()
        return replace(timing, answer=sorted(lines))

    asked = ["--line-number", *question.flags, "-e", question.pattern]

    def peer() -> Timing:
        command = [bench.rg, "--no-config", *asked, "--", tree.path]
        timing = program(command, bench.environment, tree.path)
        return replace(timing, answer=sorted(timing.answer.split(b"\n")[:-1]))

    # No goal is set for lines yet: a Python object each is what a caller pays for.
    return Contest(tree.name, "content", question.id, question.kind, None, None, True, ours, peer)


def _rg_files(bench: Bench, tree: Tree, question: Question) -> Callable[[], Timing]:
    asked = ["--files-with-matches", *question.flags, "-e", question.pattern]

    def peer() -> Timing:
        command = [bench.rg, "--no-config", *asked, "--", tree.path]
        timing = program(command, bench.environment, tree.path)
        return replace(timing, answer=sorted(timing.answer.splitlines()))

    return peer


def as_ripgrep_prints(answer: evergrep.Answer) -> Iterator[bytes]:
    """The lines of an Answer as `rg -n` writes them to a pipe."""
    for hit in answer.hits:
        for line in hit.lines:
            yield b"%s:%d:%s" % (hit.path, line.number, line.bytes)
        if hit.binary is not None:
            yield (
                b"%s: WARNING: stopped searching binary file after match "
                b'(found "\\0" byte around offset %d)' % (hit.path, hit.binary)
            )


# --- one run ----------------------------------------------------------------------------------


def library(call: Callable[[], Any]) -> Timing:
    """Time a call in this process."""
    gc.collect()  # what earlier runs left is not this one's to sweep
    cpu, started = time.process_time(), time.perf_counter()
    answer, fault = None, ""
    try:
        answer = call()
    except evergrep.QueryError as error:
        fault = error.text
    seconds = time.perf_counter() - started
    return Timing(seconds, time.process_time() - cpu, answer, fault)


def program(command: list[Any], environment: dict[str, str], cwd: Path) -> Timing:
    """Time a program from its start until all it wrote is read and it is reaped."""
    with tempfile.TemporaryFile() as complaints:
        cpu = _cpu_of_children()
        started = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
        )
        seconds = time.perf_counter() - started
        spent = _cpu_of_children() - cpu
        if done.returncode not in (0, 1):
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()
            return Timing(seconds, spent, b"", f"exit {done.returncode}: {said}")
    return Timing(seconds, spent, done.stdout)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
