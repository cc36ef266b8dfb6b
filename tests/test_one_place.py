"""Kinds of change that one place is enough for: made here, and looked for where they have to show.

A column type is made in ndb/a_new_column_type.py, a version in another_version.py: who asks for those asks
when it is imported.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pytest

from ndbplan.base.quantity import Quantity
from ndbplan.base.resources import read_json, resources_dir
from ndbplan.base.shapes import schema_of
from ndbplan.checks.fix import fix_all
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import RULES, hint, rule, warning
from ndbplan.checks.run import check, check_all, find
from ndbplan.cli.outputs import definitions
from ndbplan.configuration.difference import diff
from ndbplan.describe.titles import event_line
from ndbplan.desktop.analyses.simulation.run import error_text
from ndbplan.desktop.document.preferences import Preference, Preferences
from ndbplan.edits.changes import SetParameter
from ndbplan.edits.events import usual
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate import estimation
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.cpu import HostCpu
from ndbplan.exporting import export
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.exporting.gantt import gantt_svg
from ndbplan.exporting.schedule import to_ics
from ndbplan.importing import kinds as kinds_to_import
from ndbplan.importing.files import import_files, kind_of
from ndbplan.importing.imported import Imported
from ndbplan.ndb import constants as known_constants
from ndbplan.ndb import errors
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import NdbVersion
from ndbplan.operations import life
from ndbplan.operations.commands import Shell
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.plan import events
from ndbplan.plan.fields import Id, Ref, Shown
from ndbplan.plan.plan import Calibration, Plan, Waiver
from ndbplan.plan.processes import Link
from ndbplan.plan.references import broken_part, references, renamed, without
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate import series
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.events import handlers
from ndbplan.simulate.run import simulate
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.world.indices import OfNode
from ndbplan.train.host.tools import errors_of
from ndbplan.train.sql.refused import met

NEW = "RowsPerBreath"


@pytest.fixture
def parameter(monkeypatch: pytest.MonkeyPatch) -> str:
    """A data node parameter that is a row of data: a count of 1 to 9, known from 8.0 on."""
    row = dict(catalogue._entries()["DB", "maxnooftables"])
    span = {**row["spans"][0], "from": "8.0", "default": 3, "min": 1, "max": 9, "restart": "node"}
    row |= {"name": NEW, "since": "8.0", "spans": [span], "related": [], "description": "Rows in one breath"}
    monkeypatch.setitem(catalogue._entries(), ("DB", NEW.lower()), row)
    return NEW


def test_a_parameter_is_a_row_of_data(parameter: str) -> None:
    plan = sample_plan("starter").replace(ndb_version="8.4")
    known = set_parameter(plan, "data_node", parameter, 5)
    assert f"\n{parameter} = 5\n" in render_config_ini(known).replace("=", " = ").replace("  ", " ")
    assert parameter not in render_config_ini(plan)
    (change,) = diff(plan, known).parameters
    assert (change.name, change.restart) == (parameter, "node")
    assert {p.rule for p in find(known)} == {p.rule for p in find(plan)}
    high = find(set_parameter(plan, "data_node", parameter, 10))
    assert [p.message for p in high if p.rule == "parameter-value" and parameter in p.message]
    old = find(known.replace(ndb_version="7.6"))
    assert [p.message for p in old if p.rule == "unknown-parameter" and parameter in p.message]


@pytest.fixture
def made_up() -> Iterator[str]:
    """A rule that is one function."""

    @rule("too-many-hosts-for-a-test", "There are hosts")
    def too_many(now: Estimation) -> Iterator[Problem]:
        if now.plan.hosts:
            fix = "take them away"
            yield hint(
                "hosts", f"{len(now.plan.hosts)} hosts", fix, edit=lambda plan: plan.replace(waivers=())
            )

    yield "too-many-hosts-for-a-test"
    del RULES["too-many-hosts-for-a-test"]


def test_a_rule_is_a_function(made_up: str) -> None:
    plan: Plan = sample_plan("starter")
    (found,) = (problem for problem in check(plan) if problem.rule == made_up)
    assert (found.message, found.fix) == (f"{len(plan.hosts)} hosts", "take them away")
    waived = plan.replace(waivers=(Waiver(rule=made_up, reason="as meant"),))
    assert [p.waived for p in check_all(waived) if p.rule == made_up] == ["as meant"]
    assert made_up not in {problem.rule for problem in check(waived)}


@pytest.fixture
def cured() -> Iterator[str]:
    """A rule whose fix is one edit."""

    @rule("a-test-wants-patience", "A partial start waits longer than a test")
    def impatient(now: Estimation) -> Iterator[Problem]:
        waits = now.plan.parameters.data_node.get("StartPartialTimeout")
        if waits != 5000:
            fix = "set StartPartialTimeout to 5000"
            edit = SetParameter("data_node", "StartPartialTimeout", 5000)
            yield warning("cluster", f"StartPartialTimeout is {waits}", fix, edit=edit)

    yield "a-test-wants-patience"
    del RULES["a-test-wants-patience"]


def test_a_rule_with_a_fix_is_a_function_that_yields_an_edit(cured: str) -> None:
    plan = sample_plan("starter")
    (found,) = (problem for problem in check(plan) if problem.rule == cured)
    assert found.edit is not None
    fixed = fix_all(plan, {cured})
    assert [problem.rule for problem in fixed.problems] == [cured]
    assert fixed.plan.parameters.data_node == {**plan.parameters.data_node, "StartPartialTimeout": 5000}
    assert cured not in {problem.rule for problem in check(fixed.plan)}
    written = render_config_ini(fixed.plan).splitlines()
    above = written[written.index("StartPartialTimeout=5000") - 1]
    assert above == f"# set by the program, rule {cured}: {RULES[cured].title}"


@pytest.fixture
def error_code(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An error of the data nodes, and one that ends them, as rows of data."""
    data = read_json("ndb/errors.json")
    row = {**data["errors"][0], "code": 9999, "short_text": "out of breath", "status": "temporary"}
    said = [*data["messages"]["rows"], [9999, "OL", "Out of air"]]
    ended_by = [*data["exit_messages"]["rows"], [9999, "XRE", "No air"]]
    monkeypatch.setitem(data, "errors", [*data["errors"], row | {"classification": "overload"}])
    monkeypatch.setitem(data["messages"], "rows", said)
    monkeypatch.setitem(data["exit_messages"], "rows", ended_by)
    kept = (errors.every_error, errors.every_said, errors.every_exit_said)
    for one in kept:
        one.cache_clear()
    yield 9999
    for one in kept:
        one.cache_clear()


