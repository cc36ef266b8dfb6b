"""Sizing: data nodes that share hosts, the answer that is sure, excuses that ask for no more than needed."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from operator import is_
from typing import Any

import pytest

from advise.small_requirements import BEGUN, GIB, asked_for, classes_of, clients_of, sized_for
from golden.commands import DRAWN
from ndbplan.advise.cost import cost_of
from ndbplan.advise.highest_rate import End
from ndbplan.advise.load_left import load_left
from ndbplan.advise.max_load import max_load
from ndbplan.advise.sizing import limits, search, sustaining
from ndbplan.advise.sizing.build import MOST_NODES, Builder, Clients
from ndbplan.advise.sizing.choices import Choice, choices, client_host
from ndbplan.advise.sizing.coming import more_clients
from ndbplan.advise.sizing.excuses import _Least, _moved_in_turn, excuse
from ndbplan.advise.sizing.files import with_data_files, with_undo_files
from ndbplan.advise.sizing.jobs import when_done
from ndbplan.advise.sizing.larger import HARDWARE, SIZES
from ndbplan.advise.sizing.limits import FEWEST_CLIENTS, Judge
from ndbplan.advise.sizing.loads import steady
from ndbplan.advise.sizing.sustaining import not_sustained
from ndbplan.advise.sizing.verdict import CLIENTS, DESIGN, Met, Verdict
from ndbplan.advise.sizing.worlds import SURE, WORLDS, Worlds
from ndbplan.advise.survival import survive as survived
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import MIB
from ndbplan.checks.run import found_errors
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits.parts import remove
from ndbplan.edits.solutions import set_everywhere
from ndbplan.edits.validated import with_rows
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.demand import at_rate
from ndbplan.estimate.narrowed import narrowed
from ndbplan.estimate.space.growth import after_months
from ndbplan.estimate.stored import machines_of
from ndbplan.importing.requirements import read_requirements, requirements_of
from ndbplan.plan.file import load
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, OperationKind, RatePoint
from ndbplan.simulate.bottleneck import Bottleneck
from one_rule import of_rule


def test_data_nodes_share_hosts_where_brute_force_finds_nothing_cheaper() -> None:
    asked = {"within": {"restart": "180 s"}, "most_groups": 8}
    wanted = asked_for(**asked)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    large = classes_of(wanted)[1]
    counts = [(nodes, groups) for nodes in (1, 2) for groups in range(nodes, 9, nodes)]
    tried = [judge.verdict(large.with_nodes(nodes), groups) for nodes, groups in counts]
    costs = [cost_of(one.plan).total for one in tried if one.broken is None and one.plan is not None]
    least = min(cost.value for cost in costs if cost is not None)
    shared, *_ = sized_for(wanted, (large,)).plans
    assert shared.cost is not None
    assert shared.cost.value == least
    assert "2 data nodes on each" in shared.title
    apart = asked_for(**asked, hardware={**BEGUN["hardware"], "nodes_per_host": [1]})
    alone, *_ = sized_for(apart, (large,)).plans
    assert alone.cost is not None
    assert alone.cost.value > least
    plan = shared.plan
    assert len(plan.data_nodes) == 2 * len({node.host_id for node in plan.data_nodes})
    assert all(len({node.host_id for node in group}) == len(group) == 2 for group in node_groups(plan))


@pytest.mark.parametrize("version", ["7.4.10", "8.4.9"])
def test_data_nodes_of_one_host_have_their_share_of_it(version: str) -> None:
    wanted = asked_for(ndb_version=version)
    builder = Builder(wanted.begun, clients_of(wanted))
    for choice in classes_of(wanted):
        plans = [builder.plan(choice.with_nodes(nodes), 4, Clients(2)) for nodes in (1, 2, 4)]
        assert [len({node.host_id for node in plan.data_nodes}) for plan in plans] == [8, 4, 2]
        stated = [plan.parameters.data_node for plan in plans]
        # Up to 7.5 IndexMemory has a part of it, and both are round numbers.
        rows = [of_node["DataMemory"] + of_node.get("IndexMemory", 0) for of_node in stated]
        assert rows == pytest.approx([rows[0], rows[0] / 2, rows[0] / 4], rel=0.0 if version > "8" else 0.02)
        threads = "NumCPUs" if version.startswith("8") else "MaxNoOfExecutionThreads"
        cores = [plan.parameters.data_node.get(threads, choice.host.cores) for plan in plans]
        assert all(
            nodes * of_each <= choice.host.cores for nodes, of_each in zip((1, 2, 4), cores, strict=True)
        )


def test_hosts_of_the_plan_with_several_data_nodes_are_kept_as_they_are() -> None:
    plan = sample_plan("starter")
    first = plan.data_nodes[0]
    there = tuple(
        process.model_copy(update={"host_id": first.host_id}) if process.kind == "data" else process
        for process in plan.processes
    )
    wanted = requirements_of(plan.replace(processes=there), hardware={"layouts": ["as it is"]})
    planned = classes_of(wanted)[0]
    assert planned.is_planned
    assert planned.nodes_per_host == len(plan.data_nodes)
    assert planned.with_nodes(planned.nodes_per_host) == planned
    assert not planned.with_nodes(1).is_planned


@pytest.mark.parametrize(
    "stated",
    [
        {"rows": {"d.account": {"now": "900M"}}},
        {"rows": {"d.account": {"now": "40M"}}, "loads": [{**BEGUN["loads"][0], "peak_per_s": "250k"}]},
        {"rows": {"d.account": {"now": "700M"}}, "budget": 70_000.0, "months": 3},
        {"rows": {"d.account": {"now": "8G"}}, "headroom": 0.5},
    ],
)
def test_with_one_step_less_of_what_an_excuse_asks_for_the_class_does_not_pass(
    stated: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = asked_for(**stated, most_groups=1)
    found: list[tuple[Judge, Choice, Choice, int, str]] = []
    least_of = _Least.of

    def noted(self: _Least, kind: str) -> str:
        words = least_of(self, kind)
        found.append((self.judge, replace(self.choice, host=self.begun), self.choice, self.groups, kind))
        return words

    monkeypatch.setattr(_Least, "of", noted)
    excuses = sized_for(wanted).excuses
    assert found, excuses
    for judge, begun, least, groups, kind in found:
        assert judge.verdict(least, groups).broken is None or len(found) > 1
        size = SIZES[kind]
        if size.of(least.host) > size.of(begun.host):
            host, whole = size.as_in(begun.host, least.host), size.of(least.host)
            # Of large sizes the last step that is told is one of several.
            smaller = next(
                found[0]
                for steps in range(1, 100)
                for less in [(whole - 1.01 * steps * size.step_of(begun.host)) / size.of(begun.host)]
                if (found := HARDWARE[kind](host, max(1.0, less))) and size.of(found[0]) < whole
            )
            assert judge.verdict(replace(least, host=smaller), groups).broken is not None


def test_data_memory_is_as_large_as_the_rows_ask_for_and_no_larger() -> None:
    """A host for data nodes alone gives three quarters of its memory before another group is bought."""
    wanted = asked_for()
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    small = classes_of(wanted)[0]
    tried = [judge.verdict(small, groups) for groups in (2, 3, 4)]
    assert [one.broken is None for one in tried] == [False, True, True]
    memory = [one.plan.parameters.data_node["DataMemory"] for one in tried if one.plan is not None]
    assert memory == [24 * GIB, 24 * GIB, 16 * GIB]
    assert tried[2].at_least == 3


def test_the_sure_answer_is_the_cheapest_that_brute_force_finds() -> None:
    """Of every class and number of node groups, in nine of ten worlds."""
    wanted, worlds = asked_for(), Worlds()
    found = sized_for(wanted)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)), holds_in=SURE)
    tried = [
        judge.verdict(choice.with_nodes(nodes), groups)
        for choice, nodes, groups in product(classes_of(wanted), (1, 2), range(1, 5))
        if groups % nodes == 0
    ]
    sure = [
        cost_of(one.plan).total
        for one in tried
        if one.broken is None and one.plan is not None and sum(worlds.in_which(one.met)) >= SURE * WORLDS
    ]
    assert found.choosing.plans[0].holds < SURE, "the cheapest is not sure by itself"
    assert found.choosing.sure is not None
    cost = found.plans[found.choosing.sure - 1].cost
    assert cost is not None
    assert cost.value == min(one.value for one in sure if one is not None)


def test_what_keeps_every_answer_from_being_sure_is_told() -> None:
    found = sized_for(asked_for(within={"restart": 200}))
    assert found.plans
    assert found.choosing.sure is None
    assert "times what is allowed of 'Restart of a data node: " in found.choosing.not_sure


def test_threads_that_come_in_steps_of_cores_do_not_end_the_search_for_an_excuse() -> None:
    """Each change as large as the limit is broken came no nearer: 18 to 27 cores have as many LDM threads."""
    load = {**BEGUN["loads"][0], "peak_per_s": "150k"}
    asked = asked_for(most_groups=1, rows={"d.account": {"now": "1000M"}}, loads=[load])
    small = sized_for(asked).excuses[0]
    assert small.change is not None
    assert [what.split()[1] for what in small.change.split(" and ")] == ["GiB", "cores"]


@pytest.mark.parametrize("version", ["7.4.10", "8.4.9"])
def test_a_large_schema_has_room_in_the_dictionary(version: str) -> None:
    """Defaults hold about a hundred tables; the rest is refused with 707, 904 or 708."""
    columns = ", ".join(f"c{number} INT" for number in range(15))
    others = (
        f"CREATE TABLE d.t{n} (id INT PRIMARY KEY, {columns}, KEY k (c0)) ENGINE=NDB" for n in range(100)
    )
    wanted = asked_for(ndb_version=version, sql=";\n".join((BEGUN["sql"], *others)))
    plan = Builder(wanted.begun, clients_of(wanted)).plan(classes_of(wanted)[0], 2, Clients(2))
    assert len(plan.tables) == 101
    assert not of_rule(plan, "schema-objects")
    (reason,) = (
        origin.reason for name, origin in plan.origins.data_node.items() if name == "MaxNoOfAttributes"
    )
    assert "columns of tables and indexes" in reason


@pytest.mark.parametrize(
    ("survive", "peak_per_s"),
    [
        (["host"], 70e3), (["host"], 150e3), (["rack"], 90e3), (["rack"], 150e3), (["host", "link"], 230e3),
    ],
)  # fmt: skip
def test_with_one_host_of_clients_less_the_peak_is_not_carried(survive: list[str], peak_per_s: float) -> None:
    """A rack takes half of the clients along, so that their number does not grow as the limit is broken."""
    load = {**BEGUN["loads"][0], "peak_per_s": peak_per_s, "lasts": "5 s"}
    asked = asked_for(survive=survive, carry_peak=True, loads=[load], rows={"d.account": {"now": "50M"}})
    judge = Judge(asked.requirements, Builder(asked.begun, clients_of(asked)))
    found = judge.verdict(classes_of(asked)[1], 1)
    assert found.broken is None
    assert found.plan is not None
    assert found.clients.hosts > 2, "two are the fewest in any case"
    kinds = {"link": "switch"}

    def is_carried(plan: Plan) -> bool:
        now = Estimation(plan, steady(plan.workloads[0], peak_per_s))
        if load_left(Estimation(plan, steady(plan.workloads[0], peak_per_s * 1.2))).limited(())[0].value < (
            peak_per_s * 1.2
        ):
            return False
        failures = survived(now).failures
        asked_of = {kinds.get(one, one) for one in survive}
        return all(one.carries_peak for one in failures if one.dead[0].kind in asked_of)

    assert is_carried(found.plan)
    last = max((host for host in found.plan.hosts if host.hostname.startswith("sql-")), key=_number)
    there = [one.id for one in found.plan.processes if getattr(one, "host_id", None) == last.id]
    assert not is_carried(remove(found.plan, [last.id, *there]))


def _number(host: Host) -> int:
    return int(host.hostname.partition("-")[2])


def test_disks_have_room_under_every_load_in_any_order() -> None:
    reads = {
        "name": "look", "peak_per_s": "1k", "lasts": "5 s",
        "transactions": [{"name": "look", "operations": [{"table": "d.account", "kind": "read"}]}],
    }  # fmt: skip
    writes = {**BEGUN["loads"][0], "peak_per_s": "40k", "lasts": "5 s"}
    for loads in ([reads, writes], [writes, reads]):
        asked = asked_for(loads=loads, months=6)
        judge = Judge(asked.requirements, Builder(asked.begun, clients_of(asked)))
        found = judge.verdict(classes_of(asked)[1], 2)
        assert found.plan is not None
        (space,) = (met for met in found.met if met.kind == "disk space")
        then = Estimation(after_months(found.plan, 6))
        by_load = [
            max(disk.fill.value for disk in then.under(one).disk_space.disks) for one in then.plan.workloads
        ]
        assert max(by_load) > min(by_load), "the log of a backup counts"
        assert space.needed.value == max(by_load)
        assert space.limit.endswith("under 'pay'")


def test_rows_of_a_load_job_have_room_on_disks_too() -> None:
    wanted = asked_for(loads=[], job={"within": "30 d", "size": "20 GB"}, rows={"d.account": {"now": 0}})
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    found = judge.verdict(classes_of(wanted)[1], 1)
    assert found.plan is not None
    done, later = (met for met in found.met if met.kind == "disk space")
    assert done.limit.endswith("when the load job is done")
    assert done.needed.value > later.needed.value
    then = when_done(found.plan, wanted.requirements.job)
    assert then is not None
    assert done.needed.value == max(disk.fill.value for disk in then.disk_space.disks)


def _disk_data(rows: int, **changes: Any) -> Plan:
    plan = sample_plan("disk-data-8.4")
    (table,) = plan.tables
    return plan.replace(tables=(with_rows(table, rows),), **changes)


def test_data_files_follow_the_rows_that_come_and_the_disks_are_their_limit() -> None:
    """Who asks for a hundred million rows is told hosts for them, not that a tablespace is full."""
    begun = _disk_data(100_000_000)
    wanted = requirements_of(begun, answers=1, most_groups=4)
    found = sized_for(wanted)
    best = found.plans[0]
    now = Estimation(after_months(best.plan, wanted.requirements.months))
    (use,) = now.disk_data.tablespaces
    assert begun.tablespaces[0].data_files[0].size_bytes * 4 < use.capacity_bytes / 16
    assert use.fill.high <= 1
    assert any(one.startswith("size of data file ") for one in best.settings)
    assert not [one for one in found_errors(best.plan) if one.rule == "data-files"]
    small = sized_for(requirements_of(_disk_data(1_000_000), answers=1, most_groups=4)).plans[0]
    assert small.plan.tablespaces == begun.tablespaces, "what is large enough stays"
    few = requirements_of(begun, answers=1, most_groups=1)
    (tiny,) = classes_of(few)[:1]
    disks = tuple(disk.model_copy(update={"capacity_bytes": 200 * GIB}) for disk in tiny.host.disks)
    small_disks = replace(tiny, host=tiny.host.model_copy(update={"disks": disks}), is_planned=False)
    (excuse,) = sized_for(few, (small_disks,)).excuses
    assert excuse.first_limit.startswith("space of")
    assert excuse.change is not None
    assert "disks of" in excuse.change


def test_undo_files_follow_the_peak() -> None:
    begun = _disk_data(1_000_000)
    (group,), load = begun.logfile_groups, begun.workloads[0]
    (one,) = load.transactions[0].operations
    one = one.model_copy(update={"kind": OperationKind.UPDATE})
    transaction = load.transactions[0].model_copy(update={"operations": (one,)})
    rate = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2_000),))
    file = group.undo_files[0].model_copy(update={"size_bytes": 4 * MIB})
    small = begun.replace(
        logfile_groups=(group.model_copy(update={"undo_files": (file,)}),),
        workloads=(load.model_copy(update={"transactions": (transaction,), "load": rate}),),
    )
    assert of_rule(small, "undo-log-size")
    best = sized_for(requirements_of(small, answers=1, most_groups=4)).plans[0]
    (sized,) = best.plan.logfile_groups
    assert sized.undo_files[0].size_bytes > file.size_bytes
    assert not of_rule(best.plan, "undo-log-size")


def test_files_on_disk_of_a_cluster_are_worked_out_once_whatever_clients_it_gets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are what its tables and loads ask for, as if it had had all its clients from the first."""
    asked: list[Plan] = []

    def counted(plan: Plan, *rest: Any) -> Plan:
        asked.append(plan)
        return with_data_files(plan, *rest)

    plan = load(DRAWN / "drawn-140.ndbplan")
    wanted = requirements_of(
        plan, hardware={"hosts": ["host-large"], "disks": ["nvme"], "layouts": ["one disk"]}
    )
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    monkeypatch.setattr(limits, "with_data_files", counted)
    found = judge.verdict(classes_of(wanted)[0].with_nodes(2), 12)
    assert found.clients.hosts > FEWEST_CLIENTS.hosts
    assert not found.steps
    assert len(asked) == 1
    assert found.plan is not None
    bare = judge.builder.plan(found.choice, found.groups, found.clients)
    anew = with_data_files(bare, wanted.requirements, judge.loads)
    assert (found.plan.tablespaces, found.plan.logfile_groups) == (anew.tablespaces, anew.logfile_groups)


