from __future__ import annotations

import re
from pathlib import Path

import pytest

import ndbplan.estimate
from ndbplan.base.errors import Cancelled
from ndbplan.base.resources import resource_path
from ndbplan.configuration.node_parameters import NODE_SETTINGS, settings_of
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import PARTS, overview
from ndbplan.estimate.load.cpu import cpu
from ndbplan.estimate.load.network import network
from ndbplan.plan.fields import Point
from ndbplan.plan.file import load
from ndbplan.plan.plan import EMPTY_PLAN

STARTER = load(resource_path("samples/starter.ndbplan"))
TELECOM = load(resource_path("samples/telecom-144.ndbplan"))


def test_all_parts_are_there_and_can_be_asked_for_one_by_one() -> None:
    found = overview(STARTER)
    assert found.workload == STARTER.workloads[0].name
    assert set(found.to_json()) == {"workload", *PARTS}
    assert set(found.to_json(only=("redo",))) == {"workload", "redo"}
    with pytest.raises(KeyError):
        found.to_json(only=("weather",))


def test_the_chosen_workload_counts() -> None:
    busy = overview(STARTER, STARTER.workloads[1].id)
    calm = overview(STARTER)
    assert busy.redo.nodes[0].device_bytes_per_s.value > calm.redo.nodes[0].device_bytes_per_s.value
    with pytest.raises(KeyError):
        overview(STARTER, "nobody")


def test_an_empty_plan_has_empty_estimates() -> None:
    found = overview(EMPTY_PLAN)
    assert found.workload is None
    assert not found.distribution
    assert not found.disks.disks
    assert found.redo.time_to_full_s is None


def test_it_stops_when_told_to() -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(Cancelled):
        overview(STARTER, cancelled=cancelled)
    assert asked == 4


def test_dragging_a_host_keeps_the_figures_of_the_nodes() -> None:
    before = overview(TELECOM)
    dragged = edits.move(TELECOM, {TELECOM.hosts[7].id: Point(x=5, y=7)})
    after = overview(dragged)
    assert all(a is b for a, b in zip(before.redo.nodes, after.redo.nodes, strict=True))
    assert all(a is b for a, b in zip(before.checkpoint.nodes, after.checkpoint.nodes, strict=True))
    assert all(a is b for a, b in zip(before.disks.disks, after.disks.disks, strict=True))


def test_figures_follow_a_parameter_that_they_read() -> None:
    faster = edits.set_parameter(TELECOM, "data_node", "NoOfFragmentLogFiles", 32)
    assert overview(faster).redo.log_bytes_per_part == 2 * overview(TELECOM).redo.log_bytes_per_part
    other = edits.set_parameter(TELECOM, "data_node", "RedoBuffer", 2**27)
    assert settings_of(other) is settings_of(TELECOM)
    assert settings_of(faster) is not settings_of(TELECOM)


def test_settings_hold_every_parameter_that_figures_of_nodes_read() -> None:
    folder = Path(ndbplan.estimate.__file__).parent
    read = set()
    for name in ("redo", "checkpoint", "disk_data", "disks", "cpu", "processors", "backup"):
        code = next(folder.rglob(f"{name}.py")).read_text(encoding="utf-8")
        read |= set(re.findall(r'\.number\(\s*"(\w+)"', code))
    # Of a backup log that is too small is told for the plan itself.
    assert read - {"BackupLogBufferSize"} == NODE_SETTINGS


def test_processors_of_a_published_run() -> None:
    plan = load(resource_path("samples/redo-overload.ndbplan"))
    node = cpu(plan, plan.workloads[0]).nodes[0]
    assert node.ldm_utilisation.value == pytest.approx(0.239, rel=0.15)
    assert node.receive_utilisation.value == pytest.approx(0.444, rel=0.15)
    assert node.cores.value == pytest.approx(1.726, rel=0.15)


def test_network_carries_each_write_to_every_replica() -> None:
    found = network(STARTER, STARTER.workloads[0])
    busiest = max(found.hosts, key=lambda h: h.utilisation.value)
    assert 0 < busiest.utilisation.value < 1
    twice = network(STARTER, STARTER.workloads[1])
    assert max(h.utilisation.value for h in twice.hosts) > busiest.utilisation.value
    assert not network(STARTER, None).hosts
