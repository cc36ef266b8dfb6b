"""Laws over plans that are made to be refused: what export writes, import reads back to the same values."""

from __future__ import annotations

import pytest

from hostile_plans import hostile_plan
from ndbplan.checks.problem import Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import find
from ndbplan.configuration.sections import effective_configuration, link_configuration
from ndbplan.configuration.stated import stated
from ndbplan.edits.parameters import put_origin
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.origins import Origin, SetByImport, SetByProgram, file_name
from stated_connections import effective_connections


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


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_who_set_a_value_changes_nothing_but_comments(seed: int) -> None:
    """Files and reasons of any letters stay in their comments, in plans of any values."""
    plain = told = hostile_plan(seed)
    words = ("a#b", "[ndbd]", "x" * 255, "\u6f22 \u00e9", "DataMemory=1", "\\", "{{ 1 }}", " ", "a\x85b")
    for number, one in enumerate(stated(plain)):
        word = words[number % len(words)]
        origin: Origin = SetByImport(file=file_name(word), line=number + 1)
        if number % 2 and word.isprintable():
            origin = SetByProgram(rule="from-host", reason=word)
        told = put_origin(told, one.scope, one.reading.written, origin)

    def lines(text: str) -> list[str]:
        return [line for line in text.splitlines() if line and not line.startswith("#")]

    assert told != plain or not list(stated(plain))
    assert lines(render_config_ini(told)) == lines(render_config_ini(plain))
    assert max(map(len, render_config_ini(told).splitlines())) <= 1023
    assert loads(dumps(told)) == told
