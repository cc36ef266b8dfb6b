"""Options that no plan holds, in files of hosts alone: paths of keys, passwords of encrypted files."""

from __future__ import annotations

from collections.abc import Iterable

from ndbplan.configuration.settings import node_settings
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode

OWN_OPTIONS_FOLDER = "/etc/ndb.cnf.d"
"""Whose .cnf files my.cnf includes: an /etc/my.cnf that the plan makes takes the place of what was in it."""
KEYS = ("RequireTls", "RequireCertificate")
ENCRYPTED_FILES = ("EncryptedFileSystem",)
"""Parameters that ask for keys, and for a password of files."""


def asks_for(plan: Plan, names: Iterable[str], host: Host | None = None) -> bool:
    """Whether one of some parameters is on for a management or data node, of one host if that is named."""
    nodes: list[ManagementNode | DataNode] = [*plan.management_nodes, *plan.data_nodes]
    here = [node for node in nodes if host is None or node.host_id == host.id]
    return any(_is_on(plan, node, name) for node in here for name in names)


def has_own_options(plan: Plan, host: Host) -> bool:
    """Whether nodes of a host need options beside those of the plan."""
    return asks_for(plan, KEYS) or asks_for(plan, ENCRYPTED_FILES, host)


def _is_on(plan: Plan, node: ManagementNode | DataNode, name: str) -> bool:
    section = "DB" if isinstance(node, DataNode) else "MGM"
    return catalogue.knows(section, name, plan.version) and node_settings(plan, node).number(name) == 1
