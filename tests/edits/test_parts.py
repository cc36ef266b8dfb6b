"""Edits: laws that hold for every sequence of them, and what each does."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.edits import clipboard, validated
from ndbplan.edits import parts as edits
from ndbplan.edits.disk_data import new_tablespace, with_logfile_group
from ndbplan.edits.growth import add_node_group, free_node_id
from ndbplan.edits.ids import NewIds
from ndbplan.edits.names import next_hostname
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import assign_role, move_process
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import Point
from ndbplan.plan.file import PlanFileError, dumps, loads
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, ApiSlot, DataNode, DiskRole, ManagementNode, SqlNode
from ndbplan.plan.references import first_broken
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Table

STARTER = sample_plan("starter")
DOMAIN = ("." + "d" * 49) * 4 + "d"
"""201 letters, dots and all."""
ADD_NODES = sample_plan("add-nodes")
DISK_DATA = sample_plan("disk-data")
TELECOM = sample_plan("telecom-144")

Edit = Callable[[Plan], Plan]


@st.composite
def any_edit(draw: st.DrawFn) -> Edit:
    """An edit of any kind on an object that is picked when it runs."""
    number = draw(st.integers(0, 10**6))

    def pick(things: Any) -> Any:
        things = list(things)
        return things[number % len(things)] if things else None

    def on(choose: Callable[[Plan], Any], change: Callable[[Plan, Any], Plan]) -> Edit:
        def edit(plan: Plan) -> Plan:
            thing = pick(choose(plan))
            return plan if thing is None else change(plan, thing)

        return edit

    def new_host(plan: Plan) -> Plan:
        name = next_hostname("host-a1", {h.hostname for h in plan.hosts})
        return edits.add(plan, Host(id=NewIds(plan).of(Host), hostname=name, memory_bytes=10**9))

    def new_disk(plan: Plan, host: Host) -> Plan:
        return edits.add_disk(plan, host.id, a_disk(NewIds(plan).of(Disk)))

    def new_node(plan: Plan, host: Host) -> Plan:
        node_id = free_node_id(plan, "data")
        return edits.add(
            plan, DataNode(id=NewIds(plan).of_node("data", node_id), node_id=node_id, host_id=host.id)
        )

    def paste(plan: Plan, thing: Any) -> Plan:
        text = clipboard.copy(plan, [thing.id])
        onto = plan.hosts[number % len(plan.hosts)].id if plan.hosts else None
        return clipboard.paste(plan, text, onto_host=onto)[0]

    return draw(
        st.sampled_from(
            [
                new_host,
                on(lambda p: p.hosts, new_disk),
                on(lambda p: p.hosts, new_node),
                on(lambda p: p.hosts, lambda p, h: edits.update(p, h.id, cores=1 + number % 128)),
                on(lambda p: p.hosts, lambda p, h: edits.move(p, {h.id: Point(x=number, y=-number)})),
                on(lambda p: p.objects(), lambda p, o: edits.remove(p, [o.id])),
                on(lambda p: p.objects(), lambda p, o: edits.update(p, o.id, id=NewIds(p).of(Host))),
                on(
                    lambda p: [x for x in p.processes if x.host_id],
                    lambda p, x: move_process(p, x.id, pick(p.hosts).id),
                ),
                on(
                    lambda p: [(n, d) for n in p.data_nodes for d in p.host(n.host_id).disks],
                    lambda p, nd: assign_role(p, nd[0].id, list(DiskRole)[number % len(DiskRole)], nd[1].id),
                ),
                on(
                    lambda p: p.data_nodes,
                    lambda p, n: set_parameter(p, n.id, "DataMemory", number * 1024),
                ),
                lambda p: set_parameter(p, "data_node", "RedoBuffer", number or None),
                lambda p: edits.set_plan(p, name=f"plan {number}"),
                add_node_group,
                on(lambda p: [*p.hosts, *p.tables, *p.workloads], paste),
            ]
        )
    )


def a_disk(disk_id: str, name: str | None = None) -> Disk:
    """Some disk."""
    return Disk(
        id=disk_id,
        name=name or disk_id,
        capacity_bytes=10**12,
        sequential_read_bytes_per_s=1e9,
        sequential_write_bytes_per_s=1e9,
        random_read_iops=1e5,
        random_write_iops=1e5,
    )


def applied(plan: Plan, sequence: list[Edit]) -> list[Plan]:
    """The plans that a sequence of edits goes through; an edit that is refused leaves the plan as it is."""
    plans = [plan]
    for edit in sequence:
        try:
            plans.append(edit(plans[-1]))
        except EditError:
            continue
    return plans


@given(start=st.sampled_from([STARTER, DISK_DATA, ADD_NODES]), sequence=st.lists(any_edit(), max_size=8))
def test_no_sequence_of_edits_breaks_a_plan(start: Plan, sequence: list[Edit]) -> None:
    last = applied(start, sequence)[-1]
    assert first_broken(last) is None
    assert loads(dumps(last)) == last


@given(sequence=st.lists(any_edit(), min_size=1, max_size=6))
def test_an_edit_never_changes_the_plan_it_starts_from(sequence: list[Edit]) -> None:
    texts: list[str] = []
    plans = applied(STARTER, sequence)
    for plan in plans:
        texts.append(dumps(plan))
    assert dumps(STARTER) == texts[0]
    for plan, text in zip(plans, texts, strict=True):
        assert dumps(plan) == text, "undo gives back exactly what was there"


@given(sequence=st.lists(any_edit(), min_size=1, max_size=6))
def test_untouched_parts_are_the_same_objects(sequence: list[Edit]) -> None:
    plans = applied(STARTER, sequence)
    for before, after in itertools.pairwise(plans):
        for kind in ("locations", "hosts", "processes", "tables", "workloads"):
            old = {part.id: part for part in getattr(before, kind)}
            for part in getattr(after, kind):
                was = old.get(part.id)
                assert was is None or was is part or was != part, f"{part.id} was copied without a change"


def test_editing_a_host_shares_all_the_rest() -> None:
    after = edits.update(TELECOM, TELECOM.hosts[7].id, cores=48)
    assert [a is b for a, b in zip(TELECOM.hosts, after.hosts, strict=True)].count(False) == 1
    assert after.hosts[7].disks is TELECOM.hosts[7].disks
    assert after.processes is TELECOM.processes
    assert after.tables is TELECOM.tables


def test_setting_the_same_value_is_no_edit() -> None:
    host = STARTER.hosts[0]
    assert edits.update(STARTER, host.id, cores=host.cores) is STARTER
    assert edits.move(STARTER, {host.id: host.position}) is STARTER
    assert move_process(STARTER, "ndb1", "host-a1") is STARTER
    assert edits.remove(STARTER, ["nothing"]) is STARTER


@given(cores=st.integers(1, 4096), index=st.integers(0, 3))
def test_setting_a_value_back_gives_an_equal_plan(cores: int, index: int) -> None:
    host = STARTER.hosts[index]
    there = edits.update(STARTER, host.id, cores=cores)
    assert edits.update(there, host.id, cores=host.cores) == STARTER


@pytest.mark.parametrize("plan", [STARTER, DISK_DATA, TELECOM], ids=lambda p: p.name)
def test_renaming_is_followed_by_every_reference_and_can_be_taken_back(plan: Plan) -> None:
    for part in [
        next(iter(group)) for group in (plan.hosts, plan.hosts[0].disks, plan.tables, plan.processes)
    ]:
        there = edits.update(plan, part.id, id="renamed")
        assert part.id not in {
            o.table_id for w in there.workloads for t in w.transactions for o in t.operations
        }
        assert part.id not in {p.host_id for p in there.processes}
        assert first_broken(there) is None
        assert edits.update(there, "renamed", id=part.id) == plan


def test_adding_and_removing_gives_an_equal_plan() -> None:
    host = Host(id="x", hostname="x", memory_bytes=10**9)
    table = Table(id="y", database="d", name="t", columns=(Column(name="a", type="int"),))
    there = edits.add(STARTER, host, table, SqlNode(id="z", node_id=200, host_id="x"))
    assert there.host("x") is host
    assert edits.remove(there, ["x", "y"]) == STARTER


def test_an_id_that_is_taken_is_refused() -> None:
    with pytest.raises(EditError, match="used twice"):
        edits.add(STARTER, Host(id="host-a1", hostname="x", memory_bytes=10**9))
    with pytest.raises(EditError, match="used twice"):
        edits.add(STARTER, ApiSlot(id="another", node_id=1))


def test_a_value_out_of_range_is_refused_with_its_name() -> None:
    with pytest.raises(EditError) as caught:
        edits.update(STARTER, "host-a1", memory_bytes=-1)
    assert caught.value.where == "memory_bytes"
    with pytest.raises(EditError):
        edits.update(STARTER, "host-a1", clock_ghz=float("nan"))
    with pytest.raises(EditError, match="no 'gone'"):
        edits.update(STARTER, "gone", cores=1)


def test_removing_a_host_takes_what_cannot_live_without_it() -> None:
    after = edits.remove(STARTER, ["host-a1"])
    assert {"host-a1", "host-a1-nvme0", "ndb1"}.isdisjoint(after.by_id)
    assert "ndb2" in after.by_id


def test_removing_a_host_leaves_api_slots_without_one() -> None:
    plan = edits.add(STARTER, ApiSlot(id="here", node_id=200, host_id="app-a1"))
    assert edits.remove(plan, ["app-a1"]).by_id["here"].host_id is None


def test_removing_a_location_frees_its_hosts() -> None:
    after = edits.remove(STARTER, ["rack-a"])
    assert [host.location_id for host in after.hosts] == [None, None, "rack-b", "rack-b", "rack-c"]


def test_removing_a_disk_gives_its_roles_back() -> None:
    after = edits.remove(STARTER, ["host-a1-nvme0"])
    node = after.by_id["ndb1"]
    assert node.disk_roles.redo is None
    assert node.disk_roles.lcp == "host-a1-nvme1"


def test_removing_a_table_removes_its_operations_and_empty_workloads() -> None:
    after = edits.remove(ADD_NODES, ["t1"])
    assert after.workloads == ()
    after = edits.remove(STARTER, ["customer"])
    assert {o.table_id for w in after.workloads for t in w.transactions for o in t.operations}.isdisjoint(
        {"customer"}
    )
    assert len(after.workloads) == 2


def test_removing_a_log_file_group_removes_its_tablespaces_and_keeps_the_tables() -> None:
    after = edits.remove(DISK_DATA, ["lg1"])
    assert after.tablespaces == ()
    assert after.tables[0].tablespace_id is None


def test_removing_everything_leaves_an_empty_plan() -> None:
    after = edits.remove(TELECOM, [part.id for part in TELECOM.objects()])
    assert list(after.objects()) == []


def test_moving_a_process_takes_its_roles_to_disks_of_the_same_name() -> None:
    after = move_process(STARTER, "ndb1", "host-b1")
    assert after.by_id["ndb1"].disk_roles.redo == "host-b1-nvme0"
    after = move_process(STARTER, "ndb1", "app-a1")
    assert after.by_id["ndb1"].disk_roles.redo is None
    assert first_broken(after) is None


def test_only_data_nodes_have_disk_roles() -> None:
    with pytest.raises(EditError, match="not a data node"):
        assign_role(STARTER, "sql147", DiskRole.REDO, None)
    with pytest.raises(EditError, match="own host"):
        assign_role(STARTER, "ndb1", DiskRole.REDO, "host-b1-nvme0")


@pytest.mark.parametrize("scope", ["data_node", "management", "sql", "tcp", "ndb1"])
def test_a_parameter_can_be_set_and_taken_back(scope: str) -> None:
    there = set_parameter(STARTER, scope, "SomeParameter", 5)
    assert there != STARTER
    assert set_parameter(there, scope, "SomeParameter", None) == STARTER


@pytest.mark.parametrize(("groups", "replicas"), [(1, 2), (3, 2), (1, 1), (1, 4)])
def test_adding_node_groups(groups: int, replicas: int) -> None:
    start = set_parameter(DISK_DATA, "data_node", "NoOfReplicas", replicas)
    after = add_node_group(start, groups)
    new = after.data_nodes[len(start.data_nodes) :]
    assert len(new) == groups * replicas
    assert first_broken(after) is None
    assert len(after.hosts) == len(start.hosts) + groups * replicas
    for node in new:
        host = after.host(node.host_id)
        model = start.host(start.data_nodes[-1].host_id)
        assert (host.cores, host.memory_bytes, len(host.disks)) == (
            model.cores,
            model.memory_bytes,
            len(model.disks),
        )
        assert node.disk_roles.redo in {disk.id for disk in host.disks}


def test_new_groups_of_the_published_experiment_have_the_published_node_ids() -> None:
    after = add_node_group(ADD_NODES)
    assert [node.node_id for node in after.data_nodes] == [3, 4, 5, 6]
    assert [host.hostname for host in after.hosts[-2:]] == ["computer5", "computer6"]


def test_a_new_group_gets_the_next_number_when_groups_are_numbered() -> None:
    assert [n.node_group for n in add_node_group(STARTER).data_nodes] == [0, 0, 1, 1]
    assert [n.node_group for n in add_node_group(ADD_NODES).data_nodes] == [None] * 4


def test_a_group_of_nodes_that_share_a_host_stays_on_one_host() -> None:
    plan = move_process(STARTER, "ndb2", "host-a1")
    after = add_node_group(plan)
    assert len({n.host_id for n in after.data_nodes[2:]}) == 1


def test_a_group_cannot_be_added_to_a_plan_without_nodes() -> None:
    with pytest.raises(EditError, match="0 data nodes"):
        add_node_group(EMPTY_PLAN)


def test_a_full_cluster_takes_no_more_data_nodes() -> None:
    with pytest.raises(EditError, match="at most 144 data nodes"):
        add_node_group(TELECOM)


def test_free_node_ids() -> None:
    assert free_node_id(STARTER, "data") == 3
    assert free_node_id(STARTER, "sql") == 153
    assert free_node_id(ADD_NODES, "sql") == 53
    assert free_node_id(ADD_NODES, "data", [5]) == 6
    gap = edits.update(STARTER, "ndb2", node_id=144)
    assert free_node_id(gap, "data") == 2


def test_all_255_node_ids_can_be_used_up() -> None:
    plan = edits.add(EMPTY_PLAN, Host(id="h", hostname="h", memory_bytes=10**9))
    for number in range(255):
        plan = plan.replace(
            processes=(*plan.processes, ApiSlot(id=f"a{number}", node_id=free_node_id(plan, "api")))
        )
    assert {p.node_id for p in plan.processes} == set(range(1, 256))
    with pytest.raises(EditError, match="at most 255 nodes"):
        free_node_id(plan, "api")


@pytest.mark.parametrize(
    ("model", "taken", "free"),
    [
        ("host-a1", {"host-a1"}, "host-a2"),
        ("host-a1", {"host-a1", "host-a2"}, "host-a3"),
        ("node09", {"node09"}, "node10"),
        ("db1.example.net", {"db1.example.net"}, "db2.example.net"),
        ("10.0.0.3", {"10.0.0.3"}, "10.0.0.4"),
        ("alpha", {"alpha"}, "alpha-2"),
        # A label has 63 letters at most, a name with its domain 253.
        ("a" * 63, set(), "a" * 62 + "2"),
        ("a" * 62 + "9", set(), "a" * 61 + "10"),
        ("a" * 52 + DOMAIN, set(), "a" * 51 + "2" + DOMAIN),
    ],
)
def test_names_of_new_hosts_follow_the_old_ones(model: str, taken: set[str], free: str) -> None:
    assert next_hostname(model, taken) == free


def test_a_new_address_stays_an_address() -> None:
    taken = {f"10.0.0.{n}" for n in range(3, 256)}
    name = next_hostname("10.0.0.3", taken)
    assert name not in taken
    assert all(0 <= int(part) <= 255 for part in name.split("."))


def test_a_plan_keeps_management_nodes_and_others_in_node_id_order() -> None:
    plan = edits.add(
        STARTER,
        Location(id="l", name="L"),
        ManagementNode(id="m", node_id=100, host_id="app-a1"),
    )
    assert [m.node_id for m in plan.management_nodes] == [100, 145, 146]


def test_reserved_nodes_get_no_number_from_a_new_group() -> None:
    plan = edits.update(STARTER, "ndb2", node_group=NODE_GROUP_NONE)
    new = add_node_group(plan).data_nodes[2:]
    assert {n.node_group for n in new} == {1}


def test_a_new_group_keeps_out_of_groups_that_nobody_numbered() -> None:
    """Nodes 1 and 2 are stated as group 0; the product makes 3 and 4 group 1."""
    plan = add_node_group(STARTER)
    for node in plan.data_nodes[2:]:
        plan = edits.update(plan, node.id, node_group=None)
    groups = [node.node_group for node in add_node_group(plan).data_nodes]
    assert groups == [0, 0, 1, 1, 2, 2]


def test_a_refused_path_says_what_a_path_is_made_of() -> None:
    plan = sample_plan("starter")
    disk = plan.hosts[0].disks[0]
    with pytest.raises(EditError, match="a path begins with / and is made of letters") as refused:
        edits.update(plan, disk.id, mount_point="/data/my disk")
    assert "pattern" not in refused.value.what


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda p: p.replace(hosts=(p.hosts[0].model_copy(update={"id": "no id!"}), *p.hosts[1:])),
        lambda p: p.replace(hosts=(p.hosts[0].model_copy(update={"cores": -1}), *p.hosts[1:])),
        lambda p: p.replace(hosts=p.hosts[1:]),
        lambda p: p.replace(name="a\x07"),
        lambda p: p.replace(backups_kept=-1),
        lambda p: p.replace(parameters=p.parameters.model_copy(update={"tcp": {"A": "x" * 5000}})),
        lambda p: p.replace(
            tables=(*p.tables, p.tables[0].model_copy(update={"name": "t" * 65, "id": "new"}))
        ),
    ],
)
def test_what_no_file_may_hold_is_no_edit(spoiled: Callable[[Plan], Plan]) -> None:
    plan = sample_plan("starter")
    with pytest.raises(EditError):
        validated.checked(plan, spoiled(plan))
    with pytest.raises(PlanFileError):
        loads(dumps(spoiled(plan)))


def test_what_a_file_may_hold_is_an_edit() -> None:
    for name in ("starter", "disk-data", "telecom-144"):
        plan = sample_plan(name)
        assert validated.checked(EMPTY_PLAN, plan) is plan
        after = set_parameter(plan, "data_node", "DataMemory", 10**9)
        assert validated.checked(plan, after) is after


def test_disk_data_gets_the_first_free_number() -> None:
    plan, group_id = with_logfile_group(sample_plan("starter"))
    assert plan.logfile_groups[0].name == "lg_1"
    for name in ("ts_1", "ts_2", "ts_3"):
        space = new_tablespace(plan, group_id)
        assert space.name == name
        plan = edits.add(plan, space)
    plan = edits.remove(plan, [space.id for space in plan.tablespaces if space.name == "ts_2"])
    assert new_tablespace(plan, group_id).name == "ts_2"
