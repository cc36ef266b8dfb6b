"""Questions that publications worked out in figures, asked of the program, and why its answer is another."""

from __future__ import annotations

import math

import pytest

from ndbplan.base.units import GIB, MIB
from ndbplan.checks.problem import Problem
from ndbplan.checks.run import check
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint import NodeCheckpoint
from ndbplan.estimate.timed import restart
from ndbplan.ndb.parameters import knows
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload

EXPERTS_FILES = 52
"""Four checkpoints of 8 GB at 10 MB/s while 1 MB/s of log comes: 3.3 GB, in 4 x 52 files of 16 MB."""
FILE_BYTES, LOG_PARTS = 16 * MIB, 4
ROW_BYTES = 1040


def question(version: str, tables: int, threads: int) -> Plan:
    """Two data nodes with 8 GiB of rows, checkpoints at 10 MiB/s, updates that make 1 MB/s of log."""
    plan = sample_plan("starter").replace(ndb_version=version)
    for name in plan.parameters.data_node:
        plan = set_parameter(plan, "data_node", name, None)
    settings = {"NoOfReplicas": 2, "DataMemory": 9 * GIB, "MaxNoOfExecutionThreads": threads}
    has_range = knows("DB", "MaxDiskWriteSpeed", plan.version)
    speeds = ("MinDiskWriteSpeed", "MaxDiskWriteSpeed") if has_range else ("DiskCheckpointSpeed",)
    for name, value in (settings | dict.fromkeys(speeds, 10 * MIB)).items():
        plan = set_parameter(plan, "data_node", name, value)
    columns = (
        Column(name="k", type="bigint", nullable=False),
        Column(name="v", type="varbinary", length=1000, average_bytes=1000),
    )
    rows = 8 * GIB // ROW_BYTES // tables
    every = tuple(
        Table(id=f"t{i}", database="d", name=f"t{i}", columns=columns, primary_key=("k",), rows=rows)
        for i in range(tables)
    )
    updates = tuple(Operation(table_id=t.id, kind=OperationKind.UPDATE, rows=1 / tables) for t in every)
    workload = Workload(
        id="w", name="w", transactions=(Transaction(name="t", operations=updates),),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1e6 / 1088),)),
    )  # fmt: skip
    return plan.replace(tables=every, workloads=(workload,))


def checkpoint(plan: Plan) -> NodeCheckpoint:
    now = Estimation(plan, plan.workloads[0])
    log = now.redo.nodes[0].device_bytes_per_s.value
    assert log == pytest.approx(1e6, rel=0.01), "the question says 1 MB/s"
    return now.checkpoint.nodes[0]


def files(bytes_of_a_part: float) -> int:
    return math.ceil(bytes_of_a_part / FILE_BYTES)


def too_short(plan: Plan) -> Problem:
    return next(one for one in check(plan) if one.rule == "redo-log-size")


def test_how_many_log_files_the_experts_rule_is_the_upper_end() -> None:
    """The rule waits for four checkpoints. The log is cut after two to three before 7.4, four with chance."""
    spread = checkpoint(question("7.2", tables=4, threads=8))
    assert spread.duration_s.value == pytest.approx(8 * GIB / (10 * MIB), rel=0.02)
    assert files(spread.redo_needed_bytes.value) == 38
    assert files(spread.redo_needed_bytes.high) == pytest.approx(EXPERTS_FILES, abs=3)
    assert files(spread.redo_needed_bytes.low) < 38


def test_one_table_in_one_log_part_needs_four_times_as_many_and_is_told_why() -> None:
    spread, alone = (question("7.2", tables, threads=2) for tables in (4, 1))
    times = checkpoint(alone).redo_needed_bytes.value / checkpoint(spread).redo_needed_bytes.value
    assert times == pytest.approx(LOG_PARTS, rel=0.01)
    problem = too_short(alone)
    assert (
        "as 1 of 4 log parts is written: spread evenly over all 4 it would need 25 % of that"
        in problem.message
    )
    assert "the node has 1 LDM thread" in problem.message
    assert "to 228: 149 are needed, the others are room" in problem.fix
    assert "goes there" not in too_short(spread).message


@pytest.mark.parametrize("version", ["7.6", "8.0", "8.4"])
def test_partial_checkpoints_need_next_to_nothing(version: str) -> None:
    assert checkpoint(question(version, tables=1, threads=2)).redo_fill.high < 0.07


def initial_start(version: str) -> Plan:
    """42 GiB of log files on disks that write 18.5 MiB/s."""
    plan = sample_plan("disk-data").replace(ndb_version=version)
    for name, value in (("NoOfFragmentLogFiles", 168), ("FragmentLogFileSize", 64 * MIB)):
        plan = set_parameter(plan, "data_node", name, value)
    for host in plan.hosts:
        for disk in host.disks:
            plan = edits.update(plan, disk.id, sequential_write_bytes_per_s=18.5 * MIB)
    return plan


def seconds_of_files(version: str) -> float:
    phases = restart(initial_start(version), "start").phases
    return next(phase for phase in phases if phase.name == "create redo log files").duration_s.value


def test_an_initial_start_wrote_all_log_files_before_they_were_sparse() -> None:
    """Published in 2008: 38 min 47 s."""
    assert seconds_of_files("6.3.10") == pytest.approx(38 * 60 + 47, rel=0.01)


def test_sparse_log_files_are_made_in_a_tenth_of_the_time() -> None:
    """From 6.3.19 on a page of each MiB: 40 GiB took 207 s on a disk of that time."""
    assert seconds_of_files("6.3.19") == pytest.approx(207 * 42 / 40, rel=0.05)
    assert seconds_of_files("8.4") == seconds_of_files("6.3.19")
