"""Reading SQL takes twice as long for twice as much: the interpreter's operations are counted, not time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from ndbplan.importing.ddl.into_plan import with_ddl
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.ndb_desc_tables import statements_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN

VERSION = NdbVersion.parse("8.0")
FEW = 60


def _operations(read: Callable[[], object]) -> int:
    """How many operations of our own code something takes."""
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
        read()
    finally:
        sys.settrace(before)
    return count


def _grows(read: Callable[[str], object], text: Callable[[int], str]) -> float:
    """How many times as long twice as much takes."""
    _operations(lambda: read(text(1)))
    return _operations(lambda: read(text(2 * FEW))) / _operations(lambda: read(text(FEW)))


def _taken(text: str) -> object:
    return with_ddl(EMPTY_PLAN, read_ddl(text, VERSION))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (a INT PRIMARY KEY);\n",
        "CREATE TABLE IF NOT EXISTS t{n} (a INT PRIMARY KEY);\nALTER TABLE t0 ADD c{n} INT;\n",
        "CREATE TABLE IF NOT EXISTS t{n} (a INT PRIMARY KEY);\nCREATE INDEX i{n} ON t0 (a);\n",
        "CREATE TABLE IF NOT EXISTS t{n} (a INT PRIMARY KEY);\nALTER TABLE t{n} RENAME TO t;\n"
        "ALTER TABLE t ADD c{n} INT;\nRENAME TABLE t TO t{n};\n",
        "CREATE TABLE t{n} (a INT PRIMARY KEY);\n",
        "DROP TABLE IF EXISTS t{n};\nCREATE TABLE t{n} (a INT PRIMARY KEY);\n",
        "CREATE TABLE v{n} (a INT PRIMARY KEY, b WHAT);\nDROP TABLE v{n};\n",
        "CREATE TABLE t{n} (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t0 (a));\n",
        "ALTER TABLE t{n} ADD COLUMN b INT;\n",
        "CREATE TABLE t (a INT PRIMARY KEY);\nALTER TABLE t ADD b INT;\nRENAME TABLE t TO u, u TO t;\n",
        "CREATE TABLE a.t{n} (a INT PRIMARY KEY);\nDROP DATABASE b;\n",
        "CREATE TABLE t{n} (a INT, b INT, PRIMARY KEY (a, b), FOREIGN KEY (a) REFERENCES t{n}0 (a))"
        " PARTITION BY KEY (a);\n",
        "DELIMITER ${n}\nselect 1${n}\n",
        "RENAME TABLE a.t{n} TO a.u{n}, b.t TO b.u;\nDROP DATABASE b;\n",
        "CREATE LOGFILE GROUP lg ADD UNDOFILE 'u' ENGINE NDB;\n"
        "CREATE TABLESPACE s{n} ADD DATAFILE 'd' USE LOGFILE GROUP lg ENGINE NDB;\n",
    ],
)
def test_twice_as_many_statements_take_twice_as_long(statement: str) -> None:
    assert _grows(_taken, lambda count: "".join(statement.format(n=n) for n in range(count))) < 2.03


@pytest.mark.parametrize(
    "clause",
    ["c{n} INT", "KEY k{n} (a)", "KEY (a)", "KEY k (a)", "FOREIGN KEY (a) REFERENCES t{n} (a)", "UNIQUE (a)"],
)
def test_twice_as_many_clauses_take_twice_as_long(clause: str) -> None:
    def table(count: int) -> str:
        clauses = ", ".join(clause.format(n=n) for n in range(count))
        return f"CREATE TABLE t (a INT PRIMARY KEY, {clauses});"

    assert _grows(_taken, table) < 2.03


def test_twice_as_many_described_tables_take_twice_as_long() -> None:
    one = "$ ndb_desc -d d t{n}\n-- t{n} --\nVersion: 1\n-- Attributes --\na Int PRIMARY KEY\n\n"
    assert _grows(statements_of, lambda count: "".join(one.format(n=n) for n in range(count))) < 2.03


def test_what_one_short_line_makes_long_is_bounded() -> None:
    columns = ", ".join(f"c{n} INT" for n in range(500))
    text = f"CREATE TABLE t (a INT PRIMARY KEY, {columns});\n"
    found = read_ddl(text + "".join(f"CREATE TABLE t{n} LIKE t;\n" for n in range(90)), VERSION)
    assert 40 < len(found.tables) < 90
    assert any("so much has been copied" in problem.message for problem in found.problems)
    found = read_ddl(
        text + "ALTER TABLE t MODIFY a BIGINT;\n" * 999 + "ALTER TABLE t MAX_ROWS=7;\n" * 3, VERSION
    )
    assert found.tables[0].max_rows == 7
    assert [problem.line for problem in found.problems] == [1002]


def test_many_quotes_that_stay_open_are_given_up() -> None:
    text = "CREATE TABLE t (a INT PRIMARY KEY COMMENT 'x);\n" * 301
    found = read_ddl(text, VERSION)
    assert any("the rest is left out" in problem.message for problem in found.problems)