@pytest.mark.parametrize("rows", [1_000_000, 100_000_000])
def test_undo_files_have_room_only_where_a_limit_asks_for_it_and_the_answer_is_the_same(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took half of a search whose clusters nearly all break a limit of their load."""
    begun = _disk_data(rows)
    loads = tuple(at_rate(one, 30.0) for one in begun.workloads)
    wanted = requirements_of(begun.replace(workloads=loads), hardware={"layouts": ["one disk"]})
    classes = classes_of(wanted)[::3]

    def judged() -> tuple[list[Verdict], int]:
        asked: list[Plan] = []

        def counted(plan: Plan, *rest: Any) -> Plan:
            asked.append(plan)
            return with_undo_files(plan, *rest)

        monkeypatch.setattr(limits, "with_undo_files", counted)
        judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)), most_steps=0)
        return [judge.verdict(choice, groups) for choice in classes for groups in (1, 4)], len(asked)

    lazily, seldom = judged()
    built = Judge._built

    def at_once(self: Judge, found: Verdict, files: Verdict | None = None) -> Verdict:
        made = built(self, found, files)
        self._grown_with_undo_files(made)
        return made

    monkeypatch.setattr(Judge, "_built", at_once)
    eagerly, always = judged()
    assert [(one.met, one.broken, one.at_least) for one in lazily] == [
        (one.met, one.broken, one.at_least) for one in eagerly
    ]
    assert all(
        one.plan == other.plan for one, other in zip(lazily, eagerly, strict=True) if one.has_undo_files
    )
    assert seldom < always == len(eagerly)


@pytest.mark.parametrize("workers", [1, 2])
def test_excuses_that_take_long_are_those_of_the_nearest_classes_and_the_rest_is_told(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan with disk data of 24 groups took two and a half minutes for changes of 36 classes."""
    load = {**BEGUN["loads"][0], "peak_per_s": "400k"}
    hardware = {**BEGUN["hardware"], "nodes_per_host": [1]}
    wanted = asked_for(loads=[load], most_groups=1, hardware=hardware)
    classes = classes_of(wanted)
    whole = sized_for(wanted).excuses
    assert len(whole) == len(classes) == 2
    assert all(one.is_looked_for for one in whole)
    monkeypatch.setattr(search, "_MOST_EXCUSED", 1)
    found = search.size(wanted.requirements, wanted.begun, classes, clients_of(wanted), workers=workers)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    nearest, further = sorted(range(2), key=lambda place: judge.verdict(classes[place], 1).distance)
    assert found.excuses[nearest] == whole[nearest]
    left = found.excuses[further]
    assert (left.is_looked_for, left.change) == (False, None)
    assert left.first_limit == whole[further].first_limit
    assert "not looked for" in left.line
    assert "in the 1 that come nearest, not in 1 more" in found.not_excused


def test_what_no_hosts_mend_is_said_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table on disk without a tablespace: node group after node group was looked at, for minutes."""
    plan = sample_plan("disk-data-8.4")
    (table,) = plan.tables
    lost = plan.replace(tables=(table.model_copy(update={"tablespace_id": None}),))
    wanted = requirements_of(lost, answers=1)
    looked = _counted(monkeypatch)
    classes = classes_of(wanted)[:3]
    found = sized_for(wanted, classes)
    assert not found.plans
    assert all("choose a tablespace" in one.first_limit for one in found.excuses)
    assert not looked


def test_one_replica_lets_no_host_fail_whatever_the_node_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = _counted(monkeypatch)
    found = sized_for(asked_for(replicas=1, survive=["host"], most_groups=48))
    assert not found.plans
    assert all(one.change == "no host that may fail" for one in found.excuses)
    assert len(looked) < 12


@pytest.mark.parametrize("within", [{"restart": "1 s"}, {"restart": "165 s"}, {"backup": "20 s"}])
def test_what_no_number_of_node_groups_meets_is_seen_at_the_largest(
    within: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is that of a search through all of them."""
    wanted = asked_for(within=within, most_groups=24)
    monkeypatch.setattr(search, "_PATIENCE", 10**6)
    through_all = sized_for(wanted)
    monkeypatch.setattr(search, "_PATIENCE", 2)
    looked = _counted(monkeypatch)
    found = sized_for(wanted)
    assert [one.title for one in found.plans] == [one.title for one in through_all.plans]
    assert [one.first_limit for one in found.excuses] == [one.first_limit for one in through_all.excuses]
    if not found.plans:
        assert len(looked) < 24


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Class and node groups of every cluster that a search looks at from now on."""
    looked: list[tuple[str, int]] = []
    judged = Judge.verdict

    def verdict(self: Judge, choice: Choice, groups: int, most_clients: int = MOST_NODES) -> Verdict:
        looked.append((choice.title, groups))
        return judged(self, choice, groups, most_clients)

    monkeypatch.setattr(Judge, "verdict", verdict)
    return looked


def test_more_clients_than_there_are_ids_for_are_a_limit_and_no_error() -> None:
    wanted = asked_for(most_groups=2)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    broken = Met("clients", Quantity.exact(300, "tx/s"), Quantity.exact(1, "tx/s"), CLIENTS)
    found = replace(judge.verdict(classes_of(wanted)[1], 2), broken=broken)
    assert judge._lacking(found, Clients(hosts=250)) is broken
    assert judge._most_built(found, 200) * 2 + found.clients.nodes < MOST_NODES


def test_tables_that_no_cluster_is_right_for_need_no_search_for_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each class was given more cores and lower peaks in turn, seconds for each, and had the error still."""
    plan = sample_plan("disk-data-8.4")
    (table,), load = plan.tables, plan.workloads[0]
    rate = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=10_000_000),))
    lost = plan.replace(
        tables=(table.model_copy(update={"tablespace_id": None}),),
        workloads=(load.model_copy(update={"load": rate}),),
    )
    wanted = requirements_of(lost, answers=1, most_groups=2)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    broken = judge.verdict(classes_of(wanted)[0], 1)
    assert broken.broken is not None
    assert broken.broken.needed.unit == "tx/s"
    assert broken.plan is not None
    again = replace(judge)
    by_search = excuse(again, broken)
    assert not judge.errors.are_in_tables
    assert (
        judge.errors.met(broken.plan, "", lambda: judge._largest(broken, broken.plan or plan)).kind == DESIGN
    )
    assert judge.errors.are_in_tables
    looked = _counted(monkeypatch)
    assert excuse(judge, broken) == replace(by_search, against="")
    assert not looked


