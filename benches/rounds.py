"""Runs contests in rounds, the sides taking turns, and condenses the times to ratios.

Only the ratio of two runs of the same round is trusted: a noisy moment then hits both. Every
answer of ours is compared with ripgrep's; a difference makes the outcome wrong, however fast.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from contests import Contest, Timing

SAMPLE = 3
"""How many paths or lines of a difference are shown."""


@dataclass(frozen=True)
class Times:
    """What one side took, in seconds."""

    best: float
    median: float
    cpu: float


@dataclass(frozen=True)
class Outcome:
    """One contest, decided."""

    tree: str
    mode: str
    query: str
    kind: str
    found: int
    ours: Times
    peer: Times
    start: Times | None
    ratio: float
    """The median over the rounds of our time to ripgrep's; less than 1 is faster."""
    spread: tuple[float, float]
    """The quartiles of the same."""
    goal: float | None
    aim: float | None
    verdict: str
    """`met`, `within spread`, `missed`, `shown` where there is no goal, or `wrong`."""
    difference: str = ""

    def plain(self) -> dict[str, Any]:
        """For the results file, times in milliseconds."""
        return {
            name: _milliseconds(value) if name in ("ours", "peer", "start") else value
            for name, value in asdict(self).items()
        }


def run(contest: Contest, rounds: int, calm: float = 0) -> Outcome:
    """Warm up once, then hold the rounds; who begins changes with every round.

    On a shared machine each round waits up to `calm` seconds for a moment without other work.
    """
    sides: dict[str, Callable[[], Timing]] = {"ours": contest.ours, "peer": contest.peer}
    if contest.start is not None:
        sides["start"] = contest.start
    times: dict[str, list[Timing]] = {name: [] for name in sides}
    difference, found = "", 0
    for turn in range(rounds + 1):
        names = list(sides) if turn % 2 else list(sides)[::-1]
        wait_for_calm(calm)
        timings = {name: sides[name]() for name in names}
        difference = difference or differ(timings["ours"], timings["peer"])
        found = len(timings["peer"].answer)
        if turn > 0:
            for name, timing in timings.items():
                # The answers are of no more use, and content has hundreds of megabytes.
                times[name].append(Timing(timing.seconds, timing.cpu))
    return decide(contest, times, found, difference)


def decide(
    contest: Contest, times: dict[str, list[Timing]], found: int, difference: str
) -> Outcome:
    """Condense the rounds."""
    own = [timing.seconds for timing in times["ours"]]
    if "start" in times:
        start = statistics.median(timing.seconds for timing in times["start"])
        own = [seconds - start for seconds in own]
    ratios = [seconds / peer.seconds for seconds, peer in zip(own, times["peer"], strict=True)]
    low, ratio, high = quartiles(ratios)
    return Outcome(
        tree=contest.tree,
        mode=contest.mode,
        query=contest.query,
        kind=contest.kind,
        found=found,
        ours=_condense(times["ours"]),
        peer=_condense(times["peer"]),
        start=_condense(times["start"]) if "start" in times else None,
        ratio=ratio,
        spread=(low, high),
        goal=contest.goal,
        aim=contest.aim,
        verdict="wrong" if difference else judge(contest, low, ratio),
        difference=difference,
    )


def judge(contest: Contest, low: float, ratio: float) -> str:
    """Whether a ratio meets the goal."""
    if contest.goal is None:
        return "shown"
    if ratio <= contest.goal:
        return "met"
    return "within spread" if contest.within_spread and low <= contest.goal else "missed"


def differ(ours: Timing, peer: Timing) -> str:
    """How our answer differs from ripgrep's, in a few words; empty when it doesn't."""
    for name, timing in (("ours", ours), ("ripgrep", peer)):
        if timing.fault:
            return f"{name} failed: {timing.fault:.300}"
    if ours.answer == peer.answer:
        return ""
    missing = _some(peer.answer, ours.answer)
    extra = _some(ours.answer, peer.answer)
    if not missing and not extra:
        return "the same, in another order or another number of times"
    count = f"{len(ours.answer)} instead of {len(peer.answer)}"
    return f"{count}; missing: {missing}; too many: {extra}"


def wait_for_calm(seconds: float) -> None:
    """Wait until nothing else is at work, for so long at most; only Linux tells."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = _idle_and_all()
        time.sleep(0.03)
        idle, ticks = (now - then for now, then in zip(_idle_and_all(), before, strict=True))
        if ticks and idle / ticks > 0.9:
            return


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _some(these: list[Any], those: list[Any]) -> list[Any]:
    absent = set(those)
    return [each for each in these if each not in absent][:SAMPLE]


def _idle_and_all() -> tuple[int, int]:
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)


def _condense(timings: list[Timing]) -> Times:
    seconds = [timing.seconds for timing in timings]
    return Times(
        min(seconds), statistics.median(seconds), statistics.median(each.cpu for each in timings)
    )


def _milliseconds(times: Any) -> Any:
    return times and {name: round(1000 * value, 3) for name, value in times.items()}
