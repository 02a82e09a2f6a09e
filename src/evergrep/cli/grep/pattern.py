"""From the patterns and flags of a command line to one Pattern.

Pure text work: several patterns become one.
"""

from __future__ import annotations

from collections.abc import Sequence

from evergrep.cli.grep.options import Options
from evergrep.query import Pattern

_META = frozenset("\\.+*?()|[]{}^$#&-~")


def make_pattern(options: Options) -> Pattern:
    """The one Pattern that the options ask for."""
    texts: Sequence[str] = options.patterns
    literal = options.literal
    if literal and len(texts) > 1:
        texts, literal = [escape(text) for text in texts], False
    text = texts[0] if len(texts) == 1 else "|".join(f"(?:{each})" for each in texts)
    if options.dot_all and options.multi_line and not literal:
        text = f"(?s){text}"
    return Pattern(
        text,
        ignore_case=options.case == "ignore",
        smart_case=options.case == "smart",
        literal=literal,
        word=options.whole == "word",
        whole_line=options.whole == "line",
        multi_line=options.multi_line,
    )


def escape(text: str) -> str:
    """An expression that matches exactly this text."""
    return "".join(f"\\{letter}" if letter in _META else letter for letter in text)
