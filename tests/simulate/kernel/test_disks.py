"""Disks in the kernel: who gets how much of one that is short."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.base.row_types import rows
from ndbplan.simulate.kernel import disks
from ndbplan.simulate.world.laws import Disk
from ndbplan.simulate.world.state import DiskWork


def _granted(**asked: float) -> DiskWork:
    """What a disk of 100 bytes in a step grants to work in bytes."""
    disk, work = rows(Disk, 1), rows(DiskWork, 1)
    disk[0].write_bytes_per_s, disk[0].lcp_share = 100.0, 0.73
    for name, value in asked.items():
        setattr(work[0], name, value)
    share: Any = disks.share_disks
    getattr(share, "py_func", share)(disk, work, 1.0)
    return work[0]


def test_a_short_disk_without_log_parts_drains_none() -> None:
    granted = _granted(undo_bytes=500.0)
    assert granted.redo_grant_bytes < 0, "there is no log part to drain"
    assert granted.light_grant == pytest.approx(disks.USABLE * 100 / 500)


def test_redo_and_undo_share_what_is_left_by_what_they_ask() -> None:
    granted = _granted(redo_bytes=300.0, undo_bytes=100.0)
    assert granted.redo_grant_bytes == pytest.approx(0.75 * disks.USABLE * 100)
