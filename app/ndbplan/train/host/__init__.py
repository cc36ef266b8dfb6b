"""The shell of a host: the few programs that tell something of a cluster."""
