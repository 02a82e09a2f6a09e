"""Runs the command line as a process of its own, as a user's shell would.

The environment is the one given and no more, so that no configuration of the machine is met.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

COMMAND = (sys.executable, "-m", "evergrep")
SECONDS = 60


class Done(NamedTuple):
    """How a run ended."""

    code: int
    out: bytes
    err: bytes


def environment(**more: str) -> dict[str, str]:
    """A bare environment, and what is added to it."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **more}


def run(
    *arguments: str | bytes,
    cwd: Path | str = "/",
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    **popen: Any,
) -> Done:
    """Run evergrep to its end; `given` is its standard input."""
    if "stdin" not in popen:
        popen["input"] = given
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(**(env or {})),
        stdout=popen.pop("stdout", subprocess.PIPE),
        stderr=popen.pop("stderr", subprocess.PIPE),
        timeout=SECONDS,
        check=False,
        **popen,
    )
    return Done(done.returncode, done.stdout or b"", done.stderr or b"")


def start(
    *arguments: str, cwd: Path | str = "/", env: Mapping[str, str] | None = None, **popen: Any
) -> subprocess.Popen[bytes]:
    """Start evergrep with pipes at all three ends and Ctrl-C at its usual meaning."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(**(env or {})),
        stdin=popen.pop("stdin", subprocess.PIPE),
        stdout=popen.pop("stdout", subprocess.PIPE),
        stderr=popen.pop("stderr", subprocess.PIPE),
        # A shell that runs tests in the background has them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **popen,
    )


def on_terminal(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    """Run a program whose standard output is a terminal; its exit code and what reached that.

    The terminal is told to leave line ends as they are.
    """
    import termios

    ours, theirs = os.openpty()
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment(**{"TERM": "xterm", **(env or {})}),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 1 << 16):
            shown += part
    except OSError:
        pass  # what Linux says of a terminal that nobody holds open any more
    finally:
        os.close(ours)
    process.communicate(timeout=SECONDS)
    return process.returncode, shown
