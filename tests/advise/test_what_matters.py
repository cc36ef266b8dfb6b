"""Single changes are ranked as the commands rank them: no change that is tried alone beats the first row."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import islice, pairwise

import pytest

from ndbplan.advise.candidate import Change
from ndbplan.advise.candidate_settings import is_of_log_or_checkpoints, of_log_and_checkpoints, of_threads
from ndbplan.advise.candidates import single_changes
from ndbplan.advise.extent import extent_of
from ndbplan.advise.figures import FIGURES, Figure
from ndbplan.advise.max_load import max_load, steady_scenario
from ndbplan.advise.remedies import remedies, set_arguments
from ndbplan.advise.searched import key_of
from ndbplan.advise.what_matters import Search, WhatMatters, in_turn, what_matters
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value
from ndbplan.checks.harm import harm
from ndbplan.checks.run import find
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.solutions import set_everywhere
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import memory, threads_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of


def _now(plan: Plan) -> Estimation:
    return estimation_of(plan, plan.workloads[0].id)


@pytest.fixture(scope="module")
def overload() -> Plan:
    """Where the redo log, not memory, ends the load."""
    plan = set_everywhere(sample_plan("redo-overload"), "DataMemory", 2**38)
    for host in plan.hosts:
        plan = edits.update(plan, host.id, memory_bytes=2**40)
    return plan


@pytest.fixture(scope="module")
def found(overload: Plan) -> WhatMatters:
    with keeping():
        return what_matters(_now(overload), FIGURES["max-load"])


@pytest.mark.parametrize(("kept", "tried"), [(0, [1]), (1, [2, 0]), (3, [4, 2])])
def test_one_backup_more_and_one_less_are_tried(kept: int, tried: list[int]) -> None:
    plan = sample_plan("starter").replace(backups_kept=kept)
    found = [change.edit(plan).backups_kept for change in single_changes(plan) if change.what == "backup"]
    assert found == tried


def test_the_set_arguments_give_the_number_after(overload: Plan, found: WhatMatters) -> None:
    assert found.legal_gains > 1
    row = next(row for row in found.changes if row.set)
    plan = overload
    for text in row.set or ():
        plan = assign(plan, text)[0]
    load = max_load(_now(plan), with_next=False)
    assert row.after is not None
    assert load.max_per_s.value == row.after.value
    assert row.why.endswith(load.end_text)
    assert not value_changes(row.edit(overload), plan)


def test_a_limit_that_stays_the_first_is_told_once(overload: Plan, found: WhatMatters) -> None:
    """`DataMemory of node 1 …; then DataMemory of node 1 …` stood there, cut in its middle."""
    first = max_load(_now(overload), with_next=False).end_text
    for row in found.changes:
        is_still = max_load(_now(row.edit(overload)), with_next=False).end_text == first
        assert row.why == f"still {first}" if is_still else row.why.startswith(f"{first}; then ")


@pytest.mark.parametrize("through", ["sql", "api"])
def test_no_remedy_against_what_a_load_comes_through_gains_more_than_the_first_row(through: str) -> None:
    """At the load that is asked no check finds anything: more connections, and nodes, were not tried."""
    plan = sample_plan("add-nodes-8.4")
    if through == "api":
        workload = plan.workloads[0]
        plan = edits.update(plan, workload.id, through="api")
        for slot, host_id in zip(plan.api_slots, ("app1", "app2"), strict=True):
            plan = edits.update(plan, slot.id, host_id=host_id)
    found = what_matters(_now(plan), FIGURES["max-load"], top=3)
    offered = remedies(_now(plan), duration_s=3600)
    assert offered
    assert found.changes[0].after is not None
    assert max(one.after.value for one in offered) <= found.changes[0].after.value
    titles = {change.title for change in single_changes(plan)}
    assert {
        "sql": "Give each SQL node 2 cluster connections",
        "api": "One more API node, on a host like the last one's",
    }[through] in titles


def test_rows_gain_and_come_best_first(overload: Plan, found: WhatMatters) -> None:
    gains = [row.gain for row in found.changes]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0
    assert found.before is not None
    assert found.before.value == max_load(_now(overload), with_next=False).max_per_s.value
    problems = find(overload)
    for row in found.changes[:5]:
        assert row.after is not None
        assert row.gain == pytest.approx(row.after.value - found.before.value)
        assert not harm(problems, find(row.edit(overload)), anywhere=True)


def test_what_reads_the_same_before_and_after_is_no_gain(overload: Plan) -> None:
    """`1 114 tx/s -> 1 114 tx/s` was listed as better."""
    for aim in ("restart", "memory"):
        found = what_matters(_now(overload), FIGURES[aim], top=None)
        assert found.before is not None
        told = format_value(found.before.value, found.before.unit)
        assert found.changes
        for row in found.changes:
            if row.after is not None and format_value(row.after.value, row.after.unit) == told:
                assert row.gain == 0, row.title


def test_no_change_left_out_gains(overload: Plan, found: WhatMatters) -> None:
    """A tenth of those that were not simulated to the end, to the end."""
    listed = {_values(overload, row.edit(overload)) for row in found.changes}
    assert len(listed) == len(found.changes)
    problems, left = find(overload), []
    for change in single_changes(overload):
        after = _done(change, overload)
        if after is not None and _values(overload, after) not in listed:
            left.append(after)
    assert found.before is not None
    for after in islice(left, 3, None, 17):
        if not harm(problems, find(after), anywhere=True):
            assert max_load(_now(after), with_next=False).max_per_s.value <= found.before.value * 1.004


def _values(plan: Plan, after: Plan) -> frozenset[tuple[str, str, str]]:
    """What a change sets, of what, to what."""
    return frozenset((one.scope, one.name, str(one.after)) for one in value_changes(plan, after))


def _done(change: Change, plan: Plan) -> Plan | None:
    try:
        after = change.edit(plan)
    except UserError:
        return None
    return after if value_changes(plan, after) else None


@pytest.mark.parametrize("aim", ["restart", "memory", "disk-space"])
def test_brute_force_finds_nothing_better(aim: str) -> None:
    plan, figure = sample_plan("redo-overload-8.4"), FIGURES[aim]
    with keeping():
        ranked = what_matters(_now(plan), figure, top=1)
        problems, best = find(plan), _number(figure, plan)
        for change in single_changes(plan):
            after = _done(change, plan)
            number = float("inf") if after is None else _number(figure, after)
            if after is not None and number < best and not harm(problems, find(after), anywhere=True):
                best = number
    assert ranked.changes
    assert ranked.changes[0].after is not None
    assert ranked.changes[0].after.value == best


def _number(figure: Figure, plan: Plan) -> float:
    try:
        number = figure.of(_now(plan))
    except UserError:
        return float("inf")
    return float("inf") if number is None else number.value


def test_scenarios_have_one_key_when_the_simulation_reads_the_same() -> None:
    plan = sample_plan("starter")
    key = key_of(steady_scenario(_now(plan)))
    assert key_of(steady_scenario(_now(set_parameter(plan, "data_node", "MaxNoOfTables", 4000)))) == key
    for text in ("redo.disk.write=3GB/s", "RedoBuffer=96M", "hosts[*].network=1e8", "hosts[*].cores=64"):
        assert key_of(steady_scenario(_now(assign(plan, text)[0]))) != key, text


def test_gain_for_the_money_ranks_where_prices_are_stated(overload: Plan) -> None:
    priced = assign(
        assign(overload, "hosts[*].purchase_price=9000")[0], "hosts[*].disks[*].purchase_price=1"
    )[0]
    with keeping():
        ranked = what_matters(_now(priced), FIGURES["restart"])
    assert ranked.by_cost
    classes = [2 if row.cost is None else 1 if row.cost.value > 0 else 0 for row in ranked.changes]
    assert classes == sorted(classes)
    per_money = [row.gain / row.cost.value for row in ranked.changes if row.cost and row.cost.value > 0]
    assert per_money == sorted(per_money, reverse=True)


def test_one_of_each_kind_is_tried_before_a_second_and_the_answer_is_that_of_other_processes(
    overload: Plan, found: WhatMatters
) -> None:
    changes = list(single_changes(overload))
    turns = in_turn(changes)
    assert sorted(place for place, _ in turns) == list(range(len(changes)))
    assert all(changes[place] is change for place, change in turns)
    kinds = {change.what for change in changes}
    assert {change.what for _, change in turns[: len(kinds)]} == kinds
    for kind in kinds:
        places = [place for place, change in turns if change.what == kind]
        assert places == sorted(places)
    # What is likely to gain comes first, but not all of it: there are hundreds of parameters.
    ahead = [change.what for _, change in in_turn(changes, first=("cores", "parameter"))]
    early = next(at for at, kind in enumerate(ahead) if kind not in ("cores", "parameter"))
    assert 1 < len(set(ahead[:early])) <= early
    assert ahead[:early].count("parameter") < ahead[early:].count("parameter")
    with keeping():
        elsewhere = what_matters(_now(overload), FIGURES["max-load"], workers=2)
    assert elsewhere.to_json() == found.to_json()


def test_a_search_is_cancelled_at_once() -> None:
    with pytest.raises(Cancelled):
        what_matters(_now(sample_plan("starter")), FIGURES["restart"], cancelled=lambda: True)


def test_a_field_of_the_plan_itself_is_set_by_its_name(overload: Plan) -> None:
    after = overload.replace(backups_kept=overload.backups_kept + 2)
    arguments = set_arguments(overload, after, value_changes(overload, after))
    assert arguments == (f"backups_kept={after.backups_kept}",)


def test_one_thread_more_or_fewer_leaves_all_others_as_they_are() -> None:
    threads = "main={count=0},ldm={count=2},tc={count=3},recv={count=2},send={count=1},rep={count=1}"
    plan = sample_plan("starter")
    for name, value in (("AutomaticThreadConfig", 0), ("ThreadConfig", threads)):
        plan = set_parameter(plan, "data_node", name, value)
    node = plan.data_nodes[0]
    before = threads_of(plan, node)
    tried = [one for one in of_threads(plan, [node]) if " on data node " not in one.title]
    known = [one for one in tried if one.title.split()[1] not in ("query", "recover")]
    told = {one.title: threads_of(one.edit(plan), node) for one in known}
    assert {"1 ldm thread", "3 ldm threads", "2 tc threads", "1 main thread"} <= told.keys()
    for title, after in told.items():
        count, kind, _ = title.split()
        assert after == replace(before, **{kind: int(count)})


@pytest.mark.parametrize(
    ("threads", "query"),
    [
        ("", {4, 2, 6, 8}),
        ("ldm={count=2},query={count=2},tc={count=2}", {0, 1, 2, 3, 4}),
        ("ldm={count=0},main={count=0},rep={count=0},recv={count=1}", {0}),
    ],
)
def test_no_threads_are_offered_that_a_data_node_refuses(threads: str, query: set[int]) -> None:
    plan = sample_plan("disk-data-8.4")
    node = plan.data_nodes[0]
    if threads:
        plan = set_parameter(plan, "data_node", "AutomaticThreadConfig", 0)
        plan = set_parameter(plan, "data_node", "ThreadConfig", threads)
    found = [threads_of(one.edit(plan), node) for one in of_threads(plan, [node])]
    assert found
    assert all(counts.query % counts.ldm_instances == 0 for counts in found)
    assert {counts.query for counts in found} >= query - {threads_of(plan, node).query} or not threads


def test_steps_of_log_and_checkpoints_are_of_parameters_that_there_are_and_take_no_memory() -> None:
    """Sizing takes such steps by itself: none of them may cost what was not asked about."""
    stepped = set()
    for name in ("redo-overload", "starter", "measured-7.4.10"):
        plan = sample_plan(name)
        for change in of_log_and_checkpoints(plan, ()):
            after = change.edit(plan)
            stepped |= {one.name for one in value_changes(plan, after)}
            assert memory(after).nodes == memory(plan).nodes, change.title
    assert {name for name in stepped if not is_of_log_or_checkpoints(name)} == set()
    assert {"NoOfFragmentLogFiles", "RecoveryWork", "DiskCheckpointSpeed", "CompressedLCP"} <= stepped
    assert "RedoBuffer" not in stepped


def test_of_changes_that_gain_the_same_the_smaller_one_comes_first() -> None:
    """Twice the cores of all hosts stood before the SQL hosts alone, which gain the same."""
    plan = sample_plan("starter")
    sql = plan.sql_nodes[0]

    def cores(*ids: str) -> Plan:
        return reduce(lambda then, one: edits.update(then, one, cores=64), ids, plan)

    hosts = tuple(host.id for host in plan.hosts)
    disk = plan.hosts[0].disks[0]
    ascending = (
        plan,
        assign(plan, "RedoBuffer=96M")[0],
        assign(plan, "RedoBuffer=128M")[0],
        assign(assign(plan, "RedoBuffer=128M")[0], "LongMessageBuffer=128M")[0],
        edits.set_plan(plan, ndb_version="9.x"),
        assign(plan, "NoOfFragmentLogFiles=96")[0],
        cores(sql.host_id),
        edits.update(cores(hosts[0]), disk.id, capacity_bytes=2 * disk.capacity_bytes),
        cores(*hosts[:2]),
        cores(*hosts),
    )
    extents = [extent_of(plan, after, value_changes(plan, after)) for after in ascending]
    assert extents == sorted(extents)
    assert len(set(extents)) == len(extents)


def test_rows_that_gain_the_same_are_ranked_by_what_they_touch(overload: Plan) -> None:
    with keeping():
        found = what_matters(_now(overload), FIGURES["first-error"])
    equal = 0
    for one, two in pairwise(found.changes):
        if one.gain == two.gain:
            equal += 1
            assert (one.hints, one.extent) <= (two.hints, two.extent), (one.title, two.title)
    assert equal


def test_a_highest_load_that_reads_the_same_is_the_same(overload: Plan, found: WhatMatters) -> None:
    """Where the search for a rate ended within its precision decided which change came first."""
    small, after = found.changes[0], found.changes[0].after
    assert after is not None
    little = after.value * 1e-6
    large = replace(
        small,
        gain=small.gain + little,
        after=Quantity.exact(after.value + little, after.unit),
        extent=small.extent._replace(hosts=6),
    )
    more = replace(large, gain=1.2 * large.gain, after=Quantity.exact(1.2 * after.value, after.unit))
    with keeping():
        search = Search(_now(overload), FIGURES["max-load"])
        assert search.ranked([large, small, more], None).changes == (more, small, large)


def test_what_comes_of_stating_the_threads_is_tried_by_itself() -> None:
    """Nine rows with a thread more or fewer gained what leaving AutomaticThreadConfig gains."""
    plan = sample_plan("starter")
    (alike, _alone) = (
        change for change in single_changes(plan) if change.title.startswith("The same threads")
    )
    after, node = alike.edit(plan), plan.data_nodes[0]
    assert threads_of(after, node) == threads_of(plan, node)
    found = what_matters(_now(plan), FIGURES["restart"], top=None)
    of_threads = [row for row in found.changes if row.what == "threads" and row.gain > 0]
    first, *others = (row for row in of_threads if row.gain == of_threads[0].gain)
    assert first.title == alike.title
    assert others
    assert {row.includes for row in others} == {alike.title}
    best = what_matters(_now(plan), FIGURES["restart"])
    assert [row.title for row in best.changes if row.gain == of_threads[0].gain] == [alike.title]
    # One LDM thread for 32 cores makes a backup faster; nobody means that by one step.
    titles = {change.title for change in single_changes(plan)}
    assert not titles & {"AutomaticThreadConfig 0", "NumCPUs 1"}
    assert "NumCPUs 16" in titles


def test_of_changes_that_gain_the_same_one_with_a_hint_comes_later() -> None:
    """`Arbitration WaitExternal`, which hints at two living clusters, was the first way to survive."""
    plan = sample_plan("starter")
    for node in plan.management_nodes:
        plan = edits.update(plan, node.id, host_id=plan.data_nodes[0].host_id)
    found = what_matters(_now(plan), FIGURES["survive"])
    titles = [row.title for row in found.changes]
    waits = titles.index("Arbitration WaitExternal")
    assert found.changes[waits].hints
    assert waits
    assert found.changes[0].gain == found.changes[waits].gain
    assert not found.changes[0].hints
