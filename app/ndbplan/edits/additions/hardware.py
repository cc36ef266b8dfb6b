"""Adding locations, hosts, disks, processes, node groups and links."""

from __future__ import annotations

from ndbplan.base.units import whole_number
from ndbplan.edits import offers, reading, validated
from ndbplan.edits import parts as edits
from ndbplan.edits.additions.words import (
    Made,
    Maker,
    Words,
    append,
    holder,
    made,
    one_name,
    path_of,
    quoted,
    set_fields,
    set_inside,
)
from ndbplan.edits.address import AddressError, field_of, resolve
from ndbplan.edits.from_host import with_settings_of
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.ids import NewIds
from ndbplan.edits.own_hardware import own_hardware
from ndbplan.edits.places import Path
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link

_ASSUMED_OF_HOST = ("cores", "sockets", "clock_ghz", "memory_bytes", "network_bytes_per_s")


def locations(plan: Plan, words: Words) -> Made:
    """Racks, rooms or zones."""
    paths = []
    for name in words.names or ("",):
        part = offers.make_location(plan)
        if name:
            part = validated.changed(part, name=name)
        plan = set_fields(edits.add(plan, part), part.id, words)
        paths.append(path_of(plan, plan.locations[-1]))
    return plan, paths


def hosts(plan: Plan, words: Words) -> Made:
    """Hosts of a class of hardware, with its disks or those of `disks=nvme,sata`."""
    kind = _class(words.fields.get("class", offers.DEFAULT_HOST), "hosts")
    usual = offers.make_host(plan, kind)
    wanted: list[str] | None = None
    if "disks" in words.fields:
        wanted = [one.strip() for one in words.fields["disks"].split(",")]
    paths: list[Path] = []
    for name in words.names or ("",):
        if any(name == host.hostname for host in plan.hosts):
            raise AddressError(f"there is a host '{name[:60]}' already", fix="give it another name")
        part = offers.make_host(plan, kind) if paths else usual
        if wanted is not None:
            part = validated.changed(part, disks=())
        if "class" not in words.fields:
            part = validated.changed(part, assumed=_ASSUMED_OF_HOST)
        if name:
            part = validated.changed(part, hostname=name)
        for key in wanted or ():
            if key not in ("", "none"):
                part = validated.changed(part, disks=(*part.disks, _disk(plan, part, key)))
        plan = set_fields(edits.add(plan, part), part.id, words.without("class", "disks"))
        paths.append(path_of(plan, plan.hosts[-1]))
    return plan, paths


def _class(typed: str, of: str) -> str:
    """The key of a class of hardware. Raises AddressError."""
    known = [entry["key"] for entry in offers.hardware()[of]]
    if typed.lower() in known:
        return typed.lower()
    kept = {one.name: one.key for one in own_hardware() if f"{one.kind}s" == of}
    if typed not in kept:
        raise AddressError(
            f"there is no class of {of} '{typed[:60]}'",
            fix=reading.near(typed, [*known, *kept], "use one of"),
        )
    return kept[typed]


def _disk(plan: Plan, host: Host, key: str) -> Disk:
    return offers.make_disk(plan, host, _class(key, "disks"))


def disks(plan: Plan, words: Words) -> Made:
    """Disks of one host, of a class of hardware."""
    host_id = holder(plan, words, "host", "hosts", "host")
    paths = []
    for name in words.names or ("",):
        host = plan.host(host_id)
        part = _disk(plan, host, words.fields.get("class", offers.DEFAULT_DISK))
        if "class" not in words.fields:
            part = validated.changed(part, assumed=("kind", "capacity_bytes", *part.assumed))
        if name:
            if any(disk.name == name for disk in host.disks):
                raise AddressError(
                    f"host {host.hostname} has a disk '{name[:60]}' already", fix="give it another name"
                )
            part = validated.changed(part, name=name)
        plan = set_fields(edits.add_disk(plan, host_id, part), part.id, words.without("class", "host"))
        paths.append(path_of(plan, plan.host(host_id).disks[-1]))
    return plan, paths


def processes(kind: str) -> Maker:
    """What makes processes of a kind; the id of one that is given a node id follows it."""

    def make(plan: Plan, words: Words) -> Made:
        anywhere = kind == "api" and "host" not in words.fields
        host_id = None if anywhere else holder(plan, words, "host", "hosts", "host")
        paths = []
        for name in words.names or ("",):
            part = offers.make_process(plan, kind, host_id)
            if name:
                if name in plan.by_id:
                    raise AddressError(f"the id '{name[:60]}' is taken", fix="give it another name")
                part = validated.changed(part, id=name)
            elif "node_id" in words.fields:
                # The id follows the number, as it does for a node that is given none.
                node_id = whole_number(words.fields["node_id"].strip(), 255)
                part = validated.changed(part, id=NewIds(plan).of_node(kind, node_id or part.node_id))
            plan = set_fields(edits.add(plan, part), part.id, words.without("host"))
            paths.append(path_of(plan, plan.processes[-1]))
            plan, chosen = with_settings_of(plan, plan.processes[-1].id)
            paths += [("parameters", "data_node", one.name) for one in chosen]
        return plan, paths

    return make


def node_groups(plan: Plan, words: Words) -> Made:
    """Node groups like the last one, with their hosts, as the window adds them."""
    typed = one_name(words, "node-group") or words.fields.get("groups") or "1"
    if words.without("groups").fields:
        name = next(iter(words.without("groups").fields))
        raise AddressError(f"a node group has no {name[:60]} of its own", fix="set it afterwards")
    groups = whole_number(typed, 144)
    if not groups:
        raise AddressError(f"'{typed[:60]}' is not a number of node groups", fix="write 1 to 144")
    after = add_node_group(plan, groups)
    new = [part for part in (*after.hosts, *after.processes) if part.id not in plan.by_id]
    return after, [path_of(after, part) for part in new]


def links(plan: Plan, words: Words) -> Made:
    """A connection with settings of its own between two nodes."""
    if len(words.names) != 2:
        raise AddressError("a link joins two nodes", fix="write 'add PLAN link NODE NODE', by id or node id")
    first, second = (resolve(plan, f"processes[{quoted(name)}]")[0].value.id for name in words.names)
    own = {key: value for key, value in words.fields.items() if field_of(Link, key) is not None}
    new = made(plan, Link, Words((), {"process_id_1": first, "process_id_2": second, **own}), "link")
    path, plan = append(plan, ("links",), new)
    return set_inside(plan, path, words.without(*own)), [path]
