"""Commands that answer questions about a plan. Each imports the engine it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import PLAN, named_table, read_plan

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan


def _needs_data_nodes(plan: Plan, path: Path) -> None:
    from ndbplan.estimate.distribution import node_groups

    if not node_groups(plan):
        raise UserError(
            f"the plan has {len(plan.data_nodes)} data nodes and no complete node group",
            where=str(path),
            fix="add as many data nodes as NoOfReplicas",
        )


@ndbplan.command()
@PLAN
@click.option("--table", "table_name", metavar="DB.T", help="Only this table.")
@json_option
def distribute(plan_file: Path, table_name: str | None, *, as_json: bool) -> None:
    """Show where the rows of each table lie: partitions, node groups, nodes, LDMs."""
    from ndbplan.estimate.distribution import distribute as distribution_of

    plan = read_plan(plan_file)
    tables = plan.tables if table_name is None else (named_table(plan, table_name),)
    _needs_data_nodes(plan, plan_file)
    show({"tables": [distribution_of(plan, table).to_json() for table in tables]}, as_json=as_json)
