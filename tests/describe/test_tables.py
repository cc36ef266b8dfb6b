"""Readable tables from the shapes that --json prints."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.describe.tables import derivations, heading, lines_of, problem_lines, table, text_of

QUANTITY = {"value": 248.0, "low": 157.0, "high": 394.0, "unit": "s"}


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("rows", 3_000_000, "3\u2009000\u2009000"),
        ("fixed_bytes", 16_613_376, "15.8 MiB"),
        ("ram_limit_bytes", 256 * 2**30, "256 GiB"),
        ("used_bytes", 16_613_376, "16.6 MB"),
        ("memory_full_bytes", 73e9, "73 GB"),
        ("data_memory_bytes", {"value": 2.0**30, "low": 2.0**30, "high": 2.0**30, "unit": "bytes"}, "1 GiB"),
        ("write_bps_mean", 118e6, "118 MB/s"),
        ("duration_s", 60.0, "1 min"),
        ("offered_per_s", 4320.0, "4\u2009320/s"),
        ("utilisation_max", 0.95, "95 %"),
        ("fill_percent", -12.5, "-12.5 %"),
        ("expected_percent", 0.04, "0.04 %"),
        ("node_id", 1450, "1450"),
        ("fits", True, "yes"),
        ("fix", None, "—"),
        ("nodes", [3, 4], "3, 4"),
        ("notes", [], "—"),
        ("duration_s", QUANTITY, "4 min 8 s (2 min 37 s … 6 min 34 s)"),
        ("x", {"value": 2.0, "low": 2.0, "high": 2.0, "unit": "bytes"}, "2 B"),
        ("bottleneck", {"resource": "disk", "where": "data1 c0d1", "text": "disk c0d1"}, "disk c0d1"),
    ],
)
def test_values_with_the_unit_of_their_key(key: str, value: Any, text: str) -> None:
    assert text_of(key, value) == text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("duration_s", "duration"),
        ("offered_per_s", "offered"),
        ("write_bps_mean", "write mean"),
        ("var_bytes", "variable"),
        ("ldm", "LDM"),
        ("node_id", "node"),
        ("s", "s"),
        ("bytes", "bytes"),
    ],
)
def test_headings_leave_the_unit_to_the_number(key: str, text: str) -> None:
    assert heading(key) == text


def test_a_table_is_aligned_numbers_to_the_right_and_texts_to_the_left() -> None:
    assert list(table([{"name": "a", "rows": 5}, {"name": "longer", "rows": 1000}])) == [
        "name     rows",
        "a           5",
        "longer  1\u2009000",
    ]


def test_what_there_is_none_of_has_no_line() -> None:
    shape = {"takes_s": None, "error_code": None, "next_limit": None, "duration_s": 60.0, "rows": 0}
    assert list(lines_of(shape)) == ["duration  1 min", "rows      0"]


def test_a_few_plain_values_stay_on_their_line_and_more_get_a_section() -> None:
    three = dict.fromkeys(("rows", "nodes", "groups"), 1)
    assert list(lines_of({"load": three})) == ["load  rows 1, nodes 1, groups 1"]
    assert list(lines_of({"load": three | {"replicas": 2}}))[1] == "LOAD"


def test_rows_with_tables_inside_become_blocks() -> None:
    shape = {"tables": [{"table": n, "partitions": [{"partition": 0, "rows": 1}]} for n in "ab"]}
    lines = list(lines_of(shape))
    assert lines.count("  PARTITIONS") == 2
    assert "  table  a" in lines


def test_a_derivation_is_a_tree_with_sources() -> None:
    inner = {"term": "rows", "value": 10.0, "unit": "rows", "source": "plan"}
    outer = {"term": "work", "value": 2.0, "unit": "s", "source": "formula", "why": [inner]}
    lines = list(derivations({"tables": [{"table": "t", "duration_s": {**QUANTITY, "why": [outer]}}]}))
    assert lines[1:] == [
        "tables t, duration = 4 min 8 s (2 min 37 s … 6 min 34 s)",
        "  work: 2 s  [formula]",
        "    rows: 10 rows  [plan]",
    ]


def test_problems_are_counted() -> None:
    words = {"rule": "r", "severity": "error", "where": "w", "message": "m"}
    problem: dict[str, Any] = {**words, "fix": None, "solutions": []}
    assert list(problem_lines([]))[-1] == "0 errors, 0 warnings, 0 hints"
    assert list(problem_lines([problem, {**problem, "severity": "hint", "fix": "f"}]))[-1] == (
        "1 error, 0 warnings, 1 hint"
    )


leaves = st.none() | st.booleans() | st.integers(0, 10**15) | st.floats(0, 1e15) | st.text(max_size=9)
shapes = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["rows", "a_bytes", "b_s", "c_per_s", "nodes", "d"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(shape=st.dictionaries(st.sampled_from(["one", "two_bytes", "three_s"]), shapes, max_size=3))
def test_every_shape_can_be_shown(shape: dict[str, Any]) -> None:
    assert all(isinstance(line, str) for line in lines_of(shape))
    assert list(derivations(shape)) == []
