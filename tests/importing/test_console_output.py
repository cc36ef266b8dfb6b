"""What people paste from a console: iostat of the article, ndb_desc of unknown tables, ALL STATUS, REPORT."""

from __future__ import annotations

import pytest

from ndbplan.base.errors import UserError
from ndbplan.edits.additions import add
from ndbplan.edits.parameters import set_parameter
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.files import import_files
from ndbplan.importing.imported import Imported
from ndbplan.importing.measurements import MeasurementError
from ndbplan.importing.ndb_desc_tables import statements_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan

IDLE_FIRST = """\
Device: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await svctm %util
cciss/c0d0 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00
cciss/c0d1 0.00 27796.00 0.00 1454.00 0.00 115196.00 158.45 12.03 8.25 0.66 95.30
dm-0 0.00 0.00 0.00 29270.00 0.00 117080.00 8.00 274.79 9.33 0.03 95.20
dm-1 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00
"""
"""As article redo-overload prints it."""


def imported(text: str, base: Plan | None = None, *disk_ids: str, **devices: list[str]) -> Imported:
    return import_files({"pasted text": text.encode()}, base, None, disk_ids, devices=devices)


def speeds(plan: Plan) -> dict[str, float]:
    return {disk.id: disk.sequential_write_bytes_per_s for host in plan.hosts for disk in host.disks}


def test_the_articles_iostat_finds_its_disks_by_name() -> None:
    base = sample_plan("redo-overload")
    done = imported(IDLE_FIRST, base)
    after, before = speeds(done.plan), speeds(base)
    changed = {disk_id for disk_id in after if after[disk_id] != before[disk_id]}
    assert changed == {"data1-c0d1", "data2-c0d1"}
    assert after["data1-c0d1"] == pytest.approx(115196 * 1024 / 0.953)
    assert "dm-0" in done.findings[0].message, "its bytes are those of the device below"


def test_one_of_several_hosts_can_be_named() -> None:
    base = sample_plan("redo-overload")
    after = speeds(imported(IDLE_FIRST, base, "data2-c0d1").plan)
    assert after["data1-c0d1"] == speeds(base)["data1-c0d1"]
    assert after["data2-c0d1"] == pytest.approx(115196 * 1024 / 0.953)


def test_a_disk_of_another_name_is_told_or_asked_for() -> None:
    base = sample_plan("starter")
    disks = [disk.id for disk in base.hosts[0].disks]
    assert speeds(imported(IDLE_FIRST, base, disks[0]).plan)[disks[0]] == pytest.approx(115196 * 1024 / 0.953)
    with pytest.raises(MeasurementError, match="not said which disk"):
        imported(IDLE_FIRST, base)


TWO_BUSY = IDLE_FIRST.replace("dm-0", "sdb")


def test_several_busy_devices_never_overwrite_one_disk() -> None:
    base = sample_plan("starter")
    first, second = [disk.id for disk in base.hosts[0].disks][:2]
    with pytest.raises(MeasurementError, match=r"cciss/c0d1, sdb"):
        imported(TWO_BUSY, base, first)
    done = import_files({"iostat": TWO_BUSY.encode()}, base, devices={"cciss/c0d1": [first], "sdb": [second]})
    after = speeds(done.plan)
    assert after[first] == pytest.approx(115196 * 1024 / 0.953)
    assert after[second] == pytest.approx(117080 * 1024 / 0.952)
    assert done.devices == ["cciss/c0d1", "sdb"]
    with pytest.raises(MeasurementError, match="no busy device 'sdz'"):
        import_files({"iostat": TWO_BUSY.encode()}, base, devices={"sdz": [first]})


@pytest.mark.parametrize(
    ("disk", "device", "is_it"),
    [
        ("nvme0", "nvme0n1", True), ("nvme0", "nvme0n1p2", True), ("nvme1", "nvme0n1", False),
        ("nvme0n1", "nvme0n1", True), ("sda", "sda1", True), ("sda", "sdb", False), ("SDA", "/dev/sda", True),
        ("c0d1", "cciss/c0d1", True), ("c0d1", "cciss/c0d1p1", True), ("c0d1", "cciss/c0d11", False),
        ("c0d", "cciss/c0d1", False), ("xvdf", "xvdf", True), ("md0", "md0", True), ("sda", "sda12", True),
    ],
)  # fmt: skip
def test_names_of_devices(disk: str, device: str, is_it: bool) -> None:
    from ndbplan.importing.devices import is_device

    assert is_device(disk, device) is is_it


