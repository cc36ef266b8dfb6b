"""Sizing answers with plans that pass everything, the best first, and says why other hardware does not."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product
from typing import Any

import pytest

from advise.small_requirements import (
    BEGUN,
    DISK,
    LARGE,
    SMALL,
    asked_for,
    classes_of,
    clients_of,
    own_host,
    sized_for,
)
from ndbplan.advise.candidate_settings import of_log_and_checkpoints
from ndbplan.advise.candidates import ways_out
from ndbplan.advise.sizing import jobs, search
from ndbplan.advise.sizing.build import Builder, Clients
from ndbplan.advise.sizing.choices import Choice
from ndbplan.advise.sizing.larger import HARDWARE
from ndbplan.advise.sizing.limits import Judge
from ndbplan.advise.sizing.loads import job_of
from ndbplan.advise.sizing.search import Sized, size
from ndbplan.advise.sizing.verdict import Verdict
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import keeping
from ndbplan.base.shapes import printed
from ndbplan.checks.problem import Severity
from ndbplan.checks.run import check_all
from ndbplan.edits.changes import value_changes
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.solutions import MOST_CORES
from ndbplan.importing.requirements import Wanted, requirements_of
from ndbplan.ndb.modelled import moves
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import process_node_ids
from ndbplan.plan.requirements import WantedJob
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import JobLoad


def _groups(sized: Sized) -> dict[str, int]:
    """Node groups of the first answer of each class."""
    last_first = reversed(sized.plans)
    return {one.title.partition(": ")[2].partition(";")[0]: one.node_groups for one in last_first}


@pytest.fixture(scope="module")
def found() -> Sized:
    return sized_for(asked_for())


def test_the_list_has_the_best_of_each_class_that_brute_force_finds(found: Sized) -> None:
    wanted = asked_for()
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    tried = [judge.verdict(choice, groups) for choice, groups in product(classes_of(wanted), range(1, 5))]
    least = {
        choice.title: min(v.groups for v in tried if v.choice == choice and v.broken is None)
        for choice in classes_of(wanted)
    }
    assert _groups(found) == least
    assert min(least.values()) < max(least.values())
    assert all(v.groups >= v.at_least for v in tried if v.broken is None), "a bound excludes what passes"
    costs = [plan.cost.value for plan in found.plans if plan.cost is not None]
    assert costs == sorted(costs)


def test_another_choice_never_makes_the_best_answer_worse(found: Sized) -> None:
    best = found.plans[0].cost
    for choice in classes_of(asked_for()):
        alone = sized_for(asked_for(), (choice,)).plans[0].cost
        assert best is not None
        assert alone is not None
        assert best.value <= alone.value


def test_hosts_that_the_load_comes_through_are_paid_for_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class with the cheaper data nodes is the dearer one where it needs dear hosts of clients."""
    own = [SMALL, own_host("large", 16, 128, 20_000), own_host("dear", 8, 32, 50_000)]
    hardware = {**BEGUN["hardware"], "own": own, "clients": "dear"}
    wanted = asked_for(hardware=hardware)
    large = classes_of(wanted)[1]
    assert "small" in sized_for(wanted).plans[0].title
    judged = Judge.verdict

    def verdict(self: Judge, choice: Choice, groups: int, most_clients: int) -> Verdict:
        found = judged(self, choice, groups, most_clients)
        return found if choice == large else self._verdict(Verdict(choice, groups, Clients(4), None))

    monkeypatch.setattr(Judge, "verdict", verdict)
    found = sized_for(wanted)
    assert "large" in found.plans[0].title
    costs = [plan.cost.value for plan in found.plans if plan.cost is not None]
    assert costs == sorted(costs)
    assert len(costs) >= 2
    one = sized_for(asked_for(hardware=hardware, answers=1))
    assert one.plans[0].title == found.plans[0].title, "what passes first is not taken for the best"


