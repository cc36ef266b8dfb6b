"""Variants of a plan file from the command line: one is worked on, the others stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ndbplan.cli.schemas import plan_schema
from ndbplan.edits import parts as edits
from ndbplan.edits.variants import added
from ndbplan.plan.file import dumps, load, load_project, save
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
HOST = STARTER.hosts[0].id


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the starter as Main and a variant 'More cores'."""
    project = added(Project.of(STARTER), "More cores", 0, edits.update(STARTER, HOST, cores=48), "two racks")
    save(project, tmp_path / "a.ndbplan")
    return tmp_path / "a.ndbplan"


def cores(path: Path) -> dict[str, int]:
    """Cores of the first host in each variant."""
    return {one.name: one.plan.host(HOST).cores for one in load_project(path).variants}


def test_variants_are_listed_with_what_they_have_other(call: Any, path: Path) -> None:
    shape = call("variants", path, "--json").json("variants")
    assert [(one["name"], one["note"], one["main"]) for one in shape["variants"]] == [
        ("Main", "", True),
        ("More cores", "two racks", False),
    ]
    assert shape["variants"][0]["changes"] == []
    assert shape["variants"][1]["changes"] == [
        {"where": f"host {STARTER.host(HOST).hostname}", "name": "cores", "before": 32, "after": 48}
    ]
    assert shape["files"] == []
    said = call("variants", path).out
    assert "More cores: two racks" in said
    assert "32 → 48" in said


def test_sizes_of_variants_are_told_with_units(call: Any, path: Path) -> None:
    said = call("variants", path, "--add", "Small", "--set", "hosts[*].memory=64GiB").out
    assert "memory of host" in said
    assert "→ 64 GiB" in said


def test_a_variant_is_added_with_what_it_has_other(call: Any, path: Path) -> None:
    asked = ("--add", "Big", "--from", "More cores", "--set", f"hosts[{HOST}].memory=1TiB")
    done = call("variants", path, *asked, "--set", "RedoBuffer=64M", "--note", "later", "--json")
    assert [one["name"] for one in done.json("variants")["variants"]] == ["Main", "More cores", "Big"]
    big = load_project(path).variants[2]
    assert (big.note, big.plan.host(HOST).cores, big.plan.host(HOST).memory_bytes) == ("later", 48, 2**40)
    assert big.plan.parameters.data_node["RedoBuffer"] == 64 * 2**20
    assert load(path) == STARTER
    jsonschema.validate(json.loads(path.read_text()), plan_schema())


