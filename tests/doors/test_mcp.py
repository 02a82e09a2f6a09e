"""The MCP server as its clients meet it: a real process, the official SDK's client, real trees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_wire import MODERN, MODES, PATIENCE, Told, Wire, ask, call, calls, command
from trees import plant

import evergrep

DEFINITIONS = {
    file.name.removesuffix(".json"): json.loads(file.read_text())
    for file in sorted(files("evergrep.dialects.codex").iterdir(), key=lambda file: file.name)
    if file.name.endswith(".json")
}
NAMES = list(DEFINITIONS)
CODEX = ("--dialect", "codex")

TOY = """
import os
from dataclasses import dataclass
from evergrep.query import QueryError
from evergrep.tools import Reply, Tool, ToolError

print("printed on import", flush=True)
os.write(1, b"written on import\\n")
UPSTREAM = "nothing"


@dataclass(frozen=True)
class Settings:
    raw_names: bool = False
    word: str = "toy"


def tools(settings):
    def noise(call, arguments):
        print("printed by a call", flush=True)
        os.write(1, b"written by a call\\n")
        return Reply(f"{settings.word} {settings.raw_names} {arguments.decode()}")

    def half(call, arguments):
        return Reply("half \\udcff \\ud83d", structured={"text": "\\udcff"})

    def crash(call, arguments):
        raise RuntimeError("the secret inside")

    def fault(call, arguments):
        raise QueryError("fault", "the secret inside")

    def leave(call, arguments):
        raise SystemExit("the secret inside")

    def refuse(call, arguments):
        raise ToolError("unused", rpc=(-32602, "refused by the original"))

    runs = (noise, half, crash, fault, leave, refuse)
    shape = {"type": "object"}
    return [Tool("toy", run.__name__, f"Does {run.__name__}.", shape, run) for run in runs]
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root `in` and, beside it, what lies outside."""
    return plant(
        tmp_path_factory.mktemp("tree"),
        {
            "in/.git/HEAD": "ref: refs/heads/main\n",
            "in/src/a.py": "needle\n",
            "in/src/b.txt": "needle\n",
            "in/keys/private": "needle\n",
            "out/found": "needle\n",
            "config/git/ignore": "*.txt\n",
        },
    )


@pytest.fixture(scope="module")
def root(tree: Path) -> str:
    return str(tree / "in")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which a dialect of another package is installed; it is a noisy one."""
    place = plant(
        tmp_path_factory.mktemp("toy"),
        {
            "toy_dialect.py": TOY,
            "toy-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1\n",
            "toy-1.dist-info/entry_points.txt": "[evergrep.dialects]\ntoy = toy_dialect\n",
        },
    )
    return {"PYTHONPATH": str(place)}


def library(root: str, arguments: dict[str, Any], **settings: Any) -> str:
    workspace = evergrep.Workspace(root, allow=[root])
    return evergrep.tool("codex.grep_files", workspace, **settings)(arguments).text


