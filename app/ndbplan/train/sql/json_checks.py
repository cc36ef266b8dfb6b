"""What functions of JSON refuse of their arguments, in the words of the server.

    checked("json_depth", function)(1)       # SqlError 3146

Source: sql/item_json_func.cc and its tests (suite json).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ndbplan.train.sql.json_faults import fault_of
from ndbplan.train.sql.problem import SqlError
from ndbplan.train.sql.text_functions import text_of

MARK = "\x01"
"""Stands before a text that is a JSON value, and not a string that becomes one."""
_ALL_DOCUMENTS = ("json_merge", "json_merge_preserve", "json_merge_patch")
_TWO_DOCUMENTS = ("json_contains", "json_overlaps")
_NO_DOCUMENT = ("json_valid", "json_quote", "json_unquote", "json_cast")


def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that refuses what is no document where it takes one. Raises SqlError."""
    if name in _NO_DOCUMENT:
        return function
    count = 2 if name in _TWO_DOCUMENTS else None if name in _ALL_DOCUMENTS else 1

    def taken(*given: Any) -> Any:
        for number, value in enumerate(given[:count], start=1):
            if value is None:
                break
            check(value, number, name)
        return function(*given)

    return taken


def check(value: Any, number: int, name: str) -> None:
    if not isinstance(value, str | bytes):
        told = f"in argument {number} to function {name}; a JSON string or JSON type is required."
        raise SqlError(3146, "22032", f"Invalid data type for JSON data {told}")
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value.removeprefix(MARK)
    fault = fault_of(text)
    if fault is not None:
        told = f'in argument {number} to function {name}: "{fault[0]}" at position {fault[1]}.'
        raise SqlError(3141, "22032", f"Invalid JSON text {told}")


def keyed(key: Any) -> str:
    """The name of a member. Raises SqlError for NULL."""
    if key is None:
        raise SqlError(3158, "22032", "JSON documents may not contain NULL member names.")
    return text_of(key)


def takes_all(name: str, how: Any) -> bool:
    """Whether all is asked for, and not one. Raises SqlError."""
    word = str(how).lower()
    if word not in ("one", "all"):
        told = f"The oneOrAll argument to {name} may take these values: 'one' or 'all'."
        raise SqlError(3154, "42000", told)
    return word == "all"


def check_text(value: Any, name: str) -> None:
    if not isinstance(value, str):
        raise SqlError(3064, "HY000", f"Incorrect type for argument 1 in function {name}.")
