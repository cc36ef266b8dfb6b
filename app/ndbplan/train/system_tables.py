"""Tables and indexes that the product makes for itself, and what they hold in each fragment.

    for one in system_objects(plan): ...          # SystemObject(2, "sys/def/SYSTAB_0", "System table", ...)
    system_partitions(plan)                       # where their fragments lie

They are made at the first start, so they lie on the node groups of the plan. Data: `system_objects` in
resources/ndb/console.json.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.estimate.storage.fragments import Partition
from ndbplan.estimate.stored import distribute
from ndbplan.ndb.console import form
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table
from ndbplan.train.api_columns import ApiColumn, told

ORDERED_INDEX = "Ordered index"
_ANY = Table(
    id="system", database="sys", name="any", columns=(Column(name="k", type="int"),), primary_key=("k",),
    read_backup=False,
)  # fmt: skip


class SystemObject(NamedTuple):
    """One table or index, with its number in the dictionary."""

    number: int
    name: str
    """`mysql/def/ndb_schema`."""
    type: str
    parent: str | None
    element_bytes: int
    rows: Sequence[int]
    """By fragment of a node group; none in those that are not said."""
    hash_pages: Sequence[int]
    variable_bytes: Sequence[int]
    told: Mapping[str, Any]
    """What ndbinfo.dictionary_tables says of it; empty: it is not there."""
    columns: Sequence[ApiColumn] = ()
    """Of a table, as far as ndbinfo tells of them."""
    of: Sequence[str] = ()
    """Names of the columns of an index."""

    @property
    def is_table(self) -> bool:
        """Whether it has rows of its own, and a hash index."""
        return self.type != ORDERED_INDEX

    def hash_pages_of(self, place: int) -> int:
        """Pages of the hash index in a fragment, by its place in the node group."""
        return _at(self.hash_pages, place, 1) if self.is_table else 0

    def rows_of(self, place: int) -> int:
        """Rows in a fragment, by its place in the node group."""
        return _at(self.rows, place, 0)

    def variable_bytes_of(self, place: int) -> int:
        """Bytes of these rows in variable pages."""
        return _at(self.variable_bytes, place, 0)


def _at(values: Sequence[int], place: int, default: int) -> int:
    return values[place] if place < len(values) else default


@kept_by_identity(4)
def system_objects(plan: Plan) -> tuple[SystemObject, ...]:
    """Those that each cluster has, and those that SQL nodes make when they come first."""
    rows = (
        SystemObject(
            row["number"], row["name"], row["type"], row.get("parent"), row["element_bytes"], row["rows"],
            row["hash_pages"], row.get("variable_bytes", ()), row.get("told", {}),
            tuple(told(*one) for one in row.get("columns", ())), row.get("of", ()),
        )
        for row in form(plan.version, "system_objects")
    )  # fmt: skip
    if plan.sql_nodes:
        return tuple(rows)
    return tuple(one for one in rows if one.type == "System table")


def first_number(plan: Plan) -> int:
    """Number of the first table of a user: 10 on a running 7.4.10, 13 on 8.4.8, 4 without an SQL node."""
    return system_objects(plan)[-1].number + 1


@kept_by_identity(4)
def system_partitions(plan: Plan) -> list[tuple[int, Partition]]:
    """The fragments of each system table, with their places in their node groups."""
    seen, found = Counter[int](), []
    for part in distribute(plan.replace(tables=(_ANY,)), _ANY).partitions:
        found.append((seen[part.node_group], part))
        seen[part.node_group] += 1
    return found


@kept_by_identity(4)
def system_map(plan: Plan) -> str:
    """The hash map by which they lie, the first thing that a cluster makes."""
    return distribute(plan.replace(tables=(_ANY,)), _ANY).hash_map_name


@kept_by_identity(16)
def system_hash_pages(plan: Plan, fragments: int) -> int:
    """Pages of their hash indexes on a node with so many fragments of a table."""
    return sum(one.hash_pages_of(place) for one in system_objects(plan) for place in range(fragments))


def in_fragments(plan: Plan) -> Iterator[tuple[SystemObject, int, Partition]]:
    """Each object in each of its fragments, with the place of that in its node group."""
    places = system_partitions(plan)
    for one in system_objects(plan):
        for place, part in places:
            yield one, place, part
