"""Durations of runs that a plan was not calibrated with: one is left out, the others are put in.

PYTHONPATH=app:tests .venv/bin/python -m reality.leave_one_out      # the table
"""

from __future__ import annotations

from ndbplan.estimate.timed import restart
from ndbplan.estimate.times.restart import KINDS
from ndbplan.importing.calibrate import timed_restart
from ndbplan.plan.plan import Calibration, Plan
from reality.judged import as_table, judged, share_inside
from reality.measured import Measured
from reality.measured_times import name_of, plan_of_restart, timings


def _calibrations(left_out: str, version: str) -> tuple[Calibration, ...]:
    """What the other node restarts of the version say."""
    known: tuple[Calibration, ...] = ()
    for run in timings()["restarts"]:
        if run["version"] != version or run["run"] == left_out:
            continue
        plan: Plan = plan_of_restart(run).replace(calibrations=known)
        for kind in ("node", "initial"):
            if kind in run:
                plan = timed_restart(plan, kind, run[kind], source=f"{run['run']} {kind}")
        known = plan.calibrations
    return known


def left_out() -> list[Measured]:
    """Every start, with what the other runs of its version say."""
    found = []
    for run in timings()["restarts"]:
        known = _calibrations(run["run"], run["version"])
        if not known:
            continue
        plan = plan_of_restart(run).replace(calibrations=known)
        for kind in KINDS:
            if kind in run:
                tables = () if kind == "start" else plan.tables
                answer = restart(plan.replace(tables=tables), kind).duration_s
                found.append(
                    judged(name_of(kind), run["version"], run["run"], run[kind], answer, fitted=False)
                )
    return found


if __name__ == "__main__":
    rows = left_out()
    print(as_table(rows))
    print(f"{share_inside(rows):.0%} of {len(rows)} inside")
