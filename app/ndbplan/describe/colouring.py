"""What the canvas can be coloured by: a shade, a value and words for each object, and what the shades mean.

    found = colour_by("cpu", Known(plan, loads))
    found.shades[host.id].text          # '46 %'
    found.legend[0].text                # 'below 25 %'

The numbers are those of the estimates and figures that commands print. A host is as its worst part is, where
parts have a value. No shade is told by its colour alone: each has its value, what is near a limit or changed
is hatched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.units import format_value, how_many
from ndbplan.configuration.directories import disks_of_roles
from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.describe.overlay import NEAR, NO_LOADS, OVER, Loads, Loss, percent
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE

if TYPE_CHECKING:
    from ndbplan.advise.doubling import Doubling
    from ndbplan.checks.problem import Problem
    from ndbplan.edits.changes import ValueChange


class Tone(StrEnum):
    """How a shade is painted; themes give the colours."""

    LOW = "low"
    SOME = "some"
    MUCH = "much"
    NEAR = "near"
    OVER = "over"
    PLAIN = "plain"
    GOOD = "good"
    NOTE = "note"
    LEAST = "least"
    LITTLE = "little"
    MORE = "more"
    MOST = "most"
    CHANGED = "changed"
    ADDED = "added"
    GROUP = "group"


HATCHED = {Tone.NEAR: 1, Tone.CHANGED: 1, Tone.OVER: 2, Tone.ADDED: 2}
"""How densely a tone is hatched, so that it is told without its colour."""


class Shade(NamedTuple):
    """What is shown of one object."""

    tone: Tone
    text: str
    """Its value, short enough for a card."""
    why: str = ""
    """What the value is of, for whoever points at it; lines."""
    number: int = 0
    """Of a node group."""


class Entry(NamedTuple):
    """One line of the legend."""

    tone: Tone
    text: str
    ids: tuple[str, ...]
    """Hosts that are shaded so; without any hosts, what else is."""
    number: int = 0


@dataclass(frozen=True)
class Colouring:
    """One way to colour the canvas, worked out for one plan."""

    name: str
    title: str
    shades: Mapping[str, Shade] = field(default_factory=FrozenMap)
    """By object id; what has no value is not in there."""
    legend: tuple[Entry, ...] = ()
    note: str = ""
    """What the legend leaves out, or why nothing is coloured."""

    @property
    def of_what(self) -> str:
        """What stands before a value that does not say it."""
        return self.title if self.name in WAYS and WAYS[self.name].of_loads else ""


NOTHING = Colouring("", "")
"""The canvas as it is without a colouring."""


@dataclass(frozen=True)
class Known:
    """What there is to colour by."""

    plan: Plan
    loads: Loads = NO_LOADS
    problems: tuple[Problem, ...] = ()
    losses: Mapping[str, Loss] = field(default_factory=FrozenMap)
    written: Mapping[str, tuple[str, ...]] = field(default_factory=FrozenMap)
    """Disks that each data node writes to, see `disks_written`."""
    against: tuple[str, Plan] | None = None
    """Name and plan of the variant that the plan is held against."""
    doublings: Mapping[str, Doubling] = field(default_factory=FrozenMap)


def disks_written(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Ids of the disks that each data node writes to, by process id."""
    return {
        node.id: tuple({disk.id: None for disk in disks_of_roles(plan, node).values() if disk is not None})
        for node in plan.data_nodes
    }


class Way(NamedTuple):
    """One way to colour, as it is chosen."""

    title: str
    tip: str
    make: Callable[[Known], tuple[Mapping[str, Shade], str]]
    of_loads: bool = False
    """Whether it shows the loads of the moment: what a replay changes."""


def colour_by(name: str, known: Known) -> Colouring:
    """The plan coloured in one of the WAYS; KeyError for a name that is none."""
    way = WAYS[name]
    shades, note = way.make(known)
    return Colouring(name, way.title, shades, _legend(known.plan, name, shades), note)


def on_host(plan: Plan, host: Host) -> Iterator[str]:
    """Ids of what is on a host."""
    yield from (disk.id for disk in host.disks)
    yield from (process.id for process in plan.processes_of_host.get(host.id, ()))


# Shares of a capacity

_SHARES = ((OVER, Tone.OVER), (NEAR, Tone.NEAR), (0.5, Tone.MUCH), (0.25, Tone.SOME), (0.0, Tone.LOW))


