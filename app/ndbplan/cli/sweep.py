"""The command that varies inputs of a plan together and measures every combination."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show, simulating
from ndbplan.cli.parameters import (
    PLAN,
    Names,
    Share,
    UsageError,
    elsewhere_options,
    named_workload,
    read_plan,
    write_text,
)

if TYPE_CHECKING:
    from ndbplan.advise.sweep import Row, Sweep

RESULTS, MANIFEST, UNDER_WAY = "results.csv", "manifest.json", "rows.jsonl"
_SEED = 1
"""Of every simulation: cells differ by their inputs alone."""


@ndbplan.command()
@PLAN
@click.option(
    "--vary",
    "texts",
    multiple=True,
    required=True,
    metavar="ADDRESS=VALUES",
    help="An input and its values: RedoBuffer=32M,64M or redo.disk.write=100..800MB/s:8 (may be repeated).",
)
@click.option(
    "--measure",
    "measures",
    type=Names(),
    default="max-load",
    show_default=True,
    metavar="FIGURE,...",
    help="Headline figures: max-load, first-error, restart, memory, cost and others; a wrong one lists all.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help=f"Where {RESULTS} and {MANIFEST} go; without it the rows are printed, and nothing is kept.",
)
@click.option(
    "--precision",
    type=Share(),
    metavar="SHARE",
    help="Draw worlds until the mean of max-load, accepted or latency is known within a share, as 2%.",
)
@click.option("--workload", metavar="NAME", help="The load; without it the plan's first.")
@elsewhere_options("one for each processor")
@click.option(
    "--alone", is_flag=True,
    help="Vary each input by itself, the others as they are, and print how far it moves each figure.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with what a sweep that was broken off has written.")
@json_option
def sweep(
    plan_file: Path,
    texts: tuple[str, ...],
    measures: tuple[str, ...],
    folder: Path | None,
    precision: float | None,
    workload: str | None,
    workers: int | None,
    scheduler: str | None,
    *,
    alone: bool,
    resume: bool,
    as_json: bool,
) -> None:
    """Measure every combination of some inputs: one row each, printed or in DIR/results.csv, as the grid is.

    A row counts as done when it is on disk; what is broken off goes on with --resume and does nothing twice.
    Of several inputs the JSON, and what is printed with -o, tell how far each moves each figure, the others
    as they are, the widest first (`swings`); an input whose values the plan has not stays at the one in
    their middle meanwhile.
    """
    from ndbplan.advise.figures import FIGURES
    from ndbplan.advise.sweep import Sweep, vary

    plan = read_plan(plan_file)
    unknown = next((name for name in measures if name not in FIGURES), None)
    if unknown is not None:
        known = ", ".join(FIGURES)
        raise UsageError(f"'{unknown[:60]}' is not a figure", where="--measure", fix=f"use one of {known}")
    try:
        asked = Sweep(
            plan, tuple(vary(plan, text) for text in texts), measures, named_workload(plan, workload),
            precision, alone,
        )  # fmt: skip
    except UserError as error:
        raise UsageError(error.what, where=error.where or "--vary", fix=error.fix) from None
    if precision is not None and asked.in_closed_form:
        without = " and ".join(asked.in_closed_form)
        click.echo(f"ndbplan: --precision says nothing of {without}: nothing is drawn for it", err=True)
    if folder is None and resume:
        raise UsageError("nothing is kept without -o", where="--resume", fix="name the folder with -o DIR")
    each = workers or os.cpu_count() or 1
    with simulating():
        if folder is not None:
            shape = _Folder(folder, asked).run(each, scheduler, resume=resume)
            show(shape, as_json=as_json, text=_lines(asked, shape))
            return
        rows = {row.number: row for row in asked.rows(workers=each, scheduler=scheduler)}
    shape = {
        "files": [],
        "rows": len(rows),
        "computed": len(rows),
        "errors": _errors(rows),
        "swings": _swings(asked, rows),
        "cells": _cells(asked, rows),
    }
    show(shape, as_json=as_json, text=_alone(asked, shape) if alone else _printed(asked, rows))


class _Folder:
    """The folder of one sweep: rows as they come, and what is written when all are there."""

    def __init__(self, folder: Path, asked: Sweep) -> None:
        from importlib.metadata import version

        from ndbplan.plan.file import dumps

        self.folder, self.asked = folder, asked
        self.inputs: dict[str, Any] = {
            "plan": json.loads(dumps(asked.plan)),
            "vary": [{"address": one.address, "values": list(one.values)} for one in asked.varied],
            "measure": list(asked.measures),
            "workload": asked.workload_id,
            "seeds": [_SEED],
            "precision": asked.precision,
            "alone": asked.alone,
            "version": version("ndbplan"),
        }

    def run(self, workers: int, scheduler: str | None = None, *, resume: bool) -> dict[str, Any]:
        """Measure what is missing, and write both files. Raises UsageError."""
        known = self._known(resume=resume)
        kept = len(known)
        with _appending(self.folder / UNDER_WAY) as rows:
            for row in self.asked.rows(known, workers=workers, scheduler=scheduler):
                known[row.number] = row
                rows.write(json.dumps(row) + "\n")
                rows.flush()
                os.fsync(rows.fileno())
        text, errors = _csv(self.asked, known), _errors(known)
        digest = hashlib.sha256(text.encode()).hexdigest()
        write_text(self.folder / RESULTS, text)
        whole = {**self.inputs, "rows": len(known), "errors": errors, "digest": f"sha256:{digest}"}
        write_text(self.folder / MANIFEST, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
        (self.folder / UNDER_WAY).unlink()
        return {
            "files": [str(self.folder / RESULTS), str(self.folder / MANIFEST)],
            "rows": len(known),
            "computed": len(known) - kept,
            "errors": errors,
            "swings": _swings(self.asked, known),
        }

    def _known(self, *, resume: bool) -> dict[int, Row]:
        """The rows that an earlier run has written."""
        manifest = self.folder / MANIFEST
        before = _read(manifest) if manifest.exists() else {}
        under_way = self.folder / UNDER_WAY
        # What ended before its first row is no work that could be lost.
        if "digest" in before or (under_way.exists() and under_way.stat().st_size > 0):
            if not resume:
                raise UsageError(
                    "a sweep is there already",
                    where=str(self.folder),
                    fix="go on with --resume, or name another folder",
                )
            if {name: before.get(name) for name in self.inputs} != self.inputs:
                raise UsageError(
                    "another sweep is there: plan, inputs, measures or version differ",
                    where=str(manifest),
                    fix="ask the same again, or name another folder",
                )
            return {row.number: row for row in self._written(is_whole="digest" in before)}
        if (self.folder / RESULTS).exists():
            raise UsageError(
                f"there are results without a {MANIFEST} that says of what",
                where=str(self.folder / RESULTS),
                fix="name another folder",
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot be made ({error.strerror})", where=str(self.folder), fix="name another folder"
            ) from None
        write_text(manifest, json.dumps(self.inputs, indent=2, ensure_ascii=False) + "\n")
        return {}

    def _written(self, *, is_whole: bool) -> Iterator[Row]:
        from ndbplan.advise.sweep import Row

        rows, count = self.folder / UNDER_WAY, self.asked.count
        if rows.exists():
            for written in rows.read_text(encoding="utf-8").split("\n")[:-1]:
                number, found, error = json.loads(written)
                yield Row(number, tuple(None if one is None else tuple(one) for one in found), error)
        elif is_whole:
            manifest, results = _read(self.folder / MANIFEST), self.folder / RESULTS
            text = results.read_bytes() if results.exists() else b""
            if manifest["digest"] != f"sha256:{hashlib.sha256(text).hexdigest()}":
                raise UsageError(
                    "the results are not those that were written",
                    where=str(results),
                    fix="name another folder",
                )
            lines = list(csv.reader(io.StringIO(text.decode())))[1:]
            errors = {one["row"]: one["error"] for one in manifest["errors"]}
            first = len(self.asked.varied)
            for number, line in enumerate(lines[:count]):
                cells = [line[i : i + 3] for i in range(first, len(line), 3)]
                figures = tuple((float(v), float(a), float(b)) if v else None for v, a, b in cells)
                yield Row(number, figures, errors.get(number, ""))


def _csv(asked: Sweep, rows: dict[int, Row]) -> str:
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    names = [one.address for one in asked.varied]
    write([*names, *(f"{name}{end}" for name in asked.measures for end in ("", "_low", "_high"))])
    for number in sorted(rows):
        figures = (three or ("", "", "") for three in rows[number].figures)
        numbers = (f"{one:.12g}" if isinstance(one, float) else one for three in figures for one in three)
        write([*asked.cells[number], *numbers])
    return text.getvalue()


def _errors(rows: dict[int, Row]) -> list[dict[str, Any]]:
    return [{"row": n, "error": rows[n].error} for n in sorted(rows) if rows[n].error]


def _cells(asked: Sweep, rows: dict[int, Row]) -> list[dict[str, Any]]:
    """The rows as JSON: the values as they were typed, and each figure; null: there is none."""
    names = [one.address for one in asked.varied]
    cells = []
    for number in sorted(rows):
        figures = {
            name: None if three is None else dict(zip(("value", "low", "high"), three, strict=True))
            for name, three in zip(asked.measures, rows[number].figures, strict=True)
        }
        cells.append({"inputs": dict(zip(names, asked.cells[number], strict=True)), "figures": figures})
    return cells


def _swings(asked: Sweep, rows: dict[int, Row]) -> list[dict[str, Any]]:
    """Of each figure how far each of several inputs moves it by itself, the widest first."""
    from ndbplan.advise.figures import FIGURES
    from ndbplan.advise.swings import swings_of

    if not asked.alone and len(asked.varied) < 2:
        return []
    middle = dict(zip((one.address for one in asked.varied), asked.middle, strict=True))
    found = []
    for at, name in enumerate(asked.measures):
        swings = swings_of(asked, rows.values(), at)
        each = [
            {
                "input": one.address,
                "low": {"value": one.low, "with": one.at_low},
                "high": {"value": one.high, "with": one.at_high},
            }
            for one in swings
        ]
        unit = FIGURES[name].unit or asked.plan.currency or ""
        now = swings[0].now if swings else None
        found.append({"figure": name, "unit": unit, "now": now, "inputs": middle, "each": each})
    return found


def _tornado(asked: Sweep, shape: dict[str, Any]) -> Iterator[str]:
    """How far each input moves each figure, a table of each."""
    from ndbplan.advise.figures import FIGURES
    from ndbplan.base.units import format_value
    from ndbplan.describe.inputs import value_in_words
    from ndbplan.describe.tables import table

    values = {one.address: one.values for one in asked.varied}

    def words(address: str, value: str) -> str:
        return value_in_words(asked.plan, address, value, values[address])

    for one in shape["swings"]:
        title, unit = FIGURES[one["figure"]].title, one["unit"]
        others = ", ".join(f"{name} {words(name, value)}" for name, value in one["inputs"].items())
        if one["now"] is None:
            yield f"{title}: there is none with {others}"
            continue
        yield f"{title}: {format_value(one['now'], unit)} with {others}; each alone:"
        rows = []
        for each in one["each"]:
            ends = (each["low"], each["high"])
            low, high = (
                f"{format_value(end['value'], unit)} with {words(each['input'], end['with'])}" for end in ends
            )
            is_same = each["low"]["value"] == each["high"]["value"]
            rows.append({"input": each["input"], "least": "the same with all" if is_same else low,
                         "most": "" if is_same else high})  # fmt: skip
        missing = one["inputs"].keys() - {each["input"] for each in one["each"]}
        rows += [{"input": name, "least": "none with some", "most": ""} for name in sorted(missing)]
        yield from table(rows, "  ")


def _alone(asked: Sweep, shape: dict[str, Any]) -> Iterator[str]:
    yield from _tornado(asked, shape)
    yield from _refusals(shape["errors"])


def _printed(asked: Sweep, rows: dict[int, Row]) -> Iterator[str]:
    """The rows as CSV, and behind them what has none."""
    yield _csv(asked, rows).rstrip("\n")
    yield from _refusals(_errors(rows))


def _appending(path: Path) -> TextIO:
    """The rows, behind the last whole line: what a crash cut off is written again."""
    if path.exists():
        text = path.read_bytes()
        with path.open("r+b") as file:
            file.truncate(text.rfind(b"\n") + 1)
    return path.open("a", encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read ({error})", where=str(path), fix="name another folder") from None
    return found if isinstance(found, dict) else {}


def _refusals(errors: list[dict[str, Any]]) -> Iterator[str]:
    yield from (f"row {one['row']}: {one['error']}" for one in errors[:10])


def _lines(asked: Sweep, shape: dict[str, Any]) -> Iterator[str]:
    yield f"{shape['rows']} rows, {shape['computed']} of them measured now"
    yield from _tornado(asked, shape)
    yield from _refusals(shape["errors"])
    yield from (f"wrote {name}" for name in shape["files"])
