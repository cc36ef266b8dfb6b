"""How long it takes to judge every failure of the largest sample, and every pair.

Run with `python tests/benchmarks/bench_survive.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import time
from itertools import combinations

from figures import Figure

from ndbplan.advise.survival import survive
from ndbplan.configuration.killers import Search
from ndbplan.plan.samples import sample_plan

REQUIRED_PAIRS_S = 20.0


def main() -> list[Figure]:
    """Seconds of the processor on telecom-144; the limit holds for two cores."""
    plan = sample_plan("telecom-144")
    times = []
    for work in (
        lambda: survive(plan, 2, plan.workloads[0]),
        lambda: survive(plan, 1, plan.workloads[0]),
        lambda: _pairs_of_hosts(Search(plan)),
    ):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    pairs, single, hosts = times
    return [
        Figure("telecom-144, all pairs with load left and restart", pairs, "s", at_most=REQUIRED_PAIRS_S),
        Figure("telecom-144, all single failures, the same", single, "s"),
        Figure("telecom-144, verdicts of all pairs of hosts alone", hosts, "s"),
    ]


def _pairs_of_hosts(search: Search) -> int:
    hosts = [part for part in search.parts if part.kind == "host"]
    return sum(search.of_parts(*pair).stops for pair in combinations(hosts, 2))


if __name__ == "__main__":
    from figures import show

    show(main())
