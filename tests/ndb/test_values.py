"""Values as real management servers read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.values import BadValueError, format_value, parse_cpu_list, parse_integer, parse_value
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


def test_c_chooses_the_base_up_to_7_6() -> None:
    assert parse_integer("0x10", V74) == 16
    assert parse_integer("010", V74) == 8
    assert parse_integer("010", V84) == 10


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


def test_cpu_lists() -> None:
    assert parse_cpu_list("0-3,8") == (0, 1, 2, 3, 8)
    assert parse_cpu_list(" 0 , 1 ") == (0, 1)
    for bad in ("", "a,b", "1,,2", "70000", "3-1"):
        with pytest.raises(BadValueError):
            parse_cpu_list(bad)
