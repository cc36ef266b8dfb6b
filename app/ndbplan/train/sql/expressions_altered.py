"""ALTER TABLE of a table with CHECK or generated columns: what goes with a column, and what keeps it.

    gone_with(asked, table)             # what it keeps in words no more; SqlError: a column has to stay
    constraint_altered(asked, table)    # the table behind DROP CHECK and ALTER CHECK

Source: manual 8.4, ALTER TABLE and CHECK constraints; texts: errmsg of 8.4 (3108, 3821, 3959).
"""

from __future__ import annotations

import re

from ndbplan.edits import validated
from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.expressions_kept import checks_of, expressions_of, has_expressions, text_of
from ndbplan.train.sql.in_place import Clause, clauses_of
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax

_USED = re.compile(r"`([^`]+)`")
_OF_KEYS = ("INDEX", "KEY")
_OF_TABLE = ("ALGORITHM", "LOCK", "COMMENT", "AUTO_INCREMENT")
_EXPRESSIVE = {"AS", "GENERATED", "CHECK", "CONSTRAINT", "FOREIGN", "PRIMARY"}


def constraint_altered(asked: Asked, table: Table | None) -> Table | None:
    """The table behind DROP CHECK, DROP CONSTRAINT of a CHECK, and ALTER CHECK; None: it is none of them.

    Raises SqlError and NotSimulated.
    """
    clauses = clauses_of(asked)
    if table is None or len(clauses) != 1 or not form(asked.plan.version, "checks_constraints"):
        return None
    words = clauses[0].words
    if len(words) < 3:
        return None
    verb, kind, name, *rest = words
    found = next((one for one in checks_of(table) if one.lower() == name.lower()), None)
    if verb.upper() not in ("DROP", "ALTER") or kind.upper() not in ("CHECK", "CONSTRAINT"):
        return None
    if found is None:
        if kind.upper() == "CONSTRAINT":
            return None
        raise SqlError(3821, "HY000", f"Check constraint '{name}' is not found in the table.")
    text = text_of(table, found)
    left = tuple(one for one in table.left_out if one != text)
    if verb.upper() == "DROP":
        return validated.changed(table, left_out=left)
    if [one.upper() for one in rest] == ["NOT", "ENFORCED"]:
        kept = text.replace("CHECK", "UNENFORCED", 1) if text.startswith("CHECK") else text
        return validated.changed(table, left_out=(*left, kept))
    raise NotSimulated("rows that are there are not checked against a constraint that is enforced later")


def gone_with(asked: Asked, table: Table) -> frozenset[str]:
    """What a table keeps in words no more behind ALTER TABLE. Raises SqlError and NotSimulated."""
    if not has_expressions(table):
        return frozenset()
    gone = set[str]()
    for one in clauses_of(asked):
        words = [word.upper() for word in one.words]
        renames = words[:2] == ["RENAME", "COLUMN"]
        if words[-1] in ("DROP", "RENAME", "COLUMN") or (renames and len(words) < 5):
            raise syntax("")
        if one.verb in _OF_TABLE or (one.verb == "ADD" and not _EXPRESSIVE & set(words)):
            continue
        if one.verb == "DROP" and words[1] in _OF_KEYS:
            continue
        if not renames and (one.verb != "DROP" or _EXPRESSIVE & set(words)):
            raise NotSimulated(f"of tables with CHECK or generated columns {one.verb} is not simulated here")
        gone |= _gone(table, one, renames=renames)
    return frozenset(gone)


def _gone(table: Table, clause: Clause, *, renames: bool) -> set[str]:
    """What goes with a column. Raises SqlError where something else needs it."""
    typed = clause.words[2] if clause.words[1].upper() == "COLUMN" else clause.words[1]
    kept = expressions_of(table)
    for text in kept.generated.values():
        if typed.lower() in _used(text):
            raise SqlError(3108, "HY000", f"Column '{typed}' has a generated column dependency.")
    gone = set[str]()
    for name, text in {**kept.checks, **kept.unenforced}.items():
        if typed.lower() not in _used(text):
            continue
        if renames or len(_used(text)) > 1:
            said = f"Check constraint '{name}' uses column '{typed}'"
            raise SqlError(3959, "HY000", f"{said}, hence column cannot be dropped or renamed.")
        gone.add(text_of(table, name))
    own = next((one for one in kept.generated if one.lower() == typed.lower()), None)
    if own is not None and renames:
        raise NotSimulated("a generated column is not renamed here")
    return gone if own is None else {*gone, text_of(table, own)}


def _used(text: str) -> set[str]:
    return {name.lower() for name in _USED.findall(text)}
