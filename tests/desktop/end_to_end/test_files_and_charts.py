"""Files dropped from another program, and what is done to charts by mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.end_to_end.person import Person, Screen
from importing.test_measured_series import iostat
from ndbplan.desktop.render import drawn
from ndbplan.edits import parts as edits
from ndbplan.plan.events import NodeFailure, NodesAdded
from ndbplan.plan.file import load, save
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.report.compose import Options
from ndbplan.report.write import report

_TEXTS = {
    "run.csv": "t_s,accepted_per_s\n0,4000\n30,3000\n",
    "iostat.txt": iostat(dated=True),
    "logspaces.txt": "now()\tnode_id\tlog_type\tlog_part\ttotal\tused\n"
    + "".join(f"2026-11-23 10:00:{second:02d}\t3\tREDO\t0\t805306368\t{second}000000\n" for second in (0, 9)),
}
_MEASURED = "{one.name for one in getattr(charts(), %r)._content.series if 'measured' in one.name}"
_OVER = "any(one.isVisible() for one in charts().children() if one.objectName() == 'fileDrops')"
_CROSS = "[c._cursor.isVisible() and round(c._cursor.value()) for c in charts().all if c.isVisible()]"


@pytest.fixture(scope="module")
def files(qapp: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that carry a plan, each another one, and of measured series."""
    folder = tmp_path_factory.mktemp("files")
    plan = sample_plan("redo-overload").replace(workloads=())
    for suffix, section in ((".html", "hardware"), (".pdf", "memory")):
        named = Project.of(plan.replace(name=f"From {suffix}"))
        made = report(named, Options(sections=(section,)), suffix)
        (folder / f"report{suffix}").write_bytes(made)
    (folder / "canvas.png").write_bytes(drawn(plan.replace(name="From .png"), ".png", "light"))
    for name, text in _TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    whole = sample_plan("redo-overload")
    event = NodeFailure(at_s=20.0, object_id=whole.data_nodes[1].id)
    short = edits.update(whole, whole.workloads[0].id, duration_s=30.0, events=(event,))
    save(short, folder / "short.ndbplan")
    grown = (NodesAdded(at_s=2.0), event.model_copy(update={"at_s": 60.0, "back_after_s": 2.0}))
    load = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=500.0),))
    long = edits.update(whole, whole.workloads[0].id, duration_s=120.0, load=load, events=grown)
    save(edits.update(long, long.tables[0].id, rows=50_000), folder / "grown.ndbplan")
    return folder


@pytest.fixture(scope="module")
def visitor(screen: Screen) -> Iterator[Person]:
    with Person(screen, "starter") as person:
        person.click("place('Close the tour')")
        yield person


@pytest.mark.parametrize(
    ("name", "fragment", "tab"),
    [("report.html", "#failures", "Failures"), ("report.pdf", "", "Memory"), ("canvas.png", "", "")],
)
def test_a_file_that_carries_a_plan_opens_it_there(
    visitor: Person, files: Path, name: str, fragment: str, tab: str
) -> None:
    path = files / name
    says = f"window.file_drops.isVisible() and {name!r} in window.file_drops.words.text()"
    there = f"plan.name == 'From {path.suffix}' and {tab!r} in ('', window.panels.tab)"
    visitor.bring(path.as_uri() + fragment, "ground(0.5, 0.5)", says, there)
    visitor.until("resting()")


def test_a_read_only_file_says_so_when_it_is_opened(visitor: Person, files: Path) -> None:
    path = files / "kept.ndbplan"
    save(sample_plan("redo-overload").replace(name="Kept"), path)
    path.chmod(0o444)
    visitor.press("ctrl+o")
    visitor.until("dialog() == 'Open a plan'")
    visitor.write(f"{path}\n")
    visitor.until("plan.name == 'Kept' and window.messages.isVisible()")
    assert "read-only" in visitor.look("window.messages.text")
    visitor.until("resting()")


