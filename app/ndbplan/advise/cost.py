"""What a plan costs: the prices that it states, summed over its months, and how much states none.

    cost = cost_of(plan)
    cost.total, cost.per_month, cost.not_stated
    cost_of_change(before, after)         # None: a price that it needs is not stated

No price is invented, and none that is missing counts as nothing. A host states a price for itself; a disk
that comes with it states 0.

Source: arithmetic on what the plan states; a month is a twelfth of 365.25 days.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.estimate.storage.column_bytes import row_payload_bytes
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan

TB = 10**12
"""Bytes."""
HOURS_PER_MONTH = 365.25 * 24 / 12
_MONEY = "money"
"""Unit of a sum when the plan does not say in which currency."""
_PRICES = ("purchase_price", "monthly_price", "watts", "licence_per_month")
_NO_MATTER = {*_PRICES, "id", "name", "hostname", "position", "slot", "assumed"}
"""Fields of hardware that leave its price as it is, and the prices."""
_NO_MATTER |= {"location_id", "location_domain_id", "parent_id", "mount_point", "other_load", "disks"}


@dataclass(frozen=True)
class CostLine(Shape):
    """What one part of the plan costs; None: not stated."""

    JSON = "where what purchase per_month watts"

    where: str
    what: str
    """host, disk, location or licence."""
    purchase: float | None
    per_month: float | None
    watts: float | None
    part_id: str = ""
    """Of the object that costs it."""

    @property
    def has_price(self) -> bool:
        """Whether any price is stated; watts alone are none."""
        return self.purchase is not None or self.per_month is not None


@dataclass(frozen=True)
class Cost(Shape):
    """The sums of a plan, in its currency, and what they leave out."""

    JSON = (
        "currency months total per_month per_tb per_1000_tx purchase monthly energy_per_month watts "
        "not_stated parts=lines"
    )

    currency: str | None
    months: int
    total: Quantity | None
    """Everything over the plan's months; None: no price is stated."""
    per_month: Quantity | None
    purchase: Quantity
    monthly: Quantity
    """Rent and licences of a month."""
    energy_per_month: Quantity | None
    """Electricity of a month; None: its price is not stated, or no watts are."""
    watts: float
    not_stated: tuple[str, ...]
    """What the sums leave out because the plan does not say what it costs, in words."""
    user_bytes: float
    """Values of all rows, each once: without indexes, replicas and what pages leave empty."""
    lines: tuple[CostLine, ...]
    """Every host, disk, location and licence with a price, and every host and disk without."""
    per_1000_tx: Quantity | None = None
    """The total for each 1,000 tx/s of the highest load; None: not stated, or nobody asked for it."""

    @property
    def unpriced(self) -> tuple[str, ...]:
        """What of `not_stated` the total lacks, so that it says less than everything costs."""
        return tuple(what for what in self.not_stated if what.startswith("the price of"))

    @property
    def per_tb(self) -> Quantity | None:
        """The total for each TB of user data; None: no price is stated, or there are no rows."""
        if self.total is None or self.user_bytes <= 0:
            return None
        return self.total.scaled(TB / self.user_bytes)

    def of_load(self, sustained_per_s: Quantity | None) -> Cost:
        """The same with what each 1,000 tx/s of the highest load cost, where both are known."""
        if self.total is None or sustained_per_s is None or sustained_per_s.low <= 0:
            return self
        each = (self.total / (sustained_per_s / 1000.0)).in_unit(self.total.unit)
        return replace(self, per_1000_tx=each)


def user_bytes(plan: Plan) -> float:
    """Bytes of the values of all rows of all tables, each row once."""
    return sum(table.rows * row_payload_bytes(table.columns, plan.version).value for table in plan.tables)


@kept_by_identity(size=16)
def cost_of(plan: Plan) -> Cost:
    """The sums of a plan. Hosts and disks that state no price are named; locations and licences need none."""
    return _Sums(plan).cost


def cost_by_part(plan: Plan) -> dict[str, float]:
    """What each location, host, disk and process costs over the plan's months, by id, in the plan's currency.

    Together they are `Cost.total`. Those that state no price and no watts that cost something are left out.
    """
    per_watt = HOURS_PER_MONTH / 1000 * (plan.price_per_kwh or 0.0)
    costs = {}
    for line in _lines(plan):
        of_a_month = (line.per_month or 0.0) + per_watt * (line.watts or 0.0)
        if line.has_price or of_a_month:
            costs[line.part_id] = (line.purchase or 0.0) + plan.cost_months * of_a_month
    return costs


