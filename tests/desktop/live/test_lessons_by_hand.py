"""Lessons played in the window by hand: consoles, the menu of the canvas, the clock and the lesson's panel.

Nothing is typed at `!`: every goal can be reached with what the window offers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from ndbplan.base.units import format_clock, parse_duration_s
from ndbplan.desktop.live.acts import menu_of
from ndbplan.desktop.live.page import LivePage
from ndbplan.desktop.widgets.ask import Ask
from ndbplan.plan.fields import Point
from ndbplan.train.consoles import LESSON, WORLD, addressed
from ndbplan.train.lessons.files import LESSONS as KIND
from ndbplan.train.lessons.play import Play, lines_of_route

_WAIT_MS = 60_000
_ASKED = {"set": "Change a parameter…", "edit": "Edit the configuration file…", "load": "Load…"}
"""Entries that ask back, by the word that they say."""
LESSONS = (
    "add-nodes",
    "backup-window",
    "checkpoint-stall",
    "disk-roles",
    "full-disk",
    "hot-key",
    "memory-at-night",
    "node-restart",
    "rack-lost",
    "redo-log-full",
    "redo-overload",
    "rolling-change",
    "terabyte-back",
)


def rest(qtbot: Any, page: LivePage) -> None:
    qtbot.waitUntil(lambda: not page.session.is_busy, timeout=_WAIT_MS)


class Hand:
    """Somebody who plays with the mouse, and types only where a console or a field asks for it."""

    def __init__(self, qtbot: Any, page: LivePage) -> None:
        self.qtbot, self.page = qtbot, page

    def does(self, line: str) -> None:
        """What a line says, by the widgets that say it."""
        found = addressed(line)
        assert found is not None
        verb, _, rest_ = found.text.partition(" ")
        if found.prompt == LESSON:
            self.answers(rest_)
        elif found.prompt != WORLD:
            self.types(found.prompt, found.text)
        elif verb == "wait":
            assert self.page.sight is not None
            self.page.bar.moment_wanted.emit(round(self.page.sight.at_s + parse_duration_s(rest_), 1))
        elif verb == "until":
            self.waits_until(re.sub(r" within .*", "", rest_))
        else:
            self.chooses(found.text)
        rest(self.qtbot, self.page)

    def types(self, prompt: str, text: str) -> None:
        console = self.page.open_console(prompt)
        console.input.setText(text)
        QTest.keyClick(console.input, Qt.Key.Key_Return)

    def answers(self, text: str) -> None:
        assert self.page.lesson is not None
        name, _, given = text.partition(" ")
        box = self.page.lesson.questions[name]
        if box.field is None:
            box.choose(given)
        else:
            box.field.setText(given)
        box.button.click()

    def waits_until(self, condition: str) -> None:
        """A breakpoint, and time that flows as fast as the window lets it."""
        bar, session = self.page.bar, self.page.session
        bar.breakpoint.setText(condition)
        QTest.keyClick(bar.breakpoint, Qt.Key.Key_Return)
        rest(self.qtbot, self.page)
        assert session.seat is not None
        if not session.seat.breakpoints[-1].holds(session.seat.cluster.session.simulation):
            bar.speed.setCurrentIndex(bar.speed.count() - 1)
            bar.play.click()
            self.qtbot.waitUntil(lambda: not session.plays, timeout=_WAIT_MS)
            rest(self.qtbot, self.page)
        for chip in [*bar._chips.values()]:
            chip.click()

    def chooses(self, line: str) -> None:
        """An entry of the menu of a part or of the cluster; the answer where it asks back."""
        page = self.page
        assert page.sight is not None
        plan = page.sight.plan
        disks = [disk for host in plan.hosts for disk in host.disks]
        for ids in [(), *((part.id,) for part in (*plan.processes, *plan.hosts, *plan.locations, *disks))]:
            menu = menu_of(page.canvas, ids, page.sight, page.say, QPoint(5, 5), page.source.value.allows)
            entry = next((one for one in menu.actions() if one.toolTip() == f"{WORLD} {line}"), None)
            if entry is not None:
                entry.trigger()
                return
            menu.close()
        verb, _, rest_ = line.partition(" ")
        if verb == "move":
            roles, _, name = rest_.partition(" to ")
            disk = next(disk for disk in disks if disk.name == name)
            self.asked((disk.id,), "Move files here…", roles)
        elif verb == "free":
            # The menu says a disk by its name, where the line says a role of it.
            where, _, role = rest_.removeprefix("disk:").partition("/")
            host = next(host for host in plan.hosts if host.hostname == where)
            node = next(node for node in plan.data_nodes if node.host_id == host.id)
            disk_id = next(one for name, one in node.disk_roles if name == role)
            name = next(disk.name for disk in host.disks if disk.id == disk_id)
            self.chooses(f"free disk:{where}/{name}")
        else:
            self.asked((), _ASKED[verb], *rest_.removeprefix("x").split("="))

    def asked(self, ids: tuple[str, ...], entry: str, *values: str) -> None:
        page = self.page
        assert page.sight is not None
        menu = menu_of(page.canvas, ids, page.sight, page.say, QPoint(5, 5), page.source.value.allows)
        next(action for action in menu.actions() if action.text() == entry).trigger()
        menu.close()
        popup = page.canvas.findChildren(Ask)[-1]
        for field, value in zip(popup.fields, values, strict=True):
            field.setText(value)
        popup.button.click()


def test_the_top_bar_says_the_version_of_the_cluster_that_is_played_on(qtbot: Any, shown: Any) -> None:
    """It said that of the plan behind, and choosing another one edited that plan unseen."""
    window = shown("starter", 1366, 768)
    version, before = window.top_bar.version, window.document.plan
    source = KIND.find("redo-overload")
    window.live.begin_lesson(source, source.value.starts[0], "Ann")
    page = window.live.page
    page.session.begun.connect(lambda: page.session.play(False))
    qtbot.waitUntil(lambda: page.session.seat is not None, timeout=_WAIT_MS)
    rest(qtbot, page)
    assert page.canvas.document.plan.ndb_version != before.ndb_version
    assert version.text() == f"NDB {page.canvas.document.plan.ndb_version}"
    assert not version.isEnabled()
    # What is not in the hands of who plays is not offered.
    for ids, mine in (
        ((), {"Change a parameter…", "Load…"}),
        ((page.canvas.document.plan.data_nodes[0].id,), set()),
    ):
        page._open_menu(ids, QPoint(5, 5))
        menu = page.canvas.findChildren(QMenu)[-1]
        able = {action.text() for action in menu.actions() if action.isEnabled()}
        refused = {action.text() for action in menu.actions() if "Not in your hands" in action.toolTip()}
        assert mine <= able
        assert refused & {"Edit the configuration file…", "Kill"}
        menu.close()
    window.live.end()
    window._show_workspace()
    assert version.isEnabled()
    assert version.text().startswith(f"NDB {before.ndb_version} ")


def test_as_time_stands_still_the_panel_tells_of_that_moment(
    qtbot: Any, shown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While time flows a lesson is told now and then, which is a minute where it flows quickly."""
    monkeypatch.setattr("ndbplan.desktop.live.session._LESSON_EVERY_S", 1e9)
    window = shown("starter", 1366, 768)
    source = KIND.find("rack-lost")
    window.live.begin_lesson(source, source.value.starts[0], "Ann")
    page = window.live.page
    session = page.session
    session.begun.connect(lambda: session.play(False))
    qtbot.waitUntil(lambda: session.seat is not None, timeout=_WAIT_MS)
    session.set_speed(300.0)

    def tells_of_now() -> bool:
        left_s = int(source.value.limit - session.seat.cluster.now_s)
        return not session.is_busy and page.lesson.left.text() == f"{format_clock(left_s)} left"

    def plays_to(at_s: float) -> None:
        rest(qtbot, page)
        session.play(True)
        qtbot.waitUntil(lambda: page.sight.at_s > at_s or not session.plays, timeout=_WAIT_MS)

    plays_to(20.0)
    qtbot.waitUntil(lambda: session._flows, timeout=_WAIT_MS)
    session.play(False)
    qtbot.waitUntil(tells_of_now, timeout=_WAIT_MS)  # Stopped while a piece of time passed.
    page.bar.step_wanted.emit()
    qtbot.waitUntil(tells_of_now, timeout=_WAIT_MS)  # After a step.
    session.stop_when("nodes_down 1")
    plays_to(1e9)
    qtbot.waitUntil(tells_of_now, timeout=_WAIT_MS)  # Stopped by what happened.
    window.live.end()


