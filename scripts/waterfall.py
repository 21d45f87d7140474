#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws where the time to the first result goes: one bar of phases for each row of portmm-bench's JSON.

usage: waterfall.py RESULT.json [RESULT.json ...] > picture.svg
The phases of one thread follow one another, so the bar of a row is its process from the start to the first result.
"""
import json
import sys
from xml.sax.saxutils import escape

WIDTH, LABEL, BAR, GAP = 900, 250, 22, 10
COLORS = {
    "load": "#4e79a7", "enumerate": "#a0cbe8", "context": "#f28e2b", "cache_lookup": "#8cd17d", "build": "#e15759",
    "binary_load": "#59a14f", "kernel_create": "#b6992d", "engine_init": "#f1ce63", "allocate": "#79706e",
    "upload": "#bab0ac", "first_launch": "#b07aa1", "steady": "#d4a6c8", "download": "#d7b5a6",
    "unattributed": "#cccccc",
}


def text(x, y, words, anchor="start"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(words)}</text>'


def bar(row, y, scale):
    x, parts = LABEL, []
    for phase, ms in row["phases_ms"].items():
        width = max(ms, 0) * scale
        parts.append(
            f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{BAR}" fill="{COLORS.get(phase, "#000")}">'
            f"<title>{phase}: {ms:.2f} ms</title></rect>"
        )
        x += width
    name = f'{row["start"]}, {row["temperature"]} ({row["engine"]})'
    total = sum(row["phases_ms"].values())
    return parts + [text(LABEL - 8, y + 16, name, "end"), text(x + 6, y + 16, f"{total:.0f} ms")]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rows = [row for path in sys.argv[1:] for row in json.load(open(path, encoding="utf-8"))["results"]]
    longest = max(sum(row["phases_ms"].values()) for row in rows)
    scale = (WIDTH - LABEL - 80) / longest
    shown = [p for p in COLORS if any(row["phases_ms"].get(p, 0) > longest / 500 for row in rows)]
    first = rows[0]
    body = [text(10, 20, f'{first["device"]}, {first["dtype"]} {first["m"]}x{first["n"]}x{first["k"]}')]
    y = 34
    for row in rows:
        body += bar(row, y, scale)
        y += BAR + GAP
    for i, phase in enumerate(shown):
        x, top = LABEL + i % 4 * 150, y + 8 + i // 4 * 20
        body.append(f'<rect x="{x}" y="{top}" width="12" height="12" fill="{COLORS[phase]}"/>' + text(x + 18, top + 11, phase))
    height = y + 16 + (len(shown) + 3) // 4 * 20
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">'
        f'<rect width="100%" height="100%" fill="#fff"/>' + "\n".join(body) + "</svg>"
    )


if __name__ == "__main__":
    main()
