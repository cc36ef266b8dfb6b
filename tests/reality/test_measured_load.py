"""Loads on limited disks of two versions: what the simulation says of whole runs against what was measured.

When checkpoints fall decides much, and that is chance: three runs of one cluster took 5180, 4060 and 5626
rows a second. So phases are held against the range of drawn runs, and the likeliest run by how many it meets.
"""

from __future__ import annotations

from collections import Counter

import pytest

from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.checkpoint_files import bytes_beside_rows
from ndbplan.estimate.stored import machines_of, node_data_by_id
from reality.disk_limited import seconds_of_run
from reality.load_runs import LoadRun, plan_of, runs
from reality.measured_load import (
    Outcome,
    accepted_by_second,
    first_checkpoint_mb,
    outcomes,
    outcomes_of,
    processor_rows,
    rows,
)

ERAS = ("7.4.10", "8.4.8")
OVERLOADED = {"7.4.10": 12, "8.4.8": 11}
MOMENT_S, MOMENT_SHARE = 5.0, 0.3


def of_era(era: str) -> list[Outcome]:
    return [one for one in outcomes() if one.run.era == era]


def is_inside(one: Outcome) -> bool:
    return 0.99 * one.taken.low <= one.phase.accepted_rows_s <= 1.01 * one.taken.high


@pytest.mark.parametrize("era", ERAS)
def test_phases_that_are_not_overloaded_take_all(era: str) -> None:
    for one in of_era(era):
        if one.phase.first is None and one.phase.accepted_rows_s > 0.97 * one.phase.offered_rows_s:
            assert one.likeliest.first is None, one.name
            assert one.likeliest.accepted_rows_s == pytest.approx(one.phase.accepted_rows_s, rel=0.03)


@pytest.mark.parametrize(("era", "least"), [("7.4.10", 12), ("8.4.8", 10)])
def test_first_error_is_of_the_right_kind(era: str, least: int) -> None:
    """That of most drawn runs. All but A7: its lag stood at 19 s, a second short of 1234, when its checkpoint
    ended.
    """
    overloaded = [one for one in of_era(era) if one.phase.first is not None]
    assert len(overloaded) == OVERLOADED[era]
    right = []
    for one in overloaded:
        codes = Counter(seen.first[0] for seen in one.drawn if seen.first is not None)
        if one.phase.first is not None and codes.most_common(1)[0][0] == one.phase.first[0]:
            right.append(one.name)
    assert len(right) >= least, right


