"""The canvas of a scene as a picture of a file: hosts, what is used of them, what is down, what is selected.

    picture(stage.plan_of(scene), scene, stage.answers(scene))

As in the window it shows the moment of a replay, or the estimates where nothing is replayed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ndbplan.base.units import format_value
from ndbplan.configuration.directories import disks_of_roles
from ndbplan.demo.model import Scene
from ndbplan.describe.estimated import carried_at, loads_at, loads_of
from ndbplan.describe.overlay import NEAR, NO_LOADS, OVER, Loads, worst_use
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Process
from ndbplan.report.document import Gauge, HostKind, Level, Run, Tile, TileMap
from ndbplan.report.places import rounded, shown
from ndbplan.report.sources import Answers
from ndbplan.report.texts import text

_MANY = 24
"""Hosts from which on each shows one gauge."""
_KINDS: tuple[HostKind, ...] = ("data", "sql", "management", "api")
_CANVAS = "canvas"


def picture(plan: Plan, scene: Scene, answers: Answers) -> TileMap | None:
    """The hosts of a plan at the moment of a scene; None without any."""
    hosts = [host for host in plan.hosts if scene.look == "all" or _is_chosen(plan, host, scene.select)]
    if not hosts:
        return None
    loads = _loads(plan, scene, answers)
    many = len(hosts) > _MANY
    tiles = {host.id: _tile(plan, host, loads, scene.select, many=many) for host in hosts}
    by_place: dict[str | None, list[Tile]] = {}
    for host in hosts:
        by_place.setdefault(host.location_id, []).append(tiles[host.id])
    return TileMap(_title(scene, loads, many=many), tuple(_groups(plan, by_place)))


def _loads(plan: Plan, scene: Scene, answers: Answers) -> Loads:
    """What is estimated; at a moment of the replay what that says in its place."""
    known = answers["estimate"] is not None
    at_rest = loads_of(plan, answers.asked.now.work_out(), ()) if known else NO_LOADS
    if not scene.replays or answers["simulate"] is None:
        return at_rest
    from ndbplan.simulate.moment import moment_of

    moment = moment_of(answers.asked.run, float(scene.at))
    return loads_at(moment, plan, at_rest, carried_at(moment, answers.asked.now.workload))


def _title(scene: Scene, loads: Loads, *, many: bool) -> str:
    at = format_value(float(scene.at), "s")
    title = _said("moment", time=at) if scene.replays else _said("rest")
    more = [loads.stopped] if loads.stopped else [_said("still")] if loads.stands_still else []
    return ". ".join([title, *more, *([_said("worst")] if many else [])]).removesuffix(".")


def _said(key: str, **parts: str) -> str:
    words = text(f"demo.{_CANVAS}.{key}")
    for name, part in parts.items():
        words = words.replace(f"{{{name}}}", part)
    return words


def _groups(plan: Plan, by_place: dict[str | None, list[Tile]]) -> Iterator[tuple[Run, tuple[Tile, ...]]]:
    for place in plan.locations:
        if place.id in by_place:
            yield Run(place.name, _at(place)), tuple(by_place[place.id])
    if rest := by_place.get(None):
        yield Run(_said("nowhere" if len(by_place) > 1 else "here")), tuple(rest)


def _at(part: Host | Disk | Location, what: str = "") -> str:
    """Where a value of the picture is from, as `verify` names it."""
    return f"{_CANVAS}: {part.id}{f' {what}' if what else ''}"


def _is_chosen(plan: Plan, host: Host, chosen: Collection[str]) -> bool:
    here = {disk.id for disk in host.disks} | {one.id for one in plan.processes_of_host.get(host.id, ())}
    return bool({host.id, host.location_id, *here} & set(chosen)) or not chosen


def _tile(plan: Plan, host: Host, loads: Loads, chosen: Collection[str], *, many: bool) -> Tile:
    processes = plan.processes_of_host.get(host.id, ())
    kinds = {process.kind for process in processes}
    gauges = _worst(host, loads) if many else _gauges(plan, host, processes, loads, chosen)
    return Tile(
        Run(host.hostname, _at(host)),
        tuple(Run(str(process.node_id), _at(host, "nodes")) for process in processes if process.node_id),
        next((kind for kind in _KINDS if kind in kinds), "empty"),
        tuple(gauges),
        tuple(Run(words, _at(host, "state")) for words in _states(host, processes, loads)),
        bool({host.id, *(process.id for process in processes)} & set(chosen)),
    )


def _level(share: float) -> Level:
    return "over" if share >= OVER else "warn" if share >= NEAR else ""


def _share(share: float) -> str:
    return shown(rounded(share, "fraction"), "fraction")


def _gauge(host: Host, label: str, share: float, *, marked: bool = False) -> Gauge:
    return Gauge(Run(label), Run(_share(share), _at(host, label), "figure"), share, _level(share), marked)


def _worst(host: Host, loads: Loads) -> Iterator[Gauge]:
    use = worst_use(loads, host)
    if use is not None:
        yield _gauge(host, use.what, use.share)


def _gauges(
    plan: Plan, host: Host, processes: tuple[Process, ...], loads: Loads, chosen: Collection[str]
) -> Iterator[Gauge]:
    """Cores, what data nodes have in use, and the disks that they write to."""
    if host.id in loads.cpu:
        yield _gauge(host, _said("cpu"), loads.cpu[host.id])
    nodes = [node for node in plan.data_nodes if node.host_id == host.id]
    each = {"memory": loads.memory, "redo_buffer": loads.redo_buffers, "redo_log": loads.redo_logs}
    for name, shares in each.items():
        known = [shares[node.id] for node in nodes if node.id in shares]
        if known:
            yield _gauge(host, _said(name), max(known))
    used = {disk.id for node in nodes for disk in disks_of_roles(plan, node).values() if disk is not None}
    for disk in host.disks:
        if disk.id in loads.disks and disk.id in used | set(chosen):
            label = _said("disk", disk=disk.name)
            yield _gauge(host, label, loads.disks[disk.id], marked=disk.id in chosen)


def _states(host: Host, processes: tuple[Process, ...], loads: Loads) -> Iterator[str]:
    """What does not simply run."""
    if host.id in loads.down:
        yield _said("down", what=host.hostname)
        return
    for process in processes:
        if process.id in loads.starting:
            yield _said("starting", node=str(process.node_id), phase=loads.starting[process.id].text)
        elif process.id in loads.down:
            yield _said("down", what=f"node {process.node_id}")
    for disk in host.disks:
        if disk.id in loads.slow:
            share = loads.slow[disk.id]
            words = {"disk": disk.name, "share": _share(share)}
            yield _said("slow" if share else "failed", **words)
