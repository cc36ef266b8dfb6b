"""What the product's errors mean: those a transaction gets, and those that end a data node.

    ndb_error(410).text                         # redo log space low: in our own words
    said(410, version).line                     # REDO log files overloaded (…: as the product says it

The data is `resources/ndb/errors.json`, which says where each code was read.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, in_span


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


class Said(NamedTuple):
    """An error as the product says it."""

    code: int
    text: str
    status: str
    """`Permanent error`, `Temporary error`, `Unknown result`, `Success`; of an exit what is to be done."""
    classification: str
    """`Temporary Resource error`; empty: the product prints none."""

    @property
    def line(self) -> str:
        """Text, status and class, as ndb_perror and the management client print them."""
        return f"{self.text}: {self.status}: {self.classification}"

    @property
    def shown(self) -> str:
        """The text as far as an SQL node prints it."""
        return self.text[: read_json("ndb/errors.json")["messages"]["longest"]]

    @property
    def is_temporary(self) -> bool:
        """Whether trying again helps."""
        return self.status == "Temporary error"


@cache
def every_said(version: NdbVersion) -> dict[int, Said]:
    """The errors that a version says of transactions, schemas and commands, in the product's order."""
    data = read_json("ndb/errors.json")["messages"]
    found = {}
    for code, kind, text, *older in data["rows"]:
        texts = (one["message"] for one in older if in_span(version, one))
        found[code] = Said(code, next(texts, text), *data["classes"][kind])
    return found


def said(code: int, version: NdbVersion) -> Said:
    """An error as a version says it; a number that is not listed is unknown to it."""
    unknown = Said(code, "Unknown error code", "Unknown result", "Unknown error code")
    return every_said(version).get(code, unknown)


@cache
def every_exit_said() -> dict[int, Said]:
    """What data nodes say of the errors that end them; the status is what is to be done."""
    data = read_json("ndb/errors.json")["exit_messages"]
    return {code: Said(code, text, *data["classes"][kind]) for code, kind, text in data["rows"]}


def exit_said(code: int) -> Said:
    """What a data node says of the error that ended it. Raises KeyError for one that ends none."""
    return every_exit_said()[code]


def management_errors() -> list[tuple[int, str]]:
    """Errors of the management client's library: number, and what it calls them."""
    return [(row[0], row[1]) for row in read_json("ndb/errors.json")["also_known"]["management"]]


def is_no_error(code: int) -> bool:
    """Whether the product has no error of this number; False also where that is not known."""
    known = read_json("ndb/errors.json")["also_known"]
    return code < 0 or code in known["free"] or code > known["highest"]