ARTICLE_DESC = """\
[root@computer1 scripts]# ndb_desc -p -d test t1
-- t1 --
...
Version: 2
...
TableStatus: Retrieved
-- Attributes --
a Bigunsigned PRIMARY KEY DISTRIBUTION KEY AT=FIXED ST=MEMORY AUTO_INCR
b Unsigned NULL AT=FIXED ST=MEMORY
c Timestamp NOT NULL AT=FIXED ST=MEMORY
d Longvarbinary(1024) NULL AT=MEDIUM_VAR ST=MEMORY

-- Indexes --
PRIMARY KEY(a) - UniqueHashIndex
c(c) - OrderedIndex
PRIMARY(a) - OrderedIndex

-- Per partition info --
Partition Row count Commit count Frag fixed memory Frag varsized memory
0 374952 374952 16613376 261521408
1 375378 375378 16613376 261816320

NDBT_ProgramExit: 0 - OK
"""


def test_ndb_desc_of_an_unknown_table_adds_it() -> None:
    done = imported(ARTICLE_DESC, Plan(ndb_version="7.0"))
    (t1,) = done.plan.tables
    assert t1.full_name == "test.t1"
    assert [(c.name, c.type, c.nullable) for c in t1.columns] == [
        ("a", "bigint", False), ("b", "int", True), ("c", "timestamp", False), ("d", "varbinary", True),
    ]  # fmt: skip
    assert (t1.rows, t1.partition_rows) == (750330, (374952, 375378))
    assert (t1.primary_key, [i.name for i in t1.indexes]) == (("a",), ["c"])
    again = imported(ARTICLE_DESC, done.plan)
    assert again.plan.tables == done.plan.tables, "a table that is known is not added again"


def test_the_table_of_the_article_is_the_one_of_its_statement() -> None:
    statement = (
        "CREATE TABLE t1 (a bigint(20) unsigned NOT NULL, b int(10) unsigned DEFAULT NULL, c timestamp NOT "
        "NULL, d varbinary(1024) DEFAULT NULL, PRIMARY KEY (a), KEY c (c)) "
        "ENGINE=ndbcluster"
    )
    version = NdbVersion.parse("7.0")
    assert read_ddl(statements_of(ARTICLE_DESC), version).tables == read_ddl(statement, version).tables


def test_types_keys_and_options_of_ndb_desc() -> None:
    text = """\
-- orders --
Version: 1
PartitionCount: 8
PartitionBalance: FOR_RA_BY_NODE
Table options: readbackup
HashMap: DEFAULT-HASHMAP-3840-8
-- Attributes --
w Unsigned PRIMARY KEY DISTRIBUTION KEY AT=FIXED ST=MEMORY
o Unsigned PRIMARY KEY AT=FIXED ST=MEMORY
name Longvarchar(1020;utf8mb4_0900_ai_ci) NULL AT=MEDIUM_VAR ST=MEMORY
code Char(3;latin1_swedish_ci) NOT NULL AT=FIXED ST=DISK
price Decimal(10,2) NULL AT=FIXED ST=MEMORY DYNAMIC
at Datetime2(6) NULL AT=FIXED ST=MEMORY
note Text(256,2000,0;latin1_swedish_ci) NULL AT=MEDIUM_VAR ST=MEMORY BV=2 BT=NDB$BLOB_10_6
doc Blob(4000,8100,0) NULL AT=MEDIUM_VAR ST=MEMORY BV=2 BT=NDB$BLOB_10_7
-- Indexes --
PRIMARY KEY(w, o) - UniqueHashIndex
u$unique(code) - UniqueHashIndex
u(code) - OrderedIndex
h$unique(price) - UniqueHashIndex
-- NDB$BLOB_10_6 --
Version: 1
-- Attributes --
w Unsigned PRIMARY KEY DISTRIBUTION KEY AT=FIXED ST=MEMORY
NDB$PART Unsigned PRIMARY KEY AT=FIXED ST=MEMORY
"""
    found = read_ddl(statements_of(text), NdbVersion.parse("8.4"))
    (problem,) = found.problems
    assert problem.message == "KEY u: columns on disk are in no key or index; SQL nodes refuse it"
    (table,) = found.tables
    types = {c.name: (c.type, c.length, c.storage, c.column_format) for c in table.columns}
    assert types["name"] == ("varchar", 255, "memory", "default")
    assert types["code"] == ("char", 3, "disk", "default")
    assert types["price"] == ("decimal", 10, "memory", "dynamic")
    assert types["at"][:2] == ("datetime", 6)
    assert (types["note"][0], types["doc"][0]) == ("text", "json")
    assert (table.primary_key, table.distribution_key) == (("w", "o"), ("w",))
    assert table.primary_key_using_hash, "there is no ordered index PRIMARY"
    assert [(i.name, i.kind) for i in table.indexes] == [("u", "unique"), ("h", "unique_hash")]
    assert (table.partition_balance, table.read_backup) == ("FOR_RA_BY_NODE", True)


