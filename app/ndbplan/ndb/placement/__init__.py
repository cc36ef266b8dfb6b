"""Where fragments lie: hash maps, how many fragments a table has, which nodes hold them."""
