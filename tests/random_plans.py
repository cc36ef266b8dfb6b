"""Plans of every kind from a seed: good, bad and absurd ones, for laws that hold for all plans.

random_plan(17)  gives the same plan in every process. What a plan file could not hold is not in them;
what a management server or a data node would refuse is.
"""

from __future__ import annotations

from random import Random
from typing import Any

from ndbplan.base.units import GIB, KIB, MIB
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk, DiskKind, Host, Location
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRole, DiskRoles, Link, ManagementNode, SqlNode
from ndbplan.plan.tables import Column, Index, LogfileGroup, PartitionBalance, SpaceFile, Table, Tablespace
from ndbplan.plan.workloads import (
    ClosedLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)

VERSIONS = (
    "6.3", "6.3.19", "7.0.9", "7.1", "7.2", "7.2.14", "7.3", "7.4.10", "7.5", "7.6.7", "7.6",
    "8.0.13", "8.0.18", "8.0.23", "8.0", "8.4.8", "8.4", "9.x",
)  # fmt: skip

_KNOWN: dict[str, tuple[int | str, ...]] = {
    "DataMemory": (MIB, 80 * MIB, 2 * GIB, 30 * GIB, 200 * GIB, 750 * GIB, 4 * 2**40),
    "IndexMemory": (MIB, GIB),
    "NoOfFragmentLogFiles": (3, 8, 16, 100, 4000, 2**31),
    "FragmentLogFileSize": (4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB),
    "NoOfFragmentLogParts": (4, 5, 6, 8, 16, 32),
    "RedoBuffer": (MIB, 8 * MIB, 32 * MIB, 512 * MIB, 2 * GIB),
    "MaxNoOfConcurrentOperations": (32, 1000, 32768, 10**6, 4 * 10**9, 10**13),
    "MaxNoOfConcurrentTransactions": (32, 4096, 10**5, 10**10),
    "MaxDMLOperationsPerTransaction": (32, 40_000, 4_294_967_295),
    "ReservedConcurrentOperations": (0, 10**6),
    "ReservedConcurrentTransactions": (0, 5000),
    "TransactionMemory": (0, MIB, GIB),
    "MaxNoOfFiredTriggers": (1, 4000),
    "MaxNoOfLocalScans": (32, 10**6),
    "MaxNoOfTables": (8, 128, 20_000, 50_000),
    "MaxNoOfAttributes": (32, 1000, 10**5),
    "MaxNoOfOrderedIndexes": (0, 128, 4_294_967_039),
    "MaxNoOfUniqueHashIndexes": (0, 64, 4_294_967_039),
    "MaxStartFailRetries": (3, 5),
    "StartFailRetryDelay": (0, 10),
    "StopOnError": (0, 1),
    "AutomaticThreadConfig": (0, 1),
    "NumCPUs": (0, 4, 72, 1024),
    "MaxNoOfExecutionThreads": (2, 4, 8, 32, 72, 100),
    "ThreadConfig": (
        "ldm={count=4},main,recv,rep", "ldm={count=16},tc={count=8},recv={count=3},main,rep,send={count=2}",
        "ldm={count=4},query={count=3}", "ldm={count=2", "nonsense",
        "ldm={count=5,cpubind=1-5},main={cpubind=0}",
        "ldm={count=1,spintime=9001}",
    ),
    "ClassicFragmentation": (0, 1),
    "PartitionsPerNode": (1, 2, 8, 32),
    "TimeBetweenLocalCheckpoints": (0, 6, 20, 31, 32),
    "TimeBetweenGlobalCheckpoints": (20, 2000, 10_000),
    "HeartbeatIntervalDbDb": (10, 500, 1500, 5000, 60_000),
    "ArbitrationTimeout": (10, 1000, 7500),
    "TransactionInactiveTimeout": (0, 100, 10_000, 10**6),
    "TransactionDeadlockDetectionTimeout": (50, 1200, 10**6),
    "ODirect": (0, 1),
    "ODirectSyncFlag": (0, 1),
    "Diskless": (0, 1),
    "Discless": (0, 1),
    "LockPagesInMainMemory": (0, 1, 2, 3),
    "Numa": (0, 1),
    "EnableRedoControl": (0, 1),
    "EnablePartialLcp": (0, 1),
    "MaxDiskWriteSpeed": (2 * MIB, 20 * MIB, 2 * GIB),
    "MinDiskWriteSpeed": (MIB, 10 * MIB, GIB),
    "DiskCheckpointSpeed": (MIB, 10 * MIB, GIB),
    "DiskPageBufferMemory": (4 * MIB, 64 * MIB, 8 * GIB, 512 * GIB),
    "CompressedLCP": (0, 1),
    "CompressedBackup": (0, 1),
    "TotalSendBufferMemory": (256 * KIB, MIB, 64 * MIB),
    "InitFragmentLogFiles": ("sparse", "FULL", "half"),
    "SpinMethod": ("CostBasedSpinning", "bogus"),
    "InitialLogfileGroup": ("bogus", "name=lg;undo_buffer_size=64M;undo1.log:1G"),
    "RequireTls": (0, 1),
    "BackupDataDir": ("/backups", "backups"),
    "FileSystemPath": ("/disk0/fs", "/disk1/fs"),
    "LockExecuteThreadToCPU": ("1-3", "x"),
    "MinFreePct": (0, 5, 50, 100),
    "RecoveryWork": (25, 50, 60, 100),
    "datamemory": (GIB, 1),
    "REDOBUFFER": (MIB, 64 * MIB),
    "FooBar": (1, "x"),
    "Arbitration": ("Default", "WaitExternal", "nobody"),
    "NoOfReplicas": (1, 2, 3, 4, 7),
    "BackupMemory": (32 * MIB,),
    "BackupDataBufferSize": (2 * MIB, GIB),
    "NoOfDiskPagesToDiskAfterRestartTUP": (1, 100),
    "MaxNoOfIndexes": (1,),
}  # fmt: skip
"""Parameters that rules look at, with usual, extreme and refused values."""


