"""From requirements to plans: what may be bought, clusters made of it, limits, the search and its excuses."""
