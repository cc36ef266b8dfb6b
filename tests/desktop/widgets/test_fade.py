"""What scrolls fades at its lower edge where more follows, in the colour of its ground."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractScrollArea, QTableView, QWidget

from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.fade import Fade

WAIT_MS = 20_000


def _is_above(fade: Fade, window: QWidget) -> bool:
    """Whether no other one lies over it, as that of a page over that of a field in it."""
    own = QRect(fade.mapTo(window, QPoint()), fade.size())
    others = (one for one in window.findChildren(Fade) if one.isVisible() and one is not fade)
    return not any(own.intersects(QRect(one.mapTo(window, QPoint()), one.size())) for one in others)


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_no_line_is_cut_at_the_lower_edge_of_what_scrolls(shown, qtbot, mode) -> None:
    window = shown("starter", 1366, 768)
    theme.theme().set_mode(mode)
    analyses, seen = window.panels.analyses, 0
    for tab in ("Distribution", "Problems"):
        analyses.show_tab(tab)
        qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=WAIT_MS)
        qtbot.wait(50)
        for area in window.findChildren(QAbstractScrollArea):
            bar = area.verticalScrollBar()
            for fade in (one for one in area.findChildren(Fade) if one.parent() is area):
                assert fade.isVisible() == (area.isVisible() and bar.value() < bar.maximum())
                if fade.visibleRegion().boundingRect() == fade.rect() and _is_above(fade, window):
                    seen += 1
                    edge = fade.mapTo(window, QPoint(0, fade.height() - 1))
                    picture = window.grab().toImage()
                    across = range(4, fade.width() - 4, 3)
                    colours = {picture.pixelColor(edge.x() + x, edge.y()).name() for x in across}
                    assert len(colours) == 1, f"{tab}: {area.accessibleName() or type(area).__name__}"
                    above = edge.y() - fade.height() - 1
                    grounds = {picture.pixelColor(edge.x() + x, above).name() for x in across}
                    assert colours <= grounds, f"{tab}: {type(area).__name__} {area.accessibleName()}"
                    bar.setValue(bar.maximum())
                    assert not fade.isVisible()
                    bar.setValue(0)
    assert seen >= 4


@pytest.mark.parametrize("size", [(1680, 1050), (1366, 768)])
def test_a_long_reason_of_a_failure_ends_with_dots_and_not_at_the_edge(shown, qtbot, size) -> None:
    window = shown("starter", *size)
    window.panels.analyses.show_tab("Failures")
    panel = window.panels.analyses.panel("Failures")
    qtbot.waitUntil(lambda: panel.report is not None and panel.table.isVisible(), timeout=WAIT_MS)
    table: QTableView = panel.table
    last, room = table.model().columnCount() - 1, table.viewport().width()
    begin = table.columnViewportPosition(last)
    assert begin + table.columnWidth(last) <= room + 1 or begin >= room, "in sight as a whole, or not at all"
