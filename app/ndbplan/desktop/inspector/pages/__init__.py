"""One page for each kind of thing in a plan."""
