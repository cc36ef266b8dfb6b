"""EXPLAIN: how an SQL node would read the tables of a statement."""
