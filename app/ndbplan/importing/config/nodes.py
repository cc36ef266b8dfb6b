"""Sections of a config.ini into hosts, processes and links."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from ndbplan.base.units import GIB, whole_number
from ndbplan.edits.ids import NewIds
from ndbplan.importing.config.file import ConfigFile, Line, RawSection, named_by_link
from ndbplan.importing.config.hardware import host_for
from ndbplan.importing.config.values import origins_of, values_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.features import features
from ndbplan.ndb.values import BadValueError, parse_integer
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import NO_PARAMETERS, Parameters
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.origins import NO_ORIGINS, ClusterOrigins, Origins, file_name
from ndbplan.plan.plan import EMPTY_PLAN, ClusterParameters, Plan
from ndbplan.plan.processes import ApiSlot, DataNode, Link, ManagementNode, Process, SqlNode

_NODE_KINDS = ("DB", "API", "MGM")
_OWNED = ("nodeid", "id", "hostname", "executeoncomputer", "nodegroup")
_SCOPES = {"DB": "data_node", "MGM": "management", "API": "sql", "TCP": "tcp", "SHM": "shm"}
_HIGHEST_NODE_ID = 255
_LEADING_NUMBER = re.compile(r"[ \t]*+\+?([0-9]{1,9})")


class NodeImport:
    """One import: what is known so far while the sections are gone through in the order of the file."""

    def __init__(self, config: ConfigFile, version: NdbVersion, name: str) -> None:
        self._config = config
        self._version = version
        self._file = file_name(name)
        self._defaults: dict[str, RawSection] = {}
        self._late: dict[str, tuple[Parameters, Origins]] = {}
        """What a default section says that stands below a section of its kind."""
        self._computers: dict[str, str] = {}
        self._used_ids: dict[int, int] = {}
        self._next_id = 1
        self._hosts: dict[str, dict[str, Any]] = {}
        self._processes: list[Process] = []
        self._links: list[Link] = []
        self._pairs: dict[frozenset[str], int] = {}
        self._system: Parameters = NO_PARAMETERS
        self._system_origins: Origins = NO_ORIGINS
        self._system_line = 0
        self._new_ids = NewIds(EMPTY_PLAN)
        self.lines: dict[str, int] = {}
        """Line of the section of each process, by process id."""

    def plan(self, version_text: str) -> Plan:
        """The plan of the file."""
        for section in self._config.sections:
            if section.is_default:
                self._take_default(section)
        self._say_what_comes_late()
        self._refuse_ids_of_defaults()
        for section in self._config.sections:
            if section.is_default:
                continue
            if section.kind in _NODE_KINDS:
                if len(self._processes) >= _HIGHEST_NODE_ID:
                    self._refuse(
                        section.line,
                        f"more than {_HIGHEST_NODE_ID} nodes; that is the most a cluster has",
                        "take nodes away",
                    )
                    break
                self._take_node(section)
            elif section.kind == "COMPUTER":
                self._take_computer(section)
            elif section.kind == "SYSTEM":
                self._take_system(section)
            elif section.kind in ("TCP", "SHM"):
                self._take_link(section)
            else:
                self._refuse(section.line, "SCI connections are no longer supported", "remove the section")
        self._refuse_unused_local_computers()
        parameters, origins = self._cluster_parameters()
        system_name = self._system.get("Name")
        label = str(system_name) if system_name else PurePath(self._file).stem or "Imported"
        return Plan(
            name=label[:64],
            ndb_version=version_text,
            hosts=tuple(self._host(fields, parameters) for fields in self._hosts.values()),
            processes=tuple(self._processes),
            parameters=parameters,
            origins=origins,
            links=tuple(self._links),
        )

    def _refuse(self, line: int, message: str, fix: str = "") -> None:
        self._config.find(True, line, message, fix)

    def _take_default(self, section: RawSection) -> None:
        earlier = self._defaults.setdefault(section.kind, section)
        if earlier is not section:
            self._refuse(
                section.line,
                f"there is a second [{section.header} default] (the first is on line {earlier.line})",
                "put both together",
            )
            for line in section.lines:
                if earlier.get(line.name) is None:
                    earlier.add(line)

    def _say_what_comes_late(self) -> None:
        """A default section holds for the sections below it: ndb_mgmd takes them one by one.

        Connections that it makes itself come last, so what is said of all of them holds wherever it stands.
        """
        for kind, default in self._defaults.items():
            before = [s for s in self._config.sections if s.kind == kind and s.line < default.line]
            if before:
                self._late[kind] = self._read(default, _OWNED if kind in _NODE_KINDS else ())
                self._config.find(
                    False,
                    default.line,
                    f"[{default.header} default] stands below [{before[0].header}] of line {before[0].line}; "
                    "ndb_mgmd takes it for the sections behind it only",
                    "put it above all of them",
                )

    def _refuse_ids_of_defaults(self) -> None:
        """An id of a default section joins that of a node under its other name (fixDeprecated)."""
        if not features(self._version).deprecated_pairs:
            return
        for kind in (kind for kind in self._defaults if kind in _NODE_KINDS):
            default = self._defaults[kind]
            below = [s for s in self._config.sections if s.kind == kind and self._holds(kind, s)]
            old, new = default.get("Id"), default.get("NodeId")
            if old is not None and any(s.get("Id") is None for s in below):
                self._refuse(old.line, "NodeId and its old name Id both hold for a node", "remove Id")
            elif new is not None and any(s.get("Id") is not None for s in below):
                self._refuse(new.line, "NodeId and its old name Id both hold for a node", "remove NodeId")

    def _holds(self, kind: str, section: RawSection) -> bool:
        """Whether the default section of a kind stands above a section."""
        return kind in self._defaults and self._defaults[kind].line < section.line

    def _take_computer(self, section: RawSection) -> None:
        label, host = section.get("Id"), section.get("HostName")
        values_of(self._config, section, self._version)
        if label is None or host is None:
            missing = "Id" if label is None else "HostName"
            self._refuse(section.line, f"[computer] lacks {missing}", f"add {missing}")
            return
        if label.value in self._computers:
            self._refuse(
                label.line,
                f"computer '{label.value[:40]}' is there twice; ndb_mgmd aborts on it",
                "give it another Id",
            )
            return
        self._computers[label.value] = host.value

    def _refuse_unused_local_computers(self) -> None:
        """A [computer] counts as a host even when no node runs on it."""
        local = {"localhost", "127.0.0.1"} | (
            {"::1"} if features(self._version).ipv6_loopback_is_local else set()
        )
        names = {*self._hosts, *self._computers.values()}
        used = set(self._hosts)
        mixed_by_nodes = bool(used & local and used - local)
        if names & local and names - local and not mixed_by_nodes:
            line = next(s.line for s in self._config.sections if s.kind == "COMPUTER")
            self._refuse(
                line,
                "localhost in one section and another host name elsewhere; ndb_mgmd refuses both together",
                "name the machine as the other machines see it",
            )

    def _take_system(self, section: RawSection) -> None:
        if self._system_line:
            self._refuse(
                section.line,
                f"there is a second [system] (the first is on line {self._system_line}); ndb_mgmd aborts "
                f"on it",
                "keep one of them",
            )
            return
        self._system_line = section.line
        if section.get("Name") is None:
            self._refuse(section.line, "[system] lacks Name", "add Name")
        self._system, self._system_origins = self._read(section)

    def _read(self, section: RawSection, skip: tuple[str, ...] = ()) -> tuple[Parameters, Origins]:
        """The parameters of a section, without those in `skip` (lower case), and their lines."""
        values = values_of(self._config, section, self._version, skip)
        return Parameters(values), origins_of(self._file, section, values)

    def _line(self, section: RawSection, name: str) -> Line | None:
        """A parameter of a node: of its section, or of the default section of its kind."""
        own = section.get(name)
        return own or (self._defaults[section.kind].get(name) if self._holds(section.kind, section) else None)

    def _take_node(self, section: RawSection) -> None:
        node_id = self._node_id(section)
        host_id = self._host_id(section, node_id)
        parameters, origins = self._read(section, _OWNED)
        if section.kind in self._late and self._holds(section.kind, section):
            of_all, lines = self._late[section.kind]
            parameters = Parameters({**of_all, **parameters})
            origins = Origins({**lines, **origins})
        fields: dict[str, Any] = {
            "node_id": node_id,
            "parameters": parameters,
            "origins": origins,
            "host_id": host_id,
        }
        if section.kind == "DB":
            fields["node_group"] = self._node_group(section)
            self._processes.append(DataNode(id=self._new_ids.of_node("data", node_id), **fields))
        elif section.kind == "MGM":
            self._processes.append(ManagementNode(id=self._new_ids.of_node("management", node_id), **fields))
        elif host_id is not None and section.header.lower() == "mysqld":
            self._processes.append(SqlNode(id=self._new_ids.of_node("sql", node_id), **fields))
        else:
            self._processes.append(ApiSlot(id=self._new_ids.of_node("api", node_id), **fields))
        self.lines[self._processes[-1].id] = section.line

    def _node_id(self, section: RawSection) -> int:
        stated, old = section.get("NodeId"), section.get("Id")
        if stated is not None and old is not None:
            self._refuse(old.line, "NodeId and its old name Id are both there", "keep NodeId")
        line = stated or old
        number: int | None = None
        if line is not None:
            try:
                number = parse_integer(line.value, self._version)
            except BadValueError:
                number = None  # values_of reports it
            if number is not None and not 1 <= number <= _HIGHEST_NODE_ID:
                number = None
        highest = catalogue.parameter(section.kind, "NodeId", self._version).maximum or _HIGHEST_NODE_ID
        taken: int | None = None
        if number is None:
            number = self._next_id
            while number in self._used_ids:
                number += 1
            if number > _HIGHEST_NODE_ID:
                self._refuse(
                    section.line,
                    f"the next free node id is {number}; the highest is {_HIGHEST_NODE_ID}",
                    "give the nodes ids",
                )
                number = self._lowest_free_id()
            elif section.kind == "DB" and line is None and number > highest:
                taken, number = number, self._lowest_free_id()
                # ndb_mgmd goes on behind the id that it gave.
                self._used_ids[taken] = section.line
                self._next_id = taken + 1
                self._config.find(
                    features(self._version).data_node_ids_checked,
                    section.line,
                    f"this data node gets node id {taken}, but data nodes have 1 to {highest} and it would "
                    f"not "
                    f"start; the plan gives it {number}",
                    "give it a NodeId",
                )
        elif number in self._used_ids:
            self._refuse(
                line.line if line else section.line,
                f"node id {number} is there twice (first on line {self._used_ids[number]})",
                "give one of them another id",
            )
            number = self._lowest_free_id()
        self._used_ids[number] = section.line
        if taken is None:
            self._next_id = number + 1
        return number

    def _lowest_free_id(self) -> int:
        """An id for a node of the plan; where ndb_mgmd would have given all, one that no node has."""
        ids = range(1, _HIGHEST_NODE_ID + 1)
        free = next((n for n in ids if n not in self._used_ids), None)
        if free is not None:
            return free
        taken = {process.node_id for process in self._processes}
        return next(n for n in ids if n not in taken)

    def _host_id(self, section: RawSection, node_id: int) -> str | None:
        # A computer is looked up before defaults are applied (fixNodeHostname), so only a section names one.
        line, computer = section.get("HostName"), section.get("ExecuteOnComputer")
        if computer is None:
            line = self._line(section, "HostName")
        hostname = line.value if line is not None else None
        if hostname is None and computer is not None:
            hostname = self._computers.get(computer.value)
            if hostname is None:
                self._refuse(
                    computer.line,
                    f"computer '{computer.value[:40]}' is not declared before this line",
                    "add a [computer] section above, or write HostName",
                )
        if not hostname:
            if section.kind == "API":
                return None
            if section.kind == "MGM" or hostname == "":
                hostname, line = self._host_of_management(section, node_id)
            else:
                hostname = "localhost"
        return self._known_host(hostname, line or computer, section)

    def _host_of_management(self, section: RawSection, node_id: int) -> tuple[str, Line | None]:
        """The host of a node without HostName, which servers before 8.0 take where a connection names it."""
        by_pair = features(self._version).connected_by_pair
        link, line = (None, None) if by_pair else named_by_link(self._config.sections, node_id)
        if line is None:
            only = f"; the server needs none, as line {link.line} names it, but a plan does" if link else ""
            what = f"node {node_id} needs a HostName, because other nodes connect to it"
            self._refuse(section.line, what, f"add HostName to the section of node {node_id}{only}")
        return (line.value if line else f"host-of-node-{node_id}"), line

    def _known_host(self, hostname: str, line: Line | None, section: RawSection) -> str:
        fields = self._hosts.get(hostname)
        if fields is None:
            fields = {"id": self._new_ids.of(Host), "hostname": hostname, "memory_bytes": GIB}
            try:
                Host(**fields)
            except ValueError:
                fields["hostname"] = f"unreadable-{len(self._hosts) + 1}"
            self._hosts[hostname] = fields
        if fields["hostname"] != hostname:
            refused = self._must_resolve(section.kind)
            self._config.find(
                refused,
                line.line if line else section.line,
                f"'{hostname[:60]}' is not a host name or address; the plan calls it {fields['hostname']}",
                "write a DNS name or an IP address without port",
            )
        return str(fields["id"])

    def _must_resolve(self, kind: str) -> bool:
        """Whether ndb_mgmd refuses a node of a kind whose host name nothing resolves."""
        if kind == "API":
            return features(self._version).sql_hosts_resolved
        name = "AllowUnresolvedHostnames"
        default = self._defaults.get("TCP")
        stated = default.get(name) if default else None
        return (
            kind == "MGM"
            or stated is None
            or values_of(ConfigFile([], []), RawSection("TCP", True, 0, "tcp", [stated]), self._version).get(
                name
            )
            != 1
        )

    def _node_group(self, section: RawSection) -> int | None:
        line = self._line(section, "NodeGroup")
        if line is None:
            return None
        try:
            number = parse_integer(line.value, self._version)
        except BadValueError:
            return None  # values_of reports it
        return number if 0 <= number <= 65536 else None

    def _take_link(self, section: RawSection) -> None:
        ends: list[str] = []
        numbers: list[int] = []
        by_id = {process.node_id: process for process in self._processes}
        for name in ("NodeId1", "NodeId2"):
            line = section.get(name)
            if line is None:
                self._refuse(section.line, f"[{section.header}] lacks {name}", f"add {name}")
                return
            # `system.number`; strtol takes what follows the digits for nothing (fixNodeId).
            first, dot, second = line.value.partition(".")
            digits = _LEADING_NUMBER.match(second if dot else first)
            number = (whole_number(digits[1]) or 0) if digits else 0
            if number not in by_id:
                self._refuse(
                    line.line,
                    f"node '{line.value[:40]}' of this connection is not declared before this line",
                    "put the section below the nodes it joins",
                )
                return
            numbers.append(number)
            ends.append(by_id[number].id)
        if ends[0] == ends[1]:
            self._refuse(section.line, f"node {numbers[0]} cannot be joined with itself", "name two nodes")
            return
        pair = frozenset(ends)
        if pair in self._pairs:
            refused = features(self._version).second_link_refused
            self._config.find(
                refused,
                section.line,
                f"nodes {numbers[0]} and {numbers[1]} are joined already (line {self._pairs[pair]})",
                "keep one of the sections",
            )
            if refused:
                return
        # Servers that take a second section check it as the first.
        self._pairs.setdefault(pair, section.line)
        parameters, origins = self._read(section, ("nodeid1", "nodeid2"))
        if section.kind in self._late and not self._holds(section.kind, section):
            usual = {
                n: catalogue.default(section.kind, n, self._version) for n in self._late[section.kind][0]
            }
            stated = {name: value for name, value in usual.items() if value is not None}
            parameters = Parameters({**stated, **parameters})
        self._links.append(
            Link(
                kind="tcp" if section.kind == "TCP" else "shm",
                process_id_1=ends[0],
                process_id_2=ends[1],
                parameters=parameters,
                origins=origins,
            )
        )

    def _cluster_parameters(self) -> tuple[ClusterParameters, ClusterOrigins]:
        scopes: dict[str, Parameters] = {"system": self._system}
        origins: dict[str, Origins] = {"system": self._system_origins}
        for kind, section in self._defaults.items():
            if kind in _NODE_KINDS and kind in self._late:
                continue
            late = self._late.get(kind)
            values, lines = late or self._read(section, _OWNED if kind in _NODE_KINDS else ())
            if kind in _SCOPES:
                scopes[_SCOPES[kind]], origins[_SCOPES[kind]] = values, lines
        self._hoist_replicas(scopes, origins)
        return ClusterParameters(**scopes), ClusterOrigins(**origins)

    def _hoist_replicas(self, scopes: dict[str, Parameters], origins: dict[str, Origins]) -> None:
        """NoOfReplicas counts for the whole cluster: what every data node says is said of all of them."""
        name = "NoOfReplicas"
        data = scopes.get("data_node", NO_PARAMETERS)
        nodes = [process for process in self._processes if process.kind == "data"]
        stated = {process.parameters.get(name) for process in nodes}
        if name in data or len(stated) != 1 or None in stated:
            return
        scopes["data_node"] = data.with_(name, nodes[0].parameters[name])
        known = origins.get("data_node", NO_ORIGINS)
        origins["data_node"] = known.with_(name, nodes[0].origins[name])

    def _host(self, fields: dict[str, Any], parameters: ClusterParameters) -> Host:
        nodes = [p for p in self._processes if p.kind == "data" and p.host_id == fields["id"]]
        return host_for(fields, nodes, parameters, self._version, lambda: self._new_ids.of(Disk))
