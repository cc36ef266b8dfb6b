"""The error log of a data node: a record for each error that ended it, in the product's form.

Source: ndb_2_error.log of a running 8.4.8 cluster. What only the process knows (the place in its program, its
trace files) is not simulated, and the record says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from ndbplan.ndb.errors import exit_said
from ndbplan.plan.processes import DataNode
from ndbplan.train.state import ClusterState

_HEAD_BYTES, _RECORD_BYTES = 568, 499
"""Of the first line with what is kept free behind it, and of a record [8.4.8: 1,067 after one]."""
_LINE_WIDTH = 66
_UNKNOWN = "not simulated"
ENDED = "Error "
"""How what a node notes of its end begins: it goes to the error log, not to the other one."""


def error_log(state: ClusterState, node: DataNode) -> list[str]:
    """Its lines; none: no error ended this node."""
    ended = [
        (line.at_s, int(line.text.removeprefix(ENDED).partition(":")[0]))
        for line in state.node_logs
        if line.node_id == node.node_id and line.text.startswith(ENDED)
    ]
    if not ended:
        return []
    offset = f"Current byte-offset of file-pointer is: {_HEAD_BYTES + _RECORD_BYTES * len(ended)}"
    lines = [offset.ljust(_LINE_WIDTH)]
    for at_s, code in ended:
        lines += ["", "", *_record(state, at_s, code)]
    return lines


def _record(state: ClusterState, at_s: float, code: int) -> Iterator[str]:
    when = state.begin + timedelta(seconds=at_s)
    yield f"Time: {when:%A} {when.day} {when:%B %Y - %H:%M:%S}"
    said = exit_said(code)
    yield f"Status: {said.status}"
    yield f"Message: {said.text} ({said.classification})"
    yield f"Error: {code}"
    yield f"Error data: {_UNKNOWN}"
    yield f"Error object: {_UNKNOWN}"
    yield "Program: ndbmtd"
    yield f"Pid: {_UNKNOWN}"
    yield f"Version: {state.release.name}"
    yield f"Trace file name: {_UNKNOWN}"
    yield "***EOM***"
