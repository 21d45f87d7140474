# SPDX-License-Identifier: Apache-2.0
"""Reads the page of portmm-bench --html back: its elements have to nest, fetch nothing, run nothing, and show the
figures of the JSON document it was made from.

usage: html_page.py JSON HTML; exits with 77 where there is no page, because nothing could be measured
"""
import html.parser
import json
import pathlib
import statistics
import sys

VOID = {"meta", "br"}
KNOWN = {"html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "h3", "p", "div", "span", "b", "i",
         "ul", "li", "table", "tr", "th", "td", "pre", "data", "br"}
ATTRIBUTES = {"lang", "charset", "name", "content", "class", "style", "title", "aria-hidden", "value", "data-row",
              "data-metric", "data-phase"}


class Page(html.parser.HTMLParser):
    """figures: for each element that names its row, what it shows by name; texts: what stands in elements."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.figures, self.texts, self.titles, self.styles = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        assert tag in KNOWN, f"a page for reading needs no <{tag}>"
        assert set(given) <= ATTRIBUTES, given
        assert len(given) == len(attributes), f"an attribute twice: {attributes}"
        self.styles.append(given.get("style", ""))
        self.titles.append(given.get("title", ""))
        if "data-row" in given:
            self.figures.append({"row": given["data-row"], "metric": given.get("data-metric"),
                                 "phase": given.get("data-phase"), "shown": {}})
        if tag == "data":
            self.figures[-1]["shown"][given["class"]] = float(given["value"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        (self.styles if self.open[-1:] == ["style"] else self.texts).append(data)


def row_at(document, path):
    kind, position = path.split("/")
    return document[kind][int(position)]


def check_metric(document, figure):
    summary = row_at(document, figure["row"])[figure["metric"]]
    names = {"median", "iqr", "min", "max"} if len(summary["raw"]) > 1 else {"median"}
    assert set(figure["shown"]) == names, figure
    for name in names:
        assert figure["shown"][name] == float(f"{summary[name]:.12g}"), (figure, summary)


def check_phase(document, figure):
    row, phase = row_at(document, figure["row"]), figure["phase"]
    raw = row["phases_raw_ms"][phase]
    assert figure["shown"]["value"] == float(f"{row['phases_ms'][phase]:.12g}"), figure
    if len(raw) > 1:
        quartiles = statistics.quantiles(raw, n=4, method="inclusive")
        assert abs(figure["shown"]["iqr"] - (quartiles[2] - quartiles[0])) <= 1e-9, figure


def expected_metrics(document):
    """Each figure is shown once as a bar, and each way to a first result once more as a waterfall."""
    pairs = []
    for kind in ("results", "peers"):
        for position, row in enumerate(document[kind]):
            path = f"{kind}/{position}"
            warm = row["temperature"] == "warm"
            pairs += [(path, "gemm_ms")] if warm else [(path, "process_to_result_ms"), (path, "first_gemm_ms")]
            pairs += [(path, "process_to_result_ms")] if kind == "results" else []
    return sorted(pairs)


def check_page(text, document):
    assert text.startswith("<!DOCTYPE html>\n")
    page = Page(text)
    styles, words = "".join(page.styles).lower(), " ".join("".join(page.texts).split())
    for fetched in ("url(", "@import", "http:", "https:", "//"):
        assert fetched not in styles, fetched
    for figure in page.figures:
        (check_metric if figure["metric"] else check_phase)(document, figure)
    shown = sorted((figure["row"], figure["metric"]) for figure in page.figures if figure["metric"])
    assert shown == expected_metrics(document), (shown, expected_metrics(document))
    assert "unattributed" in {figure["phase"] for figure in page.figures}
    for row in document["results"]:
        assert row["repeat"] in words, row["repeat"]
        assert " ".join(row["device"].split()) in words, row["device"]
    for name in document["environment"]:
        assert name in page.texts, name
    for kind in ("warnings",):
        for warning in document[kind]:
            assert " ".join(warning.split()) in words, warning
    assert "prefers-color-scheme: dark" in styles and "@media print" in styles
    assert "; ," not in words and ", ," not in words
    return page


def main():
    document, page = (pathlib.Path(path) for path in sys.argv[1:3])
    if not page.exists():
        sys.exit(77)
    check_page(page.read_text(encoding="utf-8"), json.loads(document.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
