"""The search tools coding agents were trained on, over one engine.

The public names, and nothing else: importing this package does no work.
"""

from evergrep._engine import Cancel, __version__
from evergrep.library import tool
from evergrep.query import (
    Answer,
    Files,
    GitPlaces,
    Hit,
    Line,
    Page,
    Pattern,
    Query,
    QueryError,
    Reading,
    Root,
    Searcher,
    Want,
)
from evergrep.tools import Call, Reply, Tool, ToolError
from evergrep.workspace import Workspace

__all__ = [
    "Answer",
    "Call",
    "Cancel",
    "Files",
    "GitPlaces",
    "Hit",
    "Line",
    "Page",
    "Pattern",
    "Query",
    "QueryError",
    "Reading",
    "Reply",
    "Root",
    "Searcher",
    "Tool",
    "ToolError",
    "Want",
    "Workspace",
    "__version__",
    "tool",
]