def tone_of(share: float) -> Tone:
    """The tone of a share of a capacity."""
    return next(tone for least, tone in _SHARES if share >= least or not least)


def _use(share: float, what: str) -> Shade:
    return Shade(tone_of(share), percent(share), f"{what} {percent(share)}")


def _cpu(known: Known) -> tuple[Mapping[str, Shade], str]:
    hosts = {host.id for host in known.plan.hosts}
    named = {i: "CPU" if i in hosts else "busiest LDM thread" for i in known.loads.cpu}
    return _of_loads({i: _use(share, named[i]) for i, share in known.loads.cpu.items()})


def _memory(known: Known) -> tuple[Mapping[str, Shade], str]:
    hosts = {host.id for host in known.plan.hosts}
    named = {i: "RAM" if i in hosts else "DataMemory" for i in known.loads.memory}
    return _of_loads({i: _use(share, named[i]) for i, share in known.loads.memory.items()})


def _network(known: Known) -> tuple[Mapping[str, Shade], str]:
    return _of_loads({i: _use(share, "network") for i, share in known.loads.network.items()})


def _disks(known: Known, shares: Mapping[str, float], word: str) -> tuple[Mapping[str, Shade], str]:
    """Every disk, the worst disk that a data node writes to, and the worst of a host."""
    plan = known.plan
    names = {disk.id: disk.name for host in plan.hosts for disk in host.disks}
    shades = {i: _use(share, f"{names[i]} {word}") for i, share in shares.items() if i in names}
    worst = dict(shades)
    for node_id, used in known.written.items():
        if found := [(shares[i], names[i]) for i in used if i in shares]:
            worst[node_id] = _use(max(found)[0], f"{max(found)[1]} {word}")
    for host in plan.hosts:
        on_it = [(shares[disk.id], disk.name) for disk in host.disks if disk.id in shares]
        if on_it:
            share, name = max(on_it)
            worst[host.id] = _use(share, f"{name} {word}")
    return _of_loads(worst)


def _of_loads(shades: Mapping[str, Shade]) -> tuple[Mapping[str, Shade], str]:
    return shades, "" if shades else "There is no estimate of it"


# What a check found, what a loss means

_SEVERITIES = {"error": Tone.OVER, "warning": Tone.NEAR, "hint": Tone.NOTE}


def _problems(known: Known) -> tuple[Mapping[str, Shade], str]:
    """Of each object what was found there, of a host also on its parts, of a location in it."""
    plan = known.plan
    of_each: dict[str, list[Problem]] = {}
    for problem in known.problems:
        if not problem.waived:
            for where in dict.fromkeys(w for i in problem.object_ids for w in _around(plan, i)):
                of_each.setdefault(where, []).append(problem)
    shades = {host.id: Shade(Tone.PLAIN, "none", "no problem") for host in plan.hosts}
    for object_id, found in of_each.items():
        worst = min(found, key=lambda one: one.severity.rank).severity
        count = sum(one.severity is worst for one in found)
        lines = [one.message for one in sorted(found, key=lambda one: one.severity.rank)]
        shades[object_id] = Shade(_SEVERITIES[worst.value], how_many(count, worst.value), _first(lines))
    return shades, ""


def _around(plan: Plan, object_id: str) -> Iterator[str]:
    """The object, and the host that it is on."""
    yield object_id
    host = plan.host_of_disk.get(object_id)
    host_id = host.id if host is not None else getattr(plan.by_id.get(object_id), "host_id", None)
    if host_id is not None:
        yield host_id


_VERDICTS = {"stops": Tone.OVER, "asks": Tone.NEAR, "goes on": Tone.GOOD}


def _losses(known: Known) -> tuple[Mapping[str, Shade], str]:
    shades = {i: Shade(_VERDICTS[one.verdict], one.verdict, one.text) for i, one in known.losses.items()}
    return shades, "" if shades else "There is no data node whose loss could be judged"


# What twice of it would bring

_GAINS = ((0.5, Tone.MOST), (0.1, Tone.MORE), (0.0, Tone.LITTLE))
_LEAST_GAIN = 0.005
"""The search for a load is no finer."""


