"""What a workload asks of a plan's cluster: log, checkpoints, disks, network, threads, clients.

    redo(plan, workload).time_to_full_s
    node_loads(plan, workload)[0].redo_bytes_per_s

Here the plan is taken apart for `load/`, whose functions get data nodes, tables, shares of rows and loads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ndbplan.base.kept import kept_by_identity, kept_by_value, same
from ndbplan.base.quantity import Quantity, largest
from ndbplan.estimate.beyond import no_surer_than, rooms, with_disks_of_runs
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load import clients as of_clients
from ndbplan.estimate.load import demand, jobs
from ndbplan.estimate.load.checkpoint import (
    CheckpointEstimate,
    MemoryEnds,
    memory_ends,
    until_memory_is_full,
)
from ndbplan.estimate.load.checkpoint import checkpoint as checkpoint_of
from ndbplan.estimate.load.checkpoint_room import undo_logs
from ndbplan.estimate.load.checkpoint_speed import speed_limits
from ndbplan.estimate.load.clients import ClientsEstimate, Coming
from ndbplan.estimate.load.cpu import CpuEstimate
from ndbplan.estimate.load.cpu import cpu as cpu_of
from ndbplan.estimate.load.demand import NodeLoad, TableLoad, offered_per_s
from ndbplan.estimate.load.disk_data import DiskDataEstimate, Stored, UndoUse, disk_rows, undo_use
from ndbplan.estimate.load.disk_data import disk_data as disk_data_of
from ndbplan.estimate.load.disks import DisksEstimate, demand_of
from ndbplan.estimate.load.flows import Flows, carried, flows_between
from ndbplan.estimate.load.jobs import Job
from ndbplan.estimate.load.key_choice import chosen_shares
from ndbplan.estimate.load.network import NetworkEstimate
from ndbplan.estimate.load.network import network as network_of
from ndbplan.estimate.load.redo import RedoEstimate, operations_of
from ndbplan.estimate.load.redo import redo as redo_of
from ndbplan.estimate.load.redo_control import NOT_ASKED
from ndbplan.estimate.load.row_capacity import memory_growth, memory_limits, tablespace_rooms
from ndbplan.estimate.load.transaction_size import scan_share
from ndbplan.estimate.load.uplinks import UplinkUse
from ndbplan.estimate.load.uplinks import uplinks as uplinks_of
from ndbplan.estimate.narrowed import bare, narrowed
from ndbplan.estimate.storage import memory_per_row as of_row
from ndbplan.estimate.storage.shares import Shares
from ndbplan.estimate.storage.table_memory import rules_with
from ndbplan.estimate.stored import (
    Lying,
    around,
    cluster_of,
    lying,
    machines_of,
    node_data_by_id,
    node_memories,
    reach,
)
from ndbplan.ndb.mysqld_options import in_effect
from ndbplan.ndb.nearness import Nearness
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, SqlNode, process_node_ids
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import ClosedLoad, JobLoad, OpenLoad, Workload

# What is asked.


def job_of(plan: Plan, workload: Workload) -> Job | None:
    """The workload as a job; None when it is not a job."""
    if not isinstance(workload.load, JobLoad):
        return None
    return jobs.job_of(plan.version, constants_of(plan), plan.tables, workload)


def steady(plan: Plan, workload: Workload) -> Workload:
    """The workload itself; a job as clients that load at their loader's rate."""
    job = job_of(plan, workload)
    return workload if job is None else job.workload


def rate_of(plan: Plan, workload: Workload) -> float:
    """Highest transaction rate that a workload offers, of whatever kind; of a job that of its loader."""
    return offered_per_s(steady(plan, workload).load)


def table_loads(plan: Plan, workload: Workload | None) -> tuple[TableLoad, ...]:
    """What the workload does to each table it touches, over the whole cluster, unique indexes included."""
    if workload is None:
        return ()
    return demand.table_loads(plan.tables, steady(plan, workload), plan.version, False, False)


def stored_loads(plan: Plan, workload: Workload | None) -> tuple[TableLoad, ...]:
    """The same apart for each table and each unique index: what is stored in fragments of its own."""
    if workload is None:
        return ()
    return demand.table_loads(plan.tables, steady(plan, workload), plan.version, False, True)


