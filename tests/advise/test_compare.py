"""Plans side by side: equal ones show nothing, swapped ones the opposite, and what is sure is told apart."""

from __future__ import annotations

import math
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.advise.compare import (
    BETTER,
    WITHIN,
    WORSE,
    Comparison,
    Judgement,
    _other_spread,
    compare,
    differences,
    judge,
)
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.preview import Preview
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import Kept, keeping
from ndbplan.base.quantity import Quantity
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.solutions import set_everywhere
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan
from random_plans import random_plan

CLOSED = [figure for figure in FIGURES.values() if not figure.simulated]
RUN = [FIGURES[name] for name in ("accepted", "first-error", "latency")]
OVERLOAD = sample_plan("redo-overload")
STARTER = sample_plan("starter")
OPPOSITE = {BETTER: WORSE, WORSE: BETTER, WITHIN: WITHIN, None: None}


def stated(plan: Plan, *texts: str) -> Plan:
    for text in texts:
        plan = assign(plan, text)[0]
    return plan


def side_by_side(*plans: Plan, figures=CLOSED, worlds: int = 8) -> Comparison:  # type: ignore[no-untyped-def]  # a list of them
    columns = [(str(n), Estimation(plan, chosen_workload(plan, None))) for n, plan in enumerate(plans)]
    return compare(columns, figures, worlds=worlds)


def judged(found: Comparison) -> dict[str, tuple[Judgement | None, ...]]:
    return {row.figure: row.judged[1:] for row in found.rows}


@pytest.mark.parametrize("seed", range(2))
def test_equal_plans_show_no_difference(seed: int) -> None:
    plan = random_plan(seed)
    found = side_by_side(plan, loads(dumps(plan)))
    assert found.differences == ()
    assert {one for row in found.rows for one in row.judged} <= {None, WITHIN}
    assert all(row.winners == () for row in found.rows)


def test_equal_plans_are_not_simulated_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ndbplan.advise.paired.simulated", None)
    found = side_by_side(OVERLOAD, loads(dumps(OVERLOAD)), figures=RUN)
    assert set(judged(found).values()) == {(WITHIN,)}


@pytest.mark.parametrize("name", ["starter", "disk-data", "telecom-144"])
def test_plans_that_share_parts_have_the_numbers_of_each_alone(name: str) -> None:
    plan = sample_plan(name)
    changes = ("RedoBuffer=128M", f"hosts[{plan.hosts[0].hostname}].cores=48", "hosts[*].memory=1TiB")
    plans = [plan, *(stated(plan, text) for text in changes)]
    together = side_by_side(*plans)
    for place, one in enumerate(plans):
        with keeping(Kept()):
            now = Estimation(loads(dumps(one)), chosen_workload(one, None))
            alone = {figure.name: figure.if_known(now) for figure in CLOSED}
            told = [value and value.why for value in alone.values()]
        assert {row.figure: row.values[place] for row in together.rows} == alone
        values = [row.values[place] for row in together.rows]
        assert [value and value.why for value in values] == told


@pytest.mark.parametrize("seed", [0, 3])
def test_swapped_plans_are_judged_the_other_way(seed: int) -> None:
    one, two = random_plan(seed), random_plan(seed + 50)
    there, back = judged(side_by_side(one, two)), judged(side_by_side(two, one))
    assert back == {name: (OPPOSITE[each],) for name, (each,) in there.items()}


numbers = st.tuples(*[st.floats(0, 1e9)] * 3).map(sorted).map(lambda e: Quantity(e[1], e[0], e[2], "s"))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(list(FIGURES.values())), st.none() | numbers, st.none() | numbers)
def test_ranges_judge_alike_from_both_sides(figure, one, two) -> None:
    assert judge(figure, two, one) == OPPOSITE[judge(figure, one, two)]
    assert judge(figure, one, one) in (None, WITHIN)
    if one is not None and two is not None and figure.better and one.high < two.low:
        assert judge(figure, one, two) is (BETTER if figure.better == "higher" else WORSE)


