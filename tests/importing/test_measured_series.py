"""Series that somebody measured: read from every kind of text, held against the run they are of."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from ndbplan.importing.files import import_files
from ndbplan.importing.held_against import held_against
from ndbplan.importing.measured_series import MeasuredSeriesError, read_measured
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.ndbinfo import view
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import simulate


@pytest.fixture(scope="module")
def plan() -> Plan:
    return sample_plan("redo-overload")


@pytest.fixture(scope="module")
def result(plan: Plan) -> SimulationResult:
    return simulate(estimation_of(plan, None), duration_s=30.0)


def iostat(*, dated: bool) -> str:
    """Reports as `iostat -xkt 10` prints them: since boot, then every ten seconds."""
    lines = ["Linux 4.4.0 (data1) \t11/23/2026 \t_x86_64_\t(8 CPU)", ""]
    for n, (written, busy) in enumerate(((9.0, 1.0), (51200.0, 80.0), (102400.0, 100.0))):
        lines += [f"11/23/2026 10:00:{10 * n:02d} PM"] if dated else []
        lines += ["avg-cpu:  %user   %nice %system %iowait  %steal   %idle", "  1.0 0.0 1.0 2.0 0.0 96.0", ""]
        lines += ["Device            r/s     w/s     rkB/s     wkB/s   await  %util"]
        lines += [f"cciss/c0d1       0.0   100.0       0.0   {written}    5.0   {busy}", ""]
    return "\n".join(lines)


@pytest.mark.parametrize(("dated", "step_s"), [(True, 10.0), (False, 1.0)])
def test_iostat_without_its_report_since_boot(dated: bool, step_s: float) -> None:
    measured = read_measured(iostat(dated=dated))
    written = next(line for line in measured.lines if line.quantity == "write_bytes_per_s")
    assert written.times_s.tolist() == [0.0, step_s]
    assert written.values.tolist() == [51200 * 1024, 102400 * 1024]
    assert (written.host, written.device) == ("data1", "cciss/c0d1")
    assert ("-t" in " ".join(measured.notes)) is not dated


@pytest.mark.parametrize(
    "moments",
    [
        ("23:59:40", "23:59:50", "00:00:00"),
        ("Time: 11:59:40 PM", "Time: 11:59:50 PM", "Time: 12:00:00 AM"),
        ("11/23/2026 11:59:40 PM", "11/23/2026 11:59:50 PM", "11/24/2026 12:00:00 AM"),
    ],
)
def test_midnight_is_passed(moments: tuple[str, str, str]) -> None:
    text = iostat(dated=True)
    for n, moment in enumerate(moments):
        text = text.replace(f"11/23/2026 10:00:{10 * n:02d} PM", moment)
    assert {tuple(line.times_s) for line in read_measured(text).lines} == {(0.0, 10.0)}
    rows = "\n".join(f"{moment.removeprefix('Time: ')},{n}" for n, moment in enumerate(moments))
    (line,) = read_measured(f"time,tps\n{rows}\n").lines
    assert (line.times_s.tolist(), line.values.tolist()) == ([0.0, 10.0, 20.0], [0.0, 1.0, 2.0])


def test_a_device_is_the_disk_of_its_name_on_its_machine(plan: Plan, result: SimulationResult) -> None:
    held = held_against(result, plan, read_measured(iostat(dated=True)))
    written = next(line for line in held.lines if line.unit == "bytes/s")
    assert written.what == "writes of data1 c0d1"
    assert [plan.by_id[i].name for i in written.disk_ids] == ["c0d1"]
    assert (written.points, written.measured_max) == (2, 102400 * 1024)
    late = held_against(result, plan, read_measured(iostat(dated=True)), 25.0)
    assert {line.points for line in late.lines} == {1}
    never = held_against(result, plan, read_measured(iostat(dated=True)), 60.0)
    assert not never.lines
    assert "at no moment of the run" in never.notes[-1]
    other = held_against(result, plan, read_measured(iostat(dated=True).replace("c0d1", "c0d7")))
    assert other.notes[-1] == "not in this run: cciss/c0d7"


def test_a_run_laid_over_itself_differs_nowhere(plan: Plan, result: SimulationResult) -> None:
    held = held_against(result, plan, read_measured(result.to_csv()))
    assert {line.quantity for line in held.lines} >= {
        "accepted_per_s", "latency_s", "redo_buffer_bytes", "redo_log_bytes", "write_bytes_per_s",
        "utilisation",
    }  # fmt: skip
    for line in held.lines:
        assert line.measured_mean == pytest.approx(line.simulated_mean, rel=1e-4, abs=1e-9), line.what
        assert line.measured_max == pytest.approx(line.simulated_max, rel=1e-4, abs=1e-9), line.what
        again = line.at(result.times_s, result.bucket_s)
        known = np.isfinite(again)
        assert known.sum() >= len(result.times_s) - 2
    assert not held.notes


@pytest.mark.parametrize("table", ["logbuffers", "logspaces"])
def test_tables_of_ndbinfo_asked_for_again_and_again(
    plan: Plan, result: SimulationResult, table: str
) -> None:
    """Both have the same columns: what there is room for tells the log from its buffer."""
    moments = (5.0, 10.0, 15.0)
    text = ""
    for second, at_s in enumerate(moments):
        moment = {"now()": f"2026-11-23 10:00:{5 * second:02d}"}
        rows = [{**moment, **row} for row in view(table, result, plan, at_s)]
        text += "\t".join(rows[0]) + "\n"
        text += "".join("\t".join(map(str, row.values())) + "\n" for row in rows)
    held = held_against(result, plan, read_measured(text), 5.0)
    quantity = "redo_buffer_bytes" if table == "logbuffers" else "redo_log_bytes"
    assert {line.quantity for line in held.lines} == {quantity}
    assert {(line.node_ids, line.log_part) for line in held.lines} >= {((3,), 0), ((4,), 3)}
    assert all(line.times_s.tolist() == list(moments) for line in held.lines)
    if table == "logspaces":
        for line in held.lines:
            assert line.measured_max == pytest.approx(line.simulated_max, rel=0.1)


def test_a_csv_of_somebody_else() -> None:
    text = "time;tps;latency_ms;colour\n2026-11-23 10:00:00;100;2;red\n2026-11-23 10:00:05;;3;blue\n"
    measured = read_measured(text)
    lines = {line.quantity: line for line in measured.lines}
    assert lines["accepted_per_s"].values.tolist() == [100.0]
    assert lines["latency_s"].times_s.tolist() == [0.0, 5.0]
    assert lines["latency_s"].values.tolist() == [0.002, 0.003]
    assert measured.notes == ("1 column not known: colour",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no series over time"),
        ("a,b\n1,2\n", "no series over time"),
        ("t_s,accepted_per_s\nsoon,4\n", "'soon' is not a moment"),
        ("t_s,accepted_per_s\n1,many\n", "'many' of accepted_per_s is not a number"),
        ('t_s,accepted_per_s\n1,"1,500"\n', r"1500 or 1\.5"),
        ("t_s,accepted_per_s\n1,-1\n", "is not a number from 0 on"),
        ("t_s,accepted_per_s\n0,1\n5e9,1\n", "more than"),
        (iostat(dated=True).partition("11/23/2026 10:00:10")[0], "one report only"),
        ('{"sysstat": {"hosts": [', "cut off or broken"),
        ("t_s,accepted_per_s\n" + "1,1\n" * 5_000_001, "at most"),
    ],
)  # fmt: skip
def test_what_is_no_series_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(MeasuredSeriesError, match=says) as error:
        read_measured(text)
    assert "\n" not in error.value.line


def test_hostile_texts_are_refused_or_read(plan: Plan, result: SimulationResult) -> None:
    draw = random.Random(7)
    pieces = [
        "t_s,accepted_per_s,node3_part0_redo_log_bytes\n", "1,2,3\n", "nan,inf,-1\n", "\0\0", "é\ufeff\r",
        '"', "9" * 400 + ",1,1\n", iostat(dated=True), "Device %util\nsda nan\n", "node_id\tlog_type\ttotal",
        "\tused\tlog_part\n3\tREDO\t0\t0\t0\n", "9999999\tREDO\t9\t9\t9\n", "11/23/2026 99:00:00\n",
        '{"sysstat": 7}', "2026-13-40 10:00,1,1\n", "node99999_part999_redo_log_bytes,t_s\n",
    ]  # fmt: skip
    refused: set[str] = set()
    for number in range(400):
        text = "".join(draw.choices(pieces, k=1 + number % 9))
        try:
            held = held_against(result, plan, read_measured(text)).lines
        except MeasuredSeriesError as error:
            refused.add(error.line)
            continue
        for line in held:
            assert np.isfinite([line.measured_mean, line.simulated_mean, line.from_s, line.to_s]).all()
    assert len(refused) > 3
    assert not any("\n" in line for line in refused)


def test_an_import_says_where_a_series_goes() -> None:
    done = import_files({"run.csv": b"t_s,accepted_per_s\n0,1\n1,2\n"}, sample_plan("starter"))
    assert done.kinds == {"run.csv": "series"}
    assert "--measured" in (done.findings[0].fix or "")
    assert list(itertools.chain(done.changes)) == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_any_system_ends_them(end: str) -> None:
    measured = read_measured(end.join(["t_s,accepted_per_s", "0,4000", "30,3000", ""]))
    assert [line.values.tolist() for line in measured.lines] == [[4000, 3000]]
