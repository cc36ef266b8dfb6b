"""What config.ini says: sections and entries as values, and why each that is no default is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quoting import ascii_text
from ndbplan.configuration.directories import (
    DataNodePaths,
    data_node_paths,
    derived_path_parameters,
    folders_in_statements,
)
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.configuration.stated import SCOPES, SECTIONS, Fate, Reading, readings, with_twins
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.threads.layout import is_automatic, thread_counts
from ndbplan.ndb.threads.written import CLASSIC_THREADS, written_threads
from ndbplan.ndb.values import BadValueError, format_value, parse_cpu_list, parse_value
from ndbplan.plan.fields import Parameters
from ndbplan.plan.origins import NO_ORIGINS, Origins
from ndbplan.plan.places import domain_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import (
    ApiSlot,
    DataNode,
    ManagementNode,
    SqlNode,
    process_node_ids,
)

AnyProcess = ManagementNode | DataNode | SqlNode | ApiSlot

PATH_PARAMETERS = (
    "DataDir",
    "FileSystemPath",
    "FileSystemPathDD",
    "FileSystemPathDataFiles",
    "FileSystemPathUndoFiles",
    "BackupDataDir",
)


@dataclass(frozen=True)
class Entry:
    """One line `name=value` of a section, with what is said above it."""

    name: str
    value: str
    comment: str = ""
    origin: str = ""
    """Who set it, where it was not a person; a line of its own."""


@dataclass(frozen=True)
class Section:
    """One section of config.ini."""

    header: str
    entries: tuple[Entry, ...]
    comment: str = ""
    left_out: tuple[Entry, ...] = field(default=())
    """Parameters of the plan that the version refuses; written as comments."""


def sections(plan: Plan) -> tuple[Section, ...]:
    """All sections in the order in which they are written."""
    written: list[Section] = []
    if plan.parameters.system:
        written.append(_system(plan))
    if plan.parameters.management:
        comment = "What all management nodes have in common."
        written.append(_default(plan, "ndb_mgmd default", "management", comment))
    written.append(_data_node_default(plan))
    if plan.parameters.sql:
        comment = "What all SQL nodes and API slots have in common."
        written.append(_default(plan, "mysqld default", "sql", comment))
    if plan.parameters.tcp:
        comment = "What all TCP connections have in common."
        written.append(_default(plan, "tcp default", "tcp", comment))
    if plan.parameters.shm:
        comment = "What all shared memory connections have in common."
        written.append(_default(plan, "shm default", "shm", comment))
    processes: tuple[AnyProcess, ...] = (
        *plan.management_nodes,
        *plan.data_nodes,
        *plan.sql_nodes,
        *plan.api_slots,
    )
    for process in processes:
        written += _process_sections(plan, process)
    for link in plan.links:
        ends = tuple(
            Entry(f"NodeId{i}", str(plan.by_id[end].node_id))
            for i, end in enumerate((link.process_id_1, link.process_id_2), 1)
        )
        section = link.kind.upper()
        written.append(_section(plan, link.kind, section, link.parameters, "", ends, origins=link.origins))
    return tuple(written)


def _system(plan: Plan) -> Section:
    """[system] is refused without a Name; the plan's own name stands in for it."""
    first: tuple[Entry, ...] = ()
    named = (r for r in readings("SYSTEM", plan.parameters.system, plan.ndb_version) if r.name == "Name")
    if not any(reading.fate is Fate.COUNTS for reading in named):
        first = (Entry("Name", re.sub(r"[^A-Za-z0-9_-]+", "_", ascii_text(plan.name))),)
    return _default(plan, "system", "system", "The cluster as a whole.", first)


def _default(
    plan: Plan,
    header: str,
    scope: str,
    comment: str,
    first: Iterable[Entry] = (),
    lost: Iterable[Entry] = (),
) -> Section:
    """A section of what all nodes or connections of a kind have in common."""
    return _section(
        plan,
        header,
        SCOPES[scope],
        getattr(plan.parameters, scope),
        comment,
        first,
        assumed=plan.assumed if scope == "data_node" else (),
        origins=getattr(plan.origins, scope),
        lost=lost,
    )


