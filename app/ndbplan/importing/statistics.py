"""Row counts and lengths of running tables: INFORMATION_SCHEMA.TABLES, `ndb_desc -p`, memory_per_fragment.

    found = read_statistics(text)
    plan, report = apply_statistics(plan, found.tables)

The text may hold several of these outputs, as boxed tables, tab-separated or with \\G.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ndbplan.base.units import format_count, whole_number
from ndbplan.edits.validated import changed
from ndbplan.estimate.storage.rows import row_layout
from ndbplan.importing.mysql_output import Row, read_rows
from ndbplan.importing.ndb_desc_tables import TABLE_HEAD
from ndbplan.ndb.columns import Storage
from ndbplan.ndb.rows import PAGE_BYTES, VARIABLE_PAGE_CLOSED_WORDS, VARIABLE_PAGE_WORDS
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table

_PAGE_HEADER_BYTES = 128


@dataclass(frozen=True)
class TableStatistics:
    """What was read of one table; None or empty: not stated."""

    name: str
    database: str | None = None
    rows: int | None = None
    average_row_bytes: float | None = None
    """AVG_ROW_LENGTH."""
    partition_rows: tuple[int, ...] = ()
    partition_variable_bytes: tuple[int, ...] = ()
    """Variable pages of each partition, one replica."""
    commits: tuple[int, ...] = ()
    """Commit count of each partition."""
    fixed_bytes: int | None = None
    """Fixed pages of one replica set."""
    variable_words: float | None = None
    """Mean words of the variable part."""
    buckets: int | None = None
    grown_from: tuple[int, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class StatisticsResult:
    """Statistics that were read, and lines that were not."""

    tables: tuple[TableStatistics, ...]
    problems: tuple[str, ...]


def read_statistics(text: str) -> StatisticsResult:
    """Every table that a text tells something of."""
    problems: list[str] = []
    tables: list[TableStatistics] = list(_ndb_desc(text, problems))
    information: list[TableStatistics] = []
    fragments: list[Row] = []
    for row in read_rows(text, problems):
        if "fq_name" in row.values:
            fragments.append(row)
        elif {"name", "rows", "avg_row_length"} <= row.values.keys():
            information.append(
                TableStatistics(
                    name=row.values["name"],
                    rows=_counted(row, "rows", problems),
                    average_row_bytes=_counted(row, "avg_row_length", problems),
                    source="SHOW TABLE STATUS",
                )
            )
        elif "table_name" in row.values and ("table_rows" in row.values or "avg_row_length" in row.values):
            information.append(
                TableStatistics(
                    name=row.values["table_name"],
                    database=row.get("table_schema"),
                    rows=_counted(row, "table_rows", problems),
                    average_row_bytes=_counted(row, "avg_row_length", problems),
                    source="INFORMATION_SCHEMA.TABLES",
                )
            )
    tables += information
    tables += _memory_per_fragment(fragments, problems)
    if not tables and not problems:
        problems.append(
            "line 1: neither INFORMATION_SCHEMA.TABLES, ndb_desc -p nor memory_per_fragment output"
        )
    return StatisticsResult(tuple(tables), tuple(problems))


def _counted(row: Row, name: str, problems: list[str]) -> int | None:
    """A count, or None for NULL; what is not a number is told."""
    number = row.number(name)
    if number is None and row.get(name) is not None:
        problems.append(f"line {row.line}: {name.upper()} '{row.values[name][:40]}' is not a whole number")
    return number


_PARTITION_COUNT = re.compile(r"^(?:PartitionCount|FragmentCount):\s*([0-9]{1,5})\s*$", re.M)
_MOST_PARTITIONS = 8160
_HASH_MAP = re.compile(r"^HashMap:\s*(DEFAULT-)?HASHMAP-([0-9]{1,9})-(?:([0-9]{1,9})-)?([0-9]{1,9})", re.M)


def _ndb_desc(text: str, problems: list[str]) -> Iterator[TableStatistics]:
    heads = list(TABLE_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        if head[1].startswith("NDB$"):
            # Hidden tables of blobs and unique indexes.
            continue
        body = text[head.end() : end]
        line = text.count("\n", 0, head.start()) + 1
        start = body.find("-- Per partition info --")
        if start < 0:
            problems.append(f"line {line}: table {head[1]} without partitions; run ndb_desc with -p")
            continue
        rows: dict[int, tuple[int, int, int, int]] = {}
        for entry in body[start:].splitlines()[1:]:
            cells = entry.split()
            numbers = [n for cell in cells[:5] if (n := whole_number(cell)) is not None]
            if len(numbers) == 5 and numbers[0] < _MOST_PARTITIONS:
                rows[numbers[0]] = (numbers[1], numbers[2], numbers[3], numbers[4])
            elif rows and not entry.strip():
                break
        if (stated := _PARTITION_COUNT.search(body)) is not None and int(stated[1]) <= _MOST_PARTITIONS:
            # Partitions without rows are not always printed (8.4.8).
            rows = {
                p: rows.get(p, (0, 0, 0, 0)) for p in range(max(int(stated[1]), *(n + 1 for n in rows), 1))
            }
        if sorted(rows) != list(range(len(rows))):
            problems.append(f"line {line}: partitions of table {head[1]} are not complete")
            continue
        counts = [rows[p] for p in range(len(rows))]
        hash_map = _HASH_MAP.search(body)
        total = sum(count[0] for count in counts)
        yield TableStatistics(
            name=head[1],
            rows=total,
            partition_rows=tuple(count[0] for count in counts),
            partition_variable_bytes=tuple(count[3] for count in counts),
            commits=tuple(count[1] for count in counts),
            fixed_bytes=sum(count[2] for count in counts),
            variable_words=_words_of_pages(total, sum(count[3] for count in counts)),
            buckets=int(hash_map[2]) if hash_map else None,
            grown_from=(int(hash_map[3]),) if hash_map and hash_map[3] else (),
            source="ndb_desc -p",
        )


def _words_of_pages(rows: int, page_bytes: int) -> float | None:
    """Words of a variable part from the pages its rows take: the middle of what fits that many in a page."""
    if not rows or not page_bytes:
        return None
    per_page = rows * PAGE_BYTES / page_bytes
    usable = VARIABLE_PAGE_WORDS - VARIABLE_PAGE_CLOSED_WORDS
    least, most = usable / per_page, min(usable / max(0.5, per_page - 1), VARIABLE_PAGE_WORDS / per_page)
    return max(1.0, (least + most) / 2 - 1)


@dataclass
class _Fragments:
    rows: dict[int, int] = field(default_factory=dict)
    variable_bytes: dict[int, int] = field(default_factory=dict)
    fixed_bytes: int = 0
    used_bytes: int = 0
    variable_rows: int = 0


def _memory_per_fragment(rows: list[Row], problems: list[str]) -> Iterator[TableStatistics]:
    tables: dict[str, _Fragments] = {}
    seen: set[tuple[str, int]] = set()
    for row in rows:
        if row.get("type") not in ("User table", None):
            continue
        name, number = row.values["fq_name"], row.number("fragment_num")
        count = row.number("fixed_elem_count")
        if number is None or count is None:
            problems.append(f"line {row.line}: no fragment_num or fixed_elem_count")
            continue
        if (name, number) in seen:
            # The same fragment on another node: a replica.
            continue
        seen.add((name, number))
        table = tables.setdefault(name, _Fragments())
        table.rows[number] = count
        table.fixed_bytes += row.number("fixed_elem_alloc_bytes") or 0
        allocated, free = row.number("var_elem_alloc_bytes") or 0, row.number("var_elem_free_bytes") or 0
        table.variable_bytes[number] = allocated
        table.used_bytes += allocated - free - allocated // PAGE_BYTES * _PAGE_HEADER_BYTES
        table.variable_rows += row.number("var_elem_count") or 0
    for name, table in tables.items():
        parts = name.split("/")
        if parts[-1].startswith("NDB$"):
            continue
        complete = sorted(table.rows) == list(range(len(table.rows)))
        if not complete:
            problems.append(f"fragments of {name} are not complete; rows per partition are not taken")
        yield TableStatistics(
            name=parts[-1],
            database=parts[0] if len(parts) == 3 else None,
            rows=sum(table.rows.values()) if complete else None,
            partition_rows=tuple(table.rows[f] for f in sorted(table.rows)) if complete else (),
            partition_variable_bytes=(
                tuple(table.variable_bytes[f] for f in sorted(table.rows)) if complete else ()
            ),
            fixed_bytes=table.fixed_bytes,
            variable_words=(
                max(1.0, table.used_bytes / table.variable_rows / 4 - 1) if table.variable_rows else None
            ),
            source="memory_per_fragment",
        )


def apply_statistics(plan: Plan, tables: Iterable[TableStatistics]) -> tuple[Plan, tuple[str, ...]]:
    """The plan with counts and mean lengths taken over, and one line on each table."""
    report: list[str] = []
    current = list(plan.tables)
    for statistics in tables:
        at = next(
            (
                i
                for i, table in enumerate(current)
                if table.name == statistics.name and statistics.database in (None, table.database)
            ),
            None,
        )
        if at is None:
            report.append(f"{statistics.name}: not in the plan ({statistics.source})")
            continue
        current[at], told = _with_statistics(current[at], statistics, plan)
        report.append(f"{current[at].full_name}: {told} ({statistics.source})")
    if tuple(current) == plan.tables:
        return plan, tuple(report)
    return plan.replace(tables=tuple(current)), tuple(report)


def _with_statistics(table: Table, statistics: TableStatistics, plan: Plan) -> tuple[Table, str]:
    fields: dict[str, object] = {}
    told: list[str] = []
    if statistics.rows is not None:
        fields["rows"] = statistics.rows
        told.append(f"{format_count(statistics.rows)} rows")
    if statistics.partition_rows:
        fields["partition_rows"] = statistics.partition_rows
        told.append(f"{len(statistics.partition_rows)} partitions")
    if statistics.buckets is not None:
        fields["hash_map_buckets"] = statistics.buckets
        fields["grown_from"] = statistics.grown_from
    table = changed(table, **fields)
    words = statistics.variable_words
    if words is None and statistics.average_row_bytes is not None:
        # AVG_ROW_LENGTH counts fixed and variable part.
        layout = row_layout(table, plan.version)
        words = (statistics.average_row_bytes - layout.fixed_bytes) / 4
    if words is not None and words > 0:
        columns = _fitted(table, words, plan)
        if columns != table.columns:
            table = changed(table, columns=columns)
            told.append("mean lengths")
    if statistics.partition_variable_bytes and sum(statistics.partition_rows) == table.rows:
        table = changed(table, partition_variable_bytes=statistics.partition_variable_bytes)
        told.append("pages")
    return table, ", ".join(told) or "nothing new"


def _fitted(table: Table, words: float, plan: Plan) -> tuple[Column, ...]:
    """Columns whose unknown mean lengths make the variable part as long as it was found to be.

    With no unknown length those of all variable columns are scaled. Blobs keep theirs: most of a blob is in
    its parts, which these statistics do not show.
    """
    layout = row_layout(table, plan.version)
    variable = [c for c in layout.columns if c.type.storage is Storage.VARIABLE and not c.is_disk]
    if not variable:
        return table.columns
    chosen = [c for c in variable if c.length_is_assumed] or variable
    blobs = sum(
        (1 - c.null_fraction) * c.mean_bytes for c in layout.columns if c.type.storage is Storage.BLOB
    )
    count = len(variable) + sum(c.type.storage is Storage.BLOB for c in layout.columns)
    kept = sum((1 - c.null_fraction) * c.mean_bytes for c in variable if c not in chosen) + blobs
    target = 4 * words - 2 * (count + 1) - kept
    lengths = sum((1 - c.null_fraction) * c.type.length_bytes for c in chosen)
    payload = max(0.0, target - lengths)
    present = sum((1 - c.null_fraction) * (c.mean_bytes - c.type.length_bytes) for c in chosen)
    averages: dict[str, float] = {}
    for column in chosen:
        if present > 0:
            mean = (column.mean_bytes - column.type.length_bytes) * payload / present
        else:
            mean = payload / len(chosen)
        averages[column.name] = round(min(mean, float(column.type.max_bytes)), 2)
    return tuple(
        changed(column, average_bytes=averages[column.name]) if column.name in averages else column
        for column in table.columns
    )
