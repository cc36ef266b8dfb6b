"""config.ini: what is in it, where, and what is left out."""

from __future__ import annotations

import configparser

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.configuration.sections import sections
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.edits.roles import assign_role
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.plan import file
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole, Link

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))


@pytest.fixture
def starter() -> Plan:
    return file.load(resource_path("samples/starter.ndbplan"))


def lines(plan: Plan) -> list[str]:
    return render_config_ini(plan).splitlines()


def block(plan: Plan, header: str, number: int = 0) -> dict[str, str]:
    """The entries of the n-th section of a kind."""
    found = [s for s in sections(plan) if s.header == header]
    return {entry.name: entry.value for entry in found[number].entries}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_plain_ascii_in_short_lines(name: str) -> None:
    text = render_config_ini(file.load(resource_path(f"samples/{name}.ndbplan")))
    assert text.isascii()
    assert max(map(len, text.splitlines())) < 1023
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_sections_of_every_process_with_its_id_and_host(starter: Plan) -> None:
    for header, nodes in (
        ("ndb_mgmd", starter.management_nodes),
        ("ndbd", starter.data_nodes),
        ("mysqld", starter.sql_nodes),
    ):
        for number, node in enumerate(nodes):
            entries = block(starter, header, number)
            assert entries["NodeId"] == str(node.node_id)
            assert entries["HostName"] == starter.host(node.host_id).hostname


def test_default_sections_come_first(starter: Plan) -> None:
    headers = [line for line in lines(starter) if line.startswith("[")]
    assert headers[0] == "[ndbd default]"
    assert headers.index("[ndb_mgmd]") < headers.index("[ndbd]") < headers.index("[mysqld]")


def test_each_value_that_is_no_default_has_a_reason_above_it(starter: Plan) -> None:
    text = lines(starter)
    for name in ("DataMemory", "NoOfFragmentLogParts", "ODirect"):
        place = next(i for i, line in enumerate(text) if line.startswith(f"{name}="))
        assert text[place - 1].startswith("# ")
        assert "default" in text[place - 1]


def test_parameters_that_the_version_lacks_are_left_out_and_said(starter: Plan) -> None:
    old = set_plan(starter, ndb_version="7.4")
    text = render_config_ini(old)
    assert "\nTransactionMemory=" not in text
    assert "# left out: TransactionMemory=" in text
    assert "\nLocationDomainId=" not in text


def test_a_name_no_version_knows_never_becomes_a_line(starter: Plan) -> None:
    text = render_config_ini(set_parameter(starter, "data_node", "FooBar", "x\\n[ndbd]"))
    assert "\nFooBar" not in text


def test_disk_roles_become_paths(starter: Plan) -> None:
    default = block(starter, "ndbd default")
    assert default["DataDir"] == "/nvme0/mysqlcluster"
    assert default["FileSystemPathDD"] == "/nvme1/ndb"
    assert default["BackupDataDir"] == "/nvme1/ndb"


def test_data_files_and_undo_on_two_disks_get_a_path_each() -> None:
    telecom = file.load(resource_path("samples/telecom-144.ndbplan"))
    default = block(telecom, "ndbd default")
    assert default["FileSystemPathDataFiles"] == "/nvme2/ndb"
    assert default["FileSystemPathUndoFiles"] == "/nvme1/ndb"
    assert "FileSystemPathDD" not in default


def test_a_role_of_one_node_only_stands_in_its_section(starter: Plan) -> None:
    node = starter.data_nodes[0]
    moved = assign_role(starter, node.id, DiskRole.BACKUP, "host-a1-nvme0")
    assert "BackupDataDir" not in block(moved, "ndbd default")
    assert "BackupDataDir" not in block(moved, "ndbd", 0)
    assert block(moved, "ndbd", 1)["BackupDataDir"] == "/nvme1/ndb"


def test_a_path_the_user_set_wins_over_the_role(starter: Plan) -> None:
    told = set_parameter(starter, "data_node", "BackupDataDir", "/backup")
    assert block(told, "ndbd default")["BackupDataDir"] == "/backup"


def test_redo_and_lcp_on_different_disks_say_how(starter: Plan) -> None:
    text = render_config_ini(starter).replace("\n# ", " ")
    assert "make /nvme0/mysqlcluster/ndb_1_fs/LCP a link to /nvme1/ndb/ndb_1_lcp" in text


def test_redo_apart_from_a_fixed_file_system_path_names_the_folders(starter: Plan) -> None:
    fixed = set_parameter(starter, "data_node", "FileSystemPath", "/nvme1/fs")
    text = render_config_ini(fixed).replace("\n# ", " ")
    assert "/nvme1/fs/ndb_1_fs/D8/DBLQH ... D15/DBLQH to /nvme0/mysqlcluster/ndb_1_redo" in text


def test_node_group_location_and_pool(starter: Plan) -> None:
    node = starter.sql_nodes[0]
    pooled = update(starter, node.id, pool_node_ids=(160, 161))
    ids = [block(pooled, "mysqld", i)["NodeId"] for i in range(4)]
    assert ids == ["147", "160", "161", "148"]
    entries = block(starter, "ndbd", 0)
    assert entries["Nodegroup"] == "0"
    assert entries["LocationDomainId"] == "1"
    kept = update(starter, starter.data_nodes[1].id, node_group=65536)
    assert block(kept, "ndbd", 1)["Nodegroup"] == "65536"


def test_links_come_after_the_nodes_they_name(starter: Plan) -> None:
    first, second = starter.data_nodes[:2]
    link = Link(process_id_1=first.id, process_id_2=second.id, parameters={"SendBufferMemory": 2**22})
    text = render_config_ini(starter.replace(links=(link,)))
    assert text.index("\n[tcp]\n") > text.rindex("\n[api]\n")
    assert text.endswith(
        "NodeId1=1\nNodeId2=2\n# Send buffer of this link (default 2M)\nSendBufferMemory=4M\n"
    )


def test_what_hosts_and_ids_say_is_not_said_twice(starter: Plan) -> None:
    confused = set_parameter(starter, starter.data_nodes[0].id, "HostName", "elsewhere")
    assert "elsewhere" not in render_config_ini(confused)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_generic_ini_reader_agrees_about_the_lines(name: str) -> None:
    plan = file.load(resource_path(f"samples/{name}.ndbplan"))
    for section in sections(plan):
        text = f"[{section.header}]\n" + "".join(f"{e.name}={e.value}\n" for e in section.entries)
        reader = configparser.ConfigParser(interpolation=None, strict=True)
        reader.read_string(text)
        assert len(reader[section.header]) == len(section.entries)
