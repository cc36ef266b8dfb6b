"""What happens over time when a load meets buffers, logs and disks: a plan compiled to arrays and stepped."""