def chosen_loads(plan: Plan, workload: Workload) -> tuple[tuple[TableLoad, Shares], ...]:
    """The same apart for each way of choosing keys too, and what of it each data node gets."""
    loads = demand.table_loads(plan.tables, steady(plan, workload), plan.version, True, True)
    return _chosen(loads, lying(plan))


@kept_by_identity(size=48)
def _chosen(loads: tuple[TableLoad, ...], lying: Lying | None) -> tuple[tuple[TableLoad, Shares], ...]:
    return tuple((load, {} if lying is None else _shares(load, lying)) for load in loads)


def _shares(load: TableLoad, lying: Lying) -> Shares:
    if load.unique_index is not None:
        return lying.shares[load.table.id][1 + load.unique_index]
    return chosen_shares(lying.rows[load.table.id][0], load.table, load.choice, load.rows_per_s)


@kept_by_identity(size=96)
def node_loads(plan: Plan, workload: Workload | None) -> tuple[NodeLoad, ...]:
    """Load of every data node that holds a partition of a table the workload touches, by node id."""
    if workload is None:
        return ()
    loads = demand.table_loads(plan.tables, steady(plan, workload), plan.version, True, True)
    return demand.node_loads(loads, *(shares for _, shares in chosen_loads(plan, workload)))


# Where it comes from.


def client_processes(plan: Plan, workload: Workload) -> tuple[SqlNode | ApiSlot, ...]:
    """The processes with a host that a workload's transactions come through, in node-id order."""
    if workload.through != "api" and plan.sql_nodes:
        return plan.sql_nodes
    if workload.through == "sql":
        return ()
    return tuple(slot for slot in plan.api_slots if slot.host_id is not None)


def sessions_per_node(plan: Plan, workload: Workload) -> tuple[float, tuple[tuple[SqlNode, int], ...]]:
    """Sessions that a workload opens at each SQL node, and how many each lets in (max-connections).

    They spread evenly. No nodes where it comes through none, or does not say how many clients there are.
    Source: manual, max_connections; the error beyond is 1040.
    """
    load = workload.load
    clients = None if isinstance(load, JobLoad) else load.clients
    nodes = [one for one in client_processes(plan, workload) if isinstance(one, SqlNode)]
    if clients is None or not nodes:
        return 0.0, ()
    most = ((node, in_effect(node.options, "max-connections", plan.version)) for node in nodes)
    return clients / len(nodes), tuple(most)


def enough_sessions(each: float, nodes: int) -> int:
    """What each of so many SQL nodes should let in: those of a node that is down come to the others."""
    return math.ceil(each * nodes / max(1, nodes - 1))


def let_in(plan: Plan, workload: Workload) -> Workload:
    """The workload with the clients alone that SQL nodes let in."""
    each, nodes = sessions_per_node(plan, workload)
    if all(each <= most for _, most in nodes):
        return workload
    clients = int(sum(min(each, most) for _, most in nodes))
    return workload.model_copy(update={"load": workload.load.model_copy(update={"clients": clients})})


def _coming(plan: Plan, workload: Workload) -> tuple[Coming, ...]:
    processes = client_processes(plan, steady(plan, workload))
    return same(_on_host(one, bare(plan.host(one.host_id))) for one in processes if one.host_id is not None)


@kept_by_identity(size=1024)
def _on_host(process: SqlNode | ApiSlot, host: Host) -> Coming:
    return process, host


def clients(plan: Plan, workload: Workload) -> ClientsEstimate:
    """What the workload asks of the SQL or API nodes its transactions come through."""
    return reach(plan, "load").widened_throughout(_clients(plan, workload))


def _clients(plan: Plan, workload: Workload) -> ClientsEstimate:
    coming = _coming(plan, workload)
    return of_clients.clients(constants_of(plan), steady(plan, workload), coming, bool(plan.api_slots))


# What it takes.


