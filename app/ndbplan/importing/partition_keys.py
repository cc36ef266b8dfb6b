"""Exact partitions of real keys: the work behind `ndbplan partition`.

job = partition_job(ddl_text, partitions=8, grown=(4,), version=version)
summary = job.run(sys.stdin.buffer, sys.stdout.buffer.write)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from ndbplan.base.errors import UserError
from ndbplan.estimate.storage.real_keys import KeyCount, count_rows, distribution_columns, spread_evenly
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.collations import UnsupportedCollationError
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.placement import hashmap
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table


class PartitionError(UserError, ValueError):
    """A table or a number of partitions that cannot be worked with."""


@dataclass(frozen=True)
class PartitionSummary:
    """Rows of each partition, and keys that could not be read."""

    table: str
    hash_map_name: str
    buckets: int
    count: KeyCount

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """What `ndbplan partition` prints, exact where `exact` says so; written out: pairs get keys."""
        return {
            "table": self.table,
            "hash_map": {"name": self.hash_map_name, "buckets": self.buckets},
            "rows": self.count.rows,
            "exact": self.count.exact,
            "note": self.count.note,
            "partitions": [
                {"partition": number, "rows": rows} for number, rows in enumerate(self.count.partition_rows)
            ],
            "hot_keys": [{"row": text, "rows": rows} for text, rows in self.count.hot_keys],
            "faulty_rows": self.count.faulty,
            "problems": list(self.count.problems),
        }


@dataclass(frozen=True)
class PartitionJob:
    """A table, its distribution key and its hash map, ready to take keys."""

    table: Table
    columns: tuple[KeyColumn, ...]
    version: NdbVersion
    hash_map: tuple[int, ...]
    hash_map_name: str
    notes: tuple[str, ...]
    """What of the SQL text could not be read."""
    unsupported: UnsupportedCollationError | None
    """Why its keys cannot be hashed exactly."""

    def run(
        self,
        keys: BinaryIO,
        write: Callable[[bytes | memoryview], object] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> PartitionSummary:
        """Hash the keys of a CSV; `write` gets the same CSV with hash, bucket and partition added.

        Keys of a collation that is not known exactly have no partition of their own: with `write` the
        UnsupportedCollationError is raised, without it their number is spread as a hash does on average.
        """
        if self.unsupported is not None:
            if write is not None:
                raise self.unsupported
            spread = spread_evenly(keys, self.columns, self.hash_map, self.unsupported)
            return PartitionSummary(self.table.full_name, self.hash_map_name, len(self.hash_map), spread)
        count = count_rows(keys, self.columns, self.version, self.hash_map, write, cancelled)
        return PartitionSummary(self.table.full_name, self.hash_map_name, len(self.hash_map), count)


def partition_job(
    ddl: str,
    partitions: int,
    version: NdbVersion,
    grown: Sequence[int] = (),
    buckets: int | None = None,
    table: str | None = None,
) -> PartitionJob:
    """What `partition` needs, from SQL text.

    `grown`: partitions the table was created with and then reorganised to, before `partitions`. `buckets`:
    size of the map at creation; None: the version's. `table`: which one, when the text defines several.
    Raises PartitionError and KeyTypeError.
    """
    definitions = read_ddl(ddl, version)
    chosen = [t for t in definitions.tables if table in (None, t.name, t.full_name, t.id)]
    if not chosen:
        why = f" ({definitions.problems[0]})" if definitions.problems else ""
        raise PartitionError(
            f"no table{f' {table}' if table else ''} could be read{why}",
            where="--ddl",
            fix="give a CREATE TABLE statement or a file with one",
        )
    if len(chosen) > 1:
        names = ", ".join(t.full_name for t in chosen[:6])
        raise PartitionError(
            f"the text defines {len(chosen)} tables ({names})", where="--ddl", fix="name one with --table"
        )
    steps = (*grown, partitions)
    most = hashmap.max_fragments(version)
    for before, after in zip((0, *steps), steps, strict=False):
        if not before < after <= most:
            raise PartitionError(
                f"{after} partitions after {before}; they only grow, from 1 up to {most} in {version}",
                where="--grown" if grown else "--partitions",
                fix="give growing numbers, for example --grown 4,8 --partitions 16",
            )
    if not hashmap.is_exact(version, partitions):
        raise PartitionError(
            f"keys over {partitions} partitions are not supported exactly in {version}, without hash maps",
            where="--partitions",
            fix="use 1, 2, 4, 8 or 16 partitions, or version 7.0 or later",
        )
    size = buckets or hashmap.default_buckets(version, steps[0])
    if not 1 <= size <= hashmap.LARGE_BUCKETS:
        raise PartitionError(
            f"{size} buckets; a hash map has 1 to {hashmap.LARGE_BUCKETS}",
            where="--buckets",
            fix="leave it out for the default of the version",
        )
    columns = distribution_columns(chosen[0])
    unsupported = None
    for column in columns:
        column.byte_length(version)
        try:
            column.rule(version)
        except UnsupportedCollationError as error:
            unsupported = error
    current = hashmap.default_map(steps[0], size)
    for count in steps[1:]:
        current = hashmap.reorganised_map(current, count, hashmap.default_buckets(version, count))
    return PartitionJob(
        table=chosen[0],
        columns=columns,
        version=version,
        hash_map=current,
        hash_map_name=hashmap.map_name(current, grown[-1] if grown else None),
        notes=tuple(str(problem) for problem in definitions.problems),
        unsupported=unsupported,
    )
