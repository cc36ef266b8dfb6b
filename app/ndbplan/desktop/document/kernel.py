"""Waiting for the compiled kernel, in a thread of the window."""

from __future__ import annotations

from ndbplan.base.errors import Cancelled
from ndbplan.desktop.document.tasks import Task


def prepare_kernel(task: Task) -> None:
    """Wait until the kernel is compiled, and say how far that is. Raises Cancelled."""
    from ndbplan.simulate.kernel import ready as kernel

    if not kernel.is_prepared():
        task.report(None, f"{kernel.announcement()[:1].upper()}{kernel.announcement()[1:]}")
        kernel.wait_until_prepared(task.report, task.cancelled)
    if task.cancelled():
        raise Cancelled
    kernel.prepare()
