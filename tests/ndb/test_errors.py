from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ndbplan.train
from ndbplan.base.resources import read_json
from ndbplan.ndb.errors import every_error, every_exit_said, every_said, said
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.host.tools import errors_of

REALITY = Path(__file__).parent.parent / "reality"
VERSION = NdbVersion.parse("8.4.8")
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


def test_each_error_is_listed_once_and_has_the_words_of_the_product() -> None:
    rows = read_json("ndb/errors.json")
    assert len(every_error()) == len(rows["errors"]) == rows["count"]
    for listed in (rows["messages"]["rows"], rows["exit_messages"]["rows"]):
        codes = [row[0] for row in listed]
        assert len(codes) == len(set(codes))
    for code, error in every_error().items():
        one = every_said(VERSION)[code]
        assert one.status.lower().startswith(error.status), one
        assert one.classification.lower().removesuffix(" error") == error.classification.removesuffix(
            " error"
        )


def test_every_number_that_the_consoles_write_has_words() -> None:
    """Numbers of data nodes as they stand in the source: given to what says them."""
    written = re.compile(r"(?:\bndb=|\b(?:refused|met|inside_of|said)\()([0-9]{3,5})\b")
    folder = Path(str(ndbplan.train.__file__)).parent
    found = {
        int(number) for path in folder.rglob("*.py") for number in written.findall(path.read_text("utf-8"))
    }
    assert len(found) > 5
    assert found - every_said(VERSION).keys() == set()


def _told(text: str) -> Iterator[tuple[int, str]]:
    """Errors that an answer of a running cluster tells: number and words, as far as they are printed."""
    for number, words in re.findall(r"Got (?:temporary )?error ([0-9]+) '([^'\n]+)' from", text):
        yield int(number), words
    for number, words in re.findall(r"^\*        ([0-9]+)-(.+)$", text, re.MULTILINE):
        yield int(number), words
    for number, words in re.findall(r"^NDB error code +([0-9]+): (.+)$", text, re.MULTILINE):
        yield int(number), words
    for number, words in re.findall(r"^\| +([0-9]+) \| (.*?) +\| (?:Temp|Perm|Unkn)", text, re.MULTILINE):
        yield int(number), words


def _answers(one: object) -> Iterator[str]:
    if isinstance(one, str):
        yield one
    elif isinstance(one, dict):
        yield from (text for value in one.values() for text in _answers(value))
    elif isinstance(one, list):
        yield from (text for value in one for text in _answers(value))


@pytest.mark.parametrize(("version", "least"), [("8.4.8", 8), ("7.4.10", 4)])
def test_errors_are_said_as_running_clusters_said_them(version: str, least: int) -> None:
    seen, differ = set[int](), list[str]()
    for name in ("console-answers.json", "state-answers.json", "told-errors.json"):
        rows = json.loads((REALITY / name).read_text("utf-8"))
        for state in rows.get("states", ()):
            if state["version"] == version:
                rows.setdefault(version, []).append(state)
        for text in _answers(rows.get(version, [])):
            for number, words in _told(text):
                one = said(number, NdbVersion.parse(version)) if number in every_said(VERSION) else None
                one = one or every_exit_said().get(number)
                if one is None:
                    continue
                seen.add(number)
                if words not in (one.text, one.shown, one.line):
                    differ.append(f"{number}: {words!r}, not {one.line!r}")
    assert sorted(set(differ)) == []
    assert len(seen) >= least


def test_the_tool_tells_of_index_operations_triggers_and_subscriptions() -> None:
    for code, kind in ((221, "Temporary error"), (288, "Temporary error"), (1416, "Permanent error")):
        assert f"NDB error code {code}: " in errors_of([str(code)], VERSION).text
        assert kind in errors_of([str(code)], VERSION).text


def test_words_change_with_the_release() -> None:
    older, newer = NdbVersion.parse("7.4.10"), NdbVersion.parse("8.4.8")
    assert said(221, older).text == "Too many concurrently fired triggers (increase MaxNoOfFiredTriggers)"
    assert said(221, newer).text == "Too many concurrently fired triggers, increase SharedGlobalMemory"
    assert "IndexMemory" in said(625, older).text
    assert "DataMemory" in said(625, newer).text
    # The client's library has it, and says no class [8.4.8].
    assert errors_of(["5001", "1010"], newer).text == (
        "NDB error code 5001: Usage error\nNDB error code 1010: Management server not connected\n"
    )
