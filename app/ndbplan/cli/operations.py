"""Commands about work on a running cluster: procedures step by step, backups, calibration with timed runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.conditions import conditions_of, conditions_options
from ndbplan.cli.group import json_option, ndbplan, show, simulating, why_option
from ndbplan.cli.marks import BACKUP, marked
from ndbplan.cli.parameters import (
    PLAN,
    Duration,
    Names,
    UsageError,
    Whole,
    named_table,
    named_workload,
    read_plan,
    read_running,
    save_plan,
    write_text,
)

if TYPE_CHECKING:
    from ndbplan.estimate.load.maintenance_window import KeptOut
    from ndbplan.operations.operation import Operation
    from ndbplan.operations.procedure import Kind, Procedure
    from ndbplan.plan.plan import Plan


class _Moment(click.ParamType[datetime]):
    """A moment, typed as `2026-05-09T02:00`."""

    name = "moment"

    def convert(
        self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """The moment in `value`; without a zone it is local time."""
        if isinstance(value, datetime):
            return value
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"'{value}' is not a date and time — type for example 2026-05-09T02:00", param, ctx)


def _refuse_unknown(name: str) -> None:
    """Raises UsageError for what is not a data node parameter."""
    from ndbplan.ndb.parameters import parameter

    try:
        parameter("DB", name)
    except KeyError:
        raise UsageError(
            f"data nodes have no parameter '{name[:60]}'",
            where="--set",
            fix="use the manual's name, such as RedoBuffer",
        ) from None


def _operation_of(plan: Plan, asked: Procedure) -> Operation:
    """Raises UsageError where something is not said, or for a change that cannot be done."""
    from ndbplan.configuration.needs import CannotChangeError
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.ndb.version import BadVersionError
    from ndbplan.operations.procedure import ProcedureError, operation_of

    if asked.kind == "roll-out":
        for name in asked.names:
            _refuse_unknown(name)
    try:
        return operation_of(Estimation(plan), asked)
    except (BadVersionError, CannotChangeError, ProcedureError) as error:
        raise UsageError(error.what, where=error.where, fix=error.fix) from None


def _effect(plan: Plan, kind: str, under: str | None, groups: int, *, why: bool) -> dict[str, Any] | None:
    from ndbplan.advise.impact import impact_of_reorganise
    from ndbplan.simulate.model.workload import estimation_of

    if kind != "add-nodes" or under is None:
        fix = "use it with --kind add-nodes --under WORKLOAD"
        raise UsageError("only a reorganisation under a load has an effect on it", where="--effect", fix=fix)
    with simulating():
        effect = impact_of_reorganise(estimation_of(plan, named_workload(plan, under, "--under")), groups)
    return None if effect is None else effect.to_json(why)


@ndbplan.command()
@PLAN
@click.option(
    "--kind",
    type=click.Choice(["add-nodes", "change", "roll-out", "upgrade"]),
    help="Which procedure; without it the one that --from, --set or --to-version is for, else add-nodes.",
)
@click.option(
    "--from",
    "running",
    metavar="RUNNING",
    type=click.Path(path_type=Path),
    help="What runs, a plan, config.ini or my.cnf: what differs from PLAN decides on the steps (change).",
)
@click.option("--add-groups", metavar="N", type=Whole(1, 72), default=1, show_default=True)
@click.option("--set", "names", metavar="NAME,...", type=Names(), help="Parameters that change (roll-out).")
@click.option("--to-version", "version", metavar="8.4", help="Version after the upgrade.")
@conditions_options
@click.option("--effect", is_flag=True, help="Simulate what the reorganisation does to the load.")
@click.option("--start", type=_Moment(), metavar="MOMENT", help="When it begins, for the calendar file.")
@click.option("--ics", type=click.Path(path_type=Path), metavar="FILE", help="Write a calendar file.")
@click.option("--gantt", type=click.Path(path_type=Path), metavar="FILE.svg", help="Write a Gantt picture.")
@why_option
@json_option
def procedure(
    plan_file: Path,
    kind: Kind | None,
    running: Path | None,
    add_groups: int,
    names: tuple[str, ...] | None,
    version: str | None,
    start: datetime | None,
    ics: Path | None,
    gantt: Path | None,
    *,
    effect: bool,
    why: bool,
    as_json: bool,
    **under: Any,
) -> None:
    """List the steps of a change, of adding nodes or of an upgrade: times, what is blocked, ways back."""
    from ndbplan.advise.kept_out import kept_out
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.load.maintenance_window import best_window
    from ndbplan.exporting.gantt import gantt_carrying
    from ndbplan.exporting.schedule import to_ics
    from ndbplan.operations.procedure import OF_KIND, Procedure

    if ics is not None and start is None:
        fix = "add --start 2026-05-09T02:00"
        raise UsageError("a calendar file needs a start time", where="--ics", fix=fix)
    plan = read_plan(plan_file)
    conditions = conditions_of(plan, under)
    runs = None if running is None else read_running(running, plan)[0]
    asked = Procedure("add-nodes", add_groups, names or (), version or "", runs, conditions)
    # What only one kind asks for says which it is.
    implied = next((one for one, (field, _) in OF_KIND.items() if getattr(asked, field)), asked.kind)
    asked = replace(asked, kind=implied if kind is None else kind)
    operation = _operation_of(plan, asked)
    if ics is not None and start is not None:
        write_text(ics, to_ics(operation, start, plan.name))
    if gantt is not None:
        write_text(gantt, gantt_carrying(plan, asked))
    shape = operation.to_json(why=why)
    window: dict[str, Any] | None = None
    closed: tuple[KeptOut, ...] = ()
    if conditions.workload is not None:
        closed = kept_out(Estimation(plan, conditions.workload), conditions.traffic_factor)
        best = best_window(conditions.workload, operation.duration_s.value, closed)
        window = None if best is None else best.to_json()
    shape["best_window"] = window
    if closed:
        shape["kept_out"] = [one.to_json() for one in closed]
    if effect:
        shape["effect"] = _effect(plan, asked.kind, under["under"], add_groups, why=why)
    show(marked(plan, shape, "restart"), as_json=as_json, why=why)


@ndbplan.command()
@PLAN
@click.option("--under", metavar="WORKLOAD", help="The load that goes on meanwhile; without it none.")
@why_option
@json_option
def backup(plan_file: Path, under: str | None, *, why: bool, as_json: bool) -> None:
    """Estimate a backup, restoring it, and creating the files of disk data."""
    from ndbplan.estimate.estimation import Estimation

    plan = read_plan(plan_file)
    workload_id = named_workload(plan, under, "--under")
    workload = None if workload_id is None else plan.workload(workload_id)
    now = Estimation(plan, workload)
    shape = {
        "backup": now.backup().to_json(why),
        "restore": now.restore().to_json(why),
        "create_files": now.create_files().to_json(why),
    }
    show(marked(plan, shape, BACKUP), as_json=as_json, why=why)


@ndbplan.command()
@PLAN
@click.option("--reorganised", type=Duration(), metavar="TIME", help="How long reorganising all tables took.")
@click.option("--table", metavar="TABLE", help="The one table that was reorganised; without it all.")
@click.option("--add-groups", metavar="N", type=Whole(1, 72), default=1, help="Groups that it added.")
@click.option("--restarted", type=Duration(), metavar="TIME", help="How long a restart of a data node took.")
@click.option("--backed-up", type=Duration(), metavar="TIME", help="How long a backup took.")
@click.option("--initial", is_flag=True, help="The restart was one with --initial.")
@click.option("--node", "node_id", type=Whole(1, 255), metavar="ID", help="The node that restarted.")
@click.option("--source", default="timed by hand", metavar="TEXT", help="Where it was measured.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PLAN", required=True)
@json_option
def calibrate(
    plan_file: Path,
    reorganised: float | None,
    table: str | None,
    add_groups: int,
    restarted: float | None,
    backed_up: float | None,
    node_id: int | None,
    source: str,
    output: Path,
    *,
    initial: bool,
    as_json: bool,
) -> None:
    """Put times that you took into a plan, so that its estimates fit your machines."""
    from ndbplan.importing.calibrate import timed_backup, timed_reorganise, timed_restart

    plan = read_plan(plan_file)
    if reorganised is None and restarted is None and backed_up is None:
        fix = "add --reorganised 248s, --restarted 45min or --backed-up 12min"
        raise UsageError("no time is given", where="calibrate", fix=fix)
    if table is not None and reorganised is None:
        fix = "add --reorganised with the time that it took, or leave --table out"
        raise UsageError(f"how long {table} took is not said", where="--table", fix=fix)
    table_id = None if table is None else named_table(plan, table).id
    try:
        if reorganised is not None:
            plan = timed_reorganise(plan, reorganised, add_groups, source, table_id)
        if backed_up is not None:
            plan = timed_backup(plan, backed_up, source)
        if restarted is not None:
            plan = timed_restart(plan, "initial" if initial else "node", restarted, node_id, source=source)
    except UserError as error:
        raise UsageError(error.what, where=error.where or str(plan_file), fix=error.fix) from None
    save_plan(plan, output)
    shape = {
        "files": [str(output)],
        "calibrations": [
            {"constant": c.constant, "value": c.value, "low": c.low, "high": c.high, "source": c.source}
            for c in plan.calibrations
        ],
    }
    show(marked(plan, shape, "restart" if reorganised is None else "reorganise"), as_json=as_json)
