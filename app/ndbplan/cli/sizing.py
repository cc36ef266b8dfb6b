"""The command `size`: from requirements to plans."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_percent
from ndbplan.cli.group import json_option, ndbplan, show, simulating
from ndbplan.cli.marks import marked
from ndbplan.cli.parameters import UsageError, Whole, elsewhere_options

if TYPE_CHECKING:
    from ndbplan.advise.sizing.search import Sized


@ndbplan.command()
@click.argument("requirements_file", metavar="REQUIREMENTS|PLAN", type=click.Path(path_type=Path))
@click.option("--variant", metavar="NAME", help="Size this variant of PLAN; without it the first.")
@click.option("--take", metavar="RANK", type=Whole(1, 100), help="Write the plan of this rank to -o.")
@click.option("-o", "output", metavar="FILE", type=click.Path(path_type=Path), help="Where --take writes.")
@elsewhere_options("this one does it, and others help with excuses that take long")
@json_option
def size(
    requirements_file: Path,
    variant: str | None,
    take: int | None,
    output: Path | None,
    workers: int | None,
    scheduler: str | None,
    *,
    as_json: bool,
) -> None:
    """Size a cluster: plans that meet requirements, cheapest first, and why other hardware does not.

    REQUIREMENTS is JSON: tables as SQL with rows and growth, loads with their peaks, a load job, headroom,
    replicas, what may fail, times, durability, hardware, budget; `ndbplan schema --requirements` describes
    it, and the guide shows one. A PLAN asks for its own tables, workloads and replicas on its hosts or the
    usual ones, with 20 % of headroom and any host that may fail. Each load is carried by itself, not together
    with the others. For each class of hosts the smallest cluster that passes is found; memory and cores of a
    host are those of its class, threads and redo log follow from them, and steps of redo and checkpoint
    parameters are tried where it does not pass so. Two data nodes share a host (`nodes_per_host`) where that
    is cheaper. Exit code 1: nothing passes.
    """
    from ndbplan.advise.sizing.choices import choices, client_host
    from ndbplan.advise.sizing.search import size as search
    from ndbplan.importing.requirements import read_requirements
    from ndbplan.plan.file import save

    if (take is None) != (output is None):
        raise UsageError("--take and -o go together", where="size", fix="name a rank and a file")
    try:
        wanted = read_requirements(requirements_file, variant)
        begun = (wanted.requirements, wanted.source, wanted.own)
        classes, clients = choices(*begun), client_host(*begun)
    except UserError as error:
        place = (
            error.where if str(requirements_file) in error.where else f"{requirements_file}: {error.where}"
        )
        raise UsageError(error.what, where=place.rstrip(": "), fix=error.fix) from None
    for note in wanted.notes:
        click.echo(f"ndbplan: {requirements_file}: sql: {note}", err=True)
    with simulating():
        sized = search(
            wanted.requirements, wanted.begun, classes, clients, progress=_progress,
            workers=workers or 1, scheduler=scheduler, helpers=1 if workers else os.cpu_count() or 1,
        )  # fmt: skip
    if take is not None and output is not None:
        if take > len(sized.plans):
            what = f"there is no plan of rank {take}, {len(sized.plans)} were found"
            raise UsageError(what, where="--take", fix="name one of those, or ease the requirements")
        save(sized.plans[take - 1].plan, output)
    shape = sized.to_json()
    for sized_plan, row in zip(sized.plans, shape["plans"], strict=True):
        row |= marked(sized_plan.plan, row, "load")
    show(shape, as_json=as_json, text=_lines(sized))
    if not sized.plans:
        click.get_current_context().exit(1)


def _progress(share: float) -> None:
    if sys.stderr.isatty():
        end = "\r\033[K" if share >= 1.0 else ""
        click.echo(f"\r{format_percent(share)} of all classes looked at{end}", nl=False, err=True)


def _lines(sized: Sized) -> Iterator[str]:
    if not sized.plans:
        yield "no class of hosts meets the requirements"
    for plan, standing in zip(sized.plans, sized.choosing.plans, strict=True):
        yield ", ".join(filter(None, (f"{plan.rank:>2}. {plan.title}", plan.cost_in_words)))
        if plan.settings:
            yield f"    passes with {', '.join(plan.settings)}"
        yield f"    nearest limit: {plan.why}"
        if not plan.certain:
            doubtful = next(met for met in plan.limits if not met.certain)
            yield f"    not certain: {doubtful.line}"
        yield f"    {standing.line}"
    if sized.plans:
        yield f"ranked by {sized.ranked_by}"
    yield from sized.choosing.advice
    for one in sized.excuses:
        yield ""
        yield f"not {one.title}:"
        yield f"    {one.first_limit}"
        yield f"    {one.line}"
    if sized.not_excused:
        yield ""
        yield sized.not_excused
    if sized.further:
        yield ""
        yield sized.further
