"""A column of a distribution key: its type, length and collation."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.errors import UserError
from ndbplan.ndb import collations
from ndbplan.ndb.charsets import default_collation, max_char_bytes
from ndbplan.ndb.collations import CollationRule
from ndbplan.ndb.rows import BLOB_TYPES, stored_type
from ndbplan.ndb.version import NdbVersion


class KeyTypeError(UserError, ValueError):
    """A column that cannot be part of a distribution key."""


@dataclass(frozen=True)
class KeyColumn:
    """One column of a distribution key."""

    name: str
    type: str
    length: int | None = None
    scale: int | None = None
    unsigned: bool = False
    collation: str | None = None
    members: tuple[str, ...] = ()
    """Values of an ENUM or SET, in order."""

    def collation_in(self, version: NdbVersion) -> str:
        """Its collation, or the default of the version."""
        return self.collation or default_collation(version)

    @property
    def characters(self) -> int:
        """Characters a CHAR or VARCHAR holds."""
        return (1 if self.type == "char" else 255) if self.length is None else self.length

    def byte_length(self, version: NdbVersion) -> int:
        """Declared bytes without length bytes. Raises KeyTypeError for a type that cannot be in a key."""
        if self.type in BLOB_TYPES:
            raise KeyTypeError(
                f"column {self.name} is a {self.type.upper()}; NDB takes no BLOB, TEXT or JSON into a key",
                where=self.name,
                fix="distribute by another column",
            )
        members = len(self.members) if self.members else self.length
        length = members if self.type in ("enum", "set") else self.length
        chars = max_char_bytes(self.collation_in(version)) if self.type in ("char", "varchar") else 1
        return stored_type(self.type, length, self.scale, chars, version).max_bytes

    def rule(self, version: NdbVersion) -> CollationRule | None:
        """How its strings are weighed; None for other types. Raises UnsupportedCollationError."""
        if self.type not in ("char", "varchar"):
            return None
        return collations.rule_in(self.collation_in(version), version)
