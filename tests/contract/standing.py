"""The recorded trees that stand while the tests run, each built when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from contract.cases import Case, Outcome, Suite, fault, request
from contract.doors import DOORS, passes
from contract.recorded_trees import Place, built


class Standing:
    """The trees of one suite."""

    def __init__(self, suite: Suite, stack: ExitStack) -> None:
        self._suite = suite
        self._stack = stack
        self._places: dict[str, Place] = {}

    def place(self, tree: str) -> Place:
        """Where that tree stands."""
        if tree not in self._places:
            self._places[tree] = self._stack.enter_context(built(self._suite.trees[tree]))
        return self._places[tree]

    def ask(self, door: str, cases: Sequence[Case]) -> dict[str, Outcome]:
        """What a door answers to those cases that pass through it, by their ids."""
        asked = {
            case.id: each
            for case in cases
            if passes(door, each := request(case, self.place(case.tree)), case.expected.text)
        }
        return dict(zip(asked, DOORS[door](list(asked.values())), strict=True))

    def faults(self, door: str, cases: Sequence[Case]) -> tuple[list[str], int]:
        """What is wrong with a door's answers, and how many cases it answered."""
        outcomes = self.ask(door, cases)
        found = [
            fault(case, self.place(case.tree), outcomes[case.id])
            for case in cases
            if case.id in outcomes
        ]
        return [each for each in found if each is not None], len(outcomes)
