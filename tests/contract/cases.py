"""Recorded cases: what was asked, what the original answered, and which cases are not for us.

An agent's folder holds `cases.jsonl`, `trees.jsonl` and `requirements.toml`, and nothing else
has to be told about it. This file knows the formats, told in README.md, but no agent by name.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from contract.recorded_trees import Place

HERE = Path(__file__).parent
UNSUPPORTED = ("steps", "abort", "kind", "snapshotsOf")


def agents() -> list[str]:
    """The agents that have a folder here."""
    return sorted(each.parent.name for each in HERE.glob("*/requirements.toml"))


@dataclass(frozen=True)
class Expected:
    """What a call must answer; None where the recording has no such flag."""

    text: str
    is_error: bool | None = None
    success: bool | None = None


@dataclass(frozen=True)
class Outcome:
    """What a door gave; None where that door doesn't show the flag."""

    text: str
    is_error: bool | None = None
    success: bool | None = None


@dataclass(frozen=True)
class Case:
    """One recorded call."""

    id: str
    tool: str
    tree: str
    raw: Mapping[str, Any] = field(repr=False)
    expected: Expected = field(repr=False)

    @property
    def requires(self) -> list[str]:
        return self.raw.get("requires", [])

    @property
    def ordinary(self) -> bool:
        """Whether permission bits must bind, as they don't for root."""
        return "non-root" in self.requires


@dataclass(frozen=True)
class Request:
    """A case as a door takes it: plain values, on a tree that stands."""

    tool: str
    settings: dict[str, Any]
    root: str
    cwd: str
    env: dict[str, str]
    arguments: dict[str, Any] | str
    """An object, or JSON text to be passed through as it is."""
    ordinary: bool


@dataclass(frozen=True)
class Suite:
    """All of one agent's cases, and its requirements."""

    folder: Path

    @cached_property
    def table(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "requirements.toml").read_text("utf-8"))

    @cached_property
    def trees(self) -> dict[str, list[Mapping[str, Any]]]:
        return {tree["tree"]: tree["entries"] for tree in _lines(self.folder / "trees.jsonl")}

    @cached_property
    def cases(self) -> dict[str, Case]:
        """Every case by its id, with our own text where a known difference has one."""
        differs = {each["case"]: each for each in self.table.get("differs", [])}
        found: dict[str, Case] = {}
        for raw in _lines(self.folder / "cases.jsonl"):
            name = raw["id"]
            if name in found:
                raise ValueError(f"two cases are called {name}")
            ours = {key: differs[name][key] for key in ("text", "success") if name in differs}
            expected = _expected({**raw["expect"], **ours}, self.table.get("not_errors", []))
            found[name] = Case(name, raw["tool"], raw["tree"], raw, expected)
        unknown = differs.keys() - found.keys()
        if unknown:
            raise ValueError(f"[[differs]] names no case: {sorted(unknown)}")
        return found

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The reason by id for every case that is not for us; the first rule that fits wins."""
        differs = {each["case"] for each in self.table.get("differs", [])}
        reasons: dict[str, str] = {}
        for case in self.cases.values():
            for rule in self.table.get("excluded", []):
                if case.id not in differs and _fits(rule, case):
                    reasons[case.id] = rule["reason"]
                    break
        return reasons

    @cached_property
    def ours(self) -> list[Case]:
        """The cases to be answered."""
        kept = [case for case in self.cases.values() if case.id not in self.left_out]
        for case in kept:
            missing = [name for name in UNSUPPORTED if name in case.raw]
            if missing:
                raise ValueError(f"{case.id} needs {missing}, which nothing here does yet")
        return kept

    def summary(self) -> str:
        """How many cases there are, and how many each rule leaves out."""
        counts = Counter(self.left_out.values())
        parts = [f"{count} left out: {reason}" for reason, count in counts.most_common()]
        return f"{len(self.ours)} of {len(self.cases)} cases; " + "; ".join(parts)


def suite(agent: str) -> Suite:
    """The suite of that agent."""
    return Suite(HERE / agent)


def request(case: Case, place: Place) -> Request:
    """The case as a door takes it."""
    raw = case.raw
    arguments = raw["args_raw"] if "args_raw" in raw else place.fill(raw["args"])
    return Request(
        tool=case.tool,
        settings=place.fill(raw.get("settings", {})),
        root=str(place.root),
        cwd=str(place.root / place.fill(raw.get("cwd", ""))),
        env={"HOME": str(place.home), **place.fill(raw.get("env", {}))},
        arguments=arguments,
        ordinary=case.ordinary,
    )


def fault(case: Case, place: Place, outcome: Outcome) -> str | None:
    """What is wrong with an outcome, with both sides shown; None where nothing is."""
    expected = place.fill(case.expected.text)
    faults: list[str] = []
    if not _same_text(case, expected, outcome.text):
        faults.append(f"text:\n    expected {expected!r}\n    got      {outcome.text!r}")
    for flag in ("is_error", "success"):
        wanted, got = getattr(case.expected, flag), getattr(outcome, flag)
        if wanted is not None and got is not None and wanted != got:
            faults.append(f"{flag}: expected {wanted}, got {got}")
    if not faults:
        return None
    return f"{case.id} {case.raw.get('args', case.raw.get('args_raw'))!r}\n  " + "\n  ".join(faults)


def _same_text(case: Case, expected: str, got: str) -> bool:
    if expected == got:
        return True
    if "{RAND}" in expected:
        pattern = ".{6}".join(re.escape(piece) for piece in expected.split("{RAND}"))
        return re.fullmatch(pattern, got, re.DOTALL) is not None
    match case.raw.get("order"):
        case None:
            return False
        case "ties" | "mtime-ties":
            left, right = expected.split("\n"), got.split("\n")
            return Counter(left) == Counter(right) and _times(left) == _times(right)
        case other:
            raise ValueError(f"{case.id}: nothing here compares by the order {other!r} yet")


def _times(lines: list[str]) -> list[int]:
    return [os.lstat(line).st_mtime_ns for line in lines]


def _expected(expect: Mapping[str, Any], not_errors: list[str]) -> Expected:
    if "text" not in expect:
        raise ValueError(f"nothing here compares {sorted(expect)} yet")
    is_error = expect.get("is_error")
    success = expect.get("success")
    if is_error is None and success is not None:
        is_error = not success and expect["text"] not in not_errors
    return Expected(expect["text"], is_error, success)


def _fits(rule: Mapping[str, Any], case: Case) -> bool:
    return (
        rule.get("tool", case.tool) == case.tool
        and rule.get("case", case.id) == case.id
        and ("requires" not in rule or rule["requires"] in case.requires)
        and ("order" not in rule or rule["order"] == case.raw.get("order"))
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
