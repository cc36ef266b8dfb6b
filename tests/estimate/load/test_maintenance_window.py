from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.estimate.load.maintenance_window import KeptOut, best_window, offered, window_at
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
    assert found.start_s == pytest.approx(43200 - 1800, abs=1)
    assert 0 < found.mean_per_s < found.highest_per_s


@pytest.mark.parametrize("length_s", [1e-5, 1.0, DAY, 1e9])
def test_a_schedule_of_any_length_has_its_quietest_part(length_s: float) -> None:
    # A piece as short as the rounding of such a length is none.
    points = (
        (0.0, 500.0),
        (length_s / 2, 100.0),
        (length_s * 0.75, 900.0),
        (length_s * (0.75 + 1e-12), 200.0),
    )
    found = best_window(workload(*points, repeat_s=length_s), length_s / 2)
    assert found is not None
    assert (found.start_s, found.highest_per_s) == (length_s / 2, 200.0)
    assert found.mean_per_s == pytest.approx(150.0)


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


LOADS = st.lists(st.tuples(st.floats(0, DAY - 1), st.floats(0, 1e4)), min_size=1, max_size=6)


@given(
    LOADS, st.floats(60, 1.5 * DAY), st.sampled_from(["step", "linear"]), st.sampled_from([0.0, DAY]),
    st.lists(st.floats(0, 1), min_size=12, max_size=12),
    st.lists(st.tuples(st.floats(0, DAY), st.floats(60, DAY / 3)), max_size=2),
)  # fmt: skip
def test_no_other_start_has_less_load(
    points: list[tuple[float, float]],
    duration_s: float,
    shape: str,
    repeat_s: float,
    others: list[float],
    stretches: list[tuple[float, float]],
) -> None:
    load = workload(*points, shape=shape, repeat_s=repeat_s)
    kept_out = [KeptOut(begin, begin + length, "backup") for begin, length in stretches]
    best, schedule = best_window(load, duration_s, kept_out), offered(load)
    assert best is not None
    assert schedule is not None
    for share in others:
        other = window_at(load, duration_s, share * schedule.length_s, kept_out)
        assert other is not None
        if other.keeps_clear >= best.keeps_clear:
            assert other.keeps_clear == best.keeps_clear
            assert best.highest_per_s <= other.highest_per_s + 1e-3 * max(1.0, other.highest_per_s)
            if best.highest_per_s >= other.highest_per_s - 1e-9:
                assert best.mean_per_s <= other.mean_per_s + 1e-3 * max(1.0, other.mean_per_s)


@given(LOADS, st.floats(60, 2.5 * DAY), st.floats(0, 1), st.sampled_from(["step", "linear"]))
def test_a_stretch_is_what_many_moments_in_it_say(
    points: list[tuple[float, float]], duration_s: float, share: float, shape: str
) -> None:
    """By adding up slices of it."""
    load = workload(*points, shape=shape)
    window = window_at(load, duration_s, share * DAY)
    assert window is not None
    slices, each_s = 7, duration_s / 7
    parts = [window_at(load, each_s, window.start_s + i * each_s) for i in range(slices)]
    means = [one.mean_per_s for one in parts if one is not None]
    assert sum(means) / slices == pytest.approx(window.mean_per_s, rel=1e-6, abs=1e-3)
    highest = max(one.highest_per_s for one in parts if one is not None)
    assert highest == pytest.approx(window.highest_per_s, rel=1e-6, abs=1e-3)


def test_what_is_to_be_kept_out_of_moves_the_window() -> None:
    backup = KeptOut(7200, 9000, "backup")
    found = best_window(CURVE, 3600, [backup])
    assert found is not None
    assert (found.start_s, found.keeps_clear) == (9000, True)
    nowhere = best_window(CURVE, 3600, [KeptOut(0, DAY, "all day")])
    assert nowhere is not None
    assert (nowhere.start_s, nowhere.keeps_clear) == (7200, False)
    night = best_window(CURVE, 3600, [KeptOut(82800, 93600, "backup past midnight")])
    assert night is not None
    assert night.start_s == 7200
    # What lasts for a whole round keeps out of nothing, wherever it begins.
    for rounds, lasts_s in ((False, DAY - 1801), (True, DAY), (True, 1.5 * DAY)):
        found = best_window(CURVE, lasts_s, [KeptOut(7200, 9000, "backup")])
        assert found is not None
        assert found.keeps_clear is not rounds
    assert not window_at(CURVE, 3600, 3600.0, [KeptOut(82800, 93600, "backup past midnight")]).keeps_clear


def test_stretches_above_a_rate_and_the_curve() -> None:
    ramp = workload((0, 0), (100, 1000), (200, 0), shape="linear", repeat_s=300)
    schedule = offered(ramp)
    assert schedule is not None
    assert schedule.above(500) == [(50.0, 150.0)]
    assert schedule.above(1000) == []
    assert offered(CURVE).above(800) == [(18000.0, 79200.0)]
    assert schedule.curve()[0] == (0.0, 0.0)
    assert schedule.curve()[-1] == (300.0, 0.0)


def test_a_long_schedule_is_searched_at_once() -> None:
    points = [(float(i), float((i * 7919) % 1000)) for i in range(50_000)]
    found = best_window(workload(*points, shape="linear", repeat_s=50_000), 600)
    assert found is not None
    assert found.highest_per_s <= 1000


def test_a_gap_is_long_enough_for_what_is_exactly_as_long() -> None:
    """The sum of begin and length is a rounding error larger than the end of the gap."""
    begin, length, end = 1017.8, 4918.6, 5936.4
    assert begin + length > end
    kept_out = [KeptOut(0, begin, "backup"), KeptOut(end, DAY, "load")]
    found = best_window(CURVE, length, kept_out)
    assert found is not None
    assert (found.start_s, found.keeps_clear) == (pytest.approx(begin), True)
    longer = best_window(CURVE, length + 0.1, kept_out)
    assert longer is not None
    assert not longer.keeps_clear
