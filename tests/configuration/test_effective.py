"""What ndb_mgmd writes into a configuration by itself is in its effective values and in differences."""

from __future__ import annotations

import pytest

from ndbplan.configuration.connections import connections_of
from ndbplan.configuration.difference import diff
from ndbplan.configuration.sections import effective_configuration
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import threads_of
from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, Link, ManagementNode, SqlNode
from stated_connections import effective_connections


def cluster(version: str = "8.4.8") -> Plan:
    """Two data nodes, a management node and an SQL node on the host of the first data node."""
    hosts = tuple(Host(id=f"h{i}", hostname=f"h{i}", memory_bytes=2**34) for i in range(3))
    return Plan(
        ndb_version=version,
        hosts=hosts,
        processes=(
            DataNode(id="n1", node_id=1, host_id="h0"),
            DataNode(id="n2", node_id=2, host_id="h1"),
            ManagementNode(id="m", node_id=50, host_id="h2"),
            SqlNode(id="s", node_id=60, host_id="h0"),
        ),
    )


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_each_connection_has_a_server_and_its_port(version: str) -> None:
    plan = set_parameter(cluster(version), "n1", "ServerPort", 2210)
    found = effective_connections(plan)
    ends = {pair: (one["NodeIdServer"], one["PortNumber"]) for pair, one in found.items()}
    assert ends[1, 2] == (1, 2210)
    assert ends[1, 50] == (50, 1186)
    assert ends[2, 50] == (50, 1186)
    assert ends[1, 60] == (1, 2210)
    assert ends[2, 60] == (2, 0)
    moved = effective_connections(set_parameter(plan, "m", "PortNumber", 1999))
    assert moved[1, 50]["PortNumber"] == 1999


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_what_a_section_says_of_its_ends_stays_and_a_default_says_nothing(version: str) -> None:
    """fixHostname and fixPortNumber run before defaults are applied, and do not replace what is there."""
    plan = cluster(version)
    for name, value in (("NodeIdServer", 2), ("HostName1", "elsewhere"), ("HostName2", "")):
        plan = set_parameter(plan, "tcp", name, value)
    of_default = effective_connections(plan)[1, 2]
    assert (of_default["NodeIdServer"], of_default["HostName1"], of_default["HostName2"]) == (1, "h0", "h1")
    assert effective_connections(plan)[1, 50]["NodeIdServer"] == 50
    own = Parameters({"NodeIdServer": 2, "HostName1": "other"})
    linked = plan.replace(links=(Link(process_id_1="n1", process_id_2="n2", parameters=own),))
    found = effective_connections(linked)[1, 2]
    assert (found["NodeIdServer"], found["HostName1"], found["HostName2"]) == (2, "other", "h1")


def test_shared_memory_has_a_key_of_port_and_nodes_unless_one_is_stated() -> None:
    plan = set_parameter(cluster(), "data_node", "UseShm", 1)
    found = effective_connections(plan)
    assert found[1, 60]["section"] == "shm"
    assert found[1, 60]["ShmKey"] == 1186 << 16 | 60 << 8 | 1
    assert "ShmKey" not in found[2, 60]
    link = Link(kind="shm", process_id_1="n1", process_id_2="s")
    stated = cluster().replace(
        links=(link.model_copy(update={"parameters": link.parameters.with_("ShmKey", 7)}),)
    )
    assert effective_connections(stated)[1, 60]["ShmKey"] == 7


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"MaxNoOfExecutionThreads": 2}, "main,ldm,recv,rep"),
        ({"MaxNoOfExecutionThreads": 9}, "main,ldm,ldm,ldm,ldm,recv,rep,tc,tc"),
        ({"MaxNoOfExecutionThreads": 10}, "main,ldm,ldm,ldm,ldm,recv,rep,tc,tc,send"),
        ({"MaxNoOfExecutionThreads": 9, "__ndbmt_lqh_threads": 1}, "main,ldm,recv,rep,tc,tc"),
        ({"ThreadConfig": "ldm", "MaxNoOfExecutionThreads": 9}, "ldm"),
        (
            {"MaxNoOfExecutionThreads": 4, "LockExecuteThreadToCPU": "0-1"},
            "main={cpubind=0},ldm={cpubind=1},ldm={cpubind=1},recv={cpubind=0},rep={cpubind=0}",
        ),
        ({"__ndbmt_classic": 1, "LockExecuteThreadToCPU": "3,2"}, "main={cpubind=2},ldm={cpubind=3}"),
        ({}, None),
    ],
)
def test_thread_config_is_what_ndb_mgmd_writes_for_a_number(
    settings: dict[str, int | str], text: str | None
) -> None:
    plan = cluster("7.4.10")
    for name, value in settings.items():
        plan = set_parameter(plan, "data_node", name, value)
    assert effective_configuration(plan)[1].value("ThreadConfig", plan) == text