@pytest.mark.parametrize(("clients", "headroom"), [(3, 0.2), (20, 0.2), (1, 4.0)])
def test_fewer_clients_are_a_lower_peak_until_one_is_left(
    monkeypatch: pytest.MonkeyPatch, clients: int, headroom: float
) -> None:
    """They were rounded: a share of 3 was 3 again, sixteen times, and no change was found."""
    plan = sample_plan("starter")
    load = ClosedLoad(clients=clients, latency_s=0.00002)
    few = plan.workloads[0].model_copy(update={"load": load})
    asked = {"answers": 1, "most_groups": 1, "survive": (), "headroom": headroom}
    wanted = requirements_of(plan.replace(workloads=(few,)), **asked)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    broken = judge.verdict(classes_of(wanted)[0], 1)
    assert broken.broken is not None
    looked = _counted(monkeypatch)
    words = _moved_in_turn(judge, broken, by_hardware=False).changes
    assert words == (("peaks of 'Ordinary day' 100\u2009000 tx/s",) if clients > 1 else ())
    assert len(looked) <= 2


def test_whether_a_step_lets_a_load_be_sustained_takes_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each step that did not, a second run told when and why, which nobody asked."""
    wanted = asked_for(most_groups=1)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    found = judge.verdict(classes_of(wanted)[1], 1)
    assert found.broken is None
    (load,) = judge.loads
    now = Estimation(found.plan) if found.plan is not None else None
    assert now is not None
    told: list[float] = []
    monkeypatch.setattr(sustaining, "holds", lambda *asked: False)
    monkeypatch.setattr(sustaining, "end_at", lambda *asked: told.append(1.0))
    (late,) = not_sustained(now, load, 1000.0, 1.5, judge.cancelled)
    assert 1 < late.nearness < 1.5
    assert len(told) == 1
    (unheld,) = not_sustained(now, load, 1000.0, 1.0, judge.cancelled)
    assert unheld.nearness > 1
    assert len(told) == 1


@pytest.mark.parametrize("beyond", [False, True])
def test_a_load_that_no_disk_lets_be_sustained_is_lowered_to_what_is(
    monkeypatch: pytest.MonkeyPatch, beyond: bool
) -> None:
    """Disks were made faster five times for it, each with all steps of parameters, and nothing was told."""
    most_per_s = 1234.0
    end = End(Bottleneck("disk", "data-1 disk0", 1.0))
    monkeypatch.setattr(sustaining, "holds", lambda _scenario, rate, *_: rate <= most_per_s)
    monkeypatch.setattr(sustaining, "end_at", lambda *_: end)
    monkeypatch.setattr(sustaining, "highest_rate", lambda *_: (most_per_s, end))
    wanted = asked_for(most_groups=1, headroom=0)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    broken = judge.verdict(classes_of(wanted)[1], 1)
    assert broken.broken is not None
    assert broken.broken.is_simulated
    looked = _counted(monkeypatch)
    told = excuse(judge, broken, judge.verdict(classes_of(wanted)[1], 100) if beyond else None)
    assert told.change == "peaks of 'pay' 1\u2009232 tx/s"
    # The lower peak, one a little higher; no cluster beyond, which changes no less. Of the fastest disks the
    # load alone is asked.
    assert len(looked) == 2 + beyond


def test_a_lower_peak_is_raised_as_far_as_steps_of_parameters_let_it_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is sustained as parameters are was told, four times less than with one of them set."""
    end = End(Bottleneck("disk", "data-1 disk0", 1.0))
    monkeypatch.setattr(sustaining, "holds", lambda _scenario, rate, *_: rate <= 1234.0)
    monkeypatch.setattr(sustaining, "end_at", lambda *_: end)
    monkeypatch.setattr(sustaining, "highest_rate", lambda *_: (300.0, end))
    wanted = asked_for(most_groups=1, headroom=0)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    told = excuse(judge, judge.verdict(classes_of(wanted)[1], 1)).change
    assert told is not None
    found = re.fullmatch(r"peaks of 'pay' ([\d\u2009]+) tx/s", told)
    assert found is not None, told
    assert 1222 <= int(found[1].replace("\u2009", "")) <= 1234


