"""Nodes by their ids, as sentences name them."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_LISTED = 8
"""Ids that a sentence names: judgement."""


def listed(node_ids: Iterable[int]) -> str:
    """`1`, `1 and 2`, `1, 2 and 3`."""
    ids = [str(node_id) for node_id in sorted(node_ids)]
    return ids[0] if len(ids) == 1 else f"{', '.join(ids[:-1])} and {ids[-1]}"


def data_nodes(node_ids: Iterable[int]) -> str:
    """`data node 1`, `data nodes 1, 2 and 3`; of many how many: `36 data nodes (1, 5, 9 … 141)`."""
    ids = sorted(node_ids)
    if len(ids) > _MOST_LISTED:
        return f"{len(ids)} data nodes ({', '.join(map(str, ids[:3]))} … {ids[-1]})"
    return f"data node{'s' if len(ids) > 1 else ''} {listed(ids)}"
