"""The same plan in every version: a step over a fifth names the change of the product that causes it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from drawn_loads import loaded_plans
from ndbplan.base.frozen import FrozenMap
from ndbplan.base.quantity import Quantity, Term
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.timed import backup, restart
from ndbplan.estimate.times.restart import KINDS, Conditions
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.speed_changes import speed_changes
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.samples import sample_names, sample_plan

VERSIONS = (
    "6.3.19", "6.3.28", "7.0.8", "7.0.9", "7.1", "7.2.0", "7.2", "7.3", "7.4.1", "7.4.10", "7.4", "7.5",
    "7.6.3", "7.6.7", "7.6", "8.0.15", "8.0.19", "8.0", "8.4", "8.4.8", "9.x",
)  # fmt: skip
STEP = 1.2
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
"""A failing plan in twenty versions takes too long to make smaller."""
OPERATIONS = (*KINDS, "backup", "reorganise")


def parts(plan: Plan, operation: str) -> dict[str, Quantity]:
    """Durations of an operation's parts by name; what cannot be done has none."""
    if operation == "backup":
        found = backup(plan)
        return {f"node {n.node_id}": n.duration_s for n in found.nodes}
    if operation == "reorganise":
        if plan.version < (7, 0):
            return {}
        return {t.table: t.duration_s for t in reorganise(plan).tables if t.moves}
    return {p.name: p.duration_s for p in restart(plan, operation, conditions=Conditions()).phases}  # type: ignore[arg-type]


def whole(found: dict[str, Quantity], operation: str) -> float:
    """Seconds of the whole operation: nodes make a backup at once, all else is done in turn."""
    values = [q.value for q in found.values()]
    return max(values, default=0.0) if operation == "backup" else sum(values)


def terms(why: tuple[Term, ...]) -> Iterator[Term]:
    for term in why:
        yield term
        yield from terms(term.why)


def named_changes(quantity: Quantity) -> dict[str, float]:
    """Changes of the product in a derivation by their name in the data table; 1: in effect, 0: not yet."""
    return {
        term.source.rsplit("[", 1)[1][:-1]: term.value
        for term in terms(quantity.why)
        if term.source.startswith("product: ")
    }


def explained(before: dict[str, Quantity], after: dict[str, Quantity]) -> dict[str, tuple[float, float]]:
    """Changes in the derivations of parts whose durations differ: in effect before, in effect after."""
    found: dict[str, tuple[float, float]] = {}
    for name in {*before, *after}:
        a, b = before.get(name), after.get(name)
        if a is not None and b is not None and abs(a.value - b.value) <= 1e-6 * max(a.value, b.value):
            continue
        was, now = (named_changes(q) if q is not None else {} for q in (a, b))
        for change in was.keys() | now.keys():
            found[change] = (was.get(change, -1.0), now.get(change, -1.0))
    return found


def assert_steps_are_named(plan: Plan, operation: str, versions: tuple[str, ...] = VERSIONS) -> None:
    found = [(v, parts(edits.set_plan(plan, ndb_version=v), operation)) for v in versions]
    for (earlier, before), (later, after) in pairwise(found):
        if not before or not after:
            continue
        a, b = whole(before, operation), whole(after, operation)
        if max(a, b) <= STEP * min(a, b) or max(a, b) - min(a, b) < 0.5:
            continue
        named = {
            name
            for name, (was, now) in explained(before, after).items()
            if was < 1
            and now != 0
            and operation in speed_changes()[name].affects
            and not speed_changes()[name].is_in(NdbVersion.parse(earlier))
            and speed_changes()[name].is_in(NdbVersion.parse(later))
        }
        assert named, f"{operation}: {earlier} {a:.1f} s, {later} {b:.1f} s"


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", [n for n in sample_names() if n != "telecom-144" and not n.endswith("-8.4")])
def test_each_step_of_a_sample_is_named(name: str, operation: str) -> None:
    # Without a disk no rows are left for a system restart, which is refused then.
    assert_steps_are_named(set_parameter(sample_plan(name), "data_node", "Diskless", None), operation)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_step_of_many_threads_and_log_parts_is_named(operation: str) -> None:
    # What MaxNoOfExecutionThreads may be and whether there are more log parts than 4 came bit by bit.
    plan = sample_plan("node-restart")
    for name, value in (("MaxNoOfExecutionThreads", 72), ("NoOfFragmentLogParts", 32)):
        plan = set_parameter(plan, "data_node", name, value)
    for host in plan.hosts:
        plan = edits.update(plan, host.id, cores=64, network_bytes_per_s=1e10)
        for disk in host.disks:
            plan = edits.update(plan, disk.id, sequential_read_bytes_per_s=5e9)
    versions = ("7.1", "7.2.0", "7.2.4", "7.2.5", "7.2.15", "7.2.16", "7.2", "7.3.2", "7.3.3", "7.3", "7.4.1")
    assert_steps_are_named(plan, operation, versions)


