"""What the services of an acted cluster do, and how its processes start."""

from __future__ import annotations

import re
from pathlib import Path

from exporting.acted_files import ActedFiles
from exporting.acted_state import (
    DataNodeProcess,
    ManagementServer,
    Process,
    RefusedError,
    SqlProcess,
    read_configuration,
    servers_of,
)
from ndbplan.configuration.deployment import management_directory, management_port
from ndbplan.configuration.settings import is_diskless, node_settings
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import ServiceManager


def unit_file(process: Process) -> str:
    """Where the unit, or the init script, of a process lies on its host."""
    folder = "systemd/system" if process.unit.endswith(".service") else "init.d"
    return f"/etc/{folder}/{process.unit}"


def group_of(text: str, name: str) -> dict[str, str]:
    """Options of one group of an option file."""
    lines = text.partition(f"[{name}]\n")[2].partition("\n[")[0].splitlines()
    return dict(line.partition("=")[::2] for line in lines if line and line[0] != "#")


STORED_USERS = NdbVersion(8, 0, 18)
"""From here on SQL nodes share accounts."""


UPGRADED_AT_START = NdbVersion(8, 0, 16)
"""From here on mysqld upgrades its system tables itself."""


def _host_of(node_id: int, configuration: str) -> str | None:
    """The host that config.ini gives a node; None: any, or it has no such node."""
    found = re.search(rf"^NodeId={node_id}\nHostName=(.*)$", configuration, re.MULTILINE)
    return None if found is None else found[1]


