"""Puts measurements into a plan: disks get the speeds they showed, constants those of the user's own cluster.

plan, report = calibrate(plan, read_measurements(text)[0], target="host1-nvme0")
plan = timed_reorganise(plan, seconds=248)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ndbplan.base.units import format_value
from ndbplan.estimate.checkpoint import is_partial, speed_limits
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.node_data import NodeData, node_data_by_id
from ndbplan.estimate.reorganise import reorganise
from ndbplan.estimate.restart import Conditions, Kind, busy_threads, restart
from ndbplan.exchange.measurements import Measurement, MeasurementError
from ndbplan.plan import edits
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Calibration, Plan
from ndbplan.plan.processes import DataNode

_DISK_FIELDS = {
    "sequential_read_bytes_per_s": "bytes/s",
    "sequential_write_bytes_per_s": "bytes/s",
    "random_read_iops": "per s",
    "random_write_iops": "per s",
    "sync_write_latency_s": "s",
}
_LEAST_PHASE_S = 2.0
"""Whole seconds are reported: a shorter phase says nothing about a rate."""
_RANGE = 1.1
_MOST_LABEL = 64


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a measurement changed in the plan."""

    what: str
    before: str
    after: str

    def to_json(self) -> dict[str, Any]:
        """The shape the command line prints."""
        return {"what": self.what, "before": self.before, "after": self.after}


def calibrated(plan: Plan, *found: Calibration) -> Plan:
    """The plan with these calibrations; one of the same constant is replaced."""
    names = {calibration.constant for calibration in found}
    kept = tuple(c for c in plan.calibrations if c.constant not in names)
    return plan.replace(calibrations=(*kept, *found))


def calibrate(
    plan: Plan, measurement: Measurement, target: str | None = None
) -> tuple[Plan, tuple[Change, ...]]:
    """The plan with one measurement put in, and what it changed.

    `target`: id of the disk for fio and iostat; of the data node for restart_info when its node id is not in
    the plan. Raises MeasurementError when the target is missing or the measurement says nothing of use.
    """
    if measurement.kind in ("fio", "iostat"):
        return _calibrate_disk(plan, measurement, target)
    if measurement.kind == "restart_info":
        return _calibrate_restart(plan, measurement, target)
    raise MeasurementError(
        f"{measurement.name}: speeds of the moment say what was asked, not what is possible",
        fix="compare them with the estimate; calibrate with fio or restart_info",
    )


def _calibrate_disk(
    plan: Plan, measurement: Measurement, target: str | None
) -> tuple[Plan, tuple[Change, ...]]:
    disk = plan.by_id.get(target or "")
    if not isinstance(disk, Disk):
        what = f"'{target}' is no disk of the plan" if target else "it is not said which disk was measured"
        raise MeasurementError(what, where=measurement.name, fix="name a disk of the plan")
    fields = {name: value for name, value in measurement.values.items() if name in _DISK_FIELDS and value > 0}
    if not fields:
        raise MeasurementError(
            f"{measurement.name}: nothing in it says what the disk can do",
            fix="measure while the device is at least 30 % busy, or run fio with large sequential blocks",
        )
    host = plan.host_of_disk[disk.id].hostname
    changes = tuple(
        Change(
            f"{host} / {disk.name}: {name.replace('_', ' ')}",
            format_value(getattr(disk, name), _DISK_FIELDS[name]),
            format_value(value, _DISK_FIELDS[name]),
        )
        for name, value in fields.items()
    )
    stated = tuple(name for name in disk.assumed if name not in fields)
    return edits.update(plan, disk.id, **fields, assumed=stated), changes


def _restarted_node(plan: Plan, measurement: Measurement, target: str | None) -> DataNode:
    for node in plan.data_nodes:
        if node.id == target or (target is None and node.node_id == measurement.node_id):
            return node
    raise MeasurementError(
        f"{measurement.name} is no data node of the plan", fix="say which data node of the plan restarted"
    )


def _calibrate_restart(
    plan: Plan, measurement: Measurement, target: str | None
) -> tuple[Plan, tuple[Change, ...]]:
    node = _restarted_node(plan, measurement, target)
    data = node_data_by_id(plan).get(node.node_id)
    if data is None or data.rows <= 0:
        raise MeasurementError(
            f"the plan has no rows on node {node.node_id} to hold the restart against",
            fix="give the tables the rows they had when it restarted",
        )
    rates = _restart_rates(plan, node, data, measurement.values)
    if not rates:
        raise MeasurementError(
            f"{measurement.name}: every phase is shorter than {_LEAST_PHASE_S:g} s",
            fix="use a restart with more data",
        )
    source = f"restart_info of {measurement.name}"[:_MOST_LABEL]
    found, changes = [], []
    for name, (value, seconds) in rates.items():
        base = constant_for(plan, name)
        # Half a second of rounding weighs more on a short phase.
        spread = max(_RANGE, 1 + 0.5 / seconds)
        found.append(
            Calibration(constant=name, value=value, low=value / spread, high=value * spread, source=source)
        )
        changes.append(
            Change(base.meaning or name, format_value(base.value, base.unit), format_value(value, base.unit))
        )
    return calibrated(plan, *found), tuple(changes)


