"""Memory and disks as the tables grow month by month, and when each runs out.

growth(plan, months=24).months_until_full
fillings(plan, horizon=12)                     # disks and tablespaces that are full within a year

Source: arithmetic of rows per month; what they take is that of memory and disks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ndbplan.base.kept import keeping, kept_by_identity, key_of
from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.settings import settings_by_node, usable_data_memory
from ndbplan.estimate.loaded import disk_data
from ndbplan.estimate.space.disk_space import DiskSpaceEstimate, disk_space
from ndbplan.estimate.storage.memory import MemoryEstimate
from ndbplan.estimate.stored import memory
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Workload

LONGEST_MONTHS = 1200
_KEPT_FILLINGS = 24
_NEAR_MONTHS = 0.05
"""How near the month found is to the one in which it happens: a day and a half."""


def grows(plan: Plan) -> bool:
    """Whether any table of the plan grows."""
    return any(table.growth_rows_per_month for table in plan.tables)


@kept_by_identity(size=16)
def after_months(plan: Plan, months: float) -> Plan:
    """The plan with the rows its tables have after so many months; counts per partition keep their shares."""
    if months == 0 or not grows(plan):
        return plan
    return plan.replace(tables=_grown(plan.tables, float(months)))


@kept_by_identity(size=64)
def _grown(tables: tuple[Table, ...], months: float) -> tuple[Table, ...]:
    """The same tables for all plans that have these, so that what is known of them is known."""
    return tuple(
        table.model_copy(update={"rows": table.rows + round(table.growth_rows_per_month * months)})
        if table.growth_rows_per_month
        else table
        for table in tables
    )


@dataclass(frozen=True)
class Filling:
    """A disk or tablespace that fills as the tables grow."""

    kind: str
    """`disk` or `tablespace`."""
    object_id: str
    host: str
    """Host of a disk; empty for a tablespace, which every data node has."""
    name: str
    months_until_full: Quantity | None
    """None: not within the horizon."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One entry of `disks` or `tablespaces`; written out: a disk has other keys than a tablespace."""
        where = {"host": self.host, "disk": self.name} if self.kind == "disk" else {"tablespace": self.name}
        left = self.months_until_full
        return {**where, "months_until_full": None if left is None else left.to_json(why=why)}


@dataclass(frozen=True)
class Growth:
    """Memory and disk space month by month."""

    months: tuple[int, ...]
    estimates: tuple[MemoryEstimate, ...]
    spaces: tuple[DiskSpaceEstimate, ...]
    months_until_full: Quantity | None
    """Until the first node's tables need more than its DataMemory allows; None: not within 100 years."""
    fillings: tuple[Filling, ...]
    """The same for every disk and tablespace."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """Nodes and disks at each month, and the time left; written out: kept by kind, printed by month."""
        left = self.months_until_full
        return {
            "months": [
                {
                    "month": month,
                    "nodes": [
                        {
                            "node_id": node.node_id,
                            "data_memory_bytes": node.data_memory_bytes.to_json(why=why),
                            "fill": node.fill,
                        }
                        for node in estimate.nodes
                    ],
                    "disks": [
                        {
                            "host": disk.host,
                            "disk": disk.disk,
                            "used_bytes": disk.used_bytes.to_json(why=why),
                            "fill": disk.fill.value,
                        }
                        for disk in space.disks
                    ],
                }
                for month, estimate, space in zip(self.months, self.estimates, self.spaces, strict=True)
            ],
            "months_until_full": None if left is None else left.to_json(why=why),
            "disks": [one.to_json(why) for one in self.fillings if one.kind == "disk"],
            "tablespaces": [one.to_json(why) for one in self.fillings if one.kind == "tablespace"],
        }


def first_of(full: tuple[Filling, ...]) -> Filling | None:
    """The one that is full first; None when none of them is."""
    timed = [(one.months_until_full.value, one) for one in full if one.months_until_full is not None]
    return min(timed, key=lambda pair: pair[0])[1] if timed else None


def growth(
    plan: Plan,
    months: int = 12,
    step: int = 1,
    workload: Workload | None = None,
) -> Growth:
    """Memory and disk space now and every `step` months up to `months`.

    Under a workload the log of what it changes during a backup takes space too, as in `disk_space`.
    A node counts as full when its tables need all of DataMemory but MinFreePct, which is only for restarts
    (reference manual).
    """
    points = tuple(range(0, months + 1, max(1, step)))
    grown = [after_months(plan, m) for m in points]
    return Growth(
        points,
        tuple(memory(one) for one in grown),
        tuple(disk_space(one, workload) for one in grown),
        memory_full(plan),
        fillings(plan, workload=workload),
    )


def memory_full(plan: Plan, horizon: float = LONGEST_MONTHS) -> Quantity | None:
    """Months until the first node's tables need more of its DataMemory than MinFreePct leaves to rows."""
    if not grows(plan):
        return None
    usable = {node_id: usable_data_memory(own) for node_id, own in settings_by_node(plan).items()}
    kept: dict[float, MemoryEstimate] = {}

    def share(months: float, reach: Callable[[Quantity], float]) -> float:
        if months not in kept:
            kept[months] = memory(after_months(plan, months))
        return max(
            (
                _fill(reach(node.data_memory_bytes), usable[node.node_id] * node.data_memory_limit_bytes)
                for node in kept[months].nodes
            ),
            default=0.0,
        )

    terms = (
        Term("part of DataMemory that rows can fill", one, "fraction", "manual: MinFreePct")
        for one in sorted(set(usable.values()))
    )
    return _months(share, horizon, (_rows_per_month(plan), *terms))


