"""What the program decided follows the hardware; what people and files say stays."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from hostile_plans import hostile_plan
from ndbplan.advise.follow import _mended, followed
from ndbplan.base.errors import UserError
from ndbplan.checks.fix import fix_all
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import load_rules
from ndbplan.configuration.stated import Fate, stated
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.edits.from_host import CHOSEN, handed_over
from ndbplan.edits.parameters import put_origin, set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.fields import Point
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.origins import SetByImport, SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

SIZED = ("MaxNoOfExecutionThreads", "DataMemory", "NoOfFragmentLogFiles")
_OF_MEMORY = ("memory-of-host", "data-memory-of-host")
HARDWARE = (
    "hosts[*].memory=512 GB", "hosts[*].memory=20 GB", "hosts[*].cores=48", "hosts[*].cores=3",
    "hosts[*].sockets=2", "hosts[*].disks[*].capacity=50 GB", "hosts[*].disks[*].write=30 MB/s",
)  # fmt: skip


def _decided(name: str = "tick-store") -> Plan:
    plan = sample_plan(name)
    for parameter in SIZED:
        plan = handed_over(plan, parameter)
    return plan


def _value(plan: Plan, name: str) -> int | str | None:
    return plan.parameters.data_node.get(name)


def test_another_version_does_by_its_own_means_what_the_program_decided() -> None:
    plan = edits.set_plan(sample_plan("starter"), ndb_version="8.4")
    for name in ("AutomaticThreadConfig", "TransactionMemory"):
        plan = set_parameter(plan, "data_node", name, None)
    for name in ("AutomaticThreadConfig", "NoOfFragmentLogParts", "DataMemory"):
        plan = handed_over(plan, name)
    older = followed(plan, edits.set_plan(plan, ndb_version="7.4"))
    assert _value(older, "AutomaticThreadConfig") is None
    assert isinstance(_value(older, "MaxNoOfExecutionThreads"), int)
    assert isinstance(older.origins.data_node.get("MaxNoOfExecutionThreads"), SetByProgram)
    data, index, whole = _value(older, "DataMemory"), _value(older, "IndexMemory"), _value(plan, "DataMemory")
    assert isinstance(data, int)
    assert isinstance(index, int)
    assert data + index == pytest.approx(whole, rel=0.02), "hash indexes lie beside DataMemory"
    assert not [one for one in stated(older) if one.origin and one.reading.fate is Fate.UNKNOWN]
    again = followed(older, edits.set_plan(older, ndb_version="8.4"))
    assert {n: _value(again, n) for n in CHOSEN} == {n: _value(plan, n) for n in CHOSEN}
    # What a person stated is a person's matter: it stays, and the check says that it is left out.
    by_hand = put_origin(plan, "data_node", "AutomaticThreadConfig", None)
    kept = followed(by_hand, edits.set_plan(by_hand, ndb_version="7.4"))
    assert _value(kept, "AutomaticThreadConfig") == 1


@pytest.mark.parametrize("rule", ["remedies", "redo-log-and-memory"])
def test_a_speed_of_checkpoints_that_the_program_set_goes_along_between_versions(rule: str) -> None:
    origin = SetByProgram(rule=rule, reason="checkpoints write faster")
    plan = set_parameter(sample_plan("starter"), "data_node", "MaxDiskWriteSpeed", None)
    plan = edits.set_plan(plan, ndb_version="7.3")
    plan = set_parameter(plan, "data_node", "DiskCheckpointSpeed", 40 * 2**20, origin)
    newer = followed(plan, edits.set_plan(plan, ndb_version="7.6"))
    assert _value(newer, "DiskCheckpointSpeed") is None
    assert _value(newer, "MaxDiskWriteSpeed") == 40 * 2**20
    assert newer.origins.data_node.get("MaxDiskWriteSpeed") == origin
    back = followed(newer, edits.set_plan(newer, ndb_version="7.2"))
    assert _value(back, "DiskCheckpointSpeed") == 40 * 2**20


def test_a_speed_of_checkpoints_that_a_person_typed_stays_what_was_typed() -> None:
    plan = set_parameter(sample_plan("starter"), "data_node", "MaxDiskWriteSpeed", None)
    plan = edits.set_plan(plan, ndb_version="7.3")
    plan = set_parameter(plan, "data_node", "DiskCheckpointSpeed", 40 * 2**20)
    newer = followed(plan, edits.set_plan(plan, ndb_version="7.6"))
    assert (_value(newer, "DiskCheckpointSpeed"), _value(newer, "MaxDiskWriteSpeed")) == (40 * 2**20, None)


@pytest.mark.parametrize(
    ("texts", "by_other_means", "taken"),
    [
        (("MaxNoOfTables=500",), True, True),
        (("MaxNoOfTables=500",), False, False),
        (("MaxNoOfTables=500", "currency=EUR"), True, False),
        (("DataMemory=90G",), True, False),
        (("MaxNoOfTables=500", "DataMemory=90G"), True, False),
        (("NoOfFragmentLogFiles=77",), False, True),
        (("NoOfFragmentLogFiles=77", "MaxNoOfTables=500"), True, True),
        (("NoOfFragmentLogFiles=77", "MaxNoOfTables=500"), False, False),
        ((), True, True),
    ],
)
def test_a_fix_goes_along_where_it_touches_only_what_was_decided_or_is_not_stated(
    texts: tuple[str, ...], by_other_means: bool, taken: bool
) -> None:
    plan = set_parameter(sample_plan("tick-store"), "data_node", "MaxNoOfTables", None)

    def fix(before: Plan) -> Plan:
        for text in texts:
            before = assign(before, text)[0]
        return before

    problem = Problem("any", Severity.WARNING, "cluster", "is wrong", edit=fix)
    after = _mended(plan, problem, {("data_node", "NoOfFragmentLogFiles")}, by_other_means)
    assert after == (fix(plan) if taken else plan)


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
    # What a person had stated is given up when it is handed over, also where the same value comes out.
    assert all(
        isinstance(origin := plan.origins.data_node[name], SetByProgram) and origin.instead is None
        for name in SIZED
    )


@pytest.mark.parametrize("memory", ["33 GB", "100 GB", "1 TB"])
def test_data_memory_leaves_what_the_rules_want_for_the_rest(memory: str) -> None:
    plan, _ = assign(sample_plan("tick-store"), f"hosts[*].memory={memory}")
    plan = handed_over(plan, "DataMemory")
    assert isinstance(plan.origins.data_node["DataMemory"], SetByProgram)
    load_rules()
    assert not [p.message for name in _OF_MEMORY for p in RULES[name].problems(Estimation(plan))]


@pytest.mark.parametrize("name", ["tick-store", "measured-7.4.10", "redo-overload", "add-nodes"])
def test_what_is_pinned_or_imported_never_moves(name: str) -> None:
    """A law over changes of hardware: values that the program did not set are what they were."""
    draw = random.Random(name)
    plan = fix_all(sample_plan(name)).plan
    for parameter in SIZED:
        plan = handed_over(plan, parameter)
    for one in stated(plan):
        if isinstance(one.origin, SetByProgram) and draw.random() < 0.4:
            origin = draw.choice((None, SetByImport(file="config.ini", line=2)))
            plan = put_origin(plan, one.scope, one.reading.written, origin)
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
    plan = handed_over(plan, "DataMemory")
    smaller = followed(plan, assign(plan, "hosts[*].memory=4 GB")[0])
    found = RULES["redo-log-and-memory"].problems(Estimation(smaller))
    assert not [problem for problem in found if problem.edit is not None]
    now = _value(smaller, "NoOfFragmentLogFiles")
    assert now == decided.instead or "NoOfFragmentLogFiles" in smaller.origins.data_node
    assert now != _value(plan, "NoOfFragmentLogFiles")


def test_what_took_the_place_of_an_old_parameter_stays() -> None:
    plan = set_parameter(sample_plan("starter"), "data_node", "IndexMemory", "3G")
    before = _value(plan, "DataMemory")
    plan = fix_all(edits.set_plan(plan, ndb_version="8.4"), {"deprecated-parameter"}).plan
    joined = _value(plan, "DataMemory")
    assert isinstance(before, int)
    assert joined == before + 3 * 2**30
    assert isinstance(plan.origins.data_node["DataMemory"], SetByProgram)
    for text in ("hosts[*].memory=512 GB", "hosts[*].cores=3"):
        plan = followed(plan, assign(plan, text)[0])
        assert _value(plan, "DataMemory") == joined


@pytest.mark.parametrize("memory", ["1 GB", "300 MB"])
def test_what_the_hosts_decide_on_comes_back_with_them(memory: str) -> None:
    plan = sample_plan("starter")
    for name in ("DataMemory", "ODirect", "FragmentLogFileSize"):
        plan = handed_over(set_parameter(plan, "data_node", name, None), name)
    smaller = followed(plan, assign(plan, f"hosts[*].memory={memory}")[0])
    default = catalogue.default("DB", "DataMemory", plan.version)
    assert (_value(smaller, "DataMemory"), _value(smaller, "ODirect")) == (default, 0)
    assert followed(smaller, smaller.replace(hosts=plan.hosts)) == plan


def test_cpus_are_counted_only_where_threads_follow_the_hosts() -> None:
    plan = handed_over(_plan_of_two("8.4"), "RedoBuffer")
    shared = followed(plan, edits.update(plan, plan.sql_nodes[0].id, host_id=plan.data_nodes[0].host_id))
    assert not {"NumCPUs", "AutomaticThreadConfig"} & shared.parameters.data_node.keys()
    both = handed_over(plan, "AutomaticThreadConfig")
    shared = followed(both, edits.update(both, both.sql_nodes[0].id, host_id=both.data_nodes[0].host_id))
    assert _value(shared, "NumCPUs") is not None
    assert followed(shared, shared.replace(processes=both.processes)) == both


def _plan_of_two(version: str) -> Plan:
    """Without any setting of threads."""
    plan = edits.set_plan(sample_plan("starter"), ndb_version=version)
    for name in ("AutomaticThreadConfig", "NumCPUs", "RedoBuffer", "ThreadConfig", "MaxNoOfExecutionThreads"):
        plan = set_parameter(plan, "data_node", name, None)
    return plan


def test_names_and_places_on_the_canvas_move_nothing() -> None:
    plan = _decided()
    plan = set_parameter(plan, "data_node", "DataMemory", 2**30, SetByProgram(rule="from-host", reason="x"))
    other = edits.update(plan, plan.hosts[0].id, hostname="another")
    assert not value_changes(other, followed(plan, other))
    moved = edits.update(plan, plan.hosts[0].id, position=Point(x=7, y=7))
    assert followed(plan, moved) is moved


def test_reasons_name_the_hosts_as_they_are_called_now() -> None:
    plan = _decided()
    old = {host.hostname for host in plan.hosts}
    for host in plan.hosts:
        plan = followed(plan, edits.update(plan, host.id, hostname=f"new-{host.hostname}"))
    told = [one.origin.reason for one in stated(plan) if isinstance(one.origin, SetByProgram)]
    assert any("of new-" in reason for reason in told)
    assert not [reason for reason in told if set(reason.split()) & old]


def test_a_reason_follows_where_the_value_stays() -> None:
    plan = handed_over(sample_plan("starter"), "AutomaticThreadConfig")
    for cores in (32, 10):
        before, (plan, _) = plan, assign(plan, f"hosts[*].cores={cores}")
        plan = followed(before, plan)
        assert _value(plan, "AutomaticThreadConfig") == 1
        assert f"on the {cores} cores of" in plan.origins.data_node["AutomaticThreadConfig"].words


def test_what_the_program_cannot_decide_is_refused_with_what_it_can() -> None:
    plan = sample_plan("starter")
    with pytest.raises(UserError, match=r"it decides on .*DataMemory"):
        handed_over(plan, "TimeBetweenWatchDogCheck")
    with pytest.raises(UserError, match="AutomaticThreadConfig decides on the threads"):
        handed_over(plan, "MaxNoOfExecutionThreads")
    with pytest.raises(UserError, match="add a data node first"):
        handed_over(Plan(), "DataMemory")


@pytest.mark.parametrize("seed", range(20))
def test_hostile_plans_follow_too_and_only_with_what_the_program_set(seed: int) -> None:
    draw = random.Random(seed)
    plan = fix_all(hostile_plan(seed)).plan
    for name in CHOSEN:
        with suppress(UserError):
            plan = handed_over(plan, name)
    other = plan
    for host in plan.hosts:
        hardware = {"cores": draw.choice((1, 3, 48)), "memory_bytes": draw.choice((2**28, 2**33, 2**38))}
        other = edits.update(other, host.id, **hardware)
    after = followed(plan, other)
    free = {(one.scope, one.reading.written) for one in stated(plan) if isinstance(one.origin, SetByProgram)}
    assert {(c.scope, c.name) for c in value_changes(other, after)} <= free | {("data_node", "NumCPUs")}
    assert loads(dumps(after)) == after


def test_more_memory_than_the_host_would_give_still_goes_past_the_file_cache() -> None:
    """Memory for the tables put ODirect back to 0, and the next check asked for 1."""
    plan = handed_over(sample_plan("tick-store"), "DataMemory")
    plan = handed_over(plan, "ODirect")
    assert _value(plan, "ODirect") == 1
    more = max(host.memory_bytes for host in plan.hosts) * 3 // 4
    raised = set_parameter(plan, "data_node", "DataMemory", more)
    grown = {
        h.id: lambda h: h.model_copy(update={"memory_bytes": h.memory_bytes + 2**30}) for h in plan.hosts
    }
    raised = followed(raised, edits.update_each(raised, grown))
    assert _value(raised, "DataMemory") == more
    assert _value(raised, "ODirect") == 1
