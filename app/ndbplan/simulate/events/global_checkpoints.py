"""Global checkpoints while a disk is slow: one that waits too long for the log of a node stops that node.

Only the save of a global checkpoint is followed, which waits for redo log; the commit of an epoch waits for
transactions, and no disk holds it up by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndbplan.configuration.global_checkpoints import save_limit_s
from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.simulate.events.failures import BY_HAND, strike
from ndbplan.simulate.events.handlers import handles
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.world.indices import Part


@dataclass(frozen=True)
class GlobalCheckpoint:
    """A global checkpoint that is looked at while a disk is slow."""

    number: int
    """Of the event that slowed the disk."""
    until_s: float
    """When the disk is as fast as before; infinite: never."""
    began_s: float
    made_bytes: tuple[tuple[float, ...], ...]
    """Log of each node and part that it waits for."""


def waits_s(sim: Simulation) -> float:
    """For how long the oldest global checkpoint that is followed has been waiting for redo log."""
    began = [due.event.began_s for due in sim.due if isinstance(due.event, GlobalCheckpoint)]
    return sim.at_s - min(began) if began else 0.0


def limit_s(sim: Simulation) -> float | None:
    """How long a global checkpoint may wait now; None: for ever."""
    running = sim.outage.running
    return save_limit_s(node_settings(sim.outage.plan), len(running.started | running.starting))


def has_log(sim: Simulation, disk: int) -> bool:
    """Whether a disk bears the redo log of a data node."""
    return any(place.redo_disk == disk for place in sim.laws.places)


def watch(sim: Simulation, number: int, until_s: float) -> None:
    """Follow global checkpoints from now on."""
    _begin(sim, number, until_s)


@handles(GlobalCheckpoint)
def look(sim: Simulation, event: GlobalCheckpoint) -> None:
    """The next one begins when all log of this one is on disk; nodes that take too long stop."""
    waiting, limit = _waiting(sim, event), limit_s(sim)
    at_most_s = event.began_s + (math.inf if limit is None else limit)
    if waiting and sim.at_s < at_most_s - 1e-9:
        again_s = min(sim.at_s + float(sim.laws.run.gcp_s), at_most_s)
        sim.later(Due(again_s, event))
        return
    if waiting:
        timeout = node_settings(sim.outage.plan).number("TimeBetweenEpochsTimeout")
        for n in waiting:
            sim.say(
                f"node {sim.scenario.node_classes[n].node_id} stops (2303): a global checkpoint waited "
                f"{limit:g} s for its redo log; there is a limit as TimeBetweenEpochsTimeout is {timeout} ms"
            )
        nodes = [sim.scenario.node_classes[n].nodes[0] for n in waiting]
        strike(sim, BY_HAND, nodes, silent=False)
    if sim.at_s < event.until_s:
        _begin(sim, event.number, event.until_s)


def _begin(sim: Simulation, number: int, until_s: float) -> None:
    """A global checkpoint begins: it waits for all log that was made until now."""
    made = tuple(tuple(float(part) for part in node) for node in sim.state.parts[Part.MADE])
    checkpoint = GlobalCheckpoint(number, until_s, sim.at_s, made)
    sim.later(Due(sim.at_s + float(sim.laws.run.gcp_s), checkpoint, is_look=True))


def _waiting(sim: Simulation, event: GlobalCheckpoint) -> list[int]:
    """Nodes that run and have not written all that a global checkpoint waits for."""
    parts = sim.state.parts
    behind = parts[Part.MADE] - parts[Part.FILL] + 0.5 < np.array(event.made_bytes)
    return [
        n
        for n, node_class in enumerate(sim.scenario.node_classes)
        if (behind[n].any() or _lacks_record(sim, event, n))
        and not sim.is_dead(n)
        and node_class.nodes[0].id not in sim.outage.striking
    ]


def _lacks_record(sim: Simulation, event: GlobalCheckpoint, n: int) -> bool:
    """Whether a node cannot have written the record of a global checkpoint by now: a page of each log part,
    also where no transaction makes log [NDB source, Dblqh::writeCompletedGciLog].
    """
    disk = sim.laws.disks[sim.laws.places[n].redo_disk]
    could = (sim.at_s - event.began_s) * float(disk.write_bytes_per_s)
    return could < sim.scenario.node_classes[n].log_parts * PAGE_BYTES
