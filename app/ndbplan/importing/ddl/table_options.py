"""Options of a table behind its columns, from ENGINE to PARTITION BY; what is not used is named."""

from __future__ import annotations

import re
from typing import Any

from ndbplan.base.units import whole_number
from ndbplan.importing.ddl.stream import Stream
from ndbplan.importing.ddl.tokens import Word
from ndbplan.importing.ddl.types import PARTITIONING, TableParts
from ndbplan.plan.tables import PartitionBalance

_MOST_ROWS = 10**15
"""Of a table; the next number of a key may be beyond."""


def read_options(options: Stream, parts: TableParts) -> None:
    """Read what stands behind the parenthesis of the columns into the table. Raises Unreadable."""
    while not options.at_end():
        word = options.next()
        name = word.upper
        if name == "PARTITION":
            _read_partitioning(options, parts, word)
            return
        if name in ("DEFAULT", ","):
            continue
        if name in ("LIKE", "SELECT", "AS", "IGNORE", "REPLACE"):
            parts.problems.append((word.start, "CREATE TABLE ... LIKE or SELECT defines no columns here"))
            return
        # Said before the columns are read, which need it (default_charset).
        is_charset = name in ("CHARSET", "COLLATE") or (name == "CHARACTER" and options.accept("SET"))
        options.accept("DIRECTORY")
        options.accept("=")
        is_list = options.peek().upper == "("
        if is_list or options.at_end():
            options.skip_parenthesis()
            parts.lose(word.start, f"{word.text[:40]} is not known here; it is left out")
            continue
        value = options.next()
        if name == "TABLESPACE":
            parts.tablespace = value
        elif name == "STORAGE":
            parts.on_disk = value.upper == "DISK"
        elif name in _OPTIONS:
            _OPTIONS[name](parts, value)
        elif not is_charset:
            known = name in _WITHOUT_EFFECT
            what = f"{name} changes nothing in NDB" if known else f"{word.text[:40]} is not known here"
            parts.lose(word.start, f"{what}; it is left out", f"{name} of the table")


def _engine(parts: TableParts, value: Word) -> None:
    if value.text.lower() not in ("ndb", "ndbcluster"):
        parts.problems.append((value.start, f"engine {value.text}; planned as a table of NDB Cluster"))


def _max_rows(parts: TableParts, value: Word) -> None:
    # MIN_ROWS counts like MAX_ROWS when it is larger (ha_ndbcluster::create).
    rows = whole_number(value.text)
    if rows:
        parts.options["max_rows"] = max(rows, parts.options.get("max_rows") or 0)
    elif rows is None:
        parts.problems.append((value.start, f"'{value.text[:40]}' is not a number of rows; it is left out"))


def _auto_increment(parts: TableParts, value: Word) -> None:
    # The next number of a dump: rows there were at most, as far as none was skipped or deleted.
    if 1 < (following := whole_number(value.text) or 0) <= _MOST_ROWS:
        parts.options |= {"rows": following - 1, "assumed": ("rows",)}
        said = f"AUTO_INCREMENT={following}: {following - 1} rows are assumed, as many as were written"
        parts.problems.append((value.start, said))


def _row_format(parts: TableParts, value: Word) -> None:
    wanted = value.text.upper()
    parts.options["row_format_fixed"] = wanted == "FIXED"
    parts.row_format_dynamic = wanted == "DYNAMIC"
    if wanted not in ("DEFAULT", "FIXED", "DYNAMIC"):
        parts.problems.append((value.start, f"NDB refuses ROW_FORMAT={wanted[:40]}; planned as DEFAULT"))


_FLAGS = ("READ_BACKUP", "FULLY_REPLICATED", "NOLOGGING")