def _restart_rates(
    plan: Plan, node: DataNode, data: NodeData, values: dict[str, float]
) -> dict[str, tuple[float, float]]:
    """(value, seconds it was measured over) of each constant that the phases tell."""
    threads = busy_threads(plan, node)
    rates: dict[str, tuple[float, float]] = {}

    def rate(constant: str, amount: float, phase: str) -> None:
        seconds = values.get(phase, 0.0)
        if seconds >= _LEAST_PHASE_S and amount > 0:
            rates[constant] = (amount / threads / seconds, seconds)

    rate("restore_ldm_rows_per_s", data.rows, "restore_s")
    rate("restore_ldm_bytes_per_s", data.row_bytes, "restore_s")
    rate("index_build_ldm_rows_per_s", data.index_entries, "index_s")
    rate("index_build_ldm_bytes_per_s", data.indexed_row_bytes, "index_s")
    subscription = values.get("subscription_s", 0.0)
    if 1 <= subscription < 60:
        rates["subscription_s"] = (subscription, subscription)
    waited = values.get("lcp_wait_s", 0.0)
    if waited >= 1:
        limits = speed_limits(plan, node)
        # Full checkpoints take their time beside the wait; partial ones of an idle cluster do not.
        own = 0.0
        if limits.other_restart and not is_partial(plan, node):
            own = data.checkpoint_bytes / limits.other_restart
        rates["lcp_wait_idle_s"] = (max(0.5, waited - own), waited)
    return rates


def timed_reorganise(
    plan: Plan, seconds: float, groups: int = 1, source: str = "a reorganisation that was timed"
) -> Plan:
    """The plan calibrated with the time that reorganising all its tables took.

    Raises MeasurementError for a time at or below the fixed cost of the tables.
    """
    uncalibrated = plan.replace(
        calibrations=tuple(c for c in plan.calibrations if c.constant != "reorganise_scale")
    )
    found = reorganise(uncalibrated, groups)
    moving = sum(1 for table in found.tables if table.moves)
    fixed = moving * constant_for(plan, "reorganise_table_s").value
    variable = found.duration_s.value - fixed
    if seconds <= fixed or variable <= 0:
        raise MeasurementError(
            f"{seconds:g} s is no more than the fixed cost of {moving} tables ({fixed:.0f} s)",
            fix="use a reorganisation of tables with more rows",
        )
    scale = (seconds - fixed) / variable
    return calibrated(
        plan, Calibration(constant="reorganise_scale", value=scale, source=source[:_MOST_LABEL])
    )


_SCALED_BY_RESTART = {
    "node": (
        "restore_ldm_rows_per_s",
        "restore_ldm_bytes_per_s",
        "index_build_ldm_rows_per_s",
        "index_build_ldm_bytes_per_s",
    ),
    "initial": ("copy_ldm_rows_per_s",),
}
_SCALED_PHASES = {
    "node": ("restore from local checkpoint", "rebuild ordered indexes"),
    "initial": ("copy fragments",),
}
_WHOLE_2009 = {"node": "node_restart_s_per_gb_2009", "initial": "initial_node_restart_s_per_gb_2009"}


def timed_restart(
    plan: Plan,
    kind: Kind,
    seconds: float,
    node_id: int | None = None,
    conditions: Conditions | None = None,
    source: str = "a restart that was timed",
) -> Plan:
    """The plan calibrated with how long a whole node restart or initial node restart took.

    What is beyond the waits is given to the phases that grow with the data. Raises MeasurementError for other
    kinds and for a time that the waits alone take.
    """
    if kind not in _SCALED_PHASES:
        raise MeasurementError(
            f"a {kind} start cannot be calibrated by its time alone", fix="time a node restart"
        )
    estimate = restart(plan, kind, node_id, conditions or Conditions())
    names = {phase.name: phase.duration_s.value for phase in estimate.phases}
    label = source[:_MOST_LABEL]
    if not set(_SCALED_PHASES[kind]) <= set(names):
        base = constant_for(plan, _WHOLE_2009[kind])
        value = base.value * seconds / estimate.duration_s.value
        return calibrated(plan, Calibration(constant=base.name, value=value, source=label))
    grows = sum(names[name] for name in _SCALED_PHASES[kind])
    waits = estimate.duration_s.value - grows
    if seconds <= waits or grows <= 0:
        raise MeasurementError(
            f"{seconds:g} s is less than the waits of the restart alone ({waits:.0f} s)",
            fix="give the tables the rows they had when it restarted",
        )
    faster = grows / (seconds - waits)
    found = []
    for name in _SCALED_BY_RESTART[kind]:
        base = constant_for(plan, name)
        found.append(Calibration(constant=name, value=base.value * faster, source=label))
    return calibrated(plan, *found)
