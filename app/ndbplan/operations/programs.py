"""Programs that are installed on hosts: those of their nodes, and what runbooks run beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ndbplan.configuration.services import services
from ndbplan.operations.commands import Command, InstallPrograms
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.plan import Plan

_TOOLS = {
    "ndb_mgmd": ("ndb_mgm", "ndb_waiter"),
    "ndbmtd": ("ndb_restore",),
    "ndbd": ("ndb_restore",),
    "mysqld": ("mysql", "mysqldump", "ndb_desc"),
}
"""What runbooks run on the hosts of each program beside it; packages may have them apart."""


def install_programs(plan: Plan, hosts: Collection[str] | None = None) -> Iterator[Command]:
    """The programs of each host (None: of all) that runs nodes."""
    wanted: dict[tuple[str, ServiceManager], list[str]] = {}
    for service in services(plan):
        program = service.command[0]
        of_host = wanted.setdefault((service.host, service.manager), [])
        of_host.extend((program, *_TOOLS[program.rpartition("/")[2]]))
    for (host, manager), programs in wanted.items():
        if hosts is None or host in hosts:
            yield InstallPrograms(host, tuple(dict.fromkeys(programs)), str(plan.version), manager)


def install_missing_programs(plan: Plan, before: Plan) -> Iterator[Command]:
    """The programs of hosts that run something which they did not run by the plan before."""
    had = {(one.host, one.command[0]) for one in services(before)}
    return install_programs(
        plan, {one.host for one in services(plan) if (one.host, one.command[0]) not in had}
    )
