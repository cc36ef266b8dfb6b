"""Words and tables that window, terminal and report share."""
