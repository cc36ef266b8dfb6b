"""A cluster that exported scripts act on: stub programs ask one server, which knows what real ones did.

    cluster = ActedCluster(plan)
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
import re
import subprocess
from pathlib import Path

from exporting.acted_shell import is_option_of, run_script
from exporting.acted_sql import ActedSql
from exporting.acted_state import (
    DataNodeProcess,
    Failure,
    ManagementServer,
    Process,
    RefusedError,
    read_configuration,
    servers_of,
)
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.processes import process_node_ids

_CLIENT_S = 60
"""The client is ended by `timeout` then."""
STATISTICS_LACK_EVENT = NdbVersion(8, 0, 0)
"""From here on an SQL node makes the event of index statistics with their tables alone."""
_RESTORED = ("--restore-meta", "--restore-data", "--rebuild-indexes")
PASSWORDS = {
    "ndb_app": "pass & \\word",
    "ndb_backup": 'it\'s "one" \\ {password}',
    "backup": "of (them) & `all`; #*",
}
"""Such as shells, SQL and option files read otherwise."""


class ActedCluster(ActedSql):
    """The server that stub programs ask, and the programs of NDB."""

    # The shell.

    def run(
        self, folder: Path, part: str, *options: str, state: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """runbook.sh of a folder on this cluster. `state`: where it keeps what it has done."""
        if is_option_of(folder / "runbook.sh", part, "passwords"):
            file = folder.parent / "passwords"
            file.touch(mode=0o600)
            file.write_text("".join(f"{name} {text}\n" for name, text in PASSWORDS.items()))
            options = (*options, "--passwords", str(file))
        kept = {} if state is None else {"RUNBOOK_STATE": f"{state}", "RUNBOOK_LOG": f"{state}.log"}
        return run_script(self.answer, folder / "runbook.sh", part, "--yes", *options, environment=kept)

    def answer(self, line: int, host: str, words: list[str]) -> tuple[str, str]:
        """Exit status of a program on a host, and what it prints; `die`: the script is killed here."""
        self.host = host
        if line != self.line:
            self.line = line
            if self.arrives is not None and self.arrives(line):
                self.has_joined = True
                return "die", ""
        if words[0] == "_reach":
            self.connections += 1
            lost = {Failure.BEFORE: "255", Failure.REFUSED: "1"}.get(self._failure(), "0")
            return ("255" if host in self.unreachable else lost), ""
        if words[0] == "_after_command":
            if self._failure() is Failure.BEHIND:
                return "255", ""
            self.calls += 1
            if self.lasts is not None:
                self.pass_time(0.3)
            if self.watch is not None:
                self.watch()
            return ("die" if self.calls == self.dies_after else "0"), ""
        self.log.append(f"{self.now:7.1f} {host}: {' '.join(words)[:160]}")
        try:
            if words[1:] == ["--version"]:
                found = self._version(host, words[0])
            else:
                found = getattr(self, f"_{Path(words[0]).name.lstrip('_').replace('-', '_')}")(
                    host, words[1:]
                )
        except RefusedError as refused:
            return str(refused.code), str(refused)
        self._look()
        return "0", found

    def _hold(self, host: str, _words: list[str]) -> str:
        """The lock of a management host."""
        return f"Welcome.\nlock: {self.held_by.get(host, 'held')}\n"

    def _failure(self) -> Failure | None:
        """What becomes of the connection that is open."""
        at, how = self.fails
        return how if at == self.connections else None

    # Programs of the product.

    def _server_of(self, words: list[str]) -> ManagementServer:
        """The first server of a connect string that answers."""
        connect = next(w.partition("=")[2] for w in words if w.startswith("--ndb-connectstring="))
        for place in connect.split(","):
            host, _, port = place.rpartition(":")
            for server in self.servers():
                at = self._address(server)
                if server.serves(self.now) and at is not None and at[1:] == (host.strip("[]"), int(port)):
                    return server
        raise RefusedError("Unable to connect with connect string, or not yet confirmed\n", 255)

    def _address(self, server: ManagementServer) -> tuple[int, str, int] | None:
        mine = servers_of(server.configuration, self.plan.ndb_version) if server.configuration else ()
        return next((one for one in mine if one[0] == server.node_id), None)

    def _is_seen(self, process: Process, server: ManagementServer) -> bool:
        """Whether a node is connected to a server: it connects to those of its own configuration."""
        return process.active and self._address(server) in process.knows

    def _ndb_mgm(self, _host: str, words: list[str]) -> str:
        command = next(w.partition("=")[2] for w in words if w.startswith("--execute="))
        server = self._server_of(words)
        if command == "SHOW":
            return self._show(server)
        if match := re.fullmatch(r"(\d+|ALL) STATUS", command):
            return "".join(
                f"Node {n.node_id}: {self._status(n, server)} (mysql ndb)\n"
                for n in map(self.running, self.data_nodes)
                if match[1] in ("ALL", str(n.node_id))
            )
        if match := re.fullmatch(r"(\d+) STOP( -a)?", command):
            node = self.running(int(match[1]))
            if not self._is_seen(node, server):
                raise RefusedError("Node is not connected\n", 255)
            return self._stop_node(node, bool(match[2]))
        if command == "ALL STOP":
            for node in self.processes():
                if isinstance(node, DataNodeProcess) and self._is_seen(node, server):
                    node.ends_at = self.now + self.random.uniform(5, 20)
            return "Executing STOP on all nodes.\n"
        if match := re.fullmatch(r"CREATE NODEGROUP ([\d,]+)", command):
            return self._create_nodegroup([int(word) for word in match[1].split(",")])
        if command == "ALL REPORT MEMORYUSAGE":
            return "Node 1: Data usage is 1%\n"
        if command == "ALL REPORT BACKUPSTATUS":
            return "".join(f"Node {number}: Backup not started\n" for number in self.data_nodes)
        if match := re.fullmatch(r"START BACKUP (\d+ )?WAIT COMPLETED", command):
            return self._start_backup(words, int(match[1] or 0))
        raise RefusedError(f"Invalid command: {command}\n", 255)

    def _status(self, node: DataNodeProcess, server: ManagementServer) -> str:
        if not self._is_seen(node, server):
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
        for node in map(self.running, self.data_nodes):
            if str(node.node_id) not in configured:
                continue
            group = "no nodegroup" if node.group is None else f"Nodegroup: {node.group}"
            state = "" if node.is_started(self.now) else f"{self._status(node, server).partition(' ')[0]}, "
            lines.append(self._line(node, f"{state}{group}", self._is_seen(node, server)))
        lines += ["", f"[ndb_mgmd(MGM)]\t{len(self.management)} node(s)"]
        for one in self.management.values():
            lines.append(self._line(one, "", one.active and self.now >= one.ready_at))
        lines += ["", f"[mysqld(API)]\t{len(self.sql_nodes)} node(s)"]
        for sql in self.sql_nodes.values():
            lines.append(self._line(sql, "", sql.serves(self.now) and self._is_seen(sql, server)))
        return "\n".join(lines) + "\n\n"

    def _line(self, process: Process, state: str, connected: bool) -> str:
        if not connected:
            return f"id={process.node_id} (not connected, accepting connect from {process.host})"
        return f"id={process.node_id}\t@{process.host}  (mysql ndb{', ' if state else ''}{state})"

    def _stop_node(self, node: DataNodeProcess, abort: bool) -> str:
        others = [n for n in map(self.running, self.data_nodes) if n is not node]
        if any(n.active and not n.is_started(self.now) for n in others):
            raise RefusedError(
                "Shutdown failed. Operation not allowed while nodes are starting or stopping.\n", 255
            )
        if node.ends_at is not None:
            raise RefusedError("5026: Node shutdown in progress\n", 255)
        # -a is taken at its word, and the cluster goes down.
        if node.group is not None and not abort and not self._mates_started(node):
            raise RefusedError("2002: Stop failed\n*  Node shutdown would cause system crash\n", 255)
        hangs = node.group is None and not abort
        stop_s = self.random.uniform(5, 17) if self.lasts is None else self.lasts("stop", node.node_id)
        node.ends_at = float("inf") if hangs else self.now + stop_s
        if stop_s > _CLIENT_S:
            self.pass_time(_CLIENT_S)
            raise RefusedError("", 124)
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

    def _start_backup(self, words: list[str], asked: int) -> str:
        password = words[-1].removeprefix("stdin:") if "--encrypt-backup" in words else ""
        needed = any(
            re.search(r"^RequireEncryptedBackup=1$", node.configuration, re.MULTILINE)
            for node in map(self.running, self.data_nodes)
        )
        if needed and not password:
            raise RefusedError("3001: Could not start backup: only encrypted ones\n", 255)
        groups = {node.group for node in self._members()}
        there = [node for node in self._members() if node.active]
        if {node.group for node in there} != groups or not all(node.is_started(self.now) for node in there):
            raise RefusedError("3001: Could not start backup\n", 255)
        number = self.last_backup = asked or self.last_backup + 1
        if number in self.backups and any(f"/BACKUP-{number}/" in path for _, path in self.files):
            exists = "*        Backup failed: file already exists (use 'START BACKUP <backup id>')\n"
            raise RefusedError(f"Backup failed\n*  3001: Could not start backup\n{exists}", 255)
        members = [node for node in map(self.running, self.data_nodes) if node.active]
        ids = frozenset(node.node_id for node in members)
        self.backups[number] = self.rows, ids, copy.deepcopy(self.tables), dict(self.foreign_keys)
        self.passwords[number] = password
        for node in members:
            folder = f"{node.backups}/BACKUP/BACKUP-{number}/"
            for name in (f"-0.{node.node_id}.Data", f".{node.node_id}.ctl", f".{node.node_id}.log"):
                self.files[node.host, f"{folder}BACKUP-{number}{name}"] = ""
        self.work("backup", 0, 5)
        return f"Waiting for completed\nNode 1: Backup {number} started from node 145 completed\n"

    def _ndb_restore(self, host: str, words: list[str]) -> str:
        told = dict(word.partition("=")[::2] for word in words)
        number, node_id = int(told["--backupid"]), int(told["--nodeid"])
        if "--print-meta" not in told:
            self._takes_a_slot(host, words)
        rows, members, schema, foreign_keys = self.backups[number]
        inside = self._inside(host, told["--backup-path"])
        if not any(path.endswith(f"/BACKUP-{number}.{node_id}.ctl") for path in inside):
            raise RefusedError("Failed to read the backup\n")
        if (words[-1] if "--decrypt" in told else "stdin:") != f"stdin:{self.passwords.get(number, '')}":
            raise RefusedError("Can't read the control file: a wrong password, or none\n")
        if "--print-meta" in told:
            return ""
        if not self._is_whole():
            raise RefusedError("Unable to connect to the cluster\n")
        tables = any(node.tables for node in self._members())
        if "--restore-meta" in told:
            if tables:
                raise RefusedError("Create table failed: 721: Schema object with given name already exists\n")
            for node in self._members():
                node.tables = True
            self.tables = copy.deepcopy(schema)
            self.lacks_event = self.plan.version >= STATISTICS_LACK_EVENT
            self.lacks_grants = {"--include-stored-grants", "--disable-indexes"} <= told.keys()
        elif not tables:
            raise RefusedError("Unable to find table\n")
        elif "--rebuild-indexes" in told:
            self.lacks_grants = self.lacks_grants and "--include-stored-grants" not in told
            self._foreign_keys_again(foreign_keys)
        elif "--restore-data" in told:
            self.restored.add(node_id)
            if self.restored >= members:
                for node in self._members():
                    node.rows = rows
                if self.rows_may_go_back:
                    self.rows = rows
        self.work(next(one[2:] for one in told if one in _RESTORED), node_id, 3)
        return ""

    def _foreign_keys_again(self, wanted: dict[str, tuple[str, str]]) -> None:
        """Indexes that are there are passed by; at a foreign key that is there ndb_restore ends."""
        for name, tables in wanted.items():
            if name in self.foreign_keys:
                raise RefusedError(
                    f"Failed to create foreign key {name} parent ? child ?: "
                    "721: Schema object with given name already exists\n"
                )
            self.foreign_keys[name] = tables

    def _takes_a_slot(self, host: str, words: list[str]) -> None:
        """A program of the NDB API needs a node id that none of the SQL nodes has."""
        text = self._server_of(words).configuration
        told = read_configuration(text, self.plan.ndb_version)
        taken = {i for node in self.plan.sql_nodes for i in process_node_ids(node)} | {*self.sql_nodes}
        for slot in (*told.api_slots, *told.sql_nodes):
            at = None if slot.host_id is None else told.host(slot.host_id).hostname
            if slot.node_id not in taken and at in (None, host):
                return
        raise RefusedError("Could not alloc node id: No free node id found for mysqld(API).\n")

    def _ndb_waiter(self, _host: str, words: list[str]) -> str:
        ids = next(w.partition("=")[2] for w in words if w.startswith("--wait-nodes=")).split(",")
        most = float(next(w.partition("=")[2] for w in words if w.startswith("--timeout=")))
        end = self.now + most
        nodes = [self.data_nodes[int(i)] for i in ids]
        while not (
            all(node.is_started(self.now) for node in nodes)
            and (server := self._server_of(words))
            and all(self._is_seen(node, server) for node in nodes)
        ):
            if self.now >= end:
                raise RefusedError("ndb_waiter: timed out\n")
            self.pass_time(1)
        return ""

    def _ndb_desc(self, host: str, words: list[str]) -> str:
        self._takes_a_slot(host, words)
        return "-- Per partition info --\n"

    def _ndb_index_stat(self, host: str, words: list[str]) -> str:
        """ndb_restore makes its tables, and only a first mysqld or this program their event."""
        self._takes_a_slot(host, words)
        if "--sys-check" in words and self.lacks_event:
            raise RefusedError("ERR: 4710: Event not found\n")
        self.lacks_event = False
        return ""

    def _sleep(self, _host: str, words: list[str]) -> str:
        self.pass_time(float(words[0]))
        return ""