def test_more_bandwidth_is_surely_better_where_the_ranges_overlap() -> None:
    """The ranges of both leave open which accepts more; in the same drawn worlds there is no doubt."""
    other = stated(OVERLOAD, "redo.disk.write=124MB/s")
    figures = [FIGURES["accepted"], FIGURES["latency"]]
    found = side_by_side(OVERLOAD, other, figures=figures)
    one, two = found.rows[0].values
    assert one is not None
    assert two is not None
    assert one.high > two.low
    assert judged(found)["accepted"] == (BETTER,)
    assert judged(side_by_side(OVERLOAD, other, figures=figures, worlds=0))["accepted"] == (WITHIN,)
    assert judged(side_by_side(other, OVERLOAD, figures=figures))["accepted"] == (WORSE,)
    assert found.rows[0].winners == (1,)


def test_of_two_that_beat_the_first_the_one_that_beats_the_other_wins() -> None:
    """Both stood in bold: the winner was asked of the first plan alone."""
    speeds = [stated(OVERLOAD, f"redo.disk.write={speed}MB/s") for speed in (124, 400)]
    memory = [set_everywhere(STARTER, "DataMemory", size * 2**30) for size in (40, 80, 160, 160)]
    accepted = side_by_side(OVERLOAD, *speeds, figures=[FIGURES["accepted"]]).rows[0]
    assert accepted.judged[1:] == (BETTER, BETTER)
    assert accepted.winners == (2,)
    assert side_by_side(*memory, figures=[FIGURES["memory"]]).rows[0].winners == (2, 3)
    assert side_by_side(*memory[::-1], figures=[FIGURES["memory"]]).rows[0].winners == (0, 1)


def test_no_error_is_better_than_any() -> None:
    found = side_by_side(OVERLOAD, stated(OVERLOAD, "redo.disk.write=900MB/s"), figures=RUN)
    assert judged(found)["first-error"] == (BETTER,)
    assert found.rows[1].values[1] is None


def test_the_highest_load_is_found_in_the_same_worlds() -> None:
    load = [FIGURES["max-load"]]
    more = stated(OVERLOAD, "DataMemory=5800M")
    found = side_by_side(OVERLOAD, more, figures=load)
    assert found.rows[0].values[0] is not None
    assert found.rows[0].values[1] is not None
    assert found.rows[0].values[0].high > found.rows[0].values[1].low, "the ranges leave it open"
    assert judged(found)["max-load"] == (BETTER,)
    other = stated(OVERLOAD, "redo.disk.write=150MB/s")
    assert judged(side_by_side(OVERLOAD, other, figures=load))["max-load"] == (WITHIN,)


worlds = st.lists(st.floats(90, 110), min_size=8, max_size=8)


@settings(max_examples=30, deadline=None)
@given(worlds, st.floats(0.1, 10))
def test_the_same_middle_with_another_spread_is_told_from_both_sides(one, times) -> None:
    middle = median(one)
    two = [middle + times * (each - middle) for each in one]
    names = {"wider": "narrower", "narrower": "wider", "": ""}
    assert _other_spread(two, one) == names[_other_spread(one, two)]
    assert _other_spread(one, one) == ""
    assert _other_spread(one, [math.inf] * 8) == ""


def test_a_wider_spread_is_called_so() -> None:
    narrow = [100 + n / 10 for n in range(-4, 5)]
    assert _other_spread(narrow, [100 + n for n in range(-4, 5)]) == "wider"
    assert _other_spread(narrow, [130 + n for n in range(-4, 5)]) == ""


