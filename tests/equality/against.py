"""One question put to ripgrep and to us, and what differs between the two answers.

Paths and lines are compared as bytes. ripgrep prints files of equal rank in the order in which its
threads find them, so the set is compared with ripgrep's and the order with its rule, stated here.
"""

# Paths are bytes here, which pathlib does not hold.
# ruff: noqa: PTH113, PTH116

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judges import Verdict, ask
from random_trees import Question

from evergrep import Answer, Files, Page, Pattern, Query, QueryError, Reading, Root, Want, Workspace
from evergrep.query import git_places

Ask = Callable[[Workspace, Query], Answer]
Hits = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Place:
    """A planted tree, beside the home and the other folders that go with it."""

    top: Path

    @property
    def tree(self) -> bytes:
        return os.fsencode(self.top / "tree")

    def path(self, root: bytes) -> bytes:
        return self.tree + b"/" + root if root else self.tree


def fit(place: Place, question: Question) -> Question:
    """The same question within what the two can be compared on.

    ripgrep treats a named file differently when folders are named beside it (it is then not
    mapped, and a NUL ends its lines), so roots are all files or none.
    """
    files = [os.path.isfile(place.path(each)) for each in question.roots]
    if any(files) and not all(files):
        question = replace(question, roots=question.roots[:1])
    # Of two of ripgrep's flags that exclude each other the later one counts; we have no order.
    if question.ignore_case:
        question = replace(question, smart_case=False)
    if question.whole_line:
        question = replace(question, word=False)
    return question


def shown(place: Place, question: Question) -> bool:
    """Whether lines are compared with ripgrep's ordinary output.

    Of a named file with a NUL, its ordinary output shows the lines before and then says so, which
    is what agents see and what we give; its JSON output shows all lines.
    """
    named = all(os.path.isfile(place.path(each)) for each in question.roots)
    return question.kind == "lines" and named and not question.as_text


def environment(place: Place, question: Question) -> dict[str, str]:
    env = {name: str(place.top / value) if value else "" for name, value in question.env}
    return {"HOME": str(place.top / "home"), **env}


def query(place: Place, question: Question) -> Query:
    """The question as a Query."""
    q = question
    pattern = None
    if q.kind != "listing":
        pattern = Pattern(
            q.pattern,
            ignore_case=q.ignore_case,
            literal=q.literal,
            smart_case=q.smart_case,
            word=q.word,
            whole_line=q.whole_line,
            multi_line=q.multi_line,
        )
    kind = "files" if q.kind == "listing" else q.kind
    lines = q.kind == "lines"
    return Query(
        roots=tuple(Root(place.path(each)) for each in q.roots),
        pattern=pattern,
        files=Files(
            hidden=q.hidden,
            ignore="none" if q.no_ignore else "git",
            places=git_places(environment(place, q)),
            globs=q.globs,
            glob_base=place.path(q.base),
            types=q.types,
            types_not=q.types_not,
            depth=q.depth,
        ),
        want=Want(
            kind,  # type: ignore[arg-type]
            before=q.before if lines else 0,
            after=q.after if lines else 0,
            spans=lines and not q.multi_line and not shown(place, q),
        ),
        reading=Reading(binary="none" if q.as_text else "nul", max_size=q.max_size),
        order=q.order,  # type: ignore[arg-type]
        page=Page(per_file=q.per_file if pattern else None),
    )


