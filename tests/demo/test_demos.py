"""Demos: sound, with numbers of their plans only, and as a file that verifies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result

from ndbplan.base.authored import Authored, AuthoredError
from ndbplan.base.kept import keeping
from ndbplan.base.units import format_value
from ndbplan.cli import all_commands
from ndbplan.demo.canvas import picture
from ndbplan.demo.edits import added, moved, renamed, without
from ndbplan.demo.files import DEMOS, beside, checked, own, project_of, save
from ndbplan.demo.model import Demo, Scene
from ndbplan.demo.page import played_again
from ndbplan.demo.stage import Stage
from ndbplan.demo.texts import FACT, NOW, plain
from ndbplan.describe.tables import as_memory
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.file import save as save_plan
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report import places
from ndbplan.report.document import Gauge
from ndbplan.report.sources import Answers, Asked
from ndbplan.report.verify import verify
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

NAMES = ("slow-disk", "growing", "terabyte")
FACTS = Path(__file__).parents[1] / "reality" / "published.json"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(all_commands(), ["demo", *arguments])


@pytest.fixture(scope="module", params=NAMES)
def demo(request: pytest.FixtureRequest) -> Iterator[Authored[Demo]]:
    with keeping():
        yield DEMOS.find(request.param)


def test_nothing_is_wrong_with_it(demo: Authored[Demo]) -> None:
    assert checked(demo) == []
    assert [start.name for start in demo.value.starts] == ["published", "today"]


def test_a_scene_states_no_number_of_its_own(demo: Authored[Demo]) -> None:
    """Digits stand in `{…}`, which is looked up; facts are those that were published."""
    for scene in demo.value.scenes:
        assert not re.search(r"[0-9]", re.sub(r"\{[^{}]*\}", "", scene.text)), scene.title
    measured = [row["measured"] for row in json.loads(FACTS.read_text("utf-8"))["facts"]]
    known = {float(row["value"]) for row in measured if isinstance(row.get("value"), int | float)}
    known |= {value * 1024 for value in known} | {value / 100 for value in known}
    assert all(fact.value in known for fact in demo.value.facts.values())


@pytest.mark.parametrize("place", [0, 1])
def test_what_a_scene_says_is_what_the_engine_says(place: int) -> None:
    """Also what it says in words: which change ends the errors, and that the disk is the cause."""
    found = DEMOS.find("slow-disk")
    start = found.value.starts[place]
    stage = Stage(found.value.worded(start), project_of(found.value, start))
    plans = {variant.name: variant.plan for variant in stage.project.variants}
    first = {name: simulate(estimation_of(plan, "blobs-5k")).errors for name, plan in plans.items()}
    said = " ".join(map(plain, stage.shown(3).lines))
    for name in ("Twice the RedoBuffer", "Main"):
        assert f"{first[name][0].first_at_s.value:.3g} s" in said
    assert not first["Checkpoints elsewhere"]
    assert not first["Another node group"]
    ((_line, answer),) = stage.shown(2).consoles
    rows = re.findall(r"REDO +\| +\d+ \| +\d+ \| +(\d+) \| +(\d+)", answer)
    fullest = max(int(used) / int(total) for total, used in rows)
    share = re.search(r"([0-9.]+) %", plain(stage.shown(2).lines[0]))
    assert share is not None
    assert float(share[1]) == pytest.approx(100 * fullest, rel=0.01)
    assert len(rows) == 8
    assert fullest > 0.95, "just below its total"
    busy = re.search(r"busy ([0-9.]+) %", plain(stage.shown(4).lines[0]))
    assert busy is not None
    assert float(busy[1]) > 95


@pytest.mark.parametrize("name", ["growing", "terabyte"])
def test_times_and_bytes_of_a_scene_read_as_in_the_window(name: str) -> None:
    """A panel stands beside the text: rounded twice, its 48 min 45 s would be 48 min 50 s there."""
    demo = DEMOS.find(name).value
    start = demo.start("today")
    assert start is not None
    stage = Stage(demo.worded(start), project_of(demo, start))
    seen = 0
    for place, scene in enumerate(stage.demo.scenes):
        for run in (run for line in stage.shown(place).lines for run in line):
            variant, _, at = run.at.rpartition(" | ")
            if run.kind != "figure" or at.startswith((FACT, NOW)) or ": " not in at:
                continue
            number = places.found(stage.answers(scene, variant).json, at)
            unit = number.value["unit"] if isinstance(number.value, dict) else ""
            if unit in ("s", "bytes"):
                assert run.text == format_value(number.number, as_memory(number.key, unit)), at
                seen += 1
    assert seen >= 3


def test_the_page_is_the_same_twice_and_each_digit_counts(tmp_path: Path) -> None:
    found = DEMOS.find("slow-disk").value
    source, path = tmp_path / "mine.demo.yaml", tmp_path / "demo.html"
    save(found.model_copy(update={"scenes": found.scenes[1:5]}), source)
    assert run("export", str(source), "-o", str(path)).exit_code == 0
    content = path.read_bytes()
    whole = verify(content, "demo.html", play=played_again)
    assert (whole.differ, whole.figures > 100) == ((), True)
    altered = content.replace(b">11.6 s<", b">11.7 s<", 1)
    (one,) = verify(altered, "demo.html", play=played_again).differ
    assert (one.written, one.computed) == ("11.7 s", "11.6 s")
    assert one.where == "scene-1, simulate: errors[code=1221].first_at_s"
    assert b"Content-Security-Policy" in content
    assert not re.search(rb"""(src|href)=["']?https?:""", content)


