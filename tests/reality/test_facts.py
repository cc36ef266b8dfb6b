"""Every measured fact is met within its tolerance, or listed as not met or not predicted."""

from __future__ import annotations

import pytest

from reality.facts import facts
from reality.page import PAGE, text
from reality.predictions import NOT_MET, RULES, SILENT, prediction, rule_of, silence_of

PREDICTED = [fact.id for fact in facts().values() if rule_of(fact) is not None]


@pytest.mark.parametrize("fact_id", [i for i in PREDICTED if i not in NOT_MET])
def test_fact_is_met(fact_id: str) -> None:
    found = prediction(fact_id)
    assert found is not None
    assert found.is_met, (
        f"{fact_id}: engine {found.value:g}, measured {found.fact.value:g} {found.fact.unit}, "
        f"error {100 * found.error:+.2f} %, allowed {found.tolerance:g}"
    )


@pytest.mark.parametrize("fact_id", NOT_MET)
def test_fact_listed_as_not_met_is_not_met(fact_id: str) -> None:
    found = prediction(fact_id)
    assert found is not None
    assert not found.is_met, f"{fact_id} is met now: take it off the list"


@pytest.mark.parametrize("fact_id", PREDICTED)
def test_what_is_called_predicted_rests_on_no_constant_of_its_own_source(fact_id: str) -> None:
    """The derivation names where each constant was measured or fitted."""
    found = prediction(fact_id)
    assert found is not None
    own = OWN_SOURCE[fact_id.split("-")[0]]
    resting_on = [
        source
        for source in found.sources
        if source.startswith(("fitted", "measured")) and any(name in source for name in own)
    ]
    if found.kind == "predicted":
        assert not resting_on


OWN_SOURCE = {
    "s000": ("rticle redo-overload",),
    "s001": ("rticle node-restart", "rticles node-restart"),
    "s002": ("rticle disk-data",),
    "s003": ("rticle add-nodes", "node-restart and add-nodes"),
    "s004": ("rticle terabyte-load",),
    "c740": ("unning 7.4.10 cluster",),
}
"""How sources of constants name what the facts come from."""


def test_no_fact_is_left_out() -> None:
    for fact in facts().values():
        assert (rule_of(fact) is None) is (silence_of(fact) is not None), fact.id


def test_every_pattern_covers_a_fact() -> None:
    import re

    for pattern in (*SILENT, *(rule.pattern for rule in RULES)):
        assert any(re.fullmatch(pattern, fact_id) for fact_id in facts()), pattern


def test_the_guides_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), (
        "write it anew: PYTHONPATH=tests python -m reality.page"
    )
