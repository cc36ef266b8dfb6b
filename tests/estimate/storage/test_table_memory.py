"""Tables that are counted together, and the pages of each as the rules of one fragment say."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_loads import tables
from drawn_plans import plans
from ndbplan.edits import parts as edits
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.storage.index_keys import index_keys
from ndbplan.estimate.storage.pages_of_tables import BLOB, FIXED, HASH_INDEX, VARIABLE
from ndbplan.estimate.storage.row_cost import RowCost, row_cost
from ndbplan.estimate.storage.rows import RowLayout, blob_parts
from ndbplan.estimate.storage.table_memory import Question, rules_with, table_memory
from ndbplan.estimate.stored import distribute, memory, placements
from ndbplan.ndb import rows as rowformat
from ndbplan.ndb.constants import constant
from ndbplan.ndb.features import features
from ndbplan.ndb.hash_index import hash_index_pages
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, Table


@st.composite
def varied_tables(draw: st.DrawFn, number: int) -> Table:
    """Tables with disk columns, with rows and pages that were counted, and reorganised ones too."""
    table = draw(tables(number=number))
    changes: dict[str, object] = {"grown_from": draw(st.sampled_from([(), (2,), (2, 4)]))}
    if draw(st.booleans()):
        on_disk = Column(name="d", type="varchar", length=draw(st.integers(1, 200)), storage="disk")
        changes["columns"] = (*table.columns, on_disk)
    if draw(st.booleans()):
        rows = tuple(draw(st.lists(st.integers(0, 10**5), min_size=4, max_size=4)))
        pages = tuple(PAGE_BYTES * (count // 50) for count in rows)
        changes |= {"partitions": 4, "grown_from": (), "rows": sum(rows), "partition_rows": rows}
        changes |= {"partition_variable_bytes": draw(st.sampled_from([(), pages]))}
    return table.model_copy(update=changes)


@st.composite
def plans_with_tables(draw: st.DrawFn) -> Plan:
    """A drawn plan with up to six varied tables."""
    own = [draw(varied_tables(number)) for number in range(draw(st.integers(1, 6)))]
    return draw(plans()).replace(tables=tuple(own))


def _questions(plan: Plan) -> list[Question]:
    rules, placed = rules_with(plan.version, constants_of(plan)), placements(plan)
    return [(table, distribute(plan, table), rules, *placed[table.id][1:]) for table in plan.tables]


@given(plans_with_tables())
def test_a_table_takes_the_same_whatever_tables_are_counted_with_it(plan: Plan) -> None:
    # Past the cache: its answers would be those of the first time.
    count = table_memory.__wrapped__  # type: ignore[attr-defined]
    questions = _questions(plan)
    for together, question in zip(count(questions), questions, strict=True):
        (alone,) = count([question])
        assert together.memory == alone.memory
        assert (together.low, together.high) == (alone.low, alone.high)
        assert together.by_group.tolist() == alone.by_group.tolist()


@given(plans_with_tables())
def test_pages_are_those_of_each_fragment_rounded_up(plan: Plan) -> None:
    kept_share = constant("hash_index_kept_share").value
    variable_kept = constant("variable_kept_share").value

    def variable_bytes(layout: RowLayout, now: int, most: int) -> float:
        pages_now, pages_most = layout.variable_pages(now), layout.variable_pages(most)
        return float(pages_now + np.round(variable_kept * (pages_most - pages_now))) * PAGE_BYTES

    def hash_bytes(now: int, most: int) -> float:
        pages_now, pages_most = hash_index_pages(np.array([now, most]))
        return float(pages_now + round(kept_share * (pages_most - pages_now))) * 8192

    for question, found in zip(_questions(plan), table_memory(_questions(plan)), strict=True):
        table, where, rules, *unique = question
        expected = [[0.0] * len(where.group_ids) for _ in range(BLOB + 1)]
        variable = where.variable_bytes.tolist()
        blobs = blob_parts(table, rules.version)
        for i, (rows, most, group) in enumerate(
            zip(
                where.rows.tolist(),
                where.most_rows.tolist(),
                where.placement.node_group.tolist(),
                strict=True,
            )
        ):
            expected[FIXED][group] += where.layout.fixed_pages(most) * PAGE_BYTES
            counted = where.counted_variable_bytes
            expected[VARIABLE][group] += variable[i] if counted else variable_bytes(where.layout, rows, most)
            expected[HASH_INDEX][group] += hash_bytes(rows, most)
            for blob in blobs:
                hidden, kept = ceil(rows * blob.parts_per_row), ceil(most * blob.parts_per_row)
                pages = blob.layout.fixed_pages(kept) * PAGE_BYTES
                expected[BLOB][group] += pages + variable_bytes(blob.layout, hidden, kept)
                # IndexMemory has the hash indexes of every table, hidden ones included.
                of_hash = BLOB if features(rules.version).index_memory_joined else HASH_INDEX
                expected[of_hash][group] += hash_bytes(hidden, kept)
        joined = features(rules.version).index_memory_joined
        # Those of unique indexes, which lie elsewhere, come to the hash index where IndexMemory has both.
        counted = (FIXED, VARIABLE, BLOB) if unique and not joined else (FIXED, VARIABLE, HASH_INDEX, BLOB)
        for kind in counted:
            assert found.by_group[kind].tolist() == expected[kind]
        copies = where.placement.fragments // where.placement.partitions
        assert found.memory.fixed_bytes * copies == sum(expected[FIXED])
        assert found.memory.disk_bytes * copies == PAGE_BYTES * sum(
            rowformat.pages(rows, where.layout.rows_per_disk_page) for rows in where.rows.tolist()
        )


@given(plans_with_tables())
def test_every_number_of_a_table_is_within_its_range(plan: Plan) -> None:
    for table in memory(plan).tables:
        shape = table.to_json(why=True)
        for name in (
            "var_bytes",
            "hash_index_bytes",
            "ordered_index_bytes",
            "unique_index_bytes",
            "blob_bytes",
        ):
            assert 0 <= shape[name]["low"] <= shape[name]["value"] <= shape[name]["high"]
        parts = sum(value for value, *_ in table.ranges[VARIABLE:])
        assert table.total_bytes.value == pytest.approx(table.fixed_bytes + parts)


def test_what_crosses_over_of_a_row_is_its_part_in_memory_and_that_on_disk() -> None:
    def cost(length: int) -> RowCost:
        columns = (
            Column(name="k", type="int"),
            Column(name="v", type="binary", length=length, storage="disk", nullable=False),
        )
        table = Table(id="t", database="d", name="t", columns=columns, primary_key=("k",))
        return row_cost(table, NdbVersion.parse("8.4.8"))

    short, long = cost(100), cost(180)
    assert long.row_bytes == short.row_bytes
    assert long.moved_bytes - short.moved_bytes == 80
    assert short.moved_bytes - short.row_bytes >= 100


@pytest.mark.parametrize("kind", ["varchar", "varbinary", "text", "blob", "json"])
@given(mean=st.integers(0, 5_000))
def test_whatever_a_length_turns_out_to_be_lies_in_the_range_of_the_assumed_one(kind: str, mean: int) -> None:
    length = 200 if kind.startswith("var") else None
    unknown = Column(name="v", type=kind, length=length)
    key = Column(name="k", type="int")
    table = Table(id="t", database="d", name="t", columns=(key, unknown), primary_key=("k",))
    plan = sample_plan("starter").replace(workloads=())

    def variable(column: Column) -> tuple[float, float, float]:
        one = table.model_copy(update={"columns": (table.columns[0], column), "rows": 1_000_000})
        value, low, high, _ = memory(plan.replace(tables=(one,))).tables[0].ranges[VARIABLE]
        return value, low, high

    _, low, high = variable(unknown)
    stated = variable(unknown.model_copy(update={"average_bytes": float(min(mean, length or mean))}))[0]
    assert low <= stated <= high


def test_hash_indexes_of_hidden_tables_are_in_index_memory_while_there_is_one() -> None:
    """Of a table with a unique index and blob parts; where memory is joined the sum is the same."""
    plan = sample_plan("redo-overload")
    old, new = (memory(edits.set_plan(plan, ndb_version=version)) for version in ("7.5.4", "7.6.4"))
    apart, joined = old.tables[0], new.tables[0]
    moved = apart.hash_index_bytes.value - joined.hash_index_bytes.value
    assert moved > 3 * joined.hash_index_bytes.value, "a row has several parts"
    assert joined.blob_bytes.value - apart.blob_bytes.value == pytest.approx(moved, rel=0.2)
    assert old.nodes[0].index_memory_bytes.value > moved
    assert new.nodes[0].index_memory_bytes.value == 0


@pytest.mark.parametrize(("shortest", "longest"), [(100, 300), (500, 1500), (2000, 6000), (1000, 13000)])
def test_values_of_many_lengths_lie_in_the_range_of_their_mean(shortest: int, longest: int) -> None:
    """Of rows of 7,000 bytes four fit into a page; of some longer and some shorter ones 4.6 do."""
    mean = (shortest + longest) / 2
    columns = (
        Column(name="k", type="int", nullable=False),
        Column(name="v", type="varbinary", length=longest, average_bytes=mean, nullable=False),
    )
    table = Table(id="t", database="d", name="t", columns=columns, primary_key=("k",), rows=400_000)
    lengths = np.linspace(shortest, longest, 41)
    mix = tuple((rowformat.mean_words(6.0 + length), 1.0 / len(lengths)) for length in lengths)
    pages = table.rows / rowformat.rows_per_page_of_mix(mix)
    (found,) = memory(sample_plan("redo-overload-8.4").replace(tables=(table,))).tables
    variable = found.variable_bytes
    assert variable.low * 0.995 <= pages * PAGE_BYTES <= variable.high * 1.005


@pytest.mark.parametrize(
    ("nulls", "measured"),
    [
        # Entries of a node of INDEX (a, b), 10,000 rows, 8 fragments: MySQL NDB Cluster 9.7.4, seen running.
        ((1.0, 0.0), 18.55),
        ((0.5, 0.0), 17.95),
        # INDEX (a) alone.
        ((0.5,), 21.6),
        ((1.0,), 15.04),
    ],
)
def test_keys_whose_first_column_is_null_lie_by_the_others(nulls: tuple[float, ...], measured: float) -> None:
    """They were planned as one run that grows at its end: 14.0 and 22.2 entries."""
    columns = [
        Column(name=name, type="int", null_fraction=share) for name, share in zip("ab", nulls, strict=False)
    ]
    table = Table(
        id="t", database="d", name="t", primary_key=("id",), rows=10_000,
        columns=(Column(name="id", type="int", nullable=False), *columns),
        indexes=(Index(name="i", columns=tuple(column.name for column in columns)),),
    )  # fmt: skip
    keys, _ = index_keys(table, NdbVersion.parse("9.7.4"))
    said = keys.entries(
        1250, *(constant(f"ordered_index_entries_{how}").value for how in ("in_order", "random"))
    )
    assert said == pytest.approx(measured, rel=0.1)
