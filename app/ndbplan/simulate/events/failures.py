"""What fails in a run, when the data nodes know of it, and what becomes of the cluster.

    strike(sim, number, processes, silent=True)     # they fail now, with all else that fails at this moment

A failure takes three steps. What fails at one moment fails at once and works no more. Until the data nodes
know of it every transaction stands still: a commit needs all of them (a frozen node of a running 8.4.8
cluster held up every connection until it was declared dead, a killed one for 0.3 s). Then the product's rules
judge what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity, Term
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.ndb.node_names import data_nodes
from ndbplan.ndb.survival import Outcome, Side, come_back
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, Process, process_node_ids
from ndbplan.simulate.events.clients import offer
from ndbplan.simulate.events.handlers import handles
from ndbplan.simulate.events.nodes import REPORT_S, Starts, break_off_start, die, start, stop_all
from ndbplan.simulate.outage import Loss, added, later_of
from ndbplan.simulate.simulation import Due, Judgement, Simulation
from ndbplan.simulate.stop import ClusterStop

if TYPE_CHECKING:
    from ndbplan.configuration.failures import Judged

BY_HAND = -1
"""Number under which processes are down that an operator killed or stopped, or that ended by themselves;
events of a plan count from 0."""
_SOURCE = "real clusters of 7.4.10 and 8.4.8"


@dataclass(frozen=True)
class FailsTogether:
    """All that fails at this moment fails at once."""


@dataclass(frozen=True)
class IsJudged:
    """The data nodes know of a loss, if it is still the one that is judged at this moment."""

    due_s: float


@dataclass(frozen=True)
class StartsAgain:
    """A data node that was there again before its loss was judged is started."""

    node: DataNode
    starts: Starts


def hosts_of(plan: Plan, object_ids: Iterable[str]) -> frozenset[str]:
    """Ids of the hosts that are named, stand in a location that is, or run a process that is."""
    found: set[str] = set()
    for object_id in object_ids:
        part = plan.by_id.get(object_id)
        if isinstance(part, Location):
            found |= {host.id for host in plan.hosts_in([part.id])}
        elif isinstance(part, Host):
            found.add(part.id)
        else:
            host_id = getattr(part, "host_id", None)
            found |= {host_id} if host_id is not None else set()
    return frozenset(found)


def processes_on(plan: Plan, hosts: Collection[str]) -> tuple[Process, ...]:
    """Processes on some hosts."""
    return tuple(process for process in plan.processes if process.host_id in hosts)


def strike(sim: Simulation, number: int, processes: Iterable[Process], *, silent: bool) -> None:
    """These processes fail now and stay down until the event of this number releases them.

    `silent`: their hosts are gone or cut off and nobody hears a connection break.
    """
    outage = sim.outage
    if not outage.striking:
        sim.later(Due(sim.at_s, FailsTogether(), last=True, of_cluster=False))
    for process in processes:
        outage.hold(number, [process.id])
        # What is killed and falls silent at one moment is silent: its host is gone.
        outage.striking[process.id] = outage.striking.get(process.id, False) or silent


def cut(sim: Simulation, number: int, here: frozenset[str], there: frozenset[str]) -> None:
    """Two sides, as ids of hosts, lose sight of each other; no other side: of all other hosts."""
    sim.outage.cuts[number] = (here, there)
    sim.slow_link(number, SlowLink(here, there, 0.0, ""))
    if not sim.outage.striking:
        sim.later(Due(sim.at_s, FailsTogether(), last=True, of_cluster=False))
    sim.outage.striking.setdefault("", True)


@handles(FailsTogether)
def land(sim: Simulation, _event: FailsTogether) -> None:
    """All that fails at one moment fails."""
    outage = sim.outage
    striking = {name: silent for name, silent in outage.striking.items() if name}
    outage.striking.clear()
    processes = [process for process in outage.plan.processes if process.id in striking]
    nodes = [p for p in processes if isinstance(p, DataNode)]
    killed = [n for n in nodes if n.node_id not in outage.lost]
    for process in processes:
        if not isinstance(process, DataNode):
            outage.goes_down(process.id, sim.at_s)
    if outage.stop is None:
        members = outage.running.started | outage.running.starting
        die(sim, killed, sim.at_s)
        for node in nodes:
            # A node that was starting and has not joined is missed by nobody.
            break_off_start(sim, node)
            outage.lost.add(node.node_id)
        gone = {i: striking[p.id] for p in processes for i in process_node_ids(p)}
        known = {i: silent for i, silent in gone.items() if i in members | outage.running.connected}
        _note_loss(sim, known)
    else:
        for node in killed:
            outage.goes_down(node.id, sim.at_s)
    offer(sim)


def _note_loss(sim: Simulation, known: dict[int, bool]) -> None:
    """From now on the loss is unnoticed; find out until when."""
    outage, at_s = sim.outage, sim.at_s
    if not known and not outage.cuts:
        return
    loss = outage.loss = outage.loss or Loss(at_s, (at_s, at_s, at_s))
    loss.silent |= known
    found = outage.judged(at_s)
    side = outage.winner(found) or found.best
    hidden = _hidden(sim, side) - loss.silent.keys() - loss.hidden
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
        judge(sim)
        return
    # Where nobody is left to miss them it is their clients that do.
    missed = silent_data if side.survivors else []
    killed = bool(killed_data) or not all(others.values())
    span = outage.noticed(missed, side.survivors, killed, any(others.values()) or not side.survivors)
    loss.due = later_of(loss.due, added((at_s, at_s, at_s), span))
    if silent_data or killed_data:
        sim.laws.run.stands_still = True
        sim.stands_from(sim.now_s)
    if silent_data:
        sim.say(f"transactions stand still until {data_nodes(silent_data)} {_are(silent_data)} declared dead")
    due_s = loss.due[1]
    sim.later(Due(due_s, IsJudged(due_s), last=True))


def _hidden(sim: Simulation, side: Side) -> set[int]:
    """Data nodes that run and that a side does not see."""
    running = sim.outage.running
    hidden = set(running.started - side.survivors)
    if side.after is not None and side.survivors == running.started:
        hidden |= running.starting - side.after.starting
    return hidden


def _are(node_ids: Collection[int]) -> str:
    return "are" if len(node_ids) > 1 else "is"


@handles(IsJudged)
def be_judged(sim: Simulation, event: IsJudged) -> None:
    """Judge at the moment that was found, unless more failed meanwhile and moved it."""
    loss = sim.outage.loss
    if loss is not None and loss.due[1] == event.due_s:
        judge(sim)


def judge(sim: Simulation) -> None:
    """The data nodes know of the loss: what is left goes on, or the cluster stops."""
    outage = sim.outage
    loss = outage.loss
    if loss is None or outage.stop is not None:
        return
    found = outage.judged(sim.at_s)
    waits_s = outage.waits_s(found)
    if waits_s > 0.0 and not loss.waited:
        loss.waited = True
        loss.due = added(loss.due, (waits_s, waits_s, waits_s))
        due_s = loss.due[1]
        sim.later(Due(due_s, IsJudged(due_s), last=True))
        return
    winner = outage.winner(found)
    if winner is None or winner.after is None:
        _stop(sim, loss, found)
        return
    _go_on(sim, winner, found)


def _stop(sim: Simulation, loss: Loss, found: Judged) -> None:
    sim.judgements.append(Judgement(sim.at_s, sim.outage.running, found))
    low, value, high = loss.due if loss.due[1] > loss.since_s else (sim.at_s,) * 3
    terms = [Term("parts failed", loss.since_s, "s", "plan")]
    if value > loss.since_s:
        terms.append(Term("until it was noticed and decided", value - loss.since_s, "s", _SOURCE))
    at = Quantity(value, min(low, value), max(high, value), "s", tuple(terms))
    stop = ClusterStop(at, loss.since_s, _why(found))
    sim.outage.loss = None
    stop_all(sim, sim.at_s)
    sim.outage.stop = stop
    sim.moves_on(sim.now_s)
    sim.say(stop.text)
    offer(sim)


def _why(found: Judged) -> str:
    """The reason of a stop; of each side when they differ."""
    sides = [side for side in found.sides if side.survivors]
    if not sides:
        return f"node group {found.best.verdict.gone_group} is gone: no data node is left"
    reasons = {side.verdict.why for side in sides}
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"{data_nodes(side.survivors)}: {side.verdict.why}" for side in sides)


def _go_on(sim: Simulation, winner: Side, found: Judged) -> None:
    """One side goes on; the data nodes of others, and those that were starting, stop."""
    outage, after = sim.outage, winner.after
    assert after is not None
    before = outage.running
    sim.judgements.append(Judgement(sim.at_s, before, found))
    by_id = {node.node_id: node for node in outage.plan.data_nodes}
    loss = outage.loss
    outage.loss = None
    ends = (before.started | before.starting) - after.started - after.starting
    ends -= loss.silent.keys() if loss is not None else set()
    # Those that fail along with nodes that died before take no more transactions with them.
    die(sim, [by_id[i] for i in ends], sim.at_s, aborts=loss is None or not loss.silent)
    for side in found.sides:
        if side is not winner or (loss is not None and (loss.hidden or any(loss.silent.values()))):
            _tell(sim, side, winner)
    for node_id in sorted(ends & before.starting):
        # It may not have had its rows yet: then it did not die, but what was planned for it is off.
        break_off_start(sim, by_id[node_id])
        sim.say(f"node {node_id} stops (2308): another data node was lost while it started")
    for node_id in sorted(found.shut_out):
        sim.say(f"node {node_id} is shut out (2315): a data node that the others see does not see it")
    if after.arbitrator is not None and after.arbitrator != before.arbitrator:
        sim.say(f"node {after.arbitrator} is elected arbitrator")
    outage.running = after
    if loss is not None:
        _connect(sim, loss.back)
    sim.laws.run.stands_still = False
    sim.moves_on(sim.now_s)
    offer(sim)


def _tell(sim: Simulation, side: Side, winner: Side) -> None:
    """Note what is not plain: a question, a side that stops, a second side that goes on."""
    if not side.survivors:
        return
    who, many = data_nodes(side.survivors), len(side.survivors) > 1
    if side is winner:
        if side.verdict.outcome is Outcome.ASKS:
            sim.say(f"{who} go{'' if many else 'es'} on: {side.verdict.why}")
    elif side.after is not None:
        sim.say(
            f"split brain: {who} go{'' if many else 'es'} on apart ({side.verdict.why}); "
            "what is written there is lost"
        )
    else:
        sim.say(f"{who} stop{'' if many else 's'}: {side.verdict.why}")


def _running(sim: Simulation, nodes: Collection[DataNode]) -> list[DataNode]:
    up = sim.outage.running.started | sim.outage.running.starting
    return [node for node in nodes if node.node_id in up]


def why_not_stopped(sim: Simulation, nodes: Collection[DataNode], name: str) -> str:
    """Why those of some nodes that run may not be stopped together now; empty: they may."""
    outage, running = sim.outage, _running(sim, nodes)
    damage = outage.damage()
    dead = damage.dead | {node.node_id for node in running}
    found = outage.failures.after(outage.running, damage._replace(dead=dead), sim.at_s)
    if not running or outage.winner(found) is not None:
        return ""
    shown = ", ".join(f"node {node.node_id}" for node in running)
    return f"{shown}: not stopped for {name}, the cluster would not survive it"


def stop_for_restart(sim: Simulation, nodes: Collection[DataNode], name: str) -> tuple[DataNode, ...] | None:
    """Nodes are stopped on purpose, to be started with a new value: known at once, then judged like any loss.

    A stop that would leave a node group without a member is refused, as the product does
    (NodeShutdownWouldCauseSystemCrash). Returns those that were stopped;
    None: it is refused.
    """
    outage = sim.outage
    running = _running(sim, nodes)
    if why := why_not_stopped(sim, nodes, name):
        sim.say(why)
        return None
    dead = {node.node_id for node in running}
    for node in running:
        sim.say(f"node {node.node_id} stops for {name}")
    die(sim, running, sim.at_s, aborts=outage.plan.features.stop_aborts_transactions)
    if running:
        outage.loss = Loss(sim.at_s, (sim.at_s,) * 3, dict.fromkeys(dead, False), waited=True)
        judge(sim)
    return tuple(running)


def release(sim: Simulation, number: int, processes: Iterable[Process], starts: Starts | None) -> None:
    """What an event kept down is there again: nodes connect, and data nodes are started (None: are not)."""
    outage = sim.outage
    here = list(processes)
    outage.release(number, [process.id for process in here])
    _heard_again(sim, {i for process in here for i in process_node_ids(process)})
    back: set[int] = set()
    for process in here:
        if outage.is_down(process.id):
            continue
        if isinstance(process, DataNode):
            if starts is not None:
                _begin(sim, process, starts)
        else:
            outage.comes_up(process.id, sim.at_s)
            back |= set(process_node_ids(process))
    if outage.loss is not None:
        outage.loss.back |= back
    _connect(sim, back)
    offer(sim)


def _heard_again(sim: Simulation, node_ids: set[int]) -> None:
    """A host that is back breaks its old connections: what was silent is known to be lost."""
    loss = sim.outage.loss
    if loss is not None and any(loss.silent.get(node_id) for node_id in node_ids):
        loss.silent |= dict.fromkeys(node_ids & loss.silent.keys(), False)
        if not any(loss.silent.values()) and not loss.hidden:
            judge(sim)


def heal(sim: Simulation, number: int, starts: Starts | None) -> None:
    """A cut is over: data nodes that stopped because of it are started (None: they are not)."""
    outage = sim.outage
    outage.cuts.pop(number, None)
    sim.whole_link(number)
    if outage.stop is None:
        if outage.loss is not None and not outage.cuts and not outage.loss.silent:
            # Nobody was declared dead yet: connections go on where they were.
            outage.loss = None
            sim.laws.run.stands_still = False
            sim.moves_on(sim.now_s)
        others = [
            p for p in outage.plan.processes if not isinstance(p, DataNode) and not outage.is_down(p.id)
        ]
        _connect(sim, {i for p in others for i in process_node_ids(p)})
        for node in outage.plan.data_nodes:
            if starts is not None and node.node_id in outage.lost and not outage.is_down(node.id):
                _begin(sim, node, starts)
    offer(sim)


def _begin(sim: Simulation, node: DataNode, starts: Starts) -> None:
    """Start a data node, when there is a cluster to join and its loss has been judged."""
    outage = sim.outage
    if outage.stop is not None:
        return
    pending = outage.loss is not None and node.node_id in outage.loss.silent
    if pending or node.id in outage.striking:
        judged_s = outage.loss.due[1] if outage.loss is not None else sim.at_s
        sim.later(Due(max(judged_s, sim.at_s) + REPORT_S, StartsAgain(node, starts)))
    elif start(sim, node, starts):
        sim.say(f"node {node.node_id} starts")


@handles(StartsAgain)
def start_again(sim: Simulation, event: StartsAgain) -> None:
    """A data node whose loss was not yet judged when it was there again."""
    _begin(sim, event.node, event.starts)


def _connect(sim: Simulation, node_ids: set[int]) -> None:
    """Management and API nodes connect to the data nodes that they see."""
    outage = sim.outage
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
        outage.running = come_back(outage.failures.cluster, outage.running, new, sim.at_s)
