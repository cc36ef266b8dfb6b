"""Both themes can be read: contrast as WCAG 2 counts it, and one style sheet without gaps."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QTableWidget, QTableWidgetItem, QToolButton

from ndbplan.base.resources import resource_path
from ndbplan.desktop.actions import SPECS
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets import search_field
from ndbplan.desktop.widgets.search_field import SearchField
from ndbplan.edits.palette import offers

BOTH = pytest.mark.parametrize("tokens", [theme.DARK, theme.LIGHT], ids=["dark", "light"])


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21."""

    def luminance(name: str) -> float:
        parts = QColor(name).getRgbF()[:3]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@BOTH
def test_text_is_readable_on_every_ground(tokens) -> None:
    for ground in (tokens.panel, tokens.card, tokens.location, tokens.sunken, tokens.status, tokens.canvas):
        assert contrast(tokens.text, ground) >= 7
        assert contrast(tokens.text_strong, ground) >= 7
        assert contrast(tokens.muted, ground) >= 4.5, ground
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5
    assert contrast(tokens.text, tokens.accent_soft) >= 7


@BOTH
def test_signals_stand_out_on_cards_and_panels(tokens) -> None:
    inks = (tokens.good, tokens.warning, tokens.error, tokens.info, tokens.violet)
    for ground in (tokens.card, tokens.panel, tokens.location, tokens.sunken):
        for ink in (*inks, *tokens.groups, *tokens.series):
            assert contrast(ink, ground) >= 4.5, (ink, ground)
    for ground in (tokens.card, tokens.panel, tokens.location):
        assert contrast(tokens.warning_fill, ground) >= 3


@BOTH
def test_neighbouring_groups_have_different_colours(tokens) -> None:
    assert len(set(tokens.groups)) == len(tokens.groups)
    assert tokens.group(len(tokens.groups)) == tokens.group(0)


@BOTH
def test_the_style_sheet_leaves_no_name_open_and_no_picture_missing(tokens) -> None:
    sheet = theme.style_sheet(tokens)
    assert re.findall(r"@\w+", sheet) == []
    pictures = re.findall(r"url\(([^)]+)\)", sheet)
    assert pictures
    for path in pictures:
        assert resource_path("icons").joinpath(path.rsplit("/", 1)[-1]).is_file(), path


def test_every_icon_named_in_a_table_is_there() -> None:
    names = {spec.icon for spec in SPECS if spec.icon} | {offer.icon for offer in offers()}
    for name in names:
        assert resource_path(f"icons/{name}.svg").is_file(), name


def test_load_colours_step_up_with_the_load() -> None:
    t = theme.DARK
    assert [t.load(x) for x in (0, 0.74, 0.75, 0.94, 0.95, 3)] == [
        t.good, t.good, t.warning, t.warning, t.error, t.error
    ]  # fmt: skip


def test_the_bundled_font_is_used_with_figures_of_one_width(qapp) -> None:
    from PySide6.QtGui import QFontInfo, QFontMetricsF

    theme.load_fonts()
    assert QFontInfo(theme.font()).family() == "Inter"
    metrics = QFontMetricsF(theme.font(13, 600))
    widths = [metrics.horizontalAdvance(figure) for figure in "0123456789"]
    assert max(widths) - min(widths) < 0.05
    assert QFontInfo(theme.mono_font()).family() == "JetBrains Mono"


def test_a_window_that_goes_while_its_texts_are_large_is_forgotten(qapp) -> None:
    look = theme.theme()
    kept, gone = QLabel("kept"), QLabel("gone")
    look.scale_text(kept, 1.2)
    look.scale_text(gone, 1.5)
    assert look.text_scale == 1.5
    shiboken6.delete(gone)
    assert look.text_scale == 1.2
    before = look.mode
    for mode in ("light", "dark", before):
        look.set_mode(mode)
    look.scale_text(kept, 1.0)
    assert look.text_scale == 1.0


def test_the_sign_that_clears_a_field_stands_in_its_middle_and_follows_the_theme(qapp, qtbot) -> None:
    theme.install(qapp, "dark")
    field = SearchField()
    field.setText("RedoBuffer")
    qtbot.addWidget(field)
    field.show()
    button = field.findChild(QToolButton)
    dark = button.icon().pixmap(16, 16).toImage()
    theme.theme().set_mode("light")
    qapp.processEvents()
    assert field.rect().contains(button.geometry())
    assert abs(button.geometry().center().y() - field.rect().center().y()) <= 1
    assert button.icon().pixmap(16, 16).toImage() != dark


def test_every_field_that_clears_is_of_that_kind() -> None:
    rooms = Path(search_field.__file__).parents[1].rglob("*.py")
    own = [path.name for path in rooms if "setClearButtonEnabled" in path.read_text(encoding="utf-8")]
    assert own == ["search_field.py"]


@pytest.mark.parametrize("tokens", [theme.DARK, theme.LIGHT], ids=["dark", "light"])
def test_check_boxes_of_tables_look_like_all_others(qapp, qtbot, tokens) -> None:
    theme.install(qapp, tokens.name)
    table, cell = QTableWidget(1, 1), QTableWidgetItem()
    qtbot.addWidget(table)
    cell.setCheckState(Qt.CheckState.Checked)
    table.setItem(0, 0, cell)
    table.show()
    picture = table.viewport().grab().toImage()
    across = range(picture.width()), range(picture.height())
    seen = {picture.pixelColor(x, y).name() for x, y in product(*across)}
    assert QColor(tokens.accent).name() in seen
