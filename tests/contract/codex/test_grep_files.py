"""What no recording of `grep_files` can show: its questions to the disk, its limits, its waits.

Real trees and the real engine throughout; where a test must see or alter a question, a Searcher
stands in front of a Workspace and passes it on.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from trees import File, Pipe, Recipe, Socket, ground, plant

import evergrep
from evergrep import Answer, Query, QueryError, Reply, Workspace
from evergrep.query import Cancellation, Stat

RECORDED = Path(__file__).with_name("tool_definitions.json")
ORDINARY = str(Path(__file__).parents[1] / "ordinary_user.py")


@pytest.fixture
def top() -> Iterator[Path]:
    """An empty folder that any user may enter."""
    with ground() as folder:
        yield folder


def ask(root: Path, arguments: Any, *, structured: bool = False, **settings: Any) -> Reply:
    """One call on an unconfined Workspace, with an empty environment."""
    tool = evergrep.tool("codex.grep_files", Workspace(root), env={}, **settings)
    return tool(arguments, structured=structured)


@dataclass
class Recorder:
    """A Searcher that keeps what it was asked and passes it on to a Workspace."""

    workspace: Workspace
    queries: list[Query] = field(default_factory=list)
    stats: list[bytes] = field(default_factory=list)
    deadline: float | None = None
    """Given to the Workspace in place of the query's own."""

    def search(self, query: Query, cancel: Cancellation | None = None) -> Answer:
        self.queries.append(query)
        if self.deadline is not None:
            query = replace(query, deadline=self.deadline)
        return self.workspace.search(query, cancel)

    def stat(self, path: bytes) -> Stat:
        self.stats.append(path)
        return self.workspace.stat(path)

    def ask(self, arguments: Any, env: dict[str, str] | None = None) -> Reply:
        root = self.workspace.root
        tool = evergrep.tool("codex.grep_files", self.workspace)
        return tool.on(self, cwd=root, env=env or {})(arguments)


def numbered(count: int, suffix: str = ".txt") -> Recipe:
    """Files that all match, the later in name the newer."""
    return {
        f"f{each:05}{suffix}": File(b"hit\n", time=each * 10**9) for each in range(1, count + 1)
    }


def newest(root: Path, count: int, first: int, suffix: str = ".txt") -> str:
    """The text for the newest `count` of such files."""
    return "\n".join(f"{root}/f{first - each:05}{suffix}" for each in range(count))


# --- the definition ---------------------------------------------------------------------------


def test_the_definition_is_the_recorded_one_in_our_words() -> None:
    """Models were trained on these names, types and this order; the sentences are ours."""
    recorded = json.loads(RECORDED.read_text("utf-8"))["0.116.0"]
    wanted = next(each for each in recorded if each["name"] == "grep_files")
    with ground() as root:
        tool = evergrep.tool("codex.grep_files", Workspace(root))
    ours = json.dumps([tool.name, plain(tool.input_schema)])
    assert ours == json.dumps([wanted["name"], plain(wanted["parameters"])])
    said, theirs = sentences(tool.input_schema), sentences(wanted["parameters"])
    assert len(said) == len(theirs) == 4
    assert all(said)
    assert not set(said) & set(theirs)
    assert tool.description not in ("", wanted["description"])


def plain(schema: Any) -> Any:
    """A schema without its sentences, the order of its keys kept."""
    if not isinstance(schema, dict):
        return schema
    return {
        key: None if key == "description" and isinstance(value, str) else plain(value)
        for key, value in schema.items()
    }


def sentences(schema: Any) -> list[str]:
    return [each["description"] for each in schema["properties"].values()]


# --- arguments --------------------------------------------------------------------------------


def test_the_pattern_is_trimmed_of_unicode_white_space_and_no_more(top: Path) -> None:
    """Rust's White_Space and Python's differ: U+001C to U+001F are white space to Python only."""
    plant(top, {"a.txt": "hit\n", "b.txt": "\x1fhit\n"})
    white = "\t\n\v\f\r \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
    both = {f"{top}/a.txt", f"{top}/b.txt"}
    assert set(ask(top, {"pattern": f"{white}hit{white}"}).text.split("\n")) == both
    for kept in "\x1c\x1d\x1e\x1f\u200b\u180e\ufeff":
        assert ask(top, {"pattern": kept}).text != "pattern must not be empty", repr(kept)
    assert ask(top, {"pattern": "\x1fhit"}).text == f"{top}/b.txt"


