"""The benchmark's harness: it runs, compares answers, and tells a wrong one. No time is judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judges import rg
from trees import plant

BENCH = Path(__file__).parent.parent / "benches" / "run.py"
TREE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".gitignore": "*.o\n",
    "ignored.o": "static int hidden;\n",
    "kernel/fork.c": "#include <linux/mm.h>\nstatic int one;\r\nstatic int two;\n",
    "kernel/exit.c": "static int three;\nstatic int without_end",
    "drivers/ops.c": "struct file_ops ours = {\n\t.open = one,\n\t.release = two,\n};\n",
    "fs/mixed.bin": b"static int four;\n\0\n",
    "fs/late.bin": b"static int five;\n" * 9000 + b"\0static int six;\n",
}


def run_bench(tree: Path, out: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    """Exit code, all that was printed, and the results file of a quick run on the tree."""
    command = [sys.executable, str(BENCH), "--quick", "--tree", str(tree), "--out", str(out)]
    command += ["--queries", "common-words,no-match,multiline-struct", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    kept = list(out.glob("*.json"))
    assert len(kept) == 1, done.stderr
    return done.returncode, done.stdout, json.loads(kept[0].read_text("utf-8"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with matches, an ignored file and two binary ones, all of different times."""
    plant(tmp_path / "tree", TREE)
    for place, path in enumerate(sorted((tmp_path / "tree").rglob("*"))):
        os.utime(path, ns=(place * 10**9, place * 10**9))
    return tmp_path / "tree"


def test_all_modes_run_and_agree_with_ripgrep(tree: Path, tmp_path: Path) -> None:
    """Every mode yields a row whose answer equals ripgrep's."""
    code, printed, results = run_bench(tree, tmp_path / "out", "--rg", str(rg()))
    assert (code, [row for row in results["outcomes"] if row["difference"]]) == (0, []), printed
    rows = {(row["mode"], row["query"]): row["found"] for row in results["outcomes"]}
    assert rows == {
        ("newest", "common-words"): 3,
        ("newest", "no-match"): 0,
        ("walk", "common-words"): 3,
        ("walk", "no-match"): 0,
        ("walk", "multiline-struct"): 1,
        ("command", "common-words"): 3,
        ("command", "no-match"): 0,
        ("command", "multiline-struct"): 1,
        ("content", "common-words"): 7715,
        ("content", "no-match"): 0,
        ("content", "multiline-struct"): 3,
    }


def test_results_name_no_path_of_the_machine(tree: Path, tmp_path: Path) -> None:
    """What is kept describes the machine by its parts and can be published."""
    out = tmp_path / "out"
    run_bench(tree, out, "--rg", str(rg()), "--only", "walk")
    for file in out.iterdir():
        text = file.read_text("utf-8")
        assert (str(tmp_path) in text, os.uname().nodename in text) == (False, False), text
    assert sorted(file.suffix for file in out.iterdir()) == [".json", ".svg"]


@pytest.mark.parametrize("mode", ["newest", "walk", "command", "content"])
def test_a_planted_difference_is_told(mode: str, tree: Path, tmp_path: Path) -> None:
    """A judge that drops one path of its answer stands for an engine that has one too many."""
    liar = tmp_path / "liar"
    liar.write_text(f'#!/bin/sh\n"{rg()}" "$@" | sed 1d\n')
    liar.chmod(0o755)
    code, printed, results = run_bench(tree, tmp_path / "out", "--rg", str(liar), "--only", mode)
    assert code == 1
    assert "WRONG ANSWER" in printed
    assert str(tree) not in json.dumps(results)
    verdicts = {row["query"]: row["verdict"] for row in results["outcomes"]}
    assert verdicts["common-words"] == "wrong"
    assert verdicts["no-match"] != "wrong"
