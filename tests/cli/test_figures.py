"""The headline figures are the numbers that the commands print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Call
from ndbplan.advise.figures import FIGURES
from ndbplan.base.kept import keeping
from ndbplan.estimate.estimation import Estimation
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
