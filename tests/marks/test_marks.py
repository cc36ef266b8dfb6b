"""Every value says whether any figure depends on it, and both kinds of marks are true."""

from __future__ import annotations

import json

import pytest

from marks.derive import MOST_WAYS, WITNESSES, all_keys, before_of, changed, group_of, moved
from marks.figures import PARTS_OF_FIGURES, PLANS, figures, parts_of, plan_called
from ndbplan.ndb.modelled import mark_words, moves

MARKED = json.loads(WITNESSES.read_text(encoding="utf-8"))
KEYS = {(group_of(key), key[1]): key for key in all_keys()}


def test_every_value_has_a_mark_and_every_modelled_one_a_witness() -> None:
    assert {(group, name) for group, of in MARKED.items() for name in of} <= KEYS.keys()
    for group, name in KEYS:
        part = moves(group, name)
        assert part is not None, (group, name)
        assert bool(part) is (name in MARKED.get(group, {})), (group, name)
        assert part in ("", *PARTS_OF_FIGURES)
        assert mark_words(group, name).startswith("Modelled" if part else "Carried only")
    assert moves("DB", "NoSuchParameter") is None
    assert not mark_words("DB", "NoSuchParameter")


@pytest.mark.parametrize("group", sorted(MARKED))
def test_a_modelled_value_moves_the_figures_that_its_mark_names(group: str) -> None:
    for name, (plan_name, number, part) in MARKED[group].items():
        plan = plan_called(plan_name)
        other = changed(plan, KEYS[group, name], number)
        assert other is not None, name
        after = figures(other, part)
        assert after is not None, name
        assert after != before_of(plan_name, part), name
        assert moves(group, name) == part


@pytest.mark.parametrize("number", range(MOST_WAYS))
def test_values_that_are_only_carried_move_no_figure(number: int) -> None:
    """All of them at once, in a different way for each plan; a value that moves one is found in halves."""
    for place in range(number, len(PLANS), MOST_WAYS):
        plan, there = plan_called(PLANS[place]), 0
        for (group, name), key in KEYS.items():
            step = None if moves(group, name) else changed(plan, key, (number + place) % 3)
            plan, there = (plan, there) if step is None else (step, there + 1)
        assert there > 10
        assert moved(PLANS[place], plan, parts_of(PLANS[place])) is None
