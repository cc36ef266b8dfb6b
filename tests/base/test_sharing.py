"""Sums of numbers that share unknowns."""

from __future__ import annotations

import random
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.quantity import (
    END_DEVIATIONS,
    Quantity,
    product_of_independent,
    total,
    total_of_independent,
)
from ndbplan.base.sharing import Unknowns, total_sharing

_values = st.floats(0.1, 1e4)
_less, _more = st.floats(0.3, 1.0), st.floats(1.0, 3.0)
factors = st.builds(lambda low, high: Quantity(1.0, low, high, "factor"), _less, _more)
numbers = st.builds(lambda v, low, high: Quantity(v, v * low, v * high, "s"), _values, _less, _more)
unknowns = st.lists(
    st.tuples(st.sampled_from(["disk", "core"]), factors), max_size=2, unique_by=lambda u: u[0]
)
parts = st.lists(st.tuples(st.just("part"), numbers, unknowns.map(tuple)), min_size=1, max_size=5)


def close(one: float, other: float) -> bool:
    return one == pytest.approx(other, rel=1e-9)


@given(each=parts)
def test_a_sum_lies_between_those_of_nothing_shared_and_of_all(
    each: list[tuple[str, Quantity, Unknowns]],
) -> None:
    named = [(name, q) for name, q, _ in each]
    least, found, most = total_of_independent(named, "s"), total_sharing(each, "s"), total(named, "s")
    assert close(found.value, least.value)
    assert most.low * (1 - 1e-9) <= found.low <= least.low * (1 + 1e-9)
    assert least.high * (1 - 1e-9) <= found.high <= most.high * (1 + 1e-9)


@given(values=st.lists(_values, min_size=1, max_size=4), factor=factors, own=numbers)
def test_what_has_its_range_of_one_unknown_errs_as_that_does(
    values: list[float], factor: Quantity, own: Quantity
) -> None:
    each = [("part", value * factor.in_unit("s"), (("disk", factor),)) for value in values]
    named = [(name, q) for name, q, _ in each]
    apart = total_sharing([(name, q, ()) for name, q in named], "s")
    for found, other in (
        (total_sharing(each, "s"), total(named, "s")),
        (apart, total_of_independent(named, "s")),
    ):
        assert close(found.low, other.low)
        assert close(found.high, other.high)
    beside = total_sharing([*each, ("own", own, (("core", factor),))], "s")
    apart = total_of_independent((("each", total(named, "s")), ("own", own)), "s")
    assert close(beside.high, apart.high), "two unknowns have nothing to do with one another"


@pytest.mark.parametrize("weights", [(1.0, 1.0), (3.0, 1.0, 2.0), (5.0, 4.0, 0.1)])
@pytest.mark.parametrize("shared", [1.1, 1.25, 1.5])
def test_four_of_five_sums_are_in_the_range(weights: tuple[float, ...], shared: float) -> None:
    """Where the unknown decides, as if each part erred by itself fewer are."""
    drawn = random.Random(1)
    factor = Quantity.around(1.0, "factor", shared)
    each = [
        (
            "part",
            product_of_independent(Quantity.around(w, "s", 1.15), factor).in_unit("s"),
            (("disk", factor),),
        )
        for w in weights
    ]
    spread, own = log(shared) / END_DEVIATIONS, log(1.15) / END_DEVIATIONS
    sums = []
    for _ in range(20_000):
        of_all = exp(drawn.gauss(0.0, spread))
        sums.append(sum(w * of_all * exp(drawn.gauss(0.0, own)) for w in weights))

    def held(found: Quantity) -> float:
        return sum(found.low <= one <= found.high for one in sums) / len(sums)

    assert 0.77 < held(total_sharing(each, "s")) < 0.83
    if shared > 1.2:
        assert held(total_of_independent([(n, q) for n, q, _ in each], "s")) < 0.74
