"""Our answers are ripgrep's, on random trees and random questions.

`EVERGREP_ROUNDS` sets how many trees are tried (the fast suite takes the default, always the same
ones; a number tries new ones). A failure prints the smallest tree and question that show it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from against import Ask, Place, answered, difference, fit, ours, query, theirs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from known_differences import EVERYTHING, KNOWN, Difference, excused
from random_trees import Question, Tree, questions, trees
from trees import MEMORY, Recipe, ground, plant

from evergrep import Answer, Files, Query, Workspace

ROUNDS = int(os.environ.get("EVERGREP_ROUNDS", "0"))


def rounds(fast: int) -> settings:
    return settings(
        max_examples=ROUNDS or fast,
        derandomize=not ROUNDS,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink],
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def rounds_of_questions(draw: st.DrawFn) -> tuple[Tree, list[Question]]:
    tree = draw(trees())
    return tree, draw(st.lists(questions(tree), min_size=4, max_size=6))


@contextmanager
def planted(recipe: Recipe, home: Recipe) -> Iterator[Place]:
    with ground(MEMORY if os.access(MEMORY, os.W_OK) else None) as top:
        plant(top, home)
        plant(top / "tree", recipe)
        yield Place(top)


@contextmanager
def one_core() -> Iterator[None]:
    """This thread, and those it starts, on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def agree(
    place: Place, tree: Tree, question: Question, version: str = "15.2.0", search: Ask = ours
) -> None:
    """Fail where an answer differs from ripgrep's otherwise than the table allows."""
    allowed = excused(tree, question, version)
    found = difference(place, question, version=version, search=search, beside=allowed)
    assert found is None or allowed >= EVERYTHING, found


@rounds(fast=400)
@given(rounds_of_questions())
def test_answers_are_those_of_ripgrep_15_2(drawn: tuple[Tree, list[Question]]) -> None:
    """Agents were trained on ripgrep's answers; files, counts, lines and listings must be its."""
    tree, asked = drawn
    with planted(tree.recipe, tree.home) as place:
        for question in asked:
            agree(place, tree, question)


@rounds(fast=120)
@given(rounds_of_questions())
def test_files_newest_first_are_those_of_ripgrep_15_1(
    drawn: tuple[Tree, list[Question]],
) -> None:
    """Codex's `grep_files` was recorded with ripgrep 15.1.0 (contracts/codex.md 3.3)."""
    tree, asked = drawn
    with planted(tree.recipe, tree.home) as place:
        for each in asked:
            question = Question(
                kind="files",
                roots=each.roots[:1],
                base=each.base,
                pattern=each.pattern,
                globs=each.globs[:1],
                order="newest",
                env=each.env,
            )
            agree(place, tree, question, version="15.1.0")


@rounds(fast=120)
@given(rounds_of_questions())
def test_the_answer_does_not_depend_on_the_number_of_threads(
    drawn: tuple[Tree, list[Question]],
) -> None:
    """The same answer on every run, order and gaps included (safety.md R24)."""
    tree, asked = drawn
    with planted(tree.recipe, tree.home) as place:
        workspace = Workspace(os.fsdecode(place.tree))
        for question in asked:
            wanted = query(place, fit(place, question))
            first = whole(workspace, wanted)
            with one_core():
                single = whole(workspace, wanted)
            assert (first, first) == (single, whole(workspace, wanted)), question


def whole(workspace: Workspace, wanted: Query) -> object:
    """All of an answer that may not vary, or the error."""
    try:
        answer = workspace.search(wanted)
    except Exception as error:
        return repr(error)
    seen = answer.seen._replace(seconds=0.0, folders=0, searched=0, bytes=0, files=0)
    return answer._replace(seen=seen)


