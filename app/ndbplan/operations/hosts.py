"""Work on hosts: programs put on them, and a new one in the place of one that is lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ndbplan.base.quantity import total
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.services import services
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.estimate.times.restart_phases import STOP
from ndbplan.ndb.host_settings import host_settings
from ndbplan.operations.accounts import known_to_new_programs
from ndbplan.operations.commands import (
    Command,
    Copy,
    Shell,
    restart_sql_nodes_each,
    start_empty,
    start_service,
    wait_management,
    wait_sql,
    wait_started,
)
from ndbplan.operations.files import (
    copy_configuration,
    copy_my_cnf,
    install_services,
    management_directories,
    node_directories,
    sql_data_directories,
    upgrade_system_tables,
)
from ndbplan.operations.meanwhile import NO_DDL, no_node_failure, restart_clients
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.programs import install_programs
from ndbplan.operations.steps import move_redo_logs, slowest_restart, verify
from ndbplan.plan.hardware import Host, ServiceManager
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode


def install(now: Estimation, *, timed: bool = True) -> Operation:
    """The programs on every host, before the first start. It has no estimate."""
    del timed
    return Operation(
        "install",
        "Install the programs",
        (programs_step(now.plan),),
        "Before the first start. --programs names a tar archive of NDB Cluster, or a folder with its .rpm or "
        ".deb packages for all hosts: of both kinds each takes that of its own system. A host that has this "
        "release already is left alone.",
    )


def way_back(before: Plan, plan: Plan) -> str:
    """How a change is undone, and that programs of another release come with it."""
    if before.ndb_version != plan.ndb_version:
        return (
            f"The programs of NDB {before.ndb_version} give way to those of NDB {plan.ndb_version}. "
            "There is no way back by a change, which brings programs to no earlier release: take a backup "
            "before, with the folder that the cluster runs by."
        )
    return "The way back is a change in the other direction."


def with_new_programs(step: Step) -> Step:
    """A step of a restart that also loads another release: the old configuration alone takes nothing back."""
    if step.key.startswith("restart-"):
        return replace(step, rollback=_OLD_PROGRAMS)
    # Their system tables are of the new release as soon as the first has started.
    return replace(step, rollback="") if step.key == "sql-nodes" else step


def no_return(steps: Iterable[Step]) -> str | None:
    """The step behind which new programs stay: the first start of an SQL node with them."""
    return next((step.key for step in steps if step.key in ("sql-nodes", "new-sql-nodes")), None)


_OLD_PROGRAMS = (
    "by hand alone, before an SQL node has started with the new programs, and where the manual names this "
    "downgrade: the old programs on its host again, then a stop and a start"
)


def new_programs(before: Plan, plan: Plan) -> Iterator[Step]:
    """Those of another release, where accounts of the SQL nodes are known to them."""
    yield from known_to_new_programs(before, plan)
    yield programs_step(plan)


def programs_step(plan: Plan) -> Step:
    """The programs of the plan's release on every host that runs nodes."""
    return Step(
        "programs",
        f"Install the programs of NDB {plan.ndb_version}",
        "From --programs, on every host. Processes that run keep the old programs until they are stopped and "
        "started: RESTART of the management client would load no new ones. A host on which mysqld or mysql, "
        "a service of packages, runs already is refused: whom it serves only you know. A server that the "
        "packages themselves start is stopped, as units of the plan start the SQL nodes. By hand from a tar "
        "archive: what install_programs in runbook.sh does with one.",
        tuple(install_programs(plan)),
        check="the programs say their release",
        rollback="install the old release again",
    )


def system_tables_step(times: Times, plan: Plan, fresh: Collection[object]) -> Iterator[Step]:
    """System tables of SQL nodes, less fresh ones, brought to programs that they run.

    Nothing where mysqld does that.
    """
    nodes = [node for node in plan.sql_nodes if node not in fresh]
    if plan.features.mysqld_upgrades_itself or not nodes:
        return
    yield Step(
        "system-tables",
        "Upgrade the system tables of the SQL nodes",
        "mysql_upgrade on each SQL node, which then starts once more. It takes its login from the option "
        "files of the host, as mysql does.",
        (
            *(upgrade_system_tables(plan, node) for node in nodes),
            *restart_sql_nodes_each(plan, nodes, plan.sql_nodes),
        ),
        times.constant("sql_restart_s", len(nodes)),
        blocked=(restart_clients(plan, plan.sql_nodes), NO_DDL),
        check="mysql_upgrade says that the installation is upgraded already",
        if_it_fails="the SQL nodes serve on; correct what mysql_upgrade names and run the part again",
        destructive="Connections to each SQL node break while it restarts.",
    )


SETTINGS_FOLDER = "hosts/"
"""Settings of the operating system, inside the exported folder."""


