"""The live cluster in the window: the same as at a terminal, and nothing of it stays in the plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDockWidget,
    QFileDialog,
    QLabel,
    QMenu,
    QPushButton,
    QTabBar,
    QWidget,
)
from shiboken6 import isValid

from ndbplan.describe.overlay import NO_LOADS
from ndbplan.desktop.dialogs.lessons_dialog import LessonsDialog
from ndbplan.desktop.document.preferences import LESSONS
from ndbplan.desktop.live.acts import acts_of, menu_of
from ndbplan.desktop.live.canvas import CLOCK, LiveCanvas
from ndbplan.desktop.live.console import MOST_LINES
from ndbplan.desktop.live.page import LivePage
from ndbplan.desktop.live.session import Frame
from ndbplan.desktop.live.transcript import save_transcript
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.widgets.ask import Ask
from ndbplan.edits.validated import checked
from ndbplan.plan.file import dumps
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.train.busy import host_busy
from ndbplan.train.completion import offered
from ndbplan.train.consoles import MGM, WORLD, Consoles, addressed, answered
from ndbplan.train.lessons import inbox
from ndbplan.train.lessons.debrief import compared, had
from ndbplan.train.lessons.files import LESSONS as KIND
from ndbplan.train.lessons.play import Play, lines_of_route
from ndbplan.train.lessons.result import outcome, page, read_page
from ndbplan.train.live import LiveCluster
from ndbplan.train.prompts import SQL
from ndbplan.train.seat import Seat
from ndbplan.train.sight import sight
from ndbplan.train.terminal import Terminal

_WAIT_MS = 60_000
SAMPLE = "redo-overload-8.4"
Live = Callable[[], tuple[MainWindow, LivePage]]


def rest(qtbot: Any, page: LivePage) -> None:
    qtbot.waitUntil(lambda: not page.session.is_busy, timeout=_WAIT_MS)


def still(qtbot: Any, window: MainWindow) -> LivePage:
    """The page of a cluster that has begun; its time has not passed yet."""
    page = window.live.page
    assert page is not None
    page.session.begun.connect(lambda: page.session.play(False))
    qtbot.waitUntil(lambda: page.session.seat is not None, timeout=_WAIT_MS)
    rest(qtbot, page)
    return page


@pytest.fixture
def live(qtbot: Any, shown: Any) -> Live:
    def begin() -> tuple[MainWindow, LivePage]:
        window = shown(SAMPLE, 1366, 768)
        window.actions_table["live"].trigger()
        return window, still(qtbot, window)

    return begin


def enter(qtbot: Any, page: LivePage, prompt: str, text: str) -> None:
    """Type a line at a console and wait for its answer."""
    console = page.open_console(prompt)
    console.input.setText(text)
    QTest.keyClick(console.input, Qt.Key.Key_Return)
    rest(qtbot, page)


LINES = (
    (MGM, "SHOW"), (WORLD, "wait 20s"), (SQL, "SELECT * FROM ndbinfo.logbuffers;"), ("data1$", "df -h"),
    (WORLD, "kill node:4"), (MGM, "ALL STATUS"), ("data2$", "ndbmtd"), (MGM, "mysql> SHOW WARNINGS;"),
    (WORLD, "wait 30s"), (MGM, "4 STATUS"), (MGM, "nonsense"), ("data1$", "rm -rf /"), (MGM, "  "),
)  # fmt: skip


def test_consoles_answer_as_at_a_terminal_and_the_plan_is_as_it_was(qtbot: Any, live: Live) -> None:
    window, page = live()
    document = window.document
    before, steps = dumps(document.project), document.undo_stack.count()
    cluster = LiveCluster.begin(document.plan, window.panels.estimates.workload_id)
    terminal = Terminal(cluster, 0)
    expected: dict[str, str] = {}
    for prompt, text in LINES:
        enter(qtbot, page, prompt, text)
        whole = text if addressed(text) else f"{prompt} {text}"
        if text.strip():
            answer = terminal.line(whole, 0.0).removesuffix("\n")
            shown = f"{prompt} {text}"
            expected[prompt] = expected.get(prompt, "") + f"{shown}\n{answer}\n"
    for prompt, text in expected.items():
        assert page.consoles[prompt].text == text.removesuffix("\n"), prompt
    assert page.sight == sight(cluster)
    assert page.log.toPlainText() == cluster.log_text().removesuffix("\n")
    # Back to a second of it: as a cluster that has never been further.
    page.bar.course.setValue(10)
    rest(qtbot, page)
    cluster.rewind(10.0)
    assert page.sight == sight(cluster)
    assert page.log.toPlainText() == cluster.log_text().removesuffix("\n")
    page.bar.branch.click()
    enter(qtbot, page, WORLD, "load x3")
    assert page.sight is not None
    assert page.sight.load == 3
    page.bar.branch_chosen.emit(0)
    rest(qtbot, page)
    assert page.sight == sight(cluster)
    assert dumps(document.project) == before
    assert (document.undo_stack.count(), document.is_modified) == (steps, False)
    page.bar.breakpoint.setText("accepted >= 1")
    QTest.keyClick(page.bar.breakpoint, Qt.Key.Key_Return)
    page.bar.breakpoint.setText("never 3")
    with qtbot.waitSignal(page.told) as told:
        QTest.keyClick(page.bar.breakpoint, Qt.Key.Key_Return)
    assert "'never' is not a quantity" in told.args[1]
    rest(qtbot, page)
    page.bar.play.click()
    page.session.stop_when("never 3")
    rest(qtbot, page)
    assert page.session.plays, "a slip of the fingers does not stop time"
    page.bar.play.click()


def test_a_node_leads_to_the_shell_where_it_is_started(live: Live) -> None:
    """In a lesson that leaves no other way its menu said `Start`, grey, and nothing else."""
    _, page = live()
    assert page.sight is not None
    plan = page.canvas.document.plan
    for node in (plan.data_nodes[0], plan.management_nodes[0], plan.sql_nodes[0]):
        prompt = f"{plan.host(node.host_id or '').hostname}$"
        menu = menu_of(page, (node.id,), page.sight, page.say, allows=())
        able = {action.text(): action for action in menu.actions() if action.isEnabled()}
        able[f"Open the shell of {prompt.removesuffix('$')}"].trigger()
        assert prompt in page.consoles
        menu.close()


def test_time_flows_with_the_clock_and_waits_while_the_plan_is_looked_at(qtbot: Any, live: Live) -> None:
    window, page = live()
    page.bar.speed.setCurrentIndex(page.bar.speed.count() - 1)
    page.bar.play.click()
    assert page.sight is not None
    begun_s = page.sight.at_s
    qtbot.waitUntil(lambda: page.sight is not None and page.sight.at_s > begun_s + 100, timeout=_WAIT_MS)
    window.actions_table["live"].trigger()
    assert window.pages.currentWidget() is window.workspace
    assert not page.session.plays
    assert not window.actions_table["live"].isChecked()
    window.actions_table["live"].trigger()
    assert window.live.page is page
    assert window.actions_table["live"].isChecked()
    # Another plan: the cluster of the one before is gone, and nobody is asked.
    window.live.ask_unsaved = lambda: pytest.fail("there is nothing to lose")
    window.open_sample("starter")
    assert window.live.page is None
    assert window.pages.currentWidget() is window.workspace
    qtbot.waitUntil(lambda: not isValid(page))


def test_what_was_typed_is_not_lost_unasked(
    qtbot: Any, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quitting, or another plan, ended a cluster with all that was typed at it, and asked nothing."""
    window, page = live()
    path, answers = tmp_path / "typed.txt", ["cancel", "cancel", "save"]
    window.live.ask_unsaved = lambda: answers.pop(0)
    enter(qtbot, page, MGM, "SHOW")
    window.live.leave()
    assert not window.close()
    assert window.live.page is page
    assert page.can_save
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    window.live.leave()
    assert (window.live.page, answers) == (None, [])
    assert "ndb_mgm> SHOW" in path.read_text()


