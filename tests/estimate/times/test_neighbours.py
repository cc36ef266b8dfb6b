"""Plans that differ in one thing: more rows take no less time, quicker disks no more, ends of ranges too."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawn_loads import tables
from drawn_plans import plans
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.edits import parts as edits
from ndbplan.estimate.grown import ReorganiseError, reorganise
from ndbplan.estimate.timed import backup, restart
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table

_SAME = 1e-9
_ROWS = 1_000_000
_OPERATIONS: tuple[Callable[[Plan], Quantity], ...] = (
    lambda plan: restart(plan, "node").duration_s,
    lambda plan: restart(plan, "initial").duration_s,
    lambda plan: restart(plan, "system").duration_s,
    lambda plan: backup(plan).duration_s,
    lambda plan: reorganise(plan).duration_s,
)


def _twice_as_fast(plan: Plan) -> Plan:
    for disk in [disk for host in plan.hosts for disk in host.disks]:
        names = ("sequential_write_bytes_per_s", "sequential_read_bytes_per_s")
        plan = edits.update(plan, disk.id, **{name: 2 * getattr(disk, name) for name in names})
    return plan


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(plans(), tables(), st.integers(1, 10))
def test_more_rows_take_no_less_time_and_quicker_disks_no_more(plan: Plan, table: Table, times: int) -> None:
    held = table.model_copy(update={"rows": 1000 + table.rows % _ROWS})
    more = held.model_copy(update={"rows": held.rows * (1 + times)})
    plan = plan.replace(tables=(held,), workloads=())
    with keeping():
        for operation in _OPERATIONS:
            try:
                now = operation(plan)
                larger = operation(plan.replace(tables=(more,)))
                faster = operation(_twice_as_fast(plan))
            except ReorganiseError:
                continue
            # Disks unlike any that were measured are less certain both ways, so of them the middle is held.
            assert faster.value * (1 - _SAME) <= now.value
            for end in ("low", "value", "high"):
                here, most = (getattr(one, end) for one in (now, larger))
                assert here <= most * (1 + _SAME), end
