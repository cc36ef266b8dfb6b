"""The headline figures are the numbers that the commands print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Call
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.sizing.build import Builder
from ndbplan.advise.sizing.choices import choices
from ndbplan.advise.sizing.limits import Judge
from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.edits.assign import assign
from ndbplan.estimate.estimation import Estimation
from ndbplan.importing.requirements import requirements_of
from ndbplan.plan.file import load, save
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of


def _value(shape: Any) -> float:
    return float(shape["value"])


FROM_COMMANDS: dict[str, tuple[tuple[str, ...], Callable[[Any], float]]] = {
    "max-load": (("max-load",), lambda shape: _value(shape["max_per_s"])),
    "accepted": (("simulate",), lambda shape: _value(shape["accepted_per_s"])),
    "first-error": (
        ("simulate",),
        lambda shape: min(_value(error["first_at_s"]) for error in shape["errors"]),
    ),
    "latency": (("simulate",), lambda shape: _value(shape["latency_mean_s"])),
    "redo-time": (("estimate",), lambda shape: _value(shape["redo"]["time_to_full_s"])),
    "disk-space": (
        ("estimate",),
        lambda shape: max(_value(disk["fill"]) for disk in shape["disk_space"]["disks"]),
    ),
    "restart": (("restart", "--kind", "node"), lambda shape: _value(shape["duration_s"])),
    "system-restart": (("restart", "--kind", "system"), lambda shape: _value(shape["duration_s"])),
    "reorganise": (("reorg", "--add-groups", "1"), lambda shape: _value(shape["duration_s"])),
    "backup": (("backup",), lambda shape: _value(shape["backup"]["duration_s"])),
    "survive": (
        ("survive",),
        lambda shape: sum(failure["verdict"] == "stops" for failure in shape["failures"]),
    ),
    "errors": (
        ("check",),
        lambda shape: sum(problem["severity"] == "error" for problem in shape["problems"]),
    ),
    "cost": (("cost",), lambda shape: _value(shape["total"])),
}


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures") / "plan.ndbplan"
    plan = sample_plan("redo-overload")
    hosts = (host.model_copy(update={"purchase_price": 9000.0}) for host in plan.hosts)
    save(plan.replace(hosts=tuple(hosts)), path)
    return path


@pytest.fixture(scope="module")
def plan(plan_file: Path) -> Plan:
    return load(plan_file)


def test_every_figure_is_what_its_command_prints(call: Call, plan: Plan, plan_file: Path) -> None:
    printed: dict[tuple[str, ...], Any] = {}
    with keeping():
        now = estimation_of(plan, plan.workloads[0].id)
        for name, (command, number) in FROM_COMMANDS.items():
            if command not in printed:
                printed[command] = call(command[0], plan_file, *command[1:], "--json").json(command[0])
            found = FIGURES[name].of(now)
            assert found is not None, name
            assert number(printed[command]) == pytest.approx(found.value, rel=1e-11), name


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (assign(sample_plan("starter"), "Diskless=1")[0], "a diskless cluster makes no backup"),
        (sample_plan("starter").replace(tables=(), workloads=()), "there is no table to save"),
    ],
)
def test_a_backup_that_nobody_makes_takes_no_time_anywhere_and_is_told_why(
    call: Call, saved: Callable[[Plan], Path], plan: Plan, why: str
) -> None:
    path = saved(plan)
    printed = call("backup", path, "--json").json("backup")["backup"]
    assert (printed["nodes"], printed["duration_s"], printed["notes"]) == ([], None, [why])
    with pytest.raises(UserError, match=why):
        FIGURES["backup"].of(Estimation(plan))
    swept = call("sweep", path, "--vary", "RedoBuffer=32M", "--measure", "backup,memory", "--json")
    cell = swept.json("sweep")["cells"][0]["figures"]
    assert cell["backup"] is None
    assert cell["memory"]["value"] >= 0
    assert why in str(swept.json("sweep")["errors"])


def test_a_limit_of_a_backup_that_nobody_makes_is_kept_by_no_cluster() -> None:
    plan = assign(sample_plan("starter"), "Diskless=1")[0]
    wanted = requirements_of(plan, within={"backup": 3600})
    judge = Judge(wanted.requirements, Builder(wanted.begun, plan.hosts[0]))
    classes = choices(wanted.requirements, wanted.source, wanted.own)
    broken = judge.verdict(classes[0], 1).broken
    assert broken is not None
    assert broken.kind == "within.backup"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_a_number_or_none_without_a_workload(name: str) -> None:
    figure = FIGURES[name]
    found = figure.of(Estimation(sample_plan("starter")))
    # Nothing has a price there.
    if figure.simulated or name in ("redo-time", "load-left") or name.startswith("cost"):
        assert found is None
    else:
        assert found is not None
        assert found.unit == figure.unit
