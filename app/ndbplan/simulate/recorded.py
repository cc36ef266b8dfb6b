"""Series of log parts, data nodes and disks, and errors, read from what a run recorded."""

from __future__ import annotations

import numpy as np

from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.row_types import column
from ndbplan.configuration.settings import node_settings, usable_data_memory
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.storage.machines import is_nowhere
from ndbplan.estimate.stored import reach
from ndbplan.simulate.series import DiskSeries, ErrorCount, Floats, NodeSeries, PartSeries
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import ERROR_CODES, PURPOSES, OfNode, Part

LEAST_REFUSED = 0.5
"""Fewer transactions than this were not refused: shares of the fluid model that round to none."""
SOURCE = "simulation, held against 7.4.10 runs with limited disks"


def errors_of(sim: Simulation) -> tuple[ErrorCount, ...]:
    """Errors that clients got, the first one first."""
    errors = []
    late = constant_for(sim.scenario.plan, "simulated_moment").high
    for i, code in enumerate(ERROR_CODES):
        count = float(sim.state.errors[i])
        if count < LEAST_REFUSED:
            continue
        first = float(sim.state.first[i, 0])
        node = int(sim.state.first[i, 1])
        # The moment of a failure is given; that of a shortage is worked out.
        given = code in (4009, 4010)
        spread = 0.0 if given else max(5.0, first * (late - 1.0))
        moment = Quantity(
            first, max(0.0, first - spread), first + spread, "s",
            (Term("first refusal", first, "s", SOURCE),),
        )  # fmt: skip
        moment = reach(sim.scenario.plan, "load").widened(moment)
        errors.append(ErrorCount(code, count, moment, sim.scenario.node_classes[max(0, node)].node_id))
    return tuple(sorted(errors, key=lambda e: e.first_at_s.value))


def rate_factor(sim: Simulation) -> float:
    """How far a simulated rate may be off, up or down."""
    return constant_for(sim.scenario.plan, "simulated_rate").high


def overload_factor(sim: Simulation) -> float:
    """How far what an overloaded cluster takes may be off, up or down: one run of many that may come."""
    return constant_for(sim.scenario.plan, "simulated_overload").high


def buffer_bytes(sim: Simulation) -> Floats:
    """Bytes of a redo buffer of each node, at its largest: events of the run may have changed it."""
    reserve = constant_for(sim.scenario.plan, "redo_buffer_reserve_bytes").value
    first = np.array([node_class.redo_buffer_bytes for node_class in sim.scenario.node_classes])
    last: Floats = column(sim.laws.nodes, lambda node: node.buffer_limit_bytes) + reserve
    return np.asarray(np.maximum(np.maximum(1.0, first), last), dtype=np.float64)


def parts_of(sim: Simulation) -> tuple[PartSeries, ...]:
    """Each log part of each simulated data node."""
    series = []
    history, made = sim.history, sim.state.parts[Part.MADE]
    used = (sim.living_load() > 0) | (made > 0)
    buffers = buffer_bytes(sim)
    for n, node_class in enumerate(sim.scenario.node_classes):
        log_bytes = int(sim.laws.nodes[n].log_bytes)
        for p in range(node_class.log_parts):
            if used[n].any() and not used[n, p]:
                continue
            low = history.low[:, n, p].copy()
            low[~np.isfinite(low)] = 0.0
            series.append(
                PartSeries(
                    node_id=node_class.node_id,
                    node_ids=tuple(node.node_id for node in node_class.nodes),
                    log_part=p,
                    buffer_bytes=round(float(buffers[n])),
                    log_bytes=log_bytes,
                    low=low,
                    # What the disk writes during a step makes room before it is counted as written.
                    high=np.minimum(history.high[:, n, p], buffers[n]),
                    last=history.last[:, n, p],
                    log_used=history.log[:, n, p],
                    log_most=max(
                        float(sim.state.parts[Part.LOG_MOST, n, p]),
                        float(history.log[:, n, p].max(initial=0.0)),
                    ),
                    made_bytes=float(made[n, p]),
                )
            )
    return tuple(series)


