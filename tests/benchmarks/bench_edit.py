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
    from ndbplan.base.kept import keeping

    # As the program does while its windows are open.
    with keeping():
        return _in_the_window()


def _in_the_window() -> list[Figure]:
    from PySide6.QtCore import QPointF

    from ndbplan.desktop.start import make_application, open_window
    from ndbplan.edits import parts as edits
    from ndbplan.plan.fields import Point
    from ndbplan.plan.plan import Plan
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
        began, began_here = time.perf_counter(), time.thread_time()
        moved = window.document.plan.hosts[turn * 7]
        window.document.edit(
            "move", lambda p, i=moved.id, t=turn: edits.update(p, i, position=Point(x=40.0 * t, y=9.0))
        )
        window.canvas.viewport().repaint()
        edit.append((time.thread_time() - began_here) * 1000)
        _until_fresh(app, estimates)
        fresh.append((time.perf_counter() - began) * 1000)
        engine.append(estimates.latest.elapsed_s * 1000)
    coloured = _coloured(window)
    zoomed = _zoom(app, window)
    # An offer to recover what an earlier run left would move everything when it goes.
    window.messages.hide()
    window.resize(1680, 1050)
    _work_for(app, 0.2)
    plain_panel, plain_view = _plain_panel_ms(app), _plain_view_ms(app)
    written = median_ms(lambda: Plan.model_validate_json(plan.model_dump_json()))
    opened = _open_panels(app, window)
    simulated = [_simulated(app, window) for _ in range(3)]
    replayed = _replay(app, window)
    longest_turn = min(_longest_turn(app, lambda t=turn: _add_memory(window, t)) for turn in range(4))
    window.document.undo_stack.setClean()
    window.close()
    window.deleteLater()
    app.processEvents()
    figures += [
        _beside_view("drag a host: each move of the pointer, painted", gesture, plain_view, 1.5),
        _beside_view("edit from code, canvas painted", edit, plain_view, 2.5),
        Figure(
            "until estimates and problems are fresh in the window", statistics.median(fresh), "ms",
            baseline="the plan written and read as JSON", baseline_value=written, most_times=12,
        ),
        Figure("of that the engine", statistics.median(engine), "ms"),
        _beside_panel("estimates anew: longest turn of the event loop", longest_turn, plain_panel, 1.5),
        _beside_view("colour by another load, canvas painted", coloured, plain_view, 6),
        _beside_view("zoom: each step of the wheel, painted (median)", zoomed, plain_view, 0.5),
        Figure("zoom: the slowest step (the first: a picture is taken)", max(zoomed), "ms"),
        Figure("first simulation, charts are built: longest turn of the event loop", simulated[0], "ms"),
        _beside_panel(
            "simulation: longest turn, median of three", statistics.median(simulated), plain_panel, 2
        ),
        _beside_view("replay: each step, charts and canvas painted", replayed, plain_view, 4),
        *(
            _beside_panel(f"{name} opens: longest turn of the event loop", longest, plain_panel, 1.6)
            for name, longest in opened
        ),
    ]  # fmt: skip
    return figures


def _coloured(window: Any) -> list[float]:
    """Milliseconds of the processor until the canvas shows each load."""
    times = []
    for name in ("cpu", "memory", "disk", "space", "network", "") * 2:
        began = time.thread_time()
        window.panels.colours.choose(name)
        window.canvas.viewport().repaint()
        times.append((time.thread_time() - began) * 1000)
    return times


def _beside_view(name: str, times_ms: list[float], plain_ms: float, most_times: float) -> Figure:
    return Figure(
        name, statistics.median(times_ms), "ms", baseline="a plain view of as many items painted",
        baseline_value=plain_ms, most_times=most_times,
    )  # fmt: skip


def _beside_panel(name: str, longest_ms: float, plain_ms: float, most_times: float) -> Figure:
    return Figure(
        name, longest_ms, "ms", baseline="a plain panel opens", baseline_value=plain_ms, most_times=most_times
    )


def _plain_panel_ms(app: Any) -> float:
    """The longest turn of the loop while a form of 40 rows and a table of 144 are made and shown."""
    from PySide6.QtWidgets import (
        QFormLayout,
        QLineEdit,
        QStackedWidget,
        QTableWidget,
        QTableWidgetItem,
        QWidget,
    )

    def opens() -> float:
        stack = QStackedWidget()
        stack.resize(1120, 360)
        stack.addWidget(QWidget())
        stack.show()
        _work_for(app, 0.1)

        def build() -> None:
            panel = QWidget()
            form = QFormLayout(panel)
            table = QTableWidget(144, 6)
            for row in range(144):
                for column in range(6):
                    table.setItem(row, column, QTableWidgetItem(f"{row} × {column}"))
            form.addRow(table)
            for row in range(40):
                form.addRow(f"Row {row}", QLineEdit(str(row)))
            stack.setCurrentIndex(stack.addWidget(panel))

        longest = _longest_turn(app, build)
        stack.close()
        stack.deleteLater()
        return longest

    return statistics.median(opens() for _ in range(5))


