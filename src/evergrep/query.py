"""The vocabulary: what is asked (Query), what is found (Answer), and who answers (Searcher).

Plain, frozen values only, so that a Query can travel to another machine and an Answer back.
`crates/engine/src/query.rs` holds the same names and fields; `tests/house` compares them.
This file knows no agent, no door and no file system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

# --- the question ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Root:
    """Where a search starts: one absolute path, whose spelling survives into every hit below it."""

    path: bytes


@dataclass(frozen=True, slots=True)
class GitPlaces:
    """Where git's configuration may name a global excludes file, as the door read it."""

    home: bytes | None = None
    config_home: bytes | None = None
    global_config: bytes | None = None
    system_config: bytes | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """Which files are searched or listed. A path given as a root is exempt from all of this."""

    hidden: bool = False
    """Whether names that start with a dot are entered and searched."""
    ignore: Literal["git", "none"] = "git"
    """`git`: .gitignore, .git/info/exclude, git's global excludes, .ignore and .rgignore."""
    places: GitPlaces = GitPlaces()
    globs: tuple[str, ...] = ()
    """ripgrep's `--glob`: a later one wins; `!` excludes; without it ignore rules are overruled."""
    glob_base: bytes = b"/"
    """The folder that a glob with a slash starts from (ripgrep's working folder)."""
    types: tuple[str, ...] = ()
    """Names of ripgrep's file types; only these are searched."""
    types_not: tuple[str, ...] = ()
    kinds: tuple[Literal["file", "folder", "link", "other"], ...] = ("file",)
    """What is listed where there is no pattern. Only files are searched, and no link is entered."""
    depth: int | None = None
    """How many levels below a root are entered; 1 is its immediate children."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression in ripgrep's default syntax."""

    text: str
    ignore_case: bool = False
    smart_case: bool = False
    """Whether case is ignored if the pattern has letters, and none of them is a capital."""
    literal: bool = False
    word: bool = False
    """Whether a match must be a whole word."""
    whole_line: bool = False
    multi_line: bool = False
    """Whether a match may cross line ends."""


@dataclass(frozen=True, slots=True)
class Want:
    """What is asked of each matching file."""

    kind: Literal["files", "counts", "lines"] = "files"
    before: int = 0
    after: int = 0
    spans: bool = False
    """Whether the byte ranges of the matches in each line are wanted."""
    unreadable: bool = False
    """Whether every file that can't be read must be told, also those the page never reached."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the bytes of a file are taken."""

    binary: Literal["nul", "none"] = "nul"
    """`nul`: a file met by the walk is given up at its first NUL, in ripgrep's 64 KiB pieces, and
    a pattern that needs a NUL is refused. A file named as a root is always searched as text."""
    max_size: int | None = None
    """Larger files that the walk meets are left out."""
    line_bytes: int | None = None
    """How many bytes of a line are kept; its full length is told beside it."""


@dataclass(frozen=True, slots=True)
class Page:
    """The slice of the answer that is asked for."""

    unit: Literal["files", "lines"] = "files"
    offset: int = 0
    limit: int | None = None
    per_file: int | None = None
    """The most matching lines taken from one file; blocks of lines where matches cross lines."""


OrderName = Literal["newest", "oldest", "path", "walk"]


@dataclass(frozen=True, slots=True)
class Query:
    """What to find. Without a pattern every entry of the wanted kinds is a hit."""

    roots: tuple[Root, ...]
    pattern: Pattern | None = None
    files: Files = Files()
    want: Want = Want()
    reading: Reading = Reading()
    order: OrderName = "walk"
    """Ties of `newest` and `oldest`, and `path` itself, go by the bytes of the path, ascending.
    `walk` takes a folder's files by name, then its subfolders by name."""
    page: Page = Page()
    deadline: float | None = None
    """Seconds; past them the Answer holds what was found and says so in `stopped`."""


# --- the answer -----------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of a hit, without its line end."""

    number: int
    bytes: bytes
    is_match: bool
    length: int
    """Its full length in bytes, of which `bytes` may be the start. Of a line over 64 MiB, that of a
    window."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where it matches, as byte ranges; the first 100,000."""


