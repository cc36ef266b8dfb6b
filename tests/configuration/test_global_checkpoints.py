"""How long a global checkpoint may wait for a data node, by version."""

from __future__ import annotations

import pytest

from ndbplan.configuration.global_checkpoints import save_limit_s
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.samples import sample_plan


def limit_s(version: str, nodes: int = 2, **parameters: int) -> float | None:
    plan = edits.set_plan(sample_plan("redo-overload"), ndb_version=version)
    for name, value in parameters.items():
        plan = set_parameter(plan, "data_node", name, value)
    return save_limit_s(node_settings(plan), nodes)


@pytest.mark.parametrize(
    ("version", "wanted_s"),
    [("6.3", 2 + 120 + 7.5 + 3), ("7.1", 2 + 120 + 7.5 + 3), ("7.2", None), ("7.4.10", None), ("8.4", None)],
)
def test_by_default_there_is_a_limit_before_7_2(version: str, wanted_s: float | None) -> None:
    assert limit_s(version) == wanted_s


def test_all_but_one_node_may_have_to_be_declared_dead_meanwhile() -> None:
    four, two = (limit_s("8.4", nodes, TimeBetweenEpochsTimeout=4000) for nodes in (4, 2))
    assert two == 2 + 120 + 25 + 7.5
    assert four == two + 50


def test_the_larger_timeout_counts_from_7_4_5_on() -> None:
    before, after = (limit_s(v, TimeBetweenEpochsTimeout=200_000) for v in ("7.4.4", "7.4.5"))
    assert before is not None
    assert after == before + 80
    short = limit_s("7.4.5", TimeBetweenEpochsTimeout=4000, TimeBetweenGlobalCheckpointsTimeout=10_000)
    assert short == 2 + 10 + 25 + 7.5
