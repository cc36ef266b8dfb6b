"""What data nodes say of their memory while no user has a row."""

from __future__ import annotations

import pytest

from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.samples import sample_plan
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

_KINDS = ("Data memory", "Index memory")


def _consoles(version: str, **parameters: str | None) -> Consoles:
    """One node group of two nodes without tables."""
    plan = sample_plan("redo-overload").replace(ndb_version=version, tables=(), workloads=())
    for name, value in parameters.items():
        plan = set_parameter(plan, "data_node", name, value)
    consoles = Consoles(LiveCluster.begin(plan, hours=0.1))
    consoles.answer("mysql> create database d;")
    consoles.answer("mysql> use d;")
    return consoles


def _used(consoles: Consoles) -> dict[str, int]:
    answer = consoles.answer("mysql> select distinct memory_type, used from ndbinfo.memoryusage;")
    rows = [line.strip("| ").split("|") for line in answer.splitlines() if " memory" in line]
    return {kind.strip(): int(used) for kind, used in rows if kind.strip() in _KINDS}


def test_8_4_8_with_one_ldm_thread_and_one_empty_table() -> None:
    """Recorded with DataMemory=32M and NumCPUs=2: 655,360 bytes."""
    consoles = _consoles(
        "8.4.8", DataMemory="32M", IndexMemory=None, NumCPUs="2", MaxNoOfExecutionThreads=None
    )
    consoles.answer("mysql> create table f1 (id int primary key, pad varbinary(2000)) engine=ndb;")
    assert _used(consoles) == {"Data memory": 655_360}
    lines = consoles.answer("ndb_mgm> ALL REPORT MEMORYUSAGE").splitlines()
    data, index = lines[1], lines[2]
    # Pages of data and of hash indexes are 20 together.
    pages = [int(line.partition("%(")[2].split()[0]) for line in (data, index)]
    assert sum(pages) == 20
    assert all(pages)


def test_7_4_10_with_two_ldm_threads_and_two_empty_tables() -> None:
    """Recorded with DataMemory=10M and IndexMemory=2M: 1,081,344 and 368,640 bytes."""
    consoles = _consoles("7.4.10", DataMemory="10M", IndexMemory="2M", MaxNoOfExecutionThreads="4")
    for name in ("fix", "var"):
        consoles.answer(f"mysql> create table {name} (id int, primary key using hash (id)) engine=ndb;")
    assert _used(consoles) == {"Data memory": 1_081_344, "Index memory": 368_640}
    report = consoles.answer("ndb_mgm> ALL REPORT MEMORYUSAGE")
    assert "Data usage is 10%(33 32K pages of total 320)" in report
    assert "Index usage is 14%(45 8K pages of total 320)" in report


def test_7_4_10_with_40_000_rows() -> None:
    """Recorded: 113 pages of hash indexes, of the system and of 40,000 rows in four fragments."""
    consoles = _consoles("7.4.10", MaxNoOfExecutionThreads="4")
    consoles.answer("mysql> create table t1 (id int primary key) engine=ndb;")
    values = ",".join(f"({row})" for row in range(1_250))
    consoles.answer(f"mysql> insert into t1 values {values};")
    for rows in (1_250, 2_500, 5_000, 10_000, 20_000):
        more = f"insert into t1 select id + {rows} from t1;"
        assert consoles.answer(f"mysql> {more}").startswith(f"Query OK, {rows} rows")
    assert _used(consoles)["Index memory"] == pytest.approx(113 * 8192, rel=0.03)


@pytest.mark.parametrize("version", ["8.4.8", "7.4.10", "7.6", "8.0"])
def test_empty_tables_take_a_page_for_each_fragment_until_they_are_dropped(version: str) -> None:
    """Whatever is made, emptied and dropped again, nothing of it stays."""
    consoles = _consoles(version)
    before = _used(consoles)
    seen = [before]
    for number in range(3):
        consoles.answer(
            f"mysql> create table e{number} (id int primary key, u int, b blob, unique (u)) engine=ndb;"
        )
        seen.append(_used(consoles))
    kind = _KINDS[len(before) - 1]
    assert [one[kind] for one in seen] == sorted({one[kind] for one in seen})
    consoles.answer("mysql> insert into e2 values (1, 1, 'x');")
    consoles.answer("mysql> truncate table e2;")
    assert _used(consoles) == seen[-1]
    consoles.answer("mysql> drop table e0, e1, e2;")
    assert _used(consoles) == before
