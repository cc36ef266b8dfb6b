"""The first three minutes: from an empty plan to the exported files of a cluster, in at most 20 actions."""

from __future__ import annotations

from pathlib import Path

from desktop.end_to_end.person import Person, Screen

_MOST_ACTIONS = 20
_DDL = """
CREATE TABLE shop.customer (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, name VARCHAR(80),
  email VARCHAR(120)) ENGINE=ndb;
CREATE TABLE shop.orders (id BIGINT UNSIGNED NOT NULL, customer BIGINT UNSIGNED NOT NULL, total DECIMAL(12,2),
  PRIMARY KEY (id), KEY (customer)) ENGINE=ndb;
"""


def test_place_connect_tables_rows_load_fix_simulate_export(screen: Screen, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "cluster"
    with Person(screen) as person:
        person.click("place('New empty plan')")
        person.until("plan.hosts == () and not window.actions_table['simulate'].isEnabled()")
        # Place: a node that is dropped on free ground brings its host.
        person.drag("place('offer-data')", "ground(0.25, 0.25)")
        person.until("'AutomaticThreadConfig 1' in window.messages.text and window.messages.isVisible()")
        person.drag("place('offer-data')", "ground(0.7, 0.25)")
        person.drag("place('offer-management')", "ground(0.25, 0.7)")
        person.until("len(plan.hosts) == 3")
        person.drag("place('offer-sql')", "item(plan.hosts[2].id)")
        person.until("len(plan.processes) == 4 and len(scene.layout.groups) == 1")
        # What another program has copied.
        person.look(f"clipboard.setText({_DDL!r})")
        person.click("place('Step 2: Tables')")
        person.until("dialog()")
        person.press("ctrl+v")
        person.click("place('Add 2 tables')")
        person.until("len(plan.tables) == 2")
        # Statements say nothing of rows: the window asks.
        person.click("place('How many rows…')")
        person.until("type(focus).__name__ == 'QLineEdit' and focus.text() == '0'")
        person.write("200M\n")
        person.until("plan.tables[0].rows == 200_000_000 and focus.accessibleName() == 'Tables'")
        person.write("900M\n")
        person.until("[t.rows for t in plan.tables] == [200_000_000, 900_000_000]")
        person.click("place('Step 3: Load')")
        person.until("len(plan.workloads) == 1 and resting()")
        person.click("tab('Problems')")
        person.click("place('Fix all')")
        person.until("resting() and window.document.undo_stack.undoText().startswith('Fix')")
        person.click("place('Simulate')")
        person.until("resting() and window.panels.analyses.run_lasts_s")
        person.press("ctrl+s")
        person.until("dialog()")
        person.write(f"{tmp_path / 'our shop.ndbplan'}\n")
        person.until("not window.document.is_modified")
        person.press("ctrl+e")
        person.until("dialog()")
        person.write(f"{folder}\n")
        person.until("window.messages.text.startswith('Exported')")
        assert person.actions <= _MOST_ACTIONS
    assert {"config.ini", "schema.sql"} <= {path.name for path in folder.rglob("*")}
    assert (folder / "config.ini").read_text().count("[ndbd]") == 2
    assert "our shop" in (folder / "config.ini").read_text()
    runbook = (folder / "runbook.md").read_text()
    assert all(word in runbook for word in ("--initialize", "BACKUP", "swap"))
