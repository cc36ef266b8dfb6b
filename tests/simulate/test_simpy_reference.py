"""An independent reference: the same small clusters event by event in SimPy agree within 3 %."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest
import simpy

from ndbplan.base.units import MIB
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.model.scenario import Scenario, build
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

RUN, PIECE = 256 * 1024, 256 * 1024
ARRIVAL_S = 0.004
KEEPS = 0.73
USABLE = 0.99


@dataclass(frozen=True)
class Case:
    """A node without replicas: nothing it refuses is written elsewhere."""

    name: str
    disk_bytes_per_s: float
    rate_per_s: float
    rows: int
    lcp_bytes_per_s: int
    buffer_mib: int = 16
    seconds: float = 60.0
    large_files: bool = True


CASES = (
    Case("log alone, too much", 20e6, 30_000, 1000, 2 * MIB),
    Case("log alone, enough", 20e6, 14_000, 1000, 2 * MIB),
    Case("an endless checkpoint takes its share", 20e6, 9000, 60_000_000, 100 * MIB),
    Case("an endless checkpoint below its share", 20e6, 18_000, 60_000_000, 5 * MIB),
    Case("a small buffer", 50e6, 60_000, 1000, 2 * MIB, buffer_mib=2),
)


def plan_of(case: Case) -> Plan:
    """One data node with two log parts in use, single-row updates of 1 kB."""
    disk = Disk(
        id="d", name="d", capacity_bytes=10**12, sequential_read_bytes_per_s=1e9,
        sequential_write_bytes_per_s=case.disk_bytes_per_s, random_read_iops=1e6, random_write_iops=1e6,
    )  # fmt: skip
    columns = (
        Column(name="a", type="int", nullable=False),
        Column(name="b", type="binary", length=1000, nullable=False),
    )
    table = Table(id="t", database="test", name="t", columns=columns, primary_key=("a",), rows=case.rows)
    update = Operation(table_id="t", kind=OperationKind.UPDATE)
    return Plan(
        ndb_version="7.4.10",
        hosts=(Host(id="h", hostname="h", cores=64, memory_bytes=2**40, disks=(disk,)),),
        processes=(DataNode(id="n", node_id=2, host_id="h"),),
        parameters=ClusterParameters(
            data_node={
                "NoOfReplicas": 1,
                "MaxNoOfExecutionThreads": 4,
                "DataMemory": 2**39,
                "IndexMemory": 2**38,
                "RedoBuffer": case.buffer_mib * MIB,
                "FragmentLogFileSize": 1024 * MIB,
                "NoOfFragmentLogFiles": 100,
                "MinDiskWriteSpeed": case.lcp_bytes_per_s,
                "MaxDiskWriteSpeed": case.lcp_bytes_per_s,
                "RedoOverCommitLimit": 10_000,
                "ODirect": 1,
            },
            sql={"DefaultOperationRedoProblemAction": "abort"},
        ),
        tables=(table,),
        workloads=(
            Workload(
                id="w", name="w", transactions=(Transaction(name="update", operations=(update,)),),
                load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=case.rate_per_s),)),
            ),
        ),
    )  # fmt: skip


@dataclass
class Reference:
    """The node in SimPy: parts with buffers, one disk that serves pieces, a checkpoint."""

    case: Case
    part_bytes: list[float]
    """Log of each part for one transaction."""
    limit: float
    lcp_bytes: float
    first_lcp_s: float
    env: simpy.Environment = field(default_factory=simpy.Environment)
    accepted: float = 0.0
    first_error_s: float | None = None
    fill_max: float = 0.0
    written: dict[str, float] = field(default_factory=lambda: {"redo": 0.0, "lcp": 0.0})

    def run(self) -> None:
        """Simulate the case."""
        self.level = [0.0] * len(self.part_bytes)
        self.tokens = 0.0
        self.left = 0.0
        self.env.process(self.clients())
        self.env.process(self.disk())
        self.env.process(self.checkpoints())
        self.env.run(until=self.case.seconds)

    def clients(self) -> Generator[Any, Any, None]:
        arrivals = self.case.rate_per_s * ARRIVAL_S
        whole = sum(self.part_bytes)
        while True:
            yield self.env.timeout(ARRIVAL_S)
            for p, each in enumerate(self.part_bytes):
                share = each / whole
                need = arrivals * each
                taken = min(1.0, max(0.0, self.limit - self.level[p]) / need)
                self.level[p] += need * taken
                self.accepted += arrivals * share * taken
                if taken < 1.0 and self.first_error_s is None:
                    self.first_error_s = self.env.now
            self.fill_max = max(self.fill_max, *self.level)

    def checkpoints(self) -> Generator[Any, Any, None]:
        yield self.env.timeout(self.first_lcp_s)
        while True:
            self.left = self.lcp_bytes
            self.tokens = 0.0
            while self.left > 0:
                yield self.env.timeout(0.05)
                self.tokens = min(self.left, self.tokens + self.case.lcp_bytes_per_s * 0.05, 4 * MIB)
            yield self.env.timeout(2.5)

    def disk(self) -> Generator[Any, Any, None]:
        speed = self.case.disk_bytes_per_s
        balance = 0.0
        turn = 0
        while True:
            waiting = [p for p in range(len(self.level)) if self.level[p] >= RUN]
            wants = self.left > 0 and self.tokens >= PIECE
            if waiting and (not wants or balance >= 0):
                turn += 1
                part = waiting[turn % len(waiting)]
                if wants:
                    balance -= RUN * KEEPS / (USABLE - KEEPS)
                self.level[part] -= RUN
                yield self.env.timeout(RUN / (USABLE * speed))
                self.written["redo"] += RUN
            elif wants:
                balance = min(balance + PIECE, 4 * MIB) if waiting else 0.0
                self.tokens -= PIECE
                self.left -= PIECE
                yield self.env.timeout(PIECE / (USABLE * speed))
                self.written["lcp"] += PIECE
            else:
                balance = 0.0
                yield self.env.timeout(0.001)


def reference_of(scenario: Scenario, case: Case) -> Reference:
    """The reference with the same inputs: log of a transaction, limits, bytes of a checkpoint."""
    parts = [float(b) for b in scenario.laws.load[0] if b > 0]
    # TimeBetweenLocalCheckpoints is 20 by default: 4 MiB of log make the first one due.
    due_s = 4 * MIB / (case.rate_per_s * sum(parts))
    found = Reference(
        case,
        parts,
        float(scenario.laws.nodes[0].buffer_limit_bytes),
        float(scenario.start[0, 0]),
        due_s + float(scenario.laws.run.lcp_first_s),
    )
    found.run()
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_within_3_percent(case: Case) -> None:
    plan = plan_of(case)
    scenario = build(
        Estimation(plan, plan.workloads[0]), duration_s=case.seconds, step_s=0.1, seed=1, uneven=0.0
    )
    reference = reference_of(scenario, case)
    found = simulate(estimation_of(plan), duration_s=case.seconds, uneven=0.0)
    assert found.accepted_per_s.value == pytest.approx(reference.accepted / case.seconds, rel=0.03)
    first = found.first_error
    if reference.first_error_s is None:
        assert first is None
    else:
        assert first is not None
        assert first.code == 1221
        assert first.first_at_s.value == pytest.approx(reference.first_error_s, rel=0.03, abs=0.2)
    fill = found.redo_buffer_fill_max.value * case.buffer_mib * MIB
    # A buffer that is nearly empty holds the run that is being collected.
    assert fill == pytest.approx(reference.fill_max, rel=0.03, abs=1.5 * RUN)
    disk = found.disks[0]
    written = disk.write_bps_mean.value * case.seconds
    assert written == pytest.approx(sum(reference.written.values()), rel=0.03)
