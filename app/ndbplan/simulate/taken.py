"""What a run took of what it was offered, with the range in which a running cluster may lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ndbplan.base.quantity import Quantity, Term
from ndbplan.plan.workloads import ClosedLoad
from ndbplan.simulate.latency import over_time
from ndbplan.simulate.model.load_over_time import Service
from ndbplan.simulate.recorded import overload_factor
from ndbplan.simulate.series import Floats
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Error, OfCluster

_ALL = 1.0 - 1e-9
"""Share from which on it is all: sums of shares round."""


def accepted(sim: Simulation, services: Sequence[Service]) -> Quantity:
    """Transactions a second. `services`: what lets no more than so many pass, the lowest first.

    What the log refuses or holds up is off by as much as overloaded runs are. What processors, links and
    reads let pass lies where their limit does: all of an offer is certain only below the low end of that.
    Source: error of overloaded runs (`simulated_overload`), ranges of the services.
    """
    scenario, out, lengths = sim.scenario, sim.history.totals, sim.bucket_lengths_s()
    duration_s = scenario.duration_s
    taken, sent, offered = out[:, OfCluster.ACCEPTED], out[:, OfCluster.ATTEMPTED], out[:, OfCluster.OFFERED]
    terms = (
        Term("offered", float(offered.sum()) / duration_s, "tx/s", "plan"),
        Term("log of one transaction", scenario.redo_bytes_per_transaction, "bytes", "formula"),
        *(Term(f"bandwidth of {d.hostnames[0]} {d.disks[0].name}", d.bytes_per_s, "bytes/s", "plan")
          for d in scenario.disk_classes[:4]),
    )  # fmt: skip
    value = low = high = float(taken.sum())
    waits = bool(np.any((out[:, OfCluster.WAITING] > 0) & (sent < offered * _ALL)))
    # What a stopped cluster refuses says nothing about what it could have taken before.
    asked = float(sent.sum())
    while_up = asked - float(sim.state.errors[Error.DOWN])
    if waits or value < while_up * _ALL:
        off = overload_factor(sim)
        most = while_up + (float(_offered(sim, lengths).sum()) - asked if waits else 0.0)
        low, high = value / off, max(value, min(most, value * off))
    limits = _limits(sim, services, lengths)
    if limits is not None:
        least, most_passed = limits
        low = min(low, float(np.minimum(taken, least).sum()))
        if not waits and value >= asked * _ALL:
            high = max(
                high,
                float(np.where(sent < offered * _ALL, np.clip(most_passed, taken, offered), taken).sum()),
            )
    if low == high:
        return Quantity.exact(value / duration_s, "tx/s", terms)
    return Quantity(value / duration_s, low / duration_s, high / duration_s, "tx/s", terms)


def _offered(sim: Simulation, lengths: Floats) -> Floats:
    """What would be sent in each bucket if nobody waited: those who wait in a closed loop send nothing."""
    offered: Floats = sim.history.totals[:, OfCluster.OFFERED]
    if not isinstance(sim.scenario.workload.load, ClosedLoad):
        return offered
    free = over_time(sim, lambda run: run.clients / run.cycle_s if run.cycle_s > 0.0 else 0.0, lengths)
    return np.where(offered > 0, np.maximum(offered, free * lengths), 0.0)


def _limits(sim: Simulation, services: Sequence[Service], lengths: Floats) -> tuple[Floats, Floats] | None:
    """Transactions that pass in each bucket at least and at most; None where nothing of that kind limits.

    A job lasts as long as it takes: what it does in all does not depend on them.
    """
    if not services or sim.laws.run.job_transactions > 0:
        return None
    passes = over_time(sim, lambda run: run.service_per_s, lengths) * lengths
    if not np.any(passes > 0):
        return None
    passes = np.where(passes > 0, passes, np.inf)
    first = services[0].max_per_s
    low, high = (
        min(ends) / first for ends in zip(*((s.low_per_s, s.high_per_s) for s in services), strict=True)
    )
    return passes * low, passes * high
