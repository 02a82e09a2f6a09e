"""Says what was measured: a table for people, and a results file for later comparison.

The file names the machine by its parts (processor, cores, memory, file system), never by its host
name, and holds no path of it.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from contests import MODES
from rounds import Outcome
from stops import Stops

import evergrep

GIBIBYTE = 1 << 30


def machine(tree: Path) -> dict[str, Any]:
    """What the numbers depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / GIBIBYTE, 1),
        "kernel": f"{platform.system()} {re.match(r'[0-9.]*', platform.release()).group()}",  # type: ignore[union-attr]
        "file_system": _file_system(tree),
        "load_before": load(),
    }


def load() -> float:
    """How many programs wanted a core in the last minute, ours among them."""
    return round(os.getloadavg()[0], 2)


def versions(rg: Path) -> dict[str, str]:
    """What was compared."""
    said = subprocess.run([rg, "--version"], capture_output=True, text=True).stdout
    return {
        "evergrep": evergrep.__version__,
        "commit": _commit(),
        "ripgrep": said.splitlines()[0].removeprefix("ripgrep "),
        "python": platform.python_version(),
    }


def short_name(described: dict[str, Any]) -> str:
    """A name for the machine that says what it is, not which."""
    words = re.findall(r"[a-z0-9]+", described["processor"].lower())
    return "-".join([*words[:3], f"{described['cores']}cores"])


def save(folder: Path, results: dict[str, Any]) -> Path:
    """Write the results file; its name is the date and the machine's kind."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{results['date'][:10]}-{short_name(results['machine'])}.json"
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def now() -> str:
    """The date and time of a run, in the world's time."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


# --- the table --------------------------------------------------------------------------------

HEAD = ("query", "found", "ours ms", "rg ms", "cpu ours", "cpu rg", "ratio", "spread", "goal", "")
WIDTHS = (17, 7, 9, 9, 8, 8, 7, 13, 6, 0)


def print_mode(tree: str, mode: str) -> None:
    """The head of one part of the table."""
    print(f"\n{tree}: {MODES[mode]}")
    print(_row(HEAD), flush=True)


def print_outcome(outcome: Outcome) -> None:
    """One row."""
    low, high = outcome.spread
    verdict = outcome.verdict
    if verdict == "met" and outcome.aim is not None:
        reached = outcome.ratio <= outcome.aim
        verdict = f"met, aim {outcome.aim} {'reached' if reached else 'not reached'}"
    if verdict == "missed":
        verdict = "MISSED"
    if outcome.start is not None:
        verdict += f" (Python's start: {1000 * outcome.start.median:.1f} ms)"
    cells = (
        outcome.query,
        str(outcome.found),
        f"{1000 * outcome.ours.median:.1f}",
        f"{1000 * outcome.peer.median:.1f}",
        f"{1000 * outcome.ours.cpu:.0f}",
        f"{1000 * outcome.peer.cpu:.0f}",
        f"{outcome.ratio:.3f}",
        f"{low:.3f}-{high:.3f}",
        "-" if outcome.goal is None else f"{outcome.goal:g}",
        verdict,
    )
    print(_row(cells), flush=True)
    if outcome.difference:
        print(f"    WRONG ANSWER: {outcome.difference}", flush=True)


def print_stops(stops: list[Stops]) -> None:
    """The part about cancels and deadlines."""
    print("\nfrom the order to stop to the end of the work, in ms")
    for each in stops:
        told = f"p50 {each.p50:8.2f}  p99 {each.p99:8.2f}  most {each.most:8.2f}"
        late = "MISSED" if each.verdict == "missed" else each.verdict
        print(f"  {each.what:16} {each.on:16} {told}  goal {each.goal:g}  {late}", flush=True)


def print_end(outcomes: list[Outcome], stops: list[Stops]) -> None:
    """How it ended, in a few lines."""
    verdicts = [each.verdict for each in [*outcomes, *stops]]
    counts = {kind: verdicts.count(kind) for kind in dict.fromkeys(verdicts)}
    print("\n" + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    if "wrong" in verdicts:
        print("A wrong answer has no time: see WRONG ANSWER above.", file=sys.stderr)


def _row(cells: tuple[str, ...]) -> str:
    first, *rest = cells
    widths = WIDTHS[1:-1]
    middle = [f"{cell:>{width}}" for cell, width in zip(rest[:-1], widths, strict=True)]
    return "  ".join([f"  {first:{WIDTHS[0]}}", *middle, rest[-1]]).rstrip()


# --- the machine ------------------------------------------------------------------------------


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _file_system(tree: Path) -> str:
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return "unknown"
    mounts = [line.split()[1:3] for line in lines]
    holding = [(len(place), kind) for place, kind in mounts if tree.is_relative_to(place)]
    # The last of equals: a later mount hides an earlier one.
    return max(reversed(holding), default=(0, "unknown"), key=lambda each: each[0])[1]


def _commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True)
        changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True)
    except FileNotFoundError:
        return "unknown"
    if head.returncode != 0:
        return "unknown"
    return head.stdout.decode().strip() + (" and changes" if changed.stdout.strip() else "")
