"""The minimap: the whole plan in a corner of the canvas, and the part one looks at."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from ndbplan.desktop.canvas.shading import ink
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.layout.layout import Layout
from ndbplan.desktop.look import paint, theme

_WIDTH, _HEIGHT, _PAD = 168, 108, 8.0


class Minimap(QWidget):
    """Shown when the plan is larger than what can be seen of it; a click or drag goes there."""

    def __init__(self, view: Stage) -> None:
        super().__init__(view)
        self._view = view
        self._picture: QPixmap | None = None
        self._pictured: tuple[Layout | None, str, float] = (None, "", 0.0)
        self.setObjectName("minimap")
        self.setAccessibleName("Overview of the canvas")
        self.setToolTip("Click to go there")
        self.setFixedSize(_WIDTH, _HEIGHT)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        view.moved.connect(self._follow)
        view.coloured.connect(self._recolour)
        theme.theme().changed.connect(self.update)
        self._follow()

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, _HEIGHT)

    def _follow(self) -> None:
        seen, all_of_it = self._view.visible_rect(), self._view.canvas_scene.content_rect()
        small_window = self._view.width() < 3 * _WIDTH or self._view.height() < 2.5 * _HEIGHT
        self.setVisible(not (all_of_it.isEmpty() or small_window or seen.contains(all_of_it)))
        self.move(self._view.width() - _WIDTH - 12, self._view.height() - _HEIGHT - 12)
        self.update()

    def _recolour(self) -> None:
        self._picture = None
        self.update()

    def _scale(self) -> tuple[float, QPointF]:
        """Pixels per canvas unit, and where the canvas' origin lies."""
        area = self._view.canvas_scene.content_rect()
        wide = (_WIDTH - 2 * _PAD) / max(area.width(), 1.0)
        high = (_HEIGHT - 2 * _PAD) / max(area.height(), 1.0)
        scale = min(wide, high)
        origin = QPointF(
            (_WIDTH - area.width() * scale) / 2 - area.x() * scale,
            (_HEIGHT - area.height() * scale) / 2 - area.y() * scale,
        )
        return scale, origin

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ratio = self.devicePixelRatioF()
        layout = self._view.canvas_scene.layout
        state = (layout, t.name, ratio)
        if self._picture is None or not (state[0] is self._pictured[0] and state[1:] == self._pictured[1:]):
            self._picture = self._draw_plan(layout, ratio)
            self._pictured = state
        painter.drawPixmap(0, 0, self._picture)
        scale, origin = self._scale()
        seen = self._view.visible_rect()
        frame = QRectF(origin + seen.topLeft() * scale, seen.size() * scale).intersected(
            QRectF(self.rect()).adjusted(2.5, 2.5, -2.5, -2.5)
        )
        painter.setPen(paint.pen(t.accent, 1.5))
        painter.setBrush(paint.brush(t.accent, 26))
        painter.drawRoundedRect(frame, 3, 3)

    def _draw_plan(self, layout: Layout, ratio: float) -> QPixmap:
        t = theme.tokens()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint.box(painter, QRectF(0, 0, _WIDTH, _HEIGHT), t.panel, t.line_strong, 6)
        scale, origin = self._scale()
        painter.translate(origin)
        painter.scale(scale, scale)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.brush(t.sunken if t.is_dark else t.grid))
        for place in layout.locations.values():
            painter.drawRect(paint.qrect(place.rect))
        shades = self._view.canvas_scene.look.colouring.shades
        for host_id, box in layout.hosts.items():
            shade = shades.get(host_id)
            painter.setBrush(paint.brush(t.line_strong if shade is None else ink(shade, t)))
            painter.drawRect(paint.qrect(box.rect))
        painter.end()
        return picture

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())

    def _go(self, at: QPointF) -> None:
        scale, origin = self._scale()
        target = (at - origin) / scale
        middle = self._view.visible_rect().center()
        by = (middle - target) * self._view.zoom
        self._view.pan_by(by.toPoint())