def test_an_empty_include_filters_nothing(top: Path) -> None:
    """The seed: an empty text is treated as none."""
    plant(top, {"a.rs": "hit\n"})
    assert ask(top, {"pattern": "hit", "include": ""}) == Reply(f"{top}/a.rs", success=True)


def test_typed_and_raw_arguments_give_the_same_reply(top: Path) -> None:
    """A library caller hands over an object, a host the model's text; the contract is one."""
    plant(top, {"ä.txt": "hit\n"})
    for arguments in ({"pattern": "hit", "limit": 3}, {"pattern": "\ud800"}, {}, {"pattern": 1.5}):
        text = json.dumps(arguments, separators=(",", ":"))
        assert ask(top, arguments) == ask(top, text) == ask(top, text.encode())


def test_nul_has_the_words_of_the_step_that_refused_it(top: Path) -> None:
    """No system call takes a path with NUL, and no program an argument with one."""
    plant(top, {"a.txt": "hit\n"})
    cannot = (
        "failed to launch rg: nul byte found in provided data. "
        "Ensure ripgrep is installed and on PATH."
    )
    assert ask(top, {"pattern": "a\0b"}) == Reply(cannot, is_error=True, success=False)
    assert ask(top, {"pattern": "a", "include": "\0"}) == Reply(cannot, True, False)
    refused = f"unable to access `{top}/x\0y`: file name contained an unexpected NUL byte"
    assert ask(top, {"pattern": "a", "path": "x\0y"}) == Reply(refused, True, False)
    assert ask(top, {"pattern": "a\0", "path": "x\0y"}).text == refused


def test_rg_s_hints_follow_the_text_of_the_fault(top: Path) -> None:
    """rg finds its hints by looking into the message, so a pattern's own words can call one up."""
    plant(top, {"a.txt": "hit\n"})
    assert ask(top, {"pattern": "(?=a)"}).text == (
        "rg failed: rg: regex parse error:\n    (?:(?=a))\n       ^^^\n"
        "error: look-around, including look-ahead and look-behind, is not supported\n\n"
        "Consider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\n"
        "and look-around.\n"
    )
    assert ask(top, {"pattern": r"a\x00"}).text == (
        'rg failed: rg: pattern contains "\\0" but it is impossible to match\n\n'
        "Consider enabling text mode with the --text flag (or -a for short). Otherwise,\n"
        "binary detection is enabled and matching a NUL byte is impossible.\n"
    )
    assert ask(top, {"pattern": "[the literal not allowed"}).text == (
        "rg failed: rg: regex parse error:\n    (?:[the literal not allowed)\n       ^\n"
        "error: unclosed character class\n\n"
        "Consider enabling multiline mode with the --multiline flag (or -U for short).\n"
        "When multiline mode is enabled, new line characters can be matched.\n"
    )
    both = ask(top, {"pattern": "[", "include": "[z-a]"}).text
    assert both == "rg failed: rg: error parsing glob '[z-a]': invalid range; 'z' > 'a'\n"


def test_system_errors_have_the_words_of_the_released_program(top: Path) -> None:
    """The released program links musl, whose words differ from the usual ones of Linux."""
    plant(top, {"file": "x"})
    (top / "loop").symlink_to("loop")
    for path, words in {
        "file/x": "Not a directory (os error 20)",
        "file/": "Not a directory (os error 20)",
        "loop": "Symbolic link loop (os error 40)",
        "n" * 300: "Filename too long (os error 36)",
        "p/" * 3000: "Filename too long (os error 36)",
    }.items():
        reply = ask(top, {"pattern": "x", "path": path})
        assert reply == Reply(f"unable to access `{top}/{path}`: {words}", True, False)


