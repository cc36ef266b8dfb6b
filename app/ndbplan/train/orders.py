"""Orders of the management client beside stops and starts: single user mode, node groups, what is logged."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.simulate.events import orders as engine
from ndbplan.simulate.events.handlers import Order, at_once, handles, planned
from ndbplan.simulate.outage import clients_of
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.train.state import ClusterState, Status, state_of

ENTERS_S = 7.0
"""From ENTER SINGLE USER MODE until it is so [8.4.8: 7.2 s]."""


@dataclass(frozen=True)
class EnterSingleUser(Order):
    """Only one API node is to have access."""

    node_id: int


@dataclass(frozen=True)
class ExitSingleUser(Order):
    """All have it again."""


@dataclass(frozen=True)
class CreateGroup(Order):
    """Data nodes without a node group get one."""

    node_ids: tuple[int, ...]


@dataclass(frozen=True)
class DropGroup(Order):
    """An empty node group is taken away."""

    group: int


@dataclass(frozen=True)
class SetSeverities(Order):
    """What the cluster log takes: severities, and whether it takes anything."""

    severities: frozenset[str]
    is_logging: bool = True


@dataclass(frozen=True)
class SetLevel(Order):
    """How loud a node may be in the cluster log."""

    node_id: int
    category: str
    level: int


@dataclass(frozen=True)
class HasEntered:
    """Single user mode is entered."""

    node_id: int


_KINDS: tuple[type[Order], ...] = (
    EnterSingleUser, ExitSingleUser, CreateGroup, DropGroup, SetSeverities, SetLevel,
)  # fmt: skip
for _kind in _KINDS:
    planned(_kind)(at_once)


@handles(EnterSingleUser)
def enter_single_user(sim: Simulation, order: EnterSingleUser) -> None:
    """Started nodes shut the others out; one that is told in the mode moves the access."""
    state, at_s = state_of(sim), sim.at_s
    up = [i for i, node in state.nodes.items() if node.status in (Status.STARTED, Status.SINGLE_USER)]
    if not up:
        return
    if state.single_user is None:
        for node_id in up:
            state.say(at_s, "single_begins", node_id)
            state.change(node_id, status=Status.STOPPING, phase=1)
        state.mode_changes = True
        sim.later(Due(at_s + ENTERS_S, HasEntered(order.node_id), of_cluster=False))
    else:
        _enter(sim, order.node_id, up)


@handles(HasEntered)
def has_entered(sim: Simulation, event: HasEntered) -> None:
    """Unless the cluster stopped meanwhile."""
    state = state_of(sim)
    if state.mode_changes:
        _enter(sim, event.node_id, [i for i, one in state.nodes.items() if one.status is Status.STOPPING])


def _enter(sim: Simulation, node_id: int, nodes: list[int]) -> None:
    state = state_of(sim)
    state.single_user, state.mode_changes = node_id, False
    for one in nodes:
        state.say(sim.at_s, "single_entered", one, other=node_id)
        state.change(one, status=Status.SINGLE_USER, phase=0)
    engine.admit(sim, engine.Admit(_share(state, node_id), at_s=sim.at_s))


def _share(state: ClusterState, node_id: int) -> float:
    """How much of the clients' load comes through one API node: they spread evenly."""
    clients = clients_of(state.plan)
    process = state.process(node_id)
    return 1.0 / len(clients) if process in clients else 0.0


def exit_single_user(sim: Simulation, _order: ExitSingleUser) -> None:
    """Outside the mode it does nothing."""
    state = state_of(sim)
    if state.single_user is None:
        return
    for node_id, node in state.nodes.items():
        if node.status is Status.SINGLE_USER:
            state.say(sim.at_s, "single_left", node_id)
            state.change(node_id, status=Status.STARTED)
    state.single_user = None
    engine.admit(sim, engine.Admit(1.0, at_s=sim.at_s))


@handles(CreateGroup)
def create_group(sim: Simulation, order: CreateGroup) -> None:
    """They get the lowest number that is free."""
    state = state_of(sim)
    number = free_group(state)
    groups = tuple((node_id, number) for node_id in order.node_ids)
    state.groups.update(groups)
    engine.regroup(sim, engine.Regroup(groups, at_s=sim.at_s))


def free_group(state: ClusterState) -> int:
    """The number that the next node group gets."""
    return next(number for number in range(len(state.groups) + 1) if number not in state.groups.values())


@handles(DropGroup)
def drop_group(sim: Simulation, order: DropGroup) -> None:
    """Its nodes have none again."""
    state = state_of(sim)
    groups = tuple((i, NODE_GROUP_NONE) for i, group in state.groups.items() if group == order.group)
    state.groups.update(groups)
    engine.regroup(sim, engine.Regroup(groups, at_s=sim.at_s))


@handles(SetSeverities)
def set_severities(sim: Simulation, order: SetSeverities) -> None:
    """From now on only these are written."""
    state = state_of(sim)
    state.severities, state.is_logging = order.severities, order.is_logging


@handles(SetLevel)
def set_level(sim: Simulation, order: SetLevel) -> None:
    """From now on lines up to this level are written."""
    state_of(sim).levels[order.node_id, order.category] = order.level
