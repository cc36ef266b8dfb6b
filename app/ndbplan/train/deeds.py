"""What somebody does to a live cluster, and changes of its configuration as people type them.

put("RedoBuffer=64M", cluster)        # with a rolling restart
edited("RedoBuffer=64M", cluster)     # in config.ini of the management server, and no more
moved("lcp,undo to nvme0", cluster)   # on every data node, with a rolling restart
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import ValidationError

from ndbplan.base.errors import UserError
from ndbplan.base.units import whole_number
from ndbplan.ndb.parameters import knows, parameter
from ndbplan.plan.events import Event, ParameterChange
from ndbplan.plan.fields import refusal
from ndbplan.plan.processes import DiskRole
from ndbplan.simulate.events.configuration import MoveFiles, needs_all_down
from ndbplan.simulate.events.handlers import Order
from ndbplan.train.configuring import EditConfig, NewConfig
from ndbplan.train.live import LiveCluster

FIX = "type for example 'kill node:3', 'wait 30s' or 'help'"
"""What most lines that are not understood want."""


class WorldError(UserError):
    """Something that cannot be done to the cluster."""


class Deed(NamedTuple):
    """What somebody does to the cluster."""

    acts: Iterable[Event | Order]
    said: str


_INITIAL = ", each node with --initial"
"""Of a change after which a node starts without its files."""


def put(text: str, cluster: LiveCluster) -> Deed:
    change = _change(text, cluster)
    initial = parameter("DB", change.name, cluster.plan.version).restart == "initial_node"
    return Deed(
        [change, NewConfig()],
        f"{change.name} is set to {change.value} with a rolling restart{_INITIAL if initial else ''}",
    )


def edited(text: str, cluster: LiveCluster) -> Deed:
    change = _change(text, cluster)
    return Deed([EditConfig(change)], f"config.ini of the management server has {change.name}={change.value}")


def _change(text: str, cluster: LiveCluster) -> ParameterChange:
    name, equals, stated = (piece.strip() for piece in text.partition("="))
    if not equals or not stated:
        raise WorldError(f"'{text[:60]}' is not NAME=VALUE", fix="type for example set RedoBuffer=64M")
    if not knows("DB", name, cluster.plan.version):
        raise WorldError(
            f"data nodes of NDB {cluster.plan.version} have no parameter '{name[:60]}'",
            fix="name another one, such as RedoBuffer",
        )
    if needs_all_down(name, cluster.plan):
        raise WorldError(
            f"{name} changes only when the whole cluster starts anew", fix="begin with a plan that has it so"
        )
    number = whole_number(stated)
    try:
        return ParameterChange(at_s=0, name=name, value=stated if number is None else number)
    except ValidationError as error:
        raise WorldError(f"'{text[:60]}': {refusal(error.errors()[0])}", fix=FIX) from None


def moved(text: str, cluster: LiveCluster) -> Deed:
    """`move lcp,undo to nvme0`: on every data node."""
    listed, to, disk_name = (piece.strip() for piece in text.partition(" to "))
    names = [name.strip() for name in listed.split(",")]
    wrong = next((name for name in names if name not in {role.value for role in DiskRole}), None)
    if not to or wrong is not None:
        roles = ", ".join(role.value for role in DiskRole)
        raise WorldError(
            f"'{text[:60]}' does not say what goes where", fix=f"type 'move lcp to nvme0'; one of {roles}"
        )
    disks = []
    for node in cluster.plan.data_nodes:
        host = cluster.plan.host(node.host_id)
        disk = next((disk for disk in host.disks if disk.name == disk_name), None)
        if disk is None:
            have = ", ".join(disk.name for disk in host.disks)
            raise WorldError(f"{host.hostname} has no disk '{disk_name[:40]}'", fix=f"it has {have}")
        disks.append((node.id, disk.id))
    change = MoveFiles(tuple(DiskRole(name) for name in names), tuple(disks))
    initial = set(change.roles) - {DiskRole.BACKUP}
    goes = "goes" if len(names) == 1 else "go"
    return Deed(
        [change],
        f"{listed} {goes} to {disk_name} with a rolling restart{_INITIAL if initial else ''}",
    )
