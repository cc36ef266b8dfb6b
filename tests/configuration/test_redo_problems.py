"""What clients see of a redo log that does not keep up, by what they ask of it."""

from __future__ import annotations

import pytest

from ndbplan.configuration.redo_problems import seen_as
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.samples import sample_plan
from one_rule import of_rule


@pytest.mark.parametrize(
    ("version", "action", "buffer_full"),
    [
        ("7.1", None, 1221),
        ("7.2", None, 266),
        ("7.4.10", None, 266),
        ("8.4.8", None, 266),
        ("8.4.8", "abort", 1221),
    ],
)
def test_the_default_waits_from_7_2_on(version: str, action: str | None, buffer_full: int) -> None:
    plan = sample_plan("redo-overload").replace(ndb_version=version)
    plan = set_parameter(plan, "sql", "DefaultOperationRedoProblemAction", action)
    assert seen_as(plan, 1221) == buffer_full
    assert seen_as(plan, 410) == 410
    (found,) = of_rule(plan, "disk-demand")[:1]
    assert f"errors {buffer_full} or 410 follow" in found.message
