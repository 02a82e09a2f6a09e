"""Printing: bytes to standard output and messages to standard error, each write checked.

To a pipe or file everything goes out byte for byte; what a terminal would act on is made visible
instead (`inert`). This file knows no verb.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_STDOUT, _STDERR = 1, 2

# What moves the cursor, sets the clipboard or hides text: all control characters but tab and
# newline, and the marks that reorder a line.
_CONTROLS = (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0))
_REORDERING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ACTIVE = {
    **{code: f"\\x{code:02x}" for code in _CONTROLS},
    **{code: f"\\u{code:04x}" for code in _REORDERING},
}


class WriteError(Exception):
    """The answer can't be written; its text says why."""


def to_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and os.isatty(_STDOUT)


def write(data: bytes, *, to_stderr: bool = False) -> None:
    """Write all of it now; raises BrokenPipeError when nobody reads on, else WriteError.

    Straight to the descriptor: what a buffer could not write it would try again at exit, with a
    traceback.
    """
    if (sys.stderr if to_stderr else sys.stdout) is None:
        raise WriteError("the answer can't be written: standard output is closed")
    descriptor = _STDERR if to_stderr else _STDOUT
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            # The pipe was set to non-blocking by whoever holds its other end, as Node does.
            import select

            select.select([], [descriptor], [])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise WriteError(f"the answer can't be written: {error.strerror}") from None


def complain(message: str) -> None:
    """Tell the user something went wrong; without a standard error, tell nobody."""
    text = f"evergrep: {message}\n"
    if sys.stderr is not None and os.isatty(_STDERR):
        text = inert_text(text)
    with suppress(WriteError, BrokenPipeError):
        write(encode_text(text), to_stderr=True)


def encode_text(text: str) -> bytes:
    """The text in UTF-8; a path's bytes come back as they were, other lone surrogates as U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def inert_text(text: str) -> str:
    """The text with everything a terminal would act on made visible."""
    return text.translate(_ACTIVE)


def inert(line: bytes) -> bytes:
    """A line's bytes with everything a terminal would act on made visible."""
    return inert_text(line.decode("utf-8", "backslashreplace")).encode()
