"""From a file's matching lines to the lines that are printed, in ripgrep's layout.

Pure: bytes in, bytes out. The order of the parts is path, line number, column, text; a colon
stands after each part of a match, a dash after each part of a context line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from evergrep.cli.grep.options import Options
from evergrep.query import Hit, Line

_OFF = b"\x1b[0m"
_PATH = b"\x1b[0m\x1b[35m"
_NUMBER = b"\x1b[0m\x1b[32m"
_MATCH = b"\x1b[0m\x1b[1m\x1b[31m"
_SPACE = b" \t\n\x0b\x0c\r"

# A name must not forge another result or reach a terminal's commands: C0 but tab, DEL, and C1,
# which UTF-8 writes as 0xC2 and one more byte, are shown as C writes them, byte by byte.
_SUSPECT = bytes((*range(9), *range(10, 0x20), 0x7F, 0xC2))
_NAMED = {7: "\\a", 8: "\\b", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_ESCAPES = {
    code: _NAMED.get(code) or "".join(f"\\x{byte:02x}" for byte in chr(code).encode())
    for code in (*range(9), *range(10, 0x20), *range(0x7F, 0xA0))
}

Clean = Callable[[bytes], bytes]


def safe_path(path: bytes) -> bytes:
    """A path whose control characters are made visible."""
    if path.translate(None, _SUSPECT) == path:
        return path
    text = path.decode("utf-8", "surrogateescape").translate(_ESCAPES)
    return text.encode("utf-8", "surrogateescape")


def path_list(paths: list[bytes], options: Options, clean: Clean | None) -> bytes:
    """Paths one after another, as `-l` prints them."""
    if options.null:
        # Whoever splits at NUL bytes wants the names exactly; a person at a terminal does not.
        shown = [clean(path) for path in paths] if clean else paths
        return b"".join(_colored(path, _PATH, options) + b"\0" for path in shown)
    block = b"\n".join(paths) + b"\n"
    if clean or len(block.translate(None, _SUSPECT)) + len(paths) != len(block):
        paths = [safe_path(path) for path in paths]
        if clean:
            paths = [clean(path) for path in paths]
        block = b"\n".join(paths) + b"\n"
    if options.color:
        block = b"".join(_PATH + path + _OFF + b"\n" for path in paths)
    return block


def _colored(part: bytes, color: bytes, options: Options) -> bytes:
    return color + part + _OFF if options.color else part


class Layout:
    """How an answer's files are laid out, one after another."""

    def __init__(
        self, options: Options, named: Collection[bytes], *, with_path: bool, clean: Clean | None
    ) -> None:
        self.options = options
        self.named = named
        """The files that were named as paths, whose binary content is told in other words."""
        self.with_path = with_path
        self.clean = clean
        self.heading = options.heading and with_path
        self.context = options.before > 0 or options.after > 0
        self.first = True
        self.plain = not (
            options.color
            or options.column
            or options.only_matching
            or options.each_match
            or options.trim
            or options.max_columns
            or clean
            or self.context
        )

    def path(self, path: bytes) -> bytes:
        """A path as it stands in front of what belongs to it."""
        if not self.options.null:
            path = safe_path(path)
        return _colored(self.clean(path) if self.clean else path, _PATH, self.options)

    def count(self, path: bytes, count: int) -> bytes:
        """A file's line of `--count`."""
        if not self.with_path:
            return b"%d\n" % count
        return self.path(path) + (b"\0" if self.options.null else b":") + b"%d\n" % count

    def file(self, path: bytes, hit: Hit) -> bytes:
        """All that is printed of one file."""
        blocks: list[bytes] = []
        if not self.first:
            if self.heading:
                blocks.append(b"\n")
            elif self.context:
                blocks.append(b"--\n")
        self.first = False
        shown = self.path(path) if self.with_path else b""
        end = b"\0" if self.options.null else b"\n" if self.heading else b""
        if self.heading:
            blocks.append(shown + end)
        start = shown if self.with_path and not self.heading else None
        if self.plain:
            blocks.extend(self._plain(start, hit))
        else:
            blocks.extend(self._rich(start, hit))
        if hit.binary is not None:
            blocks.append(shown + b": " if self.with_path else b"")
            if hit.path in self.named:
                blocks.append(b"binary file matches")
            else:
                blocks.append(b"WARNING: stopped searching binary file after match")
            blocks.append(b' (found "\\0" byte around offset %d)\n' % hit.binary)
        return b"".join(blocks)

    def _plain(self, start: bytes | None, hit: Hit) -> Iterator[bytes]:
        before = b"" if start is None else start + (b"\0" if self.options.null else b":")
        if self.options.numbers:
            for line in hit.lines:
                yield b"%s%d:%s\n" % (before, line.number, line.bytes)
        else:
            for line in hit.lines:
                yield before + line.bytes + b"\n"

    def _rich(self, start: bytes | None, hit: Hit) -> Iterator[bytes]:
        options = self.options
        last = None
        for line in hit.lines:
            if self.context and last is not None and line.number != last + 1:
                yield b"--\n"
            last = line.number
            if not line.is_match:
                yield self._front(start, line.number, None, b"-") + self._context_text(line)
            elif options.only_matching:
                for span in line.spans:
                    yield self._front(start, line.number, span[0], b":") + self._match_text(
                        line, span
                    )
            elif options.each_match:
                for span in line.spans:
                    yield self._front(start, line.number, span[0], b":") + self._text(line, (span,))
            else:
                column = line.spans[0][0] if line.spans else None
                yield self._front(start, line.number, column, b":") + self._text(line, line.spans)

    def _front(self, start: bytes | None, number: int, column: int | None, mark: bytes) -> bytes:
        options = self.options
        front = b"" if start is None else start + (b"\0" if options.null else mark)
        if options.numbers:
            front += _colored(b"%d" % number, _NUMBER, options) + mark
        if options.column and column is not None:
            front += _colored(b"%d" % (column + 1), _OFF, options) + mark
        return front

    def _match_text(self, line: Line, span: tuple[int, int]) -> bytes:
        if self._too_long(span[1] - span[0]):
            return b"[Omitted long matching line]\n"
        text = line.bytes[span[0] : span[1]]
        return self._match(text.lstrip(_SPACE) if self.options.trim else text) + b"\n"

    def _context_text(self, line: Line) -> bytes:
        if self._too_long(line.length + 1):
            return b"[Omitted long context line]\n"
        return self._pieces(line.bytes, ()) + b"\n"

    def _text(self, line: Line, spans: tuple[tuple[int, int], ...]) -> bytes:
        if self._too_long(line.length + 1):
            if self.options.color:
                return b"[Omitted long line with %d matches]\n" % len(spans)
            return b"[Omitted long matching line]\n"
        return self._pieces(line.bytes, spans) + b"\n"

    def _too_long(self, length: int) -> bool:
        return self.options.max_columns is not None and length > self.options.max_columns

    def _pieces(self, text: bytes, spans: tuple[tuple[int, int], ...]) -> bytes:
        """A line's text, its matches coloured, and on a terminal inert."""
        if self.clean and text.endswith(b"\r"):
            text = text[:-1]  # half of a line end, and no harm; shown, it would litter every line
        place = len(text) - len(text.lstrip(_SPACE)) if self.options.trim else 0
        if not self.options.color:
            return self._inert(text[place:])
        pieces: list[bytes] = []
        for start, end in spans:
            if max(start, place) < min(end, len(text)):
                pieces.append(self._inert(text[place : max(start, place)]))
                pieces.append(self._match(text[max(start, place) : end]))
                place = end
        pieces.append(self._inert(text[place:]))
        return b"".join(pieces)

    def _match(self, text: bytes) -> bytes:
        text = self._inert(text)
        return _colored(text, _MATCH, self.options) if text else text

    def _inert(self, text: bytes) -> bytes:
        return self.clean(text) if self.clean else text