def nodes_of(sim: Simulation, lengths: Floats) -> tuple[NodeSeries, ...]:
    """Each simulated data node."""
    plan = sim.scenario.plan
    series = []
    for n, node_class in enumerate(sim.scenario.node_classes):
        recorded = sim.history.node[:, n]
        written = np.diff(recorded[:, OfNode.REDO_WRITTEN], prepend=0.0)
        usable = usable_data_memory(node_settings(plan, node_class.nodes[0]))
        series.append(
            NodeSeries(
                node_id=node_class.node_id,
                node_ids=tuple(node.node_id for node in node_class.nodes),
                memory=recorded[:, OfNode.MEMORY],
                memory_total_bytes=round(float(sim.laws.nodes[n].memory_limit_bytes) / max(0.01, usable)),
                lcp_target=recorded[:, OfNode.LCP_TARGET],
                lcp_bytes_per_s=recorded[:, OfNode.LCP_WRITTEN] / lengths,
                redo_bytes_per_s=np.maximum(0.0, written) / lengths,
                undo_used=recorded[:, OfNode.UNDO_USED],
                space_used=recorded[:, OfNode.SPACE],
                backup_left=recorded[:, OfNode.BACKUP_LEFT],
                dead=recorded[:, OfNode.DEAD],
            )
        )
    return tuple(series)


def disks_of(sim: Simulation, lengths: Floats) -> tuple[DiskSeries, ...]:
    """Each simulated disk."""
    off, peak_off = rate_factor(sim), constant_for(sim.scenario.plan, "simulated_peak_use").high
    series = []
    scenario = sim.scenario
    near = reach(scenario.plan, "load")
    for d, disk_class in enumerate(scenario.disk_classes):
        # What a diskless node writes to nowhere no disk takes.
        writes = 0.0 if is_nowhere(disk_class.disks[0]) else 1.0
        busy_of = writes * sim.history.busy[:, d]
        rates = {purpose: writes * sim.history.disk[:, d, i] / lengths for i, purpose in enumerate(PURPOSES)}
        total = sum(rates.values(), np.zeros(len(lengths)))
        written = float((total * lengths).sum())
        mean = written / float(lengths.sum())
        capacity = disk_class.bytes_per_s
        whole = disk_class.disks[0].sequential_write_bytes_per_s
        other = disk_class.disks[0].other_load
        terms = tuple(
            Term(f"{purpose} written", float((values * lengths).sum() / lengths.sum()), "bytes/s", SOURCE)
            for purpose, values in rates.items()
            if values.any()
        )
        mean_busy = float(busy_of[:, 0].sum()) / scenario.steps
        peak = min(1.0, other + (1.0 - other) * float(busy_of[:, 1].max(initial=0.0)))
        busy = min(1.0, other + (1.0 - other) * mean_busy)
        low, high = min(mean, mean / off), max(mean, min(capacity, mean * off))
        series.append(
            DiskSeries(
                host=disk_class.hostnames[0],
                disk=disk_class.disks[0].name,
                disk_id=disk_class.disks[0].id,
                disk_ids=tuple(disk.id for disk in disk_class.disks),
                alike=tuple(
                    (host, disk.name)
                    for host, disk in zip(disk_class.hostnames, disk_class.disks, strict=True)
                ),
                bytes_per_s=rates,
                utilisation=np.minimum(
                    1.0, other + (1.0 - other) * busy_of[:, 0] * scenario.step_s / lengths
                ),
                write_bps_mean=near.widened(Quantity(mean, low, high, "bytes/s", terms), capacity),
                utilisation_mean=near.widened(Quantity(
                    busy, min(busy, busy / off), max(busy, min(1.0, busy * off)), "fraction",
                    (Term("bandwidth of the disk", whole, "bytes/s", "plan"), *terms),
                ), 1.0),
                utilisation_max=Quantity(peak, peak / peak_off, min(1.0, peak * peak_off), "fraction"),
            )
        )  # fmt: skip
    return tuple(series)
