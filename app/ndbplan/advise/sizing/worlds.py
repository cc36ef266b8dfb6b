"""Drawn worlds: how far off estimates may be, the same in all clusters, as they rest on the same constants.

    worlds = Worlds()
    worlds.in_which(limits)             # world by world, whether all of these limits are kept
    left = Left(worlds, 0.9)
    left.times(met)                     # above 1: with this limit too few worlds are left

In a drawn world each kind of limit asks for more or less than estimated, by as many standard deviations in
all clusters. The same draws for all: common random numbers, as in `advise/paired.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from zlib import crc32

from ndbplan.advise.sizing.verdict import Met

WORLDS = 400
SURE = 0.9
"""The share of the drawn worlds in which a surer answer keeps every limit: as likely as a range holds below
its upper end."""
_SEED = 1


class Worlds(dict[str, tuple[float, ...]]):
    """Standard deviations by which what is named is off, world by world: the same for every cluster."""

    def __missing__(self, name: str) -> tuple[float, ...]:
        import numpy as np

        random = np.random.default_rng((_SEED, crc32(name.encode())))
        self[name] = tuple(random.standard_normal(WORLDS).tolist())
        return self[name]

    def nearness(self, met: Met) -> tuple[float, ...]:
        """World by world how near a cluster comes to a limit; above 1: it is broken there."""
        asked, given = self[f"{met.kind} needed"], self[f"{met.kind} allowed"]
        return tuple(
            _share(met.needed.at(more), met.allowed.at(less)) for more, less in zip(asked, given, strict=True)
        )

    def in_which(self, limits: Iterable[Met]) -> tuple[bool, ...]:
        """For each world whether a cluster keeps every limit there."""
        near = [self.nearness(met) for met in limits]
        return tuple(all(one[world] <= 1 for one in near) for world in range(WORLDS))


def _share(needed: float, allowed: float) -> float:
    if allowed > 0:
        return needed / allowed
    return 0.0 if needed <= allowed else math.inf


@dataclass
class Left:
    """The worlds in which a cluster keeps one limit after the other."""

    worlds: Worlds
    least: float
    """The share of all worlds that has to be left."""
    _kept: list[int] = field(default_factory=lambda: list(range(WORLDS)))

    def times(self, met: Met) -> float:
        """How many times as much has to be allowed, so that with this limit enough worlds are left.

        At most 1: enough are. Those that break it are then left no more.
        """
        near = self.worlds.nearness(met)
        found = sorted(near[world] for world in self._kept)[math.ceil(self.least * WORLDS) - 1]
        if found <= 1:
            self._kept = [world for world in self._kept if near[world] <= 1]
        return found
