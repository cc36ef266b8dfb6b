"""A plan and a workload compiled to plain arrays for the kernel: nodes, log parts, disks, load over time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.quantity import Quantity
from ndbplan.base.row_types import Rows, record, rows, stacked
from ndbplan.configuration.node_groups import incomplete_node_group, node_groups
from ndbplan.configuration.redo_problems import queues
from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.constants import constant_for, constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint_speed import checkpoint_share, has_small_files, redo_alerts, start_bytes
from ndbplan.estimate.load.demand import idle_cycle_s
from ndbplan.estimate.load.file_threads import reads_of
from ndbplan.estimate.loaded import as_long_as_its_work, job_of, let_in
from ndbplan.estimate.stored import machines_of
from ndbplan.plan.events import Event
from ndbplan.plan.hardware import Disk as PlanDisk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, Workload
from ndbplan.simulate.model.classes import DiskClass, NodeClass
from ndbplan.simulate.model.load_over_time import (
    Service,
    coverage,
    offered,
    service_per_s,
    services,
    share_of_transactions,
)
from ndbplan.simulate.model.loaders import Loaders, has_loaders, loaders_of
from ndbplan.simulate.model.node_rows import NodeFacts, SimulationError, node_facts
from ndbplan.simulate.model.page_cache import PageCache, closed_cycle_s, page_cache
from ndbplan.simulate.model.pauses import flushes_after, flushes_before
from ndbplan.simulate.model.pools import set_pools
from ndbplan.simulate.model.workload import workload_of
from ndbplan.simulate.world.laws import Disk, FileDisk, Laws, Node, Place, Run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_STEPS = 20_000_000
FINE_S = 0.025
"""Longest piece of a step in which something runs out: what happens then does not depend on the step."""


@dataclass(frozen=True)
class Scenario:
    """Everything the kernel needs that does not change while it runs."""

    plan: Plan
    workload: Workload
    seed: int
    step_s: float
    steps: int
    node_classes: tuple[NodeClass, ...]
    disk_classes: tuple[DiskClass, ...]
    services: tuple[Service, ...]
    laws: Laws
    """What holds at the start of a run."""
    start: Floats
    """Checkpoint bytes, DataMemory, tablespace and IndexMemory in use at the start, for each node."""
    redo_bytes_per_transaction: float
    """Log bytes of one transaction, over all parts of one replica set."""
    client_limit: tuple[str, str]
    """What limits clients that wait for their answers when nothing else does: resource and where."""
    loader_per_s: Quantity | None
    """Rate of a job's loader into a cluster that keeps up; None: no job."""
    loaders: Loaders | None
    """Operations whose work wanders over the log parts; their mean is in the laws."""
    page_cache: PageCache | None
    """What decides the reads of columns on disk; None: there are none."""

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return self.steps * self.step_s

    def with_laws(self, **changed: Any) -> Scenario:
        """The same with some other laws."""
        return replace(self, laws=self.laws._replace(**changed))


class Given(NamedTuple):
    """What a run was given."""

    scenario: Scenario
    at_end: Laws
    """What held at its end."""
    events: tuple[Event, ...]
    """What was to happen, and what somebody asked for meanwhile."""