def test_no_arguments_make_the_tool_raise(top: Path) -> None:
    """Whatever a model sends, its host gets one reply: paths, none, or an error's text."""
    plant(top, {"a.txt": "hit\n"})
    odd: list[Any] = [
        b"", b"\xff", b'{"pattern":"\xff"}', "[" * 100_000, '{"pattern":' * 5000, "\ud800",
        {}, {"pattern": None}, {"pattern": ["hit"]}, {"pattern": "hit", "limit": -1},
        {"pattern": "hit", "limit": 2**64}, {"pattern": "hit", "limit": True},
        {"pattern": "hit", "limit": 1e308}, {"pattern": "hit", "path": "\ud800"},
        {"pattern": "(" * 1000}, {"pattern": "a{1000}{1000}{1000}"}, {"pattern": "hit\n"},
        {"pattern": "x" * 200_000}, {"pattern": "hit", "include": "{a," * 200},
        {"pattern": "hit", "include": "!"}, {"pattern": "hit", "include": "/"},
        {"pattern": "hit", "path": "../" * 40, "limit": 0}, {"pattern": "hit", "path": "~"},
        {"pattern": "a\nb"}, {"pattern": "\\"},
    ]  # fmt: skip
    for arguments in odd:
        reply = ask(top, arguments)
        assert isinstance(reply.text, str)
        assert reply.text, repr(arguments)[:80]
        if reply.success:
            assert not reply.is_error
        else:
            assert reply.is_error is (reply.text != "No matches found.")


# --- the steps --------------------------------------------------------------------------------


def test_a_call_asks_for_its_path_once_and_searches_once(top: Path) -> None:
    """The seed's steps, each once: parse, path, search, reply."""
    recorder = Recorder(Workspace(plant(top, numbered(12))))
    assert recorder.ask({"pattern": "hit", "limit": 5}).text == newest(top, 5, first=12)
    assert (recorder.stats, len(recorder.queries)) == ([bytes(top)], 1)


def test_a_failed_step_ends_the_call(top: Path) -> None:
    """A refused argument touches no disk; a path that isn't there is not searched."""
    recorder = Recorder(Workspace(top))
    for arguments in ({}, {"pattern": " "}, {"pattern": "x", "limit": 0}):
        assert recorder.ask(arguments).is_error
    assert (recorder.stats, recorder.queries) == ([], [])
    assert recorder.ask({"pattern": "x", "path": "gone"}).is_error
    assert (recorder.stats, recorder.queries) == ([bytes(top) + b"/gone"], [])
    assert recorder.ask({"pattern": "a\0"}).is_error
    assert recorder.queries == []


def test_the_query_says_what_the_command_would(top: Path) -> None:
    """Root, glob, its base, order and time are the command's; nothing else is asked for."""
    plant(top, {"sub/a.rs": "hit\n"})
    recorder = Recorder(Workspace(top))
    recorder.ask({"pattern": " hit ", "path": "./sub", "include": " *.rs ", "limit": 7})
    recorder.ask({"pattern": "hit", "include": "\n"})
    first, second = recorder.queries
    assert [each.path for each in first.roots] == [bytes(top) + b"/./sub"]
    assert first.pattern == evergrep.Pattern("hit")
    assert (first.files.globs, first.files.glob_base) == (("*.rs",), bytes(top))
    assert (first.order, first.page, first.deadline) == (
        "newest",
        evergrep.Page("files", 0, 7),
        30.0,
    )
    assert first.want == evergrep.Want("files", unreadable=True)
    assert ([each.path for each in second.roots], second.files.globs) == ([bytes(top)], ())
    assert second.page.limit == 100
    assert (second.files.ignore, second.files.hidden) == ("git", False)


def test_git_s_places_come_from_the_environment_of_the_call(top: Path) -> None:
    """Global excludes count as they do for rg; rg's own configuration never does."""
    plant(top, {
        "repo/.git/HEAD": "", "repo/a.txt": "hit\n", "repo/.b.txt": "hit\n",
        "config/git/ignore": "a.txt\n", "rgrc": "--hidden\n",
    })  # fmt: skip
    tool = evergrep.tool("codex.grep_files", Workspace(top / "repo"), env={})
    asked = {"pattern": "hit"}
    assert tool(asked).text == f"{top}/repo/a.txt"
    excluding = replace(tool, env={"XDG_CONFIG_HOME": f"{top}/config"})
    assert excluding(asked).text == "No matches found."
    configured = replace(tool, env={"RIPGREP_CONFIG_PATH": f"{top}/rgrc"})
    assert configured(asked).text == f"{top}/repo/a.txt"


def test_other_work_goes_on_while_a_call_searches(top: Path) -> None:
    """A host's event loop must turn while the engine works, as it did while rg ran."""
    plant(top, numbered(200))
    turns = 0
    turned = threading.Event()

    class Patient(Recorder):
        def search(self, query: Query, cancel: Cancellation | None = None) -> Answer:
            assert turned.wait(30), "the event loop stood still during the call"
            return super().search(query, cancel)

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            if turns == 100:
                turned.set()
            await asyncio.sleep(0)

    async def both() -> Reply:
        workspace = Workspace(top)
        tool = evergrep.tool("codex.grep_files", workspace).on(
            Patient(workspace), cwd=workspace.root, env={}
        )
        other = asyncio.create_task(turn())
        reply = await tool.acall({"pattern": "hit", "limit": 2})
        other.cancel()
        return reply

    assert asyncio.run(both()).text == newest(top, 2, first=200)
    assert turns >= 100


