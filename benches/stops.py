"""How long the engine takes to notice that it should stop: a cancel flag, a deadline, a lost task.

Each sample waits a moment drawn from the seed, so that it strikes at any stage of a query. Besides
a whole tree there are things on which an engine that only looks up between files, between lines or
between pieces of a fixed size would be late.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trees import Tree

import evergrep

ENGINE_GOAL, CALL_GOAL = 0.010, 0.100
SLOW_PATTERN = r"([a-z]+ ){5}[0-9]{9}"
"""Has no literal to jump to, and matches next to nothing."""
SLOWEST_PATTERN = r"\b(\w+ ){5}\d{9}\b"
"""A word border in text that is not ASCII: the regex crate's slowest engine, some 10 MB/s."""
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Stops:
    """The latencies of one way to stop, on one thing to search, in milliseconds."""

    what: str
    on: str
    samples: int
    too_short: int
    """Samples whose query had ended by itself; not counted."""
    p50: float
    p99: float
    most: float
    goal: float
    verdict: str

    def plain(self) -> dict[str, Any]:
        """For the results file."""
        return asdict(self)


def run(tree: Tree, cache: Path, samples: int, seed: int, sizes: int) -> list[Stops]:
    """All ways to stop, on the tree and on what could make an engine late (`sizes` in MiB)."""
    cache.mkdir(parents=True, exist_ok=True)
    english = b"every sentence is nothing but a string of numbers, 123 and counting"
    russian = "каждое предложение не более чем строка чисел, 123 и так далее".encode()
    size = sizes * MEBIBYTE
    things = {
        tree.name: (tree.path, SLOW_PATTERN),
        "one large file": (_file(cache / "lines.txt", size, english + b"\n"), SLOW_PATTERN),
        "one long line": (_file(cache / "line.txt", size, english + b" "), SLOW_PATTERN),
        "slowest engine": (_slow_files(cache / "slow", russian + b"\n"), SLOWEST_PATTERN),
    }
    found: list[Stops] = []
    for name, (path, pattern) in things.items():
        workspace = evergrep.Workspace(path if path.is_dir() else path.parent, index="off")
        query = evergrep.Query(
            roots=(evergrep.Root(os.fsencode(path)),), pattern=evergrep.Pattern(pattern)
        )
        whole = _seconds(lambda workspace=workspace, query=query: workspace.search(query))
        draw = random.Random(seed)
        moments = [draw.uniform(0.02, 0.9) * min(whole, 0.5) for _ in range(samples)]
        cancels = [_cancel(workspace, query, moment) for moment in moments]
        found.append(_condense("cancel flag", name, cancels, ENGINE_GOAL))
        deadlines = [_deadline(workspace, query, moment) for moment in moments]
        found.append(_condense("deadline", name, deadlines, ENGINE_GOAL))
        tasks = [asyncio.run(_task(workspace, path, pattern, moment)) for moment in moments]
        found.append(_condense("acall cancelled", name, tasks, CALL_GOAL))
    return found


def _cancel(workspace: evergrep.Workspace, query: evergrep.Query, moment: float) -> float | None:
    """From the setting of the flag to the return of the call."""
    cancel = evergrep.Cancel()
    struck = 0.0

    def strike() -> None:
        nonlocal struck
        time.sleep(moment)
        struck = time.perf_counter()
        cancel.set()

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        workspace.search(query, cancel)
    except evergrep.QueryError:
        returned = time.perf_counter()
        thread.join()
        return returned - struck
    thread.join()
    return None


def _deadline(workspace: evergrep.Workspace, query: evergrep.Query, moment: float) -> float | None:
    """How far past its deadline the call returns."""
    limited = evergrep.Query(roots=query.roots, pattern=query.pattern, deadline=moment)
    started = time.perf_counter()
    answer = workspace.search(limited)
    late = time.perf_counter() - started - moment
    return late if answer.stopped is not None else None


async def _task(
    workspace: evergrep.Workspace, path: Path, pattern: str, moment: float
) -> float | None:
    """From a task's cancel to the end of the engine's thread, which the task does not wait for."""
    tool = evergrep.tool("codex.grep_files", workspace, env={})
    task = asyncio.ensure_future(tool.acall({"pattern": pattern, "path": str(path)}))
    await asyncio.sleep(moment)
    if task.done():
        return None
    threads = [each for each in threading.enumerate() if each.name.startswith("evergrep ")]
    struck = time.perf_counter()
    task.cancel()
    await asyncio.wait([task])
    for thread in threads:
        thread.join()
    return time.perf_counter() - struck


def _condense(what: str, on: str, latencies: list[float | None], goal: float) -> Stops:
    counted = sorted(1000 * each for each in latencies if each is not None)
    short = len(latencies) - len(counted)
    if not counted:
        return Stops(what, on, 0, short, 0, 0, 0, 1000 * goal, "not measured")
    p99 = counted[min(len(counted) - 1, round(0.99 * len(counted)))]
    return Stops(
        what=what,
        on=on,
        samples=len(counted),
        too_short=short,
        p50=round(statistics.median(counted), 3),
        p99=round(p99, 3),
        most=round(counted[-1], 3),
        goal=1000 * goal,
        verdict="met" if p99 <= 1000 * goal else "missed",
    )


def _seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _slow_files(folder: Path, text: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(16):
        _file(folder / f"{number}.txt", MEBIBYTE - len(text), text)
    return folder


def _file(path: Path, size: int, text: bytes) -> Path:
    if not path.is_file() or path.stat().st_size < size:
        path.write_bytes(text * (size // len(text) + 1))
    return path
