"""A number that can be read two ways is asked about in its field, never guessed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from ndbplan.base.units import TwoReadingsError
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.ask import Ask, Question
from ndbplan.desktop.widgets.fields import LineField
from ndbplan.desktop.widgets.units import (
    BYTES_PER_S,
    CAPACITY,
    COUNT,
    LATENCY,
    MEMORY,
    NUMBER,
    SECONDS,
    SHARE,
    WHOLE_NUMBER,
)

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def field_of(qtbot, qapp):
    theme.install(qapp, "light")
    made = []

    def make(unit):
        taken: list[float] = []
        field = LineField("Value", unit, taken.append)
        field.show_value(1000)
        field.show()
        made.append(field)
        return field, taken

    yield make
    for field in made:
        field.close()
        field.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def buttons(field: LineField) -> list[QPushButton]:
    return [b for b in field.readings.findChildren(QPushButton) if b.isVisible()]


def typed(qtbot, field: LineField, text: str) -> None:
    field.line.setFocus()
    field.line.selectAll()
    qtbot.keyClicks(field.line, text)
    qtbot.keyClick(field.line, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("unit", "text", "texts", "values"),
    [
        (NUMBER, "1,500", ["1500", "1.500"], [1500, 1.5]),
        (COUNT, "1,500", ["1500"], [1500]),
        (COUNT, "1.500", ["1500"], [1500]),
        (WHOLE_NUMBER, "-1,500", ["-1500"], [-1500]),
        (COUNT, "1,500k", ["1500k", "1.500k"], [1_500_000, 1500]),
        (COUNT, "900.000", ["900000", "900"], [900_000, 900]),
        (MEMORY, "64", ["64 MiB", "64 GiB"], [64 * 2**20, 64 * 2**30]),
        (BYTES_PER_S, "5m/s", ["5 MB/s", "5 MiB/s"], [5e6, 5 * 2**20]),
        (BYTES_PER_S, "118", ["118 MB/s", "118 GB/s"], [118e6, 118e9]),
        (BYTES_PER_S, "2.5", ["2.5 MB/s", "2.5 GB/s"], [2.5e6, 2.5e9]),
        (LATENCY, "2", ["2 ms", "2 s"], [0.002, 2.0]),
        (LATENCY, "0.5", ["0.5 ms", "0.5 s"], [0.0005, 0.5]),
        (MEMORY, "1.5", ["1.5 MiB", "1.5 GiB"], [1.5 * 2**20, 1.5 * 2**30]),
    ],
)
def test_the_two_meanings_are_buttons(field_of, qtbot, unit, text, texts, values) -> None:
    for number, value in enumerate(values):
        field, taken = field_of(unit)
        typed(qtbot, field, text)
        assert "reads two ways" in field.error.text()
        assert [button.text() for button in buttons(field)] == texts
        assert not taken
        qtbot.mouseClick(buttons(field)[number], LEFT)
        assert taken == [value]
        assert field.error.isHidden()
        assert not buttons(field)


def test_typing_on_or_escape_takes_the_question_back(field_of, qtbot) -> None:
    field, taken = field_of(NUMBER)
    typed(qtbot, field, "1,500")
    qtbot.keyClick(field.line, Qt.Key.Key_Escape)
    assert not buttons(field)
    assert field.error.isHidden()
    typed(qtbot, field, "1,500")
    typed(qtbot, field, "7")
    assert taken == [7]
    assert not buttons(field)


@pytest.mark.parametrize("text", ["1 500", "1500", "1.5k"])
def test_a_whole_number_with_one_meaning_is_not_asked_about(field_of, qtbot, text) -> None:
    field, taken = field_of(COUNT)
    field.show_value(7)
    typed(qtbot, field, text)
    assert taken == [1500]
    assert field.error.isHidden()


@pytest.mark.parametrize(
    ("unit", "text", "texts", "values"),
    [
        (MEMORY, "1,5", ["1,5 MiB", "1,5 GiB"], [1.5 * 2**20, 1.5 * 2**30]),
        (CAPACITY, "1.500 GB", ["1500 GB", "1.5 GB"], [1.5e12, 1.5e9]),
        (CAPACITY, "1,234 TB", ["1234 TB", "1.2340 TB"], [1.234e15, 1.234e12]),
        (SECONDS, "2.500 ms", ["2500 ms", "2.5 ms"], [2.5, 0.0025]),
        (NUMBER, "900.000", ["900000", "900.0"], [900_000, 900]),
        (COUNT, "1.500k", ["1500k", "1.5k"], [1_500_000, 1500]),
    ],
)
def test_a_point_may_set_thousands_apart_where_people_write_a_comma(
    monkeypatch, field_of, qtbot, unit, text, texts, values
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    for number, value in enumerate(values):
        field, taken = field_of(unit)
        typed(qtbot, field, text)
        assert [button.text() for button in buttons(field)] == texts
        qtbot.mouseClick(buttons(field)[number], LEFT)
        assert taken == [pytest.approx(value)]


def test_a_popup_asks_which_is_meant(qtbot, qapp) -> None:
    theme.install(qapp, "dark")
    taken: list[float] = []
    owner = QWidget()
    qtbot.addWidget(owner)
    popup = Ask("Kill", [Question("At", SECONDS, "5 min")], "Kill", taken.append, owner)
    popup.ask_at(owner.pos())
    popup.fields[0].setText("1,500")
    qtbot.keyClick(popup.fields[0], Qt.Key.Key_Return)
    assert not taken
    one, other = popup.readings.findChildren(QPushButton)
    assert (one.text(), other.text()) == ("1500", "1.500")
    qtbot.mouseClick(other, LEFT)
    assert taken == [1.5]
    assert not popup.isVisible()


def test_a_share_is_asked_about_too(monkeypatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    with pytest.raises(TwoReadingsError, match=r"1500 % or 1\.5 %"):
        SHARE.parse("1.500 %")
    assert SHARE.parse("1,5 %") == 0.015


@pytest.mark.parametrize(
    ("text", "texts", "rows"),
    [
        ("900.000", ["900000", "900"], 900_000),
        ("1,500", ["1500"], 1500),
        ("2.500.000", [], 2_500_000),
        ("1,5M", [], 1_500_000),
    ],
)
def test_rows_where_people_write_a_comma(monkeypatch, field_of, qtbot, text, texts, rows) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    field, taken = field_of(COUNT)
    typed(qtbot, field, text)
    assert [button.text() for button in buttons(field)] == texts
    if texts:
        assert not taken
        qtbot.mouseClick(buttons(field)[0], LEFT)
    assert taken == [rows]
