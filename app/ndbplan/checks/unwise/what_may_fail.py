"""Rules about failures: which single one stops the cluster, and whether anybody arbitrates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain as one_after_another
from itertools import islice
from threading import Lock

from ndbplan.base.units import format_value
from ndbplan.checks.fits import misfit
from ndbplan.checks.problem import Edit, Problem, Severity, Solution
from ndbplan.checks.rule import hint, problem, rule, warning
from ndbplan.checks.solutions import one_of
from ndbplan.checks.unwise.more_places import more_places
from ndbplan.configuration.failing_parts import Part, called_so
from ndbplan.configuration.failures import Damage, Failures
from ndbplan.configuration.killers import Search, search_of
from ndbplan.configuration.node_groups import groups_by_number, incomplete_node_group
from ndbplan.configuration.settings import no_of_replicas, node_settings
from ndbplan.edits.changes import SetParameter
from ndbplan.edits.parts import update
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.addresses import is_loopback
from ndbplan.ndb.survival import Arbitration
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, ManagementNode

_WORDS = {
    "node": "node",
    "host": "host",
    "disk": "disk",
    "rack": "location",
    "link": "link",
    "switch": "switch of",
}
_NAMED_FIRST = ("host", "rack", "switch", "link", "node", "disk")
_MOST_HOSTS = 24
"""Hosts that are tried for a management node: one of each kind of place beyond it."""

_MOST_JUDGED = 20_000
"""Failures of parts that are judged while other placements are tried."""
_KEPT_MOVES = 6
"""Placements of so many moves from which the next move is tried."""
_MOST_TRIED = 24
"""Placements of which is looked whether disks and memory have room for them: the best stand first."""

Way = tuple[str, Edit]
Move = tuple[str, str]
"""Ids of a node, and of the host that it moves to."""


@rule("what-may-fail", "A single failure stops the cluster")
def what_may_fail(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if no_of_replicas(plan) < 2 or not plan.data_nodes or incomplete_node_group(plan) is not None:
        return
    search = search_of(plan)
    killers = _told(search)
    if not killers:
        return
    cures = dict(_cures(now, search, killers))
    solve = partial(more_places, now)
    for part in killers:
        why = search.of_parts(part).best.verdict.why
        cure = cures.get(part)
        name = f"{_WORDS[part.kind]} {part.name}"
        text = f"the failure of {part.text} alone stops the cluster: {why}"
        ids = _objects(plan, search.failures, part)
        if cure is not None:
            words, edit = cure
            yield problem(_severity(plan), name, text, words, ids, edit)
        elif (beside := _places_like(plan, part)) is not None:
            told = problem(
                Severity.HINT if beside == 1 else Severity.WARNING,
                name,
                f"{text}. No placement on the hosts and locations of the plan survives it",
                _needs(search, part),
                ids,
            )
        else:
            told = warning(name, text, _needs(search, part), ids)
        if cure is None:
            yield replace(told, solve=solve)


_NEEDS = {
    "node": "give a management node ArbitrationRank 1 on a host of its own",
    "host": "add a host, and give the members of a node group, and the arbitrator, hosts of their own",
    "disk": "give what needs this disk another one, or add a host",
    "rack": "add a third location for a management node (a small host without data nodes is enough), so that "
    "no location holds half of the data nodes and the arbitrator",
    "all data nodes": "add a location with hosts for a member of every node group, and a third one for a "
    "management node",
    "switch": "add a third location for a management node, and let node groups span locations",
    "link": "add a third place that sees both hosts",
}


def _needs(search: Search, part: Part) -> str:
    """What would survive the failure, on more hardware."""
    everything = search.failures.cluster.data_nodes <= search.damage_of[part].dead
    return _NEEDS["all data nodes" if part.kind == "rack" and everything else part.kind]


def _told(search: Search) -> tuple[Part, ...]:
    """Killers that say something of their own: of parts that do the same one, and none that holds another."""
    first: dict[Damage, Part] = {}
    for part in sorted(search.single_killers, key=lambda part: _NAMED_FIRST.index(part.kind)):
        first.setdefault(search.damage_of[part], part)
    told = [
        part
        for damage, part in first.items()
        if not any(
            other.apart <= damage.apart and other.links <= damage.links and other.dead < damage.dead
            for other in first
        )
    ]
    return tuple(told)


def _places_like(plan: Plan, part: Part) -> int | None:
    """How many hosts, or locations as deep as it, there are to place things on; None: of other parts."""
    if part.kind == "host":
        return len(plan.hosts)
    if part.kind not in ("rack", "switch"):
        return None
    chains = [chain(plan.locations, host.location_id)[::-1] for host in plan.hosts]
    here = {place.id for place in called_so(plan, part)}
    depth = next((i for up in chains for i, place in enumerate(up) if place.id in here), 0)
    return len({up[depth].id for up in chains if len(up) > depth})


def _severity(plan: Plan) -> Severity:
    """An error, but a warning on a loopback address: such a cluster is there for trying things out."""
    names = {plan.host(node.host_id).hostname for node in plan.data_nodes}
    local = all(is_loopback(name) for name in names)
    return Severity.WARNING if local else Severity.ERROR


def _objects(plan: Plan, failures: Failures, part: Part) -> list[str]:
    """The part and the data and management nodes that it takes along."""
    dead = failures.nodes_of(part)
    ids = [process.id for process in plan.processes if process.node_id in dead and process.kind != "sql"]
    name = part.name.partition("/")[0]
    places = [host.id for host in plan.hosts if part.kind in ("host", "disk") and host.hostname == name]
    places += [place.id for place in called_so(plan, part)] if part.kind in ("rack", "switch") else []
    return [*places, *ids]


def _cures(now: Estimation, search: Search, killers: tuple[Part, ...]) -> Iterator[tuple[Part, Way]]:
    """For each killer a change of places after which it stops the cluster no more, nor any new part does.

    The change that leaves the fewest killers, of those the first: best none at all.
    """
    ways: list[tuple[set[Part], Way]] = []
    for remaining, (words, edit) in islice(now.kept(_Helping, search), _MOST_TRIED):
        if any(left <= remaining for left, _ in ways) or misfit(now, edit(now.plan)):
            continue
        ways.append((remaining, (words, edit)))
        if not remaining:
            break
    ways.sort(key=lambda one: len(one[0]))
    # All that are offered may be done: then nothing that one of them cures may come back with another.
    together, standing, done = search.failures.plan, set(search.single_killers), set[Part]()
    used: list[Way] = []
    for part in killers:
        for remaining, way in ways:
            if part in remaining or (way in used and part in standing):
                continue
            if way not in used:
                both = way[1](together)
                left = set(search.after_moves(both).single_killers) if used else remaining
                if left & {*done, part}:
                    continue
                together, standing = both, left
                used.append(way)
            done.add(part)
            yield part, way
            break


class _Helping:
    """Changes of places after which fewer parts, and no new ones, stop the cluster; and which then do.

    They are looked for as they are asked for, and kept: edits that leave alone what decides about failures,
    which is all but a few, then cost nothing here.
    """

    def __init__(self, search: Search) -> None:
        self._moves: list[tuple[set[Part], Way]] = []
        self._more = _tried(search)
        self._lock = Lock()

    def __iter__(self) -> Iterator[tuple[set[Part], Way]]:
        number = 0
        while True:
            with self._lock:
                if number == len(self._moves):
                    self._moves += islice(self._more, 1)
                if number == len(self._moves):
                    return
                one = self._moves[number]
            yield one
            number += 1


def _tried(search: Search) -> Iterator[tuple[set[Part], Way]]:
    plan, before = search.failures.plan, set(search.single_killers)
    for words, edit in one_after_another(_ways(plan), _moves(search, before)):
        after = edit(plan)
        if after is plan or incomplete_node_group(after) is not None:
            continue
        remaining = set(search.after_moves(after).single_killers)
        if remaining < before:
            yield remaining, (words, edit)


def _ways(plan: Plan) -> Iterator[Way]:
    """Other placements on the same hosts: the arbitrator elsewhere, groups across places, nodes apart."""
    yield from _arbitrators_moved(plan)
    regrouped = _across_places(plan)
    if regrouped is not plan:
        yield "give the data nodes a NodeGroup so that each group spans hosts and locations", _across_places
        for words, edit in _arbitrators_moved(regrouped):

            def both(old: Plan, then: Edit = edit) -> Plan:
                return then(_across_places(old))

            yield f"give the data nodes a NodeGroup so that each group spans locations, and {words}", both
    apart = _members_apart(plan)
    if apart is not None:
        node_id, host_id, hostname = apart

        def moved(old: Plan) -> Plan:
            return move_process(old, node_id, host_id)

        yield f"move data node {plan.by_id[node_id].node_id} to {hostname}", moved


def _moves(search: Search, killers: set[Part]) -> Iterator[Way]:
    """Up to three nodes moved to other hosts, after which fewer parts, and no new ones, stop the cluster.

    Data and management nodes, each to any host; from the best of one move, the next. Fewest moves first.
    """
    plan = search.failures.plan
    left = _MOST_JUDGED // max(1, len(search.parts))
    begun: list[tuple[tuple[Move, ...], Plan]] = [((), plan)]
    second_best: list[Way] = []
    for _ in range(3):
        tried: dict[frozenset[Move], tuple[int, tuple[Move, ...], Plan]] = {}
        for moves, moved in begun:
            for move in _single_moves(plan, {node_id for node_id, _ in moves}):
                chosen = frozenset((*moves, move))
                if chosen in tried or left <= 0:
                    continue
                left -= 1
                after = move_process(moved, *move)
                still = set(search.after_moves(after).single_killers)
                tried[chosen] = (len(still - killers) + len(still), (*moves, move), after)
                if still < killers:
                    way = _words_of(plan, (*moves, move)), _edit_of((*moves, move))
                    if _beside_another(after) > _beside_another(plan):
                        second_best.append(way)
                    else:
                        yield way
        best = sorted(tried.values(), key=lambda one: one[0])[:_KEPT_MOVES]
        begun = [(moves, after) for _, moves, after in best]
    yield from second_best


def _beside_another(plan: Plan) -> int:
    """How many management nodes share a host with another one."""
    return len(plan.management_nodes) - len({node.host_id for node in plan.management_nodes})


def _single_moves(plan: Plan, moved: set[str]) -> Iterator[Move]:
    """Each data or management node that has not moved yet, to each other host (of many: one of a kind)."""
    hosts = plan.hosts
    if len(hosts) > _MOST_HOSTS:
        held = {host.id: len(plan.processes_of_host.get(host.id, ())) for host in hosts}
        hosts = tuple({(h.location_id, held[h.id]): h for h in reversed(hosts)}.values())
    movable: tuple[ManagementNode | DataNode, ...] = (*plan.management_nodes, *plan.data_nodes)
    for node in movable:
        for host in hosts:
            if host.id != node.host_id and node.id not in moved:
                yield node.id, host.id


def _words_of(plan: Plan, moves: tuple[Move, ...]) -> str:
    named = []
    for node_id, host_id in moves:
        node = plan.by_id[node_id]
        kind = "data" if isinstance(node, DataNode) else "management"
        named.append(f"move {kind} node {node.node_id} to {plan.host(host_id).hostname}")
    return " and ".join(named)


def _edit_of(moves: tuple[Move, ...]) -> Edit:
    def moved(old: Plan) -> Plan:
        for node_id, host_id in moves:
            old = move_process(old, node_id, host_id)
        return old

    return moved


def _arbitrators_moved(plan: Plan) -> Iterator[Way]:
    taken = {node.host_id for node in plan.management_nodes}
    with_data = {node.host_id for node in plan.data_nodes}
    hosts = sorted((h for h in plan.hosts if h.id not in taken), key=lambda host: host.id in with_data)
    if len(hosts) > _MOST_HOSTS:
        kinds = {(host.location_id, host.id in with_data): host for host in reversed(hosts)}
        hosts = sorted(kinds.values(), key=lambda host: host.id in with_data)
    for node in plan.management_nodes[:4]:
        for host in hosts:

            def moved(old: Plan, node_id: str = node.id, host_id: str = host.id) -> Plan:
                return move_process(old, node_id, host_id)

            yield f"move management node {node.node_id} to {host.hostname}", moved


def _across_places(plan: Plan) -> Plan:
    """Data nodes in groups that span locations and hosts: dealt out place by place."""
    groups = list(groups_by_number(plan))
    nodes = [node for node in plan.data_nodes if node.node_group != NODE_GROUP_NONE]
    if not groups or len(nodes) != len(groups) * no_of_replicas(plan):
        return plan

    def places(node: DataNode) -> tuple[str, ...]:
        """Ids of the locations that it is in, the outermost first; of none at all: ''."""
        up = chain(plan.locations, plan.host(node.host_id).location_id)
        return tuple(place.id for place in reversed(up)) or ("",)

    sizes = Counter(place for node in nodes for place in places(node))

    def order(node: DataNode) -> tuple[tuple[tuple[int, str], ...], str, int]:
        return tuple((-sizes[place], place) for place in places(node)), node.host_id, node.node_id

    for number, node in enumerate(sorted(nodes, key=order)):
        group = groups[number % len(groups)]
        if node.node_group != group:
            plan = update(plan, node.id, node_group=group)
    return plan


def _members_apart(plan: Plan) -> tuple[str, str, str] | None:
    """A data node that shares its host with its mate, and a host without data nodes that is as large."""
    free = [host for host in plan.hosts if not any(n.host_id == host.id for n in plan.data_nodes)]
    for members in groups_by_number(plan).values():
        seen: set[str] = set()
        for node in members:
            if node.host_id in seen:
                now = plan.host(node.host_id)
                fit = [
                    h for h in free if h.memory_bytes >= now.memory_bytes and len(h.disks) >= len(now.disks)
                ]
                if fit:
                    return node.id, fit[0].id, fit[0].hostname
            seen.add(node.host_id)
    return None


@rule("nobody-arbitrates", "A cut of the network leaves two living clusters")
def nobody_arbitrates(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if no_of_replicas(plan) < 2 or len({node.host_id for node in plan.data_nodes}) < 2:
        return
    cluster = Failures(plan).cluster
    if cluster.arbitration == Arbitration.WAIT_EXTERNAL:
        yield _waits_for_others(plan)
    if not cluster.nobody_arbitrates:
        return
    off = cluster.arbitration == "Disabled"
    if not off and not plan.management_nodes:
        return
    yield warning(
        "Arbitration" if off else "ArbitrationRank",
        f"{'Arbitration is Disabled' if off else 'every ArbitrationRank is 0'}: nobody is asked and no "
        "majority is checked. After a cut of the network both halves live and take different writes, and "
        "what one of them took is lost when the cut heals (error 2307)",
        "set Arbitration to Default" if off else "set ArbitrationRank to 1 on a management node",
        [node.id for node in plan.management_nodes],
        SetParameter("data_node", "Arbitration", None) if off else _arbitrating(plan),
    )


def _waits_for_others(plan: Plan) -> Problem:
    milliseconds = max(node_settings(plan, node).number("ArbitrationTimeout") for node in plan.data_nodes)
    return hint(
        "Arbitration",
        "Arbitration is WaitExternal: a side that would have to ask waits ArbitrationTimeout "
        f"({format_value(milliseconds / 1000, 's')}) for a program of yours to end the other, and then goes "
        "on. Without such a program both halves of a cut live, and what one of them took is lost (2307)",
        "set Arbitration to Default, unless a cluster manager outside of NDB ends one side in that time",
        [node.id for node in plan.management_nodes],
        SetParameter("data_node", "Arbitration", None),
    )


def _arbitrating(plan: Plan) -> Edit:
    """A management node that may be asked, one on a host without data nodes if there is any."""
    with_data = {node.host_id for node in plan.data_nodes}
    node = min(plan.management_nodes, key=lambda one: (one.host_id in with_data, one.node_id))
    return SetParameter(node.id, "ArbitrationRank", 1)


@rule("location-domains", "LocationDomainId does not place replicas")
def location_domains(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    domains = {place.location_domain_id for place in plan.locations if place.location_domain_id}
    grouped = all(node.node_group is not None for node in plan.data_nodes)
    if len(domains) > 1 and plan.data_nodes and not grouped:
        told = hint(
            "locations",
            f"{len(domains)} LocationDomainIds are set, but node groups are still filled in node-id order",
            "give every data node its NodeGroup so that each group spans locations",
            [place.id for place in plan.locations],
        )
        title, why = "Give every data node its NodeGroup", "the members of a group stand apart"
        unknown = "data nodes for whole node groups in each location: the plan does not have them"
        ways = [Solution(title, why, _across_places, asks=True)]
        yield replace(told, solve=one_of(now, "location-domains", ways, unknown))
