"""Asks one query again and again, and nothing else: what a profiler is put around.

    .venv/bin/python benches/once.py walk common-words --times 20
    perf record --call-graph dwarf -- .venv/bin/python benches/once.py newest no-match

README.md beside this file has the whole recipe.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import contests
import queries
import trees
from run import CACHE, find_ripgrep


def main() -> None:
    parser = argparse.ArgumentParser(prog="once.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mode", choices=list(contests.MODES))
    parser.add_argument("query", help="an id from queries.json")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--tree", type=Path, help="search this tree instead of the kernel")
    parser.add_argument("--patterns", default="linux", choices=["linux", "django"])
    parser.add_argument("--peer", action="store_true", help="run ripgrep's side instead")
    parser.add_argument("--rg", type=Path, help="another ripgrep than the one built here")
    options = parser.parse_args()

    if options.tree is None:
        tree = trees.django(CACHE) if options.patterns == "django" else trees.kernel(CACHE)
    else:
        tree = trees.Tree(options.tree.name, "", options.tree.absolute(), options.patterns)
    asked = [each for each in queries.load(tree.patterns) if each.id == options.query]
    rg = find_ripgrep(options) if options.peer else Path("rg")
    bench = contests.Bench(rg, CACHE / "home")
    for contest in contests.contests(bench, tree, options.mode, asked):
        side = contest.peer if options.peer else contest.ours
        timings = [side() for _ in range(options.times)]
        seconds = [timing.seconds for timing in timings]
        told = f"best {1000 * min(seconds):.2f} ms, median {1000 * statistics.median(seconds):.2f}"
        cpu = 1000 * statistics.median(timing.cpu for timing in timings)
        print(f"{told} ms, cpu {cpu:.1f} ms, {len(timings[-1].answer)} in the answer")
        if timings[-1].fault:
            print(f"fault: {timings[-1].fault}")


if __name__ == "__main__":
    main()