@rounds(fast=120)
@given(rounds_of_questions(), st.integers(0, 4), st.integers(1, 4))
def test_a_page_is_a_slice_of_the_whole(
    drawn: tuple[Tree, list[Question]], offset: int, limit: int
) -> None:
    """A search that stops when the page is certain must give what the whole search would."""
    tree, asked = drawn
    with planted(tree.recipe, tree.home) as place:
        workspace = Workspace(os.fsdecode(place.tree))
        for question in asked:
            wanted = query(place, fit(place, question))
            full = whole(workspace, wanted)
            if not isinstance(full, Answer):
                continue
            page = replace(wanted.page, unit="files", offset=offset, limit=limit)
            paged = workspace.search(replace(wanted, page=page))
            expected = (full.hits[offset : offset + limit], len(full.hits) > offset + limit)
            assert expected == (paged.hits, paged.more), question


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.name)
def test_a_known_difference_shows_in_its_example(row: Difference) -> None:
    """A row whose two sides agree is stale, and would excuse real faults."""
    with planted(row.recipe, row.home) as place:
        workspace = Workspace(os.fsdecode(place.tree))
        expected = theirs(place, row.question, row.version)
        found = answered(row.question, workspace.search(query(place, row.question)))
        assert expected != found


SABOTAGE = {
    "a hit dropped": lambda workspace, query: drop(workspace.search(query)),
    "hidden flipped": lambda workspace, query: workspace.search(
        replace(query, files=replace(query.files, hidden=not query.files.hidden))
    ),
    "ignore rules off": lambda workspace, query: workspace.search(
        replace(query, files=replace(query.files, ignore="none"))
    ),
    "a line number off by one": lambda workspace, query: shift(workspace.search(query)),
    "globs lost": lambda workspace, query: workspace.search(
        replace(query, files=replace(query.files, globs=()))
    ),
    "order reversed": lambda workspace, query: turn(workspace.search(query)),
    "binary files searched": lambda workspace, query: workspace.search(
        replace(query, reading=replace(query.reading, binary="none"))
    ),
    "letter case lost": lambda workspace, query: workspace.search(
        replace(query, pattern=query.pattern and replace(query.pattern, ignore_case=True))
    ),
    "global excludes lost": lambda workspace, query: workspace.search(
        replace(query, files=replace(query.files, places=Files().places))
    ),
}


def drop(answer: Answer) -> Answer:
    return answer._replace(hits=answer.hits[1:])


def shift(answer: Answer) -> Answer:
    hits = [
        hit._replace(lines=tuple(line._replace(number=line.number + 1) for line in hit.lines))
        for hit in answer.hits
    ]
    return answer._replace(hits=tuple(hits))


def turn(answer: Answer) -> Answer:
    return answer._replace(hits=answer.hits[::-1])


@pytest.mark.parametrize("fault", SABOTAGE)
def test_a_planted_fault_is_reported(fault: str) -> None:
    """A comparison that never failed proves nothing (tests.md 1)."""

    @settings(rounds(fast=250), max_examples=250, derandomize=True, phases=[Phase.generate])
    @given(rounds_of_questions())
    def compare(drawn: tuple[Tree, list[Question]]) -> None:
        tree, asked = drawn
        with planted(tree.recipe, tree.home) as place:
            for question in asked:
                planted_fault = difference(place, question, search=SABOTAGE[fault])
                assert planted_fault is None or difference(place, question) is not None, "caught"

    with pytest.raises(AssertionError, match="caught"):
        compare()


def test_the_harness_builds_asks_and_finds() -> None:
    """The control: two sides that both find nothing would agree on everything."""
    with planted({b"a.rs": b"needle\nhay\nneedle\n", b".ignore": b"b.rs\n"}, {}) as place:
        question = Question(kind="lines", after=1)
        path = place.tree + b"/a.rs"
        lines = (
            (1, b"needle", True, ((0, 6),)),
            (2, b"hay", False, ()),
            (3, b"needle", True, ((0, 6),)),
        )
        answer = Workspace(os.fsdecode(place.tree)).search(query(place, question))
        assert [(path, None, lines)] == theirs(place, question, "15.2.0")
        assert [(path, None, lines)] == answered(question, answer)
