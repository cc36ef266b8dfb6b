"""Insert loads on clusters of two data nodes with limited disks, 7.4.10 and 8.4.8: each run as a plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ndbplan.base.units import parse_bytes
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from reality import disk_limited
from reality.calibrated import with_constants

FOLDER = Path(__file__).parent / "clusters" / "load-8.4.8"
SERVER_CODES = {1205: 266}
"""Errors as SQL clients see them, and as the data node raises them."""
LIMIT_UNIT = {"7.4.10": 1e6, "8.4.8": 2.0**20}
"""What a limit of 1 let pass: 9.9 to 10.0 MB/s on the 7.4.10 cluster with 10, 10.4 to 10.5 on the other."""
UNLIMITED_BYTES_PER_S = 1e9
PAGE_HEADERS = 1.0044
"""Log with the headers of its pages, against its records."""


@dataclass(frozen=True)
class LoadPhase:
    """One steady rate of a run."""

    begin_s: int
    seconds: int
    offered_rows_s: float
    accepted_rows_s: float
    first: tuple[int, float] | None
    """(code, seconds after the start of the phase) of the first error."""
    codes: frozenset[int]
    redo_mb_s: float
    lcp_mb_s: float
    cores: tuple[float, ...] = ()
    """That each data node kept busy."""


@dataclass(frozen=True, eq=False)
class LoadRun:
    """One run of a cluster that was just started."""

    era: str
    name: str
    settings: dict[str, Any]
    phases: tuple[LoadPhase, ...]
    checkpoints: tuple[dict[str, float], ...] = ()
    """Start, end and MB of those that were seen whole, and the rows that there were at their start."""

    @property
    def seconds(self) -> int:
        """Length of the run."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def batch(self) -> int:
        """Rows of a transaction."""
        return int(self.settings["batch"])


def _phases(
    measured: list[dict[str, Any]],
    queues: bool,
    by_second: Sequence[dict[str, str]] = (),
    row_bytes: float = 0.0,
) -> tuple[LoadPhase, ...]:
    """`by_second`: every second of the run, where speeds stated for a phase leave out its first ones.
    `row_bytes`: log of a row.
    """
    found, begin = [], 0
    late_s = _late_s(by_second[0], row_bytes) if by_second else 0.0
    for one in measured:
        redo, lcp, sent = one["redo_MBs"], one["lcp_MBs"], _sent_rows_s(one, queues)
        if by_second:
            own = by_second[begin : begin + one["seconds"]]
            redo, lcp = (
                _mean_of(by_second, name, begin + late_s, begin + one["seconds"] + late_s)
                for name in ("n2_redo_MBs", "n2_lcp_MBs")
            )
            sent = sent if queues else fmean(float(row["attempted"]) for row in own)
        codes = {SERVER_CODES.get(int(code), int(code)) for code in one["refused_rows"]}
        first = one["first_error"]
        if first is not None:
            code = int(first["code"])
            first = (SERVER_CODES.get(code, code), float(first["s_after_phase_start"]))
        # The 7.4.10 runs did not say.
        cores = () if by_second else tuple(percent / 100 for percent in one["cpu_pct"])
        found.append(
            LoadPhase(
                begin, one["seconds"], sent, one["accepted_mean"], first,
                frozenset(codes), redo, lcp, cores,
            )
        )  # fmt: skip
        begin += one["seconds"]
    return tuple(found)


def _late_s(first: dict[str, str], row_bytes: float) -> float:
    """How long ago what a data node tells as written in the last second was: it counts seconds of its own.

    By the first second of a run: all that was logged in it, and is in no buffer, was written in it.
    """
    written = float(first["accepted"]) * row_bytes - disk_limited.held_bytes(first)
    return min(1.0, max(0.0, 1 - float(first["n2_redo_MBs"]) * 1e6 / written))


def _mean_of(by_second: Sequence[dict[str, str]], name: str, begin_s: float, end_s: float) -> float:
    """Mean of what was told in these seconds, as far as there are any."""
    end_s = min(end_s, float(len(by_second)))
    upto = np.concatenate(([0.0], np.cumsum([float(row[name]) for row in by_second])))
    told = np.interp((begin_s, end_s), np.arange(len(upto)), upto)
    return float(told[1] - told[0]) / (end_s - begin_s)


def _sent_rows_s(phase: dict[str, Any], queues: bool) -> float:
    """What clients sent: less than was meant where the machine that they ran on had no time for more.

    Where work waits for redo it is the data nodes that hold clients up, and all of it counts as offered.
    """
    dropped = 0 if queues else phase.get("dropped_rows", 0)
    return float(phase["offered_rows_s"] - dropped / phase["seconds"])