def taken_by_all(plan: Plan, versions: tuple[str, ...]) -> Plan:
    """The plan without values that one of the versions takes as its default: no change of the product is."""

    def kept(stated: Mapping[str, int | str]) -> FrozenMap:
        return FrozenMap({name: value for name, value in stated.items() if is_taken(name, value)})

    def is_taken(name: str, value: int | str) -> bool:
        each = map(NdbVersion.parse, versions)
        known = (catalogue.parameter("DB", name, v) for v in each if catalogue.knows("DB", name, v))
        return all(
            not isinstance(value, int) or (one.minimum or 0) <= value <= (one.maximum or math.inf)
            for one in known
        )

    own = tuple(
        node.model_copy(update={"parameters": kept(node.parameters)}) if isinstance(node, DataNode) else node
        for node in plan.processes
    )
    shared = plan.parameters.model_copy(update={"data_node": kept(plan.parameters.data_node)})
    return plan.replace(processes=own, parameters=shared)


def test_a_value_that_an_older_version_does_not_take_is_no_change_of_the_product() -> None:
    """16 TiB of DataMemory are the default in 7.6: a drawn plan that had it made a step nobody named."""
    versions = ("7.6", "8.0")
    plan = set_parameter(sample_plan("node-restart"), "data_node", "DataMemory", 2**44)
    with pytest.raises(AssertionError, match="system"):
        assert_steps_are_named(plan, "system", versions)
    assert_steps_are_named(taken_by_all(plan, versions), "system", versions)


@given(loaded_plans())
@settings(max_examples=8, suppress_health_check=list(HealthCheck), phases=NO_SHRINKING)
def test_each_step_of_any_plan_is_named(plan: Plan) -> None:
    plan = taken_by_all(plan, SERIES)
    for operation in OPERATIONS:
        assert_steps_are_named(plan, operation, SERIES)


def test_a_node_restart_of_2009_in_later_versions() -> None:
    plan = sample_plan("node-restart")
    times = {
        v: restart(edits.set_plan(plan, ndb_version=v), "node").duration_s.value
        for v in ("7.0.9", "7.1", "7.4", "7.6", "8.0", "8.4")
    }
    assert times["7.0.9"] == times["7.1"]
    assert times["7.6"] == times["8.0"] == times["8.4"]
    ordered = [times[v] for v in ("7.1", "7.4", "7.6")]
    assert ordered == sorted(ordered, reverse=True)


def test_a_host_does_not_change_its_cores_with_the_version() -> None:
    plan = sample_plan("add-nodes")
    old, new = (reorganise(edits.set_plan(plan, ndb_version=v)).duration_s.value for v in ("7.1", "7.4"))
    assert old == pytest.approx(new, rel=0.05)


def test_every_change_has_a_source_and_says_what_it_affects() -> None:
    for change in speed_changes().values():
        assert change.source
        assert change.what
        assert set(change.affects) <= set(OPERATIONS)
        assert list(change.since) == sorted(change.since)


@pytest.mark.parametrize("name", ["node-restart", "add-nodes", "starter"])
def test_7_4_0_copies_rows_as_7_3_does(name: str) -> None:
    """Several fragments at once, and the speed that was measured with them, came with 7.4.1."""
    plan = sample_plan(name)
    copied = {
        version: parts(edits.set_plan(plan, ndb_version=version), "initial")["copy fragments"].value
        for version in ("7.3", "7.4.0", "7.4.1")
    }
    assert copied["7.4.0"] == copied["7.3"] != copied["7.4.1"]
