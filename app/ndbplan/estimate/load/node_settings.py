"""What figures of one data node read of its configuration, so that they are kept while the rest changes."""

from __future__ import annotations

KEPT_NODES = 2400
"""Figures of nodes that are kept for the next edit: sixteen states of the largest cluster.

A plan has several: now and grown, without load and under each. Where fewer are kept than comparing asks for
in turn, what plans share is worked out for each of them again.

More would only make Python's garbage collector walk over what nobody asks for again.
"""

NODE_SETTINGS = frozenset(
    {
        "BackupDiskWriteSpeedPct",
        "CompressedBackup",
        "CompressedLCP",
        "DataMemory",
        "DiskCheckpointSpeed",
        "DiskCheckpointSpeedInRestart",
        "DiskPageBufferMemory",
        "Diskless",
        "EnableMultithreadedBackup",
        "EnablePartialLcp",
        "EnableRedoControl",
        "FragmentLogFileSize",
        "InsertRecoveryWork",
        "MaxDiskWriteSpeed",
        "MaxDiskWriteSpeedOtherNodeRestart",
        "MaxDiskWriteSpeedOwnRestart",
        "MinDiskWriteSpeed",
        "NoOfFragmentLogFiles",
        "NoOfReplicas",
        "ODirect",
        "RecoveryWork",
        "TimeBetweenGlobalCheckpoints",
        "TimeBetweenLocalCheckpoints",
    }
)
"""Parameters that estimates of one data node under a workload read: `node_settings(plan, node).only(...)`."""
