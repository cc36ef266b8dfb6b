"""The mean over very many drawn worlds of one short run, worked out once and kept: `truth_of_worlds.json`.

What the error bars of `--precision` must cover. After a change of what is drawn or simulated,
`nice .venv/bin/python tests/simulate/truth_of_worlds.py` works it out anew: some minutes on one core.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, stdev

from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.model.workload import estimation_of

KEPT = Path(__file__).with_name("truth_of_worlds.json")
SAMPLE, DURATION_S = "redo-overload", 60.0
RUNS, AT_ONCE = 100_000, 10_000
FIRST_SEED = 1_000
"""Other seeds than those that are held against it."""


def asked() -> Estimation:
    """What is simulated: a load that meets full redo buffers sooner or later, by chance."""
    plan = sample_plan(SAMPLE)
    return estimation_of(plan, plan.workloads[0].id)


def main() -> None:
    """Work it out and keep it."""
    means = []
    for seed in range(FIRST_SEED, FIRST_SEED + RUNS // AT_ONCE):
        bands = monte_carlo(asked(), runs=AT_ONCE, duration_s=DURATION_S, seed=seed, workers=1)
        mean = bands.accepted_mean_per_s
        means.append(mean.value)
    kept = {
        "source": f"{RUNS} drawn worlds of {SAMPLE}, {DURATION_S:g} s each, seeds from {FIRST_SEED}",
        "accepted_per_s": fmean(means),
        "standard_error_per_s": stdev(means) / len(means) ** 0.5,
    }
    KEPT.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
