"""Quantities of a live cluster that breakpoints and goals ask for, at this moment.

value("redo_log", cluster)        # 0.43: share of the fullest log part that cannot be reused
"""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.base.row_types import column
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Part
from ndbplan.train.live import LiveCluster
from ndbplan.train.state import Status


def _redo_log(sim: Simulation) -> float:
    used = sim.state.parts[Part.MADE] - sim.state.parts[Part.TAIL]
    limits = column(sim.laws.nodes, lambda node: node.log_limit_bytes)[:, None]
    return float((used / limits).max())


def _redo_buffer(sim: Simulation) -> float:
    limits = column(sim.laws.nodes, lambda node: node.buffer_limit_bytes)[:, None]
    return float((sim.state.parts[Part.FILL] / limits).max())


def _data_memory(sim: Simulation) -> float:
    used = column(sim.state.node_state, lambda node: node.memory_bytes)
    return float((used / column(sim.laws.nodes, lambda node: node.memory_limit_bytes)).max())


def _backup_left(sim: Simulation) -> float:
    return float(column(sim.state.node_state, lambda node: node.backup_left_bytes).sum())


SHARES: dict[str, Callable[[Simulation], float]] = {
    "redo_log": _redo_log,
    "redo_buffer": _redo_buffer,
    "data_memory": _data_memory,
}
"""Of what there is, of the fullest; typed as `80%` or `0.8`."""
COUNTS: dict[str, Callable[[LiveCluster], float]] = {
    "accepted": lambda cluster: cluster.moment().accepted_per_s,
    "refused": lambda cluster: cluster.moment().refused_per_s,
    "disk": lambda cluster: max(cluster.moment().disk_utilisation.values(), default=0.0),
    "nodes_started": lambda cluster: sum(
        node.status is Status.STARTED for node in cluster.state.nodes.values()
    ),
    "backups_done": lambda cluster: sum(not one.error for one in cluster.state.backups),
    "lcp": lambda cluster: cluster.state.lcp_id,
}
"""Transactions per second, use of the busiest disk, how many."""
NAMES = (*SHARES, *COUNTS)


def value(name: str, cluster: LiveCluster) -> float:
    """What a quantity is now. Raises KeyError for one that is none."""
    if name in SHARES:
        return SHARES[name](cluster.session.simulation)
    return float(COUNTS[name](cluster))