def test_an_error_code_is_a_row_of_data(error_code: int) -> None:
    version = NdbVersion.parse("8.4")
    assert (
        errors_of([str(error_code)], version).text
        == "NDB error code 9999: Out of air: Temporary error: Overload error\n"
    )
    assert "Out of air" in str(met(error_code, "t", version).warnings)
    assert error_text(error_code) == "out of breath"
    assert errors.exit_said(error_code).text == "No air"


def test_a_preference_is_a_line(tmp_path: Path) -> None:
    breaths = Preference("breaths", 12, (12, 16))
    path = tmp_path / "preferences.json"
    assert Preferences(path).get(breaths) == 12
    for stored, found in ((16, 16), (17, 12), ("16", 12)):
        path.write_text(json.dumps({"breaths": stored}))
        assert Preferences(path).get(breaths) == found
    Preferences(path).put(breaths, 16)
    assert Preferences(path).get(breaths) == 16


def test_another_version_is_rows_of_data(tmp_path: Path) -> None:
    for entry in resources_dir().iterdir():
        if entry.name != "ndb":
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "ndb").mkdir()
    for entry in (resources_dir() / "ndb").iterdir():
        (tmp_path / "ndb" / entry.name).symlink_to(entry)
    found = {
        name: json.loads((tmp_path / "ndb" / name).read_text())
        for name in ("features.json", "parameters.json")
    }
    found["features.json"]["series"].append("10.0")
    rows = {row["name"]: row for row in found["features.json"]["features"]}
    rows["hash_map_buckets"]["values"]["10.0"] = 7680
    buffer = next(row for row in found["parameters.json"]["parameters"] if row["name"] == "RedoBuffer")
    buffer["spans"].append(buffer["spans"][-1] | {"from": "10.0", "default": 64 * 2**20})
    for name, content in found.items():
        (tmp_path / "ndb" / name).unlink()
        (tmp_path / "ndb" / name).write_text(json.dumps(content))
    script = Path(__file__).with_name("another_version.py")
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_constant_is_a_row_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    row = known_constants.Constant("breath_s", 2.0, 1.0, 4.0, "s", "a test", "assumed", "Length of a breath")
    plan = sample_plan("starter")
    unknown = Calibration(constant="gasp_s", value=3.0, source="a watch")
    assert "gasp_s" in str(check(plan.replace(calibrations=(unknown,))))
    for era in ("", known_constants.era_of(plan.version)):
        monkeypatch.setitem(known_constants.all_constants(era), row.name, row)
    measured = plan.replace(calibrations=(Calibration(constant="breath_s", value=3.0, source="a watch"),))
    assert "breath_s" not in str(check(measured))
    known = constants_of(plan)["breath_s"]
    assert (known.low, known.value, known.high) == (1.0, 2.0, 4.0)
    assert "a test" in known.why[0].source
    assert constants_of(measured)["breath_s"].value == 3.0
    drawn = [constants_of(plan).drawn(np.random.default_rng(seed))["breath_s"].value for seed in range(100)]
    # One in fifty is cut at either end, so that a few may be alike.
    assert len(set(drawn)) >= 95
    # Its ends are p10 and p90: which draws lie outside hangs on the constants before it.
    assert 0.7 <= sum(1.0 <= value <= 4.0 for value in drawn) / 100 <= 0.9


