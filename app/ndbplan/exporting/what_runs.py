"""What of a running cluster the script of a runbook has to know: its nodes, servers and configuration."""

from __future__ import annotations

from collections.abc import Iterable

from ndbplan.configuration.deployment import address, management_port
from ndbplan.configuration.services import places_of
from ndbplan.operations.add_nodes import GROWN_FOLDER, grown_configuration
from ndbplan.operations.change import BEFORE_FOLDER
from ndbplan.operations.commands import (
    BackUp,
    BackUpAgain,
    Command,
    Copy,
    CreateNodeGroup,
    HasBackup,
    InstallPrograms,
    KeepLogin,
    MakeAccount,
    Restore,
    Sql,
    StartService,
    StopAllDataNodes,
    StopDataNode,
    StopService,
)
from ndbplan.operations.operation import Operation
from ndbplan.plan.plan import Plan


def changes_configuration(parts: Iterable[Operation]) -> bool:
    """Whether the part change brings another config.ini to the management nodes."""
    commands = (c for part in parts if part.key == "change" for step in part.steps for c in step.commands)
    return any(isinstance(command, Copy) and command.file == "config.ini" for command in commands)


def accepted_files(parts: tuple[Operation, ...], before: Plan | None) -> dict[str, tuple[str, ...]]:
    """Files by which a cluster may run when a part begins, by the part.

    What ran before is as good where it means the same, however it is written: the part change leaves it
    there, or there is none.
    """
    same = () if before is None or changes_configuration(parts) else (f"{BEFORE_FOLDER}config.ini",)
    others = {"change": (f"{BEFORE_FOLDER}config.ini",), "add-nodes": (f"{GROWN_FOLDER}config.ini",)}
    return {
        part.key: tuple(dict.fromkeys(("config.ini", *others.get(part.key, ()), *same))) for part in parts
    }


def begun_from() -> dict[str, str]:
    """The file that a cluster runs by when a part begins that brings it another one, by the part."""
    return {"change": f"{BEFORE_FOLDER}config.ini", "add-nodes": "config.ini"}


def places(plan: Plan, parts: tuple[Operation, ...], before: Plan | None) -> list[tuple[int, str, str]]:
    """Node ids, hosts and services of the plan, of what runs before, and of nodes that a part adds."""
    added = (
        command for part in parts if part.key == "add-nodes" for s in part.steps for command in s.commands
    )
    groups = sum(isinstance(command, CreateNodeGroup) for command in added)
    plans = (plan, before or plan, grown_configuration(plan, groups) if groups else plan)
    return list(dict.fromkeys(place for one in plans for place in places_of(one)))


def starts_or_stops(part: Operation) -> bool:
    """Whether a part starts or stops a node that may be running."""
    kinds = (StartService, StopService, StopDataNode, StopAllDataNodes)
    return any(isinstance(command, kinds) for step in part.steps for command in step.commands)


def takes(parts: tuple[Operation, ...]) -> dict[str, list[str]]:
    """The parts that each option of the script says something to, beside those that say how a part is run."""
    found: dict[str, list[str]] = {"host": [], "programs": [], "passwords": [], "backup": []}
    for part in parts:
        commands = [command for step in part.steps for command in step.commands]
        asks = {
            "host": any(step.host for step in part.steps),
            "programs": any(isinstance(command, InstallPrograms) for command in commands),
            "passwords": any(map(_asks_for_password, commands)),
            "backup": any(isinstance(command, HasBackup | Restore) for command in commands),
        }
        for option in found:
            if asks[option]:
                found[option].append(part.key)
    return found


def _asks_for_password(command: Command) -> bool:
    match command:
        case MakeAccount() | KeepLogin():
            return True
        case BackUp() | BackUpAgain() | HasBackup():
            return bool(command.options)
        case Restore():
            return "--decrypt" in command.options
    return False


def works_on_tables(parts: Iterable[Operation]) -> list[str]:
    """Hosts on which parts give statements or bring a backup back: either goes on without the script."""
    commands = (command for part in parts for step in part.steps for command in step.commands)
    hosts = (
        one.host for one in commands if isinstance(one, Restore) or (isinstance(one, Sql) and one.changes)
    )
    return list(dict.fromkeys(hosts))


def stops_all(part: Operation) -> bool:
    """Whether a part stops all data nodes together."""
    return any(isinstance(command, StopAllDataNodes) for step in part.steps for command in step.commands)


def servers_meanwhile(plan: Plan, before: Plan) -> tuple[str, str]:
    """Connect string of a change, and the host of its first server.

    Those that stay, with their ids, come first, as nodes know no other ones until they restart; then those
    that go.
    """
    old, new = (
        {(n.node_id, p.host(n.host_id).hostname, management_port(p, n)): None for n in p.management_nodes}
        for p in (before, plan)
    )
    stay = (one for one in old if one in new)
    ordered = dict.fromkeys((host, port) for _, host, port in (*stay, *old, *new))
    return ",".join(f"{address(host)}:{port}" for host, port in ordered), next(
        iter(ordered), ("localhost", 0)
    )[0]


def known_data_nodes(plan: Plan, parts: tuple[Operation, ...], before: Plan | None) -> list[int]:
    """Data nodes of the plan, those that its parts add, and those that run before."""
    old = () if before is None else before.data_nodes
    return sorted({node.node_id for node in (*plan.data_nodes, *old)} | put_into_groups(parts))


def put_into_groups(parts: Iterable[Operation]) -> set[int]:
    """Data nodes that parts make node groups of."""
    commands = (command for part in parts for step in part.steps for command in step.commands)
    return {one for command in commands if isinstance(command, CreateNodeGroup) for one in command.node_ids}
