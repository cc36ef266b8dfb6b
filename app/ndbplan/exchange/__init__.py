"""Files in and out: config.ini, my.cnf, runbooks, table definitions, measurements."""
