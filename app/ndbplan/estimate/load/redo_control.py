"""Speed at which redo control has checkpoints written under a steady load: what changed, as NDB reckons it.

    reckoned.asked(lasts_s=4.0, every_s=9.5)     # bytes a second of the whole node

Source: NDB 8.4, Backup::measure_change_speed and what it calls once a second; the simulation does it second
by second (its redo control names the same parts of that source).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint_speed import RedoAlerts, SpeedLimits, redo_alerts
from ndbplan.estimate.load.demand import NodeLoad, TableLoad
from ndbplan.estimate.load.partial_checkpoint import changes_of, loads_by_table, whole_parts, written_bytes
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.estimate.storage.node_data import NodeData

NOT_ASKED: Mapping[int, float] = MappingProxyType({})
"""Bytes of DataMemory in use where nothing depends on them."""

FRAGMENT_SHARE = 0.1
"""Share of an LDM thread's memory that one fragment counts for (Backup::calculate_parts)."""
LAST_SECOND = 0.75
"""How much the changes of the last second count for, against the mean (Backup::measure_change_speed)."""
BURST = 1.2
"""How much more is asked at most while more log is written than on average."""
_COLLECTED_BYTES = 131072.0
"""What the buffer of a log part keeps until a global checkpoint: the second of that writes as much more."""
HURRY_STEP = 0.1
"""How much less hurry there is after the end of a checkpoint (Backup::reset_lcp_timing_factors)."""
BEHIND, AHEAD = 1.25, 0.8
"""How much more is asked at most while checkpoints are behind the changes; less while they are ahead."""


