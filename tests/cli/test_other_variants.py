"""FILE@VARIANT names a variant wherever a command looks at another plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ndbplan.base.errors import UserError
from ndbplan.cli import all_commands
from ndbplan.edits.assign import assign
from ndbplan.edits.variants import added, load_variant
from ndbplan.plan.file import save
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    plan = sample_plan("starter")
    other = assign(plan, "DataMemory=8G")[0]
    path = tmp_path / "shop@home.ndbplan"
    save(added(Project.of(plan), "Less memory", 0, other), path)
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(all_commands(), [str(one) for one in arguments])
    assert result.exit_code in (0, 1), result.output
    return result.output


def test_a_variant_of_another_file(shop: Path) -> None:
    assert load_variant(shop).parameters.data_node.get("DataMemory") != 8 * 2**30
    assert load_variant(Path(f"{shop}@Less memory")).parameters.data_node["DataMemory"] == 8 * 2**30
    differs = json.loads(run("diff", shop, f"{shop}@Less memory", "--json"))
    assert "DataMemory" in json.dumps(differs)
    assert "DataMemory" not in json.dumps(
        json.loads(run("diff", shop, f"{shop}@Main", "--json"))["parameters"]
    )
    side = json.loads(
        run("compare", shop, f"{shop}@Less memory", "--figures", "memory", "--no-simulation", "--json")
    )
    assert len(side["columns"]) == 2
    assert any("DataMemory" in one["where"] for one in side["differences"])


def test_a_variant_that_is_not_there(shop: Path) -> None:
    with pytest.raises(UserError) as refused:
        load_variant(Path(f"{shop}@Less memry"))
    assert "there is no variant 'Less memry'" in refused.value.line
    assert "Less memory" in refused.value.line
    said = CliRunner().invoke(all_commands(), ["diff", str(shop), f"{shop}@Less memry"])
    assert said.exit_code != 0
    assert isinstance(said.exception, UserError), said.exception
