"""The three doors, each as a function from requests to outcomes, in order.

Nothing of evergrep's inside is used: the library by its public names, the command line and the
MCP server as processes. A request that must meet permission bits is answered by a process that
root's powers were taken from (`ordinary_user.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
import mcp
from contract.cases import Outcome, Request
from mcp.client.stdio import stdio_client

import evergrep

Door = Callable[[Sequence[Request]], list[Outcome]]

ORDINARY = str(Path(__file__).with_name("ordinary_user.py"))
SECONDS = 120
AT_ONCE = 3
"""Servers that run beside each other; most of a server's life is its start."""


def library(requests: Sequence[Request]) -> list[Outcome]:
    """`evergrep.tool`, called in this process, or in an ordinary user's."""
    return _apart(requests, _call_library, _library_process)


def batch(requests: Sequence[Request]) -> list[Outcome]:
    """`python -m evergrep call --batch`: one process for all."""
    return _apart(
        requests,
        lambda some: _call_batch(some, [sys.executable]),
        lambda some: _call_batch(some, [sys.executable, ORDINARY]),
    )


def server(requests: Sequence[Request]) -> list[Outcome]:
    """`python -m evergrep mcp`, asked by the official SDK's client: a process for each place."""
    return anyio.run(_call_servers, requests)


DOORS: dict[str, Door] = {"library": library, "batch": batch, "mcp": server}


def passes(door: str, request: Request, expected: str) -> bool:
    """Whether a request can be made through that door at all.

    MCP carries arguments as an object, which the server writes out again in its own way; so raw
    text goes through only where that gives the same text, or another column can't be seen.
    """
    if door != "mcp" or not isinstance(request.arguments, str):
        return True
    try:
        value = json.loads(request.arguments)
    except ValueError:
        return False
    if not isinstance(value, dict):
        return False
    shapes = [
        json.dumps(value, ensure_ascii=ascii_only, separators=separators)
        for separators in ((",", ":"), (", ", ": "))
        for ascii_only in (False, True)
    ]
    return request.arguments in (shapes[:1] if " column " in expected else shapes)


def _apart(
    requests: Sequence[Request],
    usual: Callable[[Sequence[Request]], list[Outcome]],
    ordinary: Callable[[Sequence[Request]], list[Outcome]],
) -> list[Outcome]:
    groups = {False: usual, True: ordinary}
    found: dict[int, Outcome] = {}
    for kind, ask in groups.items():
        places = [place for place, request in enumerate(requests) if request.ordinary is kind]
        if places:
            outcomes = ask([requests[place] for place in places])
            found.update(zip(places, outcomes, strict=True))
    return [found[place] for place in range(len(requests))]


# --- the library ------------------------------------------------------------------------------


def _call_library(requests: Sequence[Request]) -> list[Outcome]:
    return [_call_tool(request) for request in requests]


def _call_tool(request: Request) -> Outcome:
    workspace = evergrep.Workspace(request.root)
    tool = evergrep.tool(
        request.tool, workspace, cwd=request.cwd, env=request.env, **request.settings
    )
    reply = tool(request.arguments)
    return Outcome(reply.text, reply.is_error, reply.success)


def _library_process(requests: Sequence[Request]) -> list[Outcome]:
    # `doors` as a program: see the end of this file.
    done = subprocess.run(
        [sys.executable, ORDINARY, "-m", "contract.doors"],
        input=json.dumps([asdict(request) for request in requests]),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"the library's process ended with {done.returncode}: {done.stderr}")
    return [Outcome(**each) for each in json.loads(done.stdout)]


# --- the command line -------------------------------------------------------------------------


def _call_batch(requests: Sequence[Request], python: Sequence[str]) -> list[Outcome]:
    lines = [json.dumps(_batch_line(place, each)) for place, each in enumerate(requests)]
    done = subprocess.run(
        [*python, "-m", "evergrep", "call", "--batch"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        # Every request brings its own; what is left out here is left out for all.
        env={"PATH": os.environ["PATH"]},
    )
    if done.returncode != 0:
        raise AssertionError(f"the batch ended with {done.returncode}: {done.stderr}")
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    if [reply["id"] for reply in replies] != list(range(len(requests))):
        raise AssertionError(f"{len(replies)} replies to {len(requests)} requests: {done.stderr}")
    return [Outcome(each["text"], each["is_error"], each["success"]) for each in replies]


def _batch_line(place: int, request: Request) -> dict[str, Any]:
    name = "args_raw" if isinstance(request.arguments, str) else "args"
    return {
        "id": place,
        "tool": request.tool,
        name: request.arguments,
        "cwd": request.cwd,
        "env": request.env,
        "settings": request.settings,
    }


# --- the MCP server ---------------------------------------------------------------------------


async def _call_servers(requests: Sequence[Request]) -> list[Outcome]:
    places: dict[str, list[int]] = {}
    for number, request in enumerate(requests):
        places.setdefault(_server_key(request), []).append(number)
    found: dict[int, Outcome] = {}
    limit = anyio.CapacityLimiter(AT_ONCE)
    with anyio.fail_after(2 * SECONDS):
        async with anyio.create_task_group() as group:
            for numbers in places.values():
                group.start_soon(_call_server, requests, numbers, found, limit)
    return [found[number] for number in range(len(requests))]


def _server_key(request: Request) -> str:
    """What a server is started with; requests that share it share a server."""
    dialect = request.tool.partition(".")[0]
    same = (dialect, request.settings, request.cwd, request.env, request.ordinary)
    return json.dumps(same, sort_keys=True)


async def _call_server(
    requests: Sequence[Request],
    numbers: Sequence[int],
    found: dict[int, Outcome],
    limit: anyio.CapacityLimiter,
) -> None:
    first = requests[numbers[0]]
    options = ["--root", first.cwd, "--unconfined", "--dialect", first.tool.partition(".")[0]]
    for name, value in first.settings.items():
        options += ["--set", f"{name}={json.dumps(value)}"]
    started = mcp.StdioServerParameters(
        command=sys.executable,
        args=[*([ORDINARY] if first.ordinary else []), "-m", "evergrep", "mcp", *options],
        env=first.env,
    )
    async with (
        limit,
        stdio_client(started) as (reading, writing),
        mcp.ClientSession(reading, writing, read_timeout_seconds=SECONDS) as session,
    ):
        await session.initialize()
        for number in numbers:
            request = requests[number]
            arguments = request.arguments
            if isinstance(arguments, str):
                arguments = json.loads(arguments)
            result = await session.call_tool(request.tool.partition(".")[2], arguments)
            texts = [each.text for each in result.content]
            if len(texts) != 1:
                raise AssertionError(f"a result with {len(texts)} texts: {result}")
            found[number] = Outcome(texts[0], bool(result.is_error))


if __name__ == "__main__":
    asked = [Request(**each) for each in json.load(sys.stdin)]
    json.dump([asdict(_call_tool(each)) for each in asked], sys.stdout)
