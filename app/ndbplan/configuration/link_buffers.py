"""Buffers of the connections of data nodes, as config.ini makes them.

    link_buffers(plan)[3].receive_bytes       # of data node 3, all connections together

A connection receives into a buffer of ReceiveBufferMemory; in shared memory the segment (ShmSize) stands for
it, which the end that listens makes. Source: initTransporter and createSHMTransporter of 8.x.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.connections import Connection, connections
from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.configuration.settings import connection_settings, node_settings
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, node_ids


class LinkBuffers(NamedTuple):
    """Connections of a data node."""

    number: int
    send_bytes: int
    """SendBufferMemory of all."""
    receive_bytes: int
    """ReceiveBufferMemory of all, once each."""
    group_receive_bytes: int
    """Of those to other data nodes of its node group, once each."""


@kept_by_identity(size=16)
def link_buffers(plan: Plan) -> Mapping[int, LinkBuffers]:
    """Buffers by the node id of each data node."""
    groups = node_group_ids(plan)
    members: dict[int, int] = {}
    for group in groups.values():
        members[group] = members.get(group, 0) + 1
    if not _differ(plan):
        settings, links = connection_settings(plan), node_ids(plan.processes) - 1
        send, receive = settings.number("SendBufferMemory"), settings.number("ReceiveBufferMemory")
        return {
            node_id: LinkBuffers(
                links,
                links * send,
                links * receive,
                0 if group == NODE_GROUP_NONE else (members[group] - 1) * receive,
            )
            for node_id, group in groups.items()
        }
    found = dict.fromkeys(groups, LinkBuffers(0, 0, 0, 0))
    for one in connections(plan):
        first, second = (groups.get(node_id) for node_id in one.node_ids)
        together = first is not None and first == second != NODE_GROUP_NONE
        for node_id in one.node_ids:
            if node_id in found:
                before, receives = found[node_id], _receives(one, node_id)
                found[node_id] = LinkBuffers(
                    before.number + 1,
                    before.send_bytes + _number(one, "SendBufferMemory"),
                    before.receive_bytes + receives,
                    before.group_receive_bytes + (receives if together else 0),
                )
    return found


def _differ(plan: Plan) -> bool:
    """Whether connections may have other buffers than those of [tcp default], or be missing."""
    if plan.links:
        return True
    for process in plan.processes:
        settings = node_settings(plan, process)
        for name in ("UseShm", "ConnectionMap"):
            if catalogue.knows(settings.section, name, plan.version) and settings.states(name):
                return True
    return False


def _receives(one: Connection, node_id: int) -> int:
    if one.kind == "tcp":
        return _number(one, "ReceiveBufferMemory")
    return _number(one, "ShmSize") if one.value("NodeIdServer") == node_id else 0


def _number(one: Connection, name: str) -> int:
    value = one.value(name)
    return value if isinstance(value, int) else 0
