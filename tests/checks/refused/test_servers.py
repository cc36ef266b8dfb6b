"""What servers of 7.4.10 and 8.4.8 refused of exported plans, class by class, and what they took."""

from __future__ import annotations

import pytest

from ndbplan.checks.problem import Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import check, find
from ndbplan.configuration.connections import connections
from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.stated import link_scope
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.estimate.stored import memory
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan, Waiver
from ndbplan.plan.processes import ApiSlot, DataNode, Link, ManagementNode, SqlNode
from stated_connections import effective_connections

OLD, NEW = "7.4.10", "8.4.8"
BOTH = (OLD, NEW)


def small(version: str, groups: tuple[int | None, ...] = (None, None), **data_node: int | str) -> Plan:
    """One management node (50), data nodes from 1 on, one slot (60); a host each."""
    hosts = tuple(
        Host(id=f"h{i}", hostname=f"10.0.0.{i}", memory_bytes=64 * 2**30) for i in range(len(groups) + 1)
    )
    nodes = tuple(
        DataNode(id=f"ndb{i}", node_id=i, host_id=f"h{i}", node_group=group)
        for i, group in enumerate(groups, 1)
    )
    plan = Plan(
        ndb_version=version,
        hosts=hosts,
        processes=(
            ManagementNode(id="mgm", node_id=50, host_id="h0"),
            *nodes,
            ApiSlot(id="api", node_id=60),
        ),
    )
    for name, value in {"NoOfReplicas": 2, **data_node}.items():
        plan = set_parameter(plan, "data_node", name, value)
    return plan


def told(plan: Plan, severity: Severity = Severity.ERROR) -> set[str]:
    return {p.rule for p in find(plan) if p.severity is severity}


def refused(plan: Plan) -> set[str]:
    return {p.rule for p in find(plan) if p.severity is Severity.ERROR and RULES[p.rule].refused}


def linked(plan: Plan, first: str, second: str, **parameters: int | str) -> Plan:
    link = Link(process_id_1=first, process_id_2=second, parameters=Parameters(parameters))
    return plan.replace(links=(*plan.links, link))


@pytest.mark.parametrize("version", BOTH)
def test_a_plan_with_nothing_wrong_is_accepted(version: str) -> None:
    assert refused(small(version)) == set()


