"""Keys, constraints, databases and sessions as tables of INFORMATION_SCHEMA (manual, General Tables)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

Say = Callable[[str], str]


@pytest.fixture
def say(cluster: LiveCluster) -> Say:
    answer = Consoles(cluster).answer
    answer("mysql> create table test.par (id int primary key, u int, unique key uu (u)) engine=ndb")
    answer(
        "mysql> create table test.chi (id int primary key, p int, key kp (p), constraint fk1 foreign key (p) "
        "references par(id) on delete cascade) engine=ndb"
    )
    return answer


def rows(answer: str) -> list[list[str]]:
    lines = [line for line in answer.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_constraints_of_tables(say: Say) -> None:
    asked = "table_name, constraint_name, constraint_type from information_schema.table_constraints"
    found = rows(say(f"mysql> select {asked} where table_name in ('par', 'chi') order by 1, 2"))
    assert found == [
        ["chi", "fk1", "FOREIGN KEY"],
        ["chi", "PRIMARY", "PRIMARY KEY"],
        ["par", "PRIMARY", "PRIMARY KEY"],
        ["par", "uu", "UNIQUE"],
    ]


def test_columns_of_keys_and_what_they_refer_to(say: Say) -> None:
    asked = (
        "constraint_name, column_name, position_in_unique_constraint, referenced_table_name, "
        "referenced_column_name from information_schema.key_column_usage"
    )
    found = rows(say(f"mysql> select {asked} where table_name = 'chi' order by 1"))
    assert found == [["fk1", "p", "1", "par", "id"], ["PRIMARY", "id", "NULL", "NULL", "NULL"]]
    asked = (
        "constraint_name, unique_constraint_name, match_option, update_rule, delete_rule "
        "from information_schema.referential_constraints"
    )
    refers = rows(say(f"mysql> select {asked}"))
    assert refers == [["fk1", "PRIMARY", "NONE", "NO ACTION", "CASCADE"]]


def test_databases_are_those_of_show(say: Say) -> None:
    found = rows(say("mysql> select schema_name from information_schema.schemata order by 1"))
    assert found == sorted(rows(say("mysql> show databases")))


def test_sessions_are_those_of_show_with_the_statement_that_asks(say: Say) -> None:
    say("mysql2> begin; select * from test.par where id = 1 for update")
    query = "select id, user, command, info from information_schema.processlist order by id"
    found = rows(say(f"mysql> {query}"))
    assert [row[:3] for row in found] == [[r[0], r[1], r[4]] for r in rows(say("mysql> show processlist"))]
    assert [row[3] for row in found if row[2] == "Query"] == [query]


@pytest.mark.parametrize(
    ("version", "table", "column", "has_it"),
    [
        ("7.4.10", "schemata", "default_encryption", False),
        ("8.4.8", "schemata", "default_encryption", True),
        ("7.4.10", "table_constraints", "enforced", False),
        ("8.4.8", "table_constraints", "enforced", True),
    ],
)
def test_columns_are_those_of_the_release(
    version: str, table: str, column: str, has_it: bool, begun: Callable[[str], LiveCluster]
) -> None:
    said = Consoles(begun(version)).answer(f"mysql> select {column} from information_schema.{table}")
    assert said.startswith("ERROR 1054") is not has_it
