"""Values as plans hold them (numbers, texts, names in any case, on nodes and links) and what rules see."""

from __future__ import annotations

import pytest

from ndbplan.checks.problem import Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import check, find
from ndbplan.configuration.sections import link_configuration
from ndbplan.configuration.settings import connection_settings, node_settings
from ndbplan.configuration.stated import SCOPES, Fate, stated
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.fields import Parameters
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link
from ndbplan.plan.samples import sample_plan

VERSIONS = ("7.4.10", "8.4.8")


def plan_of(version: str, **data_node: int | str) -> Plan:
    plan = sample_plan("starter").replace(ndb_version=version)
    parameters = plan.parameters.model_copy(
        update={"data_node": Parameters({"NoOfReplicas": 2, **data_node})}
    )
    return plan.replace(parameters=parameters, links=())


def refused(plan: Plan) -> set[str]:
    return {p.rule for p in find(plan) if p.severity is Severity.ERROR and RULES[p.rule].refused}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("MaxNoOfConcurrentOperations", "64K", 65536),
        ("maxnoofconcurrentoperations", "0200000", 65536),
        ("NoOfReplicas", "1", 1),
        ("DataMemory", "0100M", 64 * 2**20),
        ("ODirect", "Y", 1),
        ("odirect", "false", 0),
    ],
)
def test_text_and_number_mean_the_same_in_any_case(version: str, name: str, text: str, number: int) -> None:
    as_text, as_number = plan_of(version, **{name: text}), plan_of(version, **{name: number})
    proper = catalogue.parameter("DB", name).name
    assert node_settings(as_text).number(proper) == number
    assert refused(as_text) == refused(as_number)
    lines = render_config_ini(as_text)
    assert lines == render_config_ini(as_number)
    assert f"\n{proper}=" in lines


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "text", "read"),
    [("Arbitration", "disabled", "Disabled"), ("LockExecuteThreadToCPU", "0-3 , 5", "0-3 , 5")],
)
def test_blanks_around_a_choice_or_a_list_mean_nothing(version: str, name: str, text: str, read: str) -> None:
    plan = plan_of(version, **{name: f" {text}\u0020\u0020"})
    assert node_settings(plan).text(name) == read
    assert f"\n{name}={read}\n" in render_config_ini(plan)
    assert "parameter-value" in refused(plan_of(version, **{name: "  "}))


def test_a_reserve_given_as_text_is_compared_with_its_limit() -> None:
    assert "reserved-limits" in refused(plan_of("8.4.8", ReservedConcurrentOperations="64K"))
    enough = plan_of("8.4.8", ReservedConcurrentOperations="64K", maxnoofconcurrentoperations="64K")
    assert "reserved-limits" not in refused(enough)


def linked(version: str, kind: str, **parameters: int | str) -> Plan:
    plan = plan_of(version)
    first, second = plan.data_nodes[:2]
    link = Link(kind=kind, process_id_1=first.id, process_id_2=second.id, parameters=Parameters(parameters))
    return plan.replace(links=(link,))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_parameter_of_links_is_checked_as_that_of_nodes(version: str) -> None:
    series = catalogue.NdbVersion.parse(version)
    for kind in ("tcp", "shm"):
        for parameter in catalogue.parameters(kind.upper(), series):
            if parameter.name.lower() in ("nodeid1", "nodeid2"):
                continue
            plan = linked(version, kind, **{parameter.name: "maybe" if parameter.type == "bool" else -1})
            (one,) = [s for s in stated(plan) if s.is_link]
            if parameter.status == "internal":
                assert one.reading.fate is Fate.INTERNAL
            elif parameter.is_number or parameter.type == "bool":
                assert "parameter-value" in refused(plan), parameter.name


def test_a_link_is_mended_alone() -> None:
    plan = linked("8.4.8", "tcp", SendBufferMemory=1, Checksum="maybe", Signum=1)
    for problem in check(plan):
        if problem.rule in ("parameter-value", "unknown-parameter"):
            assert problem.edit is not None
            plan = problem.edit(plan)
    assert refused(plan) == set()
    assert "SendBufferMemory" not in next(iter(link_configuration(plan).values()))


def test_a_link_has_what_is_common_and_its_own() -> None:
    plan = set_parameter(
        linked("8.4.8", "tcp", sendbuffermemory="1M"), "tcp", "ReceiveBufferMemory", "0x80000"
    )
    settings = connection_settings(plan, plan.links[0])
    assert settings.number("SendBufferMemory") == 2**20
    assert settings.number("ReceiveBufferMemory") == 2**19


def test_a_name_that_is_set_again_takes_the_place_of_other_spellings() -> None:
    plan = plan_of("8.4.8", datamemory=2**30)
    plan = set_parameter(plan, "data_node", "DataMemory", 2**31)
    assert [name for name in plan.parameters.data_node if name.lower() == "datamemory"] == ["DataMemory"]
    node = plan.data_nodes[0]
    plan = update(plan, node.id, parameters=Parameters({"odirect": 0}))
    plan = set_parameter(plan, node.id, "ODirect", 1)
    assert dict(plan.by_id[node.id].parameters) == {"ODirect": 1}


@pytest.mark.parametrize("scope", SCOPES)
def test_what_the_export_leaves_out_is_not_said_to_be_refused(scope: str) -> None:
    names = {"data_node": "NodeId", "management": "HostName", "sql": "NodeId", "system": "FooBar"}
    plan = set_parameter(plan_of("8.4.8"), scope, names.get(scope, "FooBar"), "a # b")
    assert refused(plan) == set()
    told = [p for p in check(plan) if p.rule == "unknown-parameter"]
    assert told
    assert all("leaves" in p.message for p in told)
    assert "a # b" not in "".join(
        line for line in render_config_ini(plan).splitlines() if not line.startswith("#")
    )


def test_a_system_name_that_cannot_stand_in_the_file_gives_way_to_the_plans() -> None:
    plan = set_parameter(plan_of("8.4.8"), "system", "Name", "a#b")
    assert refused(plan) == set()
    assert any("writes the plan's name instead" in p.message for p in check(plan))


@pytest.mark.parametrize("number", [0, -1, 5])
def test_replicas_that_do_not_exist_are_written_as_they_are(number: int) -> None:
    plan = plan_of("8.4.8", NoOfReplicas=number)
    assert "parameter-value" in refused(plan)
    assert f"\nNoOfReplicas={number}\n" in render_config_ini(plan)


@pytest.mark.parametrize("port", [65535, "65535", 1186])
def test_two_management_nodes_of_one_port_are_told_apart(port: int | str) -> None:
    plan = plan_of("8.4.8")
    first, second = plan.management_nodes[:2]
    plan = update(plan, second.id, host_id=first.host_id)
    for node in (first, second):
        plan = set_parameter(plan, node.id, "PortNumber", port)
    (told,) = [p for p in check(plan) if p.rule == "management-ports"]
    assert told.edit is not None
    assert "management-ports" not in refused(told.edit(plan))