def _section(
    plan: Plan,
    header: str,
    section: str,
    parameters: Parameters,
    comment: str,
    first: Iterable[Entry] = (),
    assumed: Iterable[str] = (),
    origins: Origins = NO_ORIGINS,
    lost: Iterable[Entry] = (),
) -> Section:
    said = {name.lower(): origin.words for name, origin in origins.items()}
    entries = [replace(entry, origin=said.get(entry.name.lower(), "")) for entry in first]
    left_out: list[Entry] = list(lost)
    there = {entry.name.lower() for entry in entries}
    for reading in readings(section, parameters, plan.ndb_version) if parameters else ():
        if reading.fate in (Fate.OF_PLAN, Fate.DOUBLED) or reading.name.lower() in there:
            continue
        there.add(reading.name.lower())
        entry = _entry(plan, section, reading, reading.written in assumed)
        entry = replace(entry, origin=said.get(reading.written.lower(), ""))
        (entries if reading.fate in _WRITTEN else left_out).append(entry)
    return Section(header, tuple(entries), comment, tuple(left_out))


_WRITTEN = (Fate.COUNTS, Fate.REFUSED)


def _not_known(plan: Plan, section: str, name: str) -> str:
    verb = "may not" if catalogue.may_know(section, name, plan.version) else "does not"
    return f"NDB {plan.ndb_version} {verb} know this parameter"


def _entry(plan: Plan, section: str, reading: Reading, assumed: bool) -> Entry:
    """A parameter as a line, with why it is left out when it is."""
    parameter = reading.parameter
    if parameter is None:
        return Entry(reading.written, str(reading.raw), _not_known(plan, section, reading.written))
    text = format_value(parameter, reading.value)
    if reading.fate is Fate.INTERNAL:
        return Entry(parameter.name, text, "not configurable in this version")
    if reading.fate is Fate.UNWRITABLE:
        return Entry(parameter.name, text[:100], reading.reason)
    shown = (
        f"default {format_value(parameter, parameter.default)}"
        if parameter.default not in (None, "")
        else "no default"
    )
    if parameter.default == reading.value:
        shown = "as the default"
    remark = f"{parameter.description} ({shown}{', assumed' if assumed else ''})"
    if parameter.status == "deprecated":
        remark += " - deprecated in this version"
    return Entry(parameter.name, text, remark)


def _data_node_default(plan: Plan) -> Section:
    given = plan.parameters.data_node
    refused = [
        str(reading.raw)
        for reading in readings("DB", given, plan.ndb_version)
        if reading.name == "NoOfReplicas" and reading.fate is Fate.REFUSED
    ]
    # What ndb_mgmd refuses is written as it stands, for it to say so.
    number = refused[0] if refused else str(no_of_replicas(plan))
    replicas = Entry("NoOfReplicas", number, "Copies of every row; members of a node group")
    shared, lost = _path_entries(plan, _shared_paths(plan))
    comment = "What all data nodes have in common."
    return _default(plan, "ndbd default", "data_node", comment, (replicas, *shared), lost)


_PATH_COMMENTS: dict[str, str] = {
    "DataDir": "Logs, traces and the pid file",
    "FileSystemPath": "Redo log, local checkpoints and metadata (disk roles REDO and LCP)",
    "FileSystemPathDD": "Data files and undo log of disk columns (disk roles DATA FILES and UNDO)",
    "FileSystemPathDataFiles": "Data files of tablespaces (disk role DATA FILES)",
    "FileSystemPathUndoFiles": "Undo log of disk columns (disk role UNDO)",
    "BackupDataDir": "Backups (disk role BACKUP)",
}


@kept_by_identity(4)
def _shared_paths(plan: Plan) -> dict[str, str]:
    """Path parameters that disk roles mean alike for every data node."""
    derived = [derived_path_parameters(plan, node) for node in plan.data_nodes]
    if not derived:
        return {}
    return {n: v for n, v in derived[0].items() if all(paths.get(n) == v for paths in derived)}