def test_a_part_of_the_estimates_is_a_property(monkeypatch: pytest.MonkeyPatch) -> None:
    breaths = estimation.part(lambda now: Quantity(len(now.plan.hosts), 1.0, 9.0, "breaths"))
    breaths.__set_name__(Estimation, "breaths")
    monkeypatch.setattr(Estimation, "breaths", breaths, raising=False)
    now = Estimation(sample_plan("starter"))
    assert estimation.parts()[-1] == "breaths"
    assert now.to_json(only=("breaths",))["breaths"]["unit"] == "breaths"


def test_a_key_that_is_printed_is_declared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostCpu, "JSON", f"{HostCpu.JSON} with_data_nodes=data_nodes")
    assert schema_of(HostCpu)["properties"]["with_data_nodes"] == {"type": "boolean"}
    plan = sample_plan("redo-overload")
    hosts = Estimation(plan, plan.workloads[0]).to_json(only=("cpu",))["cpu"]["hosts"]
    assert {host["with_data_nodes"] for host in hosts} == {True, False}


def test_a_series_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    one = series.Series(
        "written_bytes_per_s", "bytes/s", "node", "redo_bytes_per_s", True,
        lambda of, i, _j: of.history.node[:, i, OfNode.REDO_WRITTEN] / of.lengths_s,
    )  # fmt: skip
    monkeypatch.setattr(series, "SERIES", (*series.SERIES, one))
    plan = sample_plan("redo-overload")
    now = Estimation(plan, plan.workloads[0])
    head = simulate(now, duration_s=2).to_csv().splitlines()[0].split(",")
    assert [name for name in head if name.endswith("written_bytes_per_s")]
    bands = monte_carlo(now, runs=2, duration_s=2)
    found = next(band for band in bands.series if band.name.endswith("written_bytes_per_s"))
    assert found.unit == "bytes/s"
    assert f"{found.name}_p50" in bands.to_csv().splitlines()[0]


class Hiccup(events._Event):
    """The cluster hiccups."""

    title: ClassVar[str] = "The cluster hiccups"
    kind: Literal["hiccup"] = "hiccup"
    object_id: Annotated[Id, Ref("hosts", gone="remove"), Shown("Host")]
    times: Annotated[int, Shown("How often")] = 1


class Hic(NamedTuple):
    """What is due of it."""

    times: int


