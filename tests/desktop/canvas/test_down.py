"""What does not run at the replayed moment is painted as down, and the canvas says that all stopped."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from ndbplan.describe.overlay import NO_LOADS
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
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
