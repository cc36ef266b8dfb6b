"""What a server says of words in CREATE, ALTER and DROP before it looks at the table.

    check_stated(asked)             # raises SqlError: how a change is made, character sets, numbers
    doubled(asked, table)           # warnings of indexes over the columns of another

Source: manual 5.6 and 8.4, CREATE TABLE, ALTER TABLE, Character Sets; texts: messages of those servers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ndbplan.base.units import whole_number
from ndbplan.ndb.charsets import charset_of
from ndbplan.ndb.console import form
from ndbplan.ndb.sql_versions import described_charsets, unknown_collation
from ndbplan.plan.tables import Table
from ndbplan.train.sql.character_sets import options_of, told
from ndbplan.train.sql.column_words import check_columns
from ndbplan.train.sql.defining import NDB, Asked
from ndbplan.train.sql.older_types import charsets_of
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax

_LOCKS = ("DEFAULT", "NONE", "SHARED", "EXCLUSIVE")
_NUMBERED = ("AUTO_INCREMENT", "MAX_ROWS", "MIN_ROWS", "AVG_ROW_LENGTH", "CHECKSUM", "DELAY_KEY_WRITE")
"""Options of a table that are numbers."""


def check_stated(asked: Asked) -> None:
    """Raises SqlError for what is wrong with the words of a statement whatever its table is."""
    words = asked.words
    if [one.upper for one in words[:2]] == ["CREATE", "FULLTEXT"] and not _is_of_innodb(asked):
        raise SqlError(1214, "HY000", "The used table type doesn't support FULLTEXT indexes")
    for at, word in enumerate(words[:-2]):
        if word.kind != "word" or words[at + 1].text != "=":
            continue
        stated = words[at + 2].text
        if word.upper == "ALGORITHM" and stated.upper() not in form(asked.plan.version, "algorithms"):
            raise SqlError(1800, "HY000", f"Unknown ALGORITHM '{stated}'")
        if word.upper == "LOCK" and stated.upper() not in _LOCKS:
            raise SqlError(1801, "HY000", f"Unknown LOCK type '{stated}'")
    for option, value in pairwise([one for one in options_of(words) if one.text != "="]):
        if option.upper in _NUMBERED and option.kind == "word" and whole_number(value.text) is None:
            raise syntax(asked.sql[value.start :])
    _check_newer(asked)
    if "TABLE" in [one.upper for one in words[1:3]] and words[0].upper in ("CREATE", "ALTER"):
        check_columns(asked)
    _check_charsets(asked)
    _check_hashed(asked)


def _check_newer(asked: Asked) -> None:
    """Raises SqlError for what later servers read: RENAME COLUMN, RENAME INDEX, worked-out defaults."""
    words, version = asked.words, asked.plan.version
    for one, other in pairwise(words):
        what = {"COLUMN": "renames_columns", "INDEX": "renames_indexes", "KEY": "renames_indexes"}.get(
            other.upper
        )
        renames = words[0].upper == "ALTER" and one.upper == "RENAME" and what is not None
        if renames and not form(version, str(what)):
            raise syntax(asked.sql[other.start :])
        is_default = one.kind == "word" and one.upper == "DEFAULT" and other.text == "("
        if is_default and words[0].upper in ("CREATE", "ALTER") and not form(version, "defaults_worked_out"):
            raise syntax(asked.sql[other.start :])


def _check_hashed(asked: Asked) -> None:
    """Raises what is said of an index by hash that is not unique, of which NDB has none."""
    words = [one.upper for one in asked.words]
    verb, engine = words[0], (asked.option("ENGINE") or asked.default_engine).lower()
    items, depth = [list[str]()], 0
    for word in words:
        depth += (word == "(") - (word == ")")
        items = [*items, []] if word in ("(", ",") and depth <= 1 else items
        items[-1].append(word)
    hashed = any(
        {"KEY", "INDEX"} & set(item[:3])
        and not {"UNIQUE", "PRIMARY"} & set(item)
        and "USING HASH" in " ".join(item)
        for item in (items if "TABLE" in words[:3] else [words])
    )
    if not hashed or verb not in ("CREATE", "ALTER") or _is_of_innodb(asked):
        return
    if verb == "CREATE" and "TABLE" in words[:3] and engine not in NDB:
        return
    if verb != "CREATE" or "TABLE" not in words[:3] or not form(asked.plan.version, "dictionary_of_its_own"):
        if words[1:2] != ["INDEX"] or not form(asked.plan.version, "dictionary_of_its_own"):
            raise NotSimulated(
                "what is said of an index by hash that is not unique is not known here; NDB has none"
            )
        # mysql-test/suite/ndb/r/ndb_index_ordered.result.
        of = asked.words[words.index("ON") + 1 :]
        name = of[2].text if len(of) > 2 and of[1].text == "." else of[0].text
        text = f"Table '{name}' uses an extension that doesn't exist in this MySQL version"
        raise SqlError(1112, "42000", text)
    name = asked.words[words.index("TABLE") + 1].text
    inside = "does not support the create option 'Ndb does not support non-unique hash based indexes'"
    warned = Warned("Warning", 1478, f"Table storage engine 'ndbcluster' {inside}")
    text = f"Can't create table '{name}' (use SHOW WARNINGS for more info)."
    raise SqlError(1005, "HY000", text, (warned,))


def _is_of_innodb(asked: Asked) -> bool:
    """Whether a statement is about a table of InnoDB, which has such indexes."""
    names = [after.text for word, after in pairwise(asked.words) if word.upper == "ON"]
    return any(one.table.name in names for one in asked.cluster.state.local)


def _check_charsets(asked: Asked) -> None:
    """Raises SqlError for character sets and collations that the server has not."""
    version = asked.plan.version
    known = {told(name, version) for name, _ in described_charsets(version)} | {"utf8", "default", "binary"}
    known |= {name for name, _ in described_charsets(version)}
    charset = ""
    for kind, name in charsets_of(asked.words):
        low = name.text.lower()
        if kind == "charset":
            if low not in known:
                raise unknown_charset(name.text)
            charset = low
            continue
        if unknown_collation(low, version) and low not in known:
            raise SqlError(1273, "HY000", f"Unknown collation: '{name.text}'")
        if charset not in ("", "default") and told(charset_of(low), version) != told(charset, version):
            said = f"COLLATION '{name.text}' is not valid for CHARACTER SET '{charset}'"
            raise SqlError(1253, "42000", said)
        charset = ""


def unknown_charset(name: str) -> SqlError:
    """The server has no such character set."""
    return SqlError(1115, "42000", f"Unknown character set: '{name}'")


def doubled(asked: Asked, table: Table, known: frozenset[str] = frozenset()) -> Iterator[Warned]:
    """Warnings of indexes over the columns of another; `known`: those that were there before."""
    seen = set[tuple[bool, tuple[str, ...]]]()
    for index in table.indexes:
        what = (index.kind == "ordered", index.columns)
        if what in seen and index.name not in known:
            where = f"'{index.name}' defined on the table '{table.database}.{table.name}'"
            text = f"Duplicate index {where}. This is deprecated and will be disallowed in a future release."
            yield Warned(str(form(asked.plan.version, "doubled_index")), 1831, text)
        seen.add(what)
