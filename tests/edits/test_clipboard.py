"""Copy and paste: text in between, free ids and names, nothing that refers into the other plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.checks.run import check
from ndbplan.edits import clipboard
from ndbplan.edits.names import next_location_name
from ndbplan.edits.parts import remove, update
from ndbplan.edits.validated import EditError
from ndbplan.plan.file import dumps
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.plan.references import first_broken
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
DISK_DATA = sample_plan("disk-data")
TELECOM = sample_plan("telecom-144")

OBJECTS = [part.id for part in STARTER.objects()]


@given(chosen=st.lists(st.sampled_from(OBJECTS), unique=True))
def test_pasting_adds_as_much_as_was_copied_and_breaks_nothing(chosen: list[str]) -> None:
    text = clipboard.copy(STARTER, chosen)
    plan, ids = clipboard.paste(STARTER, text, onto_host="app-b1")
    assert first_broken(plan) is None
    assert len(plan.by_id) == len(STARTER.by_id) + len({i for i in plan.by_id if i not in STARTER.by_id})
    assert set(ids) <= plan.by_id.keys() - STARTER.by_id.keys()
    for kind in ("hosts", "processes", "tables", "workloads", "locations"):
        assert getattr(plan, kind)[: len(getattr(STARTER, kind))] == getattr(STARTER, kind) or kind == "hosts"


def test_a_host_brings_its_disks_and_nodes_and_they_refer_to_the_copy() -> None:
    plan, ids = clipboard.paste(STARTER, clipboard.copy(STARTER, ["host-a1"]))
    host = plan.host(ids[0])
    assert host.hostname == "host-a2"
    assert host.location_id == "rack-a"
    node = next(plan.by_id[i] for i in ids[1:])
    assert node.node_id == 3
    assert node.host_id == host.id
    assert {node.disk_roles.redo, node.disk_roles.lcp} == {disk.id for disk in host.disks}


def test_a_location_brings_its_hosts() -> None:
    plan, ids = clipboard.paste(STARTER, clipboard.copy(STARTER, ["rack-b"]))
    assert len(plan.locations) == len(STARTER.locations) + 1
    assert {plan.by_id[i].location_id for i in ids if i in {h.id for h in plan.hosts}} == {ids[0]}
    assert len(plan.hosts) == len(STARTER.hosts) + 2


def test_pasting_into_another_plan_drops_what_is_not_there() -> None:
    plan, ids = clipboard.paste(EMPTY_PLAN, clipboard.copy(STARTER, ["host-a1"]))
    assert ids == ("host_1", "ndb1")
    assert plan.hosts[0].hostname == "host-a1"
    assert plan.hosts[0].location_id is None
    assert plan.data_nodes[0].node_id == 1


def test_a_table_on_disk_loses_its_tablespace_in_another_plan() -> None:
    plan, _ = clipboard.paste(EMPTY_PLAN, clipboard.copy(DISK_DATA, ["dd"]))
    assert plan.tables[0].tablespace_id is None
    plan, _ = clipboard.paste(DISK_DATA, clipboard.copy(DISK_DATA, ["dd"]))
    assert plan.tables[1].tablespace_id == "ts1"
    assert plan.tables[1].full_name == "test.dd_2"


def test_a_workload_follows_the_tables_copied_with_it() -> None:
    text = clipboard.copy(DISK_DATA, ["dd", "insert"])
    plan, ids = clipboard.paste(DISK_DATA, text)
    assert plan.by_id[ids[1]].transactions[0].operations[0].table_id == ids[0]


def test_a_workload_without_its_tables_is_refused_elsewhere() -> None:
    with pytest.raises(EditError):
        clipboard.paste(EMPTY_PLAN, clipboard.copy(DISK_DATA, ["insert"]))


def test_nodes_and_disks_alone_need_a_host() -> None:
    with pytest.raises(EditError, match="needs a host"):
        clipboard.paste(STARTER, clipboard.copy(STARTER, ["ndb1"]))
    with pytest.raises(EditError, match="needs a host"):
        clipboard.paste(STARTER, clipboard.copy(STARTER, ["host-a1-nvme0"]))
    plan, ids = clipboard.paste(
        STARTER, clipboard.copy(STARTER, ["ndb1", "host-a1-nvme0"]), onto_host="app-a1"
    )
    node = plan.data_nodes[-1]
    assert node.host_id == "app-a1"
    assert node.disk_roles.redo == "disk_1"
    assert (node.id, set(ids)) == (f"ndb{node.node_id}", {node.id, "disk_1"})


def test_a_disk_of_the_same_name_gets_a_free_one() -> None:
    text = clipboard.copy(STARTER, ["host-a1-nvme0"])
    plan, _ = clipboard.paste(STARTER, text, onto_host="host-a1")
    assert [disk.name for disk in plan.host("host-a1").disks] == ["nvme0", "nvme1", "nvme0-2"]


def test_pasting_twice_gives_two_copies() -> None:
    text = clipboard.copy(STARTER, ["host-a1"])
    once, first = clipboard.paste(STARTER, text)
    twice, second = clipboard.paste(once, text)
    assert set(first).isdisjoint(second)
    assert first_broken(twice) is None


def test_a_full_cluster_refuses_another_data_node() -> None:
    with pytest.raises(EditError, match="144"):
        clipboard.paste(TELECOM, clipboard.copy(TELECOM, ["dn-a01"]))


def test_a_pool_of_connections_is_copied_with_free_node_ids() -> None:
    plan: Plan = update(STARTER, "sql147", pool_node_ids=(200, 201))
    pasted, ids = clipboard.paste(plan, clipboard.copy(plan, ["sql147"]), onto_host="app-b1")
    assert first_broken(pasted) is None
    assert len(pasted.by_id[ids[0]].pool_node_ids) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{",
        "[]",
        '{"kind": "ndbplan-fragment", "hosts": 3}',
        '{"kind": "ndbplan-fragment", "what": []}',
        "[" * 100_000,
        dumps(STARTER),
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(EditError, match="no piece of a plan"):
        clipboard.paste(STARTER, text)


def test_only_pieces_of_plans_look_like_them() -> None:
    assert clipboard.is_fragment(clipboard.copy(STARTER, ["host-a1"]))
    assert not clipboard.is_fragment(dumps(STARTER))


@pytest.mark.parametrize(
    ("name", "copy"),
    [("Rack A", "Rack B"), ("Room 1", "Room 2"), ("Site", "Site-2"), ("Zone AB", "Zone AB-2")],
)
def test_a_copy_of_a_location_is_told_from_it_by_name(name: str, copy: str) -> None:
    """Two of one name beside one another could not be told apart: neither in lists nor as `rack:NAME`."""
    top = Location(id="top", name=name)
    plan = EMPTY_PLAN.replace(locations=(top, Location(id="inner", name="Rack Z", parent_id="top")))
    after, _ids = clipboard.paste(plan, clipboard.copy(plan, ["top", "inner"]))
    pasted = after.locations[2:]
    assert [place.name for place in pasted] == [copy, "Rack Z"], "names within are as they were"
    assert pasted[1].parent_id == pasted[0].id
    again, _ids = clipboard.paste(plan, clipboard.copy(plan, ["inner"]))
    assert [place.name for place in again.locations[2:]] == ["Rack A"]
    assert again.locations[2].parent_id == "top"


def test_locations_beyond_the_alphabet_are_numbered() -> None:
    taken = {f"Rack {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    assert next_location_name("Rack A", taken) == "Rack 27"


def test_a_pasted_disk_is_mounted_where_no_other_is() -> None:
    disk = STARTER.host("host-a1").disks[0]
    plan, ids = clipboard.paste(STARTER, clipboard.copy(STARTER, [disk.id]), onto_host="host-a1")
    plan, more = clipboard.paste(plan, clipboard.copy(STARTER, [disk.id]), onto_host="host-a1")
    places = [plan.by_id[i].mount_point for i in (disk.id, *ids, *more)]
    assert places == [disk.mount_point, f"{disk.mount_point}-2", f"{disk.mount_point}-3"]
    alone, ids = clipboard.paste(STARTER, clipboard.copy(STARTER, [disk.id]), onto_host="mgm-c1")
    assert alone.by_id[ids[0]].mount_point == disk.mount_point


def test_copied_data_nodes_keep_out_of_a_node_group_that_is_full() -> None:
    plan = STARTER
    hosts = [plan.host(node.host_id).id for node in plan.data_nodes]
    both, _ = clipboard.paste(plan, clipboard.copy(plan, hosts))
    assert [node.node_group for node in both.data_nodes] == [0, 0, 1, 1]
    assert not [problem for problem in check(both) if problem.rule == "node-group-size"]
    left = remove(plan, [plan.data_nodes[1].id])
    again, _ = clipboard.paste(left, clipboard.copy(plan, hosts[1:]))
    assert [node.node_group for node in again.data_nodes] == [0, 0], "there is room"
    apart = update(plan, plan.data_nodes[0].id, node_group=NODE_GROUP_NONE)
    more, _ = clipboard.paste(apart, clipboard.copy(apart, hosts[:1]))
    assert more.data_nodes[-1].node_group == NODE_GROUP_NONE
