"""What a workload asks of the cluster: operations, log, checkpoints, disks, network, processors."""
