"""How long a global checkpoint may wait for the redo log of a data node before that node is stopped."""

from __future__ import annotations

from ndbplan.configuration.settings import NodeSettings

MISSED_BEATS = 5
"""Intervals without a heartbeat until a data node is declared dead [NDB source]."""


def save_limit_s(settings: NodeSettings, live_nodes: int) -> float | None:
    """Seconds until a data node that does not write its redo log is stopped; None: never.

    `live_nodes`: data nodes that take part; declaring all but one of them dead and asking the arbitrator is
    added to the limit. TimeBetweenEpochsTimeout 0 switches it off. Source: resources/ndb/survival.json,
    gcp_stop.
    """
    epochs_ms = settings.number("TimeBetweenEpochsTimeout")
    if epochs_ms <= 0:
        return None
    waits_ms = settings.number("TimeBetweenGlobalCheckpointsTimeout")
    if settings.features.gcp_save_limit_by_epochs:
        waits_ms = max(waits_ms, epochs_ms)
    failure_ms = max(0, live_nodes - 1) * MISSED_BEATS * settings.number("HeartbeatIntervalDbDb")
    failure_ms += settings.number("ArbitrationTimeout")
    return (settings.number("TimeBetweenGlobalCheckpoints") + waits_ms + failure_ms) / 1000.0