def _fill(needed_bytes: float, usable_bytes: float) -> float:
    if usable_bytes > 0:
        return needed_bytes / usable_bytes
    return math.inf if needed_bytes else 0.0


def fillings(
    plan: Plan, horizon: float = LONGEST_MONTHS, workload: Workload | None = None
) -> tuple[Filling, ...]:
    """When each disk that data nodes use, and each tablespace with tables, is full; empty without growth."""
    return (*disk_fillings(plan, horizon, workload), *tablespace_fillings(plan, horizon))


def disk_fillings(plan: Plan, horizon: float, workload: Workload | None = None) -> tuple[Filling, ...]:
    """When each disk that data nodes use is full; empty without growth."""
    if not grows(plan):
        return ()

    def space_at(months: float) -> DiskSpaceEstimate:
        return disk_space(after_months(plan, months), workload)

    with keeping() as store:
        # Plans whose disks hold the same now and then, of tables that grow alike, fill them alike.
        asked = plan.tables, space_at(0), space_at(horizon), horizon
        return store.answer(
            disk_fillings,
            _KEPT_FILLINGS,
            key_of(asked),
            asked,
            lambda: _disk_fillings(plan, horizon, space_at),
        )


def _disk_fillings(
    plan: Plan, horizon: float, disk_space_at: Callable[[float], DiskSpaceEstimate]
) -> tuple[Filling, ...]:
    spaces: dict[float, DiskSpaceEstimate] = {}
    answers: dict[tuple[float, ...], Quantity | None] = {}

    def space_at(months: float) -> DiskSpaceEstimate:
        if months not in spaces:
            spaces[months] = disk_space_at(months)
        return spaces[months]

    now, then = space_at(0), space_at(horizon)

    def months_of(i: int) -> Quantity | None:
        disk = then.disks[i]
        most = disk.likely_bytes
        if most < disk.capacity_bytes and not math.isclose(most, disk.capacity_bytes):
            # Most disks never fill: no ranges are needed to see that.
            return None
        ends = [space.disks[i].fill for space in (now, then)]
        # Disks that are as full now and at the end are alike.
        key = tuple(end for fill in ends for end in (fill.low, fill.value, fill.high))
        if key not in answers:
            answers[key] = _months(
                lambda months, reach: reach(space_at(months).disks[i].fill), horizon, (_rows_per_month(plan),)
            )
        return answers[key]

    return tuple(
        Filling("disk", disk.disk_id, disk.host, disk.disk, months_of(i)) for i, disk in enumerate(now.disks)
    )


def tablespace_fillings(plan: Plan, horizon: float) -> tuple[Filling, ...]:
    """When each tablespace with tables is full; empty without growth."""
    if not (plan.tablespaces and grows(plan)):
        return ()
    kept: dict[float, dict[str, Quantity]] = {}

    def fills_at(months: float) -> dict[str, Quantity]:
        if months not in kept:
            spaces = disk_data(after_months(plan, months), None).tablespaces
            kept[months] = {one.tablespace: one.fill for one in spaces}
        return kept[months]

    def months_of(name: str) -> Quantity | None:
        return _months(lambda months, reach: reach(fills_at(months)[name]), horizon, (_rows_per_month(plan),))

    ids = {space.name: space.id for space in plan.tablespaces}
    return tuple(Filling("tablespace", ids[name], "", name, months_of(name)) for name in fills_at(0))


def _rows_per_month(plan: Plan) -> Term:
    rows = sum(table.growth_rows_per_month for table in plan.tables)
    return Term("rows per month of all tables", rows, "rows", "plan")


def _months(
    share: Callable[[float, Callable[[Quantity], float]], float], horizon: float, why: tuple[Term, ...]
) -> Quantity | None:
    """Months until a share, which only grows, is above 1; its ends from the ends of what is shared."""

    def first(reach: Callable[[Quantity], float]) -> float | None:
        return _crossing(lambda months: share(months, reach), horizon)

    value = first(lambda q: q.value)
    if value is None:
        return None
    soonest, latest = first(lambda q: q.high), first(lambda q: q.low)
    ends = (value if soonest is None else soonest, horizon if latest is None else latest)
    return Quantity.spanning(value, ends, "months", why)


def _crossing(share: Callable[[float], float], horizon: float) -> float | None:
    """The month, within 0.05, from which a growing share is above 1; None when it is not at the horizon.

    Space grows nearly in a straight line, so the line between the two ends nearly tells the month.
    """
    low, high = 0.0, float(horizon)
    below, above = share(low), share(high)
    if below > 1:
        return 0.0
    if above <= 1:
        return None
    halve = False
    while high - low > _NEAR_MONTHS:
        on_line = low + (high - low) * (1 - below) / (above - below)
        margin = min(_NEAR_MONTHS / 2, (high - low) / 4)
        middle = (low + high) / 2 if halve else min(max(on_line, low + margin), high - margin)
        now = share(middle)
        # A curve would creep along one end: every second step halves when the line did not.
        halve = not halve and (middle - low if now > 1 else high - middle) > (high - low) / 2
        if now > 1:
            high, above = middle, now
        else:
            low, below = middle, now
    return high
