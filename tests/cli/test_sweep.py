"""A sweep: every cell is the plan called directly, in the order of the grid, whoever works on it."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import CancelledError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.conftest import Call
from ndbplan.advise.executors import each_of
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.sweep import MOST_CELLS, Sweep, vary
from ndbplan.base.errors import UserError
from ndbplan.edits.assign import assign
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.file import load, save
from ndbplan.plan.samples import sample_plan

INPUTS = ("redo.disk.write=20..80MB/s:3", "RedoBuffer=32M,64M")
VARY = ("--vary", INPUTS[0], "--vary", INPUTS[1], "--measure", "restart,memory")


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "plan.ndbplan"
    save(sample_plan("redo-overload-8.4"), path)
    return path


def test_a_cell_is_the_plan_called_directly(call: Call, plan_file: Path, tmp_path: Path) -> None:
    shape = call("sweep", plan_file, *VARY, "-o", tmp_path / "s", "--workers", 1, "--json").json("sweep")
    assert (shape["rows"], shape["computed"], shape["errors"]) == (6, 6, [])
    text = (tmp_path / "s" / "results.csv").read_text()
    head, *rows = list(csv.reader(text.splitlines()))
    assert head == [
        "redo.disk.write", "RedoBuffer", "restart", "restart_low", "restart_high",
        "memory", "memory_low", "memory_high",
    ]  # fmt: skip
    speeds = ["20000000", "50000000", "80000000"]
    assert [row[:2] for row in rows] == [[speed, size] for speed in speeds for size in ("32M", "64M")]
    plan = load(plan_file)
    for row in rows[2:4]:
        cell = assign(assign(plan, f"redo.disk.write={row[0]}")[0], f"RedoBuffer={row[1]}")[0]
        found = FIGURES["restart"].of(Estimation(cell))
        assert found is not None
        assert [float(one) for one in row[2:5]] == pytest.approx([found.value, found.low, found.high])
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert manifest["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert manifest["plan"]["name"] == plan.name


def test_what_is_broken_off_goes_on_and_does_nothing_twice(
    call: Call, plan_file: Path, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    call("sweep", plan_file, *VARY, "-o", whole, "--workers", 1)
    call("sweep", plan_file, *VARY, "-o", cut, "--workers", 1)
    # As after a kill: some rows on disk, the last one half written, nothing else.
    manifest = json.loads((cut / "manifest.json").read_text())
    for name in ("rows", "errors", "digest"):
        del manifest[name]
    (cut / "manifest.json").write_text(json.dumps(manifest))
    plan = load(plan_file)
    sweep = Sweep(plan, tuple(vary(plan, text) for text in INPUTS), ("restart", "memory"))
    lines = [json.dumps(sweep.row(number)) + "\n" for number in (4, 1)]
    (cut / "rows.jsonl").write_text("".join(lines) + lines[0][:20])
    (cut / "results.csv").unlink()
    assert "--resume" in call("sweep", plan_file, *VARY, "-o", cut).refused()
    again = call("sweep", plan_file, *VARY, "-o", cut, "--workers", 1, "--resume", "--json").json("sweep")
    assert (again["rows"], again["computed"]) == (6, 4)
    for name in ("results.csv", "manifest.json"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes()
    done = call("sweep", plan_file, *VARY, "-o", whole, "--workers", 1, "--resume", "--json").json("sweep")
    assert done["computed"] == 0
    other = call("sweep", plan_file, "--vary", "RedoBuffer=32M,48M", "-o", whole, "--resume").refused()
    assert "another sweep is there" in other


def test_without_a_folder_the_same_rows_are_printed(call: Call, plan_file: Path, tmp_path: Path) -> None:
    asked = ("sweep", plan_file, *VARY, "--workers", 1)
    call(*asked, "-o", tmp_path / "s")
    assert call(*asked).out == (tmp_path / "s" / "results.csv").read_text()
    shape = call(*asked, "--json").json("sweep")
    assert (shape["rows"], shape["files"], shape["errors"]) == (6, [], [])
    assert [one["inputs"]["RedoBuffer"] for one in shape["cells"]] == ["32M", "64M"] * 3
    assert all(one["figures"]["restart"]["value"] > 0 for one in shape["cells"])
    assert "-o" in call(*asked, "--resume").refused()


@pytest.mark.parametrize(
    "texts",
    [
        ("RedoBuffer=32M,64M", "RedoBuffer=128M"),
        ("RedoBuffer=32M,64M", "parameters.data_node.RedoBuffer=128M"),
        ("hosts[*].cores=4,8", "hosts[data1].cores=4"),
    ],
)
def test_an_input_that_another_sets_too_is_refused(
    call: Call, plan_file: Path, tmp_path: Path, texts: tuple[str, str]
) -> None:
    varied = [word for text in texts for word in ("--vary", text)]
    assert "both set" in call("sweep", plan_file, *varied, "-o", tmp_path / "s").refused()


def test_a_folder_without_a_row_is_taken_for_another_sweep(
    call: Call, plan_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    (folder / "rows.jsonl").write_text("")
    asked = ("sweep", plan_file, "--vary", "RedoBuffer=32M", "--measure", "restart", "-o", folder)
    assert call(*asked, "--workers", 1, "--json").json("sweep")["rows"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RedoBuffer", "varies nothing"),
        ("NoSuch=1,2", "NoSuch"),
        ("RedoBuffer=32M,lots", "lots"),
        ("RedoBuffer=32M..64M:1", "2 to"),
        ("RedoBuffer=32M..64M", "write how many: 32M..64M:8"),
        ("hosts[*].hostname=a..b:3", "not a number"),
        ("hosts[*].cores=1..4096:9999999", "2 to"),
    ],
)
def test_what_cannot_be_varied_is_said_in_one_line(
    call: Call, plan_file: Path, tmp_path: Path, text: str, said: str
) -> None:
    assert said in call("sweep", plan_file, "--vary", text, "-o", tmp_path / "s").refused()


def test_an_option_that_would_count_once_is_not_given_twice(call: Call, plan_file: Path) -> None:
    said = call("sweep", plan_file, *VARY, "--measure", "cost").refused()
    assert "'--measure': it is given 2 times" in said


def test_results_without_a_manifest_are_somebody_elses(call: Call, plan_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    results = folder / "results.csv"
    results.write_text("what I measured myself", encoding="utf-8")
    for more in ((), ("--resume",)):
        assert "without a manifest.json" in call("sweep", plan_file, *VARY, "-o", folder, *more).refused()
    assert results.read_text(encoding="utf-8") == "what I measured myself"


def test_a_precision_that_changes_nothing_is_refused_and_told_where_it_changes_something_only(
    call: Call, plan_file: Path
) -> None:
    """It was taken without a word, as if closed-form figures were known to within it."""
    vary_one = ("--vary", "RedoBuffer=32M", "--workers", 1, "--precision", "40%", "--measure")
    refused = call("sweep", plan_file, *vary_one, "restart,memory")
    assert refused.code == 2
    assert "--precision: no world is drawn for restart and memory: a precision of 40 %" in refused.err
    told = call("sweep", plan_file, *vary_one, "restart,accepted")
    assert told.code == 0
    assert "--precision says nothing of restart: nothing is drawn for it" in told.err
    assert "says nothing" not in call("sweep", plan_file, *vary_one, "accepted").err
    plan = load(plan_file).replace(workloads=())
    with pytest.raises(UserError, match="no world is drawn for accepted"):
        Sweep(plan, (vary(plan, "RedoBuffer=32M"),), ("accepted",), precision=0.4)


def test_ten_million_cells_are_refused_with_the_limit(call: Call, plan_file: Path, tmp_path: Path) -> None:
    many = ("--vary", "hosts[*].cores=1..4000:4000", "--vary", "RedoBuffer=32M..1G:4000")
    said = call("sweep", plan_file, *many, "-o", tmp_path / "s").refused()
    assert str(MOST_CELLS) in said
    assert "fewer" in said
    assert "not a figure" in call("sweep", plan_file, *VARY[:4], "--measure", "x", "-o", tmp_path).refused()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_the_grid_has_every_combination_once(counts: list[int]) -> None:
    plan = sample_plan("redo-overload-8.4")
    names = ("MaxNoOfOrderedIndexes", "MaxNoOfTables", "MaxNoOfAttributes")
    varied = tuple(
        vary(plan, f"{name}={','.join(str(1000 + n) for n in range(count))}")
        for name, count in zip(names, counts, strict=False)
    )
    sweep = Sweep(plan, varied, ("restart",))
    assert len(sweep.cells) == sweep.count == len(set(sweep.cells))
    assert list(sweep.cells) == sorted(sweep.cells, key=lambda cell: [
        one.values.index(value) for one, value in zip(varied, cell, strict=True)
    ])  # fmt: skip


def _square_or_die(number: int) -> int:
    if number == 2 and os.environ.get("NDBPLAN_TEST_PARENT") != str(os.getpid()):
        os._exit(1)
    return number * number


def test_a_worker_that_dies_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NDBPLAN_TEST_PARENT", str(os.getpid()))
    assert list(each_of(_square_or_die, range(5), workers=2)) == [0, 1, 4, 9, 16]


@pytest.mark.skipif(find_spec("distributed") is None, reason="the extra ndbplan[dask] is not installed")
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_rows_and_without_any_says_so() -> None:
    script = Path(__file__).with_name("dask_sweep.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    same, alone = done.stdout.splitlines()
    assert same == "the same", done.stderr[-2000:]
    assert "has had no worker for" in alone
    assert "dask worker" in alone


def test_a_scheduler_that_cannot_be_reached_is_said_in_one_line(
    call: Call, plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Dask that is not there, even where it is installed: its search for a scheduler leaves threads behind.
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = call("sweep", plan_file, *VARY, "-o", tmp_path / "s", "--dask", "tcp://127.0.0.1:1").refused(2)
    assert "Dask" in said
    assert said.count("\n") <= 1


@pytest.mark.parametrize("address", ["nonsense", "", "http://head:8786", "tcp://head", "tcp://:1"])
def test_what_is_no_address_of_a_scheduler_is_said_at_once(call: Call, plan_file: Path, address: str) -> None:
    """A client of Dask that cannot read one printed a traceback half a minute later."""
    said = call("sweep", plan_file, *VARY, "--dask", address).refused(2)
    assert "is not the address of a Dask scheduler" in said
    assert "tcp://head:8786" in said


def test_a_cluster_that_goes_away_is_said_in_one_line(
    call: Call, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", _GoneCluster())
    said = call("sweep", plan_file, *VARY, "--dask", "tcp://head:8786").refused(2)
    assert "went away" in said


class _GoneCluster:
    """In the place of Dask: a cluster that takes work and is lost."""

    KilledWorker = RuntimeError

    def Client(self, *_: object, **__: object) -> Any:  # noqa: N802 — its name there
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, _: object, pieces: Sequence[object], **__: object) -> list[Any]:
        return [self for _ in pieces]

    def result(self, **_: object) -> None:
        raise CancelledError

    def cancel(self, _: object) -> None:
        raise CancelledError


def test_a_value_without_the_unit_that_others_have_is_refused() -> None:
    """As 30 bytes a second it gave a figure that nobody asked for."""
    plan = sample_plan("redo-overload-8.4")
    with pytest.raises(UserError, match="30 has no unit, and others have one — write 30MB/s"):
        vary(plan, "redo.disk.write=30,60MB/s")
    assert vary(plan, "NoOfFragmentLogFiles=16,32").values == ("16", "32")


def test_a_cell_whose_values_do_not_go_together_says_why() -> None:
    plan = sample_plan("redo-overload-8.4")
    with pytest.raises(UserError):
        vary(plan, "hosts[*].cores=0,1")
    row = Sweep(plan.replace(processes=()), (), ("restart",)).row(0)
    assert row.figures == (None,)
    assert row.error


def test_a_figure_that_a_cell_has_not_takes_no_other_along() -> None:
    """What a cell cannot tell is named; the rest is what the plan says by itself."""
    plan = sample_plan("redo-overload-8.4")
    lame = plan.replace(processes=tuple(one for one in plan.processes if one is not plan.data_nodes[-1]))
    sweep = Sweep(lame, (vary(lame, "RedoBuffer=64M"),), ("accepted", "disks"))
    row = sweep.row(0)
    disks = FIGURES["disks"].of(Estimation(lame, None))
    assert disks is not None
    assert row.figures == (None, (disks.value, disks.low, disks.high))
    assert row.error.startswith("accepted: ")


def test_each_input_alone_is_told_as_in_the_whole_grid(call: Call, plan_file: Path, tmp_path: Path) -> None:
    """No command said how far each input moves a figure: the window alone drew it."""
    varied = ("--vary", "DataMemory=4G,8G,16G", "--vary", "NoOfReplicas=1,2", "--measure", "memory,cost")
    asked = ("sweep", plan_file, *varied, "--workers", 1)
    grid = call(*asked, "--json").json("sweep")
    alone = call(*asked, "--alone", "-o", tmp_path / "s", "--json").json("sweep")
    assert (grid["rows"], alone["rows"]) == (6, 4)
    assert alone["swings"] == grid["swings"]
    cells = {tuple(one["inputs"].values()): one["figures"]["memory"] for one in grid["cells"]}
    memory, cost = grid["swings"]
    widths = [one["high"]["value"] - one["low"]["value"] for one in memory["each"]]
    assert widths == sorted(widths, reverse=True)
    by_input = {one["input"]: one for one in memory["each"]}
    assert by_input["DataMemory"]["low"] == {"value": cells["16G", "2"]["value"], "with": "16G"}
    assert by_input["DataMemory"]["high"] == {"value": cells["4G", "2"]["value"], "with": "4G"}
    assert memory["now"] == cells["8G", "2"]["value"]
    assert (cost["now"], cost["each"]) == (None, [])
    rows = list(csv.reader((tmp_path / "s" / "results.csv").read_text().splitlines()))[1:]
    assert [row[:2] for row in rows] == [["4G", "2"], ["8G", "2"], ["16G", "2"], ["8G", "1"]]
    again = call(*asked, "--alone", "-o", tmp_path / "s", "--resume", "--json").json("sweep")
    assert again["swings"] == alone["swings"]
    assert "another sweep" in call(*asked, "-o", tmp_path / "s", "--resume").refused()
    text = call(*asked, "--alone").out
    assert "with DataMemory 8G, NoOfReplicas 2; each alone:" in text
    assert text.index("DataMemory  ") < text.index("NoOfReplicas  ")
    assert "Cost: there is none with DataMemory 8G, NoOfReplicas 2" in text
    assert call("sweep", plan_file, *varied[:2], "--workers", 1, "--json").json("sweep")["swings"] == []


def test_results_that_somebody_changed_are_not_gone_on_with(call: Call, saved: Any, tmp_path: Path) -> None:
    """A row of which the end was missing was a fault of the program, and another number was taken."""
    asked = ("sweep", saved("starter"), "--vary", "RedoBuffer=32M,64M", "--measure", "memory", "--workers", 1)
    folder = tmp_path / "sweep"
    assert call(*asked, "-o", folder).code == 0
    results = folder / "results.csv"
    whole = results.read_text(encoding="utf-8")
    for text in (whole[:-9], whole.replace("64M", "65M"), ""):
        results.write_text(text, encoding="utf-8")
        assert "not those that were written" in call(*asked, "-o", folder, "--resume").refused()
    results.unlink()
    assert "not those that were written" in call(*asked, "-o", folder, "--resume").refused()
    results.write_text(whole, encoding="utf-8")
    assert "0 of them" in call(*asked, "-o", folder, "--resume").out


def test_people_are_told_values_of_inputs_as_people_write_them(call: Call, plan_file: Path) -> None:
    """`redo.disk.write 452348993.289` stood there."""
    varied = ("--vary", "redo.disk.write=100..800MB/s:3", "--vary", "hosts[*].memory=64GiB,512GiB")
    text = call("sweep", plan_file, *varied, "--measure", "restart", "--alone", "--workers", 1).out
    assert "450 MB/s" in text
    assert "hosts[*].memory 64 GiB" in text
    assert "000000" not in text
    whole = call("sweep", plan_file, *varied, "--measure", "restart", "--workers", 1, "--json").json("sweep")
    assert whole["cells"][2]["inputs"]["redo.disk.write"] == "450000000"
