"""Row types: fields by name, for one row and for all of them, and what the type checker finds in them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ndbplan.base import row_types
from ndbplan.base.row_types import Row
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.errors import ndb_error
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.kernel import ready
from ndbplan.simulate.run import Course
from ndbplan.simulate.session import Session
from ndbplan.simulate.world import indices, world
from ndbplan.simulate.world.indices import ERROR_CODES, Error
from ndbplan.simulate.world.laws import Disk, Node, Place, Run
from ndbplan.simulate.world.state import Cluster, DiskWork, NodeState, Piece

ROW_TYPES = (Run, Node, Place, NodeState, Disk, DiskWork, Piece, Cluster)


@pytest.mark.parametrize("row", ROW_TYPES)
def test_what_is_drafted_is_in_the_row_and_in_the_column(row: type[Row]) -> None:
    drafts = [row(), row()]
    names = list(vars(drafts[0]))
    assert names == list(row.__annotations__)
    for at, name in enumerate(names):
        setattr(drafts[1], name, at % 2)
    found = row_types.stacked(drafts)
    for at, name in enumerate(names):
        assert getattr(found[0], name) == 0
        assert getattr(found[1], name) == at % 2
        column = row_types.column(found, lambda one, name=name: getattr(one, name))
        column[:] = 1
        assert getattr(found[0], name) == 1, "a column is a view"
    one = row_types.record(drafts[1])
    kept = one.copy()
    setattr(one, names[0], 1)
    assert getattr(kept, names[0]) == 0, "a copy is apart"


def test_a_field_called_like_a_method_of_arrays_is_refused() -> None:
    class Wrong(Row):
        fill: float

    with pytest.raises(TypeError, match="fill"):
        row_types.rows(Wrong, 1)


def test_every_error_and_purpose_has_its_place() -> None:
    assert [int(one) for one in indices.Error] == list(range(len(indices.ERROR_CODES)))
    assert [one.name.lower() for one in indices.Purpose] == list(indices.PURPOSES)
    for places in (indices.Part, indices.OfCluster, indices.OfNode):
        assert [int(one) for one in places] == list(range(len(places)))


def test_the_example_has_the_shape_of_every_world() -> None:
    state, history = world.example()
    assert all(np.asarray(one).dtype != object for one in (*state.laws, *state.state, *history))


def test_the_type_checker_finds_a_wrong_field(tmp_path: Path) -> None:
    code = (
        "from ndbplan.base.row_types import Rows, column\nfrom ndbplan.simulate.world.laws import Node\n"
        "def right(nodes: Rows[Node]) -> float:\n    return nodes[0].lag_limit_s\n"
        "def wrong(nodes: Rows[Node]) -> float:\n    return nodes[0].lag_limits_s\n"
        "def wrong_too(nodes: Rows[Node]) -> object:\n    return column(nodes, lambda node: node.lag)\n"
    )
    (tmp_path / "fields.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "fields.py"]
    package = Path(world.__file__).parents[3]
    found = subprocess.run(
        [*command, "--cache-dir", str(tmp_path / "cache")],
        env={"MYPYPATH": str(package), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    wrong = [
        line.partition(":")[2].partition(":")[0] for line in found.stdout.splitlines() if ": error:" in line
    ]
    assert set(wrong) == {"6", "8"}, found.stdout + found.stderr


def test_a_law_is_a_function_and_a_field(
    monkeypatch: pytest.MonkeyPatch, plain_kernel: Callable[..., None]
) -> None:
    """A field of the state is in the world, in each copy, and in what a rewind brings back."""
    monkeypatch.setitem(Cluster.__annotations__, "breaths", "float")
    for kept in (row_types._dtype, row_types._zeros):
        monkeypatch.setattr(row_types, kept.__name__, cache(kept.__wrapped__))
    laws = plain_kernel.__globals__
    count = laws["count"]

    def also_breathe(run: Any, cluster: Any, piece: Any) -> None:
        count(run, cluster, piece)
        cluster.breaths += piece.length_s

    monkeypatch.setitem(laws, "count", also_breathe)
    monkeypatch.setattr(ready, "prepare", lambda: plain_kernel)
    plan = sample_plan("redo-overload")
    session = Session(Course(Estimation(plan, plan.workloads[0]), (), 0.1, 1).story(4.0))
    session.advance(2.0)
    assert session.simulation.state.cluster.breaths == pytest.approx(2.0)
    branch = session.branch()
    session.advance(1.0)
    session.rewind(2.0)
    for one in (session, branch):
        assert one.simulation.state.cluster.breaths == pytest.approx(2.0)


def test_each_error_stands_at_its_place() -> None:
    """What the kernel counts under a name is the product's code for it."""
    told = {error.name: ERROR_CODES[error] for error in Error}
    assert told == {
        "BUFFER": 1221, "FILE": 1220, "LAG": 1234, "LOG": 410, "TIMEOUT": 266, "MEMORY": 827, "UNDO": 1501,
        "SPACE": 1601, "NODE": 4010, "DOWN": 4009, "INDEX": 625, "RECORDS": 233, "OPERATIONS": 234,
        "SEND": 1218, "TOO_LARGE": 261, "SCANS": 245,
    }  # fmt: skip
    assert all(ndb_error(code) is not None for code in ERROR_CODES)