def _doubled(known: Known) -> tuple[Mapping[str, Shade], str]:
    """By how much the highest load rises; a host is as what brings most of it, its disks and its nodes."""
    best = dict(known.doublings)
    for host in known.plan.hosts:
        parts = (host, *host.disks, *known.plan.processes_of_host[host.id])
        of_it = [best[part.id] for part in parts if part.id in best]
        if of_it:
            best[host.id] = max(of_it, key=lambda one: one.gain)
    note = "" if best else "There is no load of data nodes that could rise"
    return {i: _gain(one) for i, one in best.items()}, note


def _gain(one: Doubling) -> Shade:
    if one.gain < _LEAST_GAIN:
        return Shade(Tone.PLAIN, "nothing", "twice of it does not raise the highest load")
    tone = next(tone for least, tone in _GAINS if one.gain >= least)
    return Shade(tone, f"+{percent(one.gain)}", f"{one.title}: highest load +{percent(one.gain)}\n{one.why}")


# Money

_COSTS = ((0.75, Tone.MOST), (0.5, Tone.MORE), (0.25, Tone.LITTLE), (0.0, Tone.LEAST))


def _cost(known: Known) -> tuple[Mapping[str, Shade], str]:
    """What each object costs; a host with its disks and the licences of its nodes."""
    from ndbplan.advise.cost import cost_by_part

    plan = known.plan
    parts = cost_by_part(plan)
    costs = dict(parts)
    for host in plan.hosts:
        known_of = [parts[i] for i in (host.id, *on_host(plan, host)) if i in parts]
        if known_of:
            costs[host.id] = sum(known_of)
    most = max((costs[host.id] for host in plan.hosts if host.id in costs), default=0.0)
    if not costs:
        return {}, "No price is stated: see Costs in the inspector"
    unit = plan.currency or "money"
    period = how_many(plan.cost_months, "month")
    shades = {
        i: Shade(_cost_tone(cost, most), format_value(cost, unit), f"{format_value(cost, unit)} in {period}")
        for i, cost in costs.items()
    }
    missing = sum(host.id not in costs for host in plan.hosts)
    return shades, f"{how_many(missing, 'host')} without a price" if missing else ""


def _cost_tone(cost: float, most: float) -> Tone:
    share = cost / most if most > 0 else 0.0
    return next(tone for least, tone in _COSTS if share >= least or not least)


# Node groups and variants

_MOST_GROUPS = 8
"""Node groups that a legend names; colours repeat from the ninth on."""


def _groups(known: Known) -> tuple[Mapping[str, Shade], str]:
    plan = known.plan
    groups = node_group_ids(plan)
    shades: dict[str, Shade] = {}
    on: dict[str, list[int]] = {}
    for node in plan.data_nodes:
        group = groups[node.node_id]
        if group != NODE_GROUP_NONE:
            shades[node.id] = Shade(Tone.GROUP, f"NG {group}", f"node group {group}", group)
            on.setdefault(node.host_id or "", []).append(group)
    for host_id, numbers in on.items():
        if host_id:
            each = sorted(set(numbers))
            text = f"NG {', '.join(map(str, each[:2]))}{' …' if len(each) > 2 else ''}"
            why = f"node group {', '.join(map(str, each))}"
            shades[host_id] = Shade(Tone.GROUP, text, why, each[0])
    if not shades:
        return shades, "There is no data node yet"
    count = len({shade.number for shade in shades.values()})
    return shades, f"{count} node groups: colours come again" if count > _MOST_GROUPS else ""


_KINDS = {"data_node": "data", "management": "management", "sql": "sql"}
"""Scopes of parameters that all processes of a kind have."""
_LISTED = 6


def _changes(known: Known) -> tuple[Mapping[str, Shade], str]:
    """What differs from another variant: of each object, and of a host that of its parts too."""
    from ndbplan.edits.changes import value_changes

    plan = known.plan
    if known.against is None:
        return {}, "There is no other variant"
    name, other = known.against
    of_each: dict[str, list[ValueChange]] = {}
    gone = 0
    for change in value_changes(other, plan):
        if change.name == "object" and change.after is None:
            gone += 1
        of_kind = _KINDS.get(change.scope)
        ids = [p.id for p in plan.processes if p.kind == of_kind] if of_kind else [change.scope]
        for object_id in ids:
            for where in _around(plan, object_id):
                of_each.setdefault(where, []).append(change)
    shades = {host.id: Shade(Tone.PLAIN, "same", f"as in {name}") for host in plan.hosts}
    for object_id, changes in of_each.items():
        if object_id in plan.by_id:
            shades[object_id] = _change(object_id, list(dict.fromkeys(changes)), name)
    return shades, f"{how_many(gone, 'object')} only in {name}" if gone else ""