def test_more_node_groups_begin_with_the_fewest_hosts_of_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = _of_one_row("read", 400_000, most_groups=2)
    judge, choice = (
        Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted))),
        classes_of(wanted)[0],
    )
    alone = judge.verdict(choice, 2).clients
    assert alone != Clients(2)
    asked: list[Clients] = []
    of_clients = judge._verdict

    def noted(found: Verdict, files: Plan | None = None) -> Verdict:
        asked.append(found.clients)
        return of_clients(found, files)

    monkeypatch.setattr(judge, "_verdict", noted)
    judge.verdict(choice, 1)
    asked.clear()
    assert judge.verdict(choice, 2).clients == alone
    assert asked[0] == Clients(2)


def test_a_check_looks_at_the_last_month_too() -> None:
    """A load that the redo log outlasts as the plan begins, but not a checkpoint of ten times the rows."""
    wanted = asked_for()
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)), most_steps=0)
    found = judge.verdict(classes_of(wanted)[0], 4)
    months = f"check finds no error in {wanted.requirements.months} months"
    assert [met.limit for met in found.met if met.kind == "check"] == ["check finds no error", months]


def test_the_same_requirements_give_the_same_bytes(found: Sized) -> None:
    once, again = (json.dumps(printed(one.to_json())) for one in (found, sized_for(asked_for())))
    assert once == again


def test_memory_is_told_as_everywhere_in_powers_of_1024(found: Sized) -> None:
    """`DataMemory of node 1 in 12 months: 104 GB of 106 GB` where estimate says 97.2 GiB."""
    (line,) = (met.line for met in found.plans[0].limits if met.kind == "memory")
    assert re.fullmatch(r"DataMemory of node \d+ in 12 months: [\d.]+ [MG]iB of [\d.]+ GiB", line)


def test_every_answer_passes_all_checks_and_names_its_nearest_limit(found: Sized) -> None:
    for plan in found.plans:
        assert all(problem.severity is not Severity.ERROR for problem in check_all(plan.plan))
        assert all(met.nearness <= 1 for met in plan.limits)
        assert plan.why.startswith(plan.limits[0].limit) or plan.limits[0].kind in ("check", "survive.host")


def test_what_cannot_be_had_gets_an_excuse_that_was_tried() -> None:
    wanted = asked_for(budget=11_000.0, most_groups=1)
    sized = sized_for(wanted)
    assert not sized.plans
    excuses = {one.title.partition(",")[0]: one for one in sized.excuses}
    assert excuses["small"].first_limit.startswith("DataMemory of node 1 in 12 months: ")
    assert excuses["large"].first_limit.startswith("budget: ")
    assert excuses["large"].change is not None
    enough = float(re.sub(r"\D", "", excuses["large"].change))
    assert sized_for(asked_for(budget=enough, most_groups=1)).plans
    assert not sized_for(asked_for(budget=enough - 2, most_groups=1)).plans
    assert excuses["small"].change is not None
    assert excuses["small"].change.endswith(" of memory a host at the same price")


def test_older_versions_take_fewer_data_nodes_and_the_excuse_names_the_version_that_takes_more() -> None:
    wanted = asked_for(ndb_version="8.0.17", rows={"d.account": {"now": 12e9}}, most_groups=144)
    classes = classes_of(wanted)[1:]
    sized = sized_for(wanted, classes)
    assert not sized.plans
    assert sized.excuses[0].first_limit.startswith("data nodes of this version")
    assert sized.excuses[0].change == "NDB 8.0.18"


_OF_24_GROUPS = {"ndb_version": "8.0.17", "least_groups": 24, "most_groups": 144}


