"""Door: the MCP server, on standard input and output.

Options become tools (`tools_of`), tools a server (`make_server`), and that is served
(`serve_stdio`); another transport needs only a sibling of the last. The official SDK's low-level
server is used because it passes our schemas and texts through unchanged. It is the extra `mcp`
and imported nowhere else, and only once the options are read: it costs most of the start.
The process's environment is read here and nowhere below.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from evergrep import __version__, dialects
from evergrep.query import QueryError
from evergrep.tools import Tool, setting_value
from evergrep.workspace import Workspace

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        JSONRPCError,
        ListToolsResult,
        PaginatedRequestParams,
    )
    from mcp_types import Tool as Definition

EVERY = "all"
FAULT = "The search failed through a fault inside evergrep; the server's log has the details."
GRACE = 0.08
"""Seconds that the loop has to end by itself once the client or the parent has gone."""
HOUR = 3_600_000

log = logging.getLogger("evergrep.mcp")


# --- options --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Options:
    """What the server was started with."""

    roots: tuple[str, ...]
    """Absolute folders; the first is the working folder of every call."""
    dialects: tuple[str, ...]
    prefixed: bool
    """Whether tools bear their dialect's name before their own."""
    settings: tuple[str, ...]
    deny: tuple[str, ...]
    unconfined: bool
    structured: bool


def read_options(argv: Sequence[str]) -> Options:
    """The options of a command line; a bad one ends as argparse ends, with exit code 2."""
    parser = argparse.ArgumentParser(
        prog="evergrep mcp",
        description="Serve search tools over MCP, on standard input and output.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--root",
        action="append",
        metavar="DIR",
        help="a folder to search; relative paths start at the first (default: the current one)",
    )
    parser.add_argument(
        "--dialect",
        action="append",
        metavar="NAME",
        help=f"whose tools to serve, or {EVERY!r} (default: {default_dialect()})",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="[DIALECT.]KEY=VALUE",
        dest="settings",
        help="a setting of one dialect, or of each that has it; JSON where it parses, else text",
    )
    parser.add_argument(
        "--deny",
        action="append",
        default=[],
        metavar="GLOB",
        help="what no tool shows, as in a .gitignore and relative to each root",
    )
    parser.add_argument(
        "--unconfined",
        action="store_true",
        help="reach whatever this user may read, as the original tools do, not only the roots",
    )
    parser.add_argument(
        "--structured",
        action="store_true",
        help="add structured content to results; many hosts then hide the text from the model",
    )
    given = parser.parse_args(argv)

    # `absolute` keeps `..` and links as they are spelled, and only drops a lone `.`.
    roots = tuple(str(Path(each).absolute()) for each in given.root or [Path.cwd()])
    for root in roots:
        if not Path(root).is_dir():
            parser.error(f"--root {root}: not a folder that can be opened")
    named: list[str] = list(dict.fromkeys(given.dialect or [default_dialect()]))
    every = EVERY in named
    return Options(
        roots=roots,
        dialects=tuple(dialects.names() if every else named),
        prefixed=every or len(named) > 1,
        settings=tuple(given.settings),
        deny=tuple(given.deny),
        unconfined=given.unconfined,
        structured=given.structured,
    )


def default_dialect() -> str:
    return "claude" if "claude" in dialects.names() else "codex"


def settings_of(options: Options) -> dict[str, dict[str, Any]]:
    """The named values for each served dialect; what fits none of them is a ValueError."""
    known = {
        name: [each.name for each in fields(dialects.find(name).Settings)]
        for name in options.dialects
    }
    values: dict[str, dict[str, Any]] = {name: {} for name in options.dialects}
    for text in options.settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set {text}: takes KEY=VALUE or DIALECT.KEY=VALUE")
        dialect, dot, key = name.rpartition(".")
        if dot and dialect not in known:
            raise ValueError(f"--set {text}: {dialect!r} is not served; {served(options)}")
        takers = [dialect] if dot else [each for each in known if key in known[each]]
        if not takers:
            has = ", ".join(f"{each}.{key}" for each in known for key in known[each]) or "none"
            raise ValueError(f"--set {text}: no served dialect has {key!r}; settings: {has}")
        for taker in takers:
            values[taker][key] = setting_value(value)
    return values


def served(options: Options) -> str:
    return f"served: {', '.join(options.dialects)}"


