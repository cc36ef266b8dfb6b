"""What somebody who operates a running cluster does to its processes: kill, hang, stop, start, regroup.

    session.act(Kill("n3"))              # as kill -9 of the process
    session.act(Leave((3,)))             # it has shut down in order, at this moment
    session.act(Start(3))                # it begins to start; the cluster runs
    session.act(StartTogether((3, 4), 60.0))     # a system restart that takes so long

Unlike the events of a plan, an order acts on what is there now. How the product lets people give it, what it
refuses and says, is for whoever gives it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from ndbplan.base.row_types import column
from ndbplan.configuration.failures import Failures
from ndbplan.configuration.node_groups import node_groups
from ndbplan.ndb.survival import Running, come_back, elect
from ndbplan.plan.places import inside
from ndbplan.plan.processes import DataNode, process_node_ids
from ndbplan.plan.workloads import Transaction, Workload
from ndbplan.simulate.events.clients import offer
from ndbplan.simulate.events.failures import (
    BY_HAND,
    heal,
    hosts_of,
    judge,
    processes_on,
    release,
    strike,
)
from ndbplan.simulate.events.handlers import Asked, Order, handles, planned
from ndbplan.simulate.events.networks import pace_copies
from ndbplan.simulate.events.nodes import (
    Renewal,
    Starts,
    break_off_start,
    die,
    members,
    rejoin,
    service,
    start,
    stop_all,
)
from ndbplan.simulate.model.load_over_time import services
from ndbplan.simulate.model.node_rows import SimulationError, node_facts
from ndbplan.simulate.outage import Loss
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.stop import ClusterStop

SINGLE_USER = -2
"""Number under which the clients that are shut out count as a change of the load."""
LOAD = -3
"""Number under which a load that was changed by hand counts."""
NO_TABLE = -4
"""Number under which the clients count whose tables are gone."""


@dataclass(frozen=True)
class Kill(Order):
    """A process is killed (its connections break at once), or hangs (nobody hears of it)."""

    process_id: str
    hangs: bool = False


@dataclass(frozen=True)
class Resume(Order):
    """A data node that hung goes on before it was declared dead, as if nothing had been."""

    process_id: str


@dataclass(frozen=True)
class Leave(Order):
    """Data nodes have shut down in order; the rest judges that as any loss, and knows of it at once."""

    node_ids: tuple[int, ...]


@dataclass(frozen=True)
class StopTogether(Order):
    """All data nodes have shut down together, with all that was committed on disk."""


@dataclass(frozen=True)
class Start(Order):
    """A data node starts beside the others: a node restart, or an initial one."""

    node_id: int
    initial: bool = False
    crashed: bool = True
    renewal: Renewal | None = None
    """What it becomes with it; None: what it was."""


@dataclass(frozen=True)
class StartTogether(Order):
    """A system restart of these data nodes, which takes so long."""

    node_ids: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class Connect(Order):
    """A management or SQL node that was stopped by hand is started."""

    process_id: str


@dataclass(frozen=True)
class Restore(Order):
    """What failed is whole again: a location or host, with its management and SQL nodes; or every network.

    Data nodes are not started: somebody has to.
    """

    place_id: str = ""
    """Empty: every cut of the network is healed."""


@dataclass(frozen=True)
class EndBackup(Order):
    """No node writes for a backup any more."""


@dataclass(frozen=True)
class Admit(Order):
    """So much of the clients' load gets access from now on; 1: all of it."""

    share: float
    why: int = SINGLE_USER
    """What keeps the others out: each reason by itself."""


@dataclass(frozen=True)
class SetLoad(Order):
    """Clients send so many times what the workload says, from now on; 1: as it says."""

    factor: float


@dataclass(frozen=True)
class SpreadKeys(Order):
    """Clients choose among all keys evenly from now on: what was one hot key is many."""


@dataclass(frozen=True)
class Regroup(Order):
    """Data nodes that have no rows get a node group, or 65536."""

    groups: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class HasStartedTogether:
    """A system restart is over, unless something stopped meanwhile."""

    node_ids: tuple[int, ...]
    attempts: tuple[tuple[str, int], ...]


def at_once(order: Order, _asked: Asked) -> Iterator[Due]:
    """It happens when it is given."""
    yield Due(order.at_s, order, of_cluster=False)


_KINDS: tuple[type[Order], ...] = (
    Kill, Resume, Leave, StopTogether, Start, StartTogether, Connect, Restore, EndBackup, Admit, SetLoad,
    SpreadKeys, Regroup,
)  # fmt: skip
for _kind in _KINDS:
    planned(_kind)(at_once)


