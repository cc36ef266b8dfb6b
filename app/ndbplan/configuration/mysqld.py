"""What each mysqld is told beside config.ini: the lines of its group in my.cnf, as values."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import join, normpath

from ndbplan.configuration.deployment import mysqld_instance, sql_files
from ndbplan.ndb.mysqld_options import (
    ends_mysqld,
    fixed_when_filled,
    flag_of,
    folders_named,
    in_effect,
    is_of_every_system,
    lacks,
    may_be_empty,
    names_a_log,
    number_of,
    option,
    read_as,
    said_by_the_plan,
    switched,
    written,
)
from ndbplan.ndb.option_file import value_in_file
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode, process_node_ids


def stated_options(node: SqlNode) -> dict[str, str]:
    """The options that the plan states for a node, but for those that it says otherwise."""
    return dict(written(name, value) for name, value in node.options.items() if not said_by_the_plan(name))


def unstartable_options(plan: Plan, node: SqlNode) -> dict[str, str]:
    """The options with which a mysqld of the plan's version does not start, each with why."""
    told = stated_options(node)
    found = {name: why for name, value in told.items() if (why := ends_mysqld(name, value, plan.version))}
    if lacks_server_id(plan, node):
        found["log-bin"] = "log-bin without server-id"
    return found | {one.name: one.why for one in lacks(told, plan.version)}


def writes_binary_log(plan: Plan, node: SqlNode) -> bool:
    """Whether changes of NDB tables are in the binary log of an SQL node."""
    told, of_ndb = stated_options(node), option("ndb-log-bin", plan.version)
    by_itself = of_ndb is not None and of_ndb.default == 1
    is_on = flag_of(told["ndb-log-bin"] or "on") == 1 if "ndb-log-bin" in told else by_itself
    # Where NDB is in it by itself, there is none by itself.
    return is_on and "skip-log-bin" not in told and ("log-bin" in told or not by_itself)


def has_gtids(plan: Plan, node: SqlNode) -> bool:
    """Whether transactions of an SQL node have global ids, which a dump would set elsewhere."""
    mode = "gtid-mode"
    return as_read(plan, stated_options(node)).get(mode, switched(mode, plan.version)) != "OFF"


def open_files(plan: Plan, node: SqlNode) -> int:
    """Files that mysqld asks to have open; with fewer it serves fewer clients, and says so in its log alone.

    Source: sql/mysqld.cc (adjust_open_files_limit); manual, open_files_limit.
    """
    clients, tables = (
        in_effect(node.options, name, plan.version) for name in ("max-connections", "table-open-cache")
    )
    stated = number_of(stated_options(node).get("open-files-limit", ""), plan.version) or 0
    return max(10 + clients + 2 * tables, 5 * clients, stated)


def server_id(plan: Plan, node: SqlNode) -> int:
    """Id of an SQL node in replication."""
    return in_effect(node.options, "server-id", plan.version)


def fixed_otherwise(plan: Plan, node: SqlNode, before: Plan, was: SqlNode) -> Iterator[str]:
    """Options that are other than when a node's data directory was filled: mysqld does not start so."""
    if sql_host(plan, node) != sql_host(before, was):
        return
    old, new = stated_options(was), stated_options(node)
    for name in dict.fromkeys((*old, *new)):
        if usual := fixed_when_filled(name, plan.version):
            had, will_have = old.get(name, usual), new.get(name, usual)
            numbers = [number_of(one, plan.version) for one in (had, will_have)]
            if had != will_have and (None in numbers or numbers[0] != numbers[1]):
                yield f"{name} is {had} since its data directory was filled, and cannot become {will_have}"


def sql_host(plan: Plan, node: SqlNode) -> str:
    """The host of an SQL node, by name."""
    return plan.host(node.host_id).hostname


def lacks_server_id(plan: Plan, node: SqlNode) -> bool:
    """Whether a node writes a binary log without the number that its version asks for then."""
    told = stated_options(node)
    return plan.features.binlog_needs_server_id and "log-bin" in told and "server-id" not in told


def mysqld_options(plan: Plan, node: SqlNode) -> dict[str, str]:
    """The options of one SQL node in the order in which my.cnf has them."""
    return options_of_its_place(plan, node) | stated_options(node)


def option_folders(plan: Plan, node: SqlNode) -> tuple[str, ...]:
    """Folders that the options of an SQL node name and that its host may lack, each once."""
    return tuple(dict.fromkeys(one for one, _ in _named(plan, node) if not is_of_every_system(one)))


def option_logs(plan: Plan, node: SqlNode) -> tuple[str, ...]:
    """Logs that mysqld opens in folders where it may make no files, each once."""
    named = ((folder, log) for folder, log in _named(plan, node) if log and is_of_every_system(folder))
    return tuple(dict.fromkeys(log for _, log in named))


def _named(plan: Plan, node: SqlNode) -> Iterator[tuple[str, str]]:
    """Each folder that options name, and the log that is in it."""
    data_dir = sql_files(plan, node).data_dir
    for name, value in stated_options(node).items():
        for folder in folders_named(name, value):
            yield normpath(join(data_dir, folder)), value if names_a_log(name) else ""


def as_read(plan: Plan, told: dict[str, str]) -> dict[str, int | str]:
    """Options with what mysqld of the plan's version makes of their values."""
    return {name: read_as(name, value, plan.version) for name, value in told.items()}


def option_line(name: str, value: str) -> str:
    """A line of my.cnf; an option without a value is its name alone, unless an empty text is one."""
    return f"{name}={value_in_file(value)}" if value or may_be_empty(name) else name


def options_of_its_place(plan: Plan, node: SqlNode) -> dict[str, str]:
    """Those that follow from ids and hosts. Several on a host share no port of the X protocol either."""
    ids = process_node_ids(node)
    options: dict[str, str] = {}
    if len(ids) > 1:
        options["ndb-cluster-connection-pool"] = str(len(ids))
    if len(ids) > 1 and plan.features.pool_node_ids:
        options["ndb-cluster-connection-pool-nodeids"] = ",".join(map(str, ids))
    else:
        options["ndb-nodeid"] = str(node.node_id)
    files = sql_files(plan, node)
    options |= {
        "port": str(files.port),
        "datadir": files.data_dir,
        "socket": files.socket,
        "log-error": files.error_log,
        "pid-file": files.pid_file,
    }
    if plan.features.x_plugin and mysqld_instance(plan, node):
        options |= {"mysqlx-port": str(files.x_port), "mysqlx-socket": files.x_socket}
    return options