@pytest.mark.parametrize(
    ("stated", "limit", "change"),
    [
        pytest.param(
            {"within": {"restart": "1 ms"}}, "Restart of a data node: ", "restart within ", id="time"
        ),
        pytest.param(
            {"within": {"reorganise": "1 h"}},
            "Reorganisation for one more node group (no node id is free",
            "no limit of reorganise",
            id="work that cannot be done",
        ),
        pytest.param(
            {"within": {"reorganise": "1 h"}, "ndb_version": "6.3.45"},
            "Reorganisation for one more node group (NDB 6.3.45 cannot add data nodes online",
            "no limit of reorganise",
            id="work that a version cannot do",
        ),
        pytest.param(
            {"replicas": 1, "most_groups": 24},
            "any host may fail (stops ",
            "no host that may fail",
            id="failures",
        ),
        pytest.param(
            {"budget": 1e5, "hardware": {**BEGUN["hardware"], "clients": "host-large"}},
            "budget: not stated is ",
            "no budget, as long as prices are not stated",
            id="prices",
        ),
    ],
)
def test_an_excuse_names_what_is_lacking_and_not_that_a_version_takes_no_more_nodes(
    stated: dict[str, Any], limit: str, change: str
) -> None:
    wanted = asked_for(**{**_OF_24_GROUPS, **stated})
    (excuse,) = sized_for(wanted, classes_of(wanted)[1:]).excuses
    assert excuse.first_limit.startswith(limit)
    # Which of many clusters it is that takes so long was not told; what cannot be done took `1 of 0`.
    assert excuse.first_limit.endswith(", with 24 node groups") is limit.startswith("Restart")
    assert " of 0" not in excuse.first_limit
    assert excuse.change is not None
    assert excuse.change.startswith(change)
    assert excuse.node_groups == 24


def test_a_peak_that_no_cluster_carries_is_excused_with_the_peak_that_one_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("limits", "verdict"):
        monkeypatch.setattr(f"ndbplan.advise.sizing.{module}.MOST_NODES", 12)
    wanted = _of_one_row("read", 3_000_000)
    (excuse,) = sized_for(wanted, classes_of(wanted)[1:]).excuses
    assert excuse.first_limit.startswith("nodes in all: ")
    assert excuse.change is not None
    peak = re.fullmatch(r"peaks of 'w' ([\d\W]+) tx/s", excuse.change)
    assert peak is not None, excuse.change
    carried = float(re.sub(r"\D", "", peak[1]))
    eased = _of_one_row("read", carried, least_groups=excuse.node_groups)
    assert sized_for(eased, classes_of(eased)[1:]).plans


def test_the_article_is_answered_with_disks_or_node_groups_never_with_a_larger_redo_buffer() -> None:
    plan = sample_plan("redo-overload")
    loads = [{"name": plan.workloads[0].name}]
    hardware = {"hosts": ["plan"], "disks": ["sas"], "layouts": ["as it is", "redo log apart", "striped"]}
    wanted = requirements_of(plan, loads=loads, headroom=0.0, months=0, hardware=hardware, answers=9)
    with keeping():
        sized = sized_for(wanted)
    planned = "8 cores, 8 GiB as in the plan"
    groups = _groups(sized)
    assert groups[f"{planned}, 2 disks as they are"] > 1
    assert groups[f"{planned}, its disks, redo log on c0d0 alone"] == 1
    for one in sized.plans:
        assert one.plan.parameters.data_node["RedoBuffer"] == plan.parameters.data_node["RedoBuffer"]


