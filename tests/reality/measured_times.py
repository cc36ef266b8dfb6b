"""Starts, backups and reorganisations of running clusters beside what the program says of their plans.

PYTHONPATH=app:tests .venv/bin/python -m reality.measured_times     # the table
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ndbplan.base.units import parse_bytes
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.timed import backup, restart
from ndbplan.estimate.times.restart import KINDS, Conditions
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table
from reality.calibrated import with_constants
from reality.cluster import table_t1
from reality.judged import as_table, judged, share_inside
from reality.measured import Measured

_FILE = Path(__file__).parent / "timings.json"
_FAST_DISK_MBS = 1000.0
AFTER_A_KILL = "system start after a kill"
SMALL_NODE = {"node": "node start, few rows", "initial": "initial start, few rows"}


@cache
def timings() -> dict[str, Any]:
    """What was measured."""
    document: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return document


def table_of(version: str, rows: int, payload: int = 1000) -> Table:
    """The table of the runs: a key and a long column, on 7.4.10 that of a MySQL server."""
    if version == "7.4.10":
        return table_t1(rows, payload)
    columns = (
        Column(name="k", type="bigint", unsigned=True, nullable=False),
        Column(name="v", type="varbinary", length=1000, average_bytes=payload, nullable=False),
    )
    return Table(id="t1", database="d", name="t1", columns=columns, primary_key=("k",), rows=rows,
                 row_format_fixed=False)  # fmt: skip


def plan_of(run: dict[str, Any], table: Table) -> Plan:
    """The cluster as a user would write it: both data nodes on one host of two cores."""
    speed = run.get("disk_mbs", _FAST_DISK_MBS) * 1e6
    disks = tuple(
        Disk(
            id=f"disk{i}", name=f"disk{i}", kind="nvme", capacity_bytes=10**12,
            sequential_read_bytes_per_s=1e9, sequential_write_bytes_per_s=speed, random_read_iops=1e5,
            random_write_iops=1e5, sync_write_latency_s=1e-4,
        )
        for i in (2, 3)
    )  # fmt: skip
    host = Host(id="host", hostname="host", cores=2, memory_bytes=24 * 2**30, disks=disks)
    parameters: dict[str, Any] = {"NoOfReplicas": 2, "DataMemory": parse_bytes(run.get("data_memory", "2G"))}
    if run["version"] == "7.4.10":
        parameters["MaxNoOfExecutionThreads"] = 4
    else:
        parameters["AutomaticThreadConfig"] = 0
        parameters["ThreadConfig"] = "main,rep,tc,recv,ldm={count=2}"
        parameters["ODirect"] = 1
    for name, value in run.get("parameters", {}).items():
        parameters[name] = parse_bytes(value) if isinstance(value, str) and value[:1].isdigit() else value
    nodes = tuple(_node(i, f"disk{i}") for i in (2, 3))
    plan = Plan(
        ndb_version=run["version"],
        hosts=(host,),
        processes=nodes,
        parameters=ClusterParameters(data_node=parameters),
        tables=(table,),
    )
    return with_constants(plan)


def plan_of_restart(run: dict[str, Any]) -> Plan:
    """The cluster of one of the measured restarts."""
    payload = 640 if run["version"] == "7.4.10" else 1000
    return plan_of(run, table_of(run["version"], run["rows"], payload))


def plan_of_reorganisation(run: dict[str, Any]) -> Plan:
    """The cluster of a reorganisation and the nodes that it gets, which ran on the same machine."""
    plan = plan_of(run, table_of(run["version"], run["rows"], run["payload"]))
    aside = tuple(_node(i, f"disk{i - 2}", node_group=65536) for i in (4, 5))
    return plan.replace(processes=(*plan.processes, *aside))


def name_of(kind: str) -> str:
    """What a kind of start is called."""
    return "first start" if kind == "start" else f"{kind} start"


def _node(node_id: int, disk: str, **more: Any) -> DataNode:
    roles = dict.fromkeys(("redo", "lcp", "undo", "data_files", "backup"), disk)
    node = {"id": f"n{node_id}", "node_id": node_id, "host_id": "host", "disk_roles": roles, **more}
    return DataNode.model_validate(node)


def measured_times() -> list[Measured]:
    """Every measured duration beside the program's."""
    return [*starts(), *backups(), *reorganisations()]


