"""Edits on telecom-144: what the canvas takes to answer, and until every estimate is fresh."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

from figures import Figure, median_ms

os.environ["QT_QPA_PLATFORM"] = "offscreen"
ROUNDS = 15


def main() -> list[Figure]:
    """Drag a host in the window with all panels, and the parts of that alone."""
    from PySide6.QtCore import QPointF

    from ndbplan.desktop.start import make_application, open_window
    from ndbplan.plan import edits
    from ndbplan.plan.fields import Point
    from ndbplan.plan.samples import sample_plan

    plan = sample_plan("telecom-144")
    host = plan.hosts[70]
    figures = [
        Figure(
            "pure edit: move a host", median_ms(lambda: edits.move(plan, {host.id: Point(x=5, y=5)})), "ms"
        ),
        Figure("pure edit: change a host", median_ms(lambda: edits.update(plan, host.id, cores=7)), "ms"),
    ]
    app: Any = make_application()
    window = open_window(app, sample="telecom-144")
    app.processEvents()
    window.finish_building()
    estimates = window.panels.estimates
    _until_fresh(app, estimates)
    gesture, edit, fresh, engine = [], [], [], []
    for turn in range(ROUNDS):
        gesture += _drag(window, QPointF(9.0 + turn, 4.0))
        _until_fresh(app, estimates)
        began = time.perf_counter()
        moved = window.document.plan.hosts[turn * 7]
        window.document.edit(
            "move", lambda p, i=moved.id, t=turn: edits.update(p, i, position=Point(x=40.0 * t, y=9.0))
        )
        window.canvas.viewport().repaint()
        edit.append((time.perf_counter() - began) * 1000)
        _until_fresh(app, estimates)
        fresh.append((time.perf_counter() - began) * 1000)
        engine.append(estimates.latest.elapsed_s * 1000)
    window.document.undo_stack.setClean()
    window.close()
    window.deleteLater()
    app.processEvents()
    figures += [
        Figure("drag a host: each move of the pointer, painted", statistics.median(gesture), "ms", 16),
        Figure("edit from code, canvas painted", statistics.median(edit), "ms", 16),
        Figure("until estimates and problems are fresh in the window", statistics.median(fresh), "ms", 100),
        Figure("of that the engine", statistics.median(engine), "ms"),
    ]
    return figures


def _until_fresh(app: Any, estimates: Any) -> None:
    deadline = time.perf_counter() + 20
    while not estimates.is_fresh:
        app.processEvents()
        assert time.perf_counter() < deadline, "estimates never came"
    app.processEvents()


def _drag(window: Any, by: Any) -> list[float]:
    """Take hold of a visible host and drag it by ten steps; milliseconds of each step."""
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    view = window.canvas
    item = view.canvas_scene.item_of(window.document.plan.hosts[3].id)
    at = QPointF(view.mapFromScene(item.sceneBoundingRect().topLeft() + QPointF(30, 12)))
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton

    def send(kind: QEvent.Type, where: QPointF, button: Qt.MouseButton, held: Qt.MouseButton) -> float:
        began = time.perf_counter()
        globally = QPointF(view.viewport().mapToGlobal(where))
        event = QMouseEvent(kind, where, globally, button, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(view.viewport(), event)
        view.viewport().repaint()
        return (time.perf_counter() - began) * 1000

    send(QEvent.Type.MouseButtonPress, at, left, left)
    times = [send(QEvent.Type.MouseMove, at + by * step, none, left) for step in range(1, 11)]
    times.append(send(QEvent.Type.MouseButtonRelease, at + by * 10, left, none))
    return times
