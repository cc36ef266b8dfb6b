"""Assumed hardware that decides a figure is told with what half of it would make of the figure."""

from __future__ import annotations

import pytest

from ndbplan.advise.assumed_hardware import deciding_hardware
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Of one host everything is assumed, of the others nothing."""
    plan = sample_plan("starter").replace(workloads=())
    first = plan.hosts[0]
    for disk in first.disks:
        plan = edits.update(plan, disk.id, assumed=("capacity_bytes", "sequential_write_bytes_per_s"))
    return edits.update(plan, first.id, assumed=("cores", "clock_ghz", "memory_bytes"))


def test_what_half_of_it_moves_is_told_with_both_figures(plan: Plan) -> None:
    found = {one.field: one for one in deciding_hardware(Estimation(plan))}
    # Writes of a disk bound nothing here, and no figure rests on the memory of a host.
    assert found.keys() == {"cores", "clock_ghz", "capacity_bytes"}
    assert {one.hosts for one in found.values()} == {(plan.hosts[0].hostname,)}
    (full,) = found["capacity_bytes"].figures
    assert full.figure == "disk-space"
    assert full.halved.value == pytest.approx(2 * full.now.value)
    assert found["capacity_bytes"].values == (plan.hosts[0].disks[0].capacity_bytes,)
    for name in ("cores", "clock_ghz"):
        assert {one.figure for one in found[name].figures} >= {"restart"}


def test_what_is_stated_decides_as_an_assumption_no_more(plan: Plan) -> None:
    stated = edits.update(plan, plan.hosts[0].id, assumed=())
    assert [one.field for one in deciding_hardware(Estimation(stated))] == ["capacity_bytes"]


def test_an_empty_plan_rests_on_nothing() -> None:
    assert deciding_hardware(Estimation(EMPTY_PLAN)) == ()
