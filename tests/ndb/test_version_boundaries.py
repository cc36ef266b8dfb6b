"""What each version of the product does otherwise, seen from outside: before a change, and from it on.

A row names the feature of resources/ndb/features.json whose boundary it stands at; each boundary has a row.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from golden.commands import plan_files, run
from ndbplan.base.errors import UserError
from ndbplan.base.units import GIB, MIB
from ndbplan.configuration.global_checkpoints import save_limit_s
from ndbplan.configuration.needs import CannotChangeError, needs
from ndbplan.configuration.redo_problems import queues
from ndbplan.configuration.settings import node_settings, redo_buffers, redo_log_parts
from ndbplan.configuration.table_limits import over_limits
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.load.checkpoint_speed import is_partial, speed_limits
from ndbplan.estimate.load.disk_data import reads_backup
from ndbplan.estimate.load.redo import log_reserve
from ndbplan.estimate.loaded import checkpoint, redo
from ndbplan.estimate.space.file_sizes import redo_space
from ndbplan.estimate.storage.node_memory import job_buffer_pages, overallocated_send_bytes
from ndbplan.estimate.storage.rows import blob_parts
from ndbplan.estimate.stored import distribute, memory, placements
from ndbplan.estimate.timed import backup, restart
from ndbplan.estimate.times.restart import Conditions
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.importing.config.plan import import_config
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb import charsets
from ndbplan.ndb.collations import rule_in
from ndbplan.ndb.columns import COLUMN_TYPES, Declared, StoredType
from ndbplan.ndb.features import features, rows
from ndbplan.ndb.parameters import parameter
from ndbplan.ndb.placement import hashmap
from ndbplan.ndb.threads.config import check_thread_config
from ndbplan.ndb.threads.layout import ThreadCounts, thread_counts
from ndbplan.ndb.values import parse_integer
from ndbplan.ndb.version import SERIES, NdbVersion, release
from ndbplan.operations.change import change
from ndbplan.operations.schema import disk_data_statements
from ndbplan.plan.events import ParameterChange
from ndbplan.plan.file import load, save
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, Link
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, SpaceFile, Table
from ndbplan.plan.workloads import ClosedLoad
from ndbplan.simulate.model.scenario import build, lcp_share
from ndbplan.simulate.model.start import first_world
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate
from ndbplan.simulate.world.laws import Laws
from one_rule import of_rule

Observe = Callable[[str], Any]


def version(text: str) -> NdbVersion:
    return NdbVersion.parse(text)


def stored(type_name: str, text: str) -> StoredType:
    return COLUMN_TYPES[type_name].stored(Declared(), features(version(text)))


def plan(text: str, sample: str = "starter", **values: int | str | None) -> Plan:
    """A sample for a version, with parameters of all data nodes."""
    found = sample_plan(sample)
    for name, value in values.items():
        found = set_parameter(found, "data_node", name, value)
    return found.replace(ndb_version=text)


def severities(found: Plan, rule: str) -> tuple[str, ...]:
    return tuple(problem.severity.value for problem in of_rule(found, rule))


def messages(found: Plan, rule: str) -> str:
    return " ".join(problem.message for problem in of_rule(found, rule))


def exported(found: Plan, kinds: str) -> dict[str, str]:
    """Texts of the files that the command writes."""
    with TemporaryDirectory() as folder:
        path, out = Path(folder) / "p.ndbplan", Path(folder) / "out"
        save(found, path)
        code, _, said = run("export", str(path), "--only", kinds, "--to", str(out))
        assert code == 0, said
        return {str(f.relative_to(out)): f.read_text() for f in out.rglob("*") if f.is_file()}


def runbook(found: Plan) -> str:
    return exported(found, "runbook")["runbook.md"]


def refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except (UserError, ValueError):
        return True
    return False


def threads(text: str, **values: int | str | None) -> ThreadCounts:
    return thread_counts(version(text), values, cores=64)


def thread_config(text: str) -> Observe:
    return lambda v: refused(lambda: check_thread_config(text, version(v)))


def on_host(found: Plan, place: int, hostname: str) -> Plan:
    return update(found, found.hosts[place].id, hostname=hostname)


def two_ports(v: str) -> Plan:
    found = plan(v)
    first, second = found.management_nodes
    return update(found, second.id, host_id=first.host_id)


def linked(v: str, times: int = 1, kind: str = "tcp") -> Plan:
    first, second = plan(v).data_nodes[:2]
    link = Link(kind=kind, process_id_1=first.id, process_id_2=second.id)
    return plan(v).replace(links=(link,) * times)


def aborted_by_a_stop(v: str) -> bool:
    """Whether a rolling restart costs errors."""
    found = plan(v, AutomaticThreadConfig=None)
    change = ParameterChange(at_s=2, name="RedoBuffer", value=2**26)
    result = simulate(Estimation(found, found.workloads[0]), duration_s=4, events=[change])
    return 4010 in {error.code for error in result.errors}


def in_partitions(found: Plan) -> Plan:
    """Its first table asks for 12 partitions."""
    return update(found, found.tables[0].id, partitions=12)


def linked_to_client(v: str) -> Plan:
    """A plan in which an SQL node has a connection of its own to the first of its data nodes."""
    found = plan(v)
    link = Link(process_id_1=found.sql_nodes[0].id, process_id_2=found.data_nodes[0].id)
    return found.replace(links=(link,))


def aside(v: str) -> Plan:
    """Three whole groups but for the third node, which is kept aside; its partner is counted or not."""
    found = load(plan_files()["uneven-hosts-8.0"]).replace(ndb_version=v)
    return update(found, found.data_nodes[2].id, node_group=65536)


def table(columns: tuple[Column, ...], **fields: Any) -> Table:
    key = Column(name="k", type="bigint", nullable=False)
    usual = {"id": "x", "name": "x", "primary_key": ("k",), "rows": 10**6}
    return Table(database="d", columns=(key, *columns), **{**usual, **fields})


def restored(v: str) -> str:
    found = plan(v)
    slot = ApiSlot(id="api250", node_id=250)
    return runbook(found.replace(processes=(*found.processes, slot)))


def encrypted(v: str) -> str:
    return runbook(set_parameter(plan(v), "data_node", "RequireEncryptedBackup", 1))


def two_data_files(v: str) -> Plan:
    found = plan(v, "disk-data-8.4")
    files = (SpaceFile(name="a", size_bytes=1), SpaceFile(name="b", size_bytes=1))
    return update(found, found.tablespaces[0].id, data_files=files)


def with_table(v: str, columns: tuple[Column, ...], **fields: Any) -> Plan:
    return plan(v).replace(tables=(table(columns, **fields),), workloads=())


BLOB = (Column(name="b", type="longblob", average_bytes=30_000),)
LARGEST_PARTS = (Column(name="b", type="longblob", blob_part_bytes=13948),)
INLINE = (Column(name="b", type="blob", blob_inline_bytes=64),)
ZERO_DATE = Column(name="z", type="datetime", default="'0000-00-00 00:00:00'")
COUNTED_FLOAT = Column(name="f", type="float", nullable=False, auto_increment=True)
LONG_KEY = tuple(
    Column(name=f"k{i}", type="varbinary", length=200, nullable=False, average_bytes=20) for i in range(5)
)


def over(v: str, *, length: int = 1, columns: int = 1, name: str = "n") -> list[int]:
    """Errors of the limits that a table with such columns of bytes is over."""
    made = (Column(name=f"c{i}", type="varbinary", length=length) for i in range(columns))
    return [one.error for one in over_limits(table((*made,)).model_copy(update={"name": name}), version(v))]


def part_bytes(v: str) -> int:
    """Largest part of a blob whose table has a long key."""
    names = tuple(column.name for column in LONG_KEY)
    found = blob_parts(table((*LONG_KEY, *BLOB), primary_key=names), version(v))
    (data,) = [c for c in found[0].layout.columns if c.name == "NDB$DATA"]
    return data.type.max_bytes


def unique_fragments(v: str) -> tuple[int, ...]:
    """Fragments of a table with one fragment for each node, and of its unique index."""
    found = with_table(
        v, (Column(name="u", type="int"),), partition_balance="FOR_RP_BY_NODE",
        indexes=(Index(name="u", columns=("u",), kind="unique_hash"),),
    )  # fmt: skip
    found = set_parameter(found, "data_node", "MaxNoOfExecutionThreads", 8)
    return tuple(place.fragments for place in placements(found)["x"])


def second_table(v: str) -> tuple[int, ...]:
    """LDM threads of the three partitions of the second of two tables."""
    found = plan(v, AutomaticThreadConfig=None, MaxNoOfExecutionThreads=8, NoOfFragmentLogParts=4)
    tables = tuple(table((), id=name, name=name, partitions=3) for name in "ab")
    both = found.replace(tables=tables, workloads=())
    return tuple(int(one.ldm) for one in distribute(both, both.tables[1]).partitions)


def imported(v: str) -> bool:
    """Whether ndb_mgmd refuses a data node without an id when 48 ids are taken."""
    ids = "".join(f"[mysqld]\nNodeId={i}\n" for i in range(2, 49))
    text = f"[ndbd default]\nNoOfReplicas=1\n[ndb_mgmd]\nNodeId=1\nHostName=m\n{ids}[ndbd]\nHostName=h\n"
    _, report = import_config({"config.ini": text.encode()}, v)
    (one,) = [finding for finding in report.findings if "gets node id 49" in finding.message]
    return one.refused


def out_of_operations(v: str) -> list[int]:
    """The error that clients get when there are more of them than records of operations."""
    found = plan(v, MaxNoOfConcurrentOperations=200)
    crowd = found.workloads[0].model_copy(update={"load": ClosedLoad(clients=100_000, latency_s=1.0)})
    result = simulate(estimation_of(found.replace(workloads=(crowd,)), crowd.id), duration_s=10.0)
    return [error["code"] for error in result.to_json()["errors"]]


def laws(v: str) -> Laws:
    """What a simulation of a sample is told."""
    found = plan(v)
    return build(Estimation(found, found.workloads[0]), duration_s=1.0, step_s=0.1, seed=1).laws


def checkpoint_speed_at_start(v: str) -> float:
    """Bytes a second that checkpoints are set to when the load of a sample begins."""
    found = plan(v)
    scenario = build(Estimation(found, found.workloads[0]), duration_s=1.0, step_s=0.1, seed=1)
    return float(first_world(scenario).state.node_state[0].lcp_target_bytes_per_s)


def cleaned_by_a_thread(v: str) -> float:
    """Pages of disk data that each LDM thread writes in the background in a second."""
    node = laws(v).nodes[0]
    return float(node.clean_bytes_per_s / node.ldms / 2**15)


def log_full_after(v: str) -> float:
    """Seconds until the redo log of an overloaded plan is full, checkpoints going on."""
    found = plan(v, "redo-overload", NoOfFragmentLogFiles=4, DataMemory=2**40)
    overflow = checkpoint(found, found.workloads[0]).nodes[0].overflow_after_s
    assert overflow is not None
    return overflow.value


def logged(v: str) -> float:
    """Most bytes of redo log that may reach a disk."""
    found = plan(v, "redo-overload")
    return max(node.device_bytes_per_s.high for node in redo(found, found.workloads[0]).nodes)


def overallocated(v: str) -> int:
    """What send buffers of 1 GiB may take beyond that of a SharedGlobalMemory of 32 MiB."""
    settings = node_settings(set_parameter(plan(v), "data_node", "SharedGlobalMemory", "32M"))
    return overallocated_send_bytes(settings, GIB)


def least_for_schema(v: str, name: str, **others: int) -> int:
    """Smallest value of a parameter that the tables of a sample fit."""
    least = int(parameter("DB", name, release(v)).minimum or 0)
    values = range(least, least + 200)
    return next(n for n in values if not severities(plan(v, **others, **{name: n}), "schema-objects"))


def one_file(v: str) -> Plan:
    """A tablespace of one data file."""
    found = plan(v, "disk-data")
    space = found.tablespaces[0]
    return update(found, space.id, data_files=(space.data_files[0].model_copy(update={"count": 1}),))


def restarted(kind: Any, *, busy: bool = False, sample: str = "node-restart") -> Observe:
    def seconds(v: str) -> float:
        found = plan(v, sample)
        return restart(
            found, kind, conditions=Conditions(workload=found.workloads[0] if busy else None)
        ).duration_s.value

    return seconds


def redo_at_first(v: str) -> float:
    """Share of the redo log files that is written at an initial start, at least."""
    found = plan(v)
    space = redo_space(node_settings(found), constants_of(found))
    return space.low / space.value


def backed_up(v: str) -> float:
    found = plan(v, AutomaticThreadConfig=None, MaxNoOfExecutionThreads=8)
    return max(node.duration_s.value for node in backup(found).nodes)


def reorganised(v: str) -> float:
    """With small batches, where they can be set."""
    return reorganise(plan(v, MaxReorgBuildBatchSize=16)).duration_s.value


def pooled(v: str) -> Plan:
    found = plan(v)
    return update(found, found.sql_nodes[0].id, pool_node_ids=(200,))


def two_sql_nodes(v: str) -> Plan:
    """On one host."""
    found = plan(v)
    second = found.sql_nodes[0].model_copy(update={"id": "second", "node_id": 201})
    return found.replace(processes=(*found.processes, second))


def logging(v: str) -> Plan:
    found = plan(v)
    return update(found, found.sql_nodes[0].id, options={"log-bin": "x"})


def unresolved(v: str) -> Plan:
    found = plan(v)
    alone = next(h for h in found.hosts if {p.kind for p in found.processes_of_host[h.id]} == {"sql"})
    return update(found, alone.id, hostname="app.invalid")


def read_off(v: str) -> Plan:
    found = plan(v)
    for one in found.tables:
        found = update(found, one.id, read_backup=False)
    return found


def under_load(v: str) -> float:
    """How many times longer a node restart takes under a load of writes."""
    return restarted("node", busy=True)(v) / restarted("node")(v)


ROOMY = ThreadCounts(main=1, rep=1, recv=1, tc=1, ldm=4, send=0, query=0)
CROWDED = ThreadCounts(main=1, rep=1, recv=1, tc=4, ldm=40, send=0, query=0)


def upgraded(before: str) -> Observe:
    """What an upgrade from a release is told to do first; nothing: it can be done."""

    def told(v: str) -> str:
        try:
            # A series beside one of its own releases is not told apart: the last of it is meant here.
            needs(plan(before), plan(v if v.count(".") == 2 else f"{v}.99"))
        except CannotChangeError as error:
            found = re.search(r"upgrade to [0-9.]+ or later", error.line)
            return found[0] if found else error.line
        return ""

    return told


def gcp_save_limit(text: str) -> float:
    """With 200 s of TimeBetweenEpochsTimeout, and only one data node that nobody has to declare dead."""
    settings = node_settings(plan(text, TimeBetweenEpochsTimeout=200_000, ArbitrationTimeout=1000))
    return (save_limit_s(settings, 1) or 0.0) - 3.0


CASES: tuple[tuple[str, str, Observe, Any, Any], ...] = (
    ("multithreaded_node", "7.0.0", lambda v: threads(v, MaxNoOfExecutionThreads=8).ldm, 1, 4),
    ("config_cache", "7.0.0", lambda v: "=--reload" in runbook(plan(v)), False, True),
    ("memory_usage_report", "7.0.0", lambda v: "REPORT MEMORYUSAGE" in runbook(plan(v)).upper(), False, True),
    ("add_nodes_online", "7.0.0", lambda v: refused(lambda: reorganise(plan(v))), True, False),
    ("ndbinfo", "7.1.0", lambda v: "ndbinfo.nodes" in runbook(plan(v)), False, True),
    (
        "max_rows_online",
        "7.2.0",
        lambda v: "TABLE `d`.`x` MAX_ROWS" in runbook(with_table(v, (), max_rows=10**9)),
        False,
        True,
    ),
    ("algorithm_inplace", "7.5.0", lambda v: "ALGORITHM=INPLACE" in runbook(plan(v)), False, True),
    (
        "pool_node_ids",
        "7.5.0",
        lambda v: "pool-nodeids" in "".join(exported(pooled(v), "mycnf").values()),
        False,
        True,
    ),
    (
        "mysqld_notifies_systemd",
        "8.0.0",
        lambda v: "Type=notify" in "".join(exported(plan(v), "systemd").values()),
        False,
        True,
    ),
    ("mysqld_initialises", "7.5.0", lambda v: "--initialize-insecure" in runbook(plan(v)), False, True),
    (
        "tablespace_engine_named",
        "8.0.0",
        lambda v: "'b' INITIAL_SIZE 1 ENGINE" in "\n".join(disk_data_statements(two_data_files(v))),
        True,
        False,
    ),
    (
        "mysqld_upgrades_itself",
        "8.0.16",
        lambda v: "system-tables" in {step.key for step in change(Estimation(plan(v)), plan("8.0.11")).steps},
        True,
        False,
    ),
    ("sql_offline_mode", "7.5.0", lambda v: "offline_mode" in runbook(plan(v)), False, True),
    *(
        ("binlog_needs_server_id", first, lambda v: severities(logging(v), "mysqld-options"), *found)
        for first, found in (("7.5.0", ((), ("warning",))), ("8.0.0", (("warning",), ())))
    ),
    (
        "x_plugin",
        "8.0.0",
        lambda v: "mysqlx-port" in "".join(exported(two_sql_nodes(v), "mycnf").values()),
        False,
        True,
    ),
    ("stored_grants_restored", "8.0.19", lambda v: "--include-stored-grants" in restored(v), False, True),
    ("statistics_lack_event", "8.0.0", lambda v: "ndb_index_stat" in restored(v), False, True),
    (
        "backup_password_from_stdin",
        "8.0.24",
        lambda v: "--encrypt-backup" in encrypted(v),
        False,
        True,
    ),
    *(
        ("upgraded_from", f"{series}.0", upgraded(before), "", f"upgrade to {oldest} or later")
        for series, before, oldest in (
            ("7.0", "6.3.0", "6.3.17"),
            ("7.2", "6.3.20", "7.0"),
            ("7.3", "7.0.0", "7.2"),
            ("7.5", "7.2.0", "7.3.2"),
            ("8.0", "7.4.0", "7.5"),
            ("8.1", "7.6.0", "8.0.19"),
            ("8.4", "7.6.0", "8.0.19"),
            ("9.0", "8.0.30", "8.4"),
        )
    ),
    (
        "kubernetes_operator",
        "8.0.22",
        lambda v: "ndb-operator.yaml" in exported(plan(v), "operator,config"),
        False,
        True,
    ),
    (
        "data_nodes_most",
        "8.0.18",
        lambda v: severities(update(plan(v), plan(v).data_nodes[1].id, node_id=49), "data-node-ids"),
        ("error",),
        (),
    ),
    (
        "node_groups_most",
        "8.0.18",
        lambda v: severities(update(plan(v), plan(v).data_nodes[1].id, node_group=49), "node-group-number"),
        ("error",),
        (),
    ),
    (
        "node_groups_most",
        "8.0.18",
        lambda v: severities(update(plan(v), plan(v).data_nodes[1].id, node_group=72), "node-group-number"),
        ("error",),
        ("error",),
    ),
    (
        "replicas_most_tested",
        "8.0.19",
        lambda v: severities(plan(v, NoOfReplicas=3), "number-of-replicas"),
        ("warning",),
        (),
    ),
    (
        "reserved_nodes_counted",
        "8.0.0",
        lambda v: severities(aside(v), "node-group-size"),
        ("warning",),
        ("error",),
    ),
    ("lenient_numbers", "8.0.0", lambda v: refused(lambda: parse_integer("80MB", version(v))), False, True),
    (
        "ipv6",
        "8.0.22",
        lambda v: severities(on_host(plan(v), 0, "fd00::1"), "host-name-reserved"),
        ("error",),
        (),
    ),
    (
        "ipv6_loopback_is_local",
        "8.0.0",
        lambda v: severities(on_host(plan(v), 0, "::1"), "localhost-mixed"),
        (),
        ("error",),
    ),
    (
        "management_ports_compared",
        "8.0.0",
        lambda v: severities(two_ports(v), "management-ports"),
        ("warning",),
        ("error",),
    ),
    (
        "sql_hosts_resolved",
        "8.0.0",
        lambda v: severities(unresolved(v), "host-name-reserved"),
        ("error",),
        (),
    ),
    (
        "second_link_refused",
        "7.4.0",
        lambda v: severities(linked(v, 2), "link-ends"),
        ("warning",),
        ("error",),
    ),
    (
        "shared_memory",
        "7.6.0",
        lambda v: "before 7.6" in messages(linked(v, kind="shm"), "shared-memory-links"),
        True,
        False,
    ),
    (
        "dml_operations_compared",
        "8.0.0",
        lambda v: severities(plan(v, MaxDMLOperationsPerTransaction=10**6), "dml-operations"),
        (),
        ("error",),
    ),
    (
        "settings_lifted",
        "8.0.0",
        lambda v: severities(plan(v, TotalSendBufferMemory=MIB), "settings-lifted"),
        (),
        ("hint",),
    ),
    (
        "dictionary_of_system",
        "8.0.0",
        lambda v: least_for_schema(v, "MaxNoOfTables", MaxNoOfOrderedIndexes=12, MaxNoOfUniqueHashIndexes=0),
        13,
        16,
    ),
    ("attributes_of_system", "8.0.0", lambda v: least_for_schema(v, "MaxNoOfAttributes"), 93, 106),
    ("ordered_indexes_of_system", "8.0.0", lambda v: least_for_schema(v, "MaxNoOfOrderedIndexes"), 9, 10),
    (
        "thread_config",
        "7.2.3",
        lambda v: threads(v, ThreadConfig="ldm={count=2}", MaxNoOfExecutionThreads=8).ldm,
        4,
        2,
    ),
    ("execution_threads_most", "7.2.5", lambda v: threads(v, MaxNoOfExecutionThreads=72).ldm, 4, 16),
    ("execution_threads_most", "7.3.3", lambda v: threads(v, MaxNoOfExecutionThreads=72).ldm, 16, 32),
    (
        "thread_types_of_8",
        "8.0.23",
        thread_config("main,rep,recv,ldm={count=1},query={count=1}"),
        True,
        False,
    ),
    ("thread_config_comma_at_end", "8.0.0", thread_config("main,ldm,"), False, True),
    ("cpu_lists_with_gaps", "8.0.0", thread_config("main,ldm={cpuset=1,,2}"), False, True),
    ("thread_counts_at_least", "8.0.23", thread_config("main,rep,ldm,recv={count=0}"), False, True),
    (
        "connected_by_pair",
        "8.0.0",
        lambda v: severities(linked_to_client(v), "link-leaves-out"),
        ("warning",),
        (),
    ),
    (
        "deprecated_pairs",
        "7.5.0",
        lambda v: node_settings(plan(v, Discless=1)).number("Diskless"),
        1,
        0,
    ),
    ("index_build_threads", "7.6.0", thread_config("ldm,idxbld={cpuset=1}"), True, False),
    ("exclusive_bindings", "7.5.0", thread_config("ldm={cpubind_exclusive=1}"), True, False),
    ("nosend", "8.0.0", thread_config("ldm={nosend=1}"), True, False),
    ("ldm_counts", "7.4.0", thread_config("ldm={count=10}"), True, False),
    ("ldm_counts", "8.0.0", thread_config("ldm={count=5}"), True, False),
    (
        "ldm_share_log_parts",
        "7.5.0",
        lambda v: severities(
            plan(v, AutomaticThreadConfig=None, ThreadConfig="ldm={count=8}", NoOfFragmentLogParts=4),
            "ldm-and-log-parts",
        ),
        ("error",),
        ("warning",),
    ),
    (
        "automatic_threads",
        "8.0.23",
        lambda v: threads(v, AutomaticThreadConfig=1, NumCPUs=16).ldm > 1,
        False,
        True,
    ),
    (
        "fragment_log_parts",
        "7.2.16",
        lambda v: redo_log_parts(node_settings(plan(v, NoOfFragmentLogParts=8))),
        4,
        8,
    ),
    ("hash_maps", "7.0.0", lambda v: hashmap.is_exact(version(v), 3), False, True),
    ("hash_map_buckets", "7.2.0", lambda v: hashmap.default_buckets(version(v)), 240, 3840),
    ("large_hash_map", "8.0.0", lambda v: hashmap.default_buckets(version(v), 5000), 3840, 23_040),
    ("partitions_most", "7.2.0", lambda v: hashmap.max_fragments(version(v)), 240, 2048),
    ("partitions_most", "7.6.8", lambda v: hashmap.max_fragments(version(v)), 2048, 8160),
    (
        "partition_balance",
        "7.5.0",
        lambda v: (
            "PARTITION_BALANCE"
            in " ".join(str(p.fix) for p in of_rule(with_table(v, (), partitions=4), "reorganise-refused"))
        ),
        False,
        True,
    ),
    (
        "blob_inline_by_comment",
        "8.0.30",
        lambda v: "BLOB_INLINE_SIZE=64" in render_schema(with_table(v, INLINE)),
        False,
        True,
    ),
    (
        "blob_parts_by_comment",
        "7.3.0",
        lambda v: "MAX_BLOB_PART_SIZE" in render_schema(with_table(v, LARGEST_PARTS)),
        False,
        True,
    ),
    ("read_backup", "7.5.2", lambda v: bool(severities(read_off(v), "read-backup")), False, True),
    ("read_backup_by_default", "8.0.19", lambda v: reads_backup(table(()), version(v)), False, True),
    ("blobs_are_reorganised", "7.2.14", lambda v: "blob parts" in runbook(with_table(v, BLOB)), True, False),
    ("fractional_seconds", "7.3.0", lambda v: stored("datetime", v).max_bytes, 8, 5),
    (
        "blob_parts_by_length",
        "7.0.0",
        lambda v: stored("blob", v).length_bytes,
        0,
        2,
    ),
    (
        "blob_part_bytes_most",
        "7.2.0",
        lambda v: stored("longblob", v).part_bytes,
        8000,
        13_948,
    ),
    ("blob_parts_kept_in_row", "8.0.0", part_bytes, 12_952, 13_948),
    ("row_words_most", "7.2.0", part_bytes, 7004, 12_952),
    ("row_words_most", "8.0.18", lambda v: over(v, length=20_000), [738], []),
    ("columns_most", "7.0.0", lambda v: over(v, columns=200), [708], []),
    ("name_bytes_most", "8.0.18", lambda v: over(v, name="n" * 64), [1059], []),
    (
        "timestamp_nullable",
        "8.0.0",
        lambda v: (
            read_ddl("CREATE TABLE t (k INT PRIMARY KEY, x TIMESTAMP)", version(v))
            .tables[0]
            .columns[1]
            .nullable
        ),
        False,
        True,
    ),
    (
        "zero_dates_refused",
        "7.5.0",
        lambda v: "zeros" in messages(with_table(v, (ZERO_DATE,)), "table-impossible"),
        False,
        True,
    ),
    (
        "floats_count",
        "8.4.0",
        lambda v: "whole number" in messages(with_table(v, (COUNTED_FLOAT,)), "table-impossible"),
        False,
        True,
    ),
    (
        "default_charset",
        "8.0.0",
        lambda v: charsets.default_collation(version(v)),
        "latin1_swedish_ci",
        "utf8mb4_0900_ai_ci",
    ),
    (
        "utf8mb4_collation",
        "8.0.0",
        lambda v: charsets.default_collation(version(v), "utf8mb4"),
        "utf8mb4_general_ci",
        "utf8mb4_0900_ai_ci",
    ),
    (
        "padded_with_space",
        "8.0.0",
        lambda v: rule_in("latin7_general_ci", version(v)).filler == 0x20,
        False,
        True,
    ),
    (
        "index_memory_joined",
        "7.6.0",
        lambda v: memory(plan(v)).nodes[0].index_memory_bytes.value > 0,
        True,
        False,
    ),
    (
        "redo_log_least_share",
        "7.6.0",
        lambda v: severities(
            plan(v, DataMemory=10 * GIB, NoOfFragmentLogFiles=8, FragmentLogFileSize=64 * MIB),
            "redo-log-and-memory",
        ),
        ("warning",),
        (),
    ),
    (
        "redo_log_usual_share",
        "7.6.0",
        lambda v: severities(
            plan(v, DataMemory=GIB, NoOfFragmentLogFiles=4, FragmentLogFileSize=64 * MIB),
            "redo-log-and-memory",
        ),
        ("hint",),
        (),
    ),
    ("partial_checkpoints", "7.6.4", lambda v: is_partial(node_settings(plan(v))), False, True),
    (
        "redo_control",
        "7.6.7",
        lambda v: speed_limits(node_settings(plan(v, EnableRedoControl=1))).redo_control,
        False,
        True,
    ),
    (
        "checkpoint_speed_by_parameters",
        "7.4.1",
        lambda v: (
            speed_limits(node_settings(plan(v, DiskCheckpointSpeed=7 * MIB, MinDiskWriteSpeed=3 * MIB))).floor
            / MIB
        ),
        7,
        3,
    ),
    (
        "data_files_by_many_threads",
        "7.0.0",
        lambda v: "one data file" in messages(one_file(v), "data-files"),
        True,
        False,
    ),
    ("data_node_ids_checked", "7.5.0", imported, True, False),
    ("thread_counts_of_8", "8.0.0", lambda v: threads(v, MaxNoOfExecutionThreads=33).tc, 8, 7),
    (
        "fixed_part_limit_bytes",
        "7.6.0",
        lambda v: severities(
            with_table(v, (Column(name="c", type="char", length=200),), rows=10**9), "fixed-part-limit"
        ),
        ("warning",),
        (),
    ),
    (
        "fragments_of_table_in_ldm",
        "8.0.23",
        lambda v: severities(
            in_partitions(plan(v, AutomaticThreadConfig=None, MaxNoOfExecutionThreads=2)),
            "too-many-fragments",
        ),
        ("error",),
        (),
    ),
    (
        "measured_on_8_4",
        "7.6.0",
        lambda v: restart(with_table(v, (), rows=100), "node").phases[0].duration_s.value,
        14.0,
        18.0,
    ),
    ("stop_aborts_transactions", "8.0.0", aborted_by_a_stop, True, False),
    (
        "initial_start_keeps_disk_data",
        "8.0.21",
        lambda v: severities(plan(v, "disk-data"), "initial-start"),
        ("hint",),
        (),
    ),
    ("placement_by_table", "7.5.0", second_table, (2, 3, 3), (4, 1, 2)),
    ("unique_index_follows_table", "7.4.0", unique_fragments, (2, 8), (2, 2)),
    (
        "lcp_share_of_buffered_writes",
        "7.4.0",
        lambda v: round(lcp_share(plan(v, ODirect=0), 2, 2), 2),
        0.73,
        0.6,
    ),
    ("redo_problems_queued", "7.2.0", lambda v: queues(plan(v)), False, True),
    ("redo_lag_at_once", "8.0.0", lambda v: int(laws(v).nodes[0].lag_looks), 3, 1),
    (
        "redo_log_keeps_more",
        "8.0.0",
        lambda v: int(log_reserve(features(version(v)), constants_of(plan(v))).value) // MIB,
        5,
        6,
    ),
    ("replicas_refuse_apart", "8.0.0", lambda v: bool(laws(v).run.replicas_apart), True, False),
    ("file_end_refused_at_once", "8.0.0", lambda v: laws(v).run.aborted_log_at_file_end, 0.2, 0.9),
    ("lcp_speed_steps_up", "8.0.0", lambda v: laws(v).nodes[0].lcp_steps_up, 12, 6),
    ("lcp_speed_steps_down", "8.0.0", lambda v: laws(v).nodes[0].lcp_steps_down, 7, 5),
    ("redo_files_sparse", "6.3.19", lambda v: redo_at_first(v) < 1, False, True),
    ("gcp_save_limit_by_epochs", "7.4.5", gcp_save_limit, 120.0, 200.0),
    ("lcp_flushes_before", "8.0.0", lambda v: laws(v).run.lcp_flushes_before, 1, 2),
    ("pages_cleaned_at_once", "7.0.0", cleaned_by_a_thread, 33 * 5, 129 * 5),
    ("lcp_speed_begins_lowest", "8.0.0", checkpoint_speed_at_start, 10 * 2**20, 100 * 2**20),
    ("transaction_memory", "8.0.19", out_of_operations, [233], [234]),
    ("job_buffers_pooled", "8.0.23", lambda v: job_buffer_pages(CROWDED, version(v)), 26_336, 51_418),
    ("job_buffer_pages_own", "8.0.23", lambda v: job_buffer_pages(ROOMY, version(v)), 2432, 2224),
    ("redo_buffer_of_log_part", "8.0.23", lambda v: redo_buffers(node_settings(plan(v)), 2), 2, 8),
    ("send_overallocation_bounded", "8.0.0", overallocated, 256 * MIB, 8 * MIB),
)
"""(feature, release of the change, what is looked at, before, from then on)"""

COMPARED: tuple[tuple[str, str, Observe, Callable[[Any, Any], bool]], ...] = (
    ("memory_touched_by_threads", "7.4.1", restarted("initial"), operator.gt),
    ("restore_without_delays", "7.4.1", restarted("system"), operator.gt),
    ("parallel_copy", "7.4.1", restarted("initial"), operator.gt),
    ("restart_under_traffic", "6.3.28", under_load, operator.gt),
    ("restart_under_traffic", "7.0.0", under_load, operator.lt),
    ("restart_under_traffic", "7.0.9", under_load, operator.gt),
    ("redo_spans_two_lcps", "7.4.0", log_full_after, operator.lt),
    ("two_pass_copy", "7.6.4", restarted("initial"), operator.gt),
    ("backup_share", "7.4.8", backed_up, operator.lt),
    ("multithreaded_backup", "8.0.16", backed_up, operator.ne),
    ("reorganise_batches", "7.6.4", reorganised, operator.lt),
    ("redo_device_factor_of_2010", "7.2.0", logged, operator.gt),
)
"""(feature, release of the change, what is looked at, how before stands to after)"""


def just_below(text: str) -> str:
    """The last release before one."""
    major, minor, patch = (int(part) for part in text.split("."))
    if patch:
        return f"{major}.{minor}.{patch - 1}"
    return [series for series in SERIES if version(series) < (major, minor)][-1]


@pytest.mark.parametrize(
    ("first", "observe", "before", "after"),
    [case[1:] for case in CASES],
    ids=[f"{case[0]}-{case[1]}" for case in CASES],
)
def test_both_sides_of_a_boundary(first: str, observe: Observe, before: Any, after: Any) -> None:
    assert (observe(just_below(first)), observe(first)) == (before, after)


@pytest.mark.parametrize(
    ("first", "observe", "stands"),
    [case[1:] for case in COMPARED],
    ids=[f"{case[0]}-{case[1]}" for case in COMPARED],
)
def test_before_a_boundary_it_took_more_or_less(
    first: str, observe: Observe, stands: Callable[..., bool]
) -> None:
    before, after = observe(just_below(first)), observe(first)
    assert stands(before, after), (before, after)


def test_every_boundary_of_the_table_is_looked_at() -> None:
    looked = {(case[0], release(case[1])) for case in (*CASES, *COMPARED)}
    wanted = {(name, release(first)) for name, row in rows().items() for first in list(row["values"])[1:]}
    assert wanted - looked == set()
