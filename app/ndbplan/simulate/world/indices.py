"""What stands where in the arrays of the kernel: errors, states of a log part, changes of a fragment."""

from __future__ import annotations

from enum import IntEnum

ERROR_CODES = (1221, 1220, 1234, 410, 266, 827, 1501, 1601, 4010, 4009, 625, 233, 234, 1218, 261, 245)
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
    TOO_LARGE = 14
    SCANS = 15


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
    """Log made at which it must stop until its next file is open."""
    TAIL = 9
    """Log before this is free again."""
    LAG_LOOKS = 10
    """At how many looks in a row it lagged too much."""
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
    MOST_SPEED = 22
    """Most bytes to disk in a second since the start."""
    LAG_MOST = 23
    """The most that it lagged, as a share of the lag that is refused."""


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
    """Inserted and deleted rows, weighted."""
    NEW = 2
    REWRITTEN = 3
    """Updated rows as of the last global checkpoint then; `NEW` are the inserted ones as of that moment."""


class Since(IntEnum):
    """From when redo control counts changes: `changes[Since.CUT, Kind.NEW, n]`."""

    CUT = 0
    """The begin of the last complete checkpoint; while one is written, of the one before it."""
    NEXT = 1
    """The begin of the last checkpoint."""
    LAST = 2
    """The second before."""


class Kind(IntEnum):
    """Kinds of changed rows."""

    UPDATED = 0
    NEW = 1
    DELETED = 2


class Alert(IntEnum):
    """What is known of each alert level of redo control, none to critical: `alerts[Alert.FILL, level]`."""

    FILL = 0
    """Share of the log in use above which it is reached."""
    SPEED = 1
    """Speed of checkpoints against what changes need."""
    HURRY = 2
    """The same until the end of the next checkpoint."""
