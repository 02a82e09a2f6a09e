"""Door: the command line. Picks the verb; each verb is a file of its own, imported when it runs.

Nothing is imported here that a verb may not need: start-up is most of a small search's time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from evergrep.cli.flags import FlagError
from evergrep.cli.printing import WriteError, complain, write

HELP = """\
evergrep: the search tools coding agents were trained on, with the originals' exact answers

  evergrep grep PATTERN [PATH]...   search file contents, with ripgrep's flags and habits
  evergrep tools [NAME]             list the agents' tools, or print one's definition as JSON
  evergrep call TOOL JSON           call an agent's tool and print its answer
  evergrep call --batch             answer one JSON request a line, from standard input
  evergrep mcp                      serve the tools to an agent, over MCP on standard input
  evergrep --version                print the version

`evergrep VERB --help` tells a verb's flags.
"""
VERBS = "grep, tools, call and mcp"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never lets a traceback out."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except FlagError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        return 130  # as a shell tells a program that Ctrl-C ended
    except BrokenPipeError:
        return 141  # as a shell tells a program that a closed pipe ended
    except WriteError as error:
        complain(str(error))
        return 2


def _run(words: list[str]) -> int:
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb == "grep":
        from evergrep.cli import grep

        return grep.main(rest)
    if verb == "call":
        from evergrep.cli import call

        return call.main(rest)
    if verb == "tools":
        from evergrep.cli import tools

        return tools.main(rest)
    if verb == "mcp":
        from evergrep import mcp

        return mcp.main(rest)
    if verb in ("--help", "-h", "help"):
        write(HELP.encode())
        return 0
    if verb in ("--version", "-V"):
        from evergrep import __version__

        write(f"evergrep {__version__}\n".encode())
        return 0
    if not verb:
        write(HELP.encode(), to_stderr=True)
        return 2
    raise FlagError(f"there is no verb {verb!r}; the verbs are {VERBS}")
