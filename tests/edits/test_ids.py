"""Ids of new parts."""

from __future__ import annotations

from ndbplan.edits import clipboard, offers
from ndbplan.edits import parts as edits
from ndbplan.edits.additions import add
from ndbplan.edits.address import resolve
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.ids import NewIds, is_made
from ndbplan.edits.places import address_of
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")


def test_an_id_follows_no_name() -> None:
    plan = edits.update(STARTER, "host-a1-nvme0", name="SSD (fast)")
    for after in (
        add(plan, "host", ["db7.example.org"]).plan,
        add(plan, "table", ["shop.new_one"]).plan,
        add(plan, "location", ["Räume"]).plan,
        add_node_group(plan),
        clipboard.paste(plan, clipboard.copy(plan, ["host-a1"]))[0],
    ):
        new = set(after.by_id) - set(plan.by_id)
        assert new
        assert all(is_made(object_id) or object_id in {"ndb3", "ndb4", "ndb5"} for object_id in new)


def test_ids_are_free_and_no_name_of_another_part() -> None:
    plan = edits.add(STARTER, offers.make_table(STARTER, "test", "table_2"))
    assert plan.tables[-1].id == "table_1"
    assert offers.make_table(plan, "test", "x").id == "table_3"
    ids = NewIds(plan, ["disk_1"])
    assert [ids.of(Disk), ids.of(Disk), ids.of(Host)] == ["disk_2", "disk_3", "host_1"]
    assert [ids.of_node("data", 1), ids.of_node("data", 1), ids.of_node("api", 9)] == [
        "ndb1-2",
        "ndb1-3",
        "api9",
    ]


def test_the_same_actions_give_the_same_ids() -> None:
    text = clipboard.copy(STARTER, ["host-a1", *(t.id for t in STARTER.tables)])
    assert clipboard.paste(EMPTY_PLAN.replace(tables=()), text) == clipboard.paste(EMPTY_PLAN, text)


def test_people_are_told_the_name_where_it_leads_back() -> None:
    plan = add(STARTER, "host", ["a9"]).plan
    assert add(STARTER, "host", ["a9"]).added == ("hosts[a9]",)
    (place,) = resolve(plan, "hosts[a9]")
    assert place.value.id == "host_1"
    plan = edits.update(plan, "host_1", hostname="host-a1x")
    assert address_of(plan, place.path) == "hosts[host-a1x]"


def test_a_name_that_another_part_has_as_its_id_is_not_told() -> None:
    plan = add(edits.update(STARTER, "host-a1", hostname="other"), "host", ["host-a1"]).plan
    assert address_of(plan, ("hosts", len(plan.hosts) - 1)) == "hosts[host_1]"
