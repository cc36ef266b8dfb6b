"""A cluster that exported scripts act on: stub programs ask one server, which knows what real ones did.

    with ActedCluster(plan) as cluster:
        done = cluster.run(folder, "start")      # runbook.sh start --yes
        cluster.data_nodes[1].is_started

Time passes when the script sleeps or a program waits, so a run takes as long as its commands. What is known
of real clusters (8.4.8 and 7.4.10): a management server that is told to stop lives 2 to 33 s more and holds
its port; a new one is "not yet confirmed" for some seconds; STOP of a node outside every group never ends
without -a; STOP is refused (2002) when the group would be gone and while any node starts or stops; the angel
ends with 0 after STOP; a unit that nobody has copied cannot be started.
"""

from __future__ import annotations

import copy
import random
import re
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from exporting.acted_shell import Shell
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.services import service_of
from ndbplan.plan.plan import Plan


@dataclass
class Process:
    """One process of the cluster and the service it belongs to."""

    node_id: int
    host: str
    unit: str
    active: bool = False
    ends_at: float | None = None
    """It was told to stop."""
    ready_at: float = 0.0
    release: str = ""
    """Of the programs that it was started with."""

    def serves(self, now: float) -> bool:
        """Whether it works."""
        return self.active and self.ends_at is None and now >= self.ready_at


@dataclass
class ManagementServer(Process):
    """A management server, with the configuration that it works by."""

    configuration: str = ""


@dataclass
class DataNodeProcess(Process):
    """A data node."""

    group: int | None = None
    rows: float = 0.0
    """Committed rows that it holds; all groups alike."""
    tables: bool = False
    configuration: str = ""
    """By which it runs."""
    made_by: str = ""
    """The configuration by which its redo log was made: a start without --initial keeps it."""
    initial_starts: int = 0

    def is_started(self, now: float) -> bool:
        """Whether it reports so."""
        return self.active and self.ends_at is None and now >= self.ready_at


