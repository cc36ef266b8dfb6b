"""Laws over plans that are made to be refused: what export writes, import reads back to the same values."""

from __future__ import annotations

import pytest

from hostile_plans import hostile_plan
from ndbplan.checks.problem import Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import find
from ndbplan.configuration.connections import effective_connections
from ndbplan.configuration.sections import effective_configuration, link_configuration
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config


@pytest.mark.parametrize("seed", range(40))
def test_what_is_exported_is_read_back(seed: int) -> None:
    plan = hostile_plan(seed)
    text = render_config_ini(plan)
    assert max(len(line.encode()) for line in text.splitlines()) <= 1023
    problems = find(plan)
    assert not [p.message for p in problems if p.where == "ndbplan"]
    refused = [
        p.message
        for p in problems
        if p.severity is Severity.ERROR and p.rule in RULES and RULES[p.rule].refused
    ]
    again, report = import_config(text, plan.ndb_version)
    found = [finding.text() for finding in report.findings if finding.refused]
    if not refused:
        assert found == []
        assert effective_configuration(again) == effective_configuration(plan)
        assert link_configuration(again) == link_configuration(plan)
        assert effective_connections(again) == effective_connections(plan)
    else:
        assert found != [], refused
