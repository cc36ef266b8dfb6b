"""The section of a page for what its objects cost."""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.widgets.units import NUMBER


class _Price(NamedTuple):
    name: str
    label: str
    tip: str


OF_HARDWARE = (
    _Price("purchase_price", "Paid once", "In the currency of the plan; 0: it comes with its host"),
    _Price("monthly_price", "A month", "Rent, support"),
    _Price("watts", "Watts", "Drawn on average; the plan has the price of a kWh"),
)
OF_NODES = (_Price("licence_per_month", "Licence a month", "Licence or support of this node"),)


def add_prices(page: Page, rows: tuple[_Price, ...]) -> None:
    """Add the section, open where something is stated."""
    parts = [page.context.plan.by_id[i] for i in page.ids]
    stated = any(getattr(part, row.name) is not None for part in parts for row in rows)
    form = page.form(page.section("Costs", collapsible=True, expanded=stated).body)
    for row in rows:
        form.line(row.name, NUMBER, label=row.label, empty="not stated", tip=row.tip)
