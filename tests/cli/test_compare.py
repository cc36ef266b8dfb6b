"""The command diff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ndbplan.edits.parts import set_parameter
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
    assert "--initial, one after the other" in shown


def test_plan_and_its_own_file(call: Any, tmp_path: Path) -> None:
    plan = saved(tmp_path, "plan.ndbplan")
    config = tmp_path / "config.ini"
    config.write_text(render_config_ini(sample_plan("starter")))
    assert call("diff", plan, config).out == "nothing changes\n"


def test_plan_and_defaults(call: Any, tmp_path: Path) -> None:
    shape = call("diff", saved(tmp_path, "plan.ndbplan"), "--json").json("diff")
    assert "DataMemory" in {p["parameter"] for p in shape["parameters"]}


def test_what_is_no_configuration(call: Any, tmp_path: Path) -> None:
    plan = saved(tmp_path, "plan.ndbplan")
    assert "cannot be read" in call("diff", plan, tmp_path / "none.ini").refused()
    (tmp_path / "empty.ini").write_text("")
    assert "no section" in call("diff", plan, tmp_path / "empty.ini").refused()
