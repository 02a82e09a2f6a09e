"""Codex's `grep_files`: the files whose contents match a pattern, last modified first.

The contract is told in README.md; the original is `codex-rs/core/src/tools/handlers/grep_files.rs`
at `UPSTREAM`, which runs the program rg. Texts that were rg's or the C library's are in `words`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic

from evergrep.dialects.codex import words
from evergrep.query import (
    Answer,
    Files,
    Page,
    Pattern,
    Query,
    QueryError,
    Root,
    Want,
    encode_path,
    git_places,
    plain,
)
from evergrep.tools import Call, Reply, ToolError, read_arguments

DEFAULT_LIMIT = 100
MAX_LIMIT = 2000
TIME_LIMIT = 30.0
FIELDS = (("pattern", "string"), ("include", "string?"), ("path", "string?"), ("limit", "usize?"))


@dataclass(frozen=True, slots=True)
class Args:
    """The arguments, checked as far as they can be without the disk."""

    pattern: str
    include: str | None
    path: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines that an answer makes, and how many it loses by not being UTF-8."""

    lines: tuple[str, ...]
    dropped: int


def parse(text: bytes) -> Args:
    """Check the arguments in the original's order."""
    try:
        values = read_arguments(text, "GrepFilesArgs", FIELDS)
    except ValueError as error:
        raise refusal(f"failed to parse function arguments: {error}") from None
    pattern, include, path = (None if value is None else str(value) for value in values[:3])
    limit = DEFAULT_LIMIT if values[3] is None else int(values[3])
    pattern = (pattern or "").strip(words.WHITE_SPACE)
    if not pattern:
        raise refusal("pattern must not be empty")
    if limit == 0:
        raise refusal("limit must be greater than zero")
    include = (include or "").strip(words.WHITE_SPACE) or None
    return Args(pattern, include, path, min(limit, MAX_LIMIT))


def run(call: Call, text: bytes, *, raw_names: bool) -> Reply:
    """Answer one call."""
    args = parse(text)
    cwd = encode_path(call.cwd)
    root = join(cwd, args.path)
    require_access(call, root)
    if "\0" in args.pattern or "\0" in (args.include or ""):
        raise refusal(words.LAUNCH_NUL)
    query = Query(
        roots=(Root(root),),
        pattern=Pattern(args.pattern),
        files=Files(
            # ripgrep 15.1.0 looks for git's configuration in these two places only.
            places=replace(git_places(call.env), global_config=None, system_config=None),
            globs=() if args.include is None else (args.include,),
            glob_base=cwd,
        ),
        want=Want("files", unreadable=True),
        order="newest",
        page=Page("files", 0, args.limit),
        deadline=TIME_LIMIT,
    )
    answer, listing = search(call, query, args.limit, raw_names=raw_names)
    structured = None
    if call.structured:
        structured = {**plain(answer), "dropped_lines": listing.dropped}
    return render(answer, listing, args.limit, structured)


def render(answer: Answer, listing: Listing, limit: int, structured: object) -> Reply:
    """The reply to an answer: a failure of the whole, nothing found, or the first lines."""
    failure = words.failure(answer)
    if failure is not None:
        return Reply(failure, is_error=True, success=False, structured=structured)
    if not listing.lines:
        return Reply("No matches found.", success=False, structured=structured)
    return Reply("\n".join(listing.lines[:limit]), success=True, structured=structured)


# --- the steps --------------------------------------------------------------------------------


def join(cwd: bytes, path: str | None) -> bytes:
    """The working folder joined with the text as given, in the manner of Rust's `Path::join`."""
    if path is None:
        return cwd
    if path.startswith("/"):
        return path.encode()
    return cwd + (b"" if cwd.endswith(b"/") else b"/") + path.encode()


def require_access(call: Call, root: bytes) -> None:
    """Refuse a path that isn't there or can't be asked for, before anything is searched."""
    reason = None
    if b"\0" in root:
        reason = words.PATH_NUL
    else:
        error = call.stat(root).error
        if error:
            reason = words.system_error(error)
    if reason is not None:
        raise refusal(f"unable to access `{root.decode(errors='replace')}`: {reason}")


def search(call: Call, query: Query, limit: int, *, raw_names: bool) -> tuple[Answer, Listing]:
    """Ask for one page; for a larger one only where names that aren't UTF-8 leave it short."""
    started = monotonic()
    page = limit
    while True:
        try:
            answer = call.search(query)
        except QueryError as error:
            if error.kind in ("pattern", "glob"):
                raise refusal(words.diagnostic(error.text)) from None
            # A cancel and a fault of ours have no words in the contract: they are the door's.
            raise
        if answer.stopped is not None and answer.stopped.kind == "deadline":
            raise refusal(words.TIMED_OUT)
        listing = cut_lines(answer, raw_names=raw_names)
        if len(listing.lines) >= limit or not answer.more or words.failure(answer) is not None:
            return answer, listing
        page *= 8
        left = TIME_LIMIT - (monotonic() - started)
        if left <= 0:
            raise refusal(words.TIMED_OUT)
        query = replace(query, page=Page("files", 0, page), deadline=left)


def cut_lines(answer: Answer, *, raw_names: bool) -> Listing:
    """The lines of rg's output that are UTF-8: not paths, since a name may hold a line end."""
    lines: list[str] = []
    dropped = 0
    for hit in answer.hits:
        for piece in hit.path.split(b"\n") if raw_names else (hit.path,):
            try:
                line = piece.decode()
            except UnicodeDecodeError:
                dropped += 1
                continue
            if line:
                lines.append(line if raw_names else line.translate(words.ESCAPES))
    return Listing(tuple(lines), dropped)


def refusal(text: str) -> ToolError:
    """An error that answers the call."""
    return ToolError(text, success=False)
