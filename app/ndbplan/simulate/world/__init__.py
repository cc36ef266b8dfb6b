"""One moment of a simulation, as the compiled kernel reads and changes it: rows and arrays, nothing else."""
