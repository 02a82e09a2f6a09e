"""The flags of `evergrep grep`, named and read as ripgrep names and reads its own.

As given becomes as needed here: later flags overrule earlier ones, and what depends on the
terminal is decided. Nothing is searched or printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evergrep.cli.flags import Flag, FlagError, Given, choice, number

FLAGS = (
    Flag(("-e", "--regexp"), "PATTERN", "a pattern; repeatable, any of them may match"),
    Flag(("-F", "--fixed-strings"), "", "patterns are plain text"),
    Flag(("-i", "--ignore-case"), "", "upper and lower case are the same"),
    Flag(("-s", "--case-sensitive"), "", "they are not (the default)"),
    Flag(("-S", "--smart-case"), "", "they are, unless a pattern has an upper-case letter"),
    Flag(("-w", "--word-regexp"), "", "a match must be a whole word"),
    Flag(("-x", "--line-regexp"), "", "a match must be a whole line"),
    Flag(("-U", "--multiline"), "", "a match may cross line ends"),
    Flag(("--multiline-dotall",), "", "and a dot matches line ends too"),
    Flag(("-m", "--max-count"), "NUM", "the most matching lines taken from a file"),
    Flag(("-g", "--glob"), "GLOB", "search what matches, or with ! what does not; repeatable"),
    Flag(("-t", "--type"), "TYPE", "search this type of file; repeatable"),
    Flag(("-T", "--type-not"), "TYPE", "do not search this type of file; repeatable"),
    Flag(("-.", "--hidden"), "", "search what starts with a dot"),
    Flag(("--no-hidden",)),
    Flag(("--no-ignore",), "", "search what ignore files leave out"),
    Flag(("--ignore",)),
    Flag(("-u", "--unrestricted"), "", "--no-ignore; twice: --hidden as well"),
    Flag(("-a", "--text"), "", "search binary files as if they were text"),
    Flag(("--no-text",)),
    Flag(("-d", "--max-depth", "--maxdepth"), "NUM", "how many levels of folders are entered"),
    Flag(("--max-filesize",), "SIZE", "leave out larger files; 10K, 5M, 1G"),
    Flag(("--index",), "MODE", "off: a plain scan, the only mode there is today"),
    Flag(("-l", "--files-with-matches"), "", "print only the paths of files that match"),
    Flag(("-c", "--count"), "", "print how many lines match in each file"),
    Flag(("--count-matches",), "", "print how many matches each file has"),
    Flag(("--files",), "", "print the files that would be searched; takes no pattern"),
    Flag(("-q", "--quiet"), "", "print nothing; the exit code tells"),
    Flag(("--json",), "", "print messages, one JSON object a line"),
    Flag(("-o", "--only-matching"), "", "print only what matches, each on its own line"),
    Flag(("-A", "--after-context"), "NUM", "lines after each match"),
    Flag(("-B", "--before-context"), "NUM", "lines before each match"),
    Flag(("-C", "--context"), "NUM", "lines before and after"),
    Flag(("-n", "--line-number"), "", "print line numbers (on a terminal the default)"),
    Flag(("-N", "--no-line-number"), "", "do not"),
    Flag(("--column",), "", "print the column of the first match, in bytes from 1"),
    Flag(("--no-column",)),
    Flag(("-H", "--with-filename"), "", "print paths (unless one file is searched, the default)"),
    Flag(("-I", "--no-filename"), "", "do not"),
    Flag(("--heading",), "", "print a path once, above its lines (on a terminal the default)"),
    Flag(("--no-heading",), "", "print it on every line"),
    Flag(("--vimgrep",), "", "print every match as path:line:column:text"),
    Flag(("-0", "--null"), "", "print a NUL byte after each path"),
    Flag(("-M", "--max-columns"), "NUM", "do not print lines longer than this, in bytes"),
    Flag(("--trim",), "", "cut white space at the start of each line"),
    Flag(("--no-trim",)),
    Flag(("--sort",), "BY", "path, modified or none (the default)"),
    Flag(("--sortr",), "BY", "the same, the other way round"),
    Flag(("--color", "--colour"), "WHEN", "auto, always, ansi or never"),
    Flag(("-p", "--pretty"), "", "--color always --heading --line-number"),
    Flag(("--stats",), "", "print numbers about the search at the end"),
    Flag(("--no-messages",), "", "no word about what could not be read"),
    Flag(("--messages",)),
    # No configuration is ever read, so this asks for what is.
    Flag(("--no-config",)),
    Flag(("-h", "--help"), "", "print this"),
)

MODES = {
    "-l": "files",
    "-c": "counts",
    "--count-matches": "matches",
    "--json": "json",
}


@dataclass(slots=True, repr=False, eq=False)
class Options:
    """What is searched for, where, and how it is shown."""

    patterns: list[str] = field(default_factory=list[str])
    paths: list[str] = field(default_factory=list[str])
    literal: bool = False
    case: str = "sensitive"
    """`sensitive`, `ignore` or `smart`."""
    whole: str = ""
    """`word` or `line`, where a match must be one."""
    multi_line: bool = False
    dot_all: bool = False
    per_file: int | None = None
    globs: list[str] = field(default_factory=list[str])
    types: list[str] = field(default_factory=list[str])
    types_not: list[str] = field(default_factory=list[str])
    hidden: bool = False
    ignore: bool = True
    text: bool = False
    depth: int | None = None
    max_size: int | None = None
    mode: str = "lines"
    """`lines`, `files`, `counts`, `matches`, `json` or `list`."""
    quiet: bool = False
    only_matching: bool = False
    before: int = 0
    after: int = 0
    numbers: bool = False
    column: bool = False
    with_path: bool | None = None
    """None where it depends on what the paths turn out to be."""
    heading: bool = False
    each_match: bool = False
    """Whether a line is printed once for each of its matches."""
    null: bool = False
    max_columns: int | None = None
    trim: bool = False
    sort: str = "none"
    reverse: bool = False
    color: bool = False
    stats: bool = False
    messages: bool = True


def make_options(given: Given, terminal: bool, env: Mapping[str, str]) -> Options:
    """What the flags and words ask for; `terminal` says whether standard output is one."""
    options = Options()
    options.paths = list(given.words)
    numbers = column = heading = None
    before = after = around = None
    color, listing, unrestricted = "auto", False, 0
    for name, value in given.flags:
        match name:
            case "-e":
                options.patterns.append(value)
            case "-F":
                options.literal = True
            case "-i":
                options.case = "ignore"
            case "-s":
                options.case = "sensitive"
            case "-S":
                options.case = "smart"
            case "-w":
                options.whole = "word"
            case "-x":
                options.whole = "line"
            case "-U":
                options.multi_line = True
            case "--multiline-dotall":
                options.dot_all = True
            case "-m":
                options.per_file = number(name, value)
            case "-g":
                options.globs.append(value)
            case "-t":
                options.types.append(value)
            case "-T":
                options.types_not.append(value)
            case "-." | "--no-hidden":
                options.hidden = name == "-."
            case "--no-ignore" | "--ignore":
                options.ignore = name == "--ignore"
            case "-u":
                unrestricted += 1
            case "-a" | "--no-text":
                options.text = name == "-a"
            case "-d":
                options.depth = number(name, value)
            case "--max-filesize":
                options.max_size = _size(name, value)
            case "--index":
                choice(name, value, ["off"])
            case "-l" | "-c" | "--count-matches" | "--json":
                options.mode = MODES[name]
            case "--files":
                listing = True
            case "-q":
                options.quiet = True
            case "-o":
                options.only_matching = True
            case "-A":
                after = number(name, value)
            case "-B":
                before = number(name, value)
            case "-C":
                around = number(name, value)
            case "-n" | "-N":
                numbers = name == "-n"
            case "--column" | "--no-column":
                column = name == "--column"
            case "-H" | "-I":
                options.with_path = name == "-H"
            case "--heading" | "--no-heading":
                heading = name == "--heading"
            case "--vimgrep":
                options.each_match = True
            case "-0":
                options.null = True
            case "-M":
                options.max_columns = number(name, value) or None
            case "--trim" | "--no-trim":
                options.trim = name == "--trim"
            case "--sort" | "--sortr":
                options.sort = choice(name, value, ["path", "modified", "none"])
                options.reverse = name == "--sortr"
            case "--color":
                color = choice(name, value, ["auto", "always", "ansi", "never"])
            case "-p":
                color, heading, numbers = "always", True, True
            case "--stats":
                options.stats = True
            case "--no-messages" | "--messages":
                options.messages = name == "--messages"
            case _:
                pass
    if options.multi_line and (options.each_match or options.mode in ("matches", "json")):
        # The Answer tells lines, not which of them one match spans.
        raise FlagError("-U can't be combined with --json, --vimgrep or --count-matches yet")
    if unrestricted > 2:
        raise FlagError("-uuu is not supported; -uu -a also searches binary files, as text")
    if unrestricted:
        options.ignore, options.hidden = False, options.hidden or unrestricted > 1
    if listing:
        options.mode = "list"
    elif not options.patterns:
        if not options.paths:
            raise FlagError("a search needs a pattern: evergrep grep PATTERN [PATH]...")
        options.patterns.append(options.paths.pop(0))
    if options.mode == "counts" and options.only_matching:
        options.mode = "matches"
    options.before = next((each for each in (before, around) if each is not None), 0)
    options.after = next((each for each in (after, around) if each is not None), 0)
    options.column = options.each_match if column is None else column
    if numbers is None:
        numbers = terminal or options.column or options.each_match
    options.numbers = numbers
    if heading is None:
        heading = terminal
    options.heading = heading and not options.each_match
    options.color = color in ("always", "ansi") or (color == "auto" and terminal and _colorful(env))
    return options


def _colorful(env: Mapping[str, str]) -> bool:
    return not env.get("NO_COLOR") and env.get("TERM", "dumb") != "dumb"


def _size(name: str, value: str) -> int:
    shift = {"K": 10, "M": 20, "G": 30}.get(value[-1:].upper(), 0)
    digits = value[:-1] if shift else value
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10 + 9 * (shift == 0)):
        raise FlagError(f"{name} takes a number of bytes, or one with K, M or G, not {value!r}")
    return int(digits) << shift
