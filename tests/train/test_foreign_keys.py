"""Foreign keys at the consoles: answers as recorded on running servers, and what they do to rows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

Ask = Callable[[str], str]
PARENT = "create table parent (id int primary key, u int not null, unique key (u)) engine=ndb"
CHILD = (
    "create table child (id int primary key, pid int not null, key(pid), "
    "constraint fk_pid foreign key (pid) references parent(id)) engine=ndb"
)
CASCADING = (
    "create table tx (p int primary key, foreign key (p) references parent(id) on delete cascade) engine=ndb"
)
FOLLOWING = (
    "create table ty (p int primary key, x int, "
    "foreign key (x) references parent(u) on delete set null on update cascade) engine=ndb"
)
OF_CHILD = (
    "(`test`.`child`, CONSTRAINT `fk_pid` FOREIGN KEY (`pid`) REFERENCES `parent` (`id`) "
    "ON DELETE NO ACTION ON UPDATE NO ACTION)"
)
NO_PARENT = "ERROR 1452 (23000): Cannot add or update a child row: a foreign key constraint fails"
IN_USE = "ERROR 1451 (23000): Cannot delete or update a parent row: a foreign key constraint fails"


def _asks(cluster: LiveCluster) -> Ask:
    consoles = Consoles(cluster)
    consoles.answer("mysql> use test")
    return lambda sql: consoles.answer(f"mysql> {sql};")


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    asks = _asks(cluster)
    for made in (PARENT, CHILD, "insert into parent values (1,10),(2,20)", "insert into child values (1,1)"):
        assert asks(made).startswith("Query OK")
    return asks


@pytest.fixture
def ask_older(begun: Callable[[str], LiveCluster]) -> Ask:
    asks = _asks(begun("7.4.10"))
    for made in (PARENT, CHILD, "insert into parent values (1,10),(2,20)", "insert into child values (1,1)"):
        assert asks(made).startswith("Query OK")
    return asks


REFUSED = [
    ("delete from parent where id=1", f"{IN_USE} {OF_CHILD}"),
    ("insert into child values (2,999)", f"{NO_PARENT} {OF_CHILD}"),
    ("update child set pid=999 where id=1", f"{NO_PARENT} {OF_CHILD}"),
    ("drop table parent",
     "ERROR 3730 (HY000): Cannot drop table 'parent' referenced by a foreign key constraint 'fk_pid' on "
     "table 'child'."),
    ("truncate parent",
     "ERROR 1701 (42000): Cannot truncate a table referenced in a foreign key constraint (`test`.`child`, "
     "CONSTRAINT `fk_pid`)"),
    ("alter table child drop index pid",
     "ERROR 1553 (HY000): Cannot drop index 'pid': needed in a foreign key constraint"),
    ("alter table child drop column pid",
     "ERROR 1828 (HY000): Cannot drop column 'pid': needed in a foreign key constraint 'fk_pid'"),
    ("alter table parent drop column id",
     "ERROR 1829 (HY000): Cannot drop column 'id': needed in a foreign key constraint 'fk_pid' of table "
     "'child'"),
    ("alter table child drop foreign key nix",
     "ERROR 1091 (42000): Can't DROP 'nix'; check that column/key exists"),
    ("create table t (a int primary key, constraint fk_n foreign key (a) references parent(nix)) engine=ndb",
     "ERROR 3734 (HY000): Failed to add the foreign key constraint. Missing column 'nix' for constraint "
     "'fk_n' in the referenced table 'parent'"),
    ("create table t (a int primary key, foreign key (a) references nix(a)) engine=ndb",
     "ERROR 1824 (HY000): Failed to open the referenced table 'nix'"),
    ("create table t (a bigint primary key, foreign key (a) references parent(id)) engine=ndb",
     "ERROR 3780 (HY000): Referencing column 'a' and referenced column 'id' in foreign key constraint "
     "'t_fk_1' are incompatible."),
    ("create table t (a int primary key, foreign key (a) references child(pid)) engine=ndb",
     "ERROR 6125 (HY000): Failed to add the foreign key constraint. Missing unique key for constraint "
     "'t_fk_1' in the referenced table 'child'"),
    ("create table t (a int primary key, foreign key (a) references parent(nix)) engine=ndb",
     "ERROR 3734 (HY000): Failed to add the foreign key constraint. Missing column 'nix' for constraint "
     "'t_fk_1' in the referenced table 'parent'"),
    ("create table t (a int primary key, constraint fk_pid foreign key (a) references parent(id)) engine=ndb",
     "ERROR 1826 (HY000): Duplicate foreign key constraint name 'fk_pid'"),
    ("alter table child add foreign key (id) references parent(id) on update cascade",
     "ERROR 1215 (HY000): Cannot add foreign key constraint"),
]  # fmt: skip


def test_what_a_foreign_key_forbids_is_refused_in_the_words_of_the_server(ask: Ask) -> None:
    assert [ask(sql) for sql, _ in REFUSED] == [f"{said}\n" for _, said in REFUSED]
    assert "|        2 |" in ask("select count(*) from parent")


OLDER = [
    ("delete from parent where id=1", f"{IN_USE} (Unknown error code)"),
    ("insert into child values (2,999)", f"{NO_PARENT} (Unknown error code)"),
    ("drop table parent",
     "ERROR 1217 (23000): Cannot delete or update a parent row: a foreign key constraint fails"),
    ("create table t (a int primary key, foreign key (a) references nix(a)) engine=ndb",
     "ERROR 1215 (HY000): Cannot add foreign key constraint"),
]  # fmt: skip


def test_an_older_server_says_less_of_them(ask_older: Ask) -> None:
    assert [ask_older(sql) for sql, _ in OLDER] == [f"{said}\n" for _, said in OLDER]
    whole = "REFERENCES `parent` (`id`) ON DELETE NO ACTION ON UPDATE NO ACTION\n) ENGINE"
    assert whole in ask_older("show create table child")
    ask_older("insert into child values (2,999)")
    rows = ask_older("show warnings").splitlines()[3:6]
    assert [row.split(" | ")[0:2] for row in rows] == [
        ["| Warning", "1296"], ["| Error  ", "1452"], ["| Error  ", "1180"]
    ]  # fmt: skip


def test_rows_follow_the_rows_that_they_refer_to(ask: Ask) -> None:
    for sql in (CASCADING, FOLLOWING, "insert into tx values (2)", "insert into ty values (1,20),(2,null)"):
        assert ask(sql).startswith("Query OK")
    ask("update parent set u=21 where id=2")
    assert "| 1 |   21 |" in ask("select * from ty")
    assert ask("begin").startswith("Query OK")
    assert ask("delete from parent where id=2") == "Query OK, 1 row affected (0.00 sec)\n"
    assert "| 1 | NULL |" in ask("select * from ty")
    assert ask("select * from tx").startswith("Empty set")
    ask("rollback")
    assert "| 1 |   21 |" in ask("select * from ty")
    assert "| 2 |" in ask("select * from tx")


def test_names_and_actions_stand_where_the_server_shows_them(ask: Ask) -> None:
    ask(CASCADING)
    ask("rename table tx to tz")
    ask("rename table parent to mother")
    line = "  CONSTRAINT `tz_fk_1` FOREIGN KEY (`p`) REFERENCES `mother` (`id`) ON DELETE CASCADE\n) ENGINE"
    assert line in ask("show create table tz")
    shown = ask("select name, parent_table, child_columns, child_index, on_delete_action "
                "from ndbinfo.foreign_keys")  # fmt: skip
    numbers = ask("select id from ndbinfo.dict_obj_info where fq_name in "
                  "('test/def/mother','test/def/child') order by fq_name")  # fmt: skip
    child, mother = (row.strip("| ") for row in numbers.splitlines()[3:5])
    assert f"{mother}/{child}/fk_pid" in shown
    assert "| test/def/mother | 0             | PK          | Cascade          |" in shown


def test_without_the_checks_all_of_it_goes(ask: Ask) -> None:
    ask("set foreign_key_checks=0")
    assert ask("insert into child values (2,999)").startswith("Query OK")
    assert ask("drop table parent").startswith("Query OK")
    ask("set foreign_key_checks=1")
    # What was made in its place has not the column; what refers to it is not told as if it had.
    assert ask("create table parent (other int primary key) engine=ndb").startswith("Query OK")
    assert ask("insert into parent values (1)").startswith("Query OK")
    assert ask("insert into child values (3,1)").startswith("ndbplan: ")
    assert ask("alter table child drop foreign key fk_pid").startswith("Query OK")
    assert "CONSTRAINT" not in ask("show create table child")


def test_a_key_is_not_added_to_rows_that_do_not_meet_it(ask: Ask) -> None:
    for sql in ("create table t (a int primary key, b int) engine=ndb", "insert into t values (1,1),(2,9)"):
        ask(sql)
    refused = "ERROR 1215 (HY000): Cannot add foreign key constraint\n"
    assert ask("alter table t add foreign key (b) references parent(id)") == refused
    ask("delete from t where b=9")
    assert ask("alter table t add foreign key (b) references parent(id)").startswith("Query OK")


def test_an_older_server_drops_what_is_there_and_says_what_is_not(ask: Ask, ask_older: Ask) -> None:
    for one, left in ((ask, True), (ask_older, False)):
        assert one("drop table child, nix") == "ERROR 1051 (42S02): Unknown table 'test.nix'\n"
        assert ("child" in one("show tables")) is left


def test_ndb_desc_tells_foreign_keys_of_the_table_that_has_them(cluster: LiveCluster) -> None:
    """Form: "Pro MySQL NDB Cluster", listing 18-10, and NdbDictionary.cpp."""
    asks = _asks(cluster)
    for made in (PARENT, CHILD, CASCADING, FOLLOWING):
        assert asks(made).startswith("Query OK")

    def told(name: str) -> list[str]:
        answer = Consoles(cluster).answer(f"data1$ ndb_desc -d test {name}")
        _, heading, keys = answer.partition("-- ForeignKeys --\n")
        return keys.split("\n\n")[0].splitlines() if heading else []

    number = {
        name: asks(f"select id from ndbinfo.dict_obj_info where fq_name = 'test/def/{name}'")
        .split("|")[3]
        .strip()
        for name in ("parent", "child", "tx", "ty")
    }
    of = number["parent"]
    assert told("child") == [
        f"{of}/{number['child']}/fk_pid pid (pid) REFERENCES test.parent/PRIMARY KEY () "
        "on update noaction on delete noaction"
    ]
    assert told("tx") == [
        f"{of}/{number['tx']}/tx_fk_1 PRIMARY KEY (p) REFERENCES test.parent/PRIMARY KEY () "
        "on update noaction on delete cascade"
    ]
    assert told("ty") == [
        f"{of}/{number['ty']}/ty_fk_1 x (x) REFERENCES test.parent/u$unique () "
        "on update cascade on delete set null"
    ]
    assert told("parent") == []
