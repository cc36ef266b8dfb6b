"""Memory that rows typed at the mysql client take, and where it is full."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.stored import distribute
from ndbplan.plan.samples import sample_plan
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import partitions_of

Ask = Callable[[str], str]
_FIXED = "create table t (id int, a char(200), primary key using hash (id)) engine=ndb;"
_ONE_LDM_THREAD: dict[str, str | None] = {
    "NumCPUs": "2",
    "MaxNoOfExecutionThreads": None,
    "IndexMemory": None,
}
"""As the 8.4.8 had that is recorded."""
_VARIABLE = "create table t (id int primary key, pad varbinary(2000)) engine=ndb;"


def _begun(version: str, **parameters: str | None) -> LiveCluster:
    """One node group without tables."""
    plan = sample_plan("redo-overload").replace(ndb_version=version, tables=(), workloads=())
    for name, value in parameters.items():
        plan = set_parameter(plan, "data_node", name, value)
    cluster = LiveCluster.begin(plan, hours=0.1)
    cluster.advance(2.0)
    return cluster


def _asking(cluster: LiveCluster) -> Ask:
    consoles = Consoles(cluster)
    consoles.answer("mysql> create database d;")
    consoles.answer("mysql> use d;")
    return lambda line: consoles.answer(f"mysql> {line}")


@pytest.fixture(scope="module")
def ask_in() -> Callable[[str], Ask]:
    """The mysql client of a cluster of a version."""
    known = {version: _begun(version) for version in ("8.4.8", "7.4.10")}
    return lambda version: _asking(known[version].branch())


def _put(ask: Ask, rows: range, value: str) -> str:
    return ask(f"insert into t values {','.join(f'({row},{value})' for row in rows)};")


def _used(ask: Ask) -> dict[str, int]:
    """Bytes in use by kind of memory, alike on both nodes."""
    answer = ask(
        "select distinct memory_type, used from ndbinfo.memoryusage where memory_type like '% memory';"
    )
    rows = [line.strip("| ").split("|") for line in answer.splitlines() if " memory" in line]
    return {kind.strip(): int(used) for kind, used in rows if used.strip().isdigit()}


def test_typed_rows_fill_memory_where_a_running_8_4_8_was_full() -> None:
    """Recorded: 14,500 rows of 2,000 bytes fit in 32M, 500 more do not; DELETE of 500 gives back 31 pages."""
    ask = _asking(_begun("8.4.8", **_ONE_LDM_THREAD, DataMemory="32M"))
    ask(_VARIABLE)
    empty = _used(ask)["Data memory"]
    _put(ask, range(1, 501), "repeat('x', 2000)")
    for rows in (500, 1_000, 2_000, 4_000, 6_500):
        more = f"insert into t select id + (select count(*) from t), pad from t where id <= {rows};"
        assert ask(more).startswith(f"Query OK, {rows} rows"), rows
    full = _used(ask)["Data memory"]
    assert full == pytest.approx(31_424_512, rel=0.01)
    assert (
        _put(ask, range(14_501, 15_001), "repeat('x', 2000)") == "ERROR 1114 (HY000): The table 't' is full\n"
    )
    assert "Got error 827 " in ask("show warnings;")
    assert _used(ask)["Data memory"] == full
    assert ask("update t set pad = repeat('z', 2000) where id = 1;").startswith("Query OK, 1 row affected")
    assert ask("delete from t where id <= 500;").startswith("Query OK, 500 rows affected")
    assert full - _used(ask)["Data memory"] == pytest.approx(31_850_496 - 30_834_688, rel=0.05)
    assert ask("insert into t values (1, repeat('x', 2000));").startswith("Query OK, 1 row affected")
    row = 20_001
    while ask(f"insert into t values ({row}, repeat('x', 2000));").startswith("Query OK"):
        row += 1
    assert ask("create index i1 on t (pad);") == "ERROR 1114 (HY000): The table 't' is full\n"
    assert "Got error 625 " in ask("show warnings;")
    ask("truncate table t;")
    assert _used(ask)["Data memory"] == empty


def test_a_statement_meets_first_what_is_full_first() -> None:
    """Recorded on 8.4.8: all rows once more into a full DataMemory meet 827, not 410 of a small log."""
    small = {"NoOfFragmentLogFiles": "4", "FragmentLogFileSize": "8M", "RedoBuffer": "16M"}
    ask = _asking(_begun("8.4.8", **_ONE_LDM_THREAD, **small, DataMemory="32M"))
    ask(_VARIABLE)
    for first in range(1, 14_001, 500):
        assert _put(ask, range(first, first + 500), "repeat('x', 2000)").startswith("Query OK")
    again = "insert into t select id + 1000000, pad from t;"
    assert ask(again) == "ERROR 1114 (HY000): The table 't' is full\n"
    assert "Got error 827 " in ask("show warnings;")
    # Where the log ends before the memory, it is the log's.
    ask = _asking(_begun("8.4.8", **_ONE_LDM_THREAD, **small, DataMemory="320M"))
    ask(_VARIABLE)
    for first in range(1, 14_001, 500):
        assert _put(ask, range(first, first + 500), "repeat('x', 2000)").startswith("Query OK")
    assert ask(again).startswith("ERROR 1297 (HY000): Got temporary error 410 ")


def test_what_is_deleted_keeps_pages_of_fixed_size(ask_in: Callable[[str], Ask]) -> None:
    """Recorded on 7.4.10: neither DELETE nor OPTIMIZE gives memory back, TRUNCATE does."""
    ask = ask_in("7.4.10")
    before = _used(ask)
    ask(_FIXED)
    assert _put(ask, range(2_000), "'x'").startswith("Query OK, 2000 rows")
    held = _used(ask)
    for kind in ("Data memory", "Index memory"):
        assert held[kind] > before[kind], kind
    ask("delete from t where id < 1900;")
    ask("optimize table t;")
    assert _used(ask) == held
    _put(ask, range(1_900), "'x'")
    assert _used(ask) == held, "rows of the same table take the place"
    ask("drop table t;")
    assert _used(ask) == before


@pytest.mark.parametrize("version", ["8.4.8", "7.4.10"])
@pytest.mark.parametrize(
    "table", [_FIXED, _VARIABLE, "create table t (id bigint, b text, unique (id)) engine=ndb;"]
)
def test_typed_rows_take_what_planned_ones_take(
    ask_in: Callable[[str], Ask], version: str, table: str
) -> None:
    """In three statements as in one; what is rolled back keeps pages of fixed size."""
    ask = ask_in(version)
    ask(table)
    for first in (0, 700, 800):
        _put(ask, range(first, first + 100), "repeat('y', 200)")
    in_steps = _used(ask)
    ask("truncate table t;")
    empty = _used(ask)
    ask("begin;")
    _put(ask, range(300), "repeat('y', 200)")
    assert _used(ask) == in_steps
    assert in_steps["Data memory"] > empty["Data memory"]
    ask("rollback;")
    fixed = _used(ask)
    assert empty["Data memory"] < fixed["Data memory"] <= in_steps["Data memory"]
    _put(ask, range(300), "repeat('y', 200)")
    assert _used(ask) == in_steps


def test_typed_rows_lie_where_the_plan_says(cluster: LiveCluster) -> None:
    """Where a table lies depends on those before it, and memory is taken there."""
    ask = _asking(cluster)
    for name in ("one", "two", "three"):
        ask(
            f"create table {name} (id int primary key, c char(200)) engine=ndb "
            "partition by key() partitions 1;"
        )
    ask("insert into three select n.node_id + 1000 * m.node_id, 'x' from ndbinfo.nodes n, ndbinfo.nodes m;")
    plan = cluster.plan
    table = next(one for one in plan.tables if one.name == "three")
    planned = [(p.nodes, p.ldm, p.log_part) for p in distribute(plan, table).partitions]
    found = partitions_of(cluster.session.simulation, plan, table)
    assert [(p.nodes, p.ldm, p.log_part) for p in found] == planned
    nodes = [one.nodes[0].node_id for one in cluster.session.simulation.scenario.node_classes]
    size = cluster.state.typed_pages[table.id].size
    taken = {node_id for node_id, (_, data, _, _) in zip(nodes, size, strict=True) if data}
    assert taken == {node_id for part in found for node_id in part.nodes}
    assert len(taken) == 2, "one node group"


def test_a_unique_index_needs_room_in_index_memory() -> None:
    """Recorded on 7.4.10: 1114 with 625 inside where rows fill IndexMemory; an ordered index has no hash."""
    ask = _asking(_begun("7.4.10", DataMemory="40M", IndexMemory="2M", MaxNoOfExecutionThreads="4"))
    ask("create table t (id int not null, v int, primary key using hash (id)) engine=ndb;")
    values = ",".join(f"({row},{row})" for row in range(1_000))
    ask(f"insert into t values {values};")
    assert ask("create unique index soon on t (id);").startswith("Query OK")
    ask("drop index soon on t;")
    rows, step = 1_000, 1_000
    while step > 10:
        more = f"insert into t select id + {rows}, v from t where id < {step};"
        if ask(more).startswith("Query OK"):
            rows += step
            step = min(rows, 16_000)
        else:
            assert "Got error 625 " in ask("show warnings;")
            step //= 2
    assert ask("create unique index nix on t (id);") == "ERROR 1114 (HY000): The table 't' is full\n"
    assert "Got error 625 " in ask("show warnings;")
    assert "nix" not in ask("show create table t;")
    assert ask("create index o on t (v);").startswith("Query OK")


def test_system_tables_are_those_of_the_release() -> None:
    """Pages of rows as recorded of 7.4.10 and 8.4.8; the former hold up to 8.3."""
    used = {
        version: _used(_asking(_begun(version)))["Data memory"] for version in ("8.3.0", "8.4.0", "8.4.8")
    }
    assert used["8.4.0"] == used["8.4.8"]
    # Pages of hash indexes (8 KiB): one of nine tables in each of eight fragments, and nine second ones.
    assert used["8.3.0"] == (33 + -(-(9 * 8 + 9) // 4)) * 32768
    assert used["8.4.0"] == (12 + -(-(9 * 8 + 9) // 4)) * 32768


def test_copies_of_many_rows_need_room_in_data_memory() -> None:
    """Recorded on 7.4.10, DataMemory 10M full: one row is deleted, 10,000 in a statement are not."""
    ask = _asking(_begun("7.4.10", DataMemory="10M", MaxNoOfExecutionThreads="4", IndexMemory="2M"))
    ask("create table fix (id int, a char(200), primary key using hash (id)) engine=ndb;")
    rows, step = 0, 2_000
    while step:
        values = ",".join(f"({row},'x')" for row in range(rows, rows + step))
        if ask(f"insert into fix values {values};").startswith("Query OK"):
            rows += step
        else:
            step //= 10
    assert rows > 20_000
    assert ask("update fix set a='changed' where id=500;").startswith("Query OK, 1 row affected")
    assert ask("delete from fix where id=501;").startswith("Query OK, 1 row affected")
    full, inside = "The table 'fix' is full", "| Warning | 1296 | Got error 827 "
    for many in ("delete from fix limit 10000;", "update fix set a='other' where id < 10000;"):
        assert ask(many) == f"ERROR 1114 (HY000): {full}\n"
        assert ask("show warnings;").count(inside) == 2
    assert ask("create table t9 (id int primary key) engine=ndb;").startswith(
        "Query OK, 0 rows affected, 1 warning"
    )
    told = "table data (increase DataMemory)' from Could not log query '%s' on other mysqld's |"
    assert told in ask("show warnings;")
    assert ask("truncate table fix;").startswith("Query OK")
    assert "warning" not in ask("create table t10 (id int primary key) engine=ndb;")
    assert _put_rows(ask, 12_000)
    assert ask("delete from fix limit 10000;").startswith("Query OK, 10000 rows affected")


def _put_rows(ask: Ask, rows: int) -> bool:
    values = ",".join(f"({row},'x')" for row in range(rows))
    return ask(f"insert into fix values {values};").startswith("Query OK")


def test_copies_of_many_rows_take_no_data_memory_of_newer_releases() -> None:
    """Recorded on 8.4.8, DataMemory 32M full: DELETE of 500 rows of 2,000 bytes is done."""
    for version, is_done in (("7.6.6", False), ("8.0.43", True)):
        ask = _asking(_begun(version, **_ONE_LDM_THREAD, DataMemory="32M"))
        ask(_VARIABLE)
        first = 1
        while _put(ask, range(first, first + 500), "repeat('x', 2000)").startswith("Query OK"):
            first += 500
        assert ask("delete from t where id <= 500;").startswith("Query OK, 500 rows") is is_done, version


_LITTLE_LOG = {
    "MaxNoOfExecutionThreads": "4", "NoOfFragmentLogFiles": "3", "FragmentLogFileSize": "4M",
    **dict.fromkeys(
        ("MinDiskWriteSpeed", "MaxDiskWriteSpeed", "MaxDiskWriteSpeedOtherNodeRestart",
         "MaxDiskWriteSpeedOwnRestart"), "1M"
    ),
}  # fmt: skip


def _put_until_refused(ask: Ask, cluster: LiveCluster, rows: int, most: int) -> tuple[int, str]:
    """Which statement of so many rows of 6,000 characters is refused, ten each second, and with what."""
    ask("create table t (id int primary key, a varchar(6500)) engine=ndb;")
    for number in range(1, most):
        said = _put(ask, range(number * rows, (number + 1) * rows), f"'{'x' * 6000}'")
        if said.startswith("ERROR"):
            return number, said
        cluster.advance(0.1)
    return most, ""


def test_typed_rows_fill_the_log_of_a_cluster_without_a_load() -> None:
    """Recorded on 7.4.10: 410 at statement 21 and 23 of 100 rows, 7,340,032 bytes of two parts in use."""
    cluster = _begun("7.4.10", **_LITTLE_LOG, DataMemory="600M")
    ask = _asking(cluster)
    number, said = _put_until_refused(ask, cluster, 100, 40)
    assert said.startswith("ERROR 1297 (HY000): Got temporary error 410 ")
    assert number == pytest.approx(23, abs=3)
    shown = ask("select used from ndbinfo.logspaces where node_id = 3 order by log_part")
    used = [int(line.strip("| ")) for line in shown.splitlines() if line.strip("| ").isdigit()]
    assert used == [pytest.approx(7_340_032, rel=0.15), pytest.approx(7_340_032, rel=0.15), 0, 0]
    # A checkpoint frees it.
    cluster.advance(60.0)
    assert _put(ask, range(9_000, 9_010), "'x'").startswith("Query OK")


@pytest.mark.parametrize(
    ("version", "code"), [("7.4.10", "1205 (HY000): Lock wait timeout"), ("7.1.30", "1297")]
)
def test_typed_rows_wait_for_a_slow_disk_where_work_is_queued(version: str, code: str) -> None:
    """Recorded on 7.4.10 with disks of 2 MB/s: 1205 with 266 inside by default, 1220 and 1234 with abort."""
    cluster = _begun(version, **_LITTLE_LOG | {"FragmentLogFileSize": "16M"}, DataMemory="600M")
    ask, consoles = _asking(cluster), Consoles(cluster)
    for host in ("data1", "data2"):
        assert "writes" in consoles.answer(f"! slow disk:{host}/redo 2MB/s")
    begin_s = cluster.now_s
    number, said = _put_until_refused(ask, cluster, 200, 60)
    assert said.startswith(f"ERROR {code}")
    assert 5 < number < 60
    assert cluster.now_s - begin_s > 0.1 * (number - 1) + (1.0 if version == "7.4.10" else 0.0)


@pytest.mark.parametrize("phase_s", [0.0, 0.3, 0.7])
def test_work_that_waits_for_redo_log_is_given_up_when_data_nodes_look(phase_s: float) -> None:
    """Recorded on 8.4.8: 2.28 s of TransactionDeadlockDetectionTimeout=1200, looked at each second."""
    cluster = _begun("8.4.8", **_LITTLE_LOG | {"FragmentLogFileSize": "16M", "RedoBuffer": "1M"})
    ask, consoles = _asking(cluster), Consoles(cluster)
    for host in ("data1", "data2"):
        consoles.answer(f"! slow disk:{host}/redo 300KB/s")
    ask("create table t (id int primary key, a varchar(6500)) engine=ndb;")
    cluster.advance(phase_s)
    for number in range(60):
        begin_s = cluster.now_s
        said = _put(ask, range(number * 100, (number + 1) * 100), f"'{'x' * 6000}'")
        if said.startswith("ERROR"):
            break
    assert said.startswith("ERROR 1205 (HY000): Lock wait timeout")
    assert 1.2 <= cluster.now_s - begin_s < 2.4
    assert cluster.now_s == pytest.approx(round(cluster.now_s), abs=0.11)


def test_rows_before_the_one_that_found_no_room_leave_their_log() -> None:
    """Recorded on 8.4.8, work not queued: 2,600 rows of 2,000 bytes and 126 tries filled 11 MiB in 39 s."""
    cluster = _begun("7.1.30", **_LITTLE_LOG | {"RedoBuffer": "1M"})
    ask, consoles = _asking(cluster), Consoles(cluster)
    for host in ("data1", "data2"):
        consoles.answer(f"! slow disk:{host}/redo 300KB/s")
    ask("create table t (id int primary key, a varchar(2000)) engine=ndb;")
    first, tries = 1, 0
    while tries < 400:
        said = _put(ask, range(first, first + 200), "repeat('x', 2000)")
        if " 410 " in said:
            break
        tries += said.startswith("ERROR 1297")
        first += 0 if said.startswith("ERROR") else 200
        cluster.advance(0.3)
    assert " 410 " in said
    assert tries > 40
    shown = ask("select used from ndbinfo.logspaces where node_id = 3;")
    used = sum(int(line.strip("| ")) for line in shown.splitlines() if line.strip("| ").isdigit())
    assert first * 2000 < 0.8 * used
