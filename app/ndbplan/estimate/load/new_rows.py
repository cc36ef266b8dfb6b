"""What checkpoints have to write of rows that come to stay, however few there were before.

Source: engine model 5.3: a checkpoint holds every row that there was when it began, so each new one once.
"""

from __future__ import annotations

from collections.abc import Iterable

from ndbplan.base.quantity import Quantity, Term
from ndbplan.estimate.load.demand import TableLoad
from ndbplan.estimate.load.partial_checkpoint import Change, loads_by_table

_SAME = 1.0 + 1e-3
"""Rates that differ by less are one: a rate that is all but at full speed keeps its range."""


def new_bytes_per_s(changes: Iterable[Change], tables: tuple[TableLoad, ...]) -> float:
    """Bytes a second by which the rows of a node grow, as checkpoints write them, less those that go again.

    Source: as the module's.
    """
    loads = loads_by_table(tables)
    return sum(
        loads[one.part.table.id, one.part.unique_index].checkpoint_row_bytes
        * max(0.0, one.inserts - one.deletes)
        for one in changes
    )


def at_least(rate: Quantity, new: float, speed: Quantity) -> Quantity:
    """A rate of writing, in bytes per second, that keeps up with `new` bytes a second as far as `speed` can.

    Source: as the module's.
    """
    value = min(new, speed.value)
    if value <= rate.value * _SAME:
        return rate
    why = (*rate.why, Term("rows that come to stay, each written once at least", new, "bytes/s", "workload"))
    if rate.value <= 0:
        ends = min(new, speed.low), min(new, speed.high)
    else:
        # As uncertain as before: what is new adds to what was estimated, and says nothing of how well.
        ends = rate.low * value / rate.value, min(rate.high * value / rate.value, max(rate.high, speed.high))
    return Quantity.spanning(value, ends, "bytes/s", why)
