"""The character set of a table while its statements are read, and what it makes of columns."""

from __future__ import annotations

from typing import Any

from ndbplan.ndb.charsets import charset_of, default_collation, max_char_bytes
from ndbplan.ndb.columns import COLUMN_TYPES, smallest_that_holds
from ndbplan.ndb.version import NdbVersion

Stated = tuple[str | None, str | None]
"""CHARSET and COLLATE; None: not stated."""
_TEXT = COLUMN_TYPES["text"]


class TableCharset:
    """What columns have that name neither CHARACTER SET nor COLLATE."""

    def __init__(self, version: NdbVersion, of_database: Stated) -> None:
        self._version = version
        self._of_database = of_database
        self._charset, self._collation = of_database

    def take(self, stated: Stated) -> None:
        """What the table says; nothing, or DEFAULT: what its database has."""
        has_own = any(stated) and stated[0] != "default"
        self._charset, self._collation = stated if has_own else self._of_database

    def collation(self, charset: str | None, collation: str | None, *, binary: bool = False) -> str | None:
        """The collation of a text column that says this; None: that of the server."""
        if binary and collation is None:
            # BINARY behind a text type: the _bin collation of its character set, wherever that comes from.
            used = charset or self._charset or charset_of(self._collation or default_collation(self._version))
            return used if used == "binary" else f"{used}_bin"
        if collation is None and charset is None:
            charset, collation = self._charset, self._collation
        if collation is not None:
            return collation
        return default_collation(self._version, charset) if charset else None

    def store(self, column: dict[str, Any], collation: str | None) -> None:
        """Let a text column have a collation."""
        column["collation"] = collation
        if collation == "binary":
            # Strings of the binary character set are binary strings (manual, character sets).
            column["type"] = COLUMN_TYPES[column["type"]].as_binary or column["type"]
            column["collation"] = None

    def convert(self, column: dict[str, Any]) -> None:
        """CONVERT TO: a text column takes the table's; TEXT grows to hold as many characters as before.

        Source: manual, ALTER TABLE, changing the character set.
        """
        kind = COLUMN_TYPES[column["type"]]
        if not kind.is_text:
            return
        wanted = self.collation(None, None)
        before, now = (
            max_char_bytes(one or default_collation(self._version)) for one in (column["collation"], wanted)
        )
        if kind.is_blob and now > before:
            characters = kind.most_bytes // before
            column["type"] = smallest_that_holds(_TEXT, characters * now).name
        self.store(column, wanted)
