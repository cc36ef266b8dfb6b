"""Distribution keys with few values: how many there are, what they make of partitions, LDMs and log parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.clipboard import copy, paste
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.loaded import cpu, redo
from ndbplan.estimate.storage.key_values import key_values, most_values
from ndbplan.estimate.storage.skew import skew_report
from ndbplan.estimate.storage.spread import fullest, typical_shares
from ndbplan.estimate.stored import distribute, memory, redistribute, stored_shares_of
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.consecutive import consecutive_hashes, fits
from ndbplan.ndb.keys.hash import distribution_hash
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.file import dumps, load, loads
from ndbplan.plan.plan import Plan
from ndbplan.plan.references import BrokenReferenceError, first_broken
from ndbplan.plan.tables import Column, Table

_NEW = NdbVersion.parse("8.4")
_SHARES = st.sampled_from([(p, b) for p in (1, 2, 3, 8, 16, 28, 56, 96) for b in (240, 3840)])


def _even(partitions: int, buckets: int = 3840) -> Any:
    return np.bincount(np.arange(buckets) % partitions) / buckets


_INTEGERS = tuple(name for name, kind in COLUMN_TYPES.items() if kind.integer_bytes)


def _stock(**fields: Any) -> Plan:
    """The terabyte of warehouses; `fields` of its table stock."""
    plan = load(resource_path("samples/terabyte-load.ndbplan"))
    bare = {
        "distribution_key_table_id": None,
        "distribution_key_values": None,
        "distribution_key_first": None,
    }
    for table in plan.tables:
        plan = edits.update(plan, table.id, **bare)
    return edits.update(plan, "stock", **fields)


def _deviations(plan: Plan) -> Any:
    rows = distribute(plan, plan.table("stock")).rows
    return rows / rows.mean() * 100 - 100


# Hashes of numbers that follow one another


@given(st.data(), st.sampled_from(_INTEGERS), st.booleans())
def test_numbers_are_hashed_as_single_keys_are(data: st.DataObject, kind: str, unsigned: bool) -> None:
    column = KeyColumn("id", kind, unsigned=unsigned)
    bits = 8 * COLUMN_TYPES[kind].integer_bytes
    low = 0 if unsigned else -(1 << (bits - 1))
    first = data.draw(st.integers(low, low + (1 << bits) - 20))
    wanted = [distribution_hash((column,), (first + i,), _NEW) for i in range(20)]
    assert consecutive_hashes(column, first, 20).tolist() == wanted


def test_numbers_that_the_column_does_not_hold_are_no_keys() -> None:
    column = KeyColumn("id", "tinyint")
    assert fits(column, -128, 256)
    assert not fits(column, -128, 257)
    assert not fits(column, -129, 1)
    assert not fits(KeyColumn("name", "varchar"), 1, 2)
    with pytest.raises(ValueError, match="does not hold"):
        consecutive_hashes(column, 0, 129)


# The band


@given(st.integers(1, 10**9), st.integers(1, 10**6), _SHARES)
def test_more_values_never_fill_the_fullest_place_more(
    values: int, more: int, shape: tuple[int, int]
) -> None:
    few, many = (fullest(count, _even(*shape)) for count in (values, values + more))
    assert many.value <= few.value + 1e-12
    assert many.high <= few.high + 1e-12
    assert few.low <= few.value <= few.high <= 1
    assert few.value >= _even(*shape).max() - 1e-12


@given(st.integers(1, 10**9), _SHARES)
def test_typical_shares_are_shares(values: int, shape: tuple[int, int]) -> None:
    found = typical_shares(values, _even(*shape))
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    assert found.max() == pytest.approx(fullest(values, _even(*shape)).value)


def test_the_fullest_partition_of_real_ids_is_in_the_band() -> None:
    column, outside, cases = KeyColumn("id", "int"), 0, 0
    for partitions in (2, 3, 8, 16, 24, 48, 96):
        owners = np.arange(3840) % partitions
        for values in (2, 10, 30, 100, 300, 1000, 6000, 20000):
            band = fullest(values, _even(partitions))
            for i in range(40):
                hashes = consecutive_hashes(column, 1 + i * values, values)
                most = np.bincount(owners[hashes % 3840]).max() / values
                outside += not band.low - 1e-9 <= most <= band.high + 1e-9
                cases += 1
    assert outside / cases <= 0.02


def test_the_band_is_no_wider_than_chance() -> None:
    # Not so wide that everything fits: a tenth of 1,000 sets of values lies outside the middle of it.
    column, band = KeyColumn("id", "int"), fullest(6000, _even(16))
    owners = np.arange(3840) % 16
    most = [
        np.bincount(owners[consecutive_hashes(column, 1 + i * 6000, 6000) % 3840]).max() / 6000
        for i in range(300)
    ]
    assert np.quantile(most, 0.5) == pytest.approx(band.value, rel=0.01)
    assert np.quantile(most, 0.99) == pytest.approx(band.high, rel=0.03)
    assert np.quantile(most, 0.01) == pytest.approx(band.low, rel=0.03)


# How many values there are


def test_by_default_each_row_has_its_value() -> None:
    plan = _stock()
    found = key_values(plan.tables, plan.table("stock"))
    assert (found.count, found.source) == (600_000_000, "rows")
    assert abs(_deviations(plan)).max() < 1e-3
    report = skew_report(distribute(plan, plan.table("stock")))
    assert report.cause == "even"
    assert report.expected_percent == pytest.approx(100 * (15 / 6e8) ** 0.5)


def test_values_come_from_the_table_the_key_refers_to() -> None:
    plan = _stock(distribution_key_table_id="warehouse")
    found = key_values(plan.tables, plan.table("stock"))
    assert (found.count, found.source) == (6000, "table")
    assert "dbt2.warehouse" in found.why
    grown = edits.update(plan, "warehouse", rows=12_000)
    assert key_values(grown.tables, grown.table("stock")).count == 12_000


def test_a_key_named_like_a_primary_key_is_taken_for_it_and_says_so() -> None:
    plan = _stock()
    table = plan.table("stock")
    names = {"s_w_id": "w_id"}
    columns = tuple(validated.changed(c, name=names.get(c.name, c.name)) for c in table.columns)
    plan = edits.update(
        plan, "stock", columns=columns, primary_key=("w_id", "s_i_id"), distribution_key=("w_id",)
    )
    found = key_values(plan.tables, plan.table("stock"))
    assert (found.count, found.source) == (6000, "assumed table")
    assert "assumed" in found.why
    stated = edits.update(plan, "stock", distribution_key_values=50)
    assert key_values(stated.tables, stated.table("stock")).count == 50


@pytest.mark.parametrize("rows", [(70, 50), (50, 70), (70, 70)])
def test_of_tables_with_the_same_primary_key_the_largest_counts_of_equal_ones_the_first(
    rows: tuple[int, int],
) -> None:
    def table(name: str, count: int, key: tuple[str, ...]) -> Table:
        columns = tuple(Column(name=one, type="int") for one in key)
        return Table(id=name, database="d", name=name, rows=count, columns=columns, primary_key=key)

    asked = table("asked", 1000, ("a", "b")).model_copy(update={"distribution_key": ("a",)})
    first, second = table("first", rows[0], ("a",)), table("second", rows[1], ("a",))
    found = key_values((first, second, asked), asked)
    assert (found.count, found.source) == (70, "assumed table")
    assert f"of d.{'second' if rows[1] > rows[0] else 'first'}," in found.why


@pytest.mark.parametrize(
    ("column", "most"),
    [
        (Column(name="a", type="tinyint"), 256),
        (Column(name="a", type="bit"), 2),
        (Column(name="a", type="bit", length=8), 256),
        (Column(name="a", type="year"), 256),
        (Column(name="a", type="enum", members=("red", "green")), 3),
        (Column(name="a", type="set", length=3), 8),
        (Column(name="a", type="binary", length=2), 65536),
        (Column(name="a", type="decimal", length=2, unsigned=True), 100),
        (Column(name="a", type="decimal", length=2), 199),
        (Column(name="a", type="int"), 2**32),
        (Column(name="a", type="varchar", length=10), None),
    ],
)
def test_types_bound_the_values(column: Column, most: int | None) -> None:
    assert most_values(column) == most


def test_a_small_type_bounds_what_is_stated() -> None:
    plan = _stock()
    table = plan.table("stock")
    columns = tuple(validated.changed(c, type="tinyint") if c.name == "s_w_id" else c for c in table.columns)
    plan = edits.update(plan, "stock", columns=columns)
    found = key_values(plan.tables, plan.table("stock"))
    assert (found.count, found.source) == (256, "type")
    many = edits.update(plan, "stock", distribution_key_values=999)
    assert key_values(many.tables, many.table("stock")).count == 256
    few = edits.update(plan, "stock", rows=100)
    assert key_values(few.tables, few.table("stock")).source == "rows"


@given(values=st.integers(1, 10**12), rows=st.integers(1, 10**9))
def test_never_more_values_than_rows(values: int, rows: int) -> None:
    plan = _stock(distribution_key_values=values, rows=rows)
    assert key_values(plan.tables, plan.table("stock")).count == min(values, rows)


# Rows, LDM threads, log parts, memory


def test_known_warehouses_lie_as_their_hash_says() -> None:
    plan = _stock(distribution_key_values=6000, distribution_key_first=1)
    found = _deviations(plan)
    assert found.max() == pytest.approx(9.6, abs=0.05)
    assert found.min() == pytest.approx(-8.8, abs=0.05)
    report = skew_report(distribute(plan, plan.table("stock")))
    assert report.exact
    assert report.cause == "few values"
    assert report.fullest_percent.low == report.fullest_percent.high == pytest.approx(9.6, abs=0.05)
    assert report.expected_percent == pytest.approx(5.0)


def test_unknown_warehouses_lie_as_a_typical_set_does() -> None:
    plan = _stock(distribution_key_values=6000)
    report = skew_report(distribute(plan, plan.table("stock")))
    band = report.fullest_percent
    assert band.low < 9.6 < band.high
    assert band.low < band.value < band.high
    assert not report.exact
    assert report.cause == "few values"
    assert _deviations(plan).max() == pytest.approx(band.value, abs=0.01)


@settings(max_examples=12)
@given(
    values=st.integers(1, 10**6), first=st.none() | st.integers(-(2**31), 2**31), rows=st.integers(0, 10**8)
)
def test_rows_and_shares_add_up(values: int, first: int | None, rows: int) -> None:
    plan = _stock(distribution_key_values=values, distribution_key_first=first, rows=rows)
    table = plan.table("stock")
    found = distribute(plan, table)
    assert int(found.rows.sum()) == rows
    assert found.rows.min() >= 0
    for share in stored_shares_of(plan, table)[0].values():
        assert sum(part for _, part in share.by_ldm) == pytest.approx(share.replicas)
        assert sum(part for _, part in share.by_log_part) == pytest.approx(share.replicas)
        assert share.fullest_ldm.low <= share.fullest_ldm.value <= share.fullest_ldm.high <= 1 + 1e-9
    assert sum(share.primaries for share in stored_shares_of(plan, table)[0].values()) == pytest.approx(1)


def test_as_many_values_as_rows_are_unique_keys() -> None:
    unique, stated = _stock(rows=5000), _stock(rows=5000, distribution_key_values=5000)
    assert _deviations(unique).tolist() == _deviations(stated).tolist()
    reports = [skew_report(distribute(plan, plan.table("stock"))) for plan in (unique, stated)]
    assert reports[0].fullest_percent == reports[1].fullest_percent
    assert (
        reports[0].expected_percent == reports[1].expected_percent == pytest.approx(100 * (15 / 5000) ** 0.5)
    )


def test_one_partition_and_full_copies_know_no_chance() -> None:
    for fields in ({"partitions": 1}, {"fully_replicated": True}):
        plan = _stock(distribution_key_values=6000, **fields)
        report = skew_report(distribute(plan, plan.table("stock")))
        assert report.cause == "even", fields
        assert report.fullest_percent.high == pytest.approx(0, abs=1e-9), fields


def test_a_table_without_rows_yet_is_as_uneven() -> None:
    plan = _stock(distribution_key_values=6000, rows=0)
    share = stored_shares_of(plan, plan.table("stock"))[0][2]
    assert share.fullest_ldm.value > 0.127
    assert share.fullest_ldm.high > share.fullest_ldm.value


def test_redo_and_processors_follow_the_fullest_log_part_and_ldm() -> None:
    even, uneven, known = (
        _stock(),
        _stock(distribution_key_values=60),
        _stock(distribution_key_values=60, distribution_key_first=1),
    )
    loads = [plan.workloads[0] for plan in (even, uneven, known)]
    full = [redo(plan, load).time_to_full_s for plan, load in zip((even, uneven, known), loads, strict=True)]
    busy = [
        cpu(plan, load).nodes[0].ldm_utilisation
        for plan, load in zip((even, uneven, known), loads, strict=True)
    ]
    assert full[0]
    assert full[1]
    assert full[2]
    assert full[1].value < 0.95 * full[0].value
    assert full[2].value < 0.95 * full[0].value
    assert busy[1].value > 1.05 * busy[0].value
    assert busy[2].value > 1.05 * busy[0].value
    # Chance widens what nobody knows, and nothing else.
    assert full[1].low / full[1].value < full[2].low / full[2].value
    assert busy[1].high / busy[1].value > busy[2].high / busy[2].value


def test_memory_of_the_fuller_node_group_counts() -> None:
    plan = load(resource_path("samples/add-nodes.ndbplan"))
    table = plan.tables[0]
    even, uneven = (
        edits.update(plan, table.id, partition_rows=(), distribution_key_values=values)
        for values in (None, 40)
    )
    grown = [edits.update(reorganise(p, 1).plan_after, table.id, partition_rows=()) for p in (even, uneven)]
    most = [max(node.data_memory_bytes.value for node in memory(p).nodes) for p in grown]
    assert most[1] > 1.02 * most[0]


def test_known_values_move_where_their_hash_says() -> None:
    plan = load(resource_path("samples/add-nodes.ndbplan"))
    table = plan.tables[0]
    column = table.columns[0]
    assert column.name in table.primary_key
    assert column.type in _INTEGERS
    plan = edits.update(
        plan, table.id, partition_rows=(), distribution_key_values=100, distribution_key_first=1
    )
    after = reorganise(plan, 1).plan_after
    moved = redistribute(plan, after, table.id)
    new = distribute(after, after.table(table.id))
    assert moved.after.rows.tolist() == pytest.approx(new.rows.tolist(), abs=5)


# The plan


def test_references_to_tables_are_kept() -> None:
    plan = _stock(distribution_key_table_id="warehouse", distribution_key_first=1)
    assert loads(dumps(plan)) == plan
    renamed = edits.update(plan, "warehouse", id="w2")
    assert renamed.table("stock").distribution_key_table_id == "w2"
    gone = edits.remove(plan, ["warehouse"])
    assert gone.table("stock").distribution_key_table_id is None
    broken = first_broken(plan.replace(tables=tuple(t for t in plan.tables if t.id != "warehouse")))
    assert isinstance(broken, BrokenReferenceError)
    assert "distribution_key_table_id" in (broken.where or "")
    pasted, ids = paste(plan, copy(plan, ["stock", "warehouse"]))
    names = {pasted.by_id[i].name: pasted.by_id[i] for i in ids}
    assert names["stock_2"].distribution_key_table_id == names["warehouse_2"].id


def test_so_many_values_that_it_makes_no_difference_leave_nodes_alike() -> None:
    plan = _stock(distribution_key_values=400_000_000)
    assert len(set(distribute(plan, plan.table("stock")).rows.tolist())) == 1
    assert skew_report(distribute(plan, plan.table("stock"))).fullest_percent.high > 0
