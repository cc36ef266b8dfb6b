"""Hosts without systemd: their init scripts run as they are, and the runbook goes through them."""

from __future__ import annotations

import getpass
import os
import re
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from exporting.acted_changes import with_init_scripts
from exporting.acted_life import KINDS, Life
from ndbplan.configuration.needs import CannotChangeError
from ndbplan.edits.parts import update
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.export import export, render_files
from ndbplan.operations.change import change
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
PLAN = with_init_scripts(STARTER)
ANGEL = """#!/bin/bash
sleep 1000 &
trap 'kill %1; exit 0' TERM
printf '%s %s %s\\n' "$$" "$!" "${*: -1}" >{place}/told
while :; do sleep 0.2 & wait $!; done
"""
"""Starts a child as ndbmtd does, says both and its last word, and ends with 0 when it is told to,
even as it is about to wait."""


class Script(NamedTuple):
    """One init script in a folder of its own."""

    place: Path

    def __call__(self, verb: str) -> int:
        return subprocess.run(
            [self.place / "init", verb], check=False, timeout=60, capture_output=True
        ).returncode

    def began(self) -> tuple[int, int, str]:
        """Waits until the program starts: its process, that of its child, its last word."""
        angel, child, word = (self.place / "told").read_text().split()
        return int(angel), int(child), word

    def keeper(self) -> int:
        """The process that keeps the program."""
        return int((self.place / "ndbmtd-1.keeper").read_text().split()[0])


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Script]:
    """That of the first data node, for a program in a folder and for whoever runs the tests."""
    os.mkfifo(tmp_path / "told")
    (tmp_path / "angel").write_text(ANGEL.replace("{place}", f"{tmp_path}"))
    text = render_files(PLAN, ["systemd"])["init.d/host-a1/ndbmtd-1"]
    here = {"user": getpass.getuser(), "run": tmp_path, "log": tmp_path / "log", "again_s": 0}
    for name, value in here.items():
        text = re.sub(rf"^{name}=.*", f"{name}={value}", text, flags=re.MULTILINE)
    text = text.replace("/usr/sbin/ndbmtd", f"{tmp_path}/angel").replace("sleep 3\n", "\n")
    (tmp_path / "init").write_text(text)
    for name in ("init", "angel"):
        (tmp_path / name).chmod(0o755)
    yield Script(tmp_path)
    Script(tmp_path)("stop")


def _wait_for_the_end_of(descriptor: int) -> None:
    try:
        assert select.select([descriptor], [], [], 30)[0], "it lives on"
    finally:
        os.close(descriptor)


def test_what_fails_comes_back_and_what_is_stopped_stays_down(script: Script) -> None:
    """With nothing left of a killed program, and an option for one start alone."""
    assert script("status") == 3
    (script.place / "ndbmtd-1.option").write_text("START_OPTION=--initial\n")
    assert script("start") == 0
    angel, child, word = script.began()
    assert word == "--initial"
    assert script("start") == script("status") == 0
    left = os.pidfd_open(child)
    os.kill(angel, signal.SIGKILL)
    _, _, word = script.began()
    _wait_for_the_end_of(left)
    assert word == "--ndb-nodeid=1"
    assert script("stop") == 0
    assert script("status") == 3


def test_a_program_that_ends_by_itself_is_not_started_again(script: Script) -> None:
    """As the management client stops one."""
    assert script("start") == 0
    angel, _, _ = script.began()
    keeper = os.pidfd_open(script.keeper())
    os.kill(angel, signal.SIGTERM)
    _wait_for_the_end_of(keeper)
    assert script("status") == 3


def test_a_program_whose_keeper_was_killed_is_stopped_all_the_same(script: Script) -> None:
    assert script("start") == 0
    angel, _, _ = script.began()
    ended = os.pidfd_open(angel)
    os.kill(script.keeper(), signal.SIGKILL)
    assert script("status") == 0
    assert script("stop") == 0
    _wait_for_the_end_of(ended)
    assert script("status") == 3


def test_a_life_without_systemd(tmp_path: Path) -> None:
    life = Life(PLAN, tmp_path / "life", seed=5)
    for part in ("install", "tune-hosts", "start", "initial-rolling-restart", "stop"):
        assert list(life.act(part, 1, again=part in ("start", "stop"))) == []
    assert not any("systemctl" in line for line in life.cluster.log)
    assert "/etc/init.d" in life.cluster.run(life.folder, "--help").stdout


def test_a_host_with_another_manager_than_stated_is_refused(tmp_path: Path) -> None:
    other = update(PLAN, PLAN.data_nodes[0].host_id, service_manager=ServiceManager.SYSTEMD)
    life = Life(PLAN, tmp_path / "life")
    assert list(life.act("install", 0, again=False)) == []
    export(other, life.folder, KINDS)
    refused = life.cluster.run(life.folder, "start")
    assert refused.returncode == 1
    assert "step services is not done" in refused.stderr
    assert "On host-a1 systemd 219" in (life.folder / "runbook.md").read_text()


def test_another_manager_is_no_change_of_a_cluster() -> None:
    before = update(PLAN, PLAN.data_nodes[0].host_id, service_manager=ServiceManager.SYSTEMD)
    with pytest.raises(CannotChangeError, match="host-a1 starts services otherwise"):
        change(Estimation(PLAN), before)
