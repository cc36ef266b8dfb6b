"""Statements that read or write files, end other sessions, or ask for a binary log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster


@pytest.mark.parametrize(
    ("version", "line", "said"),
    [
        ("8.4.8", "load data infile '/tmp/x.csv' into table t", "ERROR 1290 (HY000)"),
        ("7.6.20", "load data infile '/tmp/x.csv' into table t", "ERROR 1290 (HY000)"),
        ("7.4.10", "load data infile '/tmp/x.csv' into table t", "ndbplan: files"),
        ("8.4.8", "load data local infile '/tmp/x.csv' into table t", "ERROR 3948 (42000)"),
        (
            "7.6.20",
            "load data local infile '/tmp/x.csv' into table t",
            "ERROR 2 (HY000): File '/tmp/x.csv' not",
        ),
        ("8.4.8", "select 1 into outfile '/tmp/x'", "ERROR 1290 (HY000)"),
        ("7.4.10", "select 1 into outfile '/tmp/x'", "ndbplan: files"),
        ("8.4.8", "load tables", "ERROR 1064 (42000)"),
        ("8.4.8", "kill 999", "ERROR 1094 (HY000): Unknown thread id: 999"),
        ("8.4.8", "kill query 999", "ERROR 1094 (HY000): Unknown thread id: 999"),
        ("8.4.8", "kill x", "ERROR 1064 (42000)"),
        ("8.4.8", "kill 8", "ERROR 1317 (70100): Query execution was interrupted"),
        ("7.4.10", "show binary logs", "ERROR 1381 (HY000): You are not using binary logging"),
        ("7.4.10", "show master status", "Empty set"),
        ("8.4.8", "show master status", "ERROR 1064 (42000)"),
        ("8.4.8", "set unique_checks=0", "Query OK"),
    ],
)
def test_what_a_server_with_its_defaults_says(
    version: str, line: str, said: str, begun: Callable[[str], LiveCluster]
) -> None:
    assert Consoles(begun(version)).answer(f"mysql> {line}").startswith(said)


def test_how_long_a_server_runs(cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    say("! wait 100s")
    told = f"| Uptime        | {int(cluster.now_s)}   |"
    assert told in say("mysql> show global status like 'uptime'")
