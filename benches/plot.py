"""Draws a results file as SVG: a row a query, a block a mode, our time to ripgrep's on a log axis.

Made by hand, since a plotting library would be the heaviest thing a developer installs here. Can
draw an old file again: `python benches/plot.py benches/results/FILE.json > again.svg`.
"""

from __future__ import annotations

import json
import math
import sys
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from contests import MODES

WIDTH, LEFT, RIGHT = 940, 150, 190
ROW, GAP, TOP = 20, 54, 62
COLOURS = {
    "met": "#1b7f5c",
    "within spread": "#5f9e3a",
    "missed": "#c8501e",
    "wrong": "#111111",
    "shown": "#4a6fa5",
}
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


def draw(results: dict[str, Any]) -> str:
    """The whole picture."""
    outcomes: list[dict[str, Any]] = results["outcomes"]
    if not outcomes:
        return _page(TOP, [_text(20, 30, "nothing was compared", "title")])
    blocks = [
        (f"{tree}: {MODES[mode]}", list(rows))
        for (tree, mode), rows in groupby(outcomes, key=lambda each: (each["tree"], each["mode"]))
    ]
    lowest = min(each["spread"][0] for each in outcomes)
    highest = max(each["spread"][1] for each in outcomes)
    axis = _Axis(min(0.08, lowest * 0.8), max(1.3, highest * 1.2))
    parts = _head(results)
    y = TOP
    for title, rows in blocks:
        y += GAP
        parts.append(_text(20, y - 22, title, "block"))
        bottom = y + ROW * len(rows) - 8
        parts += axis.lines(y - 14, bottom)
        for row in rows:
            parts += _draw_row(row, axis, y)
            y += ROW
    return _page(y + 30, parts)


class _Axis:
    """Where a ratio lies across the picture."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = max(low, 0.001), high

    def at(self, ratio: float) -> float:
        share = math.log(max(ratio, self.low) / self.low) / math.log(self.high / self.low)
        return LEFT + min(share, 1) * (WIDTH - LEFT - RIGHT)

    def lines(self, top: float, bottom: float) -> list[str]:
        parts: list[str] = []
        for tick in TICKS:
            if self.low <= tick <= self.high:
                x = self.at(tick)
                kind = "even" if tick == 1 else "tick"
                parts.append(_line(x, top, x, bottom, kind))
                parts.append(_text(x, bottom + 11, f"{tick:g}", "number"))
        return parts


def _head(results: dict[str, Any]) -> list[str]:
    machine, versions = results["machine"], results["versions"]
    what = (
        f"evergrep {versions['evergrep']} beside ripgrep {versions['ripgrep'].split()[0]}: "
        "our time to ripgrep's, left is faster"
    )
    where = (
        f"{results['date'][:10]}, {machine['processor']}, {machine['cores']} cores, "
        f"{machine['file_system']}, warm; {results['rounds']} rounds; "
        "dot: median, bar: quartiles, tick: goal"
    )
    parts = [_text(20, 28, what, "title"), _text(20, 48, where, "small")]
    x = 20.0
    seen = dict.fromkeys(each["verdict"] for each in results["outcomes"])
    for verdict in COLOURS:
        if verdict in seen:
            parts.append(f'<circle cx="{x + 5}" cy="63" r="4.5" fill="{COLOURS[verdict]}"/>')
            label = "no goal set" if verdict == "shown" else verdict
            parts.append(_text(x + 14, 67, label, "small"))
            x += 34 + 6.2 * len(label)
    return parts


def _draw_row(row: dict[str, Any], axis: _Axis, y: float) -> list[str]:
    colour = COLOURS[row["verdict"]]
    low, high = (axis.at(each) for each in row["spread"])
    x = axis.at(row["ratio"])
    parts = [_text(LEFT - 12, y + 4, row["query"], "label")]
    if row["goal"] is not None:
        goal = axis.at(row["goal"])
        parts.append(_line(goal, y - 7, goal, y + 7, "goal"))
    parts.append(
        f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}" '
        f'stroke="{colour}" stroke-width="5" stroke-opacity="0.4" stroke-linecap="round"/>'
    )
    parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{colour}"/>')
    told = "wrong answer" if row["verdict"] == "wrong" else f"{row['ratio']:.2f}"
    parts.append(_text(WIDTH - RIGHT + 14, y + 4, told, "value"))
    took = f"{row['ours']['median']:.0f} / {row['peer']['median']:.0f} ms"
    parts.append(_text(WIDTH - 12, y + 4, took, "took"))
    return parts


def _page(height: float, parts: list[str]) -> str:
    style = (
        "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:12px;fill:#222}"
        ".title{font-size:17px;font-weight:600}.block{font-size:13px;font-weight:600}"
        ".small,.number,.took{font-size:11px;fill:#666}.number{text-anchor:middle}"
        ".label,.took{text-anchor:end}.value{font-weight:600}"
        ".tick{stroke:#e2e2e2}.even{stroke:#888}.goal{stroke:#222;stroke-width:2}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
            f'viewBox="0 0 {WIDTH} {height:.0f}">',
            f"<style>{style}</style>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


if __name__ == "__main__":
    sys.stdout.write(draw(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
