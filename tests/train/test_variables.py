"""System variables: values by version and plan, what SET refuses, and lists that would not be whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.ndb.console import other_variables
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client

from .conftest import two_by_two

LARGEST = 2**64 - 1


def value(client: Client, name: str, cluster: LiveCluster) -> str:
    return client.answer(f"SELECT @@{name}", cluster).splitlines()[3].strip("| ")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("max_connections", "151", "151"), ("max_allowed_packet", "4194304", "67108864"),
     ("character_set_server", "latin1", "utf8mb4"), ("long_query_time", "10.000000", "10.000000"),
     ("event_scheduler", "0", "1")],
)  # fmt: skip
def test_variables_are_those_of_the_version(
    name: str, old: str, new: str, begun: Callable[[str], LiveCluster]
) -> None:
    assert [value(Client(), name, begun(v)) for v in ("7.4.10", "8.4.8")] == [old, new]


def test_what_the_plan_states_is_what_the_server_has() -> None:
    plan = two_by_two()
    node = plan.sql_nodes[0]
    stated = node.model_copy(update={"options": type(node.options)({"max_connections": "1K"})})
    others = tuple(stated if one.id == node.id else one for one in plan.processes)
    cluster, client = LiveCluster.begin(plan.replace(processes=others), hours=0.05), Client()
    assert value(client, "max_connections", cluster) == "1024"
    client.answer("SET GLOBAL max_connections = 7", cluster)
    listed = client.answer("SHOW VARIABLES LIKE 'max_conn%'", cluster)
    assert "| max_connections    | 7     |" in listed
    assert "| max_connect_errors | 100   |" in listed


def test_a_session_gets_no_more_rows_than_it_wants(cluster: LiveCluster) -> None:
    """sql_select_limit counts for whole queries without a LIMIT, not for what they read (manual 8.4)."""
    client = Client()
    nodes = "SELECT node_id FROM ndbinfo.nodes"
    whole = client.answer(nodes, cluster)
    client.answer("SET sql_select_limit = 1", cluster)
    for query, rows in (
        (nodes, 1), (f"{nodes} ORDER BY 1 DESC", 1), (f"{nodes} LIMIT 2", 2), (f"{nodes} UNION SELECT 1", 1),
        (f"SELECT 5 FROM (SELECT COUNT(*) n FROM ({nodes}) x) y WHERE n > 1", 1),
    ):  # fmt: skip
        assert f"\n{rows} row" in client.answer(query, cluster), query
    client.answer("SET sql_select_limit = 0", cluster)
    assert client.answer("SELECT COUNT(*) FROM ndbinfo.nodes", cluster).startswith("Empty set")
    client.answer("SET sql_select_limit = DEFAULT", cluster)
    assert client.answer(nodes, cluster) == whole


@pytest.mark.parametrize(
    ("statement", "name", "taken"),
    [
        (
            "SET sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
            "sql_mode",
            "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,",
        ),
        ("SET sql_mode = (SELECT REPLACE(@@sql_mode, 'ONLY_FULL_GROUP_BY', ''))", "sql_mode", "STRICT_TRANS"),
        ("SET group_concat_max_len = 1024 * 1024", "group_concat_max_len", "1048576"),
        ("SET @a = 7, wait_timeout = @a + 1, @b = 2", "wait_timeout", "8"),
        ("SET wait_timeout = TRUE", "wait_timeout", "1"),
        ("SET wait_timeout = +9", "wait_timeout", "9"),
        ("SET foreign_key_checks = (1 = 0)", "foreign_key_checks", "0"),
    ],
)
def test_values_are_worked_out(statement: str, name: str, taken: str, cluster: LiveCluster) -> None:
    client = Client()
    said = client.answer(f"{statement};", cluster)
    assert said == "Query OK, 0 rows affected (0.00 sec)\n"
    assert value(client, name, cluster).startswith(taken)


def test_a_set_that_is_refused_sets_nothing(cluster: LiveCluster) -> None:
    client = Client()
    assert client.answer("SET @a = 1, nosuch = 5;", cluster).startswith("ERROR 1193")
    assert client.answer("SET @a = 1, wait_timeout = '7';", cluster).startswith("ERROR 1232")
    assert "NULL" in client.answer("SELECT @a", cluster)
    assert client.answer("SET wait_timeout = 0, max_error_count = -1", cluster).count("2 warnings") == 1


@pytest.mark.parametrize("version", ["8.4.8", "7.4.10"])
def test_numbers_beyond_bounds_are_cut(version: str, begun: Callable[[str], LiveCluster]) -> None:
    """Each bound of the data file, from both sides: the last number is taken, the next is cut and told of."""
    cluster, client = begun(version), Client()
    bounded = {
        name: one for name, one in other_variables(cluster.plan.version).items() if one.least is not None
    }
    del bounded["default_week_format"]  # Its effect is not simulated, and it says so.
    assert len(bounded) >= 20
    for name, one in bounded.items():
        scope = "GLOBAL" if one.set in ("global", "begin") else "SESSION"
        for bound, step in ((one.least, -1), (one.most, 1)):
            assert bound is not None
            for given in (bound, bound + step):
                said = client.answer(f"SET {scope} {name} = {given}", cluster)
                if given > LARGEST:
                    # A number with so many digits is a DECIMAL.
                    assert said == f"ERROR 1232 (42000): Incorrect argument type to variable '{name}'\n"
                    continue
                cut = ", 1 warning" if given != bound else ""
                assert said == f"Query OK, 0 rows affected{cut} (0.00 sec)\n", (name, given)
                if given != bound:
                    warned = f"Truncated incorrect {name} value: '{given}'"
                    assert warned in client.answer("SHOW WARNINGS", cluster)
                shown = client.answer(f"SHOW {scope} VARIABLES LIKE '{name}'", cluster).splitlines()
                assert shown[3].split()[3] == str(bound), (name, given)


def test_what_is_set_for_all_reaches_sessions_that_begin_later(begun: Callable[[str], LiveCluster]) -> None:
    """Manual 8.4, Using System Variables: sessions keep their own; mysqld-auto.cnf outlasts a restart."""
    consoles = Consoles(begun("8.4.8"))

    def at(session: int, *names: str) -> list[str]:
        said = consoles.answer(f"mysql{session}> SELECT {', '.join(f'@@{one}' for one in names)}")
        return said.splitlines()[3].replace("|", " ").split()

    assert at(2, "sort_buffer_size", "wait_timeout") == ["262144", "28800"]
    for line in (
        "SET GLOBAL sort_buffer_size = 99999, GLOBAL max_connections = 7, autocommit = 0",
        "SET GLOBAL wait_timeout = 5, @@GLOBAL.interactive_timeout = 6, GLOBAL ndb_join_pushdown = OFF",
        "SET PERSIST long_query_time = 3, PERSIST_ONLY max_error_count = 9",
    ):
        assert consoles.answer(f"mysql> {line}") == "Query OK, 0 rows affected (0.00 sec)\n"
    shared = ("global.sort_buffer_size", "max_connections", "global.wait_timeout", "autocommit")
    assert at(2, *shared) == ["99999", "7", "5", "1"]
    assert at(2, "sort_buffer_size", "wait_timeout", "ndb_join_pushdown") == ["262144", "28800", "1"]
    assert at(3, "sort_buffer_size", "wait_timeout", "ndb_join_pushdown") == ["99999", "6", "0"]
    assert at(3, "max_error_count", "long_query_time", "server_id") == ["1024", "3", "49"]
    consoles.answer("mysql3> SET sort_buffer_size = 40000, sort_buffer_size = DEFAULT")
    assert at(3, "sort_buffer_size") == ["99999"]
    consoles.answer("mysql> RESET PERSIST long_query_time")
    assert "3615" in consoles.answer("mysql> RESET PERSIST long_query_time")
    for line in ("kill node:49", "wait 2s", "start node:49", "wait 60s"):
        consoles.answer(f"! {line}")
    assert at(4, "sort_buffer_size", "max_connections", "max_error_count") == ["262144", "151", "9"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SET max_connections = 5", "ERROR 1229 (HY000): Variable 'max_connections' is a GLOBAL variable"),
        ("SET GLOBAL max_connections = 'x'", "ERROR 1232 (42000): Incorrect argument type to variable"),
        ("SET GLOBAL general_log = 'maybe'", "ERROR 1231 (42000): Variable 'general_log' can't be set"),
        ("SET port = 5", "ERROR 1238 (HY000): Variable 'port' is a read only variable"),
        ("SET nosuch = 5", "ERROR 1193 (HY000): Unknown system variable 'nosuch'"),
        ("SET GLOBAL sql_log_bin = 0", "ERROR 1228 (HY000): Variable 'sql_log_bin' is a SESSION variable"),
        (
            "SET net_buffer_length = 1",
            "ERROR 1621 (HY000): SESSION variable 'net_buffer_length' is read-only",
        ),
        ("SET wait_timeout = 100", "Query OK, 0 rows affected"),
        ("SET ndb_optimization_delay = 20", "Query OK, 0 rows affected"),
        ("SET SESSION ndb_extra_logging = 5", "ERROR 1229 (HY000): Variable 'ndb_extra_logging' is a GLOBAL"),
        ("SET GLOBAL ndb_extra_logging = 5", "Query OK, 0 rows affected"),
        ("SET ndb_read_backup = 0", "ERROR 1229 (HY000): Variable 'ndb_read_backup' is a GLOBAL"),
        ("SET ndb_force_send = 0", "Query OK, 0 rows affected"),
        ("SET GLOBAL ndb_wait_setup = 1", "ERROR 1238 (HY000): Variable 'ndb_wait_setup' is a read only"),
        ("SET GLOBAL DataMemory = 5", "ERROR 1193 (HY000): Unknown system variable 'DataMemory'"),
        ("SET nosuch = (SELECT 1, 2)", "ERROR 1193 (HY000): Unknown system variable 'nosuch'"),
        ("SET @a = 1, GLOBAL nosuch = CONCAT('a', 'b')", "ERROR 1193 (HY000): Unknown system variable"),
        ("SET sql_mode = (SELECT 1, 2)", "ERROR 1241 (21000): Operand should contain 1 column(s)"),
        ("SET PASSWORD = 'x'", "ndbplan: accounts and roles are not simulated"),
        ("SELECT @@NoSuch", "ERROR 1193 (HY000): Unknown system variable 'NoSuch'"),
        ("SELECT @@nosuch", "ERROR 1193 (HY000): Unknown system variable 'nosuch'"),
        ("SELECT @@innodb_page_size", "ndbplan: the system variable innodb_page_size is not known here"),
        ("SELECT @x := 1", "ndbplan: @x := ... inside a statement"),
        ("SHOW VARIABLES LIKE 'gtid_n%'", "ndbplan: variables of such a name are not known here"),
        ("SHOW VARIABLES LIKE 'nosuch%'", "Empty set"),
        ("SHOW STATUS LIKE 'Innodb%'", "ndbplan: status variables of NDB, Uptime, Com_"),
        ("SHOW COLLATION LIKE 'xx%'", "ndbplan: the usual collations are known here"),
    ],
)
def test_what_is_not_known_is_not_denied(statement: str, said: str, cluster: LiveCluster) -> None:
    assert Client().answer(statement, cluster).startswith(said)


@pytest.mark.parametrize(
    ("version", "count", "first", "utf8"),
    [
        ("8.4.8", 41, "| armscii8 |", "| utf8mb3 | UTF-8 Unicode | utf8mb3_general_ci |      3 |"),
        ("7.4.10", 40, "| big5     |", "| utf8    | UTF-8 Unicode | utf8_general_ci    |      3 |"),
        ("7.1", 36, "| big5     |", "| utf8    | UTF-8 Unicode | utf8_general_ci   |      3 |"),
    ],
)
def test_character_sets_are_those_of_the_version(
    version: str, count: int, first: str, utf8: str, begun: Callable[[str], LiveCluster]
) -> None:
    """40 in the manual of 5.6, 41 in that of 8.0, which sorts them; four came with 5.5 and 5.6."""
    cluster = begun(version)
    said = Client().answer("SHOW CHARACTER SET", cluster)
    assert f"\n{count} rows in set (" in said
    assert said.splitlines()[3].startswith(first)
    narrow = Client().answer("show charset like 'utf8%'", cluster).splitlines()
    assert len(narrow) == 8 - (version == "7.1")
    assert version == "7.1" or utf8 in narrow


@pytest.mark.parametrize(
    ("line", "row", "note"),
    [
        ("SHOW VARIABLES LIKE '%timeout%'", "| wait_timeout                      | 28800    |", True),
        ("SHOW VARIABLES LIKE 'wait_timeout'", "| wait_timeout  | 28800 |", False),
        ("SHOW VARIABLES LIKE 'ndb%timeout'", "| ndb_schema_dist_timeout           | 120   |", False),
        ("SHOW STATUS LIKE '%number_of%'", "| Ndb_number_of_data_nodes       | 4     |", True),
        ("SHOW STATUS LIKE 'Ndb_number_of%'", "| Ndb_number_of_data_nodes       | 4     |", False),
    ],
)
def test_a_list_that_is_not_whole_says_so(line: str, row: str, note: bool, cluster: LiveCluster) -> None:
    said = Client().answer(line, cluster)
    assert row in said
    assert ("\nndbplan: these are known here, those of NDB all; a server " in said) is note


@pytest.mark.parametrize(
    ("version", "headings", "default", "of_0900"),
    [("8.4.8", 7, "utf8mb4_0900_ai_ci", 4), ("7.4.10", 6, "utf8mb4_general_ci", 0)],
)
def test_collations_are_those_of_the_version(
    version: str, headings: int, default: str, of_0900: int, begun: Callable[[str], LiveCluster]
) -> None:
    cluster = begun(version)
    said = Client().answer("SHOW COLLATION WHERE Charset = 'utf8mb4'", cluster)
    assert said.splitlines()[1].count("|") == headings + 1
    usual = [line for line in said.splitlines() if "| Yes     | Yes " in line]
    assert [line.split("|")[1].strip() for line in usual] == [default]
    assert "a server has more collations" in said
    whole = Client().answer("SHOW COLLATION LIKE 'latin1%'", cluster)
    assert "8 rows in set (" in whole
    assert "ndbplan" not in whole, "all of them"
    newer = Client().answer("SHOW COLLATION LIKE 'utf8mb4_0900%'", cluster)
    assert newer.startswith("Empty set" if not of_0900 else "+--")
    assert f"{of_0900} rows" in newer or not of_0900


def test_what_a_session_sets_for_itself_is_not_that_of_all(cluster: LiveCluster) -> None:
    client = Client()
    before = client.answer("SELECT @@GLOBAL.sql_mode", cluster)
    assert "ONLY_FULL_GROUP_BY" in before
    client.answer("SET SESSION sql_mode = ''", cluster)
    assert client.answer("SELECT @@GLOBAL.sql_mode", cluster) == before
    assert "ONLY_FULL_GROUP_BY" not in client.answer("SELECT @@sql_mode", cluster)
    assert "ONLY_FULL_GROUP_BY" in client.answer("SHOW GLOBAL VARIABLES LIKE 'sql_mode'", cluster)
    assert "ONLY_FULL_GROUP_BY" not in client.answer("SHOW VARIABLES LIKE 'sql_mode'", cluster)


def test_statements_are_counted_by_session_and_by_server(cluster: LiveCluster) -> None:
    first, second = Client(1), Client(2)

    def value(client: Client, what: str) -> int:
        said = client.answer(f"SHOW {what}", cluster)
        assert "the load's own is not counted" in said
        return int(said.splitlines()[3].split("|")[2])

    for line in ("SELECT 1", "select 2; SELECT nosuch", "SHOW TABLES FROM test", "BEGIN", "ROLLBACK"):
        first.answer(line, cluster)
    for line in ("USE test", "(SELECT 3)"):
        second.answer(line, cluster)
    assert value(first, "STATUS LIKE 'Com_select'") == 3
    assert value(first, "GLOBAL STATUS LIKE 'Com_select'") == 4
    assert value(first, "STATUS LIKE 'Com_begin'") == 1
    assert value(second, "STATUS LIKE 'Com_change_db'") == 1
    assert value(second, "STATUS LIKE 'Questions'") == 4
    assert value(first, "STATUS LIKE 'Com_show_status'") == 4
    assert value(first, "STATUS LIKE 'Threads_connected'") == 2
    assert value(first, "STATUS LIKE 'Threads_running'") == 1


def test_a_list_of_which_nothing_is_known_is_none(cluster: LiveCluster) -> None:
    for line in ("SHOW STATUS LIKE 'Handler%'", "SHOW VARIABLES LIKE 'gtid_n%'", "SHOW STATUS LIKE 'x%'"):
        assert Client().answer(line, cluster).startswith("ndbplan: "), line
    assert "| Uptime " in Client().answer("SHOW STATUS", cluster)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("'+00:00'", "Query OK"), ("SYSTEM", "Query OK"), ("'+02:00'", "ndbplan: times are those of UTC"),
        ("'Europe/Berlin'", "ERROR 1298 (HY000): Unknown or incorrect time zone: 'Europe/Berlin'"),
    ],
)  # fmt: skip
def test_hosts_have_utc_and_servers_no_names_of_zones(given: str, said: str, cluster: LiveCluster) -> None:
    client = Client()
    assert client.answer(f"SET time_zone = {given}", cluster).startswith(said)
    assert value(client, "time_zone", cluster) == (given.strip("'") if said == "Query OK" else "SYSTEM")


_TAKEN = "Query OK, 0 rows affected"
_PLAIN = "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO"


@pytest.mark.parametrize(
    ("version", "given", "said", "now"),
    [
        ("8.4.8", "''", _TAKEN, ""),
        ("8.4.8", f"'no_engine_substitution,{_PLAIN}'", _TAKEN, f"{_PLAIN},NO_ENGINE_SUBSTITUTION"),
        ("8.4.8", "TRADITIONAL", _TAKEN,
         "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
         "TRADITIONAL,NO_ENGINE_SUBSTITUTION"),
        ("7.4.10", "'ONLY_FULL_GROUP_BY'", _TAKEN, "ONLY_FULL_GROUP_BY"),
        ("7.4.10", "'NO_AUTO_CREATE_USER'", _TAKEN, "NO_AUTO_CREATE_USER"),
        ("8.4.8", "'NO_AUTO_CREATE_USER'", "ERROR 1231 (42000): Variable 'sql_mode' can't be set to", None),
        ("8.4.8", "'NOSUCH'", "ERROR 1231 (42000): Variable 'sql_mode' can't be set to the value", None),
        ("8.4.8", "'ANSI'", "ndbplan: what the mode ANSI does is not simulated", None),
        ("8.4.8", "'STRICT_TRANS_TABLES'", "ndbplan: ERROR_FOR_DIVISION_BY_ZERO, NO_ZERO", None),
        ("8.4.8", "CONCAT(@@sql_mode,',ANSI')", "ndbplan: ", None),
    ],
)  # fmt: skip
def test_modes_are_set_and_written_as_servers_do(
    version: str, given: str, said: str, now: str | None, begun: Callable[[str], LiveCluster]
) -> None:
    cluster, client = begun(version), Client()
    before = value(client, "sql_mode", cluster)
    assert client.answer(f"SET sql_mode = {given}", cluster).startswith(said)
    assert value(client, "sql_mode", cluster) == (before if now is None else now)
    assert client.answer("SET sql_mode = DEFAULT", cluster).startswith(_TAKEN)
    assert value(client, "sql_mode", cluster) == before


@pytest.mark.parametrize("version", ["8.4.8", "7.4.10"])
def test_modes_do_what_they_do_where_servers_have_them_by_themselves(
    version: str, begun: Callable[[str], LiveCluster]
) -> None:
    """7.4.10 without any of them, 8.4.8 with all: each says of the other's what that says."""
    cluster, client, other = begun(version).seen_by(1), Client(), Client(2)
    client.answer("create database d1", cluster)
    for one in (client, other):
        one.answer("use d1", cluster)
    client.answer("create table m (id int primary key, c varchar(3), k int) engine=ndb", cluster)
    for modes, refuses in ((f"ONLY_FULL_GROUP_BY,{_PLAIN},NO_ENGINE_SUBSTITUTION", True), ("", False)):
        client.answer(f"SET sql_mode = '{modes}'", cluster)
        assert (
            client.answer("insert into m values (1, 'long', 1)", cluster).startswith("ERROR 1406") is refuses
        )
        assert client.answer("select id, count(*) from m", cluster).startswith("ERROR 1140") is refuses
        assert (", 1 warning" in client.answer("select 1/0", cluster)) is refuses
        unknown = client.answer("create table x (id int primary key) engine=nosuch", cluster)
        assert unknown.startswith("ERROR 1286" if refuses else "ndbplan: which engine")
    is_strict = version == "8.4.8"
    assert other.answer("insert into m values (2, 'long', 1)", cluster).startswith("ERROR 1406") is is_strict


