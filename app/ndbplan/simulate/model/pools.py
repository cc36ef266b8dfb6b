"""What transactions hold while they are under way: records of operations and scans, and send buffers.

Source: Little's law for what is under way; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ndbplan.configuration.settings import NodeSettings, connection_settings, no_of_replicas, settings_by_node
from ndbplan.estimate.constants import Constants, constants_of
from ndbplan.estimate.load.transaction_size import (
    operations_of_one,
    scan_share,
    scans_of_node,
    size_of,
)
from ndbplan.estimate.loaded import idle_latency_s, network, rate_of
from ndbplan.estimate.storage.node_memory import transaction_memory
from ndbplan.estimate.stored import threads_of
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, node_ids
from ndbplan.plan.workloads import ClosedLoad, Workload
from ndbplan.simulate.model.load_over_time import Service
from ndbplan.simulate.world.indices import Error
from ndbplan.simulate.world.laws import Run


def set_pools(run: Run, plan: Plan, workload: Workload, limits: Sequence[Service]) -> None:
    """Fill in the settings of a run about operation records and send buffers."""
    nodes = [node for node in plan.data_nodes if node.node_group != NODE_GROUP_NONE]
    settings = settings_by_node(plan)
    own = [(settings[node.node_id], threads_of(plan, node)) for node in nodes]
    run.held_s, constants = _held_s(plan, workload, limits), constants_of(plan)
    newer = plan.features.transaction_memory
    sizes = [size_of(plan.tables, transaction, plan.version) for transaction in workload.transactions]
    weights = [transaction.weight for transaction in workload.transactions]
    of_one = min((operations_of_one(one) for one, _ in own), default=0)
    each = min((one.number("MaxNoOfConcurrentOperations") for one, _ in own), default=0)
    fits = [
        (size.operations, weight)
        for size, weight in zip(sizes, weights, strict=True)
        if size.counted(writes_alone=newer) <= of_one
    ]
    mean = sum(o * w for o, w in fits) / sum(w for _, w in fits) if fits else 0.0
    run.too_large_share = 1.0 - sum(w for _, w in fits) / sum(weights)
    run.too_large_error = Error.TOO_LARGE if newer else Error.RECORDS
    by_count = len(nodes) * max(1, each) / mean if mean > 0 else 1e15
    run.pool, run.pool_error = by_count, Error.OPERATIONS if newer else Error.RECORDS
    if newer and mean > 0:
        bytes_each = mean * (
            constants["coordinator_operation_bytes"].value
            + no_of_replicas(plan) * constants["local_operation_bytes"].value
        )
        by_memory = _record_memory(constants, own) / bytes_each
        if by_memory < by_count:
            run.pool, run.pool_error = by_memory, Error.RECORDS
    scanning = scan_share(workload.transactions)
    scans = sum(scans_of_node(*one) for one in own)
    if scans < run.pool * scanning:
        run.pool, run.pool_error = scans / scanning, Error.SCANS
    run.send_buffered = _send_transactions(plan, workload, limits)


def _held_s(plan: Plan, workload: Workload, limits: Sequence[Service]) -> float:
    """How long a mean transaction holds its records: as on an idle cluster.

    Where data nodes or links let pass fewer than its clients could send, each client that does not think has
    one that waits in the cluster. What nodes of clients do not pass waits before it has any record.
    """
    idle_s, load = idle_latency_s(plan, workload).value, workload.load
    if not isinstance(load, ClosedLoad) or not limits or limits[0].is_clients:
        return idle_s
    return max(idle_s, load.clients / limits[0].max_per_s - load.think_time_s)


def _record_memory(constants: Constants, own: Iterable[tuple[NodeSettings, ThreadCounts]]) -> float:
    """Bytes of nodes for records of operations: TransactionMemory, and what may be borrowed."""
    known: dict[tuple[NodeSettings, ThreadCounts], float] = {}
    whole = 0.0
    for key in own:
        if key not in known:
            settings, threads = key
            known[key] = transaction_memory(settings, threads, constants).value + settings.number(
                "SharedGlobalMemory"
            )
        whole += known[key]
    return whole


def _send_transactions(plan: Plan, workload: Workload, limits: Sequence[Service]) -> float:
    """Transactions whose messages fit the send buffers of the data node at the slowest link.

    0 when something else is slower than the network, or the link is one of clients only, which wait.
    """
    rate = rate_of(plan, workload)
    if rate <= 0 or not limits or limits[0].resource != "network":
        return 0.0
    hosts = set(limits[0].object_ids)
    node = next((node for node in plan.data_nodes if node.host_id in hosts), None)
    links = [host for host in network(plan, workload).hosts if host.host_id in hosts]
    if node is None or not links:
        return 0.0
    stated = settings_by_node(plan)[node.node_id].number("TotalSendBufferMemory")
    each = connection_settings(plan).number("SendBufferMemory")
    room = constants_of(plan)["send_overload_share"].value * (
        stated or each * max(1, node_ids(plan.processes) - 1)
    )
    return max(1.0, room * rate / links[0].out_bytes_per_s.value)
