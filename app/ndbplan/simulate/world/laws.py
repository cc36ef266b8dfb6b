"""What holds until an event changes it: settings of the run, nodes, where they are, disks, the load.

Rows are those of `base/row_types.py`. What is said of a node holds for each data node that it stands for.
"""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.base.row_types import Floats, Ints, Row, Rows


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
    unevenness_kept: float
    """Share of it that lasts from one second to the next."""
    lcp_threshold_bytes: float
    """Log of all data nodes before a checkpoint starts."""
    lcp_forced_share: float
    """Use of a log part at which one starts before so much is written."""
    lcp_first_s: float
    """From there to its begin, where none was under way when so much was written."""
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
    lcp_stage_off_s: float
    """By how much it differs from one checkpoint to the next, at most; 0: never."""
    lcp_begin_stage_s: float
    lcp_begin_stage_off_s: float
    """The same two between the cut of the log and the next checkpoint."""
    lcp_flushes_after: float
    """Flushes of the log that a checkpoint waits for at its end, before the log is cut."""
    lcp_flushes_before: float
    """The same before the next one writes."""
    lcp_flushes_first: float
    """The same where no checkpoint was before the one that ended: none of its files are to be deleted."""
    delete_weight: float
    """How much a deleted row weighs among changes."""
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
    copies: bool
    """Copying produces log."""
    pool: float
    """Transactions for which there are operation records, all nodes; 0: no limit."""
    pool_error: int
    """Which error says that there are none."""
    held_s: float
    """How long a transaction that does not wait keeps its records."""
    too_large_share: float
    """Share of transactions with more operations than one may have."""
    too_large_error: int
    """Which error says so."""
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
    file_spare_bytes: float
    """Bytes at the end of a file that take no work until the next file is open."""
    lcp_min_bytes_per_s: float
    """Checkpoint speed limits of the node."""
    lcp_max_bytes_per_s: float
    lcp_max_other_bytes_per_s: float
    """While another node restarts."""
    lcp_max_own_bytes_per_s: float
    """While this one does."""
    lcp_followed_bytes_per_s: float
    """What redo control may set to follow changes: as much as its LDM threads scan."""
    lcp_factor: float
    """Bytes written for each byte of row (compression)."""
    lcp_files_bytes: float
    """What a checkpoint writes beside rows."""
    lag_limit_s: float
    lag_looks: float
    """Looks in a row at which a part lags too much before it refuses."""
    redo_control: bool
    partial_lcp: bool
    recovery_work: float
    all_parts_above: float
    """Changes / rows above which a partial checkpoint writes every row."""
    lcp_headroom: float
    """Checkpoint speed against what the changes need."""
    lcp_steps_up: float
    """Seconds in which the checkpoint speed rises from its lowest to its highest."""
    lcp_steps_up_at_alert: float
    """The same while the redo log is on alert."""
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
    deleted_bytes: float
    """The same of rows that it deletes."""
    insert_weight: float
    """How much an inserted row weighs among changes (InsertRecoveryWork)."""
    fragment_share: float
    """Share of an LDM thread's rows that a fragment of a changed table has."""
    untouched_bytes: float
    """Rows of tables that the load does not change, as a checkpoint of all rows writes them."""
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
    clean_bytes_per_s: float
    """Dirty pages that are written while no checkpoint is."""
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
    undo_share: float
    """Share of its undo files that are on `undo_disk`; where the others are, `Laws.files` says."""
    data_share: float
    files_from: int
    files_upto: int
    """Rows of `Laws.files` that are of this node."""


class FileDisk(Row):
    """A further disk with files of a node: shares of its undo files and data files."""

    disk: int
    undo_share: float
    data_share: float


class Disk(Row):
    """What does not change of a disk, unless events slow it down."""

    write_bytes_per_s: float
    usable_share: float
    """Of that speed, what streams reach together."""
    lcp_share: float
    read_iops: float
    asked_share: float
    """Of these reads what the threads for data files can ask for."""


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
    files: Rows[FileDisk]
    alerts: Floats
    """Levels of redo control, by `Alert`."""

    def copy(self) -> Laws:
        """The same, to be changed apart."""
        return Laws._make(one.copy() for one in self)
