"""Names of the columns of the arrays that a scenario and the time-stepping kernel share."""

from __future__ import annotations

# Errors the kernel counts, in the order of its arrays.
ERROR_CODES = (1221, 1220, 1234, 410, 266)
E_BUFFER, E_FILE, E_LAG, E_LOG, E_TIMEOUT = range(5)

# What is written to a disk, in the order of the kernel's arrays.
PURPOSES = ("redo", "lcp", "undo", "data_files", "backup")
W_REDO, W_LCP, W_UNDO, W_DATA, W_BACKUP = range(5)

# One row for each simulated node: what does not change.
N_BUFFER_LIMIT = 0  # bytes a part's redo buffer may hold before it refuses work
N_LOG_LIMIT = 1  # bytes of log of a part before it refuses work
N_FILE_BYTES = 2
N_FILE_OPEN_AFTER = 3  # bytes of a file on disk before the next file is open
N_LCP_MIN = 4  # checkpoint speed limits of the node, bytes per second
N_LCP_MAX = 5
N_LCP_MAX_OTHER = 6
N_LCP_MAX_OWN = 7
N_LCP_FACTOR = 8  # bytes written for each byte of row (compression)
N_LAG_LIMIT_S = 9
N_LAG_COUNT = 10
N_REDO_CONTROL = 11
N_PARTIAL = 12
N_RECOVERY_WORK = 13
N_QUEUE = 14  # DefaultOperationRedoProblemAction = queue
N_ADAPTIVE = 15  # checkpoint speed follows the redo lag (7.4 on)
N_LOG_BYTES = 16  # capacity of a part
N_DEVICE_FACTOR = 17  # bytes on the device for each byte of log
N_INSERTED = 18  # checkpoint bytes that one transaction adds
N_CHANGED = 19  # weighted checkpoint bytes that one transaction changes
N_ABORT_SHARE = 20  # log of an operation that is undone, against one that is accepted
N_LDMS = 21
N_FRAGMENTS = 22  # fragments that an LDM thread checkpoints one after the other
N_COLUMNS = 23

# Whole numbers of each simulated node.
I_GROUP, I_SLOT, I_REDO_DISK, I_LCP_DISK, I_COUNT, I_ON_REDO_DISK, I_ON_LCP_DISK, I_COLUMNS = range(8)

# State of each log part.
P_FILL = 0  # bytes in the redo buffer
P_MADE = 1  # bytes of log written to the buffer since the start
P_STOP = 2  # where P_MADE must not go beyond: file not open, or log full
P_FILE_END = 3
P_TAIL = 4  # log before this is free again
P_CARRY = 5  # fraction of a byte not yet written
P_OPEN = 6  # share of the work the part took in the last step
P_FLAG = 7  # 1: refuses because of lag
P_LAG_S = 8  # for how long it has lagged
P_DRAINED = 9  # bytes to disk in the running second
P_SPEED = 10  # bytes to disk per second in the last second
P_DURABLE = 11  # bytes on disk at the last global checkpoint
P_DURABLE_BEFORE = 12
P_LCP_START = 13  # durable bytes when the running checkpoint started
P_MARK = 14
P_WASTED = 15  # bytes of log of work that was refused elsewhere
P_GRANT = 16  # bytes to disk in the running step
P_LCP_NEXT = 17  # like P_LCP_START, one checkpoint later (where the log spans three)
P_COLUMNS = 18

# State of each node.
S_DATA = 0  # checkpoint bytes of all rows
S_CHANGED = 1  # since the start of the last checkpoint
S_LCP_LEFT = 2  # of the fragments being written
S_LCP_TARGET = 3  # bytes per second, all LDM threads
S_LCP_WRITTEN = 4
S_LCP_FRAGMENTS = 5  # fragments not yet begun
S_LCP_CHANGED = 6  # changed bytes that the running checkpoint is about
S_COLUMNS = 7

# State of the cluster.
C_TIME_STEPS = 0
C_LCP_PHASE = 1  # 0: pause, 1: writing
C_LCP_STAGE = 2  # log flushes left before the next checkpoint
C_LCP_STAGE_S = 3  # seconds left of the running stage
C_LCP_NUMBER = 4
C_ALERT = 5
C_WAITING = 6  # transactions that wait for redo (queue)
C_CHANGED_ANY = 7  # log bytes since the last checkpoint, all nodes
C_BLOCKED = 8  # 1: a part could not take all its work in the last step
C_OFFERED = 9
C_ATTEMPTED = 10
C_ACCEPTED = 11
C_REFUSED = 12
C_RANDOM = 13
C_COLUMNS = 14

# Settings of a run.
R_STEP_S = 0
R_STEPS_PER_SECOND = 1
R_STEPS_PER_GCP = 2
R_STEPS_PER_BUCKET = 3
R_CLIENTS = 4  # transactions under way at most; 0: no limit
R_CYCLE_S = 5  # closed loop: latency and think time; 0: open loop
R_QUEUE_STEPS = 6  # steps a queued transaction waits before it times out
R_ROWS_PER_TX = 7
R_COVERAGE = 8  # 0: a transaction touches one part, 1: all of them
R_PARTS_USED = 9
R_UNEVEN = 10  # standard deviation of the speed of parts that share a disk
R_LCP_THRESHOLD = 11  # log bytes before a checkpoint starts
R_DOOMED = 12  # what undone transactions write, against what they would write
R_SPAN_MORE = 13  # 1: the log spans three checkpoints (before 7.4)
R_GROWS = 14  # 1: inserted rows make checkpoints larger
R_COLUMNS = 15

# What a bucket records of the cluster.
O_OFFERED, O_ATTEMPTED, O_ACCEPTED, O_REFUSED, O_WAITING, O_LCP, O_COLUMNS = range(7)
