"""Events as people type them: `add PLAN event` and `simulate --event` take the same words."""

from __future__ import annotations

import pytest

from ndbplan.cli.events import event_of
from ndbplan.cli.parameters import UsageError
from ndbplan.edits.additions import add
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

TYPED = [
    ("network_cut", ["at=60s", "object=host-a1", "from=host-b1"]),
    ("network_cut", ["at=60s", "object_ids=host-a1,app-a1", "other_ids=host-b1"]),
    ("network_cut", ["at=60s", "rack=Rack A", "back_after=30s"]),
    ("network_cut", ["at=60s", "host=host-a1", "node=147"]),
    ("location_failure", ["at=60s", "rack=Rack A"]),
    ("location_failure", ["at=60s", "object_id=Rack B", "back_after=2min"]),
    ("host_failure", ["at=60s", "host=host-a1"]),
    ("node_failure", ["at=60s", "node=2"]),
    ("management_node_down", ["at=60s", "object=145"]),
    ("network_slow", ["at=60s", "object=host-a1", "from=host-b1", "factor=0.1", "for=30s"]),
    ("disk_slow", ["at=60s", "disk=host-a1/nvme0", "factor=0.5", "for=30s"]),
    ("disk_full", ["at=60s", "disk=host-a1/nvme0", "for=30s"]),
    ("burst", ["at=60s", "factor=3", "for=1min"]),
]


@pytest.fixture
def starter() -> Plan:
    return sample_plan("starter")


@pytest.mark.parametrize(("kind", "words"), TYPED, ids=lambda value: str(value))
def test_one_spelling_for_both_commands(starter: Plan, kind: str, words: list[str]) -> None:
    typed = event_of(starter, " ".join([kind, *words]))
    quoted = event_of(
        starter, " ".join([kind, *(f"{w.replace('=', '=' + chr(34), 1)}{chr(34)}" for w in words)])
    )
    plan = add(starter, "event", [kind, "workload=day", *words]).plan
    (added,) = [e for e in plan.workload("day").events if e not in starter.workload("day").events]
    assert typed == quoted == added


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("host_failure at=60s object=1", "host"),
        ("node_failure at=60s object=145", "data node"),
        ("host_failure at=60s object=host-a1,host-b1", "names 2 objects"),
        ("location_failure at=60s rack=Rack Z", "Rack"),
        ("network_cut at=60s object=host-a1 from=host-a1", "both sides"),
        ("node_failure at=soon object=1", "soon"),
        ("disk_slow at=60s object=host-a1 factor=1,500", "1500 or 1.500"),
        (
            '{"kind": "node_failure", "at_s": 60, "at_s": 90, "object_id": "ndb1"}',
            "'at_s' of the object with",
        ),
    ],
)
def test_what_is_wrong_is_named(starter: Plan, text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        event_of(starter, text)
    assert said in raised.value.what
