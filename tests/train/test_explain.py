"""EXPLAIN: ways, keys and texts as recorded on running 8.4.8 and 7.4.10 clusters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client

MADE = (
    "CREATE TABLE test.t1 (id INT NOT NULL, k INT NOT NULL, c VARCHAR(60) NOT NULL, n INT, PRIMARY KEY (id), "
    "KEY k_1 (k), KEY n_1 (n), KEY c_1 (c)) ENGINE=NDB;"
    "CREATE TABLE test.b1 (id INT NOT NULL PRIMARY KEY, b TEXT) ENGINE=NDB; USE test;"
    "INSERT INTO t1 VALUES (1,5,'a',1),(2,5,'b',2),(3,6,'c',3),(4,7,'d',4)"
)


def rows(printed: str) -> list[list[str]]:
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.fixture
def asked(begun: Callable[[str], LiveCluster]) -> Callable[[str, str], list[dict[str, str]]]:
    """Rows of EXPLAIN by their headings, and those of SHOW WARNINGS behind them."""

    def ask(version: str, statement: str) -> list[dict[str, str]]:
        cluster, client = begun(version), Client()
        client.answer(MADE, cluster)
        heads, *found = rows(client.answer(statement, cluster))
        notes = rows(client.answer("SHOW WARNINGS", cluster))
        return [dict(zip(heads, row, strict=True)) for row in found] + [{"note": row[2]} for row in notes[1:]]

    return ask


@pytest.mark.parametrize(
    ("condition", "way", "key", "length", "ref", "extra"),
    [
        ("id=5", "eq_ref", "PRIMARY", "4", "const", "NULL"),
        ("k=5", "ref", "k_1", "4", "const", "NULL"),
        ("n=5", "ref", "n_1", "5", "const", "NULL"),
        ("c='a'", "ref", "c_1", "242", "const", "Using pushed condition (`test`.`t1`.`c` = 'a')"),
        ("id<2", "range", "PRIMARY", "4", "NULL",
         "Using pushed condition (`test`.`t1`.`id` < 2); Using MRR"),
        ("id+1=2", "ALL", "NULL", "NULL", "NULL", "Using where"),
        ("c LIKE '%a'", "ALL", "NULL", "NULL", "NULL",
         "Using pushed condition (`test`.`t1`.`c` like '%a')"),
    ],
)  # fmt: skip
def test_a_table_is_read_by_the_key_that_its_conditions_name(
    condition: str, way: str, key: str, length: str, ref: str, extra: str,
    asked: Callable[[str, str], list[dict[str, str]]],
) -> None:  # fmt: skip
    row, note = asked("8.4.8", f"EXPLAIN SELECT id FROM t1 WHERE {condition}")
    assert (row["type"], row["key"], row["key_len"], row["ref"]) == (way, key, length, ref)
    assert row["Extra"] == extra
    assert note["note"].startswith("/* select#1 */ select `test`.`t1`.`id` AS `id` from `test`.`t1` where (")


@pytest.mark.parametrize(
    ("column", "value", "length"),
    [
        ("TINYINT", "1", 2), ("SMALLINT NOT NULL", "1", 2), ("MEDIUMINT", "1", 4),
        ("BIGINT NOT NULL", "1", 8),
        ("DECIMAL(10,2)", "1", 6), ("DECIMAL(20,0) NOT NULL", "1", 9), ("CHAR(10)", "'a'", 41),
        ("CHAR(10) CHARACTER SET latin1 NOT NULL", "'a'", 10), ("VARCHAR(20)", "'a'", 83),
        ("VARBINARY(30) NOT NULL", "'a'", 32), ("DATE", "'2024-01-01'", 4), ("DATETIME", "'2024-01-01'", 6),
        ("DATETIME(3) NOT NULL", "'2024-01-01'", 7), ("TIMESTAMP NULL", "'2024-01-01'", 5),
        ("TIME", "'10:00'", 4), ("TIME(6)", "'10:00'", 7), ("YEAR", "2024", 2), ("ENUM('a','b')", "'a'", 2),
        ("SET('x','y')", "'x'", 2),
    ],
)  # fmt: skip
def test_the_length_of_a_key_is_that_of_its_columns(
    column: str, value: str, length: int, cluster: LiveCluster
) -> None:
    """Source: manual of MySQL, storage of data types; NULL takes a byte, a length of VARCHAR two."""
    client = Client()
    client.answer(f"CREATE TABLE test.k (id INT PRIMARY KEY, c {column}, KEY (c)) ENGINE=NDB", cluster)
    client.answer(f"INSERT INTO test.k VALUES (1, {value})", cluster)
    _, row, *_ = rows(client.answer(f"EXPLAIN SELECT id FROM test.k WHERE c = {value}", cluster))
    assert row[6:8] == ["c", str(length)]


def test_data_nodes_join_by_keys(asked: Callable[[str, str], list[dict[str, str]]]) -> None:
    statement = "EXPLAIN SELECT a.id, b.c FROM t1 a JOIN t1 b ON a.id=b.k WHERE a.id<2"
    first, second, note = asked("8.4.8", statement)
    assert first["Extra"] == (
        "Parent of 2 pushed join@1; Using pushed condition (`test`.`a`.`id` < 2); Using MRR"
    )
    assert (second["type"], second["ref"], second["filtered"]) == ("ref", "test.a.id", "100.00")
    assert second["Extra"] == "Child of 'a' in pushed join@1"
    assert note["note"].endswith(
        "from `test`.`t1` `a` join `test`.`t1` `b` "
        "where ((`test`.`b`.`k` = `test`.`a`.`id`) and (`test`.`a`.`id` < 2))"
    )
    first, second, note, _ = asked("8.4.8", "EXPLAIN SELECT * FROM b1 JOIN t1 ON b1.id=t1.id")
    assert (first["Extra"], second["Extra"]) == ("NULL", "NULL")
    assert note["note"] == "Table 'b1' is not pushable: select list can't contain BLOB columns"


def test_changes_are_ranges_with_their_condition(asked: Callable[[str, str], list[dict[str, str]]]) -> None:
    row, note = asked("8.4.8", "EXPLAIN DELETE FROM t1 WHERE k=5")
    assert (row["select_type"], row["type"], row["key"], row["ref"]) == ("DELETE", "range", "k_1", "const")
    assert row["Extra"] == "Using where; Using pushed condition (`test`.`t1`.`k` = 5); Using MRR"
    assert note["note"] == "delete from `test`.`t1` where (`test`.`t1`.`k` = 5)"


def test_older_servers_name_conditions_only_on_request(
    asked: Callable[[str, str], list[dict[str, str]]],
) -> None:
    (row,) = asked("7.4.10", "EXPLAIN SELECT * FROM t1 WHERE n>2 AND c='a'")
    assert list(row) == ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref",
                         "rows", "Extra"]  # fmt: skip
    assert (row["possible_keys"], row["key_len"]) == ("n_1,c_1", "62")
    assert row["Extra"] == "Using where with pushed condition"
    row, _ = asked("7.4.10", "EXPLAIN EXTENDED SELECT * FROM t1 WHERE n>9 AND c='a'")
    assert row["filtered"] == "100.00"
    assert row["Extra"].endswith("condition ((`test`.`t1`.`c` = 'a') and (`test`.`t1`.`n` > 9))")


def test_what_is_not_known_is_not_explained(cluster: LiveCluster) -> None:
    client = Client()
    client.answer(MADE, cluster)
    for statement, said in (
        ("EXPLAIN FORMAT=TREE SELECT 1", "ndbplan: EXPLAIN FORMAT=TREE"),
        ("EXPLAIN FORMAT=NIX SELECT 1", "ERROR 1791 (HY000): Unknown EXPLAIN format name: 'NIX'"),
        ("EXPLAIN EXTENDED SELECT 1", "ERROR 1064 (42000)"),
        ("EXPLAIN SELECT * FROM nix", "ERROR 1146 (42S02): Table 'test.nix' doesn't exist"),
        ("EXPLAIN SELECT nix FROM t1", "ERROR 1054 (42S22): Unknown column 'nix' in 'field list'"),
        ("EXPLAIN SELECT * FROM t1 a, t1 b", "ndbplan: EXPLAIN of joins without a key"),
        ("EXPLAIN SELECT * FROM ndbinfo.nodes", "ndbplan: EXPLAIN of tables of ndbinfo"),
    ):
        assert client.answer(statement, cluster).startswith(said)
