"""What fails in a run, when the data nodes know of it, and what becomes of the cluster.

    strike(world, number, processes, silent=True)     # they fail now, with all else that fails at this moment

A failure takes three steps. What fails at one moment fails at once and works no more. Until the data nodes
know of it every transaction stands still: a commit needs all of them (a frozen node of a running 8.4.8
cluster held up every connection until it was declared dead, a killed one for 0.3 s). Then the product's rules
judge what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity, Term
from ndbplan.ndb.survival import Outcome, Side, come_back, listed
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, Process, process_node_ids
from ndbplan.simulate.events.clients import offer
from ndbplan.simulate.events.nodes import REPORT_S, Starts, die, start, stop_all
from ndbplan.simulate.events.outage import Loss, added, later_of
from ndbplan.simulate.events.state import Change, World
from ndbplan.simulate.stop import ClusterStop

if TYPE_CHECKING:
    from ndbplan.configuration.failures import Judged

_SOURCE = "real clusters of 7.4.10 and 8.4.8"


def hosts_of(plan: Plan, object_ids: Iterable[str]) -> frozenset[str]:
    """Ids of the hosts that are named, or stand in a location that is, or run a process that is."""
    found: set[str] = set()
    for object_id in object_ids:
        part = plan.by_id.get(object_id)
        if isinstance(part, Location):
            found |= {host.id for host in plan.hosts if host.location_id == part.id}
        elif isinstance(part, Host):
            found.add(part.id)
        else:
            host_id = getattr(part, "host_id", None)
            found |= {host_id} if host_id is not None else set()
    return frozenset(found)


def processes_on(plan: Plan, hosts: Collection[str]) -> tuple[Process, ...]:
    """Processes on some hosts."""
    return tuple(process for process in plan.processes if process.host_id in hosts)


def strike(world: World, number: int, processes: Iterable[Process], *, silent: bool) -> None:
    """These processes fail now and stay down until the event of this number releases them.

    `silent`: their hosts are gone or cut off and nobody hears a connection break.
    """
    outage = world.outage
    if not outage.striking:
        world.later(Change(world.at_s, "", land, last=True, of_cluster=False))
    for process in processes:
        outage.hold(number, [process.id])
        # What is killed and falls silent at one moment is silent: its host is gone.
        outage.striking[process.id] = outage.striking.get(process.id, False) or silent


def cut(world: World, number: int, here: frozenset[str], there: frozenset[str]) -> None:
    """Two sides, as ids of hosts, lose sight of each other; no other side: of all other hosts."""
    world.outage.cuts[number] = (here, there)
    if not world.outage.striking:
        world.later(Change(world.at_s, "", land, last=True, of_cluster=False))
    world.outage.striking.setdefault("", True)


def land(world: World) -> bool:
    """All that fails at one moment fails."""
    outage = world.outage
    striking = {name: silent for name, silent in outage.striking.items() if name}
    outage.striking.clear()
    processes = [process for process in outage.plan.processes if process.id in striking]
    nodes = [p for p in processes if isinstance(p, DataNode)]
    killed = [n for n in nodes if n.node_id not in outage.lost]
    for process in processes:
        if not isinstance(process, DataNode):
            outage.goes_down(process.id, world.at_s)
    if outage.stop is None:
        members = outage.running.started | outage.running.starting
        die(world, [world.node(node.id) for node in killed], world.at_s)
        for node in nodes:
            # A node that was starting and has not joined is missed by nobody.
            outage.attempts[node.id] = outage.attempts.get(node.id, 0) + 1
            outage.lost.add(node.node_id)
        gone = {i: striking[p.id] for p in processes for i in process_node_ids(p)}
        known = {i: silent for i, silent in gone.items() if i in members | outage.running.connected}
        _note_loss(world, known)
    else:
        for node in killed:
            outage.goes_down(node.id, world.at_s)
    offer(world)
    return False


def _note_loss(world: World, known: dict[int, bool]) -> None:
    """From now on the loss is unnoticed; find out until when."""
    outage, at_s = world.outage, world.at_s
    if not known and not outage.cuts:
        return
    loss = outage.loss = outage.loss or Loss(at_s, (at_s, at_s, at_s))
    loss.silent |= known
    found = outage.judged(at_s)
    side = outage.winner(found) or found.best
    hidden = _hidden(world, side) - loss.silent.keys() - loss.hidden
    loss.hidden |= hidden
    data = outage.failures.cluster.data_nodes
    silent_data = sorted({i for i in known if i in data and known[i]} | hidden)
    killed_data = [i for i in known if i in data and not known[i]]
    unseen = outage.running.connected & loss.silent.keys()
    if side.after is not None:
        unseen |= outage.running.connected - side.after.connected
    others = {i: loss.silent.get(i, True) for i in unseen}
    if not silent_data and not killed_data and not others:
        if not loss.silent and not loss.hidden:
            outage.loss = None
        return
    if side.verdict.gone_group is not None and not any(loss.silent.values()) and not loss.hidden:
        # Nothing is left to answer: clients are refused from the first moment on.
        judge(world)
        return
    # Where nobody is left to miss them it is their clients that do.
    missed = len(silent_data) if side.survivors else 0
    killed = bool(killed_data) or not all(others.values())
    span = outage.noticed(missed, killed, any(others.values()) or not side.survivors)
    loss.due = later_of(loss.due, added((at_s, at_s, at_s), span))
    if silent_data or killed_data:
        world.scenario.run.stands_still = True
        world.arrays.stands_from(world.now_s)
    if silent_data:
        world.say(f"transactions stand still until {_nodes(silent_data)} {_are(silent_data)} declared dead")
    due_s = loss.due[1]
    world.later(Change(due_s, "", lambda w: _at(w, due_s), last=True))


def _hidden(world: World, side: Side) -> set[int]:
    """Data nodes that run and that a side does not see."""
    running = world.outage.running
    hidden = set(running.started - side.survivors)
    if side.after is not None and side.survivors == running.started:
        hidden |= running.starting - side.after.starting
    return hidden


def _nodes(node_ids: Collection[int]) -> str:
    return f"data node{'s' * (len(node_ids) > 1)} {listed(node_ids)}"


def _are(node_ids: Collection[int]) -> str:
    return "are" if len(node_ids) > 1 else "is"


def _at(world: World, due_s: float) -> bool:
    """Judge at the moment that was found, unless more failed meanwhile and moved it."""
    loss = world.outage.loss
    if loss is None or loss.due[1] != due_s:
        return False
    judge(world)
    return False


def judge(world: World) -> None:
    """The data nodes know of the loss: what is left goes on, or the cluster stops."""
    outage = world.outage
    loss = outage.loss
    if loss is None or outage.stop is not None:
        return
    found = outage.judged(world.at_s)
    waits_s = outage.waits_s(found)
    if waits_s > 0.0 and not loss.waited:
        loss.waited = True
        loss.due = added(loss.due, (waits_s, waits_s, waits_s))
        due_s = loss.due[1]
        world.later(Change(due_s, "", lambda w: _at(w, due_s), last=True))
        return
    winner = outage.winner(found)
    if winner is None or winner.after is None:
        _stop(world, loss, found)
        return
    _go_on(world, winner, found)


def _stop(world: World, loss: Loss, found: Judged) -> None:
    low, value, high = loss.due if loss.due[1] > loss.since_s else (world.at_s,) * 3
    terms = [Term("parts failed", loss.since_s, "s", "plan")]
    if value > loss.since_s:
        terms.append(Term("until it was noticed and decided", value - loss.since_s, "s", _SOURCE))
    at = Quantity(value, min(low, value), max(high, value), "s", tuple(terms))
    stop = ClusterStop(at, loss.since_s, _why(found))
    world.outage.loss = None
    stop_all(world, world.at_s)
    world.outage.stop = stop
    world.arrays.moves_on(world.now_s)
    world.say(stop.text)
    offer(world)


def _why(found: Judged) -> str:
    """The reason of a stop; of each side when they differ."""
    sides = [side for side in found.sides if side.survivors]
    if not sides:
        return f"node group {found.best.verdict.gone_group} is gone: no data node is left"
    reasons = {side.verdict.why for side in sides}
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"{_nodes(side.survivors)}: {side.verdict.why}" for side in sides)


def _go_on(world: World, winner: Side, found: Judged) -> None:
    """One side goes on; the data nodes of others, and those that were starting, stop."""
    outage, after = world.outage, winner.after
    assert after is not None
    before = outage.running
    by_id = {node.node_id: node.id for node in outage.plan.data_nodes}
    loss = outage.loss
    outage.loss = None
    ends = (before.started | before.starting) - after.started - after.starting
    ends -= loss.silent.keys() if loss is not None else set()
    die(world, [world.node(by_id[i]) for i in ends], world.at_s)
    for side in found.sides:
        if side is not winner or (loss is not None and (loss.hidden or any(loss.silent.values()))):
            _tell(world, side, winner)
    for node_id in sorted(ends & before.starting):
        # It may not have had its rows yet: then it did not die, but what was planned for it is off.
        outage.attempts[by_id[node_id]] = outage.attempts.get(by_id[node_id], 0) + 1
        world.say(f"node {node_id} stops (2308): another data node was lost while it started")
    for node_id in sorted(found.shut_out):
        world.say(f"node {node_id} is shut out (2315): a data node that the others see does not see it")
    if after.arbitrator is not None and after.arbitrator != before.arbitrator:
        world.say(f"node {after.arbitrator} is elected arbitrator")
    outage.running = after
    world.scenario.run.stands_still = False
    world.arrays.moves_on(world.now_s)
    offer(world)


def _tell(world: World, side: Side, winner: Side) -> None:
    """Note what is not plain: a question, a side that stops, a second side that goes on."""
    if not side.survivors:
        return
    who, many = _nodes(side.survivors), len(side.survivors) > 1
    if side is winner:
        if side.verdict.outcome is Outcome.ASKS:
            world.say(f"{who} go{'' if many else 'es'} on: {side.verdict.why}")
    elif side.after is not None:
        world.say(
            f"split brain: {who} go{'' if many else 'es'} on apart ({side.verdict.why}); "
            "what is written there is lost"
        )
    else:
        world.say(f"{who} stop{'' if many else 's'}: {side.verdict.why}")


def stop_for_restart(world: World, nodes: Collection[DataNode], name: str) -> tuple[DataNode, ...] | None:
    """Nodes are stopped on purpose, to be started with a new value: known at once, then judged like any loss.

    A stop that would leave a node group without a member is refused, as the product does
    (NodeShutdownWouldCauseSystemCrash). Returns those that were stopped;
    None: it is refused.
    """
    outage = world.outage
    running = [node for node in nodes if node.node_id in outage.running.started | outage.running.starting]
    dead = {node.node_id for node in running}
    damage = outage.damage()
    found = outage.failures.after(outage.running, damage._replace(dead=damage.dead | dead), world.at_s)
    if running and (outage.winner(found) is None or outage.loss is not None):
        shown = ", ".join(f"node {node.node_id}" for node in running)
        world.say(f"{shown}: not stopped for {name}, the cluster would not survive it")
        return None
    for node in running:
        world.say(f"node {node.node_id} stops for {name}")
    die(world, [world.node(node.id) for node in running], world.at_s)
    if running:
        outage.loss = Loss(world.at_s, (world.at_s,) * 3, dict.fromkeys(dead, False), waited=True)
        judge(world)
    return tuple(running)


def release(world: World, number: int, processes: Iterable[Process], starts: Starts) -> None:
    """What an event kept down is there again: nodes connect, and data nodes are started."""
    outage = world.outage
    here = list(processes)
    outage.release(number, [process.id for process in here])
    _heard_again(world, {i for process in here for i in process_node_ids(process)})
    back: set[int] = set()
    for process in here:
        if outage.is_down(process.id):
            continue
        if isinstance(process, DataNode):
            _begin(world, process, starts)
        else:
            outage.comes_up(process.id, world.at_s)
            back |= set(process_node_ids(process))
    _connect(world, back)
    offer(world)


def _heard_again(world: World, node_ids: set[int]) -> None:
    """A host that is back breaks its old connections: what was silent is known to be lost."""
    loss = world.outage.loss
    if loss is not None and any(loss.silent.get(node_id) for node_id in node_ids):
        loss.silent |= dict.fromkeys(node_ids & loss.silent.keys(), False)
        if not any(loss.silent.values()) and not loss.hidden:
            judge(world)


def heal(world: World, number: int, starts: Starts) -> None:
    """A cut is over: data nodes that stopped because of it are started."""
    outage = world.outage
    outage.cuts.pop(number, None)
    if outage.stop is None:
        if outage.loss is not None and not outage.cuts and not outage.loss.silent:
            # Nobody was declared dead yet: connections go on where they were.
            outage.loss = None
            world.scenario.run.stands_still = False
            world.arrays.moves_on(world.now_s)
        others = [
            p for p in outage.plan.processes if not isinstance(p, DataNode) and not outage.is_down(p.id)
        ]
        _connect(world, {i for p in others for i in process_node_ids(p)})
        for node in outage.plan.data_nodes:
            if node.node_id in outage.lost and not outage.is_down(node.id):
                _begin(world, node, starts)
    offer(world)


def _begin(world: World, node: DataNode, starts: Starts) -> bool:
    """Start a data node, when there is a cluster to join and its loss has been judged."""
    outage = world.outage
    if outage.stop is not None:
        return False
    pending = outage.loss is not None and node.node_id in outage.loss.silent
    if pending or node.id in outage.striking:
        judged_s = outage.loss.due[1] if outage.loss is not None else world.at_s
        again = max(judged_s, world.at_s) + REPORT_S
        world.later(Change(again, "", lambda w: _begin(w, node, starts)))
    elif start(world, node, starts) is None:
        world.say(f"node {node.node_id} starts")
    return False


def _connect(world: World, node_ids: set[int]) -> None:
    """Management and API nodes connect to the data nodes that they see."""
    outage = world.outage
    if outage.stop is not None:
        return
    started = [node for node in outage.plan.data_nodes if node.node_id in outage.running.started]
    there = {
        i
        for i in node_ids
        if any(outage.sees(outage.process_of(i), node) for node in started)
        and outage.process_of(i).host_id is not None
    }
    candidates = {candidate.node_id for candidate in outage.failures.cluster.candidates}
    new = (there & candidates) - outage.running.connected
    if new:
        outage.running = come_back(outage.failures.cluster, outage.running, new, world.at_s)
