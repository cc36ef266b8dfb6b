"""Tables from SQL in the window: understood while typing, taken in one step, known tables keep their rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from pytestqt.qtbot import QtBot

from ndbplan.desktop.dialogs.sql_dialog import SqlDialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.look import theme
from ndbplan.plan.samples import sample_plan

_SQL = """
CREATE TABLE `shop`.`orders` (
  id BIGINT UNSIGNED NOT NULL,
  customer INT NOT NULL,
  note VARCHAR(200),
  PRIMARY KEY (id),
  KEY by_customer (customer)
) ENGINE=NDBCLUSTER;
CREATE TABLE shop.broken (id INT, PRIMARY KEY (id), shape WHATEVER);
"""


@pytest.fixture
def document() -> Document:
    return Document(sample_plan("add-nodes"))


@pytest.fixture
def dialog(qtbot: QtBot, document: Document) -> Iterator[SqlDialog]:
    made = SqlDialog(document)
    made.open()
    yield made
    if shiboken6.isValid(made):
        made.reject()


def _typed(qtbot: QtBot, dialog: SqlDialog, text: str) -> None:
    dialog.text.setPlainText(text)
    qtbot.waitUntil(lambda: dialog.read_back.count() > 0, timeout=30_000)


def test_tables_are_listed_noted_and_added_in_one_step(
    qtbot: QtBot, dialog: SqlDialog, document: Document
) -> None:
    _typed(qtbot, dialog, _SQL)
    lines = [dialog.read_back.item(i).text() for i in range(dialog.read_back.count())]
    assert "shop.orders: added, 3 columns" in lines
    noted = next(i for i, line in enumerate(lines) if line.startswith("line 9"))
    dialog._go_to(dialog.read_back.item(noted))
    assert dialog.text.textCursor().blockNumber() == 8
    dialog.add_tables()
    table = document.plan.table("shop.orders")
    assert [column.name for column in table.columns] == ["id", "customer", "note"]
    assert table.primary_key == ("id",)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert len(document.plan.tables) == 1


def test_a_known_table_takes_the_definition_and_keeps_its_rows(
    qtbot: QtBot, dialog: SqlDialog, document: Document
) -> None:
    before = document.plan.table("test.t1")
    columns = "a BIGINT NOT NULL PRIMARY KEY, b INT, c TIMESTAMP, d VARBINARY(1024), extra INT"
    _typed(qtbot, dialog, f"CREATE TABLE test.t1 ({columns}) ENGINE=NDB;")
    assert dialog.read_back.item(0).text() == "test.t1: redefined, rows kept, 5 columns"
    dialog.add_tables()
    after = document.plan.table("test.t1")
    assert after.id == before.id
    assert after.rows == before.rows
    assert [column.name for column in after.columns] == ["a", "b", "c", "d", "extra"]


def test_a_definition_that_breaks_a_workload_is_refused_in_one_line(
    qtbot: QtBot, dialog: SqlDialog, document: Document
) -> None:
    before = document.plan
    _typed(qtbot, dialog, "CREATE TABLE test.t1 (a BIGINT NOT NULL PRIMARY KEY, extra INT) ENGINE=NDB;")
    assert "has no column 'b'" in dialog.state.text()
    assert not dialog.take.isEnabled()
    dialog.add_tables()
    assert document.plan is before


def test_a_file_that_is_not_there_is_said_in_one_line(dialog: SqlDialog, tmp_path: Path) -> None:
    dialog.load(tmp_path / "none.sql")
    assert "cannot be read" in dialog.state.text()
    assert not dialog.take.isEnabled()


def test_log_file_groups_and_tablespaces_come_too(
    qtbot: QtBot, dialog: SqlDialog, document: Document
) -> None:
    text = (
        "CREATE LOGFILE GROUP lg_9 ADD UNDOFILE 'u.log' INITIAL_SIZE 64M ENGINE NDB;\n"
        "CREATE TABLESPACE ts_9 ADD DATAFILE 'd.dat' USE LOGFILE GROUP lg_9 INITIAL_SIZE 128M ENGINE NDB;\n"
        "ALTER TABLESPACE ts_9 ADD DATAFILE 'e.dat' INITIAL_SIZE 128M ENGINE NDB;\n"
    )
    before = document.plan
    _typed(qtbot, dialog, text)
    assert dialog.take.text() == "Add 1 log file group, 1 tablespace"
    listed = [dialog.read_back.item(i).text() for i in range(dialog.read_back.count())]
    assert listed == ["log file group lg_9: added", "tablespace ts_9: added"]
    dialog.add_tables()
    space = next(one for one in document.plan.tablespaces if one.name == "ts_9")
    assert sum(file.count for file in space.data_files) == 2
    document.undo_stack.undo()
    assert document.plan is before


def test_what_the_plan_lacks_or_has_is_shown_before_it_is_taken(
    qtbot: QtBot, dialog: SqlDialog, document: Document
) -> None:
    text = "DROP TABLE test.t1;\nCREATE TABLE n (a INT PRIMARY KEY)\n TABLESPACE lost ENGINE=NDB;"
    _typed(qtbot, dialog, text)
    listed = [dialog.read_back.item(i).text() for i in range(dialog.read_back.count())]
    assert listed[0].startswith("test.t1: dropped, and with it workloads[")
    assert listed[-1].startswith(
        "line 3, column 13: table test.n is in tablespace 'lost', which nothing makes"
    )
    assert dialog.take.text() == "Add 1 table, 1 change of what is there"
    dialog._go_to(dialog.read_back.item(len(listed) - 1))
    assert dialog.text.textCursor().blockNumber() == 2
    dialog.add_tables()
    assert [table.full_name for table in document.plan.tables] == ["test.n"]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_signs_follow_a_theme_that_is_switched_while_the_dialog_is_open(
    qtbot: QtBot, dialog: SqlDialog, mode: theme.Mode
) -> None:
    theme.theme().set_mode("dark" if mode == "light" else "light")
    _typed(qtbot, dialog, _SQL)
    theme.theme().set_mode(mode)
    good = theme.icon("table-2", theme.tokens().good)
    assert dialog.read_back.item(0).icon().pixmap(16, 16).toImage() == good.pixmap(16, 16).toImage()
