"""What the product's errors mean: those a transaction gets, and those that end a data node.

Texts are our own words. The data is `resources/ndb/errors.json`, which says where each code was read.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ndbplan.base.resources import read_json


class NdbError(NamedTuple):
    """An error of the data nodes as the product classifies it."""

    code: int
    text: str
    """In a few words."""
    status: str
    """`temporary`: trying again helps, `permanent`, or `unknown`."""
    classification: str
    """`temporary resource`, `insufficient space` …"""


@cache
def every_error() -> dict[int, NdbError]:
    """The errors by their code."""
    rows = read_json("ndb/errors.json")["errors"]
    names = ("code", "short_text", "status", "classification")
    return {row["code"]: NdbError(*(row[name] for name in names)) for row in rows}


def ndb_error(code: int) -> NdbError | None:
    """The error of a code; None: it is not listed."""
    return every_error().get(code)


@cache
def every_exit() -> dict[int, str]:
    """What ends data nodes, in a few words, by the code of the exit."""
    return {row["code"]: row["short_text"] for row in read_json("ndb/errors.json")["node_exit_codes"]}


def exit_text(code: int) -> str:
    """What a data node says of the error that ended it, in a few words."""
    return every_exit().get(code, "no error text")


class OtherError(NamedTuple):
    """An error that a client asks about and that no rule of ours speaks of."""

    code: int
    text: str
    """In our own words."""
    status: str
    """`Permanent error`, `Temporary error`, `Unknown result`, `No error`."""
    classification: str
    """As the product prints it; empty: it prints none."""


@cache
def other_errors() -> dict[int, OtherError]:
    """Errors that are known by their numbers alone."""
    rows = read_json("ndb/errors.json")["also_known"]["errors"]
    return {row[0]: OtherError(*row) for row in rows}


def management_errors() -> list[tuple[int, str]]:
    """Errors of the management client's library: number, and what it calls them."""
    return [(row[0], row[1]) for row in read_json("ndb/errors.json")["also_known"]["management"]]


def is_no_error(code: int) -> bool:
    """Whether the product has no error of this number; False also where that is not known."""
    known = read_json("ndb/errors.json")["also_known"]
    return code < 0 or code in known["free"] or code > known["highest"]
