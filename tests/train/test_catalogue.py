"""What the SQL node tells of machines, of the dictionary and of itself agrees with everything else."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import pytest

from ndbplan.estimate.stored import ldm_threads, threads_of
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import release_of
from ndbplan.ndb.ndbinfo import described, is_table, tables_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.operations.read_back import has_no_table, has_table
from ndbplan.operations.schema import create_table
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.train import world
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.character_sets import measures
from ndbplan.train.sql.console import Client

from .test_agreement import committed, number
from .test_sql import cells

Ask = Callable[[str], str]


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    """What a client in the database test is answered."""
    client = Client()
    client.database = "test"
    return lambda line: client.answer(line, cluster)


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("TRUNCATE(1.55, 1)", "1.5"), ("TRUNCATE(-1.999, 2)", "-1.99"), ("TRUNCATE(1234, -2)", "1200"),
        ("ROUND(12345.6789, -3)", "12000"), ("ROUND(2.5)", "3"), ("ROUND(-2.5)", "-3"),
        ("CONCAT_WS('-', 1, NULL, 3)", "1-3"), ("MID('abcdef', 2, 3)", "bcd"), ("REVERSE('abc')", "cba"),
        ("ELT(2, 'a', 'b')", "b"), ("FIELD('b', 'a', 'b')", "2"), ("FIND_IN_SET('b', 'a,b')", "2"),
        ("SUBSTRING_INDEX('a/b/c', '/', -1)", "c"), ("FORMAT(1234567.891, 2)", "1,234,567.89"),
        ("HEX(255)", "FF"), ("CONV('ff', 16, 10)", "255"), ("BIN(5)", "101"), ("5 ^ 3", "6"),
        ("3 XOR 1", "0"), ("3 XOR 0", "1"), ("CAST(1.5 AS SIGNED)", "2"),
        ("CAST('7.5' AS SIGNED)", "7"), ("CAST(' -8x' AS SIGNED)", "-8"), ("CAST('x' AS SIGNED)", "0"),
        ("LENGTH('é')", "2"), ("CHAR_LENGTH('é')", "1"), ("TIME_TO_SEC('00:01:30.6')", "90"),
        ("CAST('1.25' AS DECIMAL(5,1))", "1.3"), ("7/2/2", "1.75000000"), ("STRCMP('a', 'B')", "-1"),
        ("BIT_OR(node_id)", "7"), ("BIT_AND(node_id)", "0"), ("VARIANCE(node_id)", "1.25"),
        ("GROUP_CONCAT(node_id ORDER BY node_id DESC SEPARATOR '/')", "6/5/4/3"),
        ("GROUP_CONCAT(DISTINCT status)", "STARTED"),
    ],
)  # fmt: skip
def test_functions_give_what_the_product_gives(asked: str, value: str, ask: Ask) -> None:
    assert cells(ask(f"SELECT {asked} FROM ndbinfo.nodes LIMIT 1;")) == [[value]]


def test_a_query_knows_the_clock_of_the_cluster_and_no_other(cluster: LiveCluster, ask: Ask) -> None:
    [[now, day, since]] = cells(ask("SELECT NOW(), CURDATE(), UNIX_TIMESTAMP();"))
    assert datetime.fromisoformat(now) == cluster.clock.replace(microsecond=0)
    assert day == now[:10]
    assert int(since) == pytest.approx((cluster.clock - datetime(1970, 1, 1)).total_seconds(), abs=1)
    assert ask("SELECT RAND();").startswith("ndbplan: RAND is not simulated")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SELECT 18446744073709551615+1;", "ERROR 1690 (22003): BIGINT UNSIGNED value is out of range in"),
        ("SELECT 9223372036854775807+1;", "ERROR 1690 (22003): BIGINT value is out of range in"),
        ("SELECT CAST(1 AS UNSIGNED)-2;", "ERROR 1690 (22003): BIGINT UNSIGNED value is out of range in"),
        ("SELECT nosuch(1);", "ERROR 1305 (42000): FUNCTION test.nosuch does not exist"),
        ("SELECT 'aaaaaaaaaaaaaaaaaaaaaaa!' REGEXP '(a+)+$';", "ndbplan: how long the server tries this"),
        ("SELECT * FROM mysql.user;", "ndbplan: tables of mysql are not simulated"),
        ("SET ndb_nosuch = 1;", "ERROR 1193 (HY000): Unknown system variable 'ndb_nosuch'"),
        ("SET GLOBAL ndb_version = 1;", "ERROR 1238 (HY000): Variable 'ndb_version' is a read only"),
        ("SET autocommit=1;", "Query OK"),
        ("nopager", "PAGER set to stdout"),
        ("INSERT INTO blobs_5k (id) VALUES (NULL);", "ERROR 1048 (23000): Column 'id' cannot be null"),
        ("INSERT INTO blobs_5k (id) VALUES ('x');", "ERROR 1366 (HY000): Incorrect integer value: 'x'"),
        ("SHOW ENGINE ndb MUTEX;", "Empty set"),
    ],
)
def test_what_is_not_so_or_not_simulated_is_said(line: str, said: str, ask: Ask) -> None:
    assert ask(line).startswith(said)


def test_having_chooses_among_rows_that_nothing_groups(ask: Ask) -> None:
    line = "SELECT node_id AS n FROM ndbinfo.nodes HAVING n > 3 ORDER BY n DESC LIMIT 2;"
    assert cells(ask(line)) == [["6"], ["5"]]
    union = "(SELECT node_id FROM ndbinfo.nodes ORDER BY node_id DESC LIMIT 1) UNION (SELECT 99);"
    assert cells(ask(union)) == [["6"], ["99"]]


def test_every_data_node_has_the_blocks_of_its_threads(cluster: LiveCluster, ask: Ask) -> None:
    node = cluster.plan.data_nodes[0]
    ldms = ldm_threads(cluster.plan, node)
    of = f"FROM ndbinfo.threadblocks WHERE node_id = {node.node_id} AND"
    assert number(ask(f"SELECT COUNT(*) {of} block_name = 'DBLQH' AND block_instance > 0;")) == ldms
    assert number(ask(f"SELECT MAX(block_instance) {of} block_name = 'PGMAN';")) == ldms + 1
    counts = threads_of(cluster.plan, node)
    threads = sum(getattr(counts, name) for name in ("main", "rep", "ldm", "tc", "recv", "send"))
    for table, each in (("threads", 1), ("threadstat", 1), ("cpustat", 1), ("cpustat_1sec", 10)):
        found = number(ask(f"SELECT COUNT(*) FROM ndbinfo.{table} WHERE node_id = {node.node_id};"))
        assert found == pytest.approx(threads * each, abs=threads if each > 1 else 0), table
    unknown = (
        "SELECT COUNT(*) FROM ndbinfo.threadblocks t LEFT JOIN ndbinfo.blocks b USING (block_name) "
        "WHERE b.block_number IS NULL;"
    )
    assert number(ask(unknown)) == 0


def test_speeds_by_thread_add_up_to_those_of_the_node(ask: Ask) -> None:
    asked = "SELECT redo_speed_last_10sec FROM ndbinfo.disk_write_speed_aggregate_node WHERE node_id = 3;"
    parts = "SELECT SUM(redo_speed_last_10sec) FROM ndbinfo.disk_write_speed_aggregate WHERE node_id = 3;"
    whole = number(ask(asked))
    assert whole > 0
    assert number(ask(parts)) == pytest.approx(whole, rel=0.02)
    seconds = (
        "SELECT SUM(redo_bytes_written)/10 FROM ndbinfo.disk_write_speed_base "
        "WHERE node_id = 3 AND millis_ago < 10000;"
    )
    assert number(ask(seconds)) == pytest.approx(whole, rel=0.15)


def test_fragments_have_their_copies_on_the_nodes_that_run(cluster: LiveCluster, ask: Ask) -> None:
    query = (
        "SELECT DISTINCT fragment_id, current_primary, num_alive_replicas, num_dead_replicas "
        "FROM ndbinfo.table_fragments f JOIN ndbinfo.dictionary_tables t USING (table_id) "
        "WHERE t.table_name = 'blobs_5k' AND f.node_id = 3;"
    )
    before = cells(ask(query))
    assert {tuple(row[2:]) for row in before} == {("2", "0")}
    assert {row[1] for row in before} == {"3", "4", "5", "6"}
    world.do("kill node:4", cluster)
    cluster.advance(3.0)
    after = cells(ask(query))
    assert {row[1] for row in after} == {"3", "5", "6"}
    assert {tuple(row[2:]) for row in after} == {("2", "0"), ("1", "1")}


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_catalogue_and_desc_agree(version: str, begun: Callable[[str], LiveCluster]) -> None:
    cluster, client = begun(version), Client()
    for name in ("nodes", "threads", "logbuffers"):
        listed = cells(client.answer(f"DESC ndbinfo.{name};", cluster))
        of = f"WHERE TABLE_SCHEMA = 'ndbinfo' AND TABLE_NAME = '{name}' ORDER BY ORDINAL_POSITION;"
        columns = f"SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE FROM INFORMATION_SCHEMA.COLUMNS {of}"
        if name in tables_of(cluster.plan.version):
            assert cells(client.answer(columns, cluster)) == [row[:3] for row in listed]
    kinds = cells(client.answer("SHOW FULL TABLES FROM ndbinfo;", cluster))
    assert [row[0] for row in kinds] == sorted(tables_of(cluster.plan.version))
    assert sum(row[1] == "BASE TABLE" for row in kinds) == (3 if version.startswith("7") else 6)
    status = client.answer("SHOW ENGINE NDB STATUS;", cluster)
    assert [row[0] for row in cells(status)] == ["ndbcluster" if version.startswith("7") else "ndbclus"] * 15
    assert cells(client.answer("SHOW ENGINES;", cluster))[0][0] == "ndbcluster"
    warned = "3 rows in set, 1 warning " if version.startswith("8") else "2 rows in set ("
    assert warned in client.answer("SHOW PROCESSLIST;", cluster)


def test_types_that_were_seen_are_those_that_are_described() -> None:
    new, old = NdbVersion.parse("8.4.8"), NdbVersion.parse("7.4.10")
    assert described(new, "nodes")[2] == ("status", "varchar(10)", "NO", "", "")
    assert described(old, "nodes")[2] == ("status", "varchar(10)", "YES", "", None)
    assert described(old, "blocks")[0] == ("block_number", "int(10) unsigned", "NO", "PRI", None)
    assert is_table(old, "blocks") > is_table(new, "blocks")


def test_a_table_in_use_that_is_dropped_is_missed_until_it_is_back(cluster: LiveCluster, ask: Ask) -> None:
    made = cells(ask("SHOW CREATE TABLE blobs_5k;"))
    statement = ask("SHOW CREATE TABLE blobs_5k\\G").partition("Create Table: ")[2].partition("\n1 row")[0]
    assert made
    world.do("wait 2s", cluster)
    for more in ("CASCADE x", "RESTRICT CASCADE", "x"):
        assert ask(f"DROP TABLE blobs_5k {more};").startswith("ERROR 1064"), more
    assert ask("DROP TABLE blobs_5k RESTRICT;").startswith("Query OK")
    world.do("wait 2s", cluster)
    before = committed(cluster)
    world.do("wait 5s", cluster)
    assert committed(cluster) == before, "every transaction of the load writes it"
    assert "1146" in ask("INSERT INTO blobs_5k (id) VALUES (1);")
    consoles = Consoles(cluster)
    for line in ("data1$ top -H", "data1$ iostat -kx", "data1$ df -h", "ndb_mgm> START BACKUP"):
        assert "ndbplan" not in consoles.answer(line)
    assert ask(f"{statement.strip()};").startswith("Query OK")
    world.do("wait 5s", cluster)
    assert committed(cluster) > before
    rows = number(ask("SELECT COUNT(*) FROM blobs_5k;"))
    assert rows == pytest.approx(committed(cluster) - before, abs=2)


def test_a_table_in_use_that_is_emptied_fills_again(cluster: LiveCluster, ask: Ask) -> None:
    assert ask("TRUNCATE TABLE blobs_5k;").startswith("Query OK")
    done = committed(cluster)
    rows = number(ask("SELECT COUNT(*) FROM blobs_5k;"))
    world.do("wait 5s", cluster)
    more = number(ask("SELECT COUNT(*) FROM blobs_5k;")) - rows
    assert more == pytest.approx(committed(cluster) - done, abs=2)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("id = 5", 1), ("id IN (1, 2, 2, 3)", 3), ("id BETWEEN 5 AND 10", 6), ("id < 100", 99),
        ("id <= 500 AND id >= 400", 101), ("id > 10 LIMIT 7", 7), ("id = 1 AND id > 5", 0),
        ("id BETWEEN 10 AND 5", 0),
    ],
)  # fmt: skip
def test_changes_meet_the_rows_of_a_range_of_the_key(where: str, rows: int, ask: Ask) -> None:
    before = number(ask("SELECT COUNT(*) FROM blobs_1k;"))
    said = ask(f"DELETE FROM blobs_1k WHERE {where};")
    assert said.startswith(f"Query OK, {rows} row{'s' * (rows != 1)} affected")
    assert number(ask("SELECT COUNT(*) FROM blobs_1k;")) == before - rows


def test_configurations_are_numbered(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    asked = "mysql> SELECT MIN(config_generation) FROM ndbinfo.nodes"
    system = "app1$ ndb_config --system --query=ConfigGenerationNumber"
    assert (number(consoles.answer(asked)), consoles.answer(system)) == (1, "1\n")
    consoles.answer("! edit RedoBuffer=64M")
    assert consoles.answer(system) == "1\n", "the server has not read it"
    consoles.answer("! set TimeBetweenLocalCheckpoints=21")
    assert consoles.answer(system) == "2\n"
    assert number(consoles.answer(asked)) == 1, "no node has started with it"
    consoles.answer("! until configured >= 0 within 1s")
    consoles.answer("ndb_mgm> 3 RESTART")
    consoles.answer("! wait 10min")
    assert number(consoles.answer("mysql> SELECT MAX(config_generation) FROM ndbinfo.nodes")) == 2


def test_a_data_node_keeps_as_many_events_as_its_buffer_holds(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    for _ in range(130):
        consoles.answer("ndb_mgm> 3 DUMP 2399")
    kept = re.findall("^20.* Node 3: ", consoles.answer("ndb_mgm> 3 REPORT EVENTLOG"), re.MULTILINE)
    assert len(kept) == 8192 // 23


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("7.1.9", "mysql-5.1.51 ndb-7.1.9"), ("7.1.15", "mysql-5.1.51 ndb-7.1.15"),
        ("7.1.22", "mysql-5.1.61 ndb-7.1.22"), ("7.0.24", "mysql-5.1.56 ndb-7.0.24"),
        ("7.6.6", "mysql-5.7.22 ndb-7.6.6"), ("8.4.8", "mysql-8.4.8 ndb-8.4.8"),
        ("7.4", "mysql-5.6.28 ndb-7.4.10"),
    ],
)  # fmt: skip
def test_a_release_is_named_with_the_server_that_it_had(version: str, name: str) -> None:
    assert release_of(NdbVersion.parse(version)).name == name


@pytest.mark.parametrize(("version", "more"), [("7.4.10", []), ("8.4.8", ["Visible", "Expression"])])
def test_indexes_are_shown_with_the_columns_of_the_version(
    version: str, more: list[str], begun: Callable[[str], LiveCluster]
) -> None:
    cluster = begun(version)
    consoles = Consoles(cluster)
    shown = consoles.answer(f"mysql> SHOW INDEX FROM {cluster.plan.tables[0].full_name}")
    assert [cell.strip() for cell in shown.splitlines()[1].strip("|").split("|")][13:] == more
    columns = consoles.answer("mysql> SELECT * FROM information_schema.statistics")
    assert ("IS_VISIBLE" in columns) is bool(more)


@pytest.mark.parametrize("version", ["7.4.10", "8.0.30", "8.4.8"])
def test_tables_are_read_back_as_a_runbook_expects_them(
    version: str, begun: Callable[[str], LiveCluster]
) -> None:
    """Of every type; and by name and place alone, with an index that is not there."""
    cluster, client = begun(version), Client()
    client.database = "test"
    left_out = ("json", "geometry")
    columns = [
        Column(name=f"c {kind}", type=kind, nullable=True) for kind in COLUMN_TYPES if kind not in left_out
    ]
    columns += [
        Column(name="u", type="int", unsigned=True),
        Column(name="d", type="decimal", length=12, scale=3, unsigned=True, nullable=True),
        Column(name="v", type="varchar", length=40, collation="latin1_bin"),
        Column(name="m", type="datetime", length=3, nullable=True),
        Column(name="größe `x`\\", type="int"),
        Column(name="geo", type="enum", length=2),
        Column(name="géo", type="int"),
    ]
    table = Table(
        id="t", database="test", name="t`t é\\", primary_key=("id",),
        columns=(Column(name="id", type="bigint", auto_increment=True), *columns),
        indexes=(
            Index(name="k'ключ", columns=("u", "v")), Index(name="h", columns=("d", "u"), kind="unique_hash"),
            Index(name="x", columns=("m",), kind="unique"),
        ),
    )  # fmt: skip
    taken = client.answer(create_table(cluster.plan, table).replace("\n", " "), cluster)
    assert taken.startswith("Query OK")
    names = [column.name for column in table.columns]
    for known in ([], names[:9], names):
        wanted = has_table(cluster.plan, table, known=known, dropped=["k'ключ", "gone"])
        # With --batch the client doubles these.
        rows = (row for one in wanted.statements for row in cells(client.answer(one, cluster)))
        found = ["\t".join(row).replace("\\", r"\\") for row in rows]
        assert sorted(found) == sorted(wanted.lines)
        # Of the table what it is made with and, from 8.0 on, its options; of its indexes each column.
        made_with = 0 if known else 1 + (version != "7.4.10")
        assert len(set(found)) == len(names) + 6 + made_with
    for asked, gone in ((table.name, False), ("other", True)):
        [look] = has_no_table(cluster.plan, table.model_copy(update={"name": asked})).statements
        assert client.answer(look, cluster).startswith("Empty set") is gone


@pytest.mark.parametrize(
    ("kind", "digits"),
    [
        ("tinyint", (3, 0)), ("smallint unsigned", (5, 0)), ("mediumint", (7, 0)), ("int", (10, 0)),
        ("bigint", (19, 0)), ("bigint unsigned", (20, 0)), ("decimal(12,3)", (12, 3)), ("float", (12, None)),
        ("double", (22, None)), ("bit(7)", (7, None)),
    ],
)  # fmt: skip
def test_digits_of_numbers_are_those_of_information_schema(kind: str, digits: tuple[int, int | None]) -> None:
    found = measures(kind, None)
    assert (found["NUMERIC_PRECISION"], found["NUMERIC_SCALE"]) == digits


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("show grants", "GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' WITH GRANT OPTION",
         "GRANT PROXY ON ``@`` TO `root`@`localhost` WITH GRANT OPTION"),
        ("show grants for 'app'@'h'", *("ERROR 1141 (42000): There is no such grant defined for",) * 2),
        ("show grants for app", *("There is no such grant defined for user 'app' on host '%'",) * 2),
        ("show profiles", *("Empty set, 1 warning (0.00 sec)",) * 2),
        ("show replicas", "ERROR 1064", "Empty set (0.00 sec)"),
        ("show slave hosts", "Empty set (0.00 sec)", "ERROR 1064"),
        ("show binlog events", "Empty set (0.00 sec)", "ndbplan: what stands in the binary log"),
        ("show create trigger test.x", *("ERROR 1360 (HY000): Trigger does not exist",) * 2),
        ("show create procedure test.x", *("ERROR 1305 (42000): PROCEDURE x does not exist",) * 2),
        ("show create event x", *("ERROR 1539 (HY000): Unknown event 'x'",) * 2),
    ],
)  # fmt: skip
def test_what_nobody_made_is_not_there(
    line: str, old: str, new: str, begun: Callable[[str], LiveCluster]
) -> None:
    assert old in Client().answer(line, begun("7.4.10"))
    assert new in Client().answer(line, begun("8.4.8"))
