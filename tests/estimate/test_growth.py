from __future__ import annotations

import pytest

from ndbplan.base.frozen import FrozenMap
from ndbplan.estimate.growth import after_months, growth
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table

TABLE = Table(
    id="t",
    database="d",
    name="t",
    columns=(
        Column(name="id", type="bigint", nullable=False),
        Column(name="v", type="varbinary", length=200, average_bytes=100),
    ),
    primary_key=("id",),
    rows=1_000_000,
    growth_rows_per_month=100_000,
)


def _plan(table: Table = TABLE, data_memory: int = 512 * 2**20) -> Plan:
    return Plan(
        ndb_version="8.4",
        hosts=(Host(id="h", hostname="h", memory_bytes=2**33),),
        processes=tuple(DataNode(id=f"n{i}", node_id=i, host_id="h") for i in (1, 2)),
        parameters=ClusterParameters(data_node=FrozenMap({"NoOfReplicas": 2, "DataMemory": data_memory})),
        tables=(table,),
    )


def test_rows_after_some_months() -> None:
    assert after_months(_plan(), 3).tables[0].rows == 1_300_000
    assert after_months(_plan(), 0) is not None


def test_memory_grows_until_it_is_full() -> None:
    found = growth(_plan(), months=24, step=6)
    used = [estimate.nodes[0].data_memory_bytes.value for estimate in found.estimates]
    assert found.months == (0, 6, 12, 18, 24)
    assert used == sorted(used)
    left = found.months_until_full
    assert left is not None
    limit = 0.95 * 512 * 2**20
    before = growth(_plan(), months=int(left.value), step=max(1, int(left.value))).estimates[-1]
    assert before.nodes[0].data_memory_bytes.value <= limit
    after = after_months(_plan(), left.value + 1)
    assert growth(after, months=0).estimates[0].nodes[0].data_memory_bytes.value > limit
    assert left.low <= left.value <= left.high


def test_no_growth_never_fills() -> None:
    assert growth(_plan(TABLE.model_copy(update={"growth_rows_per_month": 0}))).months_until_full is None


def test_a_full_node_has_no_time_left() -> None:
    left = growth(_plan(data_memory=64 * 2**20), months=1).months_until_full
    assert left is not None
    assert left.value == pytest.approx(0)
