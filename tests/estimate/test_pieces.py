"""Formulas by themselves, with numbers that can be checked by hand: what no result of a plan pins down."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.settings import node_settings
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint import _full
from ndbplan.estimate.load.checkpoint_speed import SpeedLimits, redo_alerts
from ndbplan.estimate.load.key_choice import HotKey, _worst_place, hot_key
from ndbplan.estimate.load.partial_checkpoint import (
    Change,
    _piled_up,
    _settle,
    partial_checkpoint,
    partial_fraction,
    whole_parts,
)
from ndbplan.estimate.load.redo_control import Reckoned
from ndbplan.estimate.space.file_sizes import _specified, _stated_files
from ndbplan.estimate.space.growth import _crossing, _months
from ndbplan.estimate.storage.node_data import _SUMMED, _node_data
from ndbplan.estimate.storage.redistribution import _as_dense
from ndbplan.estimate.storage.rows import unique_tables
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import SpaceFile

PLAN = sample_plan("starter").replace(ndb_version="8.4")
SETTINGS, CONSTANTS = node_settings(PLAN), constants_of(PLAN)
LIMITS = SpeedLimits(10e6, 20e6, 50e6, 200e6, redo_control=True, highest=20e6, raised=200e6, followed=400e6)


def _all_at(speed: float) -> SpeedLimits:
    return SpeedLimits(speed, speed, speed, speed, redo_control=True, highest=speed, raised=speed)


def held(rows: float, checkpoint_bytes: float) -> Any:
    """Of a node, or of one table on it."""
    return SimpleNamespace(
        rows=rows, checkpoint_bytes=checkpoint_bytes, in_turn=2.0, fragments=4.0, tables=()
    )


def _reckoned(**more: Any) -> Reckoned:
    """A gigabyte of memory, RecoveryWork 60, InsertRecoveryWork 40; a deleted row counts 1.2 times."""
    stated = {
        "held": 1e9, "updated": 1e6, "new": 0.0, "deleted": 0.0, "insert_weight": 0.4, "delete_weight": 1.2,
        "recovery_work": 0.6, "headroom": 1.25, "log_bytes_per_s": 0.0, "log_fills_per_s": 0.0,
        "alerts": redo_alerts(CONSTANTS), "gcp_s": 2.0, "steps_up": 12.0,
    }  # fmt: skip
    return Reckoned(**{**stated, **more})


def test_redo_control_asks_for_what_a_checkpoint_of_the_changes_would_write() -> None:
    """Changes of 13 s: from the begin of the checkpoint before to half of one that takes 6 s of 10."""
    changed = 1e9 * (1 - math.exp(-0.013))
    k = 1.05 * changed / 1e9
    f = whole_parts(k / (k + 0.6))
    rate = (1e9 * f + changed * (1 - f)) / 13
    # What was reckoned in 10 s and in 4 + 3 s until now, less one and a half checkpoints of 6 s.
    behind = rate * 10 + rate * (4 + 3)
    level = (1.25 * rate + behind / 13) / (1 + 1.5 * 6 / 13)
    assert _reckoned().asked(6.0, 10.0) == pytest.approx(level)
    assert 1.25 * rate < level < 1.25 * 1.25 * rate
    # No faster than by a quarter for what is behind.
    assert _reckoned().asked(1.0, 10.0) < 1.25 * 1.25 * 1.1 * rate
    assert _reckoned(updated=0.0).asked(6.0, 10.0) == 0.0


def test_redo_control_asks_for_a_part_of_large_tables_at_least() -> None:
    """However little changes: three quarters of one part and of a second's changes, a second."""
    asked = _reckoned(held=100e9).asked(4.0, 10.0)
    second = 100e9 * whole_parts(1.05e-5 / (1.05e-5 + 0.6)) + 1e6
    assert 1.25 * 0.75 * second < asked <= 1.25 * 1.25 * 0.75 * second
    assert second == pytest.approx(100e9 / 2048, rel=0.05)


