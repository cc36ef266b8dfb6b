"""Distribution keys: the bytes of a value, their hash, the partition."""
