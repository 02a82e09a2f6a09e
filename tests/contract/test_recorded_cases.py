"""Every recorded case of every agent, byte for byte, through every door."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from contract.cases import agents, suite
from contract.doors import DOORS
from contract.standing import Standing

SHOWN = 20


@pytest.mark.parametrize("door", list(DOORS))
@pytest.mark.parametrize("agent", agents())
def test_recorded_answers_are_given_byte_for_byte(
    agent: str,
    door: str,
    standing: Callable[[str], Standing],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The contract is what the original answered; a door must not change a byte of it."""
    cases = suite(agent).ours
    faults, answered = standing(agent).faults(door, cases)
    with capsys.disabled():
        barred = len(cases) - answered
        print(f"\n{agent} through {door}: {suite(agent).summary()}", end="")
        print(f"; {barred} can't be said over this door" if barred else "", end=" ")
    shown = "\n".join(faults[:SHOWN])
    assert not faults, f"{len(faults)} of {answered} cases differ, the first of them:\n{shown}"
    assert answered > len(cases) * 0.9