def test_an_event_is_a_class_and_what_is_due_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(events.kinds(), "hiccup", Hiccup)
    monkeypatch.setattr(handlers, "_PLANNED", dict(handlers._PLANNED))
    monkeypatch.setattr(handlers, "_HANDLERS", dict(handlers._HANDLERS))

    @handlers.planned(Hiccup)
    def hiccup(event: Hiccup, asked: handlers.Asked) -> Iterator[Due]:
        yield Due(event.at_s, Hic(event.times))

    @handlers.handles(Hic)
    def hic(sim: Simulation, event: Hic) -> None:
        sim.say(" ".join(["hic"] * event.times))

    plan = sample_plan("redo-overload")
    event = usual(plan, "hiccup", 1.0, (plan.hosts[-1].id,))
    assert event.object_id == plan.hosts[-1].id
    assert event_line(plan, event) == f"{plan.hosts[-1].hostname} fails"
    assert [(name, shown.label) for name, shown, _, _ in events.shown_fields(Hiccup)] == [
        ("at_s", "At"), ("object_id", "Host"), ("times", "How often"),
    ]  # fmt: skip
    found = simulate(Estimation(plan, plan.workloads[0]), duration_s=3, events=(event,))
    assert "hic" in [text for _, text in found.happened]


def test_an_operation_is_a_function_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def breathe(asked: life.Asked, timed: bool) -> Operation:
        now = asked.now.plan.hosts[0].hostname
        took = Times(asked.now, known=timed).constant("management_restart_s")
        step = Step("breath", "Breathe", "In and out.", (Shell(now, "echo breath"),), took, blocked=("talk",))
        return Operation("breathe", "Take a breath", (step,))

    monkeypatch.setattr(life, "OPERATIONS", [*life.OPERATIONS[:1], breathe])
    files = export.render_files(sample_plan("starter"), {"runbook", "ansible"})
    assert "Take a breath" in files["runbook.md"]
    assert "echo breath" in files["runbook.sh"]
    assert any("breathe" in name for name in files)
    operation = life.operations(sample_plan("starter"))[-1]
    assert operation.duration_s.value > 0
    assert "Breathe" in gantt_svg(operation)
    assert "Breathe" in to_ics(operation, datetime(2026, 5, 9, tzinfo=UTC), "starter")


def test_an_export_format_is_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(export.KINDS, "breath", lambda ask: {"breath.txt": f"{ask.plan.name}\n"})
    assert [path.name for path in export.export(sample_plan("starter"), tmp_path, {"breath"})] == [
        "breath.txt"
    ]
    assert "breath.txt" in export.render_files(sample_plan("starter"), {"config", "breath"})
    with pytest.raises(export.ExportError, match="no kind of file 'gasp'") as refused:
        export.render_files(sample_plan("starter"), {"gasp"})
    assert "breath" in refused.value.fix


def test_a_kind_of_file_to_import_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(done: Imported, ask: kinds_to_import.Ask, name: str, text: str) -> None:
        done.changes.append(f"{name} breathes {text.split()[1]} times")

    reader = kinds_to_import.Reader("breaths", lambda text: text.startswith("breaths "), read)
    monkeypatch.setitem(kinds_to_import.KINDS, "breaths", reader)
    assert kind_of("anything.txt", b"breaths 3") == "breaths"
    done = import_files({"one.txt": b"breaths 3"}, sample_plan("starter"))
    assert done.changes == ["one.txt breathes 3 times"]
    assert done.to_json()["read"] == [{"file": "one.txt", "kind": "breaths"}]
    definitions.cache_clear()
    read_of = definitions()["output-import"]["properties"]["read"]["items"]["properties"]["kind"]["enum"]
    definitions.cache_clear()
    assert "breaths" in read_of


class Cable(Link):
    """A link that lies in a host."""

    patched_in: Annotated[Id | None, Ref("hosts", gone="clear")] = None


def test_a_field_that_names_something_is_a_line() -> None:
    plan = sample_plan("starter")
    one, two = plan.data_nodes[:2]
    cable = Cable(process_id_1=one.id, process_id_2=two.id, patched_in="a1")
    assert [found.id for found in references(cable)][-1] == "a1"
    assert [error.where for error in broken_part(plan, cable, "links[0]")] == ["links[0].patched_in"]
    moved = renamed(cable, {"a1": plan.hosts[0].id})
    assert not list(broken_part(plan, moved, "links[0]"))
    left = without(moved, {plan.hosts[0].id})
    assert left is not None
    assert left.patched_in is None
    assert without(moved, {one.id}) is None
