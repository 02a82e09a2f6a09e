"""Where our answer is not ripgrep's, on purpose: each with its reason and an example.

A difference that a random tree meets is excused only when it stands here, and only for the files it
concerns. The examples are run, and one on which the two agree makes its row stale.
"""

# Paths are bytes here, which pathlib does not hold.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from random_trees import PIECE, Question, Tree
from trees import File, Link, Node

EVERYTHING = frozenset([b"*"])
"""Where any part of an answer may differ."""

Excused = Callable[[Tree, Question, str], frozenset[bytes]]


def nowhere(tree: Tree, question: Question, version: str) -> frozenset[bytes]:
    """For what random trees do not meet, or `against.misordered` knows."""
    return frozenset()


@dataclass(frozen=True)
class Difference:
    """A row of the table."""

    name: str
    reason: str
    excuses: Excused
    """The files (or EVERYTHING) that may differ for this tree, question and version of ripgrep."""
    recipe: dict[bytes, Node]
    question: Question
    home: dict[bytes, Node] = field(default_factory=dict)
    version: str = "15.2.0"


def behind_grown_pieces(tree: Tree, question: Question, version: str) -> frozenset[bytes]:
    """Files with a NUL behind the first piece, in a tree with a long line."""
    files = {path: node.body for path, node in tree.recipe.items() if isinstance(node, File)}
    if all(max(map(len, body.split(b"\n"))) < PIECE - 2 for body in files.values()):
        return frozenset()
    return frozenset(path for path, body in files.items() if body.find(b"\x00") >= PIECE - 2)


def below_linked_rules(tree: Tree, question: Question, version: str) -> frozenset[bytes]:
    """Everything, where a rule file links out of the root, or lies above it and links anywhere."""
    linked = [
        os.fsencode(node.target)
        for path, node in tree.recipe.items()
        if isinstance(node, Link) and os.path.basename(path).endswith(b"ignore")
    ]
    out = any(target.startswith(b"..") for target in linked)
    return EVERYTHING if linked and (out or question.roots != (b"",)) else frozenset()


def by_other_configuration(tree: Tree, question: Question, version: str) -> frozenset[bytes]:
    """Everything, for the old version with the new variables."""
    named = any(name.startswith("GIT_CONFIG") for name, _ in question.env)
    return EVERYTHING if version == "15.1.0" and named else frozenset()


KNOWN = [
    Difference(
        name="ripgrep's pieces grow",
        reason="ripgrep reads every file through one buffer that a long line enlarges, so whether "
        "a NUL behind the first piece is met depends on the files before; our pieces do not grow",
        excuses=behind_grown_pieces,
        recipe={
            b"a.txt": b"x" * 3 * PIECE + b"\n",
            b"b.txt": b"needle\n" + b"x\n" * PIECE + b"\x00\n",
        },
        question=Question(order="path"),
    ),
    Difference(
        name="a rule file that links to outside",
        reason="no link leads out of the searched root, as git has it (safety.md 10, row 4); told "
        "in `skipped`",
        excuses=below_linked_rules,
        recipe={b"a.rs": b"needle\n", b".ignore": Link(b"../outside/rules")},
        home={b"outside/rules": b"a.rs\n"},
        question=Question(),
    ),
    Difference(
        name="equal times",
        reason="ripgrep leaves equal times in the order of the machine's folder, which another "
        "copy of the tree does not have; ours go by the bytes of the path",
        excuses=nowhere,
        recipe={each: File(b"needle\n", time=10**18) for each in (b"b", b"c", b"a", b"d", b"e")},
        question=Question(order="newest"),
    ),
    Difference(
        name="paths by component",
        reason="ripgrep sorts paths component by component, we by all their bytes, so that pages "
        "of several machines merge",
        excuses=nowhere,
        recipe={b"a/x": b"needle\n", b"a b": b"needle\n"},
        question=Question(order="path"),
    ),
    Difference(
        name="a rule file over 1 MiB",
        reason="rule files are read up to a cap (safety.md R11); told in `skipped`",
        excuses=nowhere,
        recipe={b".ignore": b"# filling\n" * 110_000 + b"a.rs\n", b"a.rs": b"needle\n"},
        question=Question(),
    ),
    Difference(
        name="git's other configuration",
        reason="ripgrep 15.1.0 did not know GIT_CONFIG_GLOBAL and GIT_CONFIG_SYSTEM",
        excuses=by_other_configuration,
        recipe={b".git/HEAD": b"", b"a.rs": b"needle\n"},
        home={b"home/other": b"[core]\nexcludesFile = ~/mine\n", b"home/mine": b"a.rs\n"},
        question=Question(env=(("GIT_CONFIG_GLOBAL", "home/other"),)),
        version="15.1.0",
    ),
]


def excused(tree: Tree, question: Question, version: str) -> frozenset[bytes]:
    """The files that the rows allow to differ for this tree and question, or EVERYTHING."""
    return frozenset().union(*(row.excuses(tree, question, version) for row in KNOWN))