def test_hardware_that_moves_nothing_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores were doubled and doubled again for LDM threads that a node has no more of."""
    wanted = asked_for(most_groups=1)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    cores: list[int] = []
    needed, allowed = Quantity.exact(3000, "tx/s"), Quantity.exact(1000, "tx/s")

    def verdict(self: Judge, choice: Choice, groups: int) -> Verdict:
        cores.append(choice.host.cores)
        broken = Met("peak of 'pay' (the LDM threads of node 1)", needed, allowed, "cpu")
        return Verdict(choice, groups, Clients(2), None, broken=broken if self.begun is judge.begun else None)

    monkeypatch.setattr(Judge, "verdict", verdict)
    words = _moved_in_turn(judge, judge.verdict(classes_of(wanted)[0], 1), by_hardware=True).changes
    assert words == ("peaks of 'pay' 666 tx/s",)
    assert cores == [8, 25, 8]


def test_that_the_largest_reads_too_little_is_seen_though_few_clients_carry_less() -> None:
    """Each number of node groups was looked at, up to 48: of the largest only its clients were asked."""
    wanted = read_requirements(DRAWN / "drawn-140.ndbplan", None)
    asked = wanted.requirements, wanted.source, wanted.own
    judge = Judge(wanted.requirements, Builder(wanted.begun, client_host(*asked)))
    choice = next(one for one in choices(*asked) if "8 cores" in one.title and "SATA" in one.title)
    broken = judge.verdict(choice, 3)
    assert broken.broken is not None
    assert broken.broken.kind == "disk reads"
    largest = judge.verdict(choice, 48)
    assert largest.broken is not None
    assert 1 < judge.nearness(broken, 48) <= largest.broken.nearness * 1.05
    assert 1 < judge.nearness(broken, 48) < broken.broken.nearness


@pytest.mark.parametrize("likely", [0.1, 1.5, 4.0, 9.5, 60.0])
def test_the_fewest_clients_are_found_wherever_the_search_begins(likely: float) -> None:
    now, broken = Clients(2), Met("", Quantity.exact(100, "tx/s"), Quantity.exact(10, "tx/s"), CLIENTS)
    for fewest in range(3, 21):
        asked: list[int] = []

        def lacking(clients: Clients, fewest: int = fewest, asked: list[int] = asked) -> Met | None:
            asked.append(clients.hosts)
            return None if clients.hosts >= fewest else broken

        assert more_clients(broken, now, lacking, lambda: likely) == Clients(fewest)
        assert len(asked) == len(set(asked))
        if fewest == 2 * likely:
            assert len(asked) <= 3
    assert more_clients(broken, now, lambda clients: broken, lambda: likely) == Clients(20)


def test_clusters_that_differ_in_their_clients_have_the_same_data_nodes() -> None:
    wanted = asked_for(most_groups=2)
    builder, choice = Builder(wanted.begun, clients_of(wanted)), classes_of(wanted)[1]
    with keeping():
        few, many = (builder.plan(choice, 2, Clients(hosts)) for hosts in (2, 9))
        assert all(map(is_, few.data_nodes, many.data_nodes))
        assert all(map(is_, few.hosts, many.hosts[: len(few.data_nodes)]))
        assert narrowed(machines_of(few)) is narrowed(machines_of(many))
    assert builder.plan(choice, 2, Clients(9)) == many


def _refused_unseen(wanted: Any, monkeypatch: pytest.MonkeyPatch, *said: str) -> Any:
    """The classes, each of which is told this, though no cluster of it is looked at."""
    classes, looked = classes_of(wanted), _counted(monkeypatch)
    sized = search.size(wanted.requirements, wanted.begun, classes, clients_of(wanted))
    assert not looked
    assert not sized.plans
    assert len(sized.excuses) == len(classes)
    assert all(words in one.first_limit for one in sized.excuses for words in said)
    return classes


def test_tables_that_every_cluster_refuses_are_told_before_any_cluster_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And what only some clusters refuse is looked for as ever."""
    plan = sample_plan("starter")
    refused = plan.tables[0].model_copy(update={"fully_replicated": True, "read_backup": False})
    wanted = requirements_of(plan.replace(tables=(refused, *plan.tables[1:])))
    classes = _refused_unseen(
        wanted, monkeypatch, "READ_BACKUP=0 of a fully replicated table", "leave READ_BACKUP out"
    )
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    small = judge.builder.plan(classes[0], 1, Clients(2))
    assert judge.errors.of_all([small]) is not None
    assert judge.errors.of_all([small, small.replace(tables=plan.tables)]) is None