def begun(qtbot: Any, window: Any) -> LivePage:
    """A live cluster on the plan, in which time stands still."""
    window.actions_table["live"].trigger()
    page = window.live.page
    assert isinstance(page, LivePage)
    page.session.begun.connect(lambda: page.session.play(False))
    qtbot.waitUntil(lambda: page.session.seat is not None, timeout=_WAIT_MS)
    rest(qtbot, page)
    return page


def test_title_and_status_are_those_of_the_live_cluster_while_it_is_in_front(qtbot: Any, shown: Any) -> None:
    """The name, *edited*, the variant and the state of the estimates stayed those of the plan behind."""
    window = shown("starter", 1366, 768)
    assert window.editor.add_offer("host-small", position=Point(x=2500.0, y=2500.0))
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=_WAIT_MS)
    bar, status, names = window.top_bar, window.status, window.top_bar.names
    before = window.windowTitle(), names.title.text(), names.edited.text()
    assert before[2] == "— edited"
    page = begun(qtbot, window)
    assert (names.edited.text(), bar.variant.isVisible()) == ("— live", False)
    assert window.windowTitle() == f"{page.title} — live — ndbplan"
    assert window.actions_table["live"].text() == "Back to the plan"
    assert (status.estimates.isVisible(), status.live.isVisible()) == (False, True)
    assert status.live.text() == "2 of 2 data nodes up"
    page.say(WORLD, "kill node:1")
    rest(qtbot, page)
    assert status.live.text() == "1 of 2 data nodes up"
    window.document.undo_stack.undo()
    assert names.edited.text() == "— live"
    window.document.undo_stack.redo()
    window.live.toggle()
    assert (window.windowTitle(), names.title.text(), names.edited.text()) == before
    assert (bar.variant.isVisible(), status.estimates.isVisible()) == (True, True)
    assert not status.live.isVisible()
    source = KIND.find("redo-overload")
    window.live.begin_lesson(source, source.value.starts[0], "Ann")
    assert (names.edited.text(), window.live.page.title) == ("— lesson", source.value.title)
    assert window.windowTitle().startswith(source.value.title)
    window.live.end()


