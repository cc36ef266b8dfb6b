"""Whether error bars of `--precision` cover the kept mean of very many worlds, in 95 % of the cases.

python tests/attack/error_bars.py --seeds 200
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from ndbplan.base.kept import keeping
from ndbplan.simulate.bands import monte_carlo
from simulate.truth_of_worlds import DURATION_S, KEPT, asked

PRECISION = 0.05
WANTED = 0.95


def covered(seeds: Iterable[int]) -> int:
    """How many of these seeds give an interval with the kept mean in it."""
    truth = json.loads(KEPT.read_text(encoding="utf-8"))["accepted_per_s"]
    with keeping():
        now = asked()
        found = (
            monte_carlo(now, precision=PRECISION, duration_s=DURATION_S, seed=seed).accepted_mean_per_s
            for seed in seeds
        )
        return sum(mean.low <= truth <= mean.high for mean in found)


def main() -> int:
    """Ask as many seeds as named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    count = parser.parse_args().seeds
    inside = covered(range(1, count + 1))
    print(f"{inside} of {count} error bars cover the mean of very many worlds; wanted {WANTED:.0%}")
    return 0 if inside >= WANTED * count else 1


if __name__ == "__main__":
    sys.exit(main())
