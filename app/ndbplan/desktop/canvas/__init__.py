"""The canvas: locations, hosts, disks, processes and node groups, drawn and directly manipulable."""
