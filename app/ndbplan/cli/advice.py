"""Commands that advise: what would help a load, every fix of the rules, what is worth measuring."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.answers import needs_data_nodes
from ndbplan.cli.changes import OUTPUT, write_changed
from ndbplan.cli.group import json_option, ndbplan, show, simulating, why_option
from ndbplan.cli.marks import marked
from ndbplan.cli.parameters import (
    MIX,
    PLAN,
    Duration,
    UsageError,
    Whole,
    elsewhere_options,
    named_workload,
    read_plan,
)

if TYPE_CHECKING:
    from ndbplan.advise.assumed_hardware import HardwareAssumption
    from ndbplan.advise.tighten import Assumption
    from ndbplan.advise.what_matters import Mattering, WhatMatters
    from ndbplan.checks.settled import Settled


@ndbplan.command()
@PLAN
@MIX
@click.option(
    "--for",
    "duration_s",
    type=Duration(),
    metavar="TIME",
    help="How long the load has to be sustained; without it as long as the workload lasts.",
)
@why_option
@json_option
def remedies(
    plan_file: Path, workload: str | None, duration_s: float | None, *, why: bool, as_json: bool
) -> None:
    """Find what would help: single changes that raise the highest sustained load, enough ones first.

    Every change passes all checks after it is made. SET: the arguments with which `ndbplan set` makes it.
    """
    from ndbplan.advise.remedies import find_remedies, sustained_s
    from ndbplan.simulate.model.workload import estimation_of, workload_of

    plan = read_plan(plan_file)
    workload_id = named_workload(plan, workload)
    needs_data_nodes(plan, plan_file)
    chosen = workload_of(plan, workload_id)
    lasts_s = duration_s if duration_s is not None else sustained_s(chosen)
    with simulating():
        searched = find_remedies(estimation_of(plan, chosen.id), duration_s=lasts_s)
    before = searched.highest
    shape: dict[str, Any] = {
        "workload": chosen.name,
        "duration_s": lasts_s,
        "offered_per_s": before.offered_per_s,
        "before_per_s": before.max_per_s.to_json(why=why),
        "limited_by": before.limited_by.to_json(),
        "enough": before.is_enough,
        "note": before.note,
        "remedies": [remedy.to_json(why=why) for remedy in searched.remedies],
    }
    shape = marked(plan, shape, "load")
    show(shape, as_json=as_json, why=why, text=_remedy_lines(shape))


def _remedy_lines(shape: dict[str, Any]) -> Iterator[str]:
    from ndbplan.describe.tables import table, text_of

    limit = shape["limited_by"]
    yield (
        f"workload '{shape['workload']}' asks for {text_of('rate_per_s', shape['offered_per_s'])}, sustained "
        f"for {text_of('duration_s', shape['duration_s'])}: {text_of('', shape['before_per_s'])}, limited by "
        f"{limit['text']}"
    )
    if shape["note"] is not None:
        yield shape["note"]
    yield ""
    if not shape["remedies"]:
        yield "none of the changes tried raises what the cluster takes"
        return
    yield from table(
        [
            {
                "remedy": remedy["title"],
                "after_per_s": remedy["after_per_s"],
                "then limited by": remedy["limited_by"]["text"],
                "enough": "yes" if remedy["enough"] else "no",
            }
            for remedy in shape["remedies"]
        ]
    )
    told = [remedy for remedy in shape["remedies"] if remedy["set"]]
    if told:
        yield ""
    for remedy in told:
        yield f"{remedy['title']}:"
        yield f"  ndbplan set PLAN {' '.join(map(shlex.quote, remedy['set']))}"


@ndbplan.command()
@PLAN
@click.option(
    "--rule", "rules", metavar="NAME", multiple=True, help="Only fixes of this rule (may be repeated)."
)
@click.option("--dry-run", is_flag=True, help="Tell what would be changed, and write nothing.")
@OUTPUT
@json_option
@click.pass_context
def fix(
    ctx: click.Context,
    plan_file: Path,
    rules: tuple[str, ...],
    output: Path | None,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Do every fix that `check` offers, until none is left: what "Fix all" does in the window.

    Each is done only when it brings no new problem; the order does not matter. Exit code 1: errors are left.
    """
    from ndbplan.checks.fix import fix_all
    from ndbplan.checks.rule import RULES
    from ndbplan.checks.run import has_errors, load_rules
    from ndbplan.edits.changes import value_changes

    load_rules()
    unknown = next((name for name in rules if name not in RULES), None)
    if unknown is not None:
        raise UsageError(
            f"there is no rule '{unknown}'", where="--rule", fix="name one that `ndbplan check` prints"
        )
    plan = read_plan(plan_file)
    fixed = fix_all(plan, rules or None)
    try:
        files = [] if dry_run else write_changed(plan, fixed.plan, plan_file, output)
    except UserError as error:
        raise UsageError(error.what, where=error.where or str(plan_file), fix=error.fix) from None
    shape: dict[str, Any] = {
        "fixed": [problem.to_json() for problem in fixed.problems],
        "changes": [change.to_json() for change in value_changes(plan, fixed.plan)],
        "problems": [problem.to_json() for problem in fixed.left],
        "files": files,
    }
    lines = [change.line for change in value_changes(plan, fixed.plan)]
    show(shape, as_json=as_json, text=_fix_lines(shape, lines))
    ctx.exit(1 if has_errors(fixed.left) else 0)


