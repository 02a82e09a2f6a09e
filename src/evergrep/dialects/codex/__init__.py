"""Codex's search tools, as OpenAI's Codex CLI had them in the release named here.

The contract is told in README.md beside this file; its source is the handler of that release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from evergrep.dialects.codex import grep_files, list_dir
from evergrep.tools import Call, Reply, Tool, definition

UPSTREAM = "openai/codex 0.116.0 (tag rust-v0.116.0), which ships ripgrep 15.1.0"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a host may choose."""

    raw_names: bool = False
    """Print names with control characters as they are, as the original does."""
    sort_before_paging: bool = False
    """Sort the whole listing of list_dir and then take the page, as releases from 0.80 on do."""


def tools(settings: Settings) -> tuple[Tool, ...]:
    """The tools of one session."""
    listing = partial(
        list_dir.run,
        raw_names=settings.raw_names,
        sort_before_paging=settings.sort_before_paging,
    )
    return (
        _tool("grep_files.json", partial(grep_files.run, raw_names=settings.raw_names)),
        _tool("list_dir.json", listing),
    )


def _tool(file_name: str, run: Callable[[Call, bytes], Reply]) -> Tool:
    shape = definition(__name__, file_name)
    return Tool(
        dialect="codex",
        name=shape["name"],
        description=shape["description"],
        input_schema=shape["parameters"],
        run=run,
    )
