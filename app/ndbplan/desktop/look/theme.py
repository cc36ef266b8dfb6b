"""Theme: colours, spacing, fonts, icons and the one style sheet, for light and dark.

    theme.install(app)                      # once, before the first widget
    theme.tokens().accent                   # "#7c8cff"
    theme.icon("server")                    # tinted for the current theme
    theme.theme().changed.connect(repaint)  # the system went dark, or the user chose

Follows the system unless the user chose light or dark.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import shiboken6
from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from ndbplan.base.letters import scripts
from ndbplan.base.resources import resource_path
from ndbplan.describe.overlay import NEAR, OVER

Mode = Literal["system", "light", "dark"]


class Tokens(NamedTuple):
    """Colours of one theme as #rrggbb, named by what they are for."""

    name: str
    canvas: str
    grid: str
    panel: str
    """Side panels and the top bar."""
    sunken: str
    field: str
    """Ground of what can be typed into."""
    field_line: str
    """Input fields, chart backgrounds, tracks of bars."""
    card: str
    """Hosts, palette entries, buttons."""
    card_hover: str
    location: str
    """Inside of a rack or zone."""
    status: str
    line: str
    """Border of cards and panels."""
    line_strong: str
    """Border of what can be acted on, and of what the pointer is over."""
    text: str
    text_strong: str
    muted: str
    faint: str
    accent: str
    on_accent: str
    accent_soft: str
    """Background of selected rows."""
    good: str
    warning: str
    warning_fill: str
    """For bars, rings and dots: larger than text, so it may be lighter on white."""
    warning_soft: str
    error: str
    error_soft: str
    info: str
    violet: str
    groups: tuple[str, ...]
    """Colours of node groups, repeated from the ninth on."""
    series: tuple[str, ...]
    """Colours of chart lines."""

    @property
    def is_dark(self) -> bool:
        """Whether light text stands on dark ground."""
        return self.name == "dark"

    def group(self, number: int) -> str:
        """Colour of a node group."""
        return self.groups[number % len(self.groups)]

    def load(self, fraction: float) -> str:
        """Colour of a utilisation's bar: good, from NEAR on warning, from OVER on error."""
        return self.warning_fill if NEAR <= fraction < OVER else self.load_ink(fraction)

    def load_ink(self, fraction: float) -> str:
        """Colour of a utilisation's figure."""
        if fraction >= OVER:
            return self.error
        return self.warning if fraction >= NEAR else self.good


DARK = Tokens(
    name="dark",
    canvas="#10131a", grid="#1d222c", panel="#1b1f27", sunken="#10131a",
    field="#10131a", field_line="#2e3545", card="#232936", card_hover="#2a3140",
    location="#171b23", status="#0d1017", line="#2e3545", line_strong="#434c60",
    text="#d7dde8", text_strong="#f0f3f9", muted="#98a2b5", faint="#5f697c",
    accent="#7c8cff", on_accent="#0d1017", accent_soft="#2b3152",
    good="#58d68d", warning="#f5c04e", warning_fill="#f5c04e",
    warning_soft="#2e281b", error="#ff6b6b", error_soft="#2e1f23",
    info="#4cc2ff", violet="#c3a6ff",
    groups=("#4cc2ff", "#f5a94e", "#58d68d", "#ff8fb1", "#c3a6ff", "#e6d25a", "#4fd8c8", "#ff8a65"),
    series=("#4cc2ff", "#58d68d", "#f5c04e", "#c3a6ff", "#ff8fb1", "#4fd8c8", "#ff8a65", "#9aa7ff"),
)  # fmt: skip

LIGHT = Tokens(
    name="light",
    canvas="#eef0f5", grid="#dde1ea", panel="#fbfcfe", sunken="#eef0f5",
    field="#ffffff", field_line="#c6cddb", card="#ffffff", card_hover="#f3f5fb",
    location="#f7f8fb", status="#e6e9f1", line="#d8dde8", line_strong="#b5bdcd",
    text="#2a3142", text_strong="#131826", muted="#586276", faint="#8d96a8",
    accent="#4a58d8", on_accent="#ffffff", accent_soft="#e2e5fb",
    good="#157d45", warning="#9a5e00", warning_fill="#c47f00",
    warning_soft="#fdf3dc", error="#c82e2e", error_soft="#fdecec",
    info="#0873b0", violet="#7547cc",
    groups=("#0873b0", "#a75909", "#1a7d48", "#c02f66", "#7547cc", "#806c00", "#0a7b70", "#bd461e"),
    series=("#0873b0", "#177d46", "#966300", "#7547cc", "#c02f66", "#0a7b70", "#bd461e", "#4a58d8"),
)  # fmt: skip

