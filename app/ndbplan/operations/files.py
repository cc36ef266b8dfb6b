"""Files and folders on hosts: what is copied there, made there, linked and moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ndbplan.base.quantity import Quantity
from ndbplan.base.quoting import shell_quoted
from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    SqlFiles,
    management_directory,
    mysqld_instance,
    sql_files,
    sql_hosts,
)
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.configuration.mysqld import option_folders, option_logs, stated_options
from ndbplan.configuration.own_options import OWN_OPTIONS_FOLDER, has_own_options
from ndbplan.configuration.services import OLDEST_SYSTEMD, Service, service_of, services
from ndbplan.operations.commands import Command, Copy, Shell, start_service, stop_data_node, wait_started
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode

_OTHERWISE = shell_quoted(
    "services are started otherwise here: state it for the host (service_manager); "
    f"units need systemd {OLDEST_SYSTEMD} or later"
)


def directory(host: str, path: str, owner: str = "mysql", mode: str = "750") -> Shell:
    """A directory with its owner, who is its group too, and mode."""
    path = shell_quoted(path)
    return Shell(
        host,
        f"install -d -o {owner} -g {owner} -m 0{mode} {path}",
        same=f'test "$(stat -c %U:%G:%a {path} 2>&1)" = {owner}:{owner}:{mode}',
    )


def removed(host: str, path: str) -> Shell:
    """A file or folder with all that is in it removed."""
    return Shell(host, f"rm -rf -- {shell_quoted(path)}", same=f"test ! -e {shell_quoted(path)}")


def _link(host: str, link: str, target: str) -> Shell:
    """A link, both words quoted."""
    return Shell(host, f"ln -sfn {target} {link}", same=_is_link(link, target))


def _is_link(link: str, target: str) -> str:
    return f'test "$(readlink {link})" = {target}'


def management_directories(plan: Plan, nodes: Iterable[ManagementNode] | None = None) -> Iterator[Command]:
    """Directories of management nodes (None: of all)."""
    for node in plan.management_nodes if nodes is None else nodes:
        host = plan.host(node.host_id).hostname
        for path in dict.fromkeys((MANAGEMENT_DIRECTORY, management_directory(plan, node))):
            yield directory(host, path)


def node_directories(plan: Plan, nodes: Iterable[DataNode]) -> Iterator[Command]:
    """Mount points checked, directories made, checkpoint folders linked; what nodes of a host share, once."""
    yield from dict.fromkeys(_directories_of_each(plan, nodes))


def _directories_of_each(plan: Plan, nodes: Iterable[DataNode]) -> Iterator[Command]:
    for node in nodes:
        host = plan.host(node.host_id)
        paths = data_node_paths(plan, node)
        yield from _on_their_disks(host, paths.all())
        if paths.lcp is not None:
            yield from _link_checkpoints(host.hostname, node, paths)


def directories_that_come(plan: Plan, node: DataNode, before: Plan, old: DataNode) -> Iterator[Command]:
    """Directories of a data node that it did not have before: it starts with none of them missing (2805)."""
    had = data_node_paths(before, old).all()
    yield from _on_their_disks(
        plan.host(node.host_id), [path for path in data_node_paths(plan, node).all() if path not in had]
    )


def _on_their_disks(host: Host, paths: Sequence[str]) -> Iterator[Command]:
    """Mount points checked, and directories below them made."""
    yield from _mounted(host, paths)
    for path in paths:
        if path.startswith("/"):
            yield directory(host.hostname, path)


def _mounted(host: Host, paths: Sequence[str]) -> Iterator[Command]:
    """Disks that paths lie on are mounted: what is made on an empty mount point is not there afterwards."""
    for disk in host.disks:
        below = f"{disk.mount_point.rstrip('/')}/"
        if disk.mount_point != "/" and any(f"{path}/".startswith(below) for path in paths):
            yield Shell(host.hostname, f"mountpoint {shell_quoted(disk.mount_point)}")


def _link_checkpoints(host: str, node: DataNode, paths: DataNodePaths) -> Iterator[Command]:
    """LCP becomes a link before the first start; starts with --initial leave it there."""
    folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
    link = shell_quoted(f"{folder}/LCP")
    yield directory(host, folder)
    yield Shell(host, f"test -L {link} || test ! -e {link}")
    yield _link(host, link, shell_quoted(paths.lcp))


def refuse_old_files(plan: Plan, node: DataNode) -> Shell:
    """Fails where a data node that does not run has a file system already."""
    folder = f"{data_node_paths(plan, node).file_system}/ndb_{node.node_id}_fs/D1"
    service = service_of(plan, node)
    return Shell(service.host, f"{service.is_active} || test ! -e {shell_quoted(folder)}")


def move_redo_log(plan: Plan, node: DataNode, expected_s: Quantity | None) -> Iterator[Command]:
    """The folders of the log parts moved to their own disk and linked, while the node is stopped.

    A node whose folders are links already is left alone. `expected_s`: how long all of it lasts, on several
    nodes perhaps.
    """
    host, paths = plan.host(node.host_id).hostname, data_node_paths(plan, node)
    folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
    links = [
        (shell_quoted(f"{folder}/{name}"), shell_quoted(f"{paths.redo}/{name.split('/')[0]}"))
        for name in paths.redo_folders
    ]
    done = " && ".join(_is_link(here, there) for here, there in links)
    yield stop_data_node(plan, node, expected_s, done)
    for here, there in links:
        # A folder that is not a link was written last: what lies at the other place is older.
        # It keeps its name until all of it is copied: a move to another disk that ends halfway loses files.
        old = f"{here}.moved"
        move = f"{{ rm -rf -- {there} && cp -a -- {here} {there} && mv -- {here} {old}; }}"
        yield Shell(host, move, unless=f"test -L {here} || test ! -e {here}")
        yield _link(host, here, there)
        yield Shell(host, f"rm -rf -- {old}", same=f"test ! -e {old}")
    yield start_service(plan, node)
    yield wait_started((node,), expected_s)


def copy_configuration(plan: Plan, file: str = "config.ini") -> Iterator[Command]:
    """A configuration of the exported folder to every management host."""
    for host in dict.fromkeys(plan.host(node.host_id).hostname for node in plan.management_nodes):
        yield Copy(file, host, f"{MANAGEMENT_DIRECTORY}/config.ini")


def copy_my_cnf(plan: Plan, nodes: Sequence[SqlNode] | None = None) -> Iterator[Command]:
    """Its own my.cnf to every SQL host, or to the hosts of some SQL nodes."""
    for host, there in sql_hosts(plan):
        if nodes is None or any(node in nodes for node in there):
            if has_own_options(plan, host):
                # Programs that read my.cnf end where it is missing.
                yield directory(host.hostname, OWN_OPTIONS_FOLDER, "root", "755")
            yield Copy(f"{host.hostname}.my.cnf", host.hostname, "/etc/my.cnf")


def install_services(
    plan: Plan, of: Iterable[DataNode | ManagementNode | SqlNode] | None = None, folder: str = ""
) -> Iterator[Command]:
    """Units and init scripts copied from a folder and enabled: of all nodes, or of some."""
    wanted = None if of is None else {service_of(plan, n).name for n in of}
    looked_at = set[str]()
    for service in services(plan):
        if wanted is not None and service.name not in wanted:
            continue
        if service.host not in looked_at:
            looked_at.add(service.host)
            yield Shell(service.host, f"{service.is_managed} || {{ echo {_OTHERWISE} >&2; exit 1; }}")
        yield Copy(f"{folder}{service.file}", service.host, service.target)
        yield Shell(service.host, service.enable, same=service.is_ready)


def not_with_its_host(service: Service) -> Shell:
    """A unit that no longer starts with its host."""
    return Shell(service.host, service.disable, same=f"! {service.is_enabled}")


def sql_data_directories(plan: Plan, nodes: Iterable[SqlNode] | None = None) -> Iterator[Command]:
    """The data directory of SQL nodes (None: of all), made and filled where it is not there yet.

    A mark beside it lies there until it is filled: what a killed program has left is removed, as mysqld fills
    no directory that has files. Nothing is removed without the mark, from a server that runs, and where
    there is a database: somebody has filled it by hand since.
    """
    nodes = plan.sql_nodes if nodes is None else tuple(nodes)
    hosts = dict.fromkeys(plan.host(node.host_id) for node in nodes)
    yield from (_let_in_by_apparmor(plan, host) for host in hosts)
    yield from (_let_out_by_selinux(host) for host in hosts)
    for node in nodes:
        host, files = plan.host(node.host_id).hostname, sql_files(plan, node)
        data = shell_quoted(files.data_dir)
        yield from _mounted(plan.host(node.host_id), [files.data_dir])
        yield directory(host, files.data_dir, mode="755")
        yield _log(host, files.error_log)
        outside, inside = _option_folders(plan, node)
        yield from outside
        group = f" --defaults-group-suffix={suffix}" if (suffix := mysqld_instance(plan, node)) else ""
        if plan.features.mysqld_initialises:
            # First releases of 7.5 looked for the cluster meanwhile, which does not know the node yet.
            options = "--initialize-insecure --loose-skip-ndbcluster --user=mysql"
            if "default-storage-engine" in stated_options(node):
                # NDB would be none of the engines that there are meanwhile.
                options += " --default-storage-engine=InnoDB"
            fill = f"/usr/sbin/mysqld --defaults-file=/etc/my.cnf{group} {options}"
        else:
            fill = f"mysql_install_db --defaults-file=/etc/my.cnf --user=mysql --datadir={data}"
        # It says there what it lacks, and nothing else.
        fill = f"{{ {fill} || {{ tail -n 20 {shell_quoted(files.error_log)} >&2; exit 1; }}; }}"
        mark = shell_quoted(f"{files.data_dir}.being-filled")
        anew = f"{{ test ! -e {mark} || find {data} -mindepth 1 ! -name lost+found -delete; }}"
        used = f"{{ {service_of(plan, node).is_active} || {_holds_a_database(data)}; }}"
        is_filled = f"{{ {used} || {{ test -d {data}/mysql && test ! -e {mark}; }}; }}"
        yield Shell(host, f"{anew} && touch {mark} && {fill} && rm -f {mark}", unless=is_filled)
        yield from inside
        yield Shell(host, _labelled(data, "-R "), same=service_of(plan, node).is_active)


_OWN_FOLDERS = ("mysql", "performance_schema", "sys", "ndbinfo", "test", "lost+found", "#innodb*")
"""What mysqld makes in a data directory that it fills; any other folder is a database."""


def _holds_a_database(data: str) -> str:
    """A test of a data directory, quoted."""
    others = " ".join(f"! -name {shell_quoted(name)}" for name in _OWN_FOLDERS)
    return f'test -n "$(find {data} -mindepth 1 -maxdepth 1 -type d {others})"'


def _labelled(path: str, how: str = "") -> str:
    """Labels of SELinux, by the rules of the host; what a login makes has those of the folder above."""
    return f"{{ ! command -v restorecon >/dev/null || restorecon {how}{path}; }}"


def _log(host: str, path: str) -> Shell:
    """A log of an SQL node, which mysqld could not make there itself."""
    log = shell_quoted(path)
    made = f"install -o mysql -g mysql -m 0640 /dev/null {log}"
    return Shell(host, f"{made} && {_labelled(log)}", unless=f"test -e {log}")


def _option_folders(plan: Plan, node: SqlNode) -> tuple[Sequence[Command], Sequence[Command]]:
    """Folders and logs that options name: outside the data directory, and in it, once it is filled."""
    host, data = plan.host(node.host_id), f"{sql_files(plan, node).data_dir}/"
    folders = option_folders(plan, node)
    outside = [one for one in folders if not f"{one}/".startswith(data)]
    made = [directory(host.hostname, one) for one in outside]
    logs = [_log(host.hostname, one) for one in option_logs(plan, node)]
    inside = (one for one in folders if one not in outside and f"{one}/" != data)
    return [*_mounted(host, outside), *made, *logs], [directory(host.hostname, one) for one in inside]


def option_folders_that_come(plan: Plan, node: SqlNode, before: Plan, old: SqlNode) -> Iterator[Command]:
    """Folders and logs that options of an SQL node name and did not before: it does not start without."""
    if _option_folders(plan, node) == _option_folders(before, old):
        return
    yield _let_in_by_apparmor(plan, plan.host(node.host_id))
    outside, inside = _option_folders(plan, node)
    yield from (*outside, *inside)


_PROFILE = "/etc/apparmor.d/usr.sbin.mysqld"
_SITE = "/etc/apparmor.d/local/usr.sbin.mysqld"
"""What AppArmor lets mysqld read and write where packages of Debian and Ubuntu bring it, and where a host
adds to that: neither /etc/my.cnf nor the places of logs and of several SQL nodes are in it.