class Hit(NamedTuple):
    """A file of the answer."""

    path: bytes
    kind: str
    """`file`, `folder`, `link` or `other`."""
    time: int | None
    """Modification time in nanoseconds, where the order or the caller needed it."""
    count: int | None = None  # pyright: ignore[reportIncompatibleMethodOverride]
    """Matching lines, where counts or lines were wanted."""
    lines: tuple[Line, ...] = ()
    binary: int | None = None
    """Where its first NUL was met, for a file whose search ended there after a match."""


class RootState(NamedTuple):
    """What became of a root. A path outside the scope is `missing`, like one that is not there."""

    path: bytes
    found: str
    """`file`, `folder`, `missing` (whatever the reason it could not be reached), `unreadable`
    (there, but not to be opened) or `other`."""
    error: int
    """The system's error number, 0 for none."""


class Skipped(NamedTuple):
    """A path that was left out, and why."""

    path: bytes
    reason: str
    """`unreadable`, `binary`, `too large`, `long line`, `changing`, `special`, `rule file`."""
    error: int = 0


class Stopped(NamedTuple):
    """Why an answer is not whole."""

    kind: str
    """`deadline`, or `lost` when parts did not answer."""
    lost: tuple[str, ...] = ()


class Seen(NamedTuple):
    """Numbers for logs, and which mode answered."""

    mode: str
    folders: int
    files: int
    """Files that the rules let through."""
    searched: int
    bytes: int
    skipped: tuple[tuple[str, int], ...]
    """How many paths were left out, by reason: `Answer.skipped` itself is capped."""
    seconds: float


class Answer(NamedTuple):
    """What was found."""

    hits: tuple[Hit, ...]
    more: bool
    """Whether hits are known to remain behind the page."""
    roots: tuple[RootState, ...]
    skipped: tuple[Skipped, ...]
    """What was left out: the first 1,000 by path. Where more hits remain, files that were searched
    are not told, since behind the page it is chance which were."""
    stopped: Stopped | None
    seen: Seen


class Stat(NamedTuple):
    """What the system says of one path; links are followed."""

    kind: str | None
    """`file`, `folder` or `other`; None where `error` says why not."""
    size: int
    time: int
    error: int


class QueryError(Exception):
    """A query that can't be answered: a bad pattern, glob or type, a cancel, or a fault of ours."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(kind, text)  # both, so that it travels to another process
        self.kind = kind
        """`pattern`, `glob`, `type`, `cancelled` or `fault`."""
        self.text = text
        """The diagnostic, in the words of ripgrep's crates where it is theirs."""

    def __str__(self) -> str:
        return self.text


# --- who answers ----------------------------------------------------------------------------


class Cancellation(Protocol):
    """A flag that ends a running query; `evergrep._engine.Cancel` is the one there is."""

    def set(self) -> None: ...
    def is_set(self) -> bool: ...


class Searcher(Protocol):
    """Whatever answers a Query: this machine, or many."""

    def search(self, query: Query, cancel: Cancellation | None = None) -> Answer: ...
    def stat(self, path: bytes) -> Stat: ...


# --- small change ---------------------------------------------------------------------------


def encode_path(text: str) -> bytes:
    """The bytes of a path that Python holds as text, undecodable bytes included."""
    return text.encode("utf-8", "surrogateescape")


def decode_path(path: bytes) -> str:
    """The text for a path's bytes, from which `encode_path` makes the same bytes again."""
    return path.decode("utf-8", "surrogateescape")


def git_places(env: Mapping[str, str]) -> GitPlaces:
    """The places that an environment names, where it does."""

    def place(name: str) -> bytes | None:
        value = env.get(name, "")
        return encode_path(value) if value else None

    return GitPlaces(
        home=place("HOME"),
        config_home=place("XDG_CONFIG_HOME"),
        global_config=place("GIT_CONFIG_GLOBAL"),
        system_config=place("GIT_CONFIG_SYSTEM") or b"/etc/gitconfig",
    )


def plain(value: Any) -> Any:
    """The same value as JSON can hold it; bytes that are not UTF-8 become `{"base64": ...}`."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            import base64  # not for everyone's start

            return {"base64": base64.b64encode(value).decode()}
    if hasattr(value, "_fields"):
        return {field: plain(getattr(value, field)) for field in value._fields}
    if type(value) in (tuple, list):
        return [plain(item) for item in value]
    return value
