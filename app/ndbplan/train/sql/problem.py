"""Errors of an SQL node: number, SQLSTATE and text."""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.ndb.errors import Said


class Warned(NamedTuple):
    """A row of SHOW WARNINGS."""

    level: str
    code: int
    message: str


class SqlError(Exception):
    """What the server refuses a statement with; `warnings` are those of SHOW WARNINGS before the error."""

    def __init__(self, code: int, sqlstate: str, text: str, warnings: tuple[Warned, ...] = ()) -> None:
        super().__init__(text)
        self.code, self.sqlstate, self.text = code, sqlstate, text
        self.warnings = (*warnings, Warned("Error", code, text))

    @property
    def line(self) -> str:
        """`ERROR 1146 (42S02): Table 'x.y' doesn't exist`."""
        return f"ERROR {self.code} ({self.sqlstate}): {self.text}"


class NotSimulated(Exception):  # noqa: N818 — nothing is wrong with the statement
    """A statement that the product would answer and this console does not."""


def syntax(near: str) -> SqlError:
    """The statement cannot be read from some place on."""
    text = (
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version"
    )
    return SqlError(1064, "42000", f"{text} for the right syntax to use near '{near[:80]}' at line 1")


def no_table(database: str, name: str) -> SqlError:
    """The database has no such table."""
    return SqlError(1146, "42S02", f"Table '{database}.{name}' doesn't exist")


def no_database(name: str) -> SqlError:
    """There is no such database."""
    return SqlError(1049, "42000", f"Unknown database '{name}'")


def of_ndb(error: Said, engine: str = "NDBCLUSTER") -> SqlError:
    """An error that the data nodes gave: 1297 for temporary ones, else 1296, with its code inside."""
    number, kind = (1297, "temporary error") if error.is_temporary else (1296, "error")
    said = f"Got {kind} {error.code} '{error.shown}' from"
    return SqlError(number, "HY000", f"{said} {engine}", (Warned("Warning", number, f"{said} NDB"),))
