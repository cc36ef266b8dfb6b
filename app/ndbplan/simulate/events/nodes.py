"""Data nodes in a run: one dies, starts again, copies what it missed, and takes its part of the load."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndbplan.estimate.times.restart import restart
from ndbplan.ndb.survival import begin_start, come_back
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.simulate.events.outage import clients_of
from ndbplan.simulate.events.state import Change, World
from ndbplan.simulate.model.load_over_time import DISK_READS
from ndbplan.simulate.series import Restart
from ndbplan.simulate.world import Error, Part, column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COPY_PHASE = "copy fragments"
FIRST_PHASE = "allocate memory"
"""Before a node joins the others; from then on the loss of another one ends its start [2308, measured]."""
COPY_LOOK_S = 1.0
"""How often copying that takes longer than estimated is looked at."""
REPORT_S = 0.1
"""Transactions of so much time are aborted when a node dies: those under way [assumed]."""


def die(world: World, nodes: Collection[int], at_s: float) -> None:
    """Data nodes stop at one moment: their buffers are lost, the others of their groups go on."""
    scenario, outage = world.scenario, world.outage
    dying = sorted(n for n in nodes if n >= 0 and not world.is_dead(n))
    total = max(1e-12, float(scenario.load.sum()))
    shares = {n: float(scenario.load[n].sum()) / total for n in dying}
    made = {n: _mates_log(world, n) for n in dying}
    for n in dying:
        world.made_at_death[n] = made[n]
        node = scenario.node_classes[n].nodes[0]
        outage.lost.add(node.node_id)
        outage.attempts[node.id] = outage.attempts.get(node.id, 0) + 1
        outage.goes_down(node.id, at_s)
        world.restarts.append(Restart(node.node_id, at_s, None, ()))
        _empty(world, n)
    for group in sorted({int(scenario.places[n].group) for n in dying}):
        members(world, group)
    for n in dying:
        _aborted(world, n, shares[n], at_s)
    service(world)
    world.forget_room()


def _empty(world: World, n: int) -> None:
    """What a node had in memory is gone, and it writes nothing more."""
    scenario, arrays = world.scenario, world.arrays
    arrays.parts[Part.LOST, n] += arrays.parts[Part.FILL, n]
    arrays.parts[Part.FILL, n] = 0.0
    arrays.parts[Part.LAGS, n] = 0.0
    arrays.node_state[n].is_dead = True
    state = arrays.node_state[n]
    state.lcp_left_bytes = state.lcp_fragments_left = state.backup_left_bytes = 0.0
    state.undo_held_bytes = state.dirty_bytes = 0.0
    scenario.base[n] = 0.0


def stop_all(world: World, at_s: float) -> None:
    """Every data node that is left stops: nothing is written any more, all that is offered is refused."""
    scenario = world.scenario
    for n, node_class in enumerate(scenario.node_classes):
        if not world.is_dead(n):
            world.outage.lost.add(node_class.node_id)
            world.outage.goes_down(node_class.nodes[0].id, at_s)
            _empty(world, n)
    scenario.load[:] = 0.0
    scenario.alive[:] = 0
    scenario.run.stopped, scenario.run.stands_still = True, False
    world.arrays.stopped_s = world.now_s


def rejoin(world: World, n: int) -> None:
    """A data node takes part in transactions again."""
    scenario, state = world.scenario, world.arrays.node_state
    if n < 0 or not world.is_dead(n):
        return
    group = int(scenario.places[n].group)
    state[n].is_dead = False
    mates = [m for m in of_group(world, group) if m != n and not world.is_dead(m)]
    if mates:
        mate = state[mates[0]]
        state[n].rows_bytes, state[n].memory_bytes = mate.rows_bytes, mate.memory_bytes
        state[n].space_bytes, state[n].index_bytes = mate.space_bytes, mate.index_bytes
    parts = world.arrays.parts
    parts[Part.TAIL, n] = parts[Part.MADE, n]
    parts[[Part.DURABLE, Part.DURABLE_BEFORE, Part.LCP_START, Part.LCP_NEXT, Part.MARK], n] = parts[
        Part.MADE, n
    ]
    ends = scenario.nodes[n].file_bytes
    parts[Part.FILE_END, n] = (np.floor(parts[Part.MADE, n] / ends) + 1.0) * ends
    parts[Part.STOP, n] = np.minimum(
        parts[Part.FILE_END, n], parts[Part.TAIL, n] + scenario.nodes[n].log_limit_bytes
    )
    world.outage.lost.discard(scenario.node_classes[n].node_id)
    world.outage.comes_up(scenario.node_classes[n].nodes[0].id, world.now_s)
    members(world, group)
    service(world)


def of_group(world: World, group: int) -> list[int]:
    """The nodes of a simulated group, dead or alive."""
    return [n for n in range(len(world.scenario.places)) if world.scenario.places[n].group == group]


def members(world: World, group: int) -> None:
    """Work out who is alive in a group, in which order, and who gets its load."""
    scenario = world.scenario
    alive = [n for n in of_group(world, group) if not world.is_dead(n)]
    scenario.alive[group] = len(alive)
    for slot, n in enumerate(alive):
        scenario.slots[group, slot] = n
        scenario.places[n].slot = slot
    for n in of_group(world, group):
        scenario.load[n] = 0.0 if world.is_dead(n) else world.full_load[n]


def service(world: World) -> None:
    """What the nodes that are left let pass: data nodes that have rows, SQL and API nodes that are up."""
    scenario = world.scenario
    if scenario.services or scenario.page_cache is not None:
        clients = clients_of(world.outage.plan)
        up = sum(not world.outage.is_down(client.id) for client in clients) / max(1, len(clients))
        known = world.outage.failures.cluster.data_nodes
        there = [n for n, c in enumerate(scenario.node_classes) if c.node_id in known]
        alive = sum(not world.is_dead(n) for n in there) / max(1, len(there))
        left = [
            s.max_per_s * ((up if clients else 1.0) if s.is_clients else alive)
            for s in scenario.services
            if s.resource != DISK_READS
        ]
        scenario.run.service_per_s = max(1e-9, min(left)) if left else 0.0
        if scenario.page_cache is not None:
            scenario.run.reading_share = max(1e-9, alive)
        world.note_settings()


def _aborted(world: World, n: int, share: float, at_s: float) -> None:
    """Transactions under way on a node that dies."""
    arrays, run = world.arrays, world.scenario.run
    rate = arrays.cluster.attempted / max(at_s, run.step_s)
    count = rate * REPORT_S * share
    if count > 0:
        if arrays.errors[Error.NODE] == 0:
            arrays.first[Error.NODE] = (at_s, n)
        arrays.errors[Error.NODE] += count


def _mates_log(world: World, n: int) -> float:
    """Log that another node of the group has made so far."""
    group = int(world.scenario.places[n].group)
    for m in of_group(world, group):
        if m != n and not world.is_dead(m):
            return float(world.arrays.parts[Part.MADE, m].sum())
    return 0.0


def _regime(world: World, n: int, own: int, others: int) -> None:
    """Checkpoint speeds while a node restarts."""
    column(world.scenario.nodes, lambda node: node.regime)[:] = others
    world.scenario.nodes[n].regime = own


def _copy(world: World, n: int, seconds: float) -> None:
    """The rows that changed while the node was away are copied to it, and logged there."""
    missed = max(0.0, _mates_log(world, n) - world.made_at_death.get(n, 0.0))
    steps = max(1.0, seconds / world.scenario.run.step_s)
    load = world.full_load[n]
    if load.sum() > 0:
        world.scenario.base[n] = missed / steps * load / load.sum()
        world.copy_goal[n] = float(world.arrays.parts[Part.BASE, n].sum()) + missed
        world.scenario.run.copies = True


@dataclass
class Starts:
    """How long the phases of a node restart take, worked out once for each node."""

    plan: Plan

    def __post_init__(self) -> None:
        self._known: dict[int, tuple[tuple[str, float], ...]] = {}

    def phases(self, node_id: int) -> tuple[tuple[str, float], ...]:
        """Name and seconds of each phase."""
        if node_id not in self._known:
            found = restart(self.plan, "node", node_id).phases
            self._known[node_id] = tuple((phase.name, phase.duration_s.value) for phase in found)
        return self._known[node_id]


def start(
    world: World,
    node: DataNode,
    starts: Starts,
    renew: Callable[[World], None] | None = None,
    done: Callable[[World, DataNode], None] | None = None,
) -> bool | None:
    """A node restart begins: away until its rows are copied, then back, then durable again.

    `renew`: what changes with the start, such as its configuration; `done`: what is next. False: the node
    runs, is kept down by something, or sees nobody to start with.
    """
    outage = world.outage
    if node.node_id not in outage.lost or outage.is_down(node.id):
        return False
    others = [n for n in outage.plan.data_nodes if n.node_id in outage.running.started]
    if not any(outage.sees(node, other) for other in others):
        return False
    name = f"node {node.node_id}"
    attempt = outage.attempts[node.id] = outage.attempts.get(node.id, 0) + 1
    phases = starts.phases(node.node_id)
    joined, before, copying, after = _parts(phases)
    _regime(world, world.node(node.id), 2, 1)
    for i, one in enumerate(world.restarts):
        if one.node_id == node.node_id and one.started_at_s is None:
            world.restarts[i] = replace(one, started_at_s=world.now_s, phases=phases)

    def holds(action: Callable[[World, int], bool | None]) -> Callable[[World], bool | None]:
        """Only while this start is under way."""
        return lambda w: action(w, w.node(node.id)) if w.outage.attempts[node.id] == attempt else False

    def join(w: World, _n: int) -> bool:
        w.outage.running = begin_start(w.outage.running, {node.node_id})
        return False

    def copy(w: World, n: int) -> None:
        rejoin(w, n)
        if renew is not None:
            renew(w)
        _copy(w, n, copying)

    def copied(w: World, n: int) -> bool | None:
        if w.arrays.parts[Part.BASE, n].sum() < 0.995 * w.copy_goal.get(n, 0.0):
            w.later(Change(w.now_s + COPY_LOOK_S, f"{name} has its rows", holds(copied)))
            return False
        w.scenario.base[n] = 0.0
        w.later(Change(w.at_s + after, f"{name} is durable again", holds(durable)))
        return None

    def durable(w: World, n: int) -> None:
        _regime(w, n, 0, 0)
        w.outage.running = come_back(w.outage.failures.cluster, w.outage.running, {node.node_id}, w.at_s)
        if done is not None:
            done(w, node)

    at_s = world.at_s
    world.later(
        Change(at_s + joined, f"{name} joins", holds(join)),
        Change(at_s + before, f"{name} takes part again, its rows are copied", holds(copy)),
        Change(at_s + before + copying, f"{name} has its rows", holds(copied)),
    )
    return None


def _parts(phases: tuple[tuple[str, float], ...]) -> tuple[float, float, float, float]:
    """Seconds until a node joins the others, until its rows are copied, of the copying, and after that."""
    names = [name for name, _ in phases]
    times = [seconds for _, seconds in phases]
    joined = times[0] if names and names[0] == FIRST_PHASE else 0.0
    if COPY_PHASE in names:
        at = names.index(COPY_PHASE)
        return joined, sum(times[:at]), times[at], sum(times[at + 1 :])
    # Old versions are known as a whole only.
    whole = sum(times)
    return joined, 0.8 * whole, 0.1 * whole, 0.1 * whole
