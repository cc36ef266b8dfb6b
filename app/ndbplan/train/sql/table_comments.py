"""Comments and options of tables that NDB reads: what servers refuse and warn of, and what they keep.

    check_comment(asked)            # raises SqlError: NDB_TABLE=NOSUCH=1
    warned_of_comment(asked)        # PARTITION_BALANCE=NOSUCH is passed over with a warning
    in_words(comment)               # what the table keeps of it

Source: recorded on a running 8.4.8 cluster; MySQL NDB Cluster 9.7.4, seen running.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ndbplan.base.quoting import sql_text
from ndbplan.edits import validated
from ndbplan.ndb.console import form
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import PartitionBalance, Table
from ndbplan.train.sql.created import AS_TYPED, BESIDE, COMMENT, comment_of
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned


def unknown_modifier(asked: Asked) -> str:
    """The first setting of NDB_TABLE in the table's comment that the server does not know; empty: none."""
    known = form(asked.plan.version, "table_modifiers")
    for setting in _settings(asked):
        if setting.partition("=")[0].strip().upper() not in known:
            return setting
    return ""


def _settings(asked: Asked) -> list[str]:
    """Those of NDB_TABLE in the table's comment, as typed."""
    found = re.search(r"NDB_TABLE=([^\s;]{1,500})", option_text(asked, "COMMENT"))
    return found[1].split(",") if found else []


_NO_MODIFIER = "Syntax error in COMMENT modifier"
_NO_BALANCE = "Got error 4500 'Comment contains non-supported fragment count type' from NDB"
"""The server's own words: the number is in no list of NDB."""
_ROW_FORMATS = ("COMPRESSED", "REDUNDANT", "COMPACT", "PAGED", "DEFAULT", "FIXED", "DYNAMIC")
_LONGEST_KEPT = 280
_SWITCHES = ("NOLOGGING", "READ_BACKUP", "FULLY_REPLICATED")


def check_comment(asked: Asked) -> None:
    """Raises what is said of settings of NDB_TABLE that there are not, or of their values [8.4.8]."""
    typed = option_text(asked, "COMMENT") or asked.option("COMMENT") or ""
    is_create = asked.words[0].upper == "CREATE"
    settings = typed.partition("NDB_TABLE=")[2].upper().partition(" ")[0].split(",")
    for setting in settings:
        name, _, value = (part.strip() for part in setting.partition("="))
        is_balance = name == "PARTITION_BALANCE" and value not in list(PartitionBalance)
        if is_balance and (not is_create or not asked.plan.features.partition_balance):
            raise NotSimulated(f"what the server says of PARTITION_BALANCE={value[:60]} is not known here")
        if (
            name in _SWITCHES
            and value
            and value not in ("0", "1")
            and form(asked.plan.version, "dictionary_of_its_own")
        ):
            warned = Warned("Warning", 1478, f"NDB_TABLE= : invalid value '{value}' for {name}")
            raise no_option(_NO_MODIFIER, warned)
    unknown = unknown_modifier(asked)
    if unknown and form(asked.plan.version, "dictionary_of_its_own"):
        raise no_option(_NO_MODIFIER, Warned("Warning", 1478, f"NDB_TABLE= : unknown modifier: {unknown}"))
    told = {setting.strip() for setting in settings}
    if {"FULLY_REPLICATED=1", "FULLY_REPLICATED"} & told and "READ_BACKUP=0" in told and is_create:
        raise no_option("READ_BACKUP=0 cannot be used for fully replicated tables")


def no_option(option: str, *warnings: Warned) -> SqlError:
    """NDB has no such option of a table."""
    text = "Table storage engine 'ndbcluster' does not support the create option"
    return SqlError(1478, "HY000", f"{text} '{option}'", warnings)


def warned_of_comment(asked: Asked) -> Iterator[Warned]:
    """Warnings of settings in the table's comment that are passed over."""
    if unknown := unknown_modifier(asked):
        yield Warned("Warning", 1478, f"NDB_TABLE= : unknown modifier: {unknown}")
    for name, _, balance in (setting.partition("=") for setting in _settings(asked)):
        if name.strip().upper() == "PARTITION_BALANCE" and balance.upper() not in list(PartitionBalance):
            yield Warned("Warning", 1296, _NO_BALANCE)


def with_comment_typed(plan: Plan, table: Table, comment: str) -> Table:
    """The table with its comment as it was typed, where that differs from what its settings come to."""
    is_kept = bool(form(plan.version, "dictionary_of_its_own"))
    typed = sql_text(comment)[1:-1]
    if not is_kept or "NDB_TABLE=" not in comment or typed == comment_of(plan, table):
        return table
    if len(typed) > _LONGEST_KEPT:
        raise NotSimulated("so long a comment is not kept here")
    others = [one for one in table.left_out if not one.startswith((COMMENT, BESIDE))]
    return validated.changed(table, left_out=(*others, f"{AS_TYPED}{typed}"))


def option_text(asked: Asked, name: str) -> str:
    """An option of the table, behind its columns; empty: it does not stand there."""
    depth, closed = 0, False
    for at, word in enumerate(asked.words):
        depth += (word.text == "(") - (word.text == ")")
        closed |= depth == 0 and word.text == ")"
        if closed and depth == 0 and word.kind == "word" and word.upper == name:
            behind = [one for one in asked.words[at + 1 : at + 3] if one.text != "="]
            return behind[0].text if behind and behind[0].kind == "string" else ""
    return ""


def check_comments_of_columns(table: Table) -> None:
    """Raises NotSimulated for a column that has one."""
    if any(one.startswith("COMMENT of column") for one in table.left_out):
        raise NotSimulated("comments of columns are not kept here; those of tables are")


def in_words(comment: str) -> list[str]:
    """What a table keeps in words of its comment."""
    settings, _, words = comment.rpartition("NDB_TABLE=")[2].partition(" ")
    if comment and not comment.startswith("NDB_TABLE="):
        return [f"{COMMENT}{sql_text(comment)}"[:300]]
    return [f"{BESIDE}{sql_text(words)}"[:300]] if settings and words else []


def check_row_format(asked: Asked) -> None:
    """Raises SqlError for a form of rows that NDB has not."""
    wanted = (asked.option("ROW_FORMAT") or "DEFAULT").upper()
    is_known = wanted in ("DEFAULT", "FIXED", "DYNAMIC")
    if wanted in _ROW_FORMATS and not is_known and form(asked.plan.version, "dictionary_of_its_own"):
        raise no_option(f"ROW_FORMAT={wanted}")


def warned_of_row_format(asked: Asked, table: Table) -> Iterator[Warned]:
    """Warnings of columns that are not as long in each row as ROW_FORMAT=FIXED has it."""
    if table.row_format_fixed and form(asked.plan.version, "dictionary_of_its_own"):
        for column in table.columns:
            if column.type in ("varchar", "varbinary"):
                text = f"Row format FIXED incompatible with dynamic attribute {column.name}"
                yield Warned("Warning", 1478, text)
