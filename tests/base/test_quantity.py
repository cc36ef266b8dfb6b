"""Laws of the algebra of quantities."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ndbplan.base.quantity import (
    Quantity,
    Term,
    largest,
    product_of_independent,
    rising,
    total,
    total_of_independent,
)

Operation = Callable[[Quantity, Quantity], Quantity]
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}

_numbers = st.floats(-1e6, 1e6, allow_nan=False, width=32)
_positive = st.floats(2**-10, 1e6, allow_nan=False, width=32)


def quantities(numbers: st.SearchStrategy[float], unit: str = "bytes") -> st.SearchStrategy[Quantity]:
    def made(three: list[float]) -> Quantity:
        low, value, high = sorted(three)
        return Quantity(value, low, high, unit, (Term(f"{value}", value, unit),))

    return st.lists(numbers, min_size=3, max_size=3).map(made)


def outcomes(quantity: Quantity, share: float) -> float:
    """A number of its range, by how far up it lies."""
    return min(quantity.high, max(quantity.low, quantity.low + share * (quantity.high - quantity.low)))


def close_to_range(number: float, found: Quantity) -> bool:
    room = 1e-9 * max(1.0, abs(found.low), abs(found.high))
    return found.low - room <= number <= found.high + room


@pytest.mark.parametrize("sign", OPERATIONS)
@given(first=quantities(_numbers), second=quantities(_positive), at=st.floats(0, 1), by=st.floats(0, 1))
def test_whatever_the_operands_turn_out_to_be_the_result_is_in_the_range(
    sign: str, first: Quantity, second: Quantity, at: float, by: float
) -> None:
    operation = OPERATIONS[sign]
    found = operation(first, second)
    assert found.value == operation(first.value, second.value)
    assert close_to_range(operation(outcomes(first, at), outcomes(second, by)), found)


@pytest.mark.parametrize("sign", OPERATIONS)
@given(first=quantities(_numbers), second=quantities(_positive))
def test_the_ends_are_reached(sign: str, first: Quantity, second: Quantity) -> None:
    """A range wider than the outcomes would be no range but a guess."""
    operation = OPERATIONS[sign]
    found = operation(first, second)
    corners = [operation(a, b) for a in (first.low, first.high) for b in (second.low, second.high)]
    assert (found.low, found.high) == (min(corners), max(corners))


@pytest.mark.parametrize(("sign", "up"), [("+", 1), ("-", -1), ("*", 1), ("/", -1)])
@given(first=quantities(_positive), second=quantities(_positive), more=st.floats(0, 1e5))
def test_more_of_an_operand_moves_the_result_its_own_way(
    sign: str, up: int, first: Quantity, second: Quantity, more: float
) -> None:
    operation = OPERATIONS[sign]
    found = operation(first, second)
    left, right = operation(first + more, second), operation(first, second + more)
    for end in ("value", "low", "high"):
        assert getattr(left, end) >= getattr(found, end)
        assert up * getattr(right, end) >= up * getattr(found, end)


@given(first=quantities(_numbers), second=quantities(_numbers))
def test_products_of_any_sign_hold_their_corners(first: Quantity, second: Quantity) -> None:
    found = first * second
    corners = [a * b for a in (first.low, first.high) for b in (second.low, second.high)]
    assert (found.low, found.high) == (min(corners), max(corners))


@given(one=quantities(_numbers), number=_numbers)
def test_a_plain_number_is_a_quantity_without_range(one: Quantity, number: float) -> None:
    exact = Quantity.exact(number, one.unit)
    for found, same in (
        (one + number, one + exact),
        (number + one, exact + one),
        (one - number, one - exact),
        (number - one, exact - one),
        (one * number, one * exact),
        (number * one, exact * one),
    ):
        assert (found.value, found.low, found.high) == (same.value, same.low, same.high)
    assume(abs(number) > 1e-3)
    for found, same in ((one / number, one / exact),):
        assert (found.value, found.low, found.high) == (same.value, same.low, same.high)


@given(one=quantities(_positive))
def test_the_reciprocal_turns_the_range_round(one: Quantity) -> None:
    found = 1 / one
    assert (found.value, found.low, found.high) == (1 / one.value, 1 / one.high, 1 / one.low)
    assert (-one).low == -one.high


def test_different_units_are_not_added() -> None:
    for operation in (operator.add, operator.sub):
        with pytest.raises(ValueError, match="bytes and s differ"):
            operation(Quantity.exact(1, "bytes"), Quantity.exact(1, "s"))


@pytest.mark.parametrize(
    ("operation", "first", "second", "unit"),
    [
        (operator.mul, "bytes/s", "s", "bytes"),
        (operator.mul, "s", "bytes/s", "bytes"),
        (operator.mul, "bytes", "factor", "bytes"),
        (operator.mul, "fraction", "bytes", "bytes"),
        (operator.mul, "", "fraction", "fraction"),
        (operator.mul, "rows", "bytes", "rows·bytes"),
        (operator.truediv, "bytes", "bytes/s", "s"),
        (operator.truediv, "bytes", "s", "bytes/s"),
        (operator.truediv, "bytes", "bytes", "factor"),
        (operator.truediv, "bytes", "count", "bytes"),
        (operator.truediv, "", "s", "1/s"),
    ],
)
def test_units_cancel(operation: Operation, first: str, second: str, unit: str) -> None:
    assert operation(Quantity.exact(1, first), Quantity.exact(1, second)).unit == unit


def test_a_divisor_from_nothing_on_has_no_upper_end() -> None:
    one, seldom = Quantity.around(6.0, "bytes", 2), Quantity(2, 0, 4, "bytes/s")
    assert ((one / seldom).low, (one / seldom).high) == (0.75, inf)
    assert ((-one / seldom).low, (-one / seldom).high) == (-inf, -0.75)
    assert (Quantity.exact(0.0, "bytes") / seldom).high == 0
    for none in (Quantity(0, 0, 1, "s"), Quantity(1, -1, 2, "s")):
        with pytest.raises(ZeroDivisionError):
            one / none


def test_the_derivation_is_that_of_the_operands_and_names_each_once() -> None:
    size = Quantity.stated("size", 8.0, "bytes")
    speed = Quantity.around(2.0, "bytes/s", 2, (Term("measured", 2.0, "bytes/s"),)).named("speed of the disk")
    found = 3 * (size + size) / speed + size / speed
    assert [term.term for term in found.why] == ["size", "speed of the disk"]
    assert found.why[1].why[0].term == "measured"
    assert found.because(Term("said", 1.0, "s")).why == (Term("said", 1.0, "s"),)
    assert found.in_unit("min").unit == "min"


@given(one=quantities(_numbers), bounds=st.tuples(_numbers, _numbers))
def test_within_bounds_all_three(one: Quantity, bounds: tuple[float, float]) -> None:
    least, most = sorted(bounds)
    found = one.within(least, most)
    assert least <= found.low <= found.value <= found.high <= most
    inside = one.within(one.low, one.high)
    assert (inside.value, inside.low, inside.high) == (one.value, one.low, one.high)


@given(value=_numbers, ends=st.lists(_numbers))
def test_spanning_reaches_as_far_as_every_outcome(value: float, ends: list[float]) -> None:
    found = Quantity.spanning(value, ends, "s")
    assert (found.low, found.value, found.high) == (min(value, *ends, value), value, max(value, *ends, value))


@given(parts=st.lists(quantities(_positive), min_size=1, max_size=5))
def test_sums_of_independent_parts_lie_within_those_of_the_worst_case(parts: list[Quantity]) -> None:
    named = [(f"part {i}", part) for i, part in enumerate(parts)]
    worst, likely, most = (fold(named, "bytes") for fold in (total, total_of_independent, largest))
    assert worst.value == likely.value == sum(part.value for part in parts)
    room = 1e-9 * worst.high
    assert worst.low - room <= likely.low
    assert likely.high <= worst.high + room
    assert most.high == max(part.high for part in parts)
    assert [term.term for term in worst.why] == [name for name, _ in named]


@given(first=quantities(_positive), second=quantities(_positive))
def test_rising_holds_what_a_growing_function_makes_of_the_ends(first: Quantity, second: Quantity) -> None:
    found = rising(max, first, second, unit="bytes")
    assert (found.low, found.high) == (max(first.low, second.low), max(first.high, second.high))
    assert found.why == (*first.why, *second.why)


def test_a_falling_function_is_refused() -> None:
    with pytest.raises(ValueError, match="does not hold"):
        rising(lambda x: -x, Quantity.around(2.0, "s", 2), unit="s")


_TERMS = [Term(f"step {i}", float(i), "") for i in range(5)]


@given(
    st.recursive(
        st.lists(st.sampled_from(_TERMS), max_size=4).map(lambda terms: Quantity.exact(1.0, "", terms)),
        lambda parts: st.tuples(st.sampled_from("+-*/"), parts, parts),
    )
)
def test_a_derivation_put_together_late_is_the_one_put_together_at_once(tree: Any) -> None:
    """Each step once, in the order of the operands; only what one operand says twice itself is said twice."""

    def built(node: Any) -> tuple[Quantity, tuple[Term, ...]]:
        if isinstance(node, Quantity):
            return node, node.why
        sign, (first, steps), (second, more) = node[0], built(node[1]), built(node[2])
        divides = sign == "/" and second.value
        found = first / second if divides else OPERATIONS["+" if sign == "/" else sign](first, second)
        if not steps or not more:
            return found.in_unit(""), steps or more
        return found.in_unit(""), steps + tuple(term for term in more if term not in steps)

    found, steps = built(tree)
    assert found.why == steps
    assert found.named("all").why[0].why is found.why or not steps


def test_a_sum_of_many_parts_has_all_their_steps() -> None:
    """However deep the sum is."""
    parts = [Quantity.stated(f"part {i}", 1.0, "bytes") for i in range(20_000)]
    found = sum(parts, start=Quantity.exact(0.0, "bytes"))
    assert found.value == len(found.why) == len(parts)
    assert found.why[-1] is parts[-1].why[0]


def test_a_quantity_says_what_it_is_and_equals_only_its_like() -> None:
    one = Quantity(2.0, 1.0, 3.0, "s", (Term("step", 2.0, "s", "plan"),))
    same = Quantity(2.0, 1.0, 3.0, "s", (Term("step", 2.0, "s", "plan"),))
    assert one == same
    assert len({one, same, one.because(), one.in_unit("h"), one.within(most=2.5)}) == 4
    assert one != (2.0, 1.0, 3.0, "s", one.why)
    assert eval(repr(one)) == one
    many = sum([Quantity.stated(f"part {i}", 1.0, "s") for i in range(2000)], start=one)
    assert pickle.loads(pickle.dumps(many)) == many


@pytest.mark.parametrize(("low", "high", "unit"), [(0.5, 3.0, "s"), (-1.0, 4.0, "s"), (0.0, 2.0, "s")])
def test_a_tenth_of_what_is_drawn_lies_beyond_each_end(low: float, high: float, unit: str) -> None:
    one = Quantity(1.0, low, high, unit)
    assert one.at(0.0) == 1.0
    assert (one.at(-1.2816), one.at(1.2816)) == pytest.approx((low, high))
    drawn = [one.at(z / 10) for z in range(-40, 41)]
    assert drawn == sorted(drawn)
    assert drawn[0] < low or low <= 0.0
    assert drawn[-1] > high


def test_what_is_drawn_stays_what_it_can_be() -> None:
    assert Quantity(0.9, 0.75, 1.0, "fraction").at(3.0) == 1.0
    assert [Quantity(5, 4, 6, "count").at(z) for z in (-1.3, -1.2, 1.2, 1.3)] == [4, 5, 5, 6]
    assert Quantity(1.0, 0.0, 3.0, "s").at(-9.0) == 0.0


def test_errors_that_have_nothing_to_do_with_one_another_multiply_in_quadrature() -> None:
    one, other = Quantity.around(3.0, "s", 2.0), Quantity.around(5.0, "factor", 2.0)
    product = product_of_independent(one, other)
    assert product.value == 15.0
    assert product.high / product.value == pytest.approx(2 ** (2**0.5))
    assert product.value / product.low == pytest.approx(2 ** (2**0.5))
    worst = product_of_independent(one, Quantity(1.0, 0.0, 2.0, "factor"))
    assert (worst.low, worst.high) == (0.0, 12.0)
