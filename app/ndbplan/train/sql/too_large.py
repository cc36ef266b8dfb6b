"""What a server says of a table with more keys, or longer keys and rows, than it and NDB take, and of a
transaction with more changed rows.

raise_over("... at most 64 are taken (error 1069) ...", asked)     # Too many keys specified; max 64 ...

Texts of NDB: ndberror.cpp of mysql/mysql-server; the form around them: recorded on a running 8.4.8.
"""

from __future__ import annotations

import re

from sqlglot import exp

from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.load.row_operations import write_operations
from ndbplan.estimate.load.transaction_size import operations_of_one
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said
from ndbplan.ndb.sql_versions import limits
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Operation, OperationKind
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.in_place import adds_in_place
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, of_ndb
from ndbplan.train.sql.refused import inside_of, met
from ndbplan.train.state import is_local

_OVER = re.compile(r" taken \(error ([0-9]{3,4})\)")
_TOO_LONG_NAME = 1059
_BY_SERVER = {
    1069: "Too many keys specified; max {indexes} keys allowed",
    1070: "Too many key parts specified; max {key_columns} parts allowed",
    1071: "Specified key was too long; max key length is {key_bytes} bytes",
    1118: "Row size too large. The maximum row size for the used table type, not counting BLOBs, is "
    "{row_bytes}. This includes storage overhead, check the manual. You have to change some columns to "
    "TEXT or BLOBs",
}
_BY_NDB = (738, 791, 851, 1224)
_AT_COMMIT = (791, 851, 1224)
"""What data nodes find while they make it; the rest they refuse as they read it [9.7.4]."""
NOT_COMMITTED = Warned("Warning", 1296, "Failed to commit NDB schema transaction")


def raise_over(message: str, asked: Asked) -> None:
    """Raises SqlError for a limit that a message speaks of; NotSimulated where the words are not known."""
    match = _OVER.search(message)
    if match is None:
        return
    code = int(match[1])
    if code == _TOO_LONG_NAME:
        raise SqlError(code, "42000", f"Identifier name '{asked.words[2].text}' is too long")
    if code in _BY_SERVER:
        raise SqlError(code, "42000", _BY_SERVER[code].format_map(limits()))
    if code in _BY_NDB and adds_in_place(asked):
        # ha_ndbcluster::inplace_alter_table: the number is that of the handler, HA_WRONG_CREATE_OPTION.
        error = said(code, asked.plan.version)
        inside = of_ndb(error).warnings[:1]
        raise SqlError(1296, "HY000", f"Got error 140 '{error.shown}' from NDBCLUSTER", inside)
    if code not in _BY_NDB or asked.words[0].upper != "CREATE":
        raise NotSimulated(f"NDB refuses this, in words that are not known here: {message}")
    raise refused_by_ndb(asked, code)


def refused_by_ndb(asked: Asked, code: int) -> SqlError:
    """What is said of a CREATE TABLE that NDB refuses with HA_WRONG_CREATE_OPTION."""
    name = asked.words[2].text
    inside = inside_of(code, asked.plan.version)
    if form(asked.plan.version, "dictionary_of_its_own"):
        text = f"Can't create table '{name}' (use SHOW WARNINGS for more info)."
        return SqlError(1005, "HY000", text, (inside, *[NOT_COMMITTED] * (code in _AT_COMMIT)))
    return SqlError(1031, "HY000", f"Table storage engine for '{name}' doesn't have this option", (inside,))


def refuse_too_many(
    rows: int, kind: OperationKind, tree: exp.Expr, table: Table, cluster: LiveCluster
) -> None:
    """Raises the error of a transaction that writes more than one may, blob parts and entries included."""
    if is_local(table):
        return
    version = cluster.plan.version
    changed = {one.this.name.lower() for one in tree.expressions} if isinstance(tree, exp.Update) else set()
    columns = tuple(column.name for column in table.columns if column.name.lower() in changed)
    operation = Operation(table_id=table.id, kind=kind, columns=columns)
    written = rows * write_operations(table, operation, version)
    if written > operations_of_one(node_settings(cluster.plan)):
        raise met(int(form(version, "too_many_rows")), table.name, version)