def _own_paths(plan: Plan, node: DataNode) -> dict[str, str]:
    common = _shared_paths(plan)
    return {n: v for n, v in derived_path_parameters(plan, node).items() if common.get(n) != v}


def _path_entries(plan: Plan, paths: Mapping[str, str]) -> tuple[list[Entry], list[Entry]]:
    """The lines of paths, and of those that the version is not known to have."""
    entries, lost = list[Entry](), list[Entry]()
    for name in PATH_PARAMETERS:
        if name in paths and catalogue.knows("DB", name, plan.version):
            entries.append(Entry(name, paths[name], _PATH_COMMENTS[name]))
        elif name in paths:
            said = paths[name] in folders_in_statements(plan).values()
            tail = "; the statements about disk data name the folder" if said else ""
            lost.append(Entry(name, paths[name], _not_known(plan, "DB", name) + tail))
    return entries, lost


def paths_left_out(plan: Plan) -> dict[tuple[str, str], tuple[DataNode, ...]]:
    """Path parameters that disk roles mean and nothing else says for the version: name and path, by nodes."""
    lost: dict[tuple[str, str], list[DataNode]] = {}
    knows_all = all(catalogue.knows("DB", name, plan.version) for name in PATH_PARAMETERS)
    if knows_all or folders_in_statements(plan):
        return {}
    for node in plan.data_nodes:
        for entry in _path_entries(plan, derived_path_parameters(plan, node))[1]:
            lost.setdefault((entry.name, entry.value), []).append(node)
    return {what: tuple(nodes) for what, nodes in lost.items()}


def _process_sections(plan: Plan, process: AnyProcess) -> Iterable[Section]:
    headers: dict[str, str] = {"management": "ndb_mgmd", "data": "ndbd", "sql": "mysqld", "api": "api"}
    host = plan.host(process.host_id) if process.host_id is not None else None
    parameters = process.parameters
    section = SECTIONS[process.kind]
    location = domain_of(plan.locations, host.location_id) if host is not None else None
    for node_id in process_node_ids(process):
        first = [Entry("NodeId", str(node_id))]
        if host is not None:
            first.append(Entry("HostName", host.hostname))
        comment, lost = "", list[Entry]()
        if isinstance(process, DataNode):
            if process.node_group is not None and catalogue.knows("DB", "Nodegroup", plan.version):
                kept = "reserved for a later CREATE NODEGROUP" if process.node_group == 65536 else ""
                first.append(Entry("Nodegroup", str(process.node_group), kept))
            own, lost = _path_entries(plan, _own_paths(plan, process))
            first += own
            comment = _link_comment(data_node_paths(plan, process), process)
        elif isinstance(process, ManagementNode):
            comment = (
                "" if "DataDir" in {**plan.parameters.management, **parameters} else _MANAGEMENT_DIRECTORY
            )
        elif node_id != process.node_id:
            comment = f"Connection pool of the mysqld with node id {process.node_id}."
        if (
            location is not None
            and "locationdomainid" not in {name.lower() for name in parameters}
            and catalogue.knows(section, "LocationDomainId", plan.version)
        ):
            remark = f"Location {ascii_text(location.name)}; does not decide about node groups"
            first.append(Entry("LocationDomainId", str(location.location_domain_id), remark))
        yield _section(
            plan,
            headers[process.kind],
            section,
            parameters,
            comment,
            first,
            assumed=process.assumed,
            origins=process.origins,
            lost=lost,
        )


_MANAGEMENT_DIRECTORY = "Without DataDir the cluster log goes to the working directory of ndb_mgmd."


def _link_comment(paths: DataNodePaths, node: DataNode) -> str:
    """What config.ini cannot say: NDB has one FileSystemPath for redo log and local checkpoints."""
    folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
    if paths.lcp is not None:
        return (
            "REDO and LCP are planned on different disks, but NDB has one FileSystemPath for both: make "
            f"{folder}/LCP a link to {paths.lcp} before the first start (runbook, step directories)."
        )
    if paths.redo is not None:
        first, last = (name.split("/")[0] for name in (paths.redo_folders[0], paths.redo_folders[-1]))
        return (
            "REDO is planned on a disk of its own, but NDB has one FileSystemPath for LCP and REDO: after "
            f"the first start move {folder}/{first}/DBLQH ... {last}/DBLQH to {paths.redo} and link them "
            "(runbook, step redo-folders), and again after every start with --initial."
        )
    return ""


