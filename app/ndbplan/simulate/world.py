"""What the compiled kernel works on: rows for nodes and disks, arrays for log parts, all of it one `World`.

Rows are those of `base/row_types.py`. What is said of a node holds for each data node that it stands for.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ndbplan.base.row_types import Floats, Ints, Row, Rows, record, rows

ERROR_CODES = (1221, 1220, 1234, 410, 266, 827, 1501, 1601, 4010, 4009, 625, 233, 234, 1218)
"""Errors the kernel counts, in the order of its arrays."""


class Error(IntEnum):
    """Place of each error in the kernel's arrays."""

    BUFFER = 0
    FILE = 1
    LAG = 2
    LOG = 3
    TIMEOUT = 4
    MEMORY = 5
    UNDO = 6
    SPACE = 7
    NODE = 8
    DOWN = 9
    INDEX = 10
    RECORDS = 11
    OPERATIONS = 12
    SEND = 13


LAG_WINDOW_S = 8
"""Seconds of busy time over which the speed of a log part is taken for its lag [NDB source: 8 of 1.024 s]."""

PURPOSES = ("redo", "lcp", "undo", "data_files", "backup")
"""What is written to a disk, in the order of `Purpose`."""


class Purpose(IntEnum):
    """Place of each purpose in what is recorded of a disk."""

    REDO = 0
    LCP = 1
    UNDO = 2
    DATA_FILES = 3
    BACKUP = 4


class Part(IntEnum):
    """State of each log part: `parts[Part.FILL, n, p]`. One array, because loops run over it flat."""

    FILL = 0
    """Bytes in the redo buffer."""
    MADE = 1
    """Bytes of log written to the buffer since the start."""
    STOP = 2
    """Where MADE must not go beyond: file not open, or log full."""
    CARRY = 3
    """Fraction of a byte not yet written."""
    LAGS = 4
    """1: refuses because of lag."""
    DRAINED = 5
    """Bytes to disk in the running second."""
    OPEN = 6
    """Share of the work the part took in the last step."""
    GRANT = 7
    """Scratch: openness, bytes to disk."""
    FILE_END = 8
    TAIL = 9
    """Log before this is free again."""
    LAG_S = 10
    """For how long it has lagged."""
    SPEED = 11
    """Bytes to disk per second in the last second."""
    DURABLE = 12
    """Bytes on disk at the last global checkpoint."""
    DURABLE_BEFORE = 13
    LCP_START = 14
    """Durable bytes when the running checkpoint started."""
    LCP_NEXT = 15
    """The same, one checkpoint later (where the log spans three)."""
    MARK = 16
    WASTED = 17
    """Bytes of log of work that was refused elsewhere."""
    LOST = 18
    """Bytes that were in the buffer when the node died."""
    BASE = 19
    """Bytes of log of copying, not of the workload."""
    LIMIT = 20
    """Bytes the buffer may hold before the disk writes: the node's limit and what it wrote last step."""
    LOG_MOST = 21
    """Most log that was in use when some was freed."""


class OfCluster(IntEnum):
    """What a bucket records of the cluster."""

    OFFERED = 0
    ATTEMPTED = 1
    ACCEPTED = 2
    REFUSED = 3
    WAITING = 4
    LCP_S = 5


class OfNode(IntEnum):
    """What a bucket records of each node."""

    LCP_TARGET = 0
    MEMORY = 1
    UNDO_USED = 2
    SPACE = 3
    DIRTY = 4
    BACKUP_LEFT = 5
    DEAD = 6
    REDO_WRITTEN = 7
    LCP_WRITTEN = 8


class Change(IntEnum):
    """What is kept of each fragment as of when its checkpoint began: `begun[Change.NEW, n, turn]`."""

    UPDATED = 0
    CHANGED = 1
    NEW = 2


