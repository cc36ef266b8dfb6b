"""System variables: values by version and plan, what SET refuses, and lists that would not be whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client

from .conftest import two_by_two


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


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SET max_connections = 5", "ERROR 1229 (HY000): Variable 'max_connections' is a GLOBAL variable"),
        ("SET GLOBAL max_connections = 'x'", "ERROR 1232 (42000): Incorrect argument type to variable"),
        ("SET GLOBAL general_log = 'maybe'", "ERROR 1231 (42000): Variable 'general_log' can't be set"),
        ("SET port = 5", "ERROR 1238 (HY000): Variable 'port' is a read only variable"),
        ("SET nosuch = 5", "ERROR 1193 (HY000): Unknown system variable 'nosuch'"),
        ("SET sql_mode = ''", "ndbplan: what sql_mode does"),
        ("SET wait_timeout = 100", "Query OK, 0 rows affected"),
        ("SET ndb_optimization_delay = 20", "Query OK, 0 rows affected"),
        ("SET SESSION ndb_extra_logging = 5", "ERROR 1229 (HY000): Variable 'ndb_extra_logging' is a GLOBAL"),
        ("SET GLOBAL ndb_extra_logging = 5", "Query OK, 0 rows affected"),
        ("SET ndb_read_backup = 0", "ERROR 1229 (HY000): Variable 'ndb_read_backup' is a GLOBAL"),
        ("SET ndb_force_send = 0", "Query OK, 0 rows affected"),
        ("SET GLOBAL ndb_wait_setup = 1", "ERROR 1238 (HY000): Variable 'ndb_wait_setup' is a read only"),
        ("SELECT @@nosuch", "ERROR 1193 (HY000): Unknown system variable 'nosuch'"),
        ("SELECT @@innodb_page_size", "ndbplan: the system variable innodb_page_size is not known here"),
        ("SELECT @x := 1", "ndbplan: @x := ... inside a statement"),
        ("SHOW VARIABLES", "ndbplan: a server has hundreds"),
        ("SHOW VARIABLES LIKE '%timeout%'", "ndbplan: a server has hundreds"),
        ("SHOW VARIABLES LIKE 'nosuch%'", "Empty set"),
        ("SHOW STATUS LIKE 'Threads%'", "ndbplan: status variables of NDB are known"),
    ],
)
def test_what_is_not_known_is_not_denied(statement: str, said: str, cluster: LiveCluster) -> None:
    assert Client().answer(statement, cluster).startswith(said)
