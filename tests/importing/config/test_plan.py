"""Import of config.ini: styles, what is kept, what is reported, and files that are none."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.checks.run import check
from ndbplan.importing.config.file import ConfigFileError
from ndbplan.importing.config.plan import ImportReport, import_config
from ndbplan.ndb.version import BadVersionError
from ndbplan.plan.plan import Plan

SMALL = """[ndb_mgmd]
NodeId=1
HostName=m1
[ndbd default]
NoOfReplicas=2
DataMemory=80M
[ndbd]
NodeId=2
HostName=d1
[ndbd]
NodeId=3
HostName=d2
[mysqld]
NodeId=50
HostName=s1
[api]
"""

# Parameters that a reader of "Tuning your Cluster with ndbinfo (7.1) part 1" asked about in 2010.
FROM_A_COMMENT = """[ndbd default]
NoOfReplicas=1 # copies
DataMemory=38000M # storage
IndexMemory=9000M # index
# a comment line
Diskless=1
TimeBetweenLocalCheckpoints=5
NoOfFragmentLogFiles=100

[tcp default]
#portnumber=2202

[ndb_mgmd]
hostname=192.168.42.91
datadir=/var/lib/mysql-cluster

[ndbd]
Id=2
hostname=192.168.42.91
datadir=/usr/local/mysql/data