@ndbplan.command("what-matters")
@PLAN
@click.option(
    "--aim",
    metavar="FIGURE",
    default="max-load",
    show_default=True,
    help="The figure to better: max-load, restart, survive, memory, cost and others; a wrong one lists all.",
)
@click.option("--top", type=Whole(1, 10_000), default=20, show_default=True, help="Changes shown at most.")
@click.option("--all", "all_of_them", is_flag=True, help="Every legal change, also those that gain nothing.")
@click.option("--workload", metavar="NAME", help="The load; without it the plan's first.")
@elsewhere_options("this one alone")
@json_option
def what_matters(
    plan_file: Path,
    aim: str,
    top: int,
    workload: str | None,
    workers: int | None,
    scheduler: str | None,
    *,
    all_of_them: bool,
    as_json: bool,
) -> None:
    """Rank every legal single change of a plan by what it gains, for its price where prices are stated.

    BEFORE and AFTER are what the command of the figure prints without and with the change; SET: the arguments
    with which `ndbplan set` makes it. Of the first TOP rows the problems that they settle and bring are told.
    """
    from ndbplan.advise.figures import FIGURES, settled_between
    from ndbplan.advise.what_matters import what_matters as search
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    plan = read_plan(plan_file)
    needs_data_nodes(plan, plan_file)
    figure = FIGURES.get(aim)
    if figure is None or not figure.better:
        known = ", ".join(one.name for one in FIGURES.values() if one.better)
        raise UsageError(f"'{aim[:60]}' is not a figure to better", where="--aim", fix=f"use one of {known}")
    now = Estimation(plan, chosen_workload(plan, named_workload(plan, workload)))
    with simulating():
        found = search(
            now, figure, top=None if all_of_them else top, workers=workers or 1, scheduler=scheduler
        )
    if found.before is None and not figure.none_is_best:
        needed = (
            "prices" if figure.name.startswith("cost") else "a workload" if now.workload is None else "more"
        )
        raise UserError(f"the plan has no figure '{aim}'", where=str(plan_file), fix=f"state {needed} first")
    shape = found.to_json()
    # A thousand changes are ranked in the time that checks of some hundred take.
    told = [settled_between(now, now.of(row.edit(plan))) for row in found.changes[:top]]
    for place, row in enumerate(shape["changes"]):
        row["problems"] = told[place].to_json() if place < len(told) else None
    if figure.measured_as:
        shape = marked(plan, shape, figure.measured_as)
    show(shape, as_json=as_json, text=_change_lines(found, told))