def test_a_checkpoint_is_as_fast_as_redo_control_asks_within_limits() -> None:
    slow = replace(LIMITS, redo_control=False)
    for asks, speed in ((_reckoned(updated=1e4, held=1e7), 20e6), (_reckoned(updated=1e9, held=1e12), 400e6)):
        assert asks.speed(LIMITS, 4.0, 10.0) == speed
        assert asks.speed(slow, 4.0, 10.0) == 20e6
    # What a node reckons counts for nothing but its limits.
    some = _reckoned(updated=20e6, held=1e10)
    assert some.speed(LIMITS, 4.0, 10.0) == pytest.approx(some.asked(4.0, 10.0))


def test_the_second_of_a_global_checkpoint_and_a_full_log_make_checkpoints_faster() -> None:
    """A part that writes 1 MB a second keeps half of 256 KiB until then; the speed rises in twelve steps."""
    calm, bursts = _reckoned(updated=20e6, held=1e10), _reckoned(updated=20e6, held=1e10, log_bytes_per_s=1e6)
    base = calm.speed(LIMITS, 4.0, 10.0)
    risen = min(base * 1.131072, base + (base * 1.131072 - 10e6) / 12)
    assert bursts.speed(LIMITS, 4.0, 10.0) == pytest.approx((base + risen) / 2)
    # A quarter of the log is written in 12 s: half of the checkpoint is written at a low alert, in a hurry.
    alert = _reckoned(updated=20e6, held=1e10, log_fills_per_s=0.25 / 12)
    assert alert._alerts(4.0, 10.0) == pytest.approx((0.5, 0.5, 0.0, 0.0))
    assert base < alert.speed(LIMITS, 4.0, 10.0) < 1.1 * 1.1 * base


def test_a_partial_checkpoint_takes_as_long_as_it_writes_at_its_speed() -> None:
    """Also where the speed depends on how long it takes."""
    data = held(1e7, 1e10)
    changes = [Change(data, 0.0, 1000.0, 0.0)]

    def faster(limits: SpeedLimits, lasts_s: float, every_s: float) -> float:
        return limits.ceiling + 1e5 * lasts_s

    for speed_at in (faster, lambda limits, *_: limits.ceiling):
        size, speed, lasts = partial_checkpoint(SETTINGS, CONSTANTS, data, changes, LIMITS, 0.0, speed_at)
        assert speed.value == speed_at(LIMITS, lasts.value, 0.0)
        assert (speed.low, speed.high) == (10e6, 200e6)
        assert size.value == pytest.approx(speed.value * lasts.value, rel=2e-3)


def test_a_partial_checkpoint_writes_changes_and_a_share_in_full() -> None:
    """Half of a node's bytes in one table: 100 s with 1000 updates, 100 inserts and 50 deletes a second."""
    changes = [Change(held(1e6, 1e9), 100.0, 1000.0, 50.0), Change(held(0.0, 0.0), 100.0, 0.0, 0.0)]
    updated = 1e6 * (1 - math.exp(-0.1))
    change = (updated + (0.4 * 100 + 1.2 * 50) * 100) / 1e6
    in_full = whole_parts(1.125 * change / (1.125 * change + 0.6))
    expected = 1e9 * in_full + 1000 * (updated + 100 * 100) * (1 - in_full)
    found = _piled_up(100.0, changes, held(2e6, 2e9), 0.6, 0.4, 1.2)
    assert found.written == pytest.approx(expected, rel=1e-12)
    # Until its turn comes a fragment grows by 50 rows a second; of those inserted the other parts hold some.
    assert found[1:] == pytest.approx((1000 * 50 * in_full, 1000 * 100 * (1 - in_full)))
    # Of half of the rows as many changes are a larger share.
    assert _piled_up(100.0, changes, held(2e6, 2e9), 0.6, 0.4, 1.2, 0.0, 0.5).written < found.written
    assert partial_fraction(-0.1, 0.5, 0.6) == 0.0
    # More is deleted than there is: all is written. One row is a table too.
    gone, one = [Change(held(1e3, 1e6), 0.0, 0.0, 50.0)], [Change(held(1.0, 1e3), 0.0, 0.0, 0.005)]
    assert _piled_up(100.0, gone, held(1e3, 1e6), 0.6, 0.4, 1.2).written == 1e6
    touched = 1 - math.exp(-0.5 / 4)
    in_full = whole_parts(0.75 / 1.35, touched)
    assert _piled_up(100.0, one, held(1.0, 1e3), 0.6, 0.4, 1.2).written == pytest.approx(1e3 * in_full)
    assert _piled_up(100.0, gone, held(0.0, 0.0), 0.6, 0.4, 1.2).written == 1e6
    # No more rows were inserted than there are.
    filled = [Change(held(1e3, 1e6), 100.0, 0.0, 0.0)]
    in_full = whole_parts(1.25 * 0.4 / (1.25 * 0.4 + 0.6))
    assert _piled_up(100.0, filled, held(1e3, 1e6), 0.6, 0.4, 1.2)[1] == pytest.approx(1e5 * in_full)


