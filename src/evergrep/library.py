"""Door: the library. Makes a tool that an agent's program calls.

The process's environment is read here, when no other is given, and nowhere below.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from evergrep import dialects
from evergrep.tools import Tool
from evergrep.workspace import Workspace


def tool(
    name: str,
    workspace: Workspace,
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    **settings: Any,
) -> Tool:
    """The tool of that name on a Workspace, such as `codex.grep_files`.

    `cwd` is the working folder of its calls (the Workspace's root when absent); `env` stands for
    the process's environment; the rest are fields of the dialect's Settings.
    Raises LookupError for an unknown tool and ValueError for an unknown setting.
    """
    made = dialects.tool(name, settings)
    return made.on(
        workspace,
        cwd=workspace.root if cwd is None else os.path.join(workspace.root, cwd),
        env=dict(os.environ) if env is None else env,
    )
