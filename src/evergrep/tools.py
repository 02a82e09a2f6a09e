"""What a tool is: Tool, Call, Reply, ToolError; how settings are made and JSON definitions read.

A dialect builds Tools; a door gives each a Searcher, a working folder and an environment
(`Tool.on`) and calls it. Nothing here knows a particular agent, a door or the file system; the
native module serves for the cancel flag and for reading arguments as serde_json reads them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from evergrep import _engine
from evergrep.query import Answer, Cancellation, Query, Searcher, Stat

Arguments = Mapping[str, Any] | str | bytes
SettingsType = TypeVar("SettingsType")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the agent gets."""

    text: str
    is_error: bool = False
    success: bool | None = None
    """The original's own flag, where it has one; not an error flag."""
    structured: Any = None
    """The original's structured result, or the Answer as plain data; only when asked for."""
    rpc: tuple[int, str] | None = None
    """Code and message, where the original answers with a protocol error."""


class ToolError(Exception):
    """A fault that is answered in the contract's words."""

    def __init__(
        self, text: str, *, success: bool | None = None, rpc: tuple[int, str] | None = None
    ) -> None:
        super().__init__(text)
        self.text = text
        self.success = success
        self.rpc = rpc


@dataclass(frozen=True, slots=True)
class Call:
    """What a running tool is handed; its only way to the disk."""

    cwd: str
    env: Mapping[str, str]
    structured: bool
    searcher: Searcher
    cancel: Cancellation | None = None

    def stat(self, path: bytes) -> Stat:
        """What the system says of a path within the caller's scope."""
        return self.searcher.stat(path)

    def search(self, query: Query) -> Answer:
        """What the Searcher answers."""
        return self.searcher.search(query, self.cancel)


@dataclass(frozen=True)
class Tool:
    """One callable an agent knows."""

    dialect: str
    name: str
    """The original's bare name."""
    description: str
    input_schema: Mapping[str, Any]
    run: Callable[[Call, bytes], Reply] = field(repr=False)
    """The dialect's own function, from the arguments' JSON text to a Reply; may raise ToolError."""
    searcher: Searcher | None = field(default=None, repr=False)
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def full_name(self) -> str:
        """The name with its dialect, such as `codex.grep_files`."""
        return f"{self.dialect}.{self.name}"

    def on(self, searcher: Searcher, *, cwd: str, env: Mapping[str, str]) -> Tool:
        """The same tool, with its session state, on a Searcher, a folder and an environment."""
        return replace(self, searcher=searcher, cwd=cwd, env=env)

    def __call__(
        self,
        arguments: Arguments,
        *,
        structured: bool = False,
        cancel: Cancellation | None = None,
    ) -> Reply:
        """Answer one call; a fault in it is a Reply, not an exception.

        `arguments` is an object or its JSON text. `cancel` ends the search from another thread,
        which raises `QueryError` of kind `cancelled`.
        """
        if self.searcher is None:
            raise TypeError(
                f"{self.full_name} has no Searcher yet: use evergrep.tool(...) or .on(...)"
            )
        call = Call(self.cwd, self.env, structured, self.searcher, cancel)
        try:
            return self.run(call, json_text(arguments))
        except ToolError as error:
            return Reply(error.text, is_error=True, success=error.success, rpc=error.rpc)

    async def acall(self, arguments: Arguments, *, structured: bool = False) -> Reply:
        """The same call off the event loop; cancelling the task stops the engine.

        Each call has a thread of its own: a shared pool could be filled by a few slow calls.
        """
        import asyncio  # 45 ms that only asynchronous callers pay, who have it already
        import threading

        loop = asyncio.get_running_loop()
        done: asyncio.Future[Reply] = loop.create_future()
        cancel = _engine.Cancel()

        def settle(reply: Reply | None, error: BaseException | None) -> None:
            if done.cancelled():
                return
            if error is not None:
                done.set_exception(error)
            elif reply is not None:
                done.set_result(reply)

        def work() -> None:
            reply, error = None, None
            try:
                reply = self(arguments, structured=structured, cancel=cancel)
            except BaseException as caught:
                error = caught
            # The loop may be gone by now, and with it whoever would want to know.
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, reply, error)

        # Not a daemon: the interpreter must not end under a thread that will want it back.
        threading.Thread(target=work, name=f"evergrep {self.full_name}").start()
        try:
            return await done
        except asyncio.CancelledError:
            cancel.set()
            raise


def json_text(arguments: Arguments) -> bytes:
    """The JSON text of a call's arguments; text passes through as it is."""
    if isinstance(arguments, bytes):
        return arguments
    if isinstance(arguments, str):
        return arguments.encode("utf-8", "surrogatepass")
    import json  # here and below: not every start needs it

    # A lone surrogate stays an escape, so that the contract's own parser judges it.
    text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(arguments, separators=(",", ":")).encode()


def definition(package: str, file_name: str) -> dict[str, Any]:
    """A tool's name, description and schema, from the JSON file in its dialect's folder."""
    import json

    module = sys.modules[package]
    # By the module's own loader, so that a package in an archive works, too; importlib.resources
    # would do the same for 18 ms of a start.
    loader: Any = module.__loader__
    folder = os.path.dirname(module.__file__ or "")
    return json.loads(loader.get_data(os.path.join(folder, file_name)))


def read_arguments(
    text: bytes, name: str, fields: Sequence[tuple[str, str]]
) -> tuple[str | int | None, ...]:
    """Read JSON text as serde_json reads it into a struct; its fault is a ValueError."""
    return _engine.read_arguments(text, name, fields)


def setting_value(text: str) -> Any:
    """A setting's value as a person types it: JSON where it parses, else the text itself."""
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text


def read_json(text: str) -> Any:
    """What JSON text says; Python's own additions to JSON (`NaN`, `Infinity`) are faults."""
    import json

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def make_settings(
    kind: type[SettingsType], values: Mapping[str, Any], dialect: str
) -> SettingsType:
    """A dialect's Settings from named values; an unknown name or a wrong type is a ValueError."""
    from typing import get_type_hints

    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    types = get_type_hints(kind)
    for name, value in values.items():
        if name not in known:
            has = ", ".join(sorted(known)) or "none"
            raise ValueError(f"{dialect} has no setting {name!r}; its settings: {has}")
        expected = types[name]
        if isinstance(expected, type) and not isinstance(value, expected):
            raise ValueError(
                f"setting {name!r} of {dialect} takes a {expected.__name__}, not {value!r}"
            )
    return kind(**values)