def cpu(plan: Plan, workload: Workload | None) -> CpuEstimate:
    """How busy data nodes, SQL or API nodes and their hosts are under a workload; nothing without one."""
    return reach(plan, "load").widened_throughout(cpu_by_formula(plan, workload))


def cpu_by_formula(plan: Plan, workload: Workload | None) -> CpuEstimate:
    """The same with the ranges of its constants alone, for what widens its own results."""
    if workload is None:
        return CpuEstimate((), ())
    coming = _coming(plan, workload)
    return cpu_of(narrowed(machines_of(plan)), node_loads(plan, workload), _clients(plan, workload), coming)


def idle_latency_s(plan: Plan, workload: Workload) -> Quantity:
    """Time of a mean transaction on an idle cluster: as clients state it, else as is assumed.

    What is assumed is no shorter than the transaction's own work: one session runs its statements, its rows
    come over one cluster connection, and each LDM thread does its part alone.
    """
    if isinstance(workload.load, ClosedLoad):
        return Quantity.stated("latency", workload.load.latency_s, "s", "plan")
    idle, work = constants_of(plan)["idle_latency_s"], own_work_s(plan, workload)
    return idle if work is None or work.value <= idle.value else work


def open_scans(plan: Plan, workload: Workload) -> float:
    """Scans that a workload has open at the highest rate that gets through (Little's law).

    Of what data nodes and links do not pass each client of a closed load has one that waits in the cluster;
    what nodes of clients do not pass waits there, and what an open load sends beyond waits at its client.
    """
    load, share = workload.load, scan_share(workload.transactions)
    if not share or isinstance(load, JobLoad):
        return 0.0
    busy = cpu(plan, workload)
    coming = () if busy.clients is None else busy.clients.nodes
    of_clients = max((one.connection_utilisation.value for one in coming), default=0.0)
    uses = [
        *(node.ldm_utilisation for node in busy.nodes),
        *(host.work for host in busy.hosts),
        *(host.utilisation for host in network(plan, workload).hosts),
    ]
    within = max((use.value for use in uses), default=0.0)
    rate = rate_of(plan, workload) / max(1.0, within, of_clients)
    under_way = rate * idle_latency_s(plan, workload).value
    if isinstance(load, ClosedLoad) and within > max(1.0, of_clients):
        under_way = max(under_way, load.clients - rate * load.think_time_s)
    most = load.clients if isinstance(load, OpenLoad) else None
    return share * (under_way if most is None else min(under_way, most))


def as_long_as_its_work(plan: Plan, workload: Workload) -> Workload:
    """The workload; of clients that state a latency shorter than the least of their work, with that."""
    load = workload.load
    work = own_work_s(plan, workload) if isinstance(load, ClosedLoad) else None
    if not isinstance(load, ClosedLoad) or work is None or work.low <= load.latency_s:
        return workload
    return workload.model_copy(update={"load": load.model_copy(update={"latency_s": work.low})})


def own_work_s(plan: Plan, workload: Workload) -> Quantity | None:
    """Seconds of the thread that works longest for a mean transaction; None of a job, and without a rate."""
    rate = rate_of(plan, workload)
    if rate <= 0 or isinstance(workload.load, JobLoad):
        return None
    return largest(_work_of_one(cpu_by_formula(plan, workload), rate), "s")


def _work_of_one(busy: CpuEstimate, rate: float) -> Iterator[tuple[str, Quantity]]:
    """Seconds that a mean transaction keeps each thread busy which no other can relieve."""
    for node in busy.nodes:
        yield f"busiest LDM thread of node {node.node_id}", node.ldm_utilisation.scaled(1 / rate, "s")
    coming = () if busy.clients is None else busy.clients.nodes
    for client in coming:
        each = rate / len(coming)
        yield f"session on {client.title}", client.cores.scaled(1 / each, "s")
        used = client.connection_utilisation.scaled(client.connections / each, "s")
        yield f"a cluster connection of {client.title}", used


def network(plan: Plan, workload: Workload | None) -> NetworkEstimate:
    """Traffic of every host under a workload; nothing without one."""
    return reach(plan, "load").widened_throughout(network_by_formula(plan, workload))


