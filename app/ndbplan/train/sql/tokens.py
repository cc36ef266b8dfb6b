"""The words and signs of a statement, of which each check asks anew."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import Token

from ndbplan.base.kept import kept_by_value


@kept_by_value(16)
def tokens_of(sql: str) -> Sequence[Token]:
    """Those of a text, in their order. Raises sqlglot's TokenError for one that has no end."""
    return tuple(sqlglot.tokenize(sql, read="mysql"))
