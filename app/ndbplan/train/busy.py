"""How busy hosts and the threads of data nodes are, by what the simulation says of its last moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.cpu import NodeCpu
from ndbplan.estimate.stored import threads_of
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import DataNode
from ndbplan.simulate.result import SimulationResult
from ndbplan.train.live import LiveCluster


class Lately(NamedTuple):
    """Which recorded moments a program takes its means over: those that are over."""

    result: SimulationResult
    moments: slice

    def mean(self, values: NDArray[np.float64]) -> float:
        """Of a series, over these moments."""
        return float(values[self.moments].mean())


def lately_of(cluster: LiveCluster, seconds: float, back_s: float = 0.0) -> Lately:
    """The last seconds, up to so many ago; the moment that runs is left out, as it may be a step old."""
    result = cluster.result()
    over = int(((result.times_s + result.bucket_s) <= cluster.now_s - back_s + 1e-6).sum())
    count = max(1, round(seconds / result.bucket_s))
    end = max(1, over)
    return Lately(result, slice(max(0, end - count), end))


def _load(cluster: LiveCluster, lately: Lately) -> float:
    """Share of the workload's peak that is carried."""
    scenario = cluster.session.simulation.scenario
    peak = float(scenario.laws.offered.max()) / scenario.step_s
    return lately.mean(lately.result.accepted) / peak if peak > 0 else 1.0


def busy_of(cluster: LiveCluster, host: Host, lately: Lately) -> float:
    """Share of all cores of a host that work."""
    sim = cluster.session.simulation
    estimation = Estimation(sim.outage.plan, sim.scenario.workload)
    found = next((one for one in estimation.cpu.hosts if one.host_id == host.id), None)
    here = [process for process in cluster.plan.processes if process.host_id == host.id]
    up = [process for process in here if not sim.outage.is_down(process.id)]
    if found is None or not up:
        return 0.0
    work, idle = found.work.value, found.utilisation.value - found.work.value
    # Processes that are down do nothing; those of a host are taken as equally busy [assumed].
    return min(1.0, (work * _load(cluster, lately) + idle) * len(up) / len(here))


def host_busy(cluster: LiveCluster, host: Host, seconds: float, back_s: float = 0.0) -> float:
    """Share of all cores of a host that worked in the last seconds, or in some before them."""
    return busy_of(cluster, host, lately_of(cluster, seconds, back_s))


def thread_use(
    cluster: LiveCluster, node: DataNode, seconds: float, back_s: float = 0.0
) -> list[tuple[str, float]]:
    """Threads of a data node by name, in the order of their numbers, each with its share of a core lately."""
    sim, state = cluster.session.simulation, cluster.state
    estimation = Estimation(sim.outage.plan, sim.scenario.workload)
    counts, cpu = threads_of(cluster.plan, node), estimation.cpu.node(node.node_id)
    share = _load(cluster, lately_of(cluster, seconds, back_s)) if node.node_id in state.alive() else 0.0
    ldms = [] if cpu is None else _ldm_use(cluster, node, cpu, counts)
    recv = 0.0 if cpu is None else cpu.receive_utilisation.value * share
    other = 0.0 if cpu is None else cpu.other_utilisation.value * share
    rest = max(1, counts.tc + counts.send + counts.main + counts.rep)
    kinds = (
        ("main", [other / rest] * counts.main), ("rep", [other / rest] * counts.rep),
        ("ldm", [one * share for one in ldms] or [0.0] * counts.ldm), ("tc", [other / rest] * counts.tc),
        ("recv", [recv] * counts.recv), ("send", [other / rest] * counts.send),
    )  # fmt: skip
    return [(name, min(1.0, busy)) for name, uses in kinds for busy in uses]


def _ldm_use(cluster: LiveCluster, node: DataNode, cpu: NodeCpu, counts: ThreadCounts) -> list[float]:
    """Share of a core of each LDM thread at the peak: the one with most of the log is the busiest.

    What the others do is divided as the log of their parts is; reads are taken to lie alike [assumed].
    """
    sim, number = cluster.session.simulation, counts.ldm
    if not number:
        return []
    n, busiest = sim.node(node.id), cpu.ldm_utilisation.value
    logs = [0.0] * number
    for log_part, log_bytes in enumerate(sim.laws.load[n] if n >= 0 else ()):
        logs[log_part % number] += float(log_bytes)
    hot = max(range(number), key=logs.__getitem__)
    whole = cpu.work_cores.value - cpu.receive_utilisation.value * max(1, counts.recv)
    left = min(max(0.0, whole - cpu.other_utilisation.value - busiest), busiest * (number - 1))
    others = sum(logs) - logs[hot]
    parts = [log / others if others > 0.0 else 1.0 / max(1, number - 1) for log in logs]
    return [busiest if i == hot else min(busiest, left * parts[i]) for i in range(number)]