Source: mysql-server, packaging/deb-in/extra/apparmor-profile.
"""
_LET_IN = (
    "/etc/my.cnf r,", f"{OWN_OPTIONS_FOLDER}/ r,", f"{OWN_OPTIONS_FOLDER}/** r,", "/var/log/mysqld*.log rw,",
    "/var/lib/mysql-[0-9]*/ r,", "/var/lib/mysql-[0-9]*/** rwk,", "/{,var/}run/systemd/notify w,",
)  # fmt: skip


def _let_out_by_selinux(host: Host) -> Shell:
    """SELinux lets mysqld connect to data nodes, which choose their ports; else to that of ndb_mgmd alone.

    Source: selinux-policy, mysql.te (mysql_connect_any), corenetwork.te.in (mysqld_port_t).
    """
    off = "! command -v selinuxenabled >/dev/null || ! selinuxenabled"
    on = "test \"$(getsebool mysql_connect_any)\" = 'mysql_connect_any --> on'"
    return Shell(host.hostname, "setsebool -P mysql_connect_any on", unless=f"{{ {off} || {on}; }}")


def _let_in_by_apparmor(plan: Plan, host: Host) -> Shell:
    """AppArmor lets mysqld have the files of the plan, where it confines it; a comment says that it does."""
    nodes = [node for node in plan.sql_nodes if node.host_id == host.id]
    folders = dict.fromkeys(one for node in nodes for one in option_folders(plan, node))
    logs = dict.fromkeys(one for node in nodes for one in option_logs(plan, node))
    rules = [*_LET_IN, *(f'"{one}{end},' for one in folders for end in ('/" r', '/**" rwk'))]
    rules += [f'"{log}" rw,' for log in logs]
    added = " ".join(map(shell_quoted, rules))
    done = shell_quoted(f"# for SQL nodes: {' '.join((*folders, *logs)) or 'the usual places'}")
    # Without AppArmor in the kernel there is nothing to load it into.
    load = f"{{ test ! -e /sys/kernel/security/apparmor || apparmor_parser -r {_PROFILE}; }}"
    return Shell(
        host.hostname,
        f"printf '%s\\n' {added} | tee -a {_SITE} && {load} && echo {done} | tee -a {_SITE}",
        unless=f"{{ test ! -e {_PROFILE} || test -e /etc/apparmor.d/disable/usr.sbin.mysqld || "
        f"grep -qsxF {done} {_SITE}; }}",
    )


def move_sql_files(was: SqlFiles, plan: Plan, node: SqlNode) -> Iterator[Command]:
    """The data directory of an SQL node that stays on its host, moved to its new place unless it runs.

    How a host names the files of an SQL node depends on whether it runs others. What lies at the new place,
    as packages leave it there, keeps the time in its name.
    """
    host, files = plan.host(node.host_id).hostname, sql_files(plan, node)
    if was.data_dir == files.data_dir:
        return
    old, new = shell_quoted(was.data_dir), shell_quoted(files.data_dir)
    aside = f"{{ test ! -e {new} || mv -- {new} {new}.$(date +%Y%m%dT%H%M%S); }}"
    stays = f"{{ test ! -e {old}/mysql || {service_of(plan, node).is_active}; }}"
    yield Shell(host, f"{aside} && mv -- {old} {new}", unless=stays)
    yield _log(host, files.error_log)


def upgrade_system_tables(plan: Plan, node: SqlNode) -> Shell:
    """mysql_upgrade of one SQL node.

    It keeps the release in a file, and ends with 1 where that is this one.
    """
    files = sql_files(plan, node)
    told = shell_quoted(f"{files.data_dir}/mysql_upgrade_info")
    upgrade = (
        f"{{ found=$(mysql_upgrade --socket={shell_quoted(files.socket)} 2>&1) || "
        "[[ $found == *'already upgraded'* ]] || { printf '%s\\n' \"$found\" >&2; exit 1; }; }"
    )
    is_done = f'{{ test -e {told} && [[ $(/usr/sbin/mysqld --version) == *"$(cat {told})"* ]]; }}'
    return Shell(plan.host(node.host_id).hostname, upgrade, unless=is_done)
