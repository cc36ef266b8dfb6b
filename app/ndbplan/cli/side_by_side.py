"""The command `compare`: plans, or variants of one, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show, simulating, why_option
from ndbplan.cli.marks import mark_farthest
from ndbplan.cli.parameters import Names, UsageError, Whole, named_workload, read_other_plan

if TYPE_CHECKING:
    from ndbplan.advise.compare import Column, Comparison
    from ndbplan.advise.figures import Figure
    from ndbplan.plan.plan import Plan
    from ndbplan.plan.project import Project


@ndbplan.command()
@click.argument(
    "plan_files", metavar="PLAN [PLAN2...]", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--variants", "variants", metavar="A,B,C", help="Which variants of PLAN; without it all.")
@click.option("--workload", metavar="NAME", help="Under which workload; without it the first of each plan.")
@click.option("--figures", "figures", metavar="NAME,...", type=Names(), help="Only these headline figures.")
@click.option(
    "--worlds", metavar="N", type=Whole(0, 1000), default=20, show_default=True,
    help="Drawn worlds in which simulated figures are judged at most; 0: by their ranges alone.",
)  # fmt: skip
@click.option("--no-simulation", is_flag=True, help="Without the figures that a simulation answers.")
@why_option
@json_option
def compare(
    plan_files: tuple[Path, ...],
    variants: str | None,
    workload: str | None,
    figures: tuple[str, ...] | None,
    worlds: int,
    *,
    no_simulation: bool,
    why: bool,
    as_json: bool,
) -> None:
    """Show 2 to 4 plans side by side: what differs, the headline figures, and which differences are sure.

    Of one PLAN its variants are compared, of several the main variant of each. All are judged against the
    first: better, worse, or within the uncertainty.
    """
    from ndbplan.advise.compare import compare as put_together
    from ndbplan.advise.figures import FIGURES

    columns = list(_columns(plan_files, variants, workload))
    with simulating():
        found = put_together(columns, _figures(figures, no_simulation=no_simulation), worlds=worlds)
    shape = found.to_json(why)
    for row in shape["figures"]:
        mark_farthest([now.plan for _, now in columns], row, FIGURES[row["figure"]].measured_as)
    show(shape, as_json=as_json, why=why, text=_lines(found))


def _figures(names: tuple[str, ...] | None, *, no_simulation: bool) -> list[Figure]:
    from ndbplan.advise.figures import FIGURES
    from ndbplan.edits.reading import near

    unknown = next((name for name in names or () if name not in FIGURES), None)
    if unknown is not None:
        what = f"there is no figure '{unknown[:60]}'"
        raise UsageError(what, where="--figures", fix=near(unknown, FIGURES))
    asked = [FIGURES[name] for name in names] if names else list(FIGURES.values())
    left = [figure for figure in asked if not (no_simulation and figure.simulated)]
    if not left:
        what = f"a simulation answers {' and '.join(figure.name for figure in asked)}: no figure is left"
        raise UsageError(what, where="--no-simulation", fix="leave it out, or name other figures")
    return left


def _columns(files: Sequence[Path], variants: str | None, workload: str | None) -> Iterator[Column]:
    """A name and an estimation for each column. Raises UsageError."""
    from ndbplan.advise.compare import MOST_COLUMNS
    from ndbplan.edits.variants import variant_in
    from ndbplan.estimate.estimation import Estimation, chosen_workload
    from ndbplan.plan.file import load_project
    from ndbplan.plan.project import Project

    named: list[tuple[str, Plan]]
    chosen = variant_in(files[0])
    first = Project.of(read_other_plan(files[0])) if chosen else load_project(files[0])
    if len(files) == 1 or variants is not None:
        names = first.names if variants is None else _named(first, variants)
        named = [(name, first.variants[first.names.index(name)].plan) for name in names]
    else:
        named = [(_name_of(files[0], files), first.main)]
    named += [(_name_of(file, files), read_other_plan(file)) for file in files[1:]]
    if not 2 <= len(named) <= MOST_COLUMNS:
        count = "there is only one plan" if len(named) == 1 else f"these are {len(named)} plans"
        raise UsageError(
            f"{count}; side by side stand 2 to {MOST_COLUMNS}",
            where=str(files[0]),
            fix="name another PLAN, or variants with --variants A,B",
        )
    for name, plan in named:
        workload_id = named_workload(plan, workload)
        yield name, Estimation(plan, chosen_workload(plan, workload_id))


def _named(project: Project, text: str) -> list[str]:
    from ndbplan.edits.variants import named

    try:
        return named(project, text)
    except UserError as error:
        raise UsageError(error.what, where="--variants", fix=error.fix) from None


def _name_of(file: Path, files: Sequence[Path]) -> str:
    """The file's name, or the whole path where two files have one name."""
    return file.stem if [other.stem for other in files].count(file.stem) == 1 else str(file)


def _lines(found: Comparison) -> Iterator[str]:
    from ndbplan.describe.comparison import (
        LEGEND,
        alike,
        mark,
        problem_lines,
        range_text,
        spread_text,
        value_text,
        verdicts,
    )  # fmt: skip
    from ndbplan.describe.tables import table

    kind = ""
    for one in alike(found.differences):
        if one.kind != kind:
            kind = one.kind
            yield f"{kind}:"
        yield f"  {one.where}: {' | '.join(one.shown)}"
    if not found.differences:
        yield "nothing differs"
    yield ""
    rows = []
    for row in found.rows:
        cells: dict[str, str] = {"figure": row.title}
        for place, name in enumerate(found.columns):
            cell = f"{mark(row, place)} {value_text(row, place)}".strip()
            span = range_text(row.values[place])
            cells[f"{place + 1}. {name}"] = f"{cell} ({span})" if span else cell
        rows.append(cells)
    yield from table(rows)
    yield LEGEND
    yield from verdicts(found)
    yield from problem_lines(found)
    for row in found.rows:
        for place, name in enumerate(found.columns):
            if row.notes[place] or row.spread[place]:
                yield f"{row.title}, {name}: {row.notes[place] or spread_text(row, place)}"