def test_modes_that_the_plan_states_count() -> None:
    plan = two_by_two()
    node = plan.sql_nodes[0]
    stated = node.model_copy(update={"options": type(node.options)({"sql-mode": "NO_ENGINE_SUBSTITUTION"})})
    others = tuple(stated if one.id == node.id else one for one in plan.processes)
    cluster, client = LiveCluster.begin(plan.replace(processes=others), hours=0.05), Client()
    assert ", 1 warning" not in client.answer("select 1/0", cluster)


def test_lengths_and_digits_that_a_session_sets_count(cluster: LiveCluster) -> None:
    """Manual, Server System Variables: from 4 bytes, and 0 to 30 digits; a division adds them."""
    client = Client()
    joined = "SELECT GROUP_CONCAT(n) g FROM (SELECT 10 n UNION SELECT 20 UNION SELECT 30) t"
    said = client.answer("SET group_concat_max_len=1", cluster)
    assert said.startswith("Query OK, 0 rows affected, 1 warning")
    assert "Truncated incorrect group_concat_max_len value: '1'" in client.answer("SHOW WARNINGS", cluster)
    assert [value(client, f"{of}group_concat_max_len", cluster) for of in ("", "global.")] == ["4", "1024"]
    assert "| 10,2 |" in client.answer(joined, cluster)
    assert "| 10,20,30 |" in Client().answer(joined, cluster)
    client.answer("SET group_concat_max_len=DEFAULT, div_precision_increment=2", cluster)
    assert "| 10,20,30 |" in client.answer(joined, cluster)
    row = client.answer("SELECT 1/3, AVG(n), 2/3*100 FROM (SELECT 1 n UNION SELECT 3) t", cluster)
    assert "| 0.33 |   2.00 |   66.67 |" in row
    assert "| 0.3333 |" in Client().answer("SELECT 1/3", cluster)


@pytest.mark.parametrize("literal", ["b'12'", "x'1'", "X'zz'", "x'FFF'", "B'1 '"])
def test_literals_that_are_none_end_the_reading(literal: str, cluster: LiveCluster) -> None:
    """Manual, Hexadecimal Literals: an odd number of digits is an error of the syntax."""
    said = Client().answer(f"SELECT 'b\\'2', {literal} FROM t", cluster)
    assert said.startswith("ERROR 1064 (42000)")
    assert f"near '{literal} FROM t' at line 1" in said
