"""Every number of a report stands in what commands print, with its unit and as it is rounded."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import click.testing
import pytest

from attack.plans import extreme
from ndbplan.base.kept import keeping
from ndbplan.base.resources import read_json
from ndbplan.cli import all_commands
from ndbplan.ndb.errors import every_error
from ndbplan.plan.file import save
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report.compose import Options
from ndbplan.report.document import BarChart, Document, LineChart, runs_of
from ndbplan.report.evidence import ask
from ndbplan.report.places import found
from ndbplan.report.visible import pieces_of
from ndbplan.report.write import make
from report.conftest import QUICK, Example

_FACTORS = {
    "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "B/s": 1, "KB/s": 1e3, "MB/s": 1e6,
    "GB/s": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "µs": 1e-6, "ns": 1e-9,
    "TB/s": 1e12, "PB/s": 1e15, "%": 0.01, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400,
}  # fmt: skip


def read(text: str, unit: str) -> tuple[float, float]:
    """A number as it is printed in SI units, and half of its last digit."""
    value = half = 0.0
    for number, word in re.findall(r"(−?[\d.\u2009]+)\s*([^\d\s]*)", text):
        plain = number.replace("\u2009", "").replace("−", "-")
        factor = 1.0 if unit == "%" else _FACTORS.get(word, 1.0)
        decimals = len(plain.partition(".")[2])
        digits = len(plain.lstrip("-0").replace(".", ""))
        # Trailing zeros are left out behind the point, and estimates have three digits.
        last = 10.0**-decimals if decimals else 10.0 ** max(0, digits - 3)
        value += float(plain) * factor
        half = 0.5 * factor * last
    # So little that its digits say nothing.
    return (value / 2, value / 2) if text.startswith("under ") else (value, half)


class Printed:
    """What each command prints about a project with --json."""

    def __init__(self, project: Project, folder: Path) -> None:
        save(project, folder / "plan.ndbplan")
        self._folder, self._known = folder, dict[str, Any]()

    def __call__(self, command: str) -> Any:
        if command not in self._known:
            self._known[command] = _printed(command, self._folder)
        return self._known[command]


@pytest.fixture(scope="module")
def printed(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Printed:
    return Printed(example.project, tmp_path_factory.mktemp("commands"))


def _printed(command: str, folder: Path) -> Any:
    plan = str(folder / "plan.ndbplan")
    if command == "plan":
        return json.loads((folder / "plan.ndbplan").read_text("utf-8"))
    if command == "plan with defaults":
        from ndbplan.plan.file import load

        return load(plan).model_dump(mode="json")
    name, *options = command.split()
    if name == "export":
        _call(["export", plan, "--to", str(folder), *options])
        return {file.name: file.read_text("utf-8") for file in folder.glob("*.*")}
    if "--csv" in options:
        _call(["simulate", plan, "--csv", str(folder / "run.csv"), "--json"])
        rows = list(csv.reader((folder / "run.csv").read_text("utf-8").splitlines()))
        return {head: [float(row[n]) for row in rows[1:]] for n, head in enumerate(rows[0])}
    return json.loads(_call([name, plan, *options, "--json"]))


def _call(arguments: list[str]) -> str:
    done = click.testing.CliRunner().invoke(all_commands(), arguments)
    assert done.exit_code in (0, 1), done.output
    return done.stdout


def numbers_found(document: Document, printed: Printed) -> int:
    """How many numbers a report shows; AssertionError for one that no command prints."""
    checked = 0
    for section, run in runs_of(document):
        if not run.at:
            continue
        place = found(printed, run.at)
        assert place.run().text == run.text, (section, run)
        value = place.value["value"] if isinstance(place.value, dict) else place.value
        if run.kind in ("figure", "range") and isinstance(value, int | float) and run.text != "∞":
            unit = place.value["unit"] if isinstance(place.value, dict) else place.unit or ""
            shown, half = read(run.text, unit)
            assert abs(shown - value) <= 1.001 * half + 0.005 * abs(value), (section, run, value)
            checked += 1
    return checked


def points_found(document: Document, printed: Printed) -> int:
    """How many points and bars are drawn; AssertionError for one that no command prints."""
    checked = 0
    for chart in (block for section in document.sections for block in section.blocks):
        if isinstance(chart, LineChart):
            for one in chart.series:
                for number, y in zip(one.numbers, one.ys, strict=True):
                    at = one.at.replace("[*]", f"[{number}]") if "[*]" in one.at else f"{one.at}[{number}]"
                    assert found(printed, at).number == pytest.approx(y, rel=1e-9), at
                    checked += 1
        elif isinstance(chart, BarChart):
            for bar in chart.bars:
                place = found(printed, bar.value.at)
                ends = (place.number, *place.end_numbers)
                assert (bar.size, bar.low, bar.high) == pytest.approx(ends, rel=1e-9), bar
                checked += 1
    return checked


def loose(document: Document, allowed: str) -> list[str]:
    """Words with digits that have no address and are not in what is allowed."""
    return [
        run.text
        for _, run in runs_of(document)
        if not run.at
        and any(sign.isdigit() for sign in run.text)
        and run.text.strip() not in allowed
        and not _is_known_meaning(run.text)
    ]


def test_every_number_and_point_is_in_what_a_command_prints(example: Example, printed: Printed) -> None:
    assert numbers_found(example.made.document, printed) > 150
    assert points_found(example.made.document, printed) > 1000


@pytest.mark.parametrize("seed", [8007, 8013])
def test_so_it_is_of_plans_that_nobody_made(seed: int, tmp_path: Path) -> None:
    random, plan = Random(seed), None
    while plan is None:
        plan = extreme(random)
    project = Project.of(plan)
    with keeping():
        document = make(ask(project, OPTIONS), OPTIONS).document
    assert numbers_found(document, Printed(project, tmp_path)) > 100
    assert points_found(document, Printed(project, tmp_path)) > 20


OPTIONS = Options(sections=tuple(key for key in QUICK if key != "runbook"))


def test_words_hold_no_numbers_of_their_own(example: Example) -> None:
    """What has no address is in the catalogue of texts, in the options, or in a name of the plan."""
    texts = json.dumps(read_json("report/texts.json"))
    options = example.options
    assert loose(example.made.document, texts + options.notes + options.customer + options.date) == []


def test_a_page_shows_no_number_that_the_report_has_not(example: Example) -> None:
    """Names of bars, what is said of a chart and what a pointer is told are made of the same pieces."""
    shown = {line.strip() for _, run in runs_of(example.made.document) for line in run.text.splitlines()}
    # What a legend calls a series is what its address says: node 1, log part 3.
    shown |= set(re.findall(r'data-name="([^"]*)"', example.html))
    known = sorted((one for one in shown if any(map(str.isdigit, one))), key=len, reverse=True)
    scales = re.findall(r'<text [^>]*class="tick[^>]*>(.*?)</text>', example.html)
    values = "|".join(re.findall(r'data-values="([^"]*)"', example.html)).split("|")
    allowed = {unescape(one) for one in (*scales, *values)}
    left = []
    for piece in pieces_of(example.html):
        if piece.drawn or piece.text in allowed or piece.section == "head":
            continue
        cut = piece.text.removesuffix("…")
        if cut != piece.text and any(one.startswith(cut) for one in shown):
            continue
        rest = re.sub(r"^\d+  ", "", piece.text)
        for one in known:
            rest = rest.replace(one, "")
        if any(map(str.isdigit, rest)):
            left.append((piece.section, piece.text))
    assert left == []


def _is_known_meaning(text: str) -> bool:
    """Of an error code, as the data file words it; or the version that is not asked for."""
    meanings = {one.text for one in every_error().values()}
    return (
        text in meanings or text == f"MySQL NDB Cluster {sample_plan('starter').ndb_version}" or text == "8.4"
    )
