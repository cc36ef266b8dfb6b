"""How long it takes to judge every failure of the largest sample, and every pair.

Run with `python tests/benchmarks/bench_survive.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import time
from itertools import combinations

from figures import Figure

from ndbplan.advise.survival import survive
from ndbplan.configuration.killers import Search
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.samples import sample_plan

MOST_TIMES = 30
"""20 s on a machine that walks the pairs of 300 parts 200 times in 0.65 s."""


def main() -> list[Figure]:
    """Seconds of the processor on telecom-144, beside a walk through as many pairs."""
    plan = sample_plan("telecom-144")
    times = []
    for work in (
        lambda: survive(Estimation(plan, plan.workloads[0]), 2),
        lambda: survive(Estimation(plan, plan.workloads[0]), 1),
        lambda: _pairs_of_hosts(Search(plan)),
    ):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    pairs, single, hosts = times
    return [
        Figure(
            "telecom-144, all pairs with load left and restart",
            pairs,
            "s",
            baseline="pairs of 300 parts walked 200 times",
            baseline_value=_walk_s(),
            most_times=MOST_TIMES,
        ),
        Figure("telecom-144, all single failures, the same", single, "s"),
        Figure("telecom-144, verdicts of all pairs of hosts alone", hosts, "s"),
    ]


def _walk_s() -> float:
    begin, seen = time.process_time(), 0
    for _ in range(200):
        for one, other in combinations(range(300), 2):
            seen += one ^ other
    return time.process_time() - begin


def _pairs_of_hosts(search: Search) -> int:
    hosts = [part for part in search.parts if part.kind == "host"]
    return sum(search.of_parts(*pair).stops for pair in combinations(hosts, 2))


if __name__ == "__main__":
    from figures import show

    show(main())
