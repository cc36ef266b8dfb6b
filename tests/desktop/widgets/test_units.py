"""Law of every field: what is shown parses back to exactly the value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError
from ndbplan.desktop.widgets import units
from ndbplan.desktop.widgets.units import (
    BYTES,
    BYTES_PER_S,
    COUNT,
    LINK,
    MEMORY,
    NUMBER,
    SECONDS,
    SHARE,
    WHOLE,
    Unit,
    rounded,
)

UNITS = [one for name, one in vars(units).items() if isinstance(one, Unit) and name != "TEXT"]

whole = st.integers(min_value=0, max_value=2**50)
real = st.floats(min_value=1e-6, max_value=1e12, allow_nan=False)


@pytest.mark.parametrize("unit", [BYTES, MEMORY, COUNT, WHOLE])
@settings(max_examples=30, deadline=None)
@given(value=whole)
def test_whole_numbers_come_back(unit: Unit, value: int) -> None:
    assert unit.parse(unit.show(value)) == value


def test_a_link_is_typed_as_it_is_sold() -> None:
    """`10` was asked to be 10 MB/s or 10 GB/s, and `10 GbE`, as the card has it, was refused."""
    assert LINK.parse("10 GbE") == LINK.parse("10gbe") == 1.17e9
    assert LINK.parse("2.5 GbE") == pytest.approx(2.925e8)
    assert LINK.parse("25 Gbit/s") == 3.125e9
    with pytest.raises(TwoReadingsError) as asked:
        LINK.parse("10")
    assert asked.value.readings == ("10 GbE", "10 GB/s")
    assert [LINK.parse(one) for one in asked.value.readings] == [1.17e9, 1e10]


@pytest.mark.parametrize("unit", UNITS)
def test_what_a_refusal_says_to_type_is_taken(unit: Unit) -> None:
    """Who typed a word for a share was told to type 10k or 3M, which is refused too."""
    with pytest.raises(UserError) as refused:
        unit.parse("abc")
    examples = str(refused.value.fix).removeprefix("type for example ").replace(" or ", ", ").split(", ")
    for example in (*examples, *unit.example.split(", ")):
        unit.parse(example)


@pytest.mark.parametrize("unit", [BYTES_PER_S, SECONDS, NUMBER])
@settings(max_examples=30, deadline=None)
@given(value=real)
def test_real_numbers_come_back(unit: Unit, value: float) -> None:
    assert unit.parse(unit.show(value)) == pytest.approx(value, rel=1e-15)


@settings(max_examples=30, deadline=None)
@given(value=st.floats(min_value=0, max_value=1, allow_nan=False))
def test_shares_come_back(value: float) -> None:
    assert SHARE.parse(SHARE.show(value)) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        (BYTES, 3_200_000_000_000, "3.2 TB"),
        (BYTES, 512 * 2**30, "512 GiB"),
        (BYTES, 1_234_567, "1 234 567 B"),
        (MEMORY, 512 * 2**20, "512 MiB"),
        (BYTES_PER_S, 117_960_704.0, "117.960704 MB/s"),
        (BYTES_PER_S, 118e6, "118 MB/s"),
        (SECONDS, 0.0008, "0.8 ms"),
        (SECONDS, 600.0, "10 min"),
        (COUNT, 3_000_000, "3 000 000"),
        (SHARE, 0.25, "25 %"),
    ],
)
def test_shown_as_people_write_it(unit: Unit, value: float, text: str) -> None:
    assert unit.show(value) == text
    assert unit.parse(text) == value


@pytest.mark.parametrize(
    ("unit", "text"),
    [(BYTES, "many"), (WHOLE, "2.5"), (SHARE, "120 %"), (SECONDS, "5 miles"), (COUNT, "-3")],
)
def test_nonsense_is_refused_with_one_line(unit: Unit, text: str) -> None:
    with pytest.raises(UserError) as refused:
        unit.parse(text)
    assert "\n" not in refused.value.line
    assert "—" in refused.value.line or "%" in refused.value.line


@pytest.mark.parametrize(
    ("value", "shown"),
    [(6153.8461538461543, "6 154"), (99.9999, "100"), (12.3456, "12.3"), (4320.0, "4 320")],
)
def test_what_was_worked_out_is_shown_in_few_digits(value: float, shown: str) -> None:
    assert NUMBER.show(rounded(value)) == shown
