"""Redo control by the product's source: what it asks of checkpoints, and when the redo log is on alert."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ndbplan.base.row_types import Floats, Rows, record, rows
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.checkpoint_speed import redo_alerts
from ndbplan.plan.plan import Plan
from ndbplan.simulate.world.indices import Kind, Part, Since
from ndbplan.simulate.world.laws import Node, Run
from ndbplan.simulate.world.state import Cluster, NodeState

GB, MB = 1e9, 1e6
ALERTS = np.array(redo_alerts(constants_of(Plan())))


class Held:
    """A node of one log part whose checkpoints are asked about."""

    def __init__(self, law: Any) -> None:
        """`law`: the functions, as machine code or as plain Python."""
        self.law = law
        node, run = Node(), Run()
        node.lcp_headroom, node.recovery_work, node.insert_weight = 1.25, 0.6, 0.4
        node.log_bytes = GB
        run.delete_weight = 1.2
        self.run = record(run)
        self.nodes: Rows[Node] = rows(Node, 1)
        for name in Node.__annotations__:
            setattr(self.nodes[0], name, getattr(node, name))
        self.state: Rows[NodeState] = rows(NodeState, 1)
        self.state[0].memory_bytes = self.state[0].rows_bytes = 10 * GB
        self.parts: Floats = np.zeros((len(Part), 1, 1))
        self.changes: Floats = np.zeros((len(Since), len(Kind), 1))
        self.cluster: Cluster = record(Cluster())
        self.load = np.ones((1, 1))

    def speed(self, now_s: float = 100.0) -> float:
        """What is asked for so long after the changes began to count."""
        return float(
            self.law.proposed_speed(
                self.run,
                self.nodes,
                self.state,
                self.parts,
                self.changes,
                ALERTS,
                self.cluster,
                0,
                now_s,
                1.0,
            )
        )

    def alert(self, now_s: float = 100.0) -> int:
        """The level of its log."""
        return int(self.law.alert_of(self.nodes, self.load, self.parts, ALERTS, self.cluster, 0, now_s))


Hold = Callable[[], Held]


@pytest.fixture
def hold(kernel_module: Callable[[str], ModuleType]) -> Hold:
    """A new node, asked of the functions as machine code and as plain Python."""
    return partial(Held, kernel_module("redo_control"))


@pytest.mark.parametrize(
    ("updated", "new", "deleted", "factor"),
    [
        # Of few changes 1 + 1.05 w / RecoveryWork; inserts and deletes of as many rows are updates.
        (10 * MB, 0.0, 0.0, 1 + 1.05 / 0.6),
        (0.0, 10 * MB, 0.0, 1 + 1.05 * 0.4 / 0.6),
        (0.0, 0.0, 10 * MB, 1 + 1.05 * 1.2 / 0.6),
        (0.0, 5 * MB, 5 * MB, 0.5 * (1 + 1.05 * 0.5 / 0.6)),
    ],
)
def test_checkpoints_are_asked_to_keep_up(
    updated: float, new: float, deleted: float, factor: float, hold: Hold
) -> None:
    one = hold()
    one.state[0].updated_bytes, one.state[0].new_bytes, one.state[0].deleted_bytes = updated, new, deleted
    for kind, amount in ((Kind.UPDATED, updated), (Kind.NEW, new), (Kind.DELETED, deleted)):
        one.changes[Since.LAST, kind, 0] = amount
    # Whole parts of a fragment are counted, 1 of 2048 at least.
    assert one.speed() == pytest.approx(
        1.25 * 10 * MB * factor / 100.0, rel=0.2, abs=1.25 * 10 * GB / 2048 / 100
    )


def test_rows_that_change_twice_are_written_once(hold: Hold) -> None:
    once, often = hold(), hold()
    once.state[0].updated_bytes, often.state[0].updated_bytes = 10 * GB, 1000 * GB
    for one in (once, often):
        one.changes[Since.LAST, Kind.UPDATED, 0] = one.state[0].updated_bytes
    assert once.speed() < often.speed() <= 1.25 * 10 * GB / 100.0 * 1.001


def test_three_quarters_of_a_burst_count_and_nothing_in_the_first_seconds(hold: Hold) -> None:
    one = hold()
    one.state[0].new_bytes = 20 * MB
    assert one.speed(now_s=1.9) == 0.0
    one.changes[Since.LAST] = 0.0
    assert one.speed(now_s=1000.0) == pytest.approx(0.75 * 1.25 * 20 * MB * 1.7, rel=0.2)


def test_checkpoints_that_are_behind_are_asked_for_a_quarter_more_and_ahead_for_a_fifth_less(
    hold: Hold,
) -> None:
    asked = []
    for lag in (0.0, 1e15, -1e15):
        one = hold()
        one.state[0].new_bytes = one.changes[Since.LAST, Kind.NEW, 0] = GB
        one.state[0].lcp_lag_before_bytes = lag
        asked.append(one.speed())
    assert asked[1] / asked[0] == pytest.approx(1.25)
    assert asked[2] / asked[0] == pytest.approx(0.8)


@pytest.mark.parametrize(("used", "level"), [(0.2, 0), (0.3, 1), (0.5, 2), (0.7, 3)])
def test_alert_by_what_is_in_use(used: float, level: int, hold: Hold) -> None:
    one = hold()
    one.parts[Part.MADE] = used * GB
    assert one.alert() == level
    one.cluster.alert_level = level
    one.state[0].new_bytes = one.changes[Since.LAST, Kind.NEW, 0] = 2 * GB
    assert one.speed() == pytest.approx(asked_at_rest(hold) * (1.0, 1.1, 1.25, 1.5)[level])


def asked_at_rest(hold: Hold) -> float:
    """What is asked of the same changes without an alert."""
    one = hold()
    one.state[0].new_bytes = one.changes[Since.LAST, Kind.NEW, 0] = 2 * GB
    return one.speed()


def test_alert_before_the_log_is_full_where_the_rest_will_not_last(hold: Hold) -> None:
    one = hold()
    one.parts[Part.MADE], one.parts[Part.SPEED] = 0.1 * GB, 10 * MB
    assert one.alert(now_s=10.0) == 0
    one.cluster.lcp_lasted_s = 100.0
    assert one.alert(now_s=10.0) == 2
    one.cluster.lcp_lasted_s = 250.0
    assert one.alert(now_s=10.0) == 3


def test_a_long_checkpoint_is_hurried_until_the_end_of_the_next(hold: Hold) -> None:
    one = hold()
    one.cluster.lcp_lasted_s = 10.0
    for now, more in ((26.0, 0.0), (27.0, 0.1), (37.0, 0.2), (28.0, 0.2)):
        one.law.hurry(ALERTS, one.cluster, now)
        assert one.cluster.hurry == pytest.approx(more), now
    for more in (0.1, 0.0):
        one.law.count_from_its_begin(one.changes, one.state, one.cluster, 40.0)
        assert one.cluster.hurry == pytest.approx(more)


def test_changes_count_from_the_checkpoint_before_while_one_is_written(hold: Hold) -> None:
    one = hold()
    for now in (10.0, 20.0):
        one.changes[Since.LAST, Kind.NEW, 0] = now
        one.law.begin_counting(one.changes, one.cluster, now)
    assert one.changes[Since.CUT, Kind.NEW, 0] == 10.0
    assert (one.cluster.lcp_cut_s, one.cluster.lcp_began_s) == (10.0, 20.0)
    one.law.count_from_its_begin(one.changes, one.state, one.cluster, 25.0)
    assert one.changes[Since.CUT, Kind.NEW, 0] == 20.0
    assert (one.cluster.lcp_cut_s, one.cluster.lcp_lasted_s) == (20.0, 5.0)
