"""How much of a fragment a partial checkpoint writes: parts in full, of the others what changed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ndbplan.base.row_types import record, rows
from ndbplan.simulate.world.indices import Change
from ndbplan.simulate.world.laws import Node, Run
from ndbplan.simulate.world.state import NodeState


@pytest.fixture
def begin_fragment(kernel_module: Callable[[str], ModuleType]) -> Any:
    """The law, as machine code and as plain Python."""
    return kernel_module("checkpoint")._next_fragment


def _written(begin_fragment: Any, share_changed: float) -> float:
    """Bytes of a fragment of a million bytes of which such a share was updated, each row once at most."""
    node, state, begun = rows(Node, 1), rows(NodeState, 1), np.zeros((len(Change), 1, 2))
    node[0].partial_lcp, node[0].fragments, node[0].lcp_factor = True, 1.0, 1.0
    node[0].recovery_work, node[0].fragment_share, node[0].all_parts_above = 0.6, 0.5, 0.7
    state[0].rows_bytes, state[0].lcp_fragments_left = 1e6, 1.0
    state[0].updated_bytes = -np.log1p(-share_changed) * 1e6
    run = Run()
    run.gcp_s = 2.0
    begin_fragment(record(run), node[0], state[0], begun, 0, 1.0, 0.0)
    written: float = state[0].lcp_left_bytes
    return written


def test_nothing_but_one_part_of_2048_is_written_of_what_did_not_change(begin_fragment: Any) -> None:
    assert _written(begin_fragment, 0.0) == np.floor(1e6 / 2048)


def test_the_more_changed_the_more_parts_are_written_in_full(begin_fragment: Any) -> None:
    assert _written(begin_fragment, 0.3) == pytest.approx(1e6 * (0.3846 + 0.3 * 0.6154), rel=2e-3)


def test_above_the_limit_all_parts_are_written(begin_fragment: Any) -> None:
    assert _written(begin_fragment, 0.69) < 0.9e6
    assert _written(begin_fragment, 0.71) == pytest.approx(1e6, abs=1)