@pytest.mark.parametrize("over", ["live cluster", "samples"])
def test_what_acts_on_a_plan_that_is_covered_rests_and_says_why(over: str, qtbot: Any, shown: Any) -> None:
    window = shown("starter", 1366, 768)
    window.selection.set([host.id for host in window.document.plan.hosts[:2]])
    corner = window.canvas.canvas_scene.item_of(window.document.plan.hosts[0].id).rect_in_scene().topLeft()
    assert window.editor.add_offer("host-small", position=Point(x=corner.x() + 20, y=corner.y() + 20))
    qtbot.waitUntil(window.actions_table["move_apart"].isEnabled)
    able = {action.objectName() for action in window.actions_table.all() if action.isEnabled()}
    if over == "samples":
        window.show_gallery()
    else:
        begun(qtbot, window)
    still = {
        "new", "new_window", "open", "gallery", "import", "quit", "find", "next_panel", "demos", "lessons",
        "guide", "keys", "theme_system", "theme_light", "theme_dark",
        "units_usual", "units_decimal", "units_binary",
        *(("live", "fit", "zoom_in", "zoom_out", "zoom_normal") if over == "live cluster" else ()),
    }  # fmt: skip
    assert {action.objectName() for action in window.actions_table.all() if action.isEnabled()} == still
    for name in able - still:
        tip = window.actions_table[name].toolTip()
        assert tip.startswith(f"{'A' if over == 'live cluster' else 'The'} {over} "), (name, tip)
        assert "over the plan: " in tip
    assert not window.top_bar.version.isEnabled()
    assert window.status.apart.isHidden()
    window._show_workspace()
    assert {action.objectName() for action in window.actions_table.all() if action.isEnabled()} >= able
    assert not window.status.apart.isHidden()
    assert not any("over the plan" in action.toolTip() for action in window.actions_table.all())


