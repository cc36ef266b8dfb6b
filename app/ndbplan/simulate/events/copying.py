"""What a data node missed while it was away is copied to it, as quickly as links between nodes let it."""

from __future__ import annotations

from dataclasses import replace

from ndbplan.estimate.timed import copy_s_per_byte
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Part

COPY_PHASE = "copy fragments"


def begin_copy(sim: Simulation, n: int, missed_bytes: float, seconds: float) -> None:
    """The rows that changed while the node was away are copied to it, and logged there."""
    if sim.full_load[n].sum() > 0:
        sim.copy_goal[n] = float(sim.state.parts[Part.BASE, n].sum()) + missed_bytes
        sim.laws.run.copies = True
        copy_in(sim, n, seconds)


def copy_in(sim: Simulation, n: int, seconds: float) -> None:
    """What is left of the copying takes so long, or longer where a slowed link carries no more."""
    left = max(0.0, sim.copy_goal.get(n, 0.0) - float(sim.state.parts[Part.BASE, n].sum()))
    by_links_s = left * copy_s_per_byte(sim.outage.plan, sim.scenario.node_classes[n].node_id, sim.slow_links)
    load = sim.full_load[n]
    if load.sum() > 0:
        steps = max(1.0, max(seconds, by_links_s) / sim.laws.run.step_s)
        sim.laws.base[n] = left / steps * load / load.sum()


def copies_longer(sim: Simulation, node_id: int, seconds: float) -> None:
    """Note that the copying of the latest start of a node takes so much longer than was noted."""
    at = max(i for i, one in enumerate(sim.restarts) if one.node_id == node_id)
    phases = tuple(
        (name, time + seconds if name == COPY_PHASE else time) for name, time in sim.restarts[at].phases
    )
    sim.restarts[at] = replace(sim.restarts[at], phases=phases)
