"""What a change takes: the heaviest of what differs, who restarts for it, and what is refused."""

from __future__ import annotations

import pytest

from ndbplan.configuration.needs import CannotChangeError, needs
from ndbplan.configuration.settings import nodes_alike, nodes_alike_in
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DiskRoles
from ndbplan.plan.samples import sample_plan

PLAN = set_plan(sample_plan("starter"), ndb_version="8.4")
DATA = tuple(node.node_id for node in PLAN.data_nodes)
SQL = tuple(node.node_id for node in PLAN.sql_nodes)


def changed(section: str, **values: int | str) -> Plan:
    plan = PLAN
    for name, value in values.items():
        plan = set_parameter(plan, section, name, value)
    return plan


def grown(nodes: int) -> Plan:
    """With so many data nodes more."""
    more = add_node_group(PLAN, 2)
    new = [node.id for node in more.data_nodes if node.node_id not in DATA]
    return remove(more, new[nodes:])


@pytest.mark.parametrize(
    ("after", "kind", "data", "initial", "sql"),
    [
        (PLAN, "nothing", (), (), ()),
        (changed("data_node", MaxNoOfTables=200), "node", DATA, (), ()),
        (changed("data_node", NoOfFragmentLogFiles=20), "initial_node", DATA, DATA, ()),
        (changed("data_node", MaxNoOfTables=200, NoOfFragmentLogFiles=20), "initial_node", DATA, DATA, ()),
        (changed("sql", BatchSize=128), "sql", (), (), SQL),
        (update(PLAN, PLAN.management_nodes[0].id, parameters={"ArbitrationRank": 2}), "node", DATA, (), ()),
        (changed("management", LogDestination="CONSOLE"), "management", (), (), ()),
        (grown(2), "node", DATA, (), SQL),
        # Nodes that run look for management nodes where they were, and are found by no others.
        (changed("management", PortNumber=2200), "system", DATA, (), SQL),
        (update(PLAN, PLAN.management_nodes[0].id, parameters={"PortNumber": 2200}), "node", DATA, (), SQL),
    ],
)
def test_the_heaviest_of_what_differs_decides(
    after: Plan, kind: str, data: tuple[int, ...], initial: tuple[int, ...], sql: tuple[int, ...]
) -> None:
    found = needs(PLAN, after)
    assert (found.kind, found.data, found.initial, found.sql) == (kind, data, initial, sql)
    assert found.configured == (kind != "nothing")
    assert not found.programs


def test_reserved_nodes_join_while_the_cluster_works_and_do_not_leave_so() -> None:
    """They hold nothing: they restart with the new file, and CREATE NODEGROUP does the rest."""
    whole = grown(2)
    new = tuple(node.node_id for node in whole.data_nodes if node.node_id not in DATA)
    waiting = whole
    for node in whole.data_nodes[-2:]:
        waiting = update(waiting, node.id, node_group=NODE_GROUP_NONE)
    found = needs(waiting, whole)
    assert (found.kind, found.data, found.initial, found.sql) == ("node", new, (), ())
    assert needs(whole, waiting).kind == "initial_system"
    with pytest.raises(CannotChangeError, match="has 1 of 2 members"):
        needs(waiting, update(whole, whole.data_nodes[-1].id, node_group=NODE_GROUP_NONE))


def test_data_nodes_that_stop_together_do_not_begin_anew() -> None:
    after = set_parameter(changed("data_node", NoOfFragmentLogFiles=20), "management", "PortNumber", 2200)
    with pytest.raises(CannotChangeError, match="data nodes 1, 2 need --initial"):
        needs(PLAN, after)


@pytest.mark.parametrize("count", [1, 3])
def test_new_data_nodes_make_whole_node_groups(count: int) -> None:
    with pytest.raises(CannotChangeError, match=r"in the plan, |no whole node group of 2"):
        needs(PLAN, grown(count))
    assert len(needs(PLAN, grown(4)).difference.added_node_ids) == 4


