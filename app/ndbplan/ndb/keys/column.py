"""A column of a distribution key: its type, length and collation."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.errors import UserError
from ndbplan.ndb import collations
from ndbplan.ndb.charsets import default_collation, max_char_bytes
from ndbplan.ndb.collations import CollationRule
from ndbplan.ndb.columns import COLUMN_TYPES, ColumnType, Declared, KeyEncoding, Length
from ndbplan.ndb.features import features
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
    def kind(self) -> ColumnType:
        """Its type. KeyError for one that NDB does not know."""
        return COLUMN_TYPES[self.type]

    @property
    def encoding(self) -> KeyEncoding:
        """How its values are written. Raises KeyTypeError for a type that cannot be in a key."""
        if self.kind.key is None:
            raise KeyTypeError(
                f"column {self.name} is a {self.type.upper()}; NDB takes no BLOB, TEXT or JSON into a key",
                where=self.name,
                fix="distribute by another column",
            )
        return self.kind.key

    @property
    def size(self) -> int:
        """Its declared length or its type's: characters, bytes, digits or members, as the type counts."""
        if self.kind.length is Length.MEMBERS:
            return len(self.members) or self.length or 1
        length = self.kind.default_length if self.length is None else self.length
        return length or 0

    def byte_length(self, version: NdbVersion) -> int:
        """Declared bytes without length bytes. Raises KeyTypeError for a type that cannot be in a key."""
        chars = max_char_bytes(self.collation_in(version)) if self.encoding.is_text else 1
        return self.kind.stored(Declared(self.size, self.scale, chars), features(version)).max_bytes

    def rule(self, version: NdbVersion) -> CollationRule | None:
        """How its strings are weighed; None for other types. Raises UnsupportedCollationError."""
        if self.kind.key is None or not self.kind.key.is_text:
            return None
        is_char = self.kind.key is KeyEncoding.CHAR
        return collations.rule_in(self.collation_in(version), version, has_own_spaces=is_char)