@pytest.fixture(scope="module")
def runner(visitor: Person, files: Path) -> Person:
    """The same, before a run of half a minute in which a node fails at 20 s."""
    there = "plan.workloads and plan.workloads[0].duration_s == 30.0"
    visitor.bring(
        (files / "short.ndbplan").as_uri(), "ground(0.5, 0.5)", "window.file_drops.isVisible()", there
    )
    visitor.until("resting()")
    visitor.click("tab('Simulation')")
    visitor.click("place('Simulate')")
    visitor.until("resting() and window.panels.analyses.panel('Simulation').result is not None")
    visitor.until("all(c.is_drawn for c in charts().all)")
    return visitor


@pytest.mark.parametrize(
    ("name", "chart"), [("run.csv", "rates"), ("iostat.txt", "writes"), ("logspaces.txt", "log")]
)
def test_a_measured_series_dropped_on_the_charts_lies_over_them(
    runner: Person, files: Path, name: str, chart: str
) -> None:
    runner.bring((files / name).as_uri(), "moment('rates', 15.0)", _OVER, _MEASURED % chart)


def test_the_crosshair_is_in_all_charts(runner: Person) -> None:
    runner.hover("moment('buffers', 12.0)")
    runner.until(f"len({_CROSS}) > 1 and {{*{_CROSS}}} == {{12}}")


def test_every_line_has_its_name_and_colour_whole(runner: Person) -> None:
    """Redo log and checkpoint could not be told apart where their names were cut."""
    runner.hover("place('Undo')")
    runner.until(f"not any({_CROSS})")
    for title, names in (
        ("Disk writes", {"busy", "redo", "LCP"}),
        ("Transactions", {"accepted", "refused"}),
    ):
        of = f"[c for c in charts().all if c.isVisible() and c.title.text().startswith({title!r})][0]"
        said = f"({of}.readout.legend if {of}.readout.legend.isVisible() else {of}.readout)"
        spans = re.findall(r"color:(#\w+)[^>]*>([^<]*)<", runner.look(f"{said}.text()"))
        known = {name: colour for colour, text in spans for name in names if text.startswith(name)}
        assert known.keys() == names, spans
        assert len({*known.values()}) == len(names), spans
        assert runner.look(f"{said}.visibleRegion().boundingRect() == {said}.rect()")
        assert runner.look(f"{said}.sizeHint().width() <= {said}.width() or {said}.hasHeightForWidth()")


def test_an_event_is_dragged_to_another_moment(runner: Person) -> None:
    runner.drag("moment('rates', 20.0)", "moment('rates', 25.0)")
    runner.until("abs(plan.workloads[0].events[0].at_s - 25.0) < 0.5")
    runner.until("resting() and all(c.is_drawn for c in charts().all)")


def test_a_chart_is_copied_and_shown_alone(runner: Person) -> None:
    runner.click("moment('rates', 5.0)")
    runner.press("ctrl+c")
    runner.until("clipboard.text().startswith('t_s,')")
    runner.press("ctrl+shift+c")
    runner.until("not clipboard.image().isNull()")
    runner.press("m")
    runner.until("[c for c in charts().all if c.isVisible()] == [charts().rates]")
    runner.press("m")
    runner.until("len([c for c in charts().all if c.isVisible()]) > 2")


def test_a_click_goes_to_the_first_error(runner: Person) -> None:
    panel = "window.panels.analyses.panel('Simulation')"
    runner.click(f"middle({panel}._first_error)")
    first = f"min(e.first_at_s.value for e in {panel}.result.errors)"
    runner.until(f"{first} > 5 and abs({panel}.scrubber.at_s - {first}) < 1")


