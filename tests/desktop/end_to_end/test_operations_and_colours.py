"""The schedule and steps of operations, and the canvas coloured: by a real mouse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from desktop.end_to_end.person import Person, Screen
from ndbplan.describe.colouring import WAYS
from ndbplan.edits import parts as edits
from ndbplan.plan.events import Backup
from ndbplan.plan.file import save
from ndbplan.plan.project import Project, Variant
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint

_PANEL = "window.panels.analyses.panel('Operations')"
_LANES = f"{_PANEL}.lanes"
_LEGEND = "window.panels.colours.legend"
_BACKUP_S = 10 * 3600.0


@pytest.fixture(scope="module")
def planner(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    """Somebody before the starter with the load of a day, in which a backup is at ten, and a variant."""
    plan = sample_plan("starter")
    points = tuple(
        RatePoint(at_s=3600.0 * at, rate_per_s=rate) for at, rate in ((0, 900), (3, 200), (20, 3500))
    )
    load = OpenLoad(points=points, shape="linear", repeat_s=86_400.0)
    events = (Backup(at_s=_BACKUP_S),)
    plan = edits.update(plan, plan.workloads[0].id, load=load, events=events, duration_s=86_400.0)
    path = tmp_path_factory.mktemp("day") / "day.ndbplan"
    plan = plan.replace(workloads=plan.workloads[:1])
    larger = edits.update(plan, plan.hosts[0].id, cores=64)
    save(Project(variants=(Variant(plan=plan), Variant(name="Larger", plan=larger))), path)
    with Person(screen, str(path)) as person:
        person.until("resting()")
        yield person


def _on_day(at_s: float) -> str:
    """Where a moment of the schedule is on the screen."""
    corner = f"{_LANES}.mapToGlobal({_LANES}.rect().topLeft())"
    return f"[{corner}.x() + round({_LANES}.scale().x({at_s})), {corner}.y() + 30]"


def _under_the_load(planner: Person) -> None:
    """Operations under the load of the day, whatever was done before."""
    planner.click("tab('Operations')")
    if planner.look(f"{_PANEL}.load_box.currentIndex()") != 1:
        planner.click(f"middle({_PANEL}.load_box)")
        planner.press("Down")
        planner.press("Return")
    planner.until(f"{_PANEL}.load_box.currentIndex() == 1")
    planner.until(f"resting() and {_LANES}.day")
    planner.click("place('Whole schedule')")


def test_the_best_start_is_proposed_dragged_from_and_come_back_to(planner: Person) -> None:
    _under_the_load(planner)
    best = planner.look(f"{_LANES}.day.windows.best.start_s")
    assert planner.look(f"{_LANES}.start_s") == best
    planner.drag(_on_day(best + 60), _on_day(_BACKUP_S + 60))
    planner.until(f"abs({_LANES}.start_s - {_BACKUP_S}) < 900")
    assert "backup" in planner.look(f"{_PANEL}.window_line.text()")
    planner.click("place('Best start')")
    planner.until(f"{_LANES}.start_s == {best}")
    assert "backup" not in planner.look(f"{_PANEL}.window_line.text()")


def test_what_is_kept_out_is_hatched_in_red(planner: Person) -> None:
    _under_the_load(planner)
    reds = (
        "max(c.red() - c.green() for c in [shown.pixelColor(%s + n // 32, 60 + n %% 32) for n in range(128)])"
    )
    red = f"(lambda shown: {reds})({_LANES}.grab().toImage())"
    kept, free = (f"round({_LANES}.scale().x({at_s}))" for at_s in (_BACKUP_S, _BACKUP_S + 7200))
    assert planner.look(red % kept) > 20 + planner.look(red % free)


def test_a_click_on_a_step_tells_how_long_and_how(planner: Person) -> None:
    _under_the_load(planner)
    planner.click("place('Steps')")
    planner.until(f"{_PANEL}.steps.isChecked()")
    row = f"[lane.name for lane in {_LANES}._lanes].index('Add a node group')"
    box = f"max((({_LANES}._box({row}, n)) for n in range(8)), key=lambda box: box.width()).center()"
    scrolled = f"{_LANES}.parentWidget().parentWidget().parentWidget()"
    # Above the axis, which stays at the edge.
    planner.look(f"{scrolled}.ensureVisible(round({box}.x()), {_LANES}.y() + round({box}.y()), 50, 80)")
    planner.click(f"(lambda at: [at.x(), at.y()])({_LANES}.mapToGlobal({box}.toPoint()))")
    opened = f"[one for one in {_LANES}.children() if one.objectName() == 'explanation']"
    planner.until(f"{opened} and {opened}[0].isVisible()")
    assert "Add a node group: " in planner.look(f"{opened}[0].accessibleName()")
    texts = f"[one.toPlainText() for one in {opened}[0].findChildren(object) if hasattr(one, 'toPlainText')]"
    assert any(planner.look(texts))
    planner.press("Escape")
    planner.until(f"not {opened}")


@pytest.mark.parametrize("name", WAYS)
def test_each_colouring_has_a_legend_whose_colours_select_what_has_them(planner: Person, name: str) -> None:
    planner.click(f"middle({_LEGEND}.button)")
    planner.click(f"entry({WAYS[name].title!r})")
    planner.until(f"scene.look.colouring.name == {name!r} and resting()")
    planner.until("not scene.look.colouring.note.startswith('Working')")
    planner.until(f"{_LEGEND}.button.text().startswith({WAYS[name].title!r})")
    filled = f"[n for n, one in enumerate({_LEGEND}._shown.legend) if one.ids]"
    if name == "cost":
        assert planner.look(f"{_LEGEND}.note.text()"), "no price is stated, and nobody says so"
        return
    if name == "change":
        assert planner.look(f"{_LEGEND}._shown.legend[1].ids") == ["host-a1"]
    planner.click(f"middle({_LEGEND}.entries[{filled}[-1]])")
    planner.until(f"{{*window.selection.ids}} == {{*{_LEGEND}._shown.legend[{filled}[-1]].ids}}")


def test_far_away_a_host_is_one_tile_in_its_colour_that_is_still_taken(planner: Person) -> None:
    planner.click(f"middle({_LEGEND}.button)")
    planner.click(f"entry({WAYS['change'].title!r})")
    planner.until("scene.look.colouring.name == 'change' and resting() and scene.look.colouring.shades")
    planner.click("ground(0.9, 0.2)", button=5, times=14)
    planner.until("scene.look.is_far")
    # Beside the middle, where the value of a tile is not written.
    port = "window.canvas.viewport()"
    place = f"{port}.mapFromGlobal(type({port}.pos())(item(%r)[0] + 8, item(%r)[1] + 2))"
    changed, same, other = (
        planner.look(f"{port}.grab().toImage().pixelColor({place % (host, host)}).name()")
        for host in ("host-a1", "host-b1", "app-b1")
    )
    assert changed != same == other
    planner.click("item('host-b1')")
    planner.until("window.selection.ids == ('host-b1',)")
