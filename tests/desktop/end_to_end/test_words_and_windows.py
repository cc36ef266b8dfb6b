"""One window by mouse and keyboard: what is said, found and kept, and a second window of one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.end_to_end.person import Person, Screen
from ndbplan.plan.file import save
from ndbplan.plan.samples import sample_plan

_TOP = (
    "[[*w.geometry().getRect()] for w in (window.canvas, window.outline, window.status,"
    " window.panels.analyses, window.top_bar.variant, *(window.top_bar.layout().itemAt(i).widget()"
    " for i in range(window.top_bar.layout().count()))) if w]"
)
_FOUND = "[c.text for c in window.commands.matching(window.commands.field.text())]"


@pytest.fixture(scope="module")
def own(screen: Screen, qapp: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two small plans; whoever starts now has own settings, and a decimal comma."""
    folder = tmp_path_factory.mktemp("own")
    before = screen.environment
    screen.environment = before | {"LC_ALL": "de_DE.UTF-8"}
    screen.environment |= {f"XDG_{n}_HOME": str(folder / n.lower()) for n in ("CONFIG", "DATA", "STATE")}
    plan = sample_plan("redo-overload")
    for name in ("one", "two"):
        save(plan.replace(name=name), folder / f"{name}.ndbplan")
    yield folder
    screen.environment = before


@pytest.fixture(scope="module")
def person(screen: Screen, own: Path) -> Iterator[Person]:
    with Person(screen, str(own / "one.ndbplan")) as person:
        yield person


def test_messages_names_and_the_mark_of_an_edit_push_nothing(person: Person, own: Path) -> None:
    before = person.look(_TOP)
    person.click("item(plan.hosts[-1].id)")
    person.until("window.selection.ids == (plan.hosts[-1].id,)")
    person.press("ctrl+d")
    person.until("window.document.is_modified and window.top_bar.names.edited.text()")
    assert person.look(_TOP) == before
    person.press("ctrl+s")
    person.until("not window.document.is_modified and window.messages.text.startswith('Saved')")
    assert person.look("window.messages.isVisible()")
    assert person.look(_TOP) == before
    assert person.look("not window.messages.geometry().intersects(window.pages.geometry())")
    person.press("ctrl+shift+s")
    person.until("dialog()")
    longer = own / "one of a much longer name than it had when it was opened.ndbplan"
    person.write(f"{longer}\n")
    person.until(f"window.document.path.name == {longer.name!r} and not dialog()")
    assert person.look(_TOP) == before
    person.press("ctrl+shift+s")
    person.until("dialog()")
    person.write(f"{own / 'one.ndbplan'}\n")
    person.click("place('&Yes')")
    person.until("window.document.path.name == 'one.ndbplan' and not dialog()")


def test_a_refused_drag_says_why_at_the_pointer(person: Person) -> None:
    steps = person.look("window.document.undo_stack.count()")
    for source, why in (
        ("item(plan.hosts[0].disks[0].id)", "A disk stands in a host"),
        ("item(plan.data_nodes[0].id)", "A node runs on a host"),
    ):
        person.drag(source, "ground(0.98, 0.97)")
        person.until(f"tip().startswith({why!r})")
    assert person.look("window.document.undo_stack.count()") == steps
    # Whoever drags to an edge looks further there.
    person.press("ctrl+0")


def test_the_palette_finds_what_is_meant(person: Person) -> None:
    for typed, first in (("smlte", "Simulate"), ("binary", "Binary (GiB)"), ("datamemory", "DataMemory")):
        person.press("ctrl+k")
        person.until("window.commands.isVisible()")
        person.write(typed)
        assert first in person.until(f"window.commands.field.text() == {typed!r} and {_FOUND}")[0]
        person.press("Return" if typed == "binary" else "Escape")
        person.until("not window.commands.isVisible()")
    person.press("ctrl+k")
    person.until("window.commands.isVisible()")
    person.write("zzqqx")
    person.until("window.commands.none.isVisible() and 'zzqqx' in window.commands.none.text()")
    assert "guide" in person.look(_FOUND)[0]
    person.press("Escape")
    # One system of units from then on, and a comma that is decimal here.
    person.until("resting() and 'GB' not in shown(window.panels.analyses)")
    person.click("item(plan.hosts[0].id)")
    person.until("window.selection.ids == (plan.hosts[0].id,)")
    person.click("place('Clock (GHz)')", times=3)
    person.write("2,5\n")
    person.until("plan.hosts[0].clock_ghz == 2.5")