def test_a_restart_and_a_reorganisation_are_seen_on_the_canvas_as_they_go(
    runner: Person, files: Path
) -> None:
    while runner.look("window.document.undo_stack.canUndo()"):
        runner.click("place('Undo')")
    brought = (files / "grown.ndbplan").as_uri()
    runner.bring(
        brought, "ground(0.5, 0.5)", "window.file_drops.isVisible()", "len(plan.workloads[0].events) == 2"
    )
    runner.until("resting()")
    runner.click("tab('Simulation')")
    runner.click("place('Simulate')")
    panel = "window.panels.analyses.panel('Simulation')"
    runner.until(f"resting() and {panel}.result is not None and {panel}.result.duration_s == 120.0")
    runner.until("all(c.is_drawn for c in charts().all)")
    node, up = runner.look("plan.workloads[0].events[1].object_id"), 0
    for at_s, words in ((8.0, "reorganised"), (20.0, "reorganised"), (70.0, "")):
        runner.click(f"moment('rates', {at_s})")
        runner.until(f"abs({panel}.scrubber.at_s - {at_s}) < 2")
        runner.until(
            f"window.canvas.banner.isVisible() == {bool(words)} and {words!r} in window.canvas.banner.text()"
        )
        if words:
            up = runner.look(f"colours({node!r})[scene.look.tokens.warning]")
    # Up, its mark of a problem is in that colour; starting, its frame and words are.
    runner.until(f"colours({node!r})[scene.look.tokens.warning] > {2 * up}")
    runner.hover(f"item({node!r})")
    runner.until("'starts, ' in tip() and '3 of 8' in tip()")
    runner.hover("place('Undo')")


def _changed_on_both_sides(runner: Person, path: Path, name: str) -> Plan:
    """Another process saves the file, this window edits it, and ctrl+S asks; what the other wrote."""
    theirs = sample_plan("redo-overload").replace(name=name)
    save(theirs, path)
    runner.until("'somebody else' in window.messages.text and resting()")
    runner.click("item(plan.hosts[0].id)")
    runner.until("window.selection.ids == (plan.hosts[0].id,) and focus is window.canvas")
    runner.press("ctrl+d")
    runner.until(
        "window.document.is_modified and window.document.undo_stack.undoText().startswith('Duplicate')"
    )
    runner.press("ctrl+s")
    runner.until("dialog() == 'Changed by somebody else'")
    rows = runner.look("[modal().differences.item(i).text() for i in range(modal().differences.count())]")
    assert any(row.startswith(f"name of the plan: {name} -> ") for row in rows)
    return theirs


def test_a_copy_of_what_is_here_leaves_theirs_as_it_is(runner: Person, files: Path) -> None:
    path, copy = files / "grown.ndbplan", files / "copy.ndbplan"
    theirs = _changed_on_both_sides(runner, path, "Saved over there")
    runner.click("place('Save a copy…')")
    runner.until("'FileDialog' in type(modal()).__name__")
    runner.press("ctrl+a")
    runner.write(f"{copy}\n")
    runner.until(f"window.document.path.name == {copy.name!r} and not window.document.is_modified")
    assert load(path) == theirs
    assert len(load(copy).hosts) == len(theirs.hosts) + 1


def test_mine_is_kept_and_theirs_lies_beside_it(runner: Person, files: Path) -> None:
    path = files / "copy.ndbplan"
    theirs = _changed_on_both_sides(runner, path, "Saved once more")
    runner.click("place('Keep mine')")
    runner.until("not dialog() and not window.document.is_modified")
    assert len(load(path).hosts) == len(theirs.hosts) + 2
    kept = path.with_stem(f"{path.stem} theirs")
    assert load(kept) == theirs
    assert kept.name in runner.look("window.messages.text")


def test_what_somebody_else_saved_is_not_overwritten(runner: Person, files: Path) -> None:
    path = files / "copy.ndbplan"
    theirs = _changed_on_both_sides(runner, path, "Theirs")
    runner.click("place('Take theirs')")
    runner.until("plan.name == 'Theirs' and not window.document.is_modified")
    assert load(path) == theirs
