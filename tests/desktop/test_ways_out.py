"""Problems with several ways out are solved where they are read, by a click on one of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt

from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.widgets.problem_list import ProblemRow
from ndbplan.edits import parts as edits
from ndbplan.edits.offers import make_table
from ndbplan.edits.parameters import set_parameter

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(qtbot, qapp, tmp_path):
    theme.install(qapp, "light")
    made = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    made.files.ask_unsaved = lambda: "discard"
    made.resize(1366, 768)
    made.show()
    made.finish_building()
    yield made
    made.close()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def too_small(window: MainWindow, rows: int) -> None:
    """Default DataMemory, and a table that does not fit."""
    window.steps.do("hosts")
    table = make_table(window.document.plan).model_copy(update={"rows": rows, "assumed": ()})
    window.document.edit(
        "Fill", lambda p: set_parameter(edits.add(p, table), "data_node", "DataMemory", None)
    )


def fill_row(window: MainWindow, qtbot) -> ProblemRow:
    panel = window.panels.analyses.show_tab("Problems")
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=20_000)
    rows = [row for row in panel.findChildren(ProblemRow) if "its DataMemory" in row.accessibleName()]
    assert len(rows) == 1, "one row for one cause"
    return rows[0]


def test_the_recommended_button_solves_it_and_says_why(window, qtbot) -> None:
    too_small(window, 300_000_000)
    row = fill_row(window, qtbot)
    first = row.ways[0]
    assert first.title.startswith("Raise DataMemory to ")
    qtbot.mouseClick(first, LEFT)
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=20_000)
    assert window.document.undo_stack.undoText() == first.title
    rules = {problem.rule for problem in window.panels.estimates.latest.problems}
    assert "data-memory-fill" not in rules
    assert window.document.plan.parameters.data_node["DataMemory"] > 10 * 2**30


def test_fix_all_takes_the_recommended_way_where_it_buys_nothing(window, qtbot) -> None:
    too_small(window, 300_000_000)
    fill_row(window, qtbot)
    panel = window.panels.analyses.panel("Problems")
    assert "Raise DataMemory" in panel.fix_all.toolTip()
    hosts = window.document.plan.hosts
    qtbot.mouseClick(panel.fix_all, LEFT)
    qtbot.waitUntil(lambda: "Fix" in window.document.undo_stack.undoText(), timeout=20_000)
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=20_000)
    assert "data-memory-fill" not in {p.rule for p in window.panels.estimates.latest.problems}
    assert window.document.plan.hosts == hosts


def test_ways_that_buy_are_buttons_too_and_fit_into_the_inspector(window, qtbot) -> None:
    too_small(window, 2_000_000_000)
    row = fill_row(window, qtbot)
    assert [way.title.split()[0] for way in row.ways] == ["Give", "Add"]
    button, problems = (
        window.panels.analyses.panel("Problems").fix_all,
        window.panels.estimates.latest.problems,
    )
    free = sum(problem.free_way is not None for problem in problems)
    assert button.isHidden() or button.text() == f"Fix {free} of {len(problems)}", "not all: this one buys"
    frame = window.panels.inspector_frame
    beside = [r for r in frame.findChildren(ProblemRow) if "its DataMemory" in r.accessibleName()]
    assert beside
    for button in beside[0].ways:
        qtbot.waitUntil(lambda button=button: button.width() <= frame.width())
        assert button.fontMetrics().horizontalAdvance(button.text().split("\n")[0]) < button.width()
    qtbot.mouseClick(row.ways[1], LEFT)
    assert len(window.document.plan.hosts) > 4


def test_a_data_node_that_is_added_says_what_it_took_from_its_host(window, qtbot) -> None:
    window.editor.add_offer("host-large")
    window.editor.add_offer("data", onto=window.document.plan.hosts[0].id)
    assert "AutomaticThreadConfig 1" in window.messages.text
    assert "DataMemory 128G" in window.messages.text
    assert window.document.plan.parameters.data_node["DataMemory"] == 128 * 2**30
    qtbot.mouseClick(window.messages._button, LEFT)
    assert not window.document.plan.parameters.data_node
    window.editor.add_offer("host-large")
    window.editor.add_offer("data", onto=window.document.plan.hosts[1].id)
    assert not window.document.plan.parameters.data_node, "the second one is like the first"
