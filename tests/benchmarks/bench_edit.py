"""telecom-144: how soon the canvas answers an edit and a zoom, estimates are fresh, and panels open."""

from __future__ import annotations

import os
import statistics
import time
from itertools import pairwise
from typing import Any

from figures import Figure, median_ms

os.environ["QT_QPA_PLATFORM"] = "offscreen"
ROUNDS = 15


def main() -> list[Figure]:
    """Drag a host in the window with all panels, and the parts of that alone."""
    from PySide6.QtCore import QPointF

    from ndbplan.desktop.start import make_application, open_window
    from ndbplan.edits import parts as edits
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
    zoomed = _zoom(app, window)
    # An offer to recover what an earlier run left would move everything when it goes.
    window.messages.hide()
    window.resize(1680, 1050)
    _work_for(app, 0.2)
    opened = _open_panels(app, window)
    simulated = [_longest_turn(app, window.simulate, window.panels.analyses.context.tasks) for _ in range(3)]
    replayed = _replay(app, window)
    window.document.undo_stack.setClean()
    window.close()
    window.deleteLater()
    app.processEvents()
    figures += [
        Figure("drag a host: each move of the pointer, painted", statistics.median(gesture), "ms", 16),
        Figure("edit from code, canvas painted", statistics.median(edit), "ms", 16),
        Figure("until estimates and problems are fresh in the window", statistics.median(fresh), "ms", 100),
        Figure("of that the engine", statistics.median(engine), "ms"),
        Figure("zoom: each step of the wheel, painted (median)", statistics.median(zoomed), "ms", 16),
        Figure("zoom: the slowest step (the first: a picture is taken)", max(zoomed), "ms"),
        Figure("first simulation, charts are built: longest turn of the event loop", simulated[0], "ms"),
        Figure("simulation: longest turn, median of three", statistics.median(simulated), "ms", 100),
        Figure("replay: each step, charts and canvas painted", statistics.median(replayed), "ms", 33),
        *(
            Figure(f"{name} opens: longest turn of the event loop", longest, "ms", 50)
            for name, longest in opened
        ),
    ]
    return figures


def _until_fresh(app: Any, estimates: Any) -> None:
    deadline = time.perf_counter() + 20
    while not estimates.is_fresh:
        app.processEvents()
        assert time.perf_counter() < deadline, "estimates never came"
    app.processEvents()


def _zoom(app: Any, window: Any) -> list[float]:
    """Turn the wheel in and out again, three times; milliseconds of each step at its fastest."""
    rounds = []
    for _ in range(3):
        window.canvas.fit()
        _work_for(app, 0.3)
        rounds.append([_wheel(window, turn) for turn in (120,) * 12 + (-120,) * 12])
    return [min(step) for step in zip(*rounds, strict=True)]


def _wheel(window: Any, turn: int) -> float:
    from PySide6.QtCore import QPoint, QPointF, Qt
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    port = window.canvas.viewport()
    at = QPointF(port.rect().center())
    event = QWheelEvent(
        at, port.mapToGlobal(at), QPoint(), QPoint(0, turn), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    began = time.perf_counter()
    QApplication.sendEvent(port, event)
    port.repaint()
    return (time.perf_counter() - began) * 1000


def _open_panels(app: Any, window: Any) -> list[tuple[str, float]]:
    """Click on each tab of the analyses for the first time; the longest time nothing else could happen."""
    tabs = window.panels.analyses.tabs
    return [
        (tabs.tabText(i).split("  ")[0], _longest_turn(app, lambda tab=i: tabs.setCurrentIndex(tab)))
        for i in range(1, tabs.count())
    ]


def _longest_turn(app: Any, act: Any, tasks: Any = None) -> float:
    """Do something in the event loop; the longest milliseconds between two beats of a timer meanwhile.

    `tasks`: what has to be done with, too.
    """
    from PySide6.QtCore import QTimer

    beats = [time.perf_counter()]
    heart = QTimer()
    heart.timeout.connect(lambda: beats.append(time.perf_counter()))
    heart.start(0)
    QTimer.singleShot(1, act)
    _work_for(app, 0.4)
    while tasks is not None and tasks.is_busy:
        app.processEvents()
    heart.stop()
    return max(after - before for before, after in pairwise(beats)) * 1000


def _replay(app: Any, window: Any) -> list[float]:
    """Move the scrubber of the simulation on the screen through its run; milliseconds of each step."""
    scrubber = window.panels.analyses.panel("Simulation").scrubber
    times = []
    for step in range(30):
        began = time.perf_counter()
        scrubber.go_to(20.0 * step)
        for _ in range(3):
            app.processEvents()
        times.append((time.perf_counter() - began) * 1000)
    return times


def _work_for(app: Any, seconds: float) -> None:
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
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
