"""`evergrep grep` prints and ends as the real ripgrep does, flag by flag."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, environment, run
from judges import ask
from trees import File, Folder, Pipe, plant

LONG = b"x" * 70_000
TREE: dict[str, Any] = {
    "src/x.txt": File(b"one foo bar foo\ntwo\nthree\nfour\nfive\nsix foo\n", time=5_000_000_000),
    "src/sub/end.txt": File(b"foo", time=3_000_000_000),
    "src/y.rs": File(b"fn Foo() {}\n// x.txt\n", time=4_000_000_000),
    "a/crlf.txt": File(b"  foo crlf\r\nbar\r\n", time=2_000_000_000),
    "a-b/f": File(b"foo\n", time=1_000_000_000),
    "bin.dat": b"foo\nbar\0baz\nfoo\n",
    "d/late.bin": b"foo\n" + LONG + b"\na\0b\nfoo\n",
    "d/late2.bin": b"bar\n" + LONG + b"\nfoo a\0b\nfoo\n",
    "d/early.bin": b"fo\0foo\n",
    "latin.txt": b"caf\xe9 foo\n",
    "bom.txt": b"\xef\xbb\xbffoo bom\n",
    "wide/u16.txt": b"\xff\xfef\0o\0o\0\n\0b\0\n\0",
    ".hidden": b"foo in hidden\n",
    ".gitignore": b"*.log\n",
    ".git/HEAD": b"ref: refs/heads/main\n",
    "x.log": b"foo\n",
}

# Each line is what follows `grep`, or `rg`. Where several files can match the order is asked for:
# without it ripgrep's is the order in which its threads end.
SAME = r"""
--sort path foo
--sort path foo ./
--sort path foo .
--sort path foo ./src
--sort path foo src/
--sort path foo src//
--sort path foo ./.
--sort path foo .//src
--sort path foo src/.
--sort path foo src/../a
--sort path foo . src
--sort path foo src src
--sort path foo src/x.txt src
--sortr path -l foo a src
--sort path -n foo src a
--sort path -c foo
--sort path -l foo
--sort path -lc foo src
--sort path -cl foo src
--sort path -c -I foo src
--sort path -c -o foo src
--sort path --count-matches foo
--sort path -c .
--sort path --count-matches .
--sort modified -l foo src a a-b
--sortr modified -l foo src a a-b
--sortr modified -l foo src
--sort path --files src
--sort path --files
--sort path --files -trust
-n foo src/x.txt
-H foo src/x.txt
-I --sort path foo src
-nN foo src/x.txt
foo src/x.txt -n --
-n -- foo src/x.txt
-n -C1 --sort path foo src
-n -A1 foo src/x.txt
-n -B1 foo src/x.txt
-A1 -C2 -B0 four src/x.txt
-nC0 --sort path foo src
-m1 -A2 foo src/x.txt
-m1 -C1 o src/x.txt
-m1 -n --sort path foo src
-m1 --sort path -c foo src
-m0 foo
--heading foo src/x.txt
--heading -c --sort path foo src
--heading -0 --sort path foo src
--heading -n -C1 --sort path foo src a
-0 -n --sort path foo src
-0l --sort path foo src
-0c --sort path foo src
--column -A1 --sort path foo src
-o --column foo src/x.txt
-o -C1 -n foo src/x.txt
-o 'x*' -n --column src/sub/end.txt
-o ^ src/sub
-o . src/sub
--vimgrep foo src/x.txt
--vimgrep 'x*' src/sub/end.txt
-C1 --vimgrep foo src/x.txt
-m1 --vimgrep foo src/x.txt
--vimgrep --color always foo src/x.txt
--color never foo src/x.txt
--color always -n -H --column -A1 foo src/x.txt
--color always --heading --sort path foo src a
--color always -c --sort path foo src
--color always -l --sort path foo src
--color always -o -n foo src/x.txt
--color always ^ src/sub
--color always '$' src/x.txt
--color ansi foo src/x.txt
-p --sort path foo src
-p four src/x.txt -C9
--trim foo a/crlf.txt
--trim --color always crlf a
--trim -o ' *foo' a
--trim --column -o ' *foo' a
--trim -C1 --vimgrep crlf a
-M 5 foo src/x.txt
-M 15 -n foo src/x.txt
-M 16 -n foo src/x.txt
-M 0 foo src/x.txt
-M 2 -o foo src/x.txt
-M 3 -o foo src/x.txt
-M 5 -C1 foo src/x.txt
-M 20 -A1 foo src/x.txt
-M 5 --color always foo src/x.txt
-M 5 --trim -n crlf a
-M 2 --vimgrep --color always foo src/sub
-q foo
-q nothing
nothing
-i FOO src/x.txt
-s Foo src/y.rs
-iS Foo src/x.txt
-Si Foo src/x.txt
-S foo src/y.rs
-S Foo src/x.txt
-S '\Foo' src/x.txt
-S 'foo\S?' src/x.txt
-S '\x46oo' src/x.txt
-S '\pLoo' src/x.txt
-S '\p{Lu}oo' src/x.txt
-S '\p{Lu}' src/x.txt
-S '[F]oo' src/x.txt
-S '[[:upper:]]oo' src/x.txt
-S '(?P<N>foo)' src/y.rs
-S -F FOO src/x.txt
-S -F fn src/y.rs
-S -e foo -e Six src/x.txt
-w fo src
-w foo src/x.txt
-wF foo src/x.txt
-x foo src/x.txt
-x --sort path foo src
-xF --sort path foo src
-x --sort path -e foo -e two src
-wx --sort path foo src
-F x.txt src
-Fe o.o -e six src/x.txt
-Fe '{}' -e '(' src
-e foo -e six src/x.txt
-e -x src
-e=foo src/x.txt
-e '' src/x.txt
-ie FOO src/x.txt
-ifoo
'' src/sub
-n '$' src/sub
--sort path --hidden foo
--sort path -. --no-hidden foo
--sort path --no-ignore foo
--sort path --no-ignore --ignore foo
--sort path -u foo
--sort path -uu -l foo
--sort path -g '*.txt' foo
--sort path -g '!*.txt' foo
--sort path -g '*.txt' -g '!x*' foo
--sort path -g '/src/*' foo src
--sort path -g '/src/*' foo ./src
--sort path -g 'src/**' foo
--sort path -g '*.log' foo
--sort path -g '*.dat' foo
--sort path -trust fn
--sort path -Ttxt foo
--sort path -ttxt -g '*.rs' foo
-tall -l --sort path foo
--sort path -d1 foo
--sort path -d2 foo
-d0 foo
-d0 foo src/x.txt
--sort path --max-filesize 5 foo
--sort path --max-filesize 1K -l foo
--max-filesize 5 foo src/x.txt
foo bin.dat
-c foo bin.dat
-l foo bin.dat
-a foo bin.dat
--sort path foo bin.dat src/x.txt
--sort path foo d
--sort path -c foo d
--sort path -l foo d
--sort path -a -c foo d
--sort path -ac --no-text foo d
-q foo d
-n foo d/late.bin
--sort path --heading foo d
--sort path --heading -n --color always foo d
foo bom.txt
^foo bom.txt
foo wide
-n foo latin.txt
'caf.' latin.txt
'(?-u)caf\xe9' latin.txt
--color always '(?-u)\xe9' latin.txt
'crlf$' a
-x '  foo crlf' a
-U -c 'foo\ntwo' src
-U -n 'foo\ntwo' src
-U -n --color always 'foo\ntwo' src
-U -n -C1 'foo\ntwo' src
-U -o -n 'foo\ntwo' src
-U 'foo.*three' src
-U --multiline-dotall 'foo.*three' src
foo nothere
foo nothere src/x.txt
-q foo nothere src/x.txt
-l --sort path foo nothere src
--no-messages foo nothere
foo src/x.txt/
'a\nb'
'('
-e foo -e '('
-tnothing foo
-g '{' foo