def test_stated_parameters_that_every_cluster_refuses_are_told_before_any_cluster_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every class was looked at with node group after node group, for two minutes."""
    plan = sample_plan("starter")
    stated = {"MaxNoOfConcurrentOperations": 1000, "MaxNoOfConcurrentTransactions": 4096}
    for name, value in stated.items():
        plan = set_everywhere(plan, name, value)
    _refused_unseen(
        requirements_of(plan), monkeypatch, "MaxNoOfConcurrentOperations 1000 is below",
        "set MaxNoOfConcurrentOperations to 4096",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "is_told"),
    [
        # Sizing steps the one, and sets the other by the rows.
        ("NoOfFragmentLogFiles", 1, False),
        ("DataMemory", 1, False),
        ("HeartbeatIntervalDbDb", 1, True),
        ("TimeBetweenLocalCheckpoints", 32, True),
    ],
)
def test_an_error_of_parameters_that_sizing_moves_is_none_of_every_cluster(
    name: str, value: int, is_told: bool
) -> None:
    plan = sample_plan("starter")
    stated = plan.parameters.model_copy(update={"data_node": plan.parameters.data_node.with_(name, value)})
    wanted = requirements_of(plan.replace(parameters=stated))
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    sizing = search._Sizing(judge, classes_of(wanted), lambda share: None, map, 1, map)
    told = judge.errors.of_all(sizing._clusters())
    assert (told is not None and f"{name} {value} is outside" in told.limit) == is_told


def test_data_files_have_room_for_what_the_peaks_add() -> None:
    """Half a day of inserts fills data files that cost nothing: 56 node groups were bought for their room."""
    plan = sample_plan("disk-data-8.4")
    long = tuple(one.model_copy(update={"duration_s": 12 * 3600.0}) for one in plan.workloads[:1])
    wanted = requirements_of(plan.replace(workloads=long), answers=1)
    classes = classes_of(wanted)[-2:]
    sized = search.size(wanted.requirements, wanted.begun, classes, clients_of(wanted))
    best = sized.plans[0]
    assert len(node_groups(best.plan)) == 2
    assert any(one.startswith("size of data file ") for one in best.settings)
    # Disks for its rows alone cannot hold checkpoints of a full DataMemory: check asks for larger ones.
    wanted_two = replace(wanted, requirements=wanted.requirements.model_copy(update={"most_groups": 2}))
    two = search.size(wanted_two.requirements, wanted.begun, classes[:1], clients_of(wanted))
    assert [one.change for one in two.excuses if one.change and one.change.startswith("disks of")]
    (load,) = best.plan.workloads
    now = Estimation(best.plan, load)
    found = max_load(now, duration_s=load.duration_s, with_next=False)
    assert found.max_per_s.value >= now.offered_per_s * (1 + wanted.requirements.headroom) * 0.99
