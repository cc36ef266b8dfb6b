"""Laws: an exported config.ini read back means the same, and what passes the checks is not refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_plans import VERSIONS, plans
from ndbplan.base.resources import resource_path
from ndbplan.configuration.sections import effective_configuration, link_configuration
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from ndbplan.plan import file
from ndbplan.plan.plan import Plan
from one_rule import refusals

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))


def assert_means_the_same(plan: Plan) -> None:
    text = render_config_ini(plan)
    again, report = import_config(text, plan.ndb_version)
    before, after = effective_configuration(plan), effective_configuration(again)
    assert before == after
    assert link_configuration(plan) == link_configuration(again)
    assert render_config_ini(again).count("\n[") == text.count("\n[")
    if not refusals(plan):
        assert [f.text() for f in report.findings if f.refused] == []


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
@settings(max_examples=6)
def test_effective_configuration_survives(version: str, data: st.DataObject) -> None:
    assert_means_the_same(data.draw(plans(version)))


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_survive(name: str) -> None:
    assert_means_the_same(file.load(resource_path(f"samples/{name}.ndbplan")))


@given(plan=plans())
@settings(max_examples=12)
def test_an_imported_plan_exports_the_same_text_twice(plan: Plan) -> None:
    once, _ = import_config(render_config_ini(plan), plan.ndb_version)
    twice, _ = import_config(render_config_ini(once), plan.ndb_version)
    # Who set a value names a line of the file that was read, and the two are not the same file.
    first, second = (
        [line for line in render_config_ini(of).splitlines() if not line.startswith("# imported: ")]
        for of in (once, twice)
    )
    assert first == second
    assert file.loads(file.dumps(once)) == once
