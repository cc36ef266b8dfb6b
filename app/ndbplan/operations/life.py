"""The operations of a cluster in the order in which they come up in its life: the parts of a runbook.

Another operation is a function in a file of its own, and a line of OPERATIONS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.configuration.needs import CannotChangeError
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.estimation import Estimation
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.operations.change import change
from ndbplan.operations.commands import connections_before
from ndbplan.operations.first_start import first_start
from ndbplan.operations.hosts import install, replace_host, tune_hosts
from ndbplan.operations.operation import Operation, Times
from ndbplan.operations.restoring import restore
from ndbplan.operations.roll_out import rolling_restart
from ndbplan.operations.schema_part import make_schema
from ndbplan.operations.whole_cluster import back_up, start_cluster, stop_cluster
from ndbplan.plan.plan import Plan


class Asked(NamedTuple):
    """The cluster whose operations are asked for."""

    now: Estimation
    add_groups: int
    """Node groups that are added when it grows; 0: it does not."""
    before: Plan | None
    """What runs; None: what is planned."""


def _change(asked: Asked, timed: bool) -> Operation | None:
    """The way from what runs to the plan; None when nothing has to be done."""
    if asked.before is None:
        return None
    operation = change(asked.now, asked.before, timed=timed)
    return operation if operation.steps else None


def _initial_restart(asked: Asked, timed: bool) -> Operation | None:
    """None where a node that starts with --initial would erase the only copy of its rows."""
    if no_of_replicas(asked.now.plan) == 1:
        return None
    return rolling_restart(asked.now, initial=True, timed=timed)


OPERATIONS: list[Callable[[Asked, bool], Operation | None]] = [
    lambda asked, timed: install(asked.now, timed=timed),
    lambda asked, timed: tune_hosts(asked.now, timed=timed),
    lambda asked, timed: first_start(asked.now, timed=timed),
    lambda asked, timed: make_schema(asked.now, timed=timed),
    _change,
    lambda asked, timed: back_up(asked.now, timed=timed),
    lambda asked, timed: restore(asked.now, timed=timed),
    lambda asked, timed: rolling_restart(asked.now, timed=timed),
    _initial_restart,
    lambda asked, timed: add_nodes(asked.now, asked.add_groups, timed=timed) if asked.add_groups else None,
    lambda asked, timed: replace_host(asked.now, timed=timed),
    lambda asked, timed: stop_cluster(asked.now, timed=timed),
    lambda asked, timed: start_cluster(asked.now, timed=timed),
]
"""Each with or without durations; None where the cluster has no use for it."""


def operations(plan: Plan, add_groups: int = 1, before: Plan | None = None) -> tuple[Operation, ...]:
    """Those that can be done on a cluster, without durations where the plan allows no estimate.

    `before`: what runs; there is one then that brings it to the plan. Raises CannotChangeError when that
    cannot be done.
    """
    asked = Asked(Estimation(plan), add_groups, before)
    possible = (_timed_or_not(operation, asked) for operation in OPERATIONS)
    return tuple(operation for operation in possible if operation is not None)


def _timed_or_not(operation: Callable[[Asked, bool], Operation | None], asked: Asked) -> Operation | None:
    for timed in (True, False):
        try:
            found = operation(asked, timed)
            if found is None or not timed:
                return found
            connection_s = Times(asked.now).constant("connection_s")
            return replace(found, connection_s=connection_s, looks=connections_before(asked.now.plan))
        except UserError as error:
            if isinstance(error, CannotChangeError) and not timed:
                raise
    return None
