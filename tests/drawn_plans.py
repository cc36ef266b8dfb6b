"""Plans drawn by hypothesis that keep to the rules of their version, for laws about exports and imports."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRole, DiskRoles, Link, ManagementNode, SqlNode

VERSIONS = ("6.3", "7.0", "7.2", "7.4.10", "7.5", "7.6", "8.0", "8.4.8", "9.x")

_OWNED = {"nodeid", "id", "hostname", "executeoncomputer", "nodegroup", "locationdomainid", "system"}
_RULED = {
    # Parameters with rules between them; a drawn value would mostly break one.
    "threadconfig", "noofreplicas", "maxnoofconcurrentoperations", "maxnoofconcurrenttransactions",
    "maxdmloperationspertransaction", "maxstartfailretries", "startfailretrydelay", "transactionmemory",
    "maxnooftables", "maxnooforderedindexes", "maxnoofuniquehashindexes", "partitionspernode",
    "portnumber", "discless", "diskless",
}  # fmt: skip
_PATHS = {"DataDir", "FileSystemPath", "FileSystemPathDD", "BackupDataDir"}
TEXT = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, blacklist_characters="#\"'"), min_size=1, max_size=30
)
PATH = st.from_regex(r"/[a-z]{1,8}(/[a-z0-9]{1,8}){0,2}", fullmatch=True)


def parameter_names(section: str, version: NdbVersion) -> list[str]:
    """Parameters whose values may be drawn freely in their range."""
    return [
        entry.name
        for entry in catalogue.parameters(section, version)
        if entry.status == "used"
        and entry.name.lower() not in _OWNED | _RULED
        and not entry.name.startswith(("__", "Reserved", "NodeId", "HostName"))
        and (entry.is_number or entry.type in ("bool", "enum") or entry.name in _PATHS)
    ]


@st.composite
def values_of(draw: st.DrawFn, section: str, version: NdbVersion) -> dict[str, int | str]:
    """A few parameters of a section with values that the version takes."""
    names = parameter_names(section, version)
    chosen = draw(st.lists(st.sampled_from(names), max_size=5, unique=True)) if names else []
    found: dict[str, int | str] = {}
    for name in chosen:
        entry = catalogue.parameter(section, name, version)
        if name == "NoOfFragmentLogParts":
            found[name] = int(draw(st.sampled_from(entry.allowed_values)))
        elif entry.type == "bool":
            found[name] = draw(st.integers(0, 1))
        elif entry.is_number:
            low, high = entry.minimum or 0, entry.maximum or 2**32
            found[name] = draw(
                st.sampled_from([low, high, min(high, max(low, 2**20))]) | st.integers(low, high)
            )
        elif entry.type == "enum":
            found[name] = draw(st.sampled_from(entry.allowed_values))
        else:
            found[name] = draw(PATH)
    return found


def _disk(host: str, number: int) -> Disk:
    return Disk(
        id=f"{host}-d{number}",
        name=f"d{number}",
        capacity_bytes=10**12,
        sequential_read_bytes_per_s=1e9,
        sequential_write_bytes_per_s=1e9,
        random_read_iops=1e5,
        random_write_iops=1e5,
        mount_point=f"/disk{number}",
    )


@st.composite
def plans(draw: st.DrawFn, version: str | None = None) -> Plan:
    """A plan of one to three node groups with management, SQL and API nodes, roles, parameters and links."""
    text = version or draw(st.sampled_from(VERSIONS))
    number = NdbVersion.parse(text)
    replicas, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    domains = draw(st.lists(st.none() | st.integers(0, 16), min_size=1, max_size=3))
    nested = draw(st.booleans())
    locations = tuple(
        Location(
            id=f"loc{i}",
            name=f"Rack {i}",
            location_domain_id=domain,
            parent_id=f"loc{i - 1}" if nested and i else None,
        )
        for i, domain in enumerate(domains)
    )
    hosts, processes = [], []
    numbered = draw(st.booleans())
    gap = draw(st.integers(1, 3))
    for i in range(replicas * groups):
        name = f"data{i}"
        disks = tuple(_disk(name, k) for k in range(draw(st.integers(0, 3))))
        where = draw(st.none() | st.sampled_from([place.id for place in locations]))
        hosts.append(
            Host(id=name, hostname=f"10.1.{i}.{7}", memory_bytes=2**36, disks=disks, location_id=where)
        )
        roles: dict[str, Any] = {}
        if disks:
            ids = st.none() | st.sampled_from([disk.id for disk in disks])
            roles = {role.value: draw(ids) for role in DiskRole}
        processes.append(
            DataNode(
                id=f"ndb{i}",
                node_id=1 + i * gap,
                host_id=name,
                node_group=i // replicas if numbered and number >= (7, 0) else None,
                disk_roles=DiskRoles(**roles),
                parameters=draw(values_of("DB", number)),
            )
        )
    for i in range(draw(st.integers(1, 2))):
        hosts.append(Host(id=f"mgm{i}", hostname=f"mgm-{i}.example.net", memory_bytes=2**33))
        processes.append(
            ManagementNode(
                id=f"m{i}", node_id=150 + i, host_id=f"mgm{i}", parameters=draw(values_of("MGM", number))
            )
        )
    for i in range(draw(st.integers(1, 2))):
        hosts.append(Host(id=f"sql{i}", hostname=f"sql_{i}", memory_bytes=2**33))
        pool = tuple(range(200 + i * 10, 200 + i * 10 + draw(st.integers(0, 3))))
        processes.append(
            SqlNode(
                id=f"s{i}",
                node_id=160 + i,
                host_id=f"sql{i}",
                pool_node_ids=pool,
                parameters=draw(values_of("API", number)),
            )
        )
    for i in range(draw(st.integers(0, 2))):
        processes.append(ApiSlot(id=f"a{i}", node_id=180 + i, parameters=draw(values_of("API", number))))
    shared = draw(values_of("DB", number))
    parameters = ClusterParameters(
        data_node={"NoOfReplicas": replicas, **shared},
        management=draw(values_of("MGM", number)),
        sql=draw(values_of("API", number)),
        tcp=draw(values_of("TCP", number)),
    )
    links: tuple[Link, ...] = ()
    if draw(st.booleans()):
        link = draw(values_of("TCP", number))
        links = (Link(process_id_1="ndb0", process_id_2="s0", parameters=link),)
    return Plan(
        ndb_version=text,
        locations=locations,
        hosts=tuple(hosts),
        processes=tuple(processes),
        parameters=parameters,
        links=links,
    )
