"""Plans that differ, of each kind that takes another way from one to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits.growth import add_node_group, twin_host
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, ManagementNode, SqlNode
from ndbplan.plan.tables import Column, Index

Edit = Callable[[Plan], Plan]


def parameter(name: str, value: int, scope: str = "data_node") -> Edit:
    """A parameter of all nodes of a kind, or of one."""
    return lambda plan: set_parameter(plan, scope, name, value)


def with_management_nodes(plan: Plan, count: int) -> Plan:
    """As many management nodes as are wanted: the first ones, or others on hosts like that of the first."""
    plan = plan.replace(processes=tuple(p for p in plan.processes if p not in plan.management_nodes[count:]))
    for node_id in range(200 + len(plan.management_nodes), 200 + count):
        plan, host_id = twin_host(plan, plan.host(plan.management_nodes[0].host_id))
        plan = _with_server(plan, node_id, host_id)
    return plan


def with_linked_redo(plan: Plan) -> Plan:
    """The starter with the files of its data nodes beside its checkpoints, and the redo log linked away."""
    return set_parameter(plan, "data_node", "FileSystemPath", "/nvme1/mysqlcluster")


def with_init_scripts(plan: Plan) -> Plan:
    """No host has systemd."""
    for host in plan.hosts:
        plan = update(plan, host.id, service_manager=ServiceManager.INIT_SCRIPTS)
    return plan


def _with_server(plan: Plan, node_id: int, host_id: str) -> Plan:
    new = ManagementNode(id=f"mgm{node_id}", node_id=node_id, host_id=host_id)
    return plan.replace(processes=(*plan.processes, new))


def _another_server(plan: Plan) -> Plan:
    used = {node.host_id for node in plan.management_nodes}
    free = [node.host_id for node in (*plan.sql_nodes, *plan.data_nodes) if node.host_id not in used]
    return _with_server(plan, 250, free[0]) if free else with_management_nodes(plan, 3)


def _with_room_in_front(plan: Plan) -> Plan:
    """The first management node has not the first id of all."""
    first = plan.management_nodes[0]
    return update(plan, first.id, node_id=199) if first.node_id == 1 else plan


def _another_id(plan: Plan) -> Plan:
    """The first management node has another id."""
    return update(plan, plan.management_nodes[0].id, node_id=251)


def _in_front(plan: Plan) -> Plan:
    """The management node that came last is the first one of the connect string, where it can."""
    new, others = plan.management_nodes[-1], plan.management_nodes[:-1]
    free = set(range(1, others[0].node_id)) - {process.node_id for process in plan.processes}
    return update(plan, new.id, node_id=max(free)) if free else plan


def moved(plan: Plan) -> Plan:
    """The first data node's host has another name."""
    return update(plan, plan.data_nodes[0].host_id, hostname="other")


def on_the_lcp_disk(plan: Plan) -> Plan:
    """The redo log where the checkpoints are: no link any more, files elsewhere."""
    for node in plan.data_nodes:
        roles = node.disk_roles
        plan = update(plan, node.id, disk_roles=roles.model_copy(update={"lcp": roles.redo}))
    return plan


def with_other_tables(plan: Plan) -> Plan:
    """One that is new, one with another column and another index, and one less where there are several."""
    first, *others = plan.tables
    more = first.model_copy(update={
        "columns": (*first.columns, Column(name="note", type="varchar", length=40)),
        "indexes": (Index(name="by_name", columns=(first.columns[0].name,)),),
    })  # fmt: skip
    new = first.model_copy(update={"id": "fresh", "name": "fresh"})
    plan = plan.replace(tables=(more, *others, new))
    return remove(plan, [others[0].id]) if others else plan


def _older(plan: Plan) -> Plan:
    """An earlier release that has the settings of the plan."""
    known = {"8.4": "8.0.30"}.get(plan.ndb_version, plan.features.upgraded_from)
    return set_plan(plan, ndb_version=known)


def _same(plan: Plan) -> Plan:
    return plan


def _initial(plan: Plan) -> Plan:
    """Redo log files of another number, or of another size."""
    files = set_parameter(plan, "data_node", "NoOfFragmentLogFiles", 23)
    return (
        files
        if plan.ndb_version != "7.4"
        else set_parameter(files, "data_node", "FragmentLogFileSize", 2**29)
    )


def with_second_sql_nodes(plan: Plan) -> Plan:
    """Another SQL node on the host of each: all of them have files of their own then."""
    new = tuple(
        node.model_copy(update={"id": f"second{node.node_id}", "node_id": 230 + number, "pool_node_ids": ()})
        for number, node in enumerate(plan.sql_nodes)
    )
    return plan.replace(processes=(*plan.processes, *new))


def _third_sql_node(plan: Plan) -> Plan:
    """One more on the host of the first, in front of its two where an id is free: both get another port."""
    two = with_second_sql_nodes(plan)
    first, used = two.sql_nodes[0], {process.node_id for process in two.processes}
    node_id = next((free for free in range(first.node_id - 1, 0, -1) if free not in used), 229)
    new = first.model_copy(update={"id": "third", "node_id": node_id, "pool_node_ids": ()})
    return two.replace(processes=(*two.processes, new))