@pytest.mark.parametrize(
    ("bytes_after", "speed", "limit", "seconds"),
    [
        (lambda t: 100 + 5 * t, 10.0, 1000.0, 20.0),
        (lambda t: 100 + 5 * t, 10.0, 10.0, 10.0),
        (lambda t: 100 + 5 * t, 10.0, 20.0, 20.0),
        (lambda t: 100 + 5 * t, 1000.0, 1000.0, 100 / 995),
        (lambda t: 1000 * (1 - math.exp(-t / 50)), 10.0, 1000.0, 79.6812),
        (lambda t: 1 + t**2 / 1000, 1.0, 900.0, 1.001),
    ],
)
def test_a_checkpoint_lasts_until_it_has_written_what_changed(
    bytes_after: Callable[[float], float], speed: float, limit: float, seconds: float
) -> None:
    assert _settle(lambda _: speed, bytes_after, limit) == pytest.approx(seconds, rel=2e-3)


def test_a_full_checkpoint_writes_its_rows_and_some_that_come_meanwhile() -> None:
    data: Any = held(1e7, 1e10)

    def found(
        inserted: float | None, limits: SpeedLimits = LIMITS, room: float = 1e15
    ) -> tuple[Quantity, Quantity, Quantity]:
        load: Any = None if inserted is None else SimpleNamespace(inserted_checkpoint_bytes_per_s=inserted)
        return _full(CONSTANTS, data, load, limits, 0.5, room, beside)

    beside = Quantity.exact(0.0, "bytes")
    size, speed, duration = found(10e6)
    # Two fragments in turn, each as large as it is then: the second has grown for a half of the time.
    off = CONSTANTS["lcp_bytes_drawn"]
    fast, slow = 5e9 * (1 + 5e6 / 20e6 / 4), 5e9 * (1 + 5e6 / 10e6 / 4)
    assert (size.value, duration.value) == pytest.approx((fast, fast / 20e6))
    assert duration.low <= fast / 20e6 * off.low * 1.001
    assert duration.high >= slow / 10e6
    assert (speed.value, speed.low, speed.high) == (20e6, 10e6, 20e6)
    assert size.low < fast < slow <= size.high
    assert [term.value for term in duration.why[:3]] == [5e9, 0.0, 10e6]
    assert found(None)[2].value == pytest.approx(250.0)
    assert found(None)[2].why[2].value == 0
    assert found(1e9)[2].value == pytest.approx(250.0 * (1 + 5e8 / 20e6 / 4))
    assert found(1e9, _all_at(0))[2].value == 0
    assert found(1e9, room=6e9)[0].high == 6e9
    assert found(1e9, room=6e9)[2].value == pytest.approx(300.0)
    beside = Quantity.exact(2e7, "bytes")
    assert found(None)[2].value == pytest.approx(251.0)
    assert found(1e9, room=6e9)[2].value == pytest.approx(301.0)


