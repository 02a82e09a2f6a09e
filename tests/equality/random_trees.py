"""Random trees and random questions, made to collide: few names, and rules that speak of them.

Everything is drawn by Hypothesis, so that a failing case shrinks to a small story.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields
from typing import Any

from hypothesis import strategies as st
from trees import File, Folder, Link, Node

FOLDERS = [
    b"src", b"build", b"docs", b".hid", b"a b", b"-x", "ünï".encode(), b"vendor", b"\xff\xfe",
    b"src", b"build", b"b[1]",
]  # fmt: skip
FILES = [
    b"a.rs", b"b.py", b"c.txt", b"d.log", b"Makefile", b".env", b"out.txt", b"-r.rs", b"e f.md",
    b"x\ny.txt", b"#c.txt", b"!d.txt", b"g\xe9.rs", "é.rs".encode(), b"T.RS", b"back\\slash.txt",
    b"star*.txt", b"{b}.js", b".hidden.rs", b"build", b"end ", b"a.rs", b"c.txt", b"src",
]  # fmt: skip
RULE_FILES = [b".gitignore", b".ignore", b".rgignore", b".gitignore", b".git/info/exclude"]

WORDS = [
    "needle", "Needle", "NEEDLE", "hay", "foo", "bar", "a.b(c)", "é", "É", "ß", "kK\u212a", "😀",
    "42", "x", "", " ", "\t", "needles", "un needle", "αβγ", "end", "foo bar", "\\", "[",
]  # fmt: skip
RULES = [
    "*.rs", "!*.rs", "a.rs", "/a.rs", "src", "/src", "src/", "build/", "!build/", "build",
    "**/build", "src/**", "src/*", "!src/a.rs", "*", "!*", "!*/", "/*", "*/", "**", "/**/c.txt",
    "docs/**/c.txt", "*.txt", "!c.txt", ".env", "!.env", ".*", "!.hidden.rs", ".hid/", "#c.txt",
    "\\#c.txt", "\\!d.txt", "!d.txt", "# comment", "", "   ", "a b", "a b/", "e f.md", "e\\ f.md",
    "end\\ ", "end ", "-x", "-r.rs", "[a-c].*", "[!a]*", "[^a]*", "?.rs", "*.{rs,py}", "{b}.js",
    "star\\*.txt", "b[[]1]", "é.rs", "ünï", "T.rs", "*.RS", "vendor/../a.rs", "./a.rs", "src//a.rs",
    "a**.rs", "**a.rs", "src/**/", "!/build/out.txt", "out.*", "back\\\\slash.txt", "[", "{a", "\\",
    "a\\", "[z-a]", "***", "docs/c.txt", "!docs/", "docs/build", "/docs/build/", "*.log\t", "\tx",
]  # fmt: skip
GLOBS = [
    "*.rs", "!*.rs", "src/**", "/src", "/src/", "src", "**/build/**", "!build", "!build/", "*",
    "**", "!**", ".*", "!.*", "*.{rs,py}", "*.{rs,{py,txt}}", "a*", "!/src/*.rs", "src/",
    "docs/*.txt",
    "[a-c]*", "[!a]*", "\\!d.txt", "#c.txt", "ünï/**", "e f.md", "**/src/*.rs", "./a.rs", "../*",
    "é.rs", "?.rs", "/", "!c.txt", "/a.rs", "/*.rs", "**/", ".hid/**", ".env", "!.env", "T.rs", "",
    "star\\*.txt", "{b}.js", "\\{b\\}.js", "-r.rs", "build", "a b/*", "src/*/a.rs", "**/.git/**",
]  # fmt: skip
BAD_GLOBS = ["[", "{a", "a}", "[z-a]", "a\\"]
TYPES = ["rust", "py", "txt", "md", "make", "js", "c"]
PATTERNS = [
    "needle", "Needle", "hay", "nee", r"\bneedle\b", "^", "$", "^$", ".", r"\w+", r"\s", "[^a]",
    "é", "ß", "k", r"\p{Greek}", r"(?-u)\xff", r"(?-u)[\x80-\xff]", "x*", "foo|bar", "(?i)NEEDLE",
    "^needle$", "(?s)a.b", r"\d+", r"\r", r"\r$", "😀", "^b", "[[:alpha:]]+$", r"\x{e9}", "a*?",
    "needle.*hay", "un|needle", r"\.b\(", " $", "^ ", r"\B", "é|É", "(n)(e)(e)", "[a-f&&[^b]]",
    r"needle\z", "(?x) nee dle", "(?i:n)eedle", "^(foo|needle)", "", "(|needle)",
]  # fmt: skip
ACROSS = [
    r"needle\nhay", r"\n", "(?s)foo.+bar", r"hay\s+needle", r"^needle\n", r"\n\n", "(?s).", r"\s+$",
    r"\r\n", "^$",
]  # fmt: skip
BAD_PATTERNS = ["(", "[a", "a{2,1}", "(?=a)", r"\q", r"\p{Nope}", "*", r"a\nb", "(?P<n>", ")"]
LITERALS = ["needle", "a.b(c)", "[", "\\", "foo bar", "é", "(", "x", "^", "needle hay", " "]

PIECE = 65536


@dataclass(frozen=True)
class Tree:
    """A recipe, and which of its folders may be asked for."""

    recipe: dict[bytes, Node]
    home: dict[bytes, Node]
    folders: tuple[bytes, ...]
    files: tuple[bytes, ...]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


@dataclass(frozen=True)
class Question:
    """One question, in words that turn into a Query and into ripgrep's flags alike."""

    kind: str = "files"
    """`listing`, `files`, `counts` or `lines`."""
    roots: tuple[bytes, ...] = (b"",)
    """Relative to the tree; the last bytes may spell it oddly."""
    base: bytes = b""
    pattern: str = "needle"
    literal: bool = False
    ignore_case: bool = False
    smart_case: bool = False
    word: bool = False
    whole_line: bool = False
    multi_line: bool = False
    hidden: bool = False
    no_ignore: bool = False
    globs: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    types_not: tuple[str, ...] = ()
    depth: int | None = None
    as_text: bool = False
    max_size: int | None = None
    per_file: int | None = None
    before: int = 0
    after: int = 0
    order: str = "walk"
    env: tuple[tuple[str, str], ...] = ()
    """Names of variables, and paths relative to the folder that holds the tree."""

    def __repr__(self) -> str:
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        told = [f"{name}={value!r}" for name, value in said.items() if value != DEFAULTS[name]]
        return f"Question({', '.join(told)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


