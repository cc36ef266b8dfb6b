"""Which parts of a plan stop its cluster when they fail together, and which smallest sets do.

    search = Search(plan)
    search.smallest(depth=2)          # minimal sets of up to two parts; of more where no two are enough

Parts that do the same (a node, its host and the disk of its redo log) are judged once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations, product
from math import comb
from typing import Any

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.configuration.failing_parts import Part, parts
from ndbplan.configuration.failures import Damage, Effect, Failures, Judged
from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Host, Location, ServiceManager
from ndbplan.plan.origins import NO_ORIGINS
from ndbplan.plan.plan import EMPTY_PLAN, ClusterParameters, Plan
from ndbplan.plan.processes import Link, Process
from ndbplan.plan.tables import LogfileGroup, Tablespace

LARGEST = 4
"""A node group has four members at most, so no smallest set is larger."""
_MOST_SETS = 400_000
"""Sets of three and four parts that are tried; beyond it only whole node groups are named."""

Killers = tuple[tuple[Part, ...], ...]


_OF_NODE = frozenset({"ArbitrationRank", "ArbitrationDelay", "NoOfReplicas", "DataDir"})
_OF_CLUSTER = _OF_NODE | {"Arbitration", "ArbitrationTimeout"}
_PATHS = "filesystempath"
"""Parameters that decide who dies and who goes on, and how those that place files begin."""
_WITHOUT_EFFECT = {
    "assumed": (),
    "origins": NO_ORIGINS,
    "position": None,
    "slot": None,
    "cores": 1,
    "memory_bytes": 1,
    "sockets": 1,
    "clock_ghz": 1.0,
    "core_gain_per_clock": None,
    "network_bytes_per_s": 1.0,
    "service_manager": ServiceManager.SYSTEMD,
    "uplink_bytes_per_s": None,
    "capacity_bytes": 1,
    "sequential_read_bytes_per_s": 1.0,
    "sequential_write_bytes_per_s": 1.0,
    "random_read_iops": 1.0,
    "random_write_iops": 1.0,
    "sync_write_latency_s": 0.0,
    "other_load": 0.0,
    "container_memory_bytes": None,
    "purchase_price": None,
    "monthly_price": None,
    "watts": None,
    "licence_per_month": None,
}
"""Fields of parts of a plan that say nothing about failures, and what stands for their value."""


@kept_by_identity(size=32)
def search_of(plan: Plan) -> Search:
    """The search of a plan, kept while edits leave alone what decides about failures.

    Slots without a host, which nobody has taken, and their connections decide nothing.
    """
    ids = {process.id for process in plan.processes if process.host_id is not None}
    links = [link for link in plan.links if {link.process_id_1, link.process_id_2} <= ids]
    return _search(
        _all_deciding(plan.processes),
        _all_deciding(plan.hosts),
        _all_deciding(plan.locations),
        _one_tuple(*dict.fromkeys(map(_deciding, links))),
        plan.tablespaces,
        plan.logfile_groups,
        _deciding_parameters(plan.parameters.management, _OF_NODE),
        _deciding_parameters(plan.parameters.sql, _OF_NODE),
        _deciding_parameters(plan.parameters.data_node, _OF_CLUSTER),
        plan.ndb_version,
    )


@kept_by_identity(size=32)
def _without_effect(kind: Any) -> tuple[tuple[str, Any], ...]:
    """The fields of parts of a class that say nothing about failures."""
    return tuple((name, value) for name, value in _WITHOUT_EFFECT.items() if name in kind.model_fields)


@kept_by_identity(size=2048)
def _deciding(part: Any) -> Any:
    """A process, host, location or link without what says nothing about failures; one object for equals."""
    fields, known = dict(_without_effect(type(part))), type(part).model_fields
    if "parameters" in known:
        fields["parameters"] = _deciding_parameters(part.parameters, _OF_NODE)
    if "disks" in known:
        fields["disks"] = tuple(map(_deciding, part.disks))
    if "disk_roles" in known:
        fields["disk_roles"] = part.disk_roles.model_copy(update={"backup": None})
    return _one_object(part.model_copy(update=fields))


@kept_by_identity(size=512)
def _deciding_parameters(stated: Parameters, names: frozenset[str]) -> Parameters:
    known = {name.lower() for name in names}
    used = (name for name in sorted(stated) if name.lower() in known or name.lower().startswith(_PATHS))
    deciding: Parameters = _one_object(FrozenMap((name, stated[name]) for name in used))
    return deciding


@kept_by_value(2048)
def _one_object(value: Any) -> Any:
    return value


@kept_by_identity(size=32)
def _all_deciding(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same of all of them, but for slots without a host."""
    return _one_tuple(*(_deciding(one) for one in parts if getattr(one, "host_id", one) is not None))


@kept_by_identity(size=64)
def _one_tuple(*parts: Any) -> tuple[Any, ...]:
    return parts


@kept_by_identity(size=32)
def _search(
    processes: tuple[Process, ...],
    hosts: tuple[Host, ...],
    locations: tuple[Location, ...],
    links: tuple[Link, ...],
    tablespaces: tuple[Tablespace, ...],
    logfile_groups: tuple[LogfileGroup, ...],
    management: Parameters,
    sql: Parameters,
    data_node: Parameters,
    ndb_version: str,
) -> Search:
    parameters = ClusterParameters(data_node=data_node, management=management, sql=sql)
    return Search(
        EMPTY_PLAN.replace(
            processes=processes,
            hosts=hosts,
            locations=locations,
            links=links,
            tablespaces=tablespaces,
            logfile_groups=logfile_groups,
            parameters=parameters,
            ndb_version=ndb_version,
        )
    )


