"""Everything the window computes and does, the command line does too.

What is in the window is found in its code; each has a row in the guide whose commands and options exist.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import shlex
from pathlib import Path

import pytest

import ndbplan
from ndbplan.base.resources import resource_path
from ndbplan.cli import all_commands
from ndbplan.edits.additions import KINDS

CODE = Path(ndbplan.__file__).parent
COMMANDS = all_commands().commands
PAGE = resource_path("guide/without-a-window.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| ([^|]+?) \| (.+) \|$", PAGE, re.M))

LOOKS = "only how it is looked at"

WINDOW = {
    # Actions of menus, keys and the command palette
    "new": "New plan, Samples", "new_window": LOOKS,
    "open": "Open, Save, Save as", "gallery": "New plan, Samples",
    "save": "Open, Save, Save as", "save_as": "Open, Save, Save as", "import": "Import",
    "report": "Report", "ReportDialog": "Report",
    "picture": "Save a picture", "export": "Export, Export preview", "quit": LOOKS,
    "undo": "Undo", "redo": "Undo", "cut": "Delete, Cut", "copy": "Copy, Paste, Duplicate",
    "paste": "Copy, Paste, Duplicate", "duplicate": "Copy, Paste, Duplicate", "delete": "Delete, Cut",
    "select_all": LOOKS, "rename": "Rename, moving a node", "add_group": "Add a node group", "find": LOOKS,
    "fit": LOOKS, "fit_selection": LOOKS, "zoom_in": LOOKS, "zoom_out": LOOKS, "zoom_normal": LOOKS,
    "colour": LOOKS,
    "move_apart": "Places on the canvas", "arrange": "Places on the canvas",
    "align_left": "Places on the canvas",
    "align_right": "Places on the canvas", "align_top": "Places on the canvas",
    "align_bottom": "Places on the canvas", "align_centre": "Places on the canvas",
    "align_middle": "Places on the canvas", "distribute_across": "Places on the canvas",
    "distribute_down": "Places on the canvas", "side": LOOKS, "analyses": LOOKS, "inspector": LOOKS,
    "next_panel": LOOKS, "present": LOOKS,
    **dict.fromkeys(("demos", "add_scene", "DemosDialog"), "Demos, Scenes"), "maximise": LOOKS,
    "theme_system": LOOKS, "theme_light": LOOKS, "theme_dark": LOOKS,
    "units_usual": LOOKS, "units_decimal": LOOKS, "units_binary": LOOKS,
    "compare": "Compare with what runs", "measured": "I measured",
    "size": "Size a cluster", "sweep": "Vary inputs",
    "simulate": "Simulation", "live": "Live cluster, its consoles",
    "lessons": "Lessons, Save the page to hand in", "guide": LOOKS, "keys": LOOKS,
    **dict.fromkeys(("variant_next", "variant_previous"), "Variants: the one that is shown"),
    **dict.fromkeys(
        ("variant_new", "variant_rename", "variant_earlier", "variant_later", "variant_promote",
         "variant_remove"),
        "Variants: new, rename, reorder, remove, promote",
    ),
    # Analyses
    "SimulationPanel": "Simulation", "DistributionPanel": "Distribution", "MemoryPanel": "Memory",
    "TablesPanel": "Inspector: any field",
    "OperationsPanel": "Operations: restarts", "ProblemsPanel": "Problems",
    "FailuresPanel": "Failures", "ComparePanel": "Compare: variants side by side",
    "MatteringPanel": "What matters",
    "ExportPanel": "Export, Export preview",
    # Pages of the inspector
    "LocationPage": "Inspector: any field", "HostPage": "Inspector: any field",
    "DiskPage": "Disk roles", "PlanPage": "Inspector: + Add, + Add event, + Add transaction",
    "MixedPage": LOOKS, "DataNodePage": "Disk roles", "ProcessPage": "Rename, moving a node",
    "TablePage": "Inspector: any field", "TablespacePage": "Inspector: any field",
    "LogfileGroupPage": "Inspector: any field", "WorkloadPage": "Inspector: From CSV",
    # Dialogs
    "GuideWindow": LOOKS, "KeysDialog": LOOKS, "ImportDialog": "Import",
    "RealKeysDialog": "Count real keys",
    "CompareDialog": "Compare with what runs", "MeasuredDialog": "I measured",
    "SizeDialog": "Size a cluster", "SweepDialog": "Vary inputs",
    "KeyDialog": "Where one key lies",
    "ConflictDialog": "Open, Save, Save as",
    "LessonsDialog": "Lessons, Save the page to hand in",
    "SqlDialog": "Tables from SQL", "RecoveryDialog": "Recovery after a crash",
    # Kinds of what the palette offers
    "location": "Palette: location, host, disk, node", "host": "Palette: location, host, disk, node",
    "disk": "Palette: location, host, disk, node", "process": "Palette: location, host, disk, node",
    "role": "Disk roles",
    # Functions of the engine that the window calls and the commands do not, under another name there
    "estimate.storage.column_bytes.assumed_mean_bytes": "Memory: tighten these",
    "advise.candidate_settings.steps_of": "What matters",
    "advise.tighten.deciding": "Memory: tighten these",
    "advise.remedies.find_remedies": "What would help, the highest load",
    "checks.run.check": "Problems", "checks.run.standing": "Problems",
    "checks.unwise.disk_data_cures.offered_home": "Problems: Fix, Fix all",
    "estimate.stored.redistribute": "Distribution: add and reorganise",
    "estimate.grown.reorganise": "Distribution: add and reorganise",
    "advise.swings.swings_of": "Vary inputs: each alone",
    "advise.what_if.what_if": "Memory: what if, make it so",
    "advise.what_if.title_of": "Memory: what if, make it so",
    "estimate.space.growth.memory_full": "Memory", "estimate.space.growth.fillings": "Memory",
    "estimate.space.growth.first_of": "Memory", "estimate.space.growth.grows": "Memory",
    "importing.requirements.requirements_of": "Size a cluster",
    "advise.sizing.choosing.nearest": "Size a cluster",
    "advise.sizing.choices.usually_offered": "Size a cluster",
    "importing.calibrate.changes_of": "I measured",
    "estimate.stored.place_of_key": "Where one key lies",
    "estimate.storage.skew.skew_report": "Distribution",
    "estimate.storage.fill_map.fill_map": "Distribution: map",
    "estimate.storage.lost_primaries.loss_of_primaries": "Distribution: lose a node, a host, a rack",
    "estimate.storage.bucket_moves.bucket_moves": "Distribution: moves",
    "exporting.export.render_files": "Export, Export preview",
    "exporting.export.replaced": LOOKS,
    "exporting.runbook.step_text": "Export, Export preview",
    "importing.files.read_file": "Import",
    "importing.running.what_text_says_runs": "Compare with what runs",
    "simulate.run": "Simulation",
}  # fmt: skip
"""What is in the window, and the row of the guide that says how it is done without."""

CONDITIONS = {
    "workload": "--under", "traffic_factor": "--traffic", "ldm_threads": "--ldm",
    "disk_factor": "--disk-speed", "crashed": "--crashed", "sql_nodes_down": "--sql-down",
    "one_of_each_group": "--together",
}  # fmt: skip
"""What a restart depends on beside the plan, and the option that says it."""
ENGINE = (
    "estimate",
    "simulate",
    "checks",
    "operations",
    "advise",
    "importing",
    "exporting",
    "configuration.failures",
    "configuration.killers",
)
NOT_ASKED = {"redo_bytes", "restarting", "slow_links"}
"""Conditions that calibration, procedures and events of a run set by themselves."""


def classes(*bases: str) -> set[str]:
    """Names of the window's classes with one of these bases."""
    return {
        node.name
        for path in (CODE / "desktop").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) in bases for base in node.bases)
    }


