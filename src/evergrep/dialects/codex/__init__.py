"""Codex's search tools, as OpenAI's Codex CLI had them in the release named here.

The contract is told in README.md beside this file; its source is the handler of that release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from evergrep.dialects.codex import grep_files
from evergrep.tools import Tool, definition

UPSTREAM = "openai/codex 0.116.0 (tag rust-v0.116.0), which ships ripgrep 15.1.0"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a host may choose."""

    raw_names: bool = False
    """Print names with control characters as they are, as the original does."""


def tools(settings: Settings) -> tuple[Tool, ...]:
    """The tools of one session."""
    shape = definition(__name__, "grep_files.json")
    return (
        Tool(
            dialect="codex",
            name=shape["name"],
            description=shape["description"],
            input_schema=shape["parameters"],
            run=partial(grep_files.run, raw_names=settings.raw_names),
        ),
    )
