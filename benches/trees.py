"""The trees that are searched: where they come from, and the times their files bear.

A real tree is fetched once, into the cache folder, and made into what a checkout looks like: a
folder `.git` (without it ripgrep does not honour .gitignore at all) and modification times that
differ. Knows nothing of what is measured.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

DJANGO = "5.2.8"
SPREAD_FROM = 1_600_000_000
"""2020-09-13; any time well in the past would do."""


class NoTreeError(Exception):
    """A tree that can't be had here; the text says what to do instead."""


@dataclass(frozen=True)
class Tree:
    """A folder to search."""

    name: str
    source: str
    """Package and version, for the results; never a path of this machine."""
    path: Path
    patterns: str
    """Which patterns of queries.json suit it."""
    large: bool = False
    """Whether the newest hundred of a frequent pattern are a small part of its answer."""


def kernel(cache: Path) -> Tree:
    """The kernel's source as Debian packages it."""
    folder = cache / "linux"
    if not (folder / "tree").is_dir():
        _fresh(folder)
        archive, version = _kernel_archive(folder)
        print("unpacking the kernel's source (once)", flush=True)
        unpacked = folder / "unpacked"
        unpacked.mkdir()
        subprocess.run(["tar", "-xf", archive, "-C", unpacked, "--strip-components=1"], check=True)
        shutil.rmtree(folder / "package", ignore_errors=True)
        _drop_packaging_rule(unpacked / ".gitignore")
        _finish(folder, unpacked, f"Debian {version}")
    return Tree("linux", (folder / "source.txt").read_text(), folder / "tree", "linux", large=True)


def django(cache: Path) -> Tree:
    """Django's source distribution: a project of middling size."""
    folder = cache / "django"
    if not (folder / "tree").is_dir():
        _fresh(folder)
        print("fetching Django's source (once)", flush=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", str(folder), f"django=={DJANGO}"]
        if subprocess.run(command).returncode != 0:
            raise NoTreeError(f"pip could not download Django {DJANGO}; name a tree with --tree")
        packed = next(folder.glob("*.tar.gz"))
        with tarfile.open(packed) as archive:
            archive.extractall(folder / "unpacked", filter="data")
        packed.unlink()
        _finish(folder, next((folder / "unpacked").iterdir()), f"PyPI django {DJANGO}")
    return Tree("django", (folder / "source.txt").read_text(), folder / "tree", "django")


def measure(tree: Tree) -> dict[str, int]:
    """How many files and bytes it holds, its `.git` apart."""
    sizes = [path.lstat().st_size for path in _files(tree.path)]
    return {"files": len(sizes), "bytes": sum(sizes)}


# --- times ------------------------------------------------------------------------------------


def spread_times(tree: Tree, seed: int) -> None:
    """Give every file a time of its own, in an order drawn from the seed.

    What a tree looks like after years of work on it. Without it the newest hundred of a tree
    straight from an archive, whose files bear one time, would be a question of ties alone.
    """
    files = _files(tree.path)
    draw = random.Random(seed)
    draw.shuffle(files)
    for place, path in enumerate(files):
        time = (SPREAD_FROM + 1000 * place) * 10**9 + draw.randrange(10**9)
        os.utime(path, ns=(time, time), follow_symlinks=False)


def unpacked_times(tree: Tree) -> bool:
    """Give the files the times their archive gave them, where these are known."""
    note = tree.path.parent / "times.json"
    if not note.is_file():
        return False
    times = json.loads(note.read_text("utf-8", "surrogateescape"))
    for path in _files(tree.path):
        time = times["others"].get(str(path.relative_to(tree.path)), times["most"])
        os.utime(path, ns=(time, time), follow_symlinks=False)
    return True


def _note_times(root: Path, note: Path) -> None:
    times = {str(path.relative_to(root)): path.lstat().st_mtime_ns for path in _files(root)}
    most = Counter(times.values()).most_common(1)[0][0]
    others = {path: time for path, time in times.items() if time != most}
    text = json.dumps({"most": most, "others": others}, ensure_ascii=False)
    note.write_text(text, "utf-8", "surrogateescape")


def _files(root: Path) -> list[Path]:
    found: list[Path] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        found += [Path(folder) / name for name in sorted(names)]
    return found


# --- fetching ---------------------------------------------------------------------------------


def _fresh(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _finish(folder: Path, unpacked: Path, source: str) -> None:
    _note_times(unpacked, folder / "times.json")
    (unpacked / ".git" / "info").mkdir(parents=True)
    (unpacked / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "source.txt").write_text(source)
    # Last, and at once: what is called `tree` is whole.
    unpacked.rename(folder / "tree")


def _kernel_archive(folder: Path) -> tuple[Path, str]:
    installed = sorted(Path("/usr/src").glob("linux-source-*.tar.xz"))
    if installed:
        package = installed[-1].name.removesuffix(".tar.xz")
        asked = ["dpkg-query", "--show", "--showformat=${Package} ${Version}", package]
        said = _ask(asked) if shutil.which("dpkg-query") else None
        return installed[-1], said or package
    if not shutil.which("apt-get"):
        raise NoTreeError(
            "the kernel's source comes from Debian's package linux-source, and there is no apt-get "
            "here; unpack any kernel and name it with --tree FOLDER"
        )
    listed = _ask(["apt-cache", "search", "--names-only", r"^linux-source-[0-9.]+$"]) or ""
    names = sorted(line.split()[0] for line in listed.splitlines())
    if not names or subprocess.run(["apt-get", "download", names[-1]], cwd=folder).returncode != 0:
        raise NoTreeError(
            "apt-get could not download Debian's linux-source (apt-get update may help); "
            "unpack any kernel and name it with --tree FOLDER"
        )
    package = next(folder.glob("linux-source-*.deb"))
    subprocess.run(["dpkg-deb", "--extract", package, folder / "package"], check=True)
    version = _ask(["dpkg-deb", "--show", str(package)]) or names[-1]
    package.unlink()
    return next((folder / "package/usr/src").glob("*.tar.xz")), version.replace("\t", " ")


def _drop_packaging_rule(rules: Path) -> None:
    """Cut Debian's own last rule, which ignores the whole tree."""
    text, time = rules.read_text("utf-8"), rules.stat().st_mtime_ns
    rules.write_text(text.split("#\n# Debian packaging:")[0], "utf-8")
    os.utime(rules, ns=(time, time))


def _ask(command: list[str]) -> str | None:
    said = subprocess.run(command, capture_output=True, text=True)
    return said.stdout.strip() if said.returncode == 0 else None
