"""How long a transaction takes while a simulation runs.

Closed loop: by Little's law, clients / rate - think time, which is exact. Open load: the time on an idle
cluster, longer the busier the slowest of processors and network is, as in a queue with one server
(1 / (1 - use)), no less than its own work takes, and the time that work waits for redo, by Little's law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.quantity import Quantity, Term
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.loaded import idle_latency_s, own_work_s
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, Workload
from ndbplan.simulate.world.indices import Error, OfCluster
from ndbplan.simulate.world.laws import Run

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan
    from ndbplan.simulate.simulation import Simulation

    Floats = NDArray[np.float64]

MOST_USED = 0.98
"""Beyond this use a queue no longer depends on the use but on how much clients send at once."""
_NEAR = 1.5
"""So many times its own work, and a mean says more of waiting than of work."""
LONGEST_S = 3600.0
"""A latency is not said to be longer: nobody waits for it."""


def _answered(sim: Simulation) -> Floats:
    """Transactions of each bucket that data nodes answered; what a stopped cluster refuses is no answer."""
    refused: Floats = np.diff(sim.history.errors[:, Error.DOWN], prepend=0.0)
    answered: Floats = (
        sim.history.totals[:, OfCluster.ACCEPTED] + sim.history.totals[:, OfCluster.REFUSED] - refused
    )
    # Sums that differ by rounding only are no answers.
    return np.where(answered > 1e-9 * (1.0 + refused), answered, 0.0)


def over_time(sim: Simulation, setting: Callable[[Run], float], lengths: Floats) -> Floats:
    """Mean in each bucket of a setting of the run that events may change."""
    edges = np.concatenate([[0.0], np.cumsum(lengths)])
    before = setting(sim.settings[0][1])
    latency = np.full(len(lengths), before)
    for at_s, values in sim.settings[1:]:
        value = setting(values)
        if value != before:
            after = np.clip((edges[1:] - at_s) / lengths, 0.0, 1.0)
            latency += after * (value - before)
            before = value
    return latency


def _open_s(plan: Plan, workload: Workload, used: Floats, service_per_s: Floats) -> Floats:
    """Seconds of a transaction that does not wait for redo: time on an idle cluster, or its own work.

    The first waits as for one server. The work of a large transaction keeps few of many busy: those that pass
    so many a second, each work so long, are as many as their product (queue of c servers, Sakasegawa 1977).
    """
    idle_s, work = constants_of(plan)["idle_latency_s"].value, own_work_s(plan, workload)
    work_s = 0.0 if work is None else work.value
    servers = np.maximum(1.0, service_per_s * work_s)
    queue = used ** np.sqrt(2.0 * (servers + 1.0)) / (servers * (1.0 - used))
    longest: Floats = np.maximum(idle_s / (1.0 - used), work_s * (1.0 + queue))
    return longest


def latency_s(sim: Simulation) -> Floats:
    """Mean seconds of a transaction in each bucket; 0 where none was answered."""
    scenario, lengths = sim.scenario, sim.bucket_lengths_s()
    # A bucket in which the cluster stops counts as far as it ran.
    ran = np.clip(sim.stopped_s - (np.cumsum(lengths) - lengths), 1e-9, lengths)
    answered = _answered(sim) / ran
    attempted = np.where(ran < lengths, answered, sim.history.totals[:, OfCluster.ATTEMPTED] / lengths)
    some = answered > 0
    rate = np.maximum(answered, 1e-9)
    load = scenario.workload.load
    idle_s = idle_latency_s(scenario.plan, scenario.workload).value
    if isinstance(load, ClosedLoad):
        clients = over_time(sim, lambda run: run.clients, lengths)
        latency = np.maximum(idle_s, clients / rate - load.think_time_s)
    else:
        service = over_time(sim, lambda run: run.service_per_s, lengths)
        used = np.where(service > 0, attempted / np.maximum(1e-9, service), 0.0)
        waiting_s = sim.history.totals[:, OfCluster.WAITING] / rate
        latency = _open_s(scenario.plan, scenario.workload, np.minimum(MOST_USED, used), service) + waiting_s
        if isinstance(load, OpenLoad) and load.clients:
            # No more than all clients can be waiting for an answer.
            latency = np.minimum(latency, np.maximum(idle_s, load.clients / rate))
    return np.where(some, np.minimum(LONGEST_S, latency), 0.0)


def mean_latency(sim: Simulation, series: Floats) -> Quantity:
    """Mean over the transactions of a run, with how well it is known."""
    scenario, answered = sim.scenario, _answered(sim)
    total = float(answered.sum())
    mean = float((series * answered).sum()) / total if total > 0 else 0.0
    load, idle = scenario.workload.load, idle_latency_s(scenario.plan, scenario.workload)
    if isinstance(load, ClosedLoad):
        terms = (
            Term("time on an idle cluster", idle.value, "s", "plan"),
            Term("clients", float(load.clients), "count", "plan"),
        )
        simulated = Quantity.exact(mean, "s", terms) * constants_of(scenario.plan)["latency_simulated"]
        return simulated.within(least=min(mean, idle.value))
    assumed = constants_of(scenario.plan)["idle_latency_s"]
    if mean > assumed.value and mean > idle.value * _NEAR:
        # It is that of a queue, not of the transaction's own work.
        idle = assumed
    limits = [
        Term(f"{service.resource} of {service.where} passes", service.max_per_s, "tx/s", "formula")
        for service in scenario.services[:1]
    ]
    why = (
        idle.as_term("time on an idle cluster"),
        *limits,
        Term("transactions per second", total / scenario.duration_s, "tx/s", "simulation"),
    )
    # As well known as the time on an idle cluster.
    return Quantity.exact(mean, "s", why) * Quantity(1.0, idle.low / idle.value, idle.high / idle.value, "")