def test_a_variant_goes_is_named_moved_and_becomes_the_main_one(call: Any, path: Path) -> None:
    call("variants", path, "--add", "C=3")
    call("variants", path, "--rename", "C=3=D=4", "--note", "new")
    assert list(cores(path)) == ["Main", "More cores", "D=4"]
    call("variants", path, "--move", "D=4", "--to", "1")
    assert list(cores(path)) == ["D=4", "Main", "More cores"]
    call("variants", path, "--promote", "More cores")
    assert cores(path) == {"More cores": 48, "D=4": 32, "Main": 32}
    assert load(path).host(HOST).cores == 48
    call("variants", path, "--remove", "D=4")
    before = path.read_text()
    assert call("variants", path, "--export", "Main", "-o", path.with_name("alone")).code == 0
    assert path.with_name("alone").read_text() == dumps(STARTER)
    assert path.read_text() == before
    call("variants", path, "--remove", "More cores", "-o", path.with_name("other"))
    assert path.read_text() == before
    assert path.with_name("other").read_text() == dumps(STARTER)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--remove", "More cors"], "did you mean More cores?"),
        (["--add", "Main"], "there is a variant 'Main' already"),
        (["--add", ""], "refused"),
        (["--add", "x" * 65], "64 letters at most"),
        (["--add", "B", "--from", "mian"], "did you mean Main?"),
        (["--add", "B", "--set", "RedoBufer=1M"], "did you mean RedoBuffer"),
        (["--rename", "Main=More cores"], "there is a variant 'More cores' already"),
        (["--rename", "Main"], "NAME=NEW"),
        (["--add", "B", "--remove", "Main"], "--add and --remove are two changes"),
        (["--set", "RedoBuffer=1M"], "use it with --add"),
        (["--move", "Main"], "--to N"),
        (["--export", "Main"], "-o FILE"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_changes_nothing(
    call: Any, path: Path, asked: list[str], says: str
) -> None:
    before = path.read_bytes()
    assert says in call("variants", path, *asked).refused()
    assert path.read_bytes() == before


def test_the_last_variant_stays(call: Any, saved: Any) -> None:
    assert "only variant" in call("variants", saved("starter"), "--remove", "Main").refused()


def test_the_window_opens_with_the_named_variant(
    call: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[Path | None, str]] = []
    monkeypatch.setattr(
        "ndbplan.desktop.start.run", lambda path=None, variant="": opened.append((path, variant)) or 0
    )
    assert call("open", path, "--variant", "More cores").code == 0
    assert opened == [(path, "More cores")]
    assert "did you mean More cores" in call("open", path, "--variant", "More cors").refused()
    assert "no plan is named" in call("open", "--variant", "Main").refused()


def test_commands_that_read_work_on_the_named_variant(call: Any, path: Path) -> None:
    whole = call("estimate", path, "--only", "cpu", "--json").out
    other = call("estimate", path, "--only", "cpu", "--variant", "More cores", "--json").out
    save(load_project(path).variants[1].plan, path.with_name("alone"))
    assert whole != other
    assert other == call("estimate", path.with_name("alone"), "--only", "cpu", "--json").out
    assert "did you mean More cores" in call("check", path, "--variant", "more core").refused()


def test_commands_that_write_change_the_named_variant_and_keep_the_others(call: Any, path: Path) -> None:
    other = load_project(path).variants[1].plan
    call("set", path, f"hosts[{HOST}].cores=8")
    call("set", path, "--variant", "More cores", f"hosts[{HOST}].cores=64")
    assert cores(path) == {"Main": 8, "More cores": 64}
    call("add", path, "location", "r9", "--variant", "More cores")
    call("remove", path, f"tables[{STARTER.tables[0].full_name}]", "--variant", "More cores")
    project = load_project(path)
    assert project.main == edits.update(STARTER, HOST, cores=8)
    assert len(project.variants[1].plan.locations) == len(other.locations) + 1
    assert len(project.variants[1].plan.tables) == len(other.tables) - 1
    call("calibrate", path, "--backed-up", "12min", "-o", path)
    project = load_project(path)
    assert [len(one.plan.calibrations) for one in project.variants] == [1, 0]
    call("fix", path, "--variant", "More cores", "-o", path.with_name("fixed"))
    assert load_project(path.with_name("fixed")).main == project.main


def test_a_variant_against_the_main_plan_of_the_same_file(call: Any, path: Path) -> None:
    call("set", path, "--variant", "More cores", "RedoBuffer=48M")
    shape = call("diff", path, path, "--variant", "More cores", "--json").json("diff")
    assert [one["parameter"] for one in shape["parameters"]] == ["RedoBuffer"]
    assert call("diff", path, path).out == "nothing changes\n"


def test_sizing_and_imports_begin_with_the_named_variant(call: Any, path: Path, tmp_path: Path) -> None:
    call("variants", path, "--add", "Small", "--set", "NoOfReplicas=1")
    alone, wanted = tmp_path / "alone.ndbplan", tmp_path / "wanted.json"
    save(load_project(path).variants[2].plan, alone)
    whole = call("size", alone).out
    assert whole != call("size", path).out
    assert call("size", path, "--variant", "Small").out == whole
    assert call("size", f"{path}@Small").out == whole
    wanted.write_text(json.dumps({"plan": f"{path.name}@Small", "replicas": 1}), encoding="utf-8")
    assert call("size", wanted).out == whole
    assert "did you mean Small" in call("size", path, "--variant", "Smal").refused()
    assert "have no variants" in call("size", wanted, "--variant", "Small").refused()
    sql = tmp_path / "more.sql"
    sql.write_text("CREATE TABLE d.more (id INT PRIMARY KEY) ENGINE=NDB;", encoding="utf-8")
    out = tmp_path / "more.ndbplan"
    assert call("import", sql, "--into", f"{path}@Small", "-o", out).code == 0
    assert load_project(out).main.parameters.data_node["NoOfReplicas"] == 1
