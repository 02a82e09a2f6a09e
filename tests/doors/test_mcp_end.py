"""How calls to the MCP server end before their time, and how the process itself ends.

A host that gives up, goes or is killed must leave nothing behind that works or waits. The times
are ten times those that hold: a fast test is no measurement.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp_wire import MODERN, PATIENCE, Wire, ask, command, until
from trees import plant

CODEX = ("--dialect", "codex")
SLOW = {"pattern": r"[0-9][a-z]{9}[0-9][a-z]{9}[0-9]"}
"""No literal to look for, and no match: every byte of the haystack is read."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(plant(tmp_path_factory.mktemp("tree"), {"src/a.py": "needle\n"}))


@pytest.fixture(scope="module")
def haystack(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Many gigabytes to search, in a few megabytes of disk: one file under many names."""
    folder = tmp_path_factory.mktemp("haystack")
    first = folder / "0"
    first.write_bytes(b"1abcdefghi2abcdefgh jklm3nopqrstuv\n" * (4 << 20 >> 5))
    for number in range(1, 4000):
        os.link(first, folder / str(number))
    return str(folder)


def test_a_cancelled_call_stops_the_engine(haystack: str, tmp_path: Path) -> None:
    """A host that gave up must not go on paying; 100 ms is the rule, here with ten times that."""
    with Wire(tmp_path / "log", *CODEX, "--root", haystack) as wire:
        wire.greet().say("tools/call", {"name": "grep_files", "arguments": SLOW}, id=1)
        wire.until_busy()
        wire.say("notifications/cancelled", {"requestId": 1})
        wire.until_idle(1.0)
        wire.say("ping", id=2)
        assert wire.hear() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_the_sdks_client_cancels_by_giving_up(haystack: str) -> None:
    """What a host does when its user presses escape."""

    async def steps(client: Client) -> list[str]:
        slow = asyncio.ensure_future(client.call_tool("grep_files", SLOW))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(slow, 0.5)
        return [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]

    assert "grep_files" in ask(steps, *CODEX, "--root", haystack)


def test_slow_calls_delay_no_other(haystack: str, tmp_path: Path) -> None:
    """Calls share no pool that a few of them could fill."""
    with Wire(tmp_path / "log", *CODEX, "--root", haystack) as wire:
        wire.greet()
        for number in range(1, 9):
            wire.say("tools/call", {"name": "grep_files", "arguments": SLOW}, id=number)
        quick = {"pattern": "3nopq", "path": "0"}
        wire.say("tools/call", {"name": "grep_files", "arguments": quick}, id=99)
        assert wire.hear()["id"] == 99


@pytest.mark.parametrize("busy", [False, True])
def test_the_server_ends_with_its_input(busy: bool, haystack: str, tmp_path: Path) -> None:
    """Orphaned servers are what people complain of most; 100 ms, here with ten times that."""
    with Wire(tmp_path / "log", *CODEX, "--root", haystack) as wire:
        wire.greet()
        if busy:
            wire.say("tools/call", {"name": "grep_files", "arguments": SLOW}, id=1)
            wire.until_busy()
        wire.stdin.close()
        assert wire.ended_within(1.0) == 0
        assert wire.log.read_text() == ""


def test_a_question_right_before_the_end_is_answered(root: str) -> None:
    """People try a server by a pipe in a shell; it has 40 ms, and a busy machine one miss."""
    client = {"name": "shell", "version": "0"}
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    question = {"name": "grep_files", "arguments": {"pattern": "needle"}}
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": question},
    ]
    said = "".join(json.dumps(message) + "\n" for message in messages).encode()

    def answered() -> bool:
        started = command(*CODEX, "--root", root)
        done = subprocess.run(
            started, input=said, capture_output=True, timeout=PATIENCE, check=True
        )
        reply = json.loads(done.stdout.splitlines()[-1])
        return reply.get("result", {}).get("content") == [
            {"type": "text", "text": f"{root}/src/a.py"}
        ]

    assert sum(answered() for _ in range(3)) >= 2


def test_the_server_ends_when_no_one_reads_it(root: str, tmp_path: Path) -> None:
    """Its input may be held open by another process that the client left behind."""
    with Wire(tmp_path / "log", *CODEX, "--root", root) as wire:
        wire.greet()
        wire.stdout.close()
        assert wire.ended_within(1.0) == 0


def test_the_server_ends_though_its_output_is_stuck(root: str, tmp_path: Path) -> None:
    """A client that reads nothing and leaves: a write into a full pipe can't be taken back."""
    with Wire(tmp_path / "log", *CODEX, "--root", root) as wire:
        wire.greet()
        os.set_blocking(wire.stdin.fileno(), False)
        full = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode() + b"\n"
        for _ in range(500):
            assert wire.stdin.write(full) == len(full)
        # A pipe holds 64 KiB, less what single writes leave unused of its pages.
        until(lambda: wire.unread() > 40_000, PATIENCE)
        wire.until_idle(PATIENCE)
        wire.stdin.close()
        assert wire.ended_within(1.0) == 0


def test_the_server_ends_with_its_parent(root: str, tmp_path: Path) -> None:
    """A host that is killed closes nothing, if another of its children holds the same pipe."""
    held_in, hold_in = os.pipe()
    read_out, write_out = os.pipe()
    middle = (
        "import subprocess, sys; "
        "subprocess.Popen(sys.argv[1:], stdin=0, stdout=1).wait()"
    )  # fmt: skip
    with open(tmp_path / "log", "wb") as log:  # noqa: PTH123
        parent = subprocess.Popen(
            [sys.executable, "-c", middle, *command(*CODEX, "--root", root)],
            stdin=held_in,
            stdout=write_out,
            stderr=log,
        )
    os.close(held_in)
    os.close(write_out)
    try:
        line = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": MODERN}}
        os.write(hold_in, json.dumps(line).encode() + b"\n")
        assert select.select([read_out], [], [], PATIENCE)[0]
        assert b'"id":1' in os.read(read_out, 65536)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        # Its output ends when the server does: nobody else writes there.
        assert select.select([read_out], [], [], 1.0)[0], "the server outlived its parent"
        assert os.read(read_out, 65536) == b""
    finally:
        os.close(hold_in)
        os.close(read_out)
