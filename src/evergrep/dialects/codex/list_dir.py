"""Codex's `list_dir`: the entries of a folder to some depth, indented, a page at a time.

The contract is told in README.md; the original is `codex-rs/core/src/tools/handlers/list_dir.rs`
at `UPSTREAM`. Its order needs names cut and decoded in its own manner, so the engine only lists.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from evergrep.dialects.codex import words
from evergrep.query import Answer, Files, Query, Root, Skipped, encode_path, plain
from evergrep.tools import Call, Reply, ToolError, read_arguments

DEFAULT_OFFSET, DEFAULT_LIMIT, DEFAULT_DEPTH = 1, 25, 2
TIME_LIMIT = 30.0
NAME_BYTES = 500
INDENT = "  "
SUFFIXES = {"file": "", "folder": "/", "link": "@", "other": "?"}
TIMED_OUT, NOT_A_FOLDER, INPUT_OUTPUT = 110, 20, 5
FIELDS = (("dir_path", "string"), ("offset", "usize?"), ("limit", "usize?"), ("depth", "usize?"))


@dataclass(frozen=True, slots=True)
class Args:
    """The arguments, checked as far as they can be without the disk."""

    dir_path: str
    offset: int
    limit: int
    depth: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the collection."""

    key: str
    """What it is sorted by: its path from the folder, decoded and cut."""
    depth: int
    name: str
    kind: str


def parse(text: bytes) -> Args:
    """Check the arguments in the original's order."""
    try:
        values = read_arguments(text, "ListDirArgs", FIELDS)
    except ValueError as error:
        raise refusal(f"failed to parse function arguments: {error}") from None
    defaults = (DEFAULT_OFFSET, DEFAULT_LIMIT, DEFAULT_DEPTH)
    offset, limit, depth = (
        default if value is None else int(value)
        for value, default in zip(values[1:], defaults, strict=True)
    )
    if offset == 0:
        raise refusal("offset must be a 1-indexed entry number")
    if limit == 0:
        raise refusal("limit must be greater than zero")
    if depth == 0:
        raise refusal("depth must be greater than zero")
    dir_path = str(values[0])
    if not dir_path.startswith("/"):
        raise refusal("dir_path must be an absolute path")
    return Args(dir_path, offset, limit, depth)


def run(call: Call, text: bytes, *, raw_names: bool, sort_before_paging: bool) -> Reply:
    """Answer one call."""
    args = parse(text)
    root = encode_path(args.dir_path)
    if b"\0" in root:
        raise refusal(f"failed to read directory: {words.PATH_NUL}")
    query = Query(
        roots=(Root(root),),
        files=Files(
            hidden=True,
            ignore="none",
            kinds=("file", "folder", "link", "other"),
            depth=args.depth,
        ),
        deadline=TIME_LIMIT,
    )
    answer = call.search(query)
    require_whole(answer)
    entries = collect(answer, root)
    if sort_before_paging:
        entries.sort(key=lambda entry: entry.key.encode())
    structured = plain(answer) if call.structured else None
    return render(args, entries, structured, raw_names=raw_names)


def render(args: Args, entries: list[Entry], structured: object, *, raw_names: bool) -> Reply:
    """The page of the collection, sorted, behind its header."""
    lines = [f"Absolute path: {args.dir_path}"]
    if entries:
        start = args.offset - 1
        if start >= len(entries):
            raise refusal("offset exceeds directory entry count")
        page = entries[start : start + args.limit]
        for entry in sorted(page, key=lambda entry: entry.key.encode()):
            name = entry.name if raw_names else entry.name.translate(words.ESCAPES)
            lines.append(f"{INDENT * entry.depth}{name}{SUFFIXES[entry.kind]}")
        if start + len(page) < len(entries):
            lines.append(f"More than {len(page)} entries found")
    return Reply("\n".join(lines), success=True, structured=structured)


# --- the steps --------------------------------------------------------------------------------


def require_whole(answer: Answer) -> None:
    """Refuse a listing that lacks anything: one unreadable folder fails the original's call."""
    error = 0
    state = answer.roots[0]
    if state.found != "folder":
        error = state.error or NOT_A_FOLDER
    elif answer.stopped is not None:
        error = TIMED_OUT if answer.stopped.kind == "deadline" else INPUT_OUTPUT
    else:
        unreadable = [each for each in answer.skipped if each.reason == "unreadable"]
        if unreadable:
            error = min(unreadable, key=_breadth_first).error
    if error:
        raise refusal(f"failed to read directory: {words.system_error(error)}")


def _breadth_first(skipped: Skipped) -> tuple[int, bytes]:
    return skipped.path.count(b"/"), skipped.path


def collect(answer: Answer, root: bytes) -> list[Entry]:
    """All entries, folder by folder from the top, each folder's sorted by key."""
    start = len(root) + (not root.endswith(b"/"))
    folders: dict[bytes, list[tuple[Entry, bytes]]] = {}
    for hit in answer.hits:
        path = hit.path[start:]
        above, _, name = path.rpartition(b"/")
        entry = Entry(
            key=cut(path.decode(errors="replace").replace("\\", "/")),
            depth=path.count(b"/"),
            name=cut(name.decode(errors="replace")),
            kind=hit.kind,
        )
        folders.setdefault(above, []).append((entry, path))
    entries: list[Entry] = []
    waiting = deque([b""])
    while waiting:
        inside = folders.get(waiting.popleft(), [])
        for entry, path in sorted(inside, key=_in_folder):
            entries.append(entry)
            if entry.kind == "folder":
                waiting.append(path)
    return entries


def _in_folder(each: tuple[Entry, bytes]) -> tuple[bytes, bool, bytes]:
    """By key; keys that the cut made equal, folders first and then by the whole name."""
    entry, path = each
    return entry.key.encode(), entry.kind != "folder", path


def cut(text: str) -> str:
    """The start of a text, at most so many bytes of it and no character by half."""
    encoded = text.encode()
    return text if len(encoded) <= NAME_BYTES else encoded[:NAME_BYTES].decode(errors="ignore")


def refusal(text: str) -> ToolError:
    """An error that answers the call."""
    return ToolError(text, success=False)
