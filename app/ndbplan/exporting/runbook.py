"""The runbook as Markdown for people and as a shell script that can be tried, stopped and taken up again."""

from __future__ import annotations

from dataclasses import replace

from ndbplan.base.quantity import Quantity
from ndbplan.base.quoting import ascii_text, markdown_text, shell_quoted
from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    address,
    connect_string,
)
from ndbplan.configuration.services import OLDEST_SYSTEMD, is_unit, services, started_with, told
from ndbplan.exporting.advice import advice
from ndbplan.exporting.left_out import left_out
from ndbplan.exporting.templates import render
from ndbplan.exporting.what_runs import (
    accepted_files,
    begun_from,
    changes_configuration,
    known_data_nodes,
    places,
    put_into_groups,
    servers_meanwhile,
    starts_or_stops,
    stops_all,
    takes,
    works_on_tables,
)
from ndbplan.ndb.sql_versions import charset_of_statements
from ndbplan.operations.add_nodes import GROWN_FOLDER
from ndbplan.operations.commands import (
    BackUp,
    BackUpAgain,
    Command,
    Copy,
    CreateNodeGroup,
    HasBackup,
    HasTable,
    InstallPrograms,
    KeepLogin,
    MakeAccount,
    Management,
    Restore,
    Shell,
    Sql,
    StartService,
    StopAllDataNodes,
    StopDataNode,
    StopService,
    WaitManagement,
    WaitSql,
    WaitStarted,
)
from ndbplan.operations.operation import Operation, Step
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.plan import Plan

_HEREDOC = "END_OF_SQL"
_PACKAGES = "/var/cache/ndb-programs"
"""Where programs lie on a host until they are installed."""


_MANAGERS = {
    ServiceManager.SYSTEMD: (
        f"systemd {OLDEST_SYSTEMD} or later starts, stops and restarts the nodes, by the units in systemd/"
    ),
    ServiceManager.INIT_SCRIPTS: (
        "scripts in /etc/init.d (from init.d/) start and stop the nodes, and start those that fail again; "
        "chkconfig or update-rc.d has them start with the host"
    ),
}


def started_by(plan: Plan) -> tuple[str, ...]:
    """What starts, stops and restarts the nodes of which hosts, a sentence each."""
    hosts: dict[ServiceManager, list[str]] = {}
    for service in services(plan):
        named = hosts.setdefault(service.manager, [])
        if service.host not in named:
            named.append(service.host)
    if len(hosts) == 1:
        return tuple(f"On every host {_MANAGERS[manager]}." for manager in hosts)
    return tuple(f"On {', '.join(names)} {_MANAGERS[manager]}." for manager, names in hosts.items())


def render_markdown(plan: Plan, parts: tuple[Operation, ...]) -> str:
    """The runbook as Markdown."""
    return render(
        "runbook.md.j2",
        plan=plan,
        parts=parts,
        steps=_steps,
        blocks=markdown_blocks,
        endings=_endings,
        left_out=left_out(plan, parts),
        in_all=in_all,
        started_by=started_by(plan),
    )


def in_all(part: Operation) -> Quantity | None:
    """How long a whole part takes; None without an estimate, and where a host decides on the steps.

    Without an SQL node the timeline has statements that the runbook leaves out.
    """
    told = replace(part, steps=tuple(_steps(part)))
    is_whole = len(told.timeline) > 1 and not any(step.host for step in told.steps)
    return told.duration_s if is_whole else None


def render_script(plan: Plan, parts: tuple[Operation, ...], before: Plan | None = None) -> str:
    """The runbook as a bash script. `before`: what runs, where a part brings it to the plan."""
    first = plan.management_nodes[0] if plan.management_nodes else None
    meanwhile = None if before is None else servers_meanwhile(plan, before)
    return render(
        "runbook.sh.j2",
        plan=plan,
        parts=parts,
        steps=_steps,
        options=takes(parts),
        hosts_of=lambda part: dict.fromkeys(step.host for step in part.steps if step.host),
        connect_string=connect_string(plan),
        meanwhile=meanwhile,
        units=places(plan, parts, before),
        parts_without_starts=[part.key for part in parts if not starts_or_stops(part)],
        works_on_tables=" ".join(map(shell_quoted, works_on_tables(parts))),
        known_data_nodes=known_data_nodes(plan, parts, before),
        new_in_groups=sorted(put_into_groups(part for part in parts if part.key == "add-nodes")),
        packages=_PACKAGES,
        statements_charset=charset_of_statements(plan.version),
        configuration_file=f"{MANAGEMENT_DIRECTORY}/config.ini",
        management_hosts=[plan.host(node.host_id).hostname for node in plan.management_nodes],
        begun_from=begun_from(),
        whole_restarts=[part.key for part in parts if stops_all(part)],
        accepted=accepted_files(parts, before),
        changes_configuration=changes_configuration(parts),
        grown_folder=GROWN_FOLDER,
        left_out=left_out(plan, parts),
        started_by=started_by(plan),
        management_host=plan.host(first.host_id).hostname if first else "localhost",
        line=_script_line,
        expected=expected_text,
        advice=advice,
    )


