"""Writes the guide's page about how good the numbers are: `python -m reality.page` with PYTHONPATH=tests."""

from __future__ import annotations

from pathlib import Path

from reality.facts import Fact, facts
from reality.predictions import NOT_MET, Prediction, prediction, silence_of

PAGE = Path(__file__).parents[2] / "resources" / "guide" / "how-good-are-the-numbers.md"

_HEAD = """# How good are the numbers

The engine is held against measurements: those of published articles, and those of clusters that were run for
this purpose. Every fact has an id. This page is written by the tests (`tests/reality/page.py`); a test fails
when it is out of date.

Constants are fitted to some of these facts, so that they agree is no proof for those. What is fitted is told
by each constant's evidence in `resources/ndb/constants.json`, and in the window by every derivation.
"""


def _number(value: float) -> str:
    if value == 0:
        return "0"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}".replace(",", "\u2009")
    return f"{value:.4g}"


def _tolerance(found: Prediction) -> str:
    if found.tolerance < 0:
        low, high = found.fact.low, found.fact.high
        return "in the range" if low is None or high is None else f"{_number(low)} to {_number(high)}"
    return "equal" if found.tolerance == 0 else f"{100 * found.tolerance:.3g} %"


def _row(fact: Fact, found: Prediction) -> str:
    cells = (
        f"`{fact.id}`", f"{_number(fact.value)} {fact.unit}", _number(found.value),
        f"{100 * found.error:+.1f} %", _tolerance(found),
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _open_points() -> list[str]:
    lines = [
        "## Not met",
        "",
        "| fact | measured | engine | error | allowed | why |",
        "|---|---|---|---|---|---|",
    ]
    for fact_id, why in NOT_MET.items():
        found = prediction(fact_id)
        assert found is not None
        lines.append(f"{_row(found.fact, found)} {why} |")
    lines += ["", "## Not predicted", "", "| fact | measured | why |", "|---|---|---|"]
    for fact in facts().values():
        why = silence_of(fact)
        if why is not None:
            lines.append(f"| `{fact.id}` | {_number(fact.value)} {fact.unit} | {why} |")
    return lines


def text() -> str:
    """The whole page."""
    articles: dict[str, list[str]] = {}
    met = 0
    for fact in facts().values():
        found = prediction(fact.id)
        if found is None or fact.id in NOT_MET:
            continue
        met += 1
        articles.setdefault(fact.article, []).append(_row(fact, found))
    silent = sum(1 for fact in facts().values() if prediction(fact.id) is None)
    lines = [
        _HEAD,
        f"Of {len(facts())} facts the engine meets {met}, misses {len(NOT_MET)}, is silent on {silent}.",
        "",
        *_open_points(),
        "",
        "## Met",
    ]
    for article, rows in articles.items():
        lines += [
            "",
            f"### {article}",
            "",
            "| fact | measured | engine | error | allowed |",
            "|---|---|---|---|---|",
        ]
        lines += rows
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text(), encoding="utf-8")
