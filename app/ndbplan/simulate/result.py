"""What a simulation found: series over time with their extremes, totals, errors and what was short."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.row_types import column
from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.stored import reach
from ndbplan.simulate.bottleneck import Bottleneck, find_bottlenecks
from ndbplan.simulate.latency import latency_s, mean_latency
from ndbplan.simulate.model.load_over_time import DISK_READS, Service
from ndbplan.simulate.model.meanwhile import worst_reads
from ndbplan.simulate.model.scenario import Given
from ndbplan.simulate.model.start import LcpAtStart
from ndbplan.simulate.series import DiskSeries, ErrorCount, NodeSeries, PartSeries, Restart, in_csv
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.stop import REFUSED_WITH, ClusterStop, DownTime, ReorganiseTime, SlowTime
from ndbplan.simulate.world.indices import ERROR_CODES, PURPOSES, Error, OfCluster, OfNode, Part

Floats = NDArray[np.float64]

RATE_FACTOR = 1.12
"""Accepted rates of this model against a running 7.4.10 cluster that was overloaded."""
LOADER_SHARE = 0.95
"""A job that runs at this share of its loader's rate is limited by its loader."""
MOMENT_FACTOR = 1.3
FILL_FACTOR = 1.15
LEAST_REFUSED = 0.5
"""Fewer transactions than this were not refused: shares of the fluid model that round to none."""
_SOURCE = "simulation, held against 7.4.10 runs with limited disks"


