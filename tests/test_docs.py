"""Every example of the documents runs: Python blocks as programs, console blocks as commands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
ALL_PAGES = sorted(
    page
    for part in (
        ".",
        "docs",
        "docs/decisions",
        "benches",
        "src/evergrep/dialects/*",
        "tests/contract",
    )
    for page in PROJECT.glob(f"{part}/*.md")
)
ENGINE = PROJECT / "crates/engine/src"
PACKAGE = PROJECT / "src/evergrep"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)")

TREE = {
    "Cargo.toml": '[package]\nname = "example"\n',
    "src/main.rs": "fn main() {\n    // TODO: say hello\n}\n",
    "src/lib.rs": "/// Nothing yet.\npub fn nothing() {}\n",
}


def blocks(kind: str) -> list[tuple[str, str]]:
    """The blocks of a kind, each with a name that says where it stands."""
    found: list[tuple[str, str]] = []
    for page in PAGES:
        for block in BLOCK.finditer(page.read_text("utf-8")):
            line = page.read_text("utf-8")[: block.start()].count("\n") + 1
            if block[1] == kind:
                found.append((f"{page.relative_to(PROJECT)}:{line}", block[2]))
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def environment() -> dict[str, str]:
    programs = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": programs + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"}


def run(command: list[str], project: Path, place: str) -> str:
    """What a command prints; it must end well and say nothing on standard error."""
    done = subprocess.run(
        command,
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), place
    return done.stdout


@pytest.mark.parametrize(
    ("place", "program"), [pytest.param(*each, id=each[0]) for each in blocks("python")]
)
def test_python_example_runs(place: str, program: str, project: Path) -> None:
    """What a reader copies must work as it stands, warnings included."""
    run([sys.executable, "-W", "error", "-c", program], project, place)


@pytest.mark.parametrize(
    ("place", "text"), [pytest.param(*each, id=each[0]) for each in blocks("console")]
)
def test_console_example_prints_what_it_shows(place: str, text: str, project: Path) -> None:
    """A command's output, where the page shows it, is what the command prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        assert "evergrep" in shlex.split(command), place
        printed = run(["bash", "-c", command], project, place)
        assert shown.strip() == "" or shown == printed, place


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A page that names another one must have it."""
    missing = [
        target
        for target in LINK.findall(page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert missing == []


def unmapped(text: str) -> list[str]:
    """The files and folders of the two source trees that a map does not name."""
    parts = [*ENGINE.iterdir(), *PACKAGE.iterdir()]
    names = {
        part.name + ("/" if part.is_dir() else "")
        for part in parts
        if not part.name.startswith("__") and part.suffix not in (".so", ".typed")
    }
    return sorted(
        name for name in names if not re.search(rf"^  {re.escape(name)} ", text, re.MULTILINE)
    )


def test_the_map_names_every_file() -> None:
    """A newcomer finds each file on the map of ARCHITECTURE.md."""
    text = (PROJECT / "ARCHITECTURE.md").read_text("utf-8")
    assert unmapped(text) == []
    assert unmapped(text.replace("  walk.rs ", "  talk.rs ")) == ["walk.rs"]


def test_a_broken_example_is_seen(project: Path) -> None:
    """The check itself must be able to fail."""
    with pytest.raises(AssertionError):
        test_python_example_runs("planted", "raise SystemExit(3)", project)
    with pytest.raises(AssertionError):
        test_console_example_prints_what_it_shows(
            "planted", "$ evergrep --version\nnot this\n", project
        )
