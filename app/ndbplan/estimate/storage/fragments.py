"""Fragments of one table with their rows and bytes, and how unevenly they lie.

Source: engine model 1.2 to 1.4, and 2.1 for pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.shapes import Shape
from ndbplan.estimate.storage.key_values import KeyValues
from ndbplan.estimate.storage.rows import RowLayout
from ndbplan.ndb.placement.fragments import Placement
from ndbplan.ndb.rows import PAGE_BYTES

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class MapFacts:
    """What is asked of a hash map again and again."""

    hash_map: tuple[int, ...]
    owners: Array
    """Partition of each bucket."""
    counts: Array
    """Buckets of each partition."""
    is_default: bool
    """Bucket i belongs to partition i mod partitions."""

    @cached_property
    def partitions(self) -> int:
        """Partitions that own buckets."""
        return len(self.counts)

    def name_after(self, grown_from: tuple[int, ...]) -> str:
        """The name the product gives the map of a table with this history."""
        if self.is_default:
            return self._default_name
        return f"HASHMAP-{len(self.owners)}-{grown_from[-1] if grown_from else 0}-{self.partitions}"

    @cached_property
    def _default_name(self) -> str:
        return f"DEFAULT-HASHMAP-{len(self.owners)}-{self.partitions}"


@kept_by_identity(64)
def map_facts(hash_map: tuple[int, ...]) -> MapFacts:
    """Owners and counts of a hash map as arrays."""
    import numpy as np

    owners = np.array(hash_map, dtype=np.int64)
    counts = np.bincount(owners)
    is_default = bool((owners == np.arange(len(owners)) % len(counts)).all())
    return MapFacts(hash_map, owners, counts, is_default)


@dataclass(frozen=True, slots=True)
class Partition(Shape):
    """One fragment of a table: where it is and what one replica of it holds."""

    JSON = "partition node_group nodes primary ldm log_part rows fixed_bytes var_bytes=variable_bytes"

    partition: int
    fragment: int
    """Differs from the partition only in fully replicated tables: each partition is in every group."""
    node_group: int
    nodes: tuple[int, ...]
    primary: int
    ldm: int
    """LDM instance on the primary's node, counted from 1."""
    log_part: int
    rows: int
    fixed_bytes: int
    variable_bytes: int


@dataclass(frozen=True, slots=True)
class Skew:
    """How unevenly the rows of a table lie. Ratios are largest over mean; 1.0 is even."""

    partition_ratio: float
    structural_ratio: float
    """Of the buckets per partition: what no key set can avoid."""
    random_sigma: float
    """Standard deviation of a partition's rows by chance, as a fraction of the mean."""
    node_ratio: float
    """Of primary rows per data node."""
    log_part_ratio: float
    """Of stored rows per log part of a node, log parts without rows included."""
    hottest_node: int | None
    hottest_log_part: tuple[int, int] | None
    """(node id, log part) that stores most rows of the table."""

    def to_json(self) -> dict[str, Any]:
        """The shape of `skew`; written out: its pair has named keys."""
        return {
            "partition_max_over_mean": self.partition_ratio,
            "structural_max_over_mean": self.structural_ratio,
            "random_sigma_over_mean": self.random_sigma,
            "node_max_over_mean": self.node_ratio,
            "log_part_max_over_mean": self.log_part_ratio,
            "hottest_node": self.hottest_node,
            "hottest_log_part": (
                None
                if self.hottest_log_part is None
                else {"node_id": self.hottest_log_part[0], "log_part": self.hottest_log_part[1]}
            ),
        }


