"""The line of a node group runs over no other host, and its name covers none."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainterPathStroker

from ndbplan.desktop.canvas.look import Look
from ndbplan.desktop.canvas.ribbons import RibbonItem
from ndbplan.desktop.layout.layout import HOST_GAP

WIDE, HIGH = 440.0, 120.0


def host(x: float, y: float) -> QRectF:
    return QRectF(x, y, WIDE, HIGH)


def stop(box: QRectF) -> tuple[QRectF, QRectF]:
    return QRectF(box.left() + 12, box.top() + 50, 120, 26), box


@pytest.mark.parametrize(
    ("ends", "others"),
    [
        (((0, 0), (0, 300)), [(0, 140)]),
        (((100, 0), (100, 500)), [(60, 150), (40, 300)]),
        (((0, 100), (1200, 100)), [(600, 60), (640, 230)]),
        (((0, 0), (1700, 0)), [(560, 0), (1130, -40)]),
    ],
)
def test_it_runs_past_hosts_that_are_not_of_the_group(qapp, ends, others) -> None:
    ribbon = RibbonItem(Look(), 0)
    first, last = (host(*at) for at in ends)
    between = [host(*at) for at in others]
    ribbon.join(("a", "b"), [stop(first), stop(last)], [first, last, *between])
    line = QPainterPathStroker().createStroke(ribbon._path)
    for other in between:
        assert not line.intersects(other.adjusted(1, 1, -1, -1)), other


def test_its_name_between_two_hosts_of_a_column_covers_neither(qapp) -> None:
    ribbon = RibbonItem(Look(), 3)
    upper, lower = host(0, 0), host(0, HIGH + HOST_GAP)
    ribbon.join(("a", "b"), [stop(upper), stop(lower)], [upper, lower])
    assert not ribbon._pill.intersects(upper)
    assert not ribbon._pill.intersects(lower)


def test_in_a_narrow_gap_the_number_stands_alone(qapp) -> None:
    ribbon = RibbonItem(Look(), 3)
    left, right = host(0, 0), host(WIDE + 40, 0)
    ribbon.join(("a", "b"), [stop(left), stop(right)], [left, right])
    assert ribbon.text == "3"
    assert not ribbon._pill.intersects(left)
    assert not ribbon._pill.intersects(right)
