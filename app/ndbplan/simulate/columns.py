"""Names of the columns of the arrays that a scenario and the time-stepping kernel share."""

from __future__ import annotations

# Errors the kernel counts, in the order of its arrays.
ERROR_CODES = (1221, 1220, 1234, 410, 266, 827, 1501, 1601, 4010, 4009, 625, 233, 234, 1218)
(
    E_BUFFER, E_FILE, E_LAG, E_LOG, E_TIMEOUT, E_MEMORY, E_UNDO, E_SPACE, E_NODE, E_DOWN,
    E_INDEX, E_RECORDS, E_OPERATIONS, E_SEND,
) = range(14)  # fmt: skip

# What is written to a disk, in the order of the kernel's arrays.
PURPOSES = ("redo", "lcp", "undo", "data_files", "backup")
W_REDO, W_LCP, W_UNDO, W_DATA, W_BACKUP = range(5)
# Beside them while a step is worked out: random reads, what was granted.
W_READS, W_HEAVY_GRANT, W_LIGHT_GRANT, W_REDO_GRANT, W_COLUMNS = range(5, 10)

# One row for each disk.
D_BYTES_PER_S, D_LCP_SHARE, D_READ_IOPS, D_COLUMNS = range(4)

# One row for each simulated node: what does not change.
(
    N_BUFFER_LIMIT,  # bytes a part's redo buffer may hold before it refuses work
    N_LOG_LIMIT,  # bytes of log of a part before it refuses work
    N_LOG_BYTES,  # capacity of a part
    N_FILE_BYTES,
    N_FILE_OPEN_AFTER,  # bytes of a file on disk before the next file is open
    N_LCP_MIN,  # checkpoint speed limits of the node, bytes per second
    N_LCP_MAX,
    N_LCP_MAX_OTHER,
    N_LCP_MAX_OWN,
    N_LCP_FACTOR,  # bytes written for each byte of row (compression)
    N_LAG_LIMIT_S,
    N_LAG_COUNT,
    N_REDO_CONTROL,
    N_PARTIAL,
    N_RECOVERY_WORK,
    N_ADAPTIVE,  # checkpoint speed follows the redo lag (7.4 on)
    N_DEVICE_FACTOR,  # bytes on the device for each byte of log
    N_INSERTED,  # checkpoint bytes that one transaction adds
    N_CHANGED,  # weighted checkpoint bytes that one transaction changes
    N_TOUCHED,  # the same without weights
    N_TABLE_SHARE,  # share of the node's rows that a changed table has
    N_ABORT_SHARE,  # log of an operation that is undone, against one that is accepted
    N_UNEVEN,  # standard deviation of the speed at which its log parts are written
    N_LDMS,
    N_FRAGMENTS,  # fragments that an LDM thread checkpoints one after the other
    N_MEMORY_LIMIT,  # DataMemory that tables may use
    N_MEMORY,  # DataMemory that one transaction takes
    N_UNDO,  # undo log bytes of one transaction
    N_UNDO_LIMIT,  # undo log bytes that may be in use
    N_UNDO_BUFFER,
    N_DATA,  # bytes of disk data pages that one transaction makes dirty
    N_DATA_COST,  # time on the disk of such a byte, against a sequential one
    N_DIRTY_LIMIT,  # bytes of dirty pages the page buffer can hold
    N_SPACE,  # bytes of tablespace that one transaction takes
    N_SPACE_LIMIT,
    N_READS,  # pages that one transaction reads at random
    N_BACKUP_SPEED,
    N_REGIME,  # checkpoint speed: 0 normal, 1 another node restarts, 2 this node restarts
    N_INDEX,  # IndexMemory that one transaction takes (up to 7.5)
    N_INDEX_LIMIT,
    N_COLUMNS,
) = range(41)

# Whole numbers of each simulated node.
(
    I_GROUP,
    I_SLOT,
    I_REDO_DISK,
    I_LCP_DISK,
    I_UNDO_DISK,
    I_DATA_DISK,
    I_BACKUP_DISK,
    I_COUNT,  # data nodes that it stands for
    I_COLUMNS,
) = range(9)

# State of each log part.
(
    P_FILL,  # bytes in the redo buffer
    P_MADE,  # bytes of log written to the buffer since the start
    P_STOP,  # where P_MADE must not go beyond: file not open, or log full
    P_CARRY,  # fraction of a byte not yet written
    P_LAGS,  # 1: refuses because of lag
    P_DRAINED,  # bytes to disk in the running second
    P_OPEN,  # share of the work the part took in the last step
    P_GRANT,  # scratch: openness, bytes to disk
    P_FILE_END,
    P_TAIL,  # log before this is free again
    P_LAG_S,  # for how long it has lagged
    P_SPEED,  # bytes to disk per second in the last second
    P_DURABLE,  # bytes on disk at the last global checkpoint
    P_DURABLE_BEFORE,
    P_LCP_START,  # durable bytes when the running checkpoint started
    P_LCP_NEXT,  # the same, one checkpoint later (where the log spans three)
    P_MARK,
    P_WASTED,  # bytes of log of work that was refused elsewhere
    P_LOST,  # bytes that were in the buffer when the node died
    P_BASE,  # bytes of log of copying, not of the workload
    P_LIMIT,  # bytes the buffer may hold before the disk writes: N_BUFFER_LIMIT and what it wrote last step
    P_LOG_MOST,  # most log that was in use when some was freed
    P_COLUMNS,
) = range(23)