--nothing foo
-Z foo
-A
-e
-m foo x
-C x foo
--ignore-case=3 foo
--max-filesize 1q foo
--sort nothing foo
--color maybe foo
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One tree for all, which nothing writes to."""
    return plant(tmp_path_factory.mktemp("grep"), TREE)


@pytest.mark.parametrize("line", SAME.strip("\n").split("\n"))
def test_prints_and_ends_as_ripgrep(tree: Path, line: str) -> None:
    """Habits hold only when every byte and the exit code are the same."""
    words = shlex.split(line)
    verdict = ask(words, cwd=tree)
    done = run("grep", *words, cwd=tree)
    assert (verdict.code, verdict.out) == (done.code, done.out), done.err
    assert (verdict.err == b"") == (done.err == b"")


@pytest.mark.parametrize(
    "line",
    [
        "--json --sort path -C1 foo src a",
        "--json nothing src",
        "--json 'x*' src/sub",
        "--json '(?-u)caf.' latin.txt",
        "--json --sort path foo d",
    ],
)
def test_json_messages_are_ripgreps_without_what_is_not_known(tree: Path, line: str) -> None:
    """Programs read these messages; a field is left out rather than made up."""
    words = shlex.split(line)
    verdict = ask(words, cwd=tree)
    done = run("grep", *words, cwd=tree)
    assert verdict.code == done.code
    theirs = [_known(json.loads(each)) for each in verdict.out.splitlines()]
    ours = [_known(json.loads(each)) for each in done.out.splitlines()]
    assert theirs == ours


def _known(message: dict[str, Any]) -> dict[str, Any]:
    data = message["data"]
    for unknown in ("absolute_offset", "elapsed_total"):
        data.pop(unknown, None)
    for unknown in ("elapsed", "bytes_printed", "bytes_searched"):
        data.get("stats", {}).pop(unknown, None)
    if "lines" in data and "text" in data["lines"]:
        # Whether the last line of a file has an end is not told.
        data["lines"]["text"] = data["lines"]["text"].rstrip("\n")
    return message


def test_json_holds_a_name_that_is_not_utf8_exactly(tmp_path: Path) -> None:
    """R21: JSON carries the exact bytes."""
    plant(tmp_path, {b"caf\xe9\n": b"foo\n"})
    done = run("grep", "--json", "foo", cwd=tmp_path)
    assert json.loads(done.out.splitlines()[0])["data"]["path"] == {"bytes": "Y2Fm6Qo="}


def test_a_name_cannot_forge_a_result(tmp_path: Path) -> None:
    """R21: a line is one result, whatever a file is called; NUL separation keeps it exact."""
    plant(tmp_path, {b"a\nb:1:x": b"foo\n", b"e\x1b[2J": b"foo\n", b"t\tb": b"foo\n"})
    listed = b"a\\nb:1:x\ne\\x1b[2J\nt\tb\n"
    assert listed == run("grep", "-l", "--sort", "path", "foo", cwd=tmp_path).out
    lines = b"".join(name + b":foo\n" for name in listed.splitlines())
    assert lines == run("grep", "--sort", "path", "foo", cwd=tmp_path).out
    exact = b"a\nb:1:x\0e\x1b[2J\0t\tb\0"
    assert exact == run("grep", "-l0", "--sort", "path", "foo", cwd=tmp_path).out


def test_standard_input_is_refused_not_awaited(tree: Path) -> None:
    """A search that silently waits on the agent's input would never end."""
    done = run("grep", "foo", "-", cwd=tree, given=b"foo\n")
    assert (done.code, done.out) == (2, b"")
    assert b"standard input is not searched" in done.err
    assert run("grep", "foo", "src/x.txt", cwd=tree, given=b"foo\n").out.startswith(b"one foo")


