"""The plan as an NdbCluster resource for MySQL NDB Operator (Kubernetes)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.resources import read_json
from ndbplan.base.units import MIB, format_ndb_size, format_value
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.mysqld import option_line, stated_options
from ndbplan.configuration.sections import PATH_PARAMETERS
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.configuration.stated import OF_PLAN, Fate, readings
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.exporting.yaml_text import yaml_text
from ndbplan.ndb.mysqld_options import may_be_empty, written
from ndbplan.ndb.values import format_value as as_stated
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
_ENCRYPTED = "EncryptedFileSystem"
"""The operator states it itself where the resource names a Secret."""
_NEEDS_KEYS = ("RequireTls", "RequireCertificate")
"""With them no node starts without a key, which the operator gives to no pod."""
_ABSOLUTE_PATH = re.compile(r"(^|[=:,])/")
_LOG_BIN_OF_PODS = "binlog"
"""Base name of the binary log where the plan gives none."""


@cache
def _limits() -> Mapping[str, Any]:
    """What the operator takes, and waits for."""
    limits: Mapping[str, Any] = read_json("ndb/operator.json")
    return limits


def render_operator(plan: Plan) -> str:
    """The YAML text of the resource."""
    members = [node for node in plan.data_nodes if node.node_group != NODE_GROUP_NONE]
    comment = "\n".join(
        (
            f"Cluster '{plan.name}' for MySQL NDB Operator, written by ndbplan.",
            "The operator places nodes, ids, directories and management nodes itself; settings of single "
            "nodes, of connections and of SQL nodes in config.ini, and disk roles of the plan are not "
            "carried over. It makes one SQL node where the plan has none. A memory limit is given where the "
            "plan states one for the container of every data node. It cannot give a host to one node, mount "
            "several disks, lock memory, or create log file groups; once the cluster is made it changes "
            "neither NoOfReplicas nor what a pod asks for, and nothing at all with NoOfReplicas 1.",
            "The data directory of an SQL node lives as long as its pod: its binary log and what is not in "
            "NDB go with it, unless you add a pvcSpec to mysqlNode.",
            *_said(plan, members),
        )
    )
    document: dict[str, Any] = {
        "apiVersion": "mysql.oracle.com/v1",
        "kind": "NdbCluster",
        "metadata": {"name": kubernetes_name(plan.name)},
        "spec": {
            **_image(plan),
            "redundancyLevel": no_of_replicas(plan),
            "freeAPISlots": len(plan.api_slots),
            **({"tdeSecretName": _secret(plan)} if _is_asked(plan, _ENCRYPTED) else {}),
            "dataNode": _data_node(plan, members),
            "mysqlNode": _mysql_node(plan),
        },
    }
    management = _config(plan, "MGM", plan.parameters.management)
    if management:
        document["spec"]["managementNode"] = {"config": management}
    return yaml_text(document, comment)


def _said(plan: Plan, members: list[DataNode]) -> Iterator[str]:
    """What holds for this plan: what is to be done before, what is left out, what is refused."""
    if _is_asked(plan, _ENCRYPTED):
        yield (
            "Before, make the password of encrypted files, without which no data node starts: kubectl create "
            f"secret generic {_secret(plan)} --from-literal={_limits()['tde_secret_key']}=PASSWORD"
        )
    if asked := [name for name in _NEEDS_KEYS if _is_asked(plan, name)]:
        yield f"It gives no pod a key, so that this of the plan is left out: {', '.join(asked)}."
    if named := [*_naming_files(plan), *_options_naming_files(plan)]:
        yield (
            "Pods have no folders but their own, so that this of the plan is left out, which names some: "
            f"{', '.join(named)}."
        )
    yield from (f"THE OPERATOR REFUSES THIS: {why}." for why in _refused(plan, members))
    yield from _starts_too_long(plan, members)


def _refused(plan: Plan, members: list[DataNode]) -> Iterator[str]:
    """Why no cluster comes of the resource."""
    replicas, most = no_of_replicas(plan), _limits()
    if not members:
        yield "it needs data nodes"
    elif len(members) % replicas:
        yield f"{len(members)} data nodes are no whole number of node groups of {replicas}"
    if len(members) > most["data_nodes_most"]:
        yield f"{len(members)} data nodes, {most['data_nodes_most']} at most"
    if replicas > most["redundancy_most"]:
        yield f"NoOfReplicas is {replicas}, {most['redundancy_most']} at most"
    sections = max(1, len(plan.sql_nodes)) * _pool(plan) + len(plan.api_slots)
    room = most["node_id_most"] + 1 - most["first_api_node_id"]
    if sections > room:
        yield (
            f"{sections} connections of SQL nodes and API slots, {room} at most: it numbers them from "
            f"{most['first_api_node_id']} on, and node ids end at {most['node_id_most']}"
        )


def _starts_too_long(plan: Plan, members: list[DataNode]) -> Iterator[str]:
    """Starts that Kubernetes does not wait for, as a sentence."""
    if not members:
        return
    waited_s, now = _limits()["data_node_start_most_s"], Estimation(plan)
    found = []
    for name, kind, node_id in (
        ("a restart of all", "system", None),
        ("one with --initial", "initial", members[0].node_id),
    ):
        try:
            estimate = now.restart("system" if kind == "system" else "initial", node_id, IDLE)
        except UserError:
            continue
        if estimate.duration_s.high > waited_s:
            found.append(f"{name} takes {estimate.duration_s}")
    if found:
        yield (
            f"It gives a data node {format_value(waited_s, 's')} to start, then ends and begins it anew, "
            f"over and over: with the rows of the plan {', '.join(found)}."
        )


def _secret(plan: Plan) -> str:
    """Name of the Secret with the password of encrypted files."""
    return f"{kubernetes_name(plan.name)}-tde"


def _is_asked(plan: Plan, name: str) -> bool:
    """Whether a plan switches something on."""
    stated = {**plan.parameters.data_node, **plan.parameters.management}
    return str(stated.get(name, 0)).lower() in ("1", "true", "yes")


def _image(plan: Plan) -> dict[str, str]:
    """The programs of the plan's release, or the last ones of its series; nothing for a series as 9.x."""
    named = re.fullmatch(r"[0-9]+\.[0-9]+(\.[0-9]+)?", plan.ndb_version)
    return {"image": f"{_IMAGE}:{plan.ndb_version}"} if named else {}