def test_data_nodes_go_by_whole_groups_and_never_all_of_them() -> None:
    four = grown(2)
    assert needs(four, PLAN).difference.removed_node_ids == tuple(
        node.node_id for node in four.data_nodes if node.node_id not in DATA
    )
    others = remove(four, [node.id for node in PLAN.data_nodes])
    with pytest.raises(CannotChangeError, match="every data node goes"):
        needs(PLAN, others)
    one, two = (node.id for node in four.data_nodes if node.node_id not in DATA)
    reserving = update(remove(four, [two]), one, node_group=NODE_GROUP_NONE)
    assert needs(reserving, four).kind == "node", "a new node and a reserved one make a group"
    both = update(update(four, one, node_group=NODE_GROUP_NONE), two, node_group=NODE_GROUP_NONE)
    assert needs(reserving, both).difference.added_node_ids == (4,)
    # A system restart takes any data nodes.
    again = set_parameter(four, "data_node", "AutomaticThreadConfig", None)
    assert needs(reserving, again).kind == "initial_system"


def test_files_of_a_node_that_lie_elsewhere_need_an_initial_start() -> None:
    node = PLAN.data_nodes[0]
    disks = PLAN.host(node.host_id).disks
    moved = update(PLAN, node.id, disk_roles=DiskRoles(**{**dict(node.disk_roles), "lcp": disks[0].id}))
    stated = update(moved, node.id, disk_roles=DiskRoles(lcp=disks[-1].id))
    assert len(disks) > 1
    assert needs(moved, stated).elsewhere == needs(moved, stated).initial == (node.node_id,)
    assert needs(moved, moved).elsewhere == ()


def test_versions_go_up_and_by_no_more_than_is_known() -> None:
    with pytest.raises(CannotChangeError, match=r"a downgrade from NDB 8\.4 to 8\.0 is not planned"):
        needs(PLAN, set_plan(PLAN, ndb_version="8.0"))
    after = set_parameter(PLAN, "data_node", "AutomaticThreadConfig", None)
    for version, is_refused in (("8.0.18", True), ("8.0.19", False)):
        before = set_plan(after, ndb_version=version)
        if is_refused:
            with pytest.raises(CannotChangeError, match=r"upgrade to 8\.0\.19|while it works"):
                needs(before, after)
        else:
            found = needs(before, after)
            assert (found.kind, found.data, found.sql, found.programs) == ("node", DATA, SQL, True)
            assert not needs(PLAN, PLAN).programs


def test_a_cluster_without_data_nodes_is_none() -> None:
    empty = remove(PLAN, [node.id for node in PLAN.data_nodes])
    for pair in ((empty, PLAN), (PLAN, empty)):
        with pytest.raises(CannotChangeError, match="has no data node or no management node"):
            needs(*pair)


def test_nodes_that_state_nothing_come_first() -> None:
    first, second = PLAN.data_nodes
    assert [(alike.nodes, alike.shared) for alike in nodes_alike(PLAN)] == [((first, second), True)]
    own = update(PLAN, first.id, parameters={"MaxNoOfTables": 200, "RedoBuffer": 2**25})
    stating, silent = own.data_nodes
    assert [alike.nodes for alike in nodes_alike(own)] == [(silent,), (stating,)]
    assert [alike.shared for alike in nodes_alike(own)] == [True, False]
    assert [alike.nodes for alike in nodes_alike_in(own, "redobuffer")] == [(silent,), (stating,)]
    assert [alike.shared for alike in nodes_alike_in(own, "redobuffer")] == [True, False]
    assert [set(alike.nodes) for alike in nodes_alike_in(own, "DataMemory")] == [{stating, silent}]
    assert nodes_alike_in(own, "MaxNoOfTables")[1].settings.number("MaxNoOfTables") == 200
    each = update(own, second.id, parameters={"RedoBuffer": 2**26})
    each = update(each, first.id, parameters={"MaxNoOfTables": 200})
    stating, silent = each.data_nodes
    assert [alike.nodes for alike in nodes_alike_in(each, "MaxNoOfTables")] == [(silent,), (stating,)]
    none = remove(PLAN, [first.id, second.id])
    assert [(alike.nodes, alike.shared) for alike in nodes_alike(none)] == [((), True)]
