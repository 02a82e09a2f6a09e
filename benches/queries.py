"""The twelve queries an agent asks, with their patterns for each tree.

Data from queries.json; knows neither tools nor trees.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Question:
    """One of the twelve, for one tree."""

    id: str
    kind: str
    """`frequent`, `between`, `rare`, `absent` or `literal-free`: the goals differ by it."""
    pattern: str
    ignore_case: bool = False
    multi_line: bool = False

    @property
    def flags(self) -> list[str]:
        """What ripgrep's command line, and ours, needs beside the pattern."""
        return ["-i"] * self.ignore_case + ["-U"] * self.multi_line


def load(patterns: str) -> list[Question]:
    """The questions with the patterns of that name (`linux` or `django`)."""
    data = json.loads((Path(__file__).parent / "queries.json").read_text("utf-8"))
    return [Question(pattern=data["patterns"][patterns][q["id"]], **q) for q in data["queries"]]
