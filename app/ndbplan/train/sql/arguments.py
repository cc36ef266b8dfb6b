"""Arguments of functions as the server reads them: a text where a number is wanted, a number for a moment.

    as_taken("LAST_DAY", last_day, warn)("98-02-03")      # last_day("1998-02-03")

Source: what the items of these functions ask of their arguments (sql/item_func.cc, sql/item_strfunc.cc,
sql/item_timefunc.cc: val_real, val_int, get_arg0_date, get_arg0_time).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import wraps
from typing import Any

from ndbplan.train.sql.dates import COMPOSED, OF_TIME
from ndbplan.train.sql.moments import read_clock, read_moment
from ndbplan.train.sql.truncating import TRUNCATED, Warn, number_in

_DOUBLE = (
    "acos", "asin", "atan", "atan2", "cos", "cot", "sin", "tan", "degrees", "radians", "log", "pow", "power",
    "interval", "sec_to_time", "sign", "floor", "ceil",
)  # fmt: skip
_WHOLE = (
    "letters", "bitwise_count", "inet_ntoa", "last_insert_id", "from_days", "makedate", "period_add",
    "period_diff",
)  # fmt: skip
KINDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_DOUBLE, ("double", "double", "...")),
    **dict.fromkeys(("truncate", "round"), ("double", "integer")),
    **dict.fromkeys(_WHOLE, ("integer", "integer", "...")),
    **dict.fromkeys(("elt", "make_set", "space"), ("integer",)),
    **dict.fromkeys(("left", "right", "repeat", "lpad", "rpad", "sha2"), ("any", "integer")),
    **dict.fromkeys(("mid", "conv", "stuff"), ("any", "integer", "integer")),
    **dict.fromkeys(("locate", "substring_index"), ("any", "any", "integer")),
    **dict.fromkeys(("last_day", "date", "moment", "dayname", "to_seconds", "unix_timestamp", "date_format"),
                    ("moment",)),
    **dict.fromkeys(("week", "yearweek"), ("moment", "integer")),
    **dict.fromkeys(("timestampdiff", "datediff"), ("moment", "moment")),
    **dict.fromkeys(("time_format", "time", "time_to_sec"), ("time",)),
    **dict.fromkeys(("timediff", "addtime", "subtime"), ("time", "time")),
    "uuid_to_bin": ("any", "integer"), "bin_to_uuid": ("any", "integer"),
    "regexp_substr": ("any", "any", "integer", "integer"),
    "regexp_instr": ("any", "any", "integer", "integer", "integer"),
    "regexp_replace": ("any", "any", "any", "integer", "integer"),
    "number_to_str": ("double", "integer"), "export_set": ("integer", "any", "any", "any", "integer"),
    "maketime": ("integer", "integer", "double"), "from_unixtime": ("double",),
    "date_add": ("moment", "amount"), "extract": ("any", "part"),
}  # fmt: skip
"""By name in small letters, without the prefix of ours; dots: as the one before, however many follow."""


def as_taken(name: str, function: Callable[..., Any], warn: Warn) -> Callable[..., Any]:
    """A function that is given its arguments as it asks for them."""
    kinds = KINDS.get(name.lower().removeprefix("mysql_"))
    if kinds is None:
        return function

    @wraps(function)
    def taken(*given: Any) -> Any:
        return function(*(_read(given, at, _kind(kinds, at), warn) for at in range(len(given))))

    return taken


def _kind(kinds: tuple[str, ...], at: int) -> str:
    if at < len(kinds) and kinds[at] != "...":
        return kinds[at]
    return kinds[-2] if kinds[-1] == "..." else "any"


def _read(given: tuple[Any, ...], at: int, kind: str, warn: Warn) -> Any:
    value = given[at]
    if value is None or kind == "any":
        return value
    if kind == "amount":
        unit = str(given[at + 1]).upper()
        kind = "any" if unit in COMPOSED else "double" if unit == "SECOND" else "integer"
    if kind == "part":
        kind = "time" if str(given[at - 1]).upper() in OF_TIME else "moment"
    if kind in ("moment", "time"):
        text, told = (read_moment if kind == "moment" else read_clock)(_text(value))
        if told:
            warn(TRUNCATED, told)
        return text
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    if kind == "double":
        return number_in(value, "DOUBLE", warn)
    return value if kind == "any" else whole(value, warn)


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def whole(value: Any, warn: Warn) -> int:
    """A number rounded, or the whole one that a text begins with."""
    if isinstance(value, float):
        return int(Decimal(repr(value)).to_integral_value(rounding=ROUND_HALF_UP))
    return int(number_in(value, "INTEGER", warn) or 0)