def starts() -> list[Measured]:
    """Of nodes and of the cluster."""
    return [*_restarts(), *_after_kills(), *_small_nodes(), *_first_starts()]


def _after_kills() -> list[Measured]:
    """After all nodes were killed under a load: their log, in four parts alike, is run again."""
    found = []
    for run in timings()["restarts"]:
        if (killed := run.get("killed")) is None:
            continue
        conditions = Conditions(crashed=True, redo_bytes=killed["redo_bytes"] / 4)
        estimate = restart(plan_of_restart(run), "system", conditions=conditions)
        figures = {phase.name: phase.duration_s for phase in estimate.phases}
        figures["seconds"] = estimate.duration_s
        for name, seconds in killed.items():
            if seconds > 1 and name in figures:
                quantity = AFTER_A_KILL if name == "seconds" else f"after a kill: {name}"
                found.append(judged(quantity, run["version"], run["run"], seconds, figures[name]))
    return found


_CUT_S = 0.5
"""What whole seconds leave away on average."""


def plan_of_small_node(run: dict[str, Any]) -> Plan:
    """Four data nodes on one machine with small rows of one table."""
    plan = plan_of({**run, "data_memory": "80M"}, table_of(run["version"], run["rows"], 120))
    return plan.replace(processes=tuple(_node(i, f"disk{2 + i % 2}") for i in (2, 3, 4, 5)))


def _small_nodes() -> list[Measured]:
    """Starts that hardly ask for rows: what stays is the protocol."""
    found = []
    for run in timings()["small_nodes"]:
        estimate = restart(plan_of_small_node(run), run["kind"], conditions=Conditions(crashed=True))
        name = SMALL_NODE[run["kind"]]
        figures = {name: (run["seconds"], estimate.duration_s)}
        for phase in estimate.phases:
            if phase.name in run:
                figures[f"few rows: {phase.name}"] = (run[phase.name], phase.duration_s)
        for name, (seconds, said) in figures.items():
            chosen = "checkpoint" in name
            found.append(judged(name, run["version"], run["run"], seconds + _CUT_S, said, fitted=chosen))
    return found


def _restarts() -> list[Measured]:
    found = []
    for run in timings()["restarts"]:
        plan = plan_of(
            run, table_of(run["version"], run["rows"], 640 if run["version"] == "7.4.10" else 1000)
        )
        empty = plan.replace(tables=())
        for kind in KINDS:
            if kind not in run:
                continue
            estimate = restart(empty if kind == "start" else plan, kind)
            name = name_of(kind)
            found.append(judged(name, run["version"], run["run"], run[kind], estimate.duration_s))
            for phase in estimate.phases:
                seconds = run.get(f"{kind}_phases", {}).get(phase.name)
                # Whole seconds are reported: a shorter phase says nothing.
                if seconds is not None and seconds > 1:
                    name = f"{kind}: {phase.name}"
                    found.append(judged(name[:34], run["version"], run["run"], seconds, phase.duration_s))
    return found


def _first_starts() -> list[Measured]:
    found = []
    for run in timings()["first_starts"]:
        plan = plan_of(run, table_of(run["version"], 0)).replace(tables=())
        answer = restart(plan, "start").duration_s
        found.append(judged("first start", run["version"], run["run"], run["seconds"], answer))
    return found