[mysqld]
[mysqld]
[mysqld]
[mysqld]
"""


def read(text: str | bytes, version: str | None = "8.4") -> tuple[Plan, ImportReport]:
    return import_config({"config.ini": text}, version)


def messages(text: str | bytes, version: str | None = "8.4") -> list[str]:
    return [finding.text() for finding in read(text, version)[1].findings]


def test_a_small_file() -> None:
    plan, report = read(SMALL)
    assert report.accepted
    assert report.findings == ()
    assert [(p.kind, p.node_id) for p in plan.processes] == [
        ("management", 1),
        ("data", 2),
        ("data", 3),
        ("sql", 50),
        ("api", 51),
    ]
    assert [host.hostname for host in plan.hosts] == ["m1", "d1", "d2", "s1"]
    assert plan.parameters.data_node == {"NoOfReplicas": 2, "DataMemory": 80 * 2**20}
    assert all("memory_bytes" in host.assumed for host in plan.hosts)


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("[ndbd default]", "[NDBD DEFAULT]").replace("[mysqld]", "[MYSQLD]"),
        SMALL.replace("ndbd", "db").replace("ndb_mgmd", "mgm"),
        SMALL.replace("=", " : "),
        SMALL.replace("\n", "\n\n  # indented comment\n\t"),
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("NodeId", "nodeid").replace("DataMemory", "DATAMEMORY"),
        "[computer]\nId=A\nHostName=d1\n" + SMALL.replace("HostName=d1", "ExecuteOnComputer=A"),
        SMALL.replace("80M", "81920K # with a comment"),
    ],
)
def test_other_styles_mean_the_same(text: str) -> None:
    plan, report = read(text)
    usual, _ = read(SMALL)
    assert report.accepted
    assert {h.hostname for h in plan.hosts} == {h.hostname for h in usual.hosts}
    assert [(p.kind, p.node_id) for p in plan.processes] == [(p.kind, p.node_id) for p in usual.processes]
    assert plan.parameters == usual.parameters


def test_old_names_belong_to_old_versions() -> None:
    old = SMALL.replace("NodeId=2", "Id=2")
    plan, report = read(old, "7.4")
    assert report.accepted
    assert "deprecated" in messages(old, "7.4")[0]
    assert plan.data_nodes[0].node_id == 2
    assert not read(old, "8.4")[1].accepted
    assert read(old, None)[1].version == "7.4"


def test_unknown_parameters_are_kept_and_reported() -> None:
    plan, report = read(SMALL.replace("DataMemory", "FooBar=7\nDataMemory"))
    assert plan.parameters.data_node["FooBar"] == "7"
    assert not report.accepted
    assert report.findings[0].line == 6
    assert "no NDB version knows a parameter 'FooBar'" in report.findings[0].message
    assert "unknown-parameter" in {problem.rule for problem in check(plan)}


def test_values_that_are_refused_are_kept_and_reported() -> None:
    plan, report = read(SMALL.replace("80M", "80X"))
    assert plan.parameters.data_node["DataMemory"] == "80X"
    assert report.findings[0].line == 6
    assert "parameter-value" in {problem.rule for problem in check(plan)}


def test_the_configuration_of_2010_imports_and_is_criticised() -> None:
    plan, report = read(FROM_A_COMMENT, None)
    assert report.accepted
    assert report.version == "7.4"
    assert [(p.kind, p.node_id) for p in plan.processes] == [
        ("management", 1),
        ("data", 2),
        *(("api", n) for n in range(3, 7)),
    ]
    assert plan.data_nodes[0].parameters["DataDir"] == "/usr/local/mysql/data"
    found = {problem.rule: problem.message for problem in check(plan)}
    assert "the failure of any data node stops the cluster" in found["number-of-replicas"]
    assert "not a number of seconds" in found["checkpoint-interval"]
    assert "error 410" in found["checkpoint-interval"]
    assert "error 410 can come" in found["diskless"]
    assert "redo-log-and-memory" in found


def test_links_and_system() -> None:
    text = SMALL + "[tcp]\nNodeId1=2\nNodeId2=50\nSendBufferMemory=4M\n[system]\nName=prod\n"
    plan, report = read(text)
    assert report.accepted
    assert plan.name == "prod"
    (link,) = plan.links
    assert (link.process_id_1, link.process_id_2) == ("ndb2", "sql50")
    assert link.parameters == {"SendBufferMemory": 4 * 2**20}


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("\ufeff" + SMALL, 1, "byte-order mark"),
        (SMALL.replace("\n", "\r\n").replace("[ndbd default]", "\r\n[ndbd default]", 1), 4, "CR and LF"),
        (SMALL.replace("[api]", "[api"), 16, "lacks its closing bracket"),
        (SMALL.replace("[api]", "[client]"), 16, "not a section that NDB knows"),
        (SMALL + "; comment\n", 17, "not a line that ndb_mgmd can read"),
        (SMALL + "!include other.ini\n", 17, "no includes"),
        (SMALL.replace("NodeId=3", "NodeId=2"), 11, "node id 2 is there twice"),
        (SMALL.replace("HostName=d1", "ExecuteOnComputer=A"), 9, "computer 'A' is not declared"),
        ("[computer]\nId=A\nHostName=A\n[computer]\nId=A\nHostName=B\n" + SMALL, 5, "there twice"),
        ("[computer]\nId=A\nExecuteOnComputer=A\nHostName=h\n" + SMALL, 3, "ExecuteOnComputer"),
        (SMALL + "[ndbd default]\n", 17, "second [ndbd default]"),
        (SMALL.replace("HostName=d2", "HostName=a b"), 12, "not a host name or address"),
        (SMALL + "[mysqld]\n" * 300, 16 + 251, "more than 255 nodes"),
    ],
)
def test_what_is_wrong_has_its_line(text: str, line: int, part: str) -> None:
    plan, report = read(text)
    assert not report.accepted
    assert any(f.line == line and part in f.message + f.fix for f in report.findings), messages(text)
    assert plan.data_nodes


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "no section"),
        (b"hello world\n", "no section"),
        (os.urandom(4096), "not a text file"),
        (b"\x7fELF" + bytes(range(32)) * 50, "not a text file"),
        ("[ndbd]\n".encode("utf-16"), "UTF-16"),
        (b"[ndbd]\nDataMemory=80M\n" * 5_000_000, "at most 16 MB"),
    ],
)
def test_what_is_no_configuration(content: bytes, part: str) -> None:
    with pytest.raises(ConfigFileError, match=part) as refused:
        import_config({"big.ini": content})
    assert "big.ini, line" in refused.value.line


def test_latin_1_comments_do_not_matter() -> None:
    plan, report = read(SMALL.replace("DataMemory", "# Größe\nDataMemory").encode("latin-1"))
    assert report.accepted
    assert len(plan.processes) == 5


def test_ten_thousand_sections_are_answered() -> None:
    plan, report = read(SMALL + "[mysqld]\nFooBar=1\n" * 10_000)
    assert len(plan.processes) == 255
    assert not report.accepted


def test_one_very_long_line_is_answered() -> None:
    _, report = read(SMALL + "[mysqld]\n" + "x" * 10_000_000)
    assert not report.accepted


def test_an_unknown_version_is_said() -> None:
    with pytest.raises(BadVersionError):
        import_config(SMALL, "5.1")


@given(st.binary(max_size=300))
def test_any_bytes_are_answered(content: bytes) -> None:
    try:
        plan, _ = import_config(SMALL.encode() + content, "8.4")
    except ConfigFileError:
        return
    check(plan)


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    try:
        plan, report = import_config(SMALL + text, "7.4")
    except ConfigFileError:
        return
    assert report.accepted is not any(finding.refused for finding in report.findings)
    check(plan)


@pytest.mark.parametrize(
    ("version", "link", "host"),
    [
        ("7.4.10", "HostName1=m9\n", "m9"),
        ("7.4.10", "", "host-of-node-49"),
        ("8.4", "HostName1=m9\n", "host-of-node-49"),
    ],
)
def test_a_management_node_without_host(version: str, link: str, host: str) -> None:
    nodes = "[ndb_mgmd]\nNodeId=49\n[ndbd]\nNodeId=1\nHostName=a\n[ndbd]\nNodeId=2\nHostName=b\n[mysqld]\n"
    text = f"[ndbd default]\nNoOfReplicas=2\n{nodes}[tcp]\nNodeId1=49\nNodeId2=1\n{link}"
    plan, report = read(text, version=version)
    (node,) = plan.management_nodes
    assert plan.host(node.host_id).hostname == host
    refused = [finding for finding in report.findings if finding.refused]
    assert [finding.line for finding in refused] == ([] if host == "m9" else [3])
    for finding in refused:
        assert "add HostName to the section of node 49" in finding.fix
        assert ("as line 12 names it" in finding.fix) == version.startswith("7")
