"""Commands about work on a running cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ndbplan.plan.file import load


def test_procedure_lists_steps_with_times(call: Any, saved: Any) -> None:
    shape = call("procedure", saved("add-nodes"), "--json").json("procedure")
    assert shape["steps"][0]["key"] == "configuration"
    assert shape["point_of_no_return"] == "reorganise-1"
    text = call("procedure", saved("add-nodes")).out
    assert "REORGANIZE test.t1" in text


def test_procedure_writes_calendar_and_picture(call: Any, saved: Any, tmp_path: Path) -> None:
    ics, gantt = tmp_path / "w.ics", tmp_path / "w.svg"
    called = call(
        "procedure", saved("starter"), "--start", "2026-05-09T02:00", "--ics", ics, "--gantt", gantt, "--json"
    )
    assert called.code == 0
    assert ics.read_bytes().startswith(b"BEGIN:VCALENDAR\r\n")
    assert gantt.read_text().startswith("<svg")


def test_procedure_names_the_quietest_stretch(call: Any, saved: Any) -> None:
    path = saved("starter")
    shape = call("procedure", path, "--under", load(path).workloads[1].name, "--json").json("procedure")
    assert shape["best_window"]["highest_per_s"] < shape["best_window"]["peak_per_s"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--set", "RedoBuffer"),
        ("--to-version", "9.x"),
        ("--together",),
    ],
)
def test_other_procedures(call: Any, saved: Any, arguments: tuple[str, ...]) -> None:
    shape = call("procedure", saved("starter"), *arguments, "--json", "--why").json("procedure")
    assert shape["steps"]
    assert shape["duration_s"]["why"]
    kinds = {"--set": "roll-out", "--to-version": "upgrade"}
    assert shape["name"] == kinds.get(arguments[0], "add-nodes"), "what is asked for says which it is"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--kind", "roll-out"), "--set"),
        (("--kind", "roll-out", "--set", "Nonsense"), "Nonsense"),
        (("--kind", "upgrade"), "--to-version"),
        (("--to-version", "abc"), "--to-version: 'abc' is not an NDB Cluster version"),
        (("--to-version", "8.0"), "a downgrade"),
        (("--to-version", "8.4"), "runs NDB 8.4 already"),
        (("--kind", "upgrade", "--to-version", "9.x", "--set", "RedoBuffer"), "--set: upgrade has no use"),
        (("--set", "RedoBuffer", "--to-version", "9.x"), "--to-version: roll-out has no use for it"),
        (("--ics", "x.ics"), "--start"),
        (("--start", "tomorrow"), "tomorrow"),
        (("--under", "nobody"), "nobody"),
    ],
)
def test_what_procedure_cannot_take(call: Any, saved: Any, arguments: tuple[str, ...], named: str) -> None:
    assert named in call("procedure", saved("starter"), *arguments).refused()


def test_backup(call: Any, saved: Any) -> None:
    shape = call("backup", saved("disk-data"), "--json").json("backup")
    assert shape["backup"]["duration_s"]["value"] > 0
    assert shape["create_files"]["phases"]


def test_calibrate_makes_the_estimate_fit(call: Any, saved: Any, tmp_path: Path) -> None:
    output = tmp_path / "calibrated.ndbplan"
    call("calibrate", saved("add-nodes"), "--reorganised", "5min", "-o", output, "--json").json("calibrate")
    shape = call("reorg", output, "--add-groups", 1, "--json").json("reorg")
    assert shape["duration_s"]["value"] == pytest.approx(300, rel=0.01)
    again = tmp_path / "again.ndbplan"
    call("calibrate", output, "--restarted", "200s", "--source", "our cluster", "-o", again)
    shape = call("restart", again, "--kind", "node", "--json").json("restart")
    assert shape["duration_s"]["value"] == pytest.approx(200, rel=0.01)
    assert {c.source for c in load(again).calibrations} == {"timed by hand", "our cluster"}


def test_calibrate_refuses_what_fits_nothing(call: Any, saved: Any, tmp_path: Path) -> None:
    output = tmp_path / "x.ndbplan"
    assert "--reorganised" in call("calibrate", saved("add-nodes"), "-o", output).refused()
    assert (
        "fixed cost" in call("calibrate", saved("add-nodes"), "--reorganised", "1s", "-o", output).refused()
    )
    assert not output.exists()


def test_effect_of_a_reorganisation_on_the_load(call: Any, saved: Any) -> None:
    path = saved("add-nodes")
    called = call("procedure", path, "--under", load(path).workloads[0].name, "--effect", "--json")
    effect = called.json("procedure")["effect"]
    assert effect["accepted_during_per_s"]["value"] <= effect["offered_per_s"] * 1.001
    assert "--effect" in call("procedure", path, "--effect").refused()
