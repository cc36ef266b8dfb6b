"""CREATE TABLE of NDB: what is taken with a warning and what is refused, as recorded on running servers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ndbplan.edits.parameters import set_parameter
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client

from .conftest import two_by_two

Ask = Callable[[str], str]
WARNED = "Query OK, 0 rows affected, 1 warning (0.20 sec)\n"
OK = "Query OK, 0 rows affected (0.20 sec)\n"


def asks(cluster: LiveCluster) -> Ask:
    consoles = Consoles(cluster)
    consoles.answer("mysql> use test")
    return lambda sql: consoles.answer(f"mysql> {sql};")


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    return asks(cluster)


@pytest.fixture
def ask_older(begun: Callable[[str], LiveCluster]) -> Ask:
    return asks(begun("7.4.10"))


TAKEN = [
    ("partition by list(a) (partition p0 values in (1))", WARNED,
     "/*!50100 PARTITION BY LIST (`a`)\n(PARTITION p0 VALUES IN (1) ENGINE = ndbcluster) */"),
    ("partition by range(a) (partition p0 values less than (10), partition p1 values less than (20))", WARNED,
     "/*!50100 PARTITION BY RANGE (`a`)\n(PARTITION p0 VALUES LESS THAN (10) ENGINE = ndbcluster,\n"
     " PARTITION p1 VALUES LESS THAN (20) ENGINE = ndbcluster) */"),
    ("partition by hash(a) partitions 2", WARNED, "/*!50100 PARTITION BY HASH (`a`)\nPARTITIONS 2 */"),
    ("partition by linear key(a) partitions 3", OK,
     "/*!50100 PARTITION BY LINEAR KEY (a)\nPARTITIONS 3 */"),
    ("connection='x'", OK, "COLLATE=utf8mb4_0900_ai_ci CONNECTION='x'"),
    ("comment='mine'", OK, "COLLATE=utf8mb4_0900_ai_ci COMMENT='mine'"),
]  # fmt: skip


@pytest.mark.parametrize(("behind", "answer", "shown"), TAKEN)
def test_what_a_table_says_of_itself_is_shown_as_the_server_writes_it(
    ask: Ask, behind: str, answer: str, shown: str
) -> None:
    assert ask(f"create table tx (a int primary key) engine=ndb {behind}") == answer
    assert shown in ask("show create table tx")
    # It stays when a column comes.
    assert ask("alter table tx add column later int").startswith("Query OK")
    assert shown in ask("show create table tx")


def test_partitions_of_values_take_rows_that_they_have_a_place_for(ask: Ask) -> None:
    ask("create table tx (a int primary key) engine=ndb partition by list(a) "
        "(partition p0 values in (1, 7), partition p1 values in (2))")  # fmt: skip
    assert (
        "6035 | 'PARTITION BY LIST' for 'ndbcluster' storage engine is deprecated and will be removed in a "
        "future release."
    ) in ask("show warnings")
    assert ask("insert into tx values (7)").startswith("Query OK, 1 row")
    refused = "ERROR 1526 (HY000): Table has no partition for value 5\n"
    assert ask("insert into tx values (5)") == ask("update tx set a=5") == refused


REFUSED = [
    ("(a int primary key, b text, fulltext(b))",
     "1214 (HY000): The used table type doesn't support FULLTEXT indexes"),
    ("(a int primary key, c int, index (c desc))",
     "1178 (42000): The storage engine for the table doesn't support descending indexes"),
    ("(a int primary key, b text, key(b))",
     "1073 (42000): BLOB column 'b' can't be used in key specification with the used table type"),
    ("(a int, b int, key k(a), key k(b))", "1061 (42000): Duplicate key name 'k'"),
    ("(a int primary key, primary key(a))", "1068 (42000): Multiple primary key defined"),
    ("(a int auto_increment)",
     "1075 (42000): Incorrect table definition; there can be only one auto column and it must be defined as "
     "a key"),
    ("(a int, key (nix))", "1072 (42000): Key column 'nix' doesn't exist in table"),
    ("(a int default 'abc')", "1067 (42000): Invalid default value for 'a'"),
    ("(a int not null default null)", "1067 (42000): Invalid default value for 'a'"),
    ("(a char(300))",
     "1074 (42000): Column length too big for column 'a' (max = 255); use BLOB or TEXT instead"),
    ("(a varchar(20000))",
     "1074 (42000): Column length too big for column 'a' (max = 16383); use BLOB or TEXT instead"),
    ("(a decimal(70,2))", "1426 (42000): Too-big precision 70 specified for 'a'. Maximum is 65."),
    ("(a enum('x','x'))", "1291 (HY000): Column 'a' has duplicated value 'x' in ENUM"),
]  # fmt: skip


def test_columns_and_keys_that_a_server_refuses(ask: Ask) -> None:
    answers = [ask(f"create table tx {columns} engine=ndb") for columns, _ in REFUSED]
    assert answers == [f"ERROR {said}\n" for _, said in REFUSED]


PARTITIONS = [
    ("key(b)", "1503 (HY000): A PRIMARY KEY must include all columns in the table's partitioning function "
     "(prefixed columns are not considered)."),
    ("key(nix)", "1488 (HY000): Field in list of fields for partition function not found in table"),
    ("key(a) partitions 0", "1504 (HY000): Number of partitions = 0 is not an allowed value"),
    ("key(a) partitions 400", "1005 (HY000): Can't create table 'tx' (use SHOW WARNINGS for more info)."),
    ("range(a)", "1492 (HY000): For RANGE partitions each partition must be defined"),
    ("range(a) (partition p0 values in (1))",
     "1480 (HY000): Only LIST PARTITIONING can use VALUES IN in partition definition"),
    ("range(a) (partition p0 values less than (9), partition p1 values less than (5))",
     "1493 (HY000): VALUES LESS THAN value must be strictly increasing for each partition"),
    ("list(a) (partition p0 values in (1), partition p1 values in (1))",
     "1495 (HY000): Multiple definition of same constant in list partitioning"),
    ("list(a) (partition p0 values in (1), partition p0 values in (2))",
     "1517 (HY000): Duplicate partition name p0"),
]  # fmt: skip


def test_partitions_that_a_server_refuses(ask: Ask) -> None:
    made = "create table tx (a int primary key, b int) engine=ndb partition by"
    assert [ask(f"{made} {by}") for by, _ in PARTITIONS] == [f"ERROR {said}\n" for _, said in PARTITIONS]


TOO_LARGE = [
    ("a int primary key, b varchar(9000)",
     "1005 (HY000): Can't create table 'tx' (use SHOW WARNINGS for more info)."),
    ("a varchar(769) primary key", "1071 (42000): Specified key was too long; max key length is 3072 bytes"),
    ("a int primary key, b varchar(70000)",
     "1074 (42000): Column length too big for column 'b' (max = 16383); use BLOB or TEXT instead"),
    ("a int primary key, b varchar(70000) character set latin1",
     "1074 (42000): Column length too big for column 'b' (max = 65535); use BLOB or TEXT instead"),
]  # fmt: skip


def test_a_table_that_is_too_large_is_refused(ask: Ask, ask_older: Ask) -> None:
    for columns, said in TOO_LARGE:
        assert ask(f"create table tx ({columns}) engine=ndb") == f"ERROR {said}\n"
    ask(f"create table tx ({TOO_LARGE[0][0]}) engine=ndb")
    assert "| Warning | 1296 | Got error 738 'Record too big' from NDB" in ask("show warnings")
    larger = "create table tx (a int primary key, b varchar(14001)) engine=ndb"
    assert ask_older(larger).startswith("ERROR 1031 (HY000)")
    assert ask("create table tx (a int primary key, b varchar(7000)) engine=ndb") == OK


def test_a_setting_of_ndb_that_there_is_not_is_refused_or_warned_of(ask: Ask, ask_older: Ask) -> None:
    made = "create table tx (a int primary key) engine=ndb comment='NDB_TABLE=NOSUCH=1'"
    assert ask(made) == (
        "ERROR 1478 (HY000): Table storage engine 'ndbcluster' does not support the create option 'Syntax "
        "error in COMMENT modifier'\n"
    )
    assert ask_older(made) == WARNED
    for one in (ask, ask_older):
        assert "| Warning | 1478 | NDB_TABLE= : unknown modifier: NOSUCH=1" in one("show warnings")


def test_an_older_server_has_other_partitions_only_if_it_is_told_so(ask_older: Ask) -> None:
    made = "create table tx (a int primary key) engine=ndb partition by hash(a) partitions 2"
    assert ask_older(made).startswith("ERROR 1112 (42000): Table 'tx' uses an extension")
    many = "create table tx (a int primary key) engine=ndb partition by key(a) partitions 400"
    assert ask_older(many).startswith("ERROR 1031 (HY000)")
    # It does not look at the order of an index, nor does it know JSON.
    assert ask_older("create table tx (a int primary key, c int, index (c desc)) engine=ndb") == OK
    assert "near 'json) engine=ndb'" in ask_older("create table ty (a json) engine=ndb")


def _no_more(version: str, **parameters: int) -> list[str]:
    """What the first CREATE TABLE is told that a cluster with these settings refuses, and what was inside."""
    plan = two_by_two(version)
    for name, value in parameters.items():
        plan = set_parameter(plan, "data_node", name, value)
    answer = asks(LiveCluster.begin(plan, hours=0.2))
    using = " using hash" if version.startswith("7") else ""
    for number in range(60):
        said = answer(f"create table t{number} (a int, b int, primary key (a){using}) engine=ndb")
        if said.startswith("ERROR"):
            return [said, answer("show warnings")]
    return []


def test_tables_beyond_the_dictionary_are_refused_as_recorded() -> None:
    """8.4.8: 1005 with 708 inside, 1114 with 904; 7.4.10: 1296 with 707."""
    said, warned = _no_more("8.4.8", MaxNoOfAttributes=120)
    assert said.startswith("ERROR 1005 (HY000): Can't create table 't")
    assert (
        "Got error 708 'No more attribute metadata records (increase MaxNoOfAttributes)' from NDB" in warned
    )
    assert "Failed to commit NDB schema transaction" in warned
    said, warned = _no_more("8.4.8", MaxNoOfOrderedIndexes=10)
    assert said.startswith("ERROR 1114 (HY000): The table 't")
    assert "Got error 904 " in warned
    said, _ = _no_more("7.4.10", MaxNoOfTables=20, MaxNoOfOrderedIndexes=10, MaxNoOfUniqueHashIndexes=5)
    assert said == (
        "ERROR 1296 (HY000): Got error 707 'No more table metadata records (increase MaxNoOfTables)' "
        "from NDBCLUSTER\n"
    )
    assert not _no_more("8.4.8", MaxNoOfTables=40)


@pytest.mark.parametrize(
    ("version", "stated", "said"),
    [
        ("8.4.8", {"MaxNoOfOrderedIndexes": 5}, "ERROR 1114 (HY000): The table 'tx' is full\n"),
        (
            "7.4.10",
            {"MaxNoOfTables": 10, "MaxNoOfOrderedIndexes": 8, "MaxNoOfUniqueHashIndexes": 0},
            "ERROR 707 (HY000): Unknown error 707\n",
        ),
    ],
)
def test_an_index_beyond_the_dictionary_is_refused_as_recorded(
    version: str, stated: dict[str, int], said: str
) -> None:
    plan = two_by_two(version)
    for name, value in stated.items():
        plan = set_parameter(plan, "data_node", name, value)
    answer = asks(LiveCluster.begin(plan, hours=0.2))
    assert answer("create table tx (a int, b int, c int, primary key using hash (a)) engine=ndb") == OK
    answers = [answer(f"create index i{column} on tx ({column})") for column in "bca"]
    assert answers[0].startswith("Query OK")
    assert answers[-1] == said


def test_constraints_are_listed_by_their_names(cluster: LiveCluster) -> None:
    """Manual 8.4, CHECK Constraints: its table, and what SHOW CREATE TABLE says of it."""
    client = Client()
    said = client.answer(
        "create table test.t1 (check (c1 <> c2), c1 int check (c1 > 10), c2 int constraint c2_positive check "
        "(c2 > 0), c3 int check (c3 < 100), constraint c1_nonzero check (c1 <> 0), check (c1 > c3)) "
        "engine=ndb; show create table test.t1", cluster
    )  # fmt: skip
    listed = [line.strip().rstrip(",") for line in said.splitlines() if "CONSTRAINT" in line]
    assert listed == [
        "CONSTRAINT `c1_nonzero` CHECK ((`c1` <> 0))",
        "CONSTRAINT `c2_positive` CHECK ((`c2` > 0))",
        "CONSTRAINT `t1_chk_1` CHECK ((`c1` <> `c2`))",
        "CONSTRAINT `t1_chk_2` CHECK ((`c1` > 10))",
        "CONSTRAINT `t1_chk_3` CHECK ((`c3` < 100))",
        "CONSTRAINT `t1_chk_4` CHECK ((`c1` > `c3`))",
    ]
    columns = "a int check (a > 1) not null, b int check (b > 1) not enforced not null"
    made = f"create table test.n ({columns}) engine=ndb"
    assert client.answer(made, cluster) == OK
    assert client.answer("show create table test.n", cluster).count("NOT NULL,") == 2
    client.answer("drop table test.n", cluster)
    found = client.answer("select * from information_schema.check_constraints", cluster)
    assert "| def                | test              | t1_chk_4        | (`c1` > `c3`)  |" in found
    for line, refused in (
        ("create table test.d (a int, constraint T1_chk_2 check (a > 1)) engine=ndb", "ERROR 3822 (HY000)"),
        ("create table test.d (a int, b int check (a > 1)) engine=ndb", "ERROR 3813 (HY000)"),
        ("create table test.d (a int, check (c > 1)) engine=ndb", "ERROR 3820 (HY000)"),
        ("create table test.d (a int auto_increment key, check (a > 1)) engine=ndb", "ERROR 3818 (HY000)"),
        ("create table test.d (a int, g int as (c + 1) stored) engine=ndb", "ERROR 1054 (42S22)"),
        ("create table test.d (a int, g int as (g + 1) stored) engine=ndb", "ERROR 3107 (HY000)"),
        ("create table test.d (a int auto_increment key, g int as (a) stored) engine=ndb", "ERROR 3109"),
        ("alter table test.t1 engine=innodb", "ndbplan: tables with CHECK"),
        ("alter table test.t1 modify c1 bigint", "ndbplan: of tables with CHECK or generated columns MODIFY"),
    ):
        assert client.answer(line, cluster).startswith(refused), line


def test_constraints_follow_the_name_of_their_table(ask: Ask) -> None:
    """Manual 8.4, RENAME TABLE: all that begin with it do; CREATE TABLE ... LIKE: a copy has its own."""
    ask("create table t1 (a int primary key, b int as (a * 2) stored, c int, check (a > 1), "
        "constraint mine check (c < 9), constraint t1_chk_x check (c > 0) not enforced) "
        "engine=ndb")  # fmt: skip
    ask("insert into t1 (a, c) values (2, 3)")
    ask("create table t4 (a int, constraint t9_chk_1 check (a > 2)) engine=ndb")
    assert ask("rename table t1 to t9").startswith(
        "ERROR 3822 (HY000): Duplicate check constraint name 't9_chk_1'"
    )
    assert ask("alter table t1 rename t2") == OK

    def names(table: str) -> list[str]:
        return re.findall(r"CONSTRAINT `(\w+)`", ask(f"show create table {table}"))

    assert names("t2") == ["mine", "t2_chk_1", "t2_chk_x"]
    assert "| 2 |    4 |    3 |" in ask("select * from t2")
    assert (
        ask("insert into t2 (a) values (1)")
        == "ERROR 3819 (HY000): Check constraint 't2_chk_1' is violated.\n"
    )
    assert ask("create table t3 like t2") == OK
    assert names("t3") == ["t3_chk_1", "t3_chk_2", "t3_chk_3"]
    assert (
        ask("insert into t3 (a) values (1)")
        == "ERROR 3819 (HY000): Check constraint 't3_chk_2' is violated.\n"
    )


def test_what_goes_with_a_column_and_what_keeps_it(ask: Ask) -> None:
    """Manual 8.4, ALTER TABLE and CHECK constraints: one of this column alone goes with it."""
    ask("create table u (a int primary key, b int as (a * 2) stored, c int, d int, e int, check (a > 1), "
        "check (c < 9), check (d > e)) engine=ndb")  # fmt: skip
    ask("insert into u (a, c, d, e) values (2, 3, 2, 1), (3, 4, 2, 1)")
    uses = (
        "ERROR 3959 (HY000): Check constraint '{}' uses column '{}', hence column cannot be dropped or "
        "renamed.\n"
    )
    for clause, said in (
        ("add index i (c), add column f int", "Query OK, 0 rows"),
        ("add column g int not null default 3, algorithm=copy", "Query OK, 2 rows"),
        ("drop column a", "ERROR 3108 (HY000): Column 'a' has a generated column dependency."),
        ("rename column c to cc", uses.format("u_chk_2", "c")),
        ("drop d", uses.format("u_chk_3", "d")),
        ("drop column c", "Query OK"), ("drop column b", "Query OK"),
        ("drop check nosuch", "ERROR 3821 (HY000): Check constraint 'nosuch' is not found in the table."),
        ("alter check u_chk_1 not enforced", "Query OK, 0 rows"),
        ("drop constraint u_chk_3", "Query OK, 0 rows"),
        ("drop column d", "Query OK"), ("rename column e to ee", "Query OK"), ("drop", "ERROR 1064"),
        ("drop check", "ERROR 1064"), ("rename column a to", "ERROR 1064"), ("drop column", "ERROR 1064"),
    ):  # fmt: skip
        assert ask(f"alter table u {clause}").startswith(said), clause
    assert ask("insert into u (a) values (0)").startswith("Query OK, 1 row")
    shown = ask("show create table u")
    assert "CONSTRAINT `u_chk_1` CHECK ((`a` > 1)) /*!80016 NOT ENFORCED */\n)" in shown
    assert "u_chk_2" not in shown
    assert "| 2 |    1 | NULL | 3 |" in ask("select * from u")


def test_before_constraints_a_check_is_read_alone(begun: Callable[[str], LiveCluster]) -> None:
    """sql_yacc.yy of 5.6: CHECK (expr) ends a column, and a name stands before that of a table alone."""
    answer = asks(begun("7.4.10"))
    for columns, near in (
        ("a int check (a > 1) not enforced, b int", "not enforced, b int) engine=ndb"),
        ("a int check (a > 1) enforced", "enforced) engine=ndb"),
        ("a int check (a > 1) not null", "not null) engine=ndb"),
        ("a int constraint x check (a > 1)", "constraint x check (a > 1)) engine=ndb"),
        ("a int, check (a > 1) not enforced", "not enforced) engine=ndb"),
    ):
        said = answer(f"create table x ({columns}) engine=ndb")
        assert said.startswith("ERROR 1064 (42000)"), columns
        assert f"near '{near}' at line 1" in said
    assert answer("create table x (a int check (a > 1), constraint c check (a > 2)) engine=ndb") == OK
    assert "CHECK" not in answer("show create table x")


def test_rows_are_checked_and_worked_out(cluster: LiveCluster) -> None:
    """The product's own tests, gcol_ndb (gcol_ins_upd_ndb, gcol_column_def_options_ndb)."""
    client = Client()

    def ask(line: str) -> str:
        return client.answer(line, cluster)

    ask("use test; create table g (a int primary key, c int generated always as (-a) stored not null, "
        "d varchar(9) check (d in ('x', 'y')), key (c)) engine=ndb")  # fmt: skip
    assert "  `c` int GENERATED ALWAYS AS (-(`a`)) STORED NOT NULL,\n" in ask("show create table g")
    assert "CHECK ((`d` in (_utf8mb4'x',_utf8mb4'y')))" in ask("show create table g")
    assert "STORED GENERATED" in ask("desc g")
    assert ask("insert into g values (1, default, 'x'), (2, default, null)").startswith("Query OK, 2 rows")
    refused = (
        "ERROR 3105 (HY000): The value specified for generated column 'c' in table 'g' is not allowed.\n"
    )
    for line in ("insert into g values (3, null, 'x')", "insert into g (a, c) values (3, 4)",
                 "insert into g select a + 5, c, d from g", "update g set c = 3"):  # fmt: skip
        assert ask(line) == refused, line
    assert ask("insert into g (a, d) values (3, 'z')") == (
        "ERROR 3819 (HY000): Check constraint 'g_chk_1' is violated.\n"
    )
    assert ask("update g set d = 'z' where a = 2").startswith("ERROR 3819")
    assert "1 row affected, 1 warning" in ask("insert ignore into g (a, d) values (4, 'y'), (5, 'z')")
    assert ask("update g set a = 7, c = default where c = -1").startswith("Query OK, 1 row")
    found = ask("select a, c, d from g order by a").splitlines()[3:6]
    assert [line.split()[1::2] for line in found] == [
        ["2", "-2", "NULL"], ["4", "-4", "y"], ["7", "-7", "x"],
    ]  # fmt: skip


def test_older_servers_forget_constraints(begun: Callable[[str], LiveCluster]) -> None:
    cluster, client = begun("7.4.10"), Client()
    said = client.answer(
        "create table test.k (a int primary key, check (a > 3)) engine=ndb; insert into test.k values (1); "
        "show create table test.k; select * from information_schema.check_constraints", cluster
    )  # fmt: skip
    assert "1 row affected" in said
    assert "CHECK" not in said
    assert "ERROR 1109 (42S02): Unknown table 'check_constraints' in information_schema" in said