def test_a_cancelled_call_is_the_caller_s_affair(top: Path) -> None:
    """The contract has no words for it, so it leaves the tool as what it is."""
    plant(top, {"a.txt": "hit\n"})
    flag = evergrep.Cancel()
    flag.set()
    tool = evergrep.tool("codex.grep_files", Workspace(top), env={})
    with pytest.raises(QueryError) as raised:
        tool({"pattern": "hit"}, cancel=flag)
    assert raised.value.kind == "cancelled"


def test_only_a_confined_workspace_confines(top: Path) -> None:
    """The tool has no sandbox of its own; where the host confines, outside looks absent."""
    plant(top, {"in/a.txt": "hit\n", "out/b.txt": "hit\n"})
    asked = {"pattern": "hit", "path": f"{top}/out"}
    assert ask(top / "in", asked).text == f"{top}/out/b.txt"
    confined = Workspace(top / "in", allow=[top / "in"])
    reply = evergrep.tool("codex.grep_files", confined, env={})(asked)
    absent = "No such file or directory (os error 2)"
    assert reply == Reply(f"unable to access `{top}/out`: {absent}", True, False)


# --- limits and failures ----------------------------------------------------------------------


def test_a_hundred_paths_are_shown_unless_a_limit_says_otherwise(top: Path) -> None:
    """The seed's default, newest first."""
    plant(top, numbered(130))
    assert ask(top, {"pattern": "hit"}) == Reply(newest(top, 100, first=130), success=True)
    assert ask(top, {"pattern": "hit", "limit": 130}).text == newest(top, 130, first=130)


def test_no_limit_shows_more_than_two_thousand(top: Path) -> None:
    """The seed's cap, without error or notice."""
    plant(top, numbered(2001))
    reply = ask(top, {"pattern": "hit", "limit": 5000})
    assert reply == Reply(newest(top, 2000, first=2001), success=True)


def test_include_and_limit_hold_together(top: Path) -> None:
    """The seed's example: of many files of several kinds, the five newest of one kind."""
    plant(top, {**numbered(9, ".rs"), **numbered(30, ".txt")})
    reply = ask(top, {"pattern": "hit", "include": "*.rs", "limit": 5})
    assert reply == Reply(newest(top, 5, first=9, suffix=".rs"), success=True)


def test_a_search_out_of_time_says_so_and_shows_nothing(top: Path) -> None:
    """The text is fixed, and what was found so far is neither text nor data."""
    recorder = Recorder(Workspace(plant(top, numbered(3000))), deadline=1e-9)
    reply = recorder.ask({"pattern": "hit"})
    assert reply == Reply("rg timed out after 30 seconds", is_error=True, success=False)


