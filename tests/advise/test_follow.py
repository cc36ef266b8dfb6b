"""What the program decided follows the hardware; what people and files say stays."""

from __future__ import annotations

import random

import pytest

from ndbplan.advise.follow import followed
from ndbplan.advise.sizing import SIZED, hand_over
from ndbplan.base.errors import UserError
from ndbplan.checks.fix import fix_all
from ndbplan.checks.rule import RULES
from ndbplan.configuration.stated import stated
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.origins import SetByImport, SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

_OF_MEMORY = ("memory-of-host", "data-memory-of-host")
HARDWARE = (
    "hosts[*].memory=512 GB", "hosts[*].memory=20 GB", "hosts[*].cores=48", "hosts[*].cores=3",
    "hosts[*].sockets=2", "hosts[*].disks[*].capacity=50 GB", "hosts[*].disks[*].write=30 MB/s",
)  # fmt: skip


def _decided(name: str = "tick-store") -> Plan:
    plan = sample_plan(name)
    for parameter in SIZED:
        plan = hand_over(plan, "data_node", parameter)
    return plan


def _value(plan: Plan, name: str) -> int | str | None:
    return plan.parameters.data_node.get(name)


def test_sizes_follow_memory_processors_and_one_another() -> None:
    plan = _decided()
    small, _ = assign(plan, "hosts[*].memory=20 GB")
    small = followed(plan, assign(small, "hosts[*].cores=3")[0])
    large, _ = assign(plan, "hosts[*].memory=512 GB")
    large = followed(plan, assign(large, "hosts[*].cores=48")[0])
    for name in SIZED:
        a, b = _value(small, name), _value(large, name)
        assert isinstance(a, int)
        assert isinstance(b, int)
        assert a < b


@pytest.mark.parametrize("memory", ["12 GB", "33 GB", "1 TB"])
def test_data_memory_is_the_most_that_the_rules_let_pass(memory: str) -> None:
    plan, _ = assign(sample_plan("tick-store"), f"hosts[*].memory={memory}")
    plan = hand_over(plan, "data_node", "DataMemory")

    def problems(of: Plan) -> list[str]:
        return [p.message for name in _OF_MEMORY for p in RULES[name].problems(Estimation(of))]

    assert not problems(plan)
    value = _value(plan, "DataMemory")
    assert isinstance(value, int)
    assert problems(edits.set_parameter(plan, "data_node", "DataMemory", value + 2**26))


@pytest.mark.parametrize("name", ["tick-store", "measured-7.4.10", "redo-overload", "add-nodes"])
def test_what_is_pinned_or_imported_never_moves(name: str) -> None:
    """A law over changes of hardware: values that the program did not set are what they were."""
    draw = random.Random(name)
    plan = fix_all(sample_plan(name)).plan
    for parameter in SIZED:
        plan = hand_over(plan, "data_node", parameter)
    for one in stated(plan):
        if isinstance(one.origin, SetByProgram) and draw.random() < 0.4:
            origin = draw.choice((None, SetByImport(file="config.ini", line=2)))
            plan = edits.put_origin(plan, one.scope, one.reading.written, origin)
    for _ in range(6):
        other, _changes = assign(plan, draw.choice(HARDWARE))
        after = followed(plan, other)
        moved = {(c.scope, c.name) for c in value_changes(other, after)}
        free = {
            (one.scope, one.reading.written) for one in stated(plan) if isinstance(one.origin, SetByProgram)
        }
        assert moved <= free
        plan = after


def test_the_way_there_and_back_leads_to_the_same_plan() -> None:
    plan = _decided()
    for text in HARDWARE:
        other = followed(plan, assign(plan, text)[0])
        assert followed(other, other.replace(hosts=plan.hosts)) == plan


def test_a_fix_that_is_needed_no_more_is_taken_back() -> None:
    plan = fix_all(sample_plan("tick-store"), {"redo-log-and-memory"}).plan
    decided = plan.origins.data_node["NoOfFragmentLogFiles"]
    assert isinstance(decided, SetByProgram)
    plan = hand_over(plan, "data_node", "DataMemory")
    smaller = followed(plan, assign(plan, "hosts[*].memory=4 GB")[0])
    found = RULES["redo-log-and-memory"].problems(Estimation(smaller))
    assert not [problem for problem in found if problem.edit is not None]
    now = _value(smaller, "NoOfFragmentLogFiles")
    assert now == decided.instead or "NoOfFragmentLogFiles" in smaller.origins.data_node
    assert now != _value(plan, "NoOfFragmentLogFiles")


def test_names_and_places_on_the_canvas_move_nothing() -> None:
    plan = _decided()
    plan = edits.set_parameter(
        plan, "data_node", "DataMemory", 2**30, SetByProgram(rule="size-data-memory", reason="x")
    )
    other = edits.update(plan, plan.hosts[0].id, hostname="another")
    assert followed(plan, other) is other


def test_what_the_program_cannot_decide_is_refused_with_what_it_can() -> None:
    plan = sample_plan("starter")
    with pytest.raises(UserError, match=r"it decides on .*DataMemory"):
        hand_over(plan, "data_node", "RedoBuffer")
    with pytest.raises(UserError, match="AutomaticThreadConfig decides on the threads"):
        hand_over(plan, "data_node", "MaxNoOfExecutionThreads")
    with pytest.raises(UserError, match="holds for no data node"):
        hand_over(Plan(), "data_node", "DataMemory")
