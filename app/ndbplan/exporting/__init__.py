"""Files that the product takes: configuration, services, runbooks."""
