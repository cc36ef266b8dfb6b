"""Render: a picture of a plan's canvas without a window, as PNG, SVG or PDF.

render(plan, Path("canvas.png"))
render(plan, Path("canvas.svg"), appearance="light")
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ndbplan.base.errors import UserError
from ndbplan.base.files import FileError, write_atomically
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.describe.colouring import Colouring
    from ndbplan.desktop.canvas.scene import CanvasScene
    from ndbplan.desktop.look.theme import Tokens

Appearance = Literal["light", "dark"]
SUFFIXES = (".png", ".svg", ".pdf")
_MARGIN, _LEGEND_GAP = 40.0, 12.0
_PIXELS_PER_UNIT = 2.0
_MAX_SIDE_PX = 16_000
_MAX_PIXELS = 24e6


class RenderError(UserError):
    """A picture that cannot be made or written."""


def render(
    plan: Plan,
    path: Path,
    appearance: Appearance = "light",
    *,
    with_loads: bool = True,
    without: str = "",
    colour_by: str = "",
) -> None:
    """Draw the whole canvas into a file; its suffix decides the format. Raises RenderError.

    `colour_by`: one of `pictured()`, with its legend below; nothing: by what things are.
    `with_loads`: estimate the plan first and paint utilisations and problems. Works without a display.
    The plan travels inside; `without`: its `prices` do not, or the whole `plan` does not.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise RenderError(
            f"'{path.suffix}' is not a format a picture can have",
            where=str(path),
            fix="end the name in .png, .svg or .pdf",
        )
    if not path.parent.is_dir():
        raise RenderError(f"there is no folder '{path.parent}'", where=str(path), fix="make the folder first")
    try:
        content = drawn(plan, suffix, appearance, with_loads=with_loads, without=without, colour_by=colour_by)
        write_atomically(path, content)
    except FileError as error:
        raise RenderError(error.what, where=error.where, fix=error.fix) from None


@cache
def _application() -> object:
    """The application object that fonts need; lives as long as the program."""
    from PySide6.QtWidgets import QApplication

    running = QApplication.instance()
    if running is not None:
        return running
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return QApplication(["ndbplan"])


def drawn(
    plan: Plan,
    suffix: str,
    appearance: Appearance,
    *,
    with_loads: bool = True,
    without: str = "",
    colour_by: str = "",
) -> bytes:
    """The same picture as the content of a file."""
    _application()
    from PySide6.QtCore import QRectF

    from ndbplan.describe.estimated import coloured
    from ndbplan.desktop.canvas.scene import CanvasScene
    from ndbplan.desktop.look import theme

    theme.load_fonts()
    tokens = theme.LIGHT if appearance == "light" else theme.DARK
    scene = CanvasScene(tokens)
    scene.show_plan(plan)
    if with_loads or colour_by:
        loads, colouring = coloured(plan, colour_by)
        scene.show_loads(loads)
        scene.show_colouring(colouring)
        _add_legend(scene, colouring, tokens)
    area = scene.itemsBoundingRect() if colour_by else scene.content_rect()
    area = area.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)
    if scene.content_rect().isEmpty():
        area = QRectF(0, 0, 640, 200)
    from ndbplan.report.pictures import carrying

    content = _picture(scene, area, suffix, tokens.canvas, plan.name)
    return carrying(content, suffix, plan, f"{appearance} {colour_by}".strip(), without)


def drawn_as(plan: Plan, suffix: str, look: str) -> bytes:
    """A picture as the evidence inside of one says that it was drawn: `dark`, `light cpu`."""
    appearance, _, colour_by = look.partition(" ")
    known = colour_by if colour_by in pictured() else ""
    return drawn(plan, suffix, "dark" if appearance == "dark" else "light", colour_by=known)


def pictured() -> tuple[str, ...]:
    """What a picture can be coloured by: all that needs no other plan."""
    from ndbplan.describe.colouring import WAYS

    return tuple(name for name in WAYS if name != "change")


def _add_legend(scene: CanvasScene, colouring: Colouring, tokens: Tokens) -> None:
    from ndbplan.desktop.canvas.picture_legend import PictureLegend

    if colouring.name:
        corner = scene.content_rect().bottomLeft()
        corner.setY(corner.y() + _LEGEND_GAP)
        scene.addItem(PictureLegend(colouring, tokens, corner))


def _picture(scene: object, area: object, suffix: str, ground: str, title: str) -> bytes:
    """The content of the file. In memory: Qt takes no names that are not UTF-8, and opens no file itself."""
    from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF, QSize, QSizeF
    from PySide6.QtGui import QColor, QImage, QImageWriter, QPageLayout, QPageSize, QPainter, QPdfWriter
    from PySide6.QtSvg import QSvgGenerator
    from PySide6.QtWidgets import QGraphicsScene

    assert isinstance(scene, QGraphicsScene)
    assert isinstance(area, QRectF)
    written = QBuffer()
    written.open(QIODevice.OpenModeFlag.WriteOnly)
    if suffix == ".png":
        scale = min(
            _PIXELS_PER_UNIT,
            _MAX_SIDE_PX / max(area.width(), area.height()),
            (_MAX_PIXELS / (area.width() * area.height())) ** 0.5,
        )
        image = QImage(round(area.width() * scale), round(area.height() * scale), QImage.Format.Format_RGB32)
        image.fill(QColor(ground))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scene.render(painter, QRectF(image.rect()), area)
        painter.end()
        if not QImageWriter(written, b"png").write(image):
            raise RenderError("the image cannot be stored", fix="write an .svg, which has no size in pixels")
        return bytes(written.data().data())
    target = QRectF(0, 0, area.width(), area.height())
    device: QSvgGenerator | QPdfWriter
    if suffix == ".svg":
        device = QSvgGenerator()
        device.setOutputDevice(written)
        device.setTitle(title)
        device.setSize(QSize(round(area.width()), round(area.height())))
        device.setViewBox(target)
    else:
        device = QPdfWriter(written)
        device.setTitle(title)
        device.setResolution(72)
        page = QPageSize(QSizeF(area.width(), area.height()), QPageSize.Unit.Point)
        device.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
    painter = QPainter(device)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(target, QColor(ground))
    scene.render(painter, target, area)
    painter.end()
    return bytes(written.data().data())