STATUS = """\
ndb_mgm> all status
Connected to Management Server at: localhost:1186
Node 3: started (mysql-5.1.32 ndb-7.0.4)
Node 4: started (mysql-5.1.32 ndb-7.0.4)
Node 5: not connected
Node 6: not connected
"""
USAGE = """\
Node 1: Data usage is 5%(281 32K pages of total 5120)
Node 1: Index usage is 0%(0 32K pages of total 5120)
Node 2: Data usage is 5%(281 32K pages of total 5120)
Node 2: Index usage is 0%(0 32K pages of total 5120)
"""


def test_status_alone_makes_the_data_nodes() -> None:
    done = imported(STATUS)
    assert [node.node_id for node in done.plan.data_nodes] == [3, 4, 5, 6]
    assert done.plan.ndb_version == "7.0.4"
    notes = " ".join(finding.message for finding in done.findings)
    assert "assumed hardware" in notes
    assert "5 (not connected), 6 (not connected)" in notes


def test_a_version_without_end_is_no_version() -> None:
    done = imported(STATUS.replace("ndb-7.0.4", f"ndb-7.0.{'4' * 5000}"))
    assert [node.node_id for node in done.plan.data_nodes] == [3, 4, 5, 6]


def test_status_is_held_against_a_plan() -> None:
    base = sample_plan("starter")
    done = imported(STATUS, base)
    assert done.plan == base
    notes = " ".join(finding.message for finding in done.findings)
    assert "data node 3, 4, 5, 6 of the answers is not in the plan" in notes
    assert "data node 1, 2 of the plan is not in the answers" in notes
    assert "7.0.4" in notes


def test_memory_usage_states_data_memory_where_the_plan_says_nothing() -> None:
    base = set_parameter(sample_plan("starter"), "data_node", "DataMemory", None)
    done = imported(USAGE, base)
    assert done.plan.parameters.data_node["DataMemory"] == 5120 * 32768
    assert "IndexMemory" not in done.plan.parameters.data_node, (
        "its pages are those of DataMemory from 7.6 on"
    )
    assert any("uses 8.78 MiB of DataMemory" in finding.message for finding in done.findings)


def test_memory_usage_leaves_what_the_plan_states() -> None:
    base = sample_plan("starter")
    done = imported(USAGE, base)
    assert done.plan == base
    assert any("the nodes have DataMemory 160 MiB" in finding.message for finding in done.findings)


def test_old_index_pages_are_those_of_index_memory() -> None:
    text = "Node 3: Data usage is 5%(176 32K pages of total 3200)\n"
    text += "Node 3: Index usage is 1%(20 8K pages of total 2336)"
    done = imported(f"{STATUS}\n{text}")
    assert done.plan.parameters.data_node["DataMemory"] == 3200 * 32768
    assert done.plan.parameters.data_node["IndexMemory"] == 2304 * 8192, "an LDM thread adds 32 pages"


def test_table_and_status_in_one_paste() -> None:
    done = imported(f"{STATUS}\n{ARTICLE_DESC}")
    assert [node.node_id for node in done.plan.data_nodes] == [3, 4, 5, 6]
    assert done.plan.tables[0].rows == 750330


# the same of more machines, formats and states


