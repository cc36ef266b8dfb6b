"""Plans from a seed that are made to be refused: values, names, links, ids and hosts of every bad kind.

hostile_plan(17) gives the same plan in every process. A plan file can hold all of them.
"""

from __future__ import annotations

from random import Random
from typing import Any

from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.parameters import Parameter
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import ApiSlot, DataNode, Link, ManagementNode, SqlNode

VERSIONS = ("7.4.10", "8.4.8", "7.4.10", "8.4.8", "6.3", "7.0", "7.2", "7.5", "7.6", "8.0.13", "8.0", "9.x")
HOSTS = (
    "10.0.0.1", "10.0.0.2", "10.0.0.3", "127.0.0.1", "localhost", "127.0.0.2", "127.1", "::1", "mgm-a",
    "::ffff:127.0.0.2", "2001:db8::5", "data_node1", "x.invalid", "0x7f.1", "10.0.2", "fe80::1:2", ":::::",
)  # fmt: skip
NUMBERS = (
    "0", "1", "-1", "64K", "64k", "80M", "1G", "0x80", "0X5000000", "0200", "08", "0100M", "80MB", "80 M",
    "16T", "1.5G", "", "  7 ", "9223372036854775807", "18446744073709551616", "plenty", "+5", "4294967039",
    "1#2", "Y", "2147483648",
)  # fmt: skip
FLAGS = (0, 1, 2, -1, "0", "1", "Y", "n", "yes", "NO", "True", "FALSE", "tRUE", "maybe", "", "01", " 1 ")
TEXTS = (
    "", "x", "a#b", " blank ", "/data", "/a;b", "/a,b", "y" * 300, "z" * 1100, "é", "FIFO,50", "fifo,50",
    "fifo, 5x", "NOWHERE", "console", "FILE:filename=x.log", "1,2,3", "1,200", "no-such-host.invalid",
    "10.0.0.1", "C:\\data",
)  # fmt: skip
THREADS = (
    "", "ldm={count=4},tc={count=2}", "ldm={count=0}", "idxbld={count=0}", "ldm={count=2", "nonsense",
    "main,ldm,recv,rep", "ldm={count=4,cpubind=0-3},send", "LDM={COUNT=2}", "recv={count=2},tc={count=0}",
    "ldm={count=5}",
)  # fmt: skip
SPECIAL: dict[str, tuple[int | str, ...]] = {
    "threadconfig": THREADS,
    "lockexecutethreadtocpu": ("0", "0-3", "3-1", "0-31", "1,,2", "", "70000", "1x", "a"),
    "maxnoofexecutionthreads": (2, 8, 9, 16, "32", 73),
    "portnumber": (0, 1186, 65535, "0x4a2", 65536),
    "noofreplicas": (0, -1, 1, "1", 2, "2", 3, 5),
    "locationdomainid": (0, 1, 2, 16, 17, "1"),
    "connectionmap": ("1,2", "1 ,2", "0", "150", "x"),
    "receivebuffermemory": (16384, 2_147_450_879, 2_147_450_880, 4_294_967_039),
}
SCOPES = {
    "data_node": "DB", "management": "MGM", "sql": "API", "tcp": "TCP", "shm": "SHM", "system": "SYSTEM",
}  # fmt: skip


def hostile_plan(seed: int) -> Plan:
    """The plan of this seed."""
    random = Random(seed)
    text = random.choice(VERSIONS)
    version = NdbVersion.parse(text)
    wild = random.random()
    locations = tuple(
        Location(id=f"loc{i}", name=f"Rack {i}", location_domain_id=random.choice((None, 1, i + 1)))
        for i in range(random.choice((0, 0, 2)))
    )
    hosts = _hosts(random, locations, wild)
    processes = _processes(random, version, hosts, wild)
    parameters = {name: _parameters(random, section, version, wild / 2) for name, section in SCOPES.items()}
    if random.random() < 0.7:
        replicas = random.choice((1, 2, 2, "2"))
        parameters["data_node"] = Parameters({"NoOfReplicas": replicas, **parameters["data_node"]})
    return Plan(
        name=random.choice(("Plan", "a#b", "ü", "[x]")),
        ndb_version=text,
        locations=locations,
        hosts=hosts,
        processes=processes,
        parameters=ClusterParameters(**parameters),
        links=_links(random, version, processes, wild),
    )


