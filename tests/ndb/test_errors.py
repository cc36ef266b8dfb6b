from __future__ import annotations

from ndbplan.base.resources import read_json
from ndbplan.ndb.errors import every_error, other_errors
from ndbplan.train.host.tools import errors_of

WITHOUT_AN_ERROR = {
    "MaxNoOfExecutionThreads",
    "MaxNoOfIndexes",
    "MaxNoOfOpenFiles",
    "MaxNoOfSavedEvents",
    "MaxNoOfSavedMessages",
    "MaxNoOfTriggers",
    "MaxNoOfUniqueHashIndexes",
}
"""Threads, files, messages; and limits of the dictionary whose own errors name others."""


def test_what_runs_out_in_a_data_node_has_an_error_that_names_it() -> None:
    named = {name for row in read_json("ndb/errors.json")["errors"] for name in row.get("look_at", ())}
    rows = read_json("ndb/parameters.json")["parameters"]
    limits = {row["name"] for row in rows if row["name"].startswith("MaxNoOf")}
    assert limits - named == WITHOUT_AN_ERROR


def test_each_error_is_listed_once() -> None:
    rows = read_json("ndb/errors.json")
    assert len(every_error()) == len(rows["errors"]) == rows["count"]
    assert not every_error().keys() & other_errors().keys()


def test_the_tool_tells_of_index_operations_triggers_and_subscriptions() -> None:
    for code, kind in ((221, "Temporary error"), (288, "Temporary error"), (1416, "Permanent error")):
        assert f"NDB error code {code}: " in errors_of([str(code)]).text
        assert kind in errors_of([str(code)]).text
