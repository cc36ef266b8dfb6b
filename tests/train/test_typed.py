"""What is typed at the mysql client: comments, DELIMITER, statements over several lines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.typed import Typing, number_of, taken

NOTHING = ""
GOES_ON = "    -> \n"


def shown(answer: str) -> list[str]:
    return [row.strip("| ") for row in answer.splitlines() if row.startswith("|")]


@pytest.mark.parametrize("line", ["# a remark", "-- a remark", "/* a remark */", "select 1 \\c", "\\c", " "])
def test_what_is_no_statement_is_answered_with_nothing(line: str, cluster: LiveCluster) -> None:
    assert Consoles(cluster).answer(f"mysql> {line}") == NOTHING


@pytest.mark.parametrize(
    ("version", "expected"), [("8.4.8", "8"), ("8.0.30", "8"), ("7.6.20", "5"), ("7.4.10", "5")]
)
def test_comments_of_a_release_are_read_by_servers_from_it_on(
    version: str, expected: str, begun: Callable[[str], LiveCluster]
) -> None:
    say = Consoles(begun(version)).answer
    assert shown(say("mysql> select /*!80000 3 + */ 5 as n"))[1] == expected
    assert shown(say("mysql> select /*! 3 + */ 5 as n"))[1] == "8"
    assert say("mysql> /*!40101 SET @x=7 */;").startswith("Query OK")
    assert shown(say("mysql> select @x as n"))[1] == "7"


def test_the_number_of_a_release() -> None:
    assert number_of("8.4.8-cluster") == 80408
    assert number_of("5.6.28-ndb-7.4.10-cluster-gpl") == 50628


def test_another_delimiter_ends_statements_until_it_is_set_back(cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    assert say("mysql> delimiter //") == NOTHING
    assert shown(say("mysql> select ';' // select 3//")) == [";", ";", "3", "3"]
    assert shown(say("mysql> select 1; select 2//")) == ["1", "1", "2", "2"], "the server parts them"
    assert say("mysql> DELIMITER ;") == NOTHING
    assert shown(say("mysql> select 4; select 5")) == ["4", "4", "5", "5"]
    assert say("mysql> delimiter").startswith("ERROR: \nDELIMITER must be followed by")


@pytest.mark.parametrize(
    "lines",
    [
        ["select", "4,", "5;"],
        ["select 4,5 from", "(select 1) t;"],
        ["select 4, (", "select 5)"],
        ["select 4, 5 /* that is", "all */;"],
        ["select 4, 10 -", "5;"],
    ],
)
def test_a_statement_that_cannot_end_there_goes_on_in_the_next_line(
    lines: list[str], cluster: LiveCluster
) -> None:
    say = Consoles(cluster).answer
    for line in lines[:-1]:
        assert say(f"mysql> {line}") == (GOES_ON.replace("->", "/*>") if "/*" in line else GOES_ON)
    assert shown(say(f"mysql> {lines[-1]}"))[-1].split() == ["4", "|", "5"]


def test_a_table_is_typed_in_lines(cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    for line in ("create table test.several (", "id int primary key", ", v varchar(10) ) engine ="):
        assert say(f"mysql> {line}") == GOES_ON
    assert say("mysql> ndb;").startswith("Query OK")


def test_what_is_begun_is_dropped_by_its_sign_and_belongs_to_its_session(cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    assert say("mysql> select * from") == GOES_ON
    assert shown(say("mysql2> select 1")) == ["1", "1"]
    assert say("mysql> \\c") == NOTHING
    assert shown(say("mysql> select 2")) == ["2", "2"]


def test_a_text_that_is_open_takes_in_every_sign() -> None:
    begun = taken("select 'a; \\c", Typing(), 80408)
    assert begun.statements == []
    assert taken("b;'; select 2", begun.typing, 80408).statements == [
        ("select 'a; \\c\nb;'", False), ("select 2", False),
    ]  # fmt: skip


@pytest.mark.parametrize("before", ["/* who asks */", "-- who asks\n", "# who asks\n", "/* a */ /* b */"])
def test_a_remark_may_stand_before_a_statement(before: str, cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    assert shown(say(f"mysql> {before} select 7")) == ["7", "7"]
    assert say(f"mysql> {before} use ndbinfo") == "Database changed\n"


def test_a_statement_that_ends_with_character_set_is_complete() -> None:
    for line in ("SHOW CHARACTER SET", "show  char set "):
        assert taken(line, Typing(), 80408).statements == [(line.strip(), False)]
    assert taken("UPDATE t SET", Typing(), 80408).typing.begun == "UPDATE t SET"


@pytest.mark.parametrize("line", ["SELECT 1\\G;", "SELECT 1;;", ";", "\\g", "/**/ ; SELECT 1; ;"])
def test_a_sign_that_ends_no_statement_is_told_so(line: str, cluster: LiveCluster) -> None:
    """mysql.cc, com_go: the semicolon behind \\G is the one that people type."""
    said = Consoles(cluster).answer(f"mysql> {line}")
    assert said.endswith("ERROR: \nNo query specified\n\n")
    assert said.count("No query specified") == 1
    assert ("1 row in set" in said) is ("SELECT" in line)
