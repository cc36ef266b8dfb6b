"""What a checkpoint writes beside rows: each fragment has a file of its own, system tables' too.

Source: running 7.4.10 cluster; see lcp_fragment_file_bytes and lcp_system_tables in constants.json.
"""

from __future__ import annotations

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.settings import NodeSettings, replicas_of
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint_speed import is_partial
from ndbplan.estimate.storage.node_data import NodeData

_CONTROL_FILE_BYTES = 4096.0
"""What a partial checkpoint writes when nothing has changed (NDB source)."""


def bytes_beside_rows(
    settings: NodeSettings, constants: Constants, data: NodeData | None, ldm_threads: int
) -> Quantity:
    """Bytes of the files that a checkpoint of a node writes, without their rows.

    `data`: what the node holds; None: nothing but system tables, which have a fragment in each LDM thread for
    each replica.
    """
    if is_partial(settings):
        return Quantity.stated("a control file", _CONTROL_FILE_BYTES, "bytes", "NDB source")
    own = sum(part.in_turn * len(part.by_ldm) for part in data.tables) if data is not None else 0.0
    system = constants["lcp_system_tables"].value * max(1, ldm_threads) * replicas_of(settings)
    files = Quantity.stated("fragments of a node, those of system tables too", own + system, "count", "plan")
    return (files * constants["lcp_fragment_file_bytes"]).in_unit("bytes")
