"""Which of several clusters to take: each fact on clusters whose limits and prices are written down here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from ndbplan.advise.sizing.choosing import choosing_among
from ndbplan.advise.sizing.verdict import Met
from ndbplan.advise.sizing.worlds import SURE, WORLDS, Left, Worlds
from ndbplan.base.quantity import Quantity


class Answer(NamedTuple):
    """What is read of an answer of sizing."""

    rank: int
    price: float | None
    limits: tuple[Met, ...]

    @property
    def cost(self) -> Quantity | None:
        return None if self.price is None else Quantity.exact(self.price, "EUR")


def _limit(nearness: float, spread: float = 1.2, kind: str = "memory") -> Met:
    needed = Quantity(nearness, nearness / spread, nearness * spread, "bytes", ())
    return Met("DataMemory", needed, Quantity.exact(1.0, "bytes"), kind)


def _chosen(*clusters: tuple[float | None, float]) -> Any:
    plans: list[Any] = [
        Answer(rank, price, (_limit(near),)) for rank, (price, near) in enumerate(clusters, 1)
    ]
    return choosing_among(plans)


def test_a_limit_at_p90_of_what_is_needed_is_kept_in_nine_of_ten_worlds() -> None:
    holds = [_chosen((10.0, near)).plans[0].holds for near in (0.5, 1 / 1.2, 1.0, 1.2, 2.0)]
    assert holds == pytest.approx([1.0, 0.9, 0.5, 0.1, 0.0], abs=0.05)
    assert holds[0] == 1.0
    assert holds[-1] == 0.0


def test_regret_is_the_price_where_it_breaks_and_what_it_costs_too_much_where_it_holds() -> None:
    found = _chosen((10.0, 1.0), (14.0, 0.5), (20.0, 0.4))
    cheap, sure, dear = found.plans
    assert (sure.holds, dear.holds) == (1.0, 1.0)
    assert cheap.regret.value == pytest.approx(10.0 * (1 - cheap.holds))
    assert sure.regret.value == pytest.approx(4.0 * cheap.holds)
    assert dear.regret.value == pytest.approx(10.0 * cheap.holds + 6.0 * (1 - cheap.holds))
    assert found.least_regret == 2
    assert found.worlds == WORLDS


def test_the_first_that_holds_in_nine_of_ten_worlds_is_sure_and_without_one_it_is_said_why() -> None:
    found = _chosen((10.0, 1.0), (14.0, 0.5), (20.0, 0.4))
    assert found.sure == 2
    assert found.advice[0].startswith("sure: 2, ")
    answer: Any = Answer(1, 10.0, (_limit(1.0),))
    none = choosing_among([answer], "none is sure")
    assert (none.sure, none.advice[0]) == (None, "none is sure")


def test_what_a_limit_lacks_in_the_worlds_left_is_just_enough() -> None:
    """Allowed so many times as much, and no less, nine of ten worlds keep both limits."""
    worlds = Worlds()
    kept, met = _limit(1 / 1.25), _limit(1.0, spread=1.3, kind="disk")
    left = Left(worlds, SURE)
    assert left.times(kept) <= 1
    times = left.times(met)
    assert times > 1
    for more, is_enough in ((times * 1.0001, True), (times * 0.9999, False)):
        eased = replace(met, allowed=met.allowed * more)
        assert (sum(worlds.in_which((kept, eased))) >= SURE * WORLDS) is is_enough


def test_twins_hold_in_the_same_worlds() -> None:
    """Drawn apart, the dearer one would be wanted where the cheaper one breaks."""
    one, two = _chosen((10.0, 1.0), (15.0, 1.0)).plans
    assert one.holds == two.holds
    assert two.regret.value - one.regret.value == pytest.approx(5.0)


def test_the_knee_is_where_money_stops_to_buy_room() -> None:
    assert _chosen((10.0, 0.9), (12.0, 0.5), (40.0, 0.4)).knee == 2
    assert _chosen((10.0, 0.9), (38.0, 0.8), (40.0, 0.4)).knee is None, "it lies above the line"
    assert _chosen((10.0, 0.9), (12.0, 0.5)).knee is None
    bent = _chosen((10.0, 0.9), (11.0, 0.95), (12.0, 0.5), (40.0, 0.4))
    assert [one.on_front for one in bent.plans] == [True, False, True, True]
    assert bent.knee == 3


def test_without_every_price_nothing_is_weighed() -> None:
    found = _chosen((10.0, 1.0), (None, 0.5))
    assert (found.knee, found.least_regret) == (None, None)
    assert [one.regret for one in found.plans] == [None, None]
    assert [one.holds for one in found.plans] == pytest.approx([0.5, 1.0], abs=0.05)
    assert found.sure == 2
    assert found.advice[1:] == (found.note,)
    assert "price" in found.note
    assert _chosen().advice == ()
