"""Tables that the product makes for itself: numbers and rows as running clusters had them."""

from __future__ import annotations

import pytest

from ndbplan.edits.parameters import set_parameter
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.processes import SqlNode
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.system_tables import first_number, system_objects

from .conftest import two_by_two

_MADE = (
    "CREATE TABLE t1 (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, c VARCHAR(60) NOT NULL, "
    "pad CHAR(40) NOT NULL, KEY k_1 (k)) ENGINE=NDBCLUSTER",
    "CREATE TABLE t2 (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), "
    "amount DECIMAL(10,2), at DATETIME, UNIQUE KEY u_name (name), KEY i_at (at)) ENGINE=NDB",
    "CREATE TABLE t3 (a INT NOT NULL, b INT NOT NULL, c VARCHAR(20), PRIMARY KEY (a,b)) ENGINE=NDB",
    "CREATE TABLE nopk (a INT, b VARCHAR(10)) ENGINE=NDB",
    "CREATE TABLE tblob (id INT PRIMARY KEY, doc JSON, note TEXT, bin BLOB) ENGINE=NDB",
    "CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=NDB",
    "CREATE TABLE child (id INT PRIMARY KEY, pid INT NOT NULL, KEY (pid), "
    "CONSTRAINT fk_pid FOREIGN KEY (pid) REFERENCES parent (id)) ENGINE=NDB",
)


def _consoles(version: str) -> Consoles:
    """Two node groups of two, one LDM thread each, without a load."""
    plan = two_by_two(version).replace(tables=(), workloads=())
    plan = set_parameter(plan, "data_node", "MaxNoOfExecutionThreads", None)
    if NdbVersion.parse(version) >= NdbVersion.parse("8.0"):
        plan = set_parameter(plan, "data_node", "NumCPUs", "2")
    return Consoles(LiveCluster.begin(plan, hours=0.1))


