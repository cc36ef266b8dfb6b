"""Hosts and disks are kept in the palette from their cards, dropped again, and taken away there."""

from __future__ import annotations

import pytest

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.sides.palette import Palette
from ndbplan.desktop.widgets.own_hardware import ask_to_keep, shelf_menu
from ndbplan.edits.own_hardware import own_hardware
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def palette(qtbot) -> Palette:
    made = Palette()
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_card_is_kept_under_a_name_and_makes_hosts_like_it(qtbot, palette) -> None:
    document = Document()
    document.new(sample_plan("starter"))
    host = document.plan.hosts[0]
    usual = list(palette.entries)
    ask = ask_to_keep(document.plan, host.id, palette)
    assert ask.fields[0].text() == host.hostname
    ask.fields[0].setText("our blades")
    with qtbot.waitSignal(palette.done):
        ask.accept()
    (key,) = [key for key in palette.entries if key not in usual]
    assert palette.entries[key].accessibleName() == "our blades"
    editor = Editor(document, Selection(document))
    assert editor.add_offer(key)
    made = document.plan.hosts[-1]
    assert (made.cores, len(made.disks)) == (host.cores, len(host.disks))
    (remove,) = [a for a in shelf_menu(key, palette).actions() if a.text() == "Remove from the palette"]
    remove.trigger()
    assert list(palette.entries) == usual


def test_a_refused_name_is_said_and_nothing_is_kept(qtbot, palette) -> None:
    plan = sample_plan("starter")
    usual = list(palette.entries)
    ask = ask_to_keep(plan, plan.hosts[0].disks[0].id, palette)
    ask.fields[0].setText("n" * 65)
    with qtbot.waitSignal(palette.failed) as failed:
        ask.accept()
    assert "64 letters" in failed.args[0]
    assert list(palette.entries) == usual


def test_every_window_offers_what_one_keeps_and_only_that_one_says_so(qtbot, palette) -> None:
    other = Palette()
    qtbot.addWidget(other)
    plan = sample_plan("starter")
    with qtbot.assertNotEmitted(other.done):
        ask_to_keep(plan, plan.hosts[0].id, palette).accept()
    assert list(other.entries) == list(palette.entries)
    (key,) = [key for key in other.entries if key.startswith("own:")]
    other.deleteLater()
    qtbot.wait(0)
    (remove,) = [a for a in shelf_menu(key, palette).actions() if a.text() == "Remove from the palette"]
    remove.trigger()
    assert key not in palette.entries


def test_what_is_replaced_or_removed_is_named_and_comes_back(qtbot, palette) -> None:
    plan = sample_plan("starter")
    said: list[tuple] = []
    palette.done.connect(lambda *what: said.append(what))

    def keep(number: int) -> None:
        ask = ask_to_keep(plan, plan.hosts[number].id, palette)
        ask.fields[0].setText("mine")
        ask.accept()

    keep(0)
    assert said[-1][:2] == ("The palette keeps mine.", "")
    (first,) = own_hardware()
    keep(-1)
    text, button, back = said[-1]
    assert (text, button) == ("The palette keeps mine. Replaced: mine.", "Put back")
    assert own_hardware() != (first,)
    back()
    assert own_hardware() == (first,)
    (remove,) = [a for a in shelf_menu(first.key, palette).actions() if a.text() == "Remove from the palette"]
    remove.trigger()
    assert own_hardware() == ()
    assert said[-1][1] == "Put back"
    said[-1][2]()
    assert own_hardware() == (first,)