def network_by_formula(plan: Plan, workload: Workload | None) -> NetworkEstimate:
    """The same with the ranges of its constants alone, for what widens its own results."""
    if workload is None:
        return NetworkEstimate(())
    return network_of(narrowed(machines_of(plan)), node_loads(plan, workload), _coming(plan, workload))


def uplinks(plan: Plan, workload: Workload) -> tuple[UplinkUse, ...]:
    """Every location whose uplink has a stated speed. Nothing when none has."""
    hosts = [host for _, host in _coming(plan, workload)]
    return uplinks_of(narrowed(machines_of(plan)), node_loads(plan, workload), hosts)


def flows_of_hosts(plan: Plan, workload: Workload, dead: frozenset[int] = frozenset()) -> Flows:
    """What hosts send one another under a workload, while the nodes with these node ids are down."""
    machines = narrowed(machines_of(plan))
    now = carried(machines, node_loads(plan, workload), dead)
    coming = _coming(plan, workload)
    clients = [host.id for process, host in coming if not dead.issuperset(process_node_ids(process))]
    # Those that may come from anywhere come from no host of the plan.
    return flows_between(machines, now, clients if coming else [None], lambda host: host.id)


def node_loads_by_id(plan: Plan, workload: Workload | None) -> dict[int, NodeLoad]:
    """What is asked of each data node, by node id."""
    return _by_id(node_loads(plan, workload))


@kept_by_identity(size=96)
def _by_id(loads: tuple[NodeLoad, ...]) -> dict[int, NodeLoad]:
    return {load.node_id: load for load in loads}


def redo(plan: Plan, workload: Workload | None) -> RedoEstimate:
    """Log bytes of every operation, and under `workload` the rates of every node and when its log is full."""
    operations = same(one for w in plan.workloads for one in operations_of(plan.tables, w, plan.version))
    machines, near = narrowed(machines_of(plan)), reach(plan, "load")
    return redo_of(machines, node_loads(plan, workload), operations, near)


def checkpoint(plan: Plan, workload: Workload | None) -> CheckpointEstimate:
    """Checkpoints of every data node that holds rows, under a workload or without one."""
    machines, near = narrowed(machines_of(plan)), reach(plan, "load")
    loads, of_tables = node_loads_by_id(plan, workload), stored_loads(plan, workload)
    undo = undo_logs(machines, disk_data_by_formula(plan, workload).nodes)
    in_memory = NOT_ASKED
    if workload is not None and any(speed_limits(one.settings).redo_control for one in machines.nodes):
        in_memory = _in_memory(*((one.node_id, one.data_memory_bytes.value) for one in node_memories(plan)))
    found = checkpoint_of(machines, node_data_by_id(plan), loads, of_tables, near, undo, in_memory)
    at_runs = with_disks_of_runs(plan, "load")
    if at_runs is not None:
        without = rooms(reach(at_runs, "load")) / rooms(near)
        found = no_surer_than(found, checkpoint(at_runs, workload), without)
    return found if workload is None else until_memory_is_full(found, memory_full_after_s(plan, workload))


@kept_by_value(48)
def _in_memory(*of_nodes: tuple[int, float]) -> Mapping[int, float]:
    """Bytes of DataMemory in use, by node id: one object for all that are equal."""
    return dict(of_nodes)


@kept_by_identity(size=48)
def memory_full_after_s(plan: Plan, workload: Workload) -> MemoryEnds:
    """Until DataMemory, or IndexMemory up to 7.5, of each data node is full under a workload."""
    chosen = chosen_loads(plan, workload)
    # Where no data node holds rows there is no row to measure either.
    growth = memory_growth((load, shares, memory_per_row(plan, load)) for load, shares in chosen if shares)
    if not growth:
        return memory_ends()
    machines, ends = machines_of(plan).by_id, []
    for used in node_memories(plan):
        if used.node_id in growth:
            limits = memory_limits(used, machines[used.node_id].settings)
            ends.append((used.node_id, limits.full_after_s(used, *growth[used.node_id])))
    return memory_ends(*ends)


