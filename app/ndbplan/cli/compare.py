"""The command `diff`: a plan against another plan, a config.ini, or the defaults of its version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.marks import marked
from ndbplan.cli.parameters import PLAN, read_plan, read_running

if TYPE_CHECKING:
    from ndbplan.configuration.difference import Difference


@ndbplan.command()
@PLAN
@click.argument("running", metavar="[RUNNING]", required=False, type=click.Path(path_type=Path))
@json_option
def diff(plan_file: Path, running: Path | None, *, as_json: bool) -> None:
    """Say what changes from RUNNING (plan, config.ini or my.cnf) to PLAN, what that restarts, in which order.

    Of a running cluster RUNNING may also be what `ndb_config --diff-default` prints.

    Without RUNNING: what the plan sets other than the defaults of its version.
    """
    from ndbplan.configuration.difference import diff as compare
    from ndbplan.configuration.difference import diff_from_defaults
    from ndbplan.operations.change_in_short import InShort, order_or_refusal

    plan = read_plan(plan_file)
    if running is None:
        difference = diff_from_defaults(plan)
        way = InShort()
    else:
        before, _ = read_running(running, plan)
        difference = compare(before, plan)
        way = order_or_refusal(plan, before)
    shape = {
        **difference.to_json(),
        "steps": list(way.steps),
        "left_out": list(way.left_out),
        "refused": way.refused or None,
    }
    show(marked(plan, shape, "restart"), as_json=as_json, text=_lines(difference, way.lines))


def _lines(difference: Difference, way: Sequence[str]) -> Iterator[str]:
    if difference.is_empty:
        yield "no parameter changes" if way else "nothing changes"
    for change in difference.parameters:
        values = f"{change.shown(change.before)} → {change.shown(change.after)}"
        yield f"{change.name:<34} {values:<24} {change.where}  ({change.restart.replace('_', ' ')} restart)"
    for word, nodes in (("new", difference.added), ("gone", difference.removed)):
        if nodes:
            yield f"{word} node ids: {', '.join(str(node.node_id) for node in nodes)}"
    for first, second in difference.links:
        yield f"connection between nodes {first} and {second}"
    yield from way
