"""`make bench`: evergrep beside the newest ripgrep, in one run, taking turns.

    .venv/bin/python benches/run.py [--rounds N] [--only MODE[,MODE]] [--queries ID[,ID]]
                        [--tree FOLDER [--patterns linux|django]] [--quick] [--out FOLDER]

Prints a table; a whole run also keeps a results file and a plot in benches/results.
Exits 1 when an answer was wrong. README.md beside this file says how to read the numbers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import plot
import queries
import report
import rounds
import stops
import trees
from contests import MODES, Bench, contests

HERE = Path(__file__).parent
PROJECT = HERE.parent
CACHE = PROJECT / ".cache" / "bench"
JUDGES = PROJECT / "target" / "judges"
SMALL_TREE_MODES = ("newest", "walk")
SEED = 2026


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="timed rounds a query (default 9)")
    parser.add_argument("--only", default="", help=f"modes: {', '.join([*MODES, 'stops'])}")
    parser.add_argument("--queries", default="", help="ids from queries.json")
    parser.add_argument("--tree", type=Path, help="search this tree, as it is, instead of both")
    parser.add_argument("--patterns", default="linux", choices=["linux", "django"])
    parser.add_argument("--quick", action="store_true", help="one round, few stops, small files")
    parser.add_argument("--samples", type=int, default=100, help="stops a kind (default 100)")
    parser.add_argument(
        "--calm", type=float, default=0, help="seconds a round may wait for an idle machine"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rg", type=Path, help="another ripgrep than the one built here")
    parser.add_argument("--out", type=Path, help="where results go")
    return parser.parse_args()


def find_trees(options: argparse.Namespace) -> list[trees.Tree]:
    """The tree that was named, or those that can be had."""
    if options.tree is not None:
        folder = options.tree.absolute()
        return [trees.Tree(folder.name, "a folder of this machine", folder, options.patterns)]
    found: list[trees.Tree] = []
    for fetch in (trees.kernel, trees.django):
        try:
            tree = fetch(CACHE)
        except trees.NoTreeError as error:
            print(f"without this tree: {error}", file=sys.stderr)
            continue
        trees.spread_times(tree, options.seed)
        found.append(tree)
    return found


def find_ripgrep(options: argparse.Namespace) -> Path:
    if options.rg is not None:
        return options.rg.absolute()
    subprocess.run([sys.executable, PROJECT / "scripts/judges.py", JUDGES, "--bench"], check=True)
    return JUDGES / "rg-15.2.0-release" / "bin" / "rg"


def modes_for(tree: trees.Tree, options: argparse.Namespace) -> list[str]:
    """The small tree and a named one are there for the two main questions, unless told."""
    if options.only:
        return [mode for mode in options.only.split(",") if mode in MODES]
    if options.tree is not None:
        return [mode for mode in MODES if mode != "ties"]
    return list(SMALL_TREE_MODES if tree.name == "django" else MODES)


def hold(bench: Bench, tree: trees.Tree, options: argparse.Namespace) -> list[rounds.Outcome]:
    """All contests on one tree."""
    asked = queries.load(tree.patterns)
    if options.queries:
        asked = [each for each in asked if each.id in options.queries.split(",")]
    outcomes: list[rounds.Outcome] = []
    for mode in modes_for(tree, options):
        own_times = mode == "ties"
        if own_times and not trees.unpacked_times(tree):
            continue
        report.print_mode(tree.name, mode)
        for contest in contests(bench, tree, mode, asked):
            outcome = rounds.run(contest, options.rounds, options.calm)
            # What is kept names no path of this machine.
            shorter = outcome.difference.replace(f"{tree.path}/", "")
            outcome = replace(outcome, difference=shorter)
            report.print_outcome(outcome)
            outcomes.append(outcome)
        if own_times:
            trees.spread_times(tree, options.seed)
    return outcomes


def main() -> int:
    options = read_options()
    if options.quick:
        options.rounds, options.samples = 1, 3
    found = find_trees(options)
    if not found:
        return 2
    bench = Bench(find_ripgrep(options), CACHE / "home")
    bench.home.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {
        "date": report.now(),
        "machine": report.machine(found[0].path),
        "versions": report.versions(bench.rg),
        "rounds": options.rounds,
        "seed": options.seed,
        "trees": {t.name: {"source": t.source, **trees.measure(t)} for t in found},
    }
    for part in ("machine", "versions", "trees"):
        print(f"{part}: {results[part]}")
    print(f"date: {results['date']}, rounds: {options.rounds}, seed: {options.seed}")

    outcomes = [outcome for tree in found for outcome in hold(bench, tree, options)]
    stopped: list[stops.Stops] = []
    if not options.only or "stops" in options.only.split(","):
        size = 8 if options.quick else 256
        stopped = stops.run(found[0], CACHE / "stops", options.samples, options.seed, size)
        report.print_stops(stopped)
    report.print_end(outcomes, stopped)

    results["machine"]["load_after"] = report.load()
    results["outcomes"] = [each.plain() for each in outcomes]
    results["stops"] = [each.plain() for each in stopped]
    whole = not (options.tree or options.only or options.queries or options.quick or options.rg)
    kept = report.save(options.out or (HERE / "results" if whole else CACHE / "results"), results)
    kept.with_suffix(".svg").write_text(plot.draw(results), "utf-8")
    print(f"kept in {kept.name} and .svg, in the folder {kept.parent.name}")
    return 1 if any(each.verdict == "wrong" for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
