"""The command diff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.plan.file import save
from ndbplan.plan.samples import sample_plan


def saved(folder: Path, name: str, **values: int) -> Path:
    plan = sample_plan("starter")
    for parameter, value in values.items():
        plan = set_parameter(plan, "data_node", parameter, value)
    save(plan, folder / name)
    return folder / name


def test_plan_and_plan(call: Any, tmp_path: Path) -> None:
    before = saved(tmp_path, "before.ndbplan")
    after = saved(tmp_path, "after.ndbplan", NoOfFragmentLogFiles=20)
    shape = call("diff", after, before, "--json").json("diff")
    assert shape["restart"] == "initial_node"
    assert [p["parameter"] for p in shape["parameters"]] == ["NoOfFragmentLogFiles"]
    shown = call("diff", after, before).out
    assert "16 → 20" in shown
    assert "Restart data nodes 1, 2 with --initial, one after the other" in shown


def test_what_runs_is_a_plan_by_its_content(call: Any, tmp_path: Path) -> None:
    before = saved(tmp_path, "before.json")
    after = saved(tmp_path, "after.ndbplan", DataMemory=2**36)
    assert call("diff", after, before, "--json").json("diff")["restart"] == "node"
    listed = call("procedure", after, "--from", before, "--json").json("procedure")
    assert [step["key"] for step in listed["steps"]] == [
        "configuration",
        "management",
        "restart-1",
        "restart-2",
    ]
    assert "a rolling restart: the cluster serves all the time" in listed["notes"]


def test_what_cannot_be_done_is_refused_with_why(call: Any, tmp_path: Path) -> None:
    before, after = saved(tmp_path, "before.ndbplan"), saved(tmp_path, "after.ndbplan", NoOfReplicas=1)
    why = "node group 0 has 2 of 1 members"
    assert why in call("diff", after, before).out
    assert why in call("procedure", after, "--from", before).refused()
    assert why in call("export", after, "--to", tmp_path / "out", "--from", before).refused()
    assert "no use for it" in call("procedure", after, "--from", before, "--kind", "add-nodes").refused()


def test_an_exported_change_holds_what_ran(call: Any, tmp_path: Path) -> None:
    before = saved(tmp_path, "before.ndbplan")
    running = tmp_path / "running"
    running.write_text("# mine\n" + render_config_ini(sample_plan("starter")))
    after = saved(tmp_path, "after.ndbplan", DataMemory=2**36)
    for name in (before, running):
        call("export", after, "--to", tmp_path / "out", "--only", "config,runbook", "--from", name)
        script = (tmp_path / "out" / "runbook.sh").read_text()
        assert "    same_cluster config.ini before/config.ini\n" in script
    assert (tmp_path / "out" / "before" / "config.ini").read_text() == running.read_text()


def test_plan_and_its_own_file(call: Any, tmp_path: Path) -> None:
    plan = saved(tmp_path, "plan.ndbplan")
    config = tmp_path / "config.ini"
    config.write_text(render_config_ini(sample_plan("starter")))
    first, *others = call("diff", plan, config).out.splitlines()
    assert first == "no parameter changes"
    assert [line.partition(".")[0] for line in others] == ["left out: tables"]
    assert call("diff", plan, plan).out == "nothing changes\n"


def test_plan_and_defaults(call: Any, tmp_path: Path) -> None:
    shape = call("diff", saved(tmp_path, "plan.ndbplan"), "--json").json("diff")
    assert "DataMemory" in {p["parameter"] for p in shape["parameters"]}


def test_what_is_no_configuration(call: Any, tmp_path: Path) -> None:
    plan = saved(tmp_path, "plan.ndbplan")
    assert "cannot be read" in call("diff", plan, tmp_path / "none.ini").refused()
    (tmp_path / "empty.ini").write_text("")
    assert "no section" in call("diff", plan, tmp_path / "empty.ini").refused()


def test_what_no_step_does_is_told_and_not_called_nothing(call: Any, tmp_path: Path) -> None:
    before = saved(tmp_path, "before.ndbplan")
    plan = sample_plan("starter")
    table = plan.tables[0]
    changed = update(plan, table.id, row_format_fixed=not table.row_format_fixed)
    after = tmp_path / "after.ndbplan"
    save(changed, after)
    shown = call("diff", after, before).out
    first, told = shown.splitlines()
    assert first == "no parameter changes"
    assert told.startswith(f"left out: {table.full_name}: ROW_FORMAT changes")
    shape = call("diff", after, before, "--json").json("diff")
    assert (shape["steps"], shape["refused"]) == ([], None)
    assert shape["left_out"] == [told]
