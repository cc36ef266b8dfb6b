"""What an SQL text does to tables that it does not make itself: those of the plan, if it has them.

    known = KnownTables()
    known.rename(TableName("shop", "t"), TableName("shop", "t_old"), offset)
    known.make(TableName("shop", "t"))    # a CREATE TABLE: the name is taken again
    known.fates()                         # shop.t becomes shop.t_old

A table that is dropped and made again is redefined, as dumps do it: it keeps its rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.removal import remove
from ndbplan.edits.validated import EditError
from ndbplan.importing.ddl.tokens import DdlProblem
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table


class TableName(NamedTuple):
    """A table by its database and name."""

    database: str
    name: str

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"


class NamesOfDatabases:
    """Names of tables, found by their database without looking at all others."""

    def __init__(self) -> None:
        self._names: dict[str, dict[TableName, None]] = {}

    def add(self, name: TableName) -> None:
        """Keep a name."""
        self._names.setdefault(name.database, {})[name] = None

    def discard(self, name: TableName) -> None:
        """Keep it no longer."""
        self._names.get(name.database, {}).pop(name, None)

    def of(self, database: str) -> list[TableName]:
        """Those of one database."""
        return list(self._names.get(database, ()))


def name_of(table: Table) -> TableName:
    """How a table is called."""
    return TableName(table.database, table.name)


@dataclass(slots=True)
class Fate:
    """What becomes of one table."""

    table: TableName
    """As it is called before the text."""
    now: TableName | None
    """As it is called behind it; None: it is dropped."""
    offset: int
    """Of the last statement about it."""
    emptied: bool = False
    expected: bool = True
    """Whether the text takes it that there is one: DROP ... IF EXISTS does not."""
    place: tuple[int, int] = (1, 1)
    """Line and column of that statement."""


class KnownTables:
    """Follows RENAME, DROP and TRUNCATE of tables that a text does not make."""

    def __init__(self) -> None:
        self.made: set[TableName] = set()
        """Every name that a CREATE TABLE takes, readable or not."""
        self.databases: set[str] = set()
        """Those that are dropped."""
        self._fates: dict[TableName, Fate] = {}
        """By the name before the text."""
        self._called: dict[TableName, TableName | None] = {}
        """The first name of what is called so now; None: nothing is any more."""
        self._spoken_of = NamesOfDatabases()
        """Names of now that have a fate."""

    def _fate(self, name: TableName, offset: int) -> Fate | None:
        first = self._called.get(name, name)
        if first is None or (name.database in self.databases and name not in self._called):
            return None
        fate = self._fates.setdefault(first, Fate(first, name, offset))
        fate.offset = offset
        self._spoken_of.add(name)
        return fate

    def rename(self, name: TableName, to: TableName, offset: int) -> bool:
        """Follow RENAME TABLE; False: there is no table of that name any more."""
        fate = self._fate(name, offset)
        if fate is None:
            return False
        fate.now = to
        self._spoken_of.discard(name)
        self._spoken_of.add(to)
        self._called[name], self._called[to] = None, fate.table
        return True

    def drop(self, name: TableName, offset: int, *, expected: bool) -> bool:
        """Follow DROP TABLE, with IF EXISTS or `expected`; False: there is no table of that name any more."""
        fate = self._fate(name, offset)
        if fate is None:
            return not expected
        fate.now, fate.expected, self._called[name] = None, expected, None
        return True

    def drop_database(self, database: str, offset: int) -> None:
        """Follow DROP DATABASE."""
        for name in self._spoken_of.of(database):
            self._spoken_of.discard(name)
            fate = self._fates.get(self._called.get(name, name) or name)
            if fate is not None and fate.now == name:
                self._called[name] = None
                fate.now, fate.offset = None, offset
        self.databases.add(database)

    def empty(self, name: TableName, offset: int) -> bool:
        """Follow TRUNCATE; False: there is no table of that name any more."""
        fate = self._fate(name, offset)
        if fate is not None:
            fate.emptied = True
        return fate is not None

    def make(self, name: TableName) -> None:
        """A CREATE TABLE of that name: one that was dropped is made anew and keeps what the plan knows."""
        self.made.add(name)
        fate = self._fates.get(name)
        if fate is not None and fate.now is None:
            del self._fates[name]
        if self._called.get(name, name) is None:
            del self._called[name]

    def fates(self) -> tuple[Fate, ...]:
        """Every table that ends otherwise than it began, in the order of the text."""
        changed = (f for f in self._fates.values() if f.now != f.table or f.emptied)
        return tuple(sorted(changed, key=lambda fate: fate.offset))


def with_fates(
    plan: Plan, fates: Collection[Fate], databases: Collection[str], made: Collection[TableName]
) -> tuple[Plan, list[str], list[DdlProblem]]:
    """The plan after what a text does to tables of its own; what changes, and what cannot be followed.

    `databases`: dropped ones; `made`: tables that the text makes, which stay to be redefined.
    """
    changes, problems = list[str](), list[DdlProblem]()
    tables = {name_of(table): table for table in plan.tables}
    by_table = {fate.table: replace(fate) for fate in fates if fate.table in tables}
    for fate in fates:
        if fate.table not in tables and fate.expected:
            problems.append(DdlProblem(*fate.place, f"there is no table {fate.table} above; left out"))
    for name, table in tables.items():
        of_database = name.database in databases and name not in made and name not in by_table
        if of_database or (name in by_table and by_table[name].now is None):
            gone = remove(plan, [f"tables[{table.id}]"])
            plan = gone.plan
            along = f", and with it {', '.join(gone.along)}" if gone.along else ""
            changes.append(f"{name}: dropped{along}")
    problems += _refused(plan.tables, by_table)
    changed = []
    for table in plan.tables:
        found = by_table.get(name_of(table))
        try:
            changed.append(table if found is None else _after(table, found, changes))
        except EditError as error:
            changed.append(table)
            problems.append(DdlProblem(*by_table[name_of(table)].place, f"table {error.line}"))
    if changes:
        plan = edits.put(plan, tables=tuple(changed))
    return plan, changes, problems


def _refused(tables: Iterable[Table], fates: Mapping[TableName, Fate]) -> list[DdlProblem]:
    """What is said of tables that were to get the name of another one; they keep their own."""
    problems = list[DdlProblem]()
    names = list(map(name_of, tables))
    while True:
        count = Counter(fates[name].now if name in fates else name for name in names)
        wrong = [
            fates[name]
            for name in names
            if name in fates and fates[name].now != name and count[fates[name].now] > 1
        ]
        if not wrong:
            return problems
        for fate in wrong:
            what = f"table {fate.table} cannot become {fate.now}: there is one already"
            problems.append(DdlProblem(*fate.place, what))
            fate.now = fate.table


def _after(table: Table, fate: Fate, changes: list[str]) -> Table:
    told, now = list[str](), fate.now or fate.table
    if now != fate.table:
        table = validated.changed(table, database=now.database, name=now.name)
        told.append(f"renamed to {now}")
    if fate.emptied:
        told.append(f"emptied, {table.rows} rows before")
        assumed = tuple(name for name in table.assumed if name != "rows")
        table = validated.changed(
            table, rows=0, partition_rows=(), partition_variable_bytes=(), assumed=assumed
        )
    if told:
        changes.append(f"{fate.table}: {', '.join(told)}")
    return table
