"""What is planned: topology and hardware."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.plan.field_words import DISK_KINDS
from ndbplan.plan.hardware import DiskKind
from ndbplan.report.alike import Group, alike
from ndbplan.report.document import Block, HostKind, Line, Paragraph, Run, Table, Tile, TileMap
from ndbplan.report.places import Place
from ndbplan.report.sources import Answers
from ndbplan.report.texts import say, text, words

_OF_HOST = ("cores", "sockets", "clock_ghz", "memory_bytes", "network_bytes_per_s", "network_links")
_OF_DISK = (
    "kind", "capacity_bytes", "sequential_read_bytes_per_s", "sequential_write_bytes_per_s",
    "random_read_iops", "random_write_iops", "sync_write_latency_s", "devices", "raid",
)  # fmt: skip
_NAMED = 3
_MANY_GROUPS, _ACROSS = 12, 6
_KINDS: tuple[HostKind, ...] = ("data", "sql", "management", "api")


def topology(answers: Answers) -> Iterator[Block]:
    """Hosts in their locations with what runs on them, and node groups."""
    plan = answers["plan with defaults"]
    assert plan is not None
    processes, hosts = list(plan["processes"]), list(plan["hosts"])
    if not hosts and not processes:
        return
    yield Paragraph(say(
        "topology.lead",
        data=plan["processes"].count("where(kind=data)"),
        sql=plan["processes"].count("where(kind=sql)"),
        management=plan["processes"].count("where(kind=management)"),
        api=plan["processes"].count("where(kind=api)"),
        hosts=plan["hosts"].count(),
    ), "lead")  # fmt: skip
    on_host: dict[str | None, list[Place]] = {}
    for process in processes:
        on_host.setdefault(process.value["host_id"], []).append(process)
    inside: dict[str | None, list[Tile]] = {}
    for host in hosts:
        inside.setdefault(host.value["location_id"], []).append(
            _tile(host, on_host.get(host.value["id"], []))
        )
    places = [(location["name"].run(), inside.pop(location.value["id"], []))
              for location in plan["locations"]]  # fmt: skip
    rest = [tile for tiles in inside.values() for tile in tiles]
    groups = [(name, tuple(tiles)) for name, tiles in places if tiles]
    if rest:
        groups.append((Run(text("topology.nowhere" if groups else "topology.hosts")), tuple(rest)))
    if groups:
        yield TileMap(text("topology.picture"), tuple(groups))
    yield from _node_groups(answers)


def _tile(host: Place, processes: list[Place]) -> Tile:
    kinds = {process.value["kind"] for process in processes}
    kind: HostKind = next((one for one in _KINDS if one in kinds), "empty")
    return Tile(host["hostname"].run(), tuple(process["node_id"].run() for process in processes), kind)


def _node_groups(answers: Answers) -> Iterator[Block]:
    found = answers["distribute"]
    if found is None or not found["tables"]:
        return
    seen: dict[int, Place] = {}
    for partition in found["tables"][0]["partitions"]:
        seen.setdefault(partition.value["node_group"], partition)
    groups = [(seen[number]["node_group"].run(), _nodes(seen[number]["nodes"])) for number in sorted(seen)]
    if len(groups) <= _MANY_GROUPS:
        rows = [((group,), nodes) for group, nodes in groups]
        yield Table(text("topology.groups"), words("node_group", "data_nodes"), tuple(rows), (0, 1))
        return
    cells: list[Line] = [(group, Run(": "), *nodes) for group, nodes in groups]
    cells += [()] * (-len(cells) % _ACROSS)
    lines = [tuple(cells[n : n + _ACROSS]) for n in range(0, len(cells), _ACROSS)]
    heads = (text("heads.group_and_nodes"), *[""] * (_ACROSS - 1))
    yield Table(text("topology.groups"), heads, tuple(lines), tuple(range(_ACROSS)))


def _nodes(nodes: Place) -> Line:
    line: list[Run] = []
    for node in sorted(nodes, key=lambda one: int(one.value)):
        line += [Run(", ")] if line else []
        line.append(node.run())
    return tuple(line)


def hardware(answers: Answers) -> Iterator[Block]:
    """Hosts and disks, those bought alike in one row."""
    plan = answers["plan with defaults"]
    assert plan is not None
    if not plan["hosts"]:
        return
    keys = tuple(key for key in _OF_HOST if key in plan["hosts"][0].value)
    rows = [_host(group) for group in alike(plan["hosts"], keys)]
    heads = words("hosts", "count", "cores", "clock", "memory", "network")
    yield Table(text("hardware.hosts"), heads, tuple(rows))
    kinds: dict[str, tuple[tuple[Line, ...], list[Line]]] = {}
    for host in plan["hosts"]:
        for disk in host["disks"]:
            told = repr([disk.value.get(key) for key in _OF_DISK])
            names = kinds.setdefault(told, (_disk(disk), []))[1]
            names.append((host["hostname"].run(), Run(" "), disk["name"].run()))
    if kinds:
        told_rows = [((_short(names), *row)) for row, names in kinds.values()]
        heads = words("disks", "kind", "capacity", "reads", "writes", "read_iops", "write_iops", "sync")
        yield Table(text("hardware.disks"), heads, tuple(told_rows), (0, 1))


def _host(group: Group) -> tuple[Line, ...]:
    first = group.first
    return (
        group.names("hostname"),
        (group.count(),),
        (first["cores"].run(),),
        (first["clock_ghz"].run(), Run(" GHz")),
        (first["memory_bytes"].run(),),
        (first["network_bytes_per_s"].run(),),
    )


def _disk(disk: Place) -> tuple[Line, ...]:
    kind = (Run(DISK_KINDS[DiskKind(disk.value["kind"])]),)
    rest = (disk[name].run() if disk.get(name) is not None else Run("—") for name in _OF_DISK[1:7])
    return (kind, *((run,) for run in rest))


def _short(names: list[Line]) -> Line:
    if len(names) <= _NAMED:
        return tuple(run for name in names for run in (*name, Run(", ")))[:-1]
    return (*names[0], Run(", "), *names[1], Run(" … "), *names[-1])