def _comment(parts: TableParts, value: Word) -> None:
    match = re.search(r"NDB_TABLE\s*=\s*([^;]*)", value.text)
    if match is None:
        if value.text:
            parts.lose(value.start, "COMMENT is for people; it is left out", "COMMENT of the table")
        return
    for setting in match[1].split(","):
        stated, equals, written = setting.partition("=")
        # A value ends at a blank; what follows is for people.
        name, text = stated.strip().upper(), written.strip().partition(" ")[0]
        if name == "PARTITION_BALANCE" and text.upper() in list(PartitionBalance):
            parts.options["partition_balance"] = text.upper()
        elif name in _FLAGS and (text in ("0", "1") or not equals):
            on = text != "0"
            parts.options |= {"logging": not on} if name == "NOLOGGING" else {name.lower(): on}
        elif name in (*_FLAGS, "PARTITION_BALANCE"):
            said = f"NDB_TABLE has no {name}={text[:40]}; SQL nodes refuse it, and it is left out"
            parts.lose(value.start, said, f"{name}={text[:40]}")
        elif name:
            parts.problems.append((value.start, f"NDB_TABLE has no {stated.strip()[:40]}; it is left out"))


_WITHOUT_EFFECT = frozenset(
    {
        "AVG_ROW_LENGTH", "CHECKSUM", "COMPRESSION", "CONNECTION", "DATA", "DELAY_KEY_WRITE", "ENCRYPTION",
        "ENGINE_ATTRIBUTE", "INDEX", "INSERT_METHOD", "KEY_BLOCK_SIZE", "PACK_KEYS", "PASSWORD",
        "SECONDARY_ENGINE", "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "AUTOEXTEND_SIZE",
    }
)  # fmt: skip
"""Options of tables that other engines read."""

_OPTIONS: dict[str, Any] = {
    "ENGINE": _engine,
    "MAX_ROWS": _max_rows,
    "MIN_ROWS": _max_rows,
    "AUTO_INCREMENT": _auto_increment,
    "ROW_FORMAT": _row_format,
    "COMMENT": _comment,
}


def _read_partitioning(options: Stream, parts: TableParts, word: Word) -> None:
    parts.places[PARTITIONING] = word.start
    options.accept("BY")
    options.accept("LINEAR")
    if not options.accept("KEY"):
        kind = options.peek().text.upper()
        parts.problems.append(
            (word.start, f"PARTITION BY {kind}: NDB distributes by KEY only; it is left out")
        )
        return
    if options.accept("ALGORITHM"):
        options.accept("=")
        options.next()
    if options.accept("("):
        parts.distribution_key = ()
        for part in options.items():
            if not part.at_end():
                parts.distribution_key += (part.name("column"),)
            if not part.at_end():
                said = f"{part.peek().text[:40]} in a key is not used; it is left out"
                parts.problems.append((part.start, said))
    if options.accept("PARTITIONS") and options.peek().kind == "number":
        stated = options.next()
        partitions = whole_number(stated.text)
        if partitions is None:
            parts.problems.append((stated.start, f"PARTITIONS {stated.text[:40]}: not a number; left out"))
        else:
            parts.options["partitions"] = partitions
    if options.accept("("):
        _named_partitions(options, parts, word)
    if not options.at_end():
        rest = options.peek()
        parts.problems.append((rest.start, f"{rest.text[:40]} behind PARTITION BY is not used; left out"))


def _named_partitions(options: Stream, parts: TableParts, word: Word) -> None:
    """The list that names each partition; NDB numbers them, so what counts is how many there are."""
    count = 0
    for one in options.items():
        one.expect("PARTITION")
        one.name("a partition")
        count += 1
        while not one.at_end():
            option = one.next()
            one.accept("DIRECTORY")
            one.accept("=")
            if option.upper == "ENGINE":
                _engine(parts, one.next())
            elif option.upper != "STORAGE":
                what = f"{option.text[:40]} of a partition is not used; it is left out"
                parts.problems.append((option.start, what))
                if option.upper == "VALUES":
                    break
                one.next()
    stated = parts.options.setdefault("partitions", count)
    if stated != count:
        what = f"PARTITIONS {stated}, but {count} are named; planned with {stated}"
        parts.problems.append((word.start, what))
