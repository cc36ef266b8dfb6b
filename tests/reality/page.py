"""Writes the guide's page about how good the numbers are: `python -m reality.page` with PYTHONPATH=tests."""

from __future__ import annotations

import json
from pathlib import Path

from ndbplan.base.resources import resource_path
from reality.facts import Fact, facts
from reality.leave_one_out import left_out
from reality.measured import Measured
from reality.measured_bytes import measured_bytes
from reality.measured_load import estimated_checkpoint_rows
from reality.measured_times import measured_times
from reality.predictions import NOT_MET, Kind, Prediction, prediction, silence_of
from reality.score import Score

PAGE = Path(__file__).parents[2] / "resources" / "guide" / "how-good-are-the-numbers.md"

_HEAD = """# How good are the numbers

The engine is held against measurements: those of published articles, and those of clusters that were run for
this purpose. Every fact has an id. This page is written by the tests (`tests/reality/page.py`); a test fails
when it is out of date.

Each number below comes from a plan that you can open, `ndbplan new --sample NAME -o PLAN`, after the changes
that stand with it, which are arguments of `ndbplan set` and `ndbplan add`. Not every agreement is a proof:

- *predicted*: no constant of the engine was measured in, or fitted to, what the fact comes from;
- *fitted*: one was, so that agreeing only shows that the fit holds together;
- *input*: the plan or a constant states the number itself.
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


def _row(fact: Fact, found: Prediction, with_plan: bool = True) -> str:
    cells = [
        f"`{fact.id}`", f"{_number(fact.value)} {fact.unit}", _number(found.value),
        f"{100 * found.error:+.1f} %", _tolerance(found), found.kind,
    ]  # fmt: skip
    if with_plan:
        cells.append(found.plan)
    return "| " + " | ".join(cells) + " |"


def _bar(share: float) -> str:
    return "█" * round(10 * share) + "░" * (10 - round(10 * share))


def _ranges() -> list[str]:
    """How often measurements lie in their ranges, and how far off the values are, with bars."""
    rows = [*measured_times(), *measured_bytes(), *estimated_checkpoint_rows(), *left_out()]
    groups: dict[tuple[str, str, bool], list[Measured]] = {}
    for row in rows:
        groups.setdefault((row.quantity.partition(":")[0], row.era, row.fitted), []).append(row)
    lines = [
        "## Ranges",
        "",
        "A range is p10 to p90: four of five measurements should lie in it. `make score` says more.",
        "*Left out*: the plan was calibrated with the other runs only.",
        "",
        "| what | version | | measurements | in the range | within 10 % | median error |",
        "|---|---|---|---|---|---|---|",
    ]
    for (quantity, era, is_fitted), own in sorted(groups.items()):
        score = Score.of(own)
        inside, near = (f"{_bar(share)} {share:.0%}" for share in (score.inside, score.within_tenth))
        kind = "fitted" if is_fitted else "left out"
        lines.append(
            f"| {quantity} | {era} | {kind} | {score.count} | {inside} | {near} | {score.median_error:.1%} |"
        )
    return lines


def _constants() -> list[str]:
    """Constants that can be chosen anew from runs of a cluster: their error, and that of runs left out."""
    lines = [
        "## Constants",
        "",
        "Errors of what a constant was fitted to: as it is, and of each run when it is chosen anew from the",
        "others (`tests/reality/fits.py`). *Without*: with the law switched off. A law stays if it predicts",
        "the runs that are left out better than none.",
        "",
        "| constant | version | runs | fitted | left out | without |",
        "|---|---|---|---|---|---|",
    ]
    for row in json.loads(resource_path("ndb/constants.json").read_text(encoding="utf-8"))["constants"]:
        for version, found in row.get("fitted_on", {}).items():
            without = f"{found['without']:.1%}" if "without" in found else ""
            lines.append(
                f"| `{row['name']}` | {version} | {', '.join(found['runs'])} | {found['fit_error']:.1%} "
                f"| {found['left_out_error']:.1%} | {without} |"
            )
    return lines


REFUSED = (
    (
        "rows that an LDM thread reads a buffer (1 MiB) ahead of the disk, 8.4.8",
        "bytes of checkpoints: mean error 11.7 → 10.2 %",
        "rates left out: mean error 8.8 → 9.6 %, log score 0.66 → 0.61",
    ),
    (
        "pauses of 8.4.8 longer before the log is cut (0.58 s a flush) instead of after",
        "bytes of checkpoints: as many within a tenth",
        "first errors: 8 of 11 codes right instead of 10",
    ),
    (
        "changed rows counted from the last flush of all buffers, not from half a global checkpoint before",
        "bytes of checkpoints with measured moments",
        "51 of 59 within a tenth, as without",
    ),
    (
        "log parts of 7.4.10 and 8.4.8 uneven by different amounts; half a flush more after a checkpoint",
        "overloaded rates",
        "rates left out: worse",
    ),
    (
        "both nodes of a host restore at half the speed (a whole core for each LDM thread)",
        "starts of all nodes at once",
        "system starts: 10 % off on 8.4.8 instead of 5 %, 36 % on 7.4.10 instead of 18 %",
    ),
)
"""Laws that were tried and do not hold: what they are for, and what they did to runs that were left out."""


def _refused() -> list[str]:
    lines = ["## Refused", "", "Laws that were tried and did not pass.", ""]
    lines += ["| law | what it is for | why not |", "|---|---|---|"]
    return [*lines, *(f"| {law} | {gain} | {why} |" for law, gain, why in REFUSED)]


def _open_points() -> list[str]:
    lines = [
        "## Not met",
        "",
        "| fact | measured | engine | error | allowed | kind | why |",
        "|---|---|---|---|---|---|---|",
    ]
    for fact_id, why in NOT_MET.items():
        found = prediction(fact_id)
        assert found is not None
        lines.append(f"{_row(found.fact, found, with_plan=False)} {why} |")
    lines += ["", "## Nothing said", "", "| fact | measured | why |", "|---|---|---|"]
    for fact in facts().values():
        why = silence_of(fact)
        if why is not None:
            lines.append(f"| `{fact.id}` | {_number(fact.value)} {fact.unit} | {why} |")
    return lines


def text() -> str:
    """The whole page."""
    articles: dict[str, list[str]] = {}
    met: dict[Kind, int] = {"predicted": 0, "fitted": 0, "input": 0}
    for fact in facts().values():
        found = prediction(fact.id)
        if found is None or fact.id in NOT_MET:
            continue
        met[found.kind] += 1
        articles.setdefault(fact.article, []).append(_row(fact, found))
    predicted = met["predicted"] + sum(1 for i in NOT_MET if _kind(i) == "predicted")
    silent = sum(1 for fact in facts().values() if prediction(fact.id) is None)
    lines = [
        _HEAD,
        f"**Of {predicted} facts that were predicted, {met['predicted']} are met.** Beside them "
        f"{met['fitted']} fitted ones and {met['input']} inputs agree, as they must; to {silent} of all "
        f"{len(facts())} facts nothing is said.",
        "",
        *_ranges(),
        "",
        *_constants(),
        "",
        *_refused(),
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
            "| fact | measured | engine | error | allowed | kind | plan |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += rows
    return "\n".join(lines) + "\n"


def _kind(fact_id: str) -> Kind | None:
    found = prediction(fact_id)
    return None if found is None else found.kind


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text(), encoding="utf-8")
