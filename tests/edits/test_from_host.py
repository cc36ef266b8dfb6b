"""What the first data node of a plan takes from its host."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ndbplan.base.units import GIB, TIB
from ndbplan.checks.run import check
from ndbplan.edits.from_host import (
    chosen_for,
    default_of,
    handed_over,
    settled_anew,
    with_settings_of,
    without_settings,
)
from ndbplan.edits.offers import make_disk, make_host, make_process
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import add, remove, set_plan, update
from ndbplan.edits.validated import EditError
from ndbplan.plan.plan import EMPTY_PLAN, Plan


def with_node(cores: int, memory: int, disk: str = "nvme", version: str | None = None) -> tuple[Plan, str]:
    plan = EMPTY_PLAN if version is None else set_plan(EMPTY_PLAN, ndb_version=version)
    host = make_host(plan, "host-small").model_copy(
        update={"cores": cores, "memory_bytes": memory, "disks": ()}
    )
    host = host.model_copy(update={"disks": (make_disk(plan, host, disk),)})
    plan = add(plan, host)
    node = make_process(plan, "data", host.id)
    return add(plan, node), node.id


def test_threads_memory_and_redo_follow_the_host_with_reasons() -> None:
    plan, node = with_node(32, 256 * GIB)
    after, chosen = with_settings_of(plan, node)
    given = after.parameters.data_node
    assert given["AutomaticThreadConfig"] == 1
    assert given["DataMemory"] == 128 * GIB
    assert given["NoOfFragmentLogParts"] == 8
    log = given["NoOfFragmentLogParts"] * given["NoOfFragmentLogFiles"] * given["FragmentLogFileSize"]
    assert log == 32 * GIB
    assert given["StopOnError"] == 0, "by default a node that fails stays down"
    assert {one.name for one in chosen} == set(given)
    assert all(one.reason for one in chosen)
    assert next(one for one in chosen if one.name == "DataMemory").line == (
        "DataMemory 128G: half of the 256 GiB of host-1"
    )
    assert without_settings(after, chosen) == plan


def test_what_the_plan_states_is_left_alone() -> None:
    plan, node = with_node(32, 256 * GIB)
    plan = set_parameter(plan, "data_node", "DataMemory", 5 * GIB)
    plan = set_parameter(plan, "data_node", "MaxNoOfExecutionThreads", 4)
    after, chosen = with_settings_of(plan, node)
    assert after.parameters.data_node["DataMemory"] == 5 * GIB
    assert "AutomaticThreadConfig" not in after.parameters.data_node
    assert "DataMemory" not in {one.name for one in chosen}


def test_a_second_data_node_and_older_versions_take_nothing() -> None:
    plan, node = with_node(32, 256 * GIB, version="7.6")
    assert with_settings_of(plan, node) == (plan, ())
    plan, node = with_node(32, 256 * GIB)
    second = make_process(plan, "data", plan.hosts[0].id)
    both = add(plan, second)
    assert with_settings_of(both, second.id) == (both, ())


@given(
    st.integers(1, 256),
    st.integers(4, 4096).map(lambda gib: gib * GIB),
    st.sampled_from(["nvme", "sata", "sas", "cloud"]),
)
def test_what_is_chosen_is_never_refused_nor_too_much(cores: int, memory: int, disk: str) -> None:
    assume(memory >= 2 * GIB + cores * GIB // 8)
    plan, node = with_node(cores, memory, disk)
    after, _ = with_settings_of(plan, node)
    before = {(p.rule, p.where) for p in check(plan)}
    new = [p for p in check(after) if (p.rule, p.where) not in before and p.severity != "hint"]
    assert not [p for p in new if p.severity == "error"], (cores, memory / TIB)
    assert not [p for p in new if "redo" in p.rule or "thread" in p.rule]


def test_what_was_taken_says_so_and_follows_the_hosts() -> None:
    plan, node = with_node(32, 256 * GIB)
    plan, chosen = with_settings_of(plan, node)
    assert set(plan.origins.data_node) == {one.name for one in chosen}
    assert plan.origins.data_node["DataMemory"].words.endswith("half of the 256 GiB of host-1")
    smaller = update(plan, plan.hosts[0].id, memory_bytes=64 * GIB, cores=8)
    followed = settled_anew(smaller)
    assert followed.parameters.data_node["DataMemory"] == 32 * GIB
    assert followed.parameters.data_node["NoOfFragmentLogParts"] == 4
    by_hand = set_parameter(plan, "data_node", "DataMemory", 100 * GIB)
    still = settled_anew(update(by_hand, plan.hosts[0].id, memory_bytes=64 * GIB))
    assert still.parameters.data_node["DataMemory"] == 100 * GIB, "set by hand, it stays"


def test_a_reason_says_what_the_host_is_now() -> None:
    plan, node = with_node(32, 256 * GIB)
    plan, _ = with_settings_of(plan, node)
    fewer = settled_anew(update(plan, plan.hosts[0].id, cores=10, hostname="renamed"))
    assert fewer.parameters.data_node["AutomaticThreadConfig"] == 1
    told = fewer.origins.data_node["AutomaticThreadConfig"].words
    assert told.endswith("on the 10 cores of renamed")
    assert fewer.parameters.data_node["DataMemory"] == plan.parameters.data_node["DataMemory"]
    assert fewer.origins.data_node["DataMemory"].words.endswith("of the 256 GiB of renamed")


def test_an_sql_node_beside_it_leaves_fewer_processors() -> None:
    plan, node = with_node(32, 256 * GIB)
    plan, _ = with_settings_of(plan, node)
    shared = settled_anew(add(plan, make_process(plan, "sql", plan.hosts[0].id)))
    assert shared.parameters.data_node["NumCPUs"] == 16
    alone = settled_anew(remove(shared, [shared.sql_nodes[0].id]))
    assert alone.parameters == plan.parameters
    assert settled_anew(plan) is plan, "what is right is shared"


@pytest.mark.parametrize("version", ["7.4.10", "7.6", "8.4"])
def test_a_stated_index_memory_leaves_that_much_less(version: str) -> None:
    plan, _ = with_node(16, 64 * GIB, version=version)
    plan = set_parameter(plan, "data_node", "ODirect", 1)
    whole = handed_over(plan, "DataMemory").parameters.data_node["DataMemory"]
    plan = set_parameter(plan, "data_node", "IndexMemory", 8 * GIB)
    less = handed_over(plan, "DataMemory")
    assert whole == (28 if version == "7.4.10" else 32) * GIB, "an eighth of it is for hash indexes up to 7.5"
    assert less.parameters.data_node["DataMemory"] == 24 * GIB
    assert "without the 8G of IndexMemory" in less.origins.data_node["DataMemory"].words


def test_hash_indexes_of_older_versions_get_their_own_memory() -> None:
    plan, node = with_node(16, 64 * GIB, version="7.4.10")
    chosen, _ = chosen_for(plan, plan.by_id[node])
    data, index = (chosen.parameters.data_node[name] for name in ("DataMemory", "IndexMemory"))
    assert data == 28 * GIB
    assert index / data == pytest.approx(default_of("index_memory_share"), rel=0.02)
    of_two = handed_over(plan, "DataMemory")
    assert of_two.parameters.data_node["IndexMemory"] == index, "DataMemory alone would hold few rows"
    assert "IndexMemory" not in settled_anew(of_two.replace(ndb_version="8.4.8")).parameters.data_node


def test_one_node_follows_its_own_host() -> None:
    plan, first = with_node(16, 64 * GIB)
    host = make_host(plan, "host-small").model_copy(
        update={"cores": 32, "memory_bytes": 256 * GIB, "disks": ()}
    )
    plan = add(plan, host.model_copy(update={"disks": (make_disk(plan, host, "nvme"),)}))
    plan = handed_over(add(plan, second := make_process(plan, "data", host.id)), "DataMemory")
    plan = handed_over(plan, "DataMemory", second.id)
    assert plan.parameters.data_node["DataMemory"] == 32 * GIB
    assert plan.by_id[second.id].parameters == {"DataMemory": 128 * GIB}
    assert "half of the 256 GiB" in plan.by_id[second.id].origins["DataMemory"].words
    larger = settled_anew(update(update(plan, host.id, memory_bytes=512 * GIB), first, node_group=None))
    assert larger.by_id[second.id].parameters == {"DataMemory": 256 * GIB}
    assert larger.parameters == plan.parameters
    with pytest.raises(EditError, match="decides on the threads"):
        handed_over(set_parameter(plan, second.id, "ThreadConfig", "ldm"), "AutomaticThreadConfig", second.id)


def test_what_builds_on_what_a_node_has_of_its_own_follows_at_once() -> None:
    plan, first = with_node(4, 64 * GIB)
    plan = handed_over(plan, "DataMemory", first)
    plan = handed_over(plan, "NoOfFragmentLogFiles")
    smaller = settled_anew(update(plan, plan.hosts[0].id, memory_bytes=32 * GIB))
    assert smaller.by_id[first].parameters["DataMemory"] == 16 * GIB
    files = (one.parameters.data_node["NoOfFragmentLogFiles"] for one in (plan, smaller))
    assert next(files) == 2 * next(files)
    assert settled_anew(smaller) is smaller
