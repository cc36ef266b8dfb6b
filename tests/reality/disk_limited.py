"""Insert loads on a 7.4.10 cluster whose disks were limited: each phase from its settings and start state."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ndbplan.base.units import MIB, parse_bytes
from ndbplan.estimate.storage.row_cost import row_cost
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.model.pauses import lcp_stages_s
from ndbplan.simulate.model.start import StartState
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import simulate

FOLDER = Path(__file__).parent / "clusters" / "disk-limited"
SERVER_CODES = {1205: 266}
"""Errors as SQL clients see them, and as the data node raises them."""


@dataclass(frozen=True)
class Phase:
    """One steady rate of one run."""

    run: str
    number: int
    begin_s: int
    seconds: int
    settings: dict[str, Any]
    measured: dict[str, Any]
    rows: tuple[dict[str, str], ...]
    """Every second of the whole run."""

    @property
    def id(self) -> str:
        """Such as `C2-12000`."""
        return f"{self.run}-{self.measured['offered_rows_s']}"

    @property
    def first_error(self) -> tuple[int, float] | None:
        """(code, seconds after the start of the phase); None without errors."""
        first = self.measured["first_error"]
        if first is None:
            return None
        code = int(first["code"])
        return SERVER_CODES.get(code, code), float(first["s_after_phase_start"])


@cache
def seconds_of_run(name: str) -> tuple[dict[str, str], ...]:
    """Every second of a run."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def phases() -> tuple[Phase, ...]:
    """All phases of all runs."""
    found = []
    for name, run in json.loads((FOLDER / "runs.json").read_text(encoding="utf-8")).items():
        rows, begin = seconds_of_run(name), 0
        for number, measured in enumerate(run["phases"]):
            found.append(Phase(name, number, begin, measured["seconds"], run["settings"], measured, rows))
            begin += measured["seconds"]
    return tuple(found)


def plan_of(phase: Phase) -> Plan:
    """The cluster of a run, with the load of one of its phases."""
    settings = phase.settings
    low, high = (parse_bytes(text) for text in settings["lcp"].replace(" default", "").split("/"))
    parameters: dict[str, int | str] = {
        "NoOfReplicas": 2,
        "MaxNoOfExecutionThreads": 4,
        "DataMemory": 2**31,
        "RedoBuffer": parse_bytes(settings["RedoBuffer"]),
        "FragmentLogFileSize": parse_bytes(settings["FragmentLogFileSize"]),
        "NoOfFragmentLogFiles": settings["NoOfFragmentLogFiles"],
        "MinDiskWriteSpeed": low,
        "MaxDiskWriteSpeed": high,
        "ODirect": 1,
    }
    action, _, more = settings["action"].partition(", ")
    if more:
        name, _, value = more.partition("=")
        parameters[name] = int(value)
    disk = Disk(
        id="disk", name="disk", kind="nvme", capacity_bytes=10**12, sequential_read_bytes_per_s=1e9,
        sequential_write_bytes_per_s=settings["throttle_MBs"] * 1e6, random_read_iops=1e5,
        random_write_iops=1e5,
    )  # fmt: skip
    hosts = tuple(
        Host(
            id=f"h{i}", hostname=f"h{i}", cores=2, memory_bytes=24 * 2**30,
            disks=(disk.model_copy(update={"id": f"d{i}"}),),
        )
        for i in (2, 3)
    )  # fmt: skip
    return Plan(
        ndb_version="7.4.10",
        hosts=hosts,
        processes=tuple(DataNode(id=f"n{i}", node_id=i, host_id=f"h{i}") for i in (2, 3)),
        parameters=ClusterParameters(data_node=parameters, sql={"DefaultOperationRedoProblemAction": action}),
        tables=(table(phase.settings["payload"]),),
        workloads=(_workload(phase),),
    )


def table(payload: int) -> Table:
    """Rows of so many bytes of payload: 1096 or 296 bytes of log."""
    columns = (
        Column(name="a", type="int", nullable=False),
        Column(name="b", type="int", nullable=False),
        Column(name="c", type="varbinary", length=payload, average_bytes=payload, nullable=False),
    )
    return Table(id="t", database="test", name="t", columns=columns, primary_key=("a",))


def _workload(phase: Phase) -> Workload:
    batch = phase.settings["batch"]
    rate = phase.measured["offered_rows_s"] / batch
    insert = Operation(table_id="t", kind=OperationKind.INSERT, rows=batch)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),), clients=phase.settings["sessions"])
    return Workload(
        id="w", name="w", transactions=(Transaction(name="insert", operations=(insert,)),), load=load,
        duration_s=phase.seconds,
    )  # fmt: skip