def test_the_hottest_of_few_values() -> None:
    assert hot_key(1, 1.0) == HotKey(1.0, 0.0, 1.0)
    assert hot_key(0, 1.0) == HotKey(1.0, 0.0, 1.0)
    assert hot_key(10, 0.0) == HotKey(0.1, 0.0, 10.0)
    assert hot_key(2, 1.0) == pytest.approx((2 / 3, 1 / 3, 2.0))
    # 36/49, 9/49 and 4/49 of the accesses.
    more = (36 / 49 - 1 / 3) / (2 / 3)
    squares = (36 / 49 - more) ** 2 + (9 / 49) ** 2 + (4 / 49) ** 2
    assert hot_key(3, 2.0) == pytest.approx((36 / 49, more, (1 - more) ** 2 / squares))


@pytest.mark.parametrize(
    ("even", "more", "second", "first"),
    [
        ([0.5, 0.3, 0.2], 0.5, [0, 1, 1], 0),
        ([0.3, 0.5, 0.2], 0.0, [1, 0, 1], 1),
        # Not in the fullest place of the second kind: 1.2 and 1.13 times as full beat 1.3 and 0.87.
        ([0.4, 0.35, 0.25], 0.2, [0, 1, 1], 1),
    ],
)
def test_where_a_hot_key_does_most_harm(
    even: list[float], more: float, second: list[int], first: int
) -> None:
    places = [np.arange(3), np.array(second)]
    assert _worst_place(np.array(even), more, places) == first


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(0, 9), st.data())
def test_the_worst_place_of_a_hot_key_is_that_of_a_search(
    weights: list[int], tenths: int, data: st.DataObject
) -> None:
    """Every partition tried: the fullest place of each kind with the key in it, against without."""
    count, more = len(weights), tenths / 10
    kinds = [list(range(count))]
    kinds += [data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)) for _ in range(2)]
    even = [weight / sum(weights) for weight in weights]

    def lifts(partition: int) -> tuple[float, float]:
        worst, shares = math.inf, 0.0
        for kind in kinds:
            fills = [
                sum(e for e, place in zip(even, kind, strict=True) if place == one)
                for one in range(count + 3)
            ]
            with_key = [(1 - more) * fill + more * (kind[partition] == one) for one, fill in enumerate(fills)]
            worst = min(worst, max(with_key) / max(fills))
            shares += fills[kind[partition]] / max(fills)
        return worst, shares

    chosen = _worst_place(np.array(even), more, [np.array(kind) for kind in kinds])
    assert lifts(chosen) == pytest.approx(max(map(lifts, range(count))), rel=1e-9)


@pytest.mark.parametrize(
    ("share", "looks"),
    [(lambda m: 0.5 + m / 10, 5), (lambda m: (m / 5) ** 3, 15), (lambda m: (m / 5) ** 0.2, 12)],
)
def test_the_month_in_which_a_share_crosses(share: Callable[[float], float], looks: int) -> None:
    """Each look works a plan's space out: a straight line takes few of them, a curve no more than halving."""
    asked: list[float] = []

    def counted(month: float) -> float:
        asked.append(month)
        return share(month)

    assert _crossing(counted, 100.0) == pytest.approx(5.025, abs=0.0251)
    assert len(asked) <= looks
    assert _crossing(share, 5.0) is None
    assert _crossing(share, 5.01) == pytest.approx(5.01, abs=0.05)
    assert _crossing(lambda m: 1.001 + m, 5.0) == 0.0
    just, soon = _crossing(lambda m: 1.0 + m, 5.0), _crossing(lambda m: 0.98 + m, 5.0)
    assert just is not None
    assert 0.0 < just <= 0.05
    assert soon == pytest.approx(0.045, abs=0.0251)


