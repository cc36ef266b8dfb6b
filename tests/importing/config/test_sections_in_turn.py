"""Default sections hold for what stands below them, and numbers of links are read as strtol reads them."""

from __future__ import annotations

import pytest

from ndbplan.configuration.sections import effective_configuration
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from stated_connections import effective_connections

FIRST = "[ndb_mgmd]\nNodeId=50\nHostName=h1\n[ndbd]\nNodeId=1\nHostName=h2\n"
LAST = "[ndbd]\nNodeId=2\nHostName=h3\n{own}[mysqld]\nNodeId=60\nHostName=h1\n"


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_a_default_section_holds_for_the_sections_below_it(version: str) -> None:
    late = "[ndbd default]\nDataMemory=90M\nStopOnError=0\n"
    text = FIRST + late + LAST.format(own="StopOnError=1\n")
    plan, report = import_config({"config.ini": text.encode()}, version)
    [said] = [f for f in report.findings if "stands below [ndbd] of line 4" in f.message]
    assert (said.refused, said.line) == (False, 7)
    for one in (plan, import_config(render_config_ini(plan), version)[0]):
        found = effective_configuration(one)
        of_node = {i: tuple(found[i].value(n, one) for n in ("DataMemory", "StopOnError")) for i in (1, 2)}
        default = found[1].value("DataMemory", one.replace(parameters=plan.parameters))
        assert of_node == {1: (default, 1), 2: (90 * 2**20, 1)}
    assert plan.data_nodes[1].origins["DataMemory"].words == "imported: config.ini, line 8"


def test_connections_that_nobody_writes_take_what_stands_behind_the_nodes() -> None:
    own = "[tcp]\nNodeId1=x.1\nNodeId2= 2abc\n"
    text = FIRST + LAST.format(own="") + own + "[tcp default]\nSendBufferMemory=4M\n"
    plan, report = import_config(text, "8.4.8")
    assert not [f for f in report.findings if f.refused]
    found = effective_connections(plan)
    assert found[1, 60]["SendBufferMemory"] == 4 * 2**20
    assert found[1, 2]["SendBufferMemory"] == 2 * 2**20


@pytest.mark.parametrize(("own", "of_all"), [("NoOfReplicas=1\n", None), ("NoOfReplicas=2\n", None)])
def test_replicas_of_one_node_are_not_those_of_all(own: str, of_all: int | None) -> None:
    plan, _ = import_config(FIRST + LAST.format(own=own), "8.4.8")
    assert plan.parameters.data_node.get("NoOfReplicas") == of_all
    both = FIRST + own + LAST.format(own=own)
    plan, _ = import_config(both, "8.4.8")
    assert plan.parameters.data_node.get("NoOfReplicas") == int(own[-2])


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_more_sections_than_ids_are_read_to_the_last(version: str) -> None:
    text = FIRST.replace("NodeId=50", "NodeId=100") + "[ndbd]\nHostName=h3\n" * 160 + "[mysqld]\n" * 120
    plan, report = import_config(text, version)
    assert len({process.node_id for process in plan.processes}) == len(plan.processes) == 255
    assert any(finding.refused and "255" in finding.message for finding in report.findings)


def test_quotes_around_a_whole_line_are_taken_off() -> None:
    own = '"MaxNoOfTables=129"\nMaxNoOfAttributes="1001"\n'
    plan, report = import_config(FIRST + LAST.replace("[ndbd]", '"[ndbd]"').format(own=own), "8.4.8")
    assert plan.data_nodes[1].parameters["MaxNoOfTables"] == 129
    assert [f.line for f in report.findings if f.refused] == [11], "quotes around a value are no number"


def test_a_default_names_no_computer_and_its_host_yields_to_one() -> None:
    computer = "[computer]\nId=A\nHostName=h5\n[ndbd default]\nHostName=h7\n"
    text = (
        computer + FIRST.replace("HostName=h2", "ExecuteOnComputer=A") + LAST.format(own="[ndbd]\nNodeId=3\n")
    )
    plan, _ = import_config(text, "8.4.8")
    assert [plan.host(node.host_id).hostname for node in plan.data_nodes] == ["h5", "h3", "h7"]
    of_all = text.replace("HostName=h7", "ExecuteOnComputer=A")
    plan, report = import_config(of_all, "8.4.8")
    assert [plan.host(node.host_id).hostname for node in plan.data_nodes] == ["h5", "h3", "localhost"]
    assert not report.accepted


@pytest.mark.parametrize(
    ("default", "node", "line"),
    [("Id=7", "", 2), ("Id=7", "NodeId=3", 2), ("NodeId=7", "Id=3", 2), ("Id=7", "Id=3", 0)],
)
def test_an_id_of_a_default_section_joins_the_other_name_of_a_node(
    default: str, node: str, line: int
) -> None:
    """fixDeprecated in 7.4 runs behind the defaults, and refuses Id and NodeId of one node."""
    text = f"[ndbd default]\n{default}\nNoOfReplicas=1\n[ndb_mgmd]\nHostName=h1\n"
    text += f"[ndbd]\nHostName=h2\n{node}\n[mysqld]\n"
    _, report = import_config(text, "7.4.10")
    assert [f.line for f in report.findings if f.refused] == ([line] if line else [])
