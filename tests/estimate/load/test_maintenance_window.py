from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.estimate.load.maintenance_window import best_window
from ndbplan.plan.workloads import (
    ClosedLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)

DAY = 86400.0


def workload(*points: tuple[float, float], shape: str = "step", repeat_s: float = DAY) -> Workload:
    read = Transaction(name="t", operations=(Operation(table_id="t", kind=OperationKind.READ),))
    load = OpenLoad(
        points=tuple(RatePoint(at_s=t, rate_per_s=r) for t, r in points), shape=shape, repeat_s=repeat_s
    )
    return Workload(id="w", name="w", transactions=(read,), load=load)


CURVE = workload((0, 500), (7200, 100), (18000, 900), (64800, 2000), (79200, 700))


def test_the_quietest_hours_are_found() -> None:
    found = best_window(CURVE, 3600)
    assert found is not None
    assert found.start_s == 7200
    assert found.highest_per_s == found.mean_per_s == 100
    assert found.peak_per_s == 2000
    assert found.quiet == 0.05


def test_a_long_change_takes_the_least_of_what_there_is() -> None:
    found = best_window(CURVE, 5 * 3600)
    assert found is not None
    assert found.highest_per_s == 500
    assert found.start_s + found.duration_s <= 18000 or found.start_s >= 79200


def test_a_window_may_pass_midnight() -> None:
    found = best_window(workload((0, 100), (3600, 900), (82800, 100)), 7200)
    assert found is not None
    assert found.start_s == 82800
    assert found.highest_per_s == 100


def test_lines_between_points_are_followed() -> None:
    found = best_window(workload((0, 1000), (43200, 0), (86399, 1000), shape="linear"), 3600)
    assert found is not None
    assert found.start_s == pytest.approx(43200 - 1800, abs=300)
    assert 0 < found.mean_per_s < found.highest_per_s


def test_a_closed_load_has_no_schedule() -> None:
    closed = ClosedLoad(clients=4, latency_s=0.01)
    assert best_window(CURVE.model_copy(update={"load": closed}), 60) is None


@given(
    st.lists(st.tuples(st.floats(0, DAY - 1), st.floats(0, 1e4)), min_size=1, max_size=6),
    st.floats(1, DAY),
    st.sampled_from(["step", "linear"]),
    st.sampled_from([0.0, DAY]),
)
def test_mean_highest_and_peak_are_in_order(
    points: list[tuple[float, float]], duration_s: float, shape: str, repeat_s: float
) -> None:
    found = best_window(workload(*points, shape=shape, repeat_s=repeat_s), duration_s)
    assert found is not None
    assert found.mean_per_s <= found.highest_per_s + 1e-3
    assert found.highest_per_s <= found.peak_per_s + 1e-3
