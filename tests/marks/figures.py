"""All figures of a plan by part, as text: what a value must move to count as modelled."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from golden.commands import plan_files
from ndbplan.advise.cost import cost_of
from ndbplan.advise.survival import survive
from ndbplan.base.errors import UserError
from ndbplan.configuration.directories import disk_for
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation, parts
from ndbplan.estimate.space.growth import growth
from ndbplan.estimate.timed import RestartError
from ndbplan.estimate.times.restart import KINDS, Kind
from ndbplan.plan.events import Backup, DiskSlow, Event, HostFailure, NetworkCut, NodeFailure
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole, DiskRoles
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

PLANS = (
    "starter", "disk-data-8.4", "events-8.4", "disk-data", "three-replicas-7.4", "uneven-hosts-8.0",
    "types-and-indexes-8.0", "in-memory-7.0", "redo-overload", "single-6.3-ndbd", "disk-data-7.6",
    "redo-overload-8.4", "four-replicas-8.4", "few-keys-and-jobs-8.4", "bare", "slow", "read-from-disk",
)  # fmt: skip
"""Between them they have every kind of object, and use what the versions can do."""

SIMULATED = ("starter", "three-replicas-7.4", "disk-data-7.6", "single-6.3-ndbd", "slow")
"""Those that show what the simulation reads: one for each age of the product, and one that is overloaded."""


@cache
def plan_called(name: str) -> Plan:
    """A sample, one of the small plans of the golden results, or one of three made here."""
    made = {"bare": _bare, "slow": _slow, "read-from-disk": _read_from_disk}
    return made[name]() if name in made else load(plan_files()[name])


def _bare() -> Plan:
    """No roles of disks and no threads are stated, so that directories and old ways decide.

    An SQL node has the host of a data node, so that they may share memory.
    """
    plan = load(plan_files()["starter"])
    plan = edits.update(plan, plan.sql_nodes[-1].id, host_id=plan.data_nodes[0].host_id)
    for node in plan.data_nodes:
        plan = edits.update(plan, node.id, disk_roles=DiskRoles())
    plan = set_parameter(plan, "data_node", "AutomaticThreadConfig", None)
    plan = edits.update(plan, plan.locations[0].id, uplink_bytes_per_s=1e8) if plan.locations else plan
    for table in plan.tables:
        plan = edits.update(plan, table.id, growth_rows_per_month=10**6)
    for name, value in (("TimeBetweenEpochsTimeout", 4000), ("TimeBetweenGlobalCheckpointsTimeout", 10_000)):
        plan = set_parameter(plan, "data_node", name, value)
    return set_parameter(plan, "data_node", "DataDir", "/nvme1/ndb")


def _slow() -> Plan:
    """Disks that take less than comes in: transactions wait and are aborted; with shared memory."""
    plan = _bare()
    for host in plan.hosts:
        disks = (d.model_copy(update={"sequential_write_bytes_per_s": 3e6}) for d in host.disks)
        plan = edits.update(plan, host.id, disks=tuple(disks))
    plan = set_parameter(plan, "sql", "DefaultOperationRedoProblemAction", "QUEUE")
    plan = set_parameter(plan, "data_node", "UseShm", 1)
    return set_parameter(plan, "data_node", "RedoBuffer", 2**20)


def _read_from_disk() -> Plan:
    """Pages of disk columns are read from a disk that does few operations."""
    plan = load(plan_files()["disk-data-8.4"])
    for host in plan.hosts:
        disks = (
            d.model_copy(update={"random_read_iops": 200.0, "random_write_iops": 150.0}) for d in host.disks
        )
        plan = edits.update(plan, host.id, disks=tuple(disks))
    for table in plan.tables:
        plan = edits.update(plan, table.id, rows=50 * max(1, table.rows))
    return set_parameter(plan, "data_node", "DiskPageBufferMemory", 64 * 2**20)


def figures(plan: Plan, part: str) -> str | None:
    """The figures of one part; None where the plan has none, or they cannot be had."""
    try:
        return json.dumps(_OF_PART[part](Estimation(plan, next(iter(plan.workloads), None))), sort_keys=True)
    except UserError:
        return None


def _estimated(part: str) -> Callable[[Estimation], Any]:
    return lambda now: now.to_json(only=(part,))


def _simulated(now: Estimation) -> Any:
    nodes = now.plan.data_nodes
    return _run(now, *([NodeFailure(at_s=4.0, object_id=nodes[-1].id, back_after_s=2.0)] if nodes else []))


def _outages(now: Estimation) -> Any:
    """What silent hosts, cuts and disks that stall do, each in a run of its own.

    Of four data nodes two fall silent that are not neighbours where HeartbeatOrder follows their ids.
    """
    nodes = now.plan.data_nodes
    hosts = [node.host_id for node in (*nodes[-1:], *now.plan.sql_nodes[-1:])]
    events: list[Event] = [HostFailure(at_s=3.0, object_id=host, back_after_s=20.0) for host in hosts]
    events += [NetworkCut(at_s=3.0, object_ids=(host,)) for host in hosts[:1]]
    apart = (nodes[0].host_id, nodes[2].host_id) if len(nodes) == 4 else ()
    events += [NetworkCut(at_s=3.0, object_ids=apart)] if apart else []
    disks = (disk_for(now.plan, node, DiskRole.REDO) for node in nodes[:1])
    events += [DiskSlow(at_s=3.0, object_id=disk.id, factor=1e-6) for disk in disks if disk is not None]
    return [_run(now, event) for event in (*events, Backup(at_s=1.0))]


def _run(now: Estimation, *events: Event) -> Any:
    if now.workload is None:
        return None
    return simulate(
        estimation_of(now.plan, now.workload.id), duration_s=60.0, step_s=0.1, seed=1, events=events
    ).to_json()


def _restart(now: Estimation, kind: Kind) -> Any:
    try:
        return now.restart(kind).to_json()
    except RestartError:
        return None


_TIMES: dict[str, Callable[[Estimation], Any]] = {
    "restart": lambda now: [_restart(now, kind) for kind in KINDS if kind != "rolling"],
    "backup": lambda now: now.backup().to_json(),
    "restore": lambda now: [now.restore().to_json(), now.create_files().to_json()],
    "reorganise": lambda now: now.reorganise().to_json(),
}

_OF_PART: dict[str, Callable[[Estimation], Any]] = {
    **{part: _estimated(part) for part in parts()},
    **_TIMES,
    "simulate": _simulated,
    "growth": lambda now: growth(now.plan, 12, step=6, workload=now.workload).to_json(),
    "outages": _outages,
    "cost": lambda now: cost_of(now.plan).to_json(),
    "survive": lambda now: survive(Estimation(now.plan, now.workload), 1).to_json(),
}
PARTS_OF_FIGURES = tuple(_OF_PART)
"""Cheap ones first."""
_DEAR = ("simulate", "outages")


def parts_of(name: str) -> tuple[str, ...]:
    """The parts that are looked at for values which are only carried."""
    return PARTS_OF_FIGURES if name in SIMULATED else tuple(p for p in PARTS_OF_FIGURES if p not in _DEAR)
