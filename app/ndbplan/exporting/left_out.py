"""What an exported runbook leaves to people, and why: it is said at its top."""

from __future__ import annotations

from ndbplan.base.errors import UserError
from ndbplan.configuration.deployment import mysqld_instance, sql_files
from ndbplan.configuration.mysqld import option_folders
from ndbplan.configuration.own_options import ENCRYPTED_FILES, KEYS, OWN_OPTIONS_FOLDER, asks_for
from ndbplan.configuration.settings import no_of_replicas, node_settings
from ndbplan.operations.add_nodes import grown_configuration
from ndbplan.operations.hosts import irreplaceable
from ndbplan.operations.operation import Operation
from ndbplan.operations.restoring import is_backup_encrypted, no_way_to_back_up, no_way_to_restore
from ndbplan.plan.plan import Plan

_LEFT_OUT = (
    "hosts that have neither systemd nor init scripts in /etc/init.d (containers, OpenRC)",
    "names of hosts: each host must find all others by the name in config.ini, and itself at the address "
    "that they use; where its own name is 127.0.1.1, as in /etc/hosts of Debian, its nodes hear it alone",
    "rules of firewalls: mysqld and the data nodes connect to ports that data nodes choose themselves unless "
    "ServerPort fixes them. SELinux lets mysqld do so from the part start on (mysql_connect_any), and "
    "AppArmor, where packages have it confine mysqld, lets it have the files that the plan names; files that "
    "options name otherwise, as keys, it must be told in /etc/apparmor.d/local/usr.sbin.mysqld",
    "a password for root of each SQL node, which can log in on its host only and has none at first",
    "rows of tables that are not in NDB; what the step dump of the part backup saved is read back by hand",
    "ALTER TABLE that copies a table",
    "foreign keys, which a plan does not hold: schema.sql and the parts make tables without. Add them behind "
    "the part schema; where a table goes that others refer to, or an index that they need, drop those keys "
    "before (errors 3730, 1217 and 1553); behind the parts add-nodes and restore, which makes them last, "
    "SHOW CREATE TABLE says whether they are there: no running cluster was tried with them",
    "views, triggers, routines and events, which are not in NDB and of one SQL node each: read them back "
    "from the files of the step dump on every SQL node, also on one that is added, replaced or filled anew, "
    "behind the tables and their foreign keys",
    "seeing to it that one person at a time works where no lock says so: the script holds one beside "
    "runbook.state, one on every management host, and one on a host where it changes something, by flock "
    "(util-linux), on hosts in /var/lock. Where the script itself has no flock, as on macOS, or a management "
    "host has none or does not answer, that is named and gone on without; on another host without, "
    "what a broken off run has begun is not waited for: look there with ps before the next run",
    "copies of backups to another place, and programs of the NDB API",
)


_SECRETS = {
    KEYS: (
        "keys and certificates of TLS: ndb_sign_keys makes them on every host, before its nodes, which do "
        "not start without; ndb-tls-search-path in [mysql_cluster] says where they are, in a .cnf file of "
        f"{OWN_OPTIONS_FOLDER} on hosts with an SQL node, whose /etc/my.cnf is of this folder, and in "
        "/etc/my.cnf on others. Before RequireTls is brought to nodes that run, each must have started with "
        "its certificate: take the part rolling-restart of the folder before"
    ),
    ENCRYPTED_FILES: (
        "the password of encrypted files: filesystem-password in [ndbd] of a file on each host of a data "
        "node, readable for its user alone; no data node starts without. It is /etc/my.cnf, but with an SQL "
        f"node on the host, whose /etc/my.cnf is of this folder, a .cnf file of {OWN_OPTIONS_FOLDER}"
    ),
}
"""What nodes need that no plan holds, by the parameters that ask for it."""


def _no_growth(plan: Plan) -> str:
    """Why a folder adds no data nodes."""
    try:
        grown_configuration(plan)
    except UserError:
        return "this plan cannot grow while it works"
    return "export the plan with these ones for more"


def left_out(plan: Plan, parts: tuple[Operation, ...]) -> tuple[str, ...]:
    """What these parts of a runbook leave to people, and why."""
    reasons = list(_LEFT_OUT)
    if plan.features.multithreaded_node:
        reasons.append(
            "ndbd, the data node with one thread: the units start ndbmtd, also where ndbd runs so far"
        )
    if down := [str(n.node_id) for n in plan.data_nodes if node_settings(plan, n).number("StopOnError")]:
        which = "every data node" if len(down) == len(plan.data_nodes) else f"data node {', '.join(down)}"
        reasons.append(
            f"the start of a data node that failed: StopOnError of {which} is 1, so it stays down until "
            "somebody starts it; with StopOnError=0 in the plan it comes back by itself"
        )
    if files := [sql_files(plan, node) for node in plan.sql_nodes if mysqld_instance(plan, node)]:
        ports = {one.port for one in files}
        ports |= {one.x_port for one in files} if plan.features.x_plugin else set()
        reasons.append(
            "rules of SELinux on hosts with several SQL nodes, before their first start: semanage fcontext "
            "-a -t mysqld_db_t '/var/lib/mysql-[0-9]+(/.*)?', and semanage port -a -t mysqld_port_t -p tcp N "
            f"for each of {', '.join(map(str, sorted(ports)))} that it lacks"
        )
    if folders := dict.fromkeys(one for node in plan.sql_nodes for one in option_folders(plan, node)):
        reasons.append(
            "labels of SELinux for folders that options of mysqld name, before its first start with them: "
            "semanage fcontext -a -t mysqld_db_t 'FOLDER(/.*)?' and restorecon -R FOLDER for each of "
            f"{', '.join(folders)}"
        )
    reasons += (why for names, why in _SECRETS.items() if asks_for(plan, names))
    keys = {part.key for part in parts}
    if is_backup_encrypted(plan):
        reasons.append(
            "keeping the password of encrypted backups: nobody brings one back without (printable ASCII but "
            "for ! ' \" $ % \\ ^, 256 letters at most)"
        )
    if "backup" not in keys:
        reasons.append(f"a backup and its restoring: {no_way_to_back_up(plan)}")
    elif "restore" not in keys:
        reasons.append(f"restoring a backup: {no_way_to_restore(plan)}")
    if "add-nodes" not in keys:
        reasons.append(f"adding data nodes: {_no_growth(plan)}")
    if "initial-rolling-restart" not in keys:
        reasons.append(
            "what data nodes take with --initial only: there is no second copy of the rows (NoOfReplicas 1); "
            "back up, make the cluster anew and restore"
        )
    if no_of_replicas(plan) == 1:
        reasons.append("replacing a host: there is no second copy of the rows (NoOfReplicas 1)")
    elif lost := [host.hostname for host in irreplaceable(plan)]:
        reasons.append(
            f"replacing {', '.join(lost)}, with every data node of a node group: stop the cluster, empty and "
            "start the others too, and restore a backup"
        )
    if "change" not in keys:
        reasons.append("a changed plan: export it with --from what runs, for the part change")
    return tuple(reasons)