def test_another_variant_ends_it(qtbot: Any, live: Live) -> None:
    window, page = live()
    window.document.edit_as_variant("Other", lambda plan: checked(plan, plan.replace(name="Other")) or plan)
    assert window.live.page is None
    qtbot.waitUntil(lambda: not isValid(page))


def test_a_window_closes_while_a_line_is_answered(qtbot: Any, live: Live) -> None:
    window, page = live()
    page.session.ask(WORLD, "until accepted < 0 within 2h")
    window.close()
    assert not window.isVisible()
    assert window.live.page is None


def test_what_the_menu_offers_is_what_a_console_takes(qtbot: Any, live: Live) -> None:
    window, page = live()
    plan = window.document.plan
    seen = page.sight
    assert seen is not None
    chosen = [(), *((part.id,) for part in plan.objects() if part.id in page.canvas.document.plan.by_id)]
    lines = {(act.prompt, act.line) for ids in chosen for act in acts_of(plan, ids, seen) if act.line}
    assert {line.split()[0] for _, line in lines} >= {"load", "kill", "hang", "fail", "slow", "cut", "START"}
    cluster = page.session.seat.cluster  # type: ignore[union-attr]  # a session has begun
    for prompt, line in sorted(lines):
        answer = Consoles(cluster.branch()).answer(f"{prompt} {line}")
        assert not answer.startswith("ndbplan: "), (line, answer)


