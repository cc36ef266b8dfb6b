"""The switcher of variants: made, named, ordered and removed by menu and keys; what was found is known."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from ndbplan.advise.remedies import Remedy
from ndbplan.base.quantity import Quantity
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.inspector.advice import RemedyCard
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.widgets.ask import Ask
from ndbplan.edits import parts as edits
from ndbplan.edits import variants
from ndbplan.edits.assign import assign
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.bottleneck import Bottleneck

HOST = "host-a1"


@pytest.fixture(scope="module")
def shared(qapp, tmp_path_factory):
    theme.install(qapp, "dark")
    folder = tmp_path_factory.mktemp("variants")
    window = MainWindow(Preferences(folder / "preferences.json"), folder / "journals")
    window.files.ask_unsaved = lambda: "discard"  # type: ignore[method-assign]
    window.resize(1280, 800)
    window.show()
    window.finish_building()
    yield window
    window.close()
    window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def window(shared) -> MainWindow:
    """A window with the starter, without variants beside it."""
    shared.document.new(sample_plan("starter"))
    shared.files.shown.emit()
    return shared


def names(window: MainWindow) -> tuple[str, ...]:
    return window.document.project.names


def press(window: MainWindow, name: str) -> None:
    """The keys of an action."""
    combination = window.actions_table[name].shortcut()[0]
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    QTest.keyClick(window.canvas, combination.key(), combination.keyboardModifiers())


def answer(window: MainWindow, qtbot, *texts: str) -> None:
    """Type into what is asked, and take it."""
    ask = window.findChild(Ask)
    assert ask is not None
    for field, text in zip(ask.fields, texts, strict=False):
        field.setText(text)
    qtbot.keyClick(ask.fields[0], Qt.Key.Key_Return)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def entries(window: MainWindow) -> list[tuple[str, bool]]:
    """The variants in the menu of the switcher, and which is marked."""
    window.top_bar.variant.fill()
    return [(a.text(), a.isChecked()) for a in window.top_bar.variant.menu().actions() if a.isCheckable()]


def test_a_variant_is_made_named_ordered_and_removed_by_keys(window, qtbot) -> None:
    press(window, "variant_new")
    answer(window, qtbot, "More cores", "as offered")
    window.document.edit("Set cores", lambda plan: edits.update(plan, HOST, cores=48))
    assert entries(window) == [("Main", False), ("More cores", True)]
    assert window.top_bar.variant.text().startswith("More cores")
    assert "as offered" in window.top_bar.variant.toolTip()
    press(window, "variant_previous")
    assert window.document.plan.host(HOST).cores == 32
    press(window, "variant_next")
    assert window.document.plan.host(HOST).cores == 48
    press(window, "variant_rename")
    answer(window, qtbot, "Big")
    assert names(window) == ("Main", "Big")
    press(window, "variant_earlier")
    assert entries(window) == [("Big  (main)", True), ("Main", False)]
    assert not window.actions_table["variant_promote"].isEnabled()
    press(window, "variant_later")
    window.actions_table["variant_promote"].trigger()
    assert names(window) == ("Big", "Main")
    window.actions_table["variant_remove"].trigger()
    assert names(window) == ("Main",)
    assert not window.actions_table["variant_remove"].isEnabled()
    assert not window.actions_table["variant_next"].isEnabled()
    while window.document.undo_stack.canUndo():
        window.document.undo_stack.undo()
    assert (names(window), window.document.plan) == (("Main",), sample_plan("starter"))


def test_names_are_whole_where_there_is_room_for_them(window) -> None:
    # A third of all names was cut: their widths were rounded down to whole pixels.
    for letters in range(1, 13):
        name = "More Cores and Disks"[-letters:].strip()
        window.document.edit_variants("Rename", partial(variants.renamed, place=0, name=name))
        assert window.top_bar.variant.text() == f"{name}  ▾"


def test_a_name_that_is_taken_is_refused_in_one_line(window, qtbot) -> None:
    press(window, "variant_new")
    answer(window, qtbot, "Main")
    assert "there is a variant 'Main' already" in window.messages.text
    assert names(window) == ("Main",)
    window.messages.hide()


def test_the_menu_shows_a_variant_and_what_was_found_for_it_is_known(window, qtbot) -> None:
    estimates = window.panels.estimates
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=60_000)
    first = estimates.latest
    window.document.edit_as_variant("B", lambda plan: edits.update(plan, HOST, cores=48))
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=60_000)
    second = estimates.latest
    window.top_bar.variant.fill()
    window.top_bar.variant.menu().actions()[0].trigger()
    assert not estimates.is_fresh
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=60_000)
    assert estimates.latest is first
    press(window, "variant_next")
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=60_000)
    assert estimates.latest is second
    window.document.edit("Set cores", lambda plan: edits.update(plan, HOST, cores=8))
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=60_000)
    assert estimates.latest is not second


def test_what_would_help_becomes_a_variant_with_one_click(window, qtbot) -> None:
    plan = window.document.plan
    rate = Quantity.exact(1000.0, "1/s")
    remedy = Remedy(
        "More cores on " + "every host, " * 8,
        lambda before: edits.update(before, HOST, cores=48),
        rate, rate, True, 60.0, Bottleneck("none", "", 0.0), (), None,
    )  # fmt: skip
    card = RemedyCard(window.panels.analyses.context, remedy)
    qtbot.addWidget(card)
    link = next(w for w in card.findChildren(QAbstractButton) if w.text() == "As a variant")
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert window.document.project.main is plan
    assert window.document.plan.host(HOST).cores == 48
    assert names(window)[1].startswith("More cores on every host")
    assert len(names(window)[1]) <= 64
    window.document.undo_stack.undo()
    assert (names(window), window.document.plan) == (("Main",), plan)


# Compare


@pytest.fixture
def compared(window, qtbot):
    """The panel with three variants of the starter."""
    for name, cores in (("B", 48), ("C", 8)):
        window.document.edit_as_variant(name, lambda plan, c=cores: edits.update(plan, HOST, cores=c))
    panel = window.panels.analyses.show_tab("Compare")
    qtbot.waitUntil(lambda: len(panel.rows.columns) == 3, timeout=60_000)
    yield panel
    window.panels.analyses.show_tab("Simulation")


def titles(panel) -> list[str]:
    return [line.title for line in panel.rows.lines]


def cells(panel, title: str) -> tuple[str, ...]:
    return next(line.cells for line in panel.rows.lines if line.title == title)


def test_the_panel_shows_what_differs_and_the_figures(window, compared, qtbot) -> None:
    assert compared.rows.columns == ("Main", "B", "C")
    assert cells(compared, "Cores of host host-a1") == ("32", "48", "8")
    assert cells(compared, "Hosts") == ("5", "5", "5")
    assert cells(compared, "Single failures that stop the cluster") == ("0", "= 0", "= 0")
    assert titles(compared).index("What differs") < titles(compared).index("Headline figures")
    assert "Highest load for an hour" not in titles(compared)
    compared.table.horizontalHeader().sectionClicked.emit(2)
    assert window.document.shown == 1
    assert compared.rows.columns == ("Main", "B", "C"), "to look at another one is no new comparison"


def test_what_it_comes_to_stands_in_the_table_and_leaves_it_its_room(window, compared, qtbot) -> None:
    """Sentences below it left one row of four variants in a small window."""
    window.resize(1366, 768)
    summary = next(line for line in compared.rows.lines if line.title == "Figures: better, worse")
    assert summary.cells[1].split() == ["0", "▲", "1", "▼"]
    assert summary.tips[1].startswith("B: better in 0 figures, worse in 1, ")
    problems = next(line for line in compared.rows.lines if line.title.startswith("Problems"))
    assert problems.cells[1].startswith("+1 ")
    assert "brings 1 " in problems.tips[1]
    qtbot.waitUntil(lambda: compared.width() > 600)
    assert compared.line.height() < 2 * compared.line.fontMetrics().height()
    rows = compared.table.viewport().height() // compared.table.verticalHeader().defaultSectionSize()
    assert rows >= 3


def test_nothing_is_cut_while_the_table_has_room(compared) -> None:
    """The table is as wide as it is only after the panel was."""
    table = compared.table
    for width in (400, 1400):
        table.resize(width, table.height())
    assert table.columnWidth(0) >= table.sizeHintForColumn(0)
    head = table.horizontalHeader()
    assert all(table.columnWidth(column) >= head.sectionSizeHint(column) for column in (1, 2, 3))


def test_variants_are_chosen_and_the_comparison_follows_an_edit(window, compared, qtbot) -> None:
    compared.chips[2].click()
    qtbot.waitUntil(lambda: compared.rows.columns == ("Main", "B"), timeout=60_000)
    window.document.show_variant(0)
    window.document.edit("Set cores", lambda plan: edits.update(plan, HOST, cores=48))
    qtbot.waitUntil(lambda: "Nothing differs" in titles(compared), timeout=60_000)
    compared.chips[1].click()
    assert compared.rows.columns == ()
    assert "One plan alone" in compared._empty.heading.text()


def test_long_names_of_variants_push_no_column_out_of_sight(window, compared, qtbot) -> None:
    longer = ("Twice the data nodes and the disks of each", "Everything in one rack, as cheap as can be")
    headings = [line for line in compared.rows.lines if line.is_heading]
    compared.rows.show_lines(("Main", "B", *longer), headings)
    compared.table.resizeColumnsToContents()
    window.resize(1180, 720)
    compared._fit_columns()
    room = compared.table.viewport().width()
    assert sum(compared.table.horizontalHeader().sectionSizeHint(column) for column in range(5)) > room
    qtbot.waitUntil(lambda: compared.table.horizontalScrollBar().maximum() == 0)
    tips = [
        compared.rows.headerData(n, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) for n in (3, 4)
    ]
    assert all(name in tip for name, tip in zip(longer, tips, strict=True))


def test_titles_are_whole_beside_the_runs_where_there_is_room(window, compared, qtbot) -> None:
    """They kept the width that a window without room had left them."""
    from ndbplan.desktop.analyses.overlaid import OverlaidRuns

    compared.table.setColumnWidth(0, 40)
    compared.runs = OverlaidRuns()
    compared._split.addWidget(compared.runs)
    window.resize(1680, 1050)
    qtbot.waitUntil(lambda: compared._split.width() > 800)
    compared._share_width()
    wanted = compared.table.sizeHintForColumn(0)
    qtbot.waitUntil(lambda: compared.table.columnWidth(0) >= min(wanted, 270))


def test_every_variant_is_seen_where_runs_have_no_room_beside_them(window, compared, qtbot) -> None:
    """At 1366x768 three of four were, beside a chart; the runs are one click away."""
    from ndbplan.desktop.analyses.overlaid import OverlaidRuns

    wide = ("▲ 1 234 567 tx/s",) * 4
    line = compared.rows.lines[0]._replace(title="Highest load for an hour", cells=wide, tips=wide)
    compared.rows.show_lines(("Main", "B", "C", "D"), [line])
    compared.runs, compared._has_runs = OverlaidRuns(), True
    compared._split.addWidget(compared.runs)
    window.resize(1366, 768)
    qtbot.waitUntil(lambda: compared.instead.isVisible())
    table = compared.table
    assert (table.isVisible(), compared.runs.isVisible()) == (True, False)
    end = table.columnViewportPosition(4) + table.columnWidth(4)
    assert end <= table.viewport().width()
    compared.instead.click()
    assert (table.isVisible(), compared.runs.isVisible()) == (False, True)
    window.resize(2560, 1440)
    qtbot.waitUntil(lambda: table.isVisible() and compared.runs.isVisible())
    assert not compared.instead.isVisible()


def test_no_variant_is_seen_in_part_in_a_small_window(window, compared, qtbot) -> None:
    """Of the third one the first digits were to be seen, and read as its figures."""
    table = compared.table
    for width in range(260, 700, 20):
        table.resize(width, table.height())
        seen = table.viewport().width()
        ends = [table.columnViewportPosition(c) + table.columnWidth(c) for c in range(1, 4)]
        begins = [table.columnViewportPosition(c) for c in range(1, 4)]
        cut = [c for c, (begin, end) in enumerate(zip(begins, ends, strict=True)) if begin < seen < end]
        assert not [c for c in cut if c], (width, cut)


def test_the_better_one_is_seen_without_a_colour(compared, monkeypatch, qtbot) -> None:
    from ndbplan.advise.compare import BETTER, Comparison, Row

    rate = [Quantity.exact(float(value), "tx/s") for value in (100, 200, 100)]
    row = Row("accepted", "Accepted", "tx/s", tuple(rate), (None, BETTER, None), *[("", "", "")] * 2, (1,))
    compared._simulated = Comparison(("Main", "B", "C"), (), (row,), ())
    compared._show()
    assert cells(compared, "Accepted") == ("100 tx/s", "▲ 200 tx/s", "100 tx/s")
    model, at = compared.rows, titles(compared).index("Accepted")
    assert model.data(model.index(at, 2), Qt.ItemDataRole.FontRole).bold()
    assert model.data(model.index(at, 1), Qt.ItemDataRole.FontRole) is None
    assert model.data(model.index(at, 2), Qt.ItemDataRole.ToolTipRole) == "200 tx/s: better"


def test_runs_stand_on_one_axis_with_the_moment_at_which_they_part(window, qtbot) -> None:
    from ndbplan.desktop.analyses.overlaid import OverlaidRuns, runs_of

    plan = sample_plan("redo-overload")
    faster = assign(plan, "redo.disk.write=200MB/s")[0]
    nows = [Estimation(one, one.workloads[0]) for one in (plan, faster, plan)]
    runs = runs_of(list(zip("ABC", nows, strict=True)), lambda: False)
    assert [run.parted_s is None for run in runs] == [True, False, True]
    assert "error 1221" in runs[1].why
    assert "200 MB/s" in runs[1].why
    shown = OverlaidRuns()
    qtbot.addWidget(shown)
    shown.show_runs(runs)
    assert [line.text().startswith(name) for line, name in zip(shown.words, "BC", strict=True)] == [
        True,
        True,
    ]
    shown.resize(240, 150)
    shown.show()
    assert not any(line.isVisible() for line in shown.words), "the chart was 30 pixels high"
    assert shown.chart.toolTip().endswith(shown.words[1].text())
    shown.resize(240, 260)
    heights = [line.height() for line in shown.words]
    assert max(heights) < 2 * shown.words[0].fontMetrics().height(), "they lay over one another"
    assert shown.words[1].y() >= shown.words[0].geometry().bottom()
    assert shown.words[0].toolTip().endswith(runs[1].why)
    for place in range(shown.picker.count()):
        shown.picker.setCurrentIndex(place)
        shown.draw()
        head = shown.chart.as_csv().splitlines()[0]
        assert head == "t_s,A,B,C"
        assert len(shown.chart.drawing.lines) == 3
    dashes = {line.opts["pen"].style() for line in shown.chart.drawing.lines}
    assert len(dashes) == 3, "lines are told apart without their colours"


def test_names_are_shown_as_they_are_and_not_as_markup(window) -> None:
    """In the bar, where a label would take `<b>` for bold, and beside the lines of charts."""
    from ndbplan.desktop.widgets.chart_readout import _ink

    assert window.top_bar.names.title.textFormat() == Qt.TextFormat.PlainText
    assert "&lt;b&gt;A&amp;B" in _ink("<b>A&B", "#ffffff")
