"""A canvas with a small plan, and hands that drag on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication

from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.text import elided
from ndbplan.plan.samples import sample_plan


class Hands:
    """Presses, drags and drops on a canvas by object ids and places of the scene."""

    def __init__(self, view: CanvasView) -> None:
        self.view = view
        self.document = view.document
        self.selection = view.selection
        self.scene = view.canvas_scene
        self.errors: list[str] = []
        view.editor.failed.connect(self.errors.append)

    @property
    def plan(self):
        return self.document.plan

    def centre(self, object_id: str) -> QPointF:
        return self.scene.item_of(object_id).rect_in_scene().center()

    def grip(self, object_id: str) -> QPointF:
        """A place of an item where none of its children lies: near its top."""
        rect = self.scene.item_of(object_id).rect_in_scene()
        return QPointF(rect.center().x(), rect.top() + min(8.0, rect.height() / 2))

    def mouse(
        self,
        kind: QEvent.Type,
        point: QPointF,
        button: Qt.MouseButton = Qt.MouseButton.LeftButton,
        held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    ) -> None:
        at = QPointF(self.view.mapFromScene(point))
        port = self.view.viewport()
        buttons = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else button
        event = QMouseEvent(kind, at, port.mapToGlobal(at), button, buttons, held)
        QApplication.sendEvent(port, event)

    def press(self, point: QPointF, **how) -> None:
        self.mouse(QEvent.Type.MouseButtonPress, point, **how)

    def move(self, point: QPointF, **how) -> None:
        self.mouse(QEvent.Type.MouseMove, point, **how)

    def release(self, point: QPointF, **how) -> None:
        self.mouse(QEvent.Type.MouseButtonRelease, point, **how)

    def click(self, point: QPointF, **how) -> None:
        self.press(point, **how)
        self.release(point, **how)

    def drag(self, start: QPointF, end: QPointF, **how) -> None:
        self.press(start, **how)
        self.move(start + (end - start) * 0.5, **how)
        self.move(end, **how)
        self.release(end, **how)

    def key(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.key_down(key, held)
        self.key_up(key, held)

    def key_down(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QApplication.sendEvent(self.view, QKeyEvent(QEvent.Type.KeyPress, key, held))

    def key_up(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QApplication.sendEvent(self.view, QKeyEvent(QEvent.Type.KeyRelease, key, held))

    def enter(self, data: QMimeData, point: QPointF) -> None:
        at = self.view.mapFromScene(point)
        event = QDragEnterEvent(at, Qt.DropAction.CopyAction, data, *_LEFT)
        QApplication.sendEvent(self.view.viewport(), event)

    def hover(self, data: QMimeData, point: QPointF) -> bool:
        at = self.view.mapFromScene(point)
        event = QDragMoveEvent(at, Qt.DropAction.CopyAction, data, *_LEFT)
        QApplication.sendEvent(self.view.viewport(), event)
        return event.isAccepted()

    def drop(self, data: QMimeData, point: QPointF) -> None:
        self.enter(data, point)
        self.hover(data, point)
        at = QPointF(self.view.mapFromScene(point))
        QApplication.sendEvent(self.view.viewport(), QDropEvent(at, Qt.DropAction.CopyAction, data, *_LEFT))


_LEFT = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)


@pytest.fixture
def hands_on(qtbot, qapp) -> Callable[..., Hands]:
    """Hands on a shown canvas of a plan, at actual size."""
    theme.load_fonts()

    def make(plan=None, zoom: float = 1.0) -> Hands:
        document = Document(sample_plan("starter") if plan is None else plan)
        selection = Selection(document, document)
        view = CanvasView(Editor(document, selection, document))
        qtbot.addWidget(view)
        # Dies with the view, as it does with the window.
        document.setParent(view)
        view.resize(1600, 1000)
        view.show()
        view.fit()
        view.set_zoom(zoom)
        view.centerOn(view.canvas_scene.content_rect().center())
        assert view.mapFromScene(QPointF(0, 0)) != QPoint(0, 0)
        return Hands(view)

    return make


@pytest.fixture
def hands(hands_on) -> Hands:
    return hands_on()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Words that are drawn from now on, as far as there is room for them."""
    found: list[str] = []
    text = paint.text

    def write(painter, rect, words, ink, size_px=13, weight=400, *more) -> None:
        found.append(elided(words, size_px, weight, rect.width()))
        text(painter, rect, words, ink, size_px, weight, *more)

    monkeypatch.setattr(paint, "text", write)
    return found
