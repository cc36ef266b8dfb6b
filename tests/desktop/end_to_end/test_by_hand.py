"""The window by mouse and keyboard under a window manager: one test for each promise to who uses it first."""

from __future__ import annotations

from desktop.end_to_end.person import Person, Screen

_PLACES = "[[i, list(scene.item_of(i).rect_in_scene().getRect())] for i in plan.by_id if scene.item_of(i)]"
_CARD = "[c for c in window.children() if type(c).__name__ == 'PreviewCard' and c.isVisible()]"
_SAID = "shown(window.panels.inspector)"
_VIEW = "[window.canvas.zoom, window.canvas.mapToScene(0, 0).x(), window.canvas.mapToScene(0, 0).y()]"


def test_nothing_moves_but_what_is_dropped_and_that_lies_under_the_pointer(person: Person) -> None:
    before, view = dict(person.look(_PLACES)), person.look(_VIEW)
    target = person.look("ground(0.75, 0.75)")
    person.drag("place('offer-host-small')", "ground(0.75, 0.75)")
    person.until("len(plan.hosts) == 6")
    after = dict(person.look(_PLACES))
    assert {name: after[name] for name in before} == before
    assert person.look(_VIEW) == view
    assert person.look("under({}, {})".format(*target)) == person.look("plan.hosts[-1].id")
    person.press("ctrl+z")
    person.until("len(plan.hosts) == 5")
    assert dict(person.look(_PLACES)) == before
    assert person.look(_VIEW) == view


def test_what_covers_something_is_moved_apart_when_a_person_says_so(person: Person) -> None:
    before = dict(person.look(_PLACES))
    between = (
        "scene.item_of('rack-a').rect_in_scene().united(scene.item_of('rack-b').rect_in_scene()).center()"
    )
    person.drag("place('offer-rack')", f"scene_point({between})")
    person.until("len(scene.overlaps.pairs) == 2 and 'cover one another' in window.messages.text")
    # Another edit takes the message away; the offer stays.
    person.click("item('app-a1')")
    person.click("place('Cores')", times=3)
    person.write("24\n")
    person.until("plan.by_id['app-a1'].cores == 24 and not window.messages.isVisible()")
    assert {name: where for name, where in person.look(_PLACES) if name in before} == before
    person.click("place('2 overlaps')")
    person.until("not scene.overlaps.pairs and not window.status.apart.isVisible()")
    assert {name: where for name, where in person.look(_PLACES) if name in before} == before


def test_a_copy_and_a_disk_lie_where_they_are_put(person: Person) -> None:
    before, view = dict(person.look(_PLACES)), person.look(_VIEW)
    person.drag("item('app-b1')", "ground(0.8, 0.8)", keys="ctrl")
    person.until("len(plan.hosts) == 6")
    disk = person.look("plan.by_id['app-a1'].disks[0].id")
    after = dict(person.look(_PLACES))
    assert {name: after[name] for name in before} == before
    assert person.look(_VIEW) == view
    person.drag(f"item({disk!r})", "item('mgm-c1')")
    person.until(f"plan.host_of_disk[{disk!r}].id == 'mgm-c1'")
    assert person.look(_VIEW) == view


def test_a_refused_name_stays_as_it_was_typed(person: Person) -> None:
    person.click("item('app-a1')")
    person.press("F2")
    person.until("type(focus).__name__ == 'RenameField'")
    person.write("host a1!\n")
    person.until("window.messages.isVisible() and 'host a1!' in window.messages.text")
    assert person.look("[type(focus).__name__, focus.text()]") == ["RenameField", "host a1!"]
    person.press("Escape")
    person.until("window.selection.ids == ('app-a1',) and focus is window.canvas")
    assert not person.look("window.messages.isVisible()"), "a refusal of what nobody types any more"


def test_enter_takes_a_value_and_ctrl_z_takes_it_back(person: Person) -> None:
    person.click("item('app-a1')")
    person.until("window.selection.ids == ('app-a1',)")
    person.click("place('Cores')", times=3)
    person.write("24\n")
    person.until("plan.by_id['app-a1'].cores == 24")
    person.press("ctrl+z")
    person.until("plan.by_id['app-a1'].cores == 16")
    person.press("ctrl+k")
    person.write("datamemory")
    person.press("Return")
    person.until("window.selection.ids == () and type(focus).__name__ == 'QLineEdit'")
    person.press("Escape")


