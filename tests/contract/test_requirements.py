"""No requirement stands without a case, a test or a recorded difference."""

from __future__ import annotations

import pytest
from contract.cases import agents, suite
from contract.requirements import missing


@pytest.mark.parametrize("agent", agents())
def test_every_requirement_is_shown_or_its_difference_told(agent: str) -> None:
    """A statement of a seed that nothing shows would be a promise only."""
    assert missing(suite(agent)) == []


@pytest.mark.parametrize("agent", agents())
def test_every_exclusion_leaves_something_out(agent: str) -> None:
    """A rule that fits no case hides the day on which it fits the wrong one."""
    cases = suite(agent)
    reasons = {rule["reason"] for rule in cases.table.get("excluded", [])}
    assert reasons == set(cases.left_out.values())
