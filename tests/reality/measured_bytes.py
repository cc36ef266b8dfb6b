"""Bytes that tables of running clusters took beside what the program says: pages, indexes, growth.

PYTHONPATH=app:tests .venv/bin/python -m reality.measured_bytes     # the table
"""

from __future__ import annotations

from typing import Any

from ndbplan.base.quantity import Quantity
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.stored import memory
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, Table
from reality.cluster import table_t1
from reality.judged import as_table, judged, share_inside
from reality.measured import Measured
from reality.measured_times import plan_of, table_of

_PAGE = 32768
_HASH_PAGE = 8192


def _sql_table() -> Table:
    """test.t1 of the 8.4.8 cluster with SQL nodes: 100,000 rows."""
    columns = (
        Column(name="id", type="int", nullable=False),
        Column(name="k", type="int", nullable=False),
        Column(name="c", type="varchar", length=60, average_bytes=8, nullable=False),
        Column(name="pad", type="char", length=40, nullable=False, collation="utf8mb4_0900_ai_ci"),
    )
    return Table(
        id="t1", database="test", name="t1", columns=columns, primary_key=("id",),
        indexes=(Index(name="k_1", columns=("k",)),), rows=100_000,
    )  # fmt: skip


def _of_one_group(version: str, table: Table, rows: tuple[int, ...], ldm: int = 1) -> Plan:
    threads = "main,rep,tc,recv,ldm" if ldm == 1 else f"main,rep,tc,recv,ldm={{count={ldm}}}"
    run: dict[str, Any] = {"version": version, "parameters": {}}
    if version != "7.4.10":
        run["parameters"]["ThreadConfig"] = threads
    return plan_of(run, table.model_copy(update={"partition_rows": rows, "rows": sum(rows)}))


def _parts(name: str, plan: Plan, **measured: float) -> list[Measured]:
    """One replica of the only table: `fixed`, `variable`, `hash_index` in bytes."""
    (table,) = memory(plan).tables
    answers = {
        "fixed": Quantity.exact(table.fixed_bytes, "bytes"),
        "variable": table.variable_bytes,
        "hash_index": table.hash_index_bytes,
        "ordered_index": table.ordered_index_bytes,
    }
    era = plan.ndb_version
    return [
        judged(f"{kind.replace('_', ' ')} bytes", era, name, size, answers[kind])
        for kind, size in measured.items()
    ]


def _long_rows() -> Table:
    """test.f1 of the same cluster with 32 MB of DataMemory: as many rows as went in."""
    columns = (
        Column(name="id", type="int", nullable=False),
        Column(name="pad", type="varbinary", length=2000, average_bytes=2000),
    )
    return Table(id="f1", database="test", name="f1", columns=columns, primary_key=("id",), rows=14_500)


def _grown(table: Table, of_two: Plan | None = None) -> Plan:
    """Two nodes on which the rows are, and two more that have just become a node group."""
    plan = of_two or plan_of({"version": "7.4.10"}, table)
    more = tuple(DataNode(id=f"n{i}", node_id=i, host_id="host", node_group=65536) for i in (4, 5))
    return reorganise(plan.replace(processes=(*plan.processes, *more))).plan_after


def measured_bytes() -> list[Measured]:
    """Every measured size beside the program's."""
    rows = _parts(
        "t1 of SQL nodes",
        _of_one_group("8.4.8", _sql_table(), (49_950, 50_050)),
        fixed=9_633_792 + 9_666_560,
        variable=2 * 1_048_576,
        hash_index=704_512 + 712_704,
    )
    rows += _parts(
        "t1 of 500 B",
        _of_one_group("8.4.8", table_of("8.4.8", 100_000, 500), (49_679, 50_321)),
        fixed=1_605_632 + 1_638_400,
        variable=25_853_952 + 26_181_632,
    )
    million = (249_710, 250_135, 250_154, 250_001)
    rows += _parts(
        "t1 of 640 B",
        _of_one_group("7.4.10", table_t1(1_000_000), million),
        fixed=11_042_816 + 3 * 11_075_584,
        variable=167_018_496 + 167_280_640 + 167_313_408 + 167_215_104,
        hash_index=3_809_280 + 3 * 3_817_472,
        ordered_index=2 * 4 * 4_718_592,
    )
    # DataMemory beside the 6 MB that a cluster without tables has.
    system_tables = 756_940_800 - 750_800_000
    nodes = {node.node_id: node.data_memory_bytes for node in memory(_grown(table_t1(1_000_000))).nodes}
    rows.append(
        judged("old node after growth", "7.4.10", "t1 of 640 B", 436_666_368 - system_tables, nodes[2])
    )
    rows.append(judged("new node after growth", "7.4.10", "t1 of 640 B", 372_000_000, nodes[4]))
    return rows + _nodes_with_sql()


_EMPTY, _EMPTY_GROWN = 655_360, 131_072
"""DataMemory of a data node with the tables of an SQL node and no rows, and of one that came later."""


def _nodes_with_sql() -> list[Measured]:
    """DataMemory of nodes of 8.4.8 clusters with SQL nodes, before and after they grew and were optimised."""
    found = []
    full = _of_one_group("8.4.8", _long_rows(), (7_250, 7_250))
    few = _of_one_group("8.4.8", _sql_table(), (49_950, 50_050))
    grown = _grown(_sql_table(), few)
    for quantity, plan, node_id, used in (
        ("node memory", full, 2, 31_424_512 - _EMPTY),
        ("node memory", few, 2, 26_771_456 - _EMPTY),
        ("old node after growth", grown, 2, 25_591_808 - _EMPTY),
        ("new node after growth", grown, 4, 13_172_736 - _EMPTY_GROWN),
    ):
        name = plan.tables[0].name
        said = next(node.data_memory_bytes for node in memory(plan).nodes if node.node_id == node_id)
        found.append(judged(quantity, "8.4.8", f"{name} of SQL nodes", used, said, fitted=False))
    return found


if __name__ == "__main__":
    found = measured_bytes()
    print(as_table(found))
    print(f"{share_inside(found):.0%} of {len(found)} inside")
