"""CREATE TABLE statements, to tables of a plan."""
