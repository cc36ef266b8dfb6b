"""When the redo log is full (error 410) though checkpoints run, because the growing rows make them longer.

Checkpoint by checkpoint, as the simulation does it: each writes what is there, at the speed that limits and
disk leave it, and frees the log before its start, or before the start of the one before it (up to 7.3).

Source: `Dblqh::setLogTail`, the log is free when a checkpoint is complete; checkpoints are those of
`partial_checkpoint`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ndbplan.base.kept import kept_by_value
from ndbplan.estimate.load.partial_checkpoint import partial_fraction, whole_parts, written_bytes
from ndbplan.estimate.load.turns import lengthened

FIRST_START_S = 2.0
"""The first checkpoint begins with the first log."""
HORIZON_S = 10 * 365 * 86400.0
"""A log that lasts longer is not called full."""
_STEADY = 64
"""Checkpoints after which nothing changes any more when the rows do not grow."""
_SAME = 1e-12
"""Share by which two checkpoints of rows that do not grow differ when all that follow are alike."""
_MOST = 2000
"""Checkpoints that are looked at one by one; partial ones do not get longer for rows that stay."""
_AHEAD = 8.0
"""Full checkpoints are looked at one by one as soon as so many more would fill the log."""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """How one data node writes checkpoints under a steady load; all rates per second."""

    rows_bytes: float
    """Bytes of its rows in a full checkpoint."""
    growth: float
    """Bytes by which they grow."""
    updated: float
    """Bytes of rows that are updated, each time anew."""
    new: float
    """Bytes of rows that are inserted."""
    weighted: float
    """Bytes of rows that are inserted and deleted, weighted as a partial checkpoint counts them."""
    recovery_work: float | None
    """RecoveryWork as a share; None: full checkpoints."""
    fragment_share: float
    """Share of an LDM thread's rows that a fragment of a changed table has."""
    speed: Callable[[float], float]
    """Bytes a second that a checkpoint writes while so large a share of the log is in use.

    Equal speeds compare equal: what was answered once is known."""
    pause_s: float
    fragments: float
    """Fragments that an LDM thread writes one after the other."""
    spans_two: bool
    """The log reaches back to the start of the checkpoint before the last complete one."""
    every_s: float = 0.0
    """From the begin of one to that of the next at least."""

    def rows_at(self, seconds: float) -> float:
        """Bytes of the rows so long after the start."""
        return max(0.0, self.rows_bytes + self.growth * seconds)

    def interval_s(self, start_s: float, since_s: float, used: float) -> float:
        """From the begin of the checkpoint that starts now to that of the next."""
        return max(self.every_s, self.duration_s(start_s, since_s, used) + self.pause_s)

    def duration_s(self, start_s: float, since_s: float, used: float) -> float:
        """How long a checkpoint takes that starts now; `since_s`: since the one before it started."""
        speed = max(1.0, self.speed(used))
        rows = self.rows_at(start_s)
        if self.recovery_work is not None and rows > 0:
            # A row that is updated twice is written once.
            updated = rows * -math.expm1(-self.updated * since_s / rows)
            changed = min(1.0, (updated + self.weighted * since_s) / rows)
            in_full = whole_parts(partial_fraction(changed, self.fragment_share, self.recovery_work))
            growth = in_full * self.growth / speed
            written = written_bytes(rows, min(rows, updated + self.new * since_s), in_full)
            return written / speed * lengthened(growth, self.fragments)
        return rows / speed * lengthened(self.growth / speed, self.fragments)


@kept_by_value(4096)
def full_after_s(checkpoints: Checkpoints, log_per_s: float, usable_bytes: float) -> float | None:
    """Seconds until a log part that is written at `log_per_s` is full; None: it never is."""
    if log_per_s <= 0:
        return None
    spans = 3.0 if checkpoints.spans_two else 2.0
    start, interval = FIRST_START_S, FIRST_START_S
    if checkpoints.growth > 0 and checkpoints.recovery_work is None:
        start = max(start, _safe_until(checkpoints, log_per_s, usable_bytes, spans))
        if start >= HORIZON_S:
            return None
        if start > FIRST_START_S:
            # Settled there: the interval that follows from itself.
            for _ in range(_STEADY):
                used = min(1.0, spans * interval * log_per_s / usable_bytes)
                interval = checkpoints.interval_s(start, interval, used)
    before = max(0.0, start - interval)
    tail = log_per_s * max(0.0, start - (spans - 1.0) * interval) if start > FIRST_START_S else 0.0
    last = in_use = 0.0
    for count in range(_MOST):
        used = min(1.0, (log_per_s * start - tail) / usable_bytes)
        ends = checkpoints.duration_s(start, start - before, used) + checkpoints.pause_s
        length = max(checkpoints.every_s, ends)
        full = (usable_bytes + tail) / log_per_s
        if full <= start + ends:
            return max(full, start)
        tail = log_per_s * (before if checkpoints.spans_two else start)
        before, start = start, start + length
        if checkpoints.growth <= 0:
            if count > _STEADY or (abs(length - last) <= _SAME * length and abs(used - in_use) <= _SAME):
                return None
            last, in_use = length, used
    return None


def _safe_until(checkpoints: Checkpoints, log_per_s: float, usable_bytes: float, spans: float) -> float:
    """A moment up to which the log surely holds what checkpoints of that size need."""

    def fits(seconds: float) -> bool:
        rows = checkpoints.rows_at(seconds)
        speed = max(1.0, checkpoints.speed(0.0))
        longer = lengthened(checkpoints.growth / speed, checkpoints.fragments)
        longest = max(checkpoints.every_s, rows / speed * longer + checkpoints.pause_s)
        grows = checkpoints.growth * longest / max(1.0, rows)
        return spans * longest * log_per_s * (1.0 + _AHEAD * grows) < usable_bytes

    if not fits(FIRST_START_S):
        return 0.0
    low, high = FIRST_START_S, HORIZON_S
    if fits(high):
        return high
    while high - low > 0.001 * high:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
