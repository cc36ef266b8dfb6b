"""What every layer may use: errors people can read, units, where the program's data lies."""
