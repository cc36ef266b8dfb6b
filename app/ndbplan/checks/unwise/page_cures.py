"""What makes room for pages of disk data: DiskPageBufferMemory as it fits, or with more memory in the hosts.

room_for_pages(now, share, look)
"""

from __future__ import annotations

from functools import partial

from ndbplan.base.units import format_bytes_binary
from ndbplan.checks.problem import Edit, Look, Solution, WaysOut
from ndbplan.checks.solutions import completed, ways_out
from ndbplan.checks.unwise.memory_cures import larger_hosts, with_limits
from ndbplan.edits.solutions import memory_size, set_everywhere
from ndbplan.estimate.estimation import Estimation, chosen_workload

_PAGES = "disk-page-buffer"
_PAGE_STEP = 1.05
"""How far a buffer is raised at a time: judgement."""
_PAGE_BUFFER = "DiskPageBufferMemory"


def room_for_pages(now: Estimation, share: float, look: Look) -> WaysOut:
    """Ways to let DiskPageBufferMemory hold so much of what lies on disk: as it is, or with more memory."""
    pages = max(node.pages_bytes.value for node in now.under(chosen_workload(now.plan)).disk_data.nodes)
    size, raised = _page_buffer(now, share, pages)
    raised, limits = with_limits(now, raised)
    words = f"raise {_PAGE_BUFFER} to {format_bytes_binary(size)}{limits}"
    edit, reason = completed(look, now.plan, raised, _PAGES)
    if not reason:
        why = f"the hosts have the memory; the files of disk data take {format_bytes_binary(pages)}"
        return ways_out([Solution(f"R{words[1:]}", why, edit)], "")
    bought, _ = larger_hosts(now, raised, look, _PAGES, words)
    return ways_out(bought, f"{words}, if memory allows")


def _page_buffer(now: Estimation, share: float, pages: float) -> tuple[int, Edit]:
    """The least size, of those that people write, that holds the share: not all of it is for pages."""
    least = share * pages
    while True:
        size = memory_size(least)
        raised: Edit = partial(set_everywhere, name=_PAGE_BUFFER, value=size)
        then = now.of(raised(now.plan))
        held = then.under(chosen_workload(then.plan)).disk_data.nodes
        if size > 2 * pages or all(node.hit_ratio.value >= share for node in held):
            return size, raised
        least = size * _PAGE_STEP