@dataclass(frozen=True)
class SimulationResult:
    """What a run found. Series have one entry for each bucket of `bucket_s` seconds, from `times_s` on."""

    workload: str
    seed: int
    duration_s: float
    step_s: float
    bucket_s: float
    times_s: Floats
    offered: Floats
    attempted: Floats
    accepted: Floats
    refused: Floats
    """Transactions per second."""
    waiting: Floats
    """Transactions that wait for redo at the end of each bucket."""
    latency_s: Floats
    """Mean time of a transaction in each bucket."""
    refused_by_code: dict[int, Floats]
    lcp_share: Floats
    """Share of each bucket in which a checkpoint writes."""
    parts: tuple[PartSeries, ...]
    disks: tuple[DiskSeries, ...]
    nodes: tuple[NodeSeries, ...]
    restarts: tuple[Restart, ...]
    errors: tuple[ErrorCount, ...]
    offered_per_s: float
    accepted_per_s: Quantity
    latency_mean_s: Quantity
    redo_buffer_fill_max: Quantity
    redo_log_fill_max: Quantity
    wasted_redo_share: float
    """Log of work that was undone against all log."""
    loaded_after_s: Quantity | None
    """When the rows of a job were all loaded; None: it is no job, or they were not."""
    happened: tuple[tuple[float, str], ...]
    """Events that changed the run: seconds after its start, and what."""
    bottlenecks: tuple[Bottleneck, ...]
    """What is short, most pressing first; when the cluster stopped that, and then what was short before."""
    lcp_at_start: LcpAtStart
    """Where in the cycle of local checkpoints the run began."""
    given: Given
    cluster_stop: ClusterStop | None = None
    """When and why no data node runs any more; nothing after it is accepted."""
    down: tuple[DownTime, ...] = ()
    """Processes, hosts and locations that do not run for a while."""
    slowed: tuple[SlowTime, ...] = ()
    """Disks that do not have their speed for a while; of several at once their factors multiply."""
    reorganising: tuple[ReorganiseTime, ...] = ()
    """When rows are moved to added data nodes."""
    standing: tuple[tuple[float, float], ...] = ()
    """Seconds from and to which every transaction stood still: a loss was not yet noticed."""

    @property
    def bottleneck(self) -> Bottleneck:
        """What limits the load, or comes nearest to it."""
        return self.bottlenecks[0]

    @property
    def first_error(self) -> ErrorCount | None:
        """The error that came first; None when nothing was refused."""
        return min(self.errors, key=lambda e: e.first_at_s.value, default=None)

    @classmethod
    def of(
        cls,
        sim: Simulation,
    ) -> SimulationResult:
        """The result of a run that is over, or is looked at as if it were."""
        scenario, history, state = sim.scenario, sim.history, sim.state
        step_s = scenario.step_s
        out = history.totals
        buckets = len(out)
        bucket_s = int(sim.laws.run.steps_per_bucket) * step_s
        lengths = sim.bucket_lengths_s()
        cluster_stop = sim.outage.stop_with_restart() if sim.failing is not None else None
        errors = _errors(sim)
        counts = np.diff(history.errors, axis=0, prepend=np.zeros((1, history.errors.shape[1])))
        parts = _parts(sim)
        disks = _disks(sim, lengths)
        latency = latency_s(sim)
        duration = scenario.duration_s
        offered_per_s = float(out[:, OfCluster.OFFERED].sum()) / duration
        near = reach(scenario.plan, "load")
        loaded = _loaded(sim)
        made = sum(float(p.made_bytes) * len(p.node_ids) for p in parts)
        wasted = float(
            (
                state.parts[Part.WASTED].sum(axis=1) * column(sim.laws.places, lambda place: place.stands_for)
            ).sum()
        )
        return cls(
            workload=scenario.workload.name,
            seed=scenario.seed,
            duration_s=duration,
            step_s=step_s,
            bucket_s=bucket_s,
            times_s=np.arange(buckets, dtype=np.float64) * bucket_s,
            offered=out[:, OfCluster.OFFERED] / lengths,
            attempted=out[:, OfCluster.ATTEMPTED] / lengths,
            accepted=out[:, OfCluster.ACCEPTED] / lengths,
            refused=out[:, OfCluster.REFUSED] / lengths,
            waiting=out[:, OfCluster.WAITING].copy(),
            latency_s=latency,
            refused_by_code={
                code: counts[:, i] / lengths
                for i, code in enumerate(ERROR_CODES)
                if state.errors[i] >= LEAST_REFUSED
            },
            lcp_share=np.minimum(1.0, out[:, OfCluster.LCP_S] / lengths),
            parts=parts,
            disks=disks,
            nodes=_nodes(sim, lengths),
            restarts=tuple(sim.restarts),
            errors=errors,
            offered_per_s=offered_per_s,
            accepted_per_s=near.widened(_accepted(sim), offered_per_s),
            latency_mean_s=near.widened(mean_latency(sim, latency)),
            redo_buffer_fill_max=near.widened(
                _fill(max((p.fill_max for p in parts), default=0.0), "redo buffer"), 1.0
            ),
            redo_log_fill_max=near.widened(
                _fill(max((p.log_most / p.log_bytes for p in parts), default=0.0), "redo log"), 1.0
            ),
            wasted_redo_share=wasted / made if made > 0 else 0.0,
            loaded_after_s=None if loaded is None else near.widened(loaded),
            happened=tuple(sim.happened),
            bottlenecks=_bottlenecks(sim, errors, parts, disks, cluster_stop),
            lcp_at_start=sim.start.lcp_at_start(sim.settings[0][1]),
            given=Given(scenario, sim.laws, (*sim.story.events, *sim.asked)),
            cluster_stop=cluster_stop,
            down=sim.outage.down_times() if sim.failing is not None else (),
            slowed=tuple(sim.slowed),
            reorganising=tuple(sim.reorganising),
            standing=tuple((begin, min(end, duration)) for begin, end in sim.standing),
        )

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape that `ndbplan simulate --json` prints; written out: equal disks are said apart."""
        return {
            "seed": self.seed,
            "duration_s": self.duration_s,
            "lcp_at_start": self.lcp_at_start.to_json(why),
            "offered_per_s": self.offered_per_s,
            "accepted_per_s": self.accepted_per_s.to_json(why=why),
            "latency_mean_s": self.latency_mean_s.to_json(why=why),
            "loaded_after_s": None if self.loaded_after_s is None else self.loaded_after_s.to_json(why=why),
            "latency_max_s": float(self.latency_s.max(initial=0.0)),
            "errors": [error.to_json(why) for error in self.errors],
            "disks": [
                {**disk.to_json(why), "host": host, "disk": name}
                for disk in self.disks
                for host, name in disk.alike
            ],
            "redo_buffer_fill_max": self.redo_buffer_fill_max.to_json(why=why),
            "redo_log_fill_max": self.redo_log_fill_max.to_json(why=why),
            "cluster_stop": None if self.cluster_stop is None else self.cluster_stop.to_json(why),
            "events": [{"at_s": at, "event": text} for at, text in self.happened],
            "bottleneck": self.bottleneck.to_json(),
            "next_bottleneck": self.bottlenecks[1].to_json() if len(self.bottlenecks) > 1 else None,
        }

    def to_csv(self) -> str:
        """One line for each bucket: rates, refusals by code, every log part, every disk."""
        head, series = ["t_s"], [self.times_s]

        def add(name: str, values: Floats) -> None:
            head.append(name)
            series.append(values)

        for one in in_csv("cluster"):
            add(one.name, getattr(self, one.field))
        for one in in_csv("error"):
            for code, values in getattr(self, one.field).items():
                add(one.name.format(code), values)
        for one in in_csv("checkpoints"):
            add(one.name, getattr(self, one.field))
        for part in self.parts:
            for one in in_csv("part"):
                add(f"node{part.node_id}_part{part.log_part}_{one.name}", getattr(part, one.field))
        for disk in self.disks:
            stem = f"{disk.host}_{disk.disk}".replace(" ", "_")
            for one in in_csv("purpose"):
                for purpose, values in getattr(disk, one.field).items():
                    if values.any():
                        add(f"{stem}_{purpose}_{one.name}", values)
            for one in in_csv("disk"):
                add(f"{stem}_{one.name}", getattr(disk, one.field))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(head)
        for row in zip(*(values.tolist() for values in series), strict=True):
            writer.writerow([f"{value:.6g}" for value in row])
        return text.getvalue()


def _bottlenecks(
    sim: Simulation,
    errors: tuple[ErrorCount, ...],
    parts: tuple[PartSeries, ...],
    disks: tuple[DiskSeries, ...],
    stop: ClusterStop | None,
) -> tuple[Bottleneck, ...]:
    """What was short while the cluster ran; where nothing moved because of a failure nothing was short."""
    lengths, out = sim.bucket_lengths_s(), sim.history.totals
    runs = sim.running()
    attempted = out[:, OfCluster.ATTEMPTED]
    held = (attempted < 0.999 * out[:, OfCluster.OFFERED]) & (out[:, OfCluster.WAITING] <= 0) & runs
    peak_per_s = float((attempted / lengths)[runs].max(initial=0.0))
    found = find_bottlenecks(
        sim.scenario,
        [error for error in errors if error.code != REFUSED_WITH] if stop is not None else errors,
        parts,
        disks,
        _services(sim, peak_per_s),
        peak_per_s=peak_per_s,
        held_back=float(held.mean()),
        waited=float(((out[:, OfCluster.WAITING] > 0) & runs).mean()),
    )
    return found if stop is None else (Bottleneck("nodes", stop.text, 2.0), *found)


def _services(sim: Simulation, peak_per_s: float) -> tuple[Service, ...]:
    """What processors, links, clients and disk reads pass, lowest first.

    Disk reads change as rows grow: they count as at the moment when most of them was in use, as if the peak
    had been then.
    """
    scenario, cache = sim.scenario, sim.page_cache
    if cache is None:
        return scenario.services
    others = [service for service in scenario.services if service.resource != DISK_READS]
    out, lengths, runs = sim.history.totals, sim.bucket_lengths_s(), sim.running()
    rates = (out[:, OfCluster.ATTEMPTED] / lengths)[runs]
    done = (np.cumsum(out[:, OfCluster.ACCEPTED]) - out[:, OfCluster.ACCEPTED])[runs]
    reads = sim.laws.run.reading_share > 0
    worst = worst_reads(cache, scenario, sim.laws, done, rates) if reads else None
    if worst is not None:
        service, used = worst
        most = peak_per_s / used if used > 0 and peak_per_s > 0 else service.max_per_s
        others.append(replace(service, max_per_s=most))
    return tuple(sorted(others, key=lambda service: service.max_per_s))


def _loaded(sim: Simulation) -> Quantity | None:
    scenario, seconds, loader = sim.scenario, sim.loaded_after_s(), sim.scenario.loader_per_s
    if seconds is None or loader is None:
        return None
    total = float(sim.laws.run.job_transactions)
    what, where = scenario.client_limit
    why = (
        Term("transactions of the job", total, "tx", "plan"),
        Term("mean rate", total / seconds, "tx/s", _SOURCE),
        loader.as_term(f"rate of the {what} alone ({where})", "estimate"),
    )
    low = seconds / RATE_FACTOR
    if total / seconds > LOADER_SHARE * loader.value:
        # The cluster kept up with the loader: with a faster one it would have been loaded sooner.
        low = min(low, total / loader.high)
    return Quantity(seconds, low, max(seconds * RATE_FACTOR, total / loader.low), "s", why)


def _errors(sim: Simulation) -> tuple[ErrorCount, ...]:
    found = []
    for i, code in enumerate(ERROR_CODES):
        count = float(sim.state.errors[i])
        if count < LEAST_REFUSED:
            continue
        first = float(sim.state.first[i, 0])
        node = int(sim.state.first[i, 1])
        # The moment of a failure is given; that of a shortage is worked out.
        given = code in (4009, 4010)
        spread = 0.0 if given else max(5.0, first * (MOMENT_FACTOR - 1.0))
        moment = Quantity(
            first, max(0.0, first - spread), first + spread, "s",
            (Term("first refusal", first, "s", _SOURCE),),
        )  # fmt: skip
        moment = reach(sim.scenario.plan, "load").widened(moment)
        found.append(ErrorCount(code, count, moment, sim.scenario.node_classes[max(0, node)].node_id))
    return tuple(sorted(found, key=lambda e: e.first_at_s.value))


def buffer_bytes(sim: Simulation) -> Floats:
    """Bytes of a redo buffer of each node, at its largest: events of the run may have changed it."""
    reserve = constant_for(sim.scenario.plan, "redo_buffer_reserve_bytes").value
    first = np.array([node_class.redo_buffer_bytes for node_class in sim.scenario.node_classes])
    last: Floats = column(sim.laws.nodes, lambda node: node.buffer_limit_bytes) + reserve
    return np.asarray(np.maximum(np.maximum(1.0, first), last), dtype=np.float64)


def _parts(sim: Simulation) -> tuple[PartSeries, ...]:
    found = []
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
            found.append(
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
    return tuple(found)


def _nodes(sim: Simulation, lengths: Floats) -> tuple[NodeSeries, ...]:
    plan = sim.scenario.plan
    found = []
    for n, node_class in enumerate(sim.scenario.node_classes):
        recorded = sim.history.node[:, n]
        written = np.diff(recorded[:, OfNode.REDO_WRITTEN], prepend=0.0)
        reserve = 1.0 - node_settings(plan, node_class.nodes[0]).number("MinFreePct") / 100
        found.append(
            NodeSeries(
                node_id=node_class.node_id,
                node_ids=tuple(node.node_id for node in node_class.nodes),
                memory=recorded[:, OfNode.MEMORY],
                memory_total_bytes=round(float(sim.laws.nodes[n].memory_limit_bytes) / max(0.01, reserve)),
                lcp_target=recorded[:, OfNode.LCP_TARGET],
                lcp_bytes_per_s=recorded[:, OfNode.LCP_WRITTEN] / lengths,
                redo_bytes_per_s=np.maximum(0.0, written) / lengths,
                undo_used=recorded[:, OfNode.UNDO_USED],
                space_used=recorded[:, OfNode.SPACE],
                backup_left=recorded[:, OfNode.BACKUP_LEFT],
                dead=recorded[:, OfNode.DEAD],
            )
        )
    return tuple(found)


def _disks(sim: Simulation, lengths: Floats) -> tuple[DiskSeries, ...]:
    found = []
    scenario, busy_of = sim.scenario, sim.history.busy
    near = reach(scenario.plan, "load")
    for d, disk_class in enumerate(scenario.disk_classes):
        rates = {purpose: sim.history.disk[:, d, i] / lengths for i, purpose in enumerate(PURPOSES)}
        total = sum(rates.values(), np.zeros(len(lengths)))
        written = float((total * lengths).sum())
        mean = written / float(lengths.sum())
        capacity = disk_class.bytes_per_s
        whole = disk_class.disks[0].sequential_write_bytes_per_s
        other = disk_class.disks[0].other_load
        terms = tuple(
            Term(f"{purpose} written", float((values * lengths).sum() / lengths.sum()), "bytes/s", _SOURCE)
            for purpose, values in rates.items()
            if values.any()
        )
        mean_busy = float(busy_of[:, d, 0].sum()) / scenario.steps
        busy = min(1.0, other + (1.0 - other) * mean_busy)
        low, high = min(mean, mean / RATE_FACTOR), max(mean, min(capacity, mean * RATE_FACTOR))
        found.append(
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
                    1.0, other + (1.0 - other) * busy_of[:, d, 0] * scenario.step_s / lengths
                ),
                utilisation_peak=np.minimum(1.0, other + (1.0 - other) * busy_of[:, d, 1]),
                write_bps_mean=near.widened(Quantity(mean, low, high, "bytes/s", terms), capacity),
                utilisation_mean=near.widened(Quantity(
                    busy, min(busy, busy / RATE_FACTOR), max(busy, min(1.0, busy * RATE_FACTOR)), "fraction",
                    (Term("bandwidth of the disk", whole, "bytes/s", "plan"), *terms),
                ), 1.0),
            )
        )  # fmt: skip
    return tuple(found)


def _accepted(sim: Simulation) -> Quantity:
    scenario, out, duration_s = sim.scenario, sim.history.totals, sim.scenario.duration_s
    accepted = float(out[:, OfCluster.ACCEPTED].sum()) / duration_s
    # What a stopped cluster refuses says nothing about what it could have taken before.
    attempted = (float(out[:, OfCluster.ATTEMPTED].sum()) - float(sim.state.errors[Error.DOWN])) / duration_s
    offered = float(out[:, OfCluster.OFFERED].sum()) / duration_s
    terms = (
        Term("offered", offered, "tx/s", "plan"),
        Term("log of one transaction", scenario.redo_bytes_per_transaction, "bytes", "formula"),
        *(Term(f"bandwidth of {d.hostnames[0]} {d.disks[0].name}", d.bytes_per_s, "bytes/s", "plan")
          for d in scenario.disk_classes[:4]),
    )  # fmt: skip
    if accepted >= attempted * (1.0 - 1e-9):
        return Quantity.exact(accepted, "tx/s", terms)
    high = max(accepted, min(attempted, accepted * RATE_FACTOR))
    return Quantity(accepted, accepted / RATE_FACTOR, high, "tx/s", terms)


def _fill(value: float, name: str) -> Quantity:
    high = max(value, min(1.0, value * FILL_FACTOR))
    return Quantity(
        value,
        value / FILL_FACTOR,
        high,
        "fraction",
        (Term(f"{name}, fullest part", value, "fraction", _SOURCE),),
    )