# State of each node.
(
    S_DATA,  # checkpoint bytes of all rows
    S_CHANGED,  # weighted, since the start of the last checkpoint
    S_TOUCHED,  # the same without weights
    S_LCP_LEFT,  # of the fragments being written
    S_LCP_TARGET,  # bytes per second, all LDM threads
    S_LCP_WRITTEN,
    S_LCP_FRAGMENTS,  # fragments not yet begun
    S_LCP_CHANGED,  # changed bytes that the running checkpoint is about
    S_LCP_TOUCHED,
    S_NEEDED,  # checkpoint bytes that the changes of the running second make necessary
    S_MEMORY,  # DataMemory in use
    S_UNDO_HELD,  # bytes in the undo buffer
    S_UNDO_USED,  # bytes of undo log that cannot be reused
    S_UNDO_MADE,
    S_UNDO_START,  # undo made when the running checkpoint started
    S_UNDO_TAIL,
    S_DIRTY,
    S_SPACE,
    S_BACKUP_LEFT,
    S_DEAD,
    S_INDEX,  # IndexMemory in use
    S_COLUMNS,
) = range(22)

# State of the cluster.
(
    C_LCP_PHASE,  # 0: pause, 1: writing
    C_LCP_STAGE,  # log flushes left before the next checkpoint
    C_LCP_STAGE_S,  # seconds left of the running stage
    C_LCP_NUMBER,
    C_ALERT,
    C_WAITING,  # transactions that wait for redo (queue)
    C_RETRY,  # transactions that will be tried again
    C_LOG_AT_LCP,  # log bytes made when the last checkpoint started, all nodes
    C_BLOCKED,  # 1: a part could not take all its work in the last step
    C_OFFERED,
    C_ATTEMPTED,
    C_ACCEPTED,
    C_REFUSED,
    C_RANDOM,
    C_SEND,  # transactions whose messages wait in send buffers
    C_GCP_S,  # seconds since the last global checkpoint
    C_OLDEST,  # slot of the queue before which all are empty
    C_LCP_EARLY,  # how long before the end of a step a checkpoint ended
    C_LCP_LATE,  # how long after its moment the running checkpoint began
    C_CLOSED,  # 1: nothing was taken in the last step, and buffers are nearly empty
    C_COLUMNS,
) = range(21)

# Settings of a run.
(
    R_STEP_S,
    R_STEPS_PER_SECOND,
    R_STEPS_PER_GCP,
    R_STEPS_PER_BUCKET,
    R_CLIENTS,  # transactions under way at most; 0: no limit
    R_CYCLE_S,  # closed loop: latency and think time; 0: open loop
    R_QUEUE_SLOTS,  # pieces of a step a queued transaction waits before it times out; 0: no queue
    R_COVERAGE,  # 0: a transaction touches one part, 1: all of them
    R_UNEVEN,  # factor on the unevenness of log parts; 0: all are written alike
    R_LCP_THRESHOLD,  # log bytes before a checkpoint starts
    R_DOOMED,  # what undone transactions of many rows write, against what they would write, when few are
    R_SPAN_MORE,  # 1: the log spans three checkpoints (before 7.4)
    R_GROWS,  # 1: inserted rows make checkpoints larger
    R_STAGE_S,
    R_SERVICE,  # transactions per second that processors, network and disk reads let pass; 0: no limit
    R_INSERT_SHARE,  # share of transactions that insert into memory
    R_DISK_DATA,  # share of transactions that change disk data; 0: none
    R_BACKUP,  # 1: a backup may run
    R_RETRY_SHARE,
    R_RETRY_S,
    R_DOWN,  # share of the work that meets no data node: its SQL nodes are cut off; it is refused
    R_LAG_EXIT,
    R_COPIES,  # 1: copying produces log
    R_POOL,  # transactions for which there are operation records, all nodes; 0: no limit
    R_POOL_ERROR,  # which error says that there are none
    R_HELD_S,  # how long a transaction that does not wait keeps its records
    R_TOO_LARGE,  # share of transactions that need more records than a node has
    R_SEND,  # transactions whose messages fit the send buffers of the slowest link; 0: they are no limit
    R_FINE,  # pieces of a step in which something runs out
    R_FINE_S,  # length of such a piece
    R_GCP_S,  # time between global checkpoints
    R_STANDS,  # 1: a data node is lost and not yet declared dead: every transaction waits for that
    R_STOPPED,  # 1: the cluster stopped: all that is offered is refused
    R_TOTAL,  # transactions of a job: when so many are accepted, no more are sent; 0: no job
    R_READS,  # share of the nodes that read columns on disk; 0: reads are no limit
    R_COLUMNS,
) = range(36)

# What a bucket records of the cluster.
O_OFFERED, O_ATTEMPTED, O_ACCEPTED, O_REFUSED, O_WAITING, O_LCP, O_COLUMNS = range(7)

# What a bucket records of each node.
(
    B_LCP_TARGET,
    B_MEMORY,
    B_UNDO_USED,
    B_SPACE,
    B_DIRTY,
    B_BACKUP_LEFT,
    B_DEAD,
    B_REDO_WRITTEN,
    B_LCP_WRITTEN,
    B_COLUMNS,
) = range(10)
