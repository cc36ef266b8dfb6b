"""The ring in which data nodes send heartbeats, where the configuration states its order (HeartbeatOrder).

Source: manual, HeartbeatOrder: from the lowest to the highest value; where all are 0 it is the order in which
the nodes joined. Data nodes start with no other values than these: all 0, or all above 0 and distinct
(QmgrMain.cpp, check_hb_order_config).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


def stated_ring(orders: Mapping[int, int]) -> tuple[int, ...] | None:
    """Node ids in the order of the ring by the HeartbeatOrder of each; None: that of joining decides."""
    if not any(orders.values()) or order_refused(orders):
        return None
    return tuple(sorted(orders, key=lambda node_id: orders[node_id]))


def order_refused(orders: Mapping[int, int]) -> bool:
    """Whether data nodes do not start with these values of HeartbeatOrder, by node id."""
    values = set(orders.values())
    return values > {0} or (values != {0} and len(values) < len(orders))


def most_in_a_row(ring: Collection[int], silent: Collection[int]) -> int:
    """How many silent nodes stand side by side in a ring, at most of any.

    `ring`: the ids of all nodes that were in it, in order. Source: as `survival.in_a_row`.
    """
    order = list(ring)
    first = next((at for at, node_id in enumerate(order) if node_id not in silent), None)
    if first is None:
        return len(order)
    longest = here = 0
    for node_id in (*order[first:], *order[:first]):
        here = here + 1 if node_id in silent else 0
        longest = max(longest, here)
    return longest