def _steps(operation: Operation) -> list[Step]:
    """The steps that have something to say in a runbook."""
    return [step for step in operation.steps if step.text]


def expected_text(step: Step) -> str:
    """How long a step takes, in words; nothing when there is no estimate."""
    return ascii_text(str(step.duration_s)) if step.duration_s is not None else ""


def _script_line(command: Command) -> str:
    """The call of a function of the script that does a command, and waits for what comes of it."""
    if isinstance(command, Sql | MakeAccount | HasTable):
        lines = "\n".join(command.statements)
        if isinstance(command, HasTable):
            call = _call("has_table", command.host, command.socket, command.what, *command.lines)
        elif isinstance(command, MakeAccount):
            call = _call("make_account", command.host, command.socket, command.name, command.account)
        else:
            name = "sql_once" if command.makes else "sql" if command.changes else "sql_look"
            call = _call(name, command.host, command.socket)
        end = _HEREDOC
        while end in lines:
            # A name may be this very word.
            end += "_"
        return f"{call} <<'{end}'\n{lines}\n{end}"
    return _call(*_function_call(command))


def _call(*words: object) -> str:
    return " ".join((str(words[0]), *(shell_quoted(str(word)) for word in words[1:])))


def _function_call(command: Command) -> tuple[object, ...]:
    match command:
        case Shell():
            tests = (command.unless, command.same)
            return ("on", command.host, command.command, *(tests if any(tests) else ()))
        case Management():
            return ("management", command.command, command.answer)
        case Copy():
            return ("copy_file", command.file, command.host, command.target)
        case KeepLogin():
            return ("keep_login", command.host, command.socket, command.name, command.file)
        case StartService():
            return ("start_service", command.host, command.unit, command.option, *command.copies_from)
        case StopService():
            return ("stop_service", command.host, command.unit)
        case StopDataNode():
            stop = (command.node_id, command.host, command.unit, command.timeout_s, command.started_s)
            return ("stop_data_node", *stop, command.unless, *command.partners)
        case StopAllDataNodes():
            return (
                "stop_all_data_nodes",
                command.timeout_s,
                *(word for one in command.services for word in one),
            )
        case WaitManagement():
            ids = ",".join(map(str, command.node_ids))
            return ("wait_management", command.timeout_s, ids, *command.servers)
        case WaitStarted():
            return ("wait_started", ",".join(map(str, command.node_ids)), command.timeout_s)
        case WaitSql():
            sockets = (command.socket, *([command.earlier_socket] if command.earlier_socket else []))
            return ("wait_sql", command.node_id, command.host, command.timeout_s, *sockets)
        case CreateNodeGroup():
            return ("create_nodegroup", *command.node_ids)
        case BackUp():
            return ("back_up", *command.options, "--", *(word for one in command.folders for word in one))
        case BackUpAgain():
            places = (word for one in command.folders for word in one)
            return ("back_up_again", *command.options, "--", *places)
        case InstallPrograms():
            return ("install_programs", command.host, command.release, *command.programs)
        case HasBackup():
            return ("has_backup", command.host, command.node_id, command.folder, *command.options)
        case Restore():
            others = (word for one in command.others for word in one)
            share = (command.host, command.node_id, command.folder, *command.options)
            return ("restore", *share, *(("--", *others) if command.others else ()))
    raise TypeError(command)


def markdown_blocks(plan: Plan, step: Step) -> list[str]:
    """The commands of a step as code blocks, those of one kind that follow one another together."""
    blocks: list[tuple[str, list[str]]] = []
    for command in step.commands:
        for language, text in _markdown(plan, command):
            if blocks and blocks[-1][0] == language != "sql":
                blocks[-1][1].append(text)
            else:
                blocks.append((language, [text]))
    return [_fenced(language, "\n".join(texts)) for language, texts in blocks]