class Run(Row):
    """Settings of a run."""

    step_s: float
    steps_per_second: int
    steps_per_gcp: int
    steps_per_bucket: int
    clients: float
    """Transactions under way at most; 0: no limit."""
    cycle_s: float
    """Closed loop: latency and think time; 0: open loop."""
    queue_slots: int
    """Pieces of a step a queued transaction waits before it times out; 0: no queue."""
    coverage: float
    """0: a transaction touches one part, 1: all of them."""
    unevenness: float
    """Factor on the unevenness of log parts; 0: all are written alike."""
    lcp_threshold_bytes: float
    """Log before a checkpoint starts."""
    aborted_log: float
    """Share of an undone transaction's rows in open parts that is logged."""
    aborted_log_at_file_end: float
    """The same while a change of log files holds a part up."""
    replicas: int
    """Data nodes of a node group."""
    replicas_apart: bool
    """A refused row is logged by the replicas before the one that refuses it (before 8.0)."""
    spans_three_lcps: bool
    """The log spans three checkpoints (before 7.4)."""
    grows: bool
    """Inserted rows make checkpoints larger."""
    lcp_stage_s: float
    """Least time of a flush of the log after a checkpoint, before the log is cut."""
    lcp_begin_stage_s: float
    """The same between the cut of the log and the next checkpoint."""
    lcp_flushes_after: float
    """Flushes of the log that a checkpoint waits for at its end, before the log is cut."""
    lcp_flushes_before: float
    """The same before the next one writes."""
    lcp_flushes_first: float
    """The same where no checkpoint was before the one that ended: none of its files are to be deleted."""
    lcp_flush_begun: float
    """Share of a further flush that the first of these waits for: one that is under way."""
    lcp_flush_spread: float
    """By how much that share is off, at most; 0: never."""
    lag_noise: float
    """Unevenness of a part's speed over a single write; the mean of n writes is off by the root of n less."""
    service_per_s: float
    """Transactions that processors, network and disk reads let pass; 0: no limit."""
    service_beside_reads_per_s: float
    """The same without disk reads, which change as rows grow."""
    insert_share: float
    """Share of transactions that insert into memory."""
    disk_data_share: float
    """Share of transactions that change disk data; 0: none."""
    has_backup: bool
    """A backup may run."""
    retry_share: float
    retry_s: float
    cut_off_share: float
    """Share of the work that meets no data node: its SQL nodes are cut off; it is refused."""
    lag_exit: float
    lag_each_second: bool
    """Each part's lag is looked at once a second, in whole seconds (8.0 on)."""
    copies: bool
    """Copying produces log."""
    pool: float
    """Transactions for which there are operation records, all nodes; 0: no limit."""
    pool_error: int
    """Which error says that there are none."""
    held_s: float
    """How long a transaction that does not wait keeps its records."""
    too_large_share: float
    """Share of transactions that need more records than a node has."""
    send_buffered: float
    """Transactions whose messages fit the send buffers of the slowest link; 0: they are no limit."""
    pieces: int
    """Pieces of a step in which something runs out."""
    piece_s: float
    gcp_s: float
    """Time between global checkpoints."""
    stands_still: bool
    """A data node is lost and not yet declared dead: every transaction waits for that."""
    stopped: bool
    """The cluster stopped: all that is offered is refused."""
    job_transactions: float
    """When so many are accepted, no more are sent; 0: no job."""
    reading_share: float
    """Share of the nodes that read columns on disk; 0: reads are no limit."""


class Node(Row):
    """What does not change of a simulated data node."""

    buffer_limit_bytes: float
    """What a part's redo buffer may hold before it refuses work."""
    log_limit_bytes: float
    """Log of a part before it refuses work."""
    log_bytes: float
    """Capacity of a part."""
    file_bytes: float
    file_open_after_bytes: float
    """Bytes of a file on disk before the next file is open."""
    lcp_min_bytes_per_s: float
    """Checkpoint speed limits of the node."""
    lcp_max_bytes_per_s: float
    lcp_max_other_bytes_per_s: float
    """While another node restarts."""
    lcp_max_own_bytes_per_s: float
    """While this one does."""
    lcp_factor: float
    """Bytes written for each byte of row (compression)."""
    lag_limit_s: float
    lag_count: float
    redo_control: bool
    partial_lcp: bool
    recovery_work: float
    lcp_steps_up: float
    """Seconds in which the checkpoint speed rises from its lowest to its highest."""
    lcp_steps_down: float
    adaptive_lcp: bool
    """Checkpoint speed follows the redo lag (7.4 on)."""
    device_factor: float
    """Bytes on the device for each byte of log."""
    inserted_bytes: float
    """Checkpoint bytes that one transaction adds, those of rows it deletes taken off."""
    new_bytes: float
    """The same, nothing taken off."""
    updated_bytes: float
    """Checkpoint bytes of rows that one transaction updates."""
    changed_bytes: float
    """The same of rows that it inserts and deletes, weighted."""
    fragment_share: float
    """Share of an LDM thread's rows that a fragment of a changed table has."""
    abort_share: float
    """Log of an operation that is undone, against one that is accepted."""
    unevenness: float
    """Standard deviation of the speed at which its log parts are written."""
    ldms: int
    fragments: float
    """Fragments that an LDM thread checkpoints one after the other."""
    memory_limit_bytes: float
    """DataMemory that tables may use."""
    memory_bytes: float
    """DataMemory that one transaction takes."""
    undo_bytes: float
    """Undo log of one transaction."""
    undo_limit_bytes: float
    """Undo log that may be in use."""
    undo_buffer_bytes: float
    dirty_bytes: float
    """Disk data pages that one transaction makes dirty."""
    dirty_cost: float
    """Time on the disk of such a byte, against a sequential one."""
    dirty_limit_bytes: float
    """Dirty pages the page buffer can hold."""
    space_bytes: float
    """Tablespace that one transaction takes."""
    space_limit_bytes: float
    reads: float
    """Pages that one transaction reads at random."""
    backup_bytes_per_s: float
    regime: int
    """Checkpoint speed: 0 normal, 1 another node restarts, 2 this node restarts."""
    index_bytes: float
    """IndexMemory that one transaction takes (up to 7.5)."""
    index_limit_bytes: float