def flags(place: Place, question: Question) -> list[str | bytes]:
    """The question as ripgrep's arguments."""
    q = question
    given: list[str | bytes] = ["--no-messages", "--color=never"]
    kinds: dict[str, list[str | bytes]] = {
        "listing": ["--files", "--null"],
        "files": ["--files-with-matches", "--null"],
        "counts": ["--count", "--null", "--with-filename"],
        "lines": ["--json"],
    }
    given += kinds[q.kind]
    if shown(place, q):
        given[-1:] = ["--null", "--with-filename", "--line-number", "--no-heading"]
        given += ["--no-context-separator"]
    for wanted, flag in [
        (q.literal, "--fixed-strings"),
        (q.ignore_case, "--ignore-case"),
        (q.smart_case, "--smart-case"),
        (q.word, "--word-regexp"),
        (q.whole_line, "--line-regexp"),
        (q.multi_line, "--multiline"),
        (q.hidden, "--hidden"),
        (q.no_ignore, "--no-ignore"),
    ]:
        given += [flag] if wanted else []
    given += ["--text"] if q.as_text else []
    given += [f"--glob={each}" for each in q.globs]
    given += [f"--type={each}" for each in q.types]
    given += [f"--type-not={each}" for each in q.types_not]
    given += [] if q.depth is None else [f"--max-depth={q.depth}"]
    given += [] if q.max_size is None else [f"--max-filesize={q.max_size}"]
    if q.kind != "listing":
        given += [] if q.per_file is None else [f"--max-count={q.per_file}"]
        given += [f"--regexp={q.pattern}"]
    if q.kind == "lines":
        given += [f"--before-context={q.before}", f"--after-context={q.after}"]
    sorts = {"newest": ["--sortr=modified"], "oldest": ["--sort=modified"], "path": ["--sort=path"]}
    given += sorts.get(q.order, [])
    return [*given, "--", *(place.path(each) for each in q.roots)]


def theirs(place: Place, question: Question, version: str) -> Hits | str:
    """ripgrep's hits, in its order, or the text of its error."""
    verdict = ask(
        flags(place, question),
        cwd=place.path(question.base),
        env=environment(place, question),
        version=version,
    )
    if verdict.end != "exit":
        return f"ripgrep ended by {verdict.end}"
    if verdict.err and verdict.code == 2:
        # The hint at an option of the program behind a diagnostic is the program's own.
        return verdict.err.decode().removeprefix("rg: ").partition("\n\nConsider ")[0].rstrip("\n")
    return parse(place, question, verdict)


def parse(place: Place, question: Question, verdict: Verdict) -> Hits:
    if shown(place, question):
        return shown_hits(verdict.out, [place.path(each) for each in question.roots])
    if question.kind == "lines":
        return json_hits(verdict.out, spans=not question.multi_line)
    if question.kind == "counts":
        parts = verdict.out.split(b"\x00")
        hits: Hits = []
        path = parts[0]
        for part in parts[1:]:
            count, _, rest = part.partition(b"\n")
            hits.append((path, int(count)))
            path = rest
        return hits
    return [(path,) for path in verdict.out.split(b"\x00") if path]


def shown_hits(out: bytes, paths: list[bytes]) -> Hits:
    """Hits from ordinary output, whose paths are known and may hold anything."""
    path = b"|".join(re.escape(each) for each in sorted(set(paths), key=len, reverse=True))
    line = re.compile(rb"(%s)\x00(\d+)([:-])([^\n]*)\n" % path)
    binary = re.compile(
        rb'(%s): binary file matches \(found "\\0" byte around offset (\d+)\)\n' % path
    )
    hits: Hits = []
    at = 0
    while at < len(out):
        found = line.match(out, at) or binary.match(out, at)
        assert found, out[at : at + 200]
        number = int(found[2])
        fresh = not hits or hits[-1][0] != found[1] or hits[-1][1] is not None
        if fresh or (found.re is line and hits[-1][2] and hits[-1][2][-1][0] >= number):
            hits.append((found[1], None, ()))
        path, _, lines = hits[-1]
        if found.re is line:
            lines = (*lines, (number, found[4], found[3] == b":", ()))
        hits[-1] = (path, None, lines) if found.re is line else (path, number, lines)
        at = found.end()
    return hits


def json_hits(out: bytes, *, spans: bool) -> Hits:
    def content(value: dict[str, str]) -> bytes:
        if "text" in value:
            return value["text"].encode()
        return base64.b64decode(value["bytes"])

    hits: Hits = []
    lines: list[tuple[Any, ...]] = []
    for text in out.splitlines():
        message = json.loads(text)
        data = message["data"]
        if message["type"] == "begin":
            lines = []
        elif message["type"] == "end":
            hits.append((content(data["path"]), data["binary_offset"], tuple(lines)))
        elif message["type"] in ("match", "context"):
            whole = content(data["lines"])
            pieces = whole.removesuffix(b"\n").split(b"\n")
            is_match = message["type"] == "match"
            found = tuple((each["start"], each["end"]) for each in data["submatches"])
            for offset, piece in enumerate(pieces):
                number = data["line_number"] + offset
                lines.append((number, piece, is_match, found if spans else ()))
    return hits


