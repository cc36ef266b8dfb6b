"""Under which conditions a restart or procedure is estimated: the sliders of the window as options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ndbplan.cli.parameters import Times, UsageError, Whole, named_workload

if TYPE_CHECKING:
    from ndbplan.estimate.times.restart import Conditions
    from ndbplan.plan.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--under", metavar="WORKLOAD", help="The load that goes on meanwhile; without it none."),
    click.option(
        "--traffic",
        metavar="FACTOR",
        type=Times(or_none=True),
        default=1.0,
        show_default=True,
        help="Rate of that load against the plan's.",
    ),
    click.option(
        "--ldm",
        metavar="N",
        type=Whole(1, 64),
        help="LDM threads of each data node; without it as many as the plan says.",
    ),
    click.option(
        "--disk-speed",
        metavar="FACTOR",
        type=Times(),
        default=1.0,
        show_default=True,
        help="Speed of the disks against the plan's.",
    ),
    click.option(
        "--sql-down",
        metavar="N",
        type=Whole(0, 255),
        default=0,
        show_default=True,
        help="SQL nodes that are in the configuration but do not answer.",
    ),
    click.option(
        "--crashed", is_flag=True, help="The nodes went down by themselves: no stop comes before the start."
    ),
    click.option(
        "--together", is_flag=True, help="Restart one node of every group at the same time (rolling)."
    ),
)
NAMES = ("under", "traffic", "ldm", "disk_speed", "sql_down", "crashed", "together")
"""Arguments of a command with these options."""


def conditions_options(function: F) -> F:
    """The options of everything that depends on how the cluster is loaded and equipped meanwhile."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def conditions_of(plan: Plan, asked: dict[str, Any]) -> Conditions:
    """The conditions that the options of a command ask for. Raises UsageError."""
    from ndbplan.estimate.times.restart import Conditions

    workload_id = named_workload(plan, asked["under"], "--under")
    if workload_id is None and asked["traffic"] != 1.0:
        raise UsageError(
            "there is no load whose rate could change", where="--traffic", fix="name a load with --under"
        )
    connected = len(plan.sql_nodes) + len(plan.api_slots)
    if asked["sql_down"] > connected:
        raise UsageError(
            f"{asked['sql_down']} SQL nodes cannot be away: the plan has {connected} SQL nodes and API slots",
            where="--sql-down",
            fix=f"write 0 to {connected}",
        )
    return Conditions(
        workload=None if workload_id is None else plan.workload(workload_id),
        traffic_factor=asked["traffic"],
        ldm_threads=asked["ldm"],
        disk_factor=asked["disk_speed"],
        sql_nodes_down=asked["sql_down"],
        crashed=asked["crashed"],
        one_of_each_group=asked["together"],
    )