DEFAULTS = {each.name: each.default for each in fields(Question)}


def texts() -> list[bytes]:
    """Ordinary contents: a few lines of words, with every kind of line end."""
    chance = random.Random(15)

    def line() -> str:
        return " ".join(chance.choices(["needle", "needle", *WORDS], k=chance.randint(0, 3)))

    made = []
    for number in range(48):
        end = chance.choice(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])
        lines = [line() for _ in range(number % 8)]
        made.append((end.join(lines) + chance.choice(["", end])).encode())
    return [b"needle\n", b"", *made]


TEXTS = texts()


def traps() -> list[bytes]:
    """Contents that an engine may stumble over."""
    made = [b"\n", b"\r\n", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff needle \xff\n", b"needle"]
    for number, plain in enumerate(TEXTS[20:30]):
        text = plain.decode()
        made += [
            b"\xef\xbb\xbf" + plain,
            b"\xff\xfe" + text.encode("utf-16-le"),
            b"\xfe\xff" + text.encode("utf-16-be"),
            text.encode("utf-16-le"),
            plain + b"\x00" + plain,
            plain.replace(b"e", b"\xe9") + b"\xff needle \xff\n",
            b"\xff\xfe" + text.encode("utf-16-le") + b"\x00",
        ][number % 4 :: 2]
    return made


TRAPS = traps()


def large() -> list[bytes]:
    """Contents around the ends of ripgrep's pieces: NULs, long lines, many matches."""
    made = []
    for at in [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE, 2 * PIECE + 9]:
        for first in (b"needle\n", b"hay\n"):
            filled = (first + b"0123456789abcde\n" * (at // 16 + 1))[:at]
            made.append(filled + b"\x00\nneedle\nfoo\n")
    for size in [PIECE - 1, PIECE, PIECE + 1, 3 * PIECE]:
        made.append(b"hay\n" + b"x" * size + b" needle\nneedle")
    return [*made, b"needle\n" * 9363]


LARGE = large()


def bodies() -> st.SearchStrategy[bytes]:
    """A file's content: mostly a few lines of words, sometimes one of the traps."""
    plain = st.sampled_from(TEXTS)
    return st.one_of(plain, plain, plain, plain, st.sampled_from(TRAPS), st.sampled_from(LARGE))


@st.composite
def rules(draw: st.DrawFn) -> bytes:
    """A rule file's content."""
    lines = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=3))
    body = draw(st.sampled_from(["\n", "\n", "\n", "\r\n"])).join(lines).encode()
    odd = draw(st.integers(0, 19))
    if odd == 0:
        return b"\xef\xbb\xbf" + body
    if odd == 1:
        return body + b"\n\xff*.py\nc.txt"
    return body + b"\n"


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A tree of up to some thirty entries, with rule files, repositories and links."""
    folder = st.lists(st.sampled_from(FOLDERS), max_size=3).map(b"/".join)
    folders = draw(st.lists(folder, min_size=2, max_size=6, unique=True))
    folders = [b"", *(each for each in folders if each)]
    recipe: dict[bytes, Node] = {}
    closed: set[bytes] = set()

    def put(path: bytes, node: Node) -> bool:
        parts = path.split(b"/")
        parents = {b"/".join(parts[:n]) for n in range(1, len(parts))}
        if path in recipe or path in known or parents & recipe.keys():
            return False
        recipe[path] = node
        closed.add(path)
        known.update(parents)
        return True

    known: set[bytes] = set()
    for each in folders:
        parts = each.split(b"/")
        known.update(b"/".join(parts[: n + 1]) for n in range(len(parts)))
    inside = st.sampled_from(folders)

    def at(where: bytes, name: bytes) -> bytes:
        return where + b"/" + name if where else name

    clock = draw(st.sampled_from([1, 1, 1, 0]))  # 0: every time is the same
    for number in range(draw(st.integers(4, 14))):
        path = at(draw(inside), draw(st.sampled_from(FILES)))
        time = 1_700_000_000_000_000_000 + clock * draw(st.integers(-9, 9)) * 1000 + clock * number
        put(path, File(draw(bodies()), time=time))
    files = tuple(recipe)
    for _ in range(draw(st.integers(0, 3))):
        put(at(draw(inside), draw(st.sampled_from(RULE_FILES))), File(draw(rules())))
    for _ in range(draw(st.integers(0, 2))):
        where = draw(inside)
        if draw(st.integers(0, 4)):
            put(at(where, b".git/HEAD"), b"ref: refs/heads/needle\n")
        else:
            put(at(where, b".git"), b"gitdir: " + draw(st.sampled_from(WORKTREES)) + b"\n")
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from([b"link.rs", b"link", b".link", b".ignore", b".gitignore"]))
        rule = name.endswith(b"ignore")
        targets = [b"rules.txt"] if rule else [*folders[1:], *files, *OUTWARD]
        target = draw(st.sampled_from(targets))
        place = b"" if rule else draw(inside)
        if not target.startswith((b".", b"/")):
            target = b"../" * (place.count(b"/") + 1 if place else 0) + target
        put(at(place, name), Link(target))
        if rule:
            put(b"rules.txt", File(draw(rules())))
    return Tree(
        {**recipe, **{each + b"/": Folder() for each in folders if each}},
        draw(homes()),
        tuple(folders),
        files,
    )


OUTWARD = [b"../outside", b"/", b".", b"..", b"../outside/far.rs", b"./nowhere", b"/dev/zero"]
WORKTREES = [b"../elsewhere/.git/worktrees/w", b"nowhere", b"/", b"../elsewhere"]


@st.composite
def homes(draw: st.DrawFn) -> dict[bytes, Node]:
    """What stands beside the tree: a home with git's configuration, and things to link to."""
    home: dict[bytes, Node] = {
        b"outside/far.rs": b"needle outside\n",
        b"outside/sub/far.txt": b"needle outside\n",
        b"elsewhere/.git/info/exclude": b"b.py\n",
        b"elsewhere/.git/worktrees/w/commondir": b"../..\n",
        b"home/": Folder(),
    }
    named = b'[core]\n\texcludesFile = "~/mine"\n'
    if draw(st.booleans()):
        home[b"home/.config/git/ignore"] = File(draw(rules()))
    if draw(st.booleans()):
        home[b"home/mine"] = File(draw(rules()))
        where = draw(st.sampled_from([b".gitconfig", b".config/git/config", b"other", b"system"]))
        home[b"home/" + where] = named
    return home


EXTRAS: list[tuple[str, Any]] = [
    ("hidden", True), ("hidden", True), ("no_ignore", True), ("no_ignore", True),
    ("ignore_case", True), ("smart_case", True), ("word", True), ("word", True),
    ("whole_line", True),
    ("as_text", True), ("as_text", True), ("globs", ("*",)), ("base", b""),
    *(("globs", (glob,)) for glob in GLOBS),
    *(("globs", pair) for pair in zip(GLOBS, GLOBS[7:], strict=False)),
    *(("globs", ("*.rs", glob)) for glob in BAD_GLOBS),
    *(("types", (name,)) for name in TYPES), ("types", ("rust", "py")), ("types", ("nope",)),
    *(("types_not", (name,)) for name in TYPES),
    *(("depth", depth) for depth in (0, 1, 1, 2, 2, 3)),
    *(("max_size", size) for size in (0, 10, 65536)),
    *(("per_file", most) for most in (1, 1, 2, 2)),
    *(("before", lines) for lines in (1, 1, 2)), *(("after", lines) for lines in (1, 1, 3)),
    ("env", (("XDG_CONFIG_HOME", "home/.config"),)), ("env", (("XDG_CONFIG_HOME", ""),)),
    ("env", (("GIT_CONFIG_GLOBAL", "home/other"),)),
    ("env", (("GIT_CONFIG_SYSTEM", "home/system"),)),
]  # fmt: skip
"""What may be asked besides; a question has three of them at most, so that most find something."""

SOUGHT: list[tuple[str, dict[str, Any]]] = [
    *((text, {}) for text in ["needle"] * 20 + PATTERNS + BAD_PATTERNS[::2]),
    *((text, {"literal": True}) for text in LITERALS),
    *((text, {"multi_line": True}) for text in ACROSS + PATTERNS[::3]),
]


@st.composite
def questions(draw: st.DrawFn, tree: Tree) -> Question:
    """A question about that tree."""
    pattern, mode = draw(st.sampled_from(SOUGHT))
    extras = dict(draw(st.lists(st.sampled_from(EXTRAS), max_size=3)))
    base = {"base": draw(st.sampled_from(tree.folders))} if "globs" in extras else {}
    return Question(
        kind=draw(st.sampled_from(["files", "listing", "counts", "lines", "lines"])),
        roots=draw(roots(tree)),
        pattern=pattern,
        order=draw(st.sampled_from(["walk", "walk", "newest", "oldest", "path"])),
        **mode,
        **(base | extras),
    )


def roots(tree: Tree) -> st.SearchStrategy[tuple[bytes, ...]]:
    """The tree's top, a folder in it, a file, a spelling of these, or two at once."""
    folders = [each for each in tree.folders if each]
    odd = [each + tail for each in folders for tail in (b"/", b"//", b"/.", b"/../")]
    one = st.sampled_from([b"", b"", b"", b"", b".", *folders, *tree.files[:3], *odd[:4]])
    second = st.sampled_from([b"", *folders, *tree.files, b"missing", b"link"])
    alone = one.map(lambda each: (each,))
    return st.one_of(alone, alone, alone, st.tuples(one, second))
