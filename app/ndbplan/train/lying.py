"""By which plan the rows of a table lie: one that was made in the session lies on the groups that there were.

lies_by(sim, table)      # the plan, its data nodes in the node groups that the table is on
"""

from __future__ import annotations

from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, Process
from ndbplan.plan.tables import Table
from ndbplan.simulate.simulation import Simulation
from ndbplan.train.state import ClusterState, state_of


def lies_by(sim: Simulation, table: Table) -> Plan:
    """The plan by which the rows of a table lie: one that is reorganised lies on new nodes already."""
    state = state_of(sim)
    if table.id in state.moved and any(one is table for one in sim.outage.plan.tables):
        return sim.outage.plan
    return made_on_later_groups(sim, table.id) or state.plan


def made_on_later_groups(sim: Simulation, table_id: str) -> Plan | None:
    """The plan by which a table lies that was made when there were node groups that are not in the plan.

    None: it is no such table. Where other tables lie in it says nothing of them.
    """
    state = state_of(sim)
    on = {group for made, group in state.made_on if made == table_id}
    if not any(state.groups[node_id] in on for node_id in later_nodes(sim)):
        return None
    return state.plan.replace(processes=tuple(_in_group(one, state, on) for one in state.plan.processes))


def later_nodes(sim: Simulation) -> list[int]:
    """Data nodes of node groups that are not in the plan."""
    state = state_of(sim)
    planned = node_group_ids(state.plan)
    none = NODE_GROUP_NONE
    return [i for i, group in state.groups.items() if group != none and planned.get(i) == none]


def _in_group(process: Process, state: ClusterState, on: set[int]) -> Process:
    """A data node with the group that it has, if a table is on that."""
    if not isinstance(process, DataNode) or process.node_id not in state.groups:
        return process
    group = state.groups[process.node_id]
    return process.model_copy(update={"node_group": group if group in on else NODE_GROUP_NONE})
