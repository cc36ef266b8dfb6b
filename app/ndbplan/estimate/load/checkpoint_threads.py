"""LDM threads that write a checkpoint: each has its part of the node's speed, and one without rows uses none.

Source: engine model 4.4 (speeds are those of a node, divided by its LDM threads); running 8.4.8 cluster (LDM
threads beyond the log parts stay empty; a number that does not divide them has uneven shares).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.load.partial_checkpoint import Change
from ndbplan.estimate.storage.node_data import NodeData

_NEARLY_EVEN = 1e-6
"""Shares that differ by less differ by rounding."""


class Writers(NamedTuple):
    """The LDM threads of a node that write a checkpoint."""

    threads: int
    """Those with something to write."""
    speed_share: float
    """Share of the node's speed that they reach: a checkpoint ends with the fullest thread. 1: all alike."""


def writers_of(settings: NodeSettings, amounts: Iterable[float], ldm_threads: int) -> Writers:
    """Of LDM threads that write so much each; nothing written: all of them, evenly.

    Before 7.4.1 speeds are not divided: few threads write at once, each at the whole of it.
    """
    written = [amount for amount in amounts if amount > 0]
    if not written:
        return Writers(max(1, ldm_threads), 1.0)
    share = sum(written) / (max(written) * max(ldm_threads, len(written)))
    divided = settings.features.checkpoint_speed_by_parameters and share < 1.0 - _NEARLY_EVEN
    return Writers(len(written), share if divided else 1.0)


def writers_of_rows(settings: NodeSettings, data: NodeData, ldm_threads: int) -> Writers:
    """Where all rows of a node are written."""
    return writers_of(settings, (one.row_bytes for _, one in data.by_ldm), ldm_threads)


def writers_of_changes(settings: NodeSettings, changes: Iterable[Change], ldm_threads: int) -> Writers:
    """Where what a workload changes is written."""
    by_ldm: dict[int, float] = {}
    for change in changes:
        part = change.part
        each = part.row_bytes / part.rows if part.rows else 1.0
        bytes_per_s = each * (change.inserts + change.updates + change.deletes)
        whole = sum(share for _, share in part.by_ldm)
        for ldm, share in part.by_ldm:
            by_ldm[ldm] = by_ldm.get(ldm, 0.0) + bytes_per_s * share / whole
    return writers_of(settings, by_ldm.values(), ldm_threads)
