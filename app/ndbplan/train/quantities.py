"""Quantities of a live cluster that breakpoints and goals of lessons ask for, at this moment.

value("redo_log", simulation)        # 0.43: share of the fullest log part that cannot be reused
value("node:3", simulation)          # 1.0: data node 3 is started
"""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.base.errors import UserError, readable
from ndbplan.base.row_types import column
from ndbplan.base.units import whole_number
from ndbplan.checks.run import check
from ndbplan.configuration.settings import node_settings, usable_data_memory
from ndbplan.ndb.parameters import knows
from ndbplan.simulate.events.configuration import is_rolling
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import ERROR_CODES, OfCluster, Part
from ndbplan.train.state import Status, state_of


class QuantityError(UserError):
    """A name that no quantity has."""


def _redo_log(sim: Simulation) -> float:
    used = sim.state.parts[Part.MADE] - sim.state.parts[Part.TAIL]
    limits = column(sim.laws.nodes, lambda node: node.log_limit_bytes)[:, None]
    return float((used / limits).max())


def _redo_buffer(sim: Simulation) -> float:
    limits = column(sim.laws.nodes, lambda node: node.buffer_limit_bytes)[:, None]
    return float((sim.state.parts[Part.FILL] / limits).max())


def _data_memory(sim: Simulation) -> float:
    """Of the whole of it, as data nodes report it: rows are refused when only MinFreePct is left."""
    used = column(sim.state.node_state, lambda node: node.memory_bytes)
    usable = [
        usable_data_memory(node_settings(sim.outage.plan, one.nodes[0])) for one in sim.scenario.node_classes
    ]
    return float((used / column(sim.laws.nodes, lambda node: node.memory_limit_bytes) * usable).max())


def _undo_log(sim: Simulation) -> float:
    used = column(sim.state.node_state, lambda node: node.undo_used_bytes)
    return float((used / column(sim.laws.nodes, lambda node: node.undo_limit_bytes)).max())


def _tablespace(sim: Simulation) -> float:
    used = column(sim.state.node_state, lambda node: node.space_bytes)
    return float((used / column(sim.laws.nodes, lambda node: node.space_limit_bytes)).max())


