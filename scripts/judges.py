"""Builds the real ripgreps that we compare answers and times with, from their published sources.

    python scripts/judges.py FOLDER           rg-15.1.0 and rg-15.2.0, for answers; a few seconds
    python scripts/judges.py FOLDER --bench   rg-15.2.0-release, for times: built as it is released

What is there already is kept. The first kind is hardly optimised, since tests run on small trees
and everybody waits for their build; only memchr is, or a file of gigabytes would take minutes.
Overflow checks and debug assertions are off, as in a release, and `--locked` takes the versions of
ripgrep's own crates that its release was tested with.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Judge:
    """One ripgrep: the folder it goes to, its version, and what cargo is told beside that."""

    name: str
    version: str
    options: tuple[str, ...]


PLAIN = (
    *("--profile", "dev"),
    *("--config", "profile.dev.debug=0"),
    *("--config", "profile.dev.debug-assertions=false"),
    *("--config", "profile.dev.overflow-checks=false"),
    *("--config", "profile.dev.package.memchr.opt-level=3"),
)
FOR_ANSWERS = (Judge("rg-15.1.0", "15.1.0", PLAIN), Judge("rg-15.2.0", "15.2.0", PLAIN))
FOR_TIMES = (Judge("rg-15.2.0-release", "15.2.0", ("--profile", "release-lto")),)


def program(folder: Path, name: str) -> Path:
    """Where a judge's program is, or will be."""
    return folder / name / "bin" / "rg"


def version_of(path: Path) -> str | None:
    """What a program says it is; None when it does not run, as a half-written one does not."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    words = said.stdout.split()
    return words[1] if words[:1] == ["ripgrep"] and len(words) > 1 else None


def start_build(folder: Path, judge: Judge) -> subprocess.Popen[bytes]:
    """Start cargo on one judge; each has its own target folder, so that they don't wait in turn."""
    shutil.rmtree(folder / judge.name, ignore_errors=True)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("CARGO_PROFILE_")
    }
    environment["CARGO_TARGET_DIR"] = str(folder / f"{judge.name}.build")
    command = [
        *("cargo", "install", "ripgrep", "--version", judge.version, "--locked", "--quiet"),
        *("--root", str(folder / judge.name)),
        *judge.options,
    ]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the ripgreps that we compare with.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bench", action="store_true", help="the one whose time is measured")
    options = parser.parse_args()
    folder: Path = options.folder.absolute()

    wanted = FOR_TIMES if options.bench else FOR_ANSWERS
    missing = [each for each in wanted if version_of(program(folder, each.name)) != each.version]
    if not missing:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    print(f"building {', '.join(each.name for each in missing)} (once)", flush=True)
    started = time.monotonic()
    building = [(each, start_build(folder, each)) for each in missing]
    failed = False
    for judge, process in building:
        _, complaint = process.communicate()
        if process.returncode != 0:
            failed = True
            print(f"{judge.name} could not be built:\n{complaint.decode()}", file=sys.stderr)
        else:
            shutil.rmtree(folder / f"{judge.name}.build", ignore_errors=True)
    if not failed:
        print(f"built in {time.monotonic() - started:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
