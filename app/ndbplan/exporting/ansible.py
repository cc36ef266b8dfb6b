"""The plan as an Ansible inventory with group variables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    connect_string,
    data_node_program,
    management_directory,
    management_port,
)
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.services import service_of
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.exporting.yaml_text import yaml_text
from ndbplan.plan.hardware import Host, ServiceManager
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, Process, SqlNode, process_node_ids


def render_ansible(plan: Plan) -> dict[str, str]:
    """The inventory and its group variables by path."""
    written = partial(yaml_text, for_ansible=True)
    about = f"cluster '{plan.name}' (NDB {plan.ndb_version}), written by ndbplan"
    return {
        "ansible/inventory.yml": written(_inventory(plan), f"Inventory of {about}."),
        "ansible/group_vars/all.yml": written(_common(plan), f"Variables of all hosts of {about}."),
        "ansible/group_vars/ndb_data.yml": written(
            {"ndb_data_node_program": data_node_program(plan), "ndb_data_node_memlock": "unlimited"},
            f"Variables of the data node hosts of {about}.",
        ),
        "ansible/group_vars/ndb_management.yml": written(
            {
                "ndb_config_file": f"{MANAGEMENT_DIRECTORY}/config.ini",
                "ndb_config_directory": MANAGEMENT_DIRECTORY,
            },
            f"Variables of the management hosts of {about}.",
        ),
        "ansible/group_vars/ndb_sql.yml": written(
            {"ndb_my_cnf": "/etc/my.cnf"}, f"Variables of the SQL hosts of {about}."
        ),
    }


def _common(plan: Plan) -> dict[str, Any]:
    return {
        "ndb_cluster_name": plan.name,
        "ndb_version": plan.ndb_version,
        "ndb_connect_string": connect_string(plan),
        "ndb_no_of_replicas": no_of_replicas(plan),
        "ndb_user": "mysql",
    }


def _inventory(plan: Plan) -> dict[str, Any]:
    return {
        "all": {
            "children": {
                "ndb_management": _group(plan, plan.management_nodes),
                "ndb_data": _group(plan, plan.data_nodes),
                "ndb_sql": _group(plan, plan.sql_nodes),
            }
        }
    }


def _group(plan: Plan, nodes: Sequence[ManagementNode | DataNode | SqlNode]) -> dict[str, Any]:
    hosts: dict[str, Any] = {}
    for node in nodes:
        host = plan.host(node.host_id)
        variables = hosts.setdefault(host.hostname, _host(host))
        key, value = _node(plan, node)
        variables.setdefault(key, []).append(value)
    return {"hosts": hosts}


def _host(host: Host) -> dict[str, Any]:
    variables = {"ansible_host": host.hostname}
    if host.service_manager is not ServiceManager.SYSTEMD:
        variables["ndb_service_manager"] = host.service_manager.value
    return variables


def _node(plan: Plan, node: Process) -> tuple[str, dict[str, Any]]:
    """The variable of the host that lists nodes of this kind, and the entry of one node."""
    if isinstance(node, DataNode):
        paths = data_node_paths(plan, node)
        entry: dict[str, Any] = {
            "node_id": node.node_id,
            "directories": [path for path in paths.all() if path.startswith("/")],
        }
        if node.node_group is not None:
            entry["node_group"] = node.node_group
        if paths.lcp is not None:
            folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
            entry["directories"].append(folder)
            entry["links"] = [{"path": f"{folder}/LCP", "target": paths.lcp}]
        return "ndb_data_nodes", entry
    if isinstance(node, ManagementNode):
        directory = management_directory(plan, node)
        return "ndb_management_nodes", {
            "node_id": node.node_id,
            "port": management_port(plan, node),
            "directory": directory,
        }
    assert isinstance(node, SqlNode)
    entry = {"node_ids": list(process_node_ids(node)), "service": service_of(plan, node).name}
    return "ndb_sql_nodes", entry
