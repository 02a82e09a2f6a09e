"""The texts of `grep_files` that are another program's: rg's, musl's, Rust's.

They stand apart from the tool because they follow other sources: ripgrep 15.1.0
(`crates/core/flags/hiargs.rs`), musl (`src/errno/__strerror.h`), Rust's standard library.
"""

from __future__ import annotations

from evergrep.query import Answer

TIMED_OUT = "rg timed out after 30 seconds"
PATH_NUL = "file name contained an unexpected NUL byte"
LAUNCH_NUL = (
    "failed to launch rg: nul byte found in provided data. Ensure ripgrep is installed and on PATH."
)

# Unicode's White_Space, which Rust trims. Python's own `strip` takes U+001C to U+001F as well.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_NAMED = {7: "\\a", 8: "\\b", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}

# A name's control characters as C writes them, byte by byte: a C1 character is two bytes in UTF-8.
ESCAPES = {
    code: _NAMED.get(code) or "".join(f"\\x{byte:02x}" for byte in chr(code).encode())
    for code in (*range(9), *range(10, 32), *range(127, 160))
}

_MUSL = {
    1: "Operation not permitted",
    2: "No such file or directory",
    4: "Interrupted system call",
    5: "I/O error",
    6: "No such device or address",
    9: "Bad file descriptor",
    11: "Resource temporarily unavailable",
    12: "Out of memory",
    13: "Permission denied",
    14: "Bad address",
    16: "Resource busy",
    19: "No such device",
    20: "Not a directory",
    21: "Is a directory",
    22: "Invalid argument",
    23: "Too many open files in system",
    24: "No file descriptors available",
    36: "Filename too long",
    38: "Function not implemented",
    40: "Symbolic link loop",
    61: "No data available",
    67: "Link has been severed",
    71: "Protocol error",
    74: "Bad message",
    75: "Value too large for data type",
    84: "Illegal byte sequence",
    95: "Not supported",
    103: "Connection aborted",
    104: "Connection reset by peer",
    107: "Socket not connected",
    110: "Operation timed out",
    111: "Connection refused",
    112: "Host is down",
    113: "Host is unreachable",
    116: "Stale file handle",
    121: "Remote I/O error",
    122: "Quota exceeded",
    126: "Required key not available",
    127: "Key has expired",
    128: "Key has been revoked",
    129: "Key was rejected by service",
}


def system_error(number: int) -> str:
    """A system error as a Rust program on musl prints it, for every number that stat may give."""
    return f"{_MUSL.get(number, 'No error information')} (os error {number})"


def diagnostic(text: str) -> str:
    """rg's complaint about a pattern or glob, with the hints that it derives from the text."""
    if "the literal" in text and "not allowed" in text:
        text += (
            "\n\nConsider enabling multiline mode with the --multiline flag (or -U for short).\n"
            "When multiline mode is enabled, new line characters can be matched."
        )
    if 'pattern contains "\\0"' in text:
        text += (
            "\n\nConsider enabling text mode with the --text flag (or -a for short). Otherwise,\n"
            "binary detection is enabled and matching a NUL byte is impossible."
        )
    if "backreferences" in text or "look-around" in text:
        text += (
            "\n\nConsider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\n"
            "and look-around."
        )
    return f"rg failed: rg: {text}\n"


def failure(answer: Answer) -> str | None:
    """The text where rg would have ended with neither matches nor none, else None.

    rg keeps quiet about what it can't open, so nothing follows the colon. Only parts that did
    not answer, which rg doesn't have, are named.
    """
    if answer.stopped is not None:
        lost = ", ".join(answer.stopped.lost) or "a part of the tree"
        return f"rg failed: no answer from {lost}\n"
    searched = all(root.found in ("file", "folder") for root in answer.roots)
    unreadable = dict(answer.seen.skipped).get("unreadable", 0)
    return None if searched and not unreadable else "rg failed: "