def step_text(plan: Plan, step: Step) -> str:
    """What the runbook says of a step, with its check and what to do when it fails, as Markdown."""
    parts = [markdown_text(step.text), markdown_text(step.meanwhile)]
    if step.destructive:
        parts.append(f"**Careful:** {markdown_text(step.destructive)}")
    parts += markdown_blocks(plan, step)
    parts += _endings(step)
    return "\n\n".join(part for part in parts if part)


def _endings(step: Step) -> list[str]:
    """How one sees that a step has worked, what to do when it has not, and how to undo it."""
    ends = (("Check", step.check), ("If it fails", advice(step)), ("Rollback", step.rollback))
    return [f"**{name}:** {markdown_text(text)}" for name, text in ends if text]


def _markdown(plan: Plan, command: Command) -> list[tuple[str, str]]:
    """The lines of a command, each with its language, as a person types them."""
    connect = f"--ndb-connectstring={shell_quoted(connect_string(plan))}"
    match command:
        case Shell():
            return [_typed(command.host, _guarded(command))]
        case Management():
            return [("", f"ndb_mgm> {command.command}")]
        case Copy():
            target = shell_quoted(command.target)
            keep = f"{target}{{,.$(date +%Y%m%dT%H%M%S)}}"
            place = f"install -m 0644 /dev/stdin {target}.new && mv -f -- {target}.new {target}"
            language, typed = _typed(command.host, place)
            return [
                _typed(command.host, f"test ! -e {target} || cp -p {keep}"),
                (language, f"{typed} <{shell_quoted(command.file)}"),
            ]
        case StartService():
            return [*_asked_before(command), _typed(command.host, started_with(command.unit, command.option))]
        case StopService():
            return [_typed(command.host, told(command.unit, "stop"))]
        case StopDataNode():
            return [*_stop_typed(connect, command), _typed(command.host, _ended(command.unit))]
        case StopAllDataNodes():
            return [
                ("", "ndb_mgm> ALL STOP"),
                *(_typed(host, _ended(unit)) for host, unit in command.services),
            ]
        case WaitManagement():
            return [
                ("sh", f"ndb_mgm --ndb-connectstring={shell_quoted(s)} --execute=SHOW")
                for s in command.servers
            ]
        case WaitStarted():
            ids = ",".join(map(str, command.node_ids))
            return [("sh", f"ndb_waiter {connect} --wait-nodes={ids} --timeout={command.timeout_s}")]
        case WaitSql():
            return [_typed(command.host, f"mysql --socket={command.socket} --execute='SELECT 1'")]
        case CreateNodeGroup():
            return [("", f"ndb_mgm> CREATE NODEGROUP {','.join(map(str, command.node_ids))}")]
        case BackUp():
            return [_backed_up(connect, command.options)]
        case BackUpAgain():
            language, typed = _backed_up(connect, command.options)
            return [(language, f"{typed}    # again where rows may have come")]
        case InstallPrograms():
            return _installed(command)
        case HasBackup():
            looks = [_typed(command.host, _looks_for_backup(command))]
            if command.options:
                looks.append(_restored(connect, command, ("--print-meta", *command.options)))
            return looks
        case Restore():
            return [_restored(connect, command, command.options)]
        case KeepLogin():
            lines = "[client], user, password, socket"
            return [_typed(command.host, f"install -m 0600 /dev/stdin {command.file}  # {lines}")]
        case Sql() | MakeAccount():
            return [("sql", "\n".join((f"-- on {command.host}", *_in_its_letters(plan, command))))]
        case HasTable():
            wanted = (f"-- {line}" for line in command.lines or ("nothing",))
            asked = (f"-- on {command.host}", *_in_its_letters(plan, command), "-- has to answer:", *wanted)
            return [("sql", "\n".join(asked))]
    raise TypeError(command)


def _in_its_letters(plan: Plan, command: Sql | MakeAccount | HasTable) -> tuple[str, ...]:
    """Statements as they are typed: with other letters than ASCII the client is told which they are."""
    if all(statement.isascii() for statement in command.statements):
        return command.statements
    return (f"SET NAMES {charset_of_statements(plan.version)};", *command.statements)


def _guarded(command: Shell) -> str:
    """A command in one line, of which nothing runs where it must not be given."""
    if not command.unless:
        return command.command
    # || and && bind alike: what stands behind && would run.
    return f"{command.unless} || {{ {command.command}; }}"