@cache
def runs() -> tuple[LoadRun, ...]:
    """Every run of both clusters."""
    found = []
    for name, run in json.loads((disk_limited.FOLDER / "runs.json").read_text(encoding="utf-8")).items():
        settings = dict(run["settings"])
        settings["action"], _, more = settings["action"].partition(", ")
        settings["other"] = dict([more.split("=")]) if more else {}
        low, _, high = settings["lcp"].replace(" default", "").partition("/")
        settings["MinDiskWriteSpeed"], settings["MaxDiskWriteSpeed"] = low, high
        queues, by_second = settings["action"] == "queue", disk_limited.seconds_of_run(name)
        row_bytes = settings["redo_bytes_per_row_exact"] * PAGE_HEADERS
        phases = _phases(run["phases"], queues, by_second, row_bytes)
        found.append(LoadRun("7.4.10", name, settings, phases))
    for name, run in json.loads((FOLDER / "runs.json").read_text(encoding="utf-8")).items():
        queues = run["settings"]["action"] == "queue"
        phases, whole = _phases(run["phases"], queues), tuple(run["checkpoints"])
        found.append(LoadRun("8.4.8", name, run["settings"], phases, whole))
    return tuple(found)


def plan_of(run: LoadRun) -> Plan:
    """The cluster of a run with its load, as a user would state it."""
    hosts = tuple(
        Host(
            id=f"h{i}", hostname=f"h{i}", cores=2, memory_bytes=24 * 2**30,
            disks=(_disk(run, i),),
        )
        for i in (2, 3)
    )  # fmt: skip
    plan = Plan(
        ndb_version=run.era,
        hosts=hosts,
        processes=tuple(DataNode(id=f"n{i}", node_id=i, host_id=f"h{i}") for i in (2, 3)),
        parameters=ClusterParameters(
            data_node=_parameters(run), sql={"DefaultOperationRedoProblemAction": run.settings["action"]}
        ),
        tables=(table(run.settings["payload"]),),
        workloads=(_workload(run),),
    )
    return with_constants(plan)


def _disk(run: LoadRun, node_id: int) -> Disk:
    limit = run.settings["throttle_MBs"]
    is_limited = limit is not None and node_id in run.settings.get("throttled_nodes", (2, 3))
    return Disk(
        id=f"d{node_id}", name="disk", kind="nvme", capacity_bytes=10**12, sequential_read_bytes_per_s=1e9,
        sequential_write_bytes_per_s=limit * LIMIT_UNIT[run.era] if is_limited else UNLIMITED_BYTES_PER_S,
        random_read_iops=1e5, random_write_iops=1e5,
    )  # fmt: skip


def _parameters(run: LoadRun) -> dict[str, int | str]:
    settings = run.settings
    sizes = ("RedoBuffer", "FragmentLogFileSize", "MinDiskWriteSpeed", "MaxDiskWriteSpeed")
    stated: dict[str, int | str] = {
        "NoOfReplicas": 2,
        "DataMemory": 2**31,
        "NoOfFragmentLogFiles": settings["NoOfFragmentLogFiles"],
        "ODirect": 1,
        **{name: parse_bytes(settings[name]) for name in sizes},
        **{name: int(value) for name, value in settings["other"].items()},
    }
    if run.era == "7.4.10":
        stated["MaxNoOfExecutionThreads"] = 4
    else:
        stated["ThreadConfig"] = "main,rep,tc,recv,ldm={count=2}"
        stated["EnableRedoControl"] = settings["EnableRedoControl"]
    return stated


def table(payload: int) -> Table:
    """A key, and a payload of so many bytes: 1096 or 296 bytes of log."""
    columns = (
        Column(name="a", type="bigint", nullable=False),
        Column(name="c", type="varbinary", length=payload, average_bytes=payload, nullable=False),
    )
    return Table(id="t", database="test", name="t", columns=columns, primary_key=("a",))


def _workload(run: LoadRun) -> Workload:
    insert = Operation(table_id="t", kind=OperationKind.INSERT, rows=run.batch)
    points = tuple(RatePoint(at_s=p.begin_s, rate_per_s=p.offered_rows_s / run.batch) for p in run.phases)
    load = OpenLoad(points=points, clients=run.settings["sessions"])
    return Workload(
        id="w", name="w", transactions=(Transaction(name="insert", operations=(insert,)),), load=load,
        duration_s=run.seconds,
    )  # fmt: skip
