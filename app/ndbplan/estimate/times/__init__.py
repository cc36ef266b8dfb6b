"""How long it takes: restarts, reorganisations, backups."""