def test_a_step_of_a_number_is_seen_before_it_is_done(person: Person) -> None:
    person.click("item('app-a1')")
    person.click("place('Cores')")
    person.press("Up")
    person.until(f"{_CARD} and not window.panels.estimates.previews.is_busy")
    assert person.look(f"[{_CARD}[0].title.text(), plan.by_id['app-a1'].cores]") == ["Cores 32", 16]
    person.press("Escape")
    person.until(f"focus.text() == '16' and not {_CARD}")
    person.hover("place('One step down: Cores')")
    person.until(f"{_CARD} and {_CARD}[0].title.text() == 'Cores 8'")
    person.click("place('One step down: Cores')")
    person.until("plan.by_id['app-a1'].cores == 8")
    person.press("ctrl+z")
    person.until("plan.by_id['app-a1'].cores == 16")


def test_a_crash_loses_nothing(screen: Screen) -> None:
    with Person(screen, "starter") as person:
        person.click("item('app-a1')")
        person.until("window.selection.ids == ('app-a1',) and focus is window.canvas and resting()")
        person.press("Delete")
        person.until("len(plan.hosts) == 4 and window.journal.is_safe()")
    # Killed. The next start says so.
    with Person(screen) as person:
        person.click("place('Look at what can be recovered')")
        person.click("place('Recover')")
        person.until("len(plan.hosts) == 4 and window.document.is_modified")


def test_a_problem_is_solved_where_it_is_read(person: Person) -> None:
    person.click("tab('Tables')")
    person.click("cell('Tables', 0, 2)", times=2)
    person.press("ctrl+a")
    person.write("9G\n")
    person.until("max(t.rows for t in plan.tables) == 9_000_000_000 and resting()")
    person.click("tab('Problems')")
    problems = "window.panels.estimates.latest.problems"
    ways = f"[w.title for p in {problems} for w in p.solutions if p.rule == 'data-memory-fill']"
    title = person.until(ways)[0]
    # What it would do is shown beside it, and stays while it grows.
    person.hover(f"place({title!r})")
    person.until(f"{_CARD} and {_CARD}[0].title.text() == {title!r} and {_CARD}[0].grid.count() > 3")
    person.until(f"{_CARD} and not window.panels.estimates.previews.is_busy")
    assert person.look(f"len({_CARD})") == 1
    person.click(f"place({title!r})")
    person.until(f"window.document.undo_stack.undoText() == {title!r} and resting()")
    assert person.look(ways) == []


def test_what_is_accepted_in_a_run_and_what_is_sustained_have_their_own_names(person: Person) -> None:
    """Both were "accepted": 3 507/s in the run, 2 953 in the advice."""
    person.click("tab('Simulation')")
    person.click("place('What would help')")
    person.until(f"resting() and 'nothing refused' in {_SAID} and 'Sustained for' in {_SAID}")
    assert "this run" in person.look("shown(window.panels.analyses)")
    assert "ccepted" not in person.look(_SAID).partition("Sustained for")[0]
    person.hover("middle(window.panels.analyses.panel('Simulation').summary._of_run)")
    person.until("'What the cluster sustains' in tip() and 'What would help' in tip()")
    person.hover("place('Undo')")
    person.until("'sustains' not in tip()")


def test_the_keyboard_renames_nothing_after_fix_all(person: Person) -> None:
    name = person.look("plan.name")
    person.click("tab('Problems')")
    person.click("place('Fix all')")
    person.until("resting() and window.document.undo_stack.canUndo()")
    person.write("x\n")
    person.until("type(focus).__name__ != 'QLineEdit'")
    assert person.look("plan.name") == name


def test_what_is_refused_is_told_in_words_of_its_field(person: Person) -> None:
    person.click("item('app-a1')")
    person.click("place('Cores')", times=3)
    person.write("-4\n")
    person.until(f"'is below 0 — type for example 8' in {_SAID}")
    person.press("Escape")
    assert person.look("plan.by_id['app-a1'].cores") == 16


def test_a_host_says_what_its_loss_means_and_a_node_how_full_it_is(person: Person) -> None:
    person.click("item('app-a1')")
    person.until(f"'If it fails: goes on' in {_SAID}")
    person.hover("item('ndb1')")
    person.until("tip().startswith('ndbmtd 1') and 'DataMemory' in tip() and 'full' in tip()")
    # A tip that is left takes no click of what comes next.
    person.hover("place('Undo')")
    person.until("not tip().startswith('ndbmtd')")


def test_the_outline_has_the_menu_of_what_is_under_the_pointer(person: Person) -> None:
    person.click("item('app-b1')")
    person.until("window.selection.ids == ('app-b1',)")
    row = "window.outline.visualRect(window.outline.currentIndex()).center()"
    person.click(f"(lambda at: [at.x(), at.y()])(window.outline.viewport().mapToGlobal({row}))", button=3)
    person.click("entry('Delete')")
    person.until("'app-b1' not in plan.by_id")


