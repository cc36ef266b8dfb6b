"""A few of the extreme plans; `make attack` runs many."""

from __future__ import annotations

import json

from attack.plans import asked, attack, questions
from ndbplan.plan import file
from ndbplan.plan.samples import sample_plan


def test_extreme_plans_are_answered() -> None:
    assert list(attack(3, seed=5)) == []


def test_a_row_that_no_page_holds_is_answered() -> None:
    document = json.loads(file.dumps(sample_plan("starter")))
    document["tables"][0]["columns"].append({"name": "huge", "type": "decimal", "length": 65, "scale": 2})
    plan = file.from_document(document).main
    assert asked("estimate", questions()["estimate"], plan) is None