def _change_lines(found: WhatMatters, problems: Sequence[Settled]) -> Iterator[str]:
    from ndbplan.describe.tables import table, text_of

    before = "none" if found.before is None else text_of("", found.before.to_json())
    yield f"{found.figure.title}: {before}"
    yield f"{found.tried} single changes tried, {found.legal_gains} better it and bring no problem"
    if not found.changes:
        return
    yield ""
    yield from table(
        [
            {
                "change": row.title,
                "after": "none" if row.after is None else text_of("", row.after.to_json()),
                "cost": _cost_of(row),
            }
            for row in found.changes
        ]
    )
    for row, its in zip_longest(found.changes, problems):
        yield ""
        yield f"{row.title}:"
        if row.why:
            yield f"  {row.why}"
        if its is not None:
            yield from (f"  {line}" for line in its.lines)
        if row.set:
            yield f"  ndbplan set PLAN {' '.join(map(shlex.quote, row.set))}"


def _cost_of(row: Mattering) -> str:
    from ndbplan.base.units import format_value

    return "not stated" if row.cost is None else format_value(row.cost.value, row.cost.unit)


@ndbplan.command()
@PLAN
@json_option
def tighten(plan_file: Path, *, as_json: bool) -> None:
    """Say which assumptions decide most of the memory: what is most worth measuring, and how to state it."""
    from ndbplan.advise.assumed_hardware import deciding_hardware
    from ndbplan.advise.tighten import assumptions
    from ndbplan.base.kept import keeping
    from ndbplan.estimate.estimation import Estimation

    plan = read_plan(plan_file)
    needs_data_nodes(plan, plan_file)
    with keeping():
        now = Estimation(plan)
        ranked, hardware = assumptions(now), deciding_hardware(now)
    shape = {
        "assumptions": [one.to_json() for one in ranked],
        "hardware": [one.to_json() for one in hardware],
    }
    show(shape, as_json=as_json, text=chain(_assumption_lines(ranked), _hardware_lines(hardware)))


def _hardware_lines(found: tuple[HardwareAssumption, ...]) -> Iterator[str]:
    from ndbplan.describe.tables import text_of

    for one in found:
        of = "" if one.of == "host" else "disks of "
        yield f"{one.field.replace('_', ' ')} of {of}{', '.join(one.hosts)}: assumed; with half of it"
        for moved in one.figures:
            halved, now = (text_of("", one.to_json()) for one in (moved.halved, moved.now))
            yield f"        {moved.title}: {halved} instead of {now}"


def _assumption_lines(found: tuple[Assumption, ...]) -> Iterator[str]:
    from ndbplan.base.units import format_bytes_binary, format_count, format_percent

    if not found:
        yield "nothing that decides the memory is assumed"
    for one in found:
        low, high = format_bytes_binary(one.low_bytes), format_bytes_binary(one.high_bytes)
        yield f"{format_percent(one.share):>6}  {one.what}: {format_count(one.assumed)} is assumed"
        yield f"        all data nodes: {format_bytes_binary(one.bytes)} ({low} … {high})"
        yield f"        ndbplan set PLAN {shlex.quote(f'{one.address}=MEASURED')}"


def _fix_lines(shape: dict[str, Any], changes: list[str]) -> Iterator[str]:
    from ndbplan.describe.tables import problem_lines

    for problem in shape["fixed"]:
        yield f"fixed    {problem['where']} ({problem['rule']}): {problem['fix']}"
    yield from (f"changed  {line}" for line in changes)
    if not shape["fixed"]:
        yield "no fix is offered"
    yield ""
    yield "left:"
    yield from problem_lines(shape["problems"])
    yield from (f"wrote {name}" for name in shape["files"])