def build(
    now: Estimation,
    *,
    duration_s: float,
    step_s: float,
    seed: int,
    every_node: bool = False,
    every_disk: bool = False,
    uneven: float = 1.0,
) -> Scenario:
    """Arrays for one run; `every_disk`: also disks of data nodes' hosts that nobody writes to yet.

    Raises SimulationError for a plan without node groups or disks, or a bad time."""
    steps = _steps(duration_s, step_s)
    plan, workload = now.plan, now.workload or workload_of(now.plan, None)
    job = job_of(plan, workload)
    limited_by: tuple[str, str] = ("clients", workload.name)
    if job is not None:
        plan, workload, limited_by = (
            plan.replace(tables=job.before(plan.tables)),
            job.workload,
            job.limited_by,
        )
    else:
        asked = as_long_as_its_work(plan, workload)
        workload = let_in(plan, asked)
        if workload is not asked:
            limited_by = ("SQL sessions", "max-connections")
    groups = node_groups(plan)
    if not groups:
        raise SimulationError(
            "the plan has no complete node group",
            where="processes",
            fix="add as many data nodes as NoOfReplicas",
        )
    incomplete = incomplete_node_group(plan)
    if incomplete is not None:
        raise SimulationError(incomplete, where="processes", fix="give every node group NoOfReplicas members")
    real = node_facts(plan, workload, groups)
    every_node = every_node or has_loaders(workload)
    made = _Build(plan, real, every_node)
    for alike in _alike(groups, real, every_node):
        made.add(alike)
    if every_disk:
        made.spare_disks()
    limits = services(plan, workload)
    share = np.array(made.share)
    group_count = np.array(made.group_count, dtype=np.float64)
    disk_start, disk_member = redo_members(made.node_classes, len(made.disk_classes))
    cache = page_cache(plan, workload, made.node_classes)
    run = _run(plan, workload, step_s, coverage(workload, share, group_count), uneven, cache)
    run.service_per_s = run.service_beside_reads_per_s = service_per_s(limits)
    run.reading_share = 0.0 if cache is None else 1.0
    set_pools(run, plan, workload, limits)
    run.replicas = len(groups[0])
    # Coordinators count what each row takes once, not the log of all its replicas.
    run.lcp_threshold_bytes = start_bytes(node_settings(plan)) * len(made.rows) / len(groups)
    run.lcp_forced_share = constant_for(plan, "redo_forces_checkpoint").value
    run.job_transactions = 0.0 if job is None else job.transactions
    load = np.array(made.load)
    per_tx = sum(float(real[group[0].id].redo_bytes.sum()) for group in groups)
    return Scenario(
        plan=plan,
        workload=workload,
        seed=seed,
        step_s=step_s,
        steps=steps,
        node_classes=tuple(made.node_classes),
        disk_classes=tuple(made.disk_classes),
        services=limits,
        laws=Laws(
            run=record(run),
            nodes=stacked(made.rows),
            places=stacked(made.places),
            slots=np.array(made.slots, dtype=np.int64),
            alive=np.full(len(made.slots), len(groups[0]), dtype=np.int64),
            group_count=group_count,
            load=load,
            base=np.zeros_like(load),
            share=share,
            disks=made.disk_rows(),
            disk_start=disk_start,
            disk_member=disk_member,
            offered=offered(workload, steps, step_s),
            files=stacked(made.files) if made.files else rows(FileDisk, 0),
            alerts=np.array(redo_alerts(constants_of(plan))),
        ),
        start=np.array(made.start),
        redo_bytes_per_transaction=per_tx,
        client_limit=limited_by,
        loader_per_s=None if job is None else job.rate_per_s,
        page_cache=cache,
        loaders=loaders_of(
            plan,
            workload,
            made.node_classes,
            load,
            share,
            group_of=np.array([place.group for place in made.places], dtype=np.int64),
            step_s=step_s,
            seed=seed,
        ),
    )


def _steps(duration_s: float, step_s: float) -> int:
    if not 0.001 <= step_s <= 1.0:
        raise SimulationError(f"a step of {step_s:g} s is outside 1 ms to 1 s", where="step")
    if not duration_s > 0:
        raise SimulationError(f"a duration of {duration_s:g} s leaves nothing to simulate", where="duration")
    steps = duration_s / step_s
    if steps > MAX_STEPS:
        raise SimulationError(
            f"{duration_s:g} s in steps of {step_s:g} s are {steps:.3g} steps; the most is {MAX_STEPS}",
            where="duration",
            fix="simulate a shorter time or take longer steps",
        )
    return math.ceil(steps - 1e-9)


def _alike(
    groups: tuple[tuple[DataNode, ...], ...], real: dict[str, NodeFacts], every_node: bool
) -> list[list[tuple[DataNode, ...]]]:
    """Node groups that behave alike, together."""
    if every_node:
        return [[group] for group in groups]
    found: dict[Hashable, list[tuple[DataNode, ...]]] = {}
    for group in groups:
        found.setdefault(tuple(real[node.id].signature for node in group), []).append(group)
    return list(found.values())