def refused(*options: str, env: dict[str, str] | None = None) -> str:
    """What a start that must fail says on standard error; it serves nothing and exits with 2."""
    done = subprocess.run(
        command(*options),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr
    return done.stderr.decode()


# --- what is listed ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_is_listed_as_its_dialect_defines_it(root: str, mode: str) -> None:
    """Models were trained on the definitions, so nothing between may touch them."""

    async def steps(client: Client) -> Any:
        listed = (await client.list_tools()).tools
        return client.server_info.version, client.instructions, listed

    version, about, listed = ask(steps, *CODEX, "--root", root, mode=mode)
    assert version == evergrep.__version__
    assert about.startswith(f"Searches the contents and names of the files below {root}.")
    assert [tool.name for tool in listed] == NAMES
    for tool in listed:
        shape = DEFINITIONS[tool.name]
        assert tool.description == shape["description"]
        assert json.dumps(tool.input_schema) == json.dumps(shape["parameters"])
        assert tool.output_schema is None
        assert tool.annotations.model_dump(by_alias=True) == {
            "title": tool.title,
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }


def test_a_schema_goes_over_the_wire_byte_for_byte(root: str, tmp_path: Path) -> None:
    """Key order included, in both eras: the SDK's models would sort some of it."""
    schema = json.dumps(
        DEFINITIONS["grep_files"]["parameters"], ensure_ascii=False, separators=(",", ":")
    )
    with Wire(tmp_path / "log", *CODEX, "--root", root) as wire:
        wire.say("tools/list", {"_meta": MODERN}, id=1)
        assert schema.encode() in wire.hear_line()
    with Wire(tmp_path / "log", *CODEX, "--root", root) as wire:
        wire.greet().say("tools/list", id=1)
        assert schema.encode() in wire.hear_line()


def test_several_dialects_name_their_tools_apart(root: str, toy: dict[str, str]) -> None:
    """Two agents' tools may bear one name."""

    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert ask(names, *CODEX, "--root", root) == NAMES
    assert "codex_grep_files" in ask(names, "--dialect", "all", "--root", root)
    both = ask(names, "--dialect", "toy", *CODEX, "--root", root, env=toy)
    assert both[0] == "toy_noise"
    assert both[-len(NAMES) :] == [f"codex_{name}" for name in NAMES]
    assert ask(names, "--dialect", "toy", "--root", root, env=toy)[0] == "noise"


# --- what is answered ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_call_answers_as_the_library_does(root: str, mode: str) -> None:
    """A door carries replies; it has no words of its own."""
    questions = [{"pattern": "needle"}, {"pattern": "nee.le", "limit": 1}, {"pattern": "no"}]
    expected = [Told(library(root, question), is_error=False) for question in questions]
    assert calls("grep_files", questions, *CODEX, "--root", root, mode=mode) == expected
    assert f"{root}/src/a.py" in expected[0].text


def test_an_error_is_the_originals_text_and_flagged(root: str) -> None:
    """A model mends its call by the words it knows; the flag is for its host."""
    questions: list[dict[str, Any]] = [{"pattern": "("}, {"pattern": " "}, {}, {"pattern": 1}]
    expected = [Told(library(root, question), is_error=True) for question in questions]
    assert calls("grep_files", questions, *CODEX, "--root", root) == expected


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_a_protocol_error(root: str, mode: str) -> None:
    with pytest.raises(BaseExceptionGroup) as caught:
        call("rm", {}, *CODEX, "--root", root, mode=mode)
    (error,) = leaves(caught.value)
    assert isinstance(error, MCPError)
    assert (error.code, error.message) == (-32602, "Unknown tool: rm")


def test_the_environment_is_the_servers_own(root: str, tree: Path) -> None:
    """Codex's rg inherits it; git's global excludes are found through it."""
    options = (*CODEX, "--root", root)
    arguments = {"pattern": "needle", "path": "src"}
    config = {"XDG_CONFIG_HOME": str(tree / "config")}
    assert call("grep_files", arguments, *options, env=config)[0] == f"{root}/src/a.py"


def test_structured_content_comes_only_when_asked_for(root: str) -> None:
    """Several hosts show a model the JSON instead of the text when both are there."""
    options = (*CODEX, "--root", root)
    text, _, structured = call("grep_files", {"pattern": "needle"}, *options, "--structured")
    assert text == library(root, {"pattern": "needle"})
    assert len(structured["hits"]) == 3
    assert call("grep_files", {"pattern": "needle"}, *options)[2] is None


def leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in leaves(each)]
    return [error]


# --- options ------------------------------------------------------------------------------------


