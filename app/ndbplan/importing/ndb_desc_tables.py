"""Tables as `ndb_desc` describes them, written as the CREATE TABLE statements that the SQL reader takes.

    read_ddl(statements_of(text), version)

Type names are those of the NDB API; lengths there are bytes, in SQL they are characters.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from ndbplan.base.units import whole_number
from ndbplan.ndb.charsets import charset_of, max_char_bytes
from ndbplan.ndb.columns import Length, by_api_name

TABLE_HEAD = re.compile(r"^-- ([^-\s].*?) --[ \t]*\r?$(?=\s*^(?:\.\.\.\s*)?Version:)", re.M)
"""Each table starts with its name and its version; other headings stand inside."""
_DATABASE = re.compile(r"\bndb_desc\b[^\n]*?(?:\s-d\s*|--database[= ])(\w+)")
_COLUMN = re.compile(r"^(.+?) ([A-Z][a-z]+[0-9]?)(?:\(([^)]*)\))? (NOT NULL|NULL|PRIMARY KEY)\b(.*)$")
_INDEX = re.compile(r"^([^(]++)\((.+)\) - (UniqueHashIndex|OrderedIndex)\s*$")
_API_TYPES = by_api_name()


def statements_of(text: str) -> str:
    """CREATE TABLE statements of all tables that ndb_desc describes in a text; hidden tables are left out."""
    heads = list(TABLE_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    statements = []
    database, asked = None, deque(_DATABASE.finditer(text))
    for head, end in zip(heads, ends, strict=False):
        while asked and asked[0].end() <= head.start():
            database = asked.popleft()[1]
        if not head[1].startswith("NDB$"):
            statements.append(_statement(head[1], database, text[head.end() : end]))
    return "\n".join(statement for statement in statements if statement)


def _section(body: str, name: str) -> list[str]:
    """The lines below a heading such as `-- Attributes --`."""
    match = re.search(rf"^-- {name} --[ \t]*\r?$(.*?)(?=^-- |\Z)", body, re.M | re.S)
    return [line.strip() for line in match[1].splitlines() if line.strip()] if match else []


def _statement(name: str, database: str | None, body: str) -> str:
    columns = [match for line in _section(body, "Attributes") if (match := _COLUMN.match(line))]
    if not columns:
        return ""
    lines = [_column(match) for match in columns]
    # In the order of the index, which need not be that of the columns.
    key = [match[1] for match in columns if match[4] == "PRIMARY KEY" and not match[1].startswith("$")]
    spread = [match[1] for match in columns if "DISTRIBUTION KEY" in match[5] and match[1] in key]
    lines += _keys(_section(body, "Indexes"), key)
    options = ["ENGINE=ndbcluster"]
    if (balance := re.search(r"^PartitionBalance:\s*(FOR_\w+)", body, re.M)) is not None:
        comment = f"PARTITION_BALANCE={balance[1]}"
        if re.search(r"^Table options:.*\breadbackup\b", body, re.M | re.I):
            comment += ",READ_BACKUP=1"
        if re.search(r"^Table options:.*\bfullyreplicated\b", body, re.M | re.I):
            comment += ",FULLY_REPLICATED=1"
        options.append(f"COMMENT='NDB_TABLE={comment}'")
    if key and spread and spread != key:
        options.append(f"PARTITION BY KEY ({', '.join(map(_quoted, spread))})")
    full_name = _quoted(name) if database is None else f"{_quoted(database)}.{_quoted(name)}"
    inside = ",\n  ".join(line for line in lines if line)
    return f"CREATE TABLE {full_name} (\n  {inside}\n) {' '.join(options)};"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _column(match: re.Match[str]) -> str:
    name, kind, inside, null, more = match.groups()
    if name.startswith("$"):
        # The hidden key of a table without primary key.
        return ""
    words = [_quoted(name), _type(kind, inside or ""), "NULL" if null == "NULL" else "NOT NULL"]
    words.append("STORAGE DISK" if "ST=DISK" in more else "")
    words.append("COLUMN_FORMAT DYNAMIC" if "DYNAMIC" in more.split() else "")
    return " ".join(word for word in words if word)


def _type(kind: str, inside: str) -> str:
    length, _, collation = inside.partition(";")
    collation = collation.rpartition(";")[2].strip()
    known = _API_TYPES.get(kind)
    if known is not None and known.length is Length.CHARACTERS:
        if collation in ("", "binary"):
            return f"{known.as_binary}({length})"
        characters = (whole_number(length) or 1) // max_char_bytes(collation)
        return f"{known.name}({characters}) CHARACTER SET {charset_of(collation)} COLLATE {collation}"
    if known is not None:
        has_length = length and known.length is not Length.NOTHING
        unsigned = " unsigned" if kind.lower().endswith("unsigned") else ""
        return f"{known.name}({length}){unsigned}" if has_length else f"{known.name}{unsigned}"
    if kind in ("Blob", "Text"):
        inline, part = ([whole_number(n) or 0 for n in re.findall(r"[0-9]+", length)] + [0, 0])[:2]
        return _blob(kind, inline, part)
    return kind.lower()


def _blob(kind: str, inline: int, part_bytes: int) -> str:
    """The SQL type by the sizes of its first bytes and part rows (ha_ndbcluster::create_ndb_column)."""
    if (inline, part_bytes) == (4000, 8100):
        return "json"
    word = "text" if kind == "Text" else "blob"
    if part_bytes == 0:
        return f"tiny{word}"
    if part_bytes <= 2000:
        return word
    return f"medium{word}" if part_bytes <= 4000 else f"long{word}"


def _keys(lines: list[str], key: list[str]) -> Iterator[str]:
    indexes = [match for line in lines if (match := _INDEX.match(line))]
    names = {match[1]: match[3] for match in indexes}
    hash_only = "PRIMARY" not in names
    for match in indexes:
        if match[1] == "PRIMARY KEY":
            key = [part.strip() for part in match[2].split(",")]
    if key:
        yield f"PRIMARY KEY ({', '.join(map(_quoted, key))})" + (" USING HASH" if hash_only else "")
    for match in indexes:
        name, columns = match[1], [_quoted(part.strip()) for part in match[2].split(",")]
        if name in ("PRIMARY KEY", "PRIMARY"):
            continue
        if match[3] == "UniqueHashIndex":
            plain = name.removesuffix("$unique")
            using = "" if plain in names and plain != name else " USING HASH"
            yield f"UNIQUE KEY {_quoted(plain)} ({', '.join(columns)}){using}"
        elif f"{name}$unique" not in names:
            yield f"KEY {_quoted(name)} ({', '.join(columns)})"
