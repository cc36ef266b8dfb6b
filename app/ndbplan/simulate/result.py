"""What a simulation found: series over time with their extremes, totals, errors and what was short."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.row_types import column
from ndbplan.base.shapes import Shape
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.stored import reach
from ndbplan.simulate import taken
from ndbplan.simulate.bottleneck import Bottleneck, find_bottlenecks
from ndbplan.simulate.latency import latency_s, mean_latency
from ndbplan.simulate.model.load_over_time import DISK_READS, Service
from ndbplan.simulate.model.meanwhile import worst_reads
from ndbplan.simulate.model.scenario import Given
from ndbplan.simulate.model.slow_links import slow_services
from ndbplan.simulate.model.start import LcpAtStart
from ndbplan.simulate.recorded import (
    LEAST_REFUSED,
    SOURCE,
    disks_of,
    errors_of,
    nodes_of,
    parts_of,
    rate_factor,
)
from ndbplan.simulate.series import DiskSeries, ErrorCount, NodeSeries, PartSeries, Restart, as_csv, in_csv
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.stop import REFUSED_WITH, ClusterStop, DownTime, LinkTime, ReorganiseTime, SlowTime
from ndbplan.simulate.world.indices import ERROR_CODES, OfCluster, Part

Floats = NDArray[np.float64]

LOADER_SHARE = 0.95
"""A job that runs at this share of its loader's rate is limited by its loader."""


@dataclass(frozen=True)
class RunEvent(Shape):
    """Something that changed a run: when, and what."""

    JSON = "at_s event"

    at_s: float
    event: str


@dataclass(frozen=True)
class SimulationResult(Shape):
    """What a run found. Series have one entry for each bucket of `bucket_s` seconds, from `times_s` on."""

    JSON = (
        "seed duration_s lcp_at_start offered_per_s accepted_per_s latency_mean_s loaded_after_s "
        "latency_max_s errors disks=every_disk redo_buffer_fill_max redo_log_fill_max cluster_stop events "
        "bottleneck next_bottleneck"
    )

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
    """When the rows of a job were all loaded; None: it is not a job, or they were not."""
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
    links: tuple[LinkTime, ...] = ()
    """Links that were slow or cut for a while."""
    full_disks: tuple[DownTime, ...] = ()
    """Disks that were full for a while."""
    reorganising: tuple[ReorganiseTime, ...] = ()
    """When rows are moved to added data nodes."""
    standing: tuple[tuple[float, float], ...] = ()
    """Seconds from and to which every transaction stood still: a loss was not yet noticed."""

    @property
    def bottleneck(self) -> Bottleneck:
        """What limits the load, or comes nearest to it."""
        return self.bottlenecks[0]

    @property
    def next_bottleneck(self) -> Bottleneck | None:
        """What would limit it next; None: nothing known."""
        return self.bottlenecks[1] if len(self.bottlenecks) > 1 else None

    @property
    def latency_max_s(self) -> float:
        """Mean time of a transaction in the slowest bucket."""
        return float(self.latency_s.max(initial=0.0))

    @property
    def every_disk(self) -> tuple[DiskSeries, ...]:
        """Each disk by itself, those too that get the same streams as others."""
        return tuple(replace(disk, host=host, disk=name) for disk in self.disks for host, name in disk.alike)

    @property
    def events(self) -> tuple[RunEvent, ...]:
        """What changed the run."""
        return tuple(RunEvent(at_s, text) for at_s, text in self.happened)

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
        errors = errors_of(sim)
        counts = np.diff(history.errors, axis=0, prepend=np.zeros((1, history.errors.shape[1])))
        parts = parts_of(sim)
        disks = disks_of(sim, lengths)
        latency = latency_s(sim)
        duration = scenario.duration_s
        offered_per_s = float(out[:, OfCluster.OFFERED].sum()) / duration
        near = reach(scenario.plan, "load")
        loaded = _loaded(sim)
        attempted_per_s = out[:, OfCluster.ATTEMPTED] / lengths
        peak_per_s = float(attempted_per_s[sim.running()].max(initial=0.0))
        services = _services(sim, peak_per_s)
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
            attempted=attempted_per_s,
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
            nodes=nodes_of(sim, lengths),
            restarts=tuple(sim.restarts),
            errors=errors,
            offered_per_s=offered_per_s,
            accepted_per_s=near.widened(taken.accepted(sim, services), offered_per_s),
            latency_mean_s=near.widened(mean_latency(sim, latency)),
            redo_buffer_fill_max=near.widened(
                _fill(sim, max((p.fill_max for p in parts), default=0.0), "redo buffer"), 1.0
            ),
            redo_log_fill_max=near.widened(
                _fill(sim, max((p.log_most / p.log_bytes for p in parts), default=0.0), "redo log"), 1.0
            ),
            wasted_redo_share=wasted / made if made > 0 else 0.0,
            loaded_after_s=None if loaded is None else near.widened(loaded),
            happened=tuple(sim.happened),
            bottlenecks=_bottlenecks(sim, errors, parts, disks, cluster_stop, services, peak_per_s),
            lcp_at_start=sim.start.lcp_at_start(sim.settings[0][1]),
            given=Given(scenario, sim.laws, (*sim.story.events, *sim.asked)),
            cluster_stop=cluster_stop,
            down=sim.outage.down_times() if sim.failing is not None else (),
            slowed=tuple(sim.slowed),
            links=tuple(sim.link_times),
            full_disks=tuple(sim.full_disks),
            reorganising=tuple(sim.reorganising),
            standing=tuple((begin, min(end, duration)) for begin, end in sim.standing),
        )

    def to_csv(self) -> str:
        """One line for each bucket: rates, refusals by code, every log part, every disk."""
        columns = [("t_s", self.times_s)]

        def add(name: str, values: Floats) -> None:
            columns.append((name, values))

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
        for node in self.nodes:
            for one in in_csv("node"):
                add(f"node{node.node_id}_{one.name}", getattr(node, one.field))
        for disk in self.disks:
            stem = f"{disk.host}_{disk.disk}".replace(" ", "_")
            for one in in_csv("purpose"):
                for purpose, values in getattr(disk, one.field).items():
                    if values.any():
                        add(f"{stem}_{purpose}_{one.name}", values)
            for one in in_csv("disk"):
                add(f"{stem}_{one.name}", getattr(disk, one.field))
        return as_csv(columns)