def test_months_have_the_ends_of_what_fills() -> None:
    def share(month: float, reach: Callable[[Quantity], float]) -> float:
        return reach(Quantity(month / 10, month / 12.5, month / 8, "fraction"))

    found = _months(share, 11.0, ())
    assert found is not None
    assert [found.value, found.low, found.high] == pytest.approx([10.0, 8.0, 11.0], abs=0.05)
    assert _months(share, 10.0, ()) is None


def test_sizes_of_files_that_are_stated() -> None:
    undo = (SpaceFile(name="u", size_bytes=100, count=3), SpaceFile(name="v", size_bytes=10, count=2))
    assert [one.bytes.value for one in _stated_files(DiskRole.UNDO, "lg", undo, None)] == [320]
    files = (
        SpaceFile(name="d", size_bytes=7, count=4),
        SpaceFile(name="e", size_bytes=2, count=3, directory="/more"),
    )
    found = _stated_files(DiskRole.DATA_FILES, "ts", files, "/disk")
    assert [(one.directory, one.bytes.value) for one in found] == [("/disk", 28), ("/more", 6)]
    text = "name=lg_1; undo_buffer_size=64M; undo1.log:1M; undo2.log:2M"
    settings = node_settings(set_parameter(PLAN, "data_node", "InitialLogfileGroup", text))
    assert _specified(settings, "InitialLogfileGroup", set()).value == 3 * 2**20
    assert _specified(settings, "InitialLogfileGroup", {"lg_1"}).value == 0
    assert _specified(SETTINGS, "InitialLogfileGroup", set()).value == 0


@pytest.mark.parametrize(
    ("key", "fixed_words", "variable_words"),
    [
        ("k INT", 0, 0),
        ("k BIGINT", 1, 0),
        ("k CHAR(9)", 2, 0),
        ("k VARCHAR(9)", 0, 5),
        ("k VARBINARY(30)", 0, 7),
    ],
)
def test_a_unique_index_holds_the_primary_key_in_whole_words(
    key: str, fixed_words: int, variable_words: int
) -> None:
    """Against INT: its fragment's number and the key as one column, of variable length where the key is."""

    def layout(column: str) -> Any:
        text = f"CREATE TABLE d.t ({column} PRIMARY KEY, u INT NOT NULL UNIQUE) ENGINE=NDB CHARSET=latin1;"
        return unique_tables(read_ddl(text, PLAN.version).tables[0], PLAN.version)[0].layout

    found, of_int = layout(key), layout("k INT")
    assert found.fixed_words - of_int.fixed_words == fixed_words
    assert found.variable_words - of_int.variable_words == variable_words


def test_pages_of_more_rows_are_as_full_as_those_there_are() -> None:
    before: Any = SimpleNamespace(
        rows=np.array([600, 400]), counted_variable_bytes=(6 * PAGE_BYTES, 4 * PAGE_BYTES)
    )
    pages = [size // PAGE_BYTES for size in _as_dense(before, np.array([0, 1, 100, 101]))]
    assert pages == [0, 1, 1, 2]
    before.counted_variable_bytes = (0, 0)
    assert _as_dense(before, np.array([100])) == ()


def test_the_fullest_ldm_thread_against_its_middle() -> None:
    for fullest, against in (([0.0, 0.0, 0.0], (1.0, 1.0)), ([2.0, 1.0, 6.0], (0.5, 3.0))):
        data = _node_data(1, (), [0.0] * len(_SUMMED) + fullest)
        assert (data.fullest_low, data.fullest_high) == against


def test_the_slowest_of_what_a_reorganisation_needs_decides() -> None:
    (found,) = Estimation(sample_plan("add-nodes-8.4")).reorganise().tables[:1]
    times = {t.term.removeprefix("time by "): t.value for t in found.duration_s.why if "time by" in t.term}
    decides = next(t for t in found.duration_s.why if t.term.startswith("limited by: "))
    assert len(times) > 3
    assert decides.value == max(times.values()) > min(times.values())
    assert times[decides.term.removeprefix("limited by: ")] == decides.value
