"""Quantities as people type and read them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ndbplan.base import units
from ndbplan.base.errors import UserError
from parsed import parsed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("64 GB", 64 * 10**9),
        ("64GiB", 64 * 2**30),
        ("1.5 TiB", 3 * 2**39),
        ("512M", 512 * 2**20),
        ("512m", 512 * 2**20),
        ("80K", 80 * 1024),
        (" 1 024 ", 1024),
        ("1_000 kb", 10**6),
        (".5 MB", 500_000),
        ("1e3", 1000),
    ],
)
def test_bytes(text: str, value: int) -> None:
    assert units.parse_bytes(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "GB", "-1", "1 XB", "1..5 GB", "NaN", "inf", "1 GB 2", "12e999", "0x10", "1,5 GB", "9" * 400],
)
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UserError) as caught:
        units.parse_bytes(text)
    assert "64 GB" in caught.value.line
    assert len(caught.value.line) < 200


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20 ms", 0.02),
        ("10min", 600),
        ("2 h", 7200),
        ("1 h 30 min", 5400),
        ("1m30s", 90),
        ("3 d", 259_200),
        ("100 µs", 1e-4),
        ("45", 45),
        ("0.5 s", 0.5),
    ],
)
def test_durations(text: str, value: float) -> None:
    assert units.parse_duration_s(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "ten", "1 h and a bit", "-5 s", "5 parsecs", "1 h 30 bananas"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        units.parse_duration_s(text)


@pytest.mark.parametrize(("text", "value"), [("118 MB/s", 118e6), ("1.17 GB", 1.17e9), ("20M", 20 * 2**20)])
def test_rates(text: str, value: float) -> None:
    assert units.parse_bytes_per_s(text) == pytest.approx(value)


@pytest.mark.parametrize(("text", "value"), [("10k", 1e4), ("3M", 3e6), ("250 000", 250e3), ("2.5k/s", 2500)])
def test_counts(text: str, value: float) -> None:
    assert units.parse_count(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 KB"),
        (16_613_376, "16.6 MB"),
        (999_999, "1 MB"),
        (2_226_225_152, "2.23 GB"),
        (10**16, "10 PB"),
        (-5000, "-5 KB"),
    ],
)
def test_bytes_are_written_in_decimal_units(value: float, text: str) -> None:
    assert units.format_bytes(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.85, "850 ms"),
        (0.00005, "0.05 ms"),
        (5e-6, "5 µs"),
        (2.2e-9, "2.2 ns"),
        (1, "1 s"),
        (59.96, "1 min"),
        (247.97, "4 min 8 s"),
        (3600, "1 h"),
        (4320, "1 h 12 min"),
        (86_400 * 3, "3 d"),
        (-90, "−1 min 30 s"),
    ],
)
def test_durations_are_written_as_people_say_them(seconds: float, text: str) -> None:
    assert units.format_duration(seconds) == text


@given(st.integers(0, 2**60))
@example(2**53 + 1)
def test_ndb_sizes_read_back_exactly(value: int) -> None:
    assert units.parse_bytes(units.format_ndb_size(value)) == value


@given(st.floats(1, 2**59))
def test_written_sizes_read_back_within_a_percent(value: float) -> None:
    assert units.parse_bytes(units.format_bytes(value)) == pytest.approx(value, rel=0.01, abs=1)
    assert units.parse_bytes(units.format_bytes_binary(value)) == pytest.approx(value, rel=0.01, abs=1)


@given(st.floats(1, 8e6))
def test_a_time_that_is_told_in_full_reads_back_exactly_and_is_no_shorter(value: float) -> None:
    told = units.told_duration_s(value)
    assert units.parse_duration_s(units.format_duration(told)) == told
    assert value <= told <= value + (1 if value <= 3600 else 60 if value <= 48 * 3600 else 3600)


@given(st.floats(1, 2**59))
def test_a_size_that_is_told_in_full_reads_back_exactly_and_is_no_smaller(value: float) -> None:
    told = units.told_size(value, units.format_bytes, units.parse_bytes)
    assert units.parse_bytes(units.format_bytes(told)) == told
    assert value <= told <= 1 + 1.011 * value


@given(st.floats(1e-6, 8e6))
def test_written_durations_read_back_within_two_percent(value: float) -> None:
    assert units.parse_duration_s(units.format_duration(value)) == pytest.approx(value, rel=0.02)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3_000_000, "", "3\u2009000\u2009000"),
        (0.953, "fraction", "95 %"),
        (9.99, "fraction", "999 %"),
        (32 * 2**10 / (40 * 2**30), "fraction", "under 0.01 %"),
        (-7e-7, "fraction", "under 0.01 %"),
        (0.0001, "fraction", "0.01 %"),
        (0.000123, "fraction", "0.012 %"),
        (0.0, "fraction", "0 %"),
        (9.996, "fraction", "1\u2009000 %"),
        (14635.65, "fraction", "1\u2009463\u2009565 %"),
        (118e6, "bytes/s", "118 MB/s"),
        (12.5, "rows", "12.5 rows"),
        (741, "rows", "741 rows"),
        (0.0763, "factor", "× 0.0763"),
        (2000, "money", "2\u2009000"),
        (1.0, "exponent", "1"),
        (1.0, "log parts", "1 log part"),
        (1.0, "copies", "1 copy"),
        (1.0, "rows/s", "1 row/s"),
        (1.0, "tx/s", "1 tx/s"),
        (1.0, "ms", "1 ms"),
        (0.5, "checkpoints", "0.5 checkpoints"),
        (1.0, "EUR", "1 EUR"),
        (120_000, "1/s", "120\u2009000/s"),
        (250, "per s", "250/s"),
    ],
)
def test_values_with_units(value: float, unit: str, text: str) -> None:
    assert units.format_value(value, unit) == text


@pytest.mark.parametrize("value", [1e300, 5e-324, 1e-9, 123456789.123])
def test_odd_numbers_are_written_somehow(value: float) -> None:
    for unit in ("bytes", "s", "bytes/s", "fraction", "", "rows"):
        assert units.format_value(value, unit)


@pytest.mark.parametrize(
    ("text", "value"),
    [("10 Gbit/s", 1.25e9), ("100Mbit", 12.5e6), ("8 kbit/s", 1e3), ("118 MB/s", 118e6), ("5 B/s", 5.0)],
)
def test_links_are_sold_in_bits(text: str, value: float) -> None:
    assert units.parse_bytes_per_s(text) == value


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("10 Gb/s", ("10 GB/s", "10 Gbit/s")),
        ("100mbps", ("100 MB/s", "100 Mbit/s")),
        ("1,500", ("1500", "1.500")),
        ("1,500 MB", ("1500 MB", "1.500 MB")),
        ("5m/s", ("5 MB/s", "5 MiB/s")),
        ("5 G/s", ("5 GB/s", "5 GiB/s")),
    ],
)
def test_a_rate_that_reads_two_ways_is_refused_with_both(text: str, readings: tuple[str, str]) -> None:
    with pytest.raises(UserError, match="reads two ways") as refused:
        units.parse_bytes_per_s(text)
    values = {units.parse_bytes_per_s(reading) for reading in readings}
    assert len(values) == 2
    assert all(reading in refused.value.line for reading in readings)


def test_a_rate_of_small_m_is_refused_with_both_readings() -> None:
    with pytest.raises(units.TwoReadingsError) as refused:
        units.parse_count("5m/s")
    assert [units.parse_count(reading) for reading in refused.value.readings] == [5e6, 0.005]
    assert units.parse_count("5M/s") == 5e6


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de_DE.UTF-8", "1,5 GB", 1_500_000_000),
        ("fr_FR", "0,25 MB", 250_000),
        ("de_DE", "1.5 GB", 1_500_000_000),
        ("en_US.UTF-8", "1,5 GB", None),
        ("de_CH.UTF-8", "1,5 GB", None),
        ("C", "1,5 GB", None),
        ("", "1,5 GB", None),
        ("de_DE", "1,5,5 GB", None),
        ("de_DE", "0,500 GB", 500_000_000),
        ("de_DE", "1.234,5 MB", 1_234_500_000),
        ("C", "1.234,5 MB", 1_234_500_000),
        ("C", "1,234.5 MB", 1_234_500_000),
        ("C", "1,500,000 KB", 1_500_000_000),
        ("de_DE", "1.500.000 KB", 1_500_000_000),
        ("C", "1,500,00 KB", None),
        ("C", "01,500,000 KB", None),
        ("C", "1,500.000,5 KB", None),
        ("de_DE", "1,500 GB", None),
    ],
)
def test_a_decimal_comma_is_read_where_people_write_it(
    monkeypatch: pytest.MonkeyPatch, language: str, text: str, value: int | None
) -> None:
    for name in ("LC_ALL", "LC_NUMERIC", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", language)
    if value is None:
        with pytest.raises(UserError):
            units.parse_bytes(text)
    else:
        assert units.parse_bytes(text) == value


@pytest.mark.parametrize("text", ["1,500", "1.500"])
def test_a_whole_number_that_reads_two_ways_names_the_one_that_it_can_be(text: str) -> None:
    for parse in (units.parse_whole, units.parse_bytes):
        with pytest.raises(units.TwoReadingsError, match=r"1500 or 1\.5, which is not whole — type 1500"):
            parse(text)
    with pytest.raises(UserError, match=r"has no unit — type for example 1\.5 GB"):
        units.parse_bytes("1.5")


def test_one_system_of_units_for_everything() -> None:
    try:
        units.use_system("decimal")
        assert units.format_bytes(10 * units.GIB) == units.format_bytes_binary(10 * units.GIB) == "10.7 GB"
        units.use_system("binary")
        assert units.format_bytes(10 * units.GIB) == units.format_bytes_binary(10 * units.GIB) == "10 GiB"
        assert units.format_bytes_per_s(units.MIB) == "1 MiB/s"
        with pytest.raises(ValueError, match="metric"):
            units.use_system("metric")
    finally:
        units.use_system("")
    assert units.format_bytes(units.MIB) == "1.05 MB"
    assert units.format_bytes_binary(units.MIB) == "1 MiB"


def test_a_number_below_zero_is_called_so() -> None:
    for parse in (units.parse_bytes, units.parse_count, units.parse_duration_s):
        with pytest.raises(UserError, match="'-4' is below 0") as caught:
            parse("-4")
        assert "0 or more" not in caught.value.line, "most fields refuse 0 too"
    with pytest.raises(UserError, match="type for example 8"):
        units.parse_whole("-4")


@given(st.integers(0, 10**6))
def test_a_moment_is_read_as_it_is_shown(seconds: int) -> None:
    assert units.parse_clock(units.format_clock(seconds)) == seconds


@pytest.mark.parametrize(
    ("typed", "seconds"), [("1:40", 100), ("1:02:30", 3750), ("0:05.5", 5.5), ("100 s", 100), ("2 h", 7200)]
)
def test_a_moment_is_a_clock_or_a_duration(typed: str, seconds: float) -> None:
    assert units.parse_clock(typed) == seconds


@pytest.mark.parametrize("typed", ["1:75", "1:62:00", "a:10", ":10", "1:2:3:4"])
def test_what_is_no_moment_is_refused(typed: str) -> None:
    with pytest.raises(UserError):
        units.parse_clock(typed)


def test_digits_become_numbers_in_one_place_only() -> None:
    """`"²".isdigit()` holds, `"٣".isdecimal()` too, and no `int` reads 5,000 digits: `whole_number` knows."""
    found = []
    for path in sorted(Path(units.__file__).parents[1].rglob("*.py")):
        if path.name == "units.py":
            continue
        tree = parsed(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
                looked = {
                    ast.unparse(call.func.value)
                    for call in calls
                    if isinstance(call.func, ast.Attribute)
                    and call.func.attr in ("isdigit", "isdecimal", "isnumeric")
                }
                read = {ast.unparse(call.args[0]) for call in calls if _is_int(call)}
                found += [f"{path.name}: {function.name}: {text}" for text in sorted(looked & read)]
    assert found == []


def _is_int(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "int" and len(call.args) == 1


def test_no_line_ends_within_a_number_or_its_unit() -> None:
    """Written by hand with a space, or by the program with a thin one; what counts nothing stays apart."""
    assert units.unbroken("4\u2009320 tx/s, a 10 000 rpm disk") == (
        "4\u202f320\u00a0tx/\u2060s, a 10\u202f000 rpm disk"
    )
    assert units.unbroken("48 min 45 s, 96 %, 1.5 GiB") == (
        "48\u00a0min\u00a045\u00a0s, 96\u00a0%, 1.5\u00a0GiB"
    )
    assert units.unbroken("after 2 h 3 nodes") == "after 2\u00a0h 3 nodes"
    assert units.unbroken("2 data nodes, 12 / 3, NDB 7.1 and 144 hosts") == (
        "2 data nodes, 12 / 3, NDB 7.1 and 144 hosts"
    )


def test_seconds_for_each_of_something_are_short() -> None:
    assert units.format_value(2.2e-9, "s/byte") == "2.2 ns/byte"
