"""What NDB Cluster is: versions, parameters, limits, errors, threads, key hash, maps, row format."""
