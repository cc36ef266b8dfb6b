"""Tables read back from an SQL node: what it says of them is held against what they must be.

read_back_step(plan, [has_table(plan, table), has_no_table(plan, removed)])

A statement that makes something is a success where that is there already, under whatever definition: only
this tells. Indexes that are not named are let be, as servers make some for foreign keys.

Sources: manual 5.6 to 8.4, INFORMATION_SCHEMA COLUMNS, STATISTICS and TABLES, CREATE TABLE (columns with
AUTO_INCREMENT take no NULL; a BLOB with a length is the smallest that holds it); INT(11) of older servers is
INT from 8.0.19 on, utf8 is utf8mb3 from 8.0.30 on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ndbplan.base.quoting import sql_text
from ndbplan.configuration.deployment import sql_files
from ndbplan.ndb.columns import COLUMN_TYPES, Length
from ndbplan.operations.commands import HasTable, sql_node_for_ddl
from ndbplan.operations.operation import Step
from ndbplan.operations.schema import server_type
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table

_PRINTED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\0": r"\0"})
"""Names as the client prints them with --batch."""


def read_back_step(plan: Plan, commands: Iterable[HasTable]) -> Iterator[Step]:
    """A step that fails where a table is not as it must be; nothing for no tables."""
    commands = tuple(commands)
    if commands and plan.sql_nodes:
        yield Step(
            "read-back",
            "Read the tables back",
            "A table, a column or an index that was there already may be another one of the same name.",
            commands,
        )


def has_table(
    plan: Plan, table: Table, *, known: Collection[str] = (), dropped: Collection[str] = ()
) -> HasTable:
    """Whether a table is there with these columns and keys, and without the indexes that are `dropped`.

    `known`: columns that are asked by name and place alone, as they were there before.
    """
    keys = {"PRIMARY": (table.primary_key, "0")} if table.primary_key else {}
    keys |= {one.name: (one.columns, "1" if one.kind == "ordered" else "0") for one in table.indexes}
    told = {
        column.name: ("", "", "", "") if column.name in known else _told(table, column)
        for column in table.columns
    }
    lines: list[tuple[str, ...]] = [
        ("column", str(place), name, *words) for place, (name, words) in enumerate(told.items(), 1)
    ]
    lines += [
        ("key", str(place), name, one, not_unique)
        for name, (columns, not_unique) in keys.items()
        for place, one in enumerate(columns, 1)
    ]
    asked = [_columns_asked(table, told, known)]
    if names := sorted({*keys, *dropped}):
        asked.append(
            "SELECT 'key', SEQ_IN_INDEX, INDEX_NAME, COLUMN_NAME, NON_UNIQUE FROM "
            f"information_schema.STATISTICS WHERE {_is(table)} AND INDEX_NAME IN ({_texts(names)});"
        )
    printed = ("\t".join(word.translate(_PRINTED) for word in line) for line in lines)
    return _command(plan, table, asked, printed)


def has_no_table(plan: Plan, table: Table) -> HasTable:
    """Whether a table is gone."""
    asked = f"SELECT 'table', TABLE_NAME FROM information_schema.TABLES WHERE {_is(table)};"
    return _command(plan, table, [asked], ())


def _command(plan: Plan, table: Table, asked: Iterable[str], lines: Iterable[str]) -> HasTable:
    node = sql_node_for_ddl(plan)
    host, socket = plan.host(node.host_id).hostname, sql_files(plan, node).socket
    return HasTable(host, socket, table.full_name, tuple(asked), tuple(lines))


def _is(table: Table) -> str:
    return f"TABLE_SCHEMA = {sql_text(table.database)} AND TABLE_NAME = {sql_text(table.name)}"


def _texts(names: Iterable[str]) -> str:
    return ", ".join(map(sql_text, names))


def _told(table: Table, column: Column) -> tuple[str, str, str, str]:
    """Type, whether it takes NULL, collation, AUTO_INCREMENT; nothing of what is not asked."""
    kind = COLUMN_TYPES[column.type]
    # The server chooses the type, or writes its members in its own way.
    is_other = column.collation == "binary" or kind.length is Length.MEMBERS
    is_other |= kind.length is Length.MOST_BYTES and column.length is not None
    takes_null = "YES" if column.nullable and column.name not in table.primary_key else "NO"
    collation = column.collation if kind.is_text and column.collation != "binary" else None
    return (
        "" if is_other else server_type(column),
        "" if column.auto_increment else takes_null,
        (collation or "").replace("utf8mb3_", "utf8_"),
        "auto_increment" if column.auto_increment else "",
    )


_TYPE = (
    "IF(DATA_TYPE IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'year'), "
    "CONCAT(DATA_TYPE, IF(COLUMN_TYPE LIKE '%unsigned%', ' unsigned', '')), COLUMN_TYPE)"
)
"""Without the width of whole numbers, which older servers write."""
_AS_TOLD = (
    _TYPE,
    "IS_NULLABLE",
    "REPLACE(COLLATION_NAME, 'utf8mb3_', 'utf8_')",
    "IF(EXTRA LIKE '%auto_increment%', 'auto_increment', '')",
)
"""What `_told` says, of COLUMNS."""


def _columns_asked(table: Table, told: Mapping[str, tuple[str, ...]], known: Collection[str]) -> str:
    """The query of columns; each thing of those columns of which something is said.

    They are told by their places: to servers before 8.0 names are the same that differ in accents alone.
    """
    words = []
    for place, expression in enumerate(_AS_TOLD):
        # That one has no AUTO_INCREMENT is told by nothing.
        numbers = [
            str(number)
            for number, (name, one) in enumerate(told.items(), 1)
            if one[place] or (expression is _AS_TOLD[-1] and name not in known)
        ]
        words.append(
            expression
            if len(numbers) == len(told)
            else f"IF(ORDINAL_POSITION IN ({', '.join(numbers)}), {expression}, '')"
            if numbers
            else "''"
        )
    return (
        f"SELECT 'column', ORDINAL_POSITION, COLUMN_NAME, {', '.join(words)} FROM "
        f"information_schema.COLUMNS WHERE {_is(table)};"
    )
