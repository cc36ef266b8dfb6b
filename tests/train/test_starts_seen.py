"""What SHOW and STATUS say while data nodes start, held against a real cluster of 8.4.8."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ndbplan.base.kept import keeping
from ndbplan.simulate.events.orders import Kill
from ndbplan.train.answer import carry_out
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm.console import answer
from ndbplan.train.starts import StartProcess

from .recorded import recorded

_SEEN = Path(__file__).parent.parent / "reality" / "starts-8.4.8.json"
_SHOWN = re.compile(r"^id=([0-9]+)(?:\t@\S+  \([^,)]*(?:, )?([^)]*)\)$| \((not connected),)", re.MULTILINE)
_TOLD = re.compile(r"^Node ([0-9]+): (.*?)(?: \(mysql.*)?$", re.MULTILINE)


@pytest.fixture(scope="module")
def new() -> Callable[[], LiveCluster]:
    with keeping():
        cluster = LiveCluster.begin(recorded("8.4.8"), hours=0.5)
        cluster.advance(5.0)
    return cluster.branch


def start(cluster: LiveCluster, *node_ids: int) -> None:
    for node_id in node_ids:
        cluster.act(StartProcess(node_id))


def say(cluster: LiveCluster, line: str) -> str:
    return carry_out(answer(line, cluster), cluster).text


def stopped_one_after_the_other(cluster: LiveCluster) -> None:
    say(cluster, "3 STOP")
    say(cluster, "4 STOP -f")
    cluster.advance(3.0)
    start(cluster, 1, 2, 3, 4)


def restarted(cluster: LiveCluster) -> None:
    for order in answer("ALL RESTART", cluster).orders:
        cluster.act(order)


def one_is_missing(cluster: LiveCluster) -> None:
    say(cluster, "ALL STOP")
    start(cluster, 1, 2, 3)


def without_its_master(cluster: LiveCluster) -> None:
    for process in ("n4", "n1"):
        cluster.act(Kill(process))
        cluster.advance(1.0)
    start(cluster, 1)


@pytest.mark.parametrize(
    ("what", "begin"),
    [
        ("node 3 stopped, then node 4 -f; all started again", stopped_one_after_the_other),
        ("ALL RESTART", restarted),
        ("1 to 3 started, 4 missing", one_is_missing),
        ("master killed, nodes 1 and 4 started again", without_its_master),
    ],
)
def test_what_is_said_while_nodes_start(
    new: Callable[[], LiveCluster], what: str, begin: Callable[[LiveCluster], None]
) -> None:
    cluster = new()
    begin(cluster)
    said: dict[str, list[str]] = {"SHOW": [], "ALL STATUS": []}
    for _ in range(150):
        for command, form in (("SHOW", _SHOWN), ("ALL STATUS", _TOLD)):
            found = form.findall(answer(command, cluster).text.partition("[ndb_mgmd")[0])
            said[command].append("; ".join(f"{one[0]}: {''.join(one[1:])}" for one in found))
        cluster.advance(0.5)
    for command, expected in json.loads(_SEEN.read_text(encoding="utf-8"))[what].items():
        later = iter(said[command])
        missing = [one for one in expected if one not in later]
        assert missing == [], list(dict.fromkeys(said[command]))
