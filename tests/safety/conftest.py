"""What the safety tests share: a ground that any user may enter, and a file too big to be quick."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from trees import ground

GIB = 1024**3


@pytest.fixture
def top() -> Iterator[Path]:
    """An empty folder that any user may enter."""
    with ground() as folder:
        yield folder


@pytest.fixture(scope="session")
def big_line() -> Iterator[Path]:
    """A folder with one file: a line of 2 GiB of letters, a needle in it and one behind it."""
    with ground() as folder:
        chunk = b"abcdefghijklmnopqrstuvwxyz0123456789" * (8 * 1024 * 1024 // 36)
        with (folder / "big.txt").open("wb") as file:
            while file.tell() < 2 * GIB:
                file.write(chunk)
            file.write(b" needle in the long line\nneedle behind it\n")
        yield folder
