"""Running logs again in a start: the redo log by the LDM threads of its parts, the undo log of disk data.

Source: engine model 6 and 16.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from ndbplan.base.quantity import Quantity, Term, rising
from ndbplan.configuration.settings import redo_log_parts
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.estimate.times.restart_phases import Phase, Starting, busiest_thread
from ndbplan.estimate.times.speed_terms import Limit, slowest
from ndbplan.plan.processes import DiskRole


def _log_parts_in_use(start: Starting) -> list[float]:
    """Log of each LDM thread, in parts as full as the fullest: what the load writes, or all parts alike."""
    by_ldm = [0.0] * start.machine.ldm_threads
    written = start.load.redo_by_log_part if start.load is not None else ()
    most = max((size for _, size in written), default=0.0)
    shares = [(part, size / most) for part, size in written if most > 0]
    for part, share in shares or [(part, 1.0) for part in range(redo_log_parts(start.settings))]:
        by_ldm[part % len(by_ldm)] += share
    return by_ldm


def replay_redo(start: Starting) -> Phase:
    """Run the redo log since the checkpoint that was restored; no faster than it is read from its disk.

    An LDM thread runs all of its log parts (running 8.4.8 cluster: 165 MB of a node in four parts took two
    threads that had half a core each 3 s).
    """
    constants = start.constants
    part, per_s = start.load.hottest_log_part if start.load is not None else (0, 0.0)
    last = start.checkpoint
    interval = last.duration_s.value + last.waits_s if last is not None else 0.0
    since = interval + constants["lcp_pause_s"].value
    span = constants["redo_since_checkpoint"].because()
    log = (per_s * span * since).in_unit("bytes").within(most=float(log_bytes_per_part(start.settings)))
    if start.redo_bytes is not None:
        log = Quantity.exact(start.redo_bytes, "bytes")
    named = log.named(f"log of part {part} since the last checkpoint", "1 to 2 checkpoints, or stated")
    in_use = _log_parts_in_use(start)
    fullest, whole = max(in_use), sum(in_use)
    by_threads = rising(
        lambda one: busiest_thread(fullest * one, whole * one, start.ldm), named, unit="bytes"
    ).because(
        *named.why,
        Term(
            "log parts of the fullest LDM thread", fullest, "parts", "distribution: log part modulo threads"
        ),
    )
    replayed = by_threads / start.per_s("redo_replay_bytes_per_s")
    limits = [Limit("LDM thread of the fullest log part", replayed, "shorter checkpoints (faster writing)")]
    disk = start.disk(DiskRole.REDO)
    if disk is not None:
        speed = Quantity.stated(f"sequential reading of {disk.name}", start.reads(disk), "bytes/s")
        read = (log * whole).named("log of all parts") / speed * start.constants["device_time"]
        limits.append(Limit(f"disk {disk.name}", read, "a disk that reads faster"))
    time, decides = slowest(*limits)
    unknowns = start.of_cores if decides is limits[0] else start.of_devices
    return Phase("execute redo log", time, decides.name, decides.shorten, unknowns)


def apply_undo(start: Starting) -> Phase | None:
    """Run the undo log of disk data since the last checkpoint; None without disk data."""
    if start.disk_data is None:
        return None
    per_s = start.disk_data.undo_bytes_per_s.value
    last = start.checkpoint
    interval = last.duration_s.value + last.waits_s if last is not None else 0.0
    constants = start.constants
    log = (per_s * constants["redo_since_checkpoint"].because() * interval).in_unit("bytes")
    disks = start.machine.on_disks(DiskRole.UNDO)
    disk = max(disks, key=lambda one: one[1] / start.reads(one[0]))[0] if disks else None
    # One file after the other, wherever they lie.
    known = 1 / sum(share / start.reads(one) for one, share in disks) if disks else 0.0
    unknown = constants["unknown_disk_bytes_per_s"].value * start.disk_factor
    speed = Quantity.stated("reading", known or unknown, "bytes/s")
    read = log.named("undo log since the last checkpoint", "workload") / speed
    time = read * constants["undo_applied"]
    bound = f"disk {disk.name}" if disk is not None else "disk with the undo log"
    return Phase("execute undo log", time, bound, "shorter checkpoints")
