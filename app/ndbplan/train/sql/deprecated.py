"""Warnings 1287 of words that a server still reads.

Source: manual 8.0, Logical Operators and INSERT ... ON DUPLICATE KEY UPDATE; texts: 8.4.9 as others asked it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import TokenType

from ndbplan.ndb.console import form
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.modes import has
from ndbplan.train.sql.problem import Warned
from ndbplan.train.sql.tokens import tokens_of

_OPERATORS = {"!": ("!", "NOT"), "&&": ("&&", "AND"), "||": ("|| as a synonym for OR", "OR")}
_PIPES = "||"
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_OF_INSERT = (
    "VALUES function",
    "an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE "
    "clause with alias.col",
)


def deprecated(sql: str, cluster: LiveCluster) -> Iterator[Warned]:
    """What its servers say of operators, and of VALUES() behind ON DUPLICATE KEY UPDATE."""
    operators, calls = (
        form(cluster.plan.version, name) for name in ("old_operators_warned", "values_call_warned")
    )
    if not operators or not (
        {"!", "&", "|"} & set(sql) or any(one in sql.lower() for one in ("values", "json_merge"))
    ):
        return
    typed = tokens_of(sql)
    tokens = ["" if one.token_type in _QUOTED else one.text.upper() for one in typed]
    updates = next(
        (at for at in range(len(tokens)) if tokens[at : at + 2] == ["DUPLICATE", "KEY"]), len(tokens)
    )
    for at, word in enumerate(tokens):
        if word == "JSON_MERGE" and tokens[at + 1 : at + 2] == ["("]:
            yield _warned(word, "JSON_MERGE_PRESERVE/JSON_MERGE_PATCH")
        if word in _OPERATORS and not (word == _PIPES and has(cluster, "PIPES_AS_CONCAT")):
            yield _warned(*_OPERATORS[word])
        elif calls and at > updates and word == "VALUES" and tokens[at + 1 : at + 2] == ["("]:
            yield _warned(*_OF_INSERT)


def _warned(old: str, new: str) -> Warned:
    text = f"'{old}' is deprecated and will be removed in a future release. Please use {new} instead"
    return Warned("Warning", 1287, text)
