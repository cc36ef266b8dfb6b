"""The command about failures: which parts may fail, and what one course of failures ends in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.units import format_count
from ndbplan.cli.group import json_option, ndbplan, show, why_option
from ndbplan.cli.marks import marked
from ndbplan.cli.parameters import PLAN, UsageError, Whole, elsewhere_options, named_workload, read_plan

if TYPE_CHECKING:
    from ndbplan.advise.survival import SurvivalReport
    from ndbplan.base.quantity import Quantity
    from ndbplan.configuration.failing_parts import Part
    from ndbplan.configuration.failures import Step
    from ndbplan.plan.plan import Plan

_NOTHING = "nothing"
_ORDER = "ndbplan.survive.order"
_SHOWN = 40


class _InOrder(click.Command):
    """Remembers in which order its options were given: --cut belongs to the failure it stands behind."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        order = self.make_parser(ctx).parse_args(args=list(args))[2]
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


@ndbplan.command(cls=_InOrder)
@PLAN
@click.option(
    "--depth",
    type=Whole(1, 2),
    default=1,
    show_default=True,
    help="All single failures, or all pairs too.",
)
@click.option(
    "--dead",
    multiple=True,
    metavar="PART,...",
    help="What fails at once: node:4, host:NAME, disk:HOST/NAME, device:HOST/DISK (one of its "
    "devices), rack:NAME, link:HOST/HOST, switch:NAME.",
)
@click.option(
    "--cut",
    multiple=True,
    metavar="PART,...",
    help="Parts that lose sight of the rest and stay together; each --cut is a side of its own.",
)
@click.option(
    "--then",
    multiple=True,
    metavar="PART,...",
    help="Parts that fail later, after the cluster has settled (may be repeated).",
)
@click.option("--workload", metavar="NAME", help="Whose load must be carried; without it the plan's first.")
@elsewhere_options("this one alone")
@why_option
@json_option
@click.pass_context
def survive(
    ctx: click.Context,
    plan_file: Path,
    depth: int,
    dead: tuple[str, ...],
    cut: tuple[str, ...],
    then: tuple[str, ...],
    workload: str | None,
    workers: int | None,
    scheduler: str | None,
    *,
    why: bool,
    as_json: bool,
) -> None:
    """Which failures stop the cluster: single parts, pairs, or one course of failures judged in turn.

    A --then or --dead of 'nothing' is a failure in which nothing dies, such as a cut alone.
    """
    plan = read_plan(plan_file)
    if not plan.data_nodes:
        raise UsageError("the plan has no data nodes", where=str(plan_file), fix="add some")
    if dead or cut or then:
        from ndbplan.advise.survival import course_to_json

        steps = _steps(plan, ctx.meta[_ORDER], {"dead": dead, "cut": cut, "then": then})
        shape = course_to_json(plan, steps)
        show(marked(plan, shape, "restart"), as_json=as_json, text=_course_lines(shape))
        return
    from ndbplan.advise.survival import survive as every_failure
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    now = Estimation(plan, chosen_workload(plan, named_workload(plan, workload)))
    report = every_failure(now, depth, workers=workers or 1, scheduler=scheduler)
    shape = marked(plan, report.to_json(why), "restart")
    show(shape, as_json=as_json, why=why, text=_report_lines(report))


def _steps(plan: Plan, order: list[str | None], given: dict[str, tuple[str, ...]]) -> tuple[Step, ...]:
    """The failures in the order in which the options stand: --then begins a new one."""
    from ndbplan.configuration.failures import Step

    left = {name: iter(texts) for name, texts in given.items()}
    steps = [Step()]
    for name in order:
        if name not in left:
            continue
        parts = _parts(plan, next(left[name]), f"--{name}")
        if name == "then":
            steps.append(Step(parts))
        elif name == "dead":
            steps[-1] = steps[-1]._replace(dead=(*steps[-1].dead, *parts))
        elif parts:
            steps[-1] = steps[-1]._replace(cut=(*steps[-1].cut, parts))
    begun = steps[0].dead or steps[0].cut or "dead" in order
    return tuple(steps if begun else steps[1:])


def _parts(plan: Plan, text: str, option: str) -> tuple[Part, ...]:
    from ndbplan.configuration.failing_parts import PartError, parse_parts

    if text.strip().lower() == _NOTHING:
        return ()
    try:
        return parse_parts(plan, text)
    except PartError as error:
        raise UsageError(error.what, where=option, fix=error.fix) from None


def _report_lines(report: SurvivalReport) -> Iterator[str]:
    from ndbplan.describe.tables import table

    yield from report.notes
    yield ""
    killers = [" + ".join(str(part) for part in killer) for killer in report.smallest_killers]
    if killers:
        yield f"SMALLEST SETS THAT STOP THE CLUSTER ({len(killers)})"
        yield from (f"  {killer}" for killer in killers[:_SHOWN])
        if len(killers) > _SHOWN:
            yield f"  … and {len(killers) - _SHOWN} more (--json lists all)"
        yield ""
    rows: list[dict[str, Any]] = []
    alike: dict[tuple[Any, ...], list[str]] = {}
    for failure in report.failures:
        dead = " + ".join(str(part) for part in failure.dead)
        shape = failure.to_json()
        key = (failure.verdict, _about(failure.load_left_per_s), _about(failure.whole_again_s))
        if key not in alike:
            rows.append({"dead": key, **{name: shape[name] for name in _COLUMNS}, "because": shape["why"]})
        alike.setdefault(key, []).append(dead)
    for row in rows:
        names = alike[row["dead"]]
        row["dead"] = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    yield "FAILURES"
    yield from table(rows[: 5 * _SHOWN], indent="  ")
    if len(rows) > 5 * _SHOWN:
        yield f"  … and {len(rows) - 5 * _SHOWN} more (--json lists all)"
    if report.offered_per_s is not None:
        short = [f for f in report.failures if f.carries_peak is False and f.verdict.value != "stops"]
        yield ""
        peak = f"the peak of {format_count(round(report.offered_per_s))} tx/s"
        yield (
            f"{len(short)} failures leave less than {peak}"
            if short
            else f"{peak} is carried after all others"
        )


_COLUMNS = ("verdict", "load_left_per_s", "carries_peak", "whole_again_s")


def _about(number: Quantity | None) -> str:
    """Numbers that differ by a percent or two stand in one row."""
    return "" if number is None else f"{number.value:.2g}"


def _course_lines(shape: dict[str, Any]) -> Iterator[str]:
    for number, step in enumerate(shape["steps"], start=1):
        what = []
        if step["dead"]:
            what.append(f"{', '.join(step['dead'])} dead")
        if step["cut"]:
            what.append(f"{', '.join(step['cut'])} cut off")
        yield f"{number}. {'; '.join(what) or 'nothing'}"
        for side in step["sides"]:
            up = f"data nodes {', '.join(map(str, side['up']))} up" if side["up"] else "no data node up"
            asked = f", asks node {side['asked']}" if side["asked"] is not None else ""
            yield f"   {side['verdict']}{asked}: {up}"
            yield f"   because {side['why']}"
        yield ""
