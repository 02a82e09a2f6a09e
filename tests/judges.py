"""The real ripgreps that tests compare with; `make judges` builds them from their sources.

A judge is asked with no configuration, no standard input and no environment but what is given,
and every question is bounded. This knows nothing of evergrep.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JUDGES = Path(__file__).parent.parent / "target" / "judges"


def rg(version: str = "15.2.0") -> Path:
    """The program of that version; where it was not built, an error that says how."""
    path = JUDGES / f"rg-{version}" / "bin" / "rg"
    if not path.is_file():
        raise FileNotFoundError(f"no ripgrep {version} at {path}: `make judges` builds it")
    return path


@dataclass(frozen=True)
class Verdict:
    """How a run of a judge ended."""

    end: str
    """`exit`, `signal` or `hang` (killed by us when its time was over)."""
    code: int
    out: bytes
    err: bytes


def ask(
    arguments: Sequence[str | bytes],
    *,
    cwd: str | bytes | Path = "/",
    env: Mapping[str, str | bytes] | None = None,
    version: str = "15.2.0",
    seconds: float = 30,
    memory: int | None = None,
    program: str | Path | None = None,
    **popen: Any,
) -> Verdict:
    """Run a judge to its end, or kill it after `seconds`; `memory` bounds its address space."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    process = subprocess.Popen(
        [os.fspath(program or rg(version)), "--no-config", *arguments],
        cwd=cwd,
        env={"HOME": "/nonexistent", **(env or {})},
        stdin=popen.pop("stdin", subprocess.DEVNULL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limit if memory is not None else None,
        **popen,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Verdict("hang", -signal.SIGKILL, out, err)
    end = "signal" if process.returncode < 0 else "exit"
    return Verdict(end, process.returncode, out, err)
