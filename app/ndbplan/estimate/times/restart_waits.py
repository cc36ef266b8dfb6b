"""Waits at the end of a start: for a local checkpoint, and for the subscriptions of SQL nodes.

Source: engine model 6; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from ndbplan.base.quantity import Quantity, Term, product_of_independent, rising, total
from ndbplan.estimate.load.checkpoint_speed import SpeedLimits, is_partial, speed_limits
from ndbplan.estimate.load.checkpoint_threads import writers_of_rows
from ndbplan.estimate.storage.machines import Machine
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.estimate.times.restart_phases import Phase, Starting, era
from ndbplan.estimate.times.speed_terms import Limit, change_term, slowest, spread_terms
from ndbplan.plan.processes import DiskRole

OLD_CHECKPOINT_WRITERS = 2
"""LDM threads that wrote a checkpoint at once before 7.4.1 (release notes), each at DiskCheckpointSpeed."""


_BY_PARAMETERS = Quantity.exact(1.0, "factor")
"""Time of a checkpoint that no disk holds up against its speed."""


def _limits(machine: Machine, data: NodeData | None) -> SpeedLimits:
    """Speeds at which all rows of a node are written: each LDM thread that has some does its part."""
    limits = speed_limits(machine.settings)
    if data is None:
        return limits
    return limits.by_threads(writers_of_rows(machine.settings, data, machine.ldm_threads).speed_share)


def _waits_for(start: Starting, limits: SpeedLimits, *, own: bool, writers: float) -> tuple[float, Term]:
    """Bytes per second of a checkpoint by the version's parameters, and the term that says which."""
    if start.has("checkpoint_speed_by_parameters"):
        speed = limits.own_restart if own else limits.other_restart
        name = "MaxDiskWriteSpeedOwnRestart" if own else "MaxDiskWriteSpeedOtherNodeRestart"
        return speed, Term(name, speed, "bytes/s", "plan")
    if own:
        return limits.own_restart, Term("DiskCheckpointSpeedInRestart", limits.own_restart, "bytes/s", "plan")
    speed = limits.other_restart * writers
    each = Term("LDM threads that write at once, each at it", writers, "", "release notes 7.4.1")
    return speed, Term("DiskCheckpointSpeed", limits.other_restart, "bytes/s", "plan", (each,))


def _own_checkpoints(start: Starting, count: Quantity, limits: SpeedLimits, factor: float) -> Limit | None:
    """Writing all rows of the node itself to its checkpoint disk; None without rows."""
    if start.data is None or start.data.checkpoint_bytes <= 0:
        return None
    speed, term = _waits_for(start, limits, own=True, writers=1)
    disk, held = start.disk(DiskRole.LCP), start.data.checkpoint_bytes * factor
    name, slower = term.term, _BY_PARAMETERS
    if disk is not None and start.writes(disk) < speed:
        speed, name, slower = start.writes(disk), f"disk {disk.name}", start.constants["device_time"]
        term = Term(f"sequential writing of {disk.name}", speed, "bytes/s", "plan")
    why = (Term("full checkpoint of the node", held, "bytes", "formula"), term, *count.why, *slower.why)
    time = (product_of_independent(count, slower) * (held / speed)).in_unit("s").because(*why)
    return Limit(name, time, "a faster disk; raise MaxDiskWriteSpeedOwnRestart")


