"""What the trainer or the world does to a live cluster, as people type it.

    do("kill node:3", cluster)                 # also: hang, wake, fail, restore, cut, heal
    do("slow disk:host1/redo 20MB/s", cluster)
    do("fill disk:host1/backup", cluster)      # no room is left; also: free
    do("load x2", cluster)
    do("set RedoBuffer=64M", cluster)          # a rolling restart
    do("wait 30s", cluster)
    do("move lcp to c0d0", cluster)            # of every data node, the same
    do("until redo_log 80% within 10min", cluster)
    do("rewind 30s", cluster)

Parts are named as everywhere: node:4, host:a1, disk:a1/nvme0 (or disk:a1/redo, by its role), device:a1/nvme0,
rack:A, link:a1/b1, switch:A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ndbplan.base.units import (
    format_clock,
    parse_bytes_per_s,
    parse_duration_s,
    parse_factor,
)
from ndbplan.configuration.directories import disks_of_roles
from ndbplan.configuration.failing_parts import called_so, parse_parts
from ndbplan.plan.events import (
    DeviceFailure,
    DiskFull,
    DiskSlow,
    Event,
    HostFailure,
    LocationFailure,
    NetworkCut,
    NetworkSlow,
)
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DataNode
from ndbplan.simulate.events.full_disks import FreeDisk
from ndbplan.simulate.events.handlers import Order
from ndbplan.simulate.events.orders import Connect, Kill, Restore, Resume, SetLoad, SpreadKeys
from ndbplan.train import at_work
from ndbplan.train.conditions import parsed
from ndbplan.train.deeds import FIX, Deed, WorldError, edited, moved, put
from ndbplan.train.live import LiveCluster
from ndbplan.train.quantities import NAMES, OF_ONE
from ndbplan.train.starts import StartProcess

LONGEST_S = 86400.0
MOST_LOAD = 1000.0
"""Times the load of the plan."""
MOST_FASTER = 10.0
"""How much faster one event makes a disk at most."""


def do(text: str, cluster: LiveCluster) -> str:
    """Do it, and say what was done in one line. Raises UserError for what cannot be."""
    verb, rest = _split(text)
    if verb in _OF_TIME:
        return _OF_TIME[verb](rest, cluster)
    done = deed(text, cluster)
    acts = list(done.acts)
    for act in acts:
        _check_runs(act, cluster)
    for act in acts:
        refused = cluster.act(act)
        if refused is not None:
            raise WorldError(refused.text, fix=refused.fix or FIX)
    return _said(cluster, done.said)


def _check_runs(act: Event | Order, cluster: LiveCluster) -> None:
    """What happens to a process needs one that runs, or one that does not. Raises WorldError."""
    outage, state = cluster.session.simulation.outage, cluster.state
    if isinstance(act, StartProcess):
        number, hangs, runs = act.node_id, state.nodes[act.node_id].hangs, state.nodes[act.node_id].runs
    elif isinstance(act, Kill | Resume | Connect):
        number = next(one.node_id for one in cluster.plan.processes if one.id == act.process_id)
        node = state.nodes.get(number)
        hangs = node is not None and node.hangs
        runs = node.runs if node is not None else not outage.is_down(act.process_id)
    else:
        return
    if isinstance(act, StartProcess | Connect):
        if runs:
            how = f"'wake node:{number}'" if hangs else f"'kill node:{number}'"
            raise WorldError(f"node {number} runs already", fix=f"type {how} first")
    elif isinstance(act, Resume) and runs and not hangs:
        raise WorldError(f"node {number} does not hang", fix=f"type 'hang node:{number}' first")
    elif not runs:
        raise WorldError(f"node {number} does not run", fix=f"type 'start node:{number}' first")
    elif isinstance(act, Kill) and act.hangs and hangs:
        raise WorldError(f"node {number} hangs already", fix=f"type 'wake node:{number}' first")


def deed(text: str, cluster: LiveCluster) -> Deed:
    """What would be done; nothing has happened. Raises UserError for what cannot be, or is about time."""
    verb, rest = _split(text)
    action = _DEEDS.get(verb)
    if action is None:
        raise WorldError(f"'{verb[:40]}' is nothing that can be done here", fix=f"one of {', '.join(VERBS)}")
    return action(rest, cluster)


def _split(text: str) -> tuple[str, str]:
    verb, _, rest = text.strip().partition(" ")
    return verb.lower(), rest.strip()


def _duration_s(text: str) -> float:
    seconds = parse_duration_s(text)
    if not 0 <= seconds <= LONGEST_S:
        raise WorldError(f"'{text[:40]}' is outside 0 s to a day", fix="type for example 30s")
    return seconds


def _said(cluster: LiveCluster, what: str) -> str:
    return f"{format_clock(cluster.now_s)} {what}".rstrip()


_OF_MANY = {"is": "are", "has": "have", "hangs": "hang", "goes": "go", "fails": "fail"}


def _told(parts: str, what: str) -> str:
    """What becomes of one part, or of several."""
    verb, _, more = what.partition(" ")
    return f"{parts} {_OF_MANY[verb] if ',' in parts else verb} {more}".rstrip()


# Time.


def _wait(text: str, cluster: LiveCluster) -> str:
    cluster.advance(_duration_s(text))
    return _said(cluster, "the session is over" if cluster.is_over else "")


def _until(text: str, cluster: LiveCluster) -> str:
    wanted, _, within = text.partition(" within ")
    condition = parsed(wanted)
    at_most_s = _duration_s(within) if within else LONGEST_S
    every_s = 0.1 if all(term.is_share for term in condition.terms) else 1.0
    # A name that nothing has is said before any time passes.
    condition.found(cluster.session.simulation)
    done = cluster.advance_until(lambda now: condition.holds(now.session.simulation), at_most_s, every_s)
    shown = condition.found(cluster.session.simulation)
    return _said(cluster, f"{shown.replace(' ', ' is ', 1)}" + ("" if done else ": not reached"))


def _rewind(text: str, cluster: LiveCluster) -> str:
    back = text.startswith("to ")
    seconds = _duration_s(text.removeprefix("to "))
    if back and seconds > cluster.now_s:
        raise WorldError(
            f"{seconds:g} s is ahead; it is {cluster.now_s:g} s", fix="type for example rewind 30s"
        )
    cluster.rewind(seconds if back else max(0.0, cluster.now_s - seconds))
    return _said(cluster, "")


def _clock(_text: str, cluster: LiveCluster) -> str:
    return _said(cluster, f"the clocks show {cluster.clock:%Y-%m-%d %H:%M:%S}")


# Failures.


def _processes(text: str, cluster: LiveCluster) -> list[str]:
    found = []
    for part in parse_parts(cluster.plan, text):
        if part.kind != "node":
            raise WorldError(f"{part} is not a process", fix="name a node: node:3")
        found += [process.id for process in called_so(cluster.plan, part)]
    return found


def _kill(text: str, cluster: LiveCluster) -> Deed:
    return Deed([Kill(process_id) for process_id in _processes(text, cluster)], _told(text, "is killed"))


def _hang(text: str, cluster: LiveCluster) -> Deed:
    return Deed(
        [Kill(process_id, hangs=True) for process_id in _processes(text, cluster)], _told(text, "hangs")
    )


def _wake(text: str, cluster: LiveCluster) -> Deed:
    return Deed([Resume(process_id) for process_id in _processes(text, cluster)], _told(text, "goes on"))


def _start(text: str, cluster: LiveCluster) -> Deed:
    orders: list[Order] = []
    for part in parse_parts(cluster.plan, text):
        for process in called_so(cluster.plan, part) if part.kind == "node" else ():
            is_data = isinstance(process, DataNode)
            orders.append(StartProcess(process.node_id) if is_data else Connect(process.id))
    return Deed(orders, _told(text, "is started"))


def _fail(text: str, cluster: LiveCluster) -> Deed:
    events: list[Event | Order] = []
    for part in parse_parts(cluster.plan, _by_name(text, cluster)):
        for one in called_so(cluster.plan, part):
            if part.kind == "node":
                events.append(Kill(one.id))
            elif part.kind == "host":
                events.append(HostFailure(at_s=0, object_id=one.id))
            elif part.kind == "rack":
                events.append(LocationFailure(at_s=0, object_id=one.id))
            elif part.kind == "device":
                events.append(DeviceFailure(at_s=0, object_id=one.id))
            elif part.kind == "disk":
                events.append(DiskSlow(at_s=0, object_id=one.id, factor=0))
            else:
                raise WorldError(f"{part} does not fail but is cut", fix=f"type 'cut {part}'")
    return Deed(events, _told(text, "fails"))


def _restore(text: str, cluster: LiveCluster) -> Deed:
    orders: list[Event | Order] = []
    for part in parse_parts(cluster.plan, _by_name(text, cluster)):
        for one in called_so(cluster.plan, part):
            if part.kind in ("host", "rack"):
                orders.append(Restore(one.id))
            elif part.kind == "disk":
                orders.append(FreeDisk(one.id))
                if cluster.session.simulation.disk(one.id) >= 0:
                    orders += _speed(cluster, one.id, 1.0)
            else:
                raise WorldError(f"{part} cannot be restored", fix="host:NAME, rack:NAME, disk:HOST/NAME")
    return Deed(orders, _told(text, "is well again"))


def _cut(text: str, cluster: LiveCluster) -> Deed:
    cuts = []
    for part in parse_parts(cluster.plan, text):
        ends = part.name.split("/") if part.kind == "link" else []
        if ends:
            one, other = (cluster.plan_host(name) for name in ends)
            cuts.append(NetworkCut(at_s=0, object_ids=(one,), other_ids=(other,)))
        elif part.kind in ("switch", "rack", "host", "node"):
            ids = tuple(one.id for one in called_so(cluster.plan, part))
            cuts.append(NetworkCut(at_s=0, object_ids=ids))
        else:
            raise WorldError(f"{part} has no network", fix="link:HOST/HOST, switch:NAME, host:NAME")
    return Deed(cuts, _told(text, "is cut off"))


def _heal(text: str, _cluster: LiveCluster) -> Deed:
    if text:
        raise WorldError(f"'{text[:60]}' is not healed alone", fix="type 'heal': all see one another then")
    return Deed([Restore()], "all see one another")


# Disks, load, parameters.


def _by_name(text: str, cluster: LiveCluster) -> str:
    """`disk:a1/redo` as the disk that has this role on that host."""
    words = []
    for piece in text.split(","):
        kind, _, name = piece.strip().partition(":")
        host_name, _, disk_name = name.partition("/")
        if kind == "disk" and disk_name:
            for node in cluster.plan.data_nodes:
                host = cluster.plan.host(node.host_id)
                if host.hostname != host_name or any(disk.name == disk_name for disk in host.disks):
                    continue
                roles = {role.value: disk for role, disk in disks_of_roles(cluster.plan, node).items()}
                disk = roles.get(disk_name)
                if disk is not None:
                    piece = f"disk:{host_name}/{disk.name}"
        words.append(piece.strip())
    return ",".join(words)


def _speed(cluster: LiveCluster, disk_id: str, share: float) -> Iterator[DiskSlow]:
    """A disk that has so much of the speed that it has in the plan, in as many events as it takes."""
    sim = cluster.session.simulation
    d = sim.disk(disk_id)
    if d < 0:
        raise WorldError("no data node writes to this disk", fix="name another one")
    factor = share * sim.scenario.disk_classes[d].bytes_per_s / float(sim.laws.disks[d].write_bytes_per_s)
    while factor > MOST_FASTER:
        yield DiskSlow(at_s=0, object_id=disk_id, factor=MOST_FASTER)
        factor /= MOST_FASTER
    yield DiskSlow(at_s=0, object_id=disk_id, factor=max(1e-6, factor))


def _slow_link(name: str, speed: str, duration_s: float, cluster: LiveCluster) -> NetworkSlow:
    """What crosses between two hosts has so much of the bandwidth that the plan states."""
    one, other = (cluster.plan_host(host) for host in name.split("/"))
    if speed.endswith("%"):
        share = parse_factor(speed.rstrip("%")) / 100.0
    else:
        hosts = (cluster.plan.host(one), cluster.plan.host(other))
        share = parse_bytes_per_s(speed) / min(host.network_bytes_per_s for host in hosts)
    if not 0 < share <= 1:
        raise WorldError(f"{speed} is no share of the link", fix="type more than 0 % and at most 100 %")
    return NetworkSlow(at_s=0, object_ids=(one,), other_ids=(other,), factor=share, duration_s=duration_s)


def _slow(text: str, cluster: LiveCluster) -> Deed:
    text, _, lasts = text.partition(" for ")
    duration_s = _duration_s(lasts) if lasts else 0.0
    name, _, speed = text.rpartition(" ")
    orders: list[Event | Order] = []
    for part in parse_parts(cluster.plan, _by_name(name, cluster)):
        if part.kind == "link":
            orders.append(_slow_link(part.name, speed, duration_s, cluster))
            continue
        if part.kind != "disk":
            raise WorldError(
                f"{part} is no disk and no link", fix="type for example 'slow disk:a1/redo 20MB/s'"
            )
        for disk in called_so(cluster.plan, part):
            if speed.endswith("%"):
                share = parse_factor(speed.rstrip("%")) / 100.0
            else:
                share = parse_bytes_per_s(speed) / disk.sequential_write_bytes_per_s
            orders += (
                one.model_copy(update={"duration_s": duration_s}) for one in _speed(cluster, disk.id, share)
            )
    verb = "carries" if orders and isinstance(orders[0], NetworkSlow) else "writes"
    return Deed(orders, f"{name} {verb} {speed}{f' for {lasts}' if lasts else ''}")


def _disks(text: str, cluster: LiveCluster) -> Iterator[Disk]:
    for part in parse_parts(cluster.plan, _by_name(text, cluster)):
        if part.kind != "disk":
            raise WorldError(f"{part} is not a disk", fix="type for example 'fill disk:a1/backup'")
        yield from called_so(cluster.plan, part)


def _fill(text: str, cluster: LiveCluster) -> Deed:
    text, _, lasts = text.partition(" for ")
    duration_s = _duration_s(lasts) if lasts else 0.0
    fills = [DiskFull(at_s=0, object_id=disk.id, duration_s=duration_s) for disk in _disks(text, cluster)]
    return Deed(fills, _told(text, "is full") + (f" for {lasts}" if lasts else ""))


def _free(text: str, cluster: LiveCluster) -> Deed:
    return Deed([FreeDisk(disk.id) for disk in _disks(text, cluster)], _told(text, "has room again"))


def _load(text: str, cluster: LiveCluster) -> Deed:
    factor = parse_factor(text.strip().lstrip("x×* "))
    if factor > MOST_LOAD:
        raise WorldError(f"{factor:g} times the load is too much", fix=f"type at most x{MOST_LOAD:g}")
    return Deed([SetLoad(factor)], f"clients send {factor:g} times the load")


def _spread(_text: str, _cluster: LiveCluster) -> Deed:
    return Deed([SpreadKeys()], "clients choose among all keys evenly")


def _help(_text: str, _cluster: LiveCluster) -> str:
    return (
        "wait TIME; until QUANTITY [<] NUMBER [within TIME]; rewind TIME; rewind to TIME; clock\n"
        "kill, hang, wake, start node:N; fail, restore host:NAME, rack:NAME, disk:HOST/NAME; fail device:…\n"
        "cut link:HOST/HOST, switch:NAME, host:NAME; heal; slow disk:HOST/NAME 20MB/s (or 30%) [for TIME]\n"
        "slow link:HOST/HOST 10% [for TIME]; fill disk:HOST/NAME [for TIME]; free disk:HOST/NAME\n"
        "load x2; spread (keys); set NAME=VALUE; edit NAME=VALUE (config.ini); apart [off]\n"
        "move lcp to DISK (redo, lcp, undo, data_files, backup)\n"
        f"quantities: {', '.join(NAMES)}, {', '.join(f'{one}:…' for one in OF_ONE)}"
    )


_OF_TIME: dict[str, Callable[[str, LiveCluster], str]] = {
    "wait": _wait, "until": _until, "rewind": _rewind, "clock": _clock, "help": _help,
    "apart": lambda text, cluster: _said(cluster, at_work.apart(text, cluster)),
}  # fmt: skip
_DEEDS: dict[str, Callable[[str, LiveCluster], Deed]] = {
    "kill": _kill, "hang": _hang, "wake": _wake, "start": _start, "fail": _fail, "restore": _restore,
    "cut": _cut, "heal": _heal, "slow": _slow, "load": _load, "set": put, "move": moved,
    "fill": _fill, "free": _free, "spread": _spread, "edit": edited,
}  # fmt: skip
OF_TIME = tuple(_OF_TIME)
"""What passes time or tells of it."""
DEEDS = tuple(_DEEDS)
"""What befalls the cluster."""
VERBS = (*OF_TIME, *DEEDS)
