"""Expressions that a table of NDB keeps: CHECK constraints and generated columns that are stored.

    with_expressions(asked, table)                  # what a CREATE TABLE says of them, kept with the table
    complete(table, row, asked, taking, 1)          # a row with what is worked out; raises SqlError 3819

Texts and codes: the product's own tests (gcol_ndb, check_constraints) and manual 8.4, CHECK Constraints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ndbplan.base.quoting import sql_identifier
from ndbplan.edits import validated
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.train.contents import Row
from ndbplan.train.sql import finding
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.explain.wording import worded
from ndbplan.train.sql.expressions_kept import checks_of, expressions_of, named_as
from ndbplan.train.sql.partitioning import check_row
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax
from ndbplan.train.sql.reading import parsed
from ndbplan.train.sql.roughly import Asked as ChangeAsked
from ndbplan.train.sql.values import Taking

VIOLATED = 3819
"""A row that IGNORE leaves out."""
_LOST = re.compile(r"(?:column \S{1,64}: )?(?:AS \(|CHECK )", re.IGNORECASE)
"""What the reader of statements keeps of them in its own words."""
OF_EXPRESSION = re.compile(r"is generated and is stored|CHECK is looked at by SQL nodes")
"""What it says of them."""
_LONGEST = 300
_TEXT = "a text"
_INTRODUCED = re.compile(r"_utf8mb4(?=')")


def with_names(
    asked: Asked, table: Table, database: str, renamed: Mapping[str, str], *, is_copy: bool = False
) -> Table:
    """A table with constraints under other names. Raises SqlError for one that its database has."""
    others = {name.lower() for name in checks_of(table)} if database == table.database else set()
    taken = _names_in_use(asked, database) - (set() if is_copy else others)
    for name in (renamed.get(one, one) for one in checks_of(table)):
        if name.lower() in taken:
            raise SqlError(3822, "HY000", f"Duplicate check constraint name '{name}'.")
    return validated.changed(table, left_out=named_as(table, renamed))


# What a statement says of them.


class _Found(NamedTuple):
    """An expression of a statement."""

    column: str
    """That it stands at; empty: it is the table's."""
    name: str
    """Of a constraint; empty: it has none."""
    text: str
    is_check: bool
    enforced: bool


def with_expressions(asked: Asked, table: Table) -> Table:
    """The table with what a statement says of them. Raises SqlError and NotSimulated."""
    left = [text for text in table.left_out if not _LOST.match(text)]
    found, number, names = list(_found(asked)), 0, _names_in_use(asked, table.database)
    if not form(asked.plan.version, "checks_constraints"):
        found = [one for one in found if not one.is_check]
    for one in found:
        name = one.name
        if one.is_check and not name:
            number += 1
            name = f"{table.name}_chk_{number}"
        if one.is_check and name.lower() in names:
            raise SqlError(3822, "HY000", f"Duplicate check constraint name '{name}'.")
        names.add(name.lower() if one.is_check else "")
        text = _shown(asked, table, one, name)
        kind = "GENERATED" if not one.is_check else "CHECK" if one.enforced else "UNENFORCED"
        kept = f"{kind} `{name if one.is_check else one.column}` {text}"
        if len(kept) > _LONGEST:
            raise NotSimulated("expressions of so many letters are not kept here")
        left.append(kept)
    return validated.changed(table, left_out=tuple(left)) if found else table


def _names_in_use(asked: Asked, database: str) -> set[str]:
    tables = (one for one in asked.plan.tables if one.database == database)
    kept = (expressions_of(one) for one in tables)
    return {name.lower() for one in kept for name in (*one.checks, *one.unenforced)}


def _found(asked: Asked) -> Iterator[_Found]:
    """The expressions of CREATE TABLE, in their order."""
    words, depth = list(asked.words), 0
    item: list[Word] = []
    for word in words[next(at for at, one in enumerate(words) if one.text == "(") :]:
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0 or (depth == 1 and word.text == ","):
            yield from _of_item(asked, item)
            item = []
            if depth == 0:
                return
        elif depth > 1 or word.text != "(" or item:
            item.append(word)


def _of_item(asked: Asked, item: list[Word]) -> Iterator[_Found]:
    column = "" if item and item[0].upper in ("CONSTRAINT", "CHECK") and item[0].kind == "word" else None
    depth, name = 0, ""
    for at, word in enumerate(item):
        depth += (word.text == "(") - (word.text == ")")
        begins = depth == 0 and word.kind == "word" and at + 1 < len(item)
        if begins and word.upper == "CONSTRAINT" and item[at + 1].upper != "CHECK":
            name = item[at + 1].text
        if not begins or word.upper not in ("AS", "CHECK") or item[at + 1].text != "(":
            continue
        end = _closing(item, at + 1)
        text = asked.sql[item[at + 1].end : item[end].start]
        behind = [one.upper for one in item[end + 1 : end + 3]]
        if word.upper == "CHECK" and not form(asked.plan.version, "checks_constraints"):
            _may_be_passed_over(asked, item, at, end)
        enforced = behind != ["NOT", "ENFORCED"]
        of = item[0].text if column is None else column
        yield _Found(of, name, text, word.upper == "CHECK", enforced)
        name = ""


