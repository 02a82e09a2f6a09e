"""The house's sources, as the checks of this folder read them.

ARCHITECTURE.md states the rules. Each is a function that returns complaints about texts it is
handed; one test runs it on the house, another on a small text that breaks it, since a check that
never failed proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

HOME = Path(__file__).parent.parent.parent
PACKAGE = HOME / "src" / "evergrep"
CRATES = HOME / "crates"
ENGINE = CRATES / "engine" / "src"

Sources = Mapping[str, str]


def python_sources() -> dict[str, str]:
    """Module name to text, for every module of the package."""
    return {
        ".".join(["evergrep", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): path.read_text()
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def rust_sources() -> dict[str, str]:
    """Path below the engine's `src` to text."""
    return {
        str(path.relative_to(ENGINE)): path.read_text() for path in sorted(ENGINE.rglob("*.rs"))
    }


def without_comments(text: str) -> str:
    """Rust without its comments, its strings and what is only compiled for tests."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'b?"(?:[^"\\]|\\.)*"', '""', text)
    return re.split(r"#\[cfg\(test\)\]\s*mod ", text)[0]
