"""Rules about memory and disks."""

from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.base.units import GIB
from ndbplan.checks.problem import Problem, Severity
from ndbplan.edits.offers import most_memory_bytes
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.plan import file
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column
from one_rule import of_rule, said_by


@pytest.fixture
def starter() -> Plan:
    return file.load(resource_path("samples/starter.ndbplan"))


def found(plan: Plan, rule: str) -> list[Problem]:
    return of_rule(plan, rule)


def test_more_than_the_host_has(starter: Plan) -> None:
    host = starter.host(starter.data_nodes[0].host_id)
    small = update(starter, host.id, memory_bytes=100 * GIB)
    (problem,) = found(small, "memory-of-host")
    assert problem.severity is Severity.ERROR
    assert "100 GiB of host-a1" in problem.message
    assert not found(starter, "memory-of-host")


def test_nearly_all_of_the_host(starter: Plan) -> None:
    host = starter.host(starter.data_nodes[0].host_id)
    tight = update(starter, host.id, memory_bytes=144 * GIB)
    (problem,) = found(tight, "memory-of-host")
    assert problem.severity is Severity.WARNING
    assert found(tight, "data-memory-of-host")


def test_tables_larger_than_data_memory(starter: Plan) -> None:
    tiny = set_parameter(starter, "data_node", "DataMemory", 2**20)
    problems = found(tiny, "data-memory-fill")
    assert len(problems) == 1, "one cause, one row"
    assert len(problems[0].alike) == 2
    assert "error 827" in problems[0].message
    assert not found(starter, "data-memory-fill")


def test_data_files_beside_the_redo_log() -> None:
    telecom = file.load(resource_path("samples/telecom-144.ndbplan"))
    node = telecom.data_nodes[0]
    assert not found(telecom, "shared-device")
    roles = node.disk_roles.model_copy(update={"data_files": node.disk_roles.redo})
    (problem,) = found(update(telecom, node.id, disk_roles=roles), "shared-device")
    assert "DATA FILES of data node 1 share disk nvme0 with its REDO log" in problem.message


def test_redo_and_lcp_apart_is_said(starter: Plan) -> None:
    (problem,) = found(starter, "redo-and-lcp-apart")
    assert problem.severity is Severity.HINT
    fixed = set_parameter(starter, "data_node", "FileSystemPath", "/nvme1/fs")
    assert found(fixed, "redo-and-lcp-apart")[0].severity is Severity.WARNING


def test_tables_that_do_not_fit_by_a_length_that_is_assumed_say_so(starter: Plan) -> None:
    blob, plan = Column(name="doc", type="json"), starter
    plan = update(plan, plan.tables[0].id, rows=2_000_000_000, columns=(*plan.tables[0].columns, blob))
    said = said_by(plan, "data-memory-fill")[0].message
    assert f"1\u2009000 bytes are assumed for a value of {plan.tables[0].full_name}.doc" in said
    known = blob.model_copy(update={"average_bytes": 1000})
    plan = update(plan, plan.tables[0].id, columns=(*plan.tables[0].columns[:-1], known))
    assert "assumed" not in said_by(plan, "data-memory-fill")[0].message


def _with_documents(plan: Plan, rows: int) -> Plan:
    table = plan.tables[0]
    doc = Column(name="doc", type="json")
    return update(plan, table.id, rows=rows, columns=(*table.columns, doc))


@pytest.mark.parametrize("rows", [400_000_000, 2_000_000_000])
def test_lengths_that_are_assumed_recommend_least_hardware_and_their_measure(
    starter: Plan, rows: int
) -> None:
    plan = _with_documents(starter, rows)
    (problem,) = found(plan, "data-memory-fill")
    first, *others = problem.solutions
    assert "measure" in first.why
    assert others[-1].why.endswith("enough for the longest that lengths which are assumed may be")
    bought = [len(way.edit(plan).hosts) - len(plan.hosts) for way in problem.solutions]
    usual = [
        number
        for number, way in zip(bought, problem.solutions, strict=True)
        if max(host.memory_bytes for host in way.edit(plan).hosts) <= most_memory_bytes()
    ]
    assert bought[0] == min(usual)
    for way in problem.solutions:
        assert not found(way.edit(plan), "data-memory-fill")


@pytest.mark.parametrize("follows", [True, False])
def test_what_hosts_have_room_for_comes_first_whatever_is_told_once_it_is_done(
    starter: Plan, follows: bool
) -> None:
    plan = _with_documents(starter, 100_000_000)
    if not follows:
        # Loads and growth would fill what is left of the memory.
        still = [table.model_copy(update={"growth_rows_per_month": 0}) for table in plan.tables]
        plan = plan.replace(workloads=(), tables=tuple(still))
    (problem,) = found(plan, "data-memory-fill")
    first = problem.solutions[0]
    assert not first.buys
    assert first.title.startswith("Raise DataMemory to")
    after = first.edit(plan)
    assert not found(after, "data-memory-fill")
    assert bool([*found(after, "fills-with-load"), *found(after, "fills-with-growth")]) is follows
    assert ("then under workload" in first.why) is follows