def test_an_unsupported_flag_is_named(tree: Path) -> None:
    """A flag that is passed over in silence would change the answer's meaning."""
    done = run("grep", "--pcre2", "foo", cwd=tree)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith(b"evergrep: unsupported flag --pcre2;")


@pytest.mark.parametrize(
    "line",
    [
        "-uuu foo",
        "-U --json foo",
        "-U --vimgrep foo",
        "--index on foo",
        "--count-matches foo bin.dat",
    ],
)
def test_what_cannot_be_done_right_is_refused(tree: Path, line: str) -> None:
    """A refusal is better than an answer that only looks like ripgrep's."""
    done = run("grep", *line.split(), cwd=tree)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith(b"evergrep: ")


def test_index_off_is_accepted(tree: Path) -> None:
    """The switch exists before there is an index, so that scripts can already ask for scans."""
    done = run("grep", "--index", "off", "-l", "six", cwd=tree)
    assert done == (0, b"src/x.txt\n", b"")


def test_an_empty_folder_is_told_apart_from_no_match(tmp_path: Path) -> None:
    """R25: an empty answer must not stand for files that were never looked at."""
    done = run("grep", "foo", cwd=tmp_path)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith(b"evergrep: no file was searched")


def test_stats_count_what_was_searched(tree: Path) -> None:
    """Numbers on request, in plain words."""
    done = run("grep", "--stats", "foo", "src/x.txt", cwd=tree)
    before, _, numbers = done.out.decode().partition("\n\n")
    assert before == "one foo bar foo\nsix foo"
    told = numbers.splitlines()
    assert told[:5] == [
        "3 matches",
        "2 matched lines",
        "1 files contained matches",
        "1 files searched",
        "44 bytes searched",
    ]
    assert told[5].endswith(" seconds")
    assert told[6:] == ["answered by: scan"]


