"""Disks in the kernel: who gets how much of one that is short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ndbplan.simulate import columns as col
from ndbplan.simulate.kernel import disks


def _granted(**asked: float) -> Any:
    """What a disk of 100 bytes in a step grants to work in bytes."""
    rows = np.zeros((1, col.D_COLUMNS))
    rows[0, col.D_BYTES_PER_S], rows[0, col.D_LCP_SHARE] = 100.0, 0.73
    work = np.zeros((1, col.W_COLUMNS))
    for name, value in asked.items():
        work[0, getattr(col, name)] = value
    share: Any = disks.share_disks
    getattr(share, "py_func", share)(rows, work, 1.0)
    return work[0]


def test_a_short_disk_without_log_parts_drains_none() -> None:
    granted = _granted(W_UNDO=500.0)
    assert granted[col.W_REDO_GRANT] < 0, "there is no log part to drain"
    assert granted[col.W_LIGHT_GRANT] == pytest.approx(disks.USABLE * 100 / 500)


def test_redo_and_undo_share_what_is_left_by_what_they_ask() -> None:
    granted = _granted(W_REDO=300.0, W_UNDO=100.0)
    assert granted[col.W_REDO_GRANT] == pytest.approx(0.75 * disks.USABLE * 100)
