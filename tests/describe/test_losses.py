"""The few words about a loss say what the rules of survival decide, for every part that may fail."""

from __future__ import annotations

import pytest

from ndbplan.advise.survival import survive
from ndbplan.configuration.failing_parts import parts
from ndbplan.configuration.failures import Failures
from ndbplan.describe.losses import ids_of, link_between, loss_of, losses_of, meanings, part_of
from ndbplan.edits import parts as edits
from ndbplan.edits.arrays import put_level
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.survival import Outcome
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_names, sample_plan

PLAN = sample_plan("starter")


@pytest.mark.parametrize("name", sample_names())
def test_each_part_is_an_object_and_each_object_that_part(name: str) -> None:
    plan = sample_plan(name)
    for part in parts(plan):
        ids = ids_of(plan, part)
        assert ids, part
        if part.kind not in ("link", "switch"):
            assert [part_of(plan, i) for i in ids] == [part]


@pytest.mark.parametrize("name", ["starter", "tick-store", "redo-overload", "add-nodes"])
def test_a_loss_is_worded_by_its_verdict(name: str) -> None:
    plan = sample_plan(name)
    failures = Failures(plan)
    for part in parts(plan):
        judged = failures.judge([part])
        loss = loss_of(judged)
        stops = judged.best.verdict.outcome is Outcome.STOPS or judged.split_brain
        assert (loss.verdict == "stops") is stops
        assert loss.text.startswith(("goes on", "stops: ", "splits: "))
        if loss.verdict == "asks":
            assert f"node {judged.best.verdict.asked}" in loss.text


def test_the_objects_of_a_report_have_the_worst_that_can_happen_to_them() -> None:
    losses = losses_of(PLAN, survive(Estimation(PLAN)))
    assert losses["rack-a"].text == "goes on if the arbitrator (node 145) answers"
    assert losses["rack-c"].verdict == "goes on"
    single = sample_plan("tick-store")
    assert (
        losses_of(single, survive(Estimation(single)))[single.hosts[0].id].text
        == "stops: node group 0 is gone"
    )


def test_the_arbitrator_with_a_data_node_is_what_stops_it() -> None:
    host = next(p.host_id for p in PLAN.management_nodes if p.node_id == 145)
    (both,) = (m for m in meanings(PLAN, ("host-a1", host)) if m[0] == "If all fail at once")
    assert both[1].verdict == "stops"
    (alone,) = meanings(PLAN, ("host-a1",))
    assert alone[0] == "If it fails"
    assert alone[1].verdict == "asks"


def test_a_rack_may_die_or_be_cut_off_and_two_hosts_have_a_link() -> None:
    assert [m[0] for m in meanings(PLAN, ("rack-a",))] == ["If it fails", "If it is cut off"]
    assert [m[0] for m in meanings(PLAN, ("ndb1", "ndb2"))] == [
        "If all fail at once",
        "If the link host-a1 – host-b1 breaks",
    ]
    assert link_between(PLAN, ("ndb1", "host-a1")) is None
    assert link_between(PLAN, ("rack-a", "rack-b")) is None


def test_what_cannot_fail_has_no_meaning() -> None:
    assert meanings(PLAN, (PLAN.tables[0].id,)) == []
    assert meanings(PLAN, ("ndb1", PLAN.tables[0].id)) == []
    assert meanings(PLAN, ()) == []
    bare = edits.remove(PLAN, [n.id for n in PLAN.data_nodes])
    assert meanings(bare, ("host-a1",)) == []
    assert part_of(EMPTY_PLAN, "host-a1") is None


@pytest.mark.parametrize(("level", "verdict"), [("0", "stops"), ("1", "goes on"), ("5", "goes on")])
def test_one_device_of_an_array_stops_what_cannot_lose_it(level: str, verdict: str) -> None:
    plan = sample_plan("tick-store")
    disk = plan.hosts[0].disks[0]
    plan = put_level(plan, disk.id, level)
    (name, loss, why), *rest = meanings(plan, (disk.id,))
    assert (name, loss.verdict) == (f"If one of its {plan.by_id[disk.id].devices} devices fails", verdict)
    assert ("gone with it" in why) is (level == "0")
    assert [(what, of.verdict) for what, of, _why in rest] == (
        [] if level == "0" else [("If all of it fails", "stops")]
    )
    told = {part.kind for part in parts(plan) if part.name == f"{plan.hosts[0].hostname}/{disk.name}"}
    assert told == {"disk" if level == "0" else "device"}
    kind = told.pop()
    listed = next(f for f in survive(Estimation(plan)).failures if f.dead[0].kind == kind)
    assert ("goes on without it: 50 % of its random reads" in listed.why) is (level != "0")