def ours(workspace: Workspace, query: Query) -> Answer:
    return workspace.search(query)


def answered(question: Question, answer: Answer) -> Hits:
    """Our hits in the shape of ripgrep's."""
    if question.kind == "lines":
        return [
            (
                hit.path,
                hit.binary,
                tuple((line.number, line.bytes, line.is_match, line.spans) for line in hit.lines),
            )
            for hit in answer.hits
        ]
    if question.kind == "counts":
        return [(hit.path, hit.count) for hit in answer.hits]
    return [(hit.path,) for hit in answer.hits]


def difference(
    place: Place,
    question: Question,
    *,
    version: str = "15.2.0",
    search: Ask = ours,
    beside: frozenset[bytes] = frozenset(),
) -> str | None:
    """What differs between ripgrep's answer and ours, but for the files `beside`; or nothing."""
    question = fit(place, question)
    passed = {os.path.realpath(place.path(each)) for each in beside}
    expected = theirs(place, question, version)
    workspace = Workspace(os.fsdecode(place.tree))
    asked = query(place, question)
    try:
        answer = search(workspace, asked)
    except QueryError as error:
        if error.text.rstrip("\n") == expected:
            return None
        return report(place, question, expected, f"QueryError: {error.text}")
    if isinstance(expected, str):
        return report(place, question, expected, answered(question, answer))
    expected = [hit for hit in expected if os.path.realpath(hit[0]) not in passed]
    kept = [hit for hit in answer.hits if os.path.realpath(hit.path) not in passed]
    answer = answer._replace(hits=tuple(kept))
    found = answered(question, answer)
    if sorted(found, key=repr) != sorted(expected, key=repr):
        return report(place, question, expected, found)
    if answer.stopped is not None or answer.more:
        return report(place, question, "a whole answer", (answer.stopped, answer.more))
    return misordered(place, question, expected, answer)


def misordered(place: Place, question: Question, expected: Hits, answer: Answer) -> str | None:
    """What is wrong with the order of an answer that holds the right hits."""
    paths = [hit.path for hit in answer.hits]
    times = {path: os.stat(path).st_mtime_ns for path in paths}
    wrong = [hit for hit in answer.hits if hit.time not in (None, times[hit.path])]
    if wrong:
        return report(place, question, times, wrong)
    if question.order == "walk":
        if len(question.roots) > 1:
            return None
        rule = sorted(paths, key=lambda path: walk_rank(place.path(question.roots[0]), path))
    elif question.order == "path":
        rule = sorted(paths)
    else:
        sign = -1 if question.order == "newest" else 1
        rule = sorted(paths, key=lambda path: (sign * times[path], path))
        if len(set(times.values())) == len(times):
            rule = [hit[0] for hit in expected]
    return None if paths == rule else report(place, question, rule, paths)


def walk_rank(root: bytes, path: bytes) -> list[tuple[int, bytes]]:
    """Files of a folder by name, then its subfolders by name."""
    *folders, name = path.removeprefix(root).lstrip(b"/").split(b"/")
    return [*((1, each) for each in folders), (0, name)]


def report(place: Place, question: Question, expected: object, found: object) -> str:
    told = [os.fsdecode(each) for each in flags(place, question)]
    if isinstance(expected, list) and isinstance(found, list):
        missing = [each for each in expected if each not in found]
        extra = [each for each in found if each not in expected]
        if missing or extra:
            expected, found = f"also {missing!r:.2000}", f"also {extra!r:.2000}"
    return (
        f"{question}\n"
        f"rg {' '.join(map(repr, told))}\n"
        f"in {os.fsdecode(place.path(question.base))!r}\n"
        f"expected: {expected!r:.3000}\n"
        f"found:    {found!r:.3000}"
    )
