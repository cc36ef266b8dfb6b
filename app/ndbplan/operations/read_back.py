"""Tables read back from an SQL node: what it says of them is held against what they must be.

read_back_step(plan, [has_table(plan, table), has_no_table(plan, removed)])

A statement that makes something is a success where that is there already, under whatever definition: only
this tells. Indexes that are not named are let be, as servers make some for foreign keys.

Sources: manual 5.6 to 8.4, INFORMATION_SCHEMA COLUMNS, STATISTICS, TABLES and FILES, CREATE TABLE (columns
with AUTO_INCREMENT take no NULL; a BLOB with a length is the smallest that holds it; an ENUM's members lose
spaces at their ends); INT(11) of older servers is INT from 8.0.19 on, utf8 is utf8mb3 from 8.0.30 on.
Comments as typed, files as ./NAME, their sizes in bytes, partitions and what they are by, tab_storage of
ndbinfo.table_distribution_status: running 8.4.8 cluster; ndb_show_tables: running 7.4.10 cluster. MAX_ROWS
beyond 32 bits: 5.6, sql/unireg.cc.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ndbplan.base.quoting import shell_quoted, sql_text
from ndbplan.configuration.deployment import connect_string, sql_files
from ndbplan.configuration.space_limits import whole_pages
from ndbplan.ndb.columns import COLUMN_TYPES, Length
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.operations.commands import HasTable, Shell, sql_node_for_ddl
from ndbplan.operations.operation import Step
from ndbplan.operations.schema import placed_files, server_type
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, PartitionBalance, Table

_PRINTED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\0": r"\0"})
"""Names as the client prints them with --batch."""


def read_back_step(plan: Plan, commands: Iterable[HasTable | Shell]) -> Iterator[Step]:
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

    `known`: columns that are asked by name and place alone, as they were there before, and so was the table.
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
    if not known:
        others = tuple(_beside_columns(plan, table))
        lines += (line for line, _ in others)
        asked += (query for _, query in others)
        options = tuple(_options(plan, table))
        lines.append(("made with", *(word for word, _ in options)))
        words = ", ".join(f"IF({how}, {sql_text(word)}, {sql_text('not ' + word)})" for word, how in options)
        asked.append(f"SELECT 'made with', {words} FROM information_schema.TABLES WHERE {_is(table)};")
    return _command(plan, f"table {table.full_name}", asked, lines)


_MOST_ROWS = 2**32 - 1
"""What a server writes for a larger MAX_ROWS, where its own numbers have 32 bits."""


def _options(plan: Plan, table: Table) -> Iterator[tuple[str, str]]:
    """What a table is made with: words for it, and the test of TABLES that tells it."""
    most = table.max_rows
    if most is None:
        yield "no MAX_ROWS", "IFNULL(CREATE_OPTIONS, '') NOT LIKE '%max_rows=%'"
    else:
        numbers = f"({most}|{_MOST_ROWS})" if most > _MOST_ROWS else f"{most}"
        yield f"MAX_ROWS={most}", f"CREATE_OPTIONS REGEXP 'max_rows={numbers}([^0-9]|$)'"
    fixed = "LIKE" if table.row_format_fixed else "NOT LIKE"
    yield (
        "ROW_FORMAT=FIXED" if table.row_format_fixed else "no ROW_FORMAT=FIXED",
        f"IFNULL(CREATE_OPTIONS, '') {fixed} '%row_format=FIXED%'",
    )
    if not plan.features.partition_balance:
        return
    balance = f"PARTITION_BALANCE={table.partition_balance.value}"
    is_it = f"TABLE_COMMENT REGEXP '{balance}([^A-Z0-9_]|$)'"
    if table.partition_balance is PartitionBalance.FOR_RP_BY_LDM:
        is_it = f"({is_it} OR TABLE_COMMENT NOT LIKE '%PARTITION_BALANCE=%')"
    yield balance, is_it
    if plan.features.read_backup:
        has = "LIKE" if table.fully_replicated else "NOT LIKE"
        yield f"FULLY_REPLICATED={int(table.fully_replicated)}", f"TABLE_COMMENT {has} '%FULLY_REPLICATED=1%'"
        if table.read_backup is not None:
            backup = f"READ_BACKUP={int(table.read_backup)}"
            yield backup, f"TABLE_COMMENT LIKE '%{backup}%'"


def _is_logged(table: Table) -> bool:
    """Whether CREATE TABLE makes it with logging, as it makes every table with a tablespace."""
    return table.logging or table.tablespace_id is not None


_LOGGING = ("table_distribution_status", "dict_obj_info")
"""Tables of ndbinfo that tell whether a table is logged."""
_USER_TABLE = 2
"""Type of an object of the dictionary (ndbinfo.dict_obj_types)."""


def _beside_columns(plan: Plan, table: Table) -> Iterator[tuple[tuple[str, ...], str]]:
    """Further lines that are awaited of a table, each with the query that gives it."""
    of_partitions = f"FROM information_schema.PARTITIONS WHERE {_is(table)};"
    if table.partitions is not None:
        yield ("partitions", str(table.partitions)), f"SELECT 'partitions', COUNT(*) {of_partitions}"
    if table.distribution_key:
        by = ",".join(table.distribution_key).replace("`", "")
        expression = "REPLACE(PARTITION_EXPRESSION, '`', '')"
        yield ("distributed by", by), f"SELECT DISTINCT 'distributed by', {expression} {of_partitions}"
    if tables_of(plan.version).keys() >= set(_LOGGING):
        # A name that ndbinfo does not find, as it may spell it otherwise, is no difference.
        words = ("NOLOGGING", "with", "without") if _is_logged(table) else ("NORMAL", "without", "with")
        other, mine, its = words
        name = sql_text(f"{table.database}/def/{table.name}")
        yield (
            ("made", f"{mine} logging"),
            f"SELECT 'made', IF(SUM(tab_storage = '{other}') > 0, '{its} logging', '{mine} logging') FROM "
            f"ndbinfo.{_LOGGING[0]} AS told JOIN ndbinfo.{_LOGGING[1]} AS named ON named.id = told.table_id "
            f"AND named.type = {_USER_TABLE} WHERE named.fq_name = {name};",
        )


def has_logging(plan: Plan, tables: Iterable[Table]) -> Iterator[Shell]:
    """Whether tables are logged as they must be, where ndbinfo does not tell: it needs an API slot."""
    tables = tuple(tables)
    is_told = tables_of(plan.version).keys() >= set(_LOGGING)
    if is_told or not (tables and plan.sql_nodes and any(slot.host_id is None for slot in plan.api_slots)):
        return
    # As it prints the others: logging, database, schema, name.
    wrong = (
        "\t".join(f"'{word}'" for word in ("No" if _is_logged(one) else "Yes", one.database, "def", one.name))
        for one in tables
    )
    listed = f"ndb_show_tables --ndb-connectstring={shell_quoted(connect_string(plan))} --parsable"
    yield Shell(
        plan.host(sql_node_for_ddl(plan).host_id).hostname,
        f"found=$({listed}) && for one in {' '.join(map(shell_quoted, wrong))}; do "
        '[[ $found != *"$one"* ]] || { printf \'logging, database, schema, name of a table that was made '
        'otherwise: %s\\n\' "$one" >&2; exit 1; }; done',
    )


def has_files(plan: Plan, before: Plan | None = None) -> HasTable:
    """Whether the files of disk data are there, each in its log file group or tablespace and of its size.

    Less those of `before`, which keep the sizes that they have.
    """
    old = set() if before is None else {(owner, name) for owner, name, _ in placed_files(before)}
    extents = {space.name: whole_pages(space.extent_size_bytes) for space in plan.tablespaces}
    alike: dict[tuple[int, int | None], list[str]] = {}
    lines: list[tuple[str, ...]] = []
    for owner, name, size_bytes in placed_files(plan):
        if (owner, name) not in old:
            size = size_bytes, extents.get(owner)
            alike.setdefault(size, []).extend((name, f"./{name}"))
            lines.append(("file", name, owner, _size_told(*size)))
    asked = (_files_asked(size_bytes, extent, names) for (size_bytes, extent), names in alike.items())
    return _command(plan, "every file of disk data", asked, lines)


def _size_told(size_bytes: int, extent_bytes: int | None) -> str:
    return f"{size_bytes} bytes" + (f" in extents of {extent_bytes}" if extent_bytes else "")


def _files_asked(size_bytes: int, extent_bytes: int | None, names: Iterable[str]) -> str:
    """The query of files of one size; undo files have no extents.

    Servers round to whole pages or extents, older ones down.
    """
    unit = extent_bytes or PAGE_BYTES
    is_it = f"INITIAL_SIZE BETWEEN {size_bytes // unit * unit} AND {-(-size_bytes // unit) * unit}"
    found = "INITIAL_SIZE, ' bytes'"
    if extent_bytes:
        is_it += f" AND EXTENT_SIZE = {extent_bytes}"
        found = "INITIAL_SIZE, ' bytes in extents of ', EXTENT_SIZE"
    return (
        "SELECT DISTINCT 'file', IF(FILE_NAME LIKE './%', SUBSTRING(FILE_NAME, 3), FILE_NAME), "
        "IF(FILE_TYPE = 'DATAFILE', TABLESPACE_NAME, LOGFILE_GROUP_NAME), "
        f"IF({is_it}, '{_size_told(size_bytes, extent_bytes)}', CONCAT({found})) FROM "
        f"information_schema.FILES WHERE FILE_NAME IN ({_texts(names)});"
    )


def has_no_table(plan: Plan, table: Table) -> HasTable:
    """Whether a table is gone."""
    asked = f"SELECT 'table', TABLE_NAME FROM information_schema.TABLES WHERE {_is(table)};"
    return _command(plan, f"table {table.full_name}", [asked], ())


def _command(plan: Plan, what: str, asked: Iterable[str], lines: Iterable[tuple[str, ...]]) -> HasTable:
    node = sql_node_for_ddl(plan)
    host, socket = plan.host(node.host_id).hostname, sql_files(plan, node).socket
    printed = ("\t".join(word.translate(_PRINTED) for word in line) for line in lines)
    return HasTable(host, socket, what, tuple(asked), tuple(printed))


def _is(table: Table) -> str:
    return f"TABLE_SCHEMA = {sql_text(table.database)} AND TABLE_NAME = {sql_text(table.name)}"


def _texts(names: Iterable[str]) -> str:
    return ", ".join(map(sql_text, names))


def _told(table: Table, column: Column) -> tuple[str, str, str, str]:
    """Type, whether it takes NULL, collation, AUTO_INCREMENT; nothing of what is not asked."""
    kind = COLUMN_TYPES[column.type]
    # The server chooses the type.
    is_other = column.collation == "binary"
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
