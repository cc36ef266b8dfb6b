"""Everything the engine says of a plan under a workload: the front of all estimates.

now = Estimation(plan, chosen_workload(plan, "busy-hour"))
now.redo.time_to_full_s
now.under(None).restart("rolling").duration_s        # without load
now.of(edited).memory                                # of another plan, sharing what an edit left alone
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ndbplan.base.errors import Cancelled
from ndbplan.base.kept import Kept, keeping
from ndbplan.base.shapes import as_json
from ndbplan.configuration.settings import NodeSettings, settings_by_node
from ndbplan.estimate.constants import Constants, constants_of
from ndbplan.estimate.grown import ReorganiseEstimate, reorganise, reorganise_to
from ndbplan.estimate.load.checkpoint import CheckpointEstimate
from ndbplan.estimate.load.cpu import CpuEstimate
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.disk_data import DiskDataEstimate, UndoUse
from ndbplan.estimate.load.disks import DisksEstimate
from ndbplan.estimate.load.network import NetworkEstimate
from ndbplan.estimate.load.redo import RedoEstimate
from ndbplan.estimate.loaded import (
    checkpoint,
    cpu,
    disk_data,
    disk_demand,
    network,
    node_loads,
    rate_of,
    redo,
    undo_log,
)
from ndbplan.estimate.space.disk_space import DiskSpaceEstimate, disk_space
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.storage.memory import MemoryEstimate
from ndbplan.estimate.storage.redistribution import Redistribution
from ndbplan.estimate.storage.skew import distribution_json
from ndbplan.estimate.stored import distribute, has_partitions, machines_of, memory, redistribute
from ndbplan.estimate.timed import backup, create_disk_data, restart, restore_backup, start_beside
from ndbplan.estimate.times.backup import BackupEstimate, PhasedEstimate
from ndbplan.estimate.times.restart import Conditions, Kind, RestartEstimate
from ndbplan.ndb.features import Features
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Workload

T = TypeVar("T")


class part(cached_property[T]):  # noqa: N801 — a decorator, written like the one it extends
    """A part of the estimates: worked out when it is first asked for, printed by `ndbplan estimate`."""


def parts() -> tuple[str, ...]:
    """Names of the parts, as `ndbplan estimate --only` takes them."""
    return tuple(name for name, value in vars(Estimation).items() if isinstance(value, part))


def chosen_workload(plan: Plan, workload_id: str | None = None) -> Workload | None:
    """The workload with this id or name; without one the plan's first, None when it has none. KeyError."""
    if workload_id is not None:
        return plan.workload(workload_id)
    return plan.workloads[0] if plan.workloads else None


