"""The batch protocol: one JSON request a line in, one JSON reply a line out, in order.

People replay logs and check conformance by it, so its words are kept stable; `call.BATCH` tells
them. Each reply is written before the next request is read, so a caller may also converse.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from evergrep import dialects
from evergrep.cli.calling import Setup, reply_json
from evergrep.cli.flags import FlagError
from evergrep.cli.printing import complain, write
from evergrep.query import QueryError
from evergrep.tools import Arguments, Reply, Tool, read_json


class RequestError(Exception):
    """A request that can't be carried out; its text says why."""


class Request(NamedTuple):
    """One line of the input, checked."""

    tool: str
    arguments: Arguments
    cwd: str
    settings: Mapping[str, Any] | None
    env: Mapping[str, str]
    session: str | int | None


class Session(NamedTuple):
    """What the requests of one session and dialect share."""

    settings: Mapping[str, Any]
    tools: Mapping[str, Tool]


Sessions = dict[tuple[str | int, str], Session]


def answer_all(setup: Setup) -> int:
    """Answer every line of standard input, and return the exit code."""
    if sys.stdin is None:
        raise FlagError("no request can be read: standard input is closed")
    sessions: Sessions = {}
    for line in iter(sys.stdin.buffer.readline, b""):
        write(_answer(line.removesuffix(b"\n"), setup, sessions))
    return 0


def _answer(line: bytes, setup: Setup, sessions: Sessions) -> bytes:
    identity: Any = None
    try:
        fields = _read_object(line)
        identity = fields.get("id")
        request = _check(fields)
        tool = setup.place(
            _find_tool(request, setup, sessions), request.cwd, {**os.environ, **request.env}
        )
        return reply_json(tool(request.arguments, structured=True), id=identity)
    except (RequestError, LookupError, ValueError, NotADirectoryError, QueryError) as error:
        return reply_json(Reply(str(error), is_error=True), id=identity)
    except Exception as error:
        # A fault of ours in one call; the requests behind it still deserve their answers.
        fault = f"internal fault: {type(error).__name__}: {error}"
        complain(fault)
        return reply_json(Reply(fault, is_error=True), id=identity)


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        fields = read_json(line.decode())
    except UnicodeDecodeError as error:
        raise RequestError(
            f"the request is not UTF-8: {error.reason} at byte {error.start}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the request is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise RequestError("the request is not a JSON object")
    return cast(dict[str, Any], fields)


def _check(fields: dict[str, Any]) -> Request:
    def take(name: str, kind: type, described: str) -> Any:
        value = fields.get(name)
        if value is not None and not isinstance(value, kind):
            raise RequestError(f"{name} must be {described}")
        return value

    tool = take("tool", str, "the full name of a tool")
    arguments = take("args", dict, "an object; JSON text goes into args_raw")
    raw = take("args_raw", str, "JSON text; an object goes into args")
    env: dict[str, Any] = take("env", dict, "an object of texts") or {}
    session = fields.get("session")
    if tool is None:
        raise RequestError("the request names no tool")
    if (arguments is None) == (raw is None):
        raise RequestError("the request needs either args or args_raw")
    if any(not isinstance(value, str) for value in env.values()):
        raise RequestError("env must be an object of texts")
    if isinstance(session, bool) or not isinstance(session, str | int | None):
        raise RequestError("session must be a text or a whole number")
    return Request(
        tool,
        raw if arguments is None else arguments,
        take("cwd", str, "the path of a folder") or "",
        take("settings", dict, "an object"),
        env,
        session,
    )


def _find_tool(request: Request, setup: Setup, sessions: Sessions) -> Tool:
    settings = {**setup.settings, **(request.settings or {})}
    dialect, _, name = request.tool.partition(".")
    if request.session is None:
        return dialects.tool(request.tool, settings)
    key = (request.session, dialect)
    session = sessions.get(key)
    if session is None:
        session = Session(settings, dialects.tools(dialect, settings))
        sessions[key] = session
    elif request.settings is not None and settings != session.settings:
        raise RequestError(f"session {request.session!r} was begun with other settings")
    tool = session.tools.get(name)
    if tool is None:
        has = ", ".join(sorted(session.tools))
        raise RequestError(f"{dialect} has no tool {name!r}; it has: {has}")
    return tool