def _change(object_id: str, changes: list[ValueChange], name: str) -> Shade:
    from ndbplan.describe.comparison import field_in_words

    if any(c.scope == object_id and c.name == "object" and c.before is None for c in changes):
        return Shade(Tone.ADDED, "new", f"not in {name}")
    first = changes[0]
    text = how_many(len(changes), "change")
    if len(changes) == 1 and first.name != "object":
        text = first.name if first.is_parameter else field_in_words(first.name)
    return Shade(Tone.CHANGED, text, _first([change.line for change in changes]))


def _first(lines: Collection[str]) -> str:
    shown = list(lines)[:_LISTED]
    more = len(lines) - len(shown)
    return "\n".join([*shown, *([f"and {more} more"] if more else [])])


def _busy(known: Known) -> tuple[Mapping[str, Shade], str]:
    return _disks(known, known.loads.disks, "busy")


def _full(known: Known) -> tuple[Mapping[str, Shade], str]:
    return _disks(known, known.loads.space, "full")


WAYS: Mapping[str, Way] = FrozenMap(
    {
        "cpu": Way("CPU", "Cores of hosts, and the busiest LDM thread of each data node", _cpu, True),
        "memory": Way("Memory", "RAM of hosts, and DataMemory of each data node", _memory, True),
        "disk": Way("Disk load", "How busy each disk is; hosts as their busiest", _busy, True),
        "space": Way("Disk space", "How full each disk is; hosts as their fullest", _full, True),
        "network": Way("Network", "Links of hosts, and uplinks whose speed is stated", _network, True),
        "problem": Way("Problems", "The worst that the checks find on each host", _problems),
        "doubling": Way(
            "Doubling",
            "How much more load twice of each disk, of a part of a host, or of connections, brings",
            _doubled,
        ),
        "cost": Way("Cost", "What each host costs with its disks and licences", _cost),
        "group": Way("Node group", "Which hosts hold the same rows", _groups),
        "loss": Way("Loss", "What the failure of each part means for the cluster", _losses),
        "change": Way("Changes", "What differs from another variant", _changes),
    }
)
"""By name, in the order in which they are offered."""

_USES = [
    (Tone.LOW, "below 25 %"), (Tone.SOME, "to 50 %"), (Tone.MUCH, "to 75 %"), (Tone.NEAR, "to 95 %"),
    (Tone.OVER, "95 % and more"),
]  # fmt: skip
_WORDS: Mapping[str, list[tuple[Tone, str]]] = {
    "problem": [(Tone.PLAIN, "none"), (Tone.NOTE, "hints"), (Tone.NEAR, "warnings"), (Tone.OVER, "errors")],
    "loss": [(Tone.GOOD, "goes on"), (Tone.NEAR, "asks the arbitrator"), (Tone.OVER, "stops")],
    "cost": [
        (Tone.LEAST, "up to a quarter of the dearest"), (Tone.LITTLE, "half"), (Tone.MORE, "three quarters"),
        (Tone.MOST, "more"),
    ],
    "doubling": [
        (Tone.PLAIN, "nothing"), (Tone.LITTLE, "below 10 % more"), (Tone.MORE, "below 50 % more"),
        (Tone.MOST, "more"),
    ],
    "change": [(Tone.PLAIN, "same"), (Tone.CHANGED, "changed"), (Tone.ADDED, "new")],
}  # fmt: skip


def _legend(plan: Plan, name: str, shades: Mapping[str, Shade]) -> tuple[Entry, ...]:
    if not shades:
        return ()
    hosts = {host.id for host in plan.hosts}
    if name == "group":
        numbers = sorted({shade.number for shade in shades.values()})
        if len(numbers) > _MOST_GROUPS:
            return ()
        return tuple(Entry(Tone.GROUP, f"group {n}", _ids(hosts, shades, Tone.GROUP, n), n) for n in numbers)
    words = _WORDS.get(name, _USES)
    return tuple(Entry(tone, text, _ids(hosts, shades, tone)) for tone, text in words)


def _ids(hosts: Collection[str], shades: Mapping[str, Shade], tone: Tone, number: int = 0) -> tuple[str, ...]:
    these = [i for i, shade in shades.items() if shade.tone is tone and shade.number == number]
    return tuple(i for i in these if i in hosts) or tuple(these)
