"""Kernel, part 9: error 1234, which refuses the work of a log part whose buffer takes too long to write.

Source: engine model 3.3, 15.1 and 16.1. Seconds of three running 7.4.10 clusters whose disks were limited: of
eight refusals all began with the third look in a row above 20 s and ended with the first that was not; 8.4.8
begins with the first.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled
from ndbplan.base.row_types import Floats, Rows
from ndbplan.simulate.kernel.chance import normal
from ndbplan.simulate.kernel.log import LAG_BYTES, RUN_BYTES
from ndbplan.simulate.world.indices import Part
from ndbplan.simulate.world.laws import Node, Run
from ndbplan.simulate.world.state import Cluster

LAG_NEAR = 0.9
"""Share of the lag that is refused from which on steps are taken in pieces."""


@compiled
def near_lag(nodes: Rows[Node], parts: Floats) -> bool:
    """Whether a part refuses because of lag, or may soon."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            held = parts[Part.FILL, n, p]
            if parts[Part.LAGS, n, p] > 0.0:
                return True
            if held > LAG_BYTES and held > LAG_NEAR * nodes[n].lag_limit_s * parts[Part.SPEED, n, p]:
                return True
    return False


@compiled
def measure_logs(parts: Floats, elapsed_s: float) -> None:
    """Speed of each log part in the last second."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            parts[Part.SPEED, n, p] = parts[Part.DRAINED, n, p] / elapsed_s
            parts[Part.DRAINED, n, p] = 0.0


@compiled
def lag_s(parts: Floats, wrote: Floats, n: int, p: int) -> float:
    """Whole seconds by which a part lags, at its speed of the last busy seconds."""
    held = parts[Part.FILL, n, p]
    if held <= 2.0 * RUN_BYTES:
        return 0.0
    whole: float = np.floor(held / max(1.0, _busy_speed(wrote, n, p)))
    return whole


@compiled
def look_at_lags(run: Run, nodes: Rows[Node], parts: Floats, wrote: Floats, cluster: Cluster) -> None:
    """Once a second: a part whose lag in whole seconds was above the limit at so many looks in a row refuses
    until a look at which it is not.
    """
    slot = cluster.lag_slot
    cluster.lag_slot = (slot + 1) % wrote.shape[0]
    for p in range(parts.shape[2]):
        # One number for the part of every node, which then stay alike: that of its slowest replica.
        noise = 0.0
        if run.lag_noise > 0.0 and cluster.has_backlog:
            noise = run.lag_noise * _slowest(cluster, run.replicas)
        for n in range(parts.shape[1]):
            held = parts[Part.FILL, n, p]
            busy = held > 2.0 * RUN_BYTES
            wrote[slot, n, p] = parts[Part.SPEED, n, p] if busy else -1.0
            lags = False
            if busy and nodes[n].lag_limit_s > 0.0:
                speed = max(1.0, _busy_speed(wrote, n, p))
                speed *= 1.0 + noise * min(1.0, np.sqrt(2.0 * RUN_BYTES / (wrote.shape[0] * speed)))
                # Of a part that writes next to nothing the noise may be more than all of its speed.
                speed = max(1.0, speed)
                lag = np.floor(held / speed)
                lags = lag > nodes[n].lag_limit_s
                share = lag / nodes[n].lag_limit_s
                parts[Part.LAG_MOST, n, p] = max(parts[Part.LAG_MOST, n, p], share)
            parts[Part.LAG_LOOKS, n, p] = parts[Part.LAG_LOOKS, n, p] + 1.0 if lags else 0.0
            parts[Part.LAGS, n, p] = (
                1.0 if lags and parts[Part.LAG_LOOKS, n, p] >= nodes[n].lag_looks else 0.0
            )


@compiled
def _slowest(cluster: Cluster, count: int) -> float:
    """The least of so many normal numbers."""
    least = normal(cluster)
    for _ in range(1, count):
        least = min(least, normal(cluster))
    return least


@compiled
def _busy_speed(wrote: Floats, n: int, p: int) -> float:
    """Mean bytes a second that a part wrote in the last seconds in which it was behind."""
    total = 0.0
    seconds = 0.0
    for slot in range(wrote.shape[0]):
        if wrote[slot, n, p] >= 0.0:
            total += wrote[slot, n, p]
            seconds += 1.0
    return total / max(1.0, seconds)