def test_scenes_of_the_plan_are_seen_although_a_cluster_lay_over_it(
    qtbot: Any, shown: Any, tmp_path: Path
) -> None:
    """They were played behind it."""
    window = shown("starter", 1366, 768)
    window.document.save(tmp_path / "shop.ndbplan")
    assert window.demos.add_scene() == 0
    begun(qtbot, window)
    demo = window.demos.own()
    assert demo is not None
    window.demos.play_own(demo)
    assert window.pages.currentWidget() is window.workspace
    assert window.actions_table["present"].isChecked()
    window.demos.player.end()


@pytest.mark.parametrize("typed", ["add 8 cores", "add a table", "colour by memory"])
def test_what_the_palette_does_to_the_plan_is_seen_although_a_cluster_lay_over_it(
    typed: str, qtbot: Any, shown: Any
) -> None:
    window = shown("starter", 1366, 768)
    window.actions_table["live"].trigger()
    page = window.live.page
    qtbot.waitUntil(lambda: page.session.seat is not None, timeout=_WAIT_MS)
    assert window.pages.currentWidget() is page
    page.canvas.set_zoom(page.canvas.zoom / 2)
    window.commands.open()
    command, *_others = window.commands.matching(typed)
    window.commands.hide()
    command.run()
    assert window.pages.currentWidget() is window.workspace
    assert window.live.page is page
    assert window.status.zoom.text() == f"{window.canvas.zoom * 100:.0f} %"


def test_the_view_of_the_plan_waits_behind_a_live_cluster_as_it_was_left(qtbot: Any, shown: Any) -> None:
    window = shown("starter", 1366, 768)
    window.canvas.fit()
    assert window.editor.add_offer("host-small", position=Point(x=2500.0, y=2500.0))
    before = window.canvas.transform(), window.canvas.visible_rect()
    window.actions_table["live"].trigger()
    qtbot.waitUntil(lambda: window.live.page.session.seat is not None, timeout=_WAIT_MS)
    window.actions_table["live"].trigger()
    assert window.pages.currentWidget() is window.workspace
    assert (window.canvas.transform(), window.canvas.visible_rect()) == before


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_played_to_its_end_with_what_the_window_offers(name: str, qtbot: Any, shown: Any) -> None:
    window = shown("starter", 1366, 768)
    source = KIND.find(name)
    start = source.value.starts[-1]
    window.live.begin_lesson(source, start, "Ann")
    page = window.live.page
    assert page is not None
    page.session.begun.connect(lambda: page.session.play(False))
    qtbot.waitUntil(lambda: page.session.seat is not None, timeout=_WAIT_MS)
    rest(qtbot, page)
    hand = Hand(qtbot, page)
    for line in lines_of_route(Play(source.value, start), 0):
        hand.does(line)
        # Whoever types waits for the prompt.
        while page.session.seat is not None and page.session.seat.cluster.looks:
            page.session.flow(1.0)
            rest(qtbot, page)
    page.session.flow(0.1)
    rest(qtbot, page)
    play = page.session.seat.play if page.session.seat is not None else None
    assert play is not None
    goals = {goal.name for stage in play.lesson.stages for goal in stage.goals}
    assert goals <= play.marks.keys()
    assert (play.score(), page.can_save) == (100, True)
    window.live.ask_unsaved = lambda: "discard"
    window.live.leave()
