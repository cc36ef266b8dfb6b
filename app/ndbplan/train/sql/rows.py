"""Rows of ndbinfo of a live cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ndbplan.configuration.deployment import data_node_program, management_port
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, SqlNode
from ndbplan.simulate.ndbinfo import view
from ndbplan.train.live import LiveCluster
from ndbplan.train.memory import memory_pages
from ndbplan.train.sql import configured, counted, dictionary, dictionary_columns, machines, sessions_seen
from ndbplan.train.sql.fragment_memory import memory_per_fragment
from ndbplan.train.sql.server import answering
from ndbplan.train.state import ANSWERS, NO_RESTART, Status

Row = dict[str, Any]
_STATUS = {Status.STARTED: "STARTED", Status.SINGLE_USER: "SINGLEUSER", Status.STOPPING: "STOPPING_1"}
_SHOWN_FROM = 100
"""Start phase from which a node that starts has a row [8.4.8]."""
FIRST_CONNECTION = 12
"""Number of the first connection of the load [8.4.8: 12 to 14]."""
NO_GROUP = 4294967040
"""group_id of a node without a node group [7.4.10]."""


def _nodes(cluster: LiveCluster) -> Iterator[Row]:
    for node_id, node in cluster.state.nodes.items():
        if node.hangs or (node.status is Status.STARTING and node.phase < _SHOWN_FROM):
            continue
        starting = node.status is Status.STARTING
        if starting or node.status in ANSWERS:
            began_s = max(0.0, cluster.state.starts.get(node_id, 0.0))
            yield {
                "node_id": node_id, "uptime": int(cluster.now_s - began_s),
                "status": "STARTING" if starting else _STATUS[node.status],
                "start_phase": node.phase if starting else 0,
                "config_generation": cluster.state.generations.get(node_id, 1),
            }  # fmt: skip


def _membership(cluster: LiveCluster) -> Iterator[Row]:
    state, alive = cluster.state, cluster.state.alive()
    # A node that is silent has its place until the others declare it dead.
    ring = [i for i in state.joined if i in alive or i in state.silent]
    finds = state.arbitrator is None
    for place, node_id in sorted(enumerate(ring), key=lambda pair: pair[1]):
        if node_id not in alive:
            continue
        group = state.group(node_id)
        arbitrator = state.arbitrator or 0
        yield {
            "node_id": node_id, "group_id": NO_GROUP if group is None else group,
            "left_node": ring[place - 1], "right_node": ring[(place + 1) % len(ring)],
            "president": ring[0], "successor": ring[1] if len(ring) > 1 else 0,
            "succession_order": state.joined[node_id], "Conf_HB_order": 0, "arbitrator": arbitrator,
            "arb_ticket": state.ticket if finds and place == 0 else state.ticket_told,
            "arb_state": "ARBIT_RUN" if arbitrator else "ARBIT_FIND" if place == 0 else "ARBIT_NULL",
            "arb_connected": "Yes" if arbitrator else "No",
            "connected_rank1_arbs": ", ".join(str(i) for i in sorted(state.servers)) or "-",
            "connected_rank2_arbs": "-",
        }  # fmt: skip


def _transporters(cluster: LiveCluster) -> Iterator[Row]:
    state, alive = cluster.state, cluster.state.alive()
    others = sorted(i for p in cluster.plan.processes for i in (p.node_id, *getattr(p, "pool_node_ids", ())))
    there = {*alive, *state.silent, *state.servers, *cluster.clients}
    for node_id in alive:
        for other in others:
            if other != node_id:
                connected = other in there
                apart = "DISCONNECTED" if other in state.closed else "CONNECTING"
                yield {
                    "node_id": node_id, "remote_node_id": other,
                    "status": "CONNECTED" if connected else apart,
                    "remote_address": state.seen_at(other) if connected else "-",
                    "connect_count": state.linked(node_id, other) if other in state.nodes else int(connected),
                }  # fmt: skip


def _processes(cluster: LiveCluster) -> Iterator[Row]:
    state = cluster.state
    for process in sorted(cluster.plan.processes, key=lambda one: one.node_id):
        i = process.node_id
        if isinstance(process, DataNode) and i in state.alive():
            kind, name, uri = "NDB", data_node_program(cluster.plan), f"ndb://{state.seen_at(i)}"
        elif isinstance(process, ManagementNode) and i in state.servers:
            kind, name = "MGM", "ndb_mgmd"
            uri = f"ndb://{state.seen_at(i)}:{management_port(cluster.plan, process)}"
        elif isinstance(process, SqlNode) and i in cluster.clients:
            kind, name, uri = "API", "mysqld", f"mysql://{state.seen_at(i)}:3306/?server-id={i}"
        elif isinstance(process, ApiSlot) and i in cluster.clients:
            # A program that told no name of its own [8.4.8].
            kind, name, uri = "API", "", f"ndb://{state.seen_at(i)}"
        else:
            continue
        number = state.process_number(i)
        yield {
            "node_id": i, "node_type": kind, "node_version": state.release.name, "process_id": number,
            "angel_process_id": number - 1 if kind == "NDB" else None, "process_name": name,
            "service_URI": uri,
        }  # fmt: skip


def _config_nodes(cluster: LiveCluster) -> Iterator[Row]:
    for process in sorted(cluster.plan.processes, key=lambda one: one.node_id):
        kind = "NDB" if isinstance(process, DataNode) else "API"
        kind = "MGM" if isinstance(process, ManagementNode) else kind
        address = cluster.state.address(process.node_id) if process.host_id else ""
        yield {"node_id": process.node_id, "node_type": kind, "node_hostname": address}


def _of_load(cluster: LiveCluster) -> list[Row]:
    """Operations of the load that wait."""
    there = set(cluster.state.alive())
    rows = view("cluster_operations", cluster.result(), cluster.plan, max(0.0, cluster.now_s))
    return [_connected(row) for row in rows if row.get("node_id") in there]


def _connected(row: Row) -> Row:
    return {"mysql_connection_id": FIRST_CONNECTION + row["client_block_ref"] % 16, **row}


_EMPTY = {
    "memoryusage": ("used", "used_pages"), "logspaces": ("used",), "logbuffers": ("used",),
    "resources": ("used",),
}  # fmt: skip
"""Tables that have rows of every data node, and what is 0 of one that holds no fragment."""
_OF_NO_ROW = ("Long message buffer", "JOBBUFFER", "FILE_BUFFERS", "TRANSPORTER_BUFFERS", "DISK_PAGE_BUFFER")
"""Memory that each data node has in use that runs, whatever it holds [7.4.10]."""


def with_undo_ids(cluster: LiveCluster, rows: list[Row]) -> list[Row]:
    """Rows of logs; undo log is that of the log file group with its number in the dictionary [8.4.8]."""
    of_group = next((n for thing, n in cluster.state.ids.items() if thing.kind == "group"), 0)
    return [row | {"log_id": of_group} if row["log_type"] == "DD-UNDO" else row for row in rows]


def with_spare(cluster: LiveCluster, name: str, rows: list[Row]) -> list[Row]:
    """Rows of a table, and those of started nodes without fragments, which are empty [7.4.10, 8.4.8]."""
    known = sorted({row["node_id"] for row in rows})
    spare = sorted(set(cluster.state.alive()) - set(known))
    if name not in _EMPTY or not known:
        return rows
    model = [row for row in rows if row["node_id"] == known[0]]
    nothing = dict.fromkeys(_EMPTY[name], 0)
    kinds = (row.get("memory_type", row.get("resource_name")) for row in model)
    used = [{} if kind in _OF_NO_ROW else nothing for kind in kinds]
    return [
        *rows,
        *({**row, **less, "node_id": i} for i in spare for row, less in zip(model, used, strict=True)),
    ]


def _memoryusage(cluster: LiveCluster) -> Iterator[Row]:
    """What is in use at this moment, rows that were just typed too."""
    there, sim = set(cluster.state.alive()), cluster.session.simulation
    rows = view("memoryusage", cluster.result(), cluster.plan, max(0.0, cluster.now_s))
    for row in with_spare(cluster, "memoryusage", rows):
        if row["node_id"] not in there:
            continue
        data, index = memory_pages(sim, row["node_id"])
        pages = {"Data memory": data, "Index memory": index}.get(row["memory_type"])
        if pages is not None:
            row |= {"used": pages.used * pages.kib * 1024, "used_pages": pages.used}
        yield row


def _operations(cluster: LiveCluster) -> Iterator[Row]:
    yield from sessions_seen.operations(cluster)
    yield from _of_load(cluster)


def _transactions(cluster: LiveCluster) -> Iterator[Row]:
    """The transactions of the operations that wait, at their coordinators, and those of sessions."""
    yield from sessions_seen.transactions(cluster)
    for one in _of_load(cluster):
        yield {
            "node_id": one["tc_node_id"], "block_instance": one["tc_block_instance"],
            "mysql_connection_id": one["mysql_connection_id"], "transid": one["transid"],
            "state": "Started", "count_operations": 1,
            "outstanding_operations": 1, "client_node_id": one["client_node_id"],
            "client_block_ref": one["client_block_ref"],
        }  # fmt: skip


def _of_server(rows: Callable[[LiveCluster], Iterator[Row]]) -> Callable[[LiveCluster], Iterator[Row]]:
    """The same of the server that answers, with the connection that each comes through."""

    def own(cluster: LiveCluster) -> Iterator[Row]:
        server = answering(cluster)
        ids = () if server is None else (server.node_id, *server.pool_node_ids)
        return (one for one in rows(cluster) if one["client_node_id"] in ids)

    return own


def _cluster_locks(cluster: LiveCluster) -> Iterator[Row]:
    """Locks of sessions, and of the operations that wait."""
    yield from sessions_seen.locks(cluster)
    for number, one in enumerate(_of_load(cluster)):
        yield {
            "mysql_connection_id": one["mysql_connection_id"], "node_id": one["node_id"],
            "block_instance": one["block_instance"], "tableid": one["tableid"],
            "fragmentid": one["fragmentid"], "rowid": number, "transid": one["transid"], "mode": "X",
            "state": "H", "detail": "*", "op": one["operation_type"], "duration_millis": 0,
            "lock_num": number, "waiting_for": None, "client_node_id": one["client_node_id"],
        }  # fmt: skip


def _transporter_details(cluster: LiveCluster) -> Iterator[Row]:
    """Each connection by itself: one between two nodes, and none of a node with itself."""
    numbers: dict[int, int] = {}
    for one in _transporters(cluster):
        node_id = int(one["node_id"])
        numbers[node_id] = numbers.get(node_id, 0) + 1
        yield {**one, "block_instance": 1, "trp_id": numbers[node_id], "type": "TCP"}


def _none(_cluster: LiveCluster) -> Iterator[Row]:
    return iter(())


_LIVE: dict[str, Callable[[LiveCluster], Iterator[Row]]] = {
    "nodes": _nodes, "membership": _membership, "transporters": _transporters, "processes": _processes,
    "config_nodes": _config_nodes, "memoryusage": _memoryusage, "memory_per_fragment": memory_per_fragment,
    "counters": counted.counters, "operations_per_fragment": counted.operations_per_fragment,
    "arbitrator_validity_detail": lambda cluster: counted.arbitrator_detail(_membership(cluster)),
    "arbitrator_validity_summary": lambda cluster: counted.arbitrator_summary(_membership(cluster)),
    "backup_id": counted.backup_id,
    "threads": machines.threads, "threadblocks": machines.threadblocks, "threadstat": machines.threadstat,
    "cpustat": machines.cpustat, "cpustat_50ms": machines.cpustat_kept("50ms"),
    "cpustat_1sec": machines.cpustat_kept("1sec"), "cpustat_20sec": machines.cpustat_kept("20sec"),
    "hwinfo": machines.hwinfo, "cpuinfo": machines.cpuinfo, "cpudata": machines.cpudata,
    "blocks": machines.blocks, "dict_obj_types": machines.dict_obj_types,
    "disk_write_speed_base": machines.disk_write_speed_base,
    "disk_write_speed_aggregate": machines.disk_write_speed_aggregate,
    "diskpagebuffer": machines.diskpagebuffer,
    "table_fragments": dictionary.table_fragments, "table_info": dictionary.table_info,
    "table_distribution_status": dictionary.table_distribution_status,
    "dictionary_tables": dictionary.dictionary_tables, "hash_maps": dictionary.hash_maps,
    "dictionary_columns": dictionary_columns.dictionary_columns, "files": dictionary.files,
    "cluster_operations": _operations, "cluster_transactions": _transactions,
    "server_operations": _of_server(_operations), "server_transactions": _of_server(_transactions),
    "config_params": configured.config_params, "config_values": configured.config_values,
    "error_messages": configured.error_messages, "cluster_locks": _cluster_locks,
    "server_locks": _of_server(_cluster_locks), "transporter_details": _transporter_details,
    "locks_per_fragment": counted.locks_per_fragment, "tc_time_track_stats": counted.tc_time_track_stats,
    "dict_obj_info": dictionary.dict_obj_info, "dict_obj_tree": dictionary.dict_obj_tree,
    "index_columns": dictionary_columns.index_columns, "blobs": dictionary_columns.blobs,
    "table_replicas": dictionary.table_replicas, "cpudata_50ms": machines.cpudata_kept("50ms"),
    "cpudata_1sec": machines.cpudata_kept("1sec"), "cpudata_20sec": machines.cpudata_kept("20sec"),
    "diskstat": machines.diskstat, "diskstats_1sec": machines.diskstats_1sec,
    "pgman_time_track_stats": machines.pgman_time_track_stats,
    "foreign_keys": dictionary.foreign_keys,
    # Nodes have no certificates, nobody analyses indexes or replicates.
    "certificates": _none, "index_stats": _none, "events": _none,
}  # fmt: skip


def ndbinfo(cluster: LiveCluster, name: str) -> list[Row]:
    """The rows of a table now; columns that tell nothing here are 0 or empty."""
    table = tables_of(cluster.plan.version)[name]
    if name not in _LIVE:
        there = set(cluster.state.alive())
        result = cluster.result()
        # Speeds are means: the moment that runs may be a step old.
        back_s = result.bucket_s if name.startswith("disk_write_speed") else 0.0
        rows = view(name, result, cluster.plan, max(0.0, cluster.now_s - back_s))
        if name == "restart_info":
            # None of those that started together with all others [8.4.8, 7.4.10].
            nodes = cluster.state.nodes
            return [row for row in rows if nodes[row["node_id"]].restart_status != NO_RESTART]
        if name in ("logbuffers", "logspaces"):
            rows = with_undo_ids(cluster, rows)
        return [row for row in with_spare(cluster, name, rows) if row.get("node_id") in there]
    empty = {
        column: 0 if is_number else "" for column, is_number in zip(table.columns, table.numeric, strict=True)
    }
    return [
        {column: row.get(column, empty[column]) for column in table.columns} for row in _LIVE[name](cluster)
    ]
