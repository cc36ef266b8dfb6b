"""Rows of ndbinfo that count: what was done since a data node started.

Transactions are coordinated by all data nodes evenly, and rows are read at primary replicas [assumed].
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from ndbplan.estimate.stored import threads_of
from ndbplan.ndb.ndbinfo import tc_instances
from ndbplan.plan.workloads import EVENLY, OperationKind
from ndbplan.simulate.world.indices import OfCluster
from ndbplan.train.live import LiveCluster
from ndbplan.train.quantities import recording
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.objects import FIRST_TABLE
from ndbplan.train.sql.problem import NotSimulated

Row = dict[str, Any]
_WRITES = (OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE)


class _Done(NamedTuple):
    """Transactions since a data node started."""

    committed: float
    refused: float


def _done(cluster: LiveCluster, node_id: int) -> _Done:
    sim = cluster.session.simulation
    began_s = max(0.0, cluster.state.starts.get(node_id, 0.0))
    bucket, _ = recording(sim)
    first = int(began_s / (int(sim.laws.run.steps_per_bucket) * sim.scenario.step_s))
    totals = sim.history.totals[first : bucket + 1].sum(axis=0)
    return _Done(float(totals[OfCluster.ACCEPTED]), float(totals[OfCluster.REFUSED]))


def committed(cluster: LiveCluster, node_id: int) -> float:
    """Transactions of the whole cluster since a data node started."""
    return _done(cluster, node_id).committed


def _of_one(cluster: LiveCluster) -> defaultdict[tuple[str, OperationKind], float]:
    """Rows that one transaction of the mix touches, by table and kind; a scan counts as one."""
    workload = cluster.session.simulation.scenario.workload
    found: defaultdict[tuple[str, OperationKind], float] = defaultdict(float)
    weights = sum(one.weight for one in workload.transactions)
    for one in workload.transactions:
        for operation in one.operations:
            rows = 1.0 if operation.kind is OperationKind.SCAN else operation.rows
            found[operation.table_id, operation.kind] += one.weight / weights * rows
    return found


def counters(cluster: LiveCluster) -> Iterator[Row]:
    """Of the coordinators; counters that tell of messages and of overload are left out."""
    alive, each = cluster.state.alive(), _of_one(cluster)

    def rows(*kinds: OperationKind) -> float:
        return sum(count for (_, kind), count in each.items() if kind in kinds)

    for node_id in alive:
        node, done = cluster.state.data_node(node_id), _done(cluster, node_id)
        assert node is not None
        instances = tc_instances(cluster.plan.version, threads_of(cluster.plan, node).tc)
        share = 1.0 / len(alive) / len(instances)
        values = {
            (2, "TRANSACTIONS"): done.committed + done.refused, (3, "COMMITS"): done.committed,
            (4, "READS"): done.committed * rows(OperationKind.READ),
            (6, "WRITES"): done.committed * rows(*_WRITES), (7, "ABORTS"): done.refused,
            (9, "RANGE_SCANS"): done.committed * rows(OperationKind.SCAN),
        }  # fmt: skip
        for instance in instances:
            for (number, name), value in values.items():
                yield {
                    "node_id": node_id, "block_name": "DBTC", "block_instance": instance,
                    "counter_id": number, "counter_name": name, "val": round(value * share),
                }  # fmt: skip


def operations_per_fragment(cluster: LiveCluster) -> Iterator[Row]:
    """By fragment replica. Raises NotSimulated where keys are not chosen evenly."""
    sim, alive = cluster.session.simulation, set(cluster.state.alive())
    for one in sim.scenario.workload.transactions:
        if any(operation.choice is not EVENLY for operation in one.operations):
            raise NotSimulated("ndbinfo.operations_per_fragment is not simulated where some keys are hot")
    each, done = _of_one(cluster), {node_id: _done(cluster, node_id).committed for node_id in alive}
    for number, table in enumerate(cluster.plan.tables):
        parts = partitions_of(sim, cluster.plan_of(table), table)
        rows = sum(part.rows for part in parts)
        for part in parts:
            share = part.rows / rows if rows else 1.0 / len(parts)
            there = [i for i in (part.primary, *part.nodes) if i in alive]
            for node_id in (i for i in part.nodes if i in alive):
                count = {
                    kind: round(done[node_id] * share * each[table.id, kind])
                    for kind in OperationKind
                    if kind in _WRITES or node_id == there[0]
                }
                yield {
                    "fq_name": f"{table.database}/def/{table.name}", "parent_fq_name": None,
                    "type": "User table", "table_id": FIRST_TABLE + number, "node_id": node_id,
                    "block_instance": part.ldm, "fragment_num": part.fragment,
                    "tot_key_reads": count.get(OperationKind.READ, 0),
                    "tot_key_inserts": count[OperationKind.INSERT],
                    "tot_key_updates": count[OperationKind.UPDATE],
                    "tot_key_deletes": count[OperationKind.DELETE],
                    "tot_frag_scans": count.get(OperationKind.SCAN, 0),
                    "tot_commits": sum(count[kind] for kind in _WRITES),
                }  # fmt: skip


def locks_per_fragment(cluster: LiveCluster) -> Iterator[Row]:
    """Locks of the rows that were changed; nobody is simulated to wait. Raises NotSimulated."""
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