def data_node(sim: Simulation, node_id: int) -> DataNode:
    """The data node of an id. Raises SimulationError where there is none."""
    for node in sim.outage.plan.data_nodes:
        if node.node_id == node_id:
            return node
    raise SimulationError(f"there is no data node {node_id}", where="orders")


@handles(Kill)
def kill(sim: Simulation, order: Kill) -> None:
    """It fails at this moment, with all else that does."""
    strike(sim, BY_HAND, [sim.outage.plan.by_id[order.process_id]], silent=order.hangs)


@handles(Resume)
def resume(sim: Simulation, order: Resume) -> None:
    """Its connections go on where they were; after it was declared dead it is too late."""
    outage = sim.outage
    process = outage.plan.by_id[order.process_id]
    ids, loss = set(process_node_ids(process)), outage.loss
    if loss is None or not all(loss.silent.get(node_id) for node_id in ids):
        return
    outage.release(BY_HAND, [process.id])
    for node_id in ids:
        del loss.silent[node_id]
    if isinstance(process, DataNode):
        rejoin(sim, sim.node(process.id))
        outage.lost.discard(process.node_id)
    outage.comes_up(process.id, sim.at_s)
    if not loss.silent and not loss.hidden:
        outage.loss = None
        sim.laws.run.stands_still = False
        sim.moves_on(sim.now_s)
    offer(sim)


@handles(Leave)
def leave(sim: Simulation, order: Leave) -> None:
    """They are gone with their buffers written; what is left goes on or stops."""
    outage = sim.outage
    members = outage.running.started | outage.running.starting
    nodes = [data_node(sim, node_id) for node_id in order.node_ids]
    _go(sim, nodes)
    gone = {node.node_id for node in nodes} & members
    if outage.loss is not None:
        # Others are silent and not yet declared dead: all of them are judged together.
        outage.loss.silent |= dict.fromkeys(gone, False)
    elif gone and outage.stop is None:
        outage.loss = Loss(sim.at_s, (sim.at_s,) * 3, dict.fromkeys(gone, False), waited=True)
        judge(sim)
    offer(sim)


def _go(sim: Simulation, nodes: Collection[DataNode]) -> None:
    outage = sim.outage
    here = [node for node in nodes if node.node_id not in outage.lost]
    die(sim, here, sim.at_s, aborts=sim.outage.plan.features.stop_aborts_transactions)
    for node in nodes:
        break_off_start(sim, node)
        outage.hold(BY_HAND, [node.id])
        outage.lost.add(node.node_id)
        outage.goes_down(node.id, sim.at_s)


@handles(StopTogether)
def stop_together(sim: Simulation, _order: StopTogether) -> None:
    """Nothing is lost; all that is asked for from now on is refused."""
    outage = sim.outage
    for node in outage.plan.data_nodes:
        break_off_start(sim, node)
        outage.hold(BY_HAND, [node.id])
        outage.lost.add(node.node_id)
        outage.goes_down(node.id, sim.at_s)
    if outage.stop is None:
        stop_all(sim, sim.at_s)
        outage.loss = None
        at = ClusterStop.at_moment(sim.at_s, "all data nodes were shut down")
        outage.stop = at
        sim.moves_on(sim.now_s)
    outage.running = replace(outage.running, started=frozenset(), starting=frozenset())
    offer(sim)


@handles(Start)
def begin(sim: Simulation, order: Start) -> None:
    """Its phases pass one after the other; a host that is down or sees nobody starts nothing."""
    node = data_node(sim, order.node_id)
    sim.outage.release(BY_HAND, [node.id])
    starts = Starts(sim.outage.plan, "initial" if order.initial else "node", order.crashed)
    if sim.outage.stop is None and sim.node(node.id) >= 0:
        start(sim, node, starts, order.renewal)


@handles(StartTogether)
def begin_together(sim: Simulation, order: StartTogether) -> None:
    """They are up together when the time is over."""
    outage = sim.outage
    nodes = [data_node(sim, node_id) for node_id in order.node_ids]
    for node in nodes:
        outage.release(BY_HAND, [node.id])
        outage.attempts[node.id] = outage.attempts.get(node.id, 0) + 1
    attempts = tuple((node.id, outage.attempts[node.id]) for node in nodes)
    over = HasStartedTogether(order.node_ids, attempts)
    sim.later(Due(sim.at_s + order.seconds, over, of_cluster=False))


