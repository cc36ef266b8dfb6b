"""What somebody who stands before a live cluster sees of it at a moment: quick to take, and a value.

    seen = sight(cluster)
    seen.moment.disk_utilisation      # what the canvas paints
    seen.states["ndb4"].words         # "phase 4"

A `Moment` of the whole result says the same of what it tells; this one reads the world alone, as a window
asks thirty times a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np

from ndbplan.base.row_types import column
from ndbplan.base.units import how_many
from ndbplan.describe.overlay import State
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode
from ndbplan.simulate.moment import Moment, links_at, moved_at, speeds_at, starting_at, within
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import OfCluster, Part
from ndbplan.train.live import LiveCluster
from ndbplan.train.quantities import load_of, recording
from ndbplan.train.state import ClusterState, NodeState, Status

_WORDS = {
    Status.NOT_STARTED: State("not started", "warning"),
    Status.STOPPING: State("stopping", "warning"),
    Status.SINGLE_USER: State("single user", "info"),
}
_SILENT, _APART = State("silent", "error"), State("no contact", "warning")
_NO_CONNECTION = State("no access", "warning")


class Sight(NamedTuple):
    """A live cluster at a moment."""

    at_s: float
    length_s: float
    """How long the session is."""
    clock: datetime
    """What the clocks of the cluster show."""
    plan: Plan
    """As it is now."""
    moment: Moment
    states: Mapping[str, State]
    """Of processes that do not simply run, by id; those that are down are in the moment."""
    offered_per_s: float
    carried: float
    """Transactions that are accepted, as a share of the workload's peak."""
    load: float
    """How many times the load of the workload clients send."""
    is_over: bool

    @property
    def in_short(self) -> str:
        """`3 of 4 data nodes up`; why the cluster stopped, where it did."""
        nodes = self.plan.data_nodes
        up = sum(node.id not in self.moment.down for node in nodes)
        return self.moment.stopped or f"{up} of {how_many(len(nodes), 'data node')} up"


def sight(cluster: LiveCluster) -> Sight:
    """What it looks like now."""
    sim, state = cluster.session.simulation, cluster.state
    at_s = cluster.now_s
    return Sight(
        at_s, sim.scenario.duration_s, cluster.clock, cluster.plan,
        _moment(sim, state, at_s), dict(_states(state, sim, cluster.clients)),
        _rate(sim, OfCluster.OFFERED), _carried(sim), load_of(sim), cluster.is_over,
    )  # fmt: skip


def _moment(sim: Simulation, state: ClusterState, at_s: float) -> Moment:
    nodes = [node_class.nodes[0].node_id for node_class in sim.scenario.node_classes]
    parts, laws = sim.state.parts, sim.laws.nodes
    buffers = (parts[Part.FILL] / column(laws, lambda node: node.buffer_limit_bytes)[:, None]).max(axis=1)
    used = parts[Part.MADE] - parts[Part.TAIL]
    logs = (used / column(laws, lambda node: node.log_limit_bytes)[:, None]).max(axis=1)
    stop = sim.outage.stop
    starting = {} if stop is not None else starting_at(sim.restarts, at_s)
    return Moment(
        at_s,
        _disks(sim),
        dict(zip(nodes, buffers.tolist(), strict=True)),
        dict(zip(nodes, logs.tolist(), strict=True)),
        _rate(sim, OfCluster.ACCEPTED),
        _rate(sim, OfCluster.REFUSED),
        down=frozenset(_down(state, sim)),
        starting={n: one for n, one in starting.items() if state.nodes[n].status is Status.STARTING},
        disk_speed=speeds_at(sim.slowed, at_s),
        links=links_at(sim.link_times, at_s),
        full_disks=within(sim.full_disks, at_s),
        reorganised=moved_at(sim.reorganising, at_s),
        stopped=stop.text if stop is not None else "",
        stands_still=any(begin <= at_s < end for begin, end in sim.standing[-1:]),
    )


def _disks(sim: Simulation) -> dict[str, float]:
    bucket, seconds = recording(sim)
    busy = np.minimum(1.0, sim.history.busy[bucket, :, 0] * sim.scenario.step_s / seconds).tolist()
    classes = sim.scenario.disk_classes
    return {disk.id: share for one, share in zip(classes, busy, strict=True) for disk in one.disks}


def _rate(sim: Simulation, which: OfCluster) -> float:
    bucket, seconds = recording(sim)
    return float(sim.history.totals[bucket, which]) / seconds


def _carried(sim: Simulation) -> float:
    peak_per_s = float(sim.scenario.laws.offered.max()) / sim.scenario.step_s
    return _rate(sim, OfCluster.ACCEPTED) / peak_per_s if peak_per_s > 0 else 1.0


def _down(state: ClusterState, sim: Simulation) -> Iterator[str]:
    """What does not run: of data nodes those without a process and those that start still."""
    data_nodes = {node.id: node.node_id for node in state.plan.data_nodes}
    for object_id, spells in sim.outage.spells.items():
        if spells and spells[-1].to_s is None and object_id not in data_nodes:
            yield object_id
    for object_id, node_id in data_nodes.items():
        node = state.nodes[node_id]
        if not node.runs or node.status in (Status.STARTING, Status.NOT_STARTED):
            yield object_id


def _states(state: ClusterState, sim: Simulation, clients: frozenset[int]) -> Iterator[tuple[str, State]]:
    for node in state.plan.data_nodes:
        found = _state(state.nodes[node.node_id])
        if found is not None:
            yield node.id, found
    for process in state.plan.processes:
        if (
            isinstance(process, SqlNode)
            and process.node_id not in clients
            and not sim.outage.is_down(process.id)
        ):
            yield process.id, _NO_CONNECTION


def _state(node: NodeState) -> State | None:
    if not node.runs:
        return None
    if node.hangs:
        return _SILENT
    if node.status is Status.STARTING:
        return State(f"phase {node.phase}", "warning")
    return _APART if node.status is Status.NOT_CONNECTED else _WORDS.get(node.status)