class Place(Row):
    """Where a simulated node is: its group, its disks."""

    group: int
    slot: int
    """Its turn among the nodes of its group that are alive."""
    redo_disk: int
    lcp_disk: int
    undo_disk: int
    data_disk: int
    backup_disk: int
    stands_for: int
    """Data nodes that are simulated as this one."""


class NodeState(Row):
    """State of a simulated node."""

    rows_bytes: float
    """Checkpoint bytes of all rows."""
    updated_bytes: float
    """Checkpoint bytes of rows that were updated since the run began; those updated twice count twice."""
    changed_bytes: float
    """The same of rows that were inserted and deleted, weighted."""
    new_bytes: float
    """The same of rows that were inserted, without weights."""
    lcp_left_bytes: float
    """Of the fragments being written."""
    lcp_target_bytes_per_s: float
    """All LDM threads."""
    lcp_written_bytes: float
    lcp_fragments_left: float
    """Fragments not yet begun."""
    needed_bytes: float
    """Checkpoint bytes that the changes of the running second make necessary."""
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


class Disk(Row):
    """What does not change of a disk, unless events slow it down."""

    write_bytes_per_s: float
    lcp_share: float
    read_iops: float


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
    lag_slot: int
    """Where the speeds of the next second go."""
    lcp_stage_left_s: float
    lcp_number: int
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


class Laws(NamedTuple):
    """What holds until an event changes it: settings, nodes, who is alive, their log, disks, the load."""

    run: Run
    nodes: Rows[Node]
    places: Rows[Place]
    slots: Ints
    """Nodes of each group that are alive, in their turn."""
    alive: Ints
    """Nodes of each group that take part."""
    group_count: Floats
    """How many real node groups each simulated one stands for."""
    load: Floats
    """Log bytes of each part for one transaction."""
    base: Floats
    """Log bytes of each part and step that copying produces."""
    share: Floats
    """Share of a transaction's rows that each part of a group gets."""
    disks: Rows[Disk]
    disk_start: Ints
    disk_member: Ints
    """Nodes that write redo to each disk, disk by disk."""
    offered: Floats
    """Transactions that clients send in each step of an open load."""

    def copy(self) -> Laws:
        """The same, to be changed apart."""
        return Laws._make(one.copy() for one in self)


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

    def copy(self) -> State:
        """The same, to be changed apart."""
        return State._make(one.copy() for one in self)


class World(NamedTuple):
    """One moment of a simulation and the laws that hold in it: all that the kernel reads and changes."""

    laws: Laws
    state: State

    def copy(self) -> World:
        """A snapshot."""
        return World(self.laws.copy(), self.state.copy())


class History(NamedTuple):
    """What the kernel writes down, bucket by bucket; the first dimension of each array is the bucket."""

    totals: Floats
    """By `OfCluster`."""
    errors: Floats
    """Refused with each error since the start, at the end of each bucket."""
    low: Floats
    high: Floats
    last: Floats
    """Bytes in each redo buffer: least, most, and at the end."""
    log: Floats
    """Bytes of each log part that are in use, at the end."""
    disk: Floats
    """Bytes written to each disk, by `Purpose`."""
    busy: Floats
    """Of each disk: sum of the use of each step, and the highest use of a step."""
    node: Floats
    """Of each node, by `OfNode`."""

    def copy(self) -> History:
        """The same, to be written on apart."""
        return History._make(one.copy() for one in self)


def example() -> tuple[World, History]:
    """The smallest world and its history: their types are those of every other one."""

    def floats(dimensions: int) -> Floats:
        return np.zeros((1,) * dimensions)

    def ints(dimensions: int) -> Ints:
        return np.zeros((1,) * dimensions, dtype=np.int64)

    laws = Laws(
        record(Run()), rows(Node, 1), rows(Place, 1), ints(2), ints(1), floats(1), floats(2),
        floats(2), floats(2), rows(Disk, 1), ints(1), ints(1), floats(1),
    )  # fmt: skip
    state = State(
        floats(3), rows(NodeState, 1), floats(2), floats(3), floats(2), record(Cluster()), floats(1),
        floats(1), floats(2), rows(DiskWork, 1), record(Piece()), floats(3),
    )  # fmt: skip
    return World(laws, state), History(*(floats(2 if i in (0, 1) else 3) for i in range(9)))