@dataclass(frozen=True, slots=True)
class Reckoned:
    """What NDB takes one node's changes for."""

    held: float
    """Bytes of DataMemory in use: counted as one fragment, so that a part of it is the least."""
    updated: float
    """Bytes a second of rows that are updated, each time anew."""
    new: float
    deleted: float
    insert_weight: float
    delete_weight: float
    recovery_work: float
    headroom: float
    """Against what the changes need."""
    log_bytes_per_s: float
    """Of a log part that is written, in the mean."""
    log_fills_per_s: float
    """Share of the log of the fullest part that is written in a second."""
    alerts: RedoAlerts
    gcp_s: float
    """From one global checkpoint to the next."""
    steps_up: float
    """Seconds in which the speed rises from the lowest to the highest."""

    def _checkpoint_bytes(self, seconds: float) -> float:
        """What a partial checkpoint of so many seconds' changes would write."""
        both = min(self.new, self.deleted)
        updated, new, deleted = self.updated + both, self.new - both, self.deleted - both
        every = updated + new + deleted
        if every <= 0 or seconds <= 0:
            return 0.0
        held = max(1.0, self.held)
        changed = seconds * (new + deleted) + held * -math.expm1(-updated * seconds / held)
        weight = (updated + self.insert_weight * new + self.delete_weight * deleted) / every
        k = min(1.0, changed * weight / held) * (1.0 + 0.5 * FRAGMENT_SHARE)
        return written_bytes(held, changed, whole_parts(k / (k + self.recovery_work)))

    def speed(self, limits: SpeedLimits, lasts_s: float, every_s: float) -> float:
        """Bytes a second, in the mean, at which checkpoints of such a duration are written as often.

        More is asked in the second of a global checkpoint, and the speed rises as far as it can until then.
        """
        if not limits.redo_control:
            return limits.ceiling
        shares = self._alerts(lasts_s, every_s)
        speeds = (limits.ceiling, limits.ceiling, limits.other_restart, limits.own_restart)
        high = sum(share * speed for share, speed in zip(shares, speeds, strict=True))
        asked = self._asked(lasts_s, every_s, shares)

        def within(speed: float) -> float:
            return max(high, min(speed, limits.followed))

        base = within(asked)
        if self.log_bytes_per_s <= 0:
            return base
        burst = min(BURST, 1.0 + _COLLECTED_BYTES / self.log_bytes_per_s)
        most = within(asked * burst)
        risen = min(most, base + max(0.0, most - limits.floor) / self.steps_up)
        return base + (risen - base) / max(1.0, self.gcp_s)

    def asked(self, lasts_s: float, every_s: float) -> float:
        """Bytes a second that the changes ask for without an alert, by the duration of checkpoints and from
        one to the next."""
        return self._asked(lasts_s, every_s, (1.0, 0.0, 0.0, 0.0))

    def _alerts(self, lasts_s: float, every_s: float) -> tuple[float, ...]:
        """Shares of the time in which a checkpoint is written at each alert level of the fullest log part.

        The log reaches back to the begin of the checkpoint before.
        """
        if self.log_fills_per_s <= 0 or lasts_s <= 0:
            return (1.0, 0.0, 0.0, 0.0)
        begins = [
            min(1.0, max(0.0, (fill / self.log_fills_per_s - every_s) / lasts_s)) for fill in self.alerts.fill
        ]
        ends = (*begins[1:], 1.0)
        return tuple(end - begin for begin, end in zip((0.0, *begins[1:]), ends, strict=True))

    def _asked(self, lasts_s: float, every_s: float, shares: Sequence[float]) -> float:
        """While one is written, changes count from the begin of the one before it. What checkpoints are
        behind or ahead of the changes, since the end of the last but one, is caught up with in as long; but
        at a high alert they are not slowed for being ahead. A hurry lasts until the end of the next one, a
        step less.
        """
        since_s = every_s + lasts_s / 2
        rate = max(
            self._checkpoint_bytes(since_s) / since_s if since_s > 0 else 0.0,
            LAST_SECOND * self._checkpoint_bytes(1.0),
        )
        most = max(hurry for hurry, share in zip(self.alerts.hurry, shares, strict=True) if share > 0)
        hurries = (max(1.0, hurry, most - HURRY_STEP) for hurry in self.alerts.hurry)
        rate *= sum(share * hurry for share, hurry in zip(shares, hurries, strict=True))
        speed = sum(share * speed for share, speed in zip(shares, self.alerts.speed, strict=True))
        asked = self.headroom * rate * speed
        if since_s <= 0:
            return asked
        # At this speed one was written since, and half of another.
        level = (asked + rate * (2 * every_s - lasts_s / 2) / since_s) / (
            1.0 + (lasts_s + lasts_s / 2) / since_s
        )
        ahead = 1.0 - (1.0 - AHEAD) * sum(shares[:2])
        return min(BEHIND * asked, max(ahead * asked, level))


def reckoned(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    tables: tuple[TableLoad, ...],
    load: NodeLoad | None,
    in_memory: float,
) -> Reckoned:
    """What redo control takes the changes of a node for, of whose DataMemory so many bytes are in use."""
    by_table = loads_by_table(tables)
    logs = [rate for _, rate in load.redo_by_log_part if rate > 0] if load is not None else []
    updated = new = deleted = 0.0
    for one in changes_of(data, tables):
        each = by_table[one.part.table.id, one.part.unique_index].checkpoint_row_bytes
        updated += each * one.updates
        new += each * one.inserts
        deleted += each * one.deletes
    return Reckoned(
        held=max(in_memory, data.checkpoint_bytes),
        updated=updated,
        new=new,
        deleted=deleted,
        insert_weight=settings.number("InsertRecoveryWork") / 100,
        delete_weight=constants["lcp_delete_weight"].value,
        recovery_work=max(1, settings.number("RecoveryWork")) / 100,
        headroom=constants["lcp_target_headroom"].value,
        log_bytes_per_s=sum(logs) / len(logs) if logs else 0.0,
        log_fills_per_s=max(logs, default=0.0) / max(1, log_bytes_per_part(settings)),
        alerts=redo_alerts(constants),
        gcp_s=settings.number("TimeBetweenGlobalCheckpoints") / 1000,
        steps_up=settings.features.lcp_speed_steps_up,
    )
