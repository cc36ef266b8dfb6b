"""Expressions that a table of NDB keeps in words: which there are, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ndbplan.base.quoting import sql_identifier
from ndbplan.plan.tables import Table
from ndbplan.train.sql.problem import SqlError

_KEPT = re.compile(r"(GENERATED|CHECK|UNENFORCED) `([^`]{1,64})` (.+)")


class Expressions(NamedTuple):
    """Those of a table, as the server writes them."""

    generated: Mapping[str, str]
    """By the names of their columns."""
    checks: Mapping[str, str]
    """Of those that are enforced, by their names."""
    unenforced: Mapping[str, str]


def expressions_of(table: Table) -> Expressions:
    """What a table keeps."""
    found: dict[str, dict[str, str]] = {"GENERATED": {}, "CHECK": {}, "UNENFORCED": {}}
    for text in table.left_out:
        if match := _KEPT.fullmatch(text):
            found[match[1]][match[2]] = match[3]
    return Expressions(found["GENERATED"], found["CHECK"], found["UNENFORCED"])


def has_expressions(table: Table) -> bool:
    """Whether values of one column decide about others."""
    return any(_KEPT.fullmatch(text) for text in table.left_out)


def text_of(table: Table, name: str) -> str:
    """How a table keeps the expression of a constraint or a column."""
    found = ((text, _KEPT.fullmatch(text)) for text in table.left_out)
    return next(text for text, match in found if match is not None and match[2] == name)


def check_lines(table: Table) -> Iterator[str]:
    """Constraints as SHOW CREATE TABLE lists them: by their names."""
    kept = expressions_of(table)
    for name, text in sorted({**kept.checks, **kept.unenforced}.items()):
        loose = " /*!80016 NOT ENFORCED */" if name in kept.unenforced else ""
        yield f"CONSTRAINT {sql_identifier(name)} CHECK ({text}){loose}"


def named_as(table: Table, renamed: Mapping[str, str]) -> tuple[str, ...]:
    """What a table leaves out, with constraints under other names."""
    found = []
    for text in table.left_out:
        match = _KEPT.fullmatch(text)
        is_check = match is not None and match[1] != "GENERATED"
        found.append(
            f"{match[1]} `{renamed.get(match[2], match[2])}` {match[3]}" if match and is_check else text
        )
    return tuple(found)


def checks_of(table: Table) -> tuple[str, ...]:
    """The names of constraints, in their order."""
    kept = expressions_of(table)
    return tuple(sorted({**kept.checks, **kept.unenforced}))


def names_with_table(table: Table, name: str) -> Mapping[str, str]:
    """Constraints that are called by a table get its new name with it (manual 8.4, RENAME TABLE)."""
    begin = f"{table.name}_chk_"
    return {one: f"{name}_chk_{one[len(begin) :]}" for one in checks_of(table) if one.startswith(begin)}


def names_of_copy(table: Table, name: str) -> Mapping[str, str]:
    """Those of a copy get names of their own (manual 8.4, CREATE TABLE ... LIKE) [their order: assumed]."""
    return {one: f"{name}_chk_{number}" for number, one in enumerate(checks_of(table), 1)}


def generated_of(table: Table, given: Collection[str]) -> Mapping[str, str]:
    """Generated columns with their expressions. Raises SqlError 3105 where one of them is given a value."""
    generated = expressions_of(table).generated
    name = next((one for one in generated if one in given), None)
    if name is not None:
        text = f"The value specified for generated column '{name}' in table '{table.name}' is not allowed."
        raise SqlError(3105, "HY000", text)
    return generated
