"""Configuration files of management servers, to a plan."""