class _Build:
    """Collects the arrays, one class of node groups after the other."""

    def __init__(self, plan: Plan, real: dict[str, NodeFacts], every_node: bool) -> None:
        self.plan, self.real, self.every_node = plan, real, every_node
        self.log_parts = max(facts.parts for facts in real.values())
        self.node_classes: list[NodeClass] = []
        self.disk_classes: list[DiskClass] = []
        self.disk_index: dict[str, int] = {}
        self.rows: list[Node] = []
        self.places: list[Place] = []
        self.files: list[FileDisk] = []
        self.slots: list[list[int]] = []
        self.group_count: list[float] = []
        self.share: list[Floats] = []
        self.load: list[Floats] = []
        self.start: list[tuple[float, ...]] = []

    def add(self, groups: list[tuple[DataNode, ...]]) -> None:
        """Node groups that are simulated as one."""
        first = groups[0]
        same = not self.every_node and len({self.real[node.id].signature for node in first}) == 1
        number = len(self.slots)
        self.group_count.append(float(len(groups)))
        self.share.append(len(groups) * self._padded(self.real[first[0].id].row_share))
        slots: list[int] = []
        for slot, node in enumerate(first):
            if same and slot:
                slots.append(slots[0])
                continue
            slots.append(len(self.node_classes))
            alike = tuple(n for group in groups for n in (group if same else (group[slot],)))
            self._node(number, slot, node, alike)
        self.slots.append(slots)

    def _node(self, group: int, slot: int, node: DataNode, alike: tuple[DataNode, ...]) -> None:
        facts = self.real[node.id]
        disks = [self._disk(role, alike) for role in DiskRole]
        place = Place()
        place.group, place.slot, place.stands_for = group, slot, len(alike)
        place.redo_disk, place.lcp_disk, place.undo_disk, place.data_disk, place.backup_disk = disks
        self._files(place, alike)
        self.places.append(place)
        self.node_classes.append(NodeClass(alike, disks[0], facts.parts, facts.redo_buffer))
        self.rows.append(facts.row)
        self.load.append(self._padded(facts.redo_bytes))
        self.start.append(facts.start)

    def _padded(self, values: Floats) -> Floats:
        return np.concatenate([values, np.zeros(self.log_parts - len(values))])

    def _files(self, place: Place, alike: tuple[DataNode, ...]) -> None:
        """Further disks of the node's undo files and data files."""
        place.undo_share = place.data_share = 1.0
        place.files_from = len(self.files)
        further: dict[int, FileDisk] = {}
        shares = [self.real[node.id].file_shares for node in alike]
        for role, on in shares[0].items():
            name = "undo" if role is DiskRole.UNDO else "data"
            setattr(place, f"{name}_share", 0.0)
            for i, (_, share) in enumerate(on):
                d = self._index([of_node[role][i][0] for of_node in shares])
                at: Place | FileDisk = place
                if d != getattr(place, f"{name}_disk"):
                    at = further.setdefault(d, FileDisk())
                    further[d].disk = d
                setattr(at, f"{name}_share", share)
        self.files += further.values()
        place.files_upto = len(self.files)

    def _disk(self, role: DiskRole, nodes: tuple[DataNode, ...]) -> int:
        return self._index([self.real[node.id].disks[role] for node in nodes])

    def _index(self, disks: list[PlanDisk]) -> int:
        first = disks[0]
        if first.id not in self.disk_index:
            self._add_disks(disks)
        return self.disk_index[first.id]

    def _add_disks(self, disks: list[PlanDisk]) -> None:
        """Disks that are simulated as one."""
        first = disks[0]
        shared = constant_for(self.plan, "hdd_shared_stream_factor").value if first.kind == "hdd" else 1.0
        for disk in disks:
            self.disk_index[disk.id] = len(self.disk_classes)
        self.disk_classes.append(
            DiskClass(
                tuple(disks),
                tuple(self.plan.host_of_disk[disk.id].hostname for disk in disks),
                first.sequential_write_bytes_per_s * shared * max(0.001, 1.0 - first.other_load),
            )
        )

    def spare_disks(self) -> None:
        """Disks of the nodes' hosts that no node writes to yet: somebody may move files there."""
        for node_class in tuple(self.node_classes):
            for disk in self.plan.host(node_class.nodes[0].host_id).disks:
                if disk.id not in self.disk_index:
                    self._add_disks([disk])

    def disk_rows(self) -> Rows[Disk]:
        """What the kernel must know of each disk."""
        found, machines = [Disk() for _ in self.disk_classes], machines_of(self.plan)
        for d, (disk, disk_class) in enumerate(zip(found, self.disk_classes, strict=True)):
            disk.write_bytes_per_s = disk_class.bytes_per_s
            disk.usable_share = constant_for(self.plan, "disk_usable_share").value
            disk.lcp_share = lcp_share(self.plan, *writers(self.places, self.rows, self.load, self.files, d))
            disk.read_iops = disk_class.disks[0].random_read_iops
            disk.asked_share = reads_of(machines, disk_class.disks[0]).per_s.value / disk.read_iops
        return stacked(found)


def redo_members(node_classes: Sequence[NodeClass], disks: int) -> tuple[Ints, Ints]:
    """Nodes that write redo to each disk: where each disk's begin, and all of them."""
    on_disk: list[list[int]] = [[] for _ in range(disks)]
    for n, node_class in enumerate(node_classes):
        on_disk[node_class.redo_disk].append(n)
    starts = np.cumsum([0, *(len(nodes) for nodes in on_disk)]).astype(np.int64)
    return starts, np.array([n for nodes in on_disk for n in nodes], dtype=np.int64)


