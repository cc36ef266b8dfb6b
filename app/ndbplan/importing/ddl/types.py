"""Column definitions: the grammar half of reading table definitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ndbplan.base.units import whole_number
from ndbplan.importing.ddl.blob_sizes import blob_sizes
from ndbplan.importing.ddl.character_sets import TableCharset
from ndbplan.importing.ddl.foreign_keys import ForeignKey
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.columns import COLUMN_TYPES, Length, by_ddl_name, smallest_that_holds
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import refusal
from ndbplan.plan.tables import Column, Index, is_sql_value


@dataclass
class TableParts:
    """What was read of one table."""

    database: str
    name: str
    start: int
    """Offset of its statement."""
    columns: list[dict[str, Any]] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    primary_key_using_hash: bool = False
    distribution_key: tuple[str, ...] = ()
    indexes: list[Index] = field(default_factory=list)
    index_numbers: dict[str, int] = field(default_factory=dict)
    """By the name of each index, what was last put behind it to name another."""
    foreign_keys: list[tuple[str | None, ForeignKey]] = field(default_factory=list)
    """Each with its name."""
    options: dict[str, Any] = field(default_factory=dict)
    virtual: set[str] = field(default_factory=set)
    nulls: dict[str, int] = field(default_factory=dict)
    """Offset of the word NULL of each column that states it."""
    tablespace: Word | None = None
    on_disk: bool = False
    row_format_dynamic: bool = False
    """ROW_FORMAT=DYNAMIC: columns that do not say otherwise are dynamic."""
    problems: list[tuple[int, str]] = field(default_factory=list)
    source: str = ""
    """The text that offsets are of."""
    places: dict[str, int] = field(default_factory=dict)
    """Offset of each column."""
    left_out: list[str] = field(default_factory=list)
    """What the statement says besides and a plan does not hold."""

    def lose(self, offset: int, message: str, clause: str = "") -> None:
        """Say at its place what is not kept; `clause`: what it is, else what the message begins with."""
        self.problems.append((offset, message))
        self.left_out.append((clause or message.partition(";")[0])[:_LONGEST_CLAUSE])

    def place_of(self, column: str) -> int:
        """Offset of a column's definition."""
        return self.places.get(column, self.start)

    def text(self, start: int, end: int) -> str:
        """A piece of the statement in one line."""
        return " ".join(self.source[start:end].split())

    @property
    def uses_disk(self) -> bool:
        """Whether the server takes it for a table of disk data: by its tablespace, or by a column."""
        on_disk = any(column.get("storage") == "disk" for column in self.columns)
        return self.tablespace is not None or on_disk

    def add_index(self, name: str | None, columns: tuple[str, ...], kind: Any) -> None:
        """Add a secondary index; without a name it takes that of its first column."""
        stem = wish = name or columns[0]
        number = self.index_numbers.get(stem.casefold(), 0)
        while wish.casefold() in self.index_numbers:
            number = max(number, 1) + 1
            wish = f"{stem}_{number}"
        try:
            self.indexes.append(Index(name=wish, columns=columns, kind=kind))
        except ValidationError as error:
            first = error.errors()[0]
            said = f"KEY {wish[:40]}: {first['loc'][0]}: {refusal(first)}; it is left out"
            raise Unreadable(self.start, said) from None
        # Capitals make no difference in names of indexes.
        self.index_numbers |= {
            stem.casefold(): number,
            wish.casefold(): self.index_numbers.get(wish.casefold(), 0),
        }

    def set_primary_key(self, columns: tuple[str, ...], offset: int, *, hashed: bool = False) -> None:
        """Set the primary key; one that is there already stays, and it is said."""
        if self.primary_key:
            self.problems.append((offset, "PRIMARY KEY is there already; SQL nodes refuse another one"))
        else:
            self.primary_key, self.primary_key_using_hash = columns, hashed

    def rename(self, before: str, now: str) -> None:
        """Let keys and indexes name a column as it is called now."""
        if before == now:
            return

        def named(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(now if column.casefold() == before.casefold() else column for column in columns)

        self.primary_key, self.distribution_key = named(self.primary_key), named(self.distribution_key)
        self.indexes = [one.model_copy(update={"columns": named(one.columns)}) for one in self.indexes]
        self.foreign_keys = [(n, key._replace(columns=named(key.columns))) for n, key in self.foreign_keys]

    def fields(self) -> dict[str, Any]:
        """The fields of a Table."""
        return {
            "database": self.database,
            "name": self.name,
            "columns": tuple(Column(**column) for column in self.columns),
            "primary_key": self.primary_key,
            "primary_key_using_hash": self.primary_key_using_hash,
            "distribution_key": self.distribution_key,
            "indexes": tuple(self.indexes),
            "left_out": tuple(self.left_out[:_MOST_CLAUSES]),
            **self.options,
        }


PARTITIONING = "PARTITION BY"
"""Under which `TableParts.places` has that clause."""
_LONGEST_CLAUSE = 300
_MOST_CLAUSES = 1000
_TYPES = by_ddl_name()
_CHARSET_ATTRIBUTES = {"ASCII": "latin1", "UNICODE": "ucs2", "BYTE": "binary"}
"""Short names of character sets behind a type (manual, data type syntax)."""
_NATIONAL = frozenset({"nchar", "nvarchar"})
_SAYS_NOTHING = frozenset({"SIGNED", "VISIBLE", "GENERATED", "ALWAYS"})
"""Words of a column that say what holds anyway, or what follows them."""


_KEY_COLUMNS = 32
"""Columns of a key at most."""


def _beginnings(columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [columns[:count] for count in range(1, min(len(columns), _KEY_COLUMNS) + 1)]


def _is_value(words: list[Word]) -> bool:
    """Whether it begins with a length or with a member of ENUM and SET."""
    return bool(words) and words[0].kind in ("number", "string")


def _skip_value(item: Stream) -> None:
    """Pass over the value of DEFAULT or ON UPDATE: a literal with its sign or character set, or a call."""
    if item.peek().upper == "(":
        item.skip_parenthesis()
        return
    _ = item.accept("-") or item.accept("+")
    word = item.next()
    is_mark = word.kind == "word" and (word.text.startswith("_") or word.upper in _MARKS_OF_LITERALS)
    if is_mark and item.peek().kind == "string":
        item.next()
    item.skip_parenthesis()


_MARKS_OF_LITERALS = frozenset({"B", "X", "N", "DATE", "TIME", "TIMESTAMP"})


def _skip_reference(item: Stream) -> None:
    """Pass over what stands behind REFERENCES: the table, its columns, MATCH, ON DELETE and ON UPDATE."""
    item.name("a table")
    if item.accept("."):
        item.name("a table")
    item.skip_parenthesis()
    if item.accept("MATCH"):
        item.next()
    while item.accept("ON"):
        item.next()
        if ((item.accept("SET") or item.accept("NO")) and not item.at_end()) or not item.at_end():
            item.next()


def _skip_unknown(item: Stream) -> None:
    """Pass over what belongs to an attribute that is not known: `= value`, a literal or a parenthesis."""
    if (item.accept("=") and not item.at_end()) or item.peek().kind in ("string", "number"):
        item.next()
    item.skip_parenthesis()


class ColumnReader:
    """Reads column definitions of one table."""

    def __init__(self, version: NdbVersion, charset: TableCharset) -> None:
        self._version = version
        self.charset = charset

    def read(self, item: Stream, parts: TableParts) -> None:
        """Read one column definition into the table. Raises Unreadable."""
        start = item.peek().start
        name = item.name("column or key")
        column: dict[str, Any] = {"name": name}
        parts.places[name] = start
        type_word = item.peek()
        typed = item.name("a type").lower()
        national = typed == "national"
        if national:
            typed = item.name("a type").lower()
        if typed not in _TYPES:
            raise Unreadable(type_word.start, f"column {name}: type {type_word.text} is not known")
        column["type"] = _TYPES[typed].name
        if column["type"] == "geometry":
            what = f"column {name}: {typed.upper()} is planned as a BLOB; work on its content is not counted"
            parts.problems.append((type_word.start, what))
        if typed == "double":
            item.accept("PRECISION")
        elif typed in ("char", "character", "nchar") and item.accept("VARYING"):
            column["type"] = "varchar"
        elif typed == "long":
            column["type"] = "mediumblob" if item.accept("VARBINARY") else "mediumtext"
            item.accept("VARCHAR")
        if typed == "serial":
            column |= {"unsigned": True, "nullable": False, "auto_increment": True}
            parts.add_index(None, (name,), "unique")
        behind = item.peek().start
        if item.accept("("):
            lengths = [part.rest() for part in item.items()]
            for unread in filter(None, (part[1:] if _is_value(part) else part for part in lengths)):
                said = f"{unread[0].text[:40]} in the parentheses of {type_word.text.upper()} is not used"
                parts.lose(unread[0].start, f"column {name}: {said}; it is left out")
            self._lengths(column, lengths, parts)
            if len(lengths) > 1 and column["type"] in ("float", "double"):
                digits = parts.text(behind, item.taken_to)
                said = f"column {name}: {digits} of {type_word.text.upper()} is not kept"
                parts.lose(behind, f"{said}; a value takes as much without", said)
        charset = "utf8" if national or typed in _NATIONAL else None
        self._attributes(item, column, parts, charset, start)

    def _lengths(self, column: dict[str, Any], arguments: list[list[Word]], parts: TableParts) -> None:
        kind = COLUMN_TYPES[column["type"]]
        if kind.length is Length.MEMBERS:
            column["members"] = tuple(part[0].text for part in arguments if part)
            column["length"] = len(column["members"])
            if not column["members"]:
                kept = f"column {column['name']}: {column['type'].upper()} of no members"
                parts.problems.append((parts.place_of(column["name"]), f"{kept}; SQL nodes refuse it"))
            return
        stated = [whole_number(part[0].text) for part in arguments if part]
        numbers = [number for number in stated if number is not None]
        if not numbers:
            return
        if kind.length is Length.DIGITS:
            column["length"], column["scale"] = numbers[0], numbers[1] if len(numbers) > 1 else 0
        elif kind.name == "float" and len(numbers) == 1 and numbers[0] > 24:
            column["type"] = "double"
        elif kind.length is Length.MOST_BYTES:
            column["type"] = smallest_that_holds(kind, numbers[0]).name
        elif kind.length is not Length.NOTHING:
            column["length"] = numbers[0]

    def _attributes(
        self, item: Stream, column: dict[str, Any], parts: TableParts, charset: str | None, start: int
    ) -> None:
        name, collation, binary = column["name"], None, False
        nullable: bool | None = None
        virtual = False
        while not item.at_end():
            token = item.next()
            word = token.upper
            if word in ("UNSIGNED", "ZEROFILL"):
                column["unsigned"] = True
                if word == "ZEROFILL":
                    said = f"column {name}: ZEROFILL is for what is shown; planned as UNSIGNED"
                    parts.lose(token.start, said, f"ZEROFILL of column {name}")
            elif word in ("CHARACTER", "CHARSET"):
                item.accept("SET")
                charset = item.name("a character set").lower()
            elif word == "COLLATE":
                collation = item.next().text.lower()
            elif word == "BINARY":
                binary = True
            elif word in _CHARSET_ATTRIBUTES and COLUMN_TYPES[column["type"]].is_text:
                charset = _CHARSET_ATTRIBUTES[word]
            elif word == "NOT" and item.accept("NULL"):
                nullable = False
            elif word == "NULL":
                nullable, parts.nulls[name] = True, token.start
            elif word == "DEFAULT" and item.accept("NULL"):
                continue
            elif word == "DEFAULT":
                self.value(item, column, parts, token, "default")
            elif word == "ON":
                item.expect("UPDATE")
                self.value(item, column, parts, token, "on_update")
            elif word == "AUTO_INCREMENT" or (word == "SERIAL" and item.accept("DEFAULT")):
                item.accept("VALUE")
                column["auto_increment"] = True
                if word == "SERIAL":
                    parts.add_index(name, (name,), "unique")
            elif word == "COMMENT":
                comment = item.next()
                sizes = blob_sizes(column["type"], comment.text, self._version)
                column |= sizes.fields
                for clause, why in sizes.lost:
                    said = f"{clause} is left out; {why}"
                    parts.lose(comment.start, said, f"{clause} of column {name}")
                if comment.text and "NDB_COLUMN" not in comment.text.upper():
                    what = f"COMMENT of column {name}"
                    parts.lose(comment.start, "COMMENT is for people; it is left out", what)
            elif word == "STORAGE":
                wanted = item.next()
                column["storage"] = "disk" if wanted.upper == "DISK" else "memory"
                if wanted.upper not in ("DISK", "MEMORY", "DEFAULT"):
                    clause = f"STORAGE {wanted.text[:40]}"
                    parts.lose(wanted.start, f"column {name}: {clause}: NDB has no such clause; left out")
            elif word == "COLUMN_FORMAT":
                wanted = item.next()
                if wanted.upper in ("DEFAULT", "FIXED", "DYNAMIC"):
                    column["column_format"] = wanted.text.lower()
                else:
                    clause = f"COLUMN_FORMAT {wanted.text[:40]}"
                    parts.lose(wanted.start, f"column {name}: {clause}: NDB has no such clause; left out")
            elif word == "AS":
                item.skip_parenthesis()
                virtual = not item.accept("STORED") and not item.accept("PERSISTENT")
                item.accept("VIRTUAL")
                clause = f"column {name}: {parts.text(token.start, item.taken_to)}"
                what = "is not stored; it takes no memory"
                if not virtual:
                    what = "is stored; it is planned as a column that is written"
                parts.lose(start, f"column {name} is generated and {what}", clause)
            elif word in ("CHECK", "REFERENCES"):
                said = "CHECK is looked at by SQL nodes; it is not counted"
                if word == "REFERENCES":
                    said = "REFERENCES of a column makes no foreign key; it is left out"
                    _skip_reference(item)
                item.skip_parenthesis()
                if item.peek().upper == "NOT" and item.peek(1).upper == "ENFORCED":
                    item.next()
                item.accept("ENFORCED")
                clause = f"column {name}: {parts.text(token.start, item.taken_to)}"
                parts.lose(start, f"column {name}: {said}", clause)
            elif word == "PRIMARY" or word == "KEY":
                item.accept("KEY")
                parts.set_primary_key((name,), token.start)
            elif word == "UNIQUE":
                item.accept("KEY")
                parts.add_index(name, (name,), "unique")
            elif word == "CONSTRAINT":
                if item.peek().upper not in ("CHECK", "PRIMARY", "UNIQUE", "REFERENCES"):
                    item.name("constraint name")
            elif word not in _SAYS_NOTHING:
                _skip_unknown(item)
                parts.lose(token.start, f"column {name}: {token.text[:40]} is not used; it is left out")
        if virtual:
            parts.virtual.add(name)
            return
        if COLUMN_TYPES[column["type"]].is_text:
            self.charset.store(column, self.charset.collation(charset, collation, binary=binary))
        if nullable is None:
            may = column["type"] != "timestamp" or features(self._version).timestamp_nullable
            nullable = column.get("nullable", may)
        # A column that counts is NOT NULL, whatever it says.
        column["nullable"] = nullable and not column.get("auto_increment", False)
        parts.columns.append(column)

    @staticmethod
    def value(item: Stream, column: dict[str, Any], parts: TableParts, word: Word, field_name: str) -> None:
        """Keep the value of DEFAULT or ON UPDATE as it is written, where it can stand in a plan."""
        start = item.start
        _skip_value(item)
        text = parts.source[start : item.taken_to]
        if is_sql_value(text):
            column[field_name] = text
            return
        clause = " ".join((word.upper, *(["UPDATE"] if field_name == "on_update" else [])))
        what = f"{clause} of column {column['name']} is too long or holds line ends; it is left out"
        parts.lose(word.start, what)

    def finish(self, parts: TableParts) -> None:
        """Settle what only the whole table tells: keys, indexes of foreign keys, disk columns."""
        names = {column["name"].casefold(): column["name"] for column in parts.columns}

        def known(columns: tuple[str, ...]) -> tuple[str, ...] | None:
            known_columns = tuple(names.get(column.casefold(), "") for column in columns)
            return known_columns if all(known_columns) else None

        for what, columns in (("primary", parts.primary_key), ("distribution", parts.distribution_key)):
            if known(columns) is None:
                # A table with another key than its own would be planned wrongly.
                raise Unreadable(parts.start, f"table {parts.name}: a column of its {what} key was not read")
        parts.primary_key = known(parts.primary_key) or ()
        parts.distribution_key = known(parts.distribution_key) or ()
        kept = []
        for index in parts.indexes:
            own = known(index.columns)
            if own:
                kept.append(index.model_copy(update={"columns": own}))
                continue
            gone = next(column for column in index.columns if column.casefold() not in names)
            place = parts.places.get(f"KEY {index.name}", parts.place_of(gone))
            said = f"KEY {index.name}: column {gone} is not among those of the table"
            parts.lose(place, f"{said}; it is left out", f"KEY {index.name} ({', '.join(index.columns)})")
        parts.indexes = kept
        if not parts.primary_key:
            self._take_unique_as_primary(parts)
        self._distribute_by_primary_key(parts)
        parts.index_numbers = dict.fromkeys((index.name.casefold() for index in parts.indexes), 0)
        covered = set(_beginnings(parts.primary_key))
        for index in parts.indexes:
            covered.update(_beginnings(index.columns))
        for name, key in parts.foreign_keys:
            own = known(key.columns)
            # The server adds an index for a foreign key that none covers.
            if own and own not in covered:
                parts.add_index(name, own, "ordered")
                covered.update(_beginnings(own))
        indexed = {*parts.primary_key, *(column for index in parts.indexes for column in index.columns)}
        for column in parts.columns:
            if column["name"] in parts.primary_key:
                if column["nullable"] and column["name"] in parts.nulls:
                    said = (
                        f"column {column['name']}: NULL in the primary key, which newer servers refuse (1171)"
                    )
                    parts.lose(parts.nulls[column["name"]], f"{said}; planned as NOT NULL", "NULL in the key")
                column["nullable"] = False
            if parts.on_disk and column["name"] not in indexed:
                column.setdefault("storage", "disk")
            if parts.row_format_dynamic and column.get("storage") != "disk":
                column.setdefault("column_format", "dynamic")

    @staticmethod
    def _distribute_by_primary_key(parts: TableParts) -> None:
        """PARTITION BY KEY of other columns is refused by SQL nodes: such a table goes by its whole key."""
        other = next((name for name in parts.distribution_key if name not in parts.primary_key), None)
        if other is not None:
            clause = f"PARTITION BY KEY ({', '.join(parts.distribution_key)})"
            said = f"{clause}: {other} is not in the primary key, as SQL nodes ask for; planned without"
            parts.lose(parts.places.get(PARTITIONING, parts.start), said, clause)
            parts.distribution_key = ()

    @staticmethod
    def _take_unique_as_primary(parts: TableParts) -> None:
        """Without a primary key the first unique one of NOT NULL columns is it, as the server has it."""
        needed = {column["name"] for column in parts.columns if not column["nullable"]}
        for index in parts.indexes:
            if index.kind != "ordered" and needed.issuperset(index.columns):
                parts.primary_key = index.columns
                parts.primary_key_using_hash = index.kind == "unique_hash"
                parts.indexes.remove(index)
                return