class RefusedError(Exception):
    """A program ends with a message."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class ActedCluster:
    """State of all hosts, and the server that stub programs ask."""

    plan: Plan
    seed: int = 1
    now: float = 0.0
    calls: int = 0
    dies_after: int | None = None
    """The script is killed behind this command."""
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    """Content by host and path; folders end with `/`."""
    in_service: bool = False
    """All data nodes have been started: from now on no group may be gone, except while `may_be_down`."""
    may_be_down: bool = False
    rows_may_go_back: bool = False
    """A restore gives what was in the backup, and nothing later."""
    objects: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    reorganised: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    releases: dict[str, str] = field(default_factory=dict)
    """What is installed, by host; at first the plan's, everywhere."""
    rows: float = 0.0
    """Rows that clients were told are committed: one a second while the cluster serves."""
    backups: dict[int, tuple[float, frozenset[int]]] = field(default_factory=dict)
    """Rows of each backup, and the data nodes that took it."""
    restored: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.management: dict[int, ManagementServer] = {}
        self.data_nodes: dict[int, DataNodeProcess] = {}
        self.sql_nodes: dict[int, Process] = {}
        self.left: list[DataNodeProcess] = []
        self.paths: dict[int, DataNodePaths] = {}
        self.know(self.plan)
        self._form_groups()

    def _form_groups(self) -> None:
        """What a cluster without files does when it starts."""
        for node in self.data_nodes.values():
            node.group = None
        for number, members in enumerate(node_groups(self.plan)):
            for member in members:
                self.data_nodes[member.node_id].group = number

    def know(self, plan: Plan) -> None:
        """Hosts and nodes of a plan, beside those that are there; one that moves is there twice."""
        self.plan = plan
        hosts = {node.node_id: service_of(plan, node).host for node in plan.data_nodes}
        for node_id, old in tuple(self.data_nodes.items()):
            if hosts.get(node_id, old.host) != old.host:
                self.left.append(old)
                self.data_nodes[node_id] = DataNodeProcess(node_id, hosts[node_id], old.unit, group=old.group)
        for node in plan.management_nodes:
            at = service_of(plan, node)
            self.management.setdefault(node.node_id, ManagementServer(node.node_id, at.host, at.name))
        for data in plan.data_nodes:
            at = service_of(plan, data)
            self.data_nodes.setdefault(data.node_id, DataNodeProcess(data.node_id, at.host, at.name))
            self.paths[data.node_id] = data_node_paths(plan, data)
        for sql in plan.sql_nodes:
            at = service_of(plan, sql)
            self.sql_nodes.setdefault(sql.node_id, Process(sql.node_id, at.host, at.name))
        for process in self._processes():
            self.releases.setdefault(process.host, str(plan.version))

    def twin(self) -> ActedCluster:
        """Another cluster in the same state, with a shell of its own once it is entered."""
        found = copy.copy(self)
        state = {key: value for key, value in vars(self).items() if key not in ("plan", "paths", "_shell")}
        vars(found).update(copy.deepcopy(state))
        return found

    # The shell.

    def __enter__(self) -> ActedCluster:
        self._shell = Shell(self.answer)
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.close()

    def run(self, folder: Path, part: str, *options: str) -> subprocess.CompletedProcess[str]:
        """runbook.sh of a folder on this cluster."""
        return self._shell.run(folder / "runbook.sh", part, "--yes", *options)

    def answer(self, host: str, words: list[str]) -> tuple[str, str]:
        """Exit status of a program on a host, and what it prints; `die`: the script is killed here."""
        if words[0] == "_after_command":
            self.calls += 1
            return ("die" if self.calls == self.dies_after else "0"), ""
        self.log.append(f"{self.now:7.1f} {host}: {' '.join(words)[:160]}")
        try:
            if words[0].startswith("/"):
                found = self._version(host, words[0])
            else:
                found = getattr(self, f"_{words[0].lstrip('_').replace('-', '_')}")(host, words[1:])
        except RefusedError as refused:
            return str(refused.code), str(refused)
        self._look()
        return "0", found

    # Time, and what must never be.

    def _processes(self) -> Iterator[Process]:
        yield from self.management.values()
        yield from self.data_nodes.values()
        yield from self.sql_nodes.values()
        yield from self.left

    def pass_time(self, seconds: float) -> None:
        """Let processes end and become ready."""
        until = self.now + seconds
        moments = {
            moment
            for process in self._processes()
            for moment in (process.ends_at, process.ready_at)
            if moment is not None and self.now < moment < until
        }
        for moment in (*sorted(moments), until):
            self._serve(moment - self.now)
            self.now = moment
            for process in self._processes():
                if process.ends_at is not None and self.now >= process.ends_at:
                    process.active, process.ends_at = False, None
            self._catch_up()
            self._look()

    def _members(self) -> list[DataNodeProcess]:
        return [node for node in self.data_nodes.values() if node.group is not None]

    def _serve(self, seconds: float) -> None:
        """The load: rows that are written, to every node that is started."""
        if (
            self.in_service
            and self._is_whole()
            and any(one.serves(self.now) for one in self.sql_nodes.values())
        ):
            if any(node.rows < self.rows for node in self._members() if node.is_started(self.now)):
                self.faults.append(f"{self.now:.1f} s: committed rows are gone")
            self.rows += seconds
            for node in self._members():
                if node.is_started(self.now):
                    node.rows, node.tables = self.rows, True

    def _is_whole(self) -> bool:
        members = self._members()
        started = {node.group for node in members if node.is_started(self.now)}
        return bool(members) and started == {node.group for node in members}

    def _catch_up(self) -> None:
        """Nodes that are started now have the rows of their node group."""
        for node in self._members():
            mates = [m for m in self._members() if m.group == node.group and m.is_started(self.now)]
            if node in mates:
                node.rows = max(mate.rows for mate in mates)
                node.tables = any(mate.tables for mate in mates)

    def _look(self) -> None:
        members = self._members()
        if members and all(node.is_started(self.now) for node in members):
            self.in_service = True
        if not self.in_service or self.may_be_down:
            return
        for group in {node.group for node in members}:
            if not any(node.is_started(self.now) for node in members if node.group == group):
                self.faults.append(f"{self.now:.1f} s: node group {group} is gone")
        serving = [node for node in self.sql_nodes.values() if node.serves(self.now)]
        if len(self.sql_nodes) > 1 and self.sql_was_up and not serving:
            self.faults.append(f"{self.now:.1f} s: all SQL nodes are down")
        self.sql_was_up = self.sql_was_up or len(serving) == len(self.sql_nodes)

    sql_was_up: bool = False

    # Files.

    def _exists(self, host: str, path: str) -> bool:
        return bool(self._inside(host, path.rstrip("/")))

    def _inside(self, host: str, path: str) -> list[str]:
        """A file or folder with everything in it."""
        return [p for h, p in self.files if h == host and (p == path or p.startswith(f"{path}/"))]

    def _copied(self, host: str, words: list[str]) -> str:
        name = Path(words[1]).name if words[0].endswith("/") else ""
        self.files[host, words[0] + name] = Path(words[1]).read_text(encoding="utf-8")
        return ""

    def lose(self, host: str) -> None:
        """A machine is gone, and an empty one has its name."""
        self.files = {place: text for place, text in self.files.items() if place[0] != host}
        self.releases[host] = ""
        for process in self._processes():
            if process.host == host:
                process.active, process.ends_at = False, None

    def _version(self, host: str, program: str) -> str:
        if not (release := self.releases.get(host)):
            raise RefusedError(f"{program}: No such file or directory\n", 127)
        name = "Ver" if program.endswith("mysqld") else "MySQL distrib mysql-1.1.1"
        return f"{name} {release}\n" if name == "Ver" else f"{name} ndb-{release}, for linux\n"

    def _dnf(self, host: str, _words: list[str]) -> str:
        """Packages are text files that say their release."""
        [place] = [p for h, p in self.files if h == host and re.search("/ndb-programs/.*[.](rpm|deb|gz)$", p)]
        self.releases[host] = self.files[host, place].strip()
        return ""

    _apt_get = _tar = _dnf

    def _id(self, _host: str, _words: list[str]) -> str:
        raise RefusedError("no such user\n")

    def _useradd(self, _host: str, _words: list[str]) -> str:
        return ""

    def _test(self, host: str, words: list[str]) -> str:
        negated = words[0] == "!"
        flag, path = words[-2:]
        is_link = self.files.get((host, path), "").startswith("-> ")
        found = is_link if flag == "-L" else self._exists(host, path)
        if found == negated:
            raise RefusedError("")
        return ""

    def _install(self, host: str, words: list[str]) -> str:
        path, text = words[-2], words[-1].removeprefix("stdin:")
        if "-d" in words:
            self.files.setdefault((host, f"{path.rstrip('/')}/"), "")
        else:
            self.files[host, path] = text
        return ""

    def _cat(self, host: str, words: list[str]) -> str:
        return self.files[host, words[-1]]

    def _mountpoint(self, _host: str, words: list[str]) -> str:
        return f"{words[-1]} is a mountpoint\n"

    def _ln(self, host: str, words: list[str]) -> str:
        self.files[host, words[-1]] = f"-> {words[-2]}"
        return ""

    def _mv(self, host: str, words: list[str]) -> str:
        source, target = words[-2:]
        moved = self._inside(host, source)
        if not moved or self._exists(host, target):
            raise RefusedError(f"mv: {source} -> {target} cannot be done\n")
        for path in moved:
            self.files[host, target + path[len(source) :]] = self.files.pop((host, path))
        return ""

    def _rm(self, host: str, words: list[str]) -> str:
        for path in self._inside(host, words[-1].rstrip("/")):
            del self.files[host, path]
        return ""

    def _cp(self, host: str, words: list[str]) -> str:
        self.files[host, words[-1]] = self.files[host, words[-2]]
        return ""

    def _cksum(self, host: str, words: list[str]) -> str:
        return self._cksum_text(host, [self.files[host, words[-1]]]).strip() + f" {words[-1]}\n"

    def _cksum_text(self, _host: str, words: list[str]) -> str:
        content = words[0].encode()
        return f"{zlib.crc32(content)} {len(content)}\n"

    # Services.

    def _process(self, host: str, unit: str) -> Process:
        for process in self._processes():
            if (process.host, process.unit) == (host, unit):
                return process
        raise RefusedError(f"Unit {unit} not found.\n", 5)

    def _systemctl(self, host: str, words: list[str]) -> str:
        action, unit = words[0], words[-1]
        if action in ("daemon-reload", "reset-failed") or words[-1] == "mysql":
            return ""
        process = self._process(host, unit)
        if (host, f"/etc/systemd/system/{unit}") not in self.files:
            raise RefusedError(f"Unit {unit} not found.\n", 5)
        if action == "is-active":
            if not process.active:
                raise RefusedError("", 3)
        elif action == "start":
            self._start(process)
        elif action == "stop":
            self._stop(process)
        elif action not in ("enable", "disable"):
            raise RefusedError(f"systemctl {action}: not known here\n")
        return ""

    def _start(self, process: Process) -> None:
        if process.active:
            return
        if not (release := self.releases.get(process.host)):
            raise RefusedError("203/EXEC\n")
        option = self.files.pop((process.host, f"/run/{process.unit}.option"), "")
        text = self.files[process.host, f"/etc/systemd/system/{process.unit}"]
        if isinstance(process, ManagementServer):
            self._start_management(process, option)
        elif isinstance(process, DataNodeProcess):
            self._start_data_node(process, option)
        else:
            self._start_sql(process)
        assert f"ExecStart=/usr/sbin/{'mysqld' if process.node_id in self.sql_nodes else 'ndb'}" in text
        process.active, process.ends_at, process.release = True, None, release

    def _start_management(self, server: ManagementServer, option: str) -> None:
        path = (server.host, "/var/lib/mysql-cluster/config.ini")
        if path not in self.files:
            raise RefusedError("ndb_mgmd: no configuration\n")
        others = [one for one in self.management.values() if one.active]
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
        serving = [s for s in self.management.values() if s.active and self.now >= s.ready_at]
        if not serving:
            raise RefusedError("ndbmtd: could not connect to a management server\n")
        section = re.search(
            rf"^NodeId={node.node_id}\nHostName=(.*)$", serving[0].configuration, re.MULTILINE
        )
        if section is None or section[1] != node.host:
            raise RefusedError(f"ndbmtd: node {node.node_id} of {node.host} is not in the configuration\n")
        paths = self.paths[node.node_id]
        for path in paths.all():
            if not self._exists(node.host, path):
                raise RefusedError(f"ndbmtd: 2805, {path} is missing\n")
        if any(n.ends_at is not None for n in self.data_nodes.values()):
            self.faults.append(f"{self.now:.1f} s: node {node.node_id} starts while another one stops")
        files = f"{paths.file_system}/ndb_{node.node_id}_fs"
        initial = "--initial" in option
        fresh = not self._exists(node.host, f"{files}/D1")
        if fresh and not any(one.active for one in self.data_nodes.values()):
            self._form_groups()
        if initial or fresh:
            node.rows, node.tables, node.made_by = 0.0, False, serving[0].configuration
            self.restored.clear()
        for name in ("D1", *(paths.redo_folders if paths.redo else ())):
            if initial or not self._exists(node.host, f"{files}/{name}"):
                self._rm(node.host, [f"{files}/{name}"])
                self.files[node.host, f"{files}/{name}/"] = ""
        node.initial_starts += initial
        node.configuration = serving[0].configuration
        node.ready_at = self.now + self.random.uniform(20, 60)

    def _mates_started(self, node: DataNodeProcess) -> bool:
        mates = [n for n in self.data_nodes.values() if n.group == node.group and n is not node]
        return node.group is None or any(mate.is_started(self.now) for mate in mates)

    def _start_sql(self, process: Process) -> None:
        alone = sum(one.host == process.host for one in self.sql_nodes.values()) == 1
        folder = "/var/lib/mysql" if alone else f"/var/lib/mysql-{process.node_id}"
        if not self._exists(process.host, f"{folder}/mysql"):
            raise RefusedError("mysqld: no data directory\n")
        process.ready_at = self.now + self.random.uniform(3, 10)

    def _stop(self, process: Process) -> None:
        """Of systemctl: SIGTERM, and a wait for the end."""
        if not process.active:
            return
        if isinstance(process, DataNodeProcess):
            self.faults.append(f"{self.now:.1f} s: data node {process.node_id} got SIGTERM")
        process.ends_at = self.now + self.random.uniform(2, 33)
        self.pass_time(process.ends_at - self.now + 0.5)

    # Programs of the product.

    def _client_server(self) -> ManagementServer:
        for server in self.management.values():
            if server.serves(self.now):
                return server
        raise RefusedError("Unable to connect with connect string\n", 255)

    def _ndb_mgm(self, _host: str, words: list[str]) -> str:
        connect = next(w.partition("=")[2] for w in words if w.startswith("--ndb-connectstring="))
        command = next(w.partition("=")[2] for w in words if w.startswith("--execute="))
        server = self._client_server()
        if "," not in connect and len(self.management) > 1:
            host = connect.rpartition(":")[0].strip("[]")
            server = next(one for one in self.management.values() if one.host == host)
            if not server.active or self.now < server.ready_at:
                raise RefusedError("Unable to connect, or not yet confirmed\n", 255)
        if command == "SHOW":
            return self._show(server)
        if match := re.fullmatch(r"(\d+|ALL) STATUS", command):
            return "".join(
                f"Node {n.node_id}: {self._status(n)} (mysql ndb)\n"
                for n in self.data_nodes.values()
                if match[1] in ("ALL", str(n.node_id))
            )
        if match := re.fullmatch(r"(\d+) STOP( -a)?", command):
            return self._stop_node(self.data_nodes[int(match[1])], bool(match[2]))
        if command == "ALL STOP":
            for node in (*self.data_nodes.values(), *self.left):
                if node.active:
                    node.ends_at = self.now + self.random.uniform(5, 20)
            return "Executing STOP on all nodes.\n"
        if match := re.fullmatch(r"CREATE NODEGROUP ([\d,]+)", command):
            return self._create_nodegroup([int(word) for word in match[1].split(",")])
        if command == "ALL REPORT MEMORYUSAGE":
            return "Node 1: Data usage is 1%\n"
        if command == "START BACKUP WAIT COMPLETED":
            return self._start_backup()
        raise RefusedError(f"Invalid command: {command}\n", 255)

    def _status(self, node: DataNodeProcess) -> str:
        if not node.active:
            return "not connected"
        if node.ends_at is not None:
            return "shutting down"
        return "started" if node.is_started(self.now) else "starting (Last completed phase 4)"

    def _show(self, server: ManagementServer) -> str:
        configured = set(re.findall(r"^NodeId=(\d+)$", server.configuration, re.MULTILINE))
        lines = [
            "Cluster Configuration",
            "---------------------",
            f"[ndbd(NDB)]\t{len(self.data_nodes)} node(s)",
        ]
        for node in self.data_nodes.values():
            if str(node.node_id) not in configured:
                continue
            group = "no nodegroup" if node.group is None else f"Nodegroup: {node.group}"
            state = "" if node.is_started(self.now) else f"{self._status(node).partition(' ')[0]}, "
            lines.append(self._line(node, f"{state}{group}", node.active))
        lines += ["", f"[ndb_mgmd(MGM)]\t{len(self.management)} node(s)"]
        for one in self.management.values():
            lines.append(self._line(one, "", one.active and self.now >= one.ready_at))
        lines += ["", f"[mysqld(API)]\t{len(self.sql_nodes)} node(s)"]
        for sql in self.sql_nodes.values():
            lines.append(self._line(sql, "", sql.serves(self.now)))
        return "\n".join(lines) + "\n\n"

    def _line(self, process: Process, state: str, connected: bool) -> str:
        if not connected:
            return f"id={process.node_id} (not connected, accepting connect from {process.host})"
        return f"id={process.node_id}\t@{process.host}  (mysql ndb{', ' if state else ''}{state})"

    def _stop_node(self, node: DataNodeProcess, abort: bool) -> str:
        others = [n for n in self.data_nodes.values() if n is not node]
        if any(n.active and not n.is_started(self.now) for n in others):
            raise RefusedError(
                "Shutdown failed. Operation not allowed while nodes are starting or stopping.\n", 255
            )
        if node.ends_at is not None:
            raise RefusedError("5026: Node shutdown in progress\n", 255)
        if not node.active:
            raise RefusedError("Node is not connected\n", 255)
        if node.group is not None and not self._mates_started(node):
            raise RefusedError("2002: Stop failed\n*  Node shutdown would cause system crash\n", 255)
        hangs = node.group is None and not abort
        node.ends_at = float("inf") if hangs else self.now + self.random.uniform(5, 17)
        return f"Node {node.node_id} has shutdown.\n"

    def _create_nodegroup(self, ids: list[int]) -> str:
        nodes = [self.data_nodes[i] for i in ids]
        if any(node.group is not None for node in nodes):
            raise RefusedError("322: Invalid node(s) specified for new nodegroup\n", 255)
        if not any(node.is_started(self.now) for node in nodes):
            raise RefusedError("324: Invalid node(s) specified for new nodegroup, no node started\n", 255)
        number = 1 + max(node.group for node in self.data_nodes.values() if node.group is not None)
        for node in nodes:
            node.group, node.rows, node.tables = number, self.rows, True
        return f"Nodegroup {number} created\n"

    def _start_backup(self) -> str:
        if not all(node.is_started(self.now) for node in self._members()):
            raise RefusedError("3001: Could not start backup\n", 255)
        number = len(self.backups) + 1
        members = [node.node_id for node in self.data_nodes.values() if node.active]
        self.backups[number] = self.rows, frozenset(members)
        for node_id in members:
            folder = f"{self.paths[node_id].backup}/BACKUP/BACKUP-{number}/"
            self.files[self.data_nodes[node_id].host, folder] = ""
        self.pass_time(5)
        return f"Waiting for completed\nNode 1: Backup {number} started from node 145 completed\n"

    def _ndb_restore(self, host: str, words: list[str]) -> str:
        told = dict(word.partition("=")[::2] for word in words)
        number, node_id = int(told["--backupid"]), int(told["--nodeid"])
        rows, members = self.backups[number]
        if not self._exists(host, told["--backup-path"]) or self.data_nodes[node_id].host != host:
            raise RefusedError("Failed to read the backup\n")
        if not self._is_whole():
            raise RefusedError("Unable to connect to the cluster\n")
        tables = any(node.tables for node in self._members())
        if "--restore-meta" in told:
            if tables:
                raise RefusedError("Create table failed: 721: Schema object with given name already exists\n")
            for node in self._members():
                node.tables = True
        elif not tables:
            raise RefusedError("Unable to find table\n")
        elif "--restore-data" in told:
            self.restored.add(node_id)
            if self.restored >= members:
                for node in self._members():
                    node.rows = rows
                if self.rows_may_go_back:
                    self.rows = rows
        self.pass_time(3)
        return ""

    def _ndb_waiter(self, _host: str, words: list[str]) -> str:
        ids = next(w.partition("=")[2] for w in words if w.startswith("--wait-nodes=")).split(",")
        most = float(next(w.partition("=")[2] for w in words if w.startswith("--timeout=")))
        end = self.now + most
        while not all(self.data_nodes[int(i)].is_started(self.now) for i in ids):
            if self.now >= end:
                raise RefusedError("ndb_waiter: timed out\n")
            self.pass_time(5)
        return ""

    def _ndb_desc(self, _host: str, _words: list[str]) -> str:
        return "-- Per partition info --\n"

    def _sleep(self, _host: str, words: list[str]) -> str:
        self.pass_time(float(words[0]))
        return ""

    def _mysqld(self, host: str, words: list[str]) -> str:
        suffix = next((w.partition("@")[2] for w in words if w.startswith("--defaults-group-suffix=")), "")
        folder = f"/var/lib/mysql-{suffix}" if suffix else "/var/lib/mysql"
        if not self._exists(host, folder) or not self._exists(host, "/etc/my.cnf"):
            raise RefusedError("mysqld: no data directory or no options\n")
        self.files[host, f"{folder}/mysql/"] = ""
        return ""

    def _mysql_install_db(self, host: str, words: list[str]) -> str:
        folder = next(w.partition("=")[2] for w in words if w.startswith("--datadir="))
        self.files[host, f"{folder}/mysql/"] = ""
        return ""

    def _mysql(self, host: str, words: list[str]) -> str:
        serving = [one for one in self.sql_nodes.values() if one.host == host and one.serves(self.now)]
        if not serving:
            raise RefusedError("ERROR 2002 (HY000): Can't connect to local MySQL server through socket\n")
        statement = words[-1].removeprefix("sql:").strip()
        if statement.startswith(("CREATE ", "ALTER LOGFILE GROUP", "ALTER TABLESPACE")):
            if statement in self.objects:
                raise RefusedError(
                    "Error 1296 Got error 721 'Schema object with given name already exists'\n"
                )
            self.objects.add(statement)
        elif statement.startswith("DROP TABLE"):
            self.dropped.append(statement)
        elif "REORGANIZE" in statement:
            self.pass_time(10)
            self.reorganised.append(statement)
        return "1\n"
