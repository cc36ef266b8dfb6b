"""Disks in the kernel: who gets how much of one that is short."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from ndbplan.base.row_types import rows
from ndbplan.simulate.world.laws import Disk
from ndbplan.simulate.world.state import DiskWork


@pytest.fixture
def share_disks(kernel_module: Callable[[str], ModuleType]) -> Any:
    """The law, as machine code and as plain Python."""
    return kernel_module("disks").share_disks


def _granted(share_disks: Any, lcp_share: float = 0.73, **asked: float) -> DiskWork:
    """What a disk of 100 bytes in a step grants to work in bytes."""
    disk, work = rows(Disk, 1), rows(DiskWork, 1)
    disk[0].write_bytes_per_s, disk[0].usable_share, disk[0].lcp_share = 100.0, 0.99, lcp_share
    for name, value in asked.items():
        setattr(work[0], name, value)
    share_disks(disk, work, 1.0)
    return work[0]


def test_a_short_disk_without_log_parts_drains_none(share_disks: Any) -> None:
    granted = _granted(share_disks, undo_bytes=500.0)
    assert granted.redo_grant_bytes < 0, "there is no log part to drain"
    assert granted.light_grant == pytest.approx(99.0 / 500)


def test_redo_and_undo_share_what_is_left_by_what_they_ask(share_disks: Any) -> None:
    granted = _granted(share_disks, redo_bytes=300.0, undo_bytes=100.0)
    assert granted.redo_grant_bytes == pytest.approx(0.75 * 99.0)


def test_what_a_checkpoint_leaves_nothing_of_is_not_written_backwards(share_disks: Any) -> None:
    """Without log parts on its disk a checkpoint may take all of it."""
    granted = _granted(share_disks, lcp_share=1.0, lcp_bytes=500.0, undo_bytes=50.0)
    assert granted.light_grant == 0.0
    assert 0.0 < granted.heavy_grant <= 100.0 / 500
