"""Changes of ALTER TABLE that end before they are whole, and constraints that are not there.

check_whole(asked)                 # ALTER TABLE t DROP INDEX: 1064 near ''
check_constraint(asked, table)     # DROP CONSTRAINT of a name that nothing has: 3940

Source: grammar and prepare of the product (sql_yacc.yy, sql_table.cc, 8.0 and later; manual, ALTER TABLE).
"""

from __future__ import annotations

import re

from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.expressions_kept import checks_of
from ndbplan.train.sql.foreign_keys import keys_of
from ndbplan.train.sql.in_place import clauses_of
from ndbplan.train.sql.problem import SqlError, syntax

_CUT_SHORT = re.compile(
    r"DROP(?: COLUMN| INDEX| KEY| FOREIGN(?: KEY)?| CHECK| CONSTRAINT| PRIMARY| PARTITION)?"
    r"|ADD(?: COLUMN| CONSTRAINT(?: \S+)?| CHECK| PRIMARY(?: KEY)?| FOREIGN(?: KEY)?"
    r"|(?: UNIQUE| FULLTEXT| SPATIAL)?(?: INDEX| KEY)(?: \S+)?| UNIQUE(?: \S+)?)?"
    r"|MODIFY(?: COLUMN)?(?: \S+)?|CHANGE(?: COLUMN)?(?: \S+){0,2}"
    r"|RENAME(?: TO| AS|(?: INDEX| KEY| COLUMN)(?: \S+(?: TO)?)?)?"
    r"|ALTER(?: COLUMN)?(?: \S+(?: SET(?: DEFAULT)?| DROP)?)?|ALTER(?: INDEX| CHECK| CONSTRAINT)(?: \S+)?"
    r"|CONVERT(?: TO(?: CHARSET| CHARACTER(?: SET)?)?)?|ORDER(?: BY)?"
    r"|(?:ENGINE|COMMENT|AUTO_INCREMENT|MAX_ROWS|ALGORITHM|LOCK)(?: =)?",
    re.IGNORECASE,
)


def check_whole(asked: Asked) -> None:
    """Raises SqlError where the last change of a table ends too early."""
    clauses = clauses_of(asked)
    if not clauses:
        return
    if _drops_constraint(clauses[-1].words):
        _may_drop_constraint(asked)
    if _CUT_SHORT.fullmatch(" ".join(clauses[-1].words)):
        raise syntax("")


def check_constraint(asked: Asked, table: Table) -> None:
    """Raises SqlError for DROP CONSTRAINT of what is no CHECK, foreign key or key of the table."""
    for words in (one.words for one in clauses_of(asked) if _drops_constraint(one.words)):
        _may_drop_constraint(asked)
        unique = ("PRIMARY", *(index.name for index in table.indexes))
        known = {*checks_of(table), *(key.name for key in keys_of(asked.plan, table)), *unique}
        if len(words) == 3 and words[2].lower() not in {name.lower() for name in known}:
            raise SqlError(3940, "HY000", f"Constraint '{words[2]}' does not exist.")


def _drops_constraint(words: tuple[str, ...]) -> bool:
    return [one.upper() for one in words[:2]] == ["DROP", "CONSTRAINT"]


def _may_drop_constraint(asked: Asked) -> None:
    """Older servers know no such change: the word is reserved."""
    if not form(asked.plan.version, "checks_constraints"):
        place = next(word.start for word in asked.words if word.upper == "CONSTRAINT")
        raise syntax(asked.sql[place:])