def _may_be_passed_over(asked: Asked, item: list[Word], at: int, end: int) -> None:
    """Raises SqlError for words around CHECK (...) that sql_yacc.yy of 5.6 does not have there."""
    constraint = next((one for one in item[1:at] if one.upper == "CONSTRAINT" and one.kind == "word"), None)
    wrong = constraint or (item[end + 1] if end + 1 < len(item) else None)
    if wrong is not None:
        raise syntax(asked.sql[wrong.start :])


def _closing(item: list[Word], begin: int) -> int:
    depth = 0
    for at in range(begin, len(item)):
        depth += (item[at].text == "(") - (item[at].text == ")")
        if not depth:
            return at
    return len(item) - 1


def _shown(asked: Asked, table: Table, one: _Found, name: str) -> str:
    """An expression as the server writes it. Raises SqlError for what it refuses."""
    try:
        tree = parsed(f"SELECT {one.text}").expressions[0]
    except (SqlglotError, IndexError):
        raise NotSimulated(f"the expression '{one.text[:60]}' is not simulated") from None
    columns = {column.name.lower(): column for column in table.columns}
    generated = [one.column.lower()] if not one.is_check else []
    for typed in tree.find_all(exp.Column):
        column = columns.get(typed.name.lower())
        if column is None and one.is_check:
            text = f"Check constraint '{name}' refers to non-existing column '{typed.name}'."
            raise SqlError(3820, "HY000", text)
        if column is None:
            text = f"Unknown column '{typed.name}' in 'generated column function'"
            raise SqlError(1054, "42S22", text)
        if one.is_check and one.column and column.name.lower() != one.column.lower():
            text = f"Column check constraint '{name}' references other column."
            raise SqlError(3813, "HY000", text)
        if column.auto_increment and one.is_check:
            text = f"Check constraint '{name}' cannot refer to an auto-increment column."
            raise SqlError(3818, "HY000", text)
        if column.auto_increment:
            text = f"Generated column '{one.column}' cannot refer to auto-increment column."
            raise SqlError(3109, "HY000", text)
        if column.name.lower() in generated:
            text = "Generated column can refer only to generated columns defined prior to it."
            raise SqlError(3107, "HY000", text)
    letters = form(asked.plan.version, "expressions_name_charset")

    def named(column: exp.Column) -> str:
        if column.table == _TEXT:
            quoted = column.name.replace("'", "\\'")
            return f"{letters}'{quoted}'"
        return sql_identifier(columns[column.name.lower()].name)

    def as_column(node: exp.Expr) -> exp.Expr:
        is_text = isinstance(node, exp.Literal) and node.is_string
        return exp.column(exp.to_identifier(node.this, quoted=True), table=_TEXT) if is_text else node

    try:
        return worded(tree.transform(as_column), named)
    except NotSimulated:
        raise NotSimulated(f"the expression '{one.text[:60]}' is not simulated") from None


# What rows make of them.


def complete(table: Table, row: Row, asked: ChangeAsked, taking: Taking, number: int) -> None:
    """Work out generated columns of a row, and raise SqlError for one that no partition or CHECK takes."""
    kept = expressions_of(table)
    for name, text in kept.generated.items():
        column = table.column(name)
        (value,) = _worked_out(table, row, [text], asked)
        if value is None and not column.nullable:
            raise SqlError(1048, "23000", f"Column '{name}' cannot be null")
        row[name] = taking.take(column, value, number)
    if kept.checks:
        values = _worked_out(table, row, list(kept.checks.values()), asked)
        for name, value in sorted(zip(kept.checks, values, strict=True)):
            if value is not None and not value:
                raise SqlError(VIOLATED, "HY000", f"Check constraint '{name}' is violated.")
    check_row(table, row)


def _worked_out(table: Table, row: Row, texts: list[str], asked: ChangeAsked) -> tuple[Any, ...]:
    listed = ", ".join(f"{_INTRODUCED.sub('', text)} AS `e{at}`" for at, text in enumerate(texts))
    full = f"{sql_identifier(table.database)}.{sql_identifier(table.name)}"
    relation = finding.relation_of(table, [((1,), row)])
    found = asked.query(parsed(f"SELECT {listed} FROM {full}"), {table.full_name: relation})
    return found.rows[0]