def test_hardware_is_kept_and_made_of_devices(person: Person) -> None:
    person.click("item(plan.hosts[0].id)", button=3)
    person.click("entry('Keep in the palette')")
    person.until("type(focus).__name__ == 'QLineEdit' and focus.accessibleName() != 'Clock (GHz)'")
    person.press("ctrl+a")
    person.write("big box\n")
    person.until("'own:host:big box' in window.palette_panel.entries")
    disk = person.look("plan.hosts[0].disks[0].id")
    person.click(f"item({disk!r})")
    person.until(f"window.selection.ids == ({disk!r},)")
    person.click("place('Made of')")
    person.press("Down")
    person.press("Return")
    person.until(f"plan.by_id[{disk!r}].raid is not None")
    person.click("place('Devices')", times=3)
    person.write("4\n")
    person.until(f"plan.by_id[{disk!r}].devices == 4")


def test_figures_are_pasted_from_a_spreadsheet(person: Person) -> None:
    name = person.look("plan.tables[0].name")
    person.look(f"clipboard.setText('table\\trows\\tgrowth\\n{name}\\t5M\\t1M\\n')")
    person.click("tab('Tables')")
    person.click("cell('Tables', 0, 2)")
    person.press("ctrl+v")
    person.until("(plan.tables[0].rows, plan.tables[0].growth_rows_per_month) == (5_000_000, 1_000_000)")
    # What the memory rests on that nobody has measured.
    person.click("tab('Memory')")
    person.until("resting() and tighten().words.text()")


def test_what_the_command_line_has_is_in_the_window(person: Person, own: Path) -> None:
    def command(words: str, title: str) -> None:
        person.press("ctrl+k")
        person.until("window.commands.isVisible()")
        person.write(f"{words}\n")
        person.until(f"dialog().startswith({title!r})")

    command("compare with what", "Compare with what runs")
    person.until("modal().changes.rowCount() > 0")
    person.press("Escape")
    person.until("not dialog()")
    command("i measured", "I measured")
    person.click("place('How long it took')")
    person.write("20m")
    person.until("modal().take.isEnabled()")
    person.press("Escape")
    person.until("not dialog()")


def test_a_second_process_says_who_has_the_file(person: Person, screen: Screen, own: Path) -> None:
    with Person(screen, str(own / "one.ndbplan")) as other:
        other.until("window.messages.isVisible() and 'is open in another window' in window.messages.text")
        assert other.look("window.messages.text").count(str(person.process_id)) == 1


def test_the_next_start_is_as_the_last_end(screen: Screen, person: Person, own: Path) -> None:
    person.press("ctrl+s")
    person.until("not window.document.is_modified")
    person.click("tab('Failures')")
    person.press("ctrl+b")
    person.press("ctrl+1")
    person.until("window.canvas.zoom == 1 and not window.actions_table['side'].isChecked()")
    person.press("ctrl+shift+n")
    person.until("len(windows) == 2 and resting()")
    person.press("ctrl+o")
    person.until("dialog() == 'Open a plan'")
    person.write(f"{own / 'two.ndbplan'}\n")
    person.until("plan.name == 'two' and resting()")
    person.press("ctrl+q")
    person.ended()
    with Person(screen) as again:
        again.until("{w.document.plan.name for w in windows} == {'one', 'two'}")
        tab, side = again.look("[[w.panels.tab, w.actions_table['side'].isChecked()] for w in windows][0]")
        assert tab == "Failures"
        assert not side
