"""A few random plans; `make attack` looks at many."""

from __future__ import annotations

from attack.previews import COUNTED, differing


def test_previews_of_random_plans_are_fresh_runs() -> None:
    assert [text for seed in (0, 1, 2, 3, 7, 8, 10, 11) for text in differing(seed)] == []
    assert COUNTED["others"] > 20
    assert COUNTED["simulated"] > 1