def writers(
    places: Iterable[Place],
    nodes: Iterable[Node],
    load: Iterable[Floats],
    files: Sequence[FileDisk] | Rows[FileDisk],
    disk: int,
) -> tuple[int, int]:
    """(LDM threads that write checkpoints to a disk, logs that are written to it: log parts in use, and the
    undo log of each node that makes any).

    Without a load rows may be written all the same: then a part for each LDM thread is in use.
    """
    ldms = logs = 0
    for place, row, parts_load in zip(places, nodes, load, strict=True):
        ldms += int(row.ldms) if place.lcp_disk == disk else 0
        if place.redo_disk == disk:
            logs += int((parts_load > 0).sum()) or int(row.ldms)
        logs += 1 if row.undo_bytes > 0 and _has_undo_files(place, files, disk) else 0
    return ldms, logs


def _has_undo_files(place: Place, files: Sequence[FileDisk] | Rows[FileDisk], disk: int) -> bool:
    """Whether undo files of a node lie on a disk."""
    own = range(place.files_from, place.files_upto)
    further = any(files[f].disk == disk and files[f].undo_share > 0 for f in own)
    return further or (place.undo_disk == disk and place.undo_share > 0)


def lcp_share(plan: Plan, ldms: int, logs: int) -> float:
    """Share of a busy disk that checkpoints of so many LDM threads take from so many logs."""
    settings, constants = node_settings(plan), constants_of(plan)
    found = checkpoint_share(settings, has_small_files(settings, constants), constants, ldms, logs)
    return found.value


def set_step(run: Run, plan: Plan, step_s: float) -> None:
    """Set everything in a run's settings that depends on the length of a step."""
    gcp_s = max(step_s, node_settings(plan).number("TimeBetweenGlobalCheckpoints") / 1000)
    run.step_s = step_s
    run.steps_per_second = max(1, round(1.0 / step_s))
    run.steps_per_gcp = max(1, round(gcp_s / step_s))
    run.gcp_s = run.steps_per_gcp * step_s
    fine = max(1, math.ceil(step_s / FINE_S - 1e-9))
    run.pieces = fine
    run.piece_s = step_s / fine
    if queues(plan):
        timeout_s = node_settings(plan).number("TransactionDeadlockDetectionTimeout") / 1000
        run.queue_slots = max(1, min(400_000, round(timeout_s / step_s * fine)))


def _run(
    plan: Plan, workload: Workload, step_s: float, covered: float, uneven: float, cache: PageCache | None
) -> Run:
    run = Run()
    set_step(run, plan, step_s)
    known = plan.features
    run.lcp_flushes_after, run.lcp_stage_s = flushes_after(plan)
    run.lcp_flushes_before, run.lcp_begin_stage_s = flushes_before(plan)
    run.lcp_flushes_first = run.lcp_flushes_before - (known.lcp_flushes_before - 1)
    run.replicas_apart = known.replicas_refuse_apart
    run.delete_weight = constant_for(plan, "lcp_delete_weight").value
    run.lag_noise = uneven * constant_for(plan, "redo_lag_noise").value
    load = workload.load
    if isinstance(load, ClosedLoad):
        run.clients = load.clients
        run.cycle_s = idle_cycle_s(load)
        if cache is not None:
            run.cycle_s = closed_cycle_s(load, cache.undisturbed_s, cache.undisturbed_s, cache.disks)
    elif isinstance(load, OpenLoad):
        run.clients = load.clients or 0
        run.retry_share = load.retries / (load.retries + 1.0)
        run.retry_s = max(step_s, load.retry_after_s)
    run.coverage = covered
    run.unevenness = uneven
    run.unevenness_kept = constant_for(plan, "redo_part_unevenness_kept").value
    run.lcp_first_s = constant_for(plan, "lcp_first_s").value
    run.aborted_log = run.aborted_log_at_file_end = constant_for(plan, "redo_aborted_share").value
    if known.file_end_refused_at_once:
        run.aborted_log_at_file_end = constant_for(plan, "redo_aborted_share_file_end").value
    run.grows = True
    run.spans_three_lcps = not plan.features.redo_spans_two_lcps
    run.insert_share = share_of_transactions(plan, workload, disk=False)
    run.disk_data_share = share_of_transactions(plan, workload, disk=True)
    return run