BAD = (
    ("{simulate: accepted_per_s ±}", "{simulate: accepted}", "scenes.1.text", "says nothing there"),
    ("{now redo_buffer}", "{now luck}", "scenes.2.text", "'luck' is not a quantity"),
    ("{fact busy}", "{fact lazy}", "scenes.4.text", "states no fact 'lazy'"),
    ("variant: Twice the RedoBuffer", "variant: Half of it", "scenes.3.variant", "no variant 'Half of it'"),
    ("select: ['data1-{slow}']", "select: [data9]", "scenes.5.select.0", "no 'data9'"),
    ("'data1$ iostat", "'iostat", "scenes.4.consoles.0", "names no console"),
    ("sample: redo-overload\n", "sample: redo\n", "starts.0", "'redo' is not a sample"),
)


@pytest.mark.parametrize(("old", "new", "field", "words"), BAD, ids=[one[1] for one in BAD])
def test_a_fault_has_its_place(old: str, new: str, field: str, words: str) -> None:
    text = DEMOS.find("slow-disk").source.decode()
    assert old in text
    text = re.sub(r"  - name: today\n.*?(?=variants:)", "", text, flags=re.S)
    with keeping():
        faults = checked(DEMOS.parse(text.replace(old, new, 1).encode(), "mine.yaml"))
    assert [fault.field for fault in faults] == [field]
    assert words in faults[0].what
    assert faults[0].line > 1


def test_scenes_of_a_plan_lie_beside_it_and_come_back(tmp_path: Path) -> None:
    plan_file = tmp_path / "shop.ndbplan"
    save_plan(sample_plan("starter"), plan_file)
    assert beside(plan_file).name == "shop.demo.yaml"
    demo = Demo.model_validate({"format": 1, "name": "shop", "title": "Shop",
                                "starts": [{"name": "plan", "file": "shop.ndbplan"}]})  # fmt: skip
    for title in ("One", "Two", "Three"):
        demo = added(demo, Scene(title=title, text="{plan: name}"), len(demo.scenes))
    demo = renamed(without(moved(demo, 2, -1), 0), 0, "Third", "No more than {plan: hosts#} hosts")
    save(demo, beside(plan_file))
    found = DEMOS.read(beside(plan_file))
    assert found.value == demo
    assert [scene.title for scene in found.value.scenes] == ["Third", "Two"]
    assert checked(found) == []
    shown = json.loads(run("play", str(beside(plan_file)), "--json").output)["scenes"]
    assert shown[0]["text"] == [f"No more than {len(sample_plan('starter').hosts)} hosts"]


def test_the_command_lists_plays_and_refuses() -> None:
    assert [row["name"] for row in json.loads(run("list", "--json").output)["demos"]] == list(NAMES)
    shape = json.loads(run("schema").output)
    for found in own():
        jsonschema.validate(yaml.safe_load(found.source), shape)
    assert "is not an action" in str(run("paly").exception)
    assert "there is not a demo 'nothing'" in str(run("play", "nothing").exception)
    assert "no plan 'later'" in str(run("play", "growing", "--start", "later").exception)
    assert "written as HTML" in str(run("export", "growing").exception)
    with pytest.raises(AuthoredError):
        DEMOS.parse(b"format: 1\nscenes: 3\n", "mine.yaml")


def test_a_scene_shows_the_canvas_of_its_moment() -> None:
    found = DEMOS.find("slow-disk").value
    start = found.starts[0]
    stage = Stage(found.worded(start), project_of(found, start))

    def canvas(place: int) -> dict[str, dict[str, Gauge]]:
        drawn = picture(stage.plan_of(scene := stage.demo.scenes[place]), scene, stage.answers(scene))
        assert drawn is not None
        ((_, tiles),) = drawn.groups
        return {tile.name.text: {one.label.text: one for one in tile.gauges} for tile in tiles}

    early, late, selected, planned = canvas(0), canvas(1), canvas(5), canvas(8)
    assert float(early["data1"]["redo buffer"].share) < 0.9 < late["data1"]["redo buffer"].share
    assert late["data1"]["c0d1 busy"].level == "over"
    assert [one.label.text for one in selected["data1"].values() if one.is_marked] == ["c0d1 busy"]
    # Nothing is replayed beside a comparison: what is estimated, which no log buffer is.
    assert "redo buffer" not in planned["data1"]
    assert {"CPU", "DataMemory"} <= planned["data1"].keys()


def test_what_is_down_is_said_and_many_hosts_show_their_worst() -> None:
    plan = sample_plan("starter")
    node = plan.data_nodes[0]
    failure = NodeFailure(at_s=20.0, object_id=node.id)
    lost = plan.replace(workloads=(plan.workloads[0].model_copy(update={"events": (failure,)}),))
    scene = Scene(title="Lost", panel="Simulation", at=30.0)
    answers = Answers(Asked(Project.of(lost)))
    drawn = picture(lost, scene, answers)
    assert drawn is not None
    states = [state.text for _, tiles in drawn.groups for tile in tiles for state in tile.states]
    assert any(f"node {node.node_id}" in words for words in states)
    large = sample_plan("telecom-144").replace(workloads=())
    many = picture(large, Scene(title="All"), Answers(Asked(Project.of(large))))
    assert many is not None
    assert {len(tile.gauges) for _, tiles in many.groups for tile in tiles} <= {0, 1}
