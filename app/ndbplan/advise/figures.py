"""The headline figures of a plan: what variants are compared by, changes ranked by, sweeps measure.

    for figure in FIGURES.values():
        figure.title, figure.of(now)          # a Quantity, None where the plan has none

Each is the number that a command prints (`Figure.command`), so that both can be held against one another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from ndbplan.base.errors import UserError
from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity

if TYPE_CHECKING:
    from ndbplan.advise.survival import SingleFailures
    from ndbplan.checks.problem import Problem
    from ndbplan.checks.settled import Settled
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.times.restart import Kind
    from ndbplan.plan.plan import Plan
    from ndbplan.simulate.result import SimulationResult

Part = TypeVar("Part")
Better = Literal["higher", "lower", ""]
_MONTHS = 12


@dataclass(frozen=True)
class Figure:
    """One number of a plan under a workload."""

    name: str
    """As options take it."""
    title: str
    unit: str
    command: str
    """The command that prints it, and where in its JSON it stands."""
    better: Better
    """Which way is better; nothing: neither is."""
    of: Callable[[Estimation], Quantity | None]
    """The number; None where there is none. Raises UserError where the plan is too incomplete."""
    simulated: bool = False
    """Whether a simulation answers, not a closed form."""
    none_is_best: bool = False
    """Whether no number is better than any: no error at all, never full."""

    def if_known(self, now: Estimation) -> Quantity | None:
        """The number; None also where the plan lacks something for it, such as a disk for a backup."""
        try:
            return self.of(now)
        except UserError:
            return None

    @property
    def counts_problems(self) -> bool:
        """Whether rules decide it, which may read what nothing else depends on."""
        return self.name in ("errors", "warnings")

    @property
    def measured_as(self) -> str:
        """The kind of measurement that it is held against; nothing for what is counted."""
        return _MEASURED_AS.get(self.name, "")


_MEASURED_AS = {
    **dict.fromkeys(("max-load", "accepted", "first-error", "latency", "redo-time", "load-left"), "load"),
    **dict.fromkeys(("memory", "memory-in-a-year", "disk-space", "disk-space-in-a-year"), "storage"),
    **dict.fromkeys(("restart", "initial-restart", "system-restart", "rolling-restart"), "restart"),
    "reorganise": "reorganise",
    "backup": "backup",
}


def _restart(kind: Kind, now: Estimation) -> Quantity:
    from ndbplan.estimate.times.restart import IDLE

    return now.under(None).restart(kind, None, IDLE).duration_s


def _backup(now: Estimation) -> Quantity:
    saved = now.under(None).backup()
    if saved.taken_s is None:
        raise UserError("; ".join(saved.notes))
    return saved.taken_s


Ends = tuple[float, float, float]
"""Value, low and high of a number."""


def _largest(found: Sequence[tuple[Ends, Part]], named: Callable[[Part], Quantity]) -> Quantity | None:
    """The largest by its value; the highest of several ranges is the range of the highest.

    `named`: the number with its derivation, which is asked of the largest alone.
    """
    if not found:
        return None
    value, low, high = (max(each) for each in zip(*(ends for ends, _ in found), strict=True))
    largest = named(max(found, key=lambda one: one[0][0])[1])
    return Quantity(value, low, high, "fraction", largest.why)


def _memory_fill(now: Estimation) -> Quantity | None:
    found = []
    for node in now.memory.nodes:
        if node.data_memory_limit_bytes:
            held, times = node.data_memory_bytes, 1 / node.data_memory_limit_bytes
            found.append(((held.value * times, held.low * times, held.high * times), node))
    return _largest(found, lambda node: node.data_memory_bytes)


def _disk_fill(now: Estimation) -> Quantity | None:
    return _largest([(disk.ends, disk) for disk in now.disk_space.disks], lambda disk: disk.fill)


def _in_a_year(figure: Callable[[Estimation], Quantity | None], now: Estimation) -> Quantity | None:
    from ndbplan.estimate.space.growth import after_months

    return figure(now.of(after_months(now.plan, _MONTHS)))


def _max_load(now: Estimation) -> Quantity | None:
    from ndbplan.advise.max_load import max_load

    return None if now.workload is None else max_load(now, with_next=False).max_per_s


@kept_by_identity(8)
def _run(now: Estimation) -> SimulationResult:
    from ndbplan.simulate.run import simulate

    return simulate(now)


def _first_error(now: Estimation) -> Quantity | None:
    first = None if now.workload is None else now.kept(_run, now).first_error
    return None if first is None else first.first_at_s


def _accepted(now: Estimation) -> Quantity | None:
    return None if now.workload is None else now.kept(_run, now).accepted_per_s


def _latency(now: Estimation) -> Quantity | None:
    return None if now.workload is None else now.kept(_run, now).latency_mean_s


@kept_by_identity(8)
def _singles(now: Estimation) -> SingleFailures:
    from ndbplan.advise.survival import single_failures

    return single_failures(now)


def _stops(now: Estimation) -> Quantity:
    return Quantity.exact(float(now.kept(_singles, now).stop), "count")


def _load_left(now: Estimation) -> Quantity | None:
    return now.kept(_singles, now).least_load_left_per_s


@kept_by_identity(8)
def _standing(plan: Plan) -> tuple[Problem, ...]:
    from ndbplan.checks.run import standing

    return standing(plan)


def problems_of(now: Estimation) -> tuple[Problem, ...]:
    """What `check` finds, without the search for ways out."""
    found: tuple[Problem, ...] = now.kept(_standing, now.plan)
    return found


def settled_between(before: Estimation, after: Estimation) -> Settled:
    """The problems of one plan that another has no more, and those that it has besides."""
    from ndbplan.checks.settled import settled

    return settled(problems_of(before), problems_of(after))


def _problems(severity: str, now: Estimation) -> Quantity:
    return Quantity.exact(float(sum(one.severity == severity for one in problems_of(now))), "count")


def _cost(now: Estimation) -> Quantity | None:
    from ndbplan.advise.cost import cost_of

    return cost_of(now.plan).total


def _cost_per_tb(now: Estimation) -> Quantity | None:
    from ndbplan.advise.cost import cost_of

    return cost_of(now.plan).per_tb


def _cost_per_load(now: Estimation) -> Quantity | None:
    from ndbplan.advise.cost import cost_of

    cost = cost_of(now.plan)
    return None if cost.total is None else cost.of_load(_max_load(now)).per_1000_tx


def _count(kind: str, now: Estimation) -> Quantity:
    plan = now.plan
    count = {"hosts": len(plan.hosts), "data nodes": len(plan.data_nodes)}
    count["disks"] = sum(len(host.disks) for host in plan.hosts)
    return Quantity.exact(float(count[kind]), "count")


_ALL = (
    Figure(
        "max-load", "Highest load for an hour", "tx/s", "max-load: max_per_s", "higher", _max_load,
        simulated=True,
    ),
    Figure("accepted", "Accepted in the simulated load", "tx/s", "simulate: accepted_per_s", "higher",
           _accepted, simulated=True),
    Figure("first-error", "First error in the simulated load", "s", "simulate: errors, least first_at_s",
           "higher", _first_error, simulated=True, none_is_best=True),
    Figure("latency", "Mean latency in the simulated load", "s", "simulate: latency_mean_s", "lower",
           _latency, simulated=True),
    Figure("redo-time", "Redo log full without a checkpoint", "s", "estimate: redo.time_to_full_s", "higher",
           lambda now: now.redo.time_to_full_s),
    Figure("memory", "Fullest DataMemory", "fraction",
           "estimate: memory.nodes, data_memory_bytes of its limit", "lower", _memory_fill),
    Figure("memory-in-a-year", "Fullest DataMemory in 12 months", "fraction",
           "estimate --months 12: growth.months, fill", "lower", partial(_in_a_year, _memory_fill)),
    Figure("disk-space", "Fullest disk", "fraction", "estimate: disk_space.disks, fill", "lower", _disk_fill),
    Figure("disk-space-in-a-year", "Fullest disk in 12 months", "fraction",
           "estimate --months 12: growth.months, fill of disks", "lower", partial(_in_a_year, _disk_fill)),
    Figure("restart", "Restart of a data node", "s", "restart --kind node: duration_s", "lower",
           partial(_restart, "node")),
    Figure("initial-restart", "Restart of a data node with --initial", "s",
           "restart --kind initial: duration_s", "lower", partial(_restart, "initial")),
    Figure("system-restart", "System restart", "s", "restart --kind system: duration_s", "lower",
           partial(_restart, "system")),
    Figure("rolling-restart", "Rolling restart", "s", "restart --kind rolling: duration_s", "lower",
           partial(_restart, "rolling")),
    Figure("reorganise", "Reorganisation for one more node group", "s", "reorg --add-groups 1: duration_s",
           "lower", lambda now: now.under(None).reorganise(1).duration_s),
    Figure("backup", "Backup", "s", "backup: backup.duration_s", "lower",
           _backup),
    Figure("survive", "Single failures that stop the cluster", "count",
           "survive: failures with the verdict stops", "lower", _stops),
    Figure("load-left", "Momentary load without the worst host", "tx/s",
           "survive: failures of hosts, least load_left_per_s", "higher", _load_left),
    Figure("errors", "Errors that check finds", "count", "check: problems", "lower",
           partial(_problems, "error")),
    Figure("warnings", "Warnings that check finds", "count", "check: problems", "lower",
           partial(_problems, "warning")),
    Figure("cost", "Cost", "", "cost: total", "lower", _cost),
    Figure("cost-per-load", "Cost per 1,000 sustained tx/s", "", "cost --per-load: per_1000_tx", "lower",
           _cost_per_load, simulated=True),
    Figure("cost-per-tb", "Cost per TB of user data", "", "cost: per_tb", "lower", _cost_per_tb),
    Figure("hosts", "Hosts", "count", "the plan", "", partial(_count, "hosts")),
    Figure("data-nodes", "Data nodes", "count", "the plan", "", partial(_count, "data nodes")),
    Figure("disks", "Disks", "count", "the plan", "", partial(_count, "disks")),
)  # fmt: skip
FIGURES = {figure.name: figure for figure in _ALL}
"""By name, in the order in which they are shown."""
