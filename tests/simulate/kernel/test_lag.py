"""A log part whose writing falls behind: when it refuses work, and when it takes it again."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ndbplan.base.row_types import Floats, Rows, record, rows
from ndbplan.simulate.kernel.lag import RUN_BYTES
from ndbplan.simulate.world.indices import Part
from ndbplan.simulate.world.laws import Node, Run
from ndbplan.simulate.world.state import Cluster

Functions = dict[str, Callable[..., Any]]
MIB = 2.0**20


@pytest.fixture
def lag(kernel_module: Callable[[str], ModuleType]) -> Functions:
    """The functions of lag, as machine code and as plain Python."""
    return vars(kernel_module("lag"))


@pytest.fixture
def nodes() -> Rows[Node]:
    """Two data nodes that may lag by 3 s, and refuse at once."""
    found = rows(Node, 2)
    for node in found:
        node.lag_limit_s, node.lag_looks = 3.0, 1.0
    return found


def _parts(fill: float, speed: float) -> Floats:
    """Two log parts on each of two nodes, alike."""
    found = np.zeros((len(Part), 2, 2))
    found[Part.FILL], found[Part.SPEED] = fill, speed
    return found


def _looked(lag: Functions, nodes: Rows[Node], parts: Floats, seconds: int = 1) -> Floats:
    run, cluster, wrote = record(Run()), record(Cluster()), np.full((8, 2, 2), -1.0)
    for _ in range(seconds):
        lag["look_at_lags"](run, nodes, parts, wrote, cluster)
    assert cluster.lag_slot == seconds % 8
    return parts[Part.LAGS]


def test_a_lag_counts_in_whole_seconds(lag: Functions, nodes: Rows[Node]) -> None:
    assert not _looked(lag, nodes, _parts(3.99 * MIB, MIB)).any()
    assert _looked(lag, nodes, _parts(4.0 * MIB, MIB)).all()


def test_a_limit_of_zero_seconds_is_none_and_each_node_has_its_own(lag: Functions, nodes: Rows[Node]) -> None:
    nodes[1].lag_limit_s = 0.0
    assert _looked(lag, nodes, _parts(9.0 * MIB, MIB)).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_two_runs_of_pages_are_no_backlog_however_slow_the_disk(lag: Functions, nodes: Rows[Node]) -> None:
    assert not _looked(lag, nodes, _parts(2.0 * RUN_BYTES, 1.0)).any()
    assert _looked(lag, nodes, _parts(2.0 * RUN_BYTES + 1, 1.0)).all()


def test_the_speed_is_that_of_the_last_seconds_with_a_backlog(lag: Functions, nodes: Rows[Node]) -> None:
    run, cluster, wrote = record(Run()), record(Cluster()), np.full((8, 2, 2), -1.0)
    parts = _parts(0.0, 0.0)

    def second(fill: float, speed: float) -> bool:
        parts[Part.FILL], parts[Part.SPEED] = fill, speed
        lag["look_at_lags"](run, nodes, parts, wrote, cluster)
        return bool(parts[Part.LAGS].all())

    assert not second(0.0, 50 * MIB), "an idle second says nothing of the speed"
    assert second(12 * MIB, MIB), "12 s at 1 MiB/s"
    assert not second(12 * MIB, 7 * MIB), "3 s at the mean of 1 and 7 MiB/s"
    assert [second(12 * MIB, MIB) for _ in range(7)] == [True] * 7, "4 s at 3 MiB/s, and slower"
    assert cluster.lag_slot == 2, "the ring of 8 seconds has come round"


def test_before_8_0_a_part_refuses_from_the_third_second_of_lag_on_until_one_without(
    lag: Functions, nodes: Rows[Node]
) -> None:
    """Seconds of C6 at 4 MB/s: 22, 23 and 23 s begin a refusal, 20 s end it, and the count begins anew."""
    run, cluster, wrote = record(Run()), record(Cluster()), np.full((8, 2, 2), -1.0)
    parts = _parts(0.0, MIB)
    for node in nodes:
        node.lag_limit_s, node.lag_looks = 20.0, 3.0

    def second(lag_s: float) -> bool:
        parts[Part.FILL] = lag_s * MIB
        lag["look_at_lags"](run, nodes, parts, wrote, cluster)
        assert np.ptp(parts[Part.LAGS]) == 0.0
        return bool(parts[Part.LAGS].all())

    assert [second(lag_s) for lag_s in (22, 20.9, 22, 22, 22, 21.1, 20.9)] == [
        False, False, False, False, True, True, False,
    ]  # fmt: skip
    assert [second(22) for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize(("seconds", "share"), [(2, 0.8674), (8, 0.9337), (32, 0.9669)])
def test_chance_counts_for_less_the_more_seconds_are_looked_back(
    lag: Functions, nodes: Rows[Node], seconds: int, share: float
) -> None:
    """512 runs a second: the mean of n seconds varies by 1 / sqrt(256 n); from a state of 0 chance is -3."""
    run, cluster, speed = record(Run()), record(Cluster()), 512.0 * RUN_BYTES
    run.lag_noise, run.replicas, cluster.has_backlog = 1.0, 1, True
    for near, lags in ((0.999, 0.0), (1.001, 1.0)):
        parts = _parts(4.0 * share * speed * near, speed)
        lag["look_at_lags"](run, nodes, parts, np.full((seconds, 2, 2), -1.0), cluster)
        assert parts[Part.LAGS, 0, 0] == lags


def test_the_lag_that_slows_checkpoints_down_is_by_the_speed_of_the_last_busy_seconds(lag: Functions) -> None:
    """As the data node itself reckons it; a last second that was quick does not end it [8.4.8, run A4]."""
    parts, wrote = _parts(8.0 * MIB, 8.0 * MIB), np.full((8, 2, 2), -1.0)
    wrote[:4], wrote[4] = 2.0 * MIB, 8.0 * MIB
    assert lag["lag_s"](parts, wrote, 0, 0) == 2.0
    parts[Part.FILL] = 2.0 * RUN_BYTES
    assert lag["lag_s"](parts, wrote, 0, 0) == 0.0
