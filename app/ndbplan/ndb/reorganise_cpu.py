"""Which threads spend the processor time of an online reorganisation.

The data is `resources/ndb/reorganise_cpu.json`.
"""

from __future__ import annotations

from functools import cache

from ndbplan.base.resources import read_json


@cache
def thread_shares() -> dict[str, dict[str, float]]:
    """Share of each kind of thread, on `old nodes` and on `new nodes`."""
    shares = read_json("ndb/reorganise_cpu.json")
    return {nodes: shares[nodes] for nodes in ("old nodes", "new nodes")}
