"""A few random plans; `make attack` looks at many."""

from __future__ import annotations

from random import Random

from attack.previews import changed, differing
from random_plans import random_plan


def test_previews_of_random_plans_are_fresh_runs() -> None:
    assert [text for seed in range(8) for text in differing(seed)] == []
    assert sum(changed(Random(seed), random_plan(seed)) is not None for seed in range(8)) > 4