def full_rooms(plan: Plan, workload: Workload) -> tuple[tuple[int, int], ...]:
    """(error code, node id) of data nodes that have no room for a row of the workload, before it adds any.

    827: DataMemory; 625: IndexMemory up to 7.5; 1601: data files. A job begins with the rows before it.
    """
    job = job_of(plan, workload)
    plan = plan if job is None else plan.replace(tables=job.before(plan.tables))
    machines, used = machines_of(plan).by_id, {one.node_id: one for one in node_memories(plan)}
    full = []
    for node_id, after_s in memory_full_after_s(plan, workload):
        if after_s <= 0:
            data_bytes = memory_limits(used[node_id], machines[node_id].settings).data_bytes
            full.append((827 if used[node_id].data_memory_bytes.value >= data_bytes else 625, node_id))
    stored = stored_on_disk(plan)
    rooms = tablespace_rooms(
        plan.tablespaces, plan.version, stored, table_loads(plan, workload) if stored else ()
    )
    full += [
        (1601, node_id)
        for node_id, room in rooms.items()
        if room.bytes_per_s > 0 and room.used_bytes >= room.capacity_bytes > 0
    ]
    return tuple(full)


def stored_on_disk(plan: Plan) -> Stored:
    """The tables with columns on disk, and what each data node holds of them."""
    return _stored_on_disk(plan.tables, plan.version, lying(plan))


@kept_by_identity(size=48)
def _stored_on_disk(tables: tuple[Table, ...], version: NdbVersion, lying: Lying | None) -> Stored:
    on_disk = (table for table in tables if disk_rows(table, version))
    return tuple((table, {} if lying is None else lying.shares[table.id][0]) for table in on_disk)


def disk_data(plan: Plan, workload: Workload | None) -> DiskDataEstimate:
    """Space and traffic of tables with columns on disk."""
    return _disk_data(disk_data_by_formula(plan, workload), reach(plan, "load"), reach(plan, "storage"))


@kept_by_identity(size=48)
def _disk_data(found: DiskDataEstimate, near: Nearness, held: Nearness) -> DiskDataEstimate:
    """`near`: to measured loads; `held`: to measured sizes of rows, which fill tablespaces."""
    spaces, nodes = held.widened_throughout(found.tablespaces), near.widened_throughout(found.nodes)
    return replace(found, tablespaces=spaces, nodes=nodes)


def disk_data_by_formula(plan: Plan, workload: Workload | None) -> DiskDataEstimate:
    """The same with the ranges of its constants alone, for what widens its own results."""
    stored = stored_on_disk(plan)
    loads = table_loads(plan, workload) if stored else ()
    return disk_data_of(narrowed(machines_of(plan)), stored, plan.tablespaces, plan.logfile_groups, loads)


def undo_log(plan: Plan, workload: Workload | None) -> tuple[UndoUse, ...]:
    """What a workload keeps in the undo log of each data node that has rows on disk."""
    data, checkpoints, constants = disk_data(plan, workload), checkpoint(plan, workload), constants_of(plan)
    uses = []
    for node in data.nodes:
        cycle = checkpoints.node(node.node_id)
        if cycle is not None and node.undo_bytes_per_s.value > 0:
            uses.append(undo_use(constants, node, cycle.duration_s, cycle.waits_s, data.undo_capacity_bytes))
    return tuple(uses)


def disk_demand(plan: Plan, workload: Workload | None) -> DisksEstimate:
    """What a workload asks of every disk that data nodes use; a disk without traffic is listed as idle."""
    logs, checkpoints, pages = redo(plan, workload), checkpoint(plan, workload), disk_data(plan, workload)
    return demand_of(narrowed(machines_of(plan)), logs, checkpoints, pages)


# How much room a row takes.


def memory_per_row(plan: Plan, load: TableLoad) -> tuple[float, float]:
    """(DataMemory, IndexMemory) of one row on one replica, ordered indexes and blob parts included.

    Of a load on a unique index what one of its entries takes.
    """
    rules = rules_with(plan.version, constants_of(plan))
    return of_row.memory_per_row(load.table, load.unique_index, cluster_of(plan), around(plan), rules)
