"""How much log parts hold before error 1221: each its own buffer, or those of an LDM thread together."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.base.units import MIB
from ndbplan.ndb.constants import constant
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode, DiskRoles
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

BUFFER = 32 * MIB
FULL = BUFFER - constant("redo_buffer_reserve_bytes").value


def _plan(version: str, ldm: int, tables: int, rate_per_s: float = 1200) -> Plan:
    """Two data nodes on disks of 10 MB/s; rows of a kilobyte into so many tables, refused work aborts."""
    disks = [
        Disk(
            id=f"d{i}", name="d", kind="nvme", capacity_bytes=10**12, sequential_read_bytes_per_s=1e9,
            sequential_write_bytes_per_s=1e7, random_read_iops=1e5, random_write_iops=1e5,
            sync_write_latency_s=1e-4,
        )
        for i in (1, 2)
    ]  # fmt: skip
    columns = (
        Column(name="k", type="bigint", nullable=False),
        Column(name="v", type="varbinary", length=1000, average_bytes=1000, nullable=False),
    )
    inserts = [
        Transaction(
            name=f"t{i}", operations=(Operation(table_id=f"t{i}", kind=OperationKind.INSERT, rows=10),)
        )
        for i in range(tables)
    ]
    return Plan(
        ndb_version=version,
        hosts=tuple(
            Host(id=f"h{i}", hostname=f"h{i}", memory_bytes=2**36, cores=16, disks=(disks[i - 1],))
            for i in (1, 2)
        ),
        processes=tuple(
            DataNode(id=f"n{i}", node_id=i, host_id=f"h{i}", disk_roles=DiskRoles(redo=f"d{i}", lcp=f"d{i}"))
            for i in (1, 2)
        ),
        parameters=ClusterParameters.model_validate(
            {
                "data_node": {
                    "NoOfReplicas": 2,
                    "DataMemory": 2**33,
                    "RedoBuffer": BUFFER,
                    "FragmentLogFileSize": 64 * MIB,
                    "ThreadConfig": f"main,rep,tc,recv,ldm={{count={ldm}}}",
                },
                "sql": {"DefaultOperationRedoProblemAction": "ABORT"},
            }
        ),
        tables=tuple(
            Table(id=f"t{i}", database="d", name=f"t{i}", columns=columns, primary_key=("k",))
            for i in range(tables)
        ),
        workloads=(
            Workload(
                id="w",
                name="w",
                transactions=tuple(inserts),
                load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),)),
            ),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "ldm", "tables", "buffers"),
    [
        ("7.4.10", 1, 1, 1),
        ("7.4.10", 1, 2, 1),
        ("7.4.10", 2, 1, 2),
        ("7.4.10", 2, 2, 2),
        ("7.6", 2, 1, 2),
        ("8.0.22", 2, 1, 2),
        ("8.0.23", 2, 1, 4),
        ("8.4.8", 2, 1, 4),
        ("8.4.8", 2, 2, 4),
    ],
)
def test_log_that_waits_is_bounded_by_the_buffers_of_a_node(
    version: str, ldm: int, tables: int, buffers: int
) -> None:
    """Before 8.0.23 tables that are logged in more parts find no more room: an LDM thread has one buffer."""
    plan = _plan(version, ldm, tables)
    result = simulate(estimation_of(plan, "w"), duration_s=60)
    assert any(error.code == 1221 for error in result.errors)
    of_node = [part for part in result.parts if part.node_id == result.nodes[0].node_id]
    held = np.sum([part.last for part in of_node], axis=0)
    assert held.max() <= buffers * FULL
    assert held.max() > 0.9 * buffers * FULL, "so much is used before anything is refused"
