"""How busy the threads of each data node, and the cores of each host, are under a workload.

cpu(machines, loads, coming, hosts).nodes[0].ldm_utilisation

Source: engine model 8.2; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.kept import kept_by_identity, same
from ndbplan.base.quantity import Quantity, Term, total
from ndbplan.base.shapes import Shape
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.clients import ClientsEstimate, Coming
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.node_settings import KEPT_NODES
from ndbplan.estimate.load.processors import against_timed, core_speed
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.plan.hardware import Host

_NONE = Quantity.exact(0.0, "cores")


@dataclass(frozen=True, slots=True)
class NodeCpu(Shape):
    """Threads of one data node."""

    JSON = "node_id ldm_utilisation receive_utilisation other_utilisation idle_cores cores"

    node_id: int
    ldm_utilisation: Quantity
    """Busiest LDM thread, share of a core."""
    receive_utilisation: Quantity
    """Each receive thread, share of a core."""
    other_utilisation: Quantity
    """Coordinator, send and the rest together, in cores."""
    idle_cores: Quantity
    """Cores that threads keep busy which wake up and find nothing to do."""
    cores: Quantity
    """Cores that all threads keep busy."""
    work_cores: Quantity
    """Those of the workload alone, which grow with it."""


@dataclass(frozen=True, slots=True)
class HostCpu(Shape):
    """Cores that data nodes, and the SQL or API nodes of the workload, keep busy on one host."""

    JSON = "host utilisation"

    host_id: str
    host: str
    utilisation: Quantity
    data_nodes: bool
    """Whether data nodes are among them."""
    work: Quantity
    """What of it grows with the workload."""


@dataclass(frozen=True, slots=True)
class CpuEstimate(Shape):
    """Processors of the cluster under a workload."""

    JSON = "nodes hosts clients"

    nodes: tuple[NodeCpu, ...]
    hosts: tuple[HostCpu, ...]
    clients: ClientsEstimate | None = None
    """The SQL or API nodes that the workload comes through; None without a workload."""

    def node(self, node_id: int) -> NodeCpu | None:
        """The node's figures; None when the workload does not touch it."""
        return next((node for node in self.nodes if node.node_id == node_id), None)


@kept_by_identity(size=KEPT_NODES)
def _node(
    constants: Constants,
    node_id: int,
    load: NodeLoad,
    threads: ThreadCounts,
    speed: Quantity,
    timed: Quantity,
) -> NodeCpu:
    """`timed`: work of a core against those on which idle threads were timed."""
    core = speed.named("speed of a core")

    def cores(cost: str, *per_s: Quantity) -> Quantity:
        """Cores that so many a second keep busy, each at the cost called so."""
        return (sum(per_s[1:], start=per_s[0]) * constants[cost] / core).in_unit("cores")

    written = Quantity.stated("write operations", load.write_operations_per_s, "per s", "workload")
    read = Quantity.stated(
        "reads by key, parts of blobs included", load.read_operations_per_s, "per s", "workload"
    )
    scanned = Quantity.stated("rows scanned", load.scanned_rows_per_s, "per s", "workload")
    log_bytes = Quantity.exact(load.redo_bytes_per_s.value, "bytes/s")
    writing = cores("ldm_write_s", written) + cores("ldm_write_per_byte_s", log_bytes)
    reading = cores("ldm_read_s", read) + cores("ldm_scan_row_s", scanned)
    ldm = writing + reading
    instances = max(1, threads.ldm_instances)
    share = max(load.hottest_ldm_share, 1 / instances)
    reading_share = max(load.hottest_reading_ldm_share, 1 / instances)
    least, most = load.hottest_ldm_range
    hottest = Quantity.stated("writes of the busiest LDM thread", share, "fraction", "distribution")
    hottest_reads = Quantity.stated(
        "reads of the busiest LDM thread", reading_share, "fraction", "distribution"
    )
    busiest = writing * hottest * Quantity(1.0, least, most, "factor") + reading * hottest_reads
    receiving = cores("receive_operation_s", written, read)
    others = cores("other_operation_s", written, read)
    parts = (
        ("LDM threads", ldm),
        ("receive threads", receiving),
        ("coordinator and other threads", others),
    )
    work = total(parts, "cores")
    idle = _idle(constants, threads, work.value, timed)
    return NodeCpu(
        node_id,
        busiest.in_unit("fraction"),
        receiving.scaled(1 / max(1, threads.recv), "fraction"),
        others,
        idle,
        total((*parts, ("threads that wake up with nothing to do", idle)), "cores"),
        work,
    )


