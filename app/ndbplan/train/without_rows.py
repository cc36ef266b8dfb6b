"""What data nodes hold for system tables; the page of an empty fragment of a user is its table's own.

    without_rows(sim, node_id)      # WithoutRows(data_bytes, hash_bytes)

Of consoles alone: what a plan needs is estimated from its rows.
"""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.estimate.stored import ldm_threads
from ndbplan.ndb.console import form
from ndbplan.ndb.hash_index import hash_index_facts
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.simulate.simulation import Simulation
from ndbplan.train.state import state_of
from ndbplan.train.system_tables import system_hash_pages


class WithoutRows(NamedTuple):
    """Bytes that a data node holds beside what rows take."""

    data: int
    """Of DataMemory, whole pages; hash indexes are in it where they have no memory of their own."""
    hash_index: int
    """Of hash indexes."""
    has_index_memory: bool
    """They have one (up to 7.5)."""

    @property
    def index_memory(self) -> int:
        """Bytes of IndexMemory; 0 where there is none."""
        return self.hash_index if self.has_index_memory else 0


def without_rows(sim: Simulation, node_id: int) -> WithoutRows:
    """What a data node holds without a row of a user.

    System tables lie on the node groups that there were at the first start [8.4.8, 7.4.10: nodes of a group
    that was made later hold 0 bytes until a table is made or reorganised].
    """
    state, page_bytes = state_of(sim), hash_index_facts().page_bytes
    plan = state.plan
    fragments = _fragments_of_a_table(plan, node_id)
    # Their rows are few.
    rows = int(form(plan.version, "system_row_pages")) * PAGE_BYTES if fragments else 0
    pages = system_hash_pages(plan, fragments)
    hashed = pages * page_bytes
    has_own = int(form(plan.version, "index_page_kib")) * 1024 != PAGE_BYTES
    whole = rows if has_own else rows + -(-hashed // PAGE_BYTES) * PAGE_BYTES
    return WithoutRows(whole, hashed, has_own)


def _fragments_of_a_table(plan: Plan, node_id: int) -> int:
    """Fragments on a data node of a table made at the first start: of each LDM thread one for a replica."""
    groups = node_group_ids(plan)
    node = next((one for one in plan.data_nodes if one.node_id == node_id), None)
    if node is None or groups.get(node_id, NODE_GROUP_NONE) == NODE_GROUP_NONE:
        return 0
    return ldm_threads(plan, node) * sum(1 for group in groups.values() if group == groups[node_id])
