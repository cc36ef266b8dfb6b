"""What becomes of transactions before and beside the log: cut off, without room, without records, waiting."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from ndbplan.simulate.world.indices import Error
from ndbplan.simulate.world.laws import Laws
from ndbplan.simulate.world.state import State
from ndbplan.simulate.world.world import example

Functions = dict[str, Callable[..., Any]]


@pytest.fixture
def clients(kernel_module: Callable[[str], ModuleType]) -> Functions:
    """The functions of clients, as machine code and as plain Python."""
    return vars(kernel_module("clients"))


@pytest.fixture
def laws() -> Laws:
    """Laws of one data node, one log part and one disk, all zero."""
    return example()[0].laws


@pytest.fixture
def state() -> State:
    """100 transactions in a tenth of a second; room to count every error."""
    found = example()[0].state
    found.errors.resize(len(Error), refcheck=False)
    found.first.resize((len(Error), 2), refcheck=False)
    found.piece.attempts = found.piece.arrived = 100.0
    found.piece.length_s, found.piece.now_s = 0.1, 7.0
    return found


def _errors(state: State) -> dict[Error, float]:
    return {error: float(state.errors[error]) for error in Error if state.errors[error]}


def test_who_is_cut_off_is_a_share_of_those_whom_links_let_through(
    clients: Functions, laws: Laws, state: State
) -> None:
    laws.run.cut_off_share, state.piece.refused = 0.5, 20.0
    clients["turn_away"](laws, state)
    assert _errors(state) == {Error.DOWN: 40.0}
    assert state.piece.refused == 60.0
    assert state.first[Error.DOWN].tolist() == [7.0, -1.0]


@pytest.mark.parametrize(
    ("per_row", "is_full", "error", "share"),
    [
        ("memory_bytes", {"memory_bytes": 9.0}, Error.MEMORY, 0.3),
        ("index_bytes", {"index_bytes": 9.0}, Error.INDEX, 0.3),
        ("space_bytes", {"space_bytes": 9.0}, Error.SPACE, 0.6),
        ("undo_bytes", {"undo_used_bytes": 9.0}, Error.UNDO, 0.6),
    ],
)
def test_without_room_those_are_refused_who_want_it(
    clients: Functions, laws: Laws, state: State,
    per_row: str, is_full: dict[str, float], error: Error, share: float,
) -> None:  # fmt: skip
    laws.run.insert_share, laws.run.disk_data_share, state.cluster.is_full = 0.3, 0.6, True
    limits = ("memory_limit_bytes", "index_limit_bytes", "space_limit_bytes", "undo_limit_bytes")
    for limit in limits:
        setattr(laws.nodes[0], limit, 9.0)
    setattr(laws.nodes[0], per_row, 2.0)
    state.piece.refused = 10.0
    clients["turn_away"](laws, state)
    assert _errors(state) == {}, "nothing is full"
    for name, value in is_full.items():
        setattr(state.node_state[0], name, value)
    clients["turn_away"](laws, state)
    assert _errors(state) == {error: pytest.approx(90 * share)}
    assert state.piece.refused == pytest.approx(10 + 90 * share)
    assert state.first[error].tolist() == [7.0, 0.0], "the moment, and the node that is full"
    state.node_state[0].is_dead = True
    clients["turn_away"](laws, state)
    assert _errors(state) == {error: pytest.approx(90 * share)}, "who is dead holds nobody up"


def test_records_are_held_while_a_transaction_is_under_way(
    clients: Functions, laws: Laws, state: State
) -> None:
    """In flight are 3 tenths of a second of arrivals and 5 that wait, in a pool of 200."""
    laws.run.held_s, laws.run.pool, laws.run.pool_error = 0.3, 200.0, Error.RECORDS
    state.cluster.waiting = 5.0
    clients["turn_away"](laws, state)
    assert state.piece.refused == pytest.approx((5 + 300 - 200) / 3)
    assert _errors(state) == {Error.RECORDS: pytest.approx(35.0)}


def test_a_transaction_of_too_many_operations_never_finds_records(
    clients: Functions, laws: Laws, state: State
) -> None:
    laws.run.too_large_share, laws.run.too_large_error = 0.25, Error.TOO_LARGE
    laws.run.held_s, laws.run.pool, laws.run.pool_error = 0.3, 1000.0, Error.OPERATIONS
    clients["turn_away"](laws, state)
    assert _errors(state) == {Error.TOO_LARGE: 25.0}


def test_those_that_are_not_too_large_share_the_records(clients: Functions, laws: Laws, state: State) -> None:
    """A quarter of 1,000 a second is too large; the others would have 225 under way, in a pool of 200."""
    laws.run.too_large_share, laws.run.too_large_error = 0.25, Error.TOO_LARGE
    laws.run.held_s, laws.run.pool, laws.run.pool_error = 0.3, 200.0, Error.OPERATIONS
    clients["turn_away"](laws, state)
    assert _errors(state) == {Error.TOO_LARGE: 25.0, Error.OPERATIONS: pytest.approx(25 / 3)}


def test_nothing_is_refused_where_all_find_records(clients: Functions, laws: Laws, state: State) -> None:
    laws.run.held_s, laws.run.pool = 0.1, 100.0
    clients["turn_away"](laws, state)
    assert state.piece.refused == 0.0


@pytest.mark.parametrize(
    ("capacity", "clients_there", "carried", "held", "refused"),
    [(120.0, 0.0, 110.0, 0.0, 0.0), (60.0, 0.0, 60.0, 30.0, 20.0), (60.0, 25.0, 60.0, 25.0, 0.0)],
)
def test_what_a_link_cannot_carry_waits_in_send_buffers(
    clients: Functions, laws: Laws, state: State,
    capacity: float, clients_there: float, carried: float, held: float, refused: float,
) -> None:  # fmt: skip
    """100 arrive and 10 wait already; the buffers hold 30, or one for each client that waits for answers."""
    run, cluster, piece = laws.run, state.cluster, state.piece
    run.send_buffered, run.service_per_s, run.clients = 30.0, capacity * 10, clients_there
    cluster.sending = 10.0
    clients["get_through"](laws, state)
    assert (piece.arrived, cluster.sending) == (carried + refused, held)
    assert _errors(state) == ({Error.SEND: refused} if refused else {})


def test_what_waits_for_redo_is_served_first_and_refused_when_its_time_is_out(
    clients: Functions, laws: Laws, state: State
) -> None:
    """Three pieces of a step are the time-out: 100 arrive in each, 30 are done in each."""
    state.waiting.resize(3, refcheck=False)
    refused = []
    for slot in range(6):
        piece = state.piece
        piece.slot, piece.arrived, piece.accepted, piece.refused = slot, 100.0, 30.0, 0.0
        piece.attempts = piece.arrived + state.cluster.waiting
        clients["wait"](laws.run, state)
        refused.append(float(piece.refused))
    # The fourth piece still serves the last 10 of the first, and 20 of the second: 80 are left, 50 too many.
    assert refused == [0.0, 0.0, 0.0, 0.0, 50.0, 70.0]
    assert state.cluster.waiting == 6 * 100.0 - 6 * 30.0 - 120.0
    assert _errors(state) == {Error.TIMEOUT: 120.0}


def test_clients_that_all_wait_send_nothing_more(clients: Functions, laws: Laws, state: State) -> None:
    state.waiting.resize(3, refcheck=False)
    laws.run.clients = 60.0
    state.piece.accepted, state.piece.refused = 10.0, 5.0
    clients["wait"](laws.run, state)
    assert (state.piece.arrived, state.piece.attempts, state.cluster.waiting) == (75.0, 75.0, 60.0)