@pytest.mark.parametrize(("era", "least"), [("7.4.10", 12), ("8.4.8", 10)])
def test_first_error_comes_when_it_came_in_some_run(era: str, least: int) -> None:
    found = []
    for one in of_era(era):
        if one.phase.first is None:
            continue
        at_s = one.phase.first[1]
        moments = [seen.first[1] for seen in one.drawn if seen.first is not None]
        near = min(abs(moment - at_s) for moment in moments)
        if near <= 1.0 and abs(sorted(moments)[len(moments) // 2] - at_s) <= max(
            MOMENT_S, MOMENT_SHARE * at_s, 0.5 * (max(moments) - min(moments))
        ):
            found.append(one.name)
    assert len(found) >= least, found


@pytest.mark.parametrize(("era", "least"), [("7.4.10", 11), ("8.4.8", 9)])
def test_rates_lie_inside_the_drawn_range(era: str, least: int) -> None:
    """More than four of five: draws go beyond ranges of constants, which are p10 to p90, one time of five."""
    inside = [one.name for one in of_era(era) if one.phase.first is not None and is_inside(one)]
    assert len(inside) >= least, inside


def test_the_middle_run_takes_what_was_measured() -> None:
    """Within a tenth from a cluster that was just started: seven in ten. Given where in the cycle of
    checkpoints a load of 7.4.10 begins, all but one of its phases are (test_disk_limited); the rest is that
    moment."""
    near = [
        one.name
        for one in outcomes()
        if one.phase.first is not None
        and abs(one.spread([seen.accepted_rows_s for seen in one.drawn])[1] / one.phase.accepted_rows_s - 1)
        <= 0.1
    ]
    assert len(near) >= 0.69 * sum(OVERLOADED.values()), near


@pytest.mark.parametrize("era", ERAS)
def test_log_of_refused_rows(era: str) -> None:
    """Log for each accepted row where work is refused: the median of all phases is right within 10 %."""
    ratios = []
    for one in of_era(era):
        if one.phase.first is not None and one.run.settings["action"] == "abort":
            measured = one.phase.redo_mb_s / one.phase.accepted_rows_s
            waste = sorted(seen.redo_mb_s / seen.accepted_rows_s for seen in one.drawn)
            ratios.append(waste[len(waste) // 2] / measured)
    ratios.sort()
    assert 0.9 <= ratios[len(ratios) // 2] <= 1.1


def _run(name: str) -> LoadRun:
    return next(run for run in runs() if run.era == "8.4.8" and run.name == name)


def test_redo_control_prevents_410_where_the_disk_has_room() -> None:
    assert outcomes_of(_run("B1"))[0].likeliest.codes == {410}
    assert outcomes_of(_run("B2"))[0].likeliest.codes == frozenset()


def test_redo_control_yields_to_the_lag_rule() -> None:
    b5 = outcomes_of(_run("B5"))[0]
    assert any(1234 in seen.codes for seen in b5.drawn)
    assert any({1234, 410} <= seen.codes for seen in b5.drawn)


def test_a_lag_can_stop_nearly_everything() -> None:
    """1234 with the whole redo speed spent on refused rows (28 to 62 s seen): seconds that take a tenth."""
    seconds = accepted_by_second(_run("A1b"))[60:]
    assert sum(taken < 1200 for taken in seconds) >= 15


def test_bytes_of_checkpoints_under_load() -> None:
    """A fragment writes what changed since the global checkpoint before its last: without those seconds, and
    with a speed that follows the changes at once, the median was 18 % off."""
    sizes = [row for row in rows() if row.quantity == "checkpoint bytes"]
    off = sorted(abs(row.value / row.measured - 1) for row in sizes)
    assert len(off) >= 20
    assert off[len(off) // 2] <= 0.14
    assert sum(row.low * 0.95 <= row.measured <= row.high * 1.05 for row in sizes) >= 0.6 * len(sizes)


@pytest.mark.parametrize("name", ["C1", "C5", "C7", "D1", "D4", "E2"])
def test_files_of_system_tables_come_before_the_rows(name: str) -> None:
    """Where the log is behind they take seconds, so that what they write is seen apart from rows."""
    run = next(run for run in runs() if run.era == "7.4.10" and run.name == name)
    plan = plan_of(run)
    machine = machines_of(plan).by_id[2]
    data = node_data_by_id(plan)[2]
    said = bytes_beside_rows(machine.settings, constants_of(plan), data, machine.ldm_threads)
    seconds = [1e6 * float(row["n2_lcp_MBs"]) for row in seconds_of_run(name)]
    few = [0.0 if written > 0.35e6 else written for written in seconds]
    seen = max(sum(few[at : at + 8]) for at in range(len(few)))
    assert 0.85 * said.low <= seen <= said.high


@pytest.mark.parametrize(("purpose", "least"), [("redo", 0.8), ("checkpoints", 0.7)])
def test_what_disks_of_7_4_10_wrote_lies_in_its_range(purpose: str, least: float) -> None:
    """A data node tells of its own last second, up to 1 s ago: 13 and 18 of 28 lay inside as if it were that
    of the record, and 7 by the speeds stated for a phase, which leave out its first seconds."""
    written = [row for row in rows() if row.quantity == f"{purpose} written" and row.era == "7.4.10"]
    assert sum(row.low <= row.measured <= row.high for row in written) >= least * len(written)


def test_checkpoints_of_7_4_10_write_what_was_measured() -> None:
    """Without the files of fragments half of the phases were more than 12 % off, one in three near."""
    written = [row for row in rows() if row.quantity == "checkpoints written" and row.era == "7.4.10"]
    assert sum(abs(row.value / row.measured - 1) <= 0.1 for row in written) >= 0.42 * len(written)


def test_first_checkpoints_of_7_4_10_find_as_many_rows() -> None:
    """They began 0.35 s late and found a fourth too many, in the median: what a data node tells of its last
    second was taken for that of the record."""
    ratios = []
    for run in runs():
        if run.era == "7.4.10":
            told = [float(row["n2_lcp_MBs"]) for row in seconds_of_run(run.name)]
            begin = next(at for at, written in enumerate(told) if written > 0)
            # One second between two fragments in which nothing ends parts no checkpoint.
            pairs = zip(told[begin:], told[begin + 1 :], strict=False)
            end = next(begin + at for at, two in enumerate(pairs) if max(two) < 0.05)
            ratios.append(first_checkpoint_mb(run) / sum(told[begin:end]))
    ratios.sort()
    assert len(ratios) == 11
    assert ratios[5] == pytest.approx(1.0, abs=0.1)


def test_speeds_begin_when_the_load_began() -> None:
    """Log of the first phase is all that was made, but for what buffers hold: as recorded 11 % lacked in half
    of the runs."""
    off = []
    for run in runs():
        if run.era == "7.4.10":
            made = run.phases[0].accepted_rows_s * run.settings["redo_bytes_per_row_exact"] / 1e6
            off.append(abs(run.phases[0].redo_mb_s / made - 1))
    off.sort()
    assert off[len(off) // 2] <= 0.05


def test_processors_of_data_nodes_work_as_measured() -> None:
    """Threads that wake up with nothing to do are a fourth of it: without them 14 % was said where 22 to 28 %
    was measured."""
    found = processor_rows()
    off = sorted(abs(row.value / row.measured - 1) for row in found)
    assert len(found) == 9
    assert off[len(off) // 2] <= 0.2
    assert all(row.low <= row.measured <= row.high for row in found)


def test_rows_for_the_score() -> None:
    found = rows()
    wanted = {"rows accepted", "rows, overloaded", "first error", "redo written", "checkpoints written"}
    assert {row.quantity for row in found} == wanted | {
        "checkpoint bytes", "checkpoint estimate", "processor use",
    }  # fmt: skip
    assert all(row.low <= row.high for row in found)
