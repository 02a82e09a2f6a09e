"""Requirements and their evidence: reads `requirements.toml` and says what is missing in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from contract.cases import Suite

FIELDS = {"id", "says", "source", "shown_by", "difference"}


def missing(suite: Suite) -> list[str]:
    """Every row without evidence, and all evidence that isn't there."""
    rows = suite.table["requirement"]
    found: list[str] = []
    seen: set[str] = set()
    for row in rows:
        name = row["id"]
        if name in seen:
            found.append(f"{name} stands there twice")
        seen.add(name)
        unknown = row.keys() - FIELDS
        if unknown:
            found.append(f"{name} has unknown fields: {sorted(unknown)}")
        if not row.get("says") or not row.get("source"):
            found.append(f"{name} lacks its sentence or its source")
        if not row.get("shown_by") and not row.get("difference"):
            found.append(f"{name} has neither a case nor a test nor a known difference")
        for witness in row.get("shown_by", []):
            fault = _witness_fault(suite, witness, bool(row.get("difference")))
            if fault is not None:
                found.append(f"{name}: {fault}")
    return found


def _witness_fault(suite: Suite, witness: str, excused: bool) -> str | None:
    file, is_test, function = witness.partition("::")
    if is_test:
        if function not in set(_tests(suite.folder / file)):
            return f"there is no test {witness}"
        return None
    if witness not in suite.cases:
        return f"there is no case {witness}"
    if witness in suite.left_out and not excused:
        return f"case {witness} is left out ({suite.left_out[witness]})"
    return None


def _tests(path: Path) -> Iterator[str]:
    if path.is_file():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name
