"""Rules about nodes that come back by themselves."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.checks.parameters import setting
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import rule, warning
from ndbplan.configuration.settings import nodes_alike
from ndbplan.estimate.estimation import Estimation


@rule("comes-back", "A data node that fails stays down")
def comes_back(now: Estimation) -> Iterator[Problem]:
    """Who leaves StopOnError at its default is told by the unit; who states 1 may expect the unit to act."""
    name = "StopOnError"
    for alike in nodes_alike(now.plan):
        if alike.settings.states(name) and alike.settings.number(name):
            yield warning(
                alike.where,
                f"{name} is stated as 1: after an error the node ends with status 0, as after STOP, so "
                "neither its angel process nor Restart=on-failure of its unit starts it again; it stays down "
                "until somebody does",
                f"set {name} to 0: then its angel starts it again, and one that is stopped stays down",
                alike.object_ids,
                setting(alike.scope_of(name), name, 0),
            )
