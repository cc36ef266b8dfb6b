"""ndbplan plans MySQL NDB Cluster deployments: layout, data distribution, disk load, growth, export."""

__version__ = "0.1.0"
