"""Commands that answer questions about a plan. Each imports the engine it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.conditions import conditions_of, conditions_options
from ndbplan.cli.group import json_option, ndbplan, show, why_option
from ndbplan.cli.marks import ESTIMATE, marked, worth_measuring
from ndbplan.cli.parameters import (
    PLAN,
    Names,
    UsageError,
    Whole,
    named_table,
    named_workload,
    read_plan,
    save_plan,
)
from ndbplan.describe.tables import problem_lines

if TYPE_CHECKING:
    from ndbplan.estimate.storage.real_keys import KeyCount
    from ndbplan.estimate.times.restart import Kind
    from ndbplan.plan.plan import Plan
    from ndbplan.plan.tables import Table


def needs_data_nodes(plan: Plan, path: Path) -> None:
    """Raises UserError for a plan without a complete node group."""
    from ndbplan.estimate.stored import needs_partitions

    needs_partitions(plan, str(path))


@ndbplan.command()
@PLAN
@click.option("--table", "table_name", metavar="DB.T", help="Only this table.")
@click.option(
    "--keys",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="CSV of real keys of that table, in place of its number of rows.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="With --keys: write the plan with the rows that were counted.",
)
@click.option(
    "--dead",
    metavar="PART,...",
    help="Say where primary replicas go when these parts are lost: node:3, host:a1, rack:B.",
)
@json_option
@click.pass_context
def distribute(
    ctx: click.Context,
    plan_file: Path,
    table_name: str | None,
    keys: Path | None,
    output: Path | None,
    dead: str | None,
    *,
    as_json: bool,
) -> None:
    """Show where the rows of each table lie: partitions, node groups, nodes, LDMs.

    Exit code 2: some keys could not be read and do not count.
    """
    from ndbplan.estimate.storage.lost_primaries import loss_of_primaries
    from ndbplan.estimate.storage.skew import distribution_json
    from ndbplan.estimate.stored import distribute as distribution_of

    def shape_of(table: Table) -> dict[str, Any]:
        found = distribution_of(plan, table)
        shape = distribution_json(found)
        return shape if dead is None else {**shape, "lost": loss_of_primaries(found, lost).to_json()}

    plan = read_plan(plan_file)
    lost = frozenset() if dead is None else _lost_nodes(plan, dead)
    tables = plan.tables if table_name is None else (named_table(plan, table_name),)
    needs_data_nodes(plan, plan_file)
    if keys is None:
        if output is not None:
            raise UsageError("nothing was counted", where="--output", fix="name a file of keys with --keys")
        show(marked(plan, {"tables": [shape_of(table) for table in tables]}, "storage"), as_json=as_json)
        return
    if len(tables) != 1:
        raise UsageError(
            f"the plan has {len(tables)} tables; keys are those of one",
            where="--keys",
            fix="name the table with --table",
        )
    plan, counted = _with_keys(plan, tables[0], keys)
    shape = shape_of(plan.table(tables[0].id))
    shape["keys"] = {
        "rows": counted.rows,
        "exact": counted.exact,
        "note": counted.note,
        "distinct": counted.distinct,
        "faulty_rows": counted.faulty,
        "hot_keys": [{"row": text, "rows": rows} for text, rows in counted.hot_keys],
    }
    answer: dict[str, Any] = {"tables": [shape]}
    if output is not None and not counted.faulty:
        save_plan(plan, output)
        answer["files"] = [str(output)]
    show(marked(plan, answer, "storage"), as_json=as_json)
    if counted.faulty:
        click.echo(f"ndbplan: {keys}: {_unread(counted)} — correct the keys", err=True)
        ctx.exit(2)


def _lost_nodes(plan: Plan, text: str) -> frozenset[int]:
    """Ids of the nodes that go with these parts. Raises UsageError."""
    from ndbplan.configuration.failing_parts import PartError, parse_parts
    from ndbplan.configuration.failures import Failures

    try:
        return Failures(plan).damage(parse_parts(plan, text)).dead
    except PartError as error:
        raise UsageError(error.what, where="--dead", fix=error.fix) from None


def _unread(counted: KeyCount) -> str:
    return (
        f"{counted.faulty} of {counted.faulty + counted.rows} rows could not be read; {counted.problems[0]}"
    )


def _with_keys(plan: Plan, table: Table, keys: Path) -> tuple[Plan, KeyCount]:
    """The plan with the rows of a table counted from a file of keys. Raises UsageError."""
    from ndbplan.edits.parts import update
    from ndbplan.estimate.stored import count_keys

    try:
        with keys.open("rb") as stream:
            counted = count_keys(plan, table, stream)
    except OSError as error:
        raise UsageError(
            f"cannot be read ({error.strerror})", where=str(keys), fix="check the name and the permissions"
        ) from None
    except UserError as error:
        raise UsageError(error.what, where=str(keys), fix=error.fix) from None
    if counted.faulty and not counted.rows:
        raise UsageError(_unread(counted), where=str(keys), fix="correct the keys")
    return update(plan, table.id, **counted.table_fields()), counted


@ndbplan.command()
@PLAN
@click.option("--only", type=Names(), metavar="PART,...", help="Some of the parts, such as memory,redo.")
@click.option("--workload", metavar="NAME", help="The load to count with; without it the plan's first.")
@click.option(
    "--months",
    type=Whole(1, 1200),
    metavar="N",
    help="As the tables are after so many months of growth, and when memory runs out.",
)
@why_option
@json_option
def estimate(
    plan_file: Path,
    only: tuple[str, ...] | None,
    workload: str | None,
    months: int | None,
    *,
    why: bool,
    as_json: bool,
) -> None:
    """Estimate what the plan needs: memory, redo log, checkpoints, disks, network and processors."""
    from ndbplan.estimate.estimation import Estimation, chosen_workload, parts
    from ndbplan.estimate.space.growth import after_months, growth

    unknown = [name for name in only or () if name not in parts()]
    if unknown:
        raise UsageError(
            f"there is no part '{unknown[0]}'", where="--only", fix=f"use some of {','.join(parts())}"
        )
    plan = read_plan(plan_file)
    workload_id = named_workload(plan, workload)
    needs_data_nodes(plan, plan_file)
    wanted = only or tuple(part for part in parts() if part != "distribution")
    now = Estimation(plan, chosen_workload(plan, workload_id))
    then = now.of(after_months(plan, months or 0))
    shape = then.to_json(why=why, only=wanted)
    if months is not None:
        by_month = growth(plan, months, step=max(1, months // 12), workload=now.workload)
        shape["growth"] = by_month.to_json(why=why)
    shape["worth_measuring"] = worth_measuring(plan, then.to_json(why=True, only=wanted))
    show(marked(plan, shape, ESTIMATE), as_json=as_json, why=why)


@ndbplan.command()
@PLAN
@click.option("--add-groups", metavar="N", type=Whole(1, 72), required=True, help="Node groups to add.")
@click.option("--under", metavar="WORKLOAD", help="The load that goes on meanwhile; without it none.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write the plan as it is afterwards: with the new nodes and the tables spread over them.",
)
@why_option
@json_option
def reorg(
    plan_file: Path, add_groups: int, under: str | None, output: Path | None, *, why: bool, as_json: bool
) -> None:
    """Add node groups and reorganise every table: rows that move, time it takes, memory at its peak."""
    from ndbplan.estimate.estimation import Estimation

    plan = read_plan(plan_file)
    workload_id = named_workload(plan, under, "--under")
    needs_data_nodes(plan, plan_file)
    workload = None if workload_id is None else plan.workload(workload_id)
    answer = Estimation(plan, workload).reorganise(add_groups)
    shape = answer.to_json(why=why)
    if output is not None:
        save_plan(answer.plan_after, output)
        shape["files"] = [str(output)]
    show(shape, as_json=as_json, why=why)


@ndbplan.command()
@PLAN
@json_option
@click.pass_context
def check(ctx: click.Context, plan_file: Path, *, as_json: bool) -> None:
    """Find problems in the plan: errors, warnings and hints, with what cures them. Exit code 1: errors."""
    from ndbplan.checks.alike import single
    from ndbplan.checks.run import check_all, has_errors, waiver_of
    from ndbplan.describe.tables import waived_lines
    from ndbplan.edits.places import address_of
    from ndbplan.ndb.evidence import unheld

    plan = read_plan(plan_file)
    problems = check_all(plan)
    standing = tuple(problem for problem in problems if not problem.waived)
    shape: dict[str, Any] = {
        "problems": [problem.to_json() for problem in standing],
        "waived": [{**p.to_json(), "reason": p.waived} for p in problems if p.waived],
        "waivers": [
            {
                "address": address_of(plan, ("waivers", i)),
                "rule": waiver.rule,
                "object_id": waiver.object_id,
                "reason": waiver.reason,
                "problems": sum(waiver_of(plan, problem) is waiver for problem in single(problems)),
            }
            for i, waiver in enumerate(plan.waivers)
        ],
    }
    about = unheld(plan.version)
    lines = (*([about] if about else []), *waived_lines(shape), *problem_lines(shape["problems"]))
    show(shape, as_json=as_json, text=iter(lines))
    ctx.exit(1 if has_errors(standing) else 0)


@ndbplan.command()
@PLAN
@click.option(
    "--kind",
    type=click.Choice(["node", "initial", "system", "rolling", "start"]),
    required=True,
    help="One node; one node without its data; all; all in turn; the very first start.",
)
@click.option("--node", "node_id", metavar="ID", type=Whole(1, 255), help="Which data node.")
@conditions_options
@why_option
@json_option
def restart(
    plan_file: Path, kind: Kind, node_id: int | None, *, why: bool, as_json: bool, **asked: Any
) -> None:
    """Estimate how long a restart takes, phase by phase."""
    from ndbplan.estimate.estimation import Estimation

    plan = read_plan(plan_file)
    needs_data_nodes(plan, plan_file)
    if node_id is not None and kind not in ("node", "initial"):
        raise UsageError(
            f"a restart of kind '{kind}' is of all nodes", where="--node", fix="leave --node out"
        )
    if node_id is not None and node_id not in {node.node_id for node in plan.data_nodes}:
        known = ", ".join(str(node.node_id) for node in plan.data_nodes[:20])
        raise UsageError(f"the plan has no data node {node_id}", where="--node", fix=f"use one of {known}")
    if asked["together"] and kind != "rolling":
        raise UsageError(
            f"a restart of kind '{kind}' has no order", where="--together", fix="use it with --kind rolling"
        )
    answer = Estimation(plan).restart(kind, node_id, conditions_of(plan, asked))
    show(answer.to_json(why=why), as_json=as_json, why=why)
