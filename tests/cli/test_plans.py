"""Commands around plan files, and the manners that all commands share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ndbplan.checks.problem import Severity
from ndbplan.checks.run import check
from ndbplan.cli.schemas import output_schemas, plan_schema
from ndbplan.plan.file import dumps, load
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import PUBLISHED, TODAY, sample_names, sample_plan

HEAVY = ("PySide6", "shiboken6", "pyqtgraph", "numba", "numpy", "pydantic", "sqlglot", "jinja2")


def loaded_after(*arguments: str) -> set[str]:
    """Names of the modules that a command loads."""
    code = (
        "import sys\nfrom ndbplan.cli import main\n"
        f"sys.argv = ['ndbplan', *{list(arguments)!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("export", "--help"), ("nonsense",)])
def test_help_comes_without_anything_heavy(arguments: tuple[str, ...]) -> None:
    assert loaded_after(*arguments).isdisjoint(HEAVY)


def test_listing_samples_needs_no_window_and_no_compiler() -> None:
    loaded = loaded_after("samples")
    assert loaded.isdisjoint({"PySide6", "pyqtgraph", "numba"})
    assert "pydantic" in loaded


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(call: Any, option: str) -> None:
    done = call(option)
    assert done.code == 0
    assert "Commands:" in done.out


def test_python_m_ndbplan_is_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ndbplan", "samples", "--json"], capture_output=True, text=True, check=True
    )
    assert [row["name"] for row in json.loads(done.stdout)["samples"]] == list(sample_names())


@pytest.mark.parametrize("unbuffered", ["", "-u "])
def test_a_reader_that_stops_early_is_no_error(unbuffered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    done = subprocess.run(
        f"set -o pipefail; {sys.executable} {unbuffered}-m ndbplan schema | head -1",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.stdout == "{\n"
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [(">/dev/full", 2, "No space left"), (">&-", 0, ""), ("<&-", 0, ""), ("2>&-", 0, "")],
)
def test_output_that_cannot_be_written(redirection: str, code: int, said: str) -> None:
    done = subprocess.run(
        f"{sys.executable} -m ndbplan samples {redirection}", shell=True, capture_output=True, text=True
    )
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == (1 if said else 0)


def test_a_fault_of_the_program_is_one_line_too(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down() -> None:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr("ndbplan.plan.samples.sample_names", break_down)
    done = call("samples")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "fault of the program: ZeroDivisionError: by zero" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nonsense",), "No such command 'nonsense'"),
        (("samples", "--nonsense"), "--nonsense"),
        (("samples", "extra"), "extra"),
        (("new",), "--output"),
        (("new", "--sample", "nothing", "-o", "x"), "starter"),
        (("export",), "PLAN"),
        (("schema", "--output", "nothing"), "--output"),
    ],
)
def test_wrong_usage(call: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in call(*arguments).refused()


# samples, new


def test_samples(call: Any) -> None:
    rows = call("samples", "--json").json("samples")["samples"]
    names = [row["name"] for row in rows]
    assert names[:9] == [
        "starter", "add-nodes", "redo-overload", "disk-data", "node-restart", "terabyte-load", "telecom-144",
        "tick-store", "measured-7.4.10",
    ]  # fmt: skip
    assert sorted(names[9:]) == sorted(f"{name}{TODAY}" for name in PUBLISHED)
    text = call("samples").out
    assert all(row["name"] in text for row in rows)


@pytest.mark.parametrize("name", sample_names())
def test_new_copies_a_sample(call: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "my plan.ndbplan"
    done = call("new", "--sample", name, "-o", path, "--json").json("new")
    assert done == {"files": [str(path)]}
    assert load(path) == sample_plan(name)


def test_new_without_a_sample_is_empty(call: Any, tmp_path: Path) -> None:
    assert call("new", "-o", tmp_path / "a").code == 0
    assert load(tmp_path / "a") == EMPTY_PLAN


def test_new_keeps_what_was_there_as_a_backup(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.ndbplan"
    path.write_text("precious")
    assert call("new", "-o", path).code == 0
    assert (tmp_path / "a.ndbplan~").read_text() == "precious"


def test_new_into_a_folder_that_is_not_there(call: Any, tmp_path: Path) -> None:
    assert str(tmp_path) in call("new", "-o", tmp_path / "no" / "a.ndbplan").refused()


# The samples themselves


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_sample_has_a_twin_of_today(name: str) -> None:
    article, twin = sample_plan(name), sample_plan(f"{name}{TODAY}")
    assert twin.version >= (8, 4)
    assert f"sample {name}:" in twin.notes
    assert "Made up" in twin.notes
    assert "hosts" in twin.assumed
    assert [t.full_name for t in twin.tables] == [t.full_name for t in article.tables]
    assert {w.name for w in twin.workloads} <= {w.name for w in article.workloads}
    found = check(twin)
    assert not [p for p in found if p.severity == Severity.ERROR]


@pytest.mark.parametrize("name", PUBLISHED)
def test_plans_made_from_articles_name_them_and_what_they_assume(name: str) -> None:
    plan = sample_plan(name)
    assert plan.notes.startswith('Source: "')
    assert "blog" in plan.notes.split("\n")[0]
    assert plan.assumed
    assert all(
        field in type(part).model_fields for part in plan.objects() for field in getattr(part, "assumed", ())
    )
    known = set(plan.parameters.data_node) | set(type(plan).model_fields)
    assert set(plan.assumed) <= known


def test_the_large_sample_is_as_large_as_the_product_allows() -> None:
    plan = sample_plan("telecom-144")
    assert len(plan.data_nodes) == len(plan.hosts) == 144
    groups: dict[int | None, list[str | None]] = {}
    for node in plan.data_nodes:
        groups.setdefault(node.node_group, []).append(plan.host(node.host_id).location_id)
    assert len(groups) == 72
    assert all(len(set(racks)) == 2 for racks in groups.values()), "a group spans two racks"
    assert len(plan.locations) == 4
    assert len(plan.tables) == 20


# schema


def test_every_sample_fits_the_published_schema(call: Any) -> None:
    schema = json.loads(call("schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in sample_names():
        validator.validate(json.loads(dumps(sample_plan(name))))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("format_version"),
        lambda d: d.update(format_version=99),
        lambda d: d.update(unknown=1),
        lambda d: d["hosts"][0].update(memory_bytes=-1),
        lambda d: d["hosts"][0].pop("id"),
        lambda d: d["processes"][0].update(kind="other"),
    ],
)
def test_the_schema_refuses_what_the_program_refuses(change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(dumps(sample_plan("starter")))
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, plan_schema())


def test_shapes_of_results_are_published(call: Any) -> None:
    for name in output_schemas():
        jsonschema.Draft202012Validator.check_schema(json.loads(call("schema", "--output", name).out))
    assert {f"output-{name}" for name in output_schemas()} <= plan_schema()["$defs"].keys()


# Unreadable input: the same for every command that takes a plan


PLAN_COMMANDS = [
    ("distribute",),
    ("estimate",),
    ("reorg", "--add-groups", "1"),
    ("simulate",),
    ("restart", "--kind", "node"),
    ("render", "-o", "canvas.png"),
    ("check",),
    ("set", "RedoBuffer=64M"),
    ("add", "location"),
    ("remove", "hosts[a1]"),
    ("max-load",),
    ("export", "--to", "out"),
]


@pytest.mark.parametrize("command", PLAN_COMMANDS, ids=lambda c: c[0])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "no plan"),
        ('{"format_version": 99}', "newer ndbplan"),
        ('{"format_version": 1, "hosts": [{"id": "a"}]}', "hosts[0].hostname"),
        ('{"format_version": 1, "hosts": ' + "[" * 5000 + "]" * 5000 + "}", "a.ndbplan"),
        ('{"format_version": 1, "name": NaN}', "NaN"),
    ],
)
def test_unreadable_plans_are_refused_by_every_command(
    call: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    content: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.ndbplan"
    if content is not None:
        path.write_text(content)
    line = call(command[0], path, *command[1:]).refused()
    assert said in line
    assert str(path) in line
    assert sorted(os.listdir(tmp_path)) == ([] if content is None else ["a.ndbplan"])


# export


def test_export_writes_the_files_it_names(call: Any, saved: Any, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "deep"
    files = call("export", saved("starter"), "--to", folder, "--json").json("export")["files"]
    names = {str(Path(name).relative_to(folder)) for name in files}
    assert {"config.ini", "runbook.md", "runbook.sh"} <= names
    assert len([name for name in names if name.endswith("my.cnf") and "/" not in name]) == 2
    assert all(Path(name).stat().st_size for name in files)
    assert os.access(folder / "runbook.sh", os.X_OK)


def test_export_of_some_kinds(call: Any, saved: Any, tmp_path: Path) -> None:
    path = saved("starter")
    files = call("export", path, "--to", tmp_path / "out", "--only", "config", "--json").json("export")
    assert files["files"] == [str(tmp_path / "out" / "config.ini")]
    drawn = tmp_path / "further" / "down"
    for _ in ("into a folder that is made", "into one that is there"):
        pictures = call("export", path, "--to", drawn, "--only", "picture", "--json").json("export")
        assert pictures["files"] == [str(drawn / "canvas.svg")]
    assert "ndbmtd 1" in (drawn / "canvas.svg").read_text()
    assert "mycnf" in call("export", path, "--to", tmp_path / "out", "--only", "nothing").refused()


def test_export_keeps_what_a_hand_mended_unless_told(call: Any, saved: Any, tmp_path: Path) -> None:
    path, out = saved("starter"), tmp_path / "out"
    call("export", path, "--to", out)
    call("set", path, "DataMemory=7G")
    assert call("export", path, "--to", out).code == 0
    for name in ("canvas.svg", "config.ini"):
        (out / name).write_text("mended\n")
    said = call("export", path, "--to", out).refused()
    assert "config.ini" in said
    assert "1 other file" in said
    assert "--replace" in said
    assert (out / "config.ini").read_text() == (out / "canvas.svg").read_text() == "mended\n"
    call("export", path, "--to", out, "--replace")
    assert "DataMemory=7G" in (out / "config.ini").read_text()
    assert "<svg" in (out / "canvas.svg").read_text()


def test_export_to_a_place_that_cannot_be_a_folder(call: Any, saved: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "file" in call("export", saved("starter"), "--to", tmp_path / "file" / "sub").refused()


# open


@pytest.mark.parametrize("arguments", [(), ("open",)])
def test_without_a_display_there_is_no_window(
    call: Any, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    line = call(*arguments).refused()
    assert "display" in line
    assert "--help" in line


@pytest.mark.parametrize("command", [("open",), ()])
def test_a_plan_that_cannot_be_read_opens_no_window(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr("ndbplan.desktop.start.run", lambda *_, **__: pytest.fail("a window opened"))
    path = tmp_path / "a.ndbplan"
    assert "no such file" in call(*command, path).refused()
    path.write_text("{")
    assert str(path) in call(*command, path).refused()


def test_a_plan_opens_in_the_window(call: Any, saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path | None] = []
    monkeypatch.setattr("ndbplan.desktop.start.run", lambda path=None, variant="": opened.append(path) or 0)
    path = saved("starter")
    assert call(path).code == call("open", path).code == call().code == 0
    assert opened == [path, path, None]


# import


def test_what_was_exported_can_be_imported(call: Any, saved: Any, tmp_path: Path) -> None:
    call("export", saved("starter"), "--to", tmp_path / "out")
    path = tmp_path / "again.ndbplan"
    done = call("import", tmp_path / "out" / "config.ini", "-o", path, "--json")
    assert done.code == 0
    assert done.json("import")["accepted"]
    plan, original = load(path), sample_plan("starter")
    assert [node.node_id for node in plan.data_nodes] == [node.node_id for node in original.data_nodes]
    assert {host.hostname for host in plan.hosts} == {host.hostname for host in original.hosts}
    assert plan.parameters.data_node["DataMemory"] == original.parameters.data_node["DataMemory"]


def test_a_file_that_the_server_refuses_is_imported_with_exit_code_1(call: Any, tmp_path: Path) -> None:
    config = tmp_path / "config.ini"
    config.write_text(
        "[ndbd default]\nNoOfReplicas=2\nDataMemory=lots\n[ndb_mgmd]\nHostName=a\n"
        "[ndbd]\nHostName=b\n[ndbd]\nHostName=c\n[mysqld]\n"
    )
    done = call("import", config, "-o", tmp_path / "a.ndbplan", "--version", "8.4", "--json")
    assert done.code == 1
    shape = done.json("import")
    assert not shape["accepted"]
    assert [f["line"] for f in shape["findings"] if f["severity"] == "error"] == [3]
    assert len(load(tmp_path / "a.ndbplan").data_nodes) == 2
    assert "REFUSED" in call("import", config, "-o", tmp_path / "a.ndbplan", "--version", "8.4").out


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89PNG\r\n\x1a\n\x00\x00", b"\xff\xfe\x00"])
def test_what_is_no_configuration_is_refused(call: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.ini").write_bytes(content)
    assert "a.ini" in call("import", tmp_path / "a.ini", "-o", tmp_path / "a.ndbplan").refused()
    assert not (tmp_path / "a.ndbplan").exists()


def test_importing_nothing_or_without_a_place(call: Any, tmp_path: Path) -> None:
    assert "none.ini" in call("import", tmp_path / "none.ini", "-o", tmp_path / "a.ndbplan").refused()
    assert "--output" in call("import", tmp_path / "a.ini").refused()
    assert "FILE" in call("import", "-o", tmp_path / "a.ndbplan").refused()
    (tmp_path / "a.ini").write_text("[ndbd]\nHostName=a\n")
    line = call("import", tmp_path / "a.ini", "--version", "5.0", "-o", tmp_path / "a.ndbplan").refused()
    assert "--version" in line
