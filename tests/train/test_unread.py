"""What the parser of statements would read and no server does; what is printed to the right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlglot
from sqlglot.dialects.mysql import MySQL

from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.reading import parsed

from .test_new_tables import Ask, asks


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    return asks(cluster)


@pytest.mark.parametrize(
    ("statement", "near"),
    [
        ("select cast(1 as int)", "int)"), ("select cast(1 as varchar(10)), 2", "varchar(10)), 2"),
        ("select convert(1, text)", "text)"), ("select now(null)", "null)"),
        ("select id, straight_join from blobs_1k", "straight_join from blobs_1k"),
        ("insert into blobs_1k values (1, 2, 3) returning id", "returning id"), ("explain", ""),
        ("show plugins like 'ndb%'", "like 'ndb%'"), ("show tables nosuch", "nosuch"),
        ("show engines x", "x"),
    ],
)  # fmt: skip
def test_words_that_no_server_reads(ask: Ask, statement: str, near: str) -> None:
    assert ask(statement).endswith(f"for the right syntax to use near '{near}' at line 1\n")


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("select now(7)", "1426 (42000): Too-big precision 7 specified for 'now'. Maximum is 6."),
        ("select date 'x'", "1525 (HY000): Incorrect DATE value: 'x'"),
        ("select time '25:99:00'", "1525 (HY000): Incorrect TIME value: '25:99:00'"),
        ("select timestamp '2026-13-01'", "1525 (HY000): Incorrect DATETIME value: '2026-13-01'"),
        ("select 'a' like 'b' escape 'xx'", "1210 (HY000): Incorrect arguments to ESCAPE"),
        ("select * from (select 1)", "1248 (42000): Every derived table must have its own alias"),
        ("select * from blobs_1k use index (x)", "1176 (42000): Key 'x' doesn't exist in table 'blobs_1k'"),
        ("show triggers from nosuch", "1049 (42000): Unknown database 'nosuch'"),
    ],
)
def test_what_a_server_refuses(ask: Ask, statement: str, error: str) -> None:
    assert ask(statement) == f"ERROR {error}\n"


def test_casts_to_floating_numbers_are_newer(begun: Callable[[str], LiveCluster]) -> None:
    assert "near 'float)'" in asks(begun("7.4.10"))("select cast(1 as float)")
    assert asks(begun("8.4.8"))("select cast(1 as float)").splitlines()[3] == "|                1 |"


@pytest.mark.parametrize(
    ("listed", "row"),
    [
        ("sum('x')", "|        0 |"), ("abs('abc')", "|          0 |"),
        ("weekofyear('2026-01-01')", "|                        1 |"),
        ("'a' like 'b|%' escape '|'", "|                         0 |"),
    ],
)  # fmt: skip
def test_numbers_stand_to_the_right(ask: Ask, listed: str, row: str) -> None:
    assert ask(f"select {listed}").splitlines()[3] == row


def test_a_mark_is_what_stands_above_it(ask: Ask) -> None:
    ask("prepare s from 'select ?'")
    ask("set @a = 5")
    assert ask("execute s using @a").splitlines()[1:4:2] == ["| ? |", "| 5 |"]


def test_a_set_operation_is_none_of_its_heading(ask: Ask) -> None:
    assert ask("select 1 intersect select 1").splitlines()[1] == "| 1 |"


def test_a_statement_is_taken_apart_once_for_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of some hundred rows was read nine times over."""
    seen: list[str] = []

    def counted(sql: str, read: str) -> list[sqlglot.Token]:
        seen.append(sql)
        return MySQL().tokenize(sql)

    monkeypatch.setattr(sqlglot, "tokenize", counted)
    statement = "select 1, mid(a from 2 for 3) from t where a = 'x'"
    parsed(statement)
    assert statement in seen
    assert len(seen) == len(set(seen)), seen
