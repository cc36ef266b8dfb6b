"""Maps of what places hold: their sums are those of `ndbplan distribute`, and chance stays in its band."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.fill_map import Measure, fill_map
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.skew import distribution_json, skew_report
from ndbplan.plan.samples import sample_plan

_KEYS = {"rows": "rows", "primaries": "primary_rows", "bytes": "bytes"}


@pytest.fixture(scope="module")
def telecom() -> tuple[TableDistribution, ...]:
    return Estimation(sample_plan("telecom-144")).distribution


@pytest.mark.parametrize("measure", ["rows", "primaries", "bytes"])
@pytest.mark.parametrize("which", [0, 16])
def test_sums_are_those_that_the_command_line_prints(
    telecom: tuple[TableDistribution, ...], measure: Measure, which: int
) -> None:
    """Of a table spread over 72 node groups, and of a fully replicated one."""
    table = telecom[which]
    told = distribution_json(table)["skew"]
    found = fill_map([table], "nodes", measure)
    nodes = {share["name"]: share[_KEYS[measure]] for share in told["nodes"]}
    assert {f"node {n}": size for n, size in zip(found.columns, found.column_sums, strict=True)} == nodes
    ldms = {
        f"node {node} LDM {ldm}": found.held[lane, column]
        for lane, ldm in enumerate(found.lanes)
        for column, node in enumerate(found.columns)
        if found.used[lane, column]
    }
    assert ldms == {s["name"]: s[_KEYS[measure]] for s in told["ldms"] if s["rows"]}
    groups = fill_map([table], "groups", measure)
    replicas = table.placement.nodes.shape[1]
    stored = "bytes" if measure == "bytes" else "rows"
    assert [size * replicas for size in groups.column_sums] == [s[stored] for s in told["node_groups"]]


def test_all_tables_are_the_sum_of_each(telecom: tuple[TableDistribution, ...]) -> None:
    together = fill_map(telecom)
    assert (together.held == sum(fill_map([table]).held for table in telecom)).all()
    assert together.used.all()


@pytest.mark.parametrize("sample", ["starter", "telecom-144", "terabyte-load-8.4", "add-nodes"])
def test_chance_is_one_figure_for_a_partition_and_for_a_place_that_holds_one(sample: str) -> None:
    """The list says it of partitions, the map of places: two figures for one thing make both doubtful."""
    for table in Estimation(sample_plan(sample)).distribution:
        if not table.is_full_copy:
            low, high = skew_report(table).chance
            assert fill_map([table], "groups").band == pytest.approx((low, high), rel=1e-9)
            assert low < 0 < high, table.table


def test_uniform_keys_stay_in_the_band_as_often_as_it_says() -> None:
    """Rows as a hash spreads uniform keys: 98 of 100 places lie in their band, hardly fewer or more."""
    plan = sample_plan("telecom-144")
    (even, *_) = Estimation(plan).distribution
    random = np.random.default_rng(20)
    inside, places = 0, 0
    for _ in range(40):
        buckets = np.bincount(np.array(even.hash_map)) / len(even.hash_map)
        rows = random.multinomial(2_000_000, buckets)
        found = fill_map([replace(even, rows=rows, measured=True, keys=None)], "groups")
        inside += int((~found.is_outside & found.used).sum())
        places += int(found.used.sum())
    assert inside / places == pytest.approx(0.98, abs=0.004)


def test_a_hot_partition_is_outside_on_each_of_its_nodes_and_nothing_else_is() -> None:
    plan = sample_plan("add-nodes")
    rows = [375_000] * 8
    rows[3] = 500_000
    table = edits.update(plan, plan.tables[0].id, rows=sum(rows), partition_rows=tuple(rows))
    (hot,) = Estimation(table).distribution
    found = fill_map([hot], "nodes", "rows")
    lane = int(hot.placement.ldm[3, 0]) - 1
    assert found.fill[lane].min() > found.band[1]
    # The others have less than their share for it, so only the hot place is above what chance makes.
    assert np.argwhere(found.held > found.high)[:, 0].tolist() == [lane, lane]


def test_what_the_hash_map_does_is_no_matter_of_chance(telecom: tuple[TableDistribution, ...]) -> None:
    found = fill_map(telecom[:1])
    assert np.nanmax(found.fill) > found.band[1]
    assert not found.is_outside.any()


def test_another_order_keeps_every_column_together(telecom: tuple[TableDistribution, ...]) -> None:
    found = fill_map(telecom[:1])
    turned = found.arranged(range(len(found.columns) - 1, -1, -1))
    assert turned.columns == found.columns[::-1]
    assert turned.column_sums.tolist() == found.column_sums.tolist()[::-1]
    assert turned.lane_sums.tolist() == found.lane_sums.tolist()


@pytest.mark.parametrize("measure", ["rows", "primaries"])
def test_what_lies_whole_in_one_place_leaves_nothing_to_chance(
    telecom: tuple[TableDistribution, ...], measure: Measure
) -> None:
    plan = sample_plan("add-nodes")
    (single,) = Estimation(
        edits.update(plan, plan.tables[0].id, partitions=1, partition_rows=())
    ).distribution
    assert single.placement.partitions == 1
    assert telecom[16].is_full_copy
    for table in (single, telecom[16]):
        found = fill_map([table], "nodes", measure)
        assert found.low.tolist() == found.high.tolist() == found.expected.tolist()
        assert found.band == (0.0, 0.0)
    even = fill_map(telecom[:1], "nodes", measure)
    some = even.expected > 0
    assert (even.low < even.expected)[some].all()
    assert (even.high > even.expected)[some].all()