STYLED = "style"
"""Property of an application that was started with its widget style: setting one later loads all styles."""
_TEXT_PX = 13
_FONT_FILES = ("Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf")
_MONO_FILES = ("JetBrainsMono-Regular.ttf", "JetBrainsMono-SemiBold.ttf")


class Theme(QObject):
    """The theme in use; `changed()` follows every switch, after palette and style sheet are set."""

    changed = Signal()
    scaled = Signal()
    """Texts have other sizes now, in the same colours."""

    def __init__(self) -> None:
        super().__init__()
        self.mode: Mode = "system"
        self.tokens = DARK
        self.text_scale = 1.0
        """How much larger painted texts are than at a desk: on a projector. The canvas has its zoom."""
        self._scaled: WeakKeyDictionary[QWidget, float] = WeakKeyDictionary()
        """Windows with larger texts."""

    def set_mode(self, mode: Mode) -> None:
        """Follow the system, or stay light or dark."""
        self.mode = mode
        self.refresh()

    def scale_text(self, window: QWidget, scale: float) -> None:
        """Show the texts of a window so many times as large; 1: as those of other windows are."""
        if scale == self._scaled.get(window, 1.0):
            return
        if scale == 1.0:
            del self._scaled[window]
        else:
            self._scaled[window] = scale
            window.destroyed.connect(self._forget_gone, Qt.ConnectionType.UniqueConnection)
        _scale(window, self.tokens, scale)
        self._rescale()

    @Slot()
    def _forget_gone(self) -> None:
        """Count no window any more that went while its texts were large."""
        for window in [one for one in self._scaled if not shiboken6.isValid(one)]:
            del self._scaled[window]
        self._rescale()

    def _rescale(self) -> None:
        self.text_scale = max(self._scaled.values(), default=1.0)
        self.scaled.emit()

    @Slot()
    def refresh(self) -> None:
        """Look again at what the system wants and restyle when that differs."""
        wanted = _wanted(self.mode)
        if wanted is not self.tokens:
            self.tokens = wanted
            _style(self.tokens)
            for window, scale in self._scaled.items():
                _scale(window, self.tokens, scale)
            self.changed.emit()


@cache
def theme() -> Theme:
    """The one theme of the program."""
    return Theme()


def tokens() -> Tokens:
    """Colours of the theme in use."""
    return theme().tokens


def install(app: QApplication, mode: Mode = "system") -> None:
    """Give the application its fonts, palette and style sheet, and follow the system's colour scheme."""
    load_fonts()
    if app.property(STYLED) is None:
        app.setStyle("Fusion")
        app.setProperty(STYLED, True)
    current = theme()
    current.mode = mode
    current.tokens = _wanted(mode)
    _style(current.tokens)
    app.styleHints().colorSchemeChanged.connect(current.refresh, Qt.ConnectionType.UniqueConnection)


@cache
def load_fonts() -> None:
    """Make the bundled fonts known; needs an application object."""
    for name in _FONT_FILES:
        QFontDatabase.addApplicationFont(str(resource_path(f"fonts/{name}")))


@cache
def load_scripts() -> None:
    """Make the bundled fonts of other scripts known, which stand in where Inter has no letter."""
    for path in scripts():
        number = QFontDatabase.addApplicationFont(str(path))
        QFont.insertSubstitutions("Inter", QFontDatabase.applicationFontFamilies(number))


@cache
def _load_mono() -> None:
    for name in _MONO_FILES:
        QFontDatabase.addApplicationFont(str(resource_path(f"fonts/{name}")))


@lru_cache(maxsize=64)
def font(size_px: int = _TEXT_PX, weight: int = 400) -> QFont:
    """Inter in a size and weight (400, 500, 600), with tabular figures so that columns of numbers align."""
    made = QFont("Inter")
    made.setPixelSize(size_px)
    made.setWeight(QFont.Weight(weight))
    made.setFeature(QFont.Tag("tnum"), 1)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


@lru_cache(maxsize=16)
def mono_font(size_px: int = 12, weight: int = 400) -> QFont:
    """JetBrains Mono, for files and commands."""
    _load_mono()
    made = QFont("JetBrains Mono")
    made.setPixelSize(size_px)
    made.setWeight(QFont.Weight(weight))
    return made


