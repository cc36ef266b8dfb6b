"""HELP of the management client, in our own words (resources/ndb/mgm_help.json)."""

from __future__ import annotations

from typing import Any

from ndbplan.base.resources import read_json
from ndbplan.ndb.console import knows_word
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.answer import Answer
from ndbplan.train.mgm.words import FAILED, Line

RULE = "-" * 75
_WIDTH = 39


def _data() -> dict[str, Any]:
    data: dict[str, Any] = read_json("ndb/mgm_help.json")
    return data


def _is_known(words: str, version: NdbVersion) -> bool:
    """Whether something is there that wants words to be known, or with a hyphen not to be."""
    return all(knows_word(version, one.removeprefix("-")) is not one.startswith("-") for one in words.split())


def help_of(line: Line, version: NdbVersion) -> Answer:
    """The list of commands, or what there is about one; a topic is known by its whole name alone."""
    if not line.words:
        lines = [RULE, " NDB Cluster -- Management Client -- Help", RULE]
        for usage, what, word in _data()["commands"]:
            if _is_known(word, version):
                lines += _columns(usage, what)
        return Answer("\n".join([*lines, "", *_data()["after"]]) + "\n")
    for topic, others, word, page in _data()["pages"]:
        if line.text.upper() in (topic, *others) and _is_known(word, version):
            title = f" NDB Cluster -- Management Client -- Help for {topic} command"
            return Answer("\n".join([RULE, title, RULE, *page]) + "\n")
    return Answer(f"No help for {line.text} available\n", FAILED)


def _columns(usage: str, what: str) -> list[str]:
    """Usage on the left and what it does on the right, below where there is no room."""
    if not what:
        return [usage]
    if len(usage) < _WIDTH:
        return [f"{usage:<{_WIDTH}}{what}"]
    return [usage, " " * _WIDTH + what]