_KINDS = {"ndb_mgmd": "MGM", "ndbd": "DB", "mysqld": "API", "api": "API"}


@dataclass(frozen=True)
class NodeConfiguration:
    """What config.ini says about one node."""

    node_id: int
    section: str
    """MGM, DB or API."""
    stated: dict[str, int | str]
    """Parameters that the file states for it, by name; the id is left out."""

    def value(self, name: str, plan: Plan) -> int | str | None:
        """Effective value, the version's default included."""
        stated: dict[str, int | str] = with_twins(self.section, dict(self.stated), plan.version)
        if name == "ThreadConfig" and name not in stated:
            return _written_threads(plan, stated)
        return stated[name] if name in stated else catalogue.default(self.section, name, plan.version)


def _written_threads(plan: Plan, stated: Mapping[str, int | str]) -> str | None:
    """ThreadConfig that ndb_mgmd writes out where a number decides on the threads (checkThreadConfig).

    None where none does.
    """
    known = plan.features
    classic = stated.get("__ndbmt_classic") == 1
    counted = classic or any(stated.get(name) for name in ("MaxNoOfExecutionThreads", "__ndbmt_lqh_threads"))
    if not (counted and known.multithreaded_node and known.thread_config):
        return None
    if is_automatic(plan.version, stated):
        return None
    counts = CLASSIC_THREADS if classic else thread_counts(plan.version, stated, 1)
    try:
        cpus = parse_cpu_list(str(stated.get("LockExecuteThreadToCPU") or ""), plan.version)
    except BadValueError:
        cpus = ()
    spin = stated.get("SchedulerSpinTimer", 0)
    is_realtime = stated.get("RealtimeScheduler") == 1
    return written_threads(counts, cpus, spin if isinstance(spin, int) else 0, realtime=is_realtime)


def effective_configuration(plan: Plan) -> dict[int, NodeConfiguration]:
    """The configuration of every node by node id, as the exported config.ini states it."""
    defaults: dict[str, dict[str, int | str]] = {}
    found: dict[int, NodeConfiguration] = {}
    for section in sections(plan):
        word, _, default = section.header.partition(" ")
        if default:
            defaults[_KINDS.get(word, word.upper())] = _values(plan, _KINDS.get(word, word.upper()), section)
        elif word in _KINDS:
            kind = _KINDS[word]
            values = {**defaults.get(kind, {}), **_values(plan, kind, section)}
            node_id = int(values.pop("NodeId"))
            found[node_id] = NodeConfiguration(node_id, kind, values)
    return found


def connection_defaults(plan: Plan) -> dict[str, dict[str, int | str]]:
    """What config.ini says about all connections of a kind, by section of the catalogue: TCP and SHM."""
    headers = {"tcp default": "TCP", "shm default": "SHM"}
    stated = {headers[s.header]: s for s in sections(plan) if s.header in headers}
    return {kind: _values(plan, kind, stated[kind]) if kind in stated else {} for kind in headers.values()}


def link_configuration(plan: Plan) -> dict[tuple[int, int], dict[str, int | str]]:
    """Settings of the connections that have a section of their own, by node ids in ascending order."""
    found: dict[tuple[int, int], dict[str, int | str]] = {}
    for section in sections(plan):
        if section.header in ("tcp", "shm"):
            values = _values(plan, section.header.upper(), section)
            ends = sorted((int(values.pop("NodeId1")), int(values.pop("NodeId2"))))
            found.setdefault((ends[0], ends[1]), {"section": section.header, **values})
    return found


def _values(plan: Plan, kind: str, section: Section) -> dict[str, int | str]:
    values: dict[str, int | str] = {}
    for entry in section.entries:
        parameter = catalogue.parameter(kind, entry.name, plan.version)
        try:
            values[parameter.name] = parse_value(parameter, entry.value, plan.version)
        except BadValueError:
            values[parameter.name] = entry.value
    return values
