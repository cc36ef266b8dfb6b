"""Hash maps: which fragment owns a bucket, when a table is created and after it is reorganised.

Source: `Dictionary::initDefaultHashMap` and `Dictionary::prepareHashMap` (NdbDictionary.cpp),
`createHashMap_parse` (Dbdict.cpp, 8.4.8), `ndb_limits.h`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion

LARGE_BUCKETS = 23040
LARGE_MAP_FRAGMENTS = 1536
"""More fragments than this get the large map (8.x)."""


def default_buckets(version: NdbVersion, fragments: int = 1) -> int:
    """Buckets of the map of a table created in this version with so many fragments."""
    known = features(version)
    if known.large_hash_map and fragments > LARGE_MAP_FRAGMENTS:
        return LARGE_BUCKETS
    return known.hash_map_buckets


def max_fragments(version: NdbVersion) -> int:
    """Most partitions a table can have."""
    return features(version).partitions_most


def is_exact(version: NdbVersion, fragments: int) -> bool:
    """Whether the owner of a key is certain. Before 7.0 tables had no map.

    Their rows went by the remainder or by a linear hash (`Dbdih`, NORMAL_HASH and LINEAR_HASH): with a power
    of two up to 16 both give what the map of 240 buckets gives.
    """
    return features(version).hash_maps or fragments in (1, 2, 4, 8, 16)


def default_map(fragments: int, buckets: int) -> tuple[int, ...]:
    """The map of a new table: bucket i belongs to fragment i mod fragments."""
    return tuple(i % fragments for i in range(buckets))


def reorganised_map(old: Sequence[int], fragments: int, default_buckets: int) -> tuple[int, ...]:
    """The map after reorganising to `fragments`; data only moves from old to new fragments, never old to old.

    Fewer or as many fragments as before change nothing.
    """
    before = max(old) + 1
    if fragments <= before:
        return tuple(old)
    size = default_buckets
    if len(old) < default_buckets and len(old) % fragments == 0:
        size = len(old)
    new = _moved(old, before, fragments, size)
    if size != len(old) and _moves_between_old(old, new, before):
        new = _moved(old, before, fragments, len(old))
    return new


def _moved(old: Sequence[int], before: int, fragments: int, size: int) -> tuple[int, ...]:
    buckets = len(old)
    return tuple(i % fragments if i % fragments >= before else old[i % buckets] for i in range(size))


def _moves_between_old(old: Sequence[int], new: Sequence[int], before: int) -> bool:
    """Whether a hash value would change its owner from one old fragment to another."""
    # Pairs (i mod old, i mod new) occur when they are congruent modulo the greatest common divisor.
    small, large = len(old), len(new)
    from math import gcd

    step = gcd(small, large)
    owners_old: list[set[int]] = [set(old[r::step]) for r in range(step)]
    owners_new: list[set[int]] = [{o for o in new[r::step] if o < before} for r in range(step)]
    return any(n and (len(n) > 1 or n != o) for o, n in zip(owners_old, owners_new, strict=True))


def map_name(hash_map: Sequence[int], grown_from: int | None) -> str:
    """The name the product gives a map: DEFAULT-HASHMAP-3840-8, or HASHMAP-3840-8-12 for a special one."""
    buckets, fragments = len(hash_map), max(hash_map) + 1
    if all(owner == i % fragments for i, owner in enumerate(hash_map)):
        return f"DEFAULT-HASHMAP-{buckets}-{fragments}"
    return f"HASHMAP-{buckets}-{grown_from or 0}-{fragments}"