@pytest.mark.parametrize("version", BOTH)
def test_a_management_server_needs_a_port_and_counts_generations_itself(version: str) -> None:
    assert refused(set_parameter(small(version), "mgm", "PortNumber", 0)) == {"management-port-number"}
    assert refused(set_parameter(small(version), "management", "portnumber", "0x0")) == {
        "management-port-number"
    }
    generation = set_parameter(small(version), "system", "ConfigGenerationNumber", 1)
    assert refused(generation) == {"configuration-generation"}
    assert refused(set_parameter(small(version), "system", "ConfigGenerationNumber", 0)) == set()


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("fifo", True), ("rr", True), ("fifo,50", True), ("fifo,0", True), ("fifo,100", True),
        ("fifo, 5x", True), ("FIFO,50", False), ("Rr", False), ("fifo ,50", False), ("fifo,", False),
        ("fifo,1,2", False), ("other", False), ("", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("scope", ["management", "sql", "mgm", "api"])
def test_priority_of_heartbeat_threads(scope: str, text: str, taken: bool) -> None:
    plan = set_parameter(small(NEW), scope, "HeartbeatThreadPriority", text)
    assert refused(plan) == (set() if taken else {"heartbeat-thread-priority"})


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({"LockExecuteThreadToCPU": "0-1", "MaxNoOfExecutionThreads": 8}, "warned"),
        ({"LockExecuteThreadToCPU": "0-1", "MaxNoOfExecutionThreads": 9}, "refused"),
        ({"LockExecuteThreadToCPU": "0-31", "MaxNoOfExecutionThreads": 9}, "fine"),
        ({"LockExecuteThreadToCPU": "1-0", "ThreadConfig": "ldm={count=2},tc={count=2}"}, "refused"),
        ({"LockExecuteThreadToCPU": "0-1", "ThreadConfig": "ldm={count=2},send"}, "refused"),
        ({"LockExecuteThreadToCPU": "0-1", "ThreadConfig": "ldm,recv={count=2}"}, "refused"),
        ({"LockExecuteThreadToCPU": "0-1", "ThreadConfig": "ldm={count=2}"}, "warned"),
        ({"LockExecuteThreadToCPU": "0-7", "ThreadConfig": "ldm={count=4,cpubind=0-3},tc"}, "fine"),
        ({"LockExecuteThreadToCPU": "0-4", "ThreadConfig": "ldm={count=4,cpubind=0-3},tc"}, "refused"),
        ({"LockExecuteThreadToCPU": "0-3", "ThreadConfig": "ldm={count=4,cpubind=0-3},tc"}, "fine"),
        ({"LockExecuteThreadToCPU": "0"}, "fine"),
        # Only executing threads take CPUs away by cpubind, and cpubind_exclusive takes none.
        ({"LockExecuteThreadToCPU": "0-4", "ThreadConfig": "ldm,tc,io={cpubind=4}"}, "fine"),
        ({"LockExecuteThreadToCPU": "0-4", "ThreadConfig": "ldm,tc,io={cpuset=4}"}, "refused"),
        ({"LockExecuteThreadToCPU": "0-4", "ThreadConfig": "ldm,tc={count=2},io={cpubind=4}"}, "refused"),
        ({"LockExecuteThreadToCPU": "0-5", "MaxNoOfExecutionThreads": 9}, "refused"),
        (
            {"LockExecuteThreadToCPU": "0-5", "MaxNoOfExecutionThreads": 9, "__ndbmt_lqh_threads": 1},
            "fine",
        ),
        ({"LockExecuteThreadToCPU": "0", "MaxNoOfExecutionThreads": 9, "__ndbmt_classic": 1}, "fine"),
    ],
)
def test_cpus_for_threads(version: str, settings: dict[str, int | str], verdict: str) -> None:
    plan = small(version, **settings)
    assert ("cpus-for-threads" in refused(plan)) is (verdict == "refused")
    assert ("cpus-for-threads" in told(plan, Severity.WARNING)) is (verdict == "warned")


def test_automatic_threads_ask_no_cpus() -> None:
    plan = small(NEW, LockExecuteThreadToCPU="0", MaxNoOfExecutionThreads=16, AutomaticThreadConfig=1)
    assert refused(plan) == set()


@pytest.mark.parametrize("version", BOTH)
def test_numbers_that_their_range_allows_and_the_server_does_not(version: str) -> None:
    assert refused(small(version, __ndbmt_lqh_threads=3)) == {"parameter-value"}
    assert refused(small(version, __ndbmt_lqh_threads=4)) == set()
    large = set_parameter(small(version), "tcp", "ReceiveBufferMemory", 2_147_450_880)
    assert refused(large) == {"receive-buffer-size"}
    assert refused(set_parameter(large, "tcp", "ReceiveBufferMemory", 2_147_450_879)) == set()
    own = linked(small(version), "ndb1", "mgm", ReceiveBufferMemory=4_294_967_039)
    assert refused(own) == {"receive-buffer-size"}
    assert refused(linked(small(version), "ndb1", "ndb2", ReceiveBufferMemory=4_294_967_039)) == set()


def test_ip_versions_of_a_management_node_agree() -> None:
    plan = small(NEW)
    assert refused(set_parameter(plan, "tcp", "PreferIPVersion", 5)) == {"parameter-value"}
    assert refused(set_parameter(plan, "tcp", "PreferIPVersion", 6)) == set()
    assert refused(linked(plan, "ndb1", "mgm", PreferIPVersion=6)) == {"prefer-ip-version"}
    assert refused(linked(plan, "ndb1", "mgm", PreferIPVersion=4)) == set()
    assert refused(linked(plan, "ndb1", "ndb2", PreferIPVersion=6)) == set()
    all_of_them = linked(linked(plan, "ndb1", "mgm", PreferIPVersion=6), "ndb2", "mgm", PreferIPVersion=6)
    assert refused(all_of_them) == set()
    but_one = linked(set_parameter(plan, "tcp", "PreferIPVersion", 6), "ndb1", "mgm", PreferIPVersion=4)
    assert refused(but_one) == {"prefer-ip-version"}