def test_a_number_is_explained_down_to_the_column(person: Person) -> None:
    person.click("tab('Memory')")
    memory = "window.panels.analyses.panel('Memory').findChildren(object)"
    shown = f"[one for one in {memory} if type(one).__name__ == 'QuantityLabel' and one.isVisible()]"
    person.click(f"middle({shown}[-1])")
    person.until("focus.accessibleName() == 'Derivation'")
    person.press("asterisk")
    # Line by line, as somebody reads it.
    lines = "(lambda read: read(read, focus.model().index(0, 0)))(lambda again, line:"
    lines += " [line.data(), *again(again, focus.indexBelow(line))] if line.isValid() else [])"
    person.until(f"any(line.startswith('values of email') for line in {lines})")
    person.press("Escape")
    person.until("focus.accessibleName() != 'Derivation'")


def test_an_event_is_added_on_the_track(person: Person) -> None:
    person.click("tab('Simulation')")
    person.until("resting()")
    person.click("place('+ Event')")
    person.click("entry('Backup')")
    person.until("[e.kind for w in plan.workloads for e in w.events] == ['backup'] and resting()")


def test_a_number_that_reads_two_ways_is_asked_about(person: Person) -> None:
    person.click("item('app-b1')")
    person.click("place('Clock (GHz)')", times=3)
    person.write("1,500\n")
    person.click("place('1.500')")
    person.until("plan.by_id['app-b1'].clock_ghz == 1.5")


def test_a_link_adds_its_traffic_to_the_charts_and_its_line_leads_back(person: Person) -> None:
    person.click("tab('Simulation')")
    person.click("place('Simulate')")
    person.until("resting() and all(c.is_drawn for c in charts().all)")
    person.click("link(0)")
    person.until("charts().writes.title.text() == 'Traffic' and window.selection.ids == ('ndb1', 'ndb2')")
    names = "[one.name for one in charts().writes._content.series]"
    assert person.look(names) == ["to host-b1", "to host-a1"]
    for one in ("rack-a", "sql148"):
        person.click(f"item({one!r})")
        person.until(f"window.selection.ids == ({one!r},)")
        assert person.look(names) == ["in", "out"]
    person.click("middle(charts().writes.readout)")
    person.until("window.selection.ids == ('app-b1',)")


def test_the_line_of_the_replay_leaves_nothing_behind(person: Person) -> None:
    person.click("tab('Simulation')")
    person.click("place('Simulate')")
    person.until("resting() and all(c.is_drawn for c in charts().all)")
    for at_s in (100.0, 400.0, 250.0):
        person.click(f"moment('writes', {at_s})")
        person.until(
            f"abs(charts().writes._position.value() - {at_s}) < 10 and charts().writes._position.isVisible()"
        )
    person.hover("place('Undo')")
    person.until("all(as_painted(c.plot) for c in charts().all if c.isVisible())")


def test_a_node_is_killed_by_hand_and_the_run_shows_it(person: Person) -> None:
    person.click("tab('Simulation')")
    person.click("item('ndb1')", button=3)
    person.click("entry('Kill at')")
    person.until("any(w.events for w in plan.workloads) and resting() and 'ndb1' in scene.look.loads.down")


def test_a_link_is_slowed_by_hand_and_that_is_moved_along_the_run(person: Person) -> None:
    person.click("tab('Simulation')")
    person.click("link(0)", button=3)
    person.click("entry('Slow to … at')")
    person.until("type(focus).__name__ == 'QLineEdit'")
    person.press("ctrl+a")
    person.write("0.1 %\n")
    events = "[[e.kind, e.at_s] for w in plan.workloads for e in w.events]"
    panel = "window.panels.analyses.panel('Simulation')"
    person.until(f"{events} and resting() and {panel}.result.bottleneck.resource == 'network'")
    track = f"{panel}.scrubber.events"
    corner = f"{track}.mapToGlobal({track}.rect().topLeft())"
    ((kind, at_s),) = person.look(events)
    at = "[{0}.x() + round({1}.x_of({2})), {0}.y() + 8]"
    person.drag(at.format(corner, track, at_s), at.format(corner, track, at_s / 3))
    ((_, now_s),) = person.until(f"{events} != [[{kind!r}, {at_s}]] and resting() and {events}")
    assert abs(now_s - at_s / 3) < 0.05 * at_s


def test_a_disk_is_filled_by_hand_before_the_line_of_the_last_run(person: Person) -> None:
    disk = person.look("plan.data_nodes[0].disk_roles.lcp")
    person.click(f"item({disk!r})", button=3)
    person.click("entry('Fill up at')")
    person.until(f"resting() and scene.look.loads.space[{disk!r}] == 1.0")
    person.until("'last run' in [one.name for one in charts().rates._content.series]")