def _plain_view_ms(app: Any) -> float:
    """Painting a QGraphicsView of the window's size with 144 boxes of five parts, each with a text."""
    from PySide6.QtWidgets import QGraphicsScene, QGraphicsView

    scene = QGraphicsScene()
    for place in range(144):
        x, y = place % 12 * 90.0, place // 12 * 60.0
        for part in range(5):
            scene.addRect(x + 3 * part, y + 9 * part, 70, 12)
            scene.addSimpleText(f"part {part}").setPos(x + 3 * part, y + 9 * part)
    view = QGraphicsView(scene)
    view.resize(1120, 560)
    view.show()
    _work_for(app, 0.1)
    painted = []
    for _ in range(15):
        began = time.thread_time()
        view.viewport().repaint()
        painted.append((time.thread_time() - began) * 1000)
    view.close()
    view.deleteLater()
    return statistics.median(painted)


def _until_fresh(app: Any, estimates: Any) -> None:
    deadline = time.process_time() + 60
    while not estimates.is_fresh:
        app.processEvents()
        assert time.process_time() < deadline, "estimates never came"
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
    began = time.thread_time()
    QApplication.sendEvent(port, event)
    port.repaint()
    return (time.thread_time() - began) * 1000


def _open_panels(app: Any, window: Any) -> list[tuple[str, float]]:
    """Click on each tab of the analyses for the first time; the longest time nothing else could happen."""
    tabs = window.panels.analyses.tabs
    return [
        (tabs.tabText(i).split("  ")[0], _longest_turn(app, lambda tab=i: tabs.setCurrentIndex(tab)))
        for i in range(1, tabs.count())
    ]


def _simulated(app: Any, window: Any) -> float:
    """Simulate; the longest turn until the run is on show and all its charts are drawn."""
    panel = window.panels.analyses.show_tab("Simulation")
    shown: list[None] = []
    connection = panel.shown.connect(lambda: shown.append(None))
    longest = _longest_turn(
        app,
        window.navigation.simulate,
        lambda: bool(shown) and all(chart.is_drawn for chart in panel.charts.all),
    )
    panel.shown.disconnect(connection)
    return longest


def _longest_turn(app: Any, act: Any, is_over: Any = None) -> float:
    """Do something in the event loop; the longest milliseconds of its thread between two beats of a timer.

    Processor time: what else the machine does is none of it. `is_over`: what has to be true at the end.
    """
    from PySide6.QtCore import QTimer

    beats = [time.thread_time()]
    heart = QTimer()
    heart.timeout.connect(lambda: beats.append(time.thread_time()))
    heart.start(0)
    QTimer.singleShot(1, act)
    _work_for(app, 0.4)
    while is_over is not None and not is_over():
        app.processEvents()
    # What was asked for is painted.
    app.processEvents()
    heart.stop()
    return max(after - before for before, after in pairwise(beats)) * 1000


def _add_memory(window: Any, number: int) -> None:
    from ndbplan.edits import parts as edits

    host = window.document.plan.hosts[number]
    window.document.edit("Memory", lambda p: edits.update(p, host.id, memory_bytes=2 * host.memory_bytes))


def _replay(app: Any, window: Any) -> list[float]:
    """Move the scrubber of the simulation on the screen through its run; milliseconds of each step."""
    scrubber = window.panels.analyses.panel("Simulation").scrubber
    times = []
    for step in range(30):
        began = time.thread_time()
        scrubber.go_to(20.0 * step)
        for _ in range(3):
            app.processEvents()
        times.append((time.thread_time() - began) * 1000)
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
        began = time.thread_time()
        globally = QPointF(view.viewport().mapToGlobal(where))
        event = QMouseEvent(kind, where, globally, button, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(view.viewport(), event)
        view.viewport().repaint()
        return (time.thread_time() - began) * 1000

    send(QEvent.Type.MouseButtonPress, at, left, left)
    times = [send(QEvent.Type.MouseMove, at + by * step, none, left) for step in range(1, 11)]
    times.append(send(QEvent.Type.MouseButtonRelease, at + by * 10, left, none))
    return times
