"""One MCP server process for a test: the real program, spoken to by the SDK's client or by hand.

By hand is for what a well-behaved client never does: garbage, half messages, silence, vanishing.
Every wait is bounded and ends on a condition.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mcp import Client, StdioServerParameters

T = TypeVar("T")
MODES = ("auto", "legacy")
PATIENCE = 30.0
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def command(*options: str) -> list[str]:
    """The command line that starts the server."""
    return [sys.executable, "-m", "evergrep", "mcp", *options]


def ask(
    steps: Callable[[Client], Awaitable[T]],
    *options: str,
    mode: str = "auto",
    env: Mapping[str, str] | None = None,
) -> T:
    """What `steps` returns, given the SDK's client of a server started with those options."""
    program, *arguments = command(*options)
    server = StdioServerParameters(command=program, args=arguments, env=dict(env or {}))

    async def session() -> T:
        async with Client(server, mode=mode) as client:
            return await steps(client)

    return asyncio.run(asyncio.wait_for(session(), PATIENCE))


class Told(NamedTuple):
    """What one call's result holds."""

    text: str
    is_error: bool
    structured: Any = None


def calls(
    name: str, questions: Iterable[Mapping[str, Any]], *options: str, **more: Any
) -> list[Told]:
    """The answers of one session, in order."""

    async def steps(client: Client) -> list[Told]:
        answers: list[Told] = []
        for arguments in questions:
            result = await client.call_tool(name, dict(arguments))
            (part,) = result.content
            assert part.type == "text"
            answers.append(Told(part.text, result.is_error, result.structured_content))
        return answers

    return ask(steps, *options, **more)


def call(name: str, arguments: Mapping[str, Any], *options: str, **more: Any) -> Told:
    """The answer of a session of one call."""
    return calls(name, [arguments], *options, **more)[0]


class Wire:
    """A server process and its three streams."""

    def __init__(self, log: Path, *options: str, env: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                command(*options),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(env or {})},
                bufsize=0,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.heard = b""

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.stdin.close()
        self.stdout.close()

    def write(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")

    def say(self, method: str, params: Mapping[str, Any] | None = None, **more: Any) -> None:
        """Send a request, or a notification where no `id` is among the rest."""
        message: dict[str, Any] = {"jsonrpc": "2.0", **more, "method": method}
        if params is not None:
            message["params"] = params
        self.write(json.dumps(message).encode())

    def hear_line(self) -> bytes:
        """The next line of standard output; none within the time is a failure."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.heard:
            ready, _, _ = select.select([self.stdout], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the server said nothing"
            piece = os.read(self.stdout.fileno(), 65536)
            assert piece, f"the server has gone: {self.log.read_text()}"
            self.heard += piece
        line, _, self.heard = self.heard.partition(b"\n")
        return line

    def hear(self) -> dict[str, Any]:
        """The next message."""
        return json.loads(self.hear_line())

    def greet(self, revision: str = "2025-11-25") -> Wire:
        """The handshake of the revisions up to 2025-11-25."""
        about = {"name": "test", "version": "0"}
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": about}
        self.say("initialize", params, id=0)
        assert self.hear()["result"]["protocolVersion"] == revision
        self.say("notifications/initialized")
        return self

    def unread(self) -> int:
        """How many bytes of standard output wait to be read."""
        waiting = fcntl.ioctl(self.stdout.fileno(), termios.FIONREAD, b"\0" * 4)
        return struct.unpack("i", waiting)[0]

    def cpu(self) -> float:
        """The seconds of processor time the server has used, in steps of a hundredth."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def until_busy(self) -> None:
        """Wait until the server has worked half a second since now."""
        before = self.cpu()
        until(lambda: self.cpu() - before > 0.5, PATIENCE)

    def until_idle(self, seconds: float) -> None:
        """Wait until a fifth of a second passes with next to no work; that long is a failure."""
        marks = [(time.monotonic(), self.cpu())]

        def idle() -> bool:
            marks.append((time.monotonic(), self.cpu()))
            now, used = marks[-1]
            earlier = [mark for mark in marks if now - mark[0] >= 0.2]
            return bool(earlier) and used - earlier[-1][1] <= 0.02

        until(idle, seconds)

    def ended_within(self, seconds: float) -> int:
        """The exit code, within the time."""
        return self.process.wait(seconds)


def until(condition: Callable[[], bool], seconds: float) -> None:
    """Return when the condition holds; past the time is a failure."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass in time"
        select.select([], [], [], 0.005)
