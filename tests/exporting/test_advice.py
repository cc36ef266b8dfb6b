"""Every step that can stop says what to do then, and the script says it where one stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest

from exporting.acted_changes import changes, with_init_scripts, with_linked_redo, with_reserved_nodes
from exporting.acted_cluster import ActedCluster
from exporting.acted_state import RefusedError
from ndbplan.configuration.needs import CannotChangeError
from ndbplan.configuration.services import services
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan
from ndbplan.exporting.advice import ADVICE, advice
from ndbplan.exporting.export import export
from ndbplan.operations import commands
from ndbplan.operations.commands import BackUp, BackUpAgain, KeepLogin, Shell, WaitManagement
from ndbplan.operations.life import operations
from ndbplan.operations.operation import Operation, Step
from ndbplan.operations.steps import DATA_NODE_STAYS_AWAY
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")


def _parts() -> Iterator[Operation]:
    one_copy = set_parameter(STARTER, "data_node", "NoOfReplicas", 1)
    for plan in (
        STARTER,
        with_linked_redo(STARTER),
        with_init_scripts(STARTER),
        with_reserved_nodes(STARTER),
        one_copy,
    ):
        yield from operations(plan)
    yield from operations(set_plan(sample_plan("disk-data"), ndb_version="7.4"))
    for _, before, after in changes(STARTER):
        try:
            yield from operations(after, before=before)
        except CannotChangeError:
            continue


def test_each_step_says_what_to_do_when_it_stops() -> None:
    steps = [step for part in _parts() for step in part.steps if step.commands]
    assert len(steps) > 300
    assert [step.title for step in steps if not advice(step)] == []
    own = [step for step in steps if step.if_it_fails]
    assert all(advice(step) == step.if_it_fails for step in own)
    assert len(own) < len(steps)


def test_each_kind_of_command_has_advice_or_comes_with_one_that_has() -> None:
    with_others = {
        commands.WaitStarted,
        commands.WaitSql,
        WaitManagement,
        BackUp,
        BackUpAgain,
        KeepLogin,
        commands.Management,
    }
    assert {*get_args(commands.Command)} - {*ADVICE} == with_others


def test_what_is_said_of_a_service_holds_on_hosts_without_a_journal() -> None:
    parts = {part.key: part for part in operations(sample_plan("starter"))}
    for part, key in (("start", "management"), ("stop", "sql-stop"), ("start-again", "management")):
        step = parts[part].step(key) or parts[part].steps[0]
        assert "/var/log/NAME.log of an init script" in advice(step), (part, step.key)


def test_files_that_are_gone_are_not_said_to_be_there() -> None:
    """The step looks for the backup first, and a host may be lost while files are removed."""
    parts = {part.key: part for part in operations(sample_plan("starter"))}
    step = parts["restore"].step("empty")
    assert step is not None
    assert "Else files of some nodes are gone already" in advice(step)


def test_what_a_data_node_prints_is_in_the_log_of_its_service() -> None:
    """With --nodaemon it writes no ndb_ID_out.log: seen of 9.7.4 run by an exported unit."""
    assert "--nodaemon" in next(one for one in services(STARTER) if "ndbmtd" in one.name).command
    assert "_out.log" not in DATA_NODE_STAYS_AWAY
    assert "journalctl --unit=NAME" in DATA_NODE_STAYS_AWAY


def test_a_step_without_commands_has_nothing_to_say() -> None:
    assert advice(Step("a", "A", "Text")) == ""
    assert advice(Step("a", "A", "Text", (Shell("h", "ls"),))).startswith("nothing is changed here")


@pytest.mark.parametrize(
    ("program", "step", "found", "to_do"),
    [
        ("mountpoint", "directories", "found:    /nvme0 is not a mountpoint", "a disk that is not mounted"),
        ("dnf", "programs", "found:    exit status 1", "correct what the package manager names"),
    ],
)
def test_the_script_says_it(program: str, step: str, found: str, to_do: str, tmp_path: Path) -> None:
    """With what was expected, what was found, and the whole command to go on with."""
    folder, packages = tmp_path / "out", tmp_path / "ndb.rpm"
    packages.write_text("8.4.8")
    export(STARTER, folder, ("config", "mycnf", "runbook", "systemd"))
    cluster = ActedCluster(STARTER, 1)
    cluster.releases = dict.fromkeys(cluster.releases, "" if program == "dnf" else "8.4.8")

    def refuse(_host: str, words: list[str]) -> str:
        raise RefusedError(f"{words[-1]} is not a mountpoint\n")

    refusing: Callable[[str, list[str]], str] = refuse
    setattr(cluster, f"_{program}", refusing)
    part, given = ("install", ("--programs", str(packages))) if program == "dnf" else ("start", ())
    stopped = cluster.run(folder, part, *given)
    assert stopped.returncode == 1
    assert f"step {step} stops\n  expected: " in stopped.stderr
    assert found in stopped.stderr
    assert "\n  to do:    " in stopped.stderr
    assert to_do in stopped.stderr
    go_on = " ".join((f"{folder}/runbook.sh", part, *given, "--yes"))
    assert f"go on with: {go_on}\n" in stopped.stderr
