"""Draws where the fragments of one table after the other go, with the counters that DBDIH keeps.

Source: `Dbdih::execCREATE_FRAGMENTATION_REQ`, as for `fragments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.ndb.placement.fragment_counts import (
    DEFAULT_BALANCE,
    Cluster,
    TableShape,
    fragment_count,
    has_own_count,
)

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


INSTANCE_KEYS = 1024
"""Log part ids of the newer fragmentation; LDM and log part are the remainder by their number."""
SYSTEM_TABLES = 1
"""Tables of the cluster itself that take instance keys before the first table of a user (SYSTAB_0)."""


@dataclass
class _GroupState:
    """Counters of node groups with the same history."""

    next_log_part: int = 0
    """Per-group counter: of all fragments up to 7.4, of *_BY_NODE tables and of counts of their own later."""
    primaries: dict[int, int] = field(default_factory=dict)
    """Next primary of each log part, shared by all tables that are not of the default balance.

    In the newer fragmentation there is one for the group, under 0."""
    next_key: int = 0
    """Instance key after the last one given (newer fragmentation)."""

    def copy(self) -> _GroupState:
        return _GroupState(self.next_log_part, dict(self.primaries), self.next_key)


class Drawn(NamedTuple):
    """What decides where the fragments of a table are; equal for tables with fragments at the same places."""

    fragments: int
    partitions: int
    sequences: tuple[tuple[tuple[int, int], ...], ...]
    """By state of a node group: (log part id, place of the primary) of its 1st, 2nd, ... fragment."""
    grouping: Grouping
    first_group: int = 0
    """Node group of the first fragment."""
    is_pinned: bool = False
    """Up to 7.4 the first fragment is in node group 0, wherever the next ones go on."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which node groups have the same history."""

    state_of: tuple[int, ...]
    """State of each node group."""


class Placer:
    """Draws places for tables one after the other, keeping the counters of every node group."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._groups = len(cluster.groups)
        # Groups that were given the same fragments so far share a state: a few states, not 72.
        self._states = [_GroupState()]
        self._grouping = Grouping((0,) * self._groups)
        self._next_group = 0
        """Where tables with a count of their own go on (c_nextNodeGroup)."""

    def grown_to(self, cluster: Cluster, added: Sequence[int]) -> Placer:
        """The same with more node groups; `added`: fragments that reorganisations put into each group."""
        grown = Placer(cluster)
        added_later = added[self._groups :]
        counts = sorted(set(added_later))
        new = [_GroupState(next_log_part=count, next_key=count) for count in counts]
        old_of, known = self._grouping.state_of, len(self._states)
        grown._states = [*(state.copy() for state in self._states), *new]
        grown._grouping = Grouping((*old_of, *(known + counts.index(count) for count in added_later)))
        grown._next_group = self._next_group
        return grown

    def draw(self, shape: TableShape) -> Drawn:
        """Where the fragments of the next table go, one that was never reorganised."""
        cluster, groups = self.cluster, self._groups
        fragments = fragment_count(cluster, shape)
        partitions = max(1, fragments // groups) if shape.fully_replicated else fragments
        fragments = partitions * groups if shape.fully_replicated else fragments
        first_group = self._first_group(shape, fragments)
        is_pinned = first_group > 0 and not cluster.places_by_table
        each, more = divmod(fragments, groups)
        if partitions < fragments and cluster.classic:
            # The log parts of a copy go on where those of the group before ended.
            wants = [(each, group * partitions % cluster.log_parts) for group in range(groups)]
            sequences = self._advance_each(shape, wants)
        elif more or is_pinned:
            counts = [each + ((group - first_group) % groups < more) for group in range(groups)]
            if is_pinned and fragments:
                counts[first_group] -= 1
                counts[0] += 1
            sequences = self._advance_each(shape, [(count, 0) for count in counts])
        else:
            sequences = tuple([self._advance(state, shape, each, 0) for state in self._states])
        return Drawn(fragments, partitions, sequences, self._grouping, first_group, is_pinned)

    def _advance_each(
        self, shape: TableShape, wants: list[tuple[int, int]]
    ) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Places in groups that get different (fragments, first log part)."""
        self._split_states(wants)
        state_of = self._grouping.state_of
        return tuple(
            [
                self._advance(state, shape, *wants[state_of.index(number)])
                for number, state in enumerate(self._states)
            ]
        )

    def _first_group(self, shape: TableShape, fragments: int) -> int:
        """The node group a table starts with; tables that go on where others ended move it on."""
        is_own = not self.cluster.places_by_table or (self.cluster.classic and _goes_on(self.cluster, shape))
        if not is_own:
            return 0
        first = self._next_group
        self._next_group = (first + fragments) % self._groups
        return first

    def _split_states(self, wants: list[tuple[int, int]]) -> None:
        wanted: dict[tuple[int, tuple[int, int]], int] = {}
        states: list[_GroupState] = []
        state_of: list[int] = []
        taken: set[int] = set()
        for group, old in enumerate(self._grouping.state_of):
            key = (old, wants[group])
            if key not in wanted:
                state = self._states[old]
                wanted[key] = len(states)
                states.append(state.copy() if old in taken else state)
                taken.add(old)
            state_of.append(wanted[key])
        self._states = states
        if tuple(state_of) != self._grouping.state_of:
            self._grouping = Grouping(tuple(state_of))

    def _advance(
        self, state: _GroupState, shape: TableShape, count: int, shift: int
    ) -> tuple[tuple[int, int], ...]:
        """Places of the `count` fragments a group gets; `shift`: log part of the first one."""
        cluster, replicas = self.cluster, self.cluster.replicas
        if not cluster.places_by_table:
            start = state.next_log_part
            state.next_log_part += count
            return tuple(((start + r) // replicas % cluster.log_parts, r % replicas) for r in range(count))
        is_default = shape.balance == DEFAULT_BALANCE and not has_own_count(cluster, shape)
        if not cluster.classic:
            # The instance keys with fewest fragments are always those that follow on the last one given.
            start = state.next_key
            state.next_key = (start + count) % INSTANCE_KEYS
            turn = 0 if is_default else state.primaries.get(0, 0)
            if not is_default:
                state.primaries[0] = (turn + count) % replicas
            return tuple([((start + r) % INSTANCE_KEYS, (turn + r) % replicas) for r in range(count)])
        if _goes_on(cluster, shape):
            shift = state.next_log_part
            state.next_log_part += count
        ids = [(shift + r) % cluster.log_parts for r in range(count)]
        # A default table has counters of its own.
        primaries = {} if is_default else state.primaries
        sequence = []
        for log_part in ids:
            primary = primaries.get(log_part, log_part % replicas)
            primaries[log_part] = (primary + 1) % replicas
            sequence.append((log_part, primary))
        return tuple(sequence)


def _goes_on(cluster: Cluster, shape: TableShape) -> bool:
    """Whether a table of the classic fragmentation goes on where the last such table ended."""
    return has_own_count(cluster, shape) or shape.balance in ("FOR_RP_BY_NODE", "FOR_RA_BY_NODE")