@pytest.mark.parametrize("version", BOTH)
def test_the_node_that_listens_has_a_host_name(version: str) -> None:
    assert refused(linked(small(version), "ndb1", "ndb2", HostName1="")) == {"link-host-names"}
    assert refused(linked(small(version), "ndb1", "ndb2", HostName2="")) == set()
    assert refused(linked(small(version), "ndb1", "mgm", HostName2="")) == {"link-host-names"}
    assert refused(linked(small(version), "ndb1", "api", HostName2="")) == set()
    lost = linked(small(version), "ndb1", "ndb2", HostName1="no-such-host.invalid")
    assert refused(lost) == ({"link-host-names"} if version == OLD else set())
    for name in ("no host", "a,b", "h/1", "10.0.0.300"):
        unknown = linked(small(version), "ndb1", "ndb2", HostName1=name)
        assert refused(unknown) == ({"link-host-names"} if version == OLD else set()), name
    assert refused(linked(small(version), "ndb1", "ndb2", HostName1="db-1.example.com")) == set()


@pytest.mark.parametrize("version", BOTH)
def test_one_pair_has_one_connection(version: str) -> None:
    assert refused(linked(linked(small(version), "ndb1", "ndb2"), "ndb2", "ndb1")) == {"link-ends"}


@pytest.mark.parametrize(
    ("groups", "old", "new"),
    [
        ((None, None, 65536), {1: 0, 2: 0, 3: 65536}, {1: 0, 2: 0, 3: 65536}),
        ((None, 65536, None), None, {1: 0, 2: 65536, 3: 0}),
        ((65536, None, None), {1: 65536, 2: 65536, 3: 65536}, {1: 65536, 2: 0, 3: 0}),
        ((65536, 0, None), {1: 65536, 2: 0, 3: 65536}, {1: 65536, 2: 0, 3: 0}),
        ((65536, None), {1: 65536, 2: 65536}, None),
        ((0, 1, 65536, 0, 1), None, {1: 0, 2: 1, 3: 65536, 4: 0, 5: 1}),
        ((0, 0, 65536, 60), {1: 0, 2: 0, 3: 65536, 4: 60}, None),
    ],
)
def test_counting_of_node_groups(
    groups: tuple[int | None, ...], old: dict[int, int] | None, new: dict[int, int] | None
) -> None:
    for version, wanted in ((OLD, old), (NEW, new)):
        plan = small(version, groups)
        assert ("node-group-size" in refused(plan)) is (wanted is None), version
        assert "node-group-number" not in refused(plan)
        if wanted is not None:
            assert node_group_ids(plan) == wanted


def test_discless_and_diskless_are_one_parameter_before_7_5() -> None:
    assert refused(small(OLD, Discless=1, Diskless=1)) == {"old-and-new-name"}
    assert refused(set_parameter(small(OLD, Discless=1), "ndb1", "Diskless", 0)) == {"old-and-new-name"}
    plan = small(OLD, Discless=1)
    assert refused(plan) == set()
    assert node_settings(plan).number("Diskless") == 1
    assert node_settings(small(OLD, Diskless=1)).number("Discless") == 1


def test_start_retries_are_looked_at_below_the_number_of_nodes() -> None:
    plan = small(NEW, MaxStartFailRetries=5)
    assert "start-fail-retries" in refused(plan)
    high = plan
    for number, node in enumerate(plan.data_nodes):
        high = update(high, node.id, node_id=100 + number)
    assert "start-fail-retries" not in refused(high)
    assert "start-fail-retries" in told(high, Severity.WARNING)
    assert "start-fail-retries" not in refused(set_parameter(plan, "data_node", "StopOnError", "no"))


