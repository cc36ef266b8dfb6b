from __future__ import annotations

import io
from typing import Any

import pytest

from ndbplan.base.frozen import FrozenMap
from ndbplan.edits.parts import update
from ndbplan.estimate.storage.real_keys import NoKeyError, distribution_columns
from ndbplan.estimate.storage.skew import skew_report
from ndbplan.estimate.stored import count_keys, distribute
from ndbplan.ndb.keys.hash import distribution_hash
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table


def _plan(*columns: Column, **fields: Any) -> Plan:
    key = tuple(column.name for column in columns)
    table = Table(id="t", database="d", name="t", columns=columns, **({"primary_key": key} | fields))
    return Plan(
        ndb_version="8.4",
        hosts=(Host(id="h", hostname="h", memory_bytes=2**34),),
        processes=tuple(DataNode(id=f"n{i}", node_id=i, host_id="h") for i in (1, 2)),
        parameters=ClusterParameters(data_node=FrozenMap({"NoOfReplicas": 2, "MaxNoOfExecutionThreads": 8})),
        tables=(table,),
    )


INT = Column(name="id", type="int", nullable=False)


def test_keys_are_counted_where_they_hash_to() -> None:
    plan = _plan(INT)
    keys = range(5000)
    found = count_keys(plan, plan.tables[0], io.BytesIO(b"id\n" + b"\n".join(b"%d" % k for k in keys)))
    expected = [0] * 8
    for key in keys:
        expected[
            distribution_hash(distribution_columns(plan.tables[0]), (key,), plan.version) % 3840 % 8
        ] += 1
    assert list(found.partition_rows) == expected
    assert found.distinct == 5000
    assert not found.hot_keys


def test_few_distinct_values_are_named_and_make_skew() -> None:
    plan = _plan(INT)
    keys = [7] * 900 + [8] * 90 + list(range(100, 110))
    content = b"id\n" + b"\n".join(b"%d" % k for k in keys)
    found = count_keys(plan, plan.tables[0], io.BytesIO(content))
    assert found.hot_keys == (("7", 900), ("8", 90))
    assert found.distinct == 12
    assert found.table_fields() == {
        "rows": 1000,
        "partition_rows": found.partition_rows,
        "distribution_key_values": 12,
    }
    plan = update(plan, "t", **found.table_fields())
    counted = distribute(plan, plan.tables[0])
    assert skew_report(counted, measured=counted.measured).cause == "keys"


def test_only_the_distribution_key_decides_in_the_order_of_the_table() -> None:
    other = Column(name="b", type="int", nullable=False)
    plan = _plan(INT, other, primary_key=("b", "id"), distribution_key=("id",))
    assert [c.name for c in distribution_columns(plan.tables[0])] == ["id"]
    whole = _plan(INT, other, primary_key=("b", "id"))
    assert [c.name for c in distribution_columns(whole.tables[0])] == ["id", "b"]


def test_a_hidden_key_is_told() -> None:
    plan = _plan(INT, primary_key=())
    with pytest.raises(NoKeyError):
        count_keys(plan, plan.tables[0], io.BytesIO(b"id\n1\n"))


def test_an_unknown_collation_gives_the_average_and_says_so() -> None:
    column = Column(name="k", type="varchar", length=9, collation="utf8mb4_czech_ci", nullable=False)
    plan = _plan(column)
    found = count_keys(plan, plan.tables[0], io.BytesIO(b"k\n" + b"x\n" * 80))
    assert not found.exact
    assert "not supported exactly" in found.note
    assert found.partition_rows == (10,) * 8


def test_keys_of_a_version_without_hash_maps_are_spread_and_it_says_so() -> None:
    plan = _plan(INT, partitions=6).replace(ndb_version="6.3")
    found = count_keys(plan, plan.tables[0], io.BytesIO(b"id\n1\n2\n3\n"))
    assert not found.exact
    assert "not supported exactly" in found.note
    assert sum(found.partition_rows) == 3


@pytest.mark.parametrize("collation", ["utf8mb4_0900_ai_ci", "utf8mb4_ja_0900_as_cs"])
def test_counting_that_is_cancelled_stops(collation: str) -> None:
    plan = _plan(Column(name="id", type="varchar", length=20, nullable=False, collation=collation))
    keys = io.BytesIO(b"id\n" + b"x\n" * 1000)
    assert count_keys(plan, plan.tables[0], keys, cancelled=lambda: True).rows == 0


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("id\na\n\nb\n", 2),
        ("id\r\na\r\n\r\nb", 2),
        ("id\n" + "x\n" * 700_000 + '"a\nb"\nc\n', 700_002),
        ("id\n\n\n", 0),
        ("id", 0),
    ],
)
def test_rows_without_an_exact_hash_are_counted_as_a_csv_has_them(text: str, rows: int) -> None:
    collation = "utf8mb4_ja_0900_as_cs"
    plan = _plan(Column(name="id", type="varchar", length=20, nullable=False, collation=collation))
    found = count_keys(plan, plan.tables[0], io.BytesIO(text.encode()))
    assert (found.rows, found.exact) == (rows, False)


def test_keys_that_repeat_are_counted_over_many_chunks() -> None:
    """More rows than are hashed at once, some unreadable; the first row of a key stands for it."""
    text = Column(name="note", type="varchar", length=200)
    plan = _plan(INT, text, primary_key=("id",))
    lines = [f"{k % 7 if k % 3 else k % 2}, {k} {'x' * 90 * (k % 2)}" for k in range(90_000)]
    lines[50_000] = "no number,"
    content = "id,note\n" + "\n".join(lines) + "\n"
    counted = count_keys(plan, plan.tables[0], io.BytesIO(content.encode()))
    keys = [line.partition(",")[0] for line in lines if not line.startswith("no")]
    expected = {key: keys.count(key) for key in dict.fromkeys(keys)}
    first = {key: next(line for line in lines if line.startswith(f"{key},"))[:80] for key in expected}
    assert counted.distinct == 7
    assert counted.faulty == 1
    assert dict(counted.hot_keys) == {first[key]: rows for key, rows in expected.items()}
    assert [rows for _, rows in counted.hot_keys] == sorted(expected.values(), reverse=True)