@dataclass
class _Sums:
    plan: Plan

    @cached_property
    def lines(self) -> tuple[CostLine, ...]:
        return tuple(_lines(self.plan))

    def _sum(self, name: str, field: str) -> Quantity:
        unit = self.plan.currency or _MONEY
        stated = [(line, getattr(line, field)) for line in self.lines if getattr(line, field)]
        terms = [Term(f"{line.what} {line.where}", value, unit, "plan") for line, value in stated]
        return Quantity.exact(sum(value for _, value in stated), unit, terms).named(name)

    @property
    def cost(self) -> Cost:
        plan, lines = self.plan, self.lines
        unit, months = plan.currency or _MONEY, plan.cost_months
        purchase = self._sum("bought", "purchase")
        monthly = self._sum("rent and licences of a month", "per_month")
        watts = sum(line.watts or 0.0 for line in lines)
        energy = None
        if plan.price_per_kwh is not None and watts > 0:
            kwh = watts / 1000 * HOURS_PER_MONTH
            each = Quantity.stated("electricity of a kWh", plan.price_per_kwh, unit)
            energy = (Quantity.stated("kWh of a month", kwh, "count", "watts") * each).in_unit(unit)
        total = per_month = None
        if any(line.has_price for line in lines):
            per_month_paid = monthly if energy is None else monthly + energy.named("electricity of a month")
            total = purchase + (per_month_paid * float(months)).named(f"{months} months")
            per_month = total / float(months)
        return Cost(
            plan.currency,
            months,
            total,
            per_month,
            purchase,
            monthly,
            energy,
            watts,
            tuple(_not_stated(plan, lines, watts)),
            user_bytes(plan),
            lines,
        )


def _lines(plan: Plan) -> Iterator[CostLine]:
    for location in plan.locations:
        if any(getattr(location, name) is not None for name in _PRICES[:3]):
            yield _line(location, "location", location.name)
    for host in plan.hosts:
        yield _line(host, "host", host.hostname)
        for disk in host.disks:
            yield _line(disk, "disk", f"{host.hostname}/{disk.name}")
    for process in plan.processes:
        if process.licence_per_month is not None:
            yield CostLine(
                f"node {process.node_id}", "licence", None, process.licence_per_month, None, process.id
            )


def _line(part: Location | Host | Disk, what: str, where: str) -> CostLine:
    return CostLine(where, what, part.purchase_price, part.monthly_price, part.watts, part.id)


def _not_stated(plan: Plan, lines: tuple[CostLine, ...], watts: float) -> Iterator[str]:
    for what in ("host", "disk"):
        of_kind = [line for line in lines if line.what == what]
        missing = [line.where for line in of_kind if not line.has_price]
        if missing:
            shown = ", ".join(missing[:4]) + (", …" if len(missing) > 4 else "")
            yield f"the price of {len(missing)} of {len(of_kind)} {what}s ({shown})"
    if watts > 0 and plan.price_per_kwh is None:
        yield "the price of electricity"
    if plan.currency is None and any(line.has_price for line in lines):
        yield "the currency"


def cost_of_change(before: Plan, after: Plan) -> Quantity | None:
    """What a change of a plan adds to its total; None where it needs a price that is not stated.

    New hardware, and hardware that became other than it was, needs a price of its own: that of what was there
    says nothing about what takes its place. What leaves the money alone costs exactly nothing.
    """
    if before.currency != after.currency:
        return None
    unit = before.currency or _MONEY
    olds, news = _hardware(before), _hardware(after)
    for part_id, part in news.items():
        old = olds.get(part_id)
        if part is not old and not _is_priced(old, part):
            return None
    if any(olds[part_id].purchase_price is None and olds[part_id].monthly_price is None
           for part_id in olds.keys() - news.keys()):  # fmt: skip
        return None
    paid, then = cost_of(before), cost_of(after)
    if paid.total is None or then.total is None:
        nothing = Quantity.exact(0.0, unit)
        return nothing if paid.total is then.total else (then.total or nothing) - (paid.total or nothing)
    return then.total - paid.total


def _hardware(plan: Plan) -> dict[str, Any]:
    parts: dict[str, Any] = {host.id: host for host in plan.hosts}
    parts |= {place.id: place for place in plan.locations}
    return parts | {disk.id: disk for host in plan.hosts for disk in host.disks}


def _is_priced(old: Any, new: Any) -> bool:
    """Whether it is known what a part costs that is new, or changed."""
    fields = [name for name in type(new).model_fields if name not in _NO_MATTER]
    stated = new.purchase_price is not None or new.monthly_price is not None
    had = old is not None and (old.purchase_price is not None or old.monthly_price is not None)
    if old is not None and all(getattr(old, name) == getattr(new, name) for name in fields):
        return stated or not had
    if old is None:
        return stated or isinstance(new, Location)
    return stated and any(getattr(old, name) != getattr(new, name) for name in _PRICES[:2])