@pytest.mark.parametrize("name", ["::ffff:127.0.0.2", "127.1", "0x7f.2", "10.0.0.7"])
def test_addresses_in_every_form_are_hosts(name: str) -> None:
    plan = update(small(NEW), "h1", hostname=name)
    assert refused(plan) == set()


def test_one_address_in_two_forms_is_one_host_of_management_nodes() -> None:
    plan = small(NEW)
    plan = plan.replace(
        hosts=(*plan.hosts, Host(id="h9", hostname="10.0.0", memory_bytes=2**33)),
        processes=(*plan.processes, ManagementNode(id="mgm2", node_id=51, host_id="h9")),
    )
    assert "management-ports" in refused(plan)
    assert refused(update(plan, "h9", hostname="10.0.9")) == set()
    # With names that need not resolve the server compares the names themselves.
    named = set_parameter(plan, "tcp", "AllowUnresolvedHostnames", 1)
    assert "management-ports" not in refused(named)
    assert "management-ports" in told(named, Severity.WARNING)
    same = update(named, "h9", hostname="Mgm.example")
    same = update(same, same.management_nodes[0].host_id, hostname="Mgm.example")
    assert "management-ports" in refused(same)
    assert "management-ports" not in refused(update(same, "h9", hostname="mgm.example"))


@pytest.mark.parametrize(
    "name",
    ["no-such-host.invalid", "999.1.1.1", "node..x", "1.2.3.4.5", "a" * 64, f"x.{'a' * 64}.y", "a::b::c"],
)
def test_hosts_that_do_not_resolve_are_taken_when_that_is_allowed(name: str) -> None:
    plan = update(small(NEW), "h1", hostname=name)
    assert "host-name-reserved" in refused(plan)
    assert refused(set_parameter(plan, "tcp", "allowunresolvedhostnames", "Y")) == set()
    of_management = update(small(NEW), "h0", hostname=name)
    allowed = set_parameter(of_management, "tcp", "AllowUnresolvedHostnames", 1)
    assert "host-name-reserved" in refused(allowed)
    assert "host-name-reserved" in refused(update(small(OLD), "h1", hostname=name))


@pytest.mark.parametrize("name", ["999.1.1.1", "node..x", "host:1186", "10.0.0.0/24", "a b", "%"])
def test_imports_take_such_hosts_as_the_server_does(name: str) -> None:
    def accepted(management: str, data: str, sql: str, allowed: str, version: str = NEW) -> bool:
        text = (
            f"[tcp default]\n{allowed}\n[ndb_mgmd]\nHostName={management}\n[ndbd]\nNoOfReplicas=1\n"
            f"HostName={data}\n[mysqld]\nHostName={sql}\n"
        )
        return import_config(text, version)[1].accepted

    allow = "AllowUnresolvedHostnames=1"
    assert accepted("m", name, "s", allow)
    assert not accepted("m", name, "s", "AllowUnresolvedHostnames=0")
    assert not accepted("m", name, "s", "")
    assert not accepted(name, "d", "s", allow)
    assert not accepted(name, name, "s", allow)
    assert accepted("m", "d", name, "")
    assert not accepted("m", "d", name, "", OLD)


@pytest.mark.parametrize(("version", "text"), [(NEW, "idxbld={count=0}"), (OLD, "ldm={count=0}")])
def test_thread_counts_of_nothing_that_servers_take(version: str, text: str) -> None:
    assert "thread-config" not in refused(small(version, ThreadConfig=text))


