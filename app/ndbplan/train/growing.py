"""Data nodes that were planned for and do not run yet: started, given a node group, and given their rows.

LiveCluster.begin(plan, reserved=1)      # a node group more, configured, that does not run
Reorganise()                             # as ALTER TABLE ... REORGANIZE PARTITION, of every table
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ndbplan.configuration.node_groups import incomplete_node_group
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.stored import distribute
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode
from ndbplan.simulate.events.growth import NodesCome, come
from ndbplan.simulate.events.handlers import Asked, Order, handles, planned
from ndbplan.simulate.simulation import Due, Simulation, Story
from ndbplan.train.object_ids import with_map
from ndbplan.train.state import Status, state_of


@dataclass(frozen=True)
class Reorganise(Order):
    """Rows are moved to every node group that has none, while transactions go on."""

    table_id: str = ""
    """Only those of this table: what all tables share follows with the last of them. Empty: all at once."""


def groups_set_apart(plan: Plan) -> int:
    """Node groups that the data nodes suffice for which the plan keeps without one, if it can grow online."""
    if not plan.features.add_nodes_online or incomplete_node_group(plan) is not None:
        return 0
    aside = sum(1 for node in plan.data_nodes if node.node_group == NODE_GROUP_NONE)
    return aside // no_of_replicas(plan)


def set_apart(story: Story, plan: Plan) -> tuple[Story, NodesCome, Plan]:
    """A story in which nothing is added yet; what adding is; and the plan with the new nodes reserved."""
    growth = next(due.event for due in story.dues if isinstance(due.event, NodesCome))
    processes = tuple(
        one.model_copy(update={"node_group": NODE_GROUP_NONE})
        if isinstance(one, DataNode) and one.id not in growth.old
        else one
        for one in growth.after.processes
    )
    reserved = plan.replace(hosts=growth.after.hosts, processes=processes)
    dues = tuple(due for due in story.dues if due.event is not growth)
    scenario = replace(story.scenario, plan=reserved)
    new = frozenset(node.id for node in growth.after.data_nodes) - growth.old
    told = story._replace(scenario=scenario, dues=dues, absent=frozenset(), reserved=new, events=())
    return told, growth, reserved


@planned(Reorganise)
def reorganise_now(order: Reorganise, _asked: Asked) -> Iterator[Due]:
    """It begins at once."""
    yield Due(order.at_s, order)


@handles(Reorganise)
def reorganise(sim: Simulation, order: Reorganise) -> None:
    """Nothing is moved unless there is a node group that has no rows, all of it started."""
    state = state_of(sim)
    if not may_move(sim) or order.table_id in state.moved:
        return
    growth = state.growth
    assert growth is not None
    left = {move.table_id for move in growth.moves} - state.moved
    if order.table_id and order.table_id not in left:
        return
    come(sim, growth, order.table_id if left - {order.table_id} else "", state.moved)
    state.moved |= {order.table_id} if order.table_id else left
    for table in state.plan.tables:
        if table.id in state.moved and any(one.id == table.id for one in growth.after.tables):
            state.ids = with_map(state.ids, state.plan, distribute(growth.after, table).hash_map_name)


def may_move(sim: Simulation) -> bool:
    """Whether a node group waits for rows."""
    state = state_of(sim)
    if state.growth is None or sim.is_grown or sim.is_moving:
        return False
    new = [node.node_id for node in state.growth.after.data_nodes if node.id not in state.growth.old]
    return all(
        state.group(i) is not None and state.nodes[i].status is Status.STARTED
        for i in new
        if i in state.nodes
    )
