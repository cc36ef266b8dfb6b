"""The command about money."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ndbplan.cli.group import json_option, ndbplan, show, why_option
from ndbplan.cli.parameters import PLAN, read_plan

if TYPE_CHECKING:
    from ndbplan.advise.cost import Cost
    from ndbplan.base.quantity import Quantity


@ndbplan.command()
@PLAN
@why_option
@json_option
def cost(plan_file: Path, *, why: bool, as_json: bool) -> None:
    """Sum the prices that the plan states, over its months, and name what states none.

    Prices are fields of hosts, disks, locations and nodes: `ndbplan set PLAN hosts[*].purchase_price=9000
    currency=EUR cost_months=48`.
    """
    from ndbplan.advise.cost import cost_of

    found = cost_of(read_plan(plan_file))
    show(found.to_json(why=why), as_json=as_json, why=why, text=_lines(found))


def _lines(found: Cost) -> Iterator[str]:
    from ndbplan.base.units import format_value

    def money(paid: Quantity) -> str:
        return format_value(paid.value, paid.unit)

    if found.total is None or found.per_month is None:
        yield "no price is stated"
        yield "state prices with: ndbplan set PLAN 'hosts[*].purchase_price=9000' currency=EUR"
    else:
        yield f"{'total':<22} {money(found.total)} over {found.months} months"
        yield f"{'a month':<22} {money(found.per_month)}"
        yield f"{'bought':<22} {money(found.purchase)}"
        yield f"{'rent and licences':<22} {money(found.monthly)} a month"
    if found.energy_per_month is not None:
        yield f"{'electricity':<22} {money(found.energy_per_month)} a month ({found.watts:g} W)"
    for what in found.not_stated:
        yield f"not stated: {what}"