def random_plan(seed: int) -> Plan:
    """The plan of this seed."""
    random = Random(seed)
    text = random.choice(VERSIONS)
    version = NdbVersion.parse(text)
    wild = random.random()
    """How much of the plan is out of the ordinary."""
    replicas = random.choice((1, 2, 2, 2, 2, 3, 4))
    groups = random.choice((1, 1, 1, 2, 2, 3))
    locations = _locations(random)
    hosts, processes = _data_nodes(random, version, replicas, groups, locations, wild)
    _other_nodes(random, version, locations, hosts, processes, wild)
    files, spaces = _disk_data(random)
    tables = tuple(_table(random, i, spaces, version) for i in range(random.choice((0, 1, 1, 2, 4))))
    workloads = (
        tuple(_workload(random, i, tables) for i in range(random.choice((0, 1, 1, 2)))) if tables else ()
    )
    cluster = {"NoOfReplicas": replicas, **_parameters(random, "DB", version, wild)}
    if random.random() < 0.6:
        cluster.setdefault("DataMemory", random.choice((GIB, 4 * GIB, 16 * GIB, 100 * GIB)))
    parameters = ClusterParameters(
        data_node=cluster,
        management=_parameters(random, "MGM", version, wild / 2),
        sql=_parameters(random, "API", version, wild / 2),
        tcp=_parameters(random, "TCP", version, wild / 2),
    )
    return Plan(
        ndb_version=text,
        locations=locations,
        hosts=tuple(hosts),
        processes=tuple(processes),
        parameters=parameters,
        links=_links(random, processes, wild),
        logfile_groups=files,
        tablespaces=spaces,
        tables=tables,
        workloads=workloads,
    )


def _locations(random: Random) -> tuple[Location, ...]:
    return tuple(
        Location(
            id=f"loc{i}",
            name=f"Rack {i}",
            location_domain_id=random.choice((None, None, i + 1, 1)),
            uplink_bytes_per_s=random.choice((None, None, 1.17e8, 1.17e9)),
        )
        for i in range(random.choice((0, 0, 1, 2, 3)))
    )


def _disks(random: Random, host: str, count: int) -> tuple[Disk, ...]:
    kind = random.choice(tuple(DiskKind))
    speed = {"hdd": 1e8, "sata_ssd": 4e8, "nvme": 2e9, "cloud": 2.5e8}[kind.value] * random.choice(
        (0.3, 1, 1.5)
    )
    return tuple(
        Disk(
            id=f"{host}-d{i}",
            name=f"d{i}",
            kind=kind,
            capacity_bytes=random.choice((20, 146, 500, 2000, 8000)) * 10**9,
            sequential_read_bytes_per_s=speed,
            sequential_write_bytes_per_s=speed,
            random_read_iops=150 if kind is DiskKind.HDD else speed / 10_000,
            random_write_iops=150 if kind is DiskKind.HDD else speed / 10_000,
            sync_write_latency_s=random.choice((0.0, 0.0001, 0.005)),
            mount_point=f"/disk{i}",
            other_load=random.choice((0.0, 0.0, 0.3)),
        )
        for i in range(count)
    )


