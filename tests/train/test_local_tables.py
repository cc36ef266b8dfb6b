"""Tables of InnoDB at a server: answers as recorded on running servers, and who knows them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

Ask = Callable[[str], str]
MADE = "create table tinno (id int primary key, v int) engine=InnoDB"


def asks(cluster: LiveCluster) -> Ask:
    consoles = Consoles(cluster)
    consoles.answer("mysql> use test")
    return lambda line: consoles.answer(line if line.startswith("!") else f"mysql> {line};")


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    one = asks(cluster)
    assert one(MADE) == "Query OK, 0 rows affected (0.00 sec)\n"
    return one


def test_it_is_shown_as_one_of_the_server(ask: Ask) -> None:
    assert ask("show create table tinno").count("ENGINE=InnoDB DEFAULT CHARSET=utf8mb4") == 1
    status = [row.split() for row in ask("show table status like 'tinno'").splitlines() if "tinno" in row]
    assert status[0][1:16:2] == ["tinno", "InnoDB", "10", "Dynamic", "0", "0", "16384", "0"]
    assert ask("optimize table tinno").count("doing recreate + analyze instead") == 1
    refused = "ERROR 1505 (HY000): Partition management on a not partitioned table is not possible\n"
    assert ask("alter table tinno reorganize partition") == refused
    assert "tinno" not in ask("select table_name from ndbinfo.dictionary_tables")


def test_its_rows_lie_by_their_keys_and_fail_without_ndb(ask: Ask) -> None:
    ask("insert into tinno values (30,1),(4,2)")
    first = ask("select * from tinno").splitlines()[3]
    assert first.split() == ["|", "4", "|", "2", "|"]
    assert ask("insert into tinno values (5,5),(4,9)").startswith("ERROR 1062 (23000): Duplicate entry '4'")
    assert "1296" not in ask("show warnings")
    ask("begin")
    ask("delete from tinno")
    ask("rollback")
    assert "|        2 |" in ask("select count(*) from tinno")


def test_it_moves_to_the_data_nodes_and_back_with_its_rows(ask: Ask) -> None:
    ask("insert into tinno values (1,10),(2,20)")
    moved = "Query OK, 2 rows affected (0.20 sec)\nRecords: 2  Duplicates: 0  Warnings: 0\n\n"
    assert ask("alter table tinno engine=ndb") == moved
    assert "ENGINE=ndbcluster" in ask("show create table tinno")
    assert "tinno" in ask("select table_name from ndbinfo.dictionary_tables")
    assert "|   30 |" in ask("select sum(v) v from tinno")
    assert ask("alter table tinno engine=innodb") == moved
    assert "ENGINE=InnoDB" in ask("show create table tinno")
    assert "|   30 |" in ask("select sum(v) v from tinno")


def test_a_table_without_an_engine_is_one_of_the_server(ask: Ask) -> None:
    ask("create table t (a int)")
    assert "ENGINE=InnoDB" in ask("show create table t")
    ask("set default_storage_engine=ndb")
    ask("create table u (a int)")
    assert "ENGINE=ndbcluster" in ask("show create table u")
    # The database of ndbinfo takes tables of the server, and keeps its own names.
    assert ask("create table ndbinfo.x (a int) engine=innodb").startswith("Query OK")
    refused = "ERROR 1050 (42S01): Table 'x' already exists\n"
    assert ask("create table ndbinfo.x (a int) engine=ndbinfo") == refused
    assert ask("insert into ndbinfo.x values (1)").startswith("Query OK, 1 row")


def test_it_goes_on_without_the_cluster_and_no_other_server_has_it(cluster: LiveCluster, ask: Ask) -> None:
    ask("create table tndb (id int primary key) engine=ndb")
    for node in cluster.plan.data_nodes:
        ask(f"! kill node:{node.node_id}")
    ask("! wait 2s")
    assert ask("insert into tinno values (1,1)") == "Query OK, 1 row affected (0.00 sec)\n"
    assert ask("insert into tndb values (1)").startswith("ERROR 129")
    assert ask("create table t (a int) engine=innodb").startswith("Query OK, 0 rows affected, 2 warnings")
    assert "|        1 |" in ask("select count(*) from tinno")
    assert ask("create database late").startswith("Query OK")
    assert "late" in ask("show databases")
    assert ask("drop table t").startswith("Query OK")


def test_a_name_too_long_is_refused_and_numbers_come_in_blocks(ask: Ask) -> None:
    name = "n" * 65
    refused = f"ERROR 1059 (42000): Identifier name '{name}' is too long\n"
    assert ask(f"create table {name} (a int) engine=ndb") == refused
    for engine, following in (("ndb", 513), ("innodb", 3)):
        ask(f"create table a_{engine} (id int auto_increment primary key, t int) engine={engine}")
        ask(f"insert into a_{engine} (t) values (1),(2)")
        assert f" AUTO_INCREMENT={following} " in ask(f"show create table a_{engine}")
    ask("create table b like a_ndb")
    assert "AUTO_INCREMENT=" not in ask("show create table b")