def recording(sim: Simulation) -> tuple[int, float]:
    """The moment that is being recorded, and how much of it has passed."""
    per_bucket = int(sim.laws.run.steps_per_bucket)
    bucket = max(0, (sim.step - 1) // per_bucket)
    return bucket, max(1, sim.step - bucket * per_bucket) * sim.scenario.step_s


def _disk(sim: Simulation) -> float:
    bucket, seconds = recording(sim)
    busy = sim.history.busy[bucket, :, 0] * sim.scenario.step_s / seconds
    return min(1.0, float(busy.max(initial=0.0)))


def _rate(which: OfCluster) -> Callable[[Simulation], float]:
    def per_s(sim: Simulation) -> float:
        bucket, seconds = recording(sim)
        return float(sim.history.totals[bucket, which]) / seconds

    return per_s


def _moved(sim: Simulation) -> float:
    if not sim.reorganising:
        return 0.0
    last = sim.reorganising[-1]
    return min(1.0, max(0.0, (sim.now_s - last.from_s) / (last.to_s - last.from_s)))


def _started(sim: Simulation) -> float:
    return float(sum(node.status is Status.STARTED for node in state_of(sim).nodes.values()))


SHARES: dict[str, Callable[[Simulation], float]] = {
    "redo_log": _redo_log,
    "redo_buffer": _redo_buffer,
    "data_memory": _data_memory,
    "undo_log": _undo_log,
    "tablespace": _tablespace,
    "disk": _disk,
    "reorganised": _moved,
}
"""Of what there is, of the fullest (of disks: the busiest); typed as `80%` or `0.8`."""
COUNTS: dict[str, Callable[[Simulation], float]] = {
    "offered": _rate(OfCluster.OFFERED),
    "accepted": _rate(OfCluster.ACCEPTED),
    "refused": _rate(OfCluster.REFUSED),
    "nodes_started": _started,
    "nodes_down": lambda sim: len(state_of(sim).nodes) - _started(sim),
    "starting": lambda sim: sum(node.status is Status.STARTING for node in state_of(sim).nodes.values()),
    "node_groups": lambda sim: len(set(state_of(sim).groups.values()) - {65536}),
    "stopped": lambda sim: sim.outage.stop is not None,
    "stands_still": lambda sim: bool(sim.laws.run.stands_still),
    "rolling": is_rolling,
    "config_read": lambda sim: state_of(sim).served is not None,
    "configured": lambda sim: len(state_of(sim).configured),
    "backups_done": lambda sim: sum(not one.error for one in state_of(sim).backups),
    "backup_runs": lambda sim: bool(
        (run := state_of(sim).backup) is not None and run.ended_s is None and not run.error
    ),
    "full_disks": lambda sim: sum(one.to_s is None for one in sim.full_disks),
    "lcp": lambda sim: state_of(sim).lcp_id,
    "load": lambda sim: load_of(sim),
}
"""Transactions per second, how many, or 1 where it is so and 0 where not."""
RATES = ("offered", "accepted", "refused")


def load_of(sim: Simulation) -> float:
    """How many times the load of the workload clients send."""
    from ndbplan.simulate.events.orders import LOAD

    return sim.bursts.get(LOAD, 1.0)


def _node(sim: Simulation, name: str) -> float:
    number = whole_number(name)
    node = None if number is None else state_of(sim).nodes.get(number)
    if node is None:
        raise QuantityError(f"there is no data node '{readable(name, 40)}'", fix="name one by its id: node:3")
    return float(node.status is Status.STARTED)


def _errors(sim: Simulation, name: str) -> float:
    code = whole_number(name)
    if code not in ERROR_CODES:
        known = ", ".join(str(one) for one in sorted(ERROR_CODES))
        raise QuantityError(f"error '{readable(name, 40)}' is not counted", fix=f"one of {known}")
    return float(sim.state.errors[ERROR_CODES.index(code)])


def _setting(sim: Simulation, name: str) -> float:
    plan = state_of(sim).plan
    if not knows("DB", name, plan.version):
        raise QuantityError(
            f"data nodes of NDB {plan.version} have no parameter '{readable(name, 40)}'",
            fix="name another one, such as setting:RedoBuffer",
        )
    found = node_settings(plan).value(name)
    return float(found) if isinstance(found, int | float) else 0.0


def _problems(sim: Simulation, name: str) -> float:
    """Worked out anew only when the plan is another one."""
    return float(sum(problem.rule == name for problem in check(state_of(sim).plan)))


OF_ONE: dict[str, Callable[[Simulation, str], float]] = {
    "node": _node,
    "errors": _errors,
    "setting": _setting,
    "problem": _problems,
}
"""Quantities with a name behind a colon: `node:3` is started, transactions refused with `errors:410` so far,
the value of `setting:RedoBuffer`, how often a check finds `problem:redo-log-size`."""
NAMES = (*SHARES, *COUNTS)


def known(name: str) -> bool:
    """Whether a quantity is called so, whatever stands behind its colon."""
    kind, colon, _ = name.partition(":")
    return kind in OF_ONE if colon else name in NAMES


def value(name: str, sim: Simulation) -> float:
    """What a quantity is now. Raises QuantityError for one that is none."""
    kind, colon, rest = name.partition(":")
    if colon and kind in OF_ONE:
        return OF_ONE[kind](sim, rest)
    found = SHARES.get(name) or COUNTS.get(name)
    if found is None:
        more = ", ".join(f"{one}:…" for one in OF_ONE)
        raise QuantityError(
            f"'{readable(name, 40)}' is not a quantity", fix=f"one of {', '.join(NAMES)}, {more}"
        )
    return float(found(sim))