def test_automatic_threads_are_written_nowhere() -> None:
    plan = set_parameter(cluster(), "data_node", "MaxNoOfExecutionThreads", 9)
    assert effective_configuration(plan)[1].value("ThreadConfig", plan) is not None
    plan = set_parameter(plan, "data_node", "AutomaticThreadConfig", 1)
    assert effective_configuration(plan)[1].value("ThreadConfig", plan) is None


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_old_number_of_ldm_threads_counts_in_estimates(version: str, count: int) -> None:
    plan = set_parameter(cluster(version), "data_node", "MaxNoOfExecutionThreads", 9)
    own = set_parameter(plan, "data_node", "__ndbmt_lqh_threads", count)
    node = own.data_nodes[0]
    assert threads_of(own, node).ldm == count
    assert threads_of(own, node).tc == threads_of(plan, node).tc == 2
    same = Estimation(own).memory.nodes[0].ram_bytes == Estimation(plan).memory.nodes[0].ram_bytes
    assert same is (count == 4)
    by_text = set_parameter(own, "data_node", "ThreadConfig", "ldm={count=3}")
    assert threads_of(by_text, node).ldm == 3


def test_connections_that_nobody_writes_down_differ_too() -> None:
    before = cluster()
    assert diff(before, set_parameter(before, "n1", "ServerPort", 2210)).links == ((1, 2), (1, 60))
    wide = set_parameter(set_parameter(before, "n1", "LocationDomainId", 1), "n2", "LocationDomainId", 2)
    assert diff(before, wide).links == ((1, 2),)
    assert diff(before, set_parameter(before, "data_node", "UseShm", 1)).links == ((1, 60),)
    # Other hardware or tables are no other connections, and new nodes bring theirs along.
    assert not diff(before, update(before, "h0", cores=3)).links
    more = before.replace(processes=(*before.processes, SqlNode(id="s2", node_id=61, host_id="h1")))
    assert not diff(before, more).links
    assert [node.node_id for node in diff(before, more).added] == [61]


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_ports_count_up_from_the_first_one_host_by_host(version: str) -> None:
    plan = cluster(version)
    more = (
        DataNode(id="n3", node_id=3, host_id="h0"),
        DataNode(id="n4", node_id=4, host_id="h0"),
        SqlNode(id="s2", node_id=61, host_id="h1"),
    )
    plan = plan.replace(processes=(*plan.processes, *more))
    plan = set_parameter(set_parameter(plan, "tcp", "PortNumber", 2200), "n3", "ServerPort", 9000)
    ports = {pair: one["PortNumber"] for pair, one in effective_connections(plan).items()}
    data = (1, 2, 3, 4)
    of_node = {node: {p for (a, b), p in ports.items() if a == node and b in (60, 61)} for node in data}
    if version == "8.4.8":
        # There it cannot be set.
        assert of_node == {1: {0}, 2: {0}, 3: {9000}, 4: {0}}
        return
    # Node 1 is first on its host, node 4 the second there that states no port; node 2 is alone.
    assert of_node == {1: {2200}, 2: {2200}, 3: {9000}, 4: {2201}}
    assert {ports[1, 2], ports[1, 3], ports[1, 4]} == {2200}
    assert {ports[node, 50] for node in data} == {1186}
    [found] = [one for one in connections_of(plan, [2]) if set(one.node_ids) == {2, 61}]
    assert found.value("PortNumber") == 2200
    link = Link(kind="tcp", process_id_1="n4", process_id_2="s")
    link = link.model_copy(update={"parameters": link.parameters.with_("HostName1", "other")})
    apart = effective_connections(plan.replace(links=(link,)))
    assert apart[4, 60]["PortNumber"] == 2200, "the host that the connection names counts"