def with_reserved_nodes(plan: Plan) -> Plan:
    """A node group more that is reserved: nodes which the configuration lists and that hold nothing."""
    grown = add_node_group(plan)
    for node in grown.data_nodes:
        if node not in plan.data_nodes and node.node_id not in {one.node_id for one in plan.data_nodes}:
            grown = update(grown, node.id, node_group=NODE_GROUP_NONE)
    return grown


def elsewhere(plan: Plan) -> Plan:
    """All SQL nodes on other hosts, like theirs."""
    for node in plan.sql_nodes:
        plan, host_id = twin_host(plan, plan.host(node.host_id))
        plan = move_process(plan, node.id, host_id)
    return plan


def _in_turn(plan: Plan) -> Plan:
    """Two node groups more, whose members take turns in the order of their ids."""
    grown = add_node_group(add_node_group(plan))
    old = {node.node_id for node in plan.data_nodes}
    first = len(node_groups(plan))
    for place, node in enumerate(one for one in grown.data_nodes if one.node_id not in old):
        grown = update(grown, node.id, node_group=first + place % 2)
    return grown


def exchanged(plan: Plan, one_id: str, other_id: str) -> Plan:
    """Two hosts whose names change places: what runs on one comes to the other."""
    one, other = plan.host(one_id).hostname, plan.host(other_id).hostname
    plan = update(plan, one_id, hostname="between")
    return update(update(plan, other_id, hostname=one), one_id, hostname=other)


def _instead_of_a_slot(plan: Plan) -> Plan:
    """An SQL node with the id of an API slot."""
    slot = plan.api_slots[0]
    new = SqlNode(id="instead", node_id=slot.node_id, host_id=plan.management_nodes[0].host_id)
    return plan.replace(processes=(*(one for one in plan.processes if one is not slot), new))


def changes(plan: Plan) -> Iterator[tuple[str, Plan, Plan]]:
    """What each kind of change is called, what runs before, and the plan."""
    ways: dict[str, tuple[Edit, Edit]] = {
        "node": (_same, parameter("DataMemory", 2**36)),
        "one node": (_same, lambda p: set_parameter(p, p.data_nodes[-1].id, "MaxNoOfTables", 500)),
        "initial node": (_same, _initial),
        "files elsewhere": (_same, on_the_lcp_disk),
        "directories": (
            _same,
            lambda p: set_parameter(
                set_parameter(p, "management", "DataDir", "/var/lib/ndb-logs"),
                "data_node",
                "BackupDataDir",
                f"{p.host(p.data_nodes[0].host_id).disks[0].mount_point}/other",
            ),
        ),
        "management": (_same, parameter("HeartbeatIntervalMgmdMgmd", 2000, "management")),
        "another server": (_same, _another_server),
        "another server in front": (
            _with_room_in_front,
            lambda p: _in_front(_another_server(_with_room_in_front(p))),
        ),
        "another port": (_same, parameter("PortNumber", 2200, "management")),
        "system": (_same, moved),
        "grow": (_same, add_node_group),
        "reserved nodes": (with_reserved_nodes, add_node_group),
        "upgrade": (_older, _same),
        "initial system": (
            add_node_group,
            lambda p: exchanged(p, p.data_nodes[0].host_id, p.data_nodes[-1].host_id),
        ),
        "another id of a server, reserved nodes": (
            _with_room_in_front,
            lambda p: with_reserved_nodes(_another_id(_with_room_in_front(p))),
        ),
    }
    if len(plan.api_slots) > 1:
        ways["an SQL node instead of a slot"] = (_same, _instead_of_a_slot)
    if plan.sql_nodes:
        ways["sql"] = (_same, parameter("BatchSize", 512, "sql"))
        ways["mysqld"] = (_same, lambda p: update(p, p.sql_nodes[0].id, options={"ndb_batch_size": 65536}))
        ways["SQL nodes on one host"] = (_same, with_second_sql_nodes)
        ways["fewer SQL nodes on one host"] = (with_second_sql_nodes, _same)
        ways["an SQL node in front of others of a host"] = (with_second_sql_nodes, _third_sql_node)
        ways["no SQL node in front of others of a host"] = (_third_sql_node, with_second_sql_nodes)
        ways["tables"] = (_same, with_other_tables)
        ways["SQL nodes elsewhere, grow"] = (_same, lambda p: _in_turn(elsewhere(p)))
        ways["grow, tables"] = (_same, lambda p: add_node_group(with_other_tables(p)))
    if len(plan.sql_nodes) > 1:
        ways["fewer SQL nodes"] = (_same, lambda p: remove(p, [p.sql_nodes[0].id]))
    for name, (old, new) in ways.items():
        yield name, old(plan), new(plan)