def sample_of(host: str, *devices: tuple[str, float, float]) -> str:
    """iostat -xk of sysstat 12 on one machine: name, kB written a second and utilisation of each device."""
    head = f"Linux 5.14.0 ({host})\t11/22/2026\t_x86_64_\t(8 CPU)\n\n"
    cpu = "avg-cpu:  %user %nice %system %iowait %steal %idle\n  2.0 0.0 1.0 0.5 0.0 96.5\n\n"
    lines = [f"{name} 0.00 0.00 300.00 {kib} 0.30 {busy}" for name, kib, busy in devices]
    return head + cpu + "Device r/s rkB/s w/s wkB/s w_await %util\n" + "\n".join(lines) + "\n"


def test_iostat_of_several_machines_goes_to_the_disks_of_each() -> None:
    base = sample_plan("redo-overload")
    files = {f"{n}.txt": sample_of(f"data{n}.example.org", ("c0d1", 1e5 * n, 50.0)).encode() for n in (1, 2)}
    after = speeds(import_files(files, base).plan)
    assert after["data1-c0d1"] == pytest.approx(1e5 * 1024 / 0.5)
    assert after["data2-c0d1"] == pytest.approx(2e5 * 1024 / 0.5)
    both = b"".join(files.values())
    assert speeds(import_files({"pasted text": both}, base).plan) == after


def test_files_of_machines_that_the_plan_lacks_never_overwrite_one_another() -> None:
    base = sample_plan("redo-overload")
    files = {f"{n}.txt": sample_of(f"x{n}", ("c0d1", 1e5 * n, 50.0)).encode() for n in (1, 2)}
    with pytest.raises(MeasurementError, match="two devices of iostat: c0d1 of x1 and c0d1 of x2"):
        import_files(files, base)


def test_a_device_named_for_one_file_may_be_missing_in_the_other() -> None:
    base = sample_plan("starter")
    first, second = (disk.id for disk in base.hosts[0].disks)
    files = {
        "1": sample_of("a", ("sda", 1e5, 50.0)).encode(),
        "2": sample_of("b", ("sdb", 2e5, 50.0)).encode(),
    }
    after = speeds(import_files(files, base, devices={"sda": [first], "sdb": [second]}).plan)
    assert (after[first], after[second]) == pytest.approx((1e5 * 1024 / 0.5, 2e5 * 1024 / 0.5))
    with pytest.raises(MeasurementError, match="no busy device 'sdc' — name sda, sdb"):
        import_files(files, base, devices={"sda": [first], "sdc": [second]})


def test_one_disk_is_never_two_devices() -> None:
    base = sample_plan("starter")
    first = base.hosts[0].disks[0].id
    text = sample_of("a", ("sda", 1e5, 50.0), ("sdb", 2e5, 90.0))
    with pytest.raises(MeasurementError, match="two devices of iostat: sda of a and sdb of a"):
        imported(text, base, sda=[first], sdb=[first])


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_device_and_its_partitions_the_device_counts(order: int) -> None:
    base = sample_plan("starter")
    rows = [("nvme0n1", 3e5, 60.0), ("nvme0n1p1", 1e5, 40.0), ("nvme0n1p2", 2e5, 50.0)][::order]
    host = base.hosts[0]
    after = speeds(imported(sample_of(host.hostname, *rows), base).plan)
    changed = {i for i, speed in after.items() if speed != speeds(base)[i]}
    assert changed == {disk.id for disk in host.disks if disk.name == "nvme0"}, "those of this machine only"
    assert after[changed.pop()] == pytest.approx(3e5 * 1024 / 0.6)


JSON = """{"sysstat": {"hosts": [{"nodename": "host-a1", "statistics": [
 {"disk": [{"disk_device": "nvme0n1", "w/s": 9.0, "wkB/s": 100.0, "util": 1.0}]},
 {"disk": [{"disk_device": "nvme0n1", "w/s": 900.0, "wkB/s": 100000.0, "util": 50.0}]}]}]}}"""
HUMAN = """\
     r/s     rkB/s r_await Device
    0.00      0.0k    0.00 nvme0n1

     w/s     wkB/s w_await Device
  900.00     97.7M    0.10 nvme0n1

 aqu-sz  %util Device
   0.60  50.0% nvme0n1
"""


@pytest.mark.parametrize(("text", "kib"), [(JSON, 1e5), (HUMAN, 97.7 * 1024)])
def test_other_forms_of_iostat(text: str, kib: float) -> None:
    base = sample_plan("starter")
    after = speeds(imported(text, base).plan)
    (disk,) = (disk for disk in base.hosts[0].disks if disk.name == "nvme0")
    assert after[disk.id] == pytest.approx(kib * 1024 / 0.5)


