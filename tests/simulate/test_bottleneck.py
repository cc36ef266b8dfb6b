"""What is called short, by what was refused and what is in use: each error, both sides of each threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ndbplan.base.quantity import Quantity
from ndbplan.edits import parts as edits
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import ClosedLoad
from ndbplan.simulate.bottleneck import SERVICE_FULL, WAITED_SHARE, Bottleneck, find_bottlenecks
from ndbplan.simulate.model.load_over_time import Service
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import simulate
from ndbplan.simulate.series import ErrorCount

SMALL = "blobs-1k"
CPU = Service("cpu", "node 3, LDM threads", 1000.0, ("ndb3",), 900.0, 1100.0)
NETWORK = Service("network", "data1", 4000.0, ("data1",), 3900.0, 4100.0)


@pytest.fixture(scope="module")
def run(overload: Plan) -> SimulationResult:
    """A second in which nothing is short."""
    return simulate(estimation_of(overload, SMALL), duration_s=1.0)


def error(code: int, count: float = 10.0, node_id: int = 3) -> ErrorCount:
    return ErrorCount(code, count, Quantity.exact(0.5, "s", ()), node_id)


def found(
    run: SimulationResult, errors: Sequence[ErrorCount] = (), fill: float = 0.1, **asked: Any
) -> tuple[Bottleneck, ...]:
    """Bottlenecks of the run with other errors, buffers that are so full, and services."""
    parts = [
        replace(part, high=np.full_like(part.high, fill * part.buffer_bytes), log_used=0.3 * part.log_bytes
                * np.ones_like(part.log_used))
        for part in run.parts
    ]  # fmt: skip
    disks = [replace(disk, utilisation_mean=Quantity.exact(0.2, "fraction", ())) for disk in run.disks]
    given: dict[str, Any] = {"peak_per_s": 100.0, "held_back": 0.0, "waited": 0.0, "services": (), **asked}
    services = given.pop("services")
    return find_bottlenecks(run.given.scenario, errors, parts, disks, services, **given)


@pytest.mark.parametrize(
    ("code", "resource", "where"),
    [
        (410, "redo log", "node 3, log part 0"),
        (1220, "redo files", "node 3"),
        (1221, "disk", "data1 c0d1"),
        (1234, "disk", "data1 c0d1"),
        (266, "disk", "data1 c0d1"),
        (1218, "cpu", "node 3, LDM threads"),
        (827, "memory", "node 3, DataMemory"),
        (625, "memory", "node 3, IndexMemory"),
        (233, "operation records", "node 3, TransactionMemory or MaxNoOfConcurrentOperations"),
        (234, "operation records", "node 3, MaxNoOfConcurrentOperations"),
        (1501, "undo log", "node 3, undo files"),
        (1601, "tablespace", "node 3, data files"),
        (4009, "nodes", "SQL nodes that see no data node"),
    ],
)
def test_what_refused_most_is_short(run: SimulationResult, code: int, resource: str, where: str) -> None:
    other = error(827 if code != 827 else 1501, 10.0, 4)
    first, *others = found(run, [error(code, 30.0), other], services=(CPU,))
    assert (first.resource, first.where, first.used) == (resource, where, 1.75)
    assert others[0].used == 1.25


@pytest.mark.parametrize(
    ("resource", "where", "text"),
    [
        ("cpu", "node 1, LDM threads", "the LDM threads of node 1"),
        ("cpu", "data1", "the CPU of data1"),
        ("disk", "data1 big disk", "disk big disk of data1"),
        ("sql nodes", "SQL node 49, app1, cluster connections",
         "the cluster connections of SQL node 49 on app1"),
        ("api nodes", "API node 4, app", "API node 4 on app"),
        ("network", "uplink of Rack, left", "the uplink of Rack, left"),
        ("network", "data1", "the network of data1"),
        ("redo log", "node 2, log part 0", "redo log part 0 of node 2"),
        ("memory", "node 2, DataMemory", "DataMemory of node 2"),
        ("clients", "Insert, 1 thread", "the clients, which wait for their answers (Insert, 1 thread)"),
        ("nodes", "SQL nodes that see no data node", "SQL nodes that see no data node"),
        ("SQL sessions", "max-connections",
         "max-connections of the SQL nodes, which refuse the other sessions with error 1040"),
    ],
)  # fmt: skip
def test_a_limit_is_said_as_people_say_it(resource: str, where: str, text: str) -> None:
    assert Bottleneck(resource, where, 1.0).text == text


def test_without_errors_what_is_used_most_comes_first(run: SimulationResult) -> None:
    shown = [(one.resource, one.used) for one in found(run, services=(CPU, NETWORK), peak_per_s=500.0)]
    assert shown == [("cpu", 0.5), ("redo log", 0.3), ("disk", 0.2), ("network", 0.125)]


@pytest.mark.parametrize(
    ("fill", "waited", "used"), [(0.91, 0.03, 1.03), (0.9, 0.03, 0.2), (0.91, WAITED_SHARE, 0.2)]
)
def test_a_full_buffer_that_work_waits_for_is_its_disk(
    run: SimulationResult, fill: float, waited: float, used: float
) -> None:
    disks = [one for one in found(run, fill=fill, waited=waited) if one.resource == "disk"]
    assert {one.used for one in disks} == {used}


@pytest.mark.parametrize(
    ("held_back", "peak_per_s", "used"),
    [
        (0.1, 500.0, 1.1),
        (WAITED_SHARE, 500.0, 0.5),
        (0.0, 1000.0 * SERVICE_FULL, SERVICE_FULL),
        (0.0, 2500.0, 2.0),
    ],
)
def test_the_lowest_service_is_short_where_less_was_sent(
    run: SimulationResult, held_back: float, peak_per_s: float, used: float
) -> None:
    services = found(run, services=(CPU, NETWORK), held_back=held_back, peak_per_s=peak_per_s)
    shown = {one.resource: one.used for one in services}
    assert shown["cpu"] == used
    assert shown["network"] == peak_per_s / 4000.0


def test_a_transaction_that_a_node_took_along_does_not_hide_that_clients_wait(overload: Plan) -> None:
    load = ClosedLoad(clients=2, latency_s=0.01)
    plan = edits.update(overload, SMALL, load=load, events=(NodeFailure(at_s=5, object_id="ndb3"),))
    result = simulate(estimation_of(plan, SMALL), duration_s=30)
    assert {one.code for one in result.errors} == {4010}
    assert result.bottleneck.resource == "clients"
