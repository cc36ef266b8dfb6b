"""What fills memory and disks: parts add up to the whole, and say the numbers of the estimates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ndbplan.describe.contents import Part, disk_contents, node_contents
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


def _now(plan: Plan) -> Estimation:
    return Estimation(plan, chosen_workload(plan))


def _all(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from _all(part.parts)


@pytest.mark.parametrize("sample", ["starter", "telecom-144", "add-nodes", "disk-data", "tick-store-8.4"])
def test_memory_of_a_node_adds_up_to_that_of_its_host(sample: str) -> None:
    now = _now(sample_plan(sample))
    for memory in (now.memory.nodes[0], now.memory.nodes[-1]):
        found = node_contents(now, memory.node_id)
        assert found.missing_bytes == 0
        assert found.whole_bytes == pytest.approx(memory.ram_limit_bytes, rel=1e-9)
        for part in _all(found.parts):
            if part.parts:
                assert sum(one.size_bytes for one in part.parts) == pytest.approx(part.size_bytes, rel=1e-9)
        taken = [p for p in found.parts if p.kind in ("memory", "buffers")]
        assert sum(p.size_bytes for p in taken) == pytest.approx(memory.ram_bytes.value, rel=1e-9)
        (data,) = (part for part in found.parts if part.name == "DataMemory")
        in_tables = sum(p.size_bytes for p in data.parts if p.kind != "free")
        assert in_tables == pytest.approx(memory.data_memory_bytes.value, rel=1e-9)
        index = sum(p.size_bytes for p in _all(found.parts) if p.name == "Hash indexes")
        assert index == pytest.approx(memory.index_memory_bytes.value, rel=1e-9)


def test_another_data_node_of_the_host_takes_its_part() -> None:
    plan = sample_plan("starter")
    first, second = plan.data_nodes
    now = _now(move_process(plan, second.id, first.host_id))
    found = node_contents(now, first.node_id)
    (other,) = (part for part in found.parts if part.kind == "node")
    assert other.size_bytes == now.memory.nodes[1].ram_bytes.value
    assert other.object_id == second.id
    contained = _now(edits.update(now.plan, first.id, container_memory_bytes=200 * 2**30))
    alone = node_contents(contained, first.node_id)
    assert {part.kind for part in alone.parts} == {"memory", "buffers", "free"}
    assert alone.whole_bytes == pytest.approx(200 * 2**30)


def test_what_does_not_fit_is_missing_and_nothing_is_free() -> None:
    plan = sample_plan("starter")
    small = edits.update(plan, plan.hosts[0].id, memory_bytes=64 * 2**30)
    now = _now(small)
    found = node_contents(now, 1)
    assert found.missing_bytes == pytest.approx(now.memory.nodes[0].ram_bytes.value - 64 * 2**30)
    assert not [part for part in found.parts if part.kind in ("free", "system")]
    tight = _now(set_parameter(plan, "data_node", "DataMemory", 2**30))
    (data,) = (p for p in node_contents(tight, 1).parts if p.name == "DataMemory")
    assert data.size_bytes == pytest.approx(tight.memory.nodes[0].data_memory_bytes.value)
    assert not [part for part in data.parts if part.kind == "free"]


@pytest.mark.parametrize("sample", ["starter", "disk-data-8.4"])
def test_a_disk_adds_up_to_its_capacity_by_role(sample: str) -> None:
    now = _now(sample_plan(sample))
    for space in now.disk_space.disks:
        found = disk_contents(now, space.disk_id)
        assert found.whole_bytes == pytest.approx(max(space.capacity_bytes, space.used_bytes.value))
        taken = {part.kind: part.size_bytes for part in found.parts if part.kind != "free"}
        assert taken == {role.value: size.value for role, size in space.by_role if size.value}


def test_a_disk_that_is_too_small_or_unused() -> None:
    plan = sample_plan("starter")
    disk = plan.hosts[0].disks[1]
    now = _now(edits.update(plan, disk.id, capacity_bytes=10**9))
    found, space = disk_contents(now, disk.id), now.disk_space.of(disk.id)
    assert space is not None
    assert found.missing_bytes == pytest.approx(-space.free_bytes)
    unused = next(d for h in plan.hosts for d in h.disks if now.disk_space.of(d.id) is None)
    assert [part.kind for part in disk_contents(now, unused.id).parts] == ["free"]
