"""Lines of the cluster log, in the form that the product gives them.

    line = line_of("lcp_started", at_s=3.0, node_id=2, version=version, lcp=4, keep=10, oldest=11)
    written(line, begin)     # 2026-01-05 08:00:03 [MgmtSrvr] INFO     -- Node 2: Local checkpoint …

Texts and their severity, category and level: resources/ndb/cluster_log.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, in_span

SEVERITIES = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "ALERT")
"""In the order in which CLUSTERLOG INFO lists them."""


class LogLine(NamedTuple):
    """Something that the cluster log may have noted."""

    at_s: float
    node_id: int | None
    """Who says it; None: the management server."""
    severity: str
    category: str
    level: int
    text: str
    key: str
    """Which line of the data it is."""


class Form(NamedTuple):
    """How a line looks."""

    severity: str
    category: str
    level: int
    text: str


def _data() -> dict[str, Any]:
    data: dict[str, Any] = read_json("ndb/cluster_log.json")
    return data


@cache
def forms(version: NdbVersion) -> dict[str, Form]:
    """The lines that a version writes."""
    return {
        key: Form(*row[:4])
        for key, row in _data()["lines"].items()
        if all(in_span(version, span) for span in row[4:])
    }


@cache
def in_node_logs(version: NdbVersion) -> frozenset[str]:
    """Keys of the lines that a data node writes into its own log as well."""
    told = (_data()[name] for name in ("in_node_logs", "in_older_node_logs"))
    return frozenset(key for one in told if in_span(version, one) for key in one["keys"])


@cache
def default_levels() -> Mapping[str, int]:
    """What is written of each category when nobody changed it: levels up to this."""
    return MappingProxyType(_data()["default_levels"])


def line_of(
    key: str, at_s: float, node_id: int | None, version: NdbVersion, **values: object
) -> LogLine | None:
    """One line; None: this version writes none."""
    form = forms(version).get(key)
    if form is None:
        return None
    text = form.text.format(**values)
    return LogLine(at_s, node_id, form.severity, form.category, form.level, text, key)


def stamp(at_s: float, begin: datetime) -> str:
    """`2026-01-05 08:00:03`."""
    return (begin + timedelta(seconds=int(round(at_s, 6)))).strftime("%Y-%m-%d %H:%M:%S")


def written(line: LogLine, begin: datetime) -> str:
    """As it stands in the file of the cluster log."""
    who = "" if line.node_id is None else f"Node {line.node_id}: "
    return f"{stamp(line.at_s, begin)} [MgmtSrvr] {line.severity:<8} -- {who}{line.text}"
