"""Threads with their CPUs as ndb_mgmd writes them out; cases of the product's own test of thr_config.cpp."""

from __future__ import annotations

import re

import pytest

from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.ndb.threads.written import written_threads
from ndbplan.ndb.values import parse_cpu_list
from ndbplan.ndb.version import NdbVersion


def _bound(text: str) -> dict[str, list[int | None]]:
    found: dict[str, list[int | None]] = {}
    for kind, cpu in re.findall(r"(\w+)(?:=\{cpubind=(\d+)\})?", text):
        found.setdefault(kind, []).append(int(cpu) if cpu else None)
    return found


@pytest.mark.parametrize(
    ("cpus", "ldm", "ends", "of_main", "of_ldm", "of_recv", "of_rep"),
    [
        # main, rep: none (8.x)
        ("1-8", 4, 0, [], [1, 2, 3, 4], [5], []),
        ("1-3", 4, 0, [], [2, 3, 2, 3], [1], []),
        ("1-4", 4, 0, [], [2, 3, 4, 2], [1], []),
        ("1-2", 1, 0, [], [1], [2], []),
        # one each (7.x)
        ("1-8", 4, 1, [1], [2, 3, 4, 5], [6], [7]),
        ("1-5", 4, 1, [5], [1, 2, 3, 4], [5], [5]),
        ("1-6", 4, 1, [5], [1, 2, 3, 4], [6], [5]),
        ("1-3", 4, 1, [1], [2, 3, 2, 3], [1], [1]),
        ("1-4", 4, 1, [1], [2, 3, 4, 2], [1], [1]),
        # LockExecuteThreadToCPU=40-41 with MaxNoOfExecutionThreads=4, printed by a data node of 8.4.8
        ("40-41", 2, 1, [40], [41, 41], [40], [40]),
        ("7", 2, 1, [7], [7, 7], [7], [7]),
        ("7,7,7", 2, 1, [7], [7, 7], [7], [7]),
    ],
)
def test_cpus_are_shared_out(
    cpus: str,
    ldm: int,
    ends: int,
    of_main: list[int],
    of_ldm: list[int],
    of_recv: list[int],
    of_rep: list[int],
) -> None:
    counts = ThreadCounts(ldm=ldm, tc=0, recv=1, send=0, main=ends, rep=ends, query=0)
    found = _bound(written_threads(counts, parse_cpu_list(cpus, NdbVersion.parse("8.4"))))
    assert found.get("main", []) == of_main
    assert found["ldm"] == of_ldm
    assert found["recv"] == of_recv
    assert found.get("rep", []) == of_rep


def test_threads_with_tc_have_a_cpu_each_in_the_order_of_kinds() -> None:
    counts = ThreadCounts(ldm=1, tc=1, recv=1, send=1, main=1, rep=1, query=0)
    text = "main={cpubind=1},ldm={cpubind=2},recv={cpubind=3},rep={cpubind=4},tc={cpubind=5},send={cpubind=9}"
    assert written_threads(counts, (9, 1, 2, 3, 4, 5)) == text


def test_real_time_and_spinning_are_said_of_each_thread() -> None:
    counts = ThreadCounts(ldm=1, tc=1, recv=1, send=0, main=1, rep=1, query=0)
    text = written_threads(counts, (), 9001, realtime=True)
    each = "={spintime=9000,realtime=1}"
    assert text == (
        f"main{each},ldm{each},recv{each},rep{each},io={{realtime=1}},watchdog={{realtime=1}},tc{each}"
    )
