"""Partitions, views of ndbinfo, tables made from queries, and memory by fragment."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.memory import data_pages
from ndbplan.train.sql import ndbinfo_made
from ndbplan.train.sql.fragment_memory import Held, free_elements
from ndbplan.train.sql.problem import NotSimulated
from ndbplan.train.sql.str_to_date import str_to_date

from .test_rows import cells

Ask = Callable[[str], str]
MADE = (
    "USE test",
    "CREATE TABLE t1 (id INT PRIMARY KEY, k INT, KEY k_1 (k)) ENGINE=NDB",
    "CREATE TABLE t3 (a INT, b INT, c VARCHAR(20), PRIMARY KEY (a, b)) ENGINE=NDB "
    "PARTITION BY KEY (a) PARTITIONS 4",
    "INSERT INTO t3 VALUES (1, 1, 'x'), (2, 2, NULL)",
)


@pytest.fixture(params=["8.4.8", "7.4.10"])
def ask(request: pytest.FixtureRequest, begun: Callable[[str], LiveCluster]) -> Ask:
    consoles = Consoles(begun(request.param))

    def ask(line: str) -> str:
        return consoles.answer(f"mysql> {line};")

    for line in MADE:
        assert ask(line).startswith(("Query OK", "Database changed"))
    return ask


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ALTER TABLE t1 ALGORITHM=INPLACE, REORGANIZE PARTITION p0 INTO (PARTITION p1 VALUES IN (1))",
         "ERROR 1480 (HY000): Only LIST PARTITIONING can use VALUES IN in partition definition"),
        ("ALTER TABLE t1 ALGORITHM INPLACE, REORGANIZE PARTITION p0 INTO (PARTITION p1 VALUES IN (1))",
         "ERROR 1480"),
        ("ALTER TABLE t1 REORGANIZE PARTITION p0 INTO (PARTITION p0)", "Query OK, 0 rows affected"),
        ("ALTER TABLE t1 REORGANIZE PARTITION p0 INTO (PARTITION a, PARTITION b)", "ERROR 1510"),
        ("ALTER TABLE t3 ADD PARTITION PARTITIONS 1, ALGORITHM=INPLACE", "ERROR 1064"),
        ("ALTER TABLE t3 DROP PARTITION p0", "ERROR 1512"),
        ("ALTER TABLE t1 COALESCE PARTITION 1", "ndbplan: what COALESCE PARTITION"),
        ("ALTER TABLE nosuch DROP PARTITION p0", "ERROR 1146"),
    ],
)  # fmt: skip
def test_partitions_are_maintained_as_the_server_does(line: str, said: str, ask: Ask) -> None:
    assert ask(line).startswith(said)


def test_partitions_are_added_and_rows_stay(ask: Ask) -> None:
    assert ask("ALTER TABLE t3 ADD PARTITION PARTITIONS 4").startswith("Query OK, 0 rows affected")
    assert "PARTITIONS 8 " in ask("SHOW CREATE TABLE t3")
    assert sorted(row[0] for row in cells(ask("SELECT a FROM t3"))) == ["1", "2"]


def test_truncating_partitions_is_refused_as_recorded(begun: Callable[[str], LiveCluster]) -> None:
    line = "mysql> ALTER TABLE test.blobs_5k TRUNCATE PARTITION p0;"
    assert Consoles(begun("7.4.10")).answer(line).startswith("ERROR 1505 (HY000): Partition management on")
    assert "is not simulated" in Consoles(begun("8.4.8")).answer(line)


def test_a_table_is_made_from_a_query_or_not_at_all(ask: Ask) -> None:
    assert ask("CREATE TABLE tx ENGINE=NDB SELECT * FROM t3").startswith("Query OK, 2 rows affected (")
    shown = ask("SHOW CREATE TABLE tx")
    assert "`a` int" in shown
    assert "PRIMARY" not in shown
    assert ask("SELECT b, c FROM tx ORDER BY a") == ask("SELECT b, c FROM t3 ORDER BY a")
    assert ask("CREATE TABLE ty ENGINE=NDB SELECT nope FROM t3").startswith("ERROR 1054 (42S22)")
    assert ask("SELECT * FROM ty").startswith("ERROR 1146")


def test_ndbinfo_is_shown_as_it_was_made_where_that_was_seen() -> None:
    new, old = NdbVersion.parse("8.4.8"), NdbVersion.parse("7.4.10")
    result = ndbinfo_made.shown(new, "backup_id", "ndbinfo")
    assert result.headings == ("View", "Create View", "character_set_client", "collation_connection")
    assert result.rows[0][1:] == (
        "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY INVOKER VIEW `backup_id` "
        "AS select `ndb$backup_id`.`id` AS `id` from `ndb$backup_id`", "utf8mb4", "utf8mb4_0900_ai_ci",
    )  # fmt: skip
    assert (
        "sum(`ndb$pools`.`used`) AS `used_pages`"
        in ndbinfo_made.shown(old, "memoryusage", "ndbinfo").rows[0][1]
    )
    assert (
        "PRIMARY KEY (`table_id`)\n) ENGINE=NDBINFO"
        in ndbinfo_made.shown(new, "dictionary_tables", "ndbinfo").rows[0][1]
    )
    for version, name in ((old, "nodes"), (new, "counters"), (NdbVersion.parse("7.6"), "nodes")):
        with pytest.raises(NotSimulated):
            ndbinfo_made.shown(version, name, "ndbinfo")
    for name in tables_of(new):
        try:
            text = ndbinfo_made.shown(new, name, "ndbinfo").rows[0][1]
        except NotSimulated:
            continue
        assert all(f"`{column}`" in text for column in tables_of(new)[name].columns)


def test_memory_by_fragment_is_what_its_pages_hold(cluster: LiveCluster) -> None:
    recorded = Held(elements=249710, size=44, of_page=741, fixed_bytes=11042816)
    assert free_elements(recorded) == 7, "8.4.8, a table of a million rows"
    consoles = Consoles(cluster)
    columns = "fixed_elem_alloc_bytes, var_elem_alloc_bytes, hash_index_alloc_bytes"
    rows = cells(
        consoles.answer(f"mysql> SELECT type, {columns} FROM ndbinfo.memory_per_fragment WHERE node_id=3;")
    )
    assert {row[0] for row in rows} == {"System table", "User table", "Ordered index"}
    whole = sum(int(value) for row in rows for value in row[1:])
    said = sum(pages.used for pages in data_pages(cluster.session.simulation, 3)) * 32768
    assert whole == pytest.approx(said, rel=0.02)
    told = consoles.answer(
        "mysql> SELECT COUNT(*) FROM ndbinfo.memory_per_fragment m JOIN ndbinfo.memory_per_fragment p "
        "ON m.parent_fq_name = p.fq_name AND m.node_id = p.node_id AND m.fragment_num = p.fragment_num;"
    )
    children = "SELECT COUNT(*) FROM ndbinfo.memory_per_fragment WHERE parent_fq_name IS NOT NULL;"
    assert cells(told) == cells(consoles.answer(f"mysql> {children}"))


@pytest.mark.parametrize(
    ("text", "form", "read"),
    [
        ("2026-01-02", "%Y-%m-%d", "2026-01-02"), ("12:05:07 PM", "%r", "12:05:07"),
        ("5 Jan 26 13:14", "%e %b %y %H:%i", "2026-01-05 13:14:00"), ("9", "%d", "0000-00-09"),
        ("2026 060", "%Y %j", "2026-03-01"), ("12:00:00.5", "%T.%f", "12:00:00.500000"),
    ],
)  # fmt: skip
def test_texts_are_read_as_dates(text: str, form: str, read: str) -> None:
    told = list[str]()
    assert str_to_date(lambda _code, words: told.append(words), text, form) == read
    assert told == []


@pytest.mark.parametrize(("text", "form"), [("x", "%Y"), ("2026-02-30", "%Y-%m-%d"), ("25:00:00", "%T")])
def test_texts_that_are_no_dates_are_none(text: str, form: str) -> None:
    told = list[str]()
    assert str_to_date(lambda _code, words: told.append(words), text, form) is None
    assert told == [f"Incorrect datetime value: '{text}' for function str_to_date"]


def test_a_data_node_writes_into_its_own_log_what_it_tells_of_others(
    begun: Callable[[str], LiveCluster],
) -> None:
    """8.4.8, a node killed: its mates' logs; what 7.4 writes there was not seen."""
    logs = {}
    for version in ("8.4.8", "7.4.10"):
        consoles = Consoles(begun(version))
        for line in ("! kill node:4", "! wait 3s"):
            consoles.answer(line)
        text = consoles.answer("data1$ tail -n 9 ndb_3_out.log")
        logs[version] = [line.partition(" [ndbd] ")[2] for line in text.splitlines()]
    assert "ALERT    -- Node 4 Disconnected" in logs["8.4.8"]
    assert (
        "INFO     -- NR Status: node=4,OLD=Initial state,NEW=Node failed, fail handling ongoing"
        in logs["8.4.8"]
    )
    assert logs["7.4.10"] == []