def backups() -> list[Measured]:
    """Seconds and bytes of backups."""
    found = []
    for run in timings()["backups"]:
        estimate = backup(plan_of(run, table_of(run["version"], run["rows"])))
        # What waited for the processor on a busy machine says nothing of disks.
        if run["seconds"]:
            found.append(judged("backup", run["version"], run["run"], run["seconds"], estimate.duration_s))
        if run["bytes"]:
            written = estimate.nodes[0].written_bytes
            found.append(judged("backup bytes", run["version"], run["run"], run["bytes"], written))
    return found


def reorganisations() -> list[Measured]:
    """Seconds of reorganisations, and of processors."""
    found = []
    for run in timings()["reorganisations"]:
        name = f"{run['rows'] // 1000}k x {run['payload']} B"
        table = reorganise(plan_of_reorganisation(run)).tables[0]
        found.append(judged("reorganise", run["version"], name, run["seconds"], table.duration_s))
        for work, key in zip(table.cpu, ("cpu_old", "cpu_new"), strict=False):
            # A table without rows costs less than a second of processor time, which is not counted.
            if run.get(key) and run["rows"]:
                kind = f"reorganise: CPU of {work.nodes}"
                found.append(judged(kind, run["version"], name, run[key], work.cpu_s))
    return found


_RANGE_OF_A_RULE = 2.0
"""A rule of thumb says nothing of how sure it is: taken as right within a factor of two."""


def _by_rate(row: Measured, bytes_per_s: float | None = None) -> Measured:
    """What a rule says that divides the bytes of the run by a rate; without one by that of the disk."""
    work = _work()[row.quantity, row.era, row.run]
    seconds = max(0.1, work[0] / (bytes_per_s or work[1]))
    low, high = seconds / _RANGE_OF_A_RULE, seconds * _RANGE_OF_A_RULE
    return row._replace(low=low, value=seconds, high=high)


def bytes_over_disk_rate(row: Measured) -> Measured:
    """The simplest forecaster: bytes divided by the speed of the disk."""
    return _by_rate(row)


def references() -> dict[str, Callable[[Measured], Measured]]:
    """Three forecasters to beat."""
    return {
        "bytes over disk rate": bytes_over_disk_rate,
        "the manual's DiskCheckpointSpeedInRestart of 100 MB/s": lambda row: _by_rate(row, 100 * 2**20),
        "the manual's MaxDiskWriteSpeed of 20 MB/s": lambda row: _by_rate(row, 20 * 2**20),
    }


@cache
def _work() -> dict[tuple[str, str, str], tuple[float, float]]:
    """(bytes of rows, bytes per second of the disk) of each whole operation."""
    found = {}
    for run in timings()["restarts"]:
        size = run["rows"] * (696.0 if run["version"] == "7.4.10" else 1044.0)
        for kind in KINDS:
            held = 32 * 2**20 if kind == "start" else size
            found[name_of(kind), run["version"], run["run"]] = (held, 1e6 * _FAST_DISK_MBS)
        log = run.get("killed", {}).get("redo_bytes", 0.0)
        found[AFTER_A_KILL, run["version"], run["run"]] = (size + log, 1e6 * _FAST_DISK_MBS)
    for run in timings()["small_nodes"]:
        found[SMALL_NODE[run["kind"]], run["version"], run["run"]] = (run["rows"] / 2 * 170.0, 1e9)
    for run in timings()["first_starts"]:
        found["first start", run["version"], run["run"]] = (768.0 * 2**20, 1e6 * run["disk_mbs"])
    for run in timings()["backups"]:
        rate = 1e6 * run.get("disk_mbs", _FAST_DISK_MBS)
        found["backup", run["version"], run["run"]] = (run["rows"] / 2 * 1044.0, rate)
    for run in timings()["reorganisations"]:
        name = f"{run['rows'] // 1000}k x {run['payload']} B"
        found["reorganise", run["version"], name] = (run["rows"] * run["payload"], 1e6 * _FAST_DISK_MBS)
    return found


if __name__ == "__main__":
    rows = measured_times()
    print(as_table(rows))
    print(f"{share_inside(rows):.0%} of {len(rows)} inside")
