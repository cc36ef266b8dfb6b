"""Reading what others write: configuration, DDL, statistics, measurements, keys."""
