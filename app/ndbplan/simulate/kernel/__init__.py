"""The laws of a running cluster, step by step, compiled."""