def test_what_costs_money_is_judged_only_where_it_is_stated() -> None:
    priced = stated(
        STARTER, "hosts[*].purchase_price=9000", "hosts[*].disks[*].purchase_price=0", "currency=EUR"
    )
    cost = [FIGURES["cost"]]
    assert judged(side_by_side(STARTER, add_node_group(STARTER), figures=cost))["cost"] == (None,)
    assert judged(side_by_side(STARTER, priced, figures=cost))["cost"] == (None,)
    [row] = side_by_side(priced, stated(priced, "hosts[host-a1].purchase_price="), figures=cost).rows
    assert (row.notes[0], row.judged[1]) == ("", None)
    assert "not stated: " in row.notes[1]
    cheaper = stated(priced, f"hosts[{priced.hosts[0].id}].purchase_price=8000")
    assert judged(side_by_side(priced, cheaper, figures=cost))["cost"] == (BETTER,)
    assert judged(side_by_side(cheaper, priced, figures=cost))["cost"] == (WORSE,)
    assert judged(side_by_side(priced, stated(cheaper, "currency=USD"), figures=cost))["cost"] == (None,)


def test_each_value_that_differs_has_one_line_for_all_plans() -> None:
    cores = edits.update(STARTER, "host-a1", cores=48)
    more = stated(edits.remove(cores, [STARTER.tables[0].id]), "RedoBuffer=48M", "backups_kept=3")
    found = {one.where: one for one in differences([STARTER, cores, more])}
    assert found["cores of host host-a1"].values == (32, 48, 48)
    assert found["cores of host host-a1"].kind == "hardware"
    assert found["RedoBuffer of all data nodes"].kind == "parameters"
    assert found["RedoBuffer of all data nodes"].shown == ("64M", "64M", "48M")
    assert found["backups_kept of the plan"].values == (1, 1, 3)
    table = next(one for one in found.values() if one.kind == "parts")
    assert (table.name, table.values) == ("", ("there", "there", None))
    assert {one.kind for one in found.values()} >= {"parts", "hardware", "parameters", "plan"}


def test_a_plan_without_a_load_has_no_merit_in_having_no_error() -> None:
    """Its runs were drawn, though nothing runs there."""
    idle, figures = OVERLOAD.replace(workloads=()), [FIGURES["first-error"], FIGURES["redo-time"]]
    for plans in ((OVERLOAD, idle), (idle, OVERLOAD)):
        found = side_by_side(*plans, figures=figures)
        assert [row.judged for row in found.rows] == [(None, None)] * 2
        # Such a plan has no first error to tell of, which is not that there is none.
        assert found.rows[0].notes[plans.index(idle)]


def test_a_plan_that_is_not_whole_has_no_numbers_and_says_why() -> None:
    found = side_by_side(STARTER, EMPTY_PLAN)
    row = next(row for row in found.rows if row.figure == "restart")
    assert row.values[1] is None
    assert row.judged == (None, None)
    assert row.notes[1]


def test_no_number_of_a_plan_that_is_not_whole_is_not_the_best_one() -> None:
    """No error at all is the best; that a group lacks a member is not."""
    last = OVERLOAD.data_nodes[-1]
    lame = OVERLOAD.replace(processes=tuple(one for one in OVERLOAD.processes if one is not last))
    figures = [FIGURES["first-error"]]
    for plans in ((OVERLOAD, lame), (lame, OVERLOAD), (lame, stated(lame, "RedoBuffer=64M"))):
        (row,) = side_by_side(*plans, figures=figures).rows
        assert row.judged == (None, None)
        assert any(row.notes)
    (line,) = Preview(Estimation(lame, lame.workloads[0])).of(OVERLOAD, names=("first-error",))
    assert (line.after is not None, line.judged) == (True, None)


def test_one_plan_or_five_are_refused_and_a_comparison_stops_when_told() -> None:
    now = Estimation(STARTER, None)
    for count in (1, 5):
        with pytest.raises(UserError, match="2 to 4"):
            compare([("a", now)] * count)
    with pytest.raises(Cancelled):
        compare([("a", now)] * 2, CLOSED, cancelled=lambda: True)
