"""How quickly a live cluster lets time pass, and goes back to any second of two hours.

Run with `python tests/benchmarks/bench_train.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import random
import time

from figures import Figure

from ndbplan.base.kept import keeping
from ndbplan.plan.samples import sample_plan
from ndbplan.train.live import LiveCluster

HOURS = 2.0
SAMPLES = ("starter", "telecom-144")
MOST_TIMES = 1.0
"""Going back takes no longer than 100 ms, on a machine that needs so long for its walk."""
WALK = 2_500_000


def main() -> list[Figure]:
    """Seconds of two hours, and the slowest way back of twenty."""
    figures = []
    for name in SAMPLES:
        with keeping():
            cluster = LiveCluster.begin(sample_plan(name).replace(ndb_version="8.4"), hours=HOURS)
            begin = time.process_time()
            for _ in range(72):
                cluster.advance(100.0)
            passed = time.process_time() - begin
            back = [_back_s(cluster, random.Random(seed)) for seed in range(20)]
        figures.append(Figure(f"{name}: two hours pass", passed, "s"))
        figures.append(
            Figure(
                f"{name}: back to any second of them, the slowest of 20",
                max(back),
                "s",
                baseline=f"a walk through {WALK} numbers",
                baseline_value=_walk_s(),
                most_times=MOST_TIMES,
            )
        )
    return figures


def _back_s(cluster: LiveCluster, rng: random.Random) -> float:
    other, to_s = cluster.branch(), rng.uniform(0.0, HOURS * 3600.0)
    begin = time.process_time()
    other.rewind(to_s)
    return time.process_time() - begin


def _walk_s() -> float:
    begin, seen = time.process_time(), 0
    for number in range(WALK):
        seen += number
    return time.process_time() - begin


if __name__ == "__main__":
    from figures import show

    show(main())