@handles(HasStartedTogether)
def have_started_together(sim: Simulation, event: HasStartedTogether) -> None:
    """The cluster runs again, with these data nodes; others join it later."""
    outage = sim.outage
    if any(outage.attempts.get(node_id) != attempt for node_id, attempt in event.attempts):
        return
    outage.stop, outage.loss = None, None
    sim.stopped_s = math.inf
    sim.laws.run.stopped = sim.laws.run.stands_still = False
    nodes = [data_node(sim, node_id) for node_id in event.node_ids]
    for node in nodes:
        outage.lost.discard(node.node_id)
        outage.comes_up(node.id, sim.at_s)
        rejoin(sim, sim.node(node.id))
    for i, one in enumerate(sim.restarts):
        if one.node_id in event.node_ids and one.started_at_s is None:
            sim.restarts[i] = replace(one, started_at_s=sim.at_s)
    cluster = outage.failures.cluster
    up = {i for p in outage.plan.processes if not outage.is_down(p.id) for i in process_node_ids(p)}
    connected = frozenset(one.node_id for one in cluster.candidates if one.node_id in up)
    arbitrator = elect(cluster, connected, at_start=True)
    outage.running = Running(frozenset(event.node_ids), connected, arbitrator)
    sim.forget_room()
    sim.say("the cluster is started again")
    offer(sim)


@handles(Connect)
def connect(sim: Simulation, order: Connect) -> None:
    """It connects to the data nodes that it sees."""
    release(sim, BY_HAND, [sim.outage.plan.by_id[order.process_id]], Starts(sim.outage.plan))


@handles(Restore)
def restore(sim: Simulation, order: Restore) -> None:
    """Old connections are broken at the latest now."""
    outage, plan = sim.outage, sim.outage.plan
    if not order.place_id:
        for number in list(outage.cuts):
            heal(sim, number, None)
        for number in {one.number for one in sim.link_times}:
            sim.whole_link(number)
        service(sim)
        pace_copies(sim)
        return
    hosts = hosts_of(plan, [order.place_id])
    processes = processes_on(plan, hosts)
    for object_id in {order.place_id, *hosts, *(inside(plan.locations, [order.place_id]))}:
        outage.comes_up(object_id, sim.at_s)
    for process in processes:
        for number in sorted(outage.held.get(process.id, set()) - {BY_HAND}):
            release(sim, number, [process], None)


@handles(EndBackup)
def end_backup(sim: Simulation, _order: EndBackup) -> None:
    """What was not written is not written any more."""
    column(sim.state.node_state, lambda node: node.backup_left_bytes)[:] = 0.0
    sim.laws.run.has_backup = False
    sim.forget_room()


@handles(Admit)
def admit(sim: Simulation, order: Admit) -> None:
    """The others' requests are refused, which costs the data nodes nothing."""
    if order.share >= 1.0:
        sim.bursts.pop(order.why, None)
    else:
        sim.bursts[order.why] = order.share
    offer(sim)


@handles(SetLoad)
def set_load(sim: Simulation, order: SetLoad) -> None:
    """What an earlier order said holds no longer."""
    sim.bursts[LOAD] = order.factor
    offer(sim)
    sim.say(f"clients send {order.factor:g} times the load")


@handles(SpreadKeys)
def spread_keys(sim: Simulation, _order: SpreadKeys) -> None:
    """The same work, laid evenly on partitions and so on log parts."""
    workload = _evenly(sim.scenario.workload)
    facts = node_facts(sim.outage.plan, workload, node_groups(sim.outage.plan))
    load, share = sim.full_load.copy(), sim.laws.share.copy()
    for n, node_class in enumerate(sim.scenario.node_classes):
        one = facts[node_class.nodes[0].id]
        load[n, : len(one.redo_bytes)] = one.redo_bytes
        place = sim.laws.places[n]
        if place.slot == 0 or sim.is_dead(n):
            share[place.group, : len(one.row_share)] = one.row_share
    limits = services(sim.outage.plan, workload)
    sim.scenario = replace(sim.scenario, workload=workload, services=limits).with_laws(load=load, share=share)
    sim.laws.share[:] = share
    for group in range(len(sim.laws.alive)):
        members(sim, group)
    offer(sim)
    sim.forget_room()
    sim.say("clients choose among all keys evenly")


def _evenly(workload: Workload) -> Workload:
    def spread(one: Transaction) -> Transaction:
        operations = tuple(op.model_copy(update={"key_choice": "evenly"}) for op in one.operations)
        return one.model_copy(update={"operations": operations})

    return workload.model_copy(update={"transactions": tuple(spread(one) for one in workload.transactions)})


@handles(Regroup)
def regroup(sim: Simulation, order: Regroup) -> None:
    """From now on they count as members of that group, or of none, when nodes are lost."""
    outage, groups = sim.outage, dict(order.groups)
    processes = tuple(
        process.model_copy(update={"node_group": groups[process.node_id]})
        if isinstance(process, DataNode) and process.node_id in groups
        else process
        for process in outage.plan.processes
    )
    outage.failures = Failures(outage.plan.replace(processes=processes))
    outage.running = come_back(outage.failures.cluster, outage.running, (), sim.at_s)
