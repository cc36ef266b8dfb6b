"""CREATE INDEX and DROP INDEX: the first word that a server does not read, and columns that stand twice.

    check_index(asked)      # SqlError 1064, 1060; NotSimulated: an index of an expression, or INVISIBLE

Source: sql_yacc.yy of 5.6 and 8.0 (create_index_stmt, drop_index_stmt, key_list); manual 5.6 to 8.4,
CREATE INDEX.
"""

from __future__ import annotations

from ndbplan.importing.ddl.stream import Stream
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.console import form
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax

_RESERVED = frozenset((
    "ADD", "ALTER", "ASC", "CREATE", "DESC", "DROP", "FROM", "IN", "INDEX", "KEY", "ON", "PRIMARY", "SELECT",
    "TABLE", "UNIQUE", "USING", "WHERE",
))  # fmt: skip
_NUMBERED = (
    "KEY_BLOCK_SIZE",
    "ALGORITHM",
    "LOCK",
    "COMMENT",
    "ENGINE_ATTRIBUTE",
    "SECONDARY_ENGINE_ATTRIBUTE",
)
"""Options with a value."""
_SHOWN = ("VISIBLE", "INVISIBLE")


def check_index(asked: Asked) -> None:
    """Raises what a server says of the words of CREATE INDEX and DROP INDEX before it looks at the table."""
    stream = Stream(list(asked.words), len(asked.sql))
    verb = stream.next().upper
    if verb == "CREATE":
        stream.accept("UNIQUE")
    if not stream.accept("INDEX"):
        raise _near(asked, stream)
    _name(asked, stream)
    if verb == "CREATE" and stream.accept("USING"):
        stream.next()
    if not stream.accept("ON"):
        raise _near(asked, stream)
    _name(asked, stream)
    if stream.accept("."):
        _name(asked, stream)
    if verb == "CREATE":
        _columns(asked, stream)
    while not stream.at_end():
        _option(asked, stream, made=verb == "CREATE")


def _columns(asked: Asked, stream: Stream) -> None:
    if not stream.accept("("):
        raise _near(asked, stream)
    seen = set[str]()
    while True:
        if stream.peek().text == "(" and form(asked.plan.version, "defaults_worked_out"):
            raise NotSimulated("an index of an expression is not simulated")
        name = _name(asked, stream).text
        if stream.accept("("):
            if stream.peek().kind != "number":
                raise _near(asked, stream)
            stream.next()
            if not stream.accept(")"):
                raise _near(asked, stream)
        _ = stream.accept("ASC") or stream.accept("DESC")
        if name.lower() in seen:
            raise SqlError(1060, "42S21", f"Duplicate column name '{name}'")
        seen.add(name.lower())
        if stream.accept(")"):
            return
        if not stream.accept(","):
            raise _near(asked, stream)


def _option(asked: Asked, stream: Stream, *, made: bool) -> None:
    word = stream.peek()
    if word.upper == "USING" and made:
        stream.next()
        if stream.peek().upper not in ("BTREE", "HASH", "RTREE"):
            raise _near(asked, stream)
        stream.next()
    elif word.upper in _NUMBERED and (made or word.upper in ("ALGORITHM", "LOCK")):
        stream.next()
        stream.accept("=")
        if stream.at_end():
            raise syntax("")
        stream.next()
    elif word.upper in _SHOWN and made and form(asked.plan.version, "dictionary_of_its_own"):
        stream.next()
        if word.upper == "INVISIBLE":
            raise NotSimulated("indexes that queries do not look at are not simulated")
    else:
        raise _near(asked, stream)


def _name(asked: Asked, stream: Stream) -> Word:
    word = stream.peek()
    if word.kind not in ("word", "name") or word.upper in _RESERVED:
        raise _near(asked, stream)
    return stream.next()


def _near(asked: Asked, stream: Stream) -> SqlError:
    return syntax("" if stream.at_end() else asked.sql[stream.peek().start :])
