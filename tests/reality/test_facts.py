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
