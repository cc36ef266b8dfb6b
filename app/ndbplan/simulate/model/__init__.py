"""From a plan to the rows that the kernel works on."""
