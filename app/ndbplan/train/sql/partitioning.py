"""PARTITION BY of a table of NDB: forms that a server takes and refuses, and which rows have a place.

    clause_of(asked)                        # what a statement says of partitions
    check_clause(asked, clause)             # raises SqlError
    check_row(table, row)                   # raises SqlError 1526

Texts, codes and warnings: recorded on running 8.4.8 and 7.4.10 clusters; those of the SQL layer: its manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, pairwise
from typing import NamedTuple

from ndbplan.base.quoting import sql_identifier
from ndbplan.estimate.stored import has_partitions, has_too_many_fragments
from ndbplan.importing.ddl.stream import Stream
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.console import form
from ndbplan.ndb.placement.hashmap import max_fragments
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table
from ndbplan.train.contents import Row
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax
from ndbplan.train.sql.too_large import refused_by_ndb

_MOST_PARTITIONS = 8192


class Clause(NamedTuple):
    """PARTITION BY of a statement."""

    kind: str
    """KEY, HASH, LIST or RANGE."""
    linear: bool
    column: str
    """That of HASH, LIST and RANGE; empty: none, or an expression."""
    asked_for: int | None
    """Behind PARTITIONS; None: it does not stand there."""
    parts: tuple[tuple[str, str], ...]
    """Names of partitions, and what stands behind VALUES, in the server's words."""
    start: int
    """Where it begins."""

    @property
    def shown(self) -> str:
        """As SHOW CREATE TABLE has it, in one line."""
        return self.shown_by(sql_identifier(self.column))

    def shown_by(self, columns: str) -> str:
        """The same of these columns, as they are written."""
        linear = "LINEAR " if self.linear else ""
        head = f"PARTITION BY {linear}{self.kind} ({columns})"
        if not self.parts:
            return head + (f" PARTITIONS {self.asked_for}" if self.asked_for else "")
        named = (" ".join(("PARTITION", *filter(None, one), "ENGINE = ndbcluster")) for one in self.parts)
        return f"{head} ({', '.join(named)})"


def clause_of(asked: Asked) -> Clause | None:
    """What the statement says of partitions; None: nothing. Raises SqlError and NotSimulated."""
    depth, words = 0, asked.words
    for at, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")")
        behind = words[at + 1].upper if at + 1 < len(words) else ""
        if depth == 0 and word.kind == "word" and word.upper == "PARTITION" and behind == "BY":
            return _clause(asked, Stream(list(words[at + 2 :]), len(asked.sql)), word)
    return None


def _clause(asked: Asked, stream: Stream, first: Word) -> Clause:
    linear, kind = stream.accept("LINEAR"), stream.peek().upper
    if kind not in ("KEY", "HASH", "LIST", "RANGE"):
        raise syntax(asked.sql[stream.start :])
    stream.next()
    if stream.peek().upper in ("COLUMNS", "ALGORITHM"):
        raise NotSimulated(f"PARTITION BY {kind} {stream.peek().upper} is not simulated")
    start = stream.start
    if not stream.accept("("):
        raise syntax(asked.sql[start:])
    inside = [word for item in stream.items() for word in item.rest()]
    column = inside[0].text if len(inside) == 1 and inside[0].kind in ("word", "name") else ""
    count = None
    if stream.accept("PARTITIONS"):
        if stream.peek().kind != "number" or not stream.peek().text.isdecimal():
            raise syntax(asked.sql[stream.start :])
        count = int(stream.next().text)
    if stream.peek().upper == "SUBPARTITION":
        if kind in ("KEY", "HASH"):
            mixed = "It is only possible to mix RANGE/LIST partitioning with HASH/KEY partitioning for"
            raise SqlError(1500, "HY000", f"{mixed} subpartitioning")
        raise NotSimulated("subpartitions are not simulated")
    parts = tuple(_parts(stream, kind)) if stream.accept("(") else ()
    if not stream.at_end():
        raise syntax(asked.sql[stream.start :])
    if kind != "KEY" and not column:
        if not inside:
            raise syntax(asked.sql[start + 1 :])
        raise NotSimulated(f"PARTITION BY {kind} of an expression is not simulated; of a column it is")
    return Clause(kind, linear, column, count, parts, first.start)


def _parts(stream: Stream, kind: str) -> Iterator[tuple[str, str]]:
    for one in stream.items():
        one.expect("PARTITION")
        name, values = one.name("a partition"), ""
        if one.accept("VALUES"):
            wanted = "LESS" if one.accept("LESS") else "IN"
            one.expect("THAN" if wanted == "LESS" else "IN")
            if (wanted == "LESS") != (kind == "RANGE"):
                other, how = ("RANGE", "LESS THAN") if wanted == "LESS" else ("LIST", "IN")
                text = f"Only {other} PARTITIONING can use VALUES {how} in partition definition"
                raise SqlError(1480, "HY000", text)
            if one.accept("MAXVALUE"):
                listed = "MAXVALUE"
            else:
                one.expect("(")
                items = ["".join(word.text for word in item.rest()) for item in one.items()]
                listed = f"({','.join(items)})"
            values = f"VALUES LESS THAN {listed}" if wanted == "LESS" else f"VALUES IN {listed}"
        while not one.at_end():
            if one.next().upper not in ("ENGINE", "=", "NDB", "NDBCLUSTER"):
                raise NotSimulated("options of partitions are not simulated")
        yield name, values


