"""Variables that somebody makes in a session, and functions that wait or make a number of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

Ask = Callable[[str], str]


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    consoles = Consoles(cluster)
    return lambda sql: consoles.answer(f"mysql> {sql};")


def _cells(answer: str) -> list[str]:
    return [cell.strip() for cell in answer.splitlines()[3].strip("|").split("|")]


def test_a_variable_keeps_what_it_was_given(ask: Ask) -> None:
    assert ask("set @x = 5, @y := @x + 1, @t = 'a,b', @n = -3").startswith("Query OK, 0 rows affected")
    assert _cells(ask("select @x, @y, @t, @n, @never")) == ["5", "6", "a,b", "-3", "NULL"]
    assert _cells(ask("select id from test.blobs_1k where id = @x")) == ["5"]
    assert ask("set @x").startswith("ERROR 1064 (42000)")


def test_a_query_goes_into_variables_row_by_row(ask: Ask) -> None:
    assert ask("select 7, 'b' into @p, @q") == "Query OK, 1 row affected (0.00 sec)\n"
    assert _cells(ask("select @p + 1, @q")) == ["8", "b"]
    assert ask("select id into @z from test.blobs_1k where id = -1").startswith(
        "Query OK, 0 rows affected, 1 w"
    )
    assert "1329" in ask("show warnings")
    many = "ERROR 1172 (42000): Result consisted of more than one row\n"
    assert ask("select id into @z from test.blobs_1k limit 2") == many
    wide = "ERROR 1222 (21000): The used SELECT statements have a different number of columns\n"
    assert ask("select 1 into @a, @b") == wide


def test_time_passes_while_a_query_sleeps(ask: Ask, cluster: LiveCluster) -> None:
    before_s = cluster.now_s
    answer = ask("select sleep(1.5)")
    assert (_cells(answer), answer.splitlines()[-2]) == (["0"], "1 row in set (1.50 sec)")
    assert cluster.now_s - before_s == pytest.approx(1.5, abs=0.11)
    first, second = _cells(ask("select uuid(), uuid()"))
    assert first != second
    assert [len(part) for part in first.split("-")] == [8, 4, 4, 4, 12]


def test_an_older_server_lists_the_parameters_that_its_script_knew(
    begun: Callable[[str], LiveCluster],
) -> None:
    consoles = Consoles(begun("7.4.10"))
    count = consoles.answer("mysql> select count(*) from ndbinfo.config_params;")
    assert _cells(count) == ["127"]
    first = consoles.answer("mysql> select * from ndbinfo.config_params limit 20;").splitlines()
    assert (first[3].split()[1], first[22].split()[1:4]) == ("179", ["174", "|", "SchedulerExecutionTimer"])