@dataclass(frozen=True)
class TableDistribution:
    """Where the rows of one table lie."""

    table: str
    hash_map: tuple[int, ...]
    hash_map_name: str
    placement: Placement
    group_ids: tuple[int, ...]
    """Number of each node group, by its place in the placement."""
    rows: Array
    """Rows of each fragment."""
    layout: RowLayout
    log_parts: int
    """Log parts of each node."""
    is_full_copy: bool
    """Fully replicated: all rows are everywhere, so how partitions differ matters to nobody."""
    measured: bool = False
    """Rows were counted (real keys, ndb_desc), not expected."""
    keys: KeyValues | None = None
    """Values of the distribution key; None: each row has its own."""
    exact_keys: bool = False
    """The values are known, so the rows lie as their hash says."""
    weights: Array | None = None
    """Share of each partition by the values of the distribution key; None: even, or as measured."""
    counted_variable_bytes: tuple[int, ...] = ()
    """Bytes of variable pages of each fragment as they were counted; empty: by the layout."""
    rows_before: Array | None = None
    """Rows of each fragment before the table grew, where those were more; None: it has not grown."""

    @property
    def most_rows(self) -> Array:
        """The most rows that each fragment has held, whose fixed pages and index nodes it keeps."""
        return self.rows if self.rows_before is None else self.rows_before

    @property
    def buckets(self) -> int:
        """Buckets of the hash map."""
        return len(self.hash_map)

    @property
    def values(self) -> int:
        """Different values of the distribution key; 0: neither rows nor values are stated."""
        table_rows = int(self.rows.sum()) * self.placement.partitions // max(1, self.placement.fragments)
        return table_rows if self.keys is None or self.keys.is_unique else self.keys.count

    @property
    def is_by_chance(self) -> bool:
        """Which values there are is not known: what a partition holds is a matter of chance."""
        return not (self.measured or self.exact_keys or self.is_full_copy or self.placement.partitions < 2)

    @cached_property
    def fixed_bytes(self) -> Array:
        """Bytes of fixed pages of each fragment, one replica: those of the most rows that it has held."""
        return page_bytes(self.most_rows, self.layout.rows_per_fixed_page)

    @cached_property
    def variable_bytes(self) -> Array:
        """Bytes of variable pages of each fragment, one replica."""
        if self.counted_variable_bytes:
            import numpy as np

            return np.array(self.counted_variable_bytes, dtype=np.int64)
        return page_bytes(self.rows, self.layout.rows_per_variable_page)

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """Every fragment, in order."""
        placed = self.placement
        columns = zip(
            placed.node_group.tolist(),
            placed.nodes.tolist(),
            placed.ldm[:, 0].tolist(),
            placed.log_part.tolist(),
            self.rows.tolist(),
            self.fixed_bytes.tolist(),
            self.variable_bytes.tolist(),
            strict=True,
        )
        return tuple(
            Partition(
                partition=fragment % placed.partitions,
                fragment=fragment,
                node_group=self.group_ids[group],
                # A group with too few members repeats one to fill its place.
                nodes=tuple(dict.fromkeys(nodes)),
                primary=nodes[0],
                ldm=ldm,
                log_part=log_part,
                rows=rows,
                fixed_bytes=fixed,
                variable_bytes=variable,
            )
            for fragment, (group, nodes, ldm, log_part, rows, fixed, variable) in enumerate(columns)
        )

    @cached_property
    def skew(self) -> Skew:
        """How unevenly the rows lie."""
        import numpy as np

        placed, rows = self.placement, self.rows
        total = int(rows.sum())
        buckets = map_facts(self.hash_map).counts
        structural = float(buckets.max() / buckets.mean())
        mean = total / max(1, len(rows))
        share = 1 / len(buckets)
        sigma = sqrt((1 - share) / (share * self.values)) if self.values else 0.0
        if not total:
            return Skew(1.0, structural, sigma, 1.0, 1.0, None, None)
        members = np.unique(placed.nodes)
        primary = np.bincount(placed.primary, weights=rows, minlength=256)[members]
        parts = np.zeros((256, self.log_parts))
        for replica in range(placed.nodes.shape[1]):
            np.add.at(parts, (placed.nodes[:, replica], placed.log_part), rows)
        node, part = divmod(int(parts.argmax()), self.log_parts)
        return Skew(
            partition_ratio=float(rows.max() / mean),
            structural_ratio=structural,
            random_sigma=sigma,
            node_ratio=float(primary.max() / primary.mean()),
            log_part_ratio=float(parts[members].max() / parts[members].mean()),
            hottest_node=int(members[primary.argmax()]),
            hottest_log_part=(node, part),
        )


def page_bytes(rows: Array, rows_per_page: float) -> Array:
    """Bytes of the pages that hold so many rows, for each fragment; 0 rows per page: no such part."""
    import numpy as np

    if rows_per_page == 0:
        return np.zeros_like(rows)
    return np.ceil(rows / rows_per_page).astype(np.int64) * PAGE_BYTES
