"""Reading SQL takes twice as long for twice as much: the interpreter's operations are counted, not time."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from ndbplan.importing.ddl.into_plan import with_tables
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN

VERSION = NdbVersion.parse("8.0")
FEW = 60


def _operations(text: str) -> int:
    """How many operations of our own code reading a text takes."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        if "ndbplan" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with_tables(EMPTY_PLAN, read_ddl(text, VERSION).tables)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (a INT PRIMARY KEY);\n",
        "CREATE TABLE t{n} (a INT PRIMARY KEY);\n",
        "DROP TABLE IF EXISTS t{n};\nCREATE TABLE t{n} (a INT PRIMARY KEY);\n",
        "CREATE TABLE v{n} (a INT PRIMARY KEY, b WHAT);\nDROP TABLE v{n};\n",
        "CREATE TABLE t{n} (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t0 (a));\n",
        "ALTER TABLE t{n} ADD COLUMN b INT;\n",
    ],
)
def test_twice_as_many_statements_take_twice_as_long(statement: str) -> None:
    def many(count: int) -> str:
        return "".join(statement.format(n=n) for n in range(count))

    _operations(many(1))
    once, twice = _operations(many(FEW)), _operations(many(2 * FEW))
    assert twice < 2.03 * once


def test_many_quotes_that_stay_open_are_given_up() -> None:
    text = "CREATE TABLE t (a INT PRIMARY KEY COMMENT 'x);\n" * 301
    found = read_ddl(text, VERSION)
    assert any("the rest is left out" in problem.message for problem in found.problems)