def ask_by_menu(qtbot: Any, page: LivePage, ids: tuple[str, ...], entry: str, *values: str) -> None:
    """Choose an entry that asks back, and answer it."""
    seen = page.sight
    assert seen is not None
    menu = menu_of(page.canvas, ids, seen, page.say, QPoint(10, 10))
    next(action for action in menu.actions() if action.text() == entry).trigger()
    menu.close()
    popup = page.canvas.findChildren(Ask)[-1]
    for field, value in zip(popup.fields, values, strict=True):
        field.setText(value)
    popup.button.click()
    rest(qtbot, page)


def test_menus_ask_for_what_lessons_need(qtbot: Any, live: Live) -> None:
    window, page = live()
    plan = window.document.plan
    session = page.session.seat
    assert session is not None
    ask_by_menu(qtbot, page, (), "Edit the configuration file…", "RedoBuffer", "96M")
    assert session.cluster.state.edited is not None
    spare = next(disk for disk in plan.hosts[0].disks if disk.id != plan.data_nodes[0].disk_roles.lcp)
    ask_by_menu(qtbot, page, (spare.id,), "Move files here…", "lcp")
    assert f"lcp goes to {spare.name} with a rolling restart" in page.consoles[WORLD].text
    seen = page.sight
    assert seen is not None
    told = [[a.line for a in acts_of(p, (), seen._replace(plan=p))] for p in (plan, _uneven(plan))]
    assert ["spread" in lines for lines in told] == [False, True]


def _uneven(plan: Plan) -> Plan:
    """The plan with clients that like some keys more."""

    def liked(transaction: Any) -> Any:
        ways = tuple(one.model_copy(update={"key_choice": "power_law"}) for one in transaction.operations)
        return transaction.model_copy(update={"operations": ways})

    loads = tuple(
        load.model_copy(update={"transactions": tuple(map(liked, load.transactions))})
        for load in plan.workloads
    )
    return plan.replace(workloads=loads)


