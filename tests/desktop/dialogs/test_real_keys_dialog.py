"""Real keys in the window: counted in a thread, shown with their skew, taken in one step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from pytestqt.qtbot import QtBot

from ndbplan.desktop.dialogs.real_keys_dialog import RealKeysDialog
from ndbplan.desktop.document.document import Document
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.estimate.stored import count_keys
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def document() -> Document:
    return Document(sample_plan("add-nodes"))


@pytest.fixture
def dialog(qtbot: QtBot, document: Document) -> Iterator[RealKeysDialog]:
    made = RealKeysDialog(document, document.plan.tables[0].id)
    made.open()
    yield made
    if shiboken6.isValid(made):
        made.reject()


def _counted(qtbot: QtBot, dialog: RealKeysDialog, path: Path) -> dict[str, str]:
    dialog.count(path)
    qtbot.waitUntil(lambda: dialog.task is None, timeout=60_000)
    texts = [dialog.facts.itemAt(i).widget().text() for i in range(dialog.facts.count())]
    return dict(zip(texts[::2], texts[1::2], strict=True))


def test_keys_are_counted_shown_and_taken_in_one_step(
    qtbot: QtBot, dialog: RealKeysDialog, document: Document, tmp_path: Path
) -> None:
    before = document.plan
    path = tmp_path / "keys.csv"
    path.write_text("a,other\n" + "".join(f"{key},x\n" for key in range(5000)))
    facts = _counted(qtbot, dialog, path)
    assert facts["Rows"] == facts["Different keys"]
    assert facts["Uneven because of"] == "chance, as any hash spreads"
    assert not dialog.hot.isVisible()
    dialog.take.click()
    table = document.plan.tables[0]
    with path.open("rb") as stream:
        assert table.partition_rows == count_keys(before, before.tables[0], stream).partition_rows
    assert table.rows == 5000
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.plan is before


def test_keys_that_repeat_are_named_hottest_first(
    qtbot: QtBot, dialog: RealKeysDialog, tmp_path: Path
) -> None:
    path = tmp_path / "keys.csv"
    path.write_text("a\n" + "7\n" * 900 + "8\n" * 90 + "9\n" * 10)
    facts = _counted(qtbot, dialog, path)
    assert facts["Uneven because of"] == "the keys themselves"
    assert [dialog.hot.item(row, 0).text() for row in range(3)] == ["7", "8", "9"]
    assert dialog.hot.item(0, 2).text() == "90 %"


def test_rows_that_cannot_be_read_are_named_and_do_not_count(
    qtbot: QtBot, dialog: RealKeysDialog, document: Document, tmp_path: Path
) -> None:
    path = tmp_path / "keys.csv"
    path.write_text("a\n1\nnonsense\n3\n")
    assert _counted(qtbot, dialog, path)["Rows"] == "2"
    assert "row 3" in dialog.state.text()
    dialog.put_in()
    assert document.plan.tables[0].rows == 2


@pytest.mark.parametrize(
    ("content", "said"), [("b\n1\n", "column"), ("a\n", "no keys"), ("a\nx\ny\n", "row 2")]
)
def test_a_file_of_no_use_changes_nothing(
    qtbot: QtBot, dialog: RealKeysDialog, document: Document, tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "keys.csv"
    path.write_text(content)
    _counted(qtbot, dialog, path)
    assert said in dialog.state.text()
    assert not dialog.take.isEnabled()
    dialog.put_in()
    assert document.undo_stack.count() == 0


def test_a_missing_file_is_said(qtbot: QtBot, dialog: RealKeysDialog, tmp_path: Path) -> None:
    _counted(qtbot, dialog, tmp_path / "nothing.csv")
    assert "nothing.csv" in dialog.state.text()


def test_a_collation_without_exact_hash_says_so_and_spreads_evenly(qtbot: QtBot, tmp_path: Path) -> None:
    plan = sample_plan("add-nodes")
    table = plan.tables[0]
    columns = tuple(
        validated.changed(c, type="varchar", length=40, unsigned=False, collation="utf8mb4_ja_0900_as_cs")
        if c.name == "a"
        else c
        for c in table.columns
    )
    document = Document(edits.update(plan, table.id, columns=columns))
    path = tmp_path / "keys.csv"
    path.write_text("a\nx\ny\n")
    dialog = RealKeysDialog(document, table.id)
    dialog.open()
    facts = _counted(qtbot, dialog, path)
    assert facts["Rows"] == "2"
    assert "Fullest partition" not in facts
    assert "on average" in dialog.state.text()
    dialog.put_in()
    assert document.plan.tables[0].partition_rows == ()


def test_a_table_that_is_gone_does_not_come_back(
    qtbot: QtBot, dialog: RealKeysDialog, document: Document, tmp_path: Path
) -> None:
    path = tmp_path / "keys.csv"
    path.write_text("a\n1\n2\n")
    _counted(qtbot, dialog, path)
    document.edit("Delete", lambda plan: edits.remove(plan, [plan.tables[0].id]))
    dialog.put_in()
    assert document.plan.tables == ()
    assert "there is no" in dialog.state.text()


def test_counting_takes_only_the_counts_into_the_plan(
    qtbot: QtBot, dialog: RealKeysDialog, document: Document, tmp_path: Path
) -> None:
    path = tmp_path / "keys.csv"
    path.write_text("a\n1\n2\n")
    _counted(qtbot, dialog, path)
    document.edit("Rename", document.plan.replace(name="renamed"))
    dialog.put_in()
    assert (document.plan.name, document.plan.tables[0].rows) == ("renamed", 2)
