"""The command about money."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.cli.answers import needs_data_nodes
from ndbplan.cli.group import json_option, ndbplan, show, simulating, why_option
from ndbplan.cli.parameters import PLAN, named_workload, read_plan

if TYPE_CHECKING:
    from ndbplan.advise.cost import Cost
    from ndbplan.base.quantity import Quantity


@ndbplan.command()
@PLAN
@click.option("--per-load", is_flag=True, help="Also for each 1,000 tx/s of the highest load: simulates.")
@click.option("--workload", metavar="NAME", help="The mix of --per-load; without it the plan's first.")
@why_option
@json_option
def cost(plan_file: Path, workload: str | None, *, per_load: bool, why: bool, as_json: bool) -> None:
    """Sum the prices that the plan states, over its months, and name what states none.

    Prices are fields of hosts, disks, locations and nodes: `ndbplan set PLAN hosts[*].purchase_price=9000
    currency=EUR cost_months=48`.
    """
    from ndbplan.advise.cost import cost_of

    plan = read_plan(plan_file)
    found = cost_of(plan)
    workload_id = named_workload(plan, workload)
    if per_load:
        from ndbplan.advise.max_load import max_load
        from ndbplan.estimate.estimation import Estimation, chosen_workload

        needs_data_nodes(plan, plan_file)
        with simulating():
            load = max_load(Estimation(plan, chosen_workload(plan, workload_id)), with_next=False)
        found = found.of_load(load.max_per_s)
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
    if found.per_tb is not None:
        yield f"{'per TB of user data':<22} {money(found.per_tb)}"
    if found.per_1000_tx is not None:
        yield f"{'per 1,000 tx/s':<22} {money(found.per_1000_tx)}"
    if found.energy_per_month is not None:
        yield f"{'electricity':<22} {money(found.energy_per_month)} a month ({found.watts:g} W)"
    for what in found.not_stated:
        yield f"not stated: {what}"
