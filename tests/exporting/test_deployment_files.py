"""systemd units, the operator's resource and the Ansible inventory."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from drawn_plans import plans
from exporting.acted_changes import with_init_scripts
from exporting.acted_shell import is_option_of
from ndbplan.base.resources import resource_path
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.exporting.export import render_files
from ndbplan.exporting.operator import kubernetes_name
from ndbplan.exporting.systemd import unit_word
from ndbplan.plan import file
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.plan import Plan

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))
KINDS = ["systemd", "operator", "ansible"]


class _Loader(yaml.SafeLoader):
    """Takes what Ansible must not run as text."""


_Loader.add_constructor("!unsafe", yaml.SafeLoader.construct_yaml_str)


def _loaded(text: str) -> Any:
    return yaml.load(text, _Loader)


def sample(name: str) -> Plan:
    return file.load(resource_path(f"samples/{name}.ndbplan"))


def parsed_unit(text: str) -> configparser.ConfigParser:
    reader = configparser.ConfigParser(interpolation=None, strict=False, delimiters=("=",))
    reader.read_string(text)
    return reader


@pytest.mark.parametrize("name", SAMPLES)
def test_yaml_loads_and_units_parse(name: str) -> None:
    for path, text in render_files(sample(name), KINDS).items():
        if path.endswith((".yml", ".yaml")):
            assert _loaded(text)
        else:
            unit = parsed_unit(text)
            assert unit["Service"]["ExecStart"].lstrip("@").startswith("/usr/sbin/")


@given(plan=plans())
@settings(max_examples=10)
def test_any_plan_gives_files_that_load(plan: Plan) -> None:
    strange = plan.replace(name="yes: 'no' # \"%n\" – {{ x }}")
    for path, text in render_files(strange, KINDS).items():
        if path.endswith((".yml", ".yaml")):
            assert _loaded(text)
        else:
            assert parsed_unit(text)["Unit"]["Description"].count("%%") == 1


def test_no_line_is_joined_with_the_next() -> None:
    """systemd, and the head of an init script, go on behind a backslash at the end of a line."""
    plan = set_parameter(sample("starter"), "management", "DataDir", "/var/lib/a\\")
    plan = plan.replace(name="C:\\ \\")
    for one, kind in ((plan, "service"), (with_init_scripts(plan), "init.d")):
        files = render_files(one, ["systemd"])
        assert len(files) == 6
        assert all(kind in path for path in files)
        for path, text in files.items():
            head = text.partition("### END INIT INFO")[0]
            assert not [line for line in head.splitlines() if line.endswith("\\")], path
    folders = [
        parsed_unit(text)["Service"].get("WorkingDirectory")
        for text in render_files(plan, ["systemd"]).values()
    ]
    assert folders.count("/var/lib/a\\/") == 2


def test_one_unit_for_each_process() -> None:
    plan = sample("starter")
    names = {path.split("/")[-1] for path in render_files(plan, ["systemd"])}
    assert names == {
        "ndb_mgmd-145.service",
        "ndb_mgmd-146.service",
        "ndbmtd-1.service",
        "ndbmtd-2.service",
        "ndb_mysqld-147.service",
        "ndb_mysqld-148.service",
    }
    old = render_files(sample("disk-data"), ["systemd"])
    assert "systemd/node1/ndbd-2.service" in old


def test_each_part_has_a_playbook_and_the_hosts_have_a_role(tmp_path: Path) -> None:
    files = render_files(sample("starter"), ["ansible", "hosts", "runbook"])
    parts = re.findall(r"^  ([a-z-]+)\)$", files["runbook.sh"], re.MULTILINE)
    assert len(parts) > 10
    script = tmp_path / "runbook.sh"
    script.write_text(files["runbook.sh"])
    for part in parts:
        [play] = _loaded(files[f"ansible/{part.replace('-', '_')}.yml"])
        role = play["roles"][0]
        assert (role["role"], play["hosts"]) in (("ndb_runbook", "localhost"), ("ndb_hosts", "ndb_data"))
        if role["role"] == "ndb_runbook":
            reads = [name for name in ("programs", "passwords") if is_option_of(script, part, name)]
            assert role["vars"] == {"ndb_runbook_part": part, "ndb_runbook_reads": reads}
    tasks = _loaded(files["ansible/roles/ndb_hosts/tasks/main.yml"])
    handlers = {one["name"] for one in _loaded(files["ansible/roles/ndb_hosts/handlers/main.yml"])}
    for folder, task in zip(tasks[::2], tasks[1::2], strict=True):
        copied = task["ansible.builtin.copy"]
        made = folder["ansible.builtin.file"]
        assert (made["path"], made["state"]) == (copied["dest"].rpartition("/")[0], "directory")
        assert f"hosts/{copied['src'].rpartition('/')[2]}" in files
        assert copied["dest"] in files["runbook.sh"], "the script does the same"
        assert task["notify"] in handlers


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ({}, 65536),
        ({"max_connections": 13107}, 65536),
        ({"max_connections": 13108}, 65540),
        ({"max_connections": 10, "table_open_cache": "40K"}, 10 + 10 + 2 * 40960),
        ({"open-files-limit": 100000}, 100000),
    ],
)
@pytest.mark.parametrize("manager", list(ServiceManager))
def test_a_service_lets_mysqld_open_what_its_options_ask_for(
    options: dict[str, int | str], files: int, manager: ServiceManager
) -> None:
    """With fewer files mysqld would take fewer clients than the plan says."""
    plan = sample("starter")
    plan = update(plan, plan.sql_nodes[0].id, options=options)
    plan = update(plan, plan.sql_nodes[0].host_id, service_manager=manager)
    units = render_files(plan, ["systemd"])
    (text,) = (text for name, text in units.items() if "/app-a1/ndb_mysqld-147" in name)
    limit = "LimitNOFILE=" if manager is ServiceManager.SYSTEMD else "ulimit -n "
    assert f"{limit}{files}" in [line.strip() for line in text.splitlines()]


def test_words_of_units_are_quoted() -> None:
    assert unit_word("/data/ndb") == "/data/ndb"
    assert unit_word("/a b") == '"/a b"'
    assert unit_word('%n $x "y" \\') == '"%%n $$x \\"y\\" \\\\"'


def test_the_operator_gets_what_it_does_not_set_itself() -> None:
    plan = set_parameter(sample("starter"), "data_node", "FileSystemPath", "/nvme0/fs")
    resource = _loaded(render_files(plan, ["operator"])["ndb-operator.yaml"])
    assert resource["kind"] == "NdbCluster"
    spec = resource["spec"]
    assert spec["redundancyLevel"] == 2
    assert spec["dataNode"]["nodeCount"] == 2
    assert spec["dataNode"]["config"]["DataMemory"] == "128G"
    requests = spec["dataNode"]["ndbPodSpec"]["resources"]["requests"]
    host = plan.host(plan.data_nodes[0].host_id)
    assert 128 * 2**30 < int(requests["memory"].removesuffix("Mi")) * 2**20 < host.memory_bytes
    assert int(requests["cpu"]) == host.cores - 1
    assert spec["image"].endswith(f":{plan.ndb_version}"), "the last one of the series"
    exact = render_files(set_plan(plan, ndb_version="8.4.8"), ["operator"])["ndb-operator.yaml"]
    assert _loaded(exact)["spec"]["image"].endswith(":8.4.8")
    assert not {"DataDir", "FileSystemPath", "NoOfReplicas"} & spec["dataNode"]["config"].keys()
    assert "ndb-operator.yaml" not in render_files(set_plan(plan, ndb_version="7.6"), ["operator"])


def test_what_the_operator_asks_for_can_be_scheduled_and_options_of_mysqld_come_along() -> None:
    """Two data nodes of a host share it; memory that no host has is left out."""
    plan = sample("starter")
    first, second = plan.data_nodes
    host = plan.host(first.host_id)
    for node in plan.sql_nodes:
        plan = update(plan, node.id, options={"log_bin": 1, "server_id": node.node_id})
    for share, memory in ((1, True), (2, False)):
        spec = _loaded(render_files(plan, ["operator"])["ndb-operator.yaml"])["spec"]
        requests = spec["dataNode"]["ndbPodSpec"]["resources"]["requests"]
        assert int(requests["cpu"]) * share < host.cores
        assert ("memory" in requests) == memory
        assert spec["mysqlNode"]["myCnf"] == "[mysqld]\nlog-bin=binlog\n"
        plan = move_process(plan, second.id, first.host_id)


def test_the_operator_gets_a_memory_limit_where_every_container_has_one() -> None:
    """That of the smallest, as pods are alike; no more is asked for, which Kubernetes refuses."""
    plan = sample("starter")
    first, second = plan.data_nodes
    stated = []
    for node, size in ((first, 256 * 2**30), (second, 192 * 2**30), (second, 2**30)):
        plan = update(plan, node.id, container_memory_bytes=size)
        spec = _loaded(render_files(plan, ["operator"])["ndb-operator.yaml"])["spec"]
        resources = spec["dataNode"]["ndbPodSpec"]["resources"]
        stated.append((resources.get("limits"), resources["requests"]["memory"]))
    needed = stated[0][1]
    assert needed not in ("1Gi", "192Gi", "256Gi")
    assert stated == [(None, needed), ({"memory": "192Gi"}, needed), ({"memory": "1Gi"}, "1Gi")]


def test_what_needs_a_key_that_no_pod_gets_is_left_out_and_said() -> None:
    plan = sample("starter")
    for name in ("EncryptedFileSystem", "RequireTls"):
        plan = set_parameter(plan, "data_node", name, 1)
    text = render_files(plan, ["operator"])["ndb-operator.yaml"]
    assert not {"EncryptedFileSystem", "RequireTls"} & _loaded(text)["spec"]["dataNode"]["config"].keys()
    said = " ".join(text.replace("\n# ", " ").split())
    assert "this of the plan is left out: RequireTls." in said
    assert "left out" not in render_files(sample("starter"), ["operator"])["ndb-operator.yaml"]


@pytest.mark.parametrize(
    ("name", "shown"), [("My Cluster №1", "my-cluster-1"), ("42", "ndb-42"), ("é", "ndb")]
)
def test_names_for_kubernetes(name: str, shown: str) -> None:
    assert kubernetes_name(name) == shown


def test_the_inventory_names_every_node() -> None:
    plan = update(sample("starter"), "sql147", pool_node_ids=(160, 161))
    files = render_files(plan, ["ansible"])
    groups = _loaded(files["ansible/inventory.yml"])["all"]["children"]
    data = groups["ndb_data"]["hosts"]["host-a1"]["ndb_data_nodes"][0]
    assert data["node_id"] == 1
    assert "/nvme0/mysqlcluster/ndb_1_fs" in data["directories"], "a link needs its folder"
    assert data["links"] == [{"path": "/nvme0/mysqlcluster/ndb_1_fs/LCP", "target": "/nvme1/ndb/ndb_1_lcp"}]
    sql = groups["ndb_sql"]["hosts"]["app-a1"]["ndb_sql_nodes"][0]
    assert sql == {"node_ids": [147, 160, 161], "service": "ndb_mysqld-147.service"}
    common = _loaded(files["ansible/group_vars/all.yml"])
    assert common["ndb_connect_string"] == "mgm-c1:1186,app-b1:1186"
    assert common["ndb_version"] == "8.4"


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_hosts_are_told_nothing_that_the_oldest_systemd_does_not_know(version: str) -> None:
    """It passes over a command behind a + and goes on: --initial would stay for the next start."""
    plan = set_plan(sample("starter"), ndb_version=version)
    files = render_files(plan, ("runbook", "systemd", "ansible"))
    text = "\n".join(one for one in files.values() if isinstance(one, str))
    assert "rm -f /run/%n.option" in text
    assert re.findall(r"Exec\w+=-?\+.*|systemctl [^\n]*--(?:now|value)\b|Timeout\w+=infinity", text) == []
    units = [one for name, one in files.items() if name.endswith(".service") and isinstance(one, str)]
    assert all("PermissionsStartOnly=true" in one for one in units if "START_OPTION" in one)
