"""How quickly a node may write a local checkpoint, and what share of a busy disk it takes for that.

Source: engine model 4.4 (Backup::calculate_disk_write_speed) and 15.1; constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.settings import NodeSettings, redo_buffer_bytes
from ndbplan.estimate.constants import Constants

_WORD_BYTES = 4
"""Of a word, in which the product counts what is written (NDB source)."""
_FILLS = ("redo_alert_low", "redo_alert_high", "redo_alert_critical")
_SPEEDS = ("redo_alert_low_speed", "redo_alert_high_speed", "redo_alert_critical_speed")
_HURRIES = ("redo_alert_low_hurry", "redo_alert_high_hurry", "redo_alert_critical_hurry")
"""Names of constants: shares of the log in use at which checkpoints are written faster, and how fast."""


def start_bytes(settings: NodeSettings) -> float:
    """What rows that are written take once, over all data nodes, before the next checkpoint begins.

    Source: Dbdih::execTCGETOPSIZECONF, 2^TimeBetweenLocalCheckpoints words.
    """
    return float(_WORD_BYTES * 2 ** min(31, max(0, settings.number("TimeBetweenLocalCheckpoints"))))


class RedoAlerts(NamedTuple):
    """Redo control at each alert level of the redo log: none, low, high, critical."""

    fill: tuple[float, ...]
    """Share of the log in use above which the level is reached."""
    speed: tuple[float, ...]
    """Speed of checkpoints against what changes need."""
    hurry: tuple[float, ...]
    """The same until the end of the next checkpoint."""


def redo_alerts(constants: Constants) -> RedoAlerts:
    """The alert levels of redo control (Backup::set_proposed_disk_write_speed, set_lcp_timing_factors)."""

    def levels(none: float, names: tuple[str, ...]) -> tuple[float, ...]:
        return (none, *(constants[name].value for name in names))

    return RedoAlerts(levels(0.0, _FILLS), levels(1.0, _SPEEDS), levels(1.0, _HURRIES))


@dataclass(frozen=True, slots=True)
class SpeedLimits:
    """Write speed of checkpoints of one node, bytes per second."""

    floor: float
    """MinDiskWriteSpeed: never slower, however busy the disk."""
    ceiling: float
    """MaxDiskWriteSpeed in normal operation."""
    other_restart: float
    """MaxDiskWriteSpeedOtherNodeRestart."""
    own_restart: float
    """MaxDiskWriteSpeedOwnRestart."""
    redo_control: bool
    """EnableRedoControl: the speed follows the rate of changes, at most `followed`."""
    highest: float
    """`ceiling` where a disk leaves more than is likely."""
    raised: float
    """The same of what redo control sets at the highest alert."""
    followed: float = math.inf
    """What redo control may set to follow changes: as much as LDM threads scan and the disk leaves."""

    def by_threads(self, share: float) -> SpeedLimits:
        """The same where LDM threads that write reach this share of the node's speed."""
        if share == 1.0:
            return self
        return SpeedLimits(
            floor=self.floor * share,
            ceiling=self.ceiling * share,
            other_restart=self.other_restart * share,
            own_restart=self.own_restart * share,
            redo_control=self.redo_control,
            highest=self.highest * share,
            raised=self.raised * share,
            followed=self.followed * share,
        )

    def on_disk(self, least: float, room: float, most: float) -> SpeedLimits:
        """The same of a disk that leaves so much for checkpoints: at least, likely, at most."""
        return SpeedLimits(
            floor=min(self.floor, least),
            ceiling=min(self.ceiling, room),
            other_restart=min(self.other_restart, room),
            own_restart=min(self.own_restart, room),
            redo_control=self.redo_control,
            highest=min(self.highest, most),
            raised=min(self.raised, most),
            followed=min(self.followed, room),
        )

    def following(self, changes: float) -> float:
        """Speed at which checkpoints keep up with changes that ask for so much, as far as they may."""
        return max(self.ceiling, min(changes, self.followed)) if self.redo_control else self.ceiling