def wait_for_checkpoint(start: Starting, kind: str = "node") -> Phase:
    """Wait until a checkpoint in which the node takes part is complete, so that it can recover on its own.

    After --initial the node itself writes all its rows; after a system restart all nodes write at the speed
    of their own restart; else the other nodes write at that of another node's restart, up to 7.5 all rows.
    """
    constants = start.constants
    idle = constants["lcp_wait_idle_s"]
    limits = _limits(start.machine, start.data)
    packed = 1.0
    if start.settings.number("CompressedLCP"):
        packed = constants["lcp_compressed_factor"].value
    partial = is_partial(start.settings)
    written = start.checkpoint.written_bytes.value if start.load is not None and start.checkpoint else 0.0
    running = constants["checkpoint_under_way"]
    if start.load is None:
        waited = constants["checkpoints_waited_idle"]
        running = (waited - 1.0).within(least=0.0).because(*waited.why)
        if kind == "node" and start.has("checkpoint_speed_by_parameters"):
            running = constants["checkpoint_under_way_idle"]
    count = Quantity.exact(1.0, "checkpoints")
    if kind == "initial":
        count = constants["initial_restart_checkpoints"]
    waits = [Limit("protocol", Quantity.exact(0.0, "s"))]
    for other in start.others:
        own_limits = _limits(other.machine, other.data)
        writers = min(float(OLD_CHECKPOINT_WRITERS), float(max(1, other.machine.ldm_threads)))
        speed, term = _waits_for(start, own_limits, own=kind == "system", writers=writers)
        held = (min(other.checkpoint_bytes, written) if partial else other.checkpoint_bytes) * packed
        name, slower = "write speed of checkpoints on the other nodes", _BY_PARAMETERS
        if other.writes_bytes_per_s * start.disk_factor < speed:
            speed, name = other.writes_bytes_per_s * start.disk_factor, f"disk {other.disk}"
            slower = constants["device_time"]
        seconds = held / speed if speed else 0.0
        why = (
            Term(f"checkpoint of node {other.machine.node_id}", held, "bytes", "formula"),
            term,
            Term("speed of writing", speed, "bytes/s", "plan"),
            count.as_term("checkpoints to wait for"),
            running.as_term("rest of a checkpoint that runs already", "assumption"),
            *slower.why,
        )
        time = (seconds * (count + running) * slower).in_unit("s").because(*why)
        waits.append(Limit(name, time, f"raise {term.term}"))
    own = None
    if kind == "initial" or not partial:
        own = _own_checkpoints(start, count, limits, packed)
    if own is not None:
        waits.append(own)
    time, decides = slowest(
        *waits,
        why=(
            change_term("partial_checkpoints", start.version),
            change_term("checkpoint_speed_by_parameters", start.version),
            *spread_terms(start.version),
            era(start),
        ),
    )
    if kind in ("initial", "system"):
        # It begins soon after the copy, or after the start of all nodes.
        begun = constants["lcp_begin_s"].named("protocol") + time.named("writing")
        time = rising(max, idle, begun, unit="s") if kind == "initial" else begun
    else:
        time = idle.named("protocol") + time.named("writing")
    bound = decides.name if time.value > 2 * idle.value else "protocol"
    shorten = decides.shorten if bound != "protocol" else ""
    unknowns = start.of_devices if bound.startswith("disk ") else ()
    return Phase("wait for local checkpoint", time, bound, shorten, unknowns)


def hand_over_subscriptions(start: Starting) -> Phase:
    """Set up the subscriptions of the SQL nodes."""
    name = "wait for subscriptions"
    if start.sql_nodes_down:
        time = start.constants["subscription_timeout_s"]
        return Phase(name, time, "an SQL node that does not answer", "start that SQL node or remove it")
    return Phase(name, start.constants["subscription_s"], "protocol with SQL nodes", "")


def slowed_by_traffic(start: Starting, done: list[Phase]) -> Phase | None:
    """What write traffic added before 6.3.28b and 7.0.9b; None in later versions and without traffic."""
    writes = start.load.writes_per_s if start.load is not None else 0.0
    if start.has("restart_under_traffic") or not writes:
        return None
    slower = start.constants["traffic_restart_factor_old"]
    before = total(((phase.name, phase.duration_s) for phase in done), "s")
    handed = hand_over_subscriptions(start).duration_s
    whole = total((("phases", before), ("subscriptions", handed)), "s")
    since = change_term("restart_under_traffic", start.version)
    time = ((slower - 1) * whole).because(whole.as_term("the other phases"), *slower.why, since)
    return Phase(
        "catching up under traffic", time, "copy from the other nodes", "less traffic; a later version"
    )
