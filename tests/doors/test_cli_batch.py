"""The batch protocol: every line its reply, in order, and no line can spoil another's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import SECONDS, run, start
from echo_dialect_source import install
from trees import plant


def ask(
    *requests: object, cwd: Path, env: dict[str, str] | None = None, flags: Sequence[str] = ()
) -> list[Any]:
    """The replies to some requests; text and bytes are sent as the line itself."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in requests]
    done = run("call", "--batch", *flags, cwd=cwd, env=env, given=b"\n".join(lines) + b"\n")
    assert done.code == 0, done.err
    replies = [json.loads(line) for line in done.out.splitlines()]
    assert len(replies) == len(requests)
    return replies


def grep(pattern: str, **more: object) -> dict[str, object]:
    """A request to a tool that there is."""
    return {"tool": "codex.grep_files", "args": {"pattern": pattern}, **more}


def echo(**more: object) -> dict[str, object]:
    """A request to the tool that tells what it was called with."""
    return {"tool": "echo.echo", "args": {}, **more}


def test_a_reply_has_the_fields_that_are_documented(tmp_path: Path) -> None:
    """Programs read them."""
    plant(tmp_path, {"a": b"foo\n"})
    (reply,) = ask(grep("foo", id={"any": ["thing"]}), cwd=tmp_path)
    structured = reply.pop("structured")
    assert reply == {
        "id": {"any": ["thing"]},
        "text": f"{tmp_path}/a",
        "is_error": False,
        "success": True,
    }
    assert structured["hits"][0]["path"] == f"{tmp_path}/a"


def test_a_protocol_error_has_its_code_and_message(tmp_path: Path) -> None:
    """Only where the original answers with one."""
    env = install(tmp_path)
    request = {"id": 1, "tool": "echo.echo", "args_raw": '{"fail":true}'}
    (reply,) = ask(request, cwd=tmp_path, env=env)
    assert reply == {
        "id": 1,
        "text": "it failed",
        "is_error": True,
        "success": None,
        "structured": None,
        "rpc": {"code": -32602, "message": "as asked"},
    }