class Estimation:
    """Estimates of one plan under one workload, each worked out when it is first asked for.

    Answers lie with whoever keeps them (`base/kept.py`; without anybody, with this estimation and those made
    from it): what two plans agree in is worked out once. Whatever is asked may raise UserError where the plan
    is too incomplete for an answer.
    """

    def __init__(
        self,
        plan: Plan,
        workload: Workload | None = None,
        *,
        constants: Constants | None = None,
        kept: Kept | None = None,
    ) -> None:
        with keeping(kept) as store:
            self.kept = store
        self.plan = plan if constants is None else self.kept(_with_constants, plan, constants)
        self.workload = workload
        """What goes on; None: nothing does."""

    def under(self, workload: Workload | None) -> Estimation:
        """The same plan under another workload."""
        return Estimation(self.plan, workload, kept=self.kept)

    def of(self, plan: Plan) -> Estimation:
        """Another plan under the same workload."""
        return Estimation(plan, self.workload, kept=self.kept)

    def work_out(self, cancelled: Callable[[], bool] = lambda: False) -> Estimation:
        """Ask for every part now. Raises Cancelled soon after `cancelled()` turns true."""
        for name in parts():
            if cancelled():
                raise Cancelled
            getattr(self, name)
        return self

    def to_json(self, why: bool = False, only: Collection[str] | None = None) -> dict[str, Any]:
        """The shape of `ndbplan estimate`; written out: what is named is worked out.

        Raises KeyError for a name that is not a part.
        """
        if unknown := set(only or ()) - set(parts()):
            raise KeyError(min(unknown))
        name = None if self.workload is None else self.workload.name
        return {"workload": name, **{one: self._shape(one, why) for one in only or parts()}}

    def _shape(self, name: str, why: bool) -> Any:
        if name == "distribution":
            return {"tables": [distribution_json(table) for table in self.distribution]}
        return as_json(getattr(self, name), why)

    # What the plan says of the product.

    @cached_property
    def features(self) -> Features:
        """What the version does."""
        return self.plan.features

    @cached_property
    def settings(self) -> Mapping[int, NodeSettings]:
        """Effective values of the parameters of every data node, by node id."""
        return self.kept(settings_by_node, self.plan)

    @cached_property
    def constants(self) -> Constants:
        """The engine's factors as the plan's calibrations leave them."""
        return self.kept(constants_of, self.plan)

    @cached_property
    def machines(self) -> Machines:
        """The data nodes and what they run on."""
        return self.kept(machines_of, self.plan)

    # What lies in the cluster, whatever the workload.

    @part
    def distribution(self) -> tuple[TableDistribution, ...]:
        """Where the rows of every table lie; nothing without a node group."""
        return self.kept(_distributions, self.plan)

    def distribution_of(self, table: Table) -> TableDistribution:
        """Where the rows of one table lie. UserError when no data node is in a node group."""
        with keeping(self.kept):
            return distribute(self.plan, table)

    @part
    def memory(self) -> MemoryEstimate:
        """Memory of tables and data nodes."""
        return self.kept(memory, self.plan)

    def redistribution(self, table_id: str, after: Estimation) -> Redistribution:
        """What reorganising a table does when the cluster grows to another plan's."""
        with keeping(self.kept):
            return redistribute(self.plan, after.plan, table_id)

    # What the workload does.

    @cached_property
    def offered_per_s(self) -> float:
        """Highest transaction rate of the workload; 0 without one."""
        return 0.0 if self.workload is None else self.kept(rate_of, self.plan, self.workload)

    @cached_property
    def loads(self) -> Mapping[int, NodeLoad]:
        """What is asked of each data node, by node id; of none without a workload."""
        return {load.node_id: load for load in self.kept(node_loads, self.plan, self.workload)}

    @part
    def redo(self) -> RedoEstimate:
        """The redo log: bytes of operations, rates, until it is full."""
        return self.kept(redo, self.plan, self.workload)

    @part
    def checkpoint(self) -> CheckpointEstimate:
        """Local checkpoints."""
        return self.kept(checkpoint, self.plan, self.workload)

    @part
    def disks(self) -> DisksEstimate:
        """What is asked of every disk that data nodes use."""
        return self.kept(disk_demand, self.plan, self.workload)

    @part
    def disk_data(self) -> DiskDataEstimate:
        """Tables with columns on disk: tablespaces, cache, traffic."""
        return self.kept(disk_data, self.plan, self.workload)

    @cached_property
    def undo_log(self) -> tuple[UndoUse, ...]:
        """What the workload keeps in the undo log of each data node with rows on disk."""
        return self.kept(undo_log, self.plan, self.workload)

    @part
    def disk_space(self) -> DiskSpaceEstimate:
        """Files on every disk, those of backups with what the workload changes while they run."""
        return self.kept(disk_space, self.plan, self.workload)

    @part
    def network(self) -> NetworkEstimate:
        """Bytes in and out of every host."""
        return self.kept(network, self.plan, self.workload)

    @part
    def cpu(self) -> CpuEstimate:
        """Threads and cores."""
        return self.kept(cpu, self.plan, self.workload)

    # What work on the cluster takes while the workload goes on.

    def restart(
        self, kind: Kind, node_id: int | None = None, conditions: Conditions | None = None
    ) -> RestartEstimate:
        """A start of data nodes; `conditions` None: as planned, while the workload goes on."""
        chosen = Conditions(workload=self.workload) if conditions is None else conditions
        with keeping(self.kept):
            return restart(self.plan, kind, node_id, chosen)

    def start_beside(
        self, nodes: Sequence[DataNode], running: Estimation, conditions: Conditions
    ) -> RestartEstimate:
        """The first start of new nodes of this plan, empty and together, beside a cluster that runs."""
        with keeping(self.kept):
            return start_beside(self.plan, nodes, running.plan, conditions)

    def reorganise(self, groups: int = 1) -> ReorganiseEstimate:
        """Adding node groups and spreading every table over them. Raises ReorganiseError, EditError."""
        return self.kept(reorganise, self.plan, groups, self.workload)

    def reorganise_to(self, grown: Plan) -> ReorganiseEstimate:
        """Spreading every table over the node groups of another plan, which has those of this one too."""
        return self.kept(reorganise_to, self.plan, grown, self.workload)

    def backup(self) -> BackupEstimate:
        """A backup of all nodes."""
        return self.kept(backup, self.plan, self.workload)

    def restore(self, *, one_by_one: bool = False) -> PhasedEstimate:
        """Restoring that backup into an empty cluster without load: of all nodes at once, or one by one."""
        return self.kept(restore_backup, self.plan, one_by_one)

    def create_files(self) -> PhasedEstimate:
        """Creating every undo file and data file."""
        return self.kept(create_disk_data, self.plan)


def _with_constants(plan: Plan, constants: Constants) -> Plan:
    return plan.replace(calibrations=constants.calibrations)


def _distributions(plan: Plan) -> tuple[TableDistribution, ...]:
    return tuple(distribute(plan, table) for table in plan.tables) if has_partitions(plan) else ()
