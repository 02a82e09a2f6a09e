"""How long a file is, one version, and nothing of one machine."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Mapping

import pytest
from house.sources import CRATES, HOME, PACKAGE, Sources

import evergrep

BUDGET = 500
OVER_BUDGET: dict[str, str] = {}
"""Files that may be longer, each with its reason."""


def size_complaints(lengths: Mapping[str, int], over: Mapping[str, str]) -> list[str]:
    """Files over the budget that nobody has named, and names that need no exception."""
    long = {path for path, length in lengths.items() if length > BUDGET}
    return [f"{path}: {lengths[path]} lines" for path in sorted(long - over.keys())] + [
        f"{path}: is within the budget and needs no exception"
        for path in sorted(over.keys() - long)
    ]


def test_no_file_is_over_its_budget() -> None:
    """A file holds one idea; a long one holds two."""
    files = [*PACKAGE.rglob("*.py"), *CRATES.rglob("src/**/*.rs"), *HOME.glob("scripts/*.py")]
    lengths = {
        str(path.relative_to(HOME)): len(path.read_text().splitlines()) for path in sorted(files)
    }
    assert size_complaints(lengths, OVER_BUDGET) == []


def test_a_long_file_and_a_stale_exception_are_caught() -> None:
    """An exception outlives its reason unless it is looked for."""
    found = size_complaints({"a.py": 501, "b.py": 10, "c.py": 999}, {"b.py": "why", "c.py": "why"})
    assert found == ["a.py: 501 lines", "b.py: is within the budget and needs no exception"]


def version_complaints(cargo: str, changes: str, built: str) -> list[str]:
    """Places that tell another version than Cargo.toml, which is the one place."""
    version = tomllib.loads(cargo)["workspace"]["package"]["version"]
    heading = re.search(r"^## \[?v?(\d[^\]\s]*)", changes, re.M)
    newest = heading[1] if heading else "none"
    return [
        f"{where} says {said}, Cargo.toml {version}"
        for where, said in [("CHANGELOG.md", newest), ("the native module", built)]
        if said != version
    ]


def test_the_version_is_told_alike_everywhere() -> None:
    """It stands in Cargo.toml; a change log that lags behind is of no use to its readers."""
    cargo, changes = (HOME / "Cargo.toml").read_text(), (HOME / "CHANGELOG.md").read_text()
    assert version_complaints(cargo, changes, evergrep.__version__) == []


def test_a_version_that_differs_is_caught() -> None:
    """In the change log or in the module."""
    cargo = '[workspace.package]\nversion = "0.2.0"'
    assert version_complaints(cargo, "# Changes\n\n## 0.2.0\n\n## 0.1.0\n", "0.2.0") == []
    assert len(version_complaints(cargo, "## 0.1.0 - 2026-11-19\n## 0.2.0\n", "0.2.0")) == 1
    assert len(version_complaints(cargo, "## [0.2.0]\n", "0.1.0")) == 1


MACHINE = re.compile(
    r"(?<![\w.])/(?:work|home/[a-z]+|root|Users|tmp/w|opt/wheels)/"
    r"|https?://[^\s/\"')>]*(?:artifactory|nexus|mirror|proxy|internal|registry\.(?!npmjs))[^\s/]*"
    r"|https?://(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+"
    r"|\b(?:extra-)?index-url\b"
)
INDEX = "registry+https://github.com/rust-lang/crates.io-index"
MAY_HOLD_MACHINES = re.compile(r"^tests/(?:contract/.*\.jsonl|house/|safety/|doors/)")
"""Recorded trees and made-up paths in tests: data, not places."""


def machine_complaints(sources: Sources) -> list[str]:
    """Paths and hosts that exist on one machine only."""
    complaints = [
        f"{path}:{number}: {found[0]}"
        for path, text in sources.items()
        if not MAY_HOLD_MACHINES.match(path)
        for number, line in enumerate(text.splitlines(), 1)
        if INDEX not in line and (found := MACHINE.search(line))
    ]
    lock = sources.get("Cargo.lock", "")
    return complaints + [
        f"Cargo.lock: {source}"
        for source in sorted(set(re.findall(r'^source = "(.*)"', lock, re.M)) - {INDEX})
    ]


def tracked() -> dict[str, str]:
    """Every text file that is or would be committed."""
    listed = subprocess.run(
        # Whose folder it is does not matter to a listing.
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "-c", "-o", "--exclude-standard"],
        cwd=HOME,
        capture_output=True,
        check=True,
        timeout=60,
    )
    sources = {}
    for name in listed.stdout.decode().split("\0")[:-1]:
        path = HOME / name
        if path.is_file() and not path.is_symlink():
            body = path.read_bytes()
            if b"\0" not in body[:8000]:
                sources[name] = body.decode(errors="replace")
    return sources


def test_no_file_names_a_place_of_one_machine() -> None:
    """What is committed must build and run anywhere."""
    sources = tracked()
    assert "pyproject.toml" in sources
    assert machine_complaints(sources) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("Makefile", "RG = /Users/someone/target/rg"),
        ("a.toml", 'index-url = "https://index.example/simple"'),
        ("README.md", "see /home/someone/notes"),
        ("a.py", 'URL = "https://nexus.example.com/simple"'),
        ("a.py", 'URL = "http://10.0.0.7:8081/"'),
        ("Cargo.lock", 'source = "sparse+https://somewhere.example/index/"'),
    ],
)
def test_a_place_of_one_machine_is_caught(path: str, line: str) -> None:
    """A path, an index, a private host, a lock file made against another registry."""
    assert len(machine_complaints({path: line})) == 1
