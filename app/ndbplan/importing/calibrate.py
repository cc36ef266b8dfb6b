"""Puts measurements into a plan: disks get the speeds they showed, constants those of the user's own cluster.

plan, report = calibrate(plan, read_measurements(text)[0], target="host1-nvme0")
plan = timed_reorganise(plan, seconds=248)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_value, how_many
from ndbplan.edits import parts as edits
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.stored import machines_of, node_data_by_id
from ndbplan.estimate.timed import backup, restart
from ndbplan.estimate.times.restart import Conditions, Kind
from ndbplan.estimate.times.restart_copy import copies_in_two_passes
from ndbplan.estimate.together import OF_A_RUN
from ndbplan.importing.devices import DISK_FIELDS
from ndbplan.importing.measurements import Measurement, MeasurementError
from ndbplan.importing.update import Knob, Observed, updated
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Calibration, Plan
from ndbplan.plan.processes import DataNode

_PHASES = {
    "restore_s": "restore from local checkpoint",
    "redo_s": "execute redo log",
    "index_s": "rebuild ordered indexes",
    "copy_s": "copy fragments",
    "lcp_wait_s": "wait for local checkpoint",
    "subscription_s": "wait for subscriptions",
}
"""Phases of restart_info and those of the estimate."""
_COPIED_BY_RESTORE = {
    "copy fragments": ("restore_s",),
    "rebuild ordered indexes": ("index_s",),
    "wait for local checkpoint": ("copy_s", "lcp_wait_s"),
    "wait for subscriptions": ("subscription_s",),
}
"""The same of an initial restart that copies in two passes: its copy is counted as restoring fragments, the
first of the two checkpoints that it waits for as synchronising (running 8.4.8 cluster, three restarts)."""
_MOST_MISFIT = 0.35
"""A restart is an initial one when the estimate of one explains its phases so well: squares of logarithms."""
_COUNTED_S = 0.3
"""Standard deviation of a time that is counted in whole seconds."""
_CUT_S = 0.5
"""What restart_info leaves away on average: it counts whole seconds that are over (running 8.4.8 cluster: 5,
13 and 6 s for phases that the node's log shows to take 6, 14 and 7 s, none that took less)."""
_TIMED = 0.01
"""Relative standard deviation of a time that somebody took."""
_LEAST_PHASE_S = 2.0
"""Whole seconds are reported: a shorter phase says nothing."""
_LONGEST_HANDOVER_S = 60.0
"""Subscriptions that take longer wait for an SQL node that is down."""
_MOST_LABEL = 64


@dataclass(frozen=True, slots=True)
class Change(Shape):
    """One thing that a measurement changed in the plan."""

    JSON = "what before after"

    what: str
    before: str
    after: str


def calibrated(plan: Plan, *new: Calibration) -> Plan:
    """The plan with these calibrations; one of the same constant is replaced."""
    names = {calibration.constant for calibration in new}
    kept = tuple(c for c in plan.calibrations if c.constant not in names)
    return plan.replace(calibrations=(*kept, *new))


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
        what = f"'{target}' is not a disk of the plan" if target else "it is not said which disk was measured"
        raise MeasurementError(what, where=measurement.name, fix="name a disk of the plan")
    fields = {name: value for name, value in measurement.values.items() if name in DISK_FIELDS and value > 0}
    if not fields:
        raise MeasurementError(
            f"{measurement.name}: nothing in it says what the disk can do",
            fix="measure while the device is at least 30 % busy, or run fio with large sequential blocks",
        )
    host = plan.host_of_disk[disk.id].hostname
    changes = tuple(
        Change(
            f"{host} / {disk.name}: {name.replace('_', ' ')}",
            format_value(getattr(disk, name), DISK_FIELDS[name]),
            format_value(value, DISK_FIELDS[name]),
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
        f"{measurement.name} is not a data node of the plan", fix="say which data node of the plan restarted"
    )


def _calibrate_restart(
    plan: Plan, measurement: Measurement, target: str | None
) -> tuple[Plan, tuple[Change, ...]]:
    node = _restarted_node(plan, measurement, target)
    data = node_data_by_id(plan).get(node.node_id)
    if data is None or data.rows <= 0:
        raise MeasurementError(
            f"the plan has no rows on node {node.node_id} to compare the restart with",
            fix="give the tables the rows they had when it restarted",
        )
    kind, seconds_of = _kind_of_restart(plan, node.node_id, measurement)
    observed, names, left_out = [], [], []
    estimated = {phase.name: phase.duration_s for phase in restart(plan, kind, node.node_id).phases}
    _refuse_what_took_no_time(measurement, seconds_of, estimated)
    for phase, seconds in seconds_of.items():
        if seconds < _LEAST_PHASE_S:
            continue
        is_away = phase == _PHASES["subscription_s"] and seconds >= _LONGEST_HANDOVER_S
        if phase in estimated and estimated[phase].high > _CUT_S and not is_away:
            observed.append(Observed(phase, seconds, _COUNTED_S))
            names.append(phase)
        else:
            by_plan = format_value(estimated[phase].value if phase in estimated else 0.0, "s")
            left_out.append(Change(f"not used, no constant explains it: {phase}", by_plan, f"{seconds:g} s"))
    if not observed:
        raise MeasurementError(
            f"{measurement.name}: every phase is shorter than {_LEAST_PHASE_S:g} s",
            fix="use a restart with more data",
        )

    def predict(moved: Plan) -> list[Quantity]:
        phases = {p.name: p.duration_s for p in restart(moved, kind, node.node_id).phases}
        return [phases[name] for name in names]

    what = "restart_info of" if kind == "node" else "restart_info, --initial, of"
    source = f"{what} {measurement.name}"[:_MOST_LABEL]
    after = updated(plan, RESTART_KNOBS, predict, observed, source)
    return after, (*changes_of(plan, after), *left_out)


def _refuse_what_took_no_time(
    measurement: Measurement, seconds_of: Mapping[str, float], estimated: Mapping[str, Quantity]
) -> None:
    """Raises MeasurementError where rows were restored, or indexes built, in no time that takes some."""
    for key in ("restore_s", "index_s"):
        phase = _PHASES[key]
        if key not in measurement.values or phase not in estimated or phase not in seconds_of:
            continue
        if seconds_of[phase] < _LEAST_PHASE_S < estimated[phase].low / _LEAST_PHASE_S:
            raise MeasurementError(
                f"{phase}: less than {_LEAST_PHASE_S:g} s contradicts the plan, by which it takes "
                f"{estimated[phase]}",
                fix="see that the rows and indexes of the plan are those that the node had when it restarted",
            )


def _phases_of(plan: Plan, kind: Kind, node_id: int) -> dict[str, float]:
    return {phase.name: phase.duration_s.value for phase in restart(plan, kind, node_id).phases}


def _kind_of_restart(plan: Plan, node_id: int, measurement: Measurement) -> tuple[Kind, dict[str, float]]:
    """Whether restart_info, which does not say so, tells of a restart with --initial; seconds by phase.

    One of a version that copies in two passes waits for two checkpoints, an earlier one restores nothing. A
    restart under writes, which copies or waits as long, is a node restart unless its phases look like those
    of an initial one.
    """
    values = measurement.values

    def counted(*keys: str) -> float:
        return sum(values[key] + _CUT_S for key in keys if values.get(key, 0.0) > 0)

    as_node = {phase: counted(key) for key, phase in _PHASES.items() if key in values}
    if values.get("copy_s", 0.0) < _LEAST_PHASE_S:
        return "node", as_node
    as_initial = as_node
    if copies_in_two_passes(machines_of(plan).by_id[node_id].settings):
        told = {
            phase: keys for phase, keys in _COPIED_BY_RESTORE.items() if not values.keys().isdisjoint(keys)
        }
        as_initial = {phase: counted(*keys) for phase, keys in told.items()}
    off = _misfit(as_initial, _phases_of(plan, "initial", node_id))
    if off < min(_MOST_MISFIT, _misfit(as_node, _phases_of(plan, "node", node_id))):
        return "initial", as_initial
    return "node", as_node


def _misfit(observed: Mapping[str, float], estimated: Mapping[str, float]) -> float:
    """Squares of logarithms of seconds against seconds, as whole ones are counted."""
    return sum(
        math.log(max(1.0, seconds) / max(1.0, estimated.get(phase, 0.0))) ** 2
        for phase, seconds in observed.items()
    )


def changes_of(plan: Plan, after: Plan) -> tuple[Change, ...]:
    """The constants that the calibrations of another plan change, in words."""
    changes, known = [], set(plan.calibrations)
    for calibration in after.calibrations:
        if calibration not in known:
            base = constant_for(plan, calibration.constant)
            before, now = (format_value(value, base.unit) for value in (base.value, calibration.value))
            changes.append(Change(base.meaning or calibration.constant, before, now))
    return tuple(changes)


RESTART_KNOBS = (
    Knob(rates=("restore_ldm_rows_per_s", "restore_ldm_bytes_per_s"), by_processor=True),
    Knob(rates=("index_build_ldm_rows_per_s", "index_build_random_ldm_rows_per_s"), by_processor=True),
    Knob(rates=("copy_ldm_rows_per_s",), by_processor=True),
    Knob(rates=("redo_replay_bytes_per_s",), by_processor=True),
    Knob(durations=("restore_operations_partial",)),
    Knob(durations=("restore_core_share",)),
    Knob(durations=("lcp_wait_idle_s",)),
    Knob(durations=("checkpoint_under_way_idle",)),
    Knob(durations=("checkpoint_under_way",)),
    Knob(durations=("checkpoints_waited_idle",), least=1.0),
    Knob(durations=("lcp_begin_s",)),
    Knob(durations=("subscription_s",)),
    Knob(durations=("stop_handover_s",)),
    Knob(durations=("restart_failure_s",)),
    Knob(durations=("restart_metadata_s",)),
    Knob(durations=("restart_metadata_table_s",)),
    Knob(rates=("memory_touch_bytes_per_s",)),
    Knob(durations=("first_checkpoint_s",)),
    Knob(durations=("first_start_overlap_s",)),
    Knob(durations=("sparse_init_page_s",)),
    Knob(rates=("copy_scan_ldm_rows_per_s",), by_processor=True),
    Knob(rates=("copy_ldm_bytes_per_s",), by_processor=True),
    Knob(durations=("core_speed_exponent",)),
    Knob(durations=("restore_delays_factor",)),
)
"""What a restart tells of: more than one constant at once."""
_REORGANISE_KNOBS = (
    Knob(durations=("reorganise_scale",), by_processor=True),
    Knob(durations=("reorganise_table_s",)),
)
"""What a reorganisation tells of."""


def timed_reorganise(
    plan: Plan,
    seconds: float,
    groups: int = 1,
    source: str = "a reorganisation that was timed",
    table_id: str | None = None,
) -> Plan:
    """The plan calibrated with the time that reorganising all its tables took, or the one table of an id.

    Raises MeasurementError for a time at or below the fixed cost of the tables, or when no row moves.
    """

    def reorganised(moved: Plan) -> tuple[int, Quantity]:
        """Tables that statements go through, hidden ones too, and how long that takes."""
        estimate = reorganise(moved, groups)
        if table_id is None:
            return sum(table.rounds for table in estimate.tables), estimate.duration_s
        every = zip(plan.tables, estimate.tables, strict=True)
        one = next(found for table, found in every if table.id == table_id)
        return one.rounds, one.duration_s

    rounds, expected = reorganised(plan)
    each = constant_for(plan, "reorganise_table_s")
    if expected.value <= rounds * each.value:
        what = "the plan's reorganisation" if table_id is None else f"reorganising {table_id}"
        raise MeasurementError(
            f"{seconds:g} s tell nothing: {what} moves no rows",
            fix="use a plan whose tables move rows",
        )
    if seconds <= rounds * each.low:
        raise MeasurementError(
            f"{seconds:g} s is no more than the fixed cost of {how_many(rounds, 'table')}, hidden ones too: "
            f"{rounds * each.low:.0f} s at least without any rows",
            fix="use a reorganisation of tables with more rows",
        )
    observed = [Observed("reorganisation", seconds, _TIMED * seconds, OF_A_RUN["reorganise"])]
    label = source[:_MOST_LABEL]
    return updated(
        plan,
        _REORGANISE_KNOBS,
        lambda moved: [reorganised(moved)[1]],
        observed,
        label,
    )


_BACKUP_KNOBS = (
    Knob(rates=("backup_scan_ldm_bytes_per_s",), by_processor=True),
    Knob(rates=("backup_compress_bytes_per_s",), by_processor=True),
    Knob(rates=("backup_speed_held",)),
    Knob(rates=("backup_single_thread_held",)),
    Knob(durations=("device_time",)),
    Knob(durations=("backup_fixed_s",)),
)
"""What a backup tells of."""


def timed_backup(plan: Plan, seconds: float, source: str) -> Plan:
    """The plan calibrated with how long a backup of all its rows took, without a load.

    Raises MeasurementError for a time that the disks alone take.
    """
    return updated(
        plan,
        _BACKUP_KNOBS,
        lambda moved: [backup(moved).duration_s],
        [Observed("backup", seconds, _TIMED * seconds)],
        source[:_MOST_LABEL],
    )


def timed_restart(
    plan: Plan,
    kind: Kind,
    seconds: float,
    node_id: int | None = None,
    conditions: Conditions | None = None,
    source: str = "a restart that was timed",
) -> Plan:
    """The plan calibrated with how long a whole node restart or initial node restart took.

    All constants that it tells of move, each by how little is known of it. Raises MeasurementError for other
    kinds and for a time that waits, disks and links alone take.
    """
    if kind not in ("node", "initial"):
        raise MeasurementError(
            f"a {kind} start cannot be calibrated by its time alone", fix="time a node restart"
        )
    chosen = conditions or Conditions()
    return updated(
        plan,
        RESTART_KNOBS,
        lambda moved: [restart(moved, kind, node_id, chosen).duration_s],
        [Observed("restart", seconds, _TIMED * seconds)],
        source[:_MOST_LABEL],
    )
