"""Laws over every small cluster: up to 3 hosts, 2 node groups and 2 disks on each host, up to renaming.

Every way to put one or two node groups of one to three members on the hosts, each node's log and
checkpoints on one disk or on two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations, product

import pytest

from ndbplan.configuration.failing_parts import Part
from ndbplan.configuration.failures import Step, course
from ndbplan.edits.parts import update
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import distribute, memory
from ndbplan.estimate.timed import backup, restart
from ndbplan.estimate.times.restart import KINDS
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode, DiskRoles, ManagementNode, SqlNode
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload

GIB = 2**30
HOSTS = 3
World = tuple[tuple[int, ...], ...]
"""The hosts of the members of each node group."""


def worlds() -> Iterator[World]:
    """Every placement of one or two groups of one to three members, up to renaming."""
    seen = set()
    for replicas, groups in product((1, 2, 3), (1, 2)):
        ways = list(combinations_with_replacement(range(HOSTS), replicas))
        for world in product(ways, repeat=groups):
            alike = min(
                tuple(sorted(tuple(sorted(names[host] for host in group)) for group in world))
                for names in permutations(range(HOSTS))
            )
            if alike not in seen:
                seen.add(alike)
                yield alike


WORLDS = tuple(worlds())


def plan_of(world: World, disks: int = 1) -> Plan:
    """The world as a plan, with one table and one workload; management and SQL on hosts of their own."""

    def host(name: str) -> Host:
        own = tuple(disk(name, i) for i in range(disks))
        return Host(id=name, hostname=name, memory_bytes=64 * GIB, disks=own)

    def disk(name: str, i: int) -> Disk:
        return Disk(
            id=f"{name}-d{i}", name=f"d{i}", capacity_bytes=10**12, sequential_read_bytes_per_s=1e9,
            sequential_write_bytes_per_s=1e9, random_read_iops=1e5, random_write_iops=1e5,
            mount_point=f"/d{i}",
        )  # fmt: skip

    members = [(group, place) for group, places in enumerate(world) for place in places]
    nodes = tuple(
        DataNode(
            id=f"ndb{i}", node_id=i, host_id=f"h{place}", node_group=group,
            disk_roles=DiskRoles(redo=f"h{place}-d0", lcp=f"h{place}-d{disks - 1}"),
        )
        for i, (group, place) in enumerate(members, 1)
    )  # fmt: skip
    table = Table(
        id="t", database="d", name="t", rows=1_000_003, primary_key=("k",),
        columns=(
            Column(name="k", type="bigint", nullable=False),
            Column(name="v", type="varbinary", length=90),
        ),
    )  # fmt: skip
    work = (
        Operation(table_id="t", kind=OperationKind.INSERT),
        Operation(table_id="t", kind=OperationKind.UPDATE),
    )
    load = Workload(
        id="w", name="w", transactions=(Transaction(name="x", operations=work),),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=500),)),
    )  # fmt: skip
    used = sorted({place for _, place in members})
    return Plan(
        hosts=(*(host(f"h{place}") for place in used), host("m"), host("s")),
        processes=(
            *nodes,
            ManagementNode(id="mgm", node_id=145, host_id="m"),
            SqlNode(id="sql", node_id=150, host_id="s"),
        ),
        parameters=ClusterParameters(data_node={"NoOfReplicas": len(world[0]), "DataMemory": 2 * GIB}),
        tables=(table,),
        workloads=(load,),
    )


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_rows_and_bytes_are_conserved(world: World) -> None:
    """Partitions hold the rows of the table, each node those of its group, each copy once."""
    plan = plan_of(world)
    found = distribute(plan, plan.tables[0])
    assert sum(int(one.rows) for one in found.partitions) == plan.tables[0].rows
    replicas = len(world[0])
    assert all(len(one.nodes) == replicas for one in found.partitions)
    held = {node.node_id: 0 for node in plan.data_nodes}
    for one in found.partitions:
        for node_id in one.nodes:
            held[node_id] += int(one.rows)
    assert sum(held.values()) == replicas * plan.tables[0].rows
    whole = memory(plan)
    assert sum(node.data_memory_bytes.value for node in whole.nodes) >= replicas * sum(
        table.fixed_bytes / table.replicas for table in whole.tables
    )


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_one_dead_set_of_hosts_is_judged_as_the_rule_says(world: World) -> None:
    """No group without a member, and a whole group or half of all nodes: the arbitrator stands apart."""
    plan = plan_of(world)
    used = sorted({place for group in world for place in group})
    for picked in product((False, True), repeat=len(used)):
        dead = {place for place, is_dead in zip(used, picked, strict=True) if is_dead}
        if not dead:
            continue
        left = [[place for place in group if place not in dead] for group in world]
        steps = course(plan, [Step(tuple(Part("host", f"h{place}") for place in sorted(dead)))])
        lives = any(side.up for answers in steps for answer in answers for side in answer.sides)
        is_whole = any(len(alive) == len(group) for alive, group in zip(left, world, strict=True))
        enough = 2 * sum(map(len, left)) >= sum(map(len, world))
        assert lives is (all(left) and (is_whole or enough)), dead


@pytest.mark.parametrize("disks", [1, 2])
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_every_estimate_is_finite_and_grows_with_the_rows(world: World, disks: int) -> None:
    plan = plan_of(world, disks)
    more = update(plan, "t", rows=2 * plan.tables[0].rows)
    for kind in KINDS:
        less, longer = restart(plan, kind).duration_s, restart(more, kind).duration_s
        for found in (less, longer):
            assert 0 < found.low <= found.value <= found.high < math.inf
        assert less.value <= longer.value
    for one, other in zip(backup(plan).nodes, backup(more).nodes, strict=True):
        assert 0 < one.duration_s.value <= other.duration_s.value < math.inf
    for one, other in zip(memory(plan).nodes, memory(more).nodes, strict=True):
        assert 0 < one.data_memory_bytes.value <= other.data_memory_bytes.value
    shape = Estimation(plan, plan.workload("w")).to_json(why=False)
    assert all(math.isfinite(number) for number in numbers(shape))


def numbers(shape: object) -> Iterator[float]:
    if isinstance(shape, dict):
        for part in shape.values():
            yield from numbers(part)
    elif isinstance(shape, list):
        for part in shape:
            yield from numbers(part)
    elif isinstance(shape, float):
        yield shape