def test_one_unreadable_entry_fails_the_whole_answer(top: Path) -> None:
    """rg ends with 2 and says nothing; what was found is in the data, with what is missing."""
    plant(top, {"a.txt": "hit\n", "shut.txt": File(b"no\n", mode=0), "sock": Socket()})
    request = {"tool": "codex.grep_files", "args": {"pattern": "hit"}, "cwd": str(top)}
    done = subprocess.run(
        [sys.executable, ORDINARY, "-m", "evergrep", "call", "--batch"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    reply = json.loads(done.stdout)
    assert (reply["text"], reply["is_error"], reply["success"]) == ("rg failed: ", True, False)
    data = reply["structured"]
    assert [hit["path"] for hit in data["hits"]] == [f"{top}/a.txt"]
    missing = [(each["path"], each["reason"]) for each in data["skipped"]]
    assert (f"{top}/shut.txt", "unreadable") in missing


def test_a_socket_fails_only_where_it_is_the_path(top: Path) -> None:
    """In a walk nothing but files is opened, so only a path that names it can fail."""
    plant(top, {"a.txt": "hit\n", "sock": Socket()})
    assert ask(top, {"pattern": "hit"}) == Reply(f"{top}/a.txt", success=True)
    reply = ask(top, {"pattern": "hit", "path": "sock"})
    assert reply == Reply("rg failed: ", is_error=True, success=False)


def test_a_pipe_as_path_is_answered_at_once(top: Path) -> None:
    """rg would wait for a writer; nothing of ours opens a pipe."""
    plant(top, {"pipe": Pipe()})
    reply = ask(top, {"pattern": "hit", "path": "pipe"})
    assert reply == Reply("rg failed: ", is_error=True, success=False)


# --- names ------------------------------------------------------------------------------------


def test_every_slash_of_the_path_as_given_stands_in_the_lines(top: Path) -> None:
    """rg puts a slash between path and rest only where the path doesn't end in one."""
    plant(top, {"sub/a.txt": "hit\n"})
    for path, line in {
        "sub": "sub/a.txt",
        "sub/": "sub/a.txt",
        "sub//": "sub//a.txt",
        ".//sub///": ".//sub///a.txt",
        "sub/.": "sub/./a.txt",
        "sub/./": "sub/./a.txt",
        "sub/../sub": "sub/../sub/a.txt",
        "sub//a.txt": "sub//a.txt",
    }.items():
        assert ask(top, {"pattern": "hit", "path": path}).text == f"{top}/{line}"


def test_control_characters_in_names_are_escaped(top: Path) -> None:
    """A name can then neither forge a line nor speak to a terminal; a tab may stay."""
    plant(top, {"a\n/etc/passwd": File(b"hit\n", time=3), "\x1b[2J\t\x7f\r": File(b"hit\n", time=2),
                "\x85\x9bä\\n": File(b"hit\n", time=1)})  # fmt: skip
    escaped = [r"a\n/etc/passwd", "\\x1b[2J\t\\x7f\\r", r"\xc2\x85\xc2\x9bä\n"]
    plain_text = ["a\n/etc/passwd", "\x1b[2J\t\x7f\r", "\x85\x9bä\\n"]
    asked = {"pattern": "hit"}
    assert ask(top, asked).text == "\n".join(f"{top}/{each}" for each in escaped)
    raw = "\n".join(f"{top}/{each}" for each in plain_text)
    assert ask(top, asked, raw_names=True).text == raw


def test_raw_names_are_cut_into_lines_of_which_empty_ones_are_dropped(top: Path) -> None:
    """The original saw lines, not names: each counts, but for those with nothing in them."""
    plant(top, {"a\n\nb\n": File(b"hit\n", time=2), "c": File(b"hit\n", time=1)})
    asked = {"pattern": "hit"}
    assert ask(top, asked, raw_names=True).text == f"{top}/a\nb\n{top}/c"
    assert ask(top, {**asked, "limit": 2}, raw_names=True).text == f"{top}/a\nb"


def unusable(count: int, first: int) -> Recipe:
    """Files that match and whose names aren't UTF-8."""
    return {
        b"\xff%05d" % each: File(b"hit\n", time=each * 10**9)
        for each in range(first, first + count)
    }


def test_lines_left_out_take_no_place_within_the_limit(top: Path) -> None:
    """However many newer files have unusable names, the page is filled with the next ones."""
    plant(top, numbered(40))
    plant(top, unusable(1000, first=100))
    recorder = Recorder(Workspace(top))
    assert recorder.ask({"pattern": "hit", "limit": 10}).text == newest(top, 10, first=40)
    assert len(recorder.queries) <= 4
    deadlines = [query.deadline or 0 for query in recorder.queries]
    assert deadlines == sorted(deadlines, reverse=True)
    assert deadlines[-1] < 30.0


def test_lines_left_out_are_counted_beside_the_text(top: Path) -> None:
    """The text can't hold such names; the data has each, and says how many the text lacks."""
    plant(top, numbered(2))
    plant(top, unusable(3, first=10))
    reply = ask(top, {"pattern": "hit"}, structured=True)
    assert reply.text == newest(top, 2, first=2)
    assert reply.structured["dropped_lines"] == 3
    paths = [hit["path"] for hit in reply.structured["hits"]]
    assert [each for each in paths if isinstance(each, str)] == reply.text.split("\n")
    assert sum("base64" in each for each in paths if isinstance(each, dict)) == 3
    assert json.loads(json.dumps(reply.structured)) == reply.structured


def test_nothing_left_after_unusable_names_is_no_match(top: Path) -> None:
    """An output of which no line is usable is an empty result."""
    plant(top, unusable(3, first=10))
    assert ask(top, {"pattern": "hit"}) == Reply("No matches found.", success=False)
