"""The mysql client of a live cluster: as recorded, by version, and what a moment refuses."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.simulate.events.orders import Kill
from ndbplan.train import world
from ndbplan.train.consoles import Consoles, transcript
from ndbplan.train.lessons.begin import plan_of
from ndbplan.train.lessons.files import LESSONS
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import rows
from ndbplan.train.sql.console import Client
from ndbplan.train.sql.numbers import Kind, written
from ndbplan.train.sql.reading import typed_list
from ndbplan.train.sql.refused import refusing
from ndbplan.train.sql.server import like
from ndbplan.train.sql.typed import Typing, taken

RECORDED = json.loads(
    (Path(__file__).parent.parent / "reality" / "sql-answers.json").read_text(encoding="utf-8")
)["8.4.8"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("", ["ndb", "Ndbinfo", "ndb_x"]),
        ("NDB", ["ndb"]),
        ("ndb%", ["ndb", "Ndbinfo", "ndb_x"]),
        ("%n%o", ["Ndbinfo"]),
        ("%b", ["ndb"]),
        ("ndb_", []),
        ("n_b", ["ndb"]),
        ("n_b_x", ["ndb_x"]),
        ("x%", []),
        ("%y%", []),
    ],
)
def test_names_are_chosen_as_like_does(pattern: str, names: list[str]) -> None:
    assert [name for name in ("ndb", "Ndbinfo", "ndb_x") if like(name, pattern)] == names


def sql(cluster: LiveCluster, line: str) -> str:
    return Client().answer(line, cluster)


def cells(printed: str) -> list[list[str]]:
    """The rows of a printed table, without the headings."""
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row["statement"][:60])
def test_statements_are_answered_as_recorded(row: dict[str, Any], cluster: LiveCluster) -> None:
    assert sql(cluster, row["statement"]).strip() == row["output"].strip()


def test_a_query_tells_of_this_moment(cluster: LiveCluster) -> None:
    query = "SELECT node_id, status FROM ndbinfo.nodes ORDER BY node_id;"
    assert cells(sql(cluster, query)) == [[str(n), "STARTED"] for n in (3, 4, 5, 6)]
    world.do("kill node:4", cluster)
    cluster.advance(2)
    assert cells(sql(cluster, query)) == [[str(n), "STARTED"] for n in (3, 5, 6)]
    count = "SELECT COUNT(*) FROM ndbinfo.nodes WHERE status = 'started'"
    assert cells(sql(cluster, count)) == [["3"]]


def test_values_agree_with_the_tables_that_are_simulated(cluster: LiveCluster) -> None:
    found = cells(sql(cluster, "SELECT node_id, log_id, log_part, total, used FROM ndbinfo.logspaces;"))
    names = ("node_id", "log_id", "log_part", "total", "used")
    assert found == [[str(row[name]) for name in names] for row in rows.ndbinfo(cluster, "logspaces")]
    part = sql(cluster, "SELECT used/total*100 AS percent FROM ndbinfo.logspaces LIMIT 1\\G")
    assert re.search(r"^percent: [0-9]+\.[0-9]{4}$", part, re.MULTILINE)
    beside = sql(cluster, "SELECT *, used/total*100 FROM ndbinfo.logspaces LIMIT 1\\G")
    assert re.search(r"^used/total\*100: [0-9]+\.[0-9]{4}$", beside, re.MULTILINE)


@pytest.mark.parametrize("version", ["7.1.15", "7.4.10", "7.6.6", "8.4.8"])
def test_tables_and_columns_are_those_of_the_version(
    version: str, begun: Callable[[str], LiveCluster]
) -> None:
    cluster = begun(version)
    listed = [row[0] for row in cells(sql(cluster, "SHOW TABLES FROM ndbinfo;"))]
    assert listed == sorted(tables_of(cluster.plan.version))
    for name in tables_of(cluster.plan.version):
        heading = sql(cluster, f"SELECT * FROM ndbinfo.{name} LIMIT 1\\G")
        if heading.startswith("Empty set"):
            continue
        fields = re.findall(r"^ *([a-z0-9_]+): ", heading, re.MULTILINE | re.IGNORECASE)
        assert fields == list(tables_of(cluster.plan.version)[name].columns)


def test_a_table_that_a_version_lacks_is_unknown(begun: Callable[[str], LiveCluster]) -> None:
    line = "SELECT * FROM ndbinfo.cpustat;"
    assert sql(begun("7.4.10"), line) == "ERROR 1146 (42S02): Table 'ndbinfo.cpustat' doesn't exist\n"
    assert "ERROR" not in sql(begun("8.4.8"), "SELECT node_id FROM ndbinfo.nodes;")
    before = begun("7.0.9")
    assert sql(before, "SELECT * FROM ndbinfo.nodes;") == "ERROR 1049 (42000): Unknown database 'ndbinfo'\n"
    assert ["ndbinfo"] not in cells(sql(before, "SHOW DATABASES;"))


def test_what_the_configuration_says_is_told_by_number(cluster: LiveCluster) -> None:
    asked = (
        "SELECT v.node_id, v.config_value FROM ndbinfo.config_values v JOIN ndbinfo.config_params p "
        "ON v.config_param = p.param_number WHERE p.param_name = 'DataMemory' ORDER BY 1;"
    )
    stated = str(node_settings(cluster.plan, cluster.plan.data_nodes[0]).value("DataMemory"))
    assert cells(sql(cluster, asked)) == [[str(node_id), stated] for node_id in (3, 4, 5, 6)]
    known = dict(cells(sql(cluster, "SELECT param_name, param_number FROM ndbinfo.config_params")))
    recorded = {"MaxNoOfSubscriptions": 179, "ClassicFragmentation": 675, "HostName": 5, "Dedicated": 11,
                "NodeId": 3, "RequireCertificate": 12, "ServerPort": 635, "NodeGroupTransporters": 670,
                "MaxNoOfTriggers": 105, "LockMaintThreadsToCPU": 178}  # fmt: skip
    assert {name: int(known[name]) for name in recorded} == recorded
    assert len(known) == 172, "as many as the server lists"


def test_what_is_told_twice_agrees(cluster: LiveCluster) -> None:
    def one(query: str) -> str:
        return cells(sql(cluster, f"SELECT {query}"))[0][0]

    locked = one("SUM(ex_req) FROM ndbinfo.locks_per_fragment")
    assert int(locked) > 0
    changed = "SUM(tot_key_inserts + tot_key_updates + tot_key_deletes) FROM ndbinfo.operations_per_fragment"
    assert one(changed) == locked
    tracked = int(one("SUM(transactions) FROM ndbinfo.tc_time_track_stats"))
    counted = int(one("SUM(val) FROM ndbinfo.counters WHERE counter_name = 'COMMITS'"))
    assert abs(tracked - counted) <= 8, "each of the coordinators rounds"
    bounds = cells(sql(cluster, "SELECT DISTINCT upper_bound FROM ndbinfo.tc_time_track_stats ORDER BY 1"))
    assert [row[0] for row in bounds[:6]] == ["50", "75", "112", "168", "252", "378"]
    assert len(bounds) == 32
    alive = "COUNT(*) FROM ndbinfo.table_replicas WHERE is_replica_alive"
    before = int(one(alive))
    assert before == int(one("COUNT(*) FROM ndbinfo.memory_per_fragment WHERE type <> 'Ordered index'"))
    world.do("kill node:4", cluster)
    cluster.advance(2)
    assert int(one(alive)) == before * 3 // 4
    joined = "COUNT(*) FROM ndbinfo.dict_obj_info i JOIN ndbinfo.index_columns c ON c.index_object_id = i.id"
    assert one(f"{joined} WHERE i.parent_obj_id = c.table_id AND database_name = 'test'") == str(
        len(cluster.plan.tables)
    )
    parted = "COUNT(*) FROM ndbinfo.blobs WHERE blob_table_name LIKE CONCAT('NDB$BLOB_', table_id, '%')"
    assert one(parted) == one("COUNT(*) FROM ndbinfo.blobs")


@pytest.mark.parametrize(
    ("version", "statement", "said"),
    [
        ("8.4.8", "SELECT * form ndbinfo.nodes", "near 'form ndbinfo.nodes' at line 1"),
        ("8.4.8", "SELECT count( from ndbinfo.nodes", "near 'from ndbinfo.nodes' at line 1"),
        ("8.4.8", "SELECT (1", "near '' at line 1"),
        ("8.4.8", "SELECT * FROM ndbinfo.nodes WHERE", "near '' at line 1"),
        ("8.4.8", "SHOW variabls", "near 'variabls' at line 1"),
        ("8.4.8", "SHOW STATUS LIKE", "near '' at line 1"),
        ("8.4.8", "SHOW master status", "near 'master status' at line 1"),
        ("7.4.10", "SHOW replica status", "near 'replica status' at line 1"),
        ("8.4.8", "SHOW REPLICA STATUS", "Empty set"),
        ("7.4.10", "SHOW SLAVE STATUS", "Empty set"),
        ("8.4.8", "SHOW CREATE VIEW ndbinfo.dictionary_tables",
         "ERROR 1347 (HY000): 'ndbinfo.dictionary_tables' is not VIEW"),
        ("8.4.8", "SHOW CREATE DATABASE nosuch", "ERROR 1049 (42000): Unknown database 'nosuch'"),
        ("8.4.8", "SHOW PRIVILEGES", "ndbplan: the list of privileges is not known here"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_from_where_on(
    version: str, statement: str, said: str, begun: Callable[[str], LiveCluster]
) -> None:
    assert said in sql(begun(version), f"{statement};")


def test_columns_that_may_be_null_have_room_for_the_word(cluster: LiveCluster) -> None:
    def rule(query: str) -> str:
        return sql(cluster, f"SELECT {query}").split("\n")[0]

    nodes = "FROM ndbinfo.nodes LIMIT 1"
    assert rule(f"node_id n {nodes}") == rule(f"MAX(node_id) n {nodes}") == "+------+"
    assert rule(f"node_id > 0 n {nodes}") == rule(f"IF(1, node_id, 1) n {nodes}") == "+------+"
    assert rule("1 n") == rule(f"COUNT(*) n {nodes}") == rule(f"IFNULL(node_id, 1) n {nodes}") == "+---+"
    assert rule(f"node_id IS NULL n {nodes}") == "+---+"
    assert rule("1/3 n") == "+--------+"
    assert rule("'é' x") == "+----+"


def test_the_catalogue_heads_its_columns_itself_in_newer_servers(
    begun: Callable[[str], LiveCluster],
) -> None:
    asked = "SELECT table_name FROM information_schema.tables LIMIT 1"
    assert "| TABLE_NAME" in sql(begun("8.4.8"), asked)
    assert "| table_name" in sql(begun("7.4.10"), asked)


@pytest.mark.parametrize(("version", "rows"), [("8.4.8", 144), ("7.4.10", 108)])
def test_status_variables_are_those_of_the_version(
    version: str, rows: int, begun: Callable[[str], LiveCluster]
) -> None:
    cluster = begun(version)
    found = dict(cells(sql(cluster, "SHOW STATUS LIKE 'ndb%'")))
    assert len(found) == rows
    assert (found["Ndb_number_of_data_nodes"], found["Ndb_number_of_ready_data_nodes"]) == ("4", "4")
    assert int(found["Ndb_api_trans_commit_count"]) > 0
    assert [row[0] for row in cells(sql(cluster, "SHOW STATUS LIKE 'Ndb_cluster%'"))] == [
        "Ndb_cluster_node_id"
    ]


def test_a_table_has_the_rows_of_the_plan_and_of_the_load(cluster: LiveCluster) -> None:
    table = cluster.plan.tables[0]
    line = f"SELECT COUNT(*) FROM {table.full_name};"
    [[first]] = cells(sql(cluster, line))
    cluster.advance(10)
    [[later]] = cells(sql(cluster, line))
    assert table.rows <= int(first) <= int(later)
    assert "at most 100\u2009000 are read here" in sql(cluster, f"SELECT * FROM {table.full_name};")


def _lost(cluster: LiveCluster) -> Client:
    for node in cluster.plan.data_nodes:
        cluster.act(Kill(node.id))
    cluster.advance(5)
    client = Client()
    client.answer("USE test;", cluster)
    return client


FAILED = "Got error 4009 'Cluster Failure' from"
NO_LOCK = "Could not acquire global schema lock"
NOT_READY = "Can't open table 'test.blobs_5k' from NDB, schema distribution is not ready"
NO_SHARE = "Could not open NDB_SHARE for 'test.blobs_5k'"


@pytest.mark.parametrize(
    ("version", "statement", "said", "before"),
    [
        ("8.4.8", "SELECT COUNT(*) FROM blobs_5k", f"1296 (HY000): {FAILED} NDBCLUSTER",
         [NOT_READY, NO_SHARE]),
        ("7.4.10", "SELECT COUNT(*) FROM blobs_5k", f"1296 (HY000): {FAILED} NDBCLUSTER", [f"{FAILED} NDB"]),
        ("8.4.8", "INSERT INTO blobs_5k VALUES (1,'a','b')", f"1296 (HY000): {FAILED} NDBCLUSTER",
         [NOT_READY, NO_SHARE]),
        ("8.4.8", "CREATE TABLE cf1 (a INT) ENGINE=NDB", f"1296 (HY000): {FAILED} NDBCLUSTER",
         [f"{FAILED} NDB", NO_LOCK]),
        ("7.4.10", "CREATE TABLE cf1 (a INT) ENGINE=NDB", "157 (HY000): Could not connect to storage engine",
         [f"{FAILED} NDB. {NO_LOCK}"]),
        ("8.4.8", "DROP TABLE blobs_5k", "3604 (HY000): Storage engine can't drop table 'test.blobs_5k'",
         [f"{FAILED} NDB", NO_LOCK, "Schema distribution is not ready", f"{FAILED} NDBCLUSTER"]),
        ("7.4.10", "DROP TABLE blobs_5k", "1051 (42S02): Unknown table 'test.blobs_5k'", [f"{FAILED} NDB"]),
        ("8.4.8", "ALTER TABLE blobs_5k ADD COLUMN q INT", f"1296 (HY000): {FAILED} NDBCLUSTER",
         [f"{FAILED} NDB", NO_LOCK, NOT_READY, NO_SHARE]),
        ("8.4.8", "SELECT * FROM ndbinfo.nodes",
         "1296 (HY000): Got error 157 'Connection to NDB failed' from NDBINFO", []),
        ("7.4.10", "CREATE LOGFILE GROUP lg1 ADD UNDOFILE 'undo1.log' INITIAL_SIZE 16M ENGINE NDB",
         "1528 (HY000): Failed to create LOGFILE GROUP", [f"{FAILED} NDB"]),
    ],
)  # fmt: skip
def test_a_cluster_that_is_lost_is_what_clients_meet(
    version: str, statement: str, said: str, before: list[str], begun: Callable[[str], LiveCluster]
) -> None:
    cluster = begun(version)
    client = _lost(cluster)
    assert client.answer(f"{statement};", cluster) == f"ERROR {said}\n"
    told = cells(client.answer("SHOW WARNINGS;", cluster))
    assert [row[2] for row in told if row[0] == "Warning"] == before
    assert told[-1][0] == "Error"


def test_what_goes_on_without_data_nodes(begun: Callable[[str], LiveCluster]) -> None:
    for version, warnings in (("8.4.8", 2), ("7.4.10", 1)):
        cluster = begun(version)
        client = _lost(cluster)
        made = client.answer("CREATE DATABASE db3;", cluster)
        plural = "s" * (warnings > 1)
        assert made.startswith(f"Query OK, 1 row affected, {warnings} warning{plural} (")
        assert "blobs_5k" in client.answer("SHOW TABLES;", cluster)
        assert "Ndb_number_of_ready_data_nodes | 0" in client.answer(
            "SHOW STATUS LIKE 'Ndb_number%';", cluster
        )
        assert client.answer("DESC blobs_5k;", cluster).startswith("+")
        assert "| error    | Corrupt" in client.answer("OPTIMIZE TABLE blobs_5k;", cluster)
    more = client.answer("DROP TABLE IF EXISTS nosuch;", cluster)
    assert "2 warnings" in more


def test_variables_of_ndb_are_kept_as_they_are_set(cluster: LiveCluster) -> None:
    client = Client()
    assert client.answer("SET ndb_batch_size=1, ndb_force_send = OFF;", cluster).startswith("Query OK")
    assert ["ndb_batch_size", "1"] in cells(client.answer("SHOW VARIABLES LIKE 'ndb_batch%';", cluster))
    assert cells(client.answer("SELECT @@ndb_force_send;", cluster)) == [["0"]]
    wrong = "ERROR 1231 (42000): Variable 'ndb_force_send' can't be set to the value of '2'\n"
    assert client.answer("SET ndb_force_send = 2;", cluster) == wrong
    assert client.answer("SET ndbinfo_offline=1;", cluster).startswith("ERROR 1229 (HY000)")
    client.answer("SET GLOBAL ndbinfo_offline=1;", cluster)
    assert client.answer("SELECT * FROM ndbinfo.nodes;", cluster).startswith("Empty set, 1 warning")
    [[level, code, text]] = cells(client.answer("SHOW WARNINGS;", cluster))
    assert (level, code) == ("Note", "1")
    assert text.endswith("ndbinfo_offline is turned on - no rows can be returned")
    client.answer("SET GLOBAL ndbinfo_offline=0;", cluster)
    assert len(cells(client.answer("SELECT * FROM ndbinfo.nodes;", cluster))) == 4
    for told in ("ndb_table_temporary=1", "max_sort_length=4", "default_week_format=6"):
        assert "is not simulated" in client.answer(f"SET {told};", cluster)


@pytest.mark.parametrize(("version", "rows"), [("8.4.8", 78), ("7.4.10", 53)])
def test_variables_are_those_of_the_version(
    version: str, rows: int, begun: Callable[[str], LiveCluster]
) -> None:
    cluster = begun(version)
    found = dict(cells(sql(cluster, "SHOW VARIABLES LIKE 'ndb%';")))
    assert len(found) == rows, "as many as the server lists"
    assert found["ndb_mgmd_host"] == found["ndb_connectstring"]
    assert found["ndb_nodeid"] == "49"
    engines = [row[0] for row in cells(sql(cluster, "SHOW VARIABLES LIKE '%storage_engine%';"))]
    more = {"8.4.8": ["disabled_storage_engines", "internal_tmp_mem_storage_engine"]}
    assert engines == [
        "default_storage_engine",
        "default_tmp_storage_engine",
        *more.get(version, ["storage_engine"]),
    ]
    comment = cells(sql(cluster, "SELECT @@version_comment;"))
    assert comment == [[f"MySQL Cluster Community Server {'- GPL' if version == '8.4.8' else '(GPL)'}"]]
    users = [row[1] for row in cells(sql(cluster, "SHOW PROCESSLIST;"))]
    assert users == ["system user", *(["event_scheduler"] if version == "8.4.8" else []), "root"]
    assert sql(cluster, "LOCK TABLES ndbinfo.nodes READ;") == "Query OK, 0 rows affected (0.00 sec)\n"


def test_tables_of_ndb_elsewhere_are_empty(cluster: LiveCluster) -> None:
    assert sql(cluster, "SELECT * FROM mysql.ndb_apply_status;").startswith("Empty set")
    assert cells(sql(cluster, "SHOW TABLES FROM mysql LIKE 'ndb%';")) == [
        ["ndb_apply_status"], ["ndb_binlog_index"],
    ]  # fmt: skip
    assert sql(cluster, "SELECT * FROM performance_schema.ndb_sync_pending_objects;").startswith("Empty set")
    gone = "ERROR 1146 (42S02): Table 'performance_schema.ndb_nosuch' doesn't exist\n"
    assert sql(cluster, "SELECT * FROM performance_schema.ndb_nosuch;") == gone
    unknown = "ERROR 1109 (42S02): Unknown table 'TABLESPACES' in information_schema\n"
    assert sql(cluster, "SELECT * FROM INFORMATION_SCHEMA.TABLESPACES;") == unknown


def test_single_user_mode_keeps_other_servers_out(begun: Callable[[str], LiveCluster]) -> None:
    story = "ndb_mgm> ENTER SINGLE USER MODE 49\n! wait 20s\n"
    cluster = begun("8.4.8")
    table = cluster.plan.tables[0].full_name
    text = "".join(transcript(io.StringIO(f"{story}mysql> SELECT COUNT(*) FROM {table};\n"), cluster))
    assert "Single user mode entered" in text
    assert "1 row in set" in text, "the server of the mode itself reads on"


def test_a_change_meets_the_error_that_transactions_meet(cluster: LiveCluster) -> None:
    table = cluster.plan.tables[0]
    line = f"INSERT INTO {table.full_name} VALUES ({{}}, NULL, NULL);"
    assert refusing(cluster) == 0
    assert sql(cluster, line.format(10**9)) == "Query OK, 1 row affected (0.00 sec)\n"
    world.do("load x40", cluster)
    world.do("slow disk:data1/redo 2%", cluster)
    for _ in range(60):
        cluster.advance(5)
        if refusing(cluster):
            break
    code = refusing(cluster)
    assert code, "forty times the load is not refused by a disk of a fiftieth"
    said = sql(cluster, line.format(10**9 + 1))
    assert said.startswith("ERROR 1")
    assert any(text in said for text in (f"error {code} ", "1205", "1114"))


def test_a_subquery_that_stands_for_a_value_has_one_row(cluster: LiveCluster) -> None:
    one = "SELECT (SELECT MAX(node_id) FROM ndbinfo.nodes), 1 + (SELECT node_id FROM ndbinfo.nodes LIMIT 1);"
    assert cells(sql(cluster, one)) == [["6", "4"]]
    more = "SELECT node_id FROM ndbinfo.nodes WHERE node_id = (SELECT node_id FROM ndbinfo.nodes);"
    assert sql(cluster, more) == "ERROR 1242 (21000): Subquery returns more than 1 row\n"
    two = "SELECT (SELECT node_id, status FROM ndbinfo.nodes);"
    assert sql(cluster, two) == "ERROR 1241 (21000): Operand should contain 1 column(s)\n"
    inside = "SELECT COUNT(*) FROM (SELECT node_id FROM ndbinfo.nodes) x WHERE node_id IN (SELECT 3)"
    assert cells(sql(cluster, inside)) == [["1"]]


def test_texts_compare_as_in_the_collation_and_with_numbers_as_numbers(cluster: LiveCluster) -> None:
    line = "SELECT node_id FROM ndbinfo.nodes WHERE node_id = '3' AND status = 'Started';"
    assert cells(sql(cluster, line)) == [["3"]]


def test_a_division_by_zero_is_warned_of_where_the_server_is_strict(
    begun: Callable[[str], LiveCluster],
) -> None:
    assert "1 row in set, 1 warning " in sql(begun("8.4.8"), "SELECT 1/0;")
    assert "1 row in set (" in sql(begun("7.4.10"), "SELECT 1/0;")


def test_lines_are_parted_at_semicolons_outside_of_texts() -> None:
    found = taken("SELECT ';' ; SELECT 2\\G select `a;b`", Typing(), 80408)
    assert found.statements == [("SELECT ';'", False), ("SELECT 2", True), ("select `a;b`", False)]
    assert typed_list("SELECT DISTINCT a , f(b,c) x FROM t") == ["a", "f(b,c) x"]


def test_the_client_keeps_its_database_through_a_transcript(cluster: LiveCluster) -> None:
    story = (
        "mysql> USE ndbinfo;\nmysql> SELECT DATABASE(), COUNT(*) FROM nodes;\nmysql> SELECT * FROM nosuch;\n"
    )
    text = "".join(transcript(io.StringIO(story), cluster))
    assert "Database changed" in text
    assert ["ndbinfo", "4"] in cells(text)
    assert "Table 'ndbinfo.nosuch' doesn't exist" in text


WORDS = (
    "SELECT", "FROM", "WHERE", "ndbinfo.nodes", "ndbinfo.logspaces", "ndbinfo.memoryusage", "*", "COUNT(*)",
    "(", ")", ",", ";", "node_id", "used/total", "1/0", "'a", "'b'", "`", "JOIN", "USING(node_id)",
    "GROUP BY", "ORDER BY", "LIMIT", "-1", "1e400", "SHOW", "TABLES", "LIKE '%'", "VARIABLES", "USE",
    "DESC", "INSERT INTO", "UNION", "WITH RECURSIVE x AS", "@@version", "@@nothing", "\\G", "CONCAT(",
    "HAVING", "SUM(used)", "NULL", "IN", "AS", "\0", "é", "CAST(", "INTERVAL",
    "information_schema.partitions", "DELETE", "EXPLAIN", "9999999999999999999999",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_random_statements_never_raise_and_change_nothing(
    seed: int, begun: Callable[[str], LiveCluster]
) -> None:
    rng = random.Random(seed)
    cluster = begun(("8.4.8", "7.4.10")[seed % 2])
    before, client = (cluster.now_s, cluster.history, cluster.log_text()), Client()
    for _ in range(250):
        line = " ".join(rng.choices(WORDS, k=rng.randint(1, 9)))
        if rng.random() < 0.7:
            line = "SELECT " + line
        assert isinstance(client.answer(line, cluster), str), line
    after = (cluster.now_s, cluster.history, cluster.log_text())
    assert before == after


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("LEFT('abcd', 3)", "abc"), ("LEFT('ab', 9)", "ab"), ("LEFT('ab', -1)", ""),
        ("LEFT(NULL, 1)", "NULL"),
        ("RIGHT('abcd', 3)", "bcd"), ("RIGHT('ab', 9)", "ab"), ("RIGHT('ab', 0)", ""),
        ("RIGHT('ab', NULL)", "NULL"), ("LEFT(RIGHT(CONCAT('x', 'yz'), 2), 1)", "y"),
        ("LPAD('a', 3, 'xy')", "xya"), ("RPAD('a', 3, 'xy')", "axy"), ("LPAD('abc', 2, 'x')", "ab"),
        ("REPEAT('ab', 2)", "abab"), ("REPEAT('ab', -1)", ""), ("FLOOR(-1.5)", "-2"), ("CEIL(-1.5)", "-1"),
    ],
)  # fmt: skip
def test_functions_of_texts_and_numbers(asked: str, value: str, cluster: LiveCluster) -> None:
    assert cells(sql(cluster, f"SELECT {asked} FROM ndbinfo.nodes LIMIT 1;")) == [[value]]


def test_tables_of_ndbinfo_are_described(cluster: LiveCluster) -> None:
    names = tables_of(cluster.plan.version)["nodes"].columns
    assert [row[0] for row in cells(sql(cluster, "DESC ndbinfo.nodes;"))] == list(names)
    assert cells(sql(cluster, "DESC test.blobs_5k;"))[0][:2] == ["id", "int unsigned"]
    for words in ("DESC ndbinfo.nothing;", "SHOW CREATE TABLE ndbinfo.nothing;"):
        assert "ERROR 1146 (42S02): Table 'ndbinfo.nothing' doesn't exist" in sql(cluster, words)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT ~0", "18446744073709551615"),
        ("SELECT 18446744073709551615", "18446744073709551615"),
        ("SELECT 1 << 63", "9223372036854775808"),
        ("SELECT n FROM large WHERE n > 9223372036854775808", "18446744073709551615"),
        ("SELECT MIN(n) FROM large", "7"),
    ],
)
def test_whole_numbers_of_64_bits_keep_their_digits(cluster: LiveCluster, query: str, found: str) -> None:
    client = Client()
    client.answer(f"USE {cluster.plan.tables[0].database};", cluster)
    for line in (
        "CREATE TABLE large (n BIGINT UNSIGNED PRIMARY KEY) ENGINE=NDB;",
        "INSERT INTO large VALUES (18446744073709551615), (7);",
    ):
        assert client.answer(line, cluster).startswith("Query OK")
    assert cells(client.answer(f"{query};", cluster)) == [[found]]
    assert "1690" in client.answer("SELECT 18446744073709551615 + 1;", cluster)
    close = "SELECT n FROM large WHERE n > 18446744073709551000;"
    assert "not told apart" in client.answer(close, cluster)


def test_what_is_wrong_with_a_query_is_said_before_what_it_would_read(cluster: LiveCluster) -> None:
    table = cluster.plan.tables[0].full_name
    assert sql(cluster, f"SELECT * FROM {table} WHERE nosuch = 12;").startswith("ERROR 1054 (42S22)")


def test_without_autocommit_a_change_waits_for_commit(cluster: LiveCluster) -> None:
    client, table = Client(), "rolled"

    def count() -> str:
        return cells(client.answer(f"SELECT COUNT(*) FROM {table};", cluster))[0][0]

    client.answer(f"USE {cluster.plan.tables[0].database};", cluster)
    client.answer(f"CREATE TABLE {table} (a INT PRIMARY KEY) ENGINE=NDB;", cluster)
    client.answer("SET autocommit=0;", cluster)
    client.answer(f"INSERT INTO {table} VALUES (1);", cluster)
    client.answer("ROLLBACK;", cluster)
    assert count() == "0"
    client.answer(f"INSERT INTO {table} VALUES (2);", cluster)
    client.answer("SET autocommit = ON;", cluster)
    client.answer("ROLLBACK;", cluster)
    assert count() == "1"


def test_headings_are_those_of_the_query_behind_with(cluster: LiveCluster) -> None:
    printed = sql(cluster, "WITH c AS (SELECT 1 AS a) SELECT GROUP_CONCAT(a), MAX(a) FROM c;")
    assert "| GROUP_CONCAT(a) | MAX(a) |" in printed


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT 'a' = 'A', 'a' <> 'B', 'a' < 'B'", ["1", "1", "1"]),
        ("SELECT 1 = '1x', 'abc' > 1, 0 = 'abc', '10' > 9, 2 < '10'", ["1", "0", "1", "1", "1"]),
        ("SELECT NULL = 'a', NULL <=> 'a', 'a' <=> 'A'", ["NULL", "0", "1"]),
        ("SELECT COUNT(*) FROM ndbinfo.nodes WHERE node_id = '0'", ["0"]),
        ("SELECT COUNT(*) FROM ndbinfo.nodes WHERE status > 1", ["0"]),
    ],
)
def test_texts_are_compared_as_the_server_does(cluster: LiveCluster, query: str, found: list[str]) -> None:
    assert cells(sql(cluster, f"{query};")) == [found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (r"select 'a\';b'; select 2", [r"select 'a\';b'", "select 2"]),
        (r'select "x\";y"\G select `;`', [r'select "x\";y"', "select `;`"]),
        ("select 'it''s;'; select 1 -- it's; all", ["select 'it''s;'", "select 1 -- it's; all"]),
        ("select 5 /* ; ' */ ; # it's; no\nselect 7", ["select 5 /* ; ' */", "select 7"]),
        ("select 4--1; select 'open;", ["select 4--1"]),
    ],
)  # fmt: skip
def test_a_statement_ends_neither_in_a_text_nor_in_a_comment(line: str, expected: list[str]) -> None:
    assert [sql for sql, _ in taken(line, Typing(), 80408).statements] == expected


def test_an_aggregate_of_a_query_within_groups_nothing(cluster: LiveCluster) -> None:
    """`select id + (select count(*) from t) from t` was refused with 1140."""
    lines = [
        "mysql> create table test.few (id int primary key) engine=ndb;",
        "mysql> insert into test.few values (1), (2);",
        "mysql> select id + (select count(*) from test.few) as n from test.few order by 1;",
        "mysql> select id, count(*) from test.few;",
    ]
    said = "".join(transcript(lines, cluster)).splitlines()
    answers = [line.strip("| ") for line in said if line.startswith(("|", "ERROR"))]
    assert answers[:3] == ["n", "3", "4"]
    assert answers[3].startswith("ERROR 1140 (42000)")


WRITTEN = [
    (None, "int", 0), (True, "int", 0), (5.0, "text", 0), (5.5, "text", 0), ("abc", "int", 0),
    (5.0, "double", 0), (1.5, "decimal", 2), (7, "int", 0),
]  # fmt: skip


def test_numbers_are_written_as_their_kind_and_others_as_they_are() -> None:
    assert [written(value, Kind(name, digits)) for value, name, digits in WRITTEN] == [
        "NULL", "1", "5", "5.5", "abc", "5", "1.50", "7",
    ]  # fmt: skip


def test_a_view_of_ndbinfo_names_its_database_where_another_is_in_use(cluster: LiveCluster) -> None:
    """As a running 8.4.8 printed it from both."""
    client = Client()
    client.answer("USE test", cluster)
    away = client.answer("SHOW CREATE VIEW ndbinfo.nodes", cluster)
    assert "VIEW `ndbinfo`.`nodes` AS select `ndbinfo`.`ndb$nodes`.`node_id` AS `node_id`," in away
    assert "(case `ndbinfo`.`ndb$nodes`.`status` when 0 then 'NOTHING'" in away
    assert " from `ndbinfo`.`ndb$nodes` |" in away
    client.answer("USE ndbinfo", cluster)
    at_home = client.answer("SHOW CREATE TABLE nodes", cluster)
    assert "VIEW `nodes` AS select `ndb$nodes`.`node_id` AS `node_id`," in at_home
    assert "`ndbinfo`" not in at_home


def test_a_recursion_ends_where_the_session_says(cluster: LiveCluster) -> None:
    """The last round, which finds nothing more, is one of them."""
    client = Client()

    def count(most: int, word: str = "UNION ALL") -> str:
        rows = f"WITH RECURSIVE s(n) AS (SELECT 1 {word} SELECT n+1 FROM s WHERE n<{most}) SELECT n FROM s"
        return client.answer(f"SELECT COUNT(*) FROM ({rows}) q", cluster)

    assert "| 1000 |" in count(1000).replace(" ", "").replace("|", " | ")
    assert count(1001).startswith("ERROR 3636 (HY000): Recursive query aborted after 1001 iterations.")
    client.answer("SET cte_max_recursion_depth = 1500", cluster)
    assert "1500" in count(1500)
    assert "aborted after 1501 iterations" in count(1501)


KEPT_OUT = [
    "CREATE DATABASE information_schema", "DROP DATABASE IF EXISTS information_schema",
    "CREATE TABLE information_schema.x (a INT)", "DROP TABLE information_schema.tables",
    "INSERT INTO information_schema.tables VALUES (1)", "DELETE FROM INFORMATION_SCHEMA.tables",
    "RENAME TABLE test.blobs_1k TO information_schema.x", "TRUNCATE information_schema.tables",
    "ALTER TABLE test.blobs_1k RENAME TO information_schema.x",
]  # fmt: skip


def test_nobody_changes_information_schema(begun: Callable[[str], LiveCluster]) -> None:
    denied = (
        "ERROR 1044 (42000): Access denied for user 'root'@'localhost' to database 'information_schema'\n"
    )
    for version in ("7.4.10", "8.4.8"):
        cluster, client = begun(version), Client()
        assert {one: client.answer(one, cluster) for one in KEPT_OUT} == dict.fromkeys(KEPT_OUT, denied)
        client.answer("USE information_schema", cluster)
        assert client.answer("UPDATE tables SET table_name = 'x'", cluster) == denied
        assert client.answer("ALTER TABLE test.blobs_1k RENAME COLUMN nosuch TO y", cluster) != denied


def test_a_query_in_from_has_each_name_once(cluster: LiveCluster) -> None:
    client = Client()
    both = "SELECT COUNT(*) FROM (SELECT {} FROM ndbinfo.nodes n JOIN ndbinfo.membership m {}) x"
    twice = "ERROR 1060 (42S21): Duplicate column name 'node_id'\n"
    assert client.answer(both.format("*", "ON n.node_id = m.node_id"), cluster) == twice
    assert client.answer(both.format("m.*, n.node_id", "ON n.node_id = m.node_id"), cluster) == twice
    for shown, joins in (("*", "USING (node_id)"), ("n.*", "ON n.node_id = m.node_id"), ("*", "")):
        assert (client.answer(both.format(shown, joins), cluster) == twice) is not bool(joins)


def test_a_word_behind_a_column_that_no_server_reads_is_a_syntax_error(cluster: LiveCluster) -> None:
    client = Client()
    for engine in ("NDB", "InnoDB"):
        said = client.answer(f"CREATE TABLE test.u (id INT PRIMARY KEY a INT) ENGINE={engine}", cluster)
        assert said.startswith("ERROR 1064 (42000)")
        assert f"near 'a INT) ENGINE={engine}'" in said
        assert "1064" not in client.answer(f"CREATE TABLE test.v (id INT INVISIBLE) ENGINE={engine}", cluster)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("SHOW COLUMNS FROM g WHERE Field = 'ID'", ["id"]),
        ("SHOW FULL COLUMNS FROM g WHERE Type LIKE 'varchar%' AND `Null` = 'YES'", ["w"]),
        ("SHOW TABLES WHERE Tables_in_test = 'g' OR 1 = 0", ["g"]),
        ("SHOW FULL TABLES WHERE Table_type = 'VIEW'", []),
        ("SHOW TABLE STATUS WHERE Name IN ('g', 'h')", ["g"]),
        ("SHOW DATABASES WHERE `Database` LIKE 'm%'", ["mysql"]),
        ("SHOW CHARACTER SET WHERE Maxlen = 4 AND Charset LIKE 'u%b4'", ["utf8mb4"]),
    ],
)  # fmt: skip
def test_show_chooses_by_any_condition(line: str, found: list[str], cluster: LiveCluster) -> None:
    client = Client()
    client.answer("CREATE TABLE test.g (id INT PRIMARY KEY, w VARCHAR(5)) ENGINE=NDB; USE test", cluster)
    shown = [row.split()[1] for row in client.answer(line, cluster).splitlines() if row.startswith("|")]
    assert shown[1:] == found
    wrong = line.partition("WHERE")[0] + "WHERE nosuch = 1"
    assert client.answer(wrong, cluster).startswith("ERROR 1054 (42S22): Unknown column 'nosuch'")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SET autocommit = 2", "ERROR 1231 (42000): Variable 'autocommit' can't be set to the value of '2'"),
        ("SET NAMES nosuch", "ERROR 1115 (42000): Unknown character set: 'nosuch'"),
        ("SET CHARACTER SET 'nosuch'", "ERROR 1115 (42000): Unknown character set: 'nosuch'"),
        ("SET NAMES utf8", "Query OK, 0 rows affected"),
        ("SET NAMES latin1 COLLATE latin1_bin", "Query OK, 0 rows affected"),
        ("SELECT COUNT(*) FROM ndbinfo.nodes GROUP BY 5",
         "ERROR 1054 (42S22): Unknown column '5' in 'group statement'"),
    ],
)  # fmt: skip
def test_what_cannot_be_set_or_grouped_is_refused(line: str, said: str, cluster: LiveCluster) -> None:
    assert Client().answer(line, cluster).startswith(said)


def test_what_group_concat_joins_is_cut_with_a_warning_and_taken_once(cluster: LiveCluster) -> None:
    client = Client()
    client.answer("CREATE TABLE test.g (id INT PRIMARY KEY, w VARCHAR(5)) ENGINE=NDB; USE test", cluster)
    client.answer("INSERT INTO g VALUES (1, 'b'), (2, 'B'), (3, 'a'), (4, 'c')", cluster)
    assert "| b,a,c " in client.answer("SELECT GROUP_CONCAT(DISTINCT w ORDER BY id) FROM g", cluster)
    cut = client.answer("SELECT LENGTH(GROUP_CONCAT(REPEAT(w, 300) ORDER BY id)) l FROM g", cluster)
    assert "| 1024 |" in cut
    assert "| Warning | 1260 | Row 4 was cut by GROUP_CONCAT() |" in client.answer("SHOW WARNINGS", cluster)


UNKNOWN = [
    ("SELECT `nosuch`", "field list"), ("SELECT `nosuch` FROM ndbinfo.nodes", "field list"),
    ("SELECT node_id FROM ndbinfo.nodes WHERE `nosuch` = 1", "where clause"),
    ("SELECT node_id FROM ndbinfo.nodes ORDER BY `nosuch`", "order clause"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "where"), UNKNOWN)
def test_a_quoted_name_of_no_column_is_no_text(cluster: LiveCluster, asked: str, where: str) -> None:
    error = f"ERROR 1054 (42S22): Unknown column 'nosuch' in '{where}'\n"
    assert Client().answer(asked, cluster) == error


def test_whole_numbers_beyond_64_bits_are_no_error_of_the_server(cluster: LiveCluster) -> None:
    for number in (str(2**64), "9" * 44):
        assert Client().answer(f"SELECT {number}", cluster).startswith("ndbplan: decimals of more than")
    assert str(2**64 - 1) in Client().answer(f"SELECT {2**64 - 1}", cluster)


def test_the_client_prints_warnings_where_it_was_told_to(cluster: LiveCluster) -> None:
    client = Client()
    warned = "Warning (Code 1365): Division by 0\n"
    assert not client.answer("SELECT 1/0", cluster).endswith(warned)
    for word, back in (("\\W", "\\w"), ("warnings", "nowarning")):
        client.answer(word, cluster)
        assert client.answer("SELECT 1/0", cluster).endswith(f"1 warning (0.00 sec)\n\n{warned}")
        assert "Code" not in client.answer("SELECT nosuch", cluster)
        assert warned not in client.answer("SELECT 1", cluster)
        client.answer(back, cluster)
        assert not client.answer("SELECT 1/0", cluster).endswith(warned)
    assert client.answer("\\R x>", cluster) == "PROMPT set to 'x>'\n"


def test_what_is_open_has_a_prompt_of_its_own(cluster: LiveCluster) -> None:
    for begun, sign in (("SELECT 'a", "'"), ('SELECT "a', '"'), ("SELECT `a", "`"), ("SELECT 1 /* a", "/*")):
        assert Client().answer(begun, cluster) == f"    {sign}> \n"
    assert Client().answer("SELECT 'a' FROM", cluster) == "    -> \n"


def test_partitions_are_chosen_of_tables_that_name_them(cluster: LiveCluster) -> None:
    client = Client()
    client.answer(
        "CREATE TABLE test.p (a INT PRIMARY KEY) ENGINE=NDB PARTITION BY KEY() PARTITIONS 4", cluster
    )
    for shown in ("COUNT(*)", "*"):
        none = client.answer(f"SELECT {shown} FROM test.blobs_1k PARTITION (p0)", cluster)
        assert none == "ERROR 1747 (HY000): PARTITION () clause on non partitioned table\n"
        unknown = client.answer(f"SELECT {shown} FROM test.p PARTITION (p9)", cluster)
        assert unknown == "ERROR 1735 (HY000): Unknown partition 'p9' in table 'p'\n"
        assert client.answer(f"SELECT {shown} FROM test.p PARTITION (p1)", cluster).startswith(
            "ndbplan: rows of"
        )
    said = client.answer("SELECT * FROM test.p LOCK IN SHARE MODE NOWAIT", cluster)
    assert "1064" in said
    assert "near 'NOWAIT'" in said


@pytest.mark.parametrize(
    ("query", "head", "rows"),
    [
        ("SELECT 1 UNION SELECT 2.25 UNION ALL SELECT NULL", "1", ["1.00", "2.25", "NULL"]),
        ("SELECT NULL UNION SELECT 2.5 UNION SELECT 1", "NULL", ["NULL", "2.5", "1.0"]),
        ("SELECT 1 UNION SELECT 1e0/4", "1", ["1", "0.25"]),
        ("SELECT 'b' UNION SELECT 'a' UNION SELECT 'B'", "b", ["b", "a"]),
        ("SELECT 3 UNION SELECT 1 UNION SELECT 3 UNION ALL SELECT 3", "3", ["3", "1", "3"]),
        ("SELECT 3 UNION SELECT 1 ORDER BY 1 LIMIT 1", "3", ["1"]),
        ("(SELECT 1) UNION (SELECT 3.25) ORDER BY 1 DESC", "1", ["3.25", "1.00"]),
        ("SELECT n FROM (SELECT 2 n UNION SELECT 1 UNION SELECT 2) t", "n", ["2", "1"]),
        ("WITH a AS (SELECT 2 n) SELECT n FROM a UNION SELECT 1", "n", ["2", "1"]),
    ],
)
def test_a_union_has_the_kind_of_all_its_parts_and_their_order(
    query: str, head: str, rows: list[str], cluster: LiveCluster
) -> None:
    """Source: manual, UNION: types of all SELECTs count; rows come as they are found."""
    lines = Client().answer(query, cluster).splitlines()
    assert lines[1].strip("| ") == head
    assert [line.strip("| ") for line in lines[3:-3]] == rows


def test_so_many_warnings_are_shown_as_are_asked_for(cluster: LiveCluster) -> None:
    client = Client()
    client.answer("SELECT 'a'+1, 1/0, 'b'+1", cluster)
    every = client.answer("SHOW WARNINGS", cluster).splitlines()[3:6]
    for limit, shown in (("LIMIT 1", every[:1]), ("LIMIT 1, 9", every[1:]), ("LIMIT 1 OFFSET 2", every[2:])):
        found = client.answer(f"SHOW WARNINGS {limit}", cluster).splitlines()[3:-3]
        assert [row.split() for row in found] == [row.split() for row in shown], limit


def test_the_fragment_of_a_hot_key_has_most_of_the_operations_and_keeps_them() -> None:
    lesson = LESSONS.find("hot-key").value
    consoles = Consoles(LiveCluster.begin(plan_of(lesson.starts[0]), lesson.starts[0].workload))
    asked = (
        "mysql> SELECT node_id, fragment_num, tot_key_updates FROM ndbinfo.operations_per_fragment "
        "WHERE fq_name = 'test/def/blobs_5k' ORDER BY node_id, fragment_num;"
    )

    def updates() -> list[int]:
        return [int(row[2]) for row in cells(consoles.answer(asked))]

    def committed() -> int:
        sums = "mysql> SELECT SUM(val) FROM ndbinfo.counters WHERE counter_name='COMMITS'"
        return int(cells(consoles.answer(sums))[0][0])

    consoles.answer("! wait 30s")
    hot = updates()
    assert sum(hot) == pytest.approx(2 * committed(), rel=1e-3), "both replicas of every row"
    assert max(hot) > 2.0 * sum(hot) / len(hot)
    consoles.answer("! spread")
    assert updates() == pytest.approx(hot, rel=0.01), "what was done stays done"
    consoles.answer("! wait 60s")
    after = [new - old for new, old in zip(updates(), hot, strict=True)]
    assert min(after) > 0
    assert max(after) < 1.1 * sum(after) / len(after), "evenly from then on"
