"""Accounts of SQL nodes: made with passwords that nobody stores, and saved with what NDB does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.base.quoting import shell_quoted
from ndbplan.configuration.deployment import mysqld_instance, sql_files
from ndbplan.configuration.mysqld import has_gtids
from ndbplan.configuration.services import service_of
from ndbplan.ndb.accounts import (
    Account,
    accounts,
    dump_accounts,
    dump_databases,
    how_shared,
    not_loaded,
    without_names,
)
from ndbplan.ndb.mysqld_options import canonical, flag_of
from ndbplan.operations.commands import Command, KeepLogin, MakeAccount, Shell, sql_node_for_ddl
from ndbplan.operations.files import directory
from ndbplan.operations.operation import Step
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode

_DUMPS = "/var/lib/mysql-dumps"
_NAMELESS = (
    "Accounts without a name, which a fresh data directory has, are removed: clients on the host would be "
    "taken for them."
)


def make_accounts(plan: Plan) -> Iterator[Step]:
    """Every account, on one SQL node where the others learn of it, else on each; nothing without any."""
    if not plan.sql_nodes:
        return
    wanted, nameless = accounts(plan.version), without_names(plan.version)
    yield Step(
        "accounts",
        "Make the accounts",
        " ".join(
            (
                *(f"{one.name}@{one.host} for {one.what}." for one in wanted),
                "Passwords are asked for, or read from the file of --passwords; they go to the SQL nodes and "
                "are kept neither here nor in the log. An account that is there gets the password that is "
                "given.",
                _how_known(plan),
                *([_NAMELESS] if nameless else []),
            )
        ),
        tuple(
            command
            for account in wanted
            for command in _made(plan, account, nameless if account is wanted[0] else ())
        ),
        check="each of them can log in on every SQL node",
        rollback="DROP USER",
    )


def _how_known(plan: Plan) -> str:
    if accounts(plan.version)[0].shared_by:
        return "They have NDB_STORED_USER: every SQL node has them, also one that comes later."
    how = "They are made on each SQL node: run this step once more for one that comes later."
    other = how_shared(plan.version)
    return f"{how} ({other}.)" if other else how


def _made(plan: Plan, account: Account, first: tuple[str, ...]) -> Iterator[Command]:
    statements = (*first, *account.statements(dict.fromkeys(table.database for table in plan.tables)))
    for node in (sql_node_for_ddl(plan),) if account.shared_by else plan.sql_nodes:
        socket = sql_files(plan, node).socket
        yield MakeAccount(_host(plan, node), socket, account.name, account.quoted, statements)
    if account.keeps_login:
        for node in plan.sql_nodes:
            socket = sql_files(plan, node).socket
            yield KeepLogin(_host(plan, node), socket, account.name, _login(plan, node, account))


def known_to_new_programs(before: Plan, plan: Plan) -> Iterator[Step]:
    """A look at accounts of the SQL nodes that run; nothing where newer programs know all of them."""
    gone = not_loaded(plan.version)
    if gone is None or gone == not_loaded(before.version):
        return
    old = {(node.node_id, _host(before, node)): node for node in before.sql_nodes}
    commands: list[Command] = []
    for node in plan.sql_nodes:
        was = old.get((node.node_id, _host(plan, node)))
        stated = {canonical(name): str(value) or "on" for name, value in node.options.items()}
        if was is not None and flag_of(stated.get(gone.option, "off")) != 1:
            commands.append(_none_by(gone.plugin, before, was))
    if not commands:
        return
    asked = "ALTER USER ... IDENTIFIED WITH caching_sha2_password BY 'PASSWORD'"
    kept = f", or state {gone.option}=ON as an option of each SQL node" if gone.option else ""
    yield Step(
        "logins",
        "Look for accounts that the new programs do not know",
        f"mysqld of NDB {plan.ndb_version} does not load {gone.plugin} of itself: whoever logs in by it, as "
        "root and accounts made before 8.0 do, would be refused with error 1524, and nobody could mend that. "
        "An SQL node that is down is not asked.",
        tuple(commands),
        check="no account is named",
        if_it_fails=f"give each account that is named another way to log in ({asked}){kept}",
    )


def _none_by(plugin: str, plan: Plan, node: SqlNode) -> Shell:
    """Fails where accounts of an SQL node that serves log in by a plugin, and prints them."""
    service = service_of(plan, node)
    query = f"SELECT CONCAT(user, '@', host) FROM mysql.user WHERE plugin = '{plugin}'"
    client = f"mysql --socket={sql_files(plan, node).socket} --batch --skip-column-names"
    told = '{ test -z "$found" || { echo "$found" >&2; exit 1; }; }'
    return Shell(
        service.host, f'! {service.is_active} || {{ found=$({client} --execute="{query}") && {told}; }}'
    )


def dump(plan: Plan) -> Iterator[Step]:
    """What a backup of the data nodes lacks, from each SQL node; nothing without any."""
    if not plan.sql_nodes:
        return
    [account] = (one for one in accounts(plan.version) if one.keeps_login)
    commands: list[Command] = []
    for node in plan.sql_nodes:
        host, login = _host(plan, node), _login(plan, node, account)
        missing = f"{login} is missing: the part schema makes it, or write a login for mysqldump there"
        commands.append(Shell(host, f"test -r {login} || {{ echo {shell_quoted(missing)} >&2; exit 1; }}"))
        commands.append(directory(host, _DUMPS, "root", "700"))
        gtid = " --set-gtid-purged=OFF" if has_gtids(plan, node) else ""
        for name, words in _dumps(plan):
            file = f"{_DUMPS}/{name}{mysqld_instance(plan, node)}-$(date +%Y%m%dT%H%M%S).sql"
            given = f'--defaults-file={login} --result-file="{file}"'
            commands.append(Shell(host, f"HOME=/nonexistent mysqldump {given}{gtid} {words}", same="false"))
    yield Step(
        "dump",
        "Save what is not in NDB",
        "Definitions of tables, views, routines, events and triggers in the databases of the plan, and the "
        f"accounts of each SQL node, as files in {_DUMPS} on its host. Rows of tables that are not in NDB "
        "are not in them.",
        tuple(commands),
        check=f"{_DUMPS} has new files on each SQL host",
        rollback="remove its files",
    )


def _dumps(plan: Plan) -> Iterator[tuple[str, str]]:
    if databases := list(dict.fromkeys(table.database for table in plan.tables)):
        yield "schema", " ".join(map(shell_quoted, dump_databases(databases)))
    yield "accounts", " ".join(dump_accounts(plan.version))


def _host(plan: Plan, node: SqlNode) -> str:
    return plan.host(node.host_id).hostname


def _login(plan: Plan, node: SqlNode, account: Account) -> str:
    return f"/etc/{account.name}{mysqld_instance(plan, node)}.cnf"
