"""Values as real management servers read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.values import (
    BadValueError,
    format_value,
    parse_cpu_list,
    parse_integer,
    parse_value,
    surprise,
)
from ndbplan.ndb.version import NdbVersion

V74, V84 = NdbVersion.parse("7.4.10"), NdbVersion.parse("8.4.8")


@pytest.mark.parametrize(
    ("text", "in_74", "in_84"),
    [
        ("80M", 80 * 2**20, 80 * 2**20),
        ("+80M", 80 * 2**20, 80 * 2**20),
        ("2000k", 2000 * 1024, 2000 * 1024),
        ("1G", 2**30, 2**30),
        ("80MB", 80 * 2**20, None),
        ("80 M", 80 * 2**20, None),
        ("16T", None, None),
        ("1.5G", None, None),
        ("80m", None, None),
        ("'80M'", None, None),
        ("", None, None),
        ("99999999999999999999999", None, None),
    ],
)
def test_integers(text: str, in_74: int | None, in_84: int | None) -> None:
    for version, expected in ((V74, in_74), (V84, in_84)):
        if expected is None:
            with pytest.raises(BadValueError):
                parse_integer(text, version)
        else:
            assert parse_integer(text, version) == expected


@pytest.mark.parametrize("version", [V74, V84])
def test_the_text_chooses_the_base_as_in_c(version: NdbVersion) -> None:
    for text, number in {
        "0x10": 16, "0X1f": 31, "010": 8, "0": 0, "00": 0, "-010": -8, "+0x10": 16,
        "0100M": 64 * 2**20, "0x80": 128, "0200": 128, "0x5000000": 80 * 2**20, "0x10K": 16 * 1024,
    }.items():  # fmt: skip
        assert parse_integer(text, version) == number
    for bad in ("08", "0x", "0xg", "019M", "9223372036854775808", "1 2"):
        with pytest.raises(BadValueError):
            parse_integer(bad, version)


@pytest.mark.parametrize("text", ["1", "Y", "yes", "TRUE", "true"])
def test_switched_on(text: str) -> None:
    assert parse_value(catalogue.parameter("DB", "ODirect"), text, V84) == 1


@pytest.mark.parametrize("text", ["2", "maybe", "", "tRUE"])
def test_no_switch(text: str) -> None:
    with pytest.raises(BadValueError, match="ODirect"):
        parse_value(catalogue.parameter("DB", "ODirect"), text, V84)


@given(value=st.integers(min_value=2**20, max_value=2**44))
def test_sizes_are_written_so_that_they_are_read_back(value: int) -> None:
    entry = catalogue.parameter("DB", "DataMemory", V84)
    assert parse_value(entry, format_value(entry, value), V84) == value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("17179869184G", 0),
        ("17179869185G", 2**30),
        ("-17179869183G", 2**30),
        ("17179869183G", 2**64 - 2**30),
        ("-1K", -1024),
        ("G", 0),
        ("kilo", 0),
        ('80"M"', 80 * 2**20),
        ('80 "MB"', 80 * 2**20),
    ],
)
def test_numbers_that_only_older_servers_read(text: str, number: int) -> None:
    """convertStringToUint64 of 5.1 to 5.7: a shift in 64 bits, a suffix that is trimmed, digits if any."""
    assert parse_integer(text, V74) == number
    if text not in ("-1K", "17179869183G"):
        with pytest.raises(BadValueError):
            parse_integer(text, V84)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0100M", "octal"), ("0200", "octal"), ("-010", "octal"), ("17179869185G", "64 bits"),
        ("G", "digits"), ("kilo", "digits"),
        ("01", ""), ("00", ""), ("0x10", ""), ("0X10K", ""), ("80MB", ""), ("80 M", ""),
        ('80"M"', ""), ("+5", ""), ("64k", ""), ("-1", ""), ("0", ""), ("0K", ""),
    ],
)  # fmt: skip
def test_numbers_that_people_read_otherwise(text: str, why: str) -> None:
    said = surprise(text, parse_integer(text, V74))
    assert why in said
    assert bool(said) is bool(why)


def test_cpu_lists() -> None:
    assert parse_cpu_list("0-3,8", V84) == (0, 1, 2, 3, 8)
    assert parse_cpu_list(" 0 , 1 ", V84) == (0, 1)
    assert parse_cpu_list("3-1", V84) == (1, 2, 3)
    assert parse_cpu_list("1,1-2x", V84) == (1, 2)
    for bad in ("", "a,b", "1,,2", ",", "70000", "1-", "-1"):
        with pytest.raises(BadValueError):
            parse_cpu_list(bad, V84)
    # parse_mask.hpp of 2010 passes over what is empty.
    assert parse_cpu_list(",1, ,2,", V74) == (1, 2)
    assert parse_cpu_list(",", V74) == ()
    with pytest.raises(BadValueError):
        parse_cpu_list("", V74)
