"""What runs is broken by hand: killed, slowed and cut on the canvas, moved on the track, then watched."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from ndbplan.base.units import use_system
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.widgets.ask import Ask
from ndbplan.desktop.widgets.sections import Section
from ndbplan.edits.arrays import put_level
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.demand import offered_per_s

_LONG_MS = 240_000


class Window:
    """A window on the starter, and hands."""

    def __init__(self, qtbot, window: MainWindow) -> None:
        self.qtbot, self.window = qtbot, window

    @property
    def plan(self):
        return self.window.document.plan

    @property
    def events(self):
        return self.plan.workloads[0].events

    @property
    def panel(self):
        return self.window.panels.analyses.panel("Simulation")

    @property
    def track(self):
        return self.panel.scrubber.events

    def place(self, object_id: str) -> QPoint:
        view = self.window.canvas
        rect = view.canvas_scene.item_of(object_id).rect_in_scene()
        point = rect.center() if rect.height() < 60 else QPointF(rect.center().x(), rect.top() + 10)
        return view.mapFromScene(point)

    def right_click(self, at: QPoint, widget=None) -> QMenu:
        port = widget or self.window.canvas.viewport()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, port.mapToGlobal(at))
        QApplication.sendEvent(port, event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        return menu

    def click(self, menu: QMenu, text: str) -> None:
        action = next(a for a in menu.actions() if a.text().startswith(text))
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())

    def asked(self) -> Ask:
        asked = QApplication.activePopupWidget()
        assert isinstance(asked, Ask)
        return asked

    def simulated(self) -> None:
        area = self.window.panels.analyses
        self.qtbot.waitUntil(
            lambda: not area.context.tasks.is_busy and self.panel.result is not None, timeout=_LONG_MS
        )
        self.panel.scrubber.stop()

    def drag(self, from_x: float, to_x: float, *, release: bool = True) -> None:
        middle = self.track.height() // 2
        start, end = QPoint(round(from_x), middle), QPoint(round(to_x), middle)
        QTest.mousePress(self.track, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(self.track, (start + end) / 2)
        QTest.mouseMove(self.track, end)
        if release:
            QTest.mouseRelease(self.track, Qt.MouseButton.LeftButton, pos=end)


@pytest.fixture
def broken(qtbot, qapp, tmp_path):
    theme.install(qapp, "dark")
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    window.files.ask_unsaved = lambda: "discard"
    window.open_sample("starter")
    window.resize(1680, 1000)
    window.show()
    window.finish_building()
    window.canvas.fit()
    yield Window(qtbot, window)
    window.files.ask_unsaved = lambda: "discard"
    window.close()
    window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_a_rack_is_killed_with_two_clicks_and_the_run_is_watched(broken: Window) -> None:
    menu = broken.right_click(broken.place("rack-a"))
    broken.click(menu, "Kill at 5:00")
    (event,) = broken.events
    assert (event.kind, event.object_id, event.at_s) == ("location_failure", "rack-a", 300.0)
    area = broken.window.panels.analyses
    broken.qtbot.waitUntil(lambda: broken.panel.result is not None, timeout=_LONG_MS)
    assert area.tabs.currentIndex() == 0
    broken.qtbot.waitUntil(broken.panel.scrubber.play.isChecked, timeout=_LONG_MS)
    assert 270 <= broken.panel.scrubber.at_s <= 330, "it plays from shortly before"
    broken.simulated()
    broken.panel.scrubber.go_to(350.0)
    assert "rack-a" in broken.window.canvas.canvas_scene.look.loads.down
    broken.window.document.undo_stack.undo()
    assert broken.events == ()


def test_kill_at_asks_when_and_what_is_refused_stays_as_typed(broken: Window) -> None:
    broken.click(broken.right_click(broken.place("ndb1")), "Kill at…")
    ask = broken.asked()
    QTest.keyClicks(ask.fields[0], "soon")
    QTest.keyClick(ask.fields[0], Qt.Key.Key_Return)
    assert ask.isVisible()
    assert ask.fields[0].text() == "soon"
    assert "soon" in ask.error.text()
    ask.fields[0].selectAll()
    QTest.keyClicks(ask.fields[0], "1:40")
    QTest.keyClicks(ask.fields[1], "60 s")
    QTest.keyClick(ask.fields[1], Qt.Key.Key_Return)
    (event,) = broken.events
    assert (event.kind, event.at_s, event.back_after_s) == ("node_failure", 100.0, 60.0)
    broken.simulated()


def test_escape_asks_no_further(broken: Window) -> None:
    broken.click(broken.right_click(broken.place("ndb1")), "Kill at…")
    QTest.keyClick(broken.asked().fields[0], Qt.Key.Key_Escape)
    assert QApplication.activePopupWidget() is None
    assert broken.events == ()


def test_a_moment_behind_the_end_is_refused_in_one_line(broken: Window) -> None:
    broken.click(broken.right_click(broken.place("ndb1")), "Kill at…")
    ask = broken.asked()
    QTest.keyClicks(ask.fields[0], "2 h")
    QTest.keyClick(ask.fields[0], Qt.Key.Key_Return)
    assert broken.events == ()
    assert "after the end of the run" in broken.window.messages.text


def test_a_disk_is_slowed_and_gets_its_speed_back(broken: Window) -> None:
    disk = broken.plan.hosts[0].disks[0].id
    broken.click(broken.right_click(broken.place(disk)), "Slow to … at…")
    ask = broken.asked()
    QTest.keyClicks(ask.fields[0], "10 %")
    ask.fields[1].selectAll()
    QTest.keyClicks(ask.fields[1], "1:00")
    QTest.keyClick(ask.fields[1], Qt.Key.Key_Return)
    (event,) = broken.events
    assert (event.kind, event.factor, event.at_s, event.duration_s) == ("disk_slow", 0.1, 60.0, 0.0)
    broken.simulated()
    broken.panel.scrubber.go_to(120.0)
    assert broken.window.canvas.canvas_scene.look.loads.slow == {disk: 0.1}
    broken.click(broken.right_click(broken.place(disk)), "Full speed again at 2:00")
    assert broken.events[0].duration_s == 60.0
    broken.simulated()


def test_what_is_replayed_stays_where_it_stands_in_other_units_and_letters(
    broken: Window, request: pytest.FixtureRequest
) -> None:
    """The canvas went back to the plan at rest and charts lost their figures."""
    broken.window.editor.event_edits.kill(["ndb1"], 60.0)
    broken.simulated()
    broken.panel.scrubber.go_to(90.0)

    def stands() -> tuple[bool, bool]:
        down = "ndb1" in broken.window.canvas.canvas_scene.look.loads.down
        return down, broken.panel.charts.rates._read_at_s == 90.0

    assert stands() == (True, True)
    request.addfinalizer(lambda: use_system(""))
    request.addfinalizer(lambda: theme.theme().scale_text(broken.window, 1.0))
    estimates = broken.window.panels.estimates
    with broken.qtbot.waitSignal(estimates.updated, timeout=_LONG_MS):
        broken.window.actions_table["units_binary"].trigger()
    assert stands() == (True, True)
    theme.theme().scale_text(broken.window, 1.25)
    assert stands() == (True, True)
    broken.window.document.undo_stack.undo()
    broken.qtbot.waitUntil(lambda: not stands()[0], timeout=_LONG_MS)


def test_a_disk_fills_up_and_has_room_again(broken: Window) -> None:
    node = broken.plan.data_nodes[0]
    disk = node.disk_roles.lcp
    broken.click(broken.right_click(broken.place(disk)), "Fill up at…")
    ask = broken.asked()
    ask.fields[0].selectAll()
    QTest.keyClicks(ask.fields[0], "1:00")
    QTest.keyClick(ask.fields[0], Qt.Key.Key_Return)
    (event,) = broken.events
    assert (event.kind, event.object_id, event.at_s, event.duration_s) == ("disk_full", disk, 60.0, 0.0)
    broken.simulated()
    broken.panel.scrubber.go_to(120.0)
    loads = broken.window.canvas.canvas_scene.look.loads
    assert loads.space[disk] == 1.0
    assert node.id in loads.down, "a checkpoint found no room"
    broken.click(broken.right_click(broken.place(disk)), "Room again at 2:00")
    assert broken.events[0].duration_s == 60.0
    menu = broken.right_click(broken.place("ndb2"))
    broken.click(menu, "Fill up the disk of its redo log at")
    assert broken.events[1].object_id == broken.plan.by_id["ndb2"].disk_roles.redo
    broken.simulated()


def test_a_killed_node_is_started_where_the_replay_stands(broken: Window) -> None:
    broken.window.editor.event_edits.kill(["ndb1"], 60.0)
    broken.simulated()
    broken.panel.scrubber.go_to(90.0)
    broken.click(broken.right_click(broken.place("ndb1")), "Restart at 1:30")
    assert broken.events[0].back_after_s == 30.0
    broken.simulated()
    assert broken.panel.result.restarts[0].started_at_s == 90.0


def test_the_link_of_a_node_group_is_cut_at_its_name(broken: Window) -> None:
    view = broken.window.canvas
    (ribbon,) = view.canvas_scene._ribbons.values()
    view.set_zoom(0.8)
    view.centerOn(ribbon._pill.center())
    menu = broken.right_click(view.mapFromScene(ribbon._pill.center()))
    assert menu.actions()[0].text() == "Link host-a1 – host-b1"
    broken.click(menu, "Cut at")
    (event,) = broken.events
    assert (event.kind, event.object_ids, event.other_ids) == ("network_cut", ("host-a1",), ("host-b1",))
    broken.simulated()


def test_the_link_of_a_node_group_is_slowed_at_its_name(broken: Window) -> None:
    view = broken.window.canvas
    (ribbon,) = view.canvas_scene._ribbons.values()
    view.set_zoom(0.8)
    view.centerOn(ribbon._pill.center())
    broken.click(broken.right_click(view.mapFromScene(ribbon._pill.center())), "Slow to … at…")
    ask = broken.asked()
    ask.fields[0].selectAll()
    QTest.keyClicks(ask.fields[0], "0.1 %")
    QTest.keyClick(ask.fields[0], Qt.Key.Key_Return)
    (event,) = broken.events
    assert (event.kind, event.object_ids, event.other_ids) == ("network_slow", ("host-a1",), ("host-b1",))
    assert event.factor == 0.001
    broken.simulated()
    assert broken.panel.result.bottleneck.resource == "network"


def test_without_a_workload_nothing_is_offered(broken: Window) -> None:
    from ndbplan.edits import parts as edits

    broken.window.document.edit("-", lambda p: edits.remove(p, [w.id for w in p.workloads]))
    menu = broken.right_click(broken.place("ndb1"))
    assert not [a.text() for a in menu.actions() if "Kill" in a.text()]
    menu.close()


class TestTrack:
    """Events above the scrubber."""

    def test_an_event_is_dragged_to_another_moment_as_one_step(self, broken: Window) -> None:
        broken.window.editor.event_edits.kill(["ndb1"], 100.0)
        broken.simulated()
        track, steps = broken.track, broken.window.document.undo_stack.count()
        assert [e.text for e in track.events] == ["ndbmtd 1 fails"]
        broken.drag(track.x_of(100.0), track.x_of(400.0), release=False)
        assert broken.events[0].at_s == 100.0, "nothing is done before the button is released"
        middle = track.height() // 2
        end = QPoint(round(track.x_of(400.0)), middle)
        QTest.mouseRelease(track, Qt.MouseButton.LeftButton, pos=end)
        assert broken.events[0].at_s == pytest.approx(400.0, abs=600 / track.width() + 0.5)
        assert broken.window.document.undo_stack.count() == steps + 1
        broken.simulated()
        broken.window.document.undo_stack.undo()
        assert broken.events[0].at_s == 100.0
        assert track.events[0].at_s == 100.0
        broken.simulated()

    def test_a_mark_lies_over_the_sliders_handle_of_the_same_moment(self, broken: Window) -> None:
        broken.window.editor.event_edits.kill(["ndb1"], 100.0)
        broken.simulated()
        track, slider = broken.track, broken.panel.scrubber.track
        assert (track.x(), track.width()) == (slider.x(), slider.width())
        for at_s in (0.0, 100.0, 599.0):
            assert track.moment_at(track.x_of(at_s)) == at_s

    def test_an_event_is_added_where_the_replay_stands_about_what_is_selected(self, broken: Window) -> None:
        broken.window.navigation.simulate()
        broken.simulated()
        broken.panel.scrubber.go_to(120.0)
        broken.window.selection.set(["ndb2"])
        QTest.mouseClick(broken.panel.events.button, Qt.MouseButton.LeftButton)
        menu = QApplication.activePopupWidget()
        assert menu.actions()[0].text() == "At 2:00"
        broken.click(menu, "Data node fails")
        (event,) = broken.events
        assert (event.object_id, event.at_s) == ("ndb2", 120.0)
        broken.simulated()

    def test_an_event_added_at_the_end_of_a_run_comes_while_something_follows(self, broken: Window) -> None:
        """A backup at 15:00 of fifteen minutes changed nothing, and nothing said why."""
        broken.window.navigation.simulate()
        broken.simulated()
        for at_s in (600.0, 599.7):
            broken.panel.scrubber.go_to(at_s)
            QTest.mouseClick(broken.panel.events.button, Qt.MouseButton.LeftButton)
            menu = QApplication.activePopupWidget()
            assert menu.actions()[0].text() == "At 5:00"
            menu.close()
            assert broken.window.editor.event_edits.moment_s == 300.0

    def test_the_canvas_says_which_moment_it_shows_where_no_replay_is_seen(self, broken: Window) -> None:
        """Beside *Memory* a rack was crossed out, and nothing said why."""
        broken.window.editor.event_edits.kill(["ndb1"], 100.0)
        broken.simulated()
        broken.panel.scrubber.go_to(400.0)
        banner, analyses = broken.window.canvas.banner, broken.window.panels.analyses
        assert not banner.isVisible()
        analyses.show_tab("Memory")
        broken.qtbot.waitUntil(banner.isVisible)
        assert banner.text() == "The run at 6:40"
        broken.window.document.undo_stack.undo()
        broken.qtbot.waitUntil(banner.isHidden)
        assert not broken.window.canvas.canvas_scene.look.loads.down, "it shows the plan at rest"
        broken.window.document.undo_stack.redo()
        broken.simulated()
        broken.panel.scrubber.go_to(400.0)
        broken.qtbot.waitUntil(banner.isVisible)
        analyses.show_tab("Simulation")
        broken.qtbot.waitUntil(banner.isHidden)

    def test_an_event_that_is_opened_is_in_sight(self, broken: Window) -> None:
        """The page of its workload came in front, and the event lay below its end."""
        for at_s in (100.0, 200.0, 300.0):
            broken.window.editor.event_edits.kill(["ndb1"], at_s)
        broken.simulated()
        track, inspector = broken.track, broken.window.panels.inspector
        for number, selected in ((2, []), (0, None)):
            if selected is not None:
                broken.window.selection.set(selected)
            at = QPoint(round(track.x_of(track.events[number].at_s)), track.height() // 2)
            QTest.mouseDClick(track, Qt.MouseButton.LeftButton, pos=at)
            broken.qtbot.waitUntil(
                lambda n=number: any(
                    one.objectName() == f"event {n}" and not one.visibleRegion().isEmpty()
                    for one in inspector.findChildren(Section)
                )
            )

    def test_of_an_event_in_little_room_its_end_is_read_too(self, broken: Window) -> None:
        """`host-a1 / nvme1 a…` said neither how slow nor since when."""
        disk = broken.window.document.plan.hosts[0].disks[1].id
        broken.window.editor.event_edits.slow([disk], 0.2, 10.0)
        broken.simulated()
        track = broken.track
        track.resize(120, track.height())
        ((_, said),) = track.words()
        assert said.endswith("20 %")
        assert "…" in said

    def test_an_event_after_the_end_of_a_shorter_run_is_not_drawn_as_one_at_its_end(
        self, broken: Window
    ) -> None:
        kill = broken.window.editor.event_edits.kill
        for node, at_s in (("ndb1", 10.0), ("ndb2", 300.0), ("ndb2", 500.0)):
            kill([node], at_s)
        broken.simulated()
        broken.panel.duration.setText("2min")
        QTest.keyClick(broken.panel.duration, Qt.Key.Key_Return)
        broken.qtbot.waitUntil(lambda: broken.panel.result.duration_s == 120.0, timeout=_LONG_MS)
        broken.simulated()
        track = broken.track
        assert [text for _, text in track.words()] == ["2 events after the end", "ndbmtd 1 fails"]
        rooms = [room for room, _ in track.words()]
        assert rooms[1].right() < rooms[0].left()
        assert rooms[0].right() < track.width()
        track.setFocus()
        for _ in range(2):
            QTest.keyClick(track, Qt.Key.Key_Down)
        assert track.accessibleDescription() == "ndbmtd 2 fails at 5:00, after the end of this run"
        QTest.keyClick(track, Qt.Key.Key_Right)
        assert broken.events[1].at_s == 300.0, "later than the end it is already"
        broken.drag(track.x_of(300.0), track.x_of(60.0))
        assert broken.events[1].at_s == pytest.approx(60.0, abs=120 / track.width() + 0.5)
        broken.simulated()
        assert track.words()[0][1] in (
            "ndbmtd 2 fails at 8:20, after the end",
            "at 8:20, after the end",
        )
        QTest.keyClick(track, Qt.Key.Key_Down)
        assert track.current == 2
        QTest.keyClick(track, Qt.Key.Key_Left)
        assert broken.events[2].at_s == 119.0, "a step before the end, where something follows"
        broken.simulated()

    def test_keys_choose_move_and_remove(self, broken: Window) -> None:
        broken.window.editor.event_edits.kill(["ndb1"], 100.0)
        broken.simulated()
        broken.window.editor.event_edits.kill(["ndb2"], 300.0)
        broken.simulated()
        track = broken.track
        track.setFocus()
        QTest.keyClick(track, Qt.Key.Key_Down)
        QTest.keyClick(track, Qt.Key.Key_Down)
        assert track.current == 1
        assert "ndbmtd 2 fails" in track.accessibleDescription()
        QTest.keyClick(track, Qt.Key.Key_Left)
        assert broken.events[1].at_s == 294.0
        QTest.keyClick(track, Qt.Key.Key_Delete)
        assert [e.object_id for e in broken.events] == ["ndb1"]
        broken.simulated()

    def test_a_double_click_opens_the_workload(self, broken: Window) -> None:
        broken.window.editor.event_edits.kill(["ndb1"], 100.0)
        broken.simulated()
        at = QPoint(round(broken.track.x_of(100.0)), broken.track.height() // 2)
        QTest.mouseDClick(broken.track, Qt.MouseButton.LeftButton, pos=at)
        assert broken.window.selection.ids == (broken.plan.workloads[0].id,)


def test_the_last_run_stays_as_a_ghost_behind_the_new_one(broken: Window) -> None:
    broken.window.navigation.simulate()
    broken.simulated()
    charts = broken.panel.charts
    assert not any(s.ghost for chart in charts.all for s in chart._content.series)
    first = broken.panel.result
    broken.window.editor.event_edits.kill(["rack-a"], 300.0)
    broken.simulated()
    broken.qtbot.waitUntil(lambda: all(chart.is_drawn for chart in charts.all), timeout=_LONG_MS)
    (ghost,) = (s for s in charts.rates._content.series if s.ghost)
    assert ghost.values[-1] == pytest.approx(first.accepted[-1])
    assert ghost.values[-1] > 1.5 * broken.panel.result.accepted[-1]
    for chart in charts.all:
        assert sum(s.ghost for s in chart._content.series) == 1


def test_a_host_shows_the_lines_of_what_is_on_it(broken: Window) -> None:
    broken.window.navigation.simulate()
    broken.simulated()
    charts, plan = broken.panel.charts, broken.plan
    for node in plan.data_nodes:
        broken.window.selection.set([node.host_id])
        assert charts.node.currentData() == node.node_id
        assert charts.disk.currentData() in {disk.id for disk in plan.host(node.host_id).disks}


def test_a_host_of_clients_shows_its_traffic_and_lines_point_back_to_what_they_are_of(broken: Window) -> None:
    broken.window.navigation.simulate()
    broken.simulated()
    charts, plan, selection = broken.panel.charts, broken.plan, broken.window.selection
    host = plan.host(plan.sql_nodes[0].host_id)
    selection.set([host.id])
    content = charts.writes._content
    assert charts.writes.title.text() == "Traffic"
    assert content.limit is None, "a line far below a limit would be flat"
    now = Estimation(plan, plan.workload(broken.panel.result.workload))
    flow = now.network.host(host.id)
    share = broken.panel.result.accepted / offered_per_s(now.workload.load)
    into, out = content.series
    assert into.values == pytest.approx(share * flow.in_bytes_per_s.value)
    assert out.values == pytest.approx(share * flow.out_bytes_per_s.value)
    node = plan.data_nodes[-1]
    selection.set([node.id])
    for chart, of in (
        (charts.writes, host.id), (charts.log, node.id), (charts.rates, plan.workloads[0].id),
    ):  # fmt: skip
        QTest.mouseClick(chart.readout, Qt.MouseButton.LeftButton)
        assert selection.ids == (of,)
    selection.set([node.host_id])
    assert charts.writes.title.text() == "Disk writes"


def test_one_device_of_a_mirror_is_lost_and_no_other_disk_offers_that(broken: Window) -> None:
    first, second = broken.plan.hosts[0].disks
    broken.window.document.edit("Mirror", lambda plan: put_level(plan, first.id, "1"))
    menu = broken.right_click(broken.place(second.id))
    assert not [a.text() for a in menu.actions() if "device" in a.text()]
    menu.close()
    broken.click(broken.right_click(broken.place(first.id)), "One device fails at 5:00")
    (event,) = broken.events
    assert (event.kind, event.object_id, event.back_after_s) == ("device_failure", first.id, None)
    broken.simulated()
    broken.panel.scrubber.go_to(350.0)
    assert broken.window.canvas.canvas_scene.look.loads.slow == {first.id: 0.5}