def test_operations_say_each_phase_in_its_colour_and_how_sure_they_are(person: Person) -> None:
    person.click("tab('Operations')")
    lanes = "window.panels.analyses.panel('Operations').lanes"
    person.until(f"resting() and {lanes}._lanes")
    assert {"Backup", "Restore it"} <= {*person.look(f"[lane.name for lane in {lanes}._lanes]")}
    # On the screen: where a phase has room for it, its own colour, whichever the lane.
    at = f"{lanes}.mapToGlobal({lanes}._box(r, c).bottomLeft().toPoint())"
    seen = "window.screen().grabWindow(0).toImage().pixelColor"
    person.press("ctrl+m")
    wide = (
        f"for r, lane in enumerate({lanes}._lanes[:{lanes}._lanes_seen()]) for c, b in enumerate(lane.blocks)"
    )
    wide += f" if {lanes}._box(r, c).width() > 12"
    wide += f" and {lanes}.visibleRegion().contains({lanes}._box(r, c).bottomLeft().toPoint())"
    person.until(f"{lanes}._lanes_seen() > 3")
    colours = person.until(f"[[b.name, {seen}({at}.x() + 4, {at}.y() - 4).name()] {wide}]")
    assert len({name for name, _ in colours}) > 2
    assert len({colour for _, colour in colours}) > 2
    for name, colour in colours:
        assert person.look(f"{lanes}.colour_of({name!r})") == colour, name
    # Where a name ends, the range of it all.
    top = f"{lanes}.mapToGlobal({lanes}.rect().topLeft())"
    person.hover(f"[{top}.x() + 40, {top}.y() + 14]")
    person.until(f"tip().startswith({lanes}._lanes[0].name) and 'between' in tip()")
    # A slider that changes nothing says why.
    person.click("place('Speed of the disks against the plan')")
    person.press("End")
    person.until("'the speed of the disks changes nothing here' in shown(window.panels.analyses)")
    person.press("Home")
    person.press("ctrl+m")


def test_a_rack_is_lost_from_the_table_of_losses(person: Person) -> None:
    person.click("tab('Failures')")
    person.until("resting()")
    person.click("cell('What each single failure means', 0, 0)")
    person.click("place('Kill it')")
    person.until("any(w.events for w in plan.workloads) and resting() and 'rack-a' in scene.look.loads.down")


def test_another_theme_is_whole_at_once(person: Person) -> None:
    for name in ("light", "dark"):
        person.press("ctrl+k")
        person.until("window.commands.isVisible()")
        person.write(f"{name}\n")
        person.until(f"scene.look.tokens.name == {name!r}")
        person.until("not window.commands.isVisible()")
        ground, ink = person.look("lightness(window.outline)")
        assert (ground > 128) is (name == "light")
        assert abs(ink - ground) > 128


def test_the_first_escape_ends_a_presentation(person: Person) -> None:
    person.click("tab('Simulation')")
    size = person.look("[window.width(), window.height()]")
    person.press("F5")
    person.until("window.isFullScreen() and window.top_bar.isHidden()")
    person.press("Escape")
    person.until("not window.isFullScreen() and not window.top_bar.isHidden()")
    person.until(f"[window.width(), window.height()] == {size}")


def test_disk_data_begins_where_a_role_is_dropped(person: Person) -> None:
    undo = person.look("plan.data_nodes[0].disk_roles.undo")
    disk = next(d for d in person.look("[d.id for d in plan.hosts[0].disks]") if d != undo)
    person.drag("place('offer-undo')", f"item('{disk}')")
    person.click("place('Make a tablespace')")
    person.until("len(plan.tablespaces) == 1 and len(plan.logfile_groups) == 1")
    person.look("window.selection.clear()")
    person.click("place('Select ts_1')")
    person.until("window.selection.ids == (plan.tablespaces[0].id,) and focus is window.canvas")
    person.click("place('+ Add data file')")
    person.until("len(plan.tablespaces[0].data_files) == 2")
    person.click("cell('data files', 1, 1)", times=2)
    person.press("ctrl+a")
    person.write("3GiB\n")
    person.until("plan.tablespaces[0].data_files[1].size_bytes == 3 * 2**30")
    person.press("Delete")
    person.until("len(plan.tablespaces[0].data_files) == 1")
    person.look("window.canvas.setFocus()")
    person.press("Delete")
    person.until("plan.tablespaces == ()")


def test_the_window_with_its_frame_fits_the_screen(person: Person) -> None:
    frame = person.look("window.frameGeometry().getRect()")
    room = person.look("window.screen().availableGeometry().getRect()")
    assert frame[0] >= room[0]
    assert frame[1] >= room[1]
    assert frame[0] + frame[2] <= room[0] + room[2]
    assert frame[1] + frame[3] <= room[1] + room[3]