def _cells(consoles: Consoles, query: str) -> list[list[str]]:
    said = consoles.answer(f"mysql> {query};")
    lines = [line for line in said.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.fixture(scope="module")
def made() -> Consoles:
    """8.4.8 with the tables of the recording."""
    consoles = _consoles("8.4.8")
    consoles.answer("mysql> create database test;")
    consoles.answer("mysql> use test;")
    for statement in _MADE:
        assert consoles.answer(f"mysql> {statement};").startswith("Query OK"), statement
    return consoles


_NODE_2 = """
sys/def/SYSTAB_0|NULL|System table|2|1|0|32768|32592|28|1|1164|0|0|0|16384
sys/def/SYSTAB_0|NULL|System table|2|1|2|32768|32564|28|2|1163|0|0|0|16384
sys/def/NDB$EVENTS_0|NULL|System table|3|1|0|32768|31108|308|4|101|0|0|0|16384
sys/def/NDB$EVENTS_0|NULL|System table|3|1|2|32768|31416|308|3|102|0|0|0|16384
mysql/def/ndb_schema|NULL|User table|4|1|0|0|0|88|0|0|0|0|0|8192
mysql/def/ndb_schema|NULL|User table|4|1|2|32768|32032|88|6|364|32768|31872|6|16384
mysql/def/NDB$BLOB_4_3|mysql/def/ndb_schema|User table|5|1|0|0|0|32|0|0|0|0|0|8192
mysql/def/NDB$BLOB_4_3|mysql/def/ndb_schema|User table|5|1|2|0|0|32|0|0|0|0|0|8192
mysql/def/ndb_schema_result|NULL|User table|6|1|0|0|0|40|0|0|0|0|0|16384
mysql/def/ndb_schema_result|NULL|User table|6|1|2|0|0|40|0|0|0|0|0|16384
mysql/def/ndb_index_stat_head|NULL|User table|7|1|0|32768|32500|52|2|625|0|0|0|16384
mysql/def/ndb_index_stat_head|NULL|User table|7|1|2|32768|32448|52|3|624|0|0|0|16384
mysql/def/ndb_index_stat_sample|NULL|User table|8|1|0|0|0|36|0|0|0|0|0|8192
mysql/def/ndb_index_stat_sample|NULL|User table|8|1|2|0|0|36|0|0|0|0|0|8192
sys/def/8/ndb_index_stat_sample_x1|mysql/def/ndb_index_stat_sample|Ordered index|9|1|0|0|0|272|0|0|0|0|0|0
sys/def/8/ndb_index_stat_sample_x1|mysql/def/ndb_index_stat_sample|Ordered index|9|1|2|0|0|272|0|0|0|0|0|0
mysql/def/ndb_apply_status|NULL|User table|10|1|0|0|0|52|0|0|0|0|0|8192
mysql/def/ndb_apply_status|NULL|User table|10|1|2|0|0|52|0|0|0|0|0|8192
mysql/def/ndb_sql_metadata|NULL|User table|11|1|0|0|0|40|0|0|0|0|0|8192
mysql/def/ndb_sql_metadata|NULL|User table|11|1|2|0|0|40|0|0|0|0|0|8192
"""
"""memory_per_fragment LIMIT 20 of a running 8.4.8, but for node_id."""


def test_memory_by_fragment_begins_with_the_tables_of_the_product(made: Consoles) -> None:
    rows = _cells(made, "SELECT * FROM ndbinfo.memory_per_fragment LIMIT 20")
    assert ["|".join([*row[:4], *row[5:]]) for row in rows] == _NODE_2.strip().splitlines()
    assert _cells(made, "SELECT COUNT(*) FROM ndbinfo.memory_per_fragment") == [["256"]], "recorded"


def test_numbers_of_tables_are_those_of_the_recording(made: Consoles) -> None:
    query = "SELECT table_name, table_id FROM ndbinfo.dictionary_tables"
    assert {name: int(number) for name, number in _cells(made, query)} == {
        "ndb_schema": 4, "NDB$BLOB_4_3": 5, "ndb_schema_result": 6, "ndb_index_stat_head": 7,
        "ndb_index_stat_sample": 8, "ndb_apply_status": 10, "ndb_sql_metadata": 11, "t1": 13, "t2": 16,
        "t3": 21, "nopk": 23, "tblob": 24, "NDB$BLOB_24_1": 25, "NDB$BLOB_24_2": 26, "NDB$BLOB_24_3": 27,
        "parent": 29, "child": 31,
    }  # fmt: skip
    columns = "table_name, attributes, primary_key, dynamic"
    hidden = f"SELECT {columns} FROM ndbinfo.dictionary_tables WHERE table_id = {{}}"
    assert _cells(made, hidden.format(5)) == [["NDB$BLOB_4_3", "5", "db,name,NDB$PART", "0"]]
    assert _cells(made, hidden.format(25)) == [["NDB$BLOB_24_1", "4", "id,NDB$PART", "0"]]
    assert _cells(made, "SELECT COUNT(*) FROM ndbinfo.table_fragments") == [["80"]], "of the master alone"
    assert _cells(made, "SELECT COUNT(*) FROM ndbinfo.table_distribution_status") == [["32"]]


def test_columns_are_told_as_the_api_names_them(made: Consoles) -> None:
    columns = "name, column_type, nullable, array_type, primary_key, partition_key, auto_inc"
    asked = f"SELECT {columns} FROM ndbinfo.dictionary_columns WHERE table_id = {{}}"
    assert _cells(made, asked.format(13)) == [
        ["id", "Int", "NOT NULL", "FIXED", "1", "1", "0"], ["k", "Int", "NOT NULL", "FIXED", "0", "0", "0"],
        ["c", "Varchar(240;utf8mb4_0900_ai_ci)", "NOT NULL", "SHORT_VAR", "0", "0", "0"],
        ["pad", "Char(160;utf8mb4_0900_ai_ci)", "NOT NULL", "FIXED", "0", "0", "0"],
    ], "recorded"  # fmt: skip
    assert [row[1:3] for row in _cells(made, asked.format(16))] == [
        ["Unsigned", "NOT NULL"], ["Varchar(160;utf8mb4_0900_ai_ci)", "NULL"], ["Decimal(10,2)", "NULL"],
        ["Datetime2(0)", "NULL"],
    ], "recorded"  # fmt: skip
    assert _cells(made, asked.format(23))[-1] == ["$PK", "Bigunsigned", "NOT NULL", "FIXED", "1", "1", "1"]
    assert [row[:2] for row in _cells(made, asked.format(25))] == [
        ["id", "Int"], ["NDB$PART", "Unsigned"], ["NDB$PKID", "Unsigned"],
        ["NDB$DATA", "Longvarbinary(8100)"],
    ]  # fmt: skip


def test_each_table_of_the_dictionary_has_its_columns(made: Consoles) -> None:
    tables = _cells(made, "SELECT table_id, attributes, primary_key FROM ndbinfo.dictionary_tables")
    counted = dict(_cells(made, "SELECT table_id, COUNT(*) FROM ndbinfo.dictionary_columns GROUP BY 1"))
    assert {number: count for number, count, _ in tables} == counted
    keys = "SELECT table_id, GROUP_CONCAT(name ORDER BY column_id) FROM ndbinfo.dictionary_columns"
    assert {number: key for number, _, key in tables} == dict(
        _cells(made, f"{keys} WHERE primary_key = 1 GROUP BY 1")
    )
    known = {number for number, *_ in tables}
    assert {row[0] for row in _cells(made, "SELECT table_id FROM ndbinfo.table_info")} == known | {"2", "3"}
    for name in ("index_columns", "blobs"):
        found = {row[0] for row in _cells(made, f"SELECT table_id FROM ndbinfo.{name}")}
        assert found < known
        assert {"4", "8", "11"} & found, "of system tables too"


def test_rows_are_as_long_as_the_recording_says(made: Consoles) -> None:
    query = "SELECT table_name, row_size FROM ndbinfo.dictionary_tables WHERE database_name = 'test'"
    assert dict(_cells(made, query)) == {
        "t1": "412", "t2": "184", "t3": "92", "nopk": "56", "tblob": "4564", "NDB$BLOB_24_1": "8116",
        "NDB$BLOB_24_2": "2016", "NDB$BLOB_24_3": "2016", "parent": "88", "child": "8",
    }  # fmt: skip


def test_ndb_desc_tells_the_same_columns(made: Consoles) -> None:
    host = made.cluster.plan.hosts[0].hostname
    said = made.answer(f"{host}$ ndb_desc -d test t2").splitlines()
    assert {"ForceVarPart: 1", "Table options: readbackup", "Number of attributes: 4"} <= set(said)
    assert "id Unsigned PRIMARY KEY DISTRIBUTION KEY AT=FIXED ST=MEMORY AUTO_INCR" in said
    assert "name Varchar(160;utf8mb4_0900_ai_ci) NULL AT=SHORT_VAR ST=MEMORY" in said
    assert said[said.index("-- Indexes -- ") + 3 :][:2] == [
        "u_name(name) - OrderedIndex", "u_name$unique(name) - UniqueHashIndex"
    ]  # fmt: skip
    hidden = made.answer(f"{host}$ ndb_desc -d test nopk")
    assert "PRIMARY KEY($PK) - UniqueHashIndex" in hidden
    assert "OrderedIndex" not in hidden, "a hidden key has none"
    system = made.answer(f"{host}$ ndb_desc -d mysql -p ndb_index_stat_head")
    assert "sample_count Unsigned NOT NULL AT=FIXED ST=MEMORY" in system, "recorded"
    empty = made.answer(f"{host}$ ndb_desc -d test -p t3").partition("Free extent_space")[2]
    assert not empty.strip(), "fragments without a row tell nothing"


@pytest.mark.parametrize("name", ["memory_per_fragment", "table_fragments", "table_distribution_status"])
def test_each_number_is_that_of_a_table_or_an_index(made: Consoles, name: str) -> None:
    """Joins by number find what they are to find, and the same name where both have one."""
    known = {row[0]: row[1] for row in _cells(
        made, "SELECT id, fq_name FROM ndbinfo.dict_obj_info WHERE type IN (1, 2, 3, 6)"
    )}  # fmt: skip
    assert len(known) == 32
    numbers = [row[0] for row in _cells(made, f"SELECT DISTINCT table_id FROM ndbinfo.{name}")]
    assert numbers
    assert set(numbers) <= set(known)
    for number, full in _cells(made, "SELECT DISTINCT table_id, fq_name FROM ndbinfo.memory_per_fragment"):
        assert known[number] == full


def _numbers(consoles: Consoles) -> dict[str, int]:
    query = "SELECT fq_name, id FROM ndbinfo.dict_obj_info WHERE id > 12 AND type NOT IN (11, 18)"
    return {name: int(number) for name, number in _cells(consoles, query)}


def test_a_number_stays_with_its_object_and_the_lowest_free_one_is_given_next() -> None:
    consoles = _consoles("8.4.8")
    for statement in ("CREATE DATABASE test", "USE test", *_MADE):
        consoles.answer(f"mysql> {statement};")
    before = _numbers(consoles)
    consoles.answer("mysql> DROP TABLE t2;")
    after = _numbers(consoles)
    assert after == {name: number for name, number in before.items() if number not in range(16, 21)}
    consoles.answer("mysql> CREATE TABLE a (id INT PRIMARY KEY, v INT) ENGINE=NDB;")
    consoles.answer("mysql> CREATE INDEX i ON t1 (c);")
    consoles.answer("mysql> CREATE TABLE b (id INT PRIMARY KEY, v INT, KEY (v)) ENGINE=NDB;")
    now = _numbers(consoles)
    assert now.items() >= after.items(), "nobody's number changes"
    assert {name: now[name] for name in now.keys() - after.keys()} == {
        "test/def/a": 16, "sys/def/16/PRIMARY": 17, "sys/def/13/i": 18, "test/def/b": 19,
        "sys/def/19/PRIMARY": 20, "sys/def/19/v": 35,
    }  # fmt: skip


def test_a_table_that_is_copied_has_new_numbers_and_one_that_is_emptied_its_own() -> None:
    consoles = _consoles("8.4.8")
    for statement in ("CREATE DATABASE test", "USE test", *_MADE[:2]):
        consoles.answer(f"mysql> {statement};")
    consoles.answer("mysql> TRUNCATE TABLE t1;")
    assert _numbers(consoles)["test/def/t1"] == 13
    consoles.answer("mysql> ALTER TABLE t1 ADD COLUMN y INT NOT NULL DEFAULT 3;")
    now = _numbers(consoles)
    assert (now["test/def/t1"], now["sys/def/21/k_1"], now["test/def/t2"]) == (21, 23, 16), "beside the old"
    consoles.answer("mysql> ALTER TABLE t2 ADD COLUMN w INT NULL COLUMN_FORMAT DYNAMIC, ALGORITHM=INPLACE;")
    consoles.answer("mysql> CREATE TABLE t3 (a INT PRIMARY KEY) ENGINE=NDB;")
    now = _numbers(consoles)
    assert (now["test/def/t2"], now["test/def/t3"], now["sys/def/13/PRIMARY"]) == (16, 13, 14)


def test_a_hash_map_takes_a_number_before_its_first_table_and_keeps_it() -> None:
    consoles = _consoles("8.4.8")
    consoles.answer("mysql> CREATE DATABASE test;")
    half = "COMMENT='NDB_TABLE=PARTITION_BALANCE=FOR_RA_BY_NODE'"
    consoles.answer(f"mysql> CREATE TABLE test.a (id INT PRIMARY KEY) ENGINE=NDB {half};")
    assert _numbers(consoles) == {
        "DEFAULT-HASHMAP-3840-2": 13, "test/def/a": 14, "sys/def/14/PRIMARY": 15
    }  # fmt: skip
    consoles.answer("mysql> DROP TABLE test.a;")
    consoles.answer("mysql> CREATE TABLE test.b (id INT PRIMARY KEY) ENGINE=NDB;")
    assert _numbers(consoles)["DEFAULT-HASHMAP-3840-2"] == 13
    assert _numbers(consoles)["test/def/b"] == 14
    assert _cells(consoles, "SELECT id, fq_name FROM ndbinfo.hash_maps")[0] == ["1", "DEFAULT-HASHMAP-3840-4"]


def test_files_of_disk_data_have_the_numbers_and_the_order_of_the_recording() -> None:
    consoles = _consoles("8.4.8")
    for statement in (
        "CREATE DATABASE test", "CREATE LOGFILE GROUP lg_1 ADD UNDOFILE 'undo_1.log' ENGINE NDBCLUSTER",
        "CREATE TABLESPACE ts_1 ADD DATAFILE 'data_1.dat' USE LOGFILE GROUP lg_1 ENGINE NDBCLUSTER",
        "CREATE TABLE test.t (id INT PRIMARY KEY) ENGINE=NDB",
        "ALTER LOGFILE GROUP lg_1 ADD UNDOFILE 'undo_2.log' INITIAL_SIZE 16M ENGINE NDBCLUSTER",
    ):  # fmt: skip
        consoles.answer(f"mysql> {statement};")
    assert _cells(consoles, "SELECT id, type, name, parent FROM ndbinfo.files") == [
        ["13", "Log file group", "lg_1", "0"], ["15", "Tablespace", "ts_1", "0"],
        ["14", "Undo file", "undo_1.log", "13"], ["19", "Undo file", "undo_2.log", "13"],
        ["16", "Data file", "data_1.dat", "15"],
    ]  # fmt: skip
    assert _numbers(consoles)["test/def/t"] == 17
    query = "SELECT DISTINCT log_id FROM ndbinfo.{} WHERE log_type = 'DD-UNDO'"
    assert _cells(consoles, query.format("logbuffers")) == _cells(consoles, query.format("logspaces"))
    assert _cells(consoles, query.format("logspaces")) == [["13"]]
    # Tablespaces and log file groups are roots [manual, dict_obj_tree].
    tree = "SELECT type, id, indented_name FROM ndbinfo.dict_obj_tree WHERE root_name = '{}' ORDER BY id"
    assert _cells(consoles, tree.format("lg_1")) == [
        ["21", "13", "lg_1"], ["23", "14", "-> undo_1.log"], ["23", "19", "-> undo_2.log"],
    ]  # fmt: skip
    assert _cells(consoles, tree.format("ts_1")) == [["20", "15", "ts_1"], ["22", "16", "-> data_1.dat"]]
    listed = consoles.answer(f"{consoles.cluster.plan.hosts[0].hostname}$ ndb_show_tables").splitlines()
    assert [line.split()[:3] for line in listed if "_1" in line and "file" in line.lower()] == [
        ["13", "LogfileGroup", "Online"], ["14", "Undofile", "Online"], ["16", "Datafile", "Online"],
    ]  # fmt: skip


@pytest.mark.parametrize(("version", "first"), [("7.4.10", 10), ("8.4.8", 13)])
def test_the_first_table_has_the_number_that_it_had(version: str, first: int) -> None:
    plan = two_by_two(version)
    assert first_number(plan) == first == features(plan.version).dictionary_of_system
    ordered = [one for one in system_objects(plan) if not one.is_table]
    assert len(ordered) == features(plan.version).ordered_indexes_of_system
    without = plan.replace(processes=tuple(p for p in plan.processes if not isinstance(p, SqlNode)))
    assert first_number(without) == 4, "8.4.8 without an SQL node"


def test_an_older_cluster_has_fewer_of_them() -> None:
    """7.4.10: the sample of index statistics is 7, its index 8."""
    consoles = _consoles("7.4.10")
    rows = _cells(consoles, "SELECT DISTINCT table_id, fq_name FROM ndbinfo.memory_per_fragment")
    assert [int(number) for number, _ in rows] == list(range(2, 10))
    assert ["7", "mysql/def/ndb_index_stat_sample"] in rows
    assert ["8", "sys/def/7/ndb_index_stat_sample_x1"] in rows


def test_each_index_has_a_trigger_of_its_own_number(made: Consoles) -> None:
    """Recorded: 18, 0, 1, 4, 6, 7, NDB$INDEX_7_CUSTOM."""
    query = (
        "SELECT type, id, version, state, parent_obj_type, parent_obj_id, fq_name FROM ndbinfo.dict_obj_info"
    )
    rows = _cells(made, f"{query} WHERE type IN (11, 18) ORDER BY id")
    assert [row[1] for row in rows] == [str(number) for number in range(len(rows))]
    indexes = _cells(
        made, "SELECT type, id FROM ndbinfo.dict_obj_info WHERE type IN (3, 6) ORDER BY type, id"
    )
    assert sorted((row[4], int(row[5])) for row in rows) == [(kind, int(number)) for kind, number in indexes]
    for kind, _, version, state, above, number, name in rows:
        assert (kind, version, state) == ("11" if above == "3" else "18", "1", "4")
        assert name == f"NDB$INDEX_{number}_{'UI' if above == '3' else 'CUSTOM'}"
    tree = _cells(made, "SELECT path, level FROM ndbinfo.dict_obj_tree WHERE name LIKE 'NDB$INDEX_16%'")
    assert all(level == "3" for _, level in tree)
