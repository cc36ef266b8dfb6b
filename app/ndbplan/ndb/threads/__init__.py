"""Threads of a data node: how many of each kind, by parameters, cores and version."""
