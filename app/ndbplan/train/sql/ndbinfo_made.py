"""SHOW CREATE of what ndbinfo consists of, as far as a server of the series was seen."""

from __future__ import annotations

from typing import Any

from ndbplan.base.quoting import sql_identifier
from ndbplan.base.resources import read_json
from ndbplan.ndb.ndbinfo import Described, described, is_table, tables_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.numbers import TEXT
from ndbplan.train.sql.problem import NotSimulated

_MADE_BY = "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY INVOKER VIEW"
_HEADING = ("View", "Create View", "character_set_client", "collation_connection")


def _of_series(kind: str, version: NdbVersion) -> Any:
    rows = read_json("ndb/ndbinfo_views.json")[kind]
    return next(
        (value for name, value in rows.items() if NdbVersion.parse(name).series == version.series), None
    )


def shown(version: NdbVersion, name: str, in_use: str) -> Result:
    """The statement that made a table or view of ndbinfo, where a database is in use.

    Elsewhere names of a view are whole [8.4.8]. Raises NotSimulated for one that was not seen.
    """
    if is_table(version, name):
        options = _of_series("tables", version)
        if options is not None:
            text = _table(name, described(version, name), options)
            return Result(("Table", "Create Table"), (TEXT, TEXT), [(name, text)])
    else:
        known = (_of_series("views", version) or {}).get(name)
        if known is not None:
            charset, collation = _of_series("client", version)
            return Result(
                _HEADING, (TEXT,) * 4, [(name, _view(version, name, known, in_use), charset, collation)]
            )
    raise NotSimulated(f"how the server made ndbinfo.{name} is not simulated; DESC ndbinfo.{name} is")


def _view(version: NdbVersion, name: str, known: dict[str, Any], in_use: str) -> str:
    where = "" if in_use == "ndbinfo" else "`ndbinfo`."
    base = where + sql_identifier(known.get("from", f"ndb${name}"))

    def of_base(text: str) -> str:
        return text.replace(".`", f"{base}.`")

    told = known.get("columns", {})
    columns = ",".join(
        f"{of_base(told.get(column, f'.{sql_identifier(column)}'))} AS {sql_identifier(column)}"
        for column in tables_of(version)[name].columns
    )
    distinct, rest = "distinct " * known.get("distinct", False), of_base(known.get("rest", ""))
    return f"{_MADE_BY} {where}{sql_identifier(name)} AS select {distinct}{columns} from {base}{rest}"


def _table(name: str, columns: tuple[Described, ...], options: str) -> str:
    lines = [_column(one) for one in columns]
    keys = ",".join(sql_identifier(one.field) for one in columns if one.key == "PRI")
    lines += [f"PRIMARY KEY ({keys})"] if keys else []
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {sql_identifier(name)} (\n  {body}\n) {options}"


def _column(one: Described) -> str:
    is_blob = one.type.endswith(("blob", "text"))
    end = " NOT NULL" if one.null == "NO" else "" if is_blob else " DEFAULT NULL"
    return f"{sql_identifier(one.field)} {one.type}{end}"