@lru_cache(maxsize=512)
def icon_pixmap(name: str, colour: str, size_px: int = 16, scale: float = 2.0) -> QPixmap:
    """One icon of resources/icons in a colour, drawn for a device pixel ratio."""
    from PySide6.QtSvg import QSvgRenderer

    text = resource_path(f"icons/{name}.svg").read_text(encoding="utf-8").replace("currentColor", colour)
    side = round(size_px * scale)
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(0, 0, side, side))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap


def icon(name: str, colour: str | None = None, size_px: int = 16, gap_px: int = 0) -> QIcon:
    """An icon tinted for the theme in use; the disabled state is fainter. Ask again after `changed`.

    `gap_px`: room on the right, for a button whose style sets text too close; show it in `size + gap`.
    """
    current = tokens()
    made = QIcon()
    ratio = max(1.0, QApplication.primaryScreen().devicePixelRatio())
    for mode, ink in ((QIcon.Mode.Normal, colour or current.muted), (QIcon.Mode.Disabled, current.faint)):
        pixmap = icon_pixmap(name, ink, size_px, ratio)
        made.addPixmap(_widened(pixmap, gap_px) if gap_px else pixmap, mode)
    return made


def _widened(pixmap: QPixmap, gap_px: int) -> QPixmap:
    ratio = pixmap.devicePixelRatio()
    wide = QPixmap(pixmap.width() + round(gap_px * ratio), pixmap.height())
    wide.setDevicePixelRatio(ratio)
    wide.fill(Qt.GlobalColor.transparent)
    painter = QPainter(wide)
    painter.drawPixmap(0, 0, pixmap)
    painter.end()
    return wide


def window_icon() -> QIcon:
    """The program's own icon, in the sizes that window managers ask for."""
    made = QIcon()
    for side in (16, 24, 32, 48, 64, 128):
        made.addPixmap(icon_pixmap("ndbplan", "#7c8cff", side, 1.0))
    return made


def restyle(widget: QWidget) -> None:
    """Apply the style sheet again after a property that it selects on has changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


def _wanted(mode: Mode) -> Tokens:
    if mode == "system":
        scheme = QApplication.styleHints().colorScheme()
        return LIGHT if scheme == Qt.ColorScheme.Light else DARK
    return LIGHT if mode == "light" else DARK


def _scale(window: QWidget, t: Tokens, scale: float) -> None:
    """One window alone: to style all of them anew takes longer, and they lie on other screens."""
    window.setFont(font(round(_TEXT_PX * scale)))
    window.setStyleSheet("" if scale == 1.0 else style_sheet(t, scale))


def _style(t: Tokens) -> None:
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        return
    sheet = style_sheet(t)
    if sheet == app.styleSheet():
        # It is worn already: every widget would be styled anew.
        return
    palette = QPalette()
    role = QPalette.ColorRole
    for which, colour in (
        (role.Window, t.panel), (role.WindowText, t.text), (role.Base, t.field),
        (role.AlternateBase, t.card),
        (role.Text, t.text), (role.Button, t.card), (role.ButtonText, t.text), (role.BrightText, t.error),
        (role.Highlight, t.accent), (role.HighlightedText, t.on_accent), (role.ToolTipBase, t.card),
        (role.ToolTipText, t.text), (role.PlaceholderText, t.muted), (role.Link, t.accent),
        (role.Light, t.line_strong), (role.Midlight, t.line), (role.Mid, t.line), (role.Dark, t.line),
        (role.Shadow, t.status), (role.Accent, t.accent),
    ):  # fmt: skip
        palette.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(t.faint))
    app.setPalette(palette)
    app.setFont(font(_TEXT_PX))
    app.setStyleSheet(sheet)


def style_sheet(t: Tokens, text_scale: float = 1.0) -> str:
    """The style sheet of the whole program, its texts so many times as large as they stand there.

    Widgets opt in by dynamic properties: `kind` of a button (primary, quiet, danger), `role` of a label
    (title, heading, caption, muted, error), and by object names (`panel`, `topBar`, `statusBar`).
    """
    text = "".join(resource_path(f"{n}.qss").read_text(encoding="utf-8") for n in ("style", "panels"))
    names = {name: value for name, value in t._asdict().items() if isinstance(value, str)}
    names["icons"] = resource_path("icons").as_posix()
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(f"@{name}", names[name])
    if text_scale == 1.0:
        return text
    return re.sub(r"(?<=font-size: )([0-9]+)px", lambda size: f"{round(int(size[1]) * text_scale)}px", text)