@pytest.mark.parametrize("text", ["1 ,2", "1,", "0", "x", "145"])
def test_a_connection_map_that_cannot_be_read(text: str) -> None:
    assert refused(set_parameter(small(NEW), "sql", "ConnectionMap", text)) == {"connection-map"}
    assert refused(set_parameter(small(NEW), "sql", "ConnectionMap", " 1, +02")) == set()
    assert len(connections(set_parameter(small(NEW), "api", "ConnectionMap", "+1, 2"))) == 5
    by_hand = linked(set_parameter(small(NEW), "api", "ConnectionMap", text), "api", "ndb1")
    assert refused(by_hand) == {"connection-map"}
    assert refused(linked(by_hand, "ndb2", "api")) == set()


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize(
    ("scope", "own", "name", "bad", "good"),
    [
        ("management", "mgm", "PortNumber", 0, 1186),
        ("sql", "api", "ConnectionMap", "x", "1"),
        ("sql", "api", "HeartbeatThreadPriority", "FIFO", "fifo"),
        ("management", "mgm", "heartbeatthreadpriority", "FIFO", "rr"),
    ],
)
def test_a_default_that_every_node_replaces_does_no_harm(
    version: str, scope: str, own: str, name: str, bad: int | str, good: int | str
) -> None:
    plan = set_parameter(small(version), scope, name, bad)
    assert refused(plan) != set()
    assert refused(set_parameter(plan, own, name.upper(), good)) == set()


def test_a_second_connection_is_kept_where_servers_take_it_and_check_it() -> None:
    plan = linked(linked(small("7.2"), "ndb1", "ndb2"), "ndb2", "ndb1", HostName2="")
    assert "link-host-names" in refused(plan)
    again, report = import_config(render_config_ini(plan), "7.2")
    assert not report.accepted
    assert len(again.links) == 2
    assert "link-host-names" in refused(again)


@pytest.mark.parametrize("name", ["RequireTls", "RequireCertificate"])
def test_a_management_server_asks_for_its_certificate(name: str) -> None:
    plan = set_parameter(small(NEW), "management", name, 1)
    assert "files-for-security" in told(plan, Severity.WARNING)
    assert "files-for-security" not in told(set_parameter(plan, "mgm", name, "no"), Severity.WARNING)


@pytest.mark.parametrize(
    ("scope", "name", "value", "rule"),
    [
        ("data_node", "ParallelBackups", 1, "not-implemented"),
        ("management", "LogDestination", "NOWHERE", "log-destination"),
        ("mgm", "LogDestination", "console", "log-destination"),
        ("management", "LogDestination", "FILE:filename=/a/" + "y" * 256 + ",maxfiles=2", "path-names"),
        ("mgm", "DataDir", "/a;b", "log-destination"),
        ("management", "datadir", "/a,b", "log-destination"),
        ("mgm", "DataDir", "/" + "x" * 256, "path-names"),
        ("data_node", "BackupDataDir", "/a/" + "y" * 300, "path-names"),
        ("management", "ExtraSendBufferMemory", "32G", "servers-fit"),
        ("tcp", "SendBufferMemory", 4_294_967_039, "servers-fit"),
    ],
)
def test_what_servers_only_warn_of(scope: str, name: str, value: int | str, rule: str) -> None:
    plan = set_parameter(small(NEW), scope, name, value)
    plan = update(plan, "h0", memory_bytes=4 * 2**30)
    assert rule in told(plan, Severity.WARNING)
    assert refused(plan) == set()


@pytest.mark.parametrize("name", ["innodb-buffer-pool-size", "INNODB_BUFFER_POOL_SIZE"])
def test_the_pool_of_a_server_needs_room_beside_data_nodes(name: str) -> None:
    plan = small(NEW)
    sql = SqlNode(id="sql", node_id=61, host_id="h1", options=Parameters({name: "3G"}))
    plan = plan.replace(processes=(*plan.processes, sql))
    room = int(memory(plan).nodes[0].ram_bytes.value)
    enough, short = (update(plan, "h1", memory_bytes=room + gib * 2**30) for gib in (4, 2))
    assert "servers-fit" not in told(enough, Severity.WARNING)
    (problem,) = [p for p in check(short) if p.rule == "servers-fit"]
    assert "3G of innodb-buffer-pool-size" in problem.message
    waived = short.replace(waivers=(Waiver(rule="send-buffers-fit", reason="it sleeps"),))
    assert not [p for p in check(waived) if p.rule == "servers-fit"], "the name that it had"
    (back, *_) = problem.solutions
    assert not [p for p in find(back.edit(short)) if p.rule == "servers-fit"]


