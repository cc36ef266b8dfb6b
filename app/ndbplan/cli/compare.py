"""The command `diff`: a plan against another plan, a config.ini, or the defaults of its version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.marks import marked
from ndbplan.cli.parameters import PLAN, UsageError, read_plan

if TYPE_CHECKING:
    from ndbplan.configuration.difference import Difference
    from ndbplan.plan.plan import Plan


@ndbplan.command()
@PLAN
@click.argument("running", metavar="[RUNNING]", required=False, type=click.Path(path_type=Path))
@json_option
def diff(plan_file: Path, running: Path | None, *, as_json: bool) -> None:
    """Say what changes from RUNNING (a plan or a config.ini) to PLAN, what that restarts, in which order.

    Without RUNNING: what the plan sets other than the defaults of its version.
    """
    from ndbplan.configuration.difference import diff as compare
    from ndbplan.configuration.difference import diff_from_defaults
    from ndbplan.operations.roll_out import roll_out_order

    plan = read_plan(plan_file)
    difference = diff_from_defaults(plan) if running is None else compare(_running(running, plan), plan)
    order = roll_out_order(plan, difference)
    shape = {**difference.to_json(), "steps": list(order)}
    show(marked(plan, shape, "restart"), as_json=as_json, text=_lines(difference, order))


def _running(path: Path, plan: Plan) -> Plan:
    """What runs now: a plan file, or a config.ini read for the version of the plan."""
    from ndbplan.importing.running import running_plan

    try:
        return running_plan(path, plan.ndb_version)
    except UserError as error:
        raise UsageError(error.what, where=error.where or str(path), fix=error.fix) from None


def _lines(difference: Difference, order: Sequence[str]) -> Iterator[str]:
    if difference.is_empty:
        yield "nothing changes"
        return
    for change in difference.parameters:
        values = f"{change.shown(change.before)} → {change.shown(change.after)}"
        yield f"{change.name:<34} {values:<24} {change.where}  ({change.restart.replace('_', ' ')} restart)"
    for word, nodes in (("new", difference.added), ("gone", difference.removed)):
        if nodes:
            yield f"{word} node ids: {', '.join(str(node.node_id) for node in nodes)}"
    for first, second in difference.links:
        yield f"connection between nodes {first} and {second}"
    for number, step in enumerate(order, 1):
        yield f"{number:>3}. {step}"