class Search:
    """Sets of parts of one plan, each effect judged once."""

    def __init__(self, plan: Plan, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.failures = Failures(plan)
        self.cancelled = cancelled
        self._judged: dict[Effect, Judged] = {}

    def after_moves(self, plan: Plan) -> Search:
        """The search of the plan with nodes on other hosts; what was judged serves it too.

        Hosts say who is lost and who does not see whom, not what the cluster then does.
        """
        moved = Search(plan, self.cancelled)
        here, there = self.failures, moved.failures
        if (there.cluster, there.running) == (here.cluster, here.running):
            moved._judged = self._judged
        return moved

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Every part that may fail by itself."""
        return parts(self.failures.plan)

    @cached_property
    def _whole_damage_of(self) -> dict[Part, Damage]:
        return {part: self.failures.damage([part]) for part in self.parts}

    @cached_property
    def lost_with(self) -> dict[Part, frozenset[int]]:
        """All nodes that each part takes along, those of clients included."""
        return {part: damage.dead for part, damage in self._whole_damage_of.items()}

    @cached_property
    def damage_of(self) -> dict[Part, Damage]:
        """What each part does to data nodes and to nodes that may arbitrate."""
        counted = self.failures.cluster.data_nodes | self.failures.running.connected
        whole = self._whole_damage_of.items()
        return {part: damage._replace(dead=damage.dead & counted) for part, damage in whole}

    @cached_property
    def alike(self) -> dict[Damage, tuple[Part, ...]]:
        """Parts by what they do; those that do nothing are left out."""
        by_damage: dict[Damage, list[Part]] = {}
        for part, damage in self.damage_of.items():
            if damage.dead or damage.apart or damage.links:
                by_damage.setdefault(damage, []).append(part)
        return {damage: tuple(same) for damage, same in by_damage.items()}

    def judge(self, *damages: Damage) -> Judged:
        """What the cluster does when all of this happens at once."""
        whole = damages[0]
        for damage in damages[1:]:
            whole = Damage(whole.dead | damage.dead, whole.apart | damage.apart, whole.links | damage.links)
        effect = self.failures.effect(whole)
        judged = self._judged.get(effect)
        if judged is None:
            judged = self._judged[effect] = self.failures.after(self.failures.running, whole)
        return judged

    def of_parts(self, *dead: Part) -> Judged:
        """What the cluster does when these parts fail at once."""
        return self.judge(*(self.damage_of[part] for part in dead))

    @cached_property
    def single_killers(self) -> tuple[Part, ...]:
        """Parts whose failure alone stops the cluster."""
        return tuple(part for part in self.parts if self.of_parts(part).stops)

    def smallest(self, depth: int = 1) -> Killers:
        """Every minimal set of up to `depth` parts that stops the cluster; without one, of the next size.

        Minimal: no part of it can be left out. Empty when no four parts stop it, or there is no data node.
        """
        if not self.failures.cluster.data_nodes:
            return ()
        smallest: list[frozenset[Damage]] = []
        for size in range(1, LARGEST + 1):
            if size > depth and smallest:
                break
            if size > 2 and comb(len(self.alike), size) > _MOST_SETS:
                smallest += self._whole_groups(size, smallest)
            else:
                smallest += self._of_size(size, smallest)
            if self.cancelled():
                return ()
        order = {part: number for number, part in enumerate(self.parts)}
        killers = {
            tuple(sorted(chosen, key=order.__getitem__))
            for damages in smallest
            for chosen in product(*(self.alike[damage] for damage in damages))
        }
        return tuple(sorted(killers, key=lambda killer: (len(killer), [order[part] for part in killer])))

    def _of_size(self, size: int, smaller: list[frozenset[Damage]]) -> Iterator[frozenset[Damage]]:
        harmless = [damage for damage in self.alike if frozenset({damage}) not in smaller]
        for chosen in combinations(harmless if size > 1 else self.alike, size):
            if size > 2 and any(known <= frozenset(chosen) for known in smaller):
                continue
            if not self._goes_on_unasked(chosen) and self.judge(*chosen).stops:
                yield frozenset(chosen)

    def _goes_on_unasked(self, damages: tuple[Damage, ...]) -> bool:
        """Whether so little dies that every rule lets the cluster go on: most sets of a large plan.

        Nothing is cut, each node group keeps a member, one is untouched, and more than half are left.
        """
        if any(damage.apart or damage.links for damage in damages):
            return False
        running, groups = self.failures.running.started, self.failures.cluster.groups
        dead = frozenset().union(*(damage.dead for damage in damages)) & running
        hit = {self._group_of.get(node_id) for node_id in dead}
        return (
            None not in hit
            and len(hit) < len(groups)
            and 2 * len(dead) < len(running)
            and not any(groups[number] & running <= dead for number in hit if number is not None)
        )

    @cached_property
    def _group_of(self) -> dict[int, int]:
        return {node: number for number, nodes in self.failures.cluster.groups.items() for node in nodes}

    def _whole_groups(self, size: int, smaller: list[frozenset[Damage]]) -> Iterator[frozenset[Damage]]:
        """Sets that leave a node group without a member, for plans with too many parts to try every set."""
        done = set(smaller)
        for members in self.failures.cluster.groups.values():
            near = [damage for damage in self.alike if damage.dead & members]
            for chosen in combinations(near, size):
                together = frozenset(chosen)
                if together in done or any(known <= together for known in smaller):
                    continue
                if members <= frozenset().union(*(damage.dead for damage in chosen)):
                    done.add(together)
                    yield together