def speed_limits(settings: NodeSettings, scanned: float = math.inf) -> SpeedLimits:
    """Speed limits of a node by its version's parameters; before 7.4 one speed, faster in a restart.

    `scanned`: bytes a second that its LDM threads can scan.
    """
    if not settings.features.checkpoint_speed_by_parameters:
        speed = settings.number("DiskCheckpointSpeed")
        restart = settings.number("DiskCheckpointSpeedInRestart")
        return SpeedLimits(speed, speed, speed, restart, redo_control=False, highest=speed, raised=speed)
    known = settings.features
    floor = settings.number("MinDiskWriteSpeed")
    ceiling = max(floor, settings.number("MaxDiskWriteSpeed"))
    own = max(ceiling, settings.number("MaxDiskWriteSpeedOwnRestart"))
    controlled = known.redo_control and bool(settings.number("EnableRedoControl"))
    return SpeedLimits(
        floor=floor,
        ceiling=ceiling,
        other_restart=max(ceiling, settings.number("MaxDiskWriteSpeedOtherNodeRestart")),
        own_restart=own,
        redo_control=controlled,
        highest=ceiling,
        raised=own if controlled else ceiling,
        followed=scanned,
    )


@dataclass(frozen=True, slots=True)
class AlertedSpeed:
    """Bytes a second that a checkpoint writes while so large a share of the log is in use."""

    limits: SpeedLimits
    steady: float
    """Without redo control."""
    room: float
    """What the disk leaves."""
    follows: float | None
    """The rate of changes that redo control follows; None: full checkpoints."""
    alerts: RedoAlerts

    def __call__(self, used: float) -> float:
        limits = self.limits
        if not limits.redo_control:
            return self.steady
        level = max(0, bisect_left(self.alerts.fill, used) - 1)
        high = (limits.ceiling, limits.ceiling, limits.other_restart, limits.own_restart)[level]
        follows = (self.follows or 0.0) * self.alerts.speed[level] * self.alerts.hurry[level]
        return min(self.room, max(high, min(follows, limits.followed)))


def is_partial(settings: NodeSettings) -> bool:
    """Whether checkpoints write only what changed."""
    return settings.features.partial_checkpoints and bool(settings.number("EnablePartialLcp"))


def has_small_files(settings: NodeSettings, constants: Constants) -> bool:
    """Whether redo log files are so small that changing from one to the next costs disk time."""
    file_bytes = settings.number("FragmentLogFileSize")
    return file_bytes < max(redo_buffer_bytes(settings), constants["redo_small_file_bytes"].value)


def checkpoint_share(
    settings: NodeSettings, small_files: bool, constants: Constants, ldms: int, log_parts: int
) -> Quantity:
    """Share of a busy disk that checkpoints of so many LDM threads take from so many log parts in use.

    Each has its writes under way and the disk serves them in turn: an LDM thread weighs as much as
    `lcp_thread_weight` log parts (two threads: 0.73 of the disk beside two parts, 0.57 beside four).
    `small_files`: as `has_small_files` says.
    """
    whole = constants["lcp_device_share"]
    if constants.is_calibrated("lcp_device_share"):
        return whole
    if not log_parts:
        return Quantity.stated("share of a checkpoint", 1.0, "fraction", "no log is written beside it")
    weight = constants["lcp_thread_weight"]
    low, value, high = (max(1, ldms) * w for w in (weight.low, weight.value, weight.high))
    ends = (low / (low + log_parts), high / (high + log_parts))
    share = Quantity.spanning(value / (value + log_parts), ends, "fraction", weight.why)
    names = []
    if small_files:
        names.append("lcp_device_share_small_files")
    if settings.features.lcp_share_of_buffered_writes and not settings.number("ODirect"):
        names.append("lcp_device_share_buffered")
    least = min((constants[name] for name in names), key=lambda one: one.value, default=whole)
    return share.scaled(min(1.0, least.value / whole.value))
