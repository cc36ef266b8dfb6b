"""One window by mouse and keyboard: what is said, found and kept, and a second window of one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.end_to_end.person import Person, Screen
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.plan.file import save
from ndbplan.plan.samples import sample_plan

_TOP = (
    "[[*w.geometry().getRect()] for w in (window.canvas, window.outline, window.status,"
    " window.panels.analyses, window.top_bar.variant, *(window.top_bar.layout().itemAt(i).widget()"
    " for i in range(window.top_bar.layout().count()))) if w]"
)
_DIVIDED = "[*windows[0].middle.sizes(), *windows[0].workspace.sizes()]"
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


def command(person: Person, words: str) -> None:
    """Do what the command palette finds first."""
    person.press("ctrl+k")
    person.until("window.commands.isVisible()")
    person.write(f"{words}\n")
    person.until("not window.commands.isVisible()")


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
    for typed, first in (
        ("smlte", "Simulate"),
        ("binary", "Units: Binary (GiB)"),
        ("datamemory", "DataMemory"),
    ):
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


def test_hardware_is_kept_and_made_of_devices(person: Person, own: Path) -> None:
    person.click("item(plan.hosts[0].id)", button=3)
    person.click("entry('Keep in the palette')")
    person.until("type(focus).__name__ == 'QLineEdit' and focus.accessibleName() != 'Clock (GHz)'")
    person.press("ctrl+a")
    person.write("big box\n")
    person.until("'own:host:big box' in window.palette_panel.entries")
    kept, file = "place('offer-own:host:big box')", own / "hardware.json"
    person.click(kept, button=3)
    person.click("entry('Write your hardware')")
    person.until("dialog()")
    person.write(f"{file}\n")
    person.until("not dialog() and 'written to' in window.messages.text")
    person.click(kept, button=3)
    person.click("entry('Remove from the palette')")
    person.until("'own:host:big box' not in window.palette_panel.entries")
    person.click("place('offer-rack')", button=3)
    person.click("entry('Take in hardware')")
    person.until("dialog()")
    person.write(f"{file}\n")
    person.until("'own:host:big box' in window.palette_panel.entries")
    disk = person.look("plan.hosts[0].disks[0].id")
    person.click(f"item({disk!r})")
    person.until(f"window.selection.ids == ({disk!r},)")
    person.click("place('Array')")
    person.press("Down")
    person.press("Return")
    person.until(f"plan.by_id[{disk!r}].raid is not None")
    person.click("place('Devices')", times=3)
    person.write("4\n")
    person.until(f"plan.by_id[{disk!r}].devices == 4")


def test_what_would_help_says_the_headroom_and_offers_more_devices(person: Person) -> None:
    while person.look("window.document.undo_stack.canUndo()"):
        person.press("ctrl+z")
    command(person, "what would help")
    person.until("'nothing refused' in shown(window.panels.inspector)")
    said = person.look("shown(window.panels.inspector)")
    assert "RAID 0" in said
    assert "too much" in said
    person.click("place('Try: Redo disks of 2 devices each, RAID 0')")
    person.until("{d.devices for h in plan.hosts for d in h.disks if d.raid} == {2}")


def test_locations_nest(person: Person) -> None:
    """Rack in room in site: by the list of the rack, and by dropping one on the other."""
    for keys in ("ctrl+0", "ctrl+minus", "ctrl+minus"):
        person.press(keys)
    for x in (0.2, 0.5, 0.8):
        person.drag("place('offer-rack')", f"ground({x}, 0.86)")
        person.until("resting()")
    rack, room, site = person.until("len(plan.locations) == 3 and [one.id for one in plan.locations]")
    person.click(f"item({rack!r})")
    person.until(f"window.selection.ids == ({rack!r},)")
    person.click("place('Inside')")
    person.press("Down")
    person.press("Return")
    person.until(f"plan.by_id[{rack!r}].parent_id == {room!r}")
    person.drag(f"item({room!r})", f"item({site!r})")
    person.until(f"plan.by_id[{room!r}].parent_id == {site!r}")
    boxes = person.look("[[*scene.item_of(p.id).rect_in_scene().getCoords()] for p in plan.locations]")
    for (left, top, right, low), around in ((boxes[0], boxes[1]), (boxes[1], boxes[2])):
        assert around[0] <= left
        assert around[1] <= top
        assert around[2] >= right
        assert around[3] >= low


def test_figures_are_pasted_from_a_spreadsheet(person: Person) -> None:
    name = person.look("plan.tables[0].name")
    person.look(f"clipboard.setText('table\\trows\\tgrowth\\n{name}\\t5M\\t1M\\n')")
    person.click("tab('Tables')")
    person.click("cell('Tables', 0, 2)")
    person.press("ctrl+v")
    person.until("(plan.tables[0].rows, plan.tables[0].growth_rows_per_month) == (5_000_000, 1_000_000)")


def test_what_the_memory_rests_on_leads_to_where_it_is_stated(person: Person) -> None:
    person.press("ctrl+z")
    person.click("tab('Memory')")
    person.click("place('Tighten ')")
    person.until("window.selection.ids == (plan.tables[0].id,)")


def test_what_the_command_line_has_is_in_the_window(person: Person, own: Path) -> None:
    running = own / "config.ini"
    text = render_config_ini(sample_plan("redo-overload"))
    running.write_text(text.replace("[ndbd default]", "[ndbd default]\nRedoBuffer=33M"), encoding="utf-8")
    command(person, "compare with what")
    person.until("dialog().startswith('Compare with what runs') and modal().changes.rowCount() > 0")
    person.click("place('Choose another file')")
    person.until("dialog() == 'Compare with what runs' and 'FileDialog' in type(modal()).__name__")
    person.write(f"{running}\n")
    person.until("'config.ini' in modal().what.text()")
    rows = "[modal().changes.item(row, 0).text() for row in range(modal().changes.rowCount())]"
    assert "RedoBuffer" in person.look(rows)
    assert person.look("modal().steps.count()") > 1, "how it is brought in"
    person.press("Escape")
    person.until("not dialog()")
    command(person, "i measured")
    person.until("dialog().startswith('I measured')")
    person.click("place('How long it took')")
    person.write("80s")
    person.until("modal().take.isEnabled()")
    person.click("place('Use it')")
    person.until("not dialog() and plan.calibrations")
    command(person, "where a key lies")
    person.click("place('Where a key lies')")
    person.until("dialog().startswith('Where a key of')")
    person.write("7")
    person.until("'Partition' in shown(modal())")
    person.click("place('Show its nodes')")
    person.until("len(window.selection.ids) == 2")
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
    person.drag("middle(window.middle.handle(1))", "ground(0.5, 0.7)")
    person.press("ctrl+b")
    person.press("ctrl+1")
    person.until("window.canvas.zoom == 1 and not window.actions_table['side'].isChecked()")
    divided = person.look(_DIVIDED)
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
        # The one in front first; each as it was.
        assert again.look("[w.document.plan.name for w in windows]") == ["two", "one"]
        one = "[w for w in windows if w.document.plan.name == 'one'][0]"
        again.until(f"{one}.panels.tab == 'Failures'")
        assert not again.look(f"{one}.actions_table['side'].isChecked()")
        assert again.look(_DIVIDED.replace("windows[0]", one)) == divided
        assert again.look(f"{one}.canvas.zoom") == 1