def test_two_sessions_of_the_mysql_client_wait_for_one_another_in_the_window(qtbot: Any, live: Live) -> None:
    _window, page = live()
    page._fill_consoles()
    another = next(one for one in page._more.menu().actions() if one.text().startswith("Another session"))
    another.trigger()
    rows = "create database two; create table two.x (id int primary key, k int) engine=ndb"
    enter(qtbot, page, SQL, f"{rows}; insert into two.x values (1,1); begin; update two.x set k=2 where id=1")
    enter(qtbot, page, "mysql2>", "update two.x set k=k+10 where id=1")
    assert "it waits for what mysql> has locked" in page.consoles["mysql2>"].text
    enter(qtbot, page, WORLD, "wait 0.5s")
    assert "Query OK" not in page.consoles["mysql2>"].text
    enter(qtbot, page, SQL, "commit")
    assert "Query OK, 1 row affected (0.50 sec)" in page.consoles["mysql2>"].text
    assert "Query OK, 1 row affected (0.50 sec)" not in page.consoles[SQL].text
    enter(qtbot, page, SQL, "mysql2> select k from two.x")
    assert "12" in page.consoles[SQL].text


def test_a_log_is_followed_and_what_was_typed_is_saved_and_plays_again(
    qtbot: Any, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, page = live()
    server = window.document.plan.management_nodes[0]
    log = f"tail -f ndb_{server.node_id}_cluster.log"
    prompt = f"{window.document.plan.host(server.host_id).hostname}$"
    enter(qtbot, page, prompt, log)
    shell = page.consoles[prompt]
    before = shell.text
    page.session.flow(30.0)
    rest(qtbot, page)
    assert shell.text.startswith(before)
    assert "Local checkpoint" in shell.text.removeprefix(before)
    enter(qtbot, page, MGM, "SHOW")
    assert "Local checkpoint" not in page.consoles[MGM].text
    QTest.keyClick(shell.input, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    rest(qtbot, page)
    ended = shell.text
    page.go_to(12.0)
    rest(qtbot, page)
    QTest.keyClick(shell.input, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    rest(qtbot, page)
    ended = shell.text
    enter(qtbot, page, WORLD, "kill node:4")
    assert shell.text == ended
    path = tmp_path / "typed.txt"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    save_transcript(page, page.session, page.told.emit, lambda: None)
    rest(qtbot, page)
    typed = path.read_text().splitlines()
    assert [line for line in typed if not line.startswith(("#", "! wait"))] == [
        "! apart", f"{prompt} {log}", "ndb_mgm> SHOW", f"{prompt} ^C", "! rewind to 12s",
        f"{prompt} ^C", "! kill node:4",
    ]  # fmt: skip
    cluster = LiveCluster.begin(window.document.plan, window.panels.estimates.workload_id)
    again = list(answered(typed, cluster))
    assert cluster.now_s == page.session.seat.cluster.now_s  # type: ignore[union-attr]  # a session has begun
    assert {f"# {line}".rstrip() for line in again[-1].answer.splitlines()} <= set(typed)


def test_keys_of_a_console(qtbot: Any, live: Live) -> None:
    window, page = live()
    console = page.open_console(MGM)
    for line in ("SHOW", "3 STATUS", "3 STATUS"):
        enter(qtbot, page, MGM, line)
    seen = []
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down):
        QTest.keyClick(console.input, key)
        seen.append(console.input.text())
    assert seen == ["3 STATUS", "SHOW", "SHOW", "3 STATUS", ""]
    console.input.setText("he")
    QTest.keyClick(console.input, Qt.Key.Key_Tab)
    assert console.input.text() == offered("he", MGM, window.document.plan).common
    assert console.input.hasFocus()
    console.input.clear()
    QTest.keyClick(console.input, Qt.Key.Key_Tab)
    assert not console.input.hasFocus(), "Tab on an empty line goes on"
    console.output.add("\n".join(map(str, range(3 * MOST_LINES))))
    assert console.output.blockCount() == MOST_LINES
    QTest.keyClick(console.input, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert console.text == ""
    parts = set()
    for _ in range(6):
        page.focus_next()
        focus = QApplication.focusWidget()
        parts.add(focus)
        assert focus.accessibleName(), type(focus)
    assert len(parts) >= 4


# Lessons.


def test_a_lesson_in_the_window_is_the_lesson_of_the_command_line(
    qtbot: Any, shown: Any, tmp_path: Path
) -> None:
    window = shown(SAMPLE, 1366, 768)
    before = dumps(window.document.project)
    source = KIND.find("redo-overload")
    start = source.value.starts[0]
    window.live.begin_lesson(source, start, "Ann")
    page_of_lesson = still(qtbot, window)
    panel = page_of_lesson.lesson
    assert panel is not None
    next(one for one in panel.findChildren(QPushButton) if one.text().startswith("A hint")).click()
    rest(qtbot, page_of_lesson)
    hint = source.value.stages[0].hints[0].text
    assert [one.text() for one in panel.findChildren(QLabel) if hint in one.text()] == [hint], "said once"
    for line in lines_of_route(Play(source.value, start), 0):
        page_of_lesson.session.flow(0.4)
        found = addressed(line)
        assert found is not None
        if found.text.startswith("answer "):
            _, name, given = found.text.split(" ", 2)
            box = panel.questions[name]
            if box.field is None:
                box.choose(given)
            else:
                box.field.setText(given)
            box.button.click()
            rest(qtbot, page_of_lesson)
            if name in panel.questions:
                assert panel.questions[name].told.text().startswith("Right"), "beside what was asked"
                assert panel.state.text() == "", "and nowhere else"
        elif found.prompt == "lesson>":
            panel.said.emit(found.text)
            rest(qtbot, page_of_lesson)
        else:
            enter(qtbot, page_of_lesson, found.prompt, found.text)
    page_of_lesson.session.flow(7200.0)
    qtbot.waitUntil(lambda: page_of_lesson.can_save, timeout=_WAIT_MS)
    assert panel.save.isVisible()
    assert {tick.state for tick in panel.ticks} == {"reached"}, "what was so all the time counts now"
    path = tmp_path / "ann.html"
    page_of_lesson.ask_page = lambda: path
    panel.save.click()
    found_page = read_page(path.read_bytes(), "ann.html")
    again = Play(source.value, start, "Ann")
    again.cluster.apart = True
    for step in found_page["steps"]:
        again.answer(step["line"])
    assert page(outcome(again, source.source)) == path.read_bytes()
    assert found_page["score"] == 100 - 4
    panel.debriefing.had.setText("1:05 ! load x0.1")
    QTest.keyClick(panel.debriefing.had, Qt.Key.Key_Return)
    rest(qtbot, page_of_lesson)
    both = had(found_page, source, 65.0, "! load x0.1")
    words = [one.text() for one in panel.debriefing.findChildren(QLabel)]
    rows = words[words.index("would have been") + 1 :]
    assert rows == [cell for row in compared(both) for cell in row]
    panel.debriefing.had.setText("sometime ! load x0.1")
    QTest.keyClick(panel.debriefing.had, Qt.Key.Key_Return)
    rest(qtbot, page_of_lesson)
    assert "says no moment" in panel.state.text()
    assert window.preferences.get(LESSONS) == {"redo-overload": 96.0}
    assert dumps(window.document.project) == before
    window.live.ask_unsaved = lambda: pytest.fail("it is saved")
    window.live.leave()
    assert window.live.page is None


def test_lessons_that_come_late_leave_the_focus_where_it_is(qtbot: Any, shown: Any) -> None:
    window = shown(SAMPLE, 1366, 768)
    window.actions_table["lessons"].trigger()
    dialog = window.findChild(LessonsDialog)
    assert dialog.focusWidget() is dialog.list, "keys are for the list before it has anything"
    dialog.trainee.setFocus()
    qtbot.keyClicks(dialog.trainee, "An")
    qtbot.waitUntil(lambda: dialog.list.count() >= 12, timeout=_WAIT_MS)
    assert dialog.focusWidget() is dialog.trainee, "a name that is being typed goes on in its field"
    assert dialog.list.currentRow() == 0
    dialog.reject()


def test_a_lesson_that_is_not_saved_is_asked_for_and_may_stay(qtbot: Any, shown: Any) -> None:
    window = shown(SAMPLE, 1366, 768)
    window.actions_table["lessons"].trigger()
    dialog = window.findChild(LessonsDialog)
    qtbot.waitUntil(lambda: dialog.list.count() >= 12, timeout=_WAIT_MS)
    dialog.trainee.setText("Ben")
    dialog.take.click()
    page_of_lesson = still(qtbot, window)
    answers = ["cancel", "cancel", "discard"]
    window.live.ask_unsaved = lambda: answers.pop(0)
    window.files.new()
    assert window.live.page is page_of_lesson
    assert not window.live.is_shown
    window.actions_table["live"].trigger()
    assert window.live.is_shown, "also from a plan that nothing could live on"
    assert not window.close()
    assert window.live.page is page_of_lesson
    window.live.leave()
    assert window.live.page is None
    assert answers == []


def test_a_trainer_on_the_machine_befalls_a_lesson_in_a_window(qtbot: Any, shown: Any) -> None:
    window = shown(SAMPLE, 1366, 768)
    source = KIND.find("redo-overload")
    window.live.begin_lesson(source, source.value.starts[0], "Ann")
    page_of_lesson = still(qtbot, window)
    (running,) = inbox.sessions()
    assert running.trainee == "Ann"
    inbox.send(running.name, "load x5")
    page_of_lesson._ear.timeout.emit()
    rest(qtbot, page_of_lesson)
    assert page_of_lesson.sight is not None
    assert page_of_lesson.sight.load == 5
    steps = page_of_lesson.session.seat.play.steps  # type: ignore[union-attr]  # a session has begun
    assert [(step.line, step.by) for step in steps] == [("! load x5", "trainer")]
    window.live.leave()
    assert inbox.sessions() == []


def test_docks_that_float_go_and_come_with_the_page(qtbot: Any, live: Live) -> None:
    window, page = live()
    dock = next(one for one in page.findChildren(QDockWidget) if one.objectName() == "Cluster log")
    dock.setFloating(True)
    assert dock.isVisible()
    window.actions_table["live"].trigger()
    assert not dock.isVisible()
    window.actions_table["live"].trigger()
    assert dock.isVisible()
    window.live.leave()
    qtbot.waitUntil(lambda: not isValid(dock))


# Anybody.


def test_three_hundred_things_that_anybody_does(qtbot: Any, live: Live) -> None:
    window, _ = live()
    before, chance = dumps(window.document.project), Random(17)
    keys = (Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Escape,
            Qt.Key.Key_Space, Qt.Key.Key_F6, Qt.Key.Key_Backspace, Qt.Key.Key_Menu)  # fmt: skip
    lines = (
        "SHOW",
        "kill node:3",
        "wait 5s",
        "rewind 3s",
        "SELECT 1;",
        "ls",
        "",
        "load x2",
        "9" * 300,
        "a>=b",
    )
    for _ in range(300):
        if window.live.page is None:
            window.actions_table["live"].trigger()
            qtbot.waitUntil(lambda: window.live.page.session.seat is not None, timeout=_WAIT_MS)
        page = window.live.page
        if not window.live.is_shown:
            window.actions_table["live"].trigger()
        inside = [w for w in page.findChildren(QWidget) if w.isVisible() and w.isEnabled()]
        widget = chance.choice(inside)
        at = QPoint(chance.randrange(max(1, widget.width())), chance.randrange(max(1, widget.height())))
        what = chance.randrange(6)
        if what == 0:
            QTest.mouseClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
        elif what == 1:
            QTest.keyClick(QApplication.focusWidget() or widget, chance.choice(keys))
        elif what == 2:
            page.session.ask(chance.choice(list(page.consoles)), chance.choice(lines))
        elif what == 3:
            page.canvas.selection.set(
                chance.sample(list(window.document.plan.by_id), chance.choice((0, 1, 2)))
            )
            page._open_menu(page.canvas.selection.ids, None)
            for menu in page.canvas.findChildren(QMenu):
                able = [action for action in menu.actions() if action.isEnabled()]
                if able:
                    chance.choice(able).trigger()
                menu.close()
        elif what == 4:
            page.bar.course.setValue(chance.randrange(200))
        else:
            chance.choice((page.session.branch, partial(page.session.play, True), page.focus_next))()
        for popup in [w for w in QApplication.topLevelWidgets() if w is not window and w.isVisible()]:
            if isinstance(popup, QDialog | QMenu) or popup.windowFlags() & Qt.WindowType.Popup:
                popup.close()
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert dumps(window.document.project) == before
    assert window.document.undo_stack.count() == 0


def test_a_seat_is_freed_with_its_page(qtbot: Any, live: Live) -> None:
    import gc
    import weakref

    window, page = live()
    seat = weakref.ref(page.session.seat)
    assert isinstance(seat(), Seat)
    del page
    window.live.leave()
    qtbot.waitUntil(lambda: window.findChild(LivePage) is None)

    def is_gone() -> bool:
        gc.collect()
        return seat() is None

    qtbot.waitUntil(is_gone, timeout=_WAIT_MS)


class _Paints(QObject):
    count = 0

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_the_canvas_is_painted_once_at_each_tick_of_its_clock(live: Live, qtbot: Any) -> None:
    _, page = live()
    page.session.set_speed(100.0)
    frames: list[Frame] = []
    page.session.framed.connect(frames.append)
    paints = _Paints()
    page.canvas.viewport().installEventFilter(paints)
    seen = []
    for _ in range(8):
        before = paints.count, page.canvas.clock
        page.session.flow(3.0)
        rest(qtbot, page)
        qtbot.waitUntil(partial(lambda count: paints.count > count, before[0]))
        QApplication.processEvents()
        seen.append((paints.count - before[0], page.canvas.clock != before[1]))
    # The first may find the window at its first paint, a busy machine one more that was still to come.
    assert all(ticked for _, ticked in seen)
    assert [painted for painted, _ in seen[1:]].count(1) >= 6, seen
    painted = paints.count
    page._show(frames[-1])
    for _ in range(5):
        QApplication.processEvents()
    assert paints.count == painted, "nothing looks different"


@pytest.mark.parametrize("size", [(1366, 370), (500, 900), (900, 420)])
def test_nothing_lies_under_the_clock(size: tuple[int, int], qtbot: Any) -> None:
    canvas = LiveCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(*size)
    canvas.show()
    canvas.show_cluster(sample_plan("redo-overload"), NO_LOADS)
    canvas.fit()
    assert canvas.mapFromScene(canvas.canvas_scene.content_rect().topLeft()).y() > CLOCK.bottom()


def test_a_tick_that_came_while_time_flowed_is_made_up_for(live: Live, qtbot: Any) -> None:
    _, page = live()
    frames: list[Frame] = []
    page.session.framed.connect(frames.append)
    page.session.play(True)
    page.session._timer.setInterval(1_000_000)
    page.session._clock.restart()
    qtbot.wait(150)
    page.session._tick()
    page.session._tick()
    qtbot.waitUntil(lambda: bool(frames))
    qtbot.waitUntil(lambda: not page.session._is_due)
    page.session.play(False)
    assert not page.session._is_due


def test_processors_on_the_canvas_work_as_top_says(live: Live, qtbot: Any) -> None:
    _, page = live()
    host = page.canvas.document.plan.hosts[0]
    seen = []
    for line in ("wait 10s", "load x0.5", "wait 10s"):
        enter(qtbot, page, WORLD, line)
        assert page.session.seat is not None
        seen.append(
            (
                page.canvas.canvas_scene.look.loads.cpu[host.id],
                host_busy(page.session.seat.cluster, host, 1.0),
            )
        )
    for shown, busy in (seen[0], seen[2]):
        assert shown == pytest.approx(busy, rel=0.02)
    assert seen[2][0] < 0.7 * seen[0][0]


def test_what_is_typed_goes_to_the_console_whose_tab_was_clicked(live: Live, qtbot: Any) -> None:
    _, page = live()
    for prompt in (SQL, MGM):
        dock = page._docks[prompt]
        bar = next(
            one
            for one in page.findChildren(QTabBar)
            if prompt in [one.tabText(i) for i in range(one.count())]
        )
        place = [bar.tabText(i) for i in range(bar.count())].index(dock.windowTitle())
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(place).center())
        focus = QApplication.focusWidget()
        assert focus is page.consoles[prompt].input


def test_the_ring_around_a_canvas_that_has_the_keyboard_covers_nothing(live: Live, qtbot: Any) -> None:
    _, page = live()
    view = page.canvas.viewport()
    inside = view.rect().adjusted(4, 4, -4, -4)
    page.bar.setFocus()
    before = view.grab(inside).toImage()
    page.canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)
    assert page.canvas.hasFocus()
    assert view.grab(inside).toImage() == before


def _begun(qtbot: Any, shown: Any, name: str) -> LivePage:
    window = shown(SAMPLE, 1366, 768)
    source = KIND.find(name)
    window.live.begin_lesson(source, source.value.starts[0], "Ann")
    return still(qtbot, window)


def test_an_answer_moves_nothing_and_the_keyboard_goes_on_to_the_next_question(
    qtbot: Any, shown: Any
) -> None:
    page = _begun(qtbot, shown, "full-disk")
    panel = page.lesson
    assert panel is not None
    for line in ("! until nodes_down >= 1 within 10min", "ndb_mgm> SHOW", "data1$ df -h"):
        found = addressed(line)
        assert found is not None
        enter(qtbot, page, found.prompt, found.text)
    assert panel.story.isVisible()
    first, second, third = (panel.questions[name] for name in ("cause", "room", "lasts"))
    qtbot.waitUntil(lambda: panel._area.verticalScrollBar().maximum() > 0)
    panel._area.ensureWidgetVisible(second.button)
    at = panel._area.verticalScrollBar().value()
    assert at > 0, "there is something to move"
    for letter, closed in (("b", False), ("a", True)):
        first.choose(letter)
        first.button.setFocus()
        first.button.click()
        rest(qtbot, page)
        assert panel.questions["cause"] is first
        assert first.button.isEnabled() is not closed
        assert first.told.isVisible(), letter
        assert QApplication.focusWidget() is (second.entry if closed else first.button)
        assert panel._area.verticalScrollBar().value() >= at
    second.choose("b")
    second.button.setFocus()
    second.button.click()
    rest(qtbot, page)
    assert QApplication.focusWidget() is third.field
    assert third.field is not None
    third.field.setText("1s")
    QTest.keyClick(third.field, Qt.Key.Key_Return)
    rest(qtbot, page)
    assert QApplication.focusWidget() is third.field, "a wrong answer can be typed anew at once"
    seat = page.session.seat
    assert seat is not None
    assert seat.play is not None
    for line in lines_of_route(seat.play, 0):
        if " lasts " in line:
            third.field.setText(line.split()[-1])
    QTest.keyClick(third.field, Qt.Key.Key_Return)
    rest(qtbot, page)
    assert not panel.questions, "the next stage has none"
    focus = QApplication.focusWidget()
    assert focus is not None
    assert panel.isAncestorOf(focus), "Tab goes on in the lesson"


def test_a_hint_that_was_taken_with_the_keyboard_leaves_it_there(qtbot: Any, shown: Any) -> None:
    page = _begun(qtbot, shown, "redo-overload")
    panel = page.lesson
    assert panel is not None
    hint = next(one for one in panel.findChildren(QPushButton) if one.text().startswith("A hint"))
    hint.setFocus()
    hint.click()
    rest(qtbot, page)
    focus = QApplication.focusWidget()
    assert isinstance(focus, QPushButton)
    assert panel.isAncestorOf(focus)


def test_what_loses_the_keyboard_in_a_live_cluster_leaves_it_in_its_part(live: Live, qtbot: Any) -> None:
    _, page = live()
    play = page.bar.findChild(QPushButton)
    assert play is not None
    play.setFocus()
    assert play.hasFocus()
    play.setEnabled(False)
    focus = QApplication.focusWidget()
    assert focus is not None
    assert page.bar.isAncestorOf(focus)
