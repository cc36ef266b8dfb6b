"""Work on a cluster: steps with commands, durations, checks and the way back."""