def tune_hosts(now: Estimation, *, timed: bool = True) -> Operation:
    """Settings of the operating system on the hosts of data nodes. It has no estimate."""
    del timed
    plan = now.plan
    hosts = {plan.host(node.host_id).hostname: plan.host(node.host_id) for node in plan.data_nodes}
    steps = tuple(
        Step(
            setting.file.partition(".")[0],
            f"Set {setting.name}",
            setting.why,
            tuple(
                command
                for host, machine in hosts.items()
                if machine.service_manager is ServiceManager.SYSTEMD or not setting.by_systemd
                for command in (
                    # Small images of systems have none of some.
                    Shell(host, f"install -d -m 0755 {setting.folder}", same=f"test -d {setting.folder}"),
                    Copy(f"{SETTINGS_FOLDER}{setting.file}", host, setting.target),
                    Shell(host, setting.apply, same=setting.holds),
                )
            ),
            check=setting.holds,
            rollback=f"remove {setting.target} and restart the host",
        )
        for setting in host_settings()
        if hosts
    )
    steps = tuple(step for step in steps if step.commands)
    return Operation(
        "tune-hosts",
        "Settings of the hosts",
        steps,
        "For hosts that run data nodes and little else; look through them before. No other part needs this "
        "one. Limits of open files and of locked memory are set by the units.",
    )


def irreplaceable(plan: Plan) -> tuple[Host, ...]:
    """Hosts that have every data node of a node group: its rows are lost with them."""
    groups = [{node.host_id for node in group} for group in node_groups(plan)]
    return tuple(host for host in plan.hosts if {host.id} in groups)


def replace_host(now: Estimation, *, timed: bool = True) -> Operation | None:
    """A new, empty machine under the name of one that is lost; None where every loss takes rows along.

    `timed`: with durations; raises what `restart` raises then.
    """
    plan, times = now.plan, Times(now, known=timed)
    if no_of_replicas(plan) == 1:
        return None
    used = {service.host for service in services(plan)} - {host.hostname for host in irreplaceable(plan)}
    if not used:
        return None
    steps = tuple(s for host in plan.hosts if host.hostname in used for s in _of_host(times, plan, host))
    text = (
        "A new machine with the name, or the address, of the old one: then nothing else changes. "
        "--host NAME says which. Forget the old ssh key first (ssh-keygen -R NAME). A machine with another "
        "name is a changed plan: export it with --from. For a host of an SQL node run the part schema "
        "afterwards: it makes the login for mysqldump, and accounts that SQL nodes do not share."
    )
    return Operation("replace-host", "Replace a host", (*steps, verify(plan)), text)


def _what_was_there(plan: Plan, management: list[ManagementNode], data: list[DataNode]) -> str:
    """Where what lay on a host comes from."""
    rows = "Its data nodes copy all their rows from their node groups." if data else "No rows lay there."
    if not management:
        return rows
    if len(management) == len(plan.management_nodes):
        return f"{rows} No other host has a management node: the configuration is that of this folder."
    return f"{rows} Every other management node has the configuration."


def _of_host(times: Times, plan: Plan, host: Host) -> Iterator[Step]:
    management = [node for node in plan.management_nodes if node.host_id == host.id]
    data = [node for node in plan.data_nodes if node.host_id == host.id]
    sql = [node for node in plan.sql_nodes if node.host_id == host.id]
    estimate = times.ask(slowest_restart, times.now, "initial", data, IDLE) if data else None
    # The lost nodes have nothing to stop.
    phases = () if estimate is None else tuple(one for one in estimate.phases if one.name != STOP)
    parts = [(one.name, one.duration_s) for one in phases]
    for what, name, count in (
        ("management nodes", "management_start_s", len(management)),
        ("SQL nodes", "sql_restart_s", len(sql)),
    ):
        seconds = times.constant(name, count) if count else None
        parts += [(what, seconds)] if seconds is not None else []
    duration = total(parts, "s") if parts else None
    commands: list[Command] = [*install_programs(plan, {host.hostname})]
    commands += management_directories(plan, management)
    commands += node_directories(plan, data)
    commands += copy_configuration(plan) if management else ()
    commands += copy_my_cnf(plan, sql)
    commands += install_services(plan, (*management, *data, *sql))
    if management:
        # All of the host first: they wait for one another.
        commands += (*(start_service(plan, node) for node in management), wait_management(plan))
    commands += (start_empty(plan, node) for node in data)
    if data:
        commands.append(wait_started(data, duration))
    commands += sql_data_directories(plan, sql)
    for mysqld in sql:
        commands += (start_service(plan, mysqld), wait_sql(plan, mysqld))
    yield Step(
        f"host-{host.hostname}",
        f"Bring up {host.hostname}",
        _what_was_there(plan, management, data),
        tuple(commands),
        duration,
        blocked=(NO_DDL, no_node_failure(plan)) if data else (),
        if_it_fails="all others go on without the host; correct what is named, run the part again",
        phases=phases,
        host=host.hostname,
    )
    for step in move_redo_logs(times, plan, data):
        yield replace(step, key=f"redo-{host.hostname}", host=host.hostname)
