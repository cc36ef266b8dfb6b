from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.resources import resource_path
from ndbplan.edits.parts import update
from ndbplan.estimate.storage.skew import chi_square_tail, distribution_json, skew_report
from ndbplan.estimate.storage.spread import fullest
from ndbplan.estimate.stored import distribute
from ndbplan.plan.file import load
from ndbplan.plan.plan import ClusterParameters, Plan


def _plan(**fields: Any) -> Plan:
    plan = load(resource_path("samples/add-nodes.ndbplan"))
    return update(plan, plan.tables[0].id, **fields) if fields else plan


def test_the_published_counts_are_chance() -> None:
    plan = _plan()
    report = skew_report(distribute(plan, plan.tables[0]), measured=True)
    assert report.cause == "chance"
    # Chi-square 2.27 on 7 degrees of freedom.
    assert report.probability == pytest.approx(0.943, abs=0.01)
    assert report.expected_percent == pytest.approx(0.153, abs=0.001)
    assert [share.rows for share in report.nodes] == [3_000_000, 3_000_000]


def test_keys_that_repeat_are_not_chance() -> None:
    plan = _plan(partition_rows=(800_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 400_000))
    report = skew_report(distribute(plan, plan.tables[0]), measured=True)
    assert report.cause == "keys"
    assert report.partitions[0].fill_percent == pytest.approx(800_000 / 375_000 * 100 - 100)


def test_buckets_that_do_not_divide_are_the_map() -> None:
    plan = _plan(partitions=7, partition_rows=())
    report = skew_report(distribute(plan, plan.tables[0]))
    assert report.cause == "hash map"
    # 240 buckets over 7 partitions: the fullest has 35 of a mean of 34.29.
    assert report.structural_percent == pytest.approx(35 * 7 / 240 * 100 - 100)


def test_sums_and_means() -> None:
    plan = _plan()
    report = skew_report(distribute(plan, plan.tables[0]))
    for shares in (report.partitions, report.ldms, report.log_parts, report.nodes, report.node_groups):
        assert sum(share.rows for share in shares) == 6_000_000
        assert sum(share.primary_rows for share in shares) == 3_000_000
        assert sum(share.fill_percent for share in shares) == pytest.approx(0, abs=1e-6)


def test_log_parts_without_rows_count_as_empty() -> None:
    plan = _plan()
    parameters = FrozenMap({**plan.parameters.data_node, "MaxNoOfExecutionThreads": 4})
    plan = plan.replace(parameters=ClusterParameters(data_node=parameters))
    report = skew_report(distribute(plan, plan.tables[0]))
    # Four fragments of a table use two of four log parts (measured on 7.4.10).
    assert sorted(round(share.fill_percent) for share in report.log_parts)[:4] == [-100] * 4


def test_the_survivor_of_a_pair_takes_all_primaries() -> None:
    plan = _plan()
    loss = skew_report(distribute(plan, plan.tables[0])).worst_loss
    assert loss is not None
    assert loss.primary_rows == 3_000_000
    assert loss.factor == pytest.approx(2)
    assert {loss.lost_node, loss.loaded_node} == {3, 4}


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"), [(2.27, 7, 0.9435), (14.07, 7, 0.05), (24.32, 7, 0.001)]
)
def test_chi_square(statistic: float, degrees: int, tail: float) -> None:
    assert chi_square_tail(statistic, degrees) == pytest.approx(tail, rel=0.15)


def test_each_partition_tells_how_far_it_is_from_the_mean() -> None:
    plan = _plan(partition_rows=(800_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 400_000))
    found = distribution_json(distribute(plan, plan.tables[0]))["partitions"]
    assert [round(p["fill_percent"]) for p in found] == [113, -20, -20, -20, -20, -20, -20, 7]


@pytest.mark.parametrize("shares", [(0.3, 0.7), (0.126833333333, 0.126833333333, 0.126833333333, 0.6195)])
def test_few_values_over_uneven_places(shares: tuple[float, ...]) -> None:
    """One value fills a place alone; the more there are, the more even it is."""
    found = [fullest(values, np.array(shares)) for values in range(1, 40)]
    assert found[0] == (1.0, 1.0, 1.0)
    assert all(max(shares) <= one.low <= one.value <= one.high <= 1.0 for one in found)
    values = [one.value for one in found]
    assert values == sorted(values, reverse=True)
