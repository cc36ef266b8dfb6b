"""Every rule once broken and once kept, and fixes that mend."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ndbplan import checks
from ndbplan.base.resources import resource_path
from ndbplan.base.units import GIB, MIB
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import check, load_rules
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.edits.roles import assign_role, move_process
from ndbplan.plan import file
from ndbplan.plan.hardware import DiskKind
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole, Link
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, SpaceFile
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, Operation, OperationKind, RatePoint, Transaction
from one_rule import accepting_others, of_rule


def sample(name: str) -> Plan:
    return file.load(resource_path(f"samples/{name}.ndbplan"))


def with_parameters(plan: Plan, **values: int | str) -> Plan:
    for name, value in values.items():
        plan = set_parameter(plan, "data_node", name, value)
    return plan


def starter(**values: int | str) -> Plan:
    return with_parameters(sample("starter"), **values)


def manual(**values: int | str) -> Plan:
    """The starter without automatic threads."""
    return with_parameters(
        set_parameter(sample("starter"), "data_node", "AutomaticThreadConfig", None), **values
    )


def telecom() -> Plan:
    return sample("telecom-144")


def first_table(plan: Plan, **fields: object) -> Plan:
    return update(plan, plan.tables[0].id, **fields)


def aside(plan: Plan) -> Plan:
    return update(plan, plan.data_nodes[-1].id, node_group=65536)


def hdd(plan: Plan) -> Plan:
    for host in plan.hosts:
        for disk in host.disks:
            plan = update(plan, disk.id, kind=DiskKind.HDD)
    return plan


def one_disk(plan: Plan) -> Plan:
    """All roles of data node 1 on its first disk."""
    node = plan.data_nodes[0]
    for role in DiskRole:
        plan = assign_role(plan, node.id, role, plan.host(node.host_id).disks[0].id)
    return plan


def second_group_member_elsewhere() -> Plan:
    plan = starter()
    first, second = plan.management_nodes
    return move_process(plan, second.id, first.host_id)


def on_loopback_addresses() -> Plan:
    plan = starter()
    for place, host in enumerate(plan.hosts):
        plan = update(plan, host.id, hostname=f"127.0.0.{2 + place}")
    return plan


def linked(first: str, second: str, times: int = 1) -> Plan:
    return starter().replace(links=(Link(process_id_1=first, process_id_2=second),) * times)


def old(version: str, **values: int | str) -> Plan:
    plan = set_plan(sample("add-nodes"), ndb_version=version)
    return with_parameters(plan, **values)


def large_disk_data() -> Plan:
    plan = sample("disk-data")
    return update(plan, plan.tables[0].id, rows=100 * plan.tables[0].rows)


def alone() -> Plan:
    """Both data nodes of the starter on one host."""
    plan = starter()
    first, second = plan.data_nodes
    return remove(move_process(plan, second.id, first.host_id), [second.host_id])


def of_hurried_clients() -> Plan:
    workload = starter().workloads[0]
    return update(starter(), workload.id, load=ClosedLoad(clients=4, latency_s=1e-6))


def with_slow_networks() -> Plan:
    plan = starter()
    for host in plan.hosts:
        plan = update(plan, host.id, network_bytes_per_s=5e6)
    return plan


def under_many_writes() -> Plan:
    plan = sample_plan("redo-overload-8.4")
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=60_000),))
    return plan.replace(workloads=(plan.workloads[0].model_copy(update={"load": load}),))


def read_by_one_thread() -> Plan:
    """Far more rows than the cache holds, read at random."""
    plan = set_parameter(sample_plan("disk-data-8.4"), "data_node", "DiskIOThreadPool", 1)
    read = plan.workloads[1].model_copy(
        update={"load": OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1e5),))}
    )
    return update(plan, plan.tables[0].id, rows=500_000_000).replace(workloads=(read,))


def with_one_counter() -> Plan:
    plan = starter()
    table = update(plan, plan.tables[4].id, rows=1)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=20_000),))
    return update(table, plan.workloads[0].id, load=load)


def filling() -> Plan:
    """The starter under a load of ten minutes that adds two million rows a second."""
    plan = starter()
    table, workload = plan.tables[3], plan.workloads[0]
    operation = Operation(table_id=table.id, kind=OperationKind.INSERT, rows=1000)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2000),))
    return update(
        plan, workload.id, transactions=(Transaction(name="fill", operations=(operation,)),), load=load
    )


def scanned_by(sessions: int) -> Plan:
    """The starter with so many sessions that scan all the time."""
    plan = starter()
    scan = Operation(table_id=plan.tables[0].id, kind=OperationKind.SCAN, rows=10)
    load = ClosedLoad(clients=sessions, latency_s=1.0)
    return update(
        plan, plan.workloads[0].id, transactions=(Transaction(name="scan", operations=(scan,)),), load=load
    )


BROKEN: dict[str, Callable[[], Plan]] = {
    "concurrent-scans": lambda: scanned_by(3000),
    "index-memory-fill": lambda: set_parameter(sample_plan("add-nodes"), "data_node", "IndexMemory", None),
    "fills-with-load": filling,
    "row-locks": with_one_counter,
    "file-threads": read_by_one_thread,
    "network-demand": with_slow_networks,
    "processor-demand": under_many_writes,
    "latency-of-clients": of_hurried_clients,
    "client-sessions": lambda: update(
        starter(), starter().workloads[0].id, load=ClosedLoad(clients=400, latency_s=1.0)
    ),
    "threads-not-set": manual,
    "operations-and-transactions": lambda: starter(MaxNoOfConcurrentOperations=100),
    "dml-operations": lambda: starter(MaxDMLOperationsPerTransaction=40_000),
    "reserved-limits": lambda: starter(ReservedConcurrentTransactions=5000),
    "table-objects": lambda: starter(MaxNoOfOrderedIndexes=4294967039, MaxNoOfUniqueHashIndexes=4294967039),
    "transaction-memory": lambda: starter(TransactionMemory=GIB, MaxNoOfFiredTriggers=4000),
    "start-fail-retries": lambda: starter(StopOnError=1, MaxStartFailRetries=5),
    "comes-back": lambda: starter(StopOnError=1),
    "replicas-alike": lambda: set_parameter(starter(), starter().data_nodes[0].id, "NoOfReplicas", 1),
    "node-group-number": lambda: update(starter(), starter().data_nodes[0].id, node_group=72),
    "heartbeat-order": lambda: starter(HeartbeatOrder=7),
    "data-node-ids": lambda: update(starter(), starter().data_nodes[0].id, node_id=200),
    "localhost-mixed": lambda: update(starter(), starter().hosts[0].id, hostname="localhost"),
    "loopback-apart": lambda: update(starter(), starter().hosts[0].id, hostname="127.0.1.1"),
    "loopback-shared": on_loopback_addresses,
    "management-ports": second_group_member_elsewhere,
    "ports-shared": lambda: set_parameter(alone(), "data_node", "ServerPort", 11860),
    "host-name-reserved": lambda: update(starter(), starter().data_nodes[0].host_id, hostname="a.invalid"),
    "shared-memory-links": lambda: starter().replace(
        links=(Link(kind="shm", process_id_1="ndb1", process_id_2="ndb2"),)
    ),
    "host-names": lambda: update(starter(), starter().hosts[0].id, hostname=starter().hosts[1].hostname),
    "connection-map": lambda: set_parameter(starter(), "sql147", "ConnectionMap", "1,x"),
    "heartbeat-thread-priority": lambda: set_parameter(
        starter(), "mgm145", "HeartbeatThreadPriority", "nice,50"
    ),
    "link-ends": lambda: linked("sql147", "mgm145"),
    "not-implemented": lambda: starter(ParallelBackups=1),
    "deprecated-parameter": lambda: starter(IndexMemory=GIB),
    "thread-config": lambda: manual(ThreadConfig="ldm={count=2"),
    "thread-config-of-node": lambda: manual(ThreadConfig="ldm={count=4},query={count=3}"),
    "thread-settings-ignored": lambda: starter(ThreadConfig="nonsense"),
    "ldm-and-log-parts": lambda: manual(MaxNoOfExecutionThreads=32),
    "partitions-per-node": lambda: manual(ClassicFragmentation=0, PartitionsPerNode=32),
    "location-domains": lambda: update(
        update(starter(), starter().data_nodes[0].id, node_group=None),
        starter().data_nodes[1].id,
        node_group=None,
    ),
    "text-understood": lambda: starter(InitFragmentLogFiles="half"),
    "settings-lifted": lambda: starter(TotalSendBufferMemory=MIB),
    "files-for-security": lambda: starter(RequireTls=1),
    "paths-absolute": lambda: starter(BackupDataDir="backups"),
    "uneven-data-nodes": lambda: set_parameter(starter(), starter().data_nodes[0].id, "DataMemory", GIB),
    "data-and-sql-together": lambda: move_process(
        manual(), starter().sql_nodes[0].id, starter().data_nodes[0].host_id
    ),
    "hash-map-skew": telecom,
    "too-many-fragments": lambda: first_table(starter(), partitions=1000),
    "reorganise-refused": lambda: first_table(starter(), partitions=8),
    "reorganise-leaves-behind": lambda: first_table(
        aside(starter()),
        indexes=(Index(name="u", columns=(starter().tables[0].columns[0].name,), kind="unique"),),
    ),
    "fixed-part-limit": lambda: first_table(old("7.4"), rows=3 * 10**9),
    "fully-replicated-table": lambda: first_table(starter(), fully_replicated=True, rows=10**8),
    "read-backup": lambda: first_table(set_plan(starter(), ndb_version="7.6"), read_backup=False),
    "memory-locked": lambda: starter(LockPagesInMainMemory=0),
    "memory-of-container": lambda: update(
        starter(), starter().data_nodes[0].id, container_memory_bytes=100 * GIB
    ),
    "numa": lambda: update(starter(Numa=0, DataMemory=200 * GIB), starter().data_nodes[0].host_id, sockets=2),
    "schema-objects": lambda: starter(MaxNoOfTables=8, MaxNoOfAttributes=32),
    "redo-log-and-memory": lambda: starter(
        NoOfFragmentLogFiles=3, FragmentLogFileSize=4 * MIB, EnableRedoControl=0
    ),
    "threads-and-cores": lambda: manual(MaxNoOfExecutionThreads=72),
    "redo-file-size": lambda: with_parameters(
        sample("redo-overload"), FragmentLogFileSize=16 * MIB, NoOfFragmentLogFiles=100
    ),
    "checkpoint-speed": lambda: old("7.4", DataMemory=200 * GIB),
    "redo-control": lambda: starter(EnableRedoControl=0),
    "checkpoint-interval": lambda: starter(TimeBetweenLocalCheckpoints=6),
    "diskless": lambda: starter(Diskless=1),
    "diskless-disk-data": lambda: with_parameters(sample("disk-data-8.4"), Diskless=1),
    "direct-io": lambda: starter(ODirect=0),
    "direct-io-sync": lambda: hdd(starter(ODirectSyncFlag=0)),
    "redo-log-size": lambda: with_parameters(
        sample("redo-overload"), NoOfFragmentLogFiles=3, FragmentLogFileSize=16 * MIB
    ),
    "redo-log-seconds": lambda: with_parameters(
        sample("redo-overload"), NoOfFragmentLogFiles=3, FragmentLogFileSize=16 * MIB
    ),
    "data-files": lambda: update(
        sample("disk-data"),
        sample("disk-data").tablespaces[0].id,
        data_files=(SpaceFile(name="one", size_bytes=10 * GIB),),
    ),
    "undo-log-size": lambda: update(
        sample("disk-data"),
        sample("disk-data").logfile_groups[0].id,
        undo_files=(SpaceFile(name="one", size_bytes=100_000),),
    ),
    "heartbeat": lambda: with_parameters(
        starter(HeartbeatIntervalDbDb=5000), TransactionInactiveTimeout=10_000
    ),
    "arbitration-timeout": lambda: starter(ArbitrationTimeout=1000),
    "global-checkpoints": lambda: starter(TimeBetweenGlobalCheckpoints=10_000),
    "copy-over-slow-link": lambda: first_table(
        update(telecom(), telecom().data_nodes[0].host_id, network_bytes_per_s=1.17e8), rows=2 * 10**11
    ),
    "backup-duration": lambda: first_table(starter(), rows=4 * 10**10),
    "backup-on-redo-disk": lambda: one_disk(starter()),
    "growth-at-peak": lambda: aside(starter()),
    "initial-start": lambda: sample("disk-data"),
    "node-id-room": lambda: update(starter(), "mgm145", node_id=3),
    "table-impossible": lambda: first_table(
        starter(), columns=(*starter().tables[0].columns, Column(name="c", type="char", length=300))
    ),
    "disk-page-buffer": lambda: with_parameters(large_disk_data(), DiskPageBufferMemory=4 * MIB),
    "nobody-arbitrates": lambda: set_parameter(starter(), "data_node", "Arbitration", "Disabled"),
    "what-may-fail": alone,
    "fills-with-growth": lambda: first_table(starter(), growth_rows_per_month=40_000_000),
}
"""A plan that breaks each rule."""

ELSEWHERE = {
    # Tested in refused/test_servers.py.
    "cpus-for-threads", "prefer-ip-version", "receive-buffer-size", "link-host-names", "servers-fit",
    "old-and-new-name", "management-port-number", "configuration-generation", "log-destination", "path-names",
    "link-leaves-out",
    # Tested in tests/ndb/test_mysqld_options.py and tests/exporting/test_unknown_to_a_version.py.
    "mysqld-options", "paths-of-disk-roles",
    # Tested in tests/importing/ddl/test_disk_data.py.
    "file-twice",
    # Tested in tests/estimate/load/test_files_on_disks.py.
    "file-directory",
    # Tested in refused/test_table_options.py.
    "table-options-refused", "table-options-ignored", "space-refused", "space-rounded",
    # Tested in tests/configuration/test_table_limits.py.
    "table-too-large",
    # Tested in tests/exporting/test_schema_sql.py.
    "column-of-version", "column-in-key",
    # Tested in test_topology.py, test_memory_and_disks.py, test_disk_space.py and test_run.py.
    "node-kinds", "unknown-parameter", "parameter-value", "node-group-size",
    "number-of-replicas", "management-nodes",
    "sql-nodes", "spare-api-slots", "memory-of-host", "data-memory-of-host",
    "data-memory-fill", "disk-demand", "shared-device", "redo-and-lcp-apart", "disk-space", "backups-kept",
    "disk-space-of-memory", "disks-unknown", "logfile-groups",
    "tablespace-of-table",
    # Tested in test_calibrations.py.
    "calibrations",
}  # fmt: skip

SELDOM = {
    "node-count": "the file of a plan with 255 node ids is slow to draw; import_config has the same limit",
    "concurrent-operations": "tested below with a transaction of its own",
    "client-nodes": "tested below with one SQL node for all",
    "compressed-checkpoints": "tested below with a workload of its own",
}


def found(plan: Plan, rule: str) -> list[str]:
    return [problem.message for problem in of_rule(plan, rule)]


@pytest.mark.parametrize("rule", list(BROKEN))
def test_a_rule_finds_what_breaks_it_and_its_edit_mends_it(rule: str) -> None:
    plan = accepting_others(BROKEN[rule](), rule)
    problems = [problem for problem in check(plan) if problem.rule == rule]
    assert problems, f"{rule} finds nothing"
    for problem in problems:
        assert not re.search(r"(?:^its|' its?)\b", problem.message), "what it is about stands beside it only"
        assert problem.edit is None or problem.fix
        assert problem.edit is None or not _names_two(problem.fix or ""), (
            "a button names the one deed it does"
        )
        ways = [problem.edit] if problem.edit is not None else [way.edit for way in problem.solutions]
        assert ways or problem.missing, "nothing to click, and not a word why"
        for way in ways:
            assert problem.message not in found(way(plan), rule)


def _names_two(words: str) -> bool:
    return re.search(r"\bor\b", words.split("together: ")[0]) is not None


def _said(tree: ast.Module) -> Iterator[tuple[str, ast.Call, ast.FunctionDef]]:
    for function in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)):
        for call in (one for one in ast.walk(function) if isinstance(one, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id in ("error", "warning", "hint", "problem"):
                yield call.func.id, call, function


@pytest.mark.parametrize("path", sorted(Path(checks.__file__).parent.glob("*/*.py")), ids=lambda p: p.stem)
def test_whatever_a_rule_says_has_a_way_out_or_says_what_is_missing(path: Path) -> None:
    for name, call, function in _said(ast.parse(path.read_text("utf-8"))):
        has_edit = len(call.args) > (5 if name == "problem" else 4)
        named = {one.arg for one in call.keywords} & {"edit", "missing"}
        searched = any(isinstance(one, ast.keyword) and one.arg == "solve" for one in ast.walk(function))
        assert has_edit or named or searched, f"{path.name}:{call.lineno} {function.name}"


@pytest.mark.parametrize("path", sorted(Path(checks.__file__).parent.glob("*/*.py")), ids=lambda p: p.stem)
def test_what_has_a_button_names_one_deed(path: Path) -> None:
    for name, call, _ in _said(ast.parse(path.read_text("utf-8"))):
        at = 3 if name == "problem" else 2
        edit, fix = (call.args[i] if len(call.args) > i else None for i in (at + 2, at))
        if fix is None or edit is None or isinstance(edit, ast.IfExp):
            continue
        words = "".join(str(one.value) for one in ast.walk(fix) if isinstance(one, ast.Constant))
        assert not _names_two(words), f"{path.name}:{call.lineno} {words}"


@pytest.mark.parametrize("rule", sorted(set(BROKEN) - {"initial-start"}))
def test_a_good_plan_keeps_the_rule(rule: str) -> None:
    assert found(starter(), rule) == []


def test_no_rule_is_without_a_test() -> None:
    load_rules()
    assert set(RULES) == set(BROKEN) | ELSEWHERE | set(SELDOM)


def test_too_many_node_ids() -> None:
    plan = starter()
    node = plan.sql_nodes[0]
    pool = tuple(range(160, 222))
    assert not found(update(plan, node.id, pool_node_ids=pool), "node-count")


def test_a_transaction_too_large_for_the_pool() -> None:
    plan = sample("redo-overload")
    workload = plan.workloads[0]
    operation = workload.transactions[0].operations[0].model_copy(update={"rows": 200_000.0})
    transaction = workload.transactions[0].model_copy(update={"operations": (operation,)})
    large = update(plan, workload.id, transactions=(transaction,))
    assert found(large, "concurrent-operations")
    assert not found(plan, "concurrent-operations")


def test_one_sql_node_for_a_load_that_needs_many() -> None:
    plan = sample("starter")
    plan = plan.replace(workloads=plan.workloads[:1])
    assert not found(plan, "client-nodes")
    point = RatePoint(at_s=0, rate_per_s=200_000)
    busy = update(plan, plan.workloads[0].id, load=OpenLoad(points=(point,)))
    assert len(found(busy, "client-nodes")) == 2, "its cores, and its cluster connections"
    anywhere = update(busy, plan.workloads[0].id, through="api")
    assert not found(anywhere, "client-nodes")


def test_compression_with_busy_threads() -> None:
    plan = with_parameters(sample("redo-overload"), CompressedLCP=1)
    workload = plan.workloads[0]
    busy = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=100_000),))
    plan = update(plan, workload.id, load=busy)
    assert found(plan, "compressed-checkpoints")
    idle = plan.replace(workloads=())
    assert not found(idle, "compressed-checkpoints")


def test_two_links_of_one_pair() -> None:
    assert found(linked("ndb1", "sql147", times=2), "link-ends")
    assert not found(linked("ndb1", "sql147"), "link-ends")


def test_two_hosts_at_loopback_addresses_are_enough_to_be_one_machine() -> None:
    plan = starter()
    of_sql = dict.fromkeys(node.host_id for node in plan.sql_nodes)
    for place, host_id in enumerate([*of_sql][:2]):
        plan = update(plan, host_id, hostname=f"127.0.0.{2 + place}")
    assert of_rule(plan, "loopback-shared")


def test_loopback_clusters_are_for_trying_out() -> None:
    plan = starter()
    second = plan.data_nodes[1]
    same = move_process(plan, second.id, plan.data_nodes[0].host_id)
    local = update(same, plan.data_nodes[0].host_id, hostname="127.0.0.1")
    severities = {p.severity.value for p in check(local) if p.rule == "what-may-fail" and "host" in p.where}
    assert severities == {"warning"}


@pytest.mark.parametrize(
    ("version", "severity"), [("7.4", "warning"), ("7.6", "warning"), ("8.0", "error"), ("8.4", "error")]
)
def test_two_management_nodes_on_one_port_by_version(version: str, severity: str) -> None:
    plan = set_plan(second_group_member_elsewhere(), ndb_version=version)
    assert [p.severity.value for p in check(plan) if p.rule == "management-ports"] == [severity]


def test_before_8_0_counting_ends_at_the_first_reserved_node() -> None:
    plan = update(starter(), starter().data_nodes[0].id, node_group=65536)
    for version, severity in (("7.6", "warning"), ("8.4", "error")):
        found = check(set_plan(plan, ndb_version=version))
        assert [p.severity.value for p in found if p.rule == "node-group-size"] == [severity]


def test_ipv6_needs_8_0_22() -> None:
    plan = update(starter(), starter().data_nodes[0].host_id, hostname="2001:db8::5")
    assert not found(plan, "host-name-reserved")
    assert "IPv4 only" in found(set_plan(plan, ndb_version="8.0.21"), "host-name-reserved")[0]


def test_what_only_newer_servers_refuse() -> None:
    dml = starter(MaxDMLOperationsPerTransaction=40_000)
    assert not found(set_plan(dml, ndb_version="7.6"), "dml-operations")
    retries = starter(StopOnError=1, MaxStartFailRetries=5)
    assert found(set_plan(retries, ndb_version="7.4"), "start-fail-retries")
    assert not found(with_parameters(retries, StopOnError=0), "start-fail-retries")


def test_seventeen_partitions_per_ldm_are_one_too_many() -> None:
    few = manual(ClassicFragmentation=0, PartitionsPerNode=8, ThreadConfig="ldm={count=1},main,recv,rep")
    assert not found(few, "partitions-per-node")
    many = with_parameters(few, PartitionsPerNode=9)
    assert found(many, "partitions-per-node")
    assert remove(many, []) is many


@pytest.mark.parametrize(
    ("rule_name", "values"),
    [
        ("text-understood", {"SpinMethod": "bogus"}),
        ("text-understood", {"InitialLogfileGroup": "bogus"}),
        ("settings-lifted", {"TransactionMemory": 2 * MIB}),
        ("settings-lifted", {"ThreadConfig": "ldm={count=1,spintime=9001}"}),
        ("thread-settings-ignored", {"AutomaticThreadConfig": 1, "ClassicFragmentation": 1}),
    ],
)
def test_what_a_data_node_takes_otherwise_is_told(rule_name: str, values: dict[str, int | str]) -> None:
    assert rule_name in {problem.rule for problem in check(manual(**values))}


@pytest.mark.parametrize(
    "values",
    [
        {"SpinMethod": "costbasedspinning", "InitFragmentLogFiles": "FULL"},
        {"InitialLogfileGroup": "name=LG1; undo_buffer_size=128M; undo1.log:250M; undo2.log:150M"},
        {"InitialTablespace": "name=TS;extent_size=8M;a.dat:1G"},
        {"TransactionMemory": 256 * MIB, "TotalSendBufferMemory": 64 * MIB},
    ],
)
def test_what_a_data_node_takes_as_written_is_not(values: dict[str, int | str]) -> None:
    told = {problem.rule for problem in check(manual(**values))}
    assert not told & {"text-understood", "settings-lifted"}


def test_diskless_says_when_the_log_is_full_as_the_simulation_does() -> None:
    """The reader's cluster: error 410 after about an hour."""
    plan = sample_plan("tick-store")
    (found,) = [p for p in check(plan) if p.rule == "diskless"]
    assert "410 comes all the same, here after 1 h" in found.message
