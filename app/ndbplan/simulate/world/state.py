"""What each step leaves to the next: nodes, the work of disks, the piece of a step in hand, the cluster."""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.base.row_types import Floats, Row, Rows


class NodeState(Row):
    """State of a simulated node."""

    rows_bytes: float
    """Checkpoint bytes of all rows."""
    updated_bytes: float
    """Checkpoint bytes of rows that were updated since the run began; those updated twice count twice."""
    deleted_bytes: float
    """The same of rows that were deleted."""
    new_bytes: float
    """The same of rows that were inserted."""
    updated_at_gcp_bytes: float
    """`updated_bytes` when the last global checkpoint began, and when the one before it did."""
    updated_before_gcp_bytes: float
    new_at_gcp_bytes: float
    """The same two of `new_bytes`."""
    new_before_gcp_bytes: float
    lcp_left_bytes: float
    """Of the fragments being written."""
    lcp_target_bytes_per_s: float
    """All LDM threads."""
    lcp_written_bytes: float
    lcp_fragments_left: float
    """Fragments not yet begun."""
    lcp_counted_bytes: float
    """`lcp_written_bytes` a second ago."""
    lcp_change_bytes_per_s: float
    """Checkpoint bytes that changes make necessary, as found in the last second."""
    lcp_lag_bytes: float
    """By how much checkpoints are behind these since the last one was complete; below 0: ahead."""
    lcp_lag_before_bytes: float
    """The same of the time from the one before until then."""
    memory_bytes: float
    """DataMemory in use."""
    undo_held_bytes: float
    """In the undo buffer."""
    undo_used_bytes: float
    """Undo log that cannot be reused."""
    undo_made_bytes: float
    undo_start_bytes: float
    """Undo made when the running checkpoint started."""
    undo_tail_bytes: float
    dirty_bytes: float
    space_bytes: float
    backup_left_bytes: float
    is_dead: bool
    index_bytes: float
    """IndexMemory in use."""


class DiskWork(Row):
    """What nodes ask of a disk in a step, in bytes of the device, and what they are granted."""

    redo_bytes: float
    lcp_bytes: float
    undo_bytes: float
    data_bytes: float
    backup_bytes: float
    read_pages: float
    heavy_grant: float
    """Share of checkpoints, data files and backups that is written."""
    light_grant: float
    """Share of the logs."""
    redo_grant_bytes: float
    """Below 0: all of it."""


class Piece(Row):
    """The step, or the piece of one, that is in hand. Nothing of it lasts."""

    now_s: float
    length_s: float
    share: float
    """Of the step."""
    slot: int
    """Pieces since the start: its place in the queue."""
    bucket: int
    """Where it is recorded."""
    is_last: bool
    """Of its step."""
    is_short: bool
    """A part may be unable to take its work in this step."""
    is_critical: bool
    """Something may run out in this step."""
    flushes: bool
    """All log is written before a global checkpoint, not only whole runs of pages."""
    hold_bytes: float
    """What each part keeps in its buffer: less than a whole run."""
    writes_lcp: bool
    """A checkpoint wrote when it began."""
    wanted: float
    """Transactions that clients send."""
    arrived: float
    """Those that get as far as the data nodes, with what is tried again."""
    attempts: float
    """These and those that waited."""
    accepted: float
    refused: float


class Cluster(Row):
    """State of the cluster as a whole."""

    lcp_writes: bool
    """False: the pause between two checkpoints."""
    lcp_stages_left: float
    """Log flushes left before the log is cut, or the next checkpoint writes."""
    lcp_starts: bool
    """The log was cut, and the next checkpoint is about to write."""
    lcp_is_idle: bool
    """Too little has been written since the last checkpoint began for another one."""
    lag_slot: int
    """Where the speeds of the next second go."""
    lcp_stage_s: float
    """Least time of each of these flushes."""
    lcp_stage_left_s: float
    lcp_number: int
    lcp_began_s: float
    """When the last checkpoint began; before the first: when log was first written."""
    lcp_cut_s: float
    """From when redo control counts changes; later than now: not yet."""
    lcp_lasted_s: float
    """From the begin of the last complete checkpoint to the cut of the log."""
    hurry: float
    """By how much checkpoints are hurried because they took long or the log was on alert."""
    hurries_left: float
    """Ends of checkpoints until that is over."""
    alert_level: int
    waiting: float
    """Transactions that wait for redo (queue)."""
    retrying: float
    """Transactions that will be tried again."""
    log_at_lcp_bytes: float
    """Log made when the last checkpoint started, all nodes."""
    is_blocked: bool
    """A part could not take all its work in the last step."""
    offered: float
    attempted: float
    accepted: float
    refused: float
    random_state: int
    sending: float
    """Transactions whose messages wait in send buffers."""
    gcp_age_s: float
    """Since the last global checkpoint."""
    oldest_slot: int
    """Slot of the queue before which all are empty."""
    lcp_early_s: float
    """How long before the end of a step a checkpoint ended."""
    lcp_late_s: float
    """How long after its moment the running checkpoint began."""
    is_closed: bool
    """Nothing was taken in the last step, and buffers are nearly empty."""
    is_full: bool
    """Memory, undo log or tablespace of a node is full."""
    has_backlog: bool
    """A part holds so much that its lag matters."""
    accepted_last: float
    """Transactions accepted in the last piece of a step."""
    safe_steps: float
    """Steps for which every part can surely take its work, if nothing is written."""
    safe_transactions: float
    """Transactions of a step that this is true for."""


def look_anew(cluster: Cluster) -> None:
    """Laws changed: what the steps before found out about full nodes, backlogs and room counts no more."""
    cluster.is_full = cluster.has_backlog = True
    cluster.accepted_last = cluster.safe_steps = cluster.safe_transactions = 0.0


class State(NamedTuple):
    """What each step leaves to the next."""

    parts: Floats
    node_state: Rows[NodeState]
    targets: Floats
    """Checkpoint speed of each LDM thread."""
    begun: Floats
    """What had changed on a node when the last checkpoint of each of its fragments began, by `Change`."""
    weights: Floats
    """Unevenness between log parts."""
    cluster: Cluster
    waiting: Floats
    """Transactions that came in each piece of a step and wait for redo."""
    errors: Floats
    first: Floats
    """Moment and node of the first refusal for each error."""
    work: Rows[DiskWork]
    piece: Piece
    wrote: Floats
    """Speed of each part in its last busy seconds; below 0: it was not busy."""
    changes: Floats
    """Rows changed until redo control began to count, by `Since`, `Kind` and node."""

    def copy(self) -> State:
        """The same, to be changed apart."""
        return State._make(one.copy() for one in self)
