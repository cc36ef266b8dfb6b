from __future__ import annotations

import pytest

from ndbplan.advise.impact import impact_of_reorganise
from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.plan.file import load
from ndbplan.plan.workloads import MOST_WEIGHT, OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of

ADD_NODES = load(resource_path("samples/add-nodes.ndbplan"))


def test_a_reorganisation_adds_its_writes_to_the_disks() -> None:
    effect = impact_of_reorganise(estimation_of(ADD_NODES))
    assert effect is not None
    assert effect.table == "test.t1"
    assert not effect.during.errors
    runs = (effect.before, effect.during)
    before, during = (sum(d.write_bps_mean.value for d in run.disks) for run in runs)
    assert during > before + 1e6
    assert effect.accepted_during_per_s.value <= effect.offered_per_s * 1.001


def test_on_a_disk_that_is_nearly_full_the_workload_suffers() -> None:
    plan = ADD_NODES
    for disk_id in ADD_NODES.host_of_disk:
        plan = edits.update(plan, disk_id, sequential_write_bytes_per_s=12e6)
    effect = impact_of_reorganise(estimation_of(plan))
    assert effect is not None
    assert not effect.before.errors
    assert effect.during.bottleneck.resource == "disk"
    assert effect.during.redo_buffer_fill_max.value > effect.before.redo_buffer_fill_max.value


def test_nothing_moves_without_movable_tables() -> None:
    plan = edits.update(ADD_NODES, "t1", partitions=8, partition_rows=())
    assert impact_of_reorganise(estimation_of(plan)) is None


def test_a_load_beyond_what_weights_can_say_is_offered_all_the_same() -> None:
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=5e7),))
    plan = edits.update(ADD_NODES, ADD_NODES.workloads[0].id, load=load)
    effect = impact_of_reorganise(estimation_of(plan))
    assert effect is not None
    assert effect.offered_per_s > MOST_WEIGHT > effect.accepted_during_per_s.value


def test_a_workload_that_rests_is_not_in_the_way() -> None:
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=0),))
    plan = edits.update(ADD_NODES, ADD_NODES.workloads[0].id, load=load)
    effect = impact_of_reorganise(estimation_of(plan))
    assert effect is not None
    assert (effect.offered_per_s, effect.accepted_before_per_s.value) == (0, 0)
    assert effect.accepted_during_per_s.value == 0
    moved = effect.during.accepted.mean()
    assert moved == pytest.approx(effect.moved_rows_per_s.value, rel=0.02)
