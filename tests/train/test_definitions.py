"""Statements that define tables and disk data, and changes of rows: answers as recorded, and what they do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.base.units import MIB
from ndbplan.ndb.mysqld_options import sql_variables
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.world.indices import Part
from ndbplan.train import world
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client

OK = "Query OK, 0 rows affected (0.20 sec)\n"
COPIED = f"{OK}Records: 0  Duplicates: 0  Warnings: 0\n\n"


@pytest.fixture
def ask(cluster: LiveCluster) -> Callable[[str], str]:
    consoles = Consoles(cluster)
    consoles.answer("mysql> use test")
    return lambda sql: consoles.answer(f"mysql> {sql};")


MADE = [
    ("create table t1 (id int not null primary key, k int not null, c varchar(6), key k (k)) engine=ndb", OK),
    ("create table t1 (a int) engine=ndb", "ERROR 1050 (42S01): Table 't1' already exists\n"),
    ("create table if not exists t1 (a int) engine=ndb", OK.replace(" (", ", 1 warning (")),
    ("create table nosuchdb.x (a int) engine=ndb", "ERROR 1049 (42000): Unknown database 'nosuchdb'\n"),
    ("create table tx (a int) engine=nosuch", "ERROR 1286 (42000): Unknown storage engine 'nosuch'\n"),
    ("create table tx (a int, a int) engine=ndb", "ERROR 1060 (42S21): Duplicate column name 'a'\n"),
    ("create table tx (a int primary key, b int storage disk) engine=ndb",
     "ERROR 1005 (HY000): Can't create table 'tx' (use SHOW WARNINGS for more info).\n"),
    ("insert into t1 values (1,1,'a'),(2,1,'b')",
     "Query OK, 2 rows affected (0.00 sec)\nRecords: 2  Duplicates: 0  Warnings: 0\n\n"),
    ("insert into t1 values (1)", "ERROR 1136 (21S01): Column count doesn't match value count at row 1\n"),
    ("update t1 set k=k+1 where id=1",
     "Query OK, 1 row affected (0.00 sec)\nRows matched: 1  Changed: 1  Warnings: 0\n\n"),
    ("update t1 set nosuch=1", "ERROR 1054 (42S22): Unknown column 'nosuch' in 'field list'\n"),
    ("delete from t1 where nosuch=1", "ERROR 1054 (42S22): Unknown column 'nosuch' in 'where clause'\n"),
    ("delete from t1 where id=1", "Query OK, 1 row affected (0.00 sec)\n"),
    ("alter table t1 add column id int", "ERROR 1060 (42S21): Duplicate column name 'id'\n"),
    ("alter table t1 drop column nosuch",
     "ERROR 1091 (42000): Can't DROP 'nosuch'; check that column/key exists\n"),
    ("alter table t1 add column z int", COPIED.replace(" (", ", 1 warning (").replace("ngs: 0", "ngs: 1")),
    ("alter table t1 add column y int, lock=none",
     "ERROR 1845 (0A000): LOCK=NONE/SHARED is not supported for this operation. Try LOCK=EXCLUSIVE.\n"),
    ("create index ic on t1 (c)", COPIED),
    ("rename table t1 to t2", OK),
    ("drop table t1", "ERROR 1051 (42S02): Unknown table 'test.t1'\n"),
    ("truncate table t2", OK),
    ("drop table t2", OK),
    ("drop table if exists t2", OK.replace(" (", ", 1 warning (")),
]  # fmt: skip


def test_tables_are_made_changed_and_dropped_as_a_running_server_says(ask: Callable[[str], str]) -> None:
    for sql, answer in MADE:
        assert ask(sql) == answer, sql


def test_show_create_table_has_the_form_of_each_server(begun: Callable[[str], LiveCluster]) -> None:
    text = "create table t (a int unsigned not null primary key, b varchar(9), c bigint, key (c)) engine=ndb"
    shown = []
    for version in ("7.4.10", "8.4.8"):
        consoles = Consoles(begun(version))
        consoles.answer(f"mysql> use test; {text};")
        shown.append(consoles.answer("mysql> show create table t\\G"))
    assert "  `a` int(10) unsigned NOT NULL,\n  `b` varchar(9) DEFAULT NULL,\n  `c` bigint(20)" in shown[0]
    assert "  PRIMARY KEY (`a`),\n  KEY `c` (`c`)\n) ENGINE=ndbcluster DEFAULT CHARSET=latin1\n" in shown[0]
    assert "  `a` int unsigned NOT NULL,\n" in shown[1]


def test_disk_data_is_refused_as_the_product_does(ask: Callable[[str], str], cluster: LiveCluster) -> None:
    group = "create logfile group lg add undofile 'u.log' initial_size 16M engine ndb"
    space = "create tablespace ts add datafile 'd.dat' use logfile group lg initial_size 8M engine ndb"
    world.do("fill disk:data2/undo", cluster)
    assert ask(group) == "ERROR 1528 (HY000): Failed to create LOGFILE GROUP\n"
    assert "Got temporary error 2810 'No space left on the device' from NDB" in ask("show warnings")
    world.do("free disk:data2/undo", cluster)
    assert ask(space) == "ERROR 1528 (HY000): Failed to create TABLESPACE\n"
    assert "Got error 789" in ask("show warnings")
    assert (ask(group), ask(space)) == (OK, OK)
    assert "3658" in ask("create logfile group other add undofile 'v.log'")
    assert ask("create table td (id int primary key, c char(20)) tablespace ts storage disk engine ndb") == OK
    assert "TABLESPACE `ts` STORAGE DISK" in ask("show create table td")
    assert ask("alter tablespace ts drop datafile 'd.dat'").startswith("ERROR 1533")
    assert ask("drop table td") == OK
    assert ask("drop tablespace ts") == "ERROR 3120 (HY000): Tablespace `ts` is not empty.\n"
    assert ask("drop logfile group lg engine ndb").startswith("ERROR 1529")
    for sql in (
        "alter tablespace ts drop datafile 'd.dat'",
        "drop tablespace ts",
        "drop logfile group lg engine ndb",
    ):
        assert ask(sql) == OK
    assert not cluster.plan.tablespaces
    assert not cluster.plan.logfile_groups


def test_a_table_moves_between_disk_and_memory(ask: Callable[[str], str], cluster: LiveCluster) -> None:
    """In the order that an 8.4.8 was told it, with its answers."""
    ask("create logfile group lg_1 add undofile 'u.log' initial_size 16M engine ndbcluster")
    ask("create tablespace ts_1 add datafile 'd.dat' use logfile group lg_1 initial_size 32M engine ndb")
    columns = "id int primary key, a int, c char(200), key (a)"
    ask(f"create table td ({columns}) tablespace ts_1 storage disk engine ndb")
    ask("insert into td values (1, 1, 'x'), (2, 2, 'y')")
    assert ask("alter table td storage memory").startswith("Query OK, 2 rows affected")
    assert ") /*!50100 TABLESPACE `ts_1` STORAGE MEMORY */ ENGINE=ndbcluster" in ask("show create table td")
    assert {column.storage for column in cluster.plan.tables[-1].columns} == {"memory"}
    ask("create table t3 (a int, b int, c varchar(20), primary key (a, b)) engine ndb")
    ask("insert into t3 values (1, 1, 'x')")
    assert ask("alter table t3 storage disk").startswith("ERROR 1005")
    assert ask("alter table t3 tablespace ts_1 storage disk").startswith("Query OK, 1 row affected")
    assert "TABLESPACE `ts_1` STORAGE DISK */" in ask("show create table t3")
    assert ask("alter tablespace ts_1 drop datafile 'd.dat'").startswith("ERROR 1533")
    assert ask("alter table t3 storage memory").startswith("Query OK, 1 row affected")
    assert ask("drop table td") == OK
    assert ask("alter tablespace ts_1 drop datafile 'd.dat'") == OK
    assert ask("drop tablespace ts_1") == "ERROR 3120 (HY000): Tablespace `ts_1` is not empty.\n"
    assert "TABLESPACE `ts_1` STORAGE MEMORY" in ask("show create table t3")
    assert ask("drop table t3") == OK
    assert ask("drop tablespace ts_1") == OK


@pytest.mark.parametrize("version", ["8.4.8", "7.4.10"])
def test_a_tablespace_without_a_file_gets_one_again(
    version: str, begun: Callable[[str], LiveCluster]
) -> None:
    """It is there until DROP TABLESPACE, as an 8.4.8 drops it then; each tells in its way what is missing."""
    cluster = begun(version)
    consoles, engine = Consoles(cluster), "" if version == "8.4.8" else " engine ndb"

    def ask(line: str) -> str:
        return consoles.answer(f"mysql> {line};")

    ask("create database d1")
    ask("use d1")
    ask("create logfile group lg_1 add undofile 'u.log' initial_size 16M engine ndb")
    made = "create tablespace ts_1 add datafile 'd.dat' use logfile group lg_1 extent_size 2M"
    assert ask(f"{made} initial_size 32M engine ndb").startswith("Query OK")
    ask("create table t3 (a int primary key, b char(200)) tablespace ts_1 storage memory engine ndb")
    before = ask("show create table t3")
    drop = f"alter tablespace ts_1 drop datafile 'd.dat'{engine}"
    assert ask(drop).startswith("Query OK")
    assert ask(drop).startswith("ERROR 3629 " if version == "8.4.8" else "ERROR 1533 ")
    assert cluster.plan.tablespaces == ()
    for file in ("d.dat", "gone"):
        added = f"alter tablespace ts_1 add datafile '{file}' initial_size 64M{engine}"
        assert ask(added).startswith("Query OK")
    (space,) = cluster.plan.tablespaces
    assert {one.name: one.size_bytes for one in space.data_files} == {"d.dat": 64 * MIB, "gone": 64 * MIB}
    assert space.extent_size_bytes == 2 * MIB
    assert ask("show create table t3") == before
    assert cluster.plan.tables[-1].tablespace_id == space.id
    assert ask("alter table t3 storage disk").startswith("Query OK")
    assert ask("drop table t3").startswith("Query OK")
    for file in ("d.dat", "gone"):
        assert ask(f"alter tablespace ts_1 drop datafile '{file}'{engine}").startswith("Query OK")
    assert ask(f"drop tablespace ts_1{engine}").startswith("Query OK")
    told = {
        "8.4.8": ("3510 (HY000): Tablespace ts_1 doesn't exist.",) * 3,
        "7.4.10": (
            "1529 (HY000): Failed to drop TABLESPACE", "1533 (HY000): Failed to alter:  CREATE DATAFILE",
            "1533 (HY000): Failed to alter:  DROP DATAFILE",
        ),
    }  # fmt: skip
    lines = ("drop tablespace ts_1", "alter tablespace ts_1 add datafile 'e.dat'", drop.removesuffix(engine))
    for line, said in zip(lines, told[version], strict=True):
        assert ask(f"{line}{engine}") == f"ERROR {said}\n"


def test_columns_say_by_themselves_where_they_lie(ask: Callable[[str], str]) -> None:
    """The first two as an 8.4.8 and a 7.4.10 showed them."""
    ask("create logfile group lg add undofile 'u.log' initial_size 16M engine ndb")
    ask("create tablespace ts add datafile 'd.dat' use logfile group lg initial_size 32M engine ndb")
    columns = "id int primary key, a int storage memory, c char(200) storage disk"
    ask(f"create table tm ({columns}) tablespace ts engine ndb")
    shown = ask("show create table tm")
    assert "`id` int NOT NULL" in shown
    assert "`a` int /*!50606 STORAGE MEMORY */ DEFAULT NULL" in shown
    assert "`c` char(200) /*!50606 STORAGE DISK */ DEFAULT NULL" in shown
    assert "/*!50100 TABLESPACE `ts` */" in shown
    ask("create table dd7 (id int not null primary key, a int) storage memory engine ndb")
    assert ") /*!50100 STORAGE MEMORY */ ENGINE=ndbcluster" in ask("show create table dd7")
    ask("alter table tm add (d int, e int storage memory), storage disk")
    shown = ask("show create table tm")
    assert "`a` int /*!50606 STORAGE MEMORY */" in shown
    assert "`d` int DEFAULT NULL" in shown
    assert "`e` int /*!50606 STORAGE MEMORY */" in shown
    assert "TABLESPACE `ts` STORAGE DISK" in shown
    ask("alter table tm change c c2 char(200), rename column e to e2")
    shown = ask("show create table tm")
    assert "`c2` char(200) DEFAULT NULL" in shown
    assert "`e2` int /*!50606 STORAGE MEMORY */" in shown
    ask("alter table tm storage memory")
    assert "STORAGE DISK" not in ask("show create table tm")


def test_memory_and_log_follow_what_is_typed(ask: Callable[[str], str], cluster: LiveCluster) -> None:
    """A table that clients do not use gives its memory back when it is dropped; rows make their log."""
    sim = cluster.session.simulation
    before = float(sim.state.node_state[0].memory_bytes)
    other = cluster.branch()
    assert ask("drop table blobs_1k") == OK
    held = before - float(sim.state.node_state[0].memory_bytes)
    assert held > 100_000 * 1000 / 2 * 0.5
    assert other.plan.tables[1].name == "blobs_1k", "what goes on apart leaves this one alone"
    ask("create table t (id int primary key, c varchar(1000)) engine=ndb")
    parts = cluster.session.simulation.state.parts
    log = float((parts[Part.MADE] - parts[Part.BASE]).sum()), float(parts[Part.BASE].sum())
    assert ask("insert into t values (1, 'x')") == "Query OK, 1 row affected (0.00 sec)\n"
    parts = cluster.session.simulation.state.parts
    assert float((parts[Part.MADE] - parts[Part.BASE]).sum()) == pytest.approx(log[0])
    assert float(parts[Part.BASE].sum()) > log[1]
    assert "|        1 |" in ask("select count(*) from t")
    too_large = "ERROR 1296 (HY000): Got error 261"
    assert too_large in ask("delete from blobs_5k")
    # Seven operations a row, as each of its two blobs has three parts: 32768 are 4681 rows.
    assert "4000 rows affected" in ask("delete from blobs_5k limit 4000")
    assert too_large in ask("delete from blobs_5k limit 5000")


def test_tables_are_reorganised_one_after_the_other() -> None:
    plan = sample_plan("redo-overload")
    cluster = LiveCluster.begin(plan.replace(ndb_version="8.4.8"), hours=3.0, reserved=1)
    consoles = Consoles(cluster)
    world.do("load x0.1", cluster)
    new = [node.node_id for node in cluster.plan.data_nodes][-2:]
    for node_id in new:
        world.do(f"start node:{node_id}", cluster)
    world.do("until nodes_started 4 within 20min", cluster)
    consoles.answer(f"ndb_mgm> CREATE NODEGROUP {new[0]},{new[1]}")
    lasted = []
    for table in ("blobs_5k", "blobs_1k"):
        begin_s = cluster.now_s
        assert consoles.answer(f"mysql> ALTER TABLE test.{table} REORGANIZE PARTITION;").startswith(
            "Query OK"
        )
        lasted.append(cluster.now_s - begin_s)
        parts = {t.name: len(consoles.answer(f"data1$ ndb_desc -d test {t.name} -p -n").splitlines())
                 for t in cluster.plan.tables}  # fmt: skip
        if table == "blobs_5k":
            assert parts["blobs_5k"] > parts["blobs_1k"], "only the first one lies on all nodes"
            again_s = cluster.now_s
            consoles.answer(f"mysql> ALTER TABLE test.{table} REORGANIZE PARTITION;")
            assert cluster.now_s - again_s < 1.0
    assert parts["blobs_5k"] == parts["blobs_1k"]
    assert min(lasted) > 1.0
    assert cluster.session.simulation.is_grown


def test_variables_are_those_of_the_series() -> None:
    old, new = (sql_variables(NdbVersion.parse(text)) for text in ("7.4.10", "8.4.8"))
    assert "ndb_cache_check_time" in old.keys() - new.keys()
    assert "ndb_read_backup" in new.keys() - old.keys()
    assert (len(old), len(new)) == (41, 66)


def test_rollup_sums_up_behind_what_it_sums(ask: Callable[[str], str]) -> None:
    shown = ask(
        "select node_id, log_part, count(*) n from ndbinfo.logspaces where node_id < 5 "
        "group by node_id, log_part with rollup having n > 1"
    )
    rows = [line.split("|")[1:-1] for line in shown.splitlines() if line.startswith("| ")][1:]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["3", "NULL", "4"], ["4", "NULL", "4"], ["NULL", "NULL", "8"],
    ]  # fmt: skip


_INPLACE = "ERROR 1845 (0A000): ALGORITHM=INPLACE is not supported for this operation. Try ALGORITHM=COPY.\n"
_INNODB = (
    "ERROR 1478 (HY000): Table storage engine 'InnoDB' does not support the create option "
    "'TABLESPACE or LOGFILE GROUP'\n"
)
_LG = "create logfile group"
OLDER = [
    ("create table t2 (id int primary key, note varchar(20), c2 int, key ix (c2)) engine=ndb", OK, []),
    ("alter table t2 algorithm=inplace, add column c4 int not null", _INPLACE, [1845]),
    ("alter online table t2 drop column note", _INPLACE, [1287, 1845]),
    ("alter online table t2 drop index ix",
     COPIED.replace(" (", ", 1 warning (").replace("ngs: 0", "ngs: 1"), [1287]),
    ("alter online table t2 max_rows=100000000", _INPLACE, [1287, 1845]),
    (f"{_LG} lg1 add undofile 'undo1.log' initial_size 16M undo_buffer_size 2M engine ndb", OK, []),
    (f"{_LG} lg1 add undofile 'undo1.log' initial_size 16M engine ndb",
     "ERROR 1528 (HY000): Failed to create LOGFILE GROUP\n", [1296, 1528]),
    (f"{_LG} lg2 add undofile 'undo9.log' initial_size 16M engine ndb",
     "ERROR 1528 (HY000): Failed to create LOGFILE GROUP\n", [1296, 1528]),
    (f"{_LG} lg3 add undofile 'undo9.log' initial_size 16M", _INNODB, [1478]),
    ("alter logfile group lg1 add undofile 'undo2.log' initial_size 12M engine ndb", OK, []),
    ("alter logfile group lg1 add undofile 'undo2.log' initial_size 12M engine ndb",
     "ERROR 1533 (HY000): Failed to alter: CREATE UNDOFILE\n", [1296, 1533]),
    ("create tablespace ts1 add datafile 'data1.dat' use logfile group lg1 initial_size 32M engine ndb",
     OK, []),
    ("create tablespace ts2 add datafile 'data1.dat' use logfile group lg1 initial_size 32M engine ndb",
     "ERROR 1528 (HY000): Failed to create DATAFILE\n", [1296, 1528]),
    ("create tablespace ts2 add datafile 'data9.dat' use logfile group nix initial_size 32M engine ndb",
     "ERROR 1528 (HY000): Failed to create TABLESPACE\n", [1528]),
    ("create tablespace ts3 add datafile 'data10.dat' use logfile group lg1 initial_size 10K engine ndb",
     "ERROR 1528 (HY000): Failed to create DATAFILE\n", [1296, 1528]),
    ("alter tablespace nix add datafile 'data3.dat' initial_size 16M engine ndb",
     "ERROR 1533 (HY000): Failed to alter:  CREATE DATAFILE\n", [1533]),
    ("drop tablespace ts1", _INNODB, [1478]),
    ("drop tablespace ts1 engine ndb", OK, []),
]  # fmt: skip


def test_older_servers_say_less_and_know_online(begun: Callable[[str], LiveCluster]) -> None:
    consoles = Consoles(begun("7.4.10"))
    consoles.answer("mysql> use test")
    for statement, said, codes in OLDER:
        assert consoles.answer(f"mysql> {statement};") == said, statement
        warned = consoles.answer("mysql> show warnings;").splitlines()[3:-2]
        assert [int(line.split("|")[2]) for line in warned if line.startswith("|")] == codes, statement


def test_tables_are_reorganised_online_by_copying_or_not_at_all(
    begun: Callable[[str], LiveCluster],
) -> None:
    old, new = Consoles(begun("7.4.10")), Consoles(begun("8.4.8"))
    table = "test.blobs_1k"
    told = old.answer(f"mysql> alter online table {table} reorganize partition;")
    assert told.startswith("Query OK, 0 rows affected, 1 warning (")
    assert "near 'reorganize partition' at line 1" in old.answer(
        f"mysql> alter table {table} algorithm=inplace, reorganize partition;"
    )
    copied = new.answer(f"mysql> alter table {table} algorithm=copy, reorganize partition;")
    assert copied.startswith("Query OK, 100000 rows affected (")
    assert "Records: 100000  Duplicates: 0  Warnings: 0" in copied
    locked = new.answer(f"mysql> alter table {table} algorithm=inplace, lock=none, reorganize partition;")
    assert locked.startswith("ERROR 1845 (0A000): LOCK=NONE/SHARED is not supported")


def test_rows_of_queries_are_inserted_and_keys_are_replaced(ask: Callable[[str], str]) -> None:
    ask("create table r (id int primary key, v int) engine=ndb")
    numbers = "with recursive s(n) as (select 1 union all select n+1 from s where n<1000) select n, n from s"
    assert ask(f"insert into r {numbers}").startswith("Query OK, 1000 rows affected (0.2")
    assert ask("insert into r select node_id + 5000, 1 from ndbinfo.nodes").splitlines()[1] == (
        "Records: 4  Duplicates: 0  Warnings: 0"
    )
    ask("create table s (id int primary key, v int) engine=ndb")
    assert ask("insert into s select id, v from r where id <= 300").startswith("Query OK, 300 rows")
    assert ask("insert into s select id from r where v = 3").startswith("ERROR 1136 (21S01)")
    joined = (
        "insert into s select a.id + 9000, b.v from r a join r b on a.id = b.v where a.id between 2 and 6"
    )
    assert ask(joined).startswith("Query OK, 5 rows affected")
    assert ask("delete from s where id > 9000").startswith("Query OK, 5 rows affected")
    assert ask("replace into s values (7, 1)").startswith("Query OK, 1 row affected")
    assert "|      300 |" in ask("select count(*) from s")
    ask("replace into s values (900, 1), (8, 1)")
    assert "|      301 |" in ask("select count(*) from s")


def test_a_table_is_copied_for_what_changes_its_fragments(ask: Callable[[str], str]) -> None:
    ask("create table b (id int primary key, v int) engine=ndb")
    balance = "alter table b comment='NDB_TABLE=PARTITION_BALANCE=FOR_RA_BY_LDM_X_2'"
    assert ask(f"{balance}, algorithm=inplace").startswith("ERROR 1846 (0A000): ALGORITHM=INPLACE is not")
    ask("insert into b values (1, 1), (2, 2)")
    assert ask(balance).startswith("Query OK, 2 rows affected")


def test_other_tables_are_changed_after_one_in_use_is_gone(ask: Callable[[str], str]) -> None:
    ask("create table v (id int primary key, k int) engine=ndb")
    assert ask("drop table blobs_5k") == OK
    assert ask("alter table v add index (k)").startswith("Query OK, 0 rows affected")
    assert ask("alter table v add column c int").startswith("Query OK, 0 rows affected")


def test_a_table_and_its_columns_keep_their_character_sets(ask: Callable[[str], str]) -> None:
    ask("create database cs")
    ask("use cs")
    ask("create table t (id int primary key, a varchar(8), b char(3) collate utf8_bin, c bit(10), d decimal) "
        "engine=ndb charset latin1")  # fmt: skip
    ask("alter table t add column e varchar(5)")
    shown = ask("show create table t\\G")
    assert "`a` varchar(8) DEFAULT NULL" in shown
    assert "`b` char(3) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin DEFAULT NULL" in shown
    assert "`d` decimal(10,0)" in shown
    assert "`e` varchar(5) DEFAULT NULL" in shown
    assert shown.count("DEFAULT CHARSET=latin1\n") == 1
    ask("alter table t convert to character set utf8mb4")
    found = ask("select column_name, character_octet_length, numeric_precision, collation_name "
                "from information_schema.columns where table_schema = 'cs'")  # fmt: skip
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.splitlines()[3:-3]]
    assert rows == [
        ["id", "NULL", "10", "NULL"], ["a", "32", "NULL", "utf8mb4_0900_ai_ci"],
        ["b", "12", "NULL", "utf8mb4_0900_ai_ci"], ["c", "NULL", "10", "NULL"], ["d", "NULL", "10", "NULL"],
        ["e", "20", "NULL", "utf8mb4_0900_ai_ci"],
    ]  # fmt: skip
    ask("insert into t (id, c) values (1, b'1010101')")
    assert [line.split() for line in ask("select c, hex(c) from t").splitlines()[3:4]] == [
        ["|", "0x0055", "|", "55", "|"]
    ]
    assert ask("create database cd character set latin1").startswith("ndbplan:")
    assert ask("select 1,").startswith("ERROR 1064")


def test_a_planned_table_keeps_its_content_when_a_column_is_added_online(
    ask: Callable[[str], str], cluster: LiveCluster
) -> None:
    before = next(table for table in cluster.plan.tables if table.name == "blobs_1k")
    assert any(column.average_bytes for column in before.columns)
    sql = "alter table test.blobs_1k add column q int column_format dynamic, algorithm=inplace"
    assert ask(sql).startswith("Query OK, 0 rows affected")
    after = next(table for table in cluster.plan.tables if table.name == "blobs_1k")
    assert after.columns[:-1] == before.columns


def test_bytes_are_typed_as_hexadecimal_numbers_and_binary_is_filled_up(ask: Callable[[str], str]) -> None:
    """Manual, hexadecimal literals, and the BINARY and VARBINARY types."""
    ask("create table b (id int primary key, v varbinary(4), f binary(4), n bit(8)) engine=ndb")
    assert ask("insert into b values (1, 0x6162, X'61', b'11')") == "Query OK, 1 row affected (0.00 sec)\n"
    assert "| 6162   | 61000000 |         4 |" in ask(
        "select hex(v), hex(f), length(f) from b where v = 0x6162"
    )
    assert ask("select id from b where f = 'a'").startswith("Empty set")
    assert "|     97 |" in ask("select 0x60+1")
    assert ask("insert into b (id, v) values (2, 0xFF)").startswith("ndbplan:")
    assert ask("insert into b (id, v) values (2, unhex('FF'))").startswith("ndbplan:")


def test_a_server_that_knows_the_engine_of_a_tablespace_warns_of_it_or_refuses_it(
    begun: Callable[[str], LiveCluster],
) -> None:
    """8.4: warned about (1681) in ADD DATAFILE, not allowed in DROP DATAFILE and DROP TABLESPACE (1149)."""
    for version in ("8.4.8", "7.4.10"):
        consoles, is_new = Consoles(begun(version)), version > "8"

        def ask(line: str, consoles: Consoles = consoles) -> str:
            return consoles.answer(f"mysql> {line};")

        ask("create logfile group lg add undofile 'u.dat' engine ndb")
        ask("create tablespace ts add datafile 'd1.dat' use logfile group lg engine ndb")
        added = ask("alter tablespace ts add datafile 'd2.dat' engine ndb")
        assert (", 1 warning " in added) == is_new
        assert ("| Warning | 1681 |" in ask("show warnings")) == is_new
        for line in (
            "alter tablespace ts drop datafile 'd2.dat' engine ndb",
            "drop tablespace ts engine ndb",
        ):
            assert ask(line).startswith("ERROR 1149 (42000)") == is_new


def test_ndb_checks_and_repairs_no_table(begun: Callable[[str], LiveCluster]) -> None:
    """8.4.8: a note for CHECK and REPAIR, a status of OPTIMIZE and ANALYZE."""
    consoles = Consoles(begun("8.4.8"))
    for line in ("use test", "create table tc (a int primary key) engine=ndb"):
        consoles.answer(f"mysql> {line};")
    for verb, said in (("check", "note"), ("repair", "note"), ("optimize", "status"), ("analyze", "status")):
        assert f"| test.tc | {verb} " in (answer := consoles.answer(f"mysql> {verb} table tc;"))
        assert f"| {said} " in answer
        assert (f"doesn't support {verb} |" in answer) == (said == "note")


OLDER_TYPES = [
    ("id INT(11) PRIMARY KEY",
     (1681, "Integer display width is deprecated and will be removed in a future release.")),
    ("id INT PRIMARY KEY, t TINYINT(1), d DECIMAL(5,2)", None),
    ("id INT PRIMARY KEY, d DECIMAL(5,2) UNSIGNED, n INT UNSIGNED",
     (1681, "UNSIGNED for decimal and floating point data types is deprecated and support for it will be")),
    ("id INT PRIMARY KEY, y YEAR(4)",
     (1287, "'YEAR(4)' is deprecated and will be removed in a future release. Please use YEAR instead")),
    ("id INT PRIMARY KEY, c CHAR(2) CHARACTER SET utf8",
     (3719, "'utf8' is currently an alias for the character set")),
    ("id INT PRIMARY KEY, b INT, KEY i (b), KEY i2 (b), UNIQUE u (b)",
     (1831, "Duplicate index 'i2' defined on the table 'test.older'. This is deprecated")),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "warning"), OLDER_TYPES)
def test_older_types_and_doubled_indexes_are_warned_of(
    begun: Callable[[str], LiveCluster], columns: str, warning: tuple[int, str] | None
) -> None:
    for version in ("8.4.8", "7.4.10"):
        cluster, client = begun(version), Client()
        client.answer("USE test", cluster)
        said = client.answer(f"CREATE TABLE older ({columns}) ENGINE=NDB", cluster)
        is_new = version == "8.4.8"
        told = warning is not None and (is_new or warning[0] == 1831)
        assert said.startswith(f"Query OK, 0 rows affected{', 1 warning' * told} ("), version
        shown = client.answer("SHOW WARNINGS", cluster)
        assert not told or warning is None or f"| {warning[0]} | {warning[1]}" in shown
        assert ("Note " in shown) is (told and not is_new)


REFUSED_WORDS = [
    ("CREATE TABLE x (a INT, PRIMARY KEY (nosuch)) ENGINE=NDB",
     "1072 (42000): Key column 'nosuch' doesn't exist in table"),
    ("CREATE TABLE x ENGINE=NDB", "4028 (HY000): A table must have at least one visible column."),
    ("CREATE TABLE x (a DECIMAL(5,10)) ENGINE=NDB",
     "1427 (42000): For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column 'a')."),
    ("CREATE TABLE x (a DECIMAL(40,35)) ENGINE=NDB",
     "1425 (42000): Too big scale 35 specified for column 'a'. Maximum is 30."),
    ("CREATE TABLE x (a TIMESTAMP(9)) ENGINE=NDB",
     "1426 (42000): Too-big precision 9 specified for 'a'. Maximum is 6."),
    ("CREATE TABLE x (a BIT(65)) ENGINE=NDB",
     "1439 (42000): Display width out of range for column 'a' (max = 64)"),
    ("CREATE TABLE x (a CHAR(2) CHARACTER SET nosuch) ENGINE=NDB",
     "1115 (42000): Unknown character set: 'nosuch'"),
    ("CREATE TABLE x (a CHAR(2) COLLATE nosuch) ENGINE=NDB", "1273 (HY000): Unknown collation: 'nosuch'"),
    ("CREATE TABLE x (a CHAR(2) CHARACTER SET latin1 COLLATE utf8mb4_bin) ENGINE=NDB",
     "1253 (42000): COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'"),
    ("ALTER TABLE blobs_1k ALGORITHM=FOO, ADD COLUMN id INT", "1800 (HY000): Unknown ALGORITHM 'FOO'"),
    ("ALTER TABLE blobs_1k ADD COLUMN id INT, LOCK=FOO", "1801 (HY000): Unknown LOCK type 'FOO'"),
    ("ALTER TABLE blobs_1k ADD COLUMN q INT, ALGORITHM=INSTANT",
     "1845 (0A000): ALGORITHM=INSTANT is not supported for this operation. Try ALGORITHM=COPY/INPLACE."),
    ("CREATE FULLTEXT INDEX f ON blobs_1k (data1)",
     "1214 (HY000): The used table type doesn't support FULLTEXT indexes"),
    ("CREATE TABLE x (a INT PRIMARY KEY, b INT, KEY (b) USING HASH) ENGINE=NDB",
     "1005 (HY000): Can't create table 'x' (use SHOW WARNINGS for more info)."),
    ("SET NAMES nosuch", "1115 (42000): Unknown character set: 'nosuch'"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "error"), REFUSED_WORDS)
def test_words_are_refused_in_those_of_the_server(cluster: LiveCluster, line: str, error: str) -> None:
    client = Client()
    client.answer("USE test", cluster)
    assert client.answer(line, cluster) == f"ERROR {error}\n"


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("CREATE TABLE x (a INT) ENGINE=NDB NOSUCH=1", "NOSUCH=1"),
        ("CREATE TABLE x (a INT) ENGINE=NDB AUTO_INCREMENT=y", "y"),
        ("CREATE TABLE x (a ENUM()) ENGINE=NDB", ")) ENGINE=NDB"),
        ("SET SESSION TRANSACTION ISOLATION LEVEL NOSUCH", "NOSUCH"),
        ("SHOW CREATE TABLE a b", "b"),
    ],
)
def test_words_that_no_server_reads_are_named(cluster: LiveCluster, line: str, near: str) -> None:
    client = Client()
    client.answer("USE test", cluster)
    said = client.answer(line, cluster)
    assert said.startswith("ERROR 1064 (42000)")
    assert f"near '{near}' at line 1" in said


def test_defaults_and_names_are_written_as_the_server_writes_them(cluster: LiveCluster) -> None:
    client = Client()
    client.answer(
        "CREATE TABLE test.`t p` (`a b` INT PRIMARY KEY, t DATETIME(3) DEFAULT NOW(3), "
        "d DATE DEFAULT (CURRENT_DATE), u TIMESTAMP DEFAULT CURRENT_TIMESTAMP() ON UPDATE NOW()) ENGINE=NDB",
        cluster,
    )
    said = client.answer("SHOW CREATE TABLE test.`t p`", cluster)
    for line in (
        "CREATE TABLE `t p` (",
        "`t` datetime(3) DEFAULT CURRENT_TIMESTAMP(3),",
        "`d` date DEFAULT (curdate()),",
        "`u` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,",
    ):
        assert line in said


def test_newer_words_are_no_words_of_older_servers(begun: Callable[[str], LiveCluster]) -> None:
    """Manuals of 5.7 (RENAME INDEX) and 8.0 (RENAME COLUMN, defaults that are worked out since 8.0.13)."""
    lines = (
        ("ALTER TABLE n RENAME COLUMN b TO c", "COLUMN b TO c"),
        ("ALTER TABLE n RENAME INDEX b TO c", "INDEX b TO c"),
        ("CREATE TABLE m (a INT PRIMARY KEY, d INT DEFAULT (1+1)) ENGINE=NDB", "(1+1)) ENGINE=NDB"),
    )
    for version, known in (
        ("7.4.10", (False, False, False)),
        ("7.6", (False, True, False)),
        ("8.4.8", (True, True, True)),
    ):
        cluster, client = begun(version), Client()
        client.answer("USE test", cluster)
        client.answer("CREATE TABLE n (a INT PRIMARY KEY, b INT, KEY b (b)) ENGINE=NDB", cluster)
        for (line, near), is_known in zip(lines, known, strict=True):
            said = client.answer(line, cluster)
            assert said.startswith("ERROR 1064 (42000)") is not is_known, (version, line)
            assert is_known or f"near '{near}' at line 1" in said


def test_disk_without_a_tablespace_is_refused_in_words_that_are_known(
    begun: Callable[[str], LiveCluster],
) -> None:
    line = "CREATE TABLE test.dd (a INT PRIMARY KEY, b INT STORAGE DISK) ENGINE NDB"
    assert (
        Client().answer(line, begun("8.4.8")).startswith("ERROR 1005 (HY000): Can't create table 'dd' (use")
    )
    assert Client().answer(line, begun("7.4.10")).startswith("ndbplan: in which words this release refuses")


CUT_SHORT = (
    "drop", "drop column", "drop index", "drop key", "drop foreign key", "drop check", "drop constraint",
    "drop primary", "drop partition", "add", "add column", "add index", "add unique key u", "add primary key",
    "add constraint", "add constraint c", "add foreign key", "modify", "modify k", "modify column k",
    "change k", "change k k2", "rename to", "rename index k", "rename index k to", "rename column k",
    "alter", "alter k",
    "alter column k", "alter k set", "alter k set default", "alter column k drop", "convert", "convert to",
    "convert to character set", "order by", "reorganize partition p0", "engine", "comment =", "algorithm =",
)  # fmt: skip


def test_a_change_that_ends_too_early_is_a_syntax_error_at_the_end(ask: Callable[[str], str]) -> None:
    """sql_yacc.yy of 8.4: none of these is a whole change."""
    ask("create table c1 (id int primary key, k int, key k (k)) engine=ndb")
    before = ask("show create table c1")
    for change in (*CUT_SHORT, "add z int, drop index"):
        assert ask(f"alter table c1 {change}").endswith("to use near '' at line 1\n"), change
    assert ask("show create table c1") == before
    for change in ("drop k", "add k int", "rename column k to c", "order by id", "alter c set default 1"):
        assert ask(f"alter table c1 {change}").startswith("Query OK"), change


def test_a_constraint_that_nothing_has_is_not_dropped(begun: Callable[[str], LiveCluster]) -> None:
    for version, said in (
        ("8.4", "ERROR 3940 (HY000): Constraint 'nosuch' does not exist."),
        ("7.4", "ERROR 1064"),
    ):
        consoles = Consoles(begun(version))
        consoles.answer("mysql> use test; create table c1 (id int primary key) engine=ndb;")
        assert consoles.answer("mysql> alter table c1 drop constraint nosuch;").startswith(said)
        assert "1064" in consoles.answer("mysql> alter table c1 drop constraint;")