def test_servers_are_weighed_by_host() -> None:
    """Each fits alone; both on one host, or one beside its data nodes, do not."""
    three = Parameters({"TotalSendBufferMemory": "3G"})
    plan = small(NEW)
    sql = SqlNode(id="sql", node_id=61, host_id="h9", parameters=three)
    host = Host(id="h9", hostname="10.0.0.9", memory_bytes=2**32)
    plan = plan.replace(hosts=(*plan.hosts, host), processes=(*plan.processes, sql))
    plan = update(plan, "mgm", parameters=three)
    for host in plan.hosts:
        plan = update(plan, host.id, memory_bytes=4 * 2**30)
    assert "servers-fit" not in told(plan, Severity.WARNING)
    together = update(plan, "sql", host_id="h0")
    (problem,) = [p for p in find(together) if p.rule == "servers-fit"]
    links = 2 * len(plan.data_nodes)
    taken = 2 * 3 * 1024 + links * 2 + 128
    assert f"nodes 50, 61 take {taken}M at least" in problem.message, "send, receive buffers, InnoDB"
    assert "beside" not in problem.message, "no data node is there"
    beside = update(update(plan, "sql", host_id="h1"), "h1", memory_bytes=5 * 2**30)
    assert "servers-fit" not in told(beside, Severity.WARNING)
    large = set_parameter(beside, "data_node", "DataMemory", "1536M")
    assert "beside its data nodes" in next(p for p in find(large) if p.rule == "servers-fit").message
    # A host too small for its data nodes is still too small for the others.
    tiny = update(set_parameter(beside, "sql", "ExtraSendBufferMemory", "32G"), "h1", memory_bytes=2**28)
    assert "servers-fit" in told(tiny, Severity.WARNING)


def test_a_disk_mounted_at_a_name_that_is_too_long() -> None:
    for longest, warned in (("x" * 256, True), ("x" * 255, False)):
        disk = Disk(
            id="d", name="d", capacity_bytes=10**12, mount_point=f"/a/{longest}",
            sequential_read_bytes_per_s=1e9, sequential_write_bytes_per_s=1e9,
            random_read_iops=1e5, random_write_iops=1e5,
        )  # fmt: skip
        assert ("path-names" in told(update(small(NEW), "h1", disks=(disk,)), Severity.WARNING)) is warned


def test_connections_over_a_wide_area_have_buffers_of_their_own() -> None:
    plan = set_parameter(small(NEW), "tcp", "TCP_SND_BUF_SIZE", 1000)
    wide = {"TCP_SND_BUF_SIZE": 4_194_304, "TCP_RCV_BUF_SIZE": 4_194_304, "TCP_MAXSEG_SIZE": 61_440}
    assert effective_connections(plan)[1, 2]["TCP_SND_BUF_SIZE"] == 1000
    apart = set_parameter(set_parameter(plan, "ndb1", "LocationDomainId", 1), "ndb2", "LocationDomainId", 2)
    found = effective_connections(apart)
    assert wide.items() <= found[1, 2].items()
    assert not wide.keys() & (found[1, 50].keys() - {"TCP_SND_BUF_SIZE"})
    assert wide.items() <= effective_connections(set_parameter(plan, "api", "wan", "yes"))[1, 60].items()
    own = linked(apart, "ndb1", "ndb2")
    assert effective_connections(own)[1, 2]["TCP_SND_BUF_SIZE"] == 1000


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize(("process", "pair"), [("api", (1, 60)), ("mgm", (1, 50))])
def test_a_node_of_a_wide_area_is_one_in_every_version(
    version: str, process: str, pair: tuple[int, int]
) -> None:
    plan = set_parameter(small(version), process, "wan", "yes")
    assert effective_connections(plan)[pair]["TCP_MAXSEG_SIZE"] == 61_440
    assert "TCP_MAXSEG_SIZE" not in effective_connections(plan)[1, 2]


