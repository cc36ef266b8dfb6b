"""What lies on disks, and when they are full."""