def _hosts(random: Random, locations: tuple[Location, ...], wild: float) -> tuple[Host, ...]:
    plain = [name for name in HOSTS if name.startswith("10.0.0.")]
    names = random.sample(HOSTS, k=4) if random.random() < wild / 2 else [*plain, "10.0.0.4"]
    disk: dict[str, Any] = {
        "capacity_bytes": 10**12, "sequential_read_bytes_per_s": 1e9, "sequential_write_bytes_per_s": 1e9,
        "random_read_iops": 1e5, "random_write_iops": 1e5, "mount_point": "/data",
    }  # fmt: skip
    return tuple(
        Host(
            id=f"h{i}",
            hostname=name,
            memory_bytes=2**36,
            location_id=random.choice(locations).id if locations and random.random() < 0.7 else None,
            disks=(Disk(id=f"d{i}", name="d", **disk),) if random.random() < 0.3 else (),
        )
        for i, name in enumerate(names)
    )


def _processes(random: Random, version: NdbVersion, hosts: tuple[Host, ...], wild: float) -> tuple[Any, ...]:
    ids = random.sample(range(1, 256 if random.random() < wild / 3 else 48), k=14)

    def own(section: str) -> Parameters:
        return _parameters(random, section, version, wild / 4) if random.random() < wild else Parameters({})

    def host() -> str:
        return random.choice(hosts).id

    groups: tuple[int | None, ...] = (None, None, None, 0, 1, 65536, 60)
    groups = groups if random.random() < wild / 2 else (None,)
    nodes: list[Any] = [
        DataNode(
            id=f"n{i}",
            node_id=ids.pop(),
            host_id=host(),
            node_group=random.choice(groups),
            parameters=own("DB"),
        )
        for i in range(random.choice((2, 2, 4, 4, 3, 1, 0) if random.random() < wild else (2, 4)))
    ]
    for i in range(random.choice((1, 1, 2, 0)) if random.random() < wild else 1):
        nodes.append(ManagementNode(id=f"m{i}", node_id=ids.pop(), host_id=host(), parameters=own("MGM")))
    for i in range(random.choice((0, 1, 2))):
        pool = tuple(ids.pop() for _ in range(random.choice((0, 0, 1))))
        nodes.append(
            SqlNode(id=f"s{i}", node_id=ids.pop(), host_id=host(), pool_node_ids=pool, parameters=own("API"))
        )
    nodes.append(ApiSlot(id="a", node_id=ids.pop(), parameters=own("API")))
    random.shuffle(nodes)
    return tuple(nodes)


def _parameters(random: Random, section: str, version: NdbVersion, wild: float) -> Parameters:
    entries = catalogue.parameters(section, version)
    found: dict[str, int | str] = {}
    for entry in random.sample(entries, k=min(len(entries), int(random.random() * 10 * wild + 0.3))):
        name = random.choice((entry.name, entry.name, entry.name.lower(), entry.name.upper()))
        found[name] = _value(random, entry, wild)
    if random.random() < wild / 10 and section != "SYSTEM":
        names = ("FooBar", "TransactionMemory", "NodeId", "HostName", "DataMemory", "datamemory")
        found[random.choice(names)] = 64
    return Parameters(found)


def _value(random: Random, entry: Parameter, wild: float) -> int | str:
    special = SPECIAL.get(entry.name.lower())
    if special and random.random() < 0.8:
        return random.choice(special)
    if entry.type == "bool":
        return random.choice(FLAGS[:2] if random.random() > wild else FLAGS)
    if entry.is_number:
        low, high = entry.minimum or 0, entry.maximum or 2**32
        default = entry.default if isinstance(entry.default, int) else low
        inside = [low, high, default, (low + high) // 2, hex(high)]
        outside = [low - 1, high + 1, *NUMBERS]
        return random.choice(inside if random.random() > wild else outside)
    texts = [*entry.allowed_values, *(value.lower() for value in entry.allowed_values)]
    return random.choice(texts if texts and random.random() > wild else TEXTS)


def _links(random: Random, version: NdbVersion, processes: tuple[Any, ...], wild: float) -> tuple[Link, ...]:
    links: list[Link] = []
    if len(processes) < 2:
        return ()
    for _ in range(random.choice((0, 0, 1, 2, 3))):
        kind = random.choice(("tcp", "tcp", "shm"))
        first, second = random.sample(processes, 2)
        parameters = _parameters(random, kind.upper(), version, wild)
        links.append(Link(kind=kind, process_id_1=first.id, process_id_2=second.id, parameters=parameters))
    return tuple(links)
