"""The plan as an NdbCluster resource for MySQL NDB Operator (Kubernetes)."""

from __future__ import annotations

import math
import re
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.units import MIB, format_ndb_size
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.mysqld import option_line, stated_options
from ndbplan.configuration.sections import PATH_PARAMETERS
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.configuration.stated import OF_PLAN, Fate, readings
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.yaml_text import yaml_text
from ndbplan.ndb.values import format_value
from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, DiskRole, process_node_ids

_IMAGE = "container-registry.oracle.com/mysql/community-cluster"
"""Of the product; what the operator takes when none is named."""

_SET_BY_OPERATOR = {
    *OF_PLAN,
    *(name.lower() for name in PATH_PARAMETERS),
    "noofreplicas",
    "serverport",
    "portnumber",
    "locationdomainid",
    "lockpagesinmainmemory",
}
_NEEDS_SECRETS = ("EncryptedFileSystem", "RequireTls", "RequireCertificate")
"""With them no node starts without a password or a key, which the operator gives to no pod."""


def render_operator(plan: Plan) -> str:
    """The YAML text of the resource."""
    members = [node for node in plan.data_nodes if node.node_group != NODE_GROUP_NONE]
    comment = (
        f"Cluster '{plan.name}' for MySQL NDB Operator, written by ndbplan.\n"
        "The operator places nodes, ids, directories and management nodes itself; settings of single nodes, "
        "of connections and of SQL nodes in config.ini, and disk roles of the plan are not carried over. It "
        "makes one SQL node where the plan has none. A memory limit is given where the plan states one for "
        "the container of every data node. It cannot give a host to one node, mount several disks, "
        "lock memory, create log file groups, or add node groups to a cluster that runs."
        f"{_without_secrets(plan)}"
    )
    document: dict[str, Any] = {
        "apiVersion": "mysql.oracle.com/v1",
        "kind": "NdbCluster",
        "metadata": {"name": kubernetes_name(plan.name)},
        "spec": {
            **_image(plan),
            "redundancyLevel": no_of_replicas(plan),
            "freeAPISlots": len(plan.api_slots),
            "dataNode": _data_node(plan, members),
            "mysqlNode": _mysql_node(plan),
        },
    }
    management = _config(plan, "MGM", plan.parameters.management)
    if management:
        document["spec"]["managementNode"] = {"config": management}
    return yaml_text(document, comment)


def _without_secrets(plan: Plan) -> str:
    """What of the plan is left out because no pod would start with it."""
    stated = {**plan.parameters.data_node, **plan.parameters.management}
    asked = [name for name in _NEEDS_SECRETS if str(stated.get(name, 0)).lower() in ("1", "true", "yes")]
    if not asked:
        return ""
    return f"\nIt gives no pod a password or key, so that this of the plan is left out: {', '.join(asked)}."


def _image(plan: Plan) -> dict[str, str]:
    """The programs of the plan's release, or the last ones of its series; nothing for a series as 9.x."""
    named = re.fullmatch(r"[0-9]+\.[0-9]+(\.[0-9]+)?", plan.ndb_version)
    return {"image": f"{_IMAGE}:{plan.ndb_version}"} if named else {}


def kubernetes_name(name: str) -> str:
    """A name as Kubernetes allows it: small letters, digits and hyphens."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50].strip("-")
    return text if re.match(r"[a-z]", text) else f"ndb-{text}".strip("-")


def _config(plan: Plan, section: str, parameters: Parameters) -> dict[str, int | str]:
    """Parameters that the version knows and the operator leaves to the user."""
    values: dict[str, int | str] = {}
    for reading in readings(section, parameters, plan.ndb_version) if parameters else ():
        parameter, value = reading.parameter, reading.value
        if parameter is None or reading.fate not in (Fate.COUNTS, Fate.REFUSED):
            continue
        if parameter.name.lower() not in _SET_BY_OPERATOR and parameter.name not in _NEEDS_SECRETS:
            size = isinstance(value, int) and parameter.unit.startswith("bytes")
            values[parameter.name] = format_value(parameter, value) if size else value
    return values


def _data_node(plan: Plan, members: list[DataNode]) -> dict[str, Any]:
    spec: dict[str, Any] = {"nodeCount": len(members)}
    config = _config(plan, "DB", plan.parameters.data_node)
    if config:
        spec["config"] = config
    if not members:
        return spec
    limit = _limit_bytes(members)
    resources = {"requests": _requests(plan, members, limit)}
    if limit is not None:
        resources["limits"] = {"memory": _binary(limit)}
    spec["ndbPodSpec"] = {"resources": resources}
    disks = [disk for node in members for disk in _disks(plan, node)]
    if disks:
        smallest = min(sum(disk.capacity_bytes for disk in _disks(plan, node)) for node in members)
        spec["pvcSpec"] = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": _binary(smallest)}},
        }
    return spec


def _requests(plan: Plan, members: list[DataNode], limit: int | None) -> dict[str, str]:
    """Cores and memory that a data node needs: less than its share of its host, as other pods run there too.

    Memory that no host has is not asked for: nothing could be scheduled; nor more than the limit, which is
    refused.
    """
    shares = {host_id: sum(node.host_id == host_id for node in members) for host_id in _hosts(members)}
    cores = min((plan.host(host_id).cores - 1) // count for host_id, count in shares.items())
    requests = {"cpu": str(max(1, cores))}
    ids = {node.node_id for node in members}
    try:
        needed = max(n.ram_bytes.high for n in Estimation(plan).memory.nodes if n.node_id in ids)
    except UserError:
        return requests
    needed = needed if limit is None else min(needed, limit)
    if all(needed * count < plan.host(host_id).memory_bytes for host_id, count in shares.items()):
        requests["memory"] = _binary(math.ceil(needed / MIB) * MIB)
    return requests


def _limit_bytes(members: list[DataNode]) -> int | None:
    """The memory limit of every container, as all pods are alike; None where some node states none.

    The kernel ends a node that takes more, so none is made up.
    """
    stated = [node.container_memory_bytes for node in members]
    return min((one for one in stated if one is not None), default=None) if None not in stated else None


def _hosts(members: list[DataNode]) -> set[str]:
    return {node.host_id for node in members}


def _disks(plan: Plan, node: DataNode) -> list[Disk]:
    disks = {disk.id: disk for role in DiskRole if (disk := disk_for(plan, node, role)) is not None}
    return list(disks.values())


def _binary(size_bytes: int) -> str:
    """Bytes as a Kubernetes quantity: Gi, Mi, Ki."""
    text = format_ndb_size(size_bytes)
    return f"{text}i" if text[-1] in "KMG" else text


def _mysql_node(plan: Plan) -> dict[str, Any]:
    """SQL nodes, of which the operator needs one; options that all of the plan's have."""
    pools = [len(process_node_ids(node)) for node in plan.sql_nodes]
    spec: dict[str, Any] = {"nodeCount": max(1, len(plan.sql_nodes))}
    if pools and min(pools) > 1:
        spec["connectionPoolSize"] = min(pools)
    if common := _in_all([stated_options(node) for node in plan.sql_nodes]):
        spec["myCnf"] = "\n".join(("[mysqld]", *common, ""))
    return spec


def _in_all(stated: list[dict[str, str]]) -> list[str]:
    """Lines of the options that every SQL node has, with the same value."""
    first = stated[0] if stated else {}
    return [option_line(*one) for one in first.items() if all(one in options.items() for options in stated)]
