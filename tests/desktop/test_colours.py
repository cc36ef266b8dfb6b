"""The canvas coloured by one thing: the chooser, the legend, what a replay and other panels do to it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from ndbplan.base.kept import keeping
from ndbplan.describe.overlay import NO_LOADS
from ndbplan.desktop.canvas.items import ProcessItem
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import text_width
from ndbplan.edits import parts as edits

_LONG_MS = 20_000


@pytest.fixture
def window(shown, qtbot):
    window = shown("redo-overload", 1366, 768)
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=_LONG_MS)
    return window


def look(window):
    return window.canvas.canvas_scene.look


def test_a_colour_of_the_legend_selects_its_hosts(window) -> None:
    plain = window.canvas.grab().toImage()
    window.panels.colours.choose("disk")
    assert look(window).colouring.shades["data1"].text == "106 %"
    assert window.canvas.grab().toImage() != plain
    legend = window.panels.colours.legend
    over = next(b for b in legend.entries if b.accessibleName() == "95 % and more: 2")
    QTest.mouseClick(over, Qt.MouseButton.LeftButton)
    assert set(window.selection.ids) == {"data1", "data2"}
    assert not next(b for b in legend.entries if b.accessibleName() == "below 25 %: 0").isEnabled()
    window.selection.clear()
    window.panels.colours.choose("")
    assert not look(window).colouring.name
    assert not legend.entries


def test_what_a_colour_says_of_a_node_is_whole(window, qtbot) -> None:
    window.panels.colours.choose("problem")
    qtbot.waitUntil(lambda: bool(look(window).colouring.shades), timeout=_LONG_MS)
    said = {}
    for node in window.document.plan.processes:
        item = window.canvas.canvas_scene.item_of(node.id)
        if isinstance(item, ProcessItem) and item.shade is not None:
            said[node.id] = item._words
            assert text_width(item._words, 13, 600) <= item.size.width()
    assert any(words == "1 warning" for words in said.values()), said


def test_what_is_selected_is_framed_however_small_its_tile_is(window) -> None:
    """Of 144 hosts the three that were selected had a pale line of less than a pixel."""
    window.canvas.set_zoom(0.15)
    item = window.canvas.canvas_scene.item_of("data1")
    corner = window.canvas.mapFromScene(item.rect_in_scene().topLeft())
    middle = window.canvas.mapFromScene(item.rect_in_scene().center())

    def edge() -> list[str]:
        shown = window.canvas.viewport().grab().toImage()
        return [shown.pixelColor(corner.x() + x, middle.y()).name() for x in range(3)]

    assert theme.tokens().accent not in edge()
    window.selection.set(["data1"])
    assert theme.tokens().accent in edge()


def test_the_menu_offers_every_way_and_the_legend_stays_inside(window) -> None:
    legend = window.panels.colours.legend
    window.actions_table["colour"].trigger()
    texts = [action.text() for action in legend._menu.actions()]
    legend._menu.close()
    assert {"CPU", "Memory", "Disk load", "Network", "Problems", "Cost", "Node group", "Loss"} <= set(texts)
    next(action for action in legend._menu.actions() if action.text() == "CPU").trigger()
    assert look(window).colouring.name == "cpu"
    assert window.canvas.rect().contains(legend.geometry())


def test_loads_follow_a_replay(window) -> None:
    window.panels.colours.choose("disk")
    disk = window.document.plan.hosts[0].disks[1].id
    window.canvas.show_loads(NO_LOADS._replace(disks={disk: 0.31}))
    assert look(window).colouring.shades["data1"].text == "31 %"
    names = [button.accessibleName() for button in window.panels.colours.legend.entries]
    assert names[1] == "to 50 %: 1"
    QTest.mouseClick(window.panels.colours.legend.entries[1], Qt.MouseButton.LeftButton)
    assert window.selection.ids == ("data1",)


def test_other_ways_follow_the_plan_and_are_found_off_the_window(window, qtbot) -> None:
    window.panels.colours.choose("cost")
    qtbot.waitUntil(lambda: "No price" in look(window).colouring.note, timeout=_LONG_MS)
    window.document.edit("Price", lambda p: edits.update(p, "data1", purchase_price=9000.0))
    qtbot.waitUntil(lambda: "data1" in look(window).colouring.shades, timeout=_LONG_MS)
    assert look(window).colouring.shades["data1"].text == "9\u2009000"


def test_what_a_panel_lends_goes_with_it(window, qtbot) -> None:
    window.panels.colours.choose("disk")
    panel = window.panels.analyses.show_tab("Failures")
    qtbot.waitUntil(lambda: panel.report is not None, timeout=_LONG_MS)
    qtbot.waitUntil(lambda: look(window).colouring.name == "loss")
    window.panels.analyses.show_tab("Problems")
    qtbot.waitUntil(lambda: look(window).colouring.name == "disk")


def test_loss_is_judged_without_the_panel_too(window, qtbot) -> None:
    with keeping():
        window.panels.colours.choose("loss")
        qtbot.waitUntil(lambda: "data1" in look(window).colouring.shades, timeout=_LONG_MS)
    assert look(window).colouring.shades["data1"].why.startswith("goes on")


def test_far_away_a_host_is_one_tile_with_its_worst_use(window) -> None:
    from ndbplan.desktop.canvas.far import shade_of_host

    window.canvas.set_zoom(0.2)
    host = window.canvas.canvas_scene.item_of("data1")
    assert shade_of_host(host.card, look(window)).text == "c0d1 106 %"
    before = window.canvas.grab().toImage()
    busy = dict(look(window).loads.disks)
    busy[host.card.host.disks[1].id] = 0.2
    window.canvas.show_loads(look(window).loads._replace(disks=busy))
    assert window.canvas.grab().toImage() != before
