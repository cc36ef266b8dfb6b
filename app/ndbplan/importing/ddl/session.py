"""SET statements of an SQL text, as far as they decide how tables are made.

ndb_table_no_logging makes tables without redo log and checkpoints, and so does ndb_table_temporary, which the
server takes for no more than that. Tables with a tablespace are logged all the same, and NOLOGGING of a
table's comment says what holds for it.

Source: ha_ndbcluster::create in storage/ndb/plugin/ha_ndbcluster.cc of mysql/mysql-server 0032c88b70d5
(setTemporary is compiled out, setLogging(false) follows for both variables); a server of 8.4.8 makes ordinary
tables with either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.tokens import Word

_FIELDS = {"ndb_table_no_logging": "no_logging", "ndb_table_temporary": "temporary"}
_OFF, _ON = ("0", "OFF", "FALSE", "DEFAULT"), ("1", "ON", "TRUE")
_SCOPES = ("SESSION", "LOCAL", "GLOBAL", "PERSIST", "PERSIST_ONLY")


class Session(NamedTuple):
    """What holds for the tables that are made next."""

    no_logging: bool = False
    temporary: bool = False

    @property
    def logs(self) -> bool:
        """Whether they are logged."""
        return not (self.no_logging or self.temporary)


class _Assignment(NamedTuple):
    target: list[Word]
    value: list[Word]


def session_after(tokens: list[Word], end: int, before: Session) -> Session:
    """What holds after a SET statement; `before`: until it.

    Raises Unreadable where it sets a variable to what is neither on nor off, or not for this session.
    """
    stream = Stream(tokens, end)
    stream.expect("SET")
    scope, session = "SESSION", before
    for target, value in _assignments(stream.rest()):
        # The last SESSION or GLOBAL holds for the assignments behind it (manual, SET); @@ says its own.
        own = ""
        for word in target[:-1]:
            if word.text.upper() in _SCOPES:
                own = word.text.upper()
        if own and not target[0].text.startswith("@"):
            scope = own
        name = target[-1].text.casefold() if target else ""
        if name not in _FIELDS or target[0].text == "@":
            continue
        used = own or ("SESSION" if target[0].text.startswith("@") else scope)
        if used not in ("SESSION", "LOCAL"):
            what = f"{name} is a variable of sessions, SET {used} is refused; it is left out"
            raise Unreadable(target[-1].start, what)
        stated = value[0].text.upper() if len(value) == 1 else ""
        if stated not in (*_OFF, *_ON):
            shown = " ".join(word.text for word in value)[:40]
            raise Unreadable(
                target[-1].start, f"{name} is set to '{shown}', which cannot be read; write ON or OFF"
            )
        session = session._replace(**{_FIELDS[name]: stated in _ON})
    return session


def _assignments(tokens: list[Word]) -> Iterator[_Assignment]:
    """What is set to what, parted by the commas that stand in no parenthesis."""
    target, value, depth = list[Word](), list[Word](), 0
    side = target
    for token in tokens:
        sign = token.upper
        if sign == "," and depth == 0:
            yield _Assignment(target, value)
            target, value = list[Word](), list[Word]()
            side = target
        elif sign in ("=", ":=") and side is target:
            side = value
        else:
            depth += (sign == "(") - (sign == ")")
            side.append(token)
    yield _Assignment(target, value)