def start_of(phase: Phase) -> StartState:
    """What the cluster was like when the phase began, read off the seconds before."""
    low, high = (parse_bytes(text) for text in phase.settings["lcp"].replace(" default", "").split("/"))
    if phase.begin_s == 0:
        # The cluster had been started a second or two before.
        return StartState(lcp_target_bytes_per_s=low + (high - low) / 12)
    before = phase.rows[: phase.begin_s]
    last = before[-1]
    row_bytes = row_cost(table(phase.settings["payload"]), plan_of(phase).version).checkpoint_bytes
    accepted = [float(row["accepted"]) for row in before]
    held = _fills(last)
    made = sum(accepted) * phase.settings["redo_bytes_per_row_exact"] * 1.0044 / 2
    left = _lcp_left(before, accepted, row_bytes)
    pause_s, flushes = _pause(phase, before) if left is None else (0.0, 0)
    return StartState(
        redo_buffer_bytes=held,
        redo_log_bytes=made,
        lcp_target_bytes_per_s=float(last["n2_lcp_target_MBs"]) * 1e6,
        rows_bytes=sum(accepted) * row_bytes,
        lcp_left_bytes=None if left is None else left[0],
        lcp_fragments_left=0 if left is None else left[1],
        first_lcp_s=pause_s,
        first_lcp_flushes=flushes,
    )


def seconds_of(phase: Phase) -> tuple[dict[str, str], ...]:
    """The phase's own seconds."""
    return phase.rows[phase.begin_s : phase.begin_s + phase.seconds]


def held_bytes(row: dict[str, str]) -> float:
    """Bytes in all buffers of one node at the end of a second."""
    return sum(float(v) for v in row["n2_redo_buffer_MiB"].split("/")) * MIB


def log_by_seconds(phase: Phase) -> float:
    """Bytes of log of one node in a phase: what was written, and what its buffers held more at the end."""
    rows = seconds_of(phase)
    before = held_bytes(phase.rows[phase.begin_s - 1]) if phase.begin_s else 0.0
    return sum(float(row["n2_redo_MBs"]) for row in rows) * 1e6 + held_bytes(rows[-1]) - before


def _fills(row: dict[str, str]) -> float:
    """Mean bytes in the buffers of the parts in use, over both nodes."""
    values = [float(v) for node in ("n2", "n3") for v in row[f"{node}_redo_buffer_MiB"].split("/")]
    return sum(values) / len(values) * MIB


def _writes(row: dict[str, str]) -> float:
    """Checkpoint bytes of a second, the trickle of small tables left out."""
    amount = float(row["n2_lcp_MBs"])
    return amount * 1e6 if amount > 0.6 else 0.0


def _lcp_left(
    before: tuple[dict[str, str], ...], accepted: list[float], row_bytes: float
) -> tuple[float, int] | None:
    """(bytes left of the running checkpoint's fragment, fragments not begun); None when none is running."""
    end = len(before)
    begin = end
    while begin > 0 and (_writes(before[begin - 1]) > 0 or (begin > 1 and _writes(before[begin - 2]) > 0)):
        begin -= 1
    while begin < end and _writes(before[begin]) == 0:
        begin += 1
    if begin == end or _writes(before[-1]) == 0:
        return None
    first = sum(accepted[:begin]) * row_bytes / 2
    written = 0.0
    for at in range(begin, end):
        written += _writes(before[at])
        if written >= first:
            second = sum(accepted[: at + 1]) * row_bytes / 2
            done = sum(_writes(row) for row in before[begin:]) - first
            if done >= second:
                # Longer than fragments explain: as published, with 0.35 of the rows inserted meanwhile.
                inserted = sum(accepted[begin:]) * row_bytes
                return max(1.0, first + 0.35 * inserted - done), 0
            return second - done, 0
    return first - written, 1


def _fill_at(rows: tuple[dict[str, str], ...], at_s: float) -> float:
    """Mean bytes in the buffers of the parts in use at a moment: rows tell of the ends of seconds."""
    return float(np.interp(at_s, np.arange(1, len(rows) + 1), [_fills(row) for row in rows]))


def _pause(phase: Phase, before: tuple[dict[str, str], ...]) -> tuple[float, int]:
    """(seconds, flushes of the log) still to wait for the next checkpoint."""
    speed = phase.settings["throttle_MBs"] * 1e6 * 0.99
    at = max((i + 1.0 for i, row in enumerate(before) if _writes(row) > 0), default=0.0)
    stages = lcp_stages_s(plan_of(phase))
    for done, least_s in enumerate(stages[:-1]):
        at += max(least_s, 2 * _fill_at(before, at) / speed)
        if at > len(before):
            return at - len(before), len(stages) - done
    return stages[-1], 1


def simulated(phase: Phase, **settings: Any) -> SimulationResult:
    """The phase as the simulation has it."""
    return simulate(estimation_of(plan_of(phase)), start=start_of(phase), **settings)
