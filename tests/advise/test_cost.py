"""Prices are summed as stated, what is missing is named, and never counts as nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.advise.cost import cost_of, cost_of_change, user_bytes
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.edits import parts as edits
from ndbplan.edits.arrays import put_devices
from ndbplan.edits.assign import assign
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.solutions import host_memory
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


def stated(plan: Plan, *texts: str) -> Plan:
    for text in texts:
        plan = assign(plan, text)[0]
    return plan


@pytest.fixture(scope="module")
def priced() -> Plan:
    return stated(
        sample_plan("starter"),
        "hosts[*].purchase_price=9000",
        "hosts[*].disks[*].purchase_price=500",
        "hosts[*].watts=400",
        "currency=EUR",
        "price_per_kwh=0.25",
        "cost_months=48",
        "processes[*].licence_per_month=20",
    )


def test_a_plan_without_prices_has_no_cost_and_says_what_is_missing() -> None:
    cost = cost_of(sample_plan("starter"))
    assert (cost.total, cost.per_month) == (None, None)
    hosts = len(sample_plan("starter").hosts)
    assert cost.not_stated[0].startswith(f"the price of {hosts} of {hosts} hosts (")


def test_what_is_stated_is_summed(priced: Plan) -> None:
    cost = cost_of(priced)
    hosts, disks = len(priced.hosts), sum(len(host.disks) for host in priced.hosts)
    bought = 9000 * hosts + 500 * disks
    month = 20 * len(priced.processes) + hosts * 0.4 * 730.5 * 0.25
    assert cost.total is not None
    assert cost.total.value == pytest.approx(bought + 48 * month)
    assert (cost.total.unit, cost.not_stated) == ("EUR", ())
    assert cost.per_month is not None
    assert cost.per_month.value == pytest.approx(bought / 48 + month)
    assert any("hour" in str(term) or "host" in str(term) for term in cost.total.why)


def test_a_missing_price_is_named_and_not_nothing(priced: Plan) -> None:
    first = priced.hosts[0]
    plan = edits.update(priced, first.id, purchase_price=None)
    assert first.hostname in cost_of(plan).not_stated[0]
    free = edits.update(priced, first.id, purchase_price=0.0)
    assert not cost_of(free).not_stated
    without_kwh = edits.set_plan(priced, price_per_kwh=None)
    assert cost_of(without_kwh).energy_per_month is None
    assert cost_of(without_kwh).not_stated == ("the price of electricity",)


def test_what_a_change_costs(priced: Plan) -> None:
    buffer = cost_of_change(priced, set_parameter(priced, "data_node", "RedoBuffer", 2**27))
    assert buffer is not None
    assert buffer.value == 0.0
    group = cost_of_change(priced, add_node_group(priced))
    assert group is not None
    model = priced.host(priced.data_nodes[-1].host_id)
    assert group.value > 2 * (9000 + 500 * len(model.disks))
    disk = model.disks[0]
    devices = cost_of_change(priced, put_devices(priced, disk.id, 3))
    assert devices is not None
    assert devices.value == pytest.approx(2 * 500)
    # Nobody said what more memory, or another disk, costs.
    assert cost_of_change(priced, host_memory(priced, [model.id], 2 * model.memory_bytes)) is None
    faster = edits.update(priced, disk.id, sequential_write_bytes_per_s=9e9)
    assert cost_of_change(priced, faster) is None
    known = edits.update(faster, disk.id, purchase_price=800.0)
    assert (quantity := cost_of_change(priced, known)) is not None
    assert quantity.value == pytest.approx(300)
    # A price that is taken away, or in other money, is not known.
    assert cost_of_change(priced, edits.update(priced, disk.id, purchase_price=None)) is None
    assert cost_of_change(priced, edits.set_plan(priced, currency="USD")) is None
    assert cost_of_change(sample_plan("starter"), add_node_group(sample_plan("starter"))) is None


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1e9)), min_size=4, max_size=4),
    st.integers(1, 600),
)
def test_total_is_the_months_and_never_falls_with_a_price(prices: list[float | None], months: int) -> None:
    plan = sample_plan("starter").replace(cost_months=months)
    hosts = [
        host.model_copy(update={"purchase_price": paid, "monthly_price": monthly})
        for host, paid, monthly in zip(plan.hosts, prices, reversed(prices), strict=False)
    ]
    plan = plan.replace(hosts=(*hosts, *plan.hosts[len(hosts) :]))
    assert loads(dumps(plan)) == plan
    cost = cost_of(plan)
    if cost.total is None or cost.per_month is None:
        assert all(price is None for price in prices)
        return
    assert cost.total.value == pytest.approx(cost.per_month.value * months)
    dearer = edits.update(plan, plan.hosts[0].id, watts=100.0).replace(price_per_kwh=1.0)
    more = cost_of(dearer).total
    assert more is not None
    assert more.value > cost.total.value


def test_a_currency_is_one_of_iso_4217() -> None:
    with pytest.raises(UserError, match="ISO 4217"):
        assign(sample_plan("starter"), "currency=EURO")


def test_cost_for_each_terabyte_and_each_thousand_transactions(priced: Plan) -> None:
    cost = cost_of(priced)
    assert cost.total is not None
    assert cost.per_tb is not None
    assert cost.per_tb.value == pytest.approx(cost.total.value / (user_bytes(priced) / 1e12))
    assert cost.per_1000_tx is None, "nobody asked"
    each = cost.of_load(Quantity(20_000.0, 10_000.0, 25_000.0, "tx/s")).per_1000_tx
    assert each is not None
    assert each.value == pytest.approx(cost.total.value / 20)
    assert (each.low, each.high) == pytest.approx((cost.total.value / 25, cost.total.value / 10))
    unpriced = cost_of(sample_plan("starter"))
    assert unpriced.per_tb is None
    assert unpriced.of_load(Quantity.exact(1.0, "tx/s")).per_1000_tx is None
    more = set_parameter(priced, "data_node", "DataMemory", 2**33)
    assert user_bytes(more) == user_bytes(priced), "user data does not depend on the cluster"
