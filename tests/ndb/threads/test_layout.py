from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from ndbplan.ndb.threads.layout import ThreadConfigError, thread_counts
from ndbplan.ndb.threads.written import written_threads
from ndbplan.ndb.version import NdbVersion

REALITY = Path(__file__).parent.parent.parent / "reality" / "clusters"
V74, V84 = NdbVersion.parse("7.4.10"), NdbVersion.parse("8.4.8")


def _settings(text: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in re.split(r"; ", text) if "=" in item)


@pytest.mark.parametrize(
    "row", json.loads((REALITY / "thread-map-7.4.10.json").read_text())["rows"], ids=lambda r: str(r["value"])
)
def test_threads_of_7_4(row: dict[str, object]) -> None:
    given = {str(row["param"]): row["value"]} if row["param"] else {}
    counts = thread_counts(V74, given, cores=8)
    assert (counts.ldm, counts.tc, counts.send, counts.recv) == (
        row["ldm_threads"],
        row["tc"],
        row["send"],
        row["recv"],
    )
    assert written_threads(counts) == row["parsed"]


def _reported() -> list[dict[str, str]]:
    with (REALITY / "datanode-memory-report.csv").open() as file:
        return list(csv.DictReader(file))


def test_threads_of_8_4_for_every_reported_setting() -> None:
    for row in _reported():
        counts = thread_counts(V84, _settings(row["settings"]), cores=2)
        found = {
            "main_and_rep": counts.main + counts.rep,
            "ldm": counts.ldm,
            "tc": counts.tc,
            "recv": counts.recv,
            "send": counts.send,
            "query": counts.query,
            "recover": counts.recover,
            "block_threads": counts.block_threads,
        }
        assert found == {name: int(row[name]) for name in found}, row["settings"]


@pytest.mark.parametrize(
    "text",
    [
        "main={count=0},rep={count=0},recv={count=2},ldm={count=0},tc={count=0}",
        "main={count=1},rep={count=1},recv={count=1},ldm={count=0}",
        "ldm={count=0},tc={count=1}",
        "ldm={count=0},query={count=4}",
        "ldm={count=4},query={count=3}",
    ],
)
def test_what_a_data_node_refuses_is_refused(text: str) -> None:
    with pytest.raises(ThreadConfigError) as caught:
        thread_counts(V84, {"ThreadConfig": text}, cores=8)
    assert caught.value.fix


@pytest.mark.parametrize("text", ["ldm={count=4", "worker={count=2}", "ldm={count=500}", "ldm=4"])
def test_what_cannot_be_read_names_the_place(text: str) -> None:
    with pytest.raises(ThreadConfigError) as caught:
        thread_counts(V84, {"ThreadConfig": text}, cores=8)
    assert caught.value.where == "ThreadConfig"


def test_cpu_lists_do_not_end_an_entry() -> None:
    counts = thread_counts(
        V84, {"ThreadConfig": "ldm={count=4,cpubind=1,2,5-6},main={cpubind=0},tc"}, cores=8
    )
    assert (counts.ldm, counts.main, counts.tc, counts.recv) == (4, 1, 1, 1)


def test_old_versions_have_fewer_ldm_threads() -> None:
    most = {"MaxNoOfExecutionThreads": 72}
    assert thread_counts(NdbVersion.parse("6.3"), most, cores=8).ldm == 1
    assert thread_counts(NdbVersion.parse("7.1"), most, cores=8).ldm == 4
    assert thread_counts(NdbVersion.parse("7.2.10"), most, cores=8).ldm == 16
    assert thread_counts(NdbVersion.parse("7.6"), most, cores=8).ldm == 32