def functions_of_the_engine(folder: str) -> set[str]:
    """Functions of the engine that the code of a folder imports, such as `simulate.run.simulate`."""
    found = set()
    for path in (CODE / folder).rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        unread = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and id(node) not in unread:
                module = (node.module or "").removeprefix("ndbplan.")
                if module.startswith(ENGINE):
                    found |= {f"{module}.{name.name}" for name in node.names if name.name[0].islower()}
    return found


def in_the_window(qapp: object) -> set[str]:
    """Everything the window offers or asks the engine for, by its name in the program."""
    del qapp
    from ndbplan.desktop.actions import SPECS
    from ndbplan.edits.palette import offers

    arithmetic = {
        "simulate.kernel.ready.in_a_process",
        "simulate.moment.moment_of",
        "simulate.prepare",
    }
    return (
        {spec.name for spec in SPECS}
        | classes("Panel", "Page", "QDialog", "Dialog") - {"Dialog"}
        | {offer.kind for offer in offers()}
        | (functions_of_the_engine("desktop") - functions_of_the_engine("cli") - arithmetic)
    )


def test_all_that_is_in_the_window_has_its_way_on_the_command_line(qapp: object) -> None:
    there = in_the_window(qapp)
    assert there - WINDOW.keys() == set(), "say in the guide how it is done without a window"
    gone = {name for name in WINDOW.keys() - there if "." not in name}
    assert gone == set()
    assert {row for row in WINDOW.values() if row != LOOKS} <= ROWS.keys()