def test_iostat_without_utilisation_says_what_to_run() -> None:
    with pytest.raises(UserError, match="without -x") as refused:
        imported(
            "Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nsda 400.0 10.0 80000.0 1 8",
            sample_plan("starter"),
        )
    assert "iostat -xk" in str(refused.value.fix)


def test_a_paste_of_everything_is_read_whole() -> None:
    base = sample_plan("redo-overload")
    done = imported(f"{STATUS}\n{ARTICLE_DESC}\n{IDLE_FIRST}", base)
    assert speeds(done.plan)["data1-c0d1"] == pytest.approx(115196 * 1024 / 0.953)
    assert len(done.plan.tables) == len(base.tables) + 1
    assert any("7.0.4" in finding.message for finding in done.findings)


@pytest.mark.parametrize(
    ("usage", "settings", "version"),
    [
        # 8.4.8: what the indexes use is missing in the total of the data.
        (((872, 32, 5096), (24, 32, 4248)), {"DataMemory": 160}, "8.4"),
        (((908, 32, 5091), (29, 32, 4212)), {"DataMemory": 160}, "8.4"),
        (((2996, 32, 3157), (43, 32, 204)), {"DataMemory": 100}, "8.4"),
        # 7.4.10, DataMemory=80M IndexMemory=18M; then 10M and 2M: two LDM threads add 256 KiB each.
        (((488, 32, 2560), (262, 8, 2368)), {"DataMemory": 80, "IndexMemory": 18}, "7.5"),
        (((301, 32, 320), (113, 8, 320)), {"DataMemory": 10, "IndexMemory": 2}, "7.5"),
    ],
)
def test_usage_gives_what_the_nodes_are_configured_with(
    usage: tuple[tuple[int, int, int], ...], settings: dict[str, int], version: str
) -> None:
    text = "".join(
        f"Node {node}: {what} usage is 9%({used} {page}K pages of total {total})\n"
        for node in (2, 3)
        for what, (used, page, total) in zip(("Data", "Index"), usage, strict=True)
    )
    plan = imported(text).plan
    stated = plan.parameters.data_node
    assert {name: stated[name] for name in settings} == {n: size * 2**20 for n, size in settings.items()}
    assert ("IndexMemory" in stated) == ("IndexMemory" in settings)
    assert plan.ndb_version == version


def test_clients_are_no_data_nodes() -> None:
    done = imported(f"{STATUS}Node 61: connected (Version 8.4.8)\n")
    assert [node.node_id for node in done.plan.data_nodes] == [3, 4, 5, 6]


def test_status_keeps_all_that_the_plan_has() -> None:
    base = EMPTY_PLAN
    for kind, texts in (
        ("host", ["ndb-3", "disks=nvme"]),
        ("management", ["host=ndb-3"]),
        ("sql", ["host=ndb-3"]),
    ):
        base = add(base, kind, texts).plan
    plan = imported(STATUS, base).plan
    assert plan.hosts[: len(base.hosts)] == base.hosts
    assert plan.processes[: len(base.processes)] == base.processes
    assert [node.node_id for node in plan.data_nodes] == [3, 4, 5, 6]
    assert len({host.hostname for host in plan.hosts}) == len(plan.hosts)


def test_partitions_without_rows_may_be_missing() -> None:
    """8.4.8 of a table with one row in partition 1 of 2."""
    text = """\
-- small --
Version: 1
PartitionCount: 2
FragmentCount: 2
HashMap: DEFAULT-HASHMAP-3840-2
-- Attributes --
k Unsigned PRIMARY KEY DISTRIBUTION KEY AT=FIXED ST=MEMORY
-- Indexes --
PRIMARY KEY(k) - UniqueHashIndex
-- Per partition info --
Partition\tRow count\tCommit count\tFrag fixed memory\tFrag varsized memory\tExtent_space\tFree extent_space
1\t1\t1\t32768\t0\t0\t0
"""
    done = imported(text)
    assert done.plan.tables[0].partition_rows == (0, 1)
    assert not done.findings
    without = imported(text[: text.index("-- Per partition")])
    assert [finding.message for finding in without.findings] == [
        "line 1: table small without partitions; run ndb_desc with -p"
    ]
