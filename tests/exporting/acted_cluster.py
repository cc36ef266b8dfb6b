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

import os
import random
import re
import socketserver
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.services import service_of
from ndbplan.plan.plan import Plan

_CALL = r"""
call() {
  local code text
  exec 9<>"/dev/tcp/127.0.0.1/$STUB_PORT"
  printf '%s\0' "$(($# + 1))" "$STUB_HOST" "$@" >&9
  IFS= read -r -d ' ' code <&9
  IFS= read -r -d '' text <&9 || true
  exec 9<&-
  [[ $code != die ]] || kill -KILL 0
  printf '%s' "$text"
  return "$code"
}
"""
_PROGRAMS = ("ndb_mgm", "ndb_waiter", "ndb_desc", "mysql", "mysqld", "mysql_install_db", "systemctl", "sleep")
_FILES = ("install", "ln", "mv", "rm", "cp", "cksum", "mountpoint", "test", "mkdir")
_INSTALL = r"""
install() {
  [[ " $* " != *" /dev/stdin "* ]] || cat >/dev/null
  call install "$@"
}
"""
_SSH = r"""#!/bin/bash
host=${4#*@}; shift 4
export STUB_HOST=$host
if [[ $1 == bash ]]; then
  { cat "$STUB_FOLDER/prelude"; cat; } | bash -euo pipefail -s
else
  "$@"
fi
code=$?
. "$STUB_FOLDER/call"
call _after_command
exit "$code"
"""
_MYSQL = r"""#!/bin/bash
. "$STUB_FOLDER/call"
statements=
[[ $* == *--execute=* ]] || statements=$(cat)
call mysql "$@" "sql:$statements"
"""
_SCP = r"""#!/bin/bash
. "$STUB_FOLDER/call"
to=${4#*@}; host=${to%%:/*}; host=${host#[}; host=${host%]}
STUB_HOST=$host call _copied "/${to#*:/}" "$(cat "$3")"
STUB_HOST=$host call _after_command
"""


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
    has_data: bool = False
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
    objects: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    reorganised: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.management: dict[int, ManagementServer] = {}
        self.data_nodes: dict[int, DataNodeProcess] = {}
        self.sql_nodes: dict[int, Process] = {}
        self.know(self.plan)
        for number, members in enumerate(node_groups(self.plan)):
            for member in members:
                self.data_nodes[member.node_id].group = number
        self._lock = threading.Lock()

    def know(self, plan: Plan) -> None:
        """Hosts and nodes of a plan: those that are there stay as they are."""
        self.plan = plan
        for node in plan.management_nodes:
            at = service_of(plan, node)
            self.management.setdefault(node.node_id, ManagementServer(node.node_id, at.host, at.name))
        for data in plan.data_nodes:
            at = service_of(plan, data)
            self.data_nodes.setdefault(data.node_id, DataNodeProcess(data.node_id, at.host, at.name))
        for sql in plan.sql_nodes:
            at = service_of(plan, sql)
            self.sql_nodes.setdefault(sql.node_id, Process(sql.node_id, at.host, at.name))

    # The server.

    def __enter__(self) -> ActedCluster:
        cluster = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                count = int(self._word())
                host, *words = [self._word() for _ in range(count)]
                try:
                    text, code = cluster.answer(host, words), 0
                except RefusedError as refused:
                    text, code = str(refused), refused.code
                dies = words[0] == "_after_command" and cluster.calls == cluster.dies_after
                self.wfile.write(f"{'die' if dies else code} {text}".encode())

            def _word(self) -> str:
                found = bytearray()
                while (one := self.rfile.read(1)) not in (b"\0", b""):
                    found += one
                return found.decode()

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def run(self, folder: Path, part: str, *options: str) -> subprocess.CompletedProcess[str]:
        """runbook.sh of a folder on this cluster."""
        stubs = folder.parent / "stubs"
        if not stubs.is_dir():
            self._write_stubs(stubs)
        port = str(self._server.server_address[1])
        environment = {
            "PATH": f"{stubs}:/usr/bin:/bin", "STUB_PORT": port, "STUB_FOLDER": str(stubs),
            "STUB_HOST": "here", "HOME": str(folder.parent), "USER": "operator",
        }  # fmt: skip
        return subprocess.run(
            ["bash", str(folder / "runbook.sh"), part, "--yes", *options],
            env=environment, capture_output=True, text=True, check=False, timeout=240, start_new_session=True,
        )  # fmt: skip

    @staticmethod
    def _write_stubs(stubs: Path) -> None:
        stubs.mkdir()
        (stubs / "call").write_text(_CALL)
        remote = [name for name in (*_PROGRAMS, *_FILES) if name != "mysql"]
        functions = "\n".join(f'{name}() {{ call {name} "$@"; }}' for name in remote) + _INSTALL
        (stubs / "prelude").write_text(f"{_CALL}\n{functions}\n")
        own = '#!/bin/bash\n. "$STUB_FOLDER/call"\ncall "$(basename "$0")" "$@"\n'
        texts = dict.fromkeys(_PROGRAMS, own) | {"ssh": _SSH, "scp": _SCP, "mysql": _MYSQL}
        for name, text in texts.items():
            (stubs / name).write_text(text)
            os.chmod(stubs / name, 0o755)

    def answer(self, host: str, words: list[str]) -> str:
        """What a program prints on a host. Raises RefusedError."""
        with self._lock:
            if words[0] == "_after_command":
                self.calls += 1
                return ""
            self.log.append(f"{self.now:7.1f} {host}: {' '.join(words)[:160]}")
            found: str = getattr(self, f"_{words[0].lstrip('_')}")(host, words[1:])
            self._look()
            return found

    # Time, and what must never be.

    def pass_time(self, seconds: float) -> None:
        """Let processes end and become ready."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + 0.5)
            for process in (*self.management.values(), *self.data_nodes.values(), *self.sql_nodes.values()):
                if process.ends_at is not None and self.now >= process.ends_at:
                    process.active, process.ends_at = False, None
            self._look()

    def _look(self) -> None:
        nodes = self.data_nodes.values()
        members = [node for node in nodes if node.group is not None]
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
        self.files[host, words[0]] = words[1]
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
        path = words[-1]
        self.files[host, path if "-d" not in words else f"{path.rstrip('/')}/"] = ""
        if words[-2] == "/dev/stdin" and path.startswith("/run/"):
            self.files[host, path] = "option"
        return ""

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
        content = self.files[host, words[-1]].encode()
        found = subprocess.run(["cksum"], input=content, capture_output=True, check=True).stdout.decode()
        return f"{found.strip()} {words[-1]}\n"

    # Services.

    def _process(self, host: str, unit: str) -> Process:
        for process in (*self.management.values(), *self.data_nodes.values(), *self.sql_nodes.values()):
            if (process.host, process.unit) == (host, unit):
                return process
        raise RefusedError(f"Unit {unit} not found.\n", 5)

    def _systemctl(self, host: str, words: list[str]) -> str:
        action, unit = words[0], words[-1]
        if action in ("daemon-reload", "reset-failed"):
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
        elif action != "enable":
            raise RefusedError(f"systemctl {action}: not known here\n")
        return ""

    def _start(self, process: Process) -> None:
        if process.active:
            return
        option = self.files.pop((process.host, f"/run/{process.unit}.option"), "")
        text = self.files[process.host, f"/etc/systemd/system/{process.unit}"]
        if isinstance(process, ManagementServer):
            self._start_management(process, bool(option))
        elif isinstance(process, DataNodeProcess):
            self._start_data_node(process, bool(option))
        else:
            self._start_sql(process)
        assert f"ExecStart=/usr/sbin/{'mysqld' if process.node_id in self.sql_nodes else 'ndb'}" in text
        process.active, process.ends_at = True, None

    def _start_management(self, server: ManagementServer, reload: bool) -> None:
        path = (server.host, "/var/lib/mysql-cluster/config.ini")
        if path not in self.files:
            raise RefusedError("ndb_mgmd: no configuration\n")
        if reload or not server.configuration:
            others = [one for one in self.management.values() if one.active]
            server.configuration = self.files[path]
            for one in others:
                one.configuration = server.configuration
        server.ready_at = self.now + self.random.uniform(1, 8)

    def _start_data_node(self, node: DataNodeProcess, initial: bool) -> None:
        serving = [s for s in self.management.values() if s.active and self.now >= s.ready_at]
        if not serving:
            raise RefusedError("ndbmtd: could not connect to a management server\n")
        if not re.search(rf"^NodeId={node.node_id}$", serving[0].configuration, re.MULTILINE):
            raise RefusedError(f"ndbmtd: node {node.node_id} is not in the configuration\n")
        known = next(n for n in self.plan.data_nodes if n.node_id == node.node_id)
        for path in data_node_paths(self.plan, known).all():
            if not self._exists(node.host, path):
                raise RefusedError(f"ndbmtd: 2805, {path} is missing\n")
        if any(n.ends_at is not None for n in self.data_nodes.values()):
            self.faults.append(f"{self.now:.1f} s: node {node.node_id} starts while another one stops")
        if initial and node.has_data and not self._mates_started(node):
            self.faults.append(f"{self.now:.1f} s: --initial of node {node.node_id} loses rows")
        node.initial_starts += initial
        node.has_data = True
        folder = data_node_paths(self.plan, known)
        for name in ("D1", *(folder.redo_folders if folder.redo else ())):
            path = f"{folder.file_system}/ndb_{node.node_id}_fs/{name}"
            if initial or not self._exists(node.host, path):
                self._rm(node.host, [path])
                self.files[node.host, f"{path}/"] = ""
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
            for node in self.data_nodes.values():
                if node.active:
                    node.ends_at = self.now + self.random.uniform(5, 20)
            return "Executing STOP on all nodes.\n"
        if match := re.fullmatch(r"CREATE NODEGROUP ([\d,]+)", command):
            return self._create_nodegroup([int(word) for word in match[1].split(",")])
        if command in ("ALL REPORT MEMORYUSAGE", "START BACKUP WAIT COMPLETED"):
            self.pass_time(5)
            return "Node 1: Backup 1 started from node 1 completed\n"
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
            node.group = number
        return f"Nodegroup {number} created\n"

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
        elif "REORGANIZE" in statement:
            self.pass_time(10)
            self.reorganised.append(statement)
        return "1\n"