def test_many_unreadable_paths_are_told_in_few_lines(tmp_path: Path) -> None:
    """R14: never a line of error for each of thousands."""
    names = [f"no{number}" for number in range(500)]
    plant(tmp_path, {"here": b"foo\n"})
    done = run("grep", "foo", "here", *names, cwd=tmp_path)
    assert (done.code, done.out) == (2, b"here:foo\n")
    told = done.err.decode().splitlines()
    assert told[0] == "evergrep: no0: No such file or directory"
    assert told[-1] == "evergrep: and 490 more paths could not be read"
    assert len(told) == 11


def test_what_may_not_be_read_is_told_and_ends_with_two(tmp_path: Path) -> None:
    """R25: matches elsewhere do not hide that some files were not searched."""
    plant(
        tmp_path,
        {
            "a": b"foo\n",
            "closed/x": b"foo\n",
            "closed": Folder(mode=0),
            "z": File(b"foo\n", mode=0),
        },
    )
    told = b"evergrep: closed: Permission denied\nevergrep: z: Permission denied\n"
    for paths, out in (([], b"a:foo\n"), (["closed", "z", "a"], b"a:foo\n")):
        assert _ordinary("foo", *paths, cwd=tmp_path) == (2, out, told)
    assert _ordinary("-q", "foo", cwd=tmp_path).code == 0
    assert _ordinary("--no-messages", "foo", cwd=tmp_path) == (2, b"a:foo\n", b"")
    (tmp_path / "closed").chmod(0o700)


def _ordinary(*arguments: str, cwd: Path) -> Done:
    """The same command by a user whom permission bits bind."""
    script = Path(__file__).parents[1] / "contract" / "ordinary_user.py"
    done = subprocess.run(
        [sys.executable, script, "-m", "evergrep", "grep", *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_special_files_are_told_but_for_the_empty_one(tmp_path: Path) -> None:
    """A pipe is never opened for reading; `/dev/null` is how people make one path two."""
    plant(tmp_path, {"a": b"foo\n", "pipe": Pipe()})
    told = b"evergrep: pipe: neither a file nor a folder, so not searched\n"
    assert run("grep", "foo", "pipe", "a", cwd=tmp_path) == (2, b"a:foo\n", told)
    assert run("grep", "foo", cwd=tmp_path) == (0, b"a:foo\n", b"")
    assert run("grep", "foo", "a", "/dev/null", cwd=tmp_path) == (0, b"a:foo\n", b"")


def test_paths_work_from_the_top_of_the_tree(tmp_path: Path) -> None:
    """The one folder whose name ends in a slash."""
    plant(tmp_path, {"f": b"foo\n"})
    below = os.fsencode(tmp_path.relative_to("/"))
    assert below + b"/f:foo\n" == run("grep", "foo", below, cwd="/").out
    assert b"/" + below + b"/f:foo\n" == run("grep", "foo", b"/" + below, cwd="/").out


def test_a_search_does_not_import_what_it_does_not_need(tree: Path) -> None:
    """Start-up is most of a small search's time."""
    heavy = {"argparse", "asyncio", "importlib.metadata", "evergrep.mcp", "mcp", "email"}
    script = (
        "import sys; from evergrep.cli import main; main(['grep', '-q', 'foo']);"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tree, capture_output=True, timeout=60, check=True
    )
    assert done.stdout == b"[]\n"
