"""Files that are read for rules, made to hang or to feed whoever opens them.

ripgrep opens rule files by path and reads them to their end, whatever they are, so each trap is
also shown to catch it (safety.md 1 and R9, tests.md SP-2).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from judges import ask
from trees import Link, Node, Pipe, plant
from watched import MEMORY, MIB, Refused, needle, watched

from evergrep import Files
from evergrep.query import GitPlaces


@dataclass(frozen=True)
class Trap:
    """A recipe whose search must find `tree/a.txt`, and the path of what may not be read."""

    recipe: dict[str, Node]
    path: str
    root: str = "tree"
    catches: bool = True
    """Whether ripgrep 15.2.0 is known to be caught by it."""


REPOSITORY: dict[str, Node] = {"tree/.git/HEAD": "ref: refs/heads/main\n"}
TRAPS = {
    "pipe .gitignore": Trap({**REPOSITORY, "tree/.gitignore": Pipe()}, "tree/.gitignore"),
    "pipe .ignore": Trap({"tree/.ignore": Pipe()}, "tree/.ignore"),
    "pipe .rgignore": Trap({"tree/.rgignore": Pipe()}, "tree/.rgignore"),
    "pipe .ignore deeper": Trap({"tree/sub/.ignore": Pipe()}, "tree/sub/.ignore"),
    "pipe .git/info/exclude": Trap(
        {**REPOSITORY, "tree/.git/info/exclude": Pipe()}, "tree/.git/info/exclude"
    ),
    "pipe .gitignore of a parent": Trap(
        {"above/.git/HEAD": "", "above/.gitignore": Pipe(), "above/tree/a.txt": "needle\n"},
        "above/.gitignore",
        root="above/tree",
    ),
    "pipe commondir": Trap(
        {"tree/.git": "gitdir: {TOP}/real\n", "real/commondir": Pipe()}, "real/commondir"
    ),
    "link to a pipe": Trap({"tree/.ignore": Link("pipe"), "tree/pipe": Pipe()}, "tree/.ignore"),
    "link to /dev/zero": Trap({"tree/.ignore": Link("/dev/zero")}, "tree/.ignore"),
    "link to /dev/stdin": Trap({"tree/.ignore": Link("/dev/stdin")}, "tree/.ignore"),
    "link to /proc/self/fd/0": Trap({"tree/.ignore": Link("/proc/self/fd/0")}, "tree/.ignore"),
    "pipe .git": Trap({"tree/.git": Pipe()}, "tree/.git", catches=False),
    "folder .ignore": Trap({"tree/.ignore/": ""}, "tree/.ignore", catches=False),
    "link to itself": Trap({"tree/.ignore": Link(".ignore")}, "tree/.ignore", catches=False),
    "link to nothing": Trap({"tree/.ignore": Link("nothing")}, "tree/.ignore", catches=False),
}


def spring(top: Path, trap: Trap) -> Path:
    recipe = {
        path: node.replace("{TOP}", str(top)) if isinstance(node, str) else node
        for path, node in trap.recipe.items()
    }
    plant(top, recipe)
    root = top / trap.root
    (root / "a.txt").write_text("needle\n")
    return root


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_for_rules_is_passed_and_the_needle_found(name: str, top: Path) -> None:
    """A clone or an archive brings such files; a search must neither hang nor read them."""
    root = spring(top, TRAPS[name])
    for allow in (None, [root]):
        [result] = watched(root, [needle(root)], allow=allow)
        assert ([os.fsencode(root / "a.txt")], None) == (result.paths, result.found.stopped)
        assert result.memory < MEMORY
        if TRAPS[name].catches:
            # A parent's file, outside when confined, may not even be named.
            told = {os.fsencode(top / TRAPS[name].path): "rule file"}
            outside = allow is not None and not TRAPS[name].path.startswith(TRAPS[name].root + "/")
            assert result.told in ([told, {}] if outside else [told])


def test_the_traps_catch_ripgrep(top: Path) -> None:
    """A trap that catches nobody tests nothing (tests.md 1)."""
    caught = [name for name in TRAPS if TRAPS[name].catches]
    roots = [spring(top / str(number), TRAPS[name]) for number, name in enumerate(caught)]
    waiting, writer = os.pipe()
    with ThreadPoolExecutor(len(caught)) as pool:
        verdicts = pool.map(
            lambda root: (
                ask(
                    ["--regexp=needle", "--", root], seconds=2, memory=1024 * MIB, stdin=waiting
                ).end
            ),
            roots,
        )
        ends = dict(zip(caught, verdicts, strict=True))
    os.close(waiting)
    os.close(writer)
    # The endless device fills the memory it may have before its time is over.
    assert dict.fromkeys(caught, "hang") | {"link to /dev/zero": "signal"} == ends


@pytest.mark.parametrize("node", [Pipe(), Link("/dev/zero"), Link("/dev/stdin")], ids=repr)
@pytest.mark.parametrize("name", [".gitconfig", ".config/git/config", ".config/git/ignore"])
def test_a_trap_in_the_home_is_passed(name: str, node: Node, top: Path) -> None:
    """Git's global excludes are rule files too."""
    root = plant(top / "tree", {"a.txt": "needle\n", ".git/HEAD": ""})
    home = plant(top / "home", {name: node})
    places = GitPlaces(home=os.fsencode(home))
    [result] = watched(root, [needle(root, files=Files(places=places))])
    assert ([os.fsencode(root / "a.txt")], None) == (result.paths, result.found.stopped)
    assert result.memory < MEMORY