def _backed_up(connect: str, options: tuple[str, ...]) -> tuple[str, str]:
    """A backup; an encrypted one by a client that asks for the password before."""
    if not options:
        return "", "ndb_mgm> START BACKUP WAIT COMPLETED"
    return "sh", f"ndb_mgm {connect} {' '.join(options)} --execute='START BACKUP WAIT COMPLETED'"


def _restored(connect: str, command: HasBackup | Restore, options: tuple[str, ...]) -> tuple[str, str]:
    """ndb_restore of the files of a node; at a terminal where it asks for a password, which none shows."""
    folder = shell_quoted(command.folder)
    words = f"--nodeid={command.node_id} --backupid=ID --backup-path={folder}/BACKUP-ID {' '.join(options)}"
    language, typed = _typed(command.host, f"ndb_restore {connect} {words}")
    return language, typed.replace("ssh ", "ssh -t ", 1) if "--decrypt" in options else typed


def _looks_for_backup(command: HasBackup) -> str:
    """A command that fails where files are missing: in one part, or in a folder for each part."""
    folder, number = f"{shell_quoted(command.folder)}/BACKUP-ID", command.node_id
    files = (f"BACKUP-ID.{number}.ctl", f"BACKUP-ID-0.{number}.Data", f"BACKUP-ID.{number}.log")
    ways = (" ".join(f"{folder}{part}/{file}" for file in files) for part in ("", "/BACKUP-ID-PART-*"))
    return " || ".join(f"ls {way}" for way in ways)


_OFF = {
    ServiceManager.SYSTEMD: "systemctl stop $one; systemctl disable $one",
    ServiceManager.INIT_SCRIPTS: "service $one stop; chkconfig $one off || update-rc.d $one disable",
}
"""How a server is stopped that packages have started: each name alone, as not every host has both."""


_RUNS = {
    ServiceManager.SYSTEMD: "systemctl is-active --quiet $one",
    ServiceManager.INIT_SCRIPTS: "service $one status >/dev/null 2>&1",
}
"""How a server of packages is looked for that runs before others come."""


def _installed(command: InstallPrograms) -> list[tuple[str, str]]:
    """The user of the processes and the packages, where a program is missing or of another release."""
    made = "id mysql || useradd --system --user-group --no-create-home --shell /bin/false mysql"
    there = "; ".join(f"{one} --version" for one in command.programs)
    packages = f"{shell_quoted(f'root@{address(command.host)}')}:{_PACKAGES}/"
    off = f"for one in mysqld mysql; do {_OFF[command.manager]}; done"
    runs = f"for one in mysqld mysql; do {_RUNS[command.manager]} && echo $one runs; done; true"
    return [
        _typed(command.host, made),
        (
            "sh",
            "# Where one runs it is somebody's: move what it serves and stop it, or go on with another host.",
        ),
        _typed(command.host, runs),
        _typed(command.host, there),
        ("sh", f"# Where one is missing or not of {command.release} (.deb: apt-get install -y):"),
        _typed(command.host, f"install -d -m 0755 {_PACKAGES} && rm -f -- {_PACKAGES}/*"),
        ("sh", f"scp PACKAGES/*.rpm {packages}"),
        _typed(
            command.host,
            f"$(command -v dnf || command -v yum) install -y {_PACKAGES}/*.rpm && {{ {off}; true; }}",
        ),
    ]


def _asked_before(command: StartService) -> list[tuple[str, str]]:
    """What a person looks at before a start that erases rows."""
    if not command.copies_from:
        return []
    ids = ", ".join(map(str, command.copies_from))
    which = f"one of {ids}" if len(command.copies_from) > 1 else ids
    return [("", f"ndb_mgm> ALL STATUS    # go on only when {which} is started")]


def _stop_typed(connect: str, command: StopDataNode) -> list[tuple[str, str]]:
    """STOP, with -a while the node is in no node group: there it would wait for ever without."""
    stop = f"{command.node_id} STOP{'' if command.partners else ' -a'}"
    if not command.unless:
        return [("", f"ndb_mgm> {stop}")]
    language, looks = _typed(command.host, command.unless)
    return [(language, f"{looks} || ndb_mgm {connect} --execute={shell_quoted(stop)}")]


def _typed(host: str, command: str) -> tuple[str, str]:
    return ("sh", f"ssh root@{shell_quoted(host)} {shell_quoted(command)}")


def _ended(unit: str) -> str:
    test = f"systemctl is-active --quiet {unit}" if is_unit(unit) else f"service {unit} status"
    return f"while {test}; do sleep 1; done"


def _fenced(language: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