def kubernetes_name(name: str) -> str:
    """A name as Kubernetes allows it: small letters, digits and hyphens."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    text = text if re.match(r"[a-z]", text) else f"ndb-{text}"
    return text[: _limits()["name_letters_most"]].strip("-")


def _config(plan: Plan, section: str, parameters: Parameters) -> dict[str, int | str]:
    """Parameters that the version knows and the operator leaves to the user."""
    values: dict[str, int | str] = {}
    for reading in readings(section, parameters, plan.ndb_version) if parameters else ():
        parameter, value = reading.parameter, reading.value
        if parameter is None or reading.fate not in (Fate.COUNTS, Fate.REFUSED):
            continue
        if parameter.name.lower() in _SET_BY_OPERATOR or parameter.name in (_ENCRYPTED, *_NEEDS_KEYS):
            continue
        if not _ABSOLUTE_PATH.search(str(value)):
            size = isinstance(value, int) and parameter.unit.startswith("bytes")
            values[parameter.name] = as_stated(parameter, value) if size else value
    return values


def _naming_files(plan: Plan) -> list[str]:
    """Parameters that are left out for the files of hosts in their values."""
    stated = (*plan.parameters.data_node.items(), *plan.parameters.management.items())
    return [
        name
        for name, value in stated
        if name.lower() not in _SET_BY_OPERATOR and _ABSOLUTE_PATH.search(str(value))
    ]


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
    if any(_disks(plan, node) for node in members):
        spec["pvcSpec"] = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": _binary(_storage_bytes(plan, members))}},
        }
    return spec


def _storage_bytes(plan: Plan, members: list[DataNode]) -> int:
    """What the files of a data node take when its memory is full, in whole MiB; no more than its disks hold.

    A volume has less room than the disks that it is made of, so that all of them is never there.
    """
    smallest = min(sum(disk.capacity_bytes for disk in _disks(plan, node)) for node in members)
    try:
        on_disks = Estimation(plan).disk_space
    except UserError:
        return smallest
    needed = 0.0
    for node in members:
        spaces = (space for disk in _disks(plan, node) if (space := on_disks.of(disk.id)) is not None)
        needed = max(needed, sum(one.memory_full_bytes.high / len(one.node_ids) for one in spaces))
    return min(smallest, math.ceil(needed / MIB) * MIB)


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


def _pool(plan: Plan) -> int:
    """Connections of every SQL node, as they are alike."""
    return min((len(process_node_ids(node)) for node in plan.sql_nodes), default=1)


def _mysql_node(plan: Plan) -> dict[str, Any]:
    """SQL nodes, of which the operator needs one; options that all of the plan's have.

    So many and no more: by itself it would make room for two more in config.ini.
    """
    count = max(1, len(plan.sql_nodes))
    spec: dict[str, Any] = {"nodeCount": count, "maxNodeCount": count}
    if _pool(plan) > 1:
        spec["connectionPoolSize"] = min(_pool(plan), _limits()["connection_pool_most"])
    lines = [_line(*one) for one in _in_all(plan) if not _ABSOLUTE_PATH.search(one[1])]
    if lines:
        spec["myCnf"] = "\n".join(("[mysqld]", *lines, ""))
    return spec


def _line(name: str, value: str) -> str:
    """An option as the operator reads it: it refuses all lines without a value."""
    if value:
        return option_line(name, value)
    if may_be_empty(name):
        return f'{name}=""'
    by_name = name == written(name, "on")[0] and not written(name, "on")[1]
    return f"{name}={_LOG_BIN_OF_PODS if by_name else 1}"


def _options_naming_files(plan: Plan) -> list[str]:
    """Options that are left out for the files of hosts in their values."""
    return [name for name, value in _in_all(plan) if _ABSOLUTE_PATH.search(value)]


def _in_all(plan: Plan) -> list[tuple[str, str]]:
    """The options that every SQL node has, with the same value."""
    stated = [stated_options(node) for node in plan.sql_nodes]
    first = stated[0] if stated else {}
    return [one for one in first.items() if all(one in options.items() for options in stated)]