def _idle(constants: Constants, threads: ThreadCounts, work_cores: float, timed: Quantity) -> Quantity:
    """Cores that threads take which wake up all the time; one that works is awake and does not."""
    count = threads.block_threads + threads.send
    asleep = max(0.0, 1.0 - work_cores / count)
    waking = Quantity.stated("threads, as far as they have nothing to do", count * asleep, "count", "formula")
    return (waking * constants["thread_idle_share"] / timed).in_unit("cores")


def node_cpu(machine: Machine, load: NodeLoad, constants: Constants) -> NodeCpu:
    """How busy the threads of one data node are under a load of its own."""
    speed, timed = core_speed(machine.host, constants), against_timed(machine.host, constants)
    return _node(constants, machine.node_id, load, machine.threads, speed, timed)


def cpu(
    machines: Machines, loads: tuple[NodeLoad, ...], coming: ClientsEstimate, through: tuple[Coming, ...]
) -> CpuEstimate:
    """How busy data nodes, SQL or API nodes and their hosts are. `coming`: what comes `through` these."""
    on = [machines.by_id[load.node_id] for load in loads]
    hosts = same(machine.host for machine in on)
    nodes = _nodes(machines.constants, loads, hosts, same(machine.threads for machine in on))
    return CpuEstimate(nodes, _hosts(nodes, hosts, coming, through), coming)


@kept_by_identity(size=48)
def _nodes(
    constants: Constants,
    loads: tuple[NodeLoad, ...],
    hosts: tuple[Host, ...],
    threads: tuple[ThreadCounts, ...],
) -> tuple[NodeCpu, ...]:
    return tuple(
        _node(constants, load.node_id, load, own, core_speed(host, constants), against_timed(host, constants))
        for load, host, own in zip(loads, hosts, threads, strict=True)
    )


@kept_by_identity(size=48)
def _hosts(
    nodes: tuple[NodeCpu, ...], hosts: tuple[Host, ...], coming: ClientsEstimate, through: tuple[Coming, ...]
) -> tuple[HostCpu, ...]:
    host_of = {host.id: host for host in (*hosts, *(host for _, host in through))}
    by_host: dict[str, list[Quantity]] = {}
    for one, host in zip(nodes, hosts, strict=True):
        by_host.setdefault(host.id, []).extend((one.work_cores, one.idle_cores))
    with_data = set(by_host)
    for client in coming.nodes:
        by_host.setdefault(client.host_id, []).extend((client.cores, _NONE))
    return tuple(_host(host_of[host_id], host_id in with_data, *own) for host_id, own in by_host.items())


@kept_by_identity(size=KEPT_NODES)
def _host(host: Host, data_nodes: bool, *own: Quantity) -> HostCpu:
    """`own`: cores that each of its processes keeps busy with work, and those without, by turns."""
    work = sum(own[2::2], start=own[0])
    idle = sum(own[3::2], start=own[1])
    cores = Term("cores of the host", host.cores, "cores", "plan")

    def share(whole: Quantity) -> Quantity:
        return whole.scaled(1 / host.cores, "fraction", (whole.as_term("cores busy"), cores))

    return HostCpu(
        host.id, host.hostname, share(work + idle if idle.value else work), data_nodes, share(work)
    )
