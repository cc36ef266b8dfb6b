"""Timelines: one colour is one phase in every lane, and every phase is named in its block or beside."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QScrollArea
from pytestqt.qtbot import QtBot

from ndbplan.base.quantity import Quantity
from ndbplan.desktop.analyses import time_axis
from ndbplan.desktop.analyses.lane_words import LEAST_PX
from ndbplan.desktop.analyses.lanes import PHASES, Block, Lane
from ndbplan.desktop.analyses.timeline import NAME_WIDTH, Timeline
from ndbplan.desktop.look import theme
from ndbplan.estimate.timed import restart
from ndbplan.plan.samples import sample_names, sample_plan


def _seconds(value: float, low: float | None = None, high: float | None = None) -> Quantity:
    return Quantity(value, value if low is None else low, value if high is None else high, "s", ())


def _lane(name: str, *phases: tuple[str, float]) -> Lane:
    total = sum(seconds for _, seconds in phases)
    return Lane(
        name, _seconds(total, 0.5 * total, 1.2 * total), tuple(Block(n, _seconds(s)) for n, s in phases)
    )


def test_a_phase_has_one_colour_whatever_else_is_shown(qtbot: QtBot) -> None:
    view = Timeline("Restarts")
    qtbot.addWidget(view)
    one = _lane("Node restart", ("execute redo log", 5), ("copy fragments", 50))
    other = _lane("First start", ("create redo log files", 9), ("copy fragments", 1), ("something new", 3))
    view.show_lanes([one])
    alone = view.colour_of("copy fragments")
    view.show_lanes([other, one])
    assert view.colour_of("copy fragments") == alone
    names = {block.name for lane in (one, other) for block in lane.blocks}
    assert len({view.colour_of(name) for name in names}) == len(names)


def test_phases_of_the_engine_have_their_colours_reserved() -> None:
    found = set()
    for name in sample_names():
        if name != "telecom-144":
            found |= {phase.name for phase in restart(sample_plan(name), "node").phases}
    long = {"execute redo log", "copy fragments", "restore from local checkpoint", "rebuild ordered indexes"}
    assert long <= found & set(PHASES)


def test_what_does_not_fit_into_its_block_is_painted_beside_it(qtbot: QtBot) -> None:
    view = Timeline("Restarts")
    qtbot.addWidget(view)
    view.resize(900, 120)
    view.show()
    view.show_lanes([_lane("Long", ("a very long operation", 1000)), _lane("Short", ("execute redo log", 3))])
    named = view.grab().toImage()
    view.show_lanes([_lane("Long", ("a very long operation", 1000)), _lane("Short", ("execute undo log", 3))])
    other = view.grab().toImage()
    beside = [(x, y) for x in range(140, named.width()) for y in range(45, 70)]
    assert any(named.pixel(x, y) != other.pixel(x, y) for x, y in beside)


def test_the_range_of_an_operation_is_drawn_to_scale(qtbot: QtBot) -> None:
    view = Timeline("Restarts")
    qtbot.addWidget(view)
    view.resize(900, 120)
    lane = _lane("Node restart", ("execute redo log", 100))
    view.show_lanes([lane])
    assert (
        view._x_of(0, lane.duration_s.low) < view._x_of(0, 100.0) < view._x_of(0, lane.duration_s.high) <= 900
    )


def test_beside_an_operation_that_is_far_longer_the_others_keep_their_width(qtbot: QtBot) -> None:
    view = Timeline("Operations")
    qtbot.addWidget(view)
    view.resize(1000, 200)
    short = [_lane(f"Short {n}", ("stop", 100.0 + n), ("copy fragments", 200.0)) for n in range(3)]
    rounds = [(f"node {n}", 400.0) for n in range(100)]
    view.show_lanes([*short, _lane("Rolling restart", *rounds)])
    assert view.scale().width * 200.0 / view.scale().span_s == pytest.approx(view._box(0, 1).width() + 1)
    assert view._box(0, 1).width() > 400
    ends = view.scale().left + view.scale().width
    first, last = (view._box(3, n) for n in (0, 99))
    assert first.left() < last.left() < last.right() < ends
    assert view.shorter(3) == pytest.approx(40_000 / view.scale().span_s, rel=0.5)
    assert [view.shorter(n) for n in range(3)] == [1, 1, 1]
    assert view._at(last.center().toPoint()) == (3, 99)
    assert "times as short" in view.tip((3, -1))
    assert "times as short" not in view.tip((0, -1))


def test_most_of_the_lanes_share_the_axis(qtbot: QtBot) -> None:
    view = Timeline("Operations")
    qtbot.addWidget(view)
    lengths = (900.0, 800.0, 40.0, 30.0)
    view.show_lanes([_lane(f"{s}", ("stop", s)) for s in lengths])
    assert {view.shorter(n) for n in range(4)} == {1}


def test_names_that_find_no_room_in_a_long_lane_stand_below_it(qtbot: QtBot) -> None:
    view = Timeline("Operations")
    qtbot.addWidget(view)
    steps = [("Restart data node 1 and wait for it", 130.0), ("REORGANIZE shop.a", 120.0), ("last", 700.0)]
    view.show_lanes([_lane("Add groups", *steps), _lane("Backup", ("backup", 400.0))])
    view.show()
    view.resize(700, 100)
    bare = view._box(0, 0)
    assert bare.width() < 100
    row, after = view._laid_out()[:2]
    assert ([n for n, _ in row.words.below], row.words.inside) == ([0, 1], (2,))
    assert all(bare.left() <= x < 700 for _, x in row.words.below)
    assert view._at(view._box(1, 0).center().toPoint()) == (1, 0)
    # It grows by the line, and loses it again where there is room beside.
    below, height = after.top - row.top, view.height()
    view.resize(1900, height)
    row, after = view._laid_out()[:2]
    assert row.words.below == ()
    assert height - view.height() == below - (after.top - row.top) > 0


@pytest.mark.parametrize("width", [560, 700, 1100])
def test_every_step_that_is_wide_enough_is_named_whole(qtbot: QtBot, width: int) -> None:
    view = Timeline("Operations")
    qtbot.addWidget(view)
    found = [(kind, restart(sample_plan("starter"), kind)) for kind in ("node", "initial", "system")]
    lanes = [_lane(kind, *((p.name, p.duration_s.value) for p in one.phases)) for kind, one in found]
    view.show_lanes(lanes)
    view.show()
    view.resize(width, view.height())
    metrics = QFontMetricsF(theme.font(11))
    for row, lane in enumerate(lanes):
        said = view._laid_out()[row].words
        whole = {
            n
            for n in said.inside
            if metrics.horizontalAdvance(lane.blocks[n].name) <= view._box(row, n).width()
        }
        whole |= {n for n, _ in (*said.beside, *said.below)}
        assert {n for n in range(len(lane.blocks)) if view._box(row, n).width() >= LEAST_PX} <= whole


def test_lanes_that_scroll_end_with_a_whole_one_above_the_axis(qtbot: QtBot, qapp: QApplication) -> None:
    """Figures of the axis stood below the edge, and of the last lane the upper half of its duration."""
    theme.install(qapp, "light")
    view, area = Timeline("Operations"), QScrollArea()
    qtbot.addWidget(area)
    area.setWidgetResizable(True)
    area.setWidget(view)
    view.show_lanes([_lane(f"Lane {n}", ("stop", 100.0 + n)) for n in range(12)])
    area.resize(700, 190)
    area.show()
    port = area.viewport()
    for down in (0, 7, area.verticalScrollBar().maximum()):
        area.verticalScrollBar().setValue(down)
        foot, ends = view._foot, [row.top for row in view._laid_out()[1:]]
        edge = view.mapFrom(port, QPoint(0, port.height())).y()
        assert foot + time_axis.HEIGHT == edge
        seen = view.grab(QRect(0, foot, view.width(), edge - foot)).toImage()
        axis = {seen.pixel(x, y) for x in range(NAME_WIDTH, seen.width()) for y in range(seen.height())}
        assert len(axis) > 2, "the axis says its figures"
        whole = [end for end in ends if end <= foot]
        assert view._at(QPoint(5, round(whole[-1]) - 5)) == (len(whole) - 1, -1)
        if len(whole) < len(ends):
            between = view.grab(QRect(0, round(whole[-1]), NAME_WIDTH - 9, edge - round(whole[-1]))).toImage()
            ink = {between.pixel(x, y) for x in range(between.width()) for y in range(between.height())}
            assert len(ink) == 1, "nothing of the next lane"
            assert view._at(QPoint(5, round(whole[-1]) + 5)) is None
