"""What the contract tests share: every agent's recorded trees, standing for the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from contract.cases import suite
from contract.standing import Standing


@pytest.fixture(scope="session")
def standing() -> Iterator[Callable[[str], Standing]]:
    """An agent's recorded trees, by its name."""
    with ExitStack() as stack:
        yield cache(lambda agent: Standing(suite(agent), stack))
