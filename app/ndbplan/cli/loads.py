"""Commands about a load: run it over time, once or many times, and find the highest one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.shapes import printed
from ndbplan.base.units import format_percent
from ndbplan.cli.answers import needs_data_nodes
from ndbplan.cli.events import event_of
from ndbplan.cli.group import json_option, ndbplan, show, simulating, why_option
from ndbplan.cli.marks import marked, worth_measuring
from ndbplan.cli.parameters import (
    MIX,
    PLAN,
    Duration,
    Share,
    UsageError,
    Whole,
    elsewhere_options,
    named_workload,
    read_other_plan,
    read_plan,
    read_text,
    write_text,
)

if TYPE_CHECKING:
    from ndbplan.base.quantity import Quantity
    from ndbplan.plan.plan import Plan
    from ndbplan.simulate.model.start import StartState
    from ndbplan.simulate.result import SimulationResult


OF_RUNS = ("accepted_per_s", "latency_mean_s", "redo_buffer_fill_max", "redo_log_fill_max")
"""Figures that are the median of all runs, with their p10 and p90, where --runs asks for some."""


@ndbplan.command()
@PLAN
@click.option("--workload", metavar="NAME", help="The workload to run; without it the plan's first.")
@click.option("--for", "duration_s", type=Duration(), metavar="TIME", help="How long, such as 10min.")
@click.option("--step", "step_s", type=Duration(), default="100ms", show_default=True, metavar="TIME")
@click.option("--seed", type=Whole(0, 2**31 - 1), default=1, show_default=True)
@click.option(
    "--load-csv",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The rate over time: lines of a moment and transactions per second.",
)
@click.option(
    "--load-shape",
    type=click.Choice(["linear", "step"]),
    default="linear",
    show_default=True,
    help="Between two lines of --load-csv the rate slides, or stays.",
)
@click.option(
    "--event",
    "event_texts",
    multiple=True,
    metavar="EVENT",
    help="What happens meanwhile, such as 'node_failure at=60s object=ndb3' (may be repeated).",
)
@click.option(
    "--lcp-began",
    "lcp_began_s_ago",
    type=Duration(),
    metavar="TIME",
    help="How long before the start the last local checkpoint began, such as 40s; without it none did.",
)
@click.option(
    "--runs",
    type=Whole(2, 10_000),
    metavar="N",
    help="Simulate so many times, each with uncertain constants drawn anew: p10, p50, p90.",
)
@click.option(
    "--precision",
    type=Share(),
    metavar="SHARE",
    help="As many runs as it takes to know the mean of what is accepted to within a share, such as 2%.",
)
@click.option(
    "--against",
    "other_file",
    type=click.Path(path_type=Path),
    metavar="OTHER",
    help="Another plan, or FILE@VARIANT, run the same way: the first second in which both part, and why.",
)
@click.option(
    "--measured",
    "measured_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What was measured over time, to be held against the run: CSV, iostat -xkt, tables of ndbinfo.",
)
@click.option(
    "--measured-from",
    "measured_from_s",
    type=Duration(),
    metavar="TIME",
    help="The moment of the run at which the measured file begins, such as 30s; without it the start.",
)
@click.option("--undisturbed", is_flag=True, help="Events of --event do not happen in the run of OTHER.")
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), metavar="FILE", help="Write the series.")
@click.option(
    "--table",
    metavar="NAME",
    help="Print an ndbinfo table of a moment instead, such as logbuffers, as the mysql client does.",
)
@click.option(
    "--at", "at_s", type=Duration(), metavar="TIME", help="The moment of --table; without it the end."
)
@elsewhere_options("threads of this one do the many runs")
@why_option
@json_option
def simulate(
    plan_file: Path,
    workload: str | None,
    duration_s: float | None,
    step_s: float,
    seed: int,
    load_csv: Path | None,
    load_shape: str,
    event_texts: tuple[str, ...],
    lcp_began_s_ago: float | None,
    runs: int | None,
    precision: float | None,
    other_file: Path | None,
    measured_file: Path | None,
    measured_from_s: float | None,
    csv_file: Path | None,
    table: str | None,
    at_s: float | None,
    workers: int | None,
    scheduler: str | None,
    *,
    undisturbed: bool,
    why: bool,
    as_json: bool,
) -> None:
    """Run a workload over time: accepted transactions, redo buffers, disks, errors and what is short."""
    from ndbplan.simulate.model.workload import estimation_of
    from ndbplan.simulate.run import simulate as run

    plan = read_plan(plan_file)
    workload_id = named_workload(plan, workload)
    if (workers is not None or scheduler is not None) and runs is None and precision is None:
        fix = "add --runs or --precision"
        raise UsageError("a single run is not spread over processes", where="--workers or --dask", fix=fix)
    if at_s is not None and table is None:
        raise UsageError("--at needs a table", where="--at", fix="name one with --table")
    if table is not None:
        from ndbplan.simulate.ndbinfo import NdbinfoError, table_of

        table = table.removeprefix("ndbinfo.")
        try:
            table_of(plan, table)
        except NdbinfoError as error:
            raise UsageError(error.what, where="--table", fix=error.fix) from None
        duration_s = _until(plan, workload_id, duration_s, at_s)
    events = tuple(event_of(plan, text) for text in event_texts)
    if load_csv is not None:
        plan = _with_schedule(plan, workload_id, load_csv, load_shape)
    start = _start(plan, workload_id, lcp_began_s_ago)
    now = estimation_of(plan, workload_id)
    with simulating():
        result = run(now, duration_s=duration_s, step_s=step_s, seed=seed, events=events, start=start)
    if table is not None:
        _show_table(table, result, plan, at_s, as_json=as_json)
        return
    shape = result.to_json(why=why)
    if other_file is not None:
        other = read_other_plan(other_file)
        if load_csv is not None:
            other = _with_schedule(other, workload, load_csv, load_shape)
        twin = run(
            estimation_of(other, named_workload(other, workload)),
            duration_s=result.duration_s, step_s=step_s, seed=seed,
            events=() if undisturbed else tuple(event_of(other, text) for text in event_texts),
            start=_start(other, named_workload(other, workload), lcp_began_s_ago),
        )  # fmt: skip
        shape["parting"] = _parting(result, twin)
    if measured_file is not None:
        shape["measured"] = _measured(result, plan, measured_file, measured_from_s or 0.0)
    elif measured_from_s is not None:
        fix = "name the file with --measured"
        raise UsageError("--measured-from needs a measured file", where="--measured-from", fix=fix)
    series = result.to_csv
    if runs is not None or precision is not None:
        from ndbplan.advise.executors import shared_out
        from ndbplan.simulate.bands import monte_carlo

        with shared_out(workers, scheduler) as elsewhere:
            bands = monte_carlo(
                now, runs=runs, precision=precision, narrowed=_tell_interval, duration_s=duration_s,
                step_s=step_s, seed=seed, events=events, start=start, elsewhere=elsewhere,
            )  # fmt: skip
        shape["monte_carlo"] = bands.to_json(why=why)
        if precision is not None:
            shape["monte_carlo"]["accepted_mean_per_s"] = bands.accepted_mean_per_s.to_json(why=why)
        # Of many runs the middle one is the better answer than the likeliest: a single run has a moment in
        # the cycle of checkpoints of its own.
        shape.update({key: shape["monte_carlo"][key] for key in shape if key in OF_RUNS})
        if as_json:
            shape["monte_carlo"]["series"] = bands.series_json()
        series = bands.to_csv
    if csv_file is not None:
        write_text(csv_file, series())
    if result.cluster_stop is not None and not as_json:
        click.echo(f"{result.cluster_stop.text}\n  {result.cluster_stop.advice}\n")
    shape["worth_measuring"] = worth_measuring(plan, result.to_json(why=True))
    show(marked(plan, shape, "load"), as_json=as_json, why=why)


def _tell_interval(mean: Quantity, runs: int) -> None:
    """How well the mean is known after so many runs, while more are under way."""
    if sys.stderr.isatty():
        half = (mean.high - mean.low) / 2 / abs(mean.value) if mean.value else 0.0
        click.echo(
            f"\r{runs} runs: {mean.value:.6g} tx/s +- {format_percent(half)}\033[K", nl=False, err=True
        )


def _parting(one: SimulationResult, other: SimulationResult) -> dict[str, Any]:
    """Where two runs part, with the sentence that says so."""
    from ndbplan.describe.parting import sentence
    from ndbplan.simulate.parting.parted import parting

    reasons = parting(one, other)
    return {"text": sentence(reasons), **({} if reasons is None else reasons.to_json())}


def _measured(result: SimulationResult, plan: Plan, path: Path, from_s: float) -> dict[str, Any]:
    """What was measured beside the run. Raises UsageError for what is no series."""
    from ndbplan.importing.held_against import held_against
    from ndbplan.importing.measured_series import MeasuredSeriesError, read_measured

    try:
        return held_against(result, plan, read_measured(read_text(path)), from_s).to_json()
    except MeasuredSeriesError as error:
        where = f"{path}, {error.where}" if error.where else str(path)
        raise UsageError(error.what, where=where, fix=error.fix) from None


def _start(plan: Plan, workload_id: str | None, lcp_began_s_ago: float | None) -> StartState | None:
    """Where in the cycle of local checkpoints the run begins; None: nobody says."""
    if lcp_began_s_ago is None:
        return None
    from ndbplan.simulate.model.start import start_in_cycle
    from ndbplan.simulate.model.workload import workload_of

    return start_in_cycle(plan, workload_of(plan, workload_id), lcp_began_s_ago)


def _until(plan: Plan, workload_id: str | None, duration_s: float | None, at_s: float | None) -> float | None:
    """How long to simulate for a table at a moment. Raises UsageError for one behind the end asked for."""
    if at_s is None:
        return duration_s
    if duration_s is not None and at_s > duration_s:
        raise UsageError(
            f"{at_s:g} s is after the end of the run ({duration_s:g} s)",
            where="--at",
            fix="leave out --for or make it longer",
        )
    from ndbplan.simulate.model.workload import workload_of

    # Never shorter than the run that is shown elsewhere: the same seed then gives the same moments.
    return max(at_s, workload_of(plan, workload_id).duration_s if duration_s is None else duration_s)


def _show_table(
    name: str, result: SimulationResult, plan: Plan, at_s: float | None, *, as_json: bool
) -> None:
    """Print an ndbinfo table as the mysql client does, or its rows as objects."""
    from ndbplan.importing.mysql_output import grid_text
    from ndbplan.simulate.ndbinfo import table_of, view

    moment_s = result.duration_s if at_s is None else at_s
    table = table_of(plan, name)
    rows = view(name, result, plan, moment_s)
    if as_json:
        found = printed({"table": name, "at_s": moment_s, "rows": rows})
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not table.certain:
        click.echo(f"NDB {plan.version} was not read: whether it has ndbinfo.{name} is not certain", err=True)
    click.echo(grid_text(table.columns, table.numeric, [tuple(row.values()) for row in rows]), nl=False)


def _with_schedule(plan: Plan, workload_id: str | None, path: Path, shape: str) -> Plan:
    """The plan whose workload arrives as a CSV file says. Raises UsageError."""
    from ndbplan.importing.load_schedule import LoadScheduleError, with_schedule
    from ndbplan.simulate.model.workload import workload_of

    try:
        return with_schedule(plan, workload_of(plan, workload_id).id, read_text(path), shape)
    except LoadScheduleError as error:
        where = f"{path}, {error.where}" if error.where else str(path)
        raise UsageError(error.what, where=where, fix=error.fix) from None


@ndbplan.command("max-load")
@PLAN
@MIX
@click.option(
    "--for",
    "duration_s",
    type=Duration(),
    default="1h",
    show_default=True,
    metavar="TIME",
    help="How long the rate must be sustained, while rows grow as the workload inserts.",
)
@why_option
@json_option
def max_load(plan_file: Path, workload: str | None, duration_s: float, *, why: bool, as_json: bool) -> None:
    """Find the highest rate that the plan sustains for a time, what ends it, and when.

    For a job, which loads a fixed number of rows: the time it takes.
    """
    from ndbplan.advise.max_load import max_load as highest
    from ndbplan.simulate.model.workload import estimation_of

    plan = read_plan(plan_file)
    workload_id = named_workload(plan, workload)
    needs_data_nodes(plan, plan_file)
    with simulating():
        answer = highest(estimation_of(plan, workload_id), duration_s=duration_s)
    shape = marked(plan, answer.to_json(why=why), "load")
    shape["worth_measuring"] = worth_measuring(plan, answer.to_json(why=True))
    show(shape, as_json=as_json, why=why)
