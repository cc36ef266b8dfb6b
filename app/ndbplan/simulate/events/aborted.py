"""Transactions of the whole cluster that end with a data node that dies: open then, or begun before
it is noticed.

Source: running clusters of 2 groups x 2 nodes, one node killed: 8 of 8 open transactions of one row (7.4.10)
and 6 of 6 (8.4.8) were lost, though the node was coordinator or had a copy for part of them only; under load
one statement of each of three sessions failed (7.4.10), and of two of three with pauses of 20 ms, after 0.26
and 0.29 s of waiting (8.4.8). A session has one open transaction.
"""

from __future__ import annotations

from ndbplan.ndb.survival import killed_after_s
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Error


def abort_open(sim: Simulation, node: int, at_s: float) -> None:
    """Count as refused with 4010 what is open when nodes die; `node`: the place of one of them."""
    state, count = sim.state, open_transactions(sim, at_s)
    if count > 0:
        if state.errors[Error.NODE] == 0:
            state.first[Error.NODE] = (at_s, node)
        state.errors[Error.NODE] += count


def open_transactions(sim: Simulation, at_s: float) -> float:
    """How many are open at a moment, or begin before a killed process is noticed; one for each client."""
    run, waiting = sim.laws.run, float(sim.state.cluster.waiting)
    clients = float(run.clients) if run.clients > 0 else float("inf")
    offered = sim.laws.offered
    if run.cycle_s > 0:
        per_s = clients / float(run.cycle_s)
    else:
        per_s = float(offered[min(len(offered) - 1, int(at_s / run.step_s))]) / float(run.step_s)
    if run.service_per_s > 0:
        per_s = min(per_s, float(run.service_per_s))
    noticed_s = sum(killed_after_s()) / 2
    return min(clients, waiting + per_s * (float(run.held_s) + noticed_s))
