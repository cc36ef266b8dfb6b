"""Which changes are tried for each thing that may limit a load, and what each does, against a kept table.

What they gain takes simulations (`test_remedies.py`). After a change of what is tried, `.venv/bin/python
tests/advise/test_candidates.py` writes the table anew; its difference is what the change means.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from ndbplan.advise import candidate_limits
from ndbplan.advise.candidate import Change
from ndbplan.advise.candidates import single_changes
from ndbplan.advise.remedies import set_arguments
from ndbplan.base.errors import UserError
from ndbplan.base.units import MIB
from ndbplan.checks.run import check_all
from ndbplan.edits.changes import value_changes
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.solutions import set_everywhere
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import computed_values_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.modelled import moves
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.bottleneck import Bottleneck

TABLE = Path(__file__).parent / "candidates.txt"
TESTS = Path(__file__).parent.parent
PLANS = {
    name: TESTS.parent / "resources" / "samples" / f"{name}.ndbplan"
    for name in ("starter", "redo-overload", "disk-data", "disk-data-8.4")
} | {name: TESTS / "golden" / "plans" / f"{name}.ndbplan" for name in ("single-6.3-ndbd", "uneven-hosts-8.0")}
MOST_CHANGES = 8
RESOURCES = (
    "disk", "redo log", "redo files", "undo log", "tablespace", "memory", "operation records", "cpu",
    "network", "disk reads", "sql nodes", "api nodes",
)  # fmt: skip


def _limit(resource: str, *object_ids: str) -> Bottleneck:
    return Bottleneck(resource, "somewhere", 1.0, object_ids)


def _told(plan: Plan, candidate: Change) -> Iterator[str]:
    after = candidate.edit(plan)
    marks = {
        "only holds back": candidate.only_holds_back,
        f"one of {candidate.one_of}": bool(candidate.one_of),
        f"{candidate.more_disks} more disks": candidate.more_disks is not None,
    }
    yield f"  {candidate.title}{''.join(f'; {text}' for text, holds in marks.items() if holds)}"
    changes = value_changes(plan, after)
    for change in changes[:MOST_CHANGES]:
        yield f"    {change.scope} {change.name}: {change.before} -> {change.after}"
    arguments = set_arguments(plan, after, changes)
    yield f"    {len(changes)} changes; set takes {'it not' if arguments is None else len(arguments)}"


def lines() -> Iterator[str]:
    """The table: for each plan the layouts, then what is tried where a resource limits, told once."""
    for name, path in PLANS.items():
        plan = load(path)
        workload = plan.workloads[0]
        yield f"{name}: layouts"
        for candidate in candidate_limits.ranked_layouts(plan, workload):
            yield from _told(plan, candidate)
        last_disk = plan.host(plan.data_nodes[-1].host_id).disks[-1].id
        told: set[str] = set()
        with patch.object(candidate_limits, "ranked_layouts", return_value=()):
            for resource, ids in (*((one, ()) for one in RESOURCES), ("disk", (last_disk,))):
                yield f"{name}: {' '.join((resource, *ids))}"
                for candidate in candidate_limits.lifting(plan, workload, _limit(resource, *ids)):
                    told_now = list(_told(plan, candidate))
                    yield from told_now[:1] if told_now[0] in told else told_now
                    told.add(told_now[0])


def test_what_is_tried_is_what_the_table_says() -> None:
    assert list(lines()) == TABLE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", PLANS)
def test_what_remedies_try_is_among_the_single_changes(name: str) -> None:
    """But for layouts that take several disks: a remedy that gains more than the first row would prove it
    wrong."""
    plan = load(PLANS[name])
    single = {_made(plan, change) for change in single_changes(plan)}
    found = [
        (resource, change.title)
        for resource in RESOURCES
        if resource != "disk reads" or plan.tablespaces
        for change in candidate_limits.lifting(plan, plan.workloads[0], _limit(resource))
        if (change.more_disks or 0) <= 1 and (made := _made(plan, change)) and made not in single
    ]
    assert found == []


@pytest.mark.parametrize("name", ["redo-overload", "uneven-hosts-8.0"])
def test_what_checks_offer_is_among_the_single_changes(name: str) -> None:
    plan = load(PLANS[name])
    single = {_made(plan, change) for change in single_changes(plan)}
    offered = [edit for p in check_all(plan) for edit in (p.edit, *(way.edit for way in p.solutions)) if edit]
    assert offered
    assert [edit for edit in offered if _made(plan, Change("", edit, "fix")) not in single] == []


def _made(plan: Plan, change: Change) -> frozenset[tuple[str, str, object]]:
    """What it makes; nothing where it cannot be made."""
    try:
        after = change.edit(plan)
    except UserError:
        return frozenset()
    return frozenset((one.scope, one.name, one.after) for one in value_changes(plan, after))


if __name__ == "__main__":
    TABLE.write_text("\n".join(lines()) + "\n", encoding="utf-8")


def test_titles_say_sizes_and_no_names_of_fields() -> None:
    titles = [change.title for change in single_changes(sample_plan("redo-overload-8.4"))]
    assert any(title.startswith("NVMe 3.2 TB as ") for title in titles)
    assert not [title for title in titles if "{" in title]


@pytest.mark.parametrize("name", ["starter", "redo-overload", "single-6.3-ndbd", "uneven-hosts-8.0"])
def test_every_parameter_that_moves_something_has_a_step_up_and_down_of_all_nodes(name: str) -> None:
    """What a data node works out from others had none: local operations and scans, send buffers."""
    plan = load(PLANS[name])
    steps: dict[str, list[Change]] = {}
    for change in single_changes(plan):
        if change.what == "parameter" and " alone" not in change.title:
            for one in value_changes(plan, change.edit(plan)):
                steps.setdefault(one.name, []).append(change)
    asked = [one for one in catalogue.parameters("DB", plan.version) if moves("DB", one.name)]
    kinds = ("bool", "enum")
    names = {one.name for one in asked if one.is_number or one.type in kinds} - _OTHERWISE
    assert not names - steps.keys()
    given = {"MaxNoOfLocalOperations", "MaxNoOfLocalScans"}
    assert all(len(steps[one]) == 2 for one in given)


@pytest.mark.parametrize("name", ["starter", "redo-overload-8.4"])
def test_no_size_goes_from_nothing_to_one_byte(name: str) -> None:
    """TransactionMemory of one byte was a step of one that is worked out."""
    plan = sample_plan(name)
    changed = [
        one
        for change in single_changes(plan)
        if change.what == "parameter"
        for one in value_changes(plan, change.edit(plan))
    ]
    from_none = {one.name: one.after for one in changed if _is_size(one.name) and one.before in (None, 0)}
    assert from_none["ExtraSendBufferMemory"] == MIB
    assert not [name for name, after in from_none.items() if after == 1]


def _is_size(name: str) -> bool:
    known = (
        one for section in ("DB", "TCP") for one in catalogue.parameters(section, NdbVersion.parse("8.4"))
    )
    return any(one.name == name and one.unit.startswith("bytes") for one in known)


def test_nodes_go_one_by_one_with_the_hosts_on_which_nothing_else_runs() -> None:
    """A cluster of too many node groups was told of everything but one group fewer."""
    plan = set_everywhere(add_node_group(sample_plan("redo-overload-8.4")), "DataMemory", 2**33)
    fewer = {c.title: c.edit(plan) for c in single_changes(plan) if c.title.startswith("Without ")}
    after = fewer["Without the last node group"]
    assert len(plan.data_nodes) == 4
    assert [node.id for node in after.data_nodes] == [node.id for node in plan.data_nodes[:2]]
    gone = {host.id for host in plan.hosts} - {host.id for host in after.hosts}
    assert gone == {node.host_id for node in plan.data_nodes[2:]}
    assert "Without the last node group" not in [c.title for c in single_changes(after)]
    for title, one in fewer.items():
        assert all(one.processes_of_host[host.id] for host in one.hosts), title


_OTHERWISE = {"AutomaticThreadConfig", "NoOfReplicas", "IndexMemory", "MaxNoOfExecutionThreads"}
"""With the threads stated, as replicas, as part of DataMemory, and as threads of each kind."""


def test_stating_what_a_node_works_out_changes_nothing_and_more_takes_memory() -> None:
    plan = load(PLANS["uneven-hosts-8.0"])
    node = plan.data_nodes[0]
    worked_out = computed_values_of(plan, node)
    assert set(worked_out) == {"MaxNoOfLocalOperations", "MaxNoOfLocalScans", "TotalSendBufferMemory"}
    for parameter, value in worked_out.items():
        stated = set_parameter(plan, node.id, parameter, value)
        assert _ram_bytes(stated) == pytest.approx(_ram_bytes(plan), abs=4096)
        assert _ram_bytes(set_parameter(plan, node.id, parameter, 4 * value)) > _ram_bytes(plan)


def _ram_bytes(plan: Plan) -> float:
    return Estimation(plan).memory.nodes[0].ram_bytes.value
