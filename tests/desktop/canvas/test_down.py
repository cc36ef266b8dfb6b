"""What does not run at the replayed moment is painted as down, and the canvas says that all stopped."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from ndbplan.describe.overlay import NO_LOADS
from ndbplan.desktop.canvas import far
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.look.text import text_width
from ndbplan.edits.parts import update
from ndbplan.plan.samples import sample_plan


def _view(qtbot: QtBot) -> CanvasView:
    document = Document(sample_plan("starter"))
    view = CanvasView(Editor(document, Selection(document)))
    qtbot.addWidget(view)
    view.resize(900, 500)
    view.show()
    return view


def test_nodes_hosts_and_locations_that_are_down_look_so(qtbot: QtBot) -> None:
    view = _view(qtbot)
    view.resize(1600, 900)  # all racks at full size
    for zoom in (1.0, 0.3, 0.2):
        view.set_zoom(zoom)
        for object_id in ("ndb1", "host-a1", "rack-a"):
            view.show_loads(NO_LOADS)
            up = view.grab().toImage()
            view.show_loads(NO_LOADS._replace(down={object_id: True}))
            assert view.grab().toImage() != up, (object_id, zoom)
            view.show_loads(NO_LOADS)
            assert view.grab().toImage() == up, (object_id, zoom)


def test_the_canvas_says_that_the_cluster_stopped(qtbot: QtBot) -> None:
    view = _view(qtbot)
    assert not view.banner.isVisible()
    view.show_loads(NO_LOADS._replace(stands_still=True))
    assert view.banner.isVisible()
    assert "stand still" in view.banner.text()
    text = "cluster stopped at 1:30: node group 0 is gone: " + "none of its data nodes is left " * 6
    view.show_loads(NO_LOADS._replace(stopped=text))
    assert view.banner.text() == "C" + text[1:]
    assert view.banner.property("look") == "banner-error"
    view.resize(400, 300)
    assert view.rect().contains(view.banner.geometry())
    view.show_loads(NO_LOADS)
    assert not view.banner.isVisible()


@pytest.mark.parametrize("zoom", [0.08, 0.1, 0.12, 0.2])
def test_a_host_with_dead_nodes_keeps_its_name_where_what_is_dead_has_no_room(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, zoom: float
) -> None:
    """Of 36 lost hosts each read `1 node d...`: none could be told from another."""
    document = Document(sample_plan("telecom-144"))
    view = CanvasView(Editor(document, Selection(document)))
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.set_zoom(zoom)
    plan = document.plan
    lost = {node.id: True for node in plan.data_nodes[:40]}
    lost |= {node.host_id: True for node in plan.data_nodes[:40]}
    said: list[tuple[str, bool]] = []

    def record(painter, rect, words, ink, size_px=13, weight=400, align=None) -> None:
        said.append((words, not size_px or text_width(words, size_px, weight) <= rect.width() + 1))

    view.show_loads(NO_LOADS._replace(down=lost))
    monkeypatch.setattr(far.paint, "text", record)
    view.grab()
    names = {host.hostname for host in plan.hosts}
    assert [words for words, fits in said if not fits and words not in names] == []
    document.deleteLater()


@pytest.mark.parametrize("zoom", [0.5, 0.63, 1.0])
def test_a_rack_with_a_long_name_says_that_it_is_down(qtbot: QtBot, drawn: list[str], zoom: float) -> None:
    """It read `d...` behind its name."""
    view = _view(qtbot)
    view.resize(1600, 900)
    plan = view.document.plan
    long = "Rechenzentrum Düsseldorf/Süd, Käfig 3, dritte Reihe, links"
    view.document.edit("Rename", lambda p: update(p, plan.locations[0].id, name=long))
    view.set_zoom(zoom)
    view.show_loads(NO_LOADS._replace(down={plan.locations[0].id: True}))
    drawn.clear()
    view.grab()
    assert any(words.startswith("Rechen") and words.endswith("…") for words in drawn)
    assert drawn.count("down") == 1