def test_before_8_0_a_client_with_a_connection_of_its_own_has_no_other() -> None:
    for version, missing in ((OLD, {(2, 60)}), (NEW, set())):
        plan = linked(small(version), "ndb1", "api")
        assert effective_connections(small(version)).keys() - effective_connections(plan).keys() == missing
        assert ("link-leaves-out" in told(plan, Severity.WARNING)) is bool(missing)
        whole = linked(plan, "ndb2", "api")
        assert "link-leaves-out" not in told(whole, Severity.WARNING)
        assert len(effective_connections(whole)) == len(effective_connections(small(version)))
        between = linked(small(version), "ndb1", "ndb2")
        assert effective_connections(between).keys() == effective_connections(small(version)).keys()
    map_unread = linked(set_parameter(small(OLD), "api", "ConnectionMap", "x"), "ndb1", "api")
    assert refused(map_unread) == set()


def test_every_pair_is_joined_once() -> None:
    plan = linked(small(NEW), "ndb2", "mgm", SendBufferMemory=2**20)
    pairs = {frozenset(one.node_ids) for one in connections(plan)}
    assert len(connections(plan)) == len(pairs)
    assert pairs == {frozenset(p) for p in ((1, 2), (1, 50), (2, 50), (1, 60), (2, 60))}
    mapped = set_parameter(plan, "api", "ConnectionMap", "1")
    assert frozenset((2, 60)) not in {frozenset(one.node_ids) for one in connections(mapped)}
    assert link_scope(plan.links[0]) == "link:tcp:ndb2:mgm"


def test_links_follow_the_nodes_in_tls_and_binding() -> None:
    plan = set_parameter(small(NEW), "ndb1", "RequireTls", 1)
    by_pair = {frozenset(one.node_ids): one for one in connections(plan)}
    assert by_pair[frozenset((1, 2))].value("RequireLinkTls") == 1
    assert by_pair[frozenset((2, 50))].value("RequireLinkTls") == 0
    bound = {
        frozenset(one.node_ids): one.value("TcpBind_INADDR_ANY")
        for one in connections(set_parameter(small(NEW), "ndb1", "TcpBind_INADDR_ANY", 1))
    }
    assert bound == {
        frozenset((1, 2)): 1, frozenset((1, 60)): 1, frozenset((1, 50)): 0,
        frozenset((2, 60)): 0, frozenset((2, 50)): 0,
    }  # fmt: skip


def file_of(*sections: str) -> str:
    return "\n".join(sections) + "\n"


def test_ids_that_the_server_gives_run_on_behind_the_highest() -> None:
    nodes = ["[ndbd]\nHostName=10.0.0.1"] * 144
    config = file_of(
        "[ndb_mgmd]\nNodeId=200\nHostName=10.0.0.9", *nodes, "[ndbd default]\nNoOfReplicas=2", "[api]"
    )
    _, report = import_config(config, NEW)
    assert any(
        "next free node id is 256" in finding.message for finding in report.findings if finding.refused
    )
    few = file_of("[ndb_mgmd]\nNodeId=200\nHostName=10.0.0.9", *nodes[:2], "[api]")
    assert import_config(few, NEW)[1].accepted


def test_an_api_node_may_have_the_first_id() -> None:
    config = file_of(
        "[ndb_mgmd]\nNodeId=200\nHostName=10.0.0.9", "[mysqld]\nNodeId=1",
        "[ndbd]\nHostName=10.0.0.1", "[ndbd]\nHostName=10.0.0.2",
    )  # fmt: skip
    plan, report = import_config(config, NEW)
    assert report.accepted
    assert [node.node_id for node in plan.data_nodes] == [2, 3]