def check_clause(asked: Asked, clause: Clause) -> None:
    """Raises what a server says of partitions that cannot be."""
    plan, kind = asked.plan, clause.kind
    if kind in ("LIST", "RANGE") and not all(values for _, values in clause.parts):
        raise SqlError(1492, "HY000", f"For {kind} partitions each partition must be defined")
    if kind in ("LIST", "RANGE") and not clause.parts:
        raise SqlError(1492, "HY000", f"For {kind} partitions each partition must be defined")
    if clause.asked_for == 0:
        raise SqlError(1504, "HY000", "Number of partitions = 0 is not an allowed value")
    names = [name for name, _ in clause.parts]
    twice = next((name for at, name in enumerate(names) if name.lower() in map(str.lower, names[:at])), None)
    if twice is not None:
        raise SqlError(1517, "HY000", f"Duplicate partition name {twice}")
    if names and clause.asked_for is not None and clause.asked_for != len(names):
        raise SqlError(1484, "HY000", "Wrong number of partitions defined, mismatch with previous setting")
    _check_values(clause)
    wanted = clause.asked_for or len(clause.parts)
    if wanted > _MOST_PARTITIONS:
        raise SqlError(1499, "HY000", "Too many partitions (including subpartitions) were defined")
    if kind != "KEY":
        how = form(plan.version, "other_partitions")
        if how == "refused":
            text = "LIST, RANGE and HASH partition disabled by default, use --new option to enable"
            option = f"Table storage engine 'ndbcluster' does not support the create option '{text}'"
            name = asked.words[2].text
            raise SqlError(
                1112, "42000", f"Table '{name}' uses an extension that doesn't exist in this MySQL version",
                (Warned("Warning", 1478, option),),
            )  # fmt: skip
        if how != "deprecated":
            raise NotSimulated(f"what this release does with PARTITION BY {kind} of NDB is not known here")
    if wanted and _is_too_many(plan, wanted):
        raise refused_by_ndb(asked, 1224)


def _check_values(clause: Clause) -> None:
    """Raises what is wrong with the values of partitions."""
    numbers = [_numbers(values) for _, values in clause.parts]
    # The highest number stands for MAXVALUE among the bounds of ranges.
    highest = 2**31 - 1 - (clause.kind == "RANGE")
    if any(not -(2**31) <= one <= highest for listed in numbers for one in listed):
        raise SqlError(1523, "HY000", "The NDB handler only supports 32 bit integers in VALUES")
    if clause.kind == "RANGE":
        bounds = [listed[0] for listed in numbers if listed]
        if any(b <= a for a, b in pairwise(bounds)):
            text = "VALUES LESS THAN value must be strictly increasing for each partition"
            raise SqlError(1493, "HY000", text)
        if any("MAXVALUE" in values for _, values in clause.parts[:-1]):
            raise SqlError(1481, "HY000", "MAXVALUE can only be used in last partition definition")
    if clause.kind == "LIST":
        flat = [one for listed in numbers for one in listed]
        if len(flat) != len(set(flat)):
            raise SqlError(1495, "HY000", "Multiple definition of same constant in list partitioning")


def _numbers(values: str) -> list[int]:
    return [int(one) for one in re.findall(r"-?[0-9]{1,30}", values)]


def _is_too_many(plan: Plan, partitions: int) -> bool:
    """Whether a new table cannot have so many."""
    key = Column(name="key", type="int", nullable=False)
    free = next(name for name in map("t{}".format, count()) if name not in plan.by_id)
    most = max_fragments(plan.version)
    new = Table(id=free, database="new", name="table", columns=(key,), partitions=min(partitions, most))
    return has_partitions(plan) and has_too_many_fragments(plan.replace(tables=(*plan.tables, new)), new)


def as_key(sql: str, clause: Clause | None) -> str:
    """The statement with partitions as a plan holds them: by a key, so many."""
    if clause is None or clause.kind == "KEY":
        return sql
    wanted = clause.asked_for or len(clause.parts) or 1
    return f"{sql[: clause.start]}PARTITION BY KEY ({sql_identifier(clause.column)}) PARTITIONS {wanted}"


NO_PARTITION = 1526
"""A row that IGNORE leaves out."""


def check_row(table: Table, row: Row) -> None:
    """Raises SqlError for a row that no partition takes."""
    for text in table.left_out:
        found = re.match(r"PARTITION BY (LIST|RANGE) \(`([^`]{1,64})`\) ", text)
        if found is None:
            continue
        value, listed = row.get(found[2]), text[found.end() :]
        if not isinstance(value, int):
            continue
        numbers = [_numbers(one) for one in re.findall(r"VALUES (?:LESS THAN|IN) \(([^)]{0,300})\)", listed)]
        flat = [one for numbers_of in numbers for one in numbers_of]
        is_in = value in flat if found[1] == "LIST" else "MAXVALUE" in listed or value < max(flat)
        if not is_in:
            raise SqlError(NO_PARTITION, "HY000", f"Table has no partition for value {value}")