def _host(
    random: Random, name: str, locations: tuple[Location, ...], model: dict[str, Any], disks: int
) -> Host:
    place = random.choice((None, *locations)) if locations else None
    return Host(
        id=name,
        hostname=name,
        location_id=None if place is None else place.id,
        disks=_disks(random, name, disks),
        **model,
    )


def _hardware(random: Random) -> dict[str, Any]:
    return {
        "cores": random.choice((1, 2, 4, 8, 16, 32, 64)),
        "sockets": random.choice((1, 1, 2, 4)),
        "memory_bytes": random.choice((1, 4, 8, 16, 64, 256, 1024)) * GIB,
        "network_bytes_per_s": random.choice((1.17e7, 1.17e8, 1.17e9, 1.17e10)),
    }


def _data_nodes(
    random: Random,
    version: NdbVersion,
    replicas: int,
    groups: int,
    locations: tuple[Location, ...],
    wild: float,
) -> tuple[list[Host], list[Any]]:
    hosts: list[Host] = []
    nodes: list[Any] = []
    model, disks = _hardware(random), random.choice((0, 1, 1, 2, 3, 4))
    per_host = random.choice((1, 1, 1, 2, 3))
    count = replicas * groups + (random.choice((0, 1)) if random.random() < wild / 3 else 0)
    numbered, gap = random.random() < 0.3, random.choice((1, 1, 2))
    same_roles = {role: random.choice((None, *range(disks))) for role in DiskRole}
    for i in range(count):
        if i % per_host == 0:
            hardware = _hardware(random) if random.random() < wild / 4 else model
            hosts.append(_host(random, f"data{i // per_host}", locations, hardware, disks))
        host = hosts[-1]
        roles = same_roles
        if random.random() < wild / 3:
            roles = {role: random.choice((None, *range(disks))) for role in DiskRole}
        group = i // replicas if numbered and version >= (7, 0) else None
        if random.random() < wild / 8:
            group = random.choice((None, 0, 1, 60, 65536))
        nodes.append(
            DataNode(
                id=f"ndb{i}",
                node_id=1 + i * gap,
                host_id=host.id,
                node_group=group,
                disk_roles=DiskRoles(
                    **{role.value: None if k is None else host.disks[k].id for role, k in roles.items()}
                ),
                parameters=_parameters(random, "DB", version, wild / 3) if random.random() < wild / 2 else {},
            )
        )
    return hosts, nodes


def _other_nodes(
    random: Random,
    version: NdbVersion,
    locations: tuple[Location, ...],
    hosts: list[Host],
    processes: list[Any],
    wild: float,
) -> None:
    model = _hardware(random)

    def place(name: str) -> str:
        if hosts and random.random() < 0.3:
            return random.choice(hosts).id
        hosts.append(_host(random, name, locations, model, random.choice((0, 1))))
        return name

    for i in range(random.choice((0, 1, 2, 2, 3))):
        own = _parameters(random, "MGM", version, wild / 2)
        if random.random() < wild / 3:
            own["ArbitrationRank"] = random.choice((0, 1, 2))
        processes.append(
            ManagementNode(id=f"m{i}", node_id=150 + i, host_id=place(f"mgm{i}"), parameters=own)
        )
    for i in range(random.choice((0, 1, 2, 3))):
        pool = tuple(range(200 + i * 10, 200 + i * 10 + random.choice((0, 0, 1, 3))))
        own = _parameters(random, "API", version, wild / 2)
        processes.append(
            SqlNode(id=f"s{i}", node_id=160 + i, host_id=place(f"sql{i}"), pool_node_ids=pool, parameters=own)
        )
    for i in range(random.choice((0, 0, 1, 2, 4))):
        processes.append(ApiSlot(id=f"a{i}", node_id=180 + i))