class ActedHosts(ActedFiles):
    """The services of a host, and the processes that they start."""

    def _process(self, host: str, unit: str) -> Process:
        for process in self.processes():
            if (process.host, process.unit) == (host, unit):
                return process
        raise RefusedError(f"Unit {unit} not found.\n", 5)

    def _systemctl(self, host: str, words: list[str]) -> str:
        action, unit = words[0], words[-1]
        folder = "/etc/systemd/system/"
        if action == "daemon-reload":
            self.units |= {
                place: text
                for place, text in self.files.items()
                if place[0] == host and place[1].startswith(folder)
            }
        if self._is_init(host):
            raise RefusedError("systemctl: command not found\n", 127)
        if action in ("daemon-reload", "reset-failed"):
            return ""
        if unit in ("mysqld", "mysql"):
            return self._packaged(host, unit, action)
        if "--property=Id,MainPID" in words:
            return "\n".join(self._main_process(host, one) for one in words[2:])
        process, place = self._process(host, unit), (host, f"{folder}{unit}")
        if place not in self.files and "--property=ActiveState" in words:
            return "ActiveState=inactive\n"
        if place not in self.files:
            raise RefusedError(f"Unit {unit} not found.\n", 5)
        # One that was never asked for is read now.
        is_loaded = self.units.setdefault(place, self.files[place]) == self.files[place]
        if action == "show":
            if "ActiveState" in words[1]:
                return f"ActiveState={'active' if process.is_by_unit else 'inactive'}\n"
            return f"NeedDaemonReload={'no' if is_loaded else 'yes'}\n"
        if action == "is-enabled":
            if place not in self.enabled:
                raise RefusedError("", 1)
        elif action == "enable":
            self.enabled.add(place)
        elif action == "disable":
            self.enabled.discard(place)
        elif action == "status":
            raise RefusedError(f"{unit}: {'active' if process.is_by_unit else 'inactive (dead)'}\n", 3)
        elif action == "is-active":
            if not process.is_by_unit:
                raise RefusedError("", 3)
        elif action == "start":
            if not is_loaded:
                self.faults.append(f"{self.now:.1f} s: {unit} starts as it was before it was copied")
            self._start(process)
        elif action == "stop":
            self._stop(process)
        else:
            raise RefusedError(f"systemctl {action}: not known here\n")
        return ""

    def _main_process(self, host: str, unit: str) -> str:
        """What systemd says of a unit, which it may not know."""
        found = [one for one in self.processes() if (one.host, one.unit) == (host, unit)]
        return f"MainPID={4711 if any(one.is_by_unit for one in found) else 0}\nId={unit}\n"

    def _packaged(self, host: str, unit: str, action: str) -> str:
        """The service of packages, which is called mysql here."""
        runs = unit == "mysql" and host in self.packaged
        if action == "is-active" and not runs:
            raise RefusedError("", 3)
        if action == "stop" and runs:
            self.packaged.discard(host)
        return "Id=mysql.service\n" if action == "show" else ""

    def _is_init(self, host: str) -> bool:
        """Whether scripts in /etc/init.d start the services of a host."""
        return any(
            one.hostname == host and one.service_manager is ServiceManager.INIT_SCRIPTS
            for one in self.plan.hosts
        )

    def _service(self, host: str, words: list[str]) -> str:
        name, action = words
        place = (host, f"/etc/init.d/{name}")
        if place not in self.files or place not in self.executable:
            raise RefusedError(f"{name}: unrecognized service\n", 1)
        if name == "mysql":
            return self._packaged(host, name, {"status": "is-active", "stop": "stop"}[action])
        process = self._process(host, name)
        if action == "status":
            if not process.is_by_unit:
                raise RefusedError(f"{name} is stopped\n", 3)
            return f"{name} is running (1)\n"
        if action == "is-enabled":
            if place not in self.enabled:
                raise RefusedError("", 1)
        elif action == "enable":
            self.enabled.add(place)
        elif action == "disable":
            self.enabled.discard(place)
        elif action == "start":
            self._start(process)
        else:
            assert action == "stop", action
            self._stop(process)
        return ""

    def _start(self, process: Process) -> None:
        if process.is_by_hand and process.active:
            self.faults.append(f"{self.now:.1f} s: {process.unit} starts a second program of its node id")
        if process.active:
            return
        process.is_by_hand = False
        if not (release := self.releases.get(process.host)):
            raise RefusedError("203/EXEC\n")
        is_init, is_sql = self._is_init(process.host), isinstance(process, SqlProcess)
        place = "/var/run" if is_init else "/run"
        option = self.files.pop((process.host, f"{place}/{process.unit}.option"), "")
        text = self.files[process.host, unit_file(process)]
        if isinstance(process, ManagementServer):
            self._start_management(process, option)
        elif isinstance(process, DataNodeProcess):
            self._start_data_node(process, option)
        elif isinstance(process, SqlProcess):
            self._start_sql(process, option)
        word = "command=(" if is_init else "ExecStart="
        assert re.search(rf"{re.escape(word)}@?/usr/sbin/{'mysqld' if is_sql else 'ndb'}", text)
        process.is_shown_as_packaged = is_sql and "/usr/sbin//mysqld" not in text
        process.active, process.ends_at, process.release = True, None, release

    def _start_management(self, server: ManagementServer, option: str) -> None:
        path = (server.host, "/var/lib/mysql-cluster/config.ini")
        if path not in self.files:
            raise RefusedError("ndb_mgmd: no configuration\n")
        place = re.search(
            r"^WorkingDirectory=(.*)$", self.files[server.host, unit_file(server)], re.MULTILINE
        )
        told = read_configuration(self.files[path], self.plan.ndb_version)
        mine = next((one for one in told.management_nodes if one.node_id == server.node_id), None)
        if mine is None or told.host(mine.host_id).hostname != server.host:
            raise RefusedError(f"ndb_mgmd: node {server.node_id} of {server.host} is not in the file\n")
        for folder in (management_directory(told, mine), *([place[1]] if place else [])):
            if not self._exists(server.host, folder):
                raise RefusedError(f"ndb_mgmd: {folder} is missing\n")
        ports = {one.node_id: management_port(told, one) for one in told.management_nodes}
        port = ports.pop(server.node_id)
        if any(o.active and o.host == server.host and ports.get(o.node_id) == port for o in self.servers()):
            raise RefusedError(f"ndb_mgmd: Unable to setup port: *:{port}!\n")
        kept = (server.host, f"/var/lib/mysql-cluster/ndb_{server.node_id}_config.bin.1")
        if kept not in self.files:
            server.configuration = ""
        if told.features.config_cache:
            self.files[kept] = ""
        others = [one for one in self.servers() if one.active]
        if "--reload" in option or "--initial" in option or not server.configuration:
            server.configuration = self.files[path]
            if "--initial" in option and any(o.configuration != server.configuration for o in others):
                self.faults.append(f"{self.now:.1f} s: management servers have two configurations")
            for one in others:
                one.configuration = server.configuration
        elif others:
            server.configuration = others[0].configuration
        server.ready_at = self.now + self.random.uniform(1, 8)

    def _start_data_node(self, node: DataNodeProcess, option: str) -> None:
        serving = [s for s in self.servers() if s.active and self.now >= s.ready_at]
        if not serving:
            raise RefusedError("ndbmtd: could not connect to a management server\n")
        if _host_of(node.node_id, serving[0].configuration) != node.host:
            raise RefusedError(f"ndbmtd: node {node.node_id} of {node.host} is not in the configuration\n")
        if "EncryptedFileSystem=1\n" in serving[0].configuration and not self._has_password(node.host):
            raise RefusedError("ndbmtd: the password of the encrypted file system is missing\n")
        node.knows = servers_of(serving[0].configuration, self.plan.ndb_version)
        paths = self.paths[node.node_id]
        for path in paths.all():
            if not self._exists(node.host, path):
                raise RefusedError(f"ndbmtd: 2805, {path} is missing\n")
        there = [*map(self.running, self.data_nodes)]
        if any(n.ends_at is not None for n in there):
            self.faults.append(f"{self.now:.1f} s: node {node.node_id} starts while another one stops")
        files = f"{paths.file_system}/ndb_{node.node_id}_fs"
        initial = "--initial" in option
        fresh = self._has_no_files(node, serving[0].configuration)
        if initial and not fresh and not self._mates_started(node):
            self.faults.append(f"{self.now:.1f} s: node {node.node_id} erases the last copy of its rows")
        # One that has its files has the rows: who is without copies them.
        if not any(one.active or not self._has_no_files(one, serving[0].configuration) for one in there):
            self._form_groups()
            self.tables, self.foreign_keys = {}, {}
            # The table that counts backups is empty too.
            self.last_backup = 0
        if initial or fresh:
            node.rows, node.tables, node.made_by = 0.0, False, serving[0].configuration
            self.restored.clear()
        for name in ("D1", *(paths.redo_folders if paths.redo else ())):
            if initial or not self._exists(node.host, f"{files}/{name}"):
                self._rm(node.host, [f"{files}/{name}"])
                self.files[node.host, f"{files}/{name}/"] = ""
        node.initial_starts += initial
        node.backups = paths.backup
        node.configuration = serving[0].configuration
        running = any(one.is_started(self.now) for one in there)
        copies = (initial or fresh) and any(one.active and one.rows for one in there)
        kind = (
            ("initial" if initial or not running else "node")
            if running or copies
            else "start"
            if initial or fresh
            else "system"
        )
        start_s = self.random.uniform(20, 60) if self.lasts is None else self.lasts(kind, node.node_id)
        node.ready_at = self.now + start_s
        mates = [one for one in there if one.active and one.group == node.group and one is not node]
        if copies and not running and mates:
            # It copies its rows from one that has them, when that is started.
            node.ready_at = max(one.ready_at for one in mates) + start_s

    def _has_no_files(self, node: DataNodeProcess, configuration: str) -> bool:
        """Whether it knows of no rows when it starts: it writes none, or they are not there."""
        if "\nDiskless=1\n" in configuration:
            read = read_configuration(configuration, self.plan.ndb_version)
            known = next((one for one in read.data_nodes if one.node_id == node.node_id), None)
            if is_diskless(node_settings(read, known)):
                return True
        return not self._exists(node.host, f"{self.paths[node.node_id].file_system}/ndb_{node.node_id}_fs/D1")

    def _has_password(self, host: str) -> bool:
        """Of encrypted files, where people gave one to any host."""
        word = "filesystem-password="
        options = self.files.get((host, "/etc/my.cnf"), "")
        for included in re.findall(r"^!includedir (.*)$", options, re.MULTILINE):
            options += "".join(
                text for (at, path), text in self.files.items() if at == host and included in path
            )
        return word in options or not any(word in text for text in self.files.values())

    def _mates_started(self, node: DataNodeProcess) -> bool:
        there = map(self.running, self.data_nodes)
        mates = [n for n in there if n.group == node.group and n.node_id != node.node_id]
        return node.group is None or any(mate.is_started(self.now) for mate in mates)

    def _start_sql(self, process: SqlProcess, option: str) -> None:
        process.options = self.files[process.host, "/etc/my.cnf"]
        unit = self.files[process.host, unit_file(process)]
        suffix = re.search(r" --defaults-group-suffix=([^\s)]+)", unit)
        told = group_of(process.options, "mysqld") | group_of(
            process.options, f"mysqld{suffix[1] if suffix else ''}"
        )
        if told.get("ndb-nodeid", told.get("ndb-cluster-connection-pool-nodeids", "").split(",")[0]) != str(
            process.node_id
        ):
            raise RefusedError(f"mysqld: {told} are not the options of node {process.node_id}\n")
        for included in re.findall(r"^!includedir (.*)$", process.options, re.MULTILINE):
            if not self._exists(process.host, included):
                raise RefusedError(f"mysqld: Can't read dir of '{included}'\n")
        folder, process.socket = told["datadir"], told["socket"]
        self._opens_files(process.host, suffix[1] if suffix else "")
        self._listen(process, told)
        if not self._exists(process.host, f"{folder}/mysql/user"):
            raise RefusedError("mysqld: no data directory, or no system tables in it\n")
        if self.plan.version >= UPGRADED_AT_START:
            self.files[process.host, f"{folder}/mysql/user"] = self.releases[process.host]
        process.tables_of = self.files[process.host, f"{folder}/mysql/user"]
        known = next(iter(self.accounts.values()), {})
        if self.lacks_event:
            # Tables not available after 120 seconds: seen of 9.7.4.
            self.faults.append(f"{self.now:.1f} s: {process.unit} waits in vain for index statistics")
        if self.plan.version >= STORED_USERS:
            self.accounts.setdefault(process.node_id, dict(known))
            if self.lacks_grants:
                # Failed to setup PRIMARY index of ndb_sql_metadata (4243): seen of 9.7.4.
                self.faults.append(f"{self.now:.1f} s: {process.unit} finds no accounts that all share")
        serving = [s for s in self.servers() if s.active and self.now >= s.ready_at]
        if serving and self.selinux.get(process.host) != "off":
            if _host_of(process.node_id, serving[0].configuration) not in (None, process.host):
                self.faults.append(f"{self.now:.1f} s: {process.unit} of {process.host} gets no node id")
            process.knows = servers_of(serving[0].configuration, self.plan.ndb_version)
        process.is_offline = "--skip-networking" in option
        process.ready_at = self.now + self.random.uniform(3, 10)

    def _opens_files(self, host: str, suffix: str) -> None:
        """Those that mysqld does not start without, which another user or AppArmor may keep from it."""
        options = self.files[host, "/etc/my.cnf"]
        told = group_of(options, "mysqld") | group_of(options, f"mysqld{suffix}")
        paths = ["/etc/my.cnf", told["log-error"], f"{told['datadir']}/ibdata1"]
        folders = [one for one in told.get("tmpdir", "").split(":") if one]
        if "/" in (log := told.get("log-bin", "")):
            folders.append(str(Path(told["datadir"]) / Path(log).parent))
        for folder in folders:
            owner = self.files.get((host, f"{folder}/"), "nobody:")
            if not owner.startswith("mysql:") and folder != "/tmp":
                raise RefusedError(f"mysqld: File '{folder}/x' not found (OS errno 2)\n")
        for path in (*paths, *(f"{one}/x" for one in folders)):
            if not self._is_let_in(host, path):
                raise RefusedError(f"mysqld: Can't open {path} (OS errno 13 - Permission denied)\n")

    def _listen(self, process: SqlProcess, told: dict[str, str]) -> None:
        """On its own ports: with one that another server has, mysqld ends, or has no X protocol."""
        x_port = {told.get("mysqlx-port", "33060")} if self.plan.features.x_plugin else set()
        process.ports = frozenset({told["port"], *x_port})
        for other in self.mysqlds():
            if other is not process and other.active and other.host == process.host:
                taken = other.ports & process.ports
                self.faults += [f"{self.now:.1f} s: {process.unit} finds port {port} taken" for port in taken]

    def _stop(self, process: Process) -> None:
        """Of systemctl: SIGTERM, and a wait for the end."""
        if not process.active:
            return
        if isinstance(process, DataNodeProcess):
            self.faults.append(f"{self.now:.1f} s: data node {process.node_id} got SIGTERM")
        # Up to 33 s were seen of management servers only.
        most = 33 if isinstance(process, ManagementServer) else 10
        process.ends_at = self.now + self.random.uniform(2, most)
        self.pass_time(process.ends_at - self.now + 0.5)