def test_each_reply_comes_before_the_next_request_is_read(tmp_path: Path) -> None:
    """So that a program may converse, and nothing waits in a buffer."""
    plant(tmp_path, {"a": b"foo\n"})
    process = start("call", "--batch", cwd=tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(20):
        process.stdin.write(json.dumps(grep("foo", id=number)).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == number
    assert process.communicate(timeout=SECONDS) == (b"", b"")
    assert process.returncode == 0


BAD: dict[str, tuple[object, str]] = {
    "broken": (b'{"tool":', "the request is not JSON: Expecting value: line 1 column 9 (char 8)"),
    "empty": (b"", "the request is not JSON: Expecting value: line 1 column 1 (char 0)"),
    "nan": (b'{"id": NaN}', "the request is not JSON: NaN is not JSON"),
    "latin": (b'{"id": "\xe9"}', "the request is not UTF-8: invalid continuation byte at byte 8"),
    "list": ([1], "the request is not a JSON object"),
    "no tool": ({"args": {}}, "the request names no tool"),
    "tool number": ({"tool": 1, "args": {}}, "tool must be the full name of a tool"),
    "no args": ({"tool": "codex.grep_files"}, "the request needs either args or args_raw"),
    "both": (grep("x", args_raw="{}"), "the request needs either args or args_raw"),
    "args text": (
        {"tool": "codex.grep_files", "args": "{}"},
        "args must be an object; JSON text goes into args_raw",
    ),
    "raw object": (
        {"tool": "codex.grep_files", "args_raw": {}},
        "args_raw must be JSON text; an object goes into args",
    ),
    "unknown tool": (
        {"tool": "codex.nothing", "args": {}},
        "codex has no tool 'nothing'; it has: ",
    ),
    "unknown dialect": (
        {"tool": "nothing", "args": {}},
        "no dialect is called 'nothing'; there are: ",
    ),
    "unknown setting": (grep("x", settings={"nothing": 1}), "codex has no setting 'nothing'; "),
    "settings": (grep("x", settings=[]), "settings must be an object"),
    "env": (grep("x", env={"A": 1}), "env must be an object of texts"),
    "env list": (grep("x", env=[]), "env must be an object of texts"),
    "session": (grep("x", session=[]), "session must be a text or a whole number"),
    "cwd number": (grep("x", cwd=1), "cwd must be the path of a folder"),
    "cwd": (grep("x", cwd="nothing"), "{cwd}/nothing is not a folder that can be opened"),
    "cwd file": (grep("x", cwd="a"), "{cwd}/a is not a folder that can be opened"),
    "deep": (b"[" * 100_000, "the request is not JSON: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_gets_an_error_and_the_rest_go_on(tmp_path: Path, name: str) -> None:
    """One reply a line, whatever the line is."""
    plant(tmp_path, {"a": b"foo\n"})
    request, told = BAD[name]
    before, bad, after = ask(grep("foo"), request, grep("foo"), cwd=tmp_path)
    assert before["text"] == after["text"] == f"{tmp_path}/a"
    assert bad["text"].startswith(told.replace("{cwd}", str(tmp_path)))
    assert (bad["is_error"], bad["success"], bad["structured"]) == (True, None, None)
    assert "rpc" not in bad


def test_a_bad_request_keeps_its_id(tmp_path: Path) -> None:
    """Where it could be read at all."""
    bad, unread = ask({"id": "x"}, b'{"id": "x"', cwd=tmp_path)
    assert (bad["id"], unread["id"]) == ("x", None)


def test_a_fault_in_a_tool_is_that_calls_alone(tmp_path: Path) -> None:
    """R33: the process survives, and the fault is told on both ways out."""
    env = install(tmp_path)
    broken = json.dumps({"tool": "echo.echo", "args_raw": '{"break":true}'}).encode()
    well = json.dumps(echo()).encode()
    done = run("call", "--batch", cwd=tmp_path, env=env, given=broken + b"\n" + well)
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert first["text"] == "internal fault: RuntimeError: it broke"
    assert second["text"] == f"called 1 {tmp_path} None {{}}"
    assert done.err == b"evergrep: internal fault: RuntimeError: it broke\n"


def test_a_session_shares_its_tools_and_others_stand_alone(tmp_path: Path) -> None:
    """The tool's memory lasts from the first request of a session to the end of the input."""
    env = install(tmp_path)
    count = {"tool": "echo.count", "args": {}}
    replies = ask(
        echo(session="a"),
        echo(session="b"),
        echo(),
        echo(session="a"),
        echo(session=1),
        {**count, "session": "a"},
        count,
        cwd=tmp_path,
        env=env,
    )
    told = [reply["text"].removesuffix(f" {tmp_path} None {{}}") for reply in replies]
    assert told == ["called 1", "called 1", "called 1", "called 2", "called 1", "2", "0"]


def test_a_session_keeps_its_settings(tmp_path: Path) -> None:
    """Later requests may leave them out, but not change them."""
    env = install(tmp_path)
    first, same, left_out, other = ask(
        echo(session="a", settings={"greeting": "hey"}),
        echo(session="a", settings={"greeting": "hey"}),
        echo(session="a"),
        echo(session="a", settings={"greeting": "you"}),
        cwd=tmp_path,
        env=env,
    )
    assert [each["text"][:5] for each in (first, same, left_out)] == ["hey 1", "hey 2", "hey 3"]
    assert other["text"] == "session 'a' was begun with other settings"


def test_settings_of_a_request_override_those_of_the_command(tmp_path: Path) -> None:
    """`--set` is the default for all."""
    env = install(tmp_path)
    flags = ["--set", "greeting=all", "--set", "times=2"]
    plain, own = ask(echo(), echo(settings={"greeting": "own"}), cwd=tmp_path, env=env, flags=flags)
    assert (plain["text"][:7], own["text"][:7]) == ("all all", "own own")


def test_env_is_laid_over_the_processes(tmp_path: Path) -> None:
    """What a request does not name stays as the door read it."""
    env = {**install(tmp_path), "SEEN": "process"}
    plain, own = ask(echo(), echo(env={"SEEN": "request"}), cwd=tmp_path, env=env)
    assert plain["text"].split()[3] == "process"
    assert own["text"].split()[3] == "request"


def test_cwd_is_relative_to_the_commands(tmp_path: Path) -> None:
    """And by default the command's own."""
    env = install(tmp_path)
    plant(tmp_path, {"one/two/": "", "three/": ""})
    replies = ask(
        echo(),
        echo(cwd="two"),
        echo(cwd=str(tmp_path / "three")),
        cwd=tmp_path,
        env=env,
        flags=["--cwd", "one"],
    )
    expected = [f"{tmp_path}/one", f"{tmp_path}/one/two", f"{tmp_path}/three"]
    assert [reply["text"].split()[2] for reply in replies] == expected


def test_deny_and_allow_hold_for_every_request(tmp_path: Path) -> None:
    """A request can't take them back."""
    plant(tmp_path, {"one/a": b"foo\n", "one/no/b": b"foo\n", "two/c": b"foo\n"})
    flags = ["--deny", "no", "--allow", "one"]
    inside, outside = ask(grep("foo", cwd="one"), grep("foo", cwd="two"), cwd=tmp_path, flags=flags)
    assert inside["text"] == f"{tmp_path}/one/a"
    assert outside["is_error"] is True
    assert "c" not in outside["text"].split("/")


def test_raw_arguments_pass_as_they_are(tmp_path: Path) -> None:
    """Text that is no JSON is the contract's to judge."""
    env = install(tmp_path)
    raw = '{ "a" :  1.0, "a": "\\ud800" }'
    (reply,) = ask({"tool": "echo.echo", "args_raw": raw}, cwd=tmp_path, env=env)
    assert reply["text"].endswith(raw)


def test_a_reply_is_ascii_and_keeps_lone_surrogates(tmp_path: Path) -> None:
    """Valid JSON for every reader, with nothing lost."""
    env = install(tmp_path)
    request = {"tool": "echo.echo", "args": {"surrogates": "é"}}
    given = json.dumps(request).encode() + b"\n"
    done = run("call", "--batch", cwd=tmp_path, env=env, given=given)
    assert done.out.isascii()
    assert json.loads(done.out)["text"].endswith("\ud83d \udc80")
    lone = {"tool": "echo.echo", "args_raw": '{"surrogates":"x"}'}
    (reply,) = ask(lone, cwd=tmp_path, env=env)
    assert reply["text"].endswith("\ud83d \udc80")


def test_a_long_line_is_read(tmp_path: Path) -> None:
    """No limit stands between a log and its replay."""
    plant(tmp_path, {"a": b"foo\n"})
    (reply,) = ask(grep("foo", note="x" * 5_000_000), cwd=tmp_path)
    assert reply["text"] == f"{tmp_path}/a"


def test_a_last_line_without_an_end_is_a_request(tmp_path: Path) -> None:
    """And no input is no request."""
    plant(tmp_path, {"a": b"foo\n"})
    done = run("call", "--batch", cwd=tmp_path, given=json.dumps(grep("foo")).encode())
    assert json.loads(done.out)["text"] == f"{tmp_path}/a"
    assert run("call", "--batch", cwd=tmp_path) == (0, b"", b"")


def test_five_hundred_trees_take_seconds_and_hold_nothing(tmp_path: Path) -> None:
    """A session keeps its tool object, and no thread, index or descriptor."""
    for number in range(500):
        plant(tmp_path / str(number), {"a": f"foo {number}\n", "b/c": "bar\n"})
    process = start("call", "--batch", cwd=tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    held: list[tuple[int, int]] = []
    for number in range(500):
        request = grep(f"foo {number}$", cwd=str(number), session=str(number))
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == f"{tmp_path}/{number}/a"
        held.append(
            (
                _count(f"/proc/{process.pid}/fd"),
                _count(f"/proc/{process.pid}/task"),
            )
        )
    assert process.communicate(timeout=SECONDS) == (b"", b"")
    assert max(held[1:]) <= max(held[:10])


def _count(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())