def _parameters(random: Random, section: str, version: NdbVersion, wild: float) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    if section == "DB":
        for name in random.sample(sorted(_KNOWN), k=int(random.random() * 14 * wild)):
            if name != "NoOfReplicas" or random.random() < 0.2:
                found[name] = random.choice(_KNOWN[name])
    entries = [
        entry
        for entry in catalogue.parameters(section, version)
        if entry.is_number
        and entry.name.lower() not in ("nodeid", "id", "noofreplicas", "nodegroup", "portnumber")
    ]
    for entry in random.sample(entries, k=min(len(entries), int(random.random() * 6 * wild))):
        low, high = entry.minimum or 0, entry.maximum or 2**32
        default = entry.default if isinstance(entry.default, int) else low
        values = [low, default, min(high, max(low, 2 * default)), max(low, default // 2)]
        if random.random() < wild / 4:
            values = [high, high + 1, max(0, low - 1)]
        found[entry.name] = random.choice(values)
    return found


def _disk_data(random: Random) -> tuple[tuple[LogfileGroup, ...], tuple[Tablespace, ...]]:
    if random.random() < 0.6:
        return (), ()
    undo = SpaceFile(
        name="undo", size_bytes=random.choice((64 * MIB, GIB, 32 * GIB)), count=random.choice((1, 4))
    )
    data = SpaceFile(
        name="data", size_bytes=random.choice((GIB, 10 * GIB)), count=random.choice((1, 4, 40, 300))
    )
    return (
        (LogfileGroup(id="lg", name="lg", undo_files=(undo,)),),
        (Tablespace(id="ts", name="ts", logfile_group_id="lg", data_files=(data,)),),
    )


def _table(random: Random, number: int, spaces: tuple[Tablespace, ...], version: NdbVersion) -> Table:
    columns = [Column(name="k", type="bigint", nullable=False), Column(name="i", type="int")]
    on_disk = bool(spaces) and random.random() < 0.6
    if on_disk:
        columns.append(Column(name="d", type="binary", length=random.choice((8, 200)), storage="disk"))
    if random.random() < 0.5:
        columns.append(
            Column(name="v", type="varbinary", length=900, average_bytes=random.choice((10, 400, 900)))
        )
    if random.random() < 0.3:
        columns.append(Column(name="b", type="blob", average_bytes=random.choice((0, 1000, 20_000))))
    kinds = random.sample(("ordered", "unique", "unique_hash"), k=random.choice((0, 0, 1, 2)))
    return Table(
        id=f"t{number}",
        database="d",
        name=f"t{number}",
        columns=tuple(columns),
        primary_key=random.choice((("k",), ("k",), ())),
        indexes=tuple(Index(name=f"x{i}", columns=("i",), kind=kind) for i, kind in enumerate(kinds)),
        rows=random.choice((0, 1000, 10**6, 10**7, 10**9)),
        growth_rows_per_month=random.choice((0, 0, 10**6)),
        partition_balance=random.choice((PartitionBalance.FOR_RP_BY_LDM, *PartitionBalance)),
        partitions=random.choice((None, None, None, None, 8)),
        max_rows=random.choice((None, None, None, 10**9)),
        fully_replicated=version >= (7, 5) and random.random() < 0.1,
        read_backup=random.choice((None, None, True, False)),
        logging=random.random() < 0.9,
        tablespace_id="ts" if on_disk else None,
    )


def _workload(random: Random, number: int, tables: tuple[Table, ...]) -> Workload:
    transactions = tuple(
        Transaction(
            name=f"t{i}",
            weight=random.choice((1, 5)),
            operations=tuple(
                Operation(
                    table_id=random.choice(tables).id,
                    kind=random.choice(tuple(OperationKind)),
                    rows=random.choice((1, 1, 3, 100, 200_000)),
                )
                for _ in range(random.choice((1, 2, 3)))
            ),
        )
        for i in range(random.choice((1, 2)))
    )
    if random.random() < 0.3:
        load: Any = ClosedLoad(clients=random.choice((1, 16, 500)), latency_s=random.choice((0.001, 0.01)))
    else:
        load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=random.choice((1, 100, 3000, 50_000, 10**6))),))
    return Workload(id=f"w{number}", name=f"w{number}", transactions=transactions, load=load)


def _links(random: Random, processes: list[Any], wild: float) -> tuple[Link, ...]:
    if len(processes) < 2 or random.random() > wild / 3:
        return ()
    links = []
    for _ in range(random.choice((1, 2, 3))):
        first, second = random.sample(processes, 2)
        kind = random.choice(("tcp", "tcp", "shm"))
        links.append(Link(kind=kind, process_id_1=first.id, process_id_2=second.id))
    return tuple(links) * random.choice((1, 1, 2))
