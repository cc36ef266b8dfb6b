"""Rows of ndbinfo that count: what was done since a data node started.

Transactions are coordinated by all data nodes evenly, and rows are read at primary replicas [assumed].
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.load.key_choice import power_law_shares
from ndbplan.estimate.storage.fragments import Partition
from ndbplan.estimate.storage.rows import row_layout
from ndbplan.estimate.stored import distribute, threads_of
from ndbplan.ndb.ndbinfo import tc_instances
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Operation, OperationKind, Workload
from ndbplan.simulate.events.orders import SpreadKeys
from ndbplan.simulate.world.indices import OfCluster
from ndbplan.train.live import LiveCluster
from ndbplan.train.quantities import recording
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.objects import numbered
from ndbplan.train.system_tables import in_fragments

Row = dict[str, Any]
_WRITES = (OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE)


class _Done(NamedTuple):
    """Transactions since a data node started."""

    committed: float
    refused: float


def _done(cluster: LiveCluster, node_id: int, since_s: float = 0.0) -> _Done:
    """Since a data node started; `since_s`: or since then, if that is later."""
    sim = cluster.session.simulation
    began_s = max(0.0, since_s, cluster.state.starts.get(node_id, 0.0))
    bucket, _ = recording(sim)
    first = int(began_s / (int(sim.laws.run.steps_per_bucket) * sim.scenario.step_s))
    totals = sim.history.totals[first : bucket + 1].sum(axis=0)
    return _Done(float(totals[OfCluster.ACCEPTED]), float(totals[OfCluster.REFUSED]))


def committed(cluster: LiveCluster, node_id: int) -> float:
    """Transactions of the whole cluster since a data node started."""
    return _done(cluster, node_id).committed


def _of_one(cluster: LiveCluster) -> defaultdict[tuple[str, OperationKind], float]:
    """Rows that one transaction of the mix touches, by table and kind; a scan counts as one."""
    found: defaultdict[tuple[str, OperationKind], float] = defaultdict(float)
    for operation, times in _operations(cluster.session.simulation.scenario.workload):
        found[operation.table_id, operation.kind] += times
    return found


def _operations(workload: Workload) -> Iterator[tuple[Operation, float]]:
    """Each operation of a mix, and the rows that one transaction touches with it."""
    weights = sum(one.weight for one in workload.transactions)
    for one in workload.transactions:
        for operation in one.operations:
            rows = 1.0 if operation.kind is OperationKind.SCAN else operation.rows
            yield operation, one.weight / weights * rows


_ATTRINFO, _OPERATIONS, _LOCAL_READS, _LOCAL_WRITES = 1, 10, 24, 25
_NAMES_OF_TC = {
    _ATTRINFO: "ATTRINFO", 2: "TRANSACTIONS", 3: "COMMITS", 4: "READS", 5: "SIMPLE_READS", 6: "WRITES",
    7: "ABORTS", 8: "TABLE_SCANS", 9: "RANGE_SCANS", _LOCAL_READS: "LOCAL_READS",
    _LOCAL_WRITES: "LOCAL_WRITES",
}  # fmt: skip
_NAMES_OF_LQH = {
    _OPERATIONS: "OPERATIONS", 26: "LQHKEY_OVERLOAD", 27: "LQHKEY_OVERLOAD_TC", 28: "LQHKEY_OVERLOAD_READER",
    29: "LQHKEY_OVERLOAD_NODE_PEER", 30: "LQHKEY_OVERLOAD_SUBSCRIBER", 31: "LQHSCAN_SLOWDOWNS",
}  # fmt: skip
_NAMES_OF_SPJ = {
    11: "READS_RECEIVED", 12: "LOCAL_READS_SENT", 13: "REMOTE_READS_SENT", 14: "READS_NOT_FOUND",
    15: "TABLE_SCANS_RECEIVED", 16: "LOCAL_TABLE_SCANS_SENT", 17: "RANGE_SCANS_RECEIVED",
    18: "LOCAL_RANGE_SCANS_SENT", 19: "REMOTE_RANGE_SCANS_SENT", 20: "SCAN_BATCHES_RETURNED",
    21: "SCAN_ROWS_RETURNED", 22: "PRUNED_RANGE_SCANS_RECEIVED", 23: "CONST_PRUNED_RANGE_SCANS_RECEIVED",
}  # fmt: skip
"""Numbers and names by block [source: the view counters of 7.4.10 and 8.4.8, 11, 7 and 13 of a node]."""
_WORDS_A_BYTE = 0.25
"""Of ATTRINFO: the values of a row that is written."""


def counters(cluster: LiveCluster) -> Iterator[Row]:
    """Of coordinators, of the blocks of rows, and of joins that are pushed down, of which the load has none.

    No part of the simulation is overloaded in its connections: those counters are 0.
    """
    plan, alive = cluster.plan, cluster.state.alive()
    for node_id in alive:
        node, done = cluster.state.data_node(node_id), _done(cluster, node_id)
        assert node is not None
        threads, found = threads_of(plan, node), _values(cluster, done)
        coordinators = tc_instances(plan.version, threads.tc)
        blocks = (
            ("DBTC", coordinators, _NAMES_OF_TC),
            ("DBLQH", range(1, threads.ldm_instances + 1), _NAMES_OF_LQH),
            ("DBSPJ", coordinators, _NAMES_OF_SPJ),
        )  # fmt: skip
        for block, instances, names in blocks:
            share = 1.0 / len(alive) / len(instances)
            for instance in instances:
                for number, name in names.items():
                    value = round(found.get(number, 0.0) * share)
                    yield {
                        "node_id": node_id, "block_name": block, "block_instance": instance,
                        "counter_id": number, "counter_name": name, "val": value,
                    }  # fmt: skip


def _values(cluster: LiveCluster, done: _Done) -> dict[int, float]:
    """Counters of the whole cluster that are not 0, by their numbers."""
    plan, each, alive = cluster.plan, _of_one(cluster), cluster.state.alive()

    def rows(*kinds: OperationKind) -> float:
        return done.committed * sum(count for (_, kind), count in each.items() if kind in kinds)

    written = sum(
        count * (row.fixed_bytes + row.variable_bytes)
        for (table_id, kind), count in each.items()
        if kind in (OperationKind.INSERT, OperationKind.UPDATE)
        and isinstance(plan.by_id.get(table_id), Table)
        for row in (row_layout(plan.table(table_id), plan.version),)
    )
    reads, writes = rows(OperationKind.READ), rows(*_WRITES)
    return {
        _ATTRINFO: done.committed * written * _WORDS_A_BYTE,
        2: done.committed + done.refused, 3: done.committed,
        4: reads, 6: writes, 7: done.refused, 9: rows(OperationKind.SCAN),
        _LOCAL_READS: reads / len(alive), _LOCAL_WRITES: writes / len(alive),
        _OPERATIONS: reads + writes * no_of_replicas(plan),
    }  # fmt: skip


def operations_per_fragment(cluster: LiveCluster) -> Iterator[Row]:
    """By fragment replica, of keys that were chosen as the workload says."""
    sim, alive = cluster.session.simulation, set(cluster.state.alive())
    yield from _of_system(cluster, alive)
    spells = _spells(cluster)
    for number, table in numbered(cluster.plan, cluster.state.ids):
        parts = partitions_of(sim, cluster.plan_of(table), table)
        typed = max(0, cluster.state.rows_typed.get(table.id, 0))
        even = _even(parts)
        mixes = [(_by_fragment(cluster, table, parts, workload), done) for workload, done in spells]
        for place, part in enumerate(parts):
            there = [i for i in (part.primary, *part.nodes) if i in alive]
            for node_id in (i for i in part.nodes if i in alive):
                count = {
                    kind: round(sum(done[node_id] * mix[kind][place] for mix, done in mixes if kind in mix))
                    for kind in OperationKind
                    if kind in _WRITES or node_id == there[0]
                }
                count[OperationKind.INSERT] += round(typed * even[place])
                yield {
                    "fq_name": f"{table.database}/def/{table.name}", "parent_fq_name": None,
                    "type": "User table", "table_id": number, "node_id": node_id,
                    "block_instance": part.ldm, "fragment_num": part.fragment,
                    "tot_key_reads": count.get(OperationKind.READ, 0),
                    "tot_key_inserts": count[OperationKind.INSERT],
                    "tot_key_updates": count[OperationKind.UPDATE],
                    "tot_key_deletes": count[OperationKind.DELETE],
                    "tot_frag_scans": count.get(OperationKind.SCAN, 0),
                    "tot_commits": sum(count[kind] for kind in _WRITES),
                }  # fmt: skip


def _spells(cluster: LiveCluster) -> list[tuple[Workload, dict[int, float]]]:
    """Each workload since the begin, and by data node what was committed of it since the node started."""
    sim, alive = cluster.session.simulation, cluster.state.alive()
    now = {node_id: _done(cluster, node_id).committed for node_id in alive}
    spread_s = next((a.at_s for a in cluster.session.history if isinstance(a.event, SpreadKeys)), None)
    if spread_s is None:
        return [(sim.scenario.workload, now)]
    after = {node_id: _done(cluster, node_id, spread_s).committed for node_id in alive}
    before = {node_id: now[node_id] - after[node_id] for node_id in alive}
    return [(sim.story.scenario.workload, before), (sim.scenario.workload, after)]


def _even(parts: Sequence[Partition]) -> list[float]:
    """Share of each fragment of the rows of a table."""
    rows = sum(part.rows for part in parts)
    return [part.rows / rows if rows else 1.0 / len(parts) for part in parts]


def _by_fragment(
    cluster: LiveCluster, table: Table, parts: Sequence[Partition], workload: Workload
) -> dict[OperationKind, list[float]]:
    """Operations of each kind on each fragment for one transaction of a mix; a scan counts as one."""
    found: dict[OperationKind, list[float]] = {}
    for operation, times in _operations(workload):
        if operation.table_id != table.id:
            continue
        shares = _even(parts)
        if operation.choice.kind == "power_law":
            lies = distribute(cluster.plan_of(table), table)
            hot = power_law_shares(lies, operation.choice.exponent)
            copies = len(parts) / max(1, len({part.partition for part in parts}))
            if all(part.partition < len(hot) for part in parts):
                shares = [float(hot[part.partition]) / copies for part in parts]
        known = found.setdefault(operation.kind, [0.0] * len(parts))
        found[operation.kind] = [have + times * share for have, share in zip(known, shares, strict=True)]
    return found


def _of_system(cluster: LiveCluster, alive: set[int]) -> Iterator[Row]:
    """What system tables hold was inserted once [8.4.8]; what is asked of them is not told."""
    for one, place, part in in_fragments(cluster.plan):
        for node_id in (i for i in part.nodes if i in alive and one.is_table):
            yield {
                "fq_name": one.name, "parent_fq_name": one.parent, "type": one.type, "table_id": one.number,
                "node_id": node_id, "block_instance": part.ldm, "fragment_num": part.fragment,
                "tot_key_inserts": one.rows_of(place), "tot_key_updates": 0, "tot_key_deletes": 0,
                "tot_commits": one.rows_of(place),
            }  # fmt: skip


def locks_per_fragment(cluster: LiveCluster) -> Iterator[Row]:
    """Locks of the rows that were changed; nobody is simulated to wait."""
    for one in operations_per_fragment(cluster):
        taken = one["tot_key_inserts"] + one["tot_key_updates"] + one["tot_key_deletes"]
        yield {
            **{name: one[name] for name in ("fq_name", "parent_fq_name", "type", "table_id", "node_id",
                                            "block_instance", "fragment_num")},
            "ex_req": taken, "ex_imm_ok": taken,
        }  # fmt: skip


_BOUNDS = tuple(accumulate(range(31), lambda bound, _: bound * 3 // 2, initial=50))
"""Bounds of the histogram of a coordinator in microseconds: each half as long again [8.4.8, 7.4.10: 50, 75,
112, 168 ..., of 32 rows]."""
_DBTC = 245


def tc_time_track_stats(cluster: LiveCluster) -> Iterator[Row]:
    """How long transactions took, by coordinator and by who asked; all of a moment stand at its mean."""
    alive, each = cluster.state.alive(), _of_one(cluster)
    reads = sum(count for (_, kind), count in each.items() if kind is OperationKind.READ)
    writes = sum(count for (_, kind), count in each.items() if kind in _WRITES)
    latency_us = 1e6 * cluster.result().latency_mean_s.value
    at = next((bound for bound in _BOUNDS if bound >= latency_us), _BOUNDS[-1])
    askers = sorted(cluster.clients)
    for node_id in alive:
        node, done = cluster.state.data_node(node_id), _done(cluster, node_id)
        assert node is not None
        instances = tc_instances(cluster.plan.version, threads_of(cluster.plan, node).tc)
        share = 1.0 / len(alive) / len(instances) / max(1, len(askers))
        for instance in instances:
            for other in [*alive, *askers]:
                for bound in _BOUNDS:
                    here = share * (bound == at) * (other in cluster.clients)
                    yield {
                        "node_id": node_id, "block_number": _DBTC, "block_instance": instance,
                        "comm_node_id": other, "upper_bound": bound,
                        "transactions": round(done.committed * here),
                        "transaction_errors": round(done.refused * here),
                        "read_key_ops": round(done.committed * reads * here),
                        "write_key_ops": round(done.committed * writes * here),
                    }  # fmt: skip


def arbitrator_detail(members: Iterator[Row]) -> Iterator[Row]:
    """What each data node says of the arbitrator, from its row of membership."""
    columns = ("node_id", "arbitrator", "arb_ticket", "arb_connected", "arb_state")
    return ({name: row[name] for name in columns} for row in members)


def arbitrator_summary(members: Iterator[Row]) -> Iterator[Row]:
    """How many data nodes say the same."""
    columns = ("arbitrator", "arb_ticket", "arb_connected")
    said = Counter(tuple(row[name] for name in columns) for row in members)
    return ({**dict(zip(columns, values, strict=True)), "consensus_count": n} for values, n in said.items())


def backup_id(cluster: LiveCluster) -> Iterator[Row]:
    """Number of the last backup; 0: there was none."""
    yield {"id": cluster.state.last_backup}
