"""Loads over time in their usual shapes, as the points of an open load.

ramp(100, 4000, 600)       from 100 to 4000 transactions per second in ten minutes, then steady
diurnal(4000, trough=0.2)  a day that peaks in the afternoon, repeated
burst(1000, 5000, 60, 30)  1000 per second, and five times that for half a minute
"""

from __future__ import annotations

import math

from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import ClosedLoad, JobLoad, OpenLoad, RatePoint

DAY_S = 86400.0
_LATENCY_S = 0.001
"""Of a transaction, where a rate becomes clients or clients a rate."""
_POINTS_OF_A_DAY = 48
PEAK_AT_S = 15 * 3600.0
"""Moment of the day with the highest rate."""


def ramp(from_per_s: float, to_per_s: float, duration_s: float, start_s: float = 0.0) -> OpenLoad:
    """A rate that slides from one value to another in `duration_s`, and stays there."""
    points = (
        RatePoint(at_s=start_s, rate_per_s=from_per_s),
        RatePoint(at_s=start_s + duration_s, rate_per_s=to_per_s),
    )
    return OpenLoad(points=points, shape="linear")


def steps(rates_per_s: tuple[float, ...], each_s: float) -> OpenLoad:
    """One rate after the other, each for `each_s` seconds; the last one stays."""
    points = tuple(RatePoint(at_s=i * each_s, rate_per_s=rate) for i, rate in enumerate(rates_per_s))
    return OpenLoad(points=points)


def diurnal(peak_per_s: float, trough: float, period_s: float = DAY_S) -> OpenLoad:
    """A wave with one peak in a period, repeated; `trough` is the lowest rate against the peak (0 to 1)."""
    middle, swing = (1.0 + trough) / 2.0, (1.0 - trough) / 2.0
    points = []
    for i in range(_POINTS_OF_A_DAY + 1):
        share = i / _POINTS_OF_A_DAY
        wave = middle + swing * math.cos(2.0 * math.pi * (share - PEAK_AT_S / DAY_S))
        points.append(RatePoint(at_s=share * period_s, rate_per_s=max(0.0, peak_per_s * wave)))
    return OpenLoad(points=tuple(points), shape="linear", repeat_s=period_s)


def burst(base_per_s: float, top_per_s: float, at_s: float, duration_s: float) -> OpenLoad:
    """A steady rate with one burst."""
    points = [
        RatePoint(at_s=at_s, rate_per_s=top_per_s),
        RatePoint(at_s=at_s + duration_s, rate_per_s=base_per_s),
    ]
    if at_s > 0:
        points.insert(0, RatePoint(at_s=0.0, rate_per_s=base_per_s))
    return OpenLoad(points=tuple(points))


def put_load_kind(plan: Plan, workload_id: str, kind: str) -> Plan:
    """Let the clients of a workload arrive at a rate (`open`), wait for answers (`closed`) or load rows
    (`job`); as many clients as there were threads, and the other way round."""
    load = plan.by_id[workload_id].load
    if load.kind == kind:
        return plan
    if kind == "job":
        threads = 1 if isinstance(load, OpenLoad) else min(10_000, load.clients)
        return edits.update(plan, workload_id, load=JobLoad(threads=threads, assumed=("threads",)))
    if isinstance(load, JobLoad):
        load = ClosedLoad(clients=load.threads, latency_s=_LATENCY_S, assumed=("latency_s",))
        if kind == "closed":
            return edits.update(plan, workload_id, load=load)
    if isinstance(load, OpenLoad):
        clients = max(1, min(1_000_000, round(load.points[0].rate_per_s * _LATENCY_S)))
        closed = ClosedLoad(clients=clients, latency_s=_LATENCY_S, assumed=("latency_s",))
        return edits.update(plan, workload_id, load=closed)
    cycle_s = max(1e-6, load.latency_s + load.think_time_s)
    point = RatePoint(at_s=0, rate_per_s=round(load.clients / cycle_s))
    return edits.update(plan, workload_id, load=OpenLoad(points=(point,)))


def put_points(plan: Plan, workload_id: str, points: tuple[RatePoint, ...]) -> Plan:
    """Exchange the points of an open load; they are kept in the order of time."""
    load = plan.by_id[workload_id].load
    ordered = tuple(sorted(points, key=lambda point: point.at_s))
    return edits.update(plan, workload_id, load=validated.changed(load, points=ordered))