@pytest.mark.parametrize(
    ("stated", "place", "said"),
    [
        ({"hardware": {"hosts": ["huge"]}}, "hardware.hosts[0]", "there is no host 'huge'"),
        ({"rows": {"d.gone": {"now": 1}}}, "rows.d.gone", "there is no table"),
        ({"loads": [{"name": "x", "peak_per_s": 1}]}, "loads[0].transactions", "no transactions"),
        ({"currency": None, "budget": 5.0}, "currency", "needs a currency"),
        ({"sql": "SELECT 1"}, "sql", "there is no table"),
        ({"least_groups": 5}, "least_groups", "least_groups 5 is above most_groups 4"),
        (
            {"hardware": {"own": [SMALL, LARGE, SMALL]}},
            "hardware.own[2].name",
            "there is another host 'small'",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(stated: dict[str, Any], place: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        classes_of(asked_for(**stated))
    assert refused.value.where == place


def test_a_load_job_that_takes_too_long_is_excused_with_the_time_that_it_takes() -> None:
    job = {"size": "1 GB", "within": "20 s", "threads": 4}
    times = {"restart": "1 h", "rolling_restart": "9 h", "reorganise": "9 h", "backup": "9 h"}
    wanted = asked_for(job=job, loads=[], within=times)
    sized = sized_for(wanted, classes_of(wanted)[1:])
    assert not sized.plans
    assert sized.excuses[0].first_limit.startswith("load job (")
    assert (sized.excuses[0].change or "").startswith("the load job within ")
    eased = asked_for(job={**job, "within": "1 h"}, loads=[], within=times)
    answer = sized_for(eased, classes_of(eased)[1:]).plans[0]
    assert {met.limit for met in answer.limits} >= {"Restart of a data node", "Backup", "Rolling restart"}


def test_rows_of_a_load_job_that_memory_has_no_room_for_are_simulated_on_no_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ndbplan.advise.sizing.jobs.max_load", None)
    wanted = asked_for(loads=[], job={"within": "30 d", "size": "4 TB"})
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    verdict = judge.verdict(classes_of(wanted)[1], 1)
    assert verdict.broken is not None
    assert verdict.broken.limit.startswith("DataMemory of node 1 when the load job is done")
    assert verdict.at_least > 10


def test_it_stops_at_once_when_told_to() -> None:
    wanted = asked_for()
    clients = clients_of(wanted)
    with pytest.raises(Cancelled):
        size(wanted.requirements, wanted.begun, classes_of(wanted), clients, cancelled=lambda: True)


def test_a_job_that_its_loader_cannot_do_in_time_is_tried_on_no_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was simulated on every number of node groups of every class, which took minutes."""
    wanted = asked_for(job={"size": "600 GB", "within": "1 s", "threads": 32}, loads=[])
    tried = []
    monkeypatch.setattr(jobs, "max_load", lambda *asked, **_: tried.append(asked))
    monkeypatch.setattr(search, "excuse", lambda _, verdict, __: verdict)
    broken = [one.broken for one in sized_for(wanted, classes_of(wanted)[1:]).excuses]
    assert not tried
    assert {one.limit for one in broken} == {"load job (as fast as its loader can by itself)"}
    assert all(one.needed.value > one.allowed.value for one in broken)


def test_a_job_loads_tables_by_their_rows_and_an_empty_one_as_if_it_had_one() -> None:
    plan = sample_plan("starter")
    few = plan.replace(
        tables=tuple(
            t.model_copy(update={"rows": rows}) for t, rows in zip(plan.tables, (0, 3), strict=False)
        )
    )
    job = job_of(few, WantedJob(within=60.0))
    assert [transaction.weight for transaction in job.transactions] == [0.25, 0.75]


@pytest.mark.parametrize(
    ("groups", "mean_use", "least"), [(2, 0.4, 1), (3, 1 / 3, 1), (2, 0.51, 2), (2, 1.5, 3), (7, 3 / 7, 3)]
)
def test_fewer_groups_than_what_is_used_in_all_are_not_tried(
    groups: int, mean_use: float, least: int
) -> None:
    wanted = asked_for()
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    found = Verdict(classes_of(wanted)[0], groups, Clients(1), None)
    judge._at_least(found, mean_use)
    assert found.at_least == least
    judge._at_least(found, 0.01)
    assert found.at_least == least, "what was found before holds"


def test_jobs_are_no_load_whose_peak_has_to_be_carried() -> None:
    wanted = asked_for()
    peak = wanted.begun.workloads[0]
    job = peak.model_copy(update={"id": "job", "load": JobLoad()})
    plan = wanted.begun.replace(workloads=(job, peak))
    assert Judge(wanted.requirements, Builder(plan, clients_of(wanted))).loads == (peak,)


def test_hardware_of_an_excuse_is_so_many_times_as_large_in_what_it_names_and_nothing_else() -> None:
    host = sample_plan("starter").hosts[0]
    grown = {kind: change(host, 1.5) for kind, change in HARDWARE.items()}
    new = {kind: found[0] for kind, found in grown.items() if found is not None}
    most = host.model_copy(update={"cores": MOST_CORES // 2})
    assert HARDWARE["cpu"](most, 2.0) is not None
    assert HARDWARE["cpu"](most, 2.0 + 1 / MOST_CORES) is None, "more than a plan may state"
    assert new["memory"].memory_bytes == 1.5 * host.memory_bytes
    assert new["memory"].disks == host.disks
    assert new["cpu"].cores == 1.5 * host.cores
    assert new["network"].network_bytes_per_s == 1.5 * host.network_bytes_per_s
    for disk, larger in zip(host.disks, new["disk space"].disks, strict=True):
        assert larger.capacity_bytes == 1.5 * disk.capacity_bytes
        assert larger.random_read_iops == disk.random_read_iops
    for disk, faster in zip(host.disks, new["disk"].disks, strict=True):
        assert faster.capacity_bytes == disk.capacity_bytes
        for name in ("sequential_write_bytes_per_s", "random_read_iops", "random_write_iops"):
            assert getattr(faster, name) == 1.5 * getattr(disk, name)


def test_headroom_is_asked_of_the_load_and_left_of_what_is_stored() -> None:
    met = []
    for headroom in (0.0, 0.5):
        wanted = asked_for(headroom=headroom)
        judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
        verdict = judge.verdict(classes_of(wanted)[1], 3)
        assert verdict.broken is None
        met.append(verdict.met)
    compared = {one.kind for one in met[0]} & {"memory", "disk space"}
    assert compared == {"memory", "disk space"}
    for before, after in zip(*met, strict=True):
        if "peak" in before.limit:
            assert (before.needed.value, after.needed.value) == (2000, 3000)
        elif before.kind in compared:
            assert after.needed == before.needed
            # Without headroom what MinFreePct keeps is left of DataMemory all the same.
            whole = before.allowed.value / (0.95 if before.kind == "memory" else 1.0)
            assert after.allowed.value == pytest.approx(whole / 1.5)


def test_the_excuse_is_of_the_cluster_that_comes_nearest() -> None:
    """Twice the node groups have half the rows each, which are too many still."""
    wanted = asked_for(rows={"d.account": {"now": 12e9}}, most_groups=2)
    (excuse,) = sized_for(wanted, classes_of(wanted)[1:]).excuses
    assert excuse.node_groups == 2


_SLOW = {**DISK, "name": "disk1", "sequential_write_bytes_per_s": 6e7, "purchase_price": 0.0}
_CHECKPOINTS_SLOW = {**SMALL, "disks": [*SMALL["disks"], _SLOW]}
_WRITES: dict[str, Any] = {
    "sql": "CREATE TABLE d.s (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, v VARBINARY(2000)) ENGINE=NDB",
    "rows": {"d.s": {"now": "10M"}},
    "most_groups": 3,
    "hardware": {**BEGUN["hardware"], "hosts": ["small"], "own": [_CHECKPOINTS_SLOW],
                 "layouts": ["redo log apart"], "disks": ["nvme"], "clients": "host-large"},
}  # fmt: skip


def _of_one_row(kind: str, peak_per_s: float, through: str = "sql", **stated: Any) -> Wanted:
    operation = {"table": "d.s", "kind": kind, "columns": ["v"]}
    load = {"name": "w", "peak_per_s": peak_per_s, "lasts": "10 min", "through": through,
            "transactions": [{"name": "one row", "operations": [operation]}]}  # fmt: skip
    return asked_for(**{**_WRITES, "loads": [load], **stated})


def test_parameters_are_stepped_where_a_class_does_not_pass_without_and_never_ask_for_more_groups() -> None:
    """Redo logs and checkpoints are the only thing that such a step changes, and it was held against all."""
    wanted = _of_one_row("update", 30_000)
    choice = classes_of(wanted)[0]
    builder = Builder(wanted.begun, clients_of(wanted))
    judges = [Judge(wanted.requirements, builder, most_steps=steps) for steps in (0, 3)]
    bare, stepped = ([judge.verdict(choice, groups) for groups in (1, 2)] for judge in judges)
    fewest = [min(v.groups for v in tried if v.broken is None) for tried in (bare, stepped)]
    assert fewest[1] < fewest[0]
    helped = next(v for v in stepped if v.broken is None)
    before = bare[helped.groups - 1]
    assert before.plan is not None
    assert helped.plan is not None
    changed = value_changes(before.plan, helped.plan)
    assert 1 <= len(changed) <= 3
    assert {moves("DB", change.name) for change in changed} <= {"redo", "checkpoint"}
    settings = tuple(f"{change.name} {change.shown[1]}" for change in changed)
    assert sized_for(wanted, (choice,)).plans[0].settings == settings, "each once, as it is in the end"
    again = judges[0]._held(Verdict(choice, helped.groups, helped.clients, helped.plan))
    assert again.broken is None, "the plan passes as it is written"
    assert [met.limit for met in again.met] == [met.limit for met in helped.met]


@pytest.mark.parametrize("through", ["sql", "api"])
def test_a_peak_comes_through_more_connections_before_it_comes_through_more_hosts(through: str) -> None:
    fast = {**SMALL, "host": {**SMALL["host"], "cores": 64, "network_bytes_per_s": 1e10}}
    hardware = {**_WRITES["hardware"], "own": [fast], "clients": "small"}
    wanted = _of_one_row("read", 200_000, through, hardware=hardware)
    plan = sized_for(wanted, classes_of(wanted)[:1]).plans[0]
    nodes = [p for p in plan.plan.processes if p.kind == through and p.host_id is not None]
    per_host = Counter(dict.fromkeys({p.host_id for p in nodes}, 0))
    for process in nodes:
        per_host[process.host_id] += len(process_node_ids(process))
    assert len(per_host) == 2
    connections = set(per_host.values())
    assert len(connections) == 1
    assert min(connections) > 1
    words = "cluster connections" if through == "sql" else "API slots"
    assert plan.title.endswith(f" with {min(connections)} {words} each")
    fewer = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted), through == "api"))
    clients = Clients(2, min(connections) - 1)
    one = fewer._verdict(Verdict(classes_of(wanted)[0], plan.node_groups, clients, None))
    assert one.broken is not None
    assert one.broken.kind == "connections"


def test_what_a_plan_states_of_its_own_hosts_is_not_stepped() -> None:
    plan = sample_plan("redo-overload")
    stated = set(plan.parameters.data_node)
    names = {change.title.split()[0] for change in of_log_and_checkpoints(plan, stated)}
    assert names
    assert not names & stated
    every = {change.title.split()[0] for change in of_log_and_checkpoints(plan, ())}
    assert every - names == {name for name in stated if moves("DB", name) in ("redo", "checkpoint")}


def test_against_what_a_check_finds_its_ways_out_of_the_log_are_taken_but_not_what_is_stated() -> None:
    wanted = _of_one_row("update", 60_000)
    builder = Builder(wanted.begun, clients_of(wanted))
    bare = Judge(wanted.requirements, builder, most_steps=0).verdict(classes_of(wanted)[0], 1)
    assert bare.broken is not None
    assert bare.plan is not None
    assert bare.broken.kind == "check"
    judge = Judge(wanted.requirements, builder)
    steps = list(judge._steps(bare.plan, bare.broken, is_planned=False))
    names = {change.name for step in steps for change in value_changes(bare.plan, step.edit(bare.plan))}
    assert names
    assert {moves("DB", name) for name in names} <= {"redo", "checkpoint"}
    assert len(steps) < len(list(ways_out(check_all(bare.plan))))
    stating = set_parameter(wanted.begun, "data_node", "NoOfFragmentLogFiles", 3)
    stating = set_parameter(stating, "data_node", "FragmentLogFileSize", 256 * 2**20)
    stated = Judge(wanted.requirements, Builder(stating, clients_of(wanted)))
    left = {
        change.name
        for step in stated._steps(bare.plan, bare.broken, is_planned=True)
        for change in value_changes(bare.plan, step.edit(bare.plan))
    }
    assert left == names - {"NoOfFragmentLogFiles", "FragmentLogFileSize"}


def test_what_a_step_costs_proves_nothing_of_fewer_node_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = _of_one_row("update", 30_000)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    of_the_first_look = judge._at_least

    def dearer(found: Verdict, mean_use: float) -> None:
        of_the_first_look(found, 9.0 if found.steps else mean_use)

    monkeypatch.setattr(judge, "_at_least", dearer)
    verdict = judge.verdict(classes_of(wanted)[0], 1)
    assert verdict.steps
    assert verdict.at_least == 1
