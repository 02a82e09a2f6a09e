"""For type checkers only: what a user's program may rely on, under pyright's strict mode."""

from typing import Any, assert_type

import evergrep


def tools(workspace: evergrep.Workspace) -> None:
    tool = evergrep.tool("codex.grep_files", workspace, raw_names=True)
    assert_type(tool, evergrep.Tool)
    reply = tool({"pattern": "x"}, structured=True)
    assert_type(reply, evergrep.Reply)
    assert_type(reply.text, str)
    assert_type(reply.is_error, bool)
    assert_type(reply.success, bool | None)
    assert_type(reply.rpc, tuple[int, str] | None)
    assert_type(reply.structured, Any)


async def asynchronous(tool: evergrep.Tool) -> None:
    assert_type(await tool.acall('{"pattern": "x"}'), evergrep.Reply)


def queries(searcher: evergrep.Searcher) -> None:
    query = evergrep.Query(
        roots=(evergrep.Root(b"/"),),
        pattern=evergrep.Pattern("x"),
        files=evergrep.Files(types=("rust",)),
        want=evergrep.Want("lines", before=1),
        reading=evergrep.Reading(line_bytes=500),
        order="newest",
        page=evergrep.Page(limit=5),
        deadline=1,
    )
    answer = searcher.search(query)
    assert_type(answer, evergrep.Answer)
    for hit in answer.hits:
        assert_type(hit, evergrep.Hit)
        assert_type(hit.path, bytes)
        assert_type(hit.count, int | None)
        for line in hit.lines:
            assert_type(line, evergrep.Line)
            assert_type(line.bytes, bytes)


def is_a_searcher(workspace: evergrep.Workspace) -> evergrep.Searcher:
    return workspace


def a_wrong_order() -> evergrep.Query:
    return evergrep.Query(roots=(), order="latest")  # pyright: ignore[reportArgumentType]
