"""A first search through the MCP server, asked as an agent asks it; `make try` runs this.

The server is a real process and the client the official SDK's. The tree is made here, so that the
right answer is known, and a wrong one ends this with exit code 1.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

try:
    from mcp import Client, StdioServerParameters

    import evergrep
except ImportError as error:
    sys.exit(f"{error}\nNot installed in {sys.prefix}: run `make try`, which does that first.")

TOOL = "grep_files"
QUESTION = {"pattern": r"\bTODO\b", "include": "*.py"}
# Last modified first, as the answer names them.
FOUND = ("app/server.py", "app/client.py")
TREE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".gitignore": "build/\n",
    "app/client.py": "import socket  # TODO: time out\n",
    "app/server.py": "def serve():\n    pass  # TODO: answer\n",
    "app/words.py": 'MASTODON = "matches no whole word"\n',
    "build/made.py": "# TODO: ignored, as git ignores it\n",
    "notes.md": "TODO: no Python, so not asked for\n",
}


def plant(root: Path) -> None:
    for age, (name, text) in enumerate(TREE.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))


class Talk(NamedTuple):
    """What the server said, and how many milliseconds it took."""

    tools: list[str]
    text: str
    is_error: bool
    started: float
    answered: float


async def ask(root: Path) -> Talk:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "evergrep", "mcp", "--dialect", "codex", "--root", str(root)],
    )
    begun = time.perf_counter()
    async with Client(server) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        listed = time.perf_counter()
        result = await client.call_tool(TOOL, QUESTION)
        done = time.perf_counter()
    text = "".join(part.text for part in result.content if part.type == "text")
    return Talk(tools, text, result.is_error, (listed - begun) * 1000, (done - listed) * 1000)


def show(talk: Talk) -> None:
    print(f"\nevergrep {evergrep.__version__} serves Codex's {', '.join(talk.tools)} over MCP,")
    print(f"{talk.started:.0f} ms after it was started.\n")
    print(f"  an agent asks  {TOOL} {json.dumps(QUESTION)}")
    for label, line in zip_longest(["the answer"], talk.text.split("\n"), fillvalue=""):
        print(f"  {label:<13}  {line}")
    print(f"  it took        {talk.answered:.1f} ms, there and back\n")


def show_doors() -> None:
    program = os.path.relpath(Path(sys.executable).with_name("evergrep"))
    print("Now yours:")
    print(f"  an agent       the command for its MCP settings: {program} mcp --root DIR")
    print(f"  a shell        {program} grep PATTERN")
    print('  Python         grep = evergrep.tool("codex.grep_files", evergrep.Workspace("."))')
    print('                 print(grep({"pattern": "TODO"}).text)')


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="evergrep-try-") as folder:
        root = Path(folder).resolve()
        plant(root)
        try:
            talk = asyncio.run(asyncio.wait_for(ask(root), timeout=60))
        except Exception as error:
            sys.exit(f"the MCP server gave no answer: {error!r}")
    expected = "\n".join(f"{root}/{name}" for name in FOUND)
    if talk.is_error or talk.text != expected:
        sys.exit(f"{TOOL} gave a wrong answer:\n{talk.text}\nThe right one is:\n{expected}")
    show(talk)
    show_doors()


main()