def test_a_rule_file_over_its_cap_is_told(top: Path) -> None:
    """Whoever reads the answer must know that rules were not applied (safety.md R11)."""
    body = b"# a rule file that grew\n" * 50_000 + b"b.txt\n"
    root = plant(top / "tree", {".ignore": body, "a.txt": "needle\n", "b.txt": "needle\n"})
    [result] = watched(root, [needle(root)])
    assert {os.fsencode(root / ".ignore"): "rule file"} == result.told
    assert os.fsencode(root / "a.txt") in result.paths
    assert result.memory < MEMORY


NESTED = 100_000 * b"{" + b"a" + 100_000 * b"}" + b"\n"
"""ripgrep's parser of globs goes one call deeper for every brace, until its stack is full."""


@pytest.mark.parametrize("name", [".ignore", ".gitignore", ".git/info/exclude"])
def test_rules_that_nest_without_end_are_passed_and_told(name: str, top: Path) -> None:
    """A full stack would end the process of whoever embeds us (safety.md R18, R33)."""
    recipe: dict[str, Node] = {**REPOSITORY, f"tree/{name}": NESTED, "tree/a.txt": "needle\n"}
    root = plant(top, recipe) / "tree"
    [result] = watched(root, [needle(root)])
    path = os.fsencode(root / name)
    assert result.paths == [os.fsencode(root / "a.txt")]
    assert result.told == {path: "rule file"}
    assert result.memory < MEMORY


def test_a_glob_that_nests_without_end_is_refused(top: Path) -> None:
    """An agent's own argument may be as hostile as a file."""
    root = plant(top / "tree", {"a.txt": "needle\n"})
    nested = "{" * 10_000 + "a" + "}" * 10_000
    globs = [nested, "!" + nested, "src/" + nested, f"{{{nested},{nested}}}"]
    for result in watched(root, [needle(root, files=Files(globs=(each,))) for each in globs]):
        assert isinstance(result.answer, Refused)
        assert result.answer.kind == "glob"


def test_ripgrep_dies_of_rules_that_nest_without_end(top: Path) -> None:
    """What the two tests above are for."""
    root = plant(top / "tree", {".ignore": NESTED, "a.txt": "needle\n"})
    assert ask(["--regexp=needle", "--", root]).end == "signal"


def test_a_rule_file_that_is_an_endless_line_is_passed(top: Path) -> None:
    """A hole of a terabyte takes no place on the disk and never ends for a reader."""
    root = plant(top / "tree", {"a.txt": "needle\n"})
    for name in (".ignore", ".rgignore", ".gitignore"):
        with (root / name).open("wb") as file:
            file.truncate(1 << 40)
    [result] = watched(root, [needle(root)])
    assert [os.fsencode(root / "a.txt")] == result.paths
    assert result.memory < MEMORY
