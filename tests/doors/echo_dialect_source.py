"""A dialect of another package, installed for a test: its tool tells what it was called with.

It keeps state as a real tool may, so that sessions can be seen.
"""

from __future__ import annotations

from pathlib import Path

SOURCE = """
from dataclasses import dataclass

from evergrep.tools import Reply, Tool, ToolError

UPSTREAM = "none"


@dataclass(frozen=True)
class Settings:
    greeting: str = "called"
    times: int = 1


def tools(settings):
    calls = []

    def run(call, text):
        calls.append(text)
        if text == b'{"fail":true}':
            raise ToolError("it failed", rpc=(-32602, "as asked"))
        if text == b'{"break":true}':
            raise RuntimeError("it broke")
        said = " ".join([settings.greeting] * settings.times)
        where = f"{said} {len(calls)} {call.cwd} {call.env.get('SEEN')} {text.decode()}"
        return Reply(where + ("\\ud83d \\udc80" if b"surrogates" in text else ""))

    def other(call, text):
        return Reply(str(len(calls)))

    schema = {"type": "object"}
    return [
        Tool("echo", "echo", "Says what it was told. And more.", schema, run),
        Tool("echo", "count", "Counts the other's calls.", schema, other),
    ]
"""


def install(folder: Path) -> dict[str, str]:
    """Install it below the folder; returns the environment in which it is found."""
    site = folder / "site"
    package = site / "echo_dialect"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(SOURCE)
    described = site / "echo_dialect-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-dialect\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[evergrep.dialects]\necho = echo_dialect\n")
    return {"PYTHONPATH": str(site)}
