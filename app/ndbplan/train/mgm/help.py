"""HELP of the management client, in our own words (resources/ndb/mgm_help.json)."""

from __future__ import annotations

from typing import Any

from ndbplan.base.resources import read_json
from ndbplan.ndb.console import knows_word
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.mgm.words import Line

RULE = "-" * 75
_WIDTH = 39


def _data() -> dict[str, Any]:
    data: dict[str, Any] = read_json("ndb/mgm_help.json")
    return data


def help_text(line: Line, version: NdbVersion) -> str:
    """The list of commands, or what there is about a word."""
    known = [row for row in _data()["commands"] if not row[3] or knows_word(version, row[3])]
    if not line.words:
        lines = [RULE, " NDB Cluster -- Management Client -- Help", RULE]
        for usage, what, _, _ in known:
            lines += _columns(usage, what)
        return "\n".join([*lines, "", *_data()["after"]]) + "\n\n"
    topic = " ".join(line.upper)
    pages: dict[str, list[str]] = _data()["pages"]
    name = next((page for page in pages if topic in (page, page.split()[0])), None)
    rows = [row for row in known if name is not None and row[2] == name]
    if name is None or not rows:
        return f"No help for {line.text} available\n\n"
    lines = [RULE, f" NDB Cluster -- Management Client -- Help for {name} command", RULE]
    for usage, what, _, _ in rows:
        lines += _columns(usage, what)
    return "\n".join([*lines, "", *pages[name]]) + "\n\n"


def _columns(usage: str, what: str) -> list[str]:
    """Usage on the left and what it does on the right, below where there is no room."""
    if not what:
        return [usage]
    if len(usage) < _WIDTH:
        return [f"{usage:<{_WIDTH}}{what}"]
    return [usage, " " * _WIDTH + what]
