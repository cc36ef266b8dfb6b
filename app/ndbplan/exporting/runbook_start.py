"""Runbook: the first start of the cluster, and the rolling restart of a running one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    connect_string,
    data_node_program,
    management_directory,
    mysqld_instance,
    sql_hosts,
)
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.exporting.steps import Command, Copy, Management, RunbookPart, Shell, Sql, Step, WaitStarted
from ndbplan.exporting.systemd import units
from ndbplan.exporting.templates import shell_quoted, sql_identifier, sql_text
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, ManagementNode, SqlNode
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace

_OWNER = "-o mysql -g mysql -m 0750"


def start_part(plan: Plan) -> RunbookPart:
    """The first start: directories, management, data nodes, SQL nodes, disk data objects."""
    nodes = plan.data_nodes
    steps = [
        Step(
            "directories",
            "Directories, mount points and links",
            "Every directory that config.ini names must exist before the first start (a data node whose "
            "FileSystemPath is missing stops with error 2805).",
            (*management_directories(plan), *node_directories(plan, nodes)),
        ),
        Step(
            "configuration",
            "Copy the configuration",
            "The same config.ini goes to every management host, each SQL host gets its own my.cnf. A file "
            "that is there already is kept beside it with the ending .before.",
            tuple(configuration_copies(plan, "config.ini")),
        ),
        Step(
            "management",
            "Start the management nodes",
            "The cluster log should end with a line about the new configuration; SHOW lists every node of "
            "the plan as not connected.",
            (*(start_management(plan, node) for node in plan.management_nodes), Management("SHOW")),
        ),
        Step(
            "data-nodes",
            "Start the data nodes",
            "All at once: they wait for one another. The script refuses a node that already has a file "
            "system, so that nothing is started over old data by mistake.",
            (
                *(c for node in nodes for c in (_refuse_old_files(plan, node), start_data_node(plan, node))),
                WaitStarted(tuple(node.node_id for node in nodes)),
            ),
        ),
    ]
    moved = [node for node in nodes if data_node_paths(plan, node).redo]
    if moved:
        steps.append(_redo_folders(plan, moved))
    if plan.sql_nodes:
        steps.append(
            Step(
                "sql-nodes",
                "Start the SQL nodes",
                "SHOW must list each of them with its address.",
                (*(start_sql_node(plan, node) for node in plan.sql_nodes), Management("SHOW")),
            )
        )
    if plan.sql_nodes and plan.logfile_groups:
        steps.append(
            Step(
                "disk-data",
                "Create the log file group and the tablespaces",
                "Data and undo files are written in full on every data node at once.",
                (sql_command(plan, tuple(disk_data_statements(plan))),),
            )
        )
    steps.append(_services(plan))
    steps.append(_verify(plan))
    return RunbookPart(
        "start",
        "First start",
        f"Management nodes, then data nodes, then SQL nodes. Nothing here uses --initial: it would erase the "
        f"redo log and the checkpoints of a node that has data (but not its tablespace and undo files). "
        f"{len(nodes)} data nodes, connect string {connect_string(plan)}.",
        tuple(steps),
    )


def _services(plan: Plan) -> Step:
    commands: list[Command] = []
    for unit in units(plan):
        target = f"/etc/systemd/system/{unit.name}"
        commands.append(Copy(unit.path, unit.host, target))
        enable = f"systemctl daemon-reload && systemctl enable {shell_quoted(unit.name)}"
        commands.append(Shell(unit.host, enable))
    return Step(
        "services",
        "Let every node start with its host",
        "The units are enabled, not started: what runs now goes on, and systemd takes over at the next boot.",
        tuple(commands),
    )


def rolling_part(plan: Plan) -> RunbookPart:
    """Rolling restart: a changed configuration reaches every node while the cluster keeps working."""
    steps = [
        Step(
            "configuration",
            "Copy the configuration",
            "To every management host; all of them must have the same file.",
            tuple(configuration_copies(plan, "config.ini", sql=False)),
        ),
        Step(
            "management",
            "Restart the management nodes with the new file",
            "One after the other, with --reload, so that the cached configuration is replaced.",
            tuple(c for node in plan.management_nodes for c in reload_management(plan, node)),
        ),
        *restart_data_nodes(plan, [n for n in plan.data_nodes if n.node_group != NODE_GROUP_NONE]),
    ]
    if plan.sql_nodes:
        steps.append(restart_sql_nodes(plan))
    steps.append(_verify(plan))
    return RunbookPart(
        "rolling-restart",
        "Rolling restart",
        "For parameters whose change needs a rolling restart. No DDL and no backup meanwhile.",
        tuple(steps),
    )


def management_directories(plan: Plan) -> Iterator[Command]:
    """Directories of the management nodes."""
    for node in plan.management_nodes:
        host = plan.host(node.host_id).hostname
        for path in dict.fromkeys((MANAGEMENT_DIRECTORY, management_directory(plan, node))):
            yield Shell(host, f"install -d {_OWNER} {shell_quoted(path)}")


def node_directories(plan: Plan, nodes: Iterable[DataNode]) -> Iterator[Command]:
    """Mount points checked, directories made, checkpoint folders linked, host by host."""
    for node in nodes:
        host = plan.host(node.host_id)
        paths = data_node_paths(plan, node)
        for disk in host.disks:
            below = f"{disk.mount_point.rstrip('/')}/"
            if disk.mount_point != "/" and any(f"{path}/".startswith(below) for path in paths.all()):
                yield Shell(host.hostname, f"mountpoint {shell_quoted(disk.mount_point)}")
        for path in paths.all():
            if path.startswith("/"):
                yield Shell(host.hostname, f"install -d {_OWNER} {shell_quoted(path)}")
        if paths.lcp is not None:
            yield from _link_checkpoints(host.hostname, node, paths)


def _link_checkpoints(host: str, node: DataNode, paths: DataNodePaths) -> Iterator[Command]:
    """LCP becomes a link before the first start; starts with --initial leave it there."""
    folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
    link = shell_quoted(f"{folder}/LCP")
    yield Shell(host, f"install -d {_OWNER} {shell_quoted(folder)}")
    yield Shell(host, f"test -L {link} || test ! -e {link}")
    yield Shell(host, f"ln -sfn {shell_quoted(paths.lcp)} {link}")


def _redo_folders(plan: Plan, nodes: Sequence[DataNode]) -> Step:
    commands: list[Command] = []
    for node in nodes:
        host, paths = plan.host(node.host_id).hostname, data_node_paths(plan, node)
        folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
        commands.append(Management(f"{node.node_id} STOP"))
        for name in paths.redo_folders:
            here, there = shell_quoted(f"{folder}/{name}"), f"{paths.redo}/{name.split('/')[0]}"
            commands.append(Shell(host, f"test -L {here} || mv {here} {shell_quoted(there)}"))
            commands.append(Shell(host, f"ln -sfn {shell_quoted(there)} {here}"))
        commands.append(start_data_node(plan, node))
        commands.append(WaitStarted((node.node_id,)))
    return Step(
        "redo-folders",
        "Move the redo log to its own disk",
        "NDB has one FileSystemPath for redo log and checkpoints; the plan fixes it on another disk than the "
        "one of the redo log. The folders of the log parts are moved and linked, one node after the other. A "
        "start with --initial makes plain folders again: repeat this step after it.",
        tuple(commands),
        "Data nodes are stopped one after the other.",
    )


def configuration_copies(plan: Plan, file: str, *, sql: bool = True) -> Iterator[Command]:
    """config.ini to the management hosts and, if asked, my.cnf to the SQL hosts."""
    for host in dict.fromkeys(plan.host(node.host_id).hostname for node in plan.management_nodes):
        yield Copy(file, host, f"{MANAGEMENT_DIRECTORY}/config.ini")
    if sql:
        for sql_host, _ in sql_hosts(plan):
            yield Copy(f"{sql_host.hostname}.my.cnf", sql_host.hostname, "/etc/my.cnf")


def start_management(plan: Plan, node: ManagementNode, option: str = "") -> Shell:
    """The command that starts one management node."""
    host = plan.host(node.host_id).hostname
    cache = f" --configdir={MANAGEMENT_DIRECTORY}" if plan.features.config_cache else ""
    extra = f" {option}" if option else ""
    return Shell(
        host,
        f"cd {shell_quoted(management_directory(plan, node))} && runuser -u mysql -- ndb_mgmd "
        f"--ndb-nodeid={node.node_id} --config-file={MANAGEMENT_DIRECTORY}/config.ini{cache}{extra}",
    )


def reload_management(plan: Plan, node: ManagementNode) -> Iterator[Command]:
    """Stop one management node and start it on the new file."""
    yield Management(f"{node.node_id} STOP")
    yield start_management(plan, node, "--reload" if plan.features.config_cache else "")


def start_data_node(plan: Plan, node: DataNode, option: str = "") -> Shell:
    """The command that starts one data node."""
    extra = f" {option}" if option else ""
    return Shell(
        plan.host(node.host_id).hostname,
        f"runuser -u mysql -- {data_node_program(plan)} "
        f"--ndb-connectstring={shell_quoted(connect_string(plan))} --ndb-nodeid={node.node_id}{extra}",
    )


def _refuse_old_files(plan: Plan, node: DataNode) -> Shell:
    folder = f"{data_node_paths(plan, node).file_system}/ndb_{node.node_id}_fs/D1"
    return Shell(plan.host(node.host_id).hostname, f"test ! -e {shell_quoted(folder)}")


def restart_data_nodes(plan: Plan, nodes: Sequence[DataNode]) -> Iterator[Step]:
    """One step per data node, so that a stopped script goes on at the right one."""
    for node in nodes:
        yield Step(
            f"restart-{node.node_id}",
            f"Restart data node {node.node_id} on {plan.host(node.host_id).hostname}",
            "Without --initial. The next node is not touched before this one is STARTED again.",
            (Management(f"{node.node_id} RESTART"), WaitStarted((node.node_id,))),
        )


def _service(plan: Plan, node: SqlNode) -> str:
    return f"mysqld{mysqld_instance(plan, node)}"


def start_sql_node(plan: Plan, node: SqlNode) -> Shell:
    """The command that starts one SQL node."""
    return Shell(plan.host(node.host_id).hostname, f"systemctl start {_service(plan, node)}")


def restart_sql_nodes(plan: Plan) -> Step:
    """All SQL nodes, one after the other."""
    return Step(
        "sql-nodes",
        "Restart the SQL nodes",
        "One after the other, so that clients always find another one.",
        (
            *(
                Shell(plan.host(node.host_id).hostname, f"systemctl restart {_service(plan, node)}")
                for node in plan.sql_nodes
            ),
            Management("SHOW"),
        ),
        "Connections to each SQL node break while it restarts.",
    )


def sql_command(plan: Plan, statements: tuple[str, ...]) -> Sql:
    """Statements on the first SQL node."""
    node = plan.sql_nodes[0]
    return Sql(plan.host(node.host_id).hostname, statements, mysqld_instance(plan, node))


def _files(files: Iterable[SpaceFile], directory: str | None) -> Iterator[tuple[str, int]]:
    for file in files:
        for number in range(1, file.count + 1):
            name = file.name if file.count == 1 else f"{file.name}_{number}"
            yield (f"{directory.rstrip('/')}/{name}" if directory else name), file.size_bytes


def disk_data_statements(plan: Plan) -> Iterator[str]:
    """CREATE LOGFILE GROUP and CREATE TABLESPACE with every file of the plan."""
    for group in plan.logfile_groups:
        yield from _logfile_group(group)
        for space in plan.tablespaces:
            if space.logfile_group_id == group.id:
                yield from _tablespace(space, group)


def _logfile_group(group: LogfileGroup) -> Iterator[str]:
    (first, size), *others = _files(group.undo_files, None)
    name = sql_identifier(group.name)
    yield (
        f"CREATE LOGFILE GROUP {name} ADD UNDOFILE {sql_text(first)} INITIAL_SIZE {size} "
        f"UNDO_BUFFER_SIZE {group.undo_buffer_bytes} ENGINE NDBCLUSTER;"
    )
    for other, size in others:
        yield (
            f"ALTER LOGFILE GROUP {name} ADD UNDOFILE {sql_text(other)} INITIAL_SIZE {size} "
            "ENGINE NDBCLUSTER;"
        )


def _tablespace(space: Tablespace, group: LogfileGroup) -> Iterator[str]:
    (first, size), *others = _files(space.data_files, space.directory)
    name = sql_identifier(space.name)
    yield (
        f"CREATE TABLESPACE {name} ADD DATAFILE {sql_text(first)} USE LOGFILE GROUP "
        f"{sql_identifier(group.name)} EXTENT_SIZE {space.extent_size_bytes} INITIAL_SIZE {size} "
        "ENGINE NDBCLUSTER;"
    )
    for other, size in others:
        yield f"ALTER TABLESPACE {name} ADD DATAFILE {sql_text(other)} INITIAL_SIZE {size} ENGINE NDBCLUSTER;"


def _verify(plan: Plan) -> Step:
    commands: list[Command] = [Management("ALL STATUS")]
    if plan.features.memory_usage_report:
        commands.append(Management("ALL REPORT MEMORYUSAGE"))
    if plan.sql_nodes and plan.features.ndbinfo:
        statement = "SELECT node_id, status, start_phase FROM ndbinfo.nodes ORDER BY node_id;"
        commands.append(sql_command(plan, (statement,)))
    return Step(
        "verify",
        "Verify",
        "Every data node reports 'started' with the version of the plan; memory use is far below 100 %.",
        tuple(commands),
    )
