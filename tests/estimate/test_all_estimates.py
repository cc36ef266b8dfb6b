"""Laws that every estimate keeps, on plans of every version with any parameters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings

from drawn_loads import loaded_plans
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.configuration.needs import not_upgraded
from ndbplan.estimate.estimation import Estimation, parts
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.timed import backup, create_disk_data, restart, restore_backup
from ndbplan.estimate.times.restart import KINDS, Conditions
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.operations.roll_out import roll_out, upgrade
from ndbplan.plan.plan import Plan


def quantities(found: Any) -> Iterator[Quantity]:
    """Every Quantity inside a result."""
    if isinstance(found, Quantity):
        yield found
    elif isinstance(found, Plan):
        return
    elif dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            yield from quantities(getattr(found, field.name))
    elif isinstance(found, tuple | list):
        for one in found:
            yield from quantities(one)


def assert_sound(found: Any) -> None:
    for quantity in quantities(found):
        assert math.isfinite(quantity.low), quantity
        assert math.isfinite(quantity.high), quantity
        assert quantity.low <= quantity.value <= quantity.high
        assert quantity.low >= 0


@given(loaded_plans())
def test_every_part_of_any_plan_is_sound(plan: Plan) -> None:
    found = Estimation(plan, plan.workload("w"))
    for part in parts():
        assert_sound(getattr(found, part))
    shape = found.to_json(why=True)
    assert set(shape) == {"workload", *parts()}


@given(loaded_plans())
@settings(max_examples=12)
def test_operations_on_any_plan_are_sound(plan: Plan) -> None:
    busy = Conditions(workload=plan.workloads[0], sql_nodes_down=1)
    for kind in KINDS:
        for conditions in (Conditions(), busy):
            found = restart(plan, kind, conditions=conditions)
            assert_sound(found)
            whole = sum(phase.duration_s.value for phase in found.phases)
            assert math.isclose(whole, found.duration_s.value, rel_tol=1e-9)
    assert_sound(backup(plan, plan.workloads[0]))
    assert_sound(restore_backup(plan))
    assert_sound(create_disk_data(plan))
    later = (series for series in SERIES if NdbVersion.parse(series) > plan.version)
    for series in list(later)[:1]:
        if not list(not_upgraded(plan.version, NdbVersion.parse(series))):
            assert_sound(upgrade(Estimation(plan), series))
    assert_sound(roll_out(Estimation(plan), ("DataMemory",)))
    try:
        assert_sound(reorganise(plan, workload=plan.workloads[0]))
        steps = add_nodes(Estimation(plan))
    except UserError:
        assert plan.version < (7, 0)
        return
    assert_sound(steps)
    ends = [interval.end_s for interval in steps.timeline]
    assert ends == sorted(ends)
    assert math.isclose(ends[-1], steps.duration_s.value, rel_tol=1e-9)