def test_a_setting_goes_to_each_dialect_that_has_it(root: str, toy: dict[str, str]) -> None:
    """A name without a dialect is for all who know it; with one it is for that one."""
    both = ("--dialect", "codex", "--dialect", "toy", "--root", root)

    def said(*settings: str) -> str:
        options = [part for each in settings for part in ("--set", each)]
        return call("toy_noise", {}, *both, *options, env=toy)[0]

    assert said("codex.raw_names=true", "word=a=b") == "a=b False {}"
    assert said("raw_names=true", 'toy.word="7"') == "7 True {}"
    assert said("toy.word=plain text") == "plain text False {}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "nothing=1"], "no served dialect has 'nothing'"),
        (["--set", "codex.nothing=1"], "codex has no setting 'nothing'"),
        (["--set", "elsewhere.raw_names=1"], "'elsewhere' is not served; served: codex"),
        (["--set", "raw_names"], "takes KEY=VALUE"),
        (["--set", "raw_names=maybe"], "takes a bool, not 'maybe'"),
        (["--dialect", "nobody"], "no dialect is called 'nobody'; there are: "),
        (["--root", "/no/such/folder"], "/no/such/folder: not a folder that can be opened"),
        (["--root", "/dev/null"], "/dev/null: not a folder that can be opened"),
        (["--deny", "{a"], "error parsing glob '{a'"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_a_bad_option_is_told_before_anything_is_served(options: list[str], words: str) -> None:
    assert words in refused("--dialect", "codex", *options)


def test_a_missing_extra_names_the_line_that_installs_it() -> None:
    """The server's SDK is no dependency of the library."""
    without = "import sys; sys.modules['mcp'] = None; import evergrep.mcp as door; sys.exit({})"
    done = subprocess.run(
        [sys.executable, "-c", without.format("door.main([])")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"pip install 'evergrep[mcp]'" in done.stderr


# --- reach --------------------------------------------------------------------------------------


def test_outside_the_roots_nothing_is_there(root: str, tree: Path) -> None:
    """Forbidden and absent must look the same, or a refusal tells what exists."""
    outside, absent = f"{tree}/out", f"{tree}/not"
    pairs = [(outside, absent), ("../out", "../not"), (f"{outside}/found", absent)]
    questions = [{"pattern": "needle", "path": path} for pair in pairs for path in pair]
    answers = calls("grep_files", questions, *CODEX, "--root", root)
    for (there, missing), refusal, expected in zip(pairs, answers[::2], answers[1::2], strict=True):
        assert refusal == Told(expected.text.replace(missing, there), is_error=True)
    wide = call("grep_files", questions[0], *CODEX, "--root", root, "--unconfined")
    assert wide == Told(f"{outside}/found", is_error=False)


def test_every_root_is_within_reach_and_the_first_is_the_working_folder(
    root: str, tree: Path
) -> None:
    outside = str(tree / "out")
    inside = {"pattern": "needle", "path": f"{root}/src", "include": "*.py"}
    answers = calls(
        "grep_files", [{"pattern": "needle"}, inside], *CODEX, "--root", outside, "--root", root
    )
    assert [each.text for each in answers] == [f"{outside}/found", f"{root}/src/a.py"]


def test_what_is_denied_is_not_there(root: str) -> None:
    """A denied path reads as an absent one, however it is asked for."""
    places = ("keys/private", "keys/absence")
    questions = [{"pattern": "needle"}, *({"pattern": "needle", "path": each} for each in places)]
    options = ("--deny", "keys/", "--deny", "*.txt")
    found, refusal, expected = calls("grep_files", questions, *CODEX, "--root", root, *options)
    assert found == Told(f"{root}/src/a.py", is_error=False)
    assert refusal == Told(expected.text.replace("absence", "private"), is_error=True)


# --- faults -------------------------------------------------------------------------------------


def test_a_fault_in_a_tool_ends_that_call_alone(
    root: str, toy: dict[str, str], tmp_path: Path
) -> None:
    """The client learns that it failed and nothing of the inside; the log has the rest."""
    with Wire(tmp_path / "log", "--dialect", "toy", "--root", root, env=toy) as wire:
        wire.greet()
        for number, name in enumerate(("crash", "fault", "leave"), 1):
            wire.say("tools/call", {"name": name}, id=number)
            result = wire.hear()["result"]
            assert result["isError"] is True
            assert "fault inside evergrep" in result["content"][0]["text"]
            assert "secret" not in json.dumps(result)
        wire.say("tools/call", {"name": "refuse"}, id=9)
        assert wire.hear()["error"] == {"code": -32602, "message": "refused by the original"}
        assert wire.log.read_text().count("the secret inside") >= 3


def test_text_that_is_no_unicode_does_not_end_the_server(
    root: str, toy: dict[str, str], tmp_path: Path
) -> None:
    """The SDK's writer dies of a lone surrogate, and the server with it."""
    options = ("--dialect", "toy", "--root", root, "--structured")
    with Wire(tmp_path / "log", *options, env=toy) as wire:
        wire.greet().say("tools/call", {"name": "half"}, id=1)
        result = wire.hear()["result"]
        assert result["content"][0]["text"] == "half \ufffd \ufffd"
        assert result["structuredContent"] == {"text": "\ufffd"}


def test_what_a_library_prints_never_reaches_the_wire(
    root: str, toy: dict[str, str], tmp_path: Path
) -> None:
    """Standard output carries the protocol only, also while dialects are imported."""
    with Wire(tmp_path / "log", "--dialect", "toy", "--root", root, env=toy) as wire:
        wire.greet().say("tools/call", {"name": "noise"}, id=1)
        assert wire.hear()["result"]["content"][0]["text"] == "toy False {}"
        wire.stdin.close()
        assert wire.ended_within(PATIENCE) == 0
        assert wire.heard + wire.stdout.read() == b""
        log = wire.log.read_text()
    for noise in ("printed on import", "written on import", "printed by a call"):
        assert noise in log


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_handshake_revision_is_spoken(revision: str, root: str, tmp_path: Path) -> None:
    """Most installed clients open with one of them."""
    with Wire(tmp_path / "log", *CODEX, "--root", root) as wire:
        wire.greet(revision).say("tools/list", id=1)
        assert [tool["name"] for tool in wire.hear()["result"]["tools"]] == NAMES
        wire.say("tools/call", {"name": "grep_files", "arguments": {"pattern": "no"}}, id=2)
        content = [{"type": "text", "text": "No matches found."}]
        assert wire.hear()["result"] == {"content": content, "isError": False}


def test_garbage_is_answered_and_survived(root: str, tmp_path: Path) -> None:
    """A sender that gets no answer waits for ever."""
    nobody = {"jsonrpc": "2.0", "id": None}
    parse_error = {**nobody, "error": {"code": -32700, "message": "Parse error"}}
    invalid = {**nobody, "error": {"code": -32600, "message": "Invalid request"}}
    with Wire(tmp_path / "log", *CODEX, "--root", root) as wire:
        wire.greet()
        for line in (b"garbage", b"{", b"\xff\xfe", b'{"method": "\\ud800"}', b"[" * 100_000):
            wire.write(line)
            assert wire.hear() == parse_error
        for line in (b"[]", b"{}", b'"text"', b'{"jsonrpc": "2.0", "id": 1}'):
            wire.write(line)
            assert wire.hear() == invalid
        wire.write(b"")
        wire.write(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": '
                   b'{"name": "grep_files", "arguments": {"pattern": "\\ud800"}}}')  # fmt: skip
        result = wire.hear()
        assert result["id"] == 7
        assert result["result"]["content"][0]["text"] == library(root, {"pattern": "\ud800"})
        assert result["result"]["isError"] is True