def tools_of(options: Options, env: Mapping[str, str]) -> dict[str, Tool]:
    """The tools to serve, by the names they bear here; one set of them is one session."""
    workspace = Workspace(
        options.roots[0],
        allow=None if options.unconfined else options.roots,
        deny=options.deny,
    )
    tools: dict[str, Tool] = {}
    for dialect, values in settings_of(options).items():
        for tool in dialects.tools(dialect, values).values():
            name = f"{dialect}_{tool.name}" if options.prefixed else tool.name
            tools[name] = tool.on(workspace, cwd=workspace.root, env=env)
    return tools


def instructions(options: Options) -> str:
    """What a host tells the model of this server; hosts show little more than its start."""
    where = ", ".join(options.roots)
    searched = f"the files below {where}"
    if options.unconfined:
        searched = "any file on this machine that its user may read"
    return encodable(
        f"Searches the contents and names of {searched}. "
        f"Relative paths start at {options.roots[0]}. Nothing is ever written or run."
    )


# --- the server -----------------------------------------------------------------------------


def make_server(tools: Mapping[str, Tool], about: str, *, structured: bool) -> Server[Any]:
    """A server of those tools; it knows no transport."""
    import mcp_types as types
    from mcp.server.caching import CacheHint
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    listing = types.ListToolsResult(tools=[definition(name, tool) for name, tool in tools.items()])

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return listing

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        try:
            reply = await tool.acall(params.arguments or {}, structured=structured)
            content = None if reply.structured is None else encodable_json(reply.structured)
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException:
            # Also what is no Exception, as a panic is not: one call's end, never the server's.
            log.exception("%s failed", tool.full_name)
            return types.CallToolResult(content=[text_content(FAULT)], is_error=True)
        if reply.rpc is not None:
            code, message = reply.rpc
            raise MCPError(code, encodable(message))
        return types.CallToolResult(
            content=[text_content(reply.text)],
            structured_content=content,
            is_error=reply.is_error,
        )

    def text_content(text: str) -> types.TextContent:
        return types.TextContent(type="text", text=encodable(text))

    async def keep_schemas(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        """In the revisions of 2025 the SDK's model of a schema puts its keys in its own order."""
        result = await call_next(ctx)
        if ctx.method == "tools/list" and isinstance(result, dict):
            for each in result["tools"]:
                each["inputSchema"] = dict(tools[each["name"]].input_schema)
        return result

    # Both are the same for whoever asks, as long as the process lives.
    fixed = CacheHint(ttl_ms=HOUR, scope="public")
    server = Server[Any](
        "evergrep",
        version=__version__,
        instructions=about,
        cache_hints={"tools/list": fixed, "server/discover": fixed},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(keep_schemas)
    return server


def definition(name: str, tool: Tool) -> Definition:
    """A tool as the protocol lists it: the dialect's own words and schema, and ours beside them."""
    import mcp_types as types

    title = f"{tool.name} ({tool.dialect})"
    return types.Tool(
        name=name,
        title=title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=types.ToolAnnotations(
            title=title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def encodable(text: str) -> str:
    """The text, less what UTF-8 can't hold: one lone surrogate would end the SDK's writer."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def encodable_json(value: Any) -> Any:
    return json.loads(encodable(json.dumps(value, ensure_ascii=False)))


# --- standard input and output --------------------------------------------------------------


@contextmanager
def private_wire() -> Generator[tuple[TextIO, TextIO]]:
    """The two ends of the wire on descriptors of their own.

    Meanwhile descriptor 0 is empty and 1 leads to standard error, so that nothing a library
    prints, natively or while it is imported, reaches the client. The SDK does the same, but only
    from its first read to its last write.
    """
    # Fills whichever of 0, 1 and 2 came closed, so that no duplicate below can take its place.
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    kept = os.dup(0), os.dup(1)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    incoming = open(kept[0], encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    outgoing = open(kept[1], "w", encoding="utf-8", newline="\n", closefd=False)  # noqa: SIM115
    try:
        yield incoming, outgoing
    finally:
        for standard, private in enumerate(kept):
            os.dup2(private, standard)
            os.close(private)


async def serve_stdio(server: Server[Any], incoming: TextIO, outgoing: TextIO) -> None:
    """Serve one client until its end of the wire closes; running calls are cancelled then."""
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage

    async def relay() -> None:
        """Hand messages on. A line the SDK would drop in silence leaves its sender waiting."""
        async with sender:
            async for item in lines:
                if isinstance(item, Exception):
                    message = read_again(item)
                    if isinstance(message, SessionMessage):
                        await sender.send(message)
                    elif message is not None:
                        await replies.send(SessionMessage(message))
                else:
                    await sender.send(item)
            # The input has ended, and the process ends in time even if the output is stuck.
            threading.Thread(target=end_soon, daemon=True).start()
            # What was asked last still gets a quick answer; then running calls are cancelled.
            await anyio.sleep(GRACE / 2)

    wires = anyio.wrap_file(incoming), anyio.wrap_file(outgoing)
    async with stdio_server(*wires) as (lines, replies):
        sender, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with anyio.create_task_group() as group:
            group.start_soon(relay)
            await server.run(messages, replies, server.create_initialization_options())
            group.cancel_scope.cancel()


def read_again(fault: Exception) -> SessionMessage | JSONRPCError | None:
    """A message from a line that the SDK's reader refused, or the error to answer it with.

    That reader takes no lone surrogate, which a model's half emoji becomes; the tools' own
    contracts have words for one, so it may stand in the arguments of a call. A blank line is None.
    """
    import mcp_types as types
    from mcp.shared.message import SessionMessage
    from pydantic import ValidationError

    line = ""
    if isinstance(fault, ValidationError):
        first = fault.errors(include_url=False, include_context=False)[0]
        if first["type"] != "json_invalid":
            error = types.ErrorData(code=types.INVALID_REQUEST, message="Invalid request")
            return types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
        line = str(first["input"])
    if not line.strip():
        return None
    try:
        if re.search(r"\\ud[89a-f]", line, re.IGNORECASE):
            message = json.loads(line)
            rest = {**message, "params": {**message["params"], "arguments": None}}
            json.dumps(rest, ensure_ascii=False).encode()
            return SessionMessage(types.jsonrpc_message_adapter.validate_python(message))
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    error = types.ErrorData(code=types.PARSE_ERROR, message="Parse error")
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=error)


def end_soon() -> None:
    """End the process when the loop has had its time to."""
    time.sleep(GRACE)
    os._exit(0)


def end_with_client(outgoing: int) -> None:
    """End the process soon after the parent, or who reads our output, has gone.

    The loop sees only that its input has ended: not a parent that died while another process
    holds that input open, nor a client that stopped reading; and it may be stuck in a write.
    """
    watched = select.poll()
    # Errors and hang-ups are told without being asked for, and nothing else is wanted.
    watched.register(outgoing, 0)
    parent = os.getppid()
    patience = None
    try:
        watched.register(os.pidfd_open(parent), select.POLLIN)
    except (AttributeError, OSError):
        patience = 1000
    while not watched.poll(patience) and os.getppid() == parent:
        pass
    end_soon()


def main(argv: Sequence[str]) -> int:
    """Serve until the client is gone. Returns only where nothing was served: see `os._exit`."""
    try:
        options = read_options(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except OSError as error:
        print(f"evergrep mcp: error: no current folder ({error}): name a --root", file=sys.stderr)
        return 2
    with private_wire() as (incoming, outgoing):
        try:
            import mcp.server.stdio  # noqa: F401  # pyright: ignore[reportUnusedImport]
            import mcp_types  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError as error:
            print(
                f"evergrep mcp: {error}\nThe MCP server is an extra: pip install 'evergrep[mcp]'",
                file=sys.stderr,
            )
            return 2
        try:
            tools = tools_of(options, dict(os.environ))
        except (LookupError, ValueError, OSError, QueryError) as error:
            print(f"evergrep mcp: error: {error}", file=sys.stderr)
            return 2
        logging.basicConfig(stream=sys.stderr, format="evergrep mcp: %(message)s")
        server = make_server(tools, instructions(options), structured=options.structured)
        if incoming.isatty():
            print(f"evergrep mcp: {', '.join(tools)}; an MCP client starts this", file=sys.stderr)
        # An interrupt would otherwise wait for a thread that waits for the next line.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if hasattr(select, "poll"):
            watch = threading.Thread(target=end_with_client, args=[outgoing.fileno()], daemon=True)
            watch.start()
        code = 0
        try:
            asyncio.run(serve_stdio(server, incoming, outgoing))
        except* ConnectionError:
            pass  # The client has gone; there is no one to tell.
        except* Exception:
            log.exception("the server failed")
            code = 1
        # Not a return: a call's thread may still be inside the engine, whose way back into an
        # interpreter that is ending is not safe, and waiting for it could take too long.
        sys.stderr.flush()
        os._exit(code)
