"""The mysql client: statements about the cluster, answered as an SQL node of the version would."""
