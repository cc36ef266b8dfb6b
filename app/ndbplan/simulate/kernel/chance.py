"""Kernel, part 10: chance, from a generator whose state belongs to the run.

Source: Marsaglia's xorshift32, and the sum of three uniform numbers (Irwin and Hall).
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled
from ndbplan.simulate.world.state import Cluster


@compiled
def random_share(cluster: Cluster) -> float:
    """Next number in [0, 1) of the run's generator (xorshift32, kept as a float)."""
    x = np.uint32(cluster.random_state)
    x ^= np.uint32(x << np.uint32(13))
    x ^= np.uint32(x >> np.uint32(17))
    x ^= np.uint32(x << np.uint32(5))
    cluster.random_state = int(x)
    return float(x) / 4294967296.0


@compiled
def normal(cluster: Cluster) -> float:
    """A number that is nearly normal: three uniform ones added, within three standard deviations."""
    return 2.0 * (random_share(cluster) + random_share(cluster) + random_share(cluster) - 1.5)
