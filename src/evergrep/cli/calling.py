"""How the command line makes one call: its settings, its Workspace, and its Reply as JSON.

Shared by a single call and a batch. This file prints nothing and reads no standard input.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evergrep.cli.flags import FlagError
from evergrep.tools import Reply, Tool, setting_value
from evergrep.workspace import Workspace


class Setup(NamedTuple):
    """What the flags say for every call."""

    cwd: str
    """The folder that calls start in, absolute."""
    allow: tuple[str, ...] | None
    deny: tuple[str, ...]
    settings: Mapping[str, Any]

    def place(self, tool: Tool, cwd: str, env: Mapping[str, str]) -> Tool:
        """The tool in a working folder; a folder that can't be opened is a NotADirectoryError."""
        # An empty part would add a slash, which some tools would pass on in every path.
        folder = os.path.join(self.cwd, cwd) if cwd else self.cwd
        workspace = Workspace(folder, allow=self.allow, deny=self.deny)
        return tool.on(workspace, cwd=workspace.root, env=env)


def read_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Settings from `key=value` texts; a value is JSON where it parses, else text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise FlagError(f"--set takes key=value, not {pair!r}")
        settings[key] = setting_value(value)
    return settings


def reply_json(reply: Reply, **more: Any) -> bytes:
    """A Reply as one line of JSON, all ASCII.

    A lone surrogate, which UTF-8 can't hold, goes out as its escape: bytes that are not UTF-8
    stand in text as U+DC80 to U+DCFF, as Python decodes a path (PEP 383).
    """
    fields = {
        **more,
        "text": reply.text,
        "is_error": reply.is_error,
        "success": reply.success,
        "structured": reply.structured,
    }
    if reply.rpc is not None:
        fields["rpc"] = {"code": reply.rpc[0], "message": reply.rpc[1]}
    return json.dumps(fields, allow_nan=False).encode() + b"\n"
