"""Which function handles which class of events, found by the class alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.simulation import Due, Simulation

E = TypeVar("E")


class Asked(NamedTuple):
    """What an event of a plan is asked of, and which one it is."""

    plan: Plan
    workload: Workload
    number: int
    """Its place among the events of the run: what it holds down only it releases."""


@dataclass(frozen=True)
class Order:
    """What somebody who operates the running cluster asks for; unlike an event it is not a part of a plan."""

    at_s: float = field(default=0.0, kw_only=True)
    """Set when it is given."""


def at_once(order: Order, _asked: Asked) -> Iterator[Due]:
    """What takes effect at the moment at which it is asked for, also where nothing runs."""
    yield Due(order.at_s, order, of_cluster=False)


_PLANNED: dict[type, Callable[[Any, Asked], Iterable[Due]]] = {}
_HANDLERS: dict[type, Callable[[Simulation, Any], None]] = {}


def planned(
    kind: type[E],
) -> Callable[[Callable[[E, Asked], Iterable[Due]]], Callable[[E, Asked], Iterable[Due]]]:
    """The function says what an event of a plan does, and when; SimulationError: it cannot be."""

    def register(function: Callable[[E, Asked], Iterable[Due]]) -> Callable[[E, Asked], Iterable[Due]]:
        _PLANNED[kind] = function
        return function

    return register


def handles(
    kind: type[E],
) -> Callable[[Callable[[Simulation, E], None]], Callable[[Simulation, E], None]]:
    """The function lets what is due happen, and says what is due after it."""

    def register(function: Callable[[Simulation, E], None]) -> Callable[[Simulation, E], None]:
        _HANDLERS[kind] = function
        return function

    return register


def dues_of(event: object, asked: Asked) -> tuple[Due, ...]:
    """What an event of a plan does, and when. Raises SimulationError for one that cannot be."""
    return tuple(_PLANNED[type(event)](event, asked))


def handle(simulation: Simulation, event: object) -> None:
    """Let an event happen."""
    _HANDLERS[type(event)](simulation, event)
