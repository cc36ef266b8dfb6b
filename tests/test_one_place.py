"""Kinds of change that one place is enough for: made here, and looked for where they have to show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import RULES, hint, rule
from ndbplan.checks.run import check, check_all, find
from ndbplan.configuration.difference import diff
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan, Waiver
from ndbplan.plan.samples import sample_plan

NEW = "RowsPerBreath"


@pytest.fixture
def parameter(monkeypatch: pytest.MonkeyPatch) -> str:
    """A data node parameter that is a row of data: a count of 1 to 9, known from 8.0 on."""
    row = dict(catalogue._entries()["DB", "maxnooftables"])
    span = {**row["spans"][0], "from": "8.0", "default": 3, "min": 1, "max": 9, "restart": "node"}
    row |= {"name": NEW, "since": "8.0", "spans": [span], "related": [], "description": "Rows in one breath"}
    monkeypatch.setitem(catalogue._entries(), ("DB", NEW.lower()), row)
    return NEW


def test_a_parameter_is_a_row_of_data(parameter: str) -> None:
    plan = sample_plan("starter").replace(ndb_version="8.4")
    known = set_parameter(plan, "data_node", parameter, 5)
    assert f"\n{parameter} = 5\n" in render_config_ini(known).replace("=", " = ").replace("  ", " ")
    assert parameter not in render_config_ini(plan)
    (change,) = diff(plan, known).parameters
    assert (change.name, change.restart) == (parameter, "node")
    assert {p.rule for p in find(known)} == {p.rule for p in find(plan)}
    high = find(set_parameter(plan, "data_node", parameter, 10))
    assert [p.message for p in high if p.rule == "parameter-value" and parameter in p.message]
    old = find(known.replace(ndb_version="7.6"))
    assert [p.message for p in old if p.rule == "unknown-parameter" and parameter in p.message]


@pytest.fixture
def made_up() -> Iterator[str]:
    """A rule that is one function."""

    @rule("too-many-hosts-for-a-test", "There are hosts")
    def too_many(now: Estimation) -> Iterator[Problem]:
        if now.plan.hosts:
            yield hint("hosts", f"{len(now.plan.hosts)} hosts", "take them away")

    yield "too-many-hosts-for-a-test"
    del RULES["too-many-hosts-for-a-test"]


def test_a_rule_is_a_function(made_up: str) -> None:
    plan: Plan = sample_plan("starter")
    (found,) = (problem for problem in check(plan) if problem.rule == made_up)
    assert (found.message, found.fix) == (f"{len(plan.hosts)} hosts", "take them away")
    waived = plan.replace(waivers=(Waiver(rule=made_up, reason="as meant"),))
    assert [p.waived for p in check_all(waived) if p.rule == made_up] == ["as meant"]
    assert made_up not in {problem.rule for problem in check(waived)}
