"""systemd units of every process, by host."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    connect_string,
    data_node_program,
    management_directory,
    mysqld_instance,
)
from ndbplan.configuration.directories import data_node_paths
from ndbplan.exporting.templates import ascii_text, render
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode


@dataclass(frozen=True)
class Unit:
    """One unit file."""

    host: str
    name: str
    description: str
    type: str
    command: str
    directory: str = ""
    mounts: tuple[str, ...] = ()
    """Paths that must be mounted first."""
    locks_memory: bool = False

    @property
    def path(self) -> str:
        """Its place in the exported folder."""
        return f"systemd/{self.host.replace(':', '-')}/{self.name}"


def units(plan: Plan) -> tuple[Unit, ...]:
    """A unit for each management, data and SQL node."""
    return (
        *(_management(plan, node) for node in plan.management_nodes),
        *(_data(plan, node) for node in plan.data_nodes),
        *(_sql(plan, node) for node in plan.sql_nodes),
    )


def render_units(plan: Plan) -> dict[str, str]:
    """The text of every unit by its place in the exported folder."""
    return {unit.path: render("service.j2", plan=plan, unit=unit) for unit in units(plan)}


def unit_word(text: str) -> str:
    """One word of a unit file; % and $ stand for themselves."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    plain = escaped == text and not any(c in text for c in " '\t;")
    return escaped if plain and text else f'"{escaped}"'


def _command(*words: str) -> str:
    return " ".join(unit_word(word) for word in words)


def _management(plan: Plan, node: ManagementNode) -> Unit:
    words = [
        "/usr/sbin/ndb_mgmd",
        "--nodaemon",
        f"--ndb-nodeid={node.node_id}",
        f"--config-file={MANAGEMENT_DIRECTORY}/config.ini",
    ]
    if plan.features.config_cache:
        words.append(f"--configdir={MANAGEMENT_DIRECTORY}")
    return Unit(
        plan.host(node.host_id).hostname,
        f"ndb_mgmd-{node.node_id}.service",
        f"NDB management node {node.node_id} of {ascii_text(plan.name)}",
        "simple",
        _command(*words),
        management_directory(plan, node),
    )


def _data(plan: Plan, node: DataNode) -> Unit:
    program, paths = data_node_program(plan), data_node_paths(plan, node)
    return Unit(
        plan.host(node.host_id).hostname,
        f"{program}-{node.node_id}.service",
        f"NDB data node {node.node_id} of {ascii_text(plan.name)}",
        "simple",
        # --nodaemon keeps the angel process, which RESTART of the management client needs.
        _command(
            f"/usr/sbin/{program}",
            "--nodaemon",
            f"--ndb-connectstring={connect_string(plan)}",
            f"--ndb-nodeid={node.node_id}",
        ),
        mounts=tuple(unit_word(path) for path in paths.all() if path.startswith("/")),
        locks_memory=True,
    )


def _sql(plan: Plan, node: SqlNode) -> Unit:
    suffix = mysqld_instance(plan, node)
    words = ["/usr/sbin/mysqld", "--defaults-file=/etc/my.cnf"]
    if suffix:
        words.append(f"--defaults-group-suffix={suffix}")
    return Unit(
        plan.host(node.host_id).hostname,
        f"mysqld{suffix}.service",
        f"SQL node {node.node_id} of {ascii_text(plan.name)}",
        "notify" if plan.features.mysqld_notifies_systemd else "simple",
        _command(*words),
    )