def _bottlenecks(
    sim: Simulation,
    errors: tuple[ErrorCount, ...],
    parts: tuple[PartSeries, ...],
    disks: tuple[DiskSeries, ...],
    stop: ClusterStop | None,
    services: tuple[Service, ...],
    peak_per_s: float,
) -> tuple[Bottleneck, ...]:
    """What was short while the cluster ran; where nothing moved because of a failure nothing was short."""
    out, runs = sim.history.totals, sim.running()
    attempted = out[:, OfCluster.ATTEMPTED]
    held = (attempted < 0.999 * out[:, OfCluster.OFFERED]) & (out[:, OfCluster.WAITING] <= 0) & runs
    bottlenecks = find_bottlenecks(
        sim.scenario,
        [error for error in errors if error.code != REFUSED_WITH] if stop is not None else errors,
        parts,
        disks,
        services,
        peak_per_s=peak_per_s,
        held_back=float(held.mean()),
        waited=float(((out[:, OfCluster.WAITING] > 0) & runs).mean()),
    )
    return bottlenecks if stop is None else (Bottleneck("nodes", stop.text, 2.0), *bottlenecks)


def _services(sim: Simulation, peak_per_s: float) -> tuple[Service, ...]:
    """What processors, links, clients and disk reads pass, lowest first.

    Disk reads change as rows grow: they count as at the moment when most of them was in use, as if the peak
    had been then.
    """
    scenario, cache = sim.scenario, sim.page_cache
    plan, links = sim.outage.plan, dict.fromkeys(one.link for one in sim.link_times if one.link.factor > 0)
    slow = [one for link in links for one in slow_services(plan, scenario.workload, link)[:1]]
    if cache is None:
        return tuple(sorted((*scenario.services, *slow), key=lambda service: service.max_per_s))
    others = [service for service in (*scenario.services, *slow) if service.resource != DISK_READS]
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
        Term("mean rate", total / seconds, "tx/s", SOURCE),
        loader.as_term(f"rate of the {what} alone ({where})", "estimate"),
    )
    off = rate_factor(sim)
    low = seconds / off
    if total / seconds > LOADER_SHARE * loader.value:
        # The cluster kept up with the loader: with a faster one it would have been loaded sooner.
        low = min(low, total / loader.high)
    return Quantity(seconds, low, max(seconds * off, total / loader.low), "s", why)


def _fill(sim: Simulation, value: float, name: str) -> Quantity:
    off = constant_for(sim.scenario.plan, "simulated_fill").high
    return Quantity(
        value,
        value / off,
        max(value, min(1.0, value * off)),
        "fraction",
        (Term(f"{name}, fullest part", value, "fraction", SOURCE),),
    )