def test_what_the_palette_and_the_inspector_add_can_be_added() -> None:
    from ndbplan.edits import offers
    from ndbplan.plan.plan import Plan

    made = {name.removeprefix("make_") for name in vars(offers) if name.startswith("make_")}
    assert made - {"process"} <= set(KINDS)
    assert {"management", "data", "sql", "api"} <= set(KINDS)
    collections = {
        "locations",
        "hosts",
        "tables",
        "tablespaces",
        "workloads",
        "calibrations",
        "links",
        "waivers",
    }
    assert {name.removesuffix("s") for name in collections} <= set(KINDS)
    assert collections <= Plan.model_fields.keys()


@pytest.mark.parametrize("command", ["restart", "procedure"])
def test_conditions_of_a_restart_are_options(command: str) -> None:
    from ndbplan.estimate.times.restart import Conditions

    fields = {field.name for field in dataclasses.fields(Conditions)}
    assert fields == CONDITIONS.keys() | NOT_ASKED
    assert set(CONDITIONS.values()) <= options_of(command)


def options_of(command: str) -> set[str]:
    """The options of a command, as they are typed."""
    return {name for param in COMMANDS[command].params for name in param.opts}


@pytest.mark.parametrize("row", ROWS)
def test_each_row_names_commands_and_options_there_are(row: str) -> None:
    for command in re.findall(r"`ndbplan ([^`]+)`", ROWS[row]):
        name = command.split()[0]
        assert name in COMMANDS, command
        assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", command)) <= options_of(name), command


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_stands_in_the_page(command: str) -> None:
    assert re.search(rf"`ndbplan {command}\b", PAGE)


def test_commands_of_the_command_line_alone_exist() -> None:
    tail = PAGE.split("command line only")[1]
    for command in re.findall(r"`ndbplan ([^`]+)`", tail):
        name = command.split()[0]
        assert name in COMMANDS
        assert set(re.findall(r"--[a-z-]+", command)) <= options_of(name)


def test_the_example_of_the_guide_runs(call: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that build a plan in the page of the command line, one after the other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.sql").write_text("CREATE TABLE shop.orders (id INT PRIMARY KEY) ENGINE=ndb;")
    text = resource_path("guide/command-line.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    ndbplan ((?:new|set|add|remove|variants) .*)$", text, re.M)
    assert len(lines) > 8
    for line in lines:
        done = call(*shlex.split(line))  # type: ignore[operator]
        assert done.code == 0, f"{line}: {done.err}"
