"""Answers of the management client: ALL STATUS and REPORT MEMORYUSAGE, held against a plan or made into one.

    answers = read_answers(text)
    plan, changes, notes = apply_answers(plan, answers)

The forms are those of 7.0 to 8.4 consoles; lines of the cluster log on memory usage are the same words.

Up to 7.5 a node reports DataMemory in pages of 32 KiB and IndexMemory in pages of 8 KiB, of which each LDM
thread adds 32 to what is configured. From 7.6 on both lines share the pages of DataMemory: the total of each
is what the other leaves (consoles of 7.4.10 and 8.4.8: data total and index pages used add up to DataMemory).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ndbplan.base.units import KIB, MIB, format_bytes_binary
from ndbplan.configuration.settings import INDEX_MEMORY_OF_LDM_BYTES
from ndbplan.edits import parts as edits
from ndbplan.edits.names import next_hostname
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.stored import threads_of
from ndbplan.ndb.version import BadVersionError, NdbVersion
from ndbplan.plan.origins import SetByImport, file_name
from ndbplan.plan.plan import Plan

# `61 STATUS` of a client says "connected (Version 8.4.8)"; data nodes start, stop, or are not connected.
_STATE = re.compile(
    r"^Node ([0-9]{1,3}): (not connected|(?:not )?started|starting|shutting down|restarting|single user mode|"
    r"resuming|unknown)\b([^\n]*)$",
    re.M | re.I,
)
_VERSION = re.compile(r"\bndb-([0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})(?![0-9])")
_USAGE = re.compile(
    r"\bNode ([0-9]{1,3}): (Data|Index) usage (?:is|increased to|decreased to) [0-9]{1,3} ?%\s*"
    r"\(([0-9]{1,12}) ([0-9]{1,3})K pages of total ([0-9]{1,12})\)",
    re.I,
)
_LAST_WITH_INDEX_PAGES = "7.5"
"""The newest series whose nodes report index memory in pages of 8 KiB."""
_NOTABLE = 0.10
"""Memory in use further off the plan's own sum than this share is told."""


@dataclass(frozen=True)
class Answers:
    """What the management client said, by node id; the last word on each node counts."""

    states: dict[int, str]
    versions: frozenset[str]
    """Releases that connected nodes named, such as `8.4.8`."""
    used_bytes: dict[int, int]
    data_memory_bytes: dict[int, int]
    index_memory_bytes: dict[int, int]
    """As reported, up to 7.5; later versions keep hash indexes in DataMemory."""
    memory_line: int
    """Of the text: where the last of these sizes stands."""


def read_answers(text: str) -> Answers | None:
    """ALL STATUS and REPORT MEMORYUSAGE in a text, whatever else stands around; None: neither is in it."""
    states: dict[int, str] = {}
    versions: set[str] = set()
    data: dict[int, tuple[int, int]] = {}
    shared: dict[int, int] = {}
    index: dict[int, int] = {}
    line = 1
    for match in _STATE.finditer(text):
        states[int(match[1])] = match[2].lower()
        if version := _VERSION.search(match[3]):
            versions.add(version[1])
    for match in _USAGE.finditer(text):
        node_id, page = int(match[1]), int(match[4]) * KIB
        line = text.count("\n", 0, match.start()) + 1
        if match[2].lower() == "data":
            data[node_id] = int(match[3]) * page, int(match[5]) * page
        elif page != 32 * KIB:
            index[node_id] = int(match[5]) * page
        else:
            shared[node_id] = int(match[3]) * page
    if not states and not data:
        return None
    used = {node_id: own + shared.get(node_id, 0) for node_id, (own, _) in data.items()}
    total = {node_id: size + shared.get(node_id, 0) for node_id, (_, size) in data.items()}
    return Answers(states, frozenset(versions), used, total, index, line)


def apply_answers(plan: Plan, answers: Answers, file: str) -> tuple[Plan, tuple[str, ...], tuple[str, ...]]:
    """The plan with what the answers in a file say of it, what changed, and where plan and cluster differ.

    A plan without data nodes gets those of the answers, each on a host of its own with assumed hardware.
    """
    changes: list[str] = []
    notes: list[str] = []
    origin = SetByImport(file=file_name(file), line=answers.memory_line)
    told = sorted({*answers.states, *answers.data_memory_bytes})
    is_new = not plan.data_nodes
    if is_new:
        plan = _with_nodes(plan, told, answers)
        listed = ", ".join(map(str, told))
        changes.append(f"data nodes {listed}, NDB {plan.ndb_version}")
        notes.append("the answers name no hosts: each data node has one of its own, with assumed hardware")
    else:
        notes += _other_nodes(plan, told)
        notes += _other_version(plan, answers)
    away = [f"{n} ({answers.states[n]})" for n in sorted(answers.states) if answers.states[n] != "started"]
    if away:
        notes.append(f"not started when asked: data node {', '.join(away)}")
    for name, sizes in (
        ("DataMemory", answers.data_memory_bytes),
        ("IndexMemory", _configured_index_memory(plan, answers.index_memory_bytes)),
    ):
        if sizes:
            plan, said, noted = _memory_parameter(plan, name, sizes, origin)
            changes += said
            notes += noted
    notes += _other_use(plan, answers.used_bytes)
    return plan, tuple(changes), tuple(notes)


def _with_nodes(plan: Plan, node_ids: list[int], answers: Answers) -> Plan:
    """The plan with these data nodes, each on a new host, as the reader of config.ini makes it."""
    from ndbplan.importing.config.plan import import_config

    names = [_free_name(plan, f"ndb-{node_id}") for node_id in node_ids]
    sections = "".join(
        f"[ndbd]\nNodeId={n}\nHostName={name}\n" for n, name in zip(node_ids, names, strict=True)
    )
    version = max(answers.versions, key=_ordered, default=None)
    if version is None and answers.index_memory_bytes:
        version = _LAST_WITH_INDEX_PAGES
    if version is not None:
        plan = edits.set_plan(plan, ndb_version=version)
    manager = f"[ndb_mgmd]\nHostName={_free_name(plan, 'ndb-mgm')}\n"
    made, _ = import_config({"status": f"{manager}{sections}".encode()}, plan.ndb_version)
    managers = () if plan.management_nodes else made.management_nodes
    on = {node.host_id for node in managers} | {node.host_id for node in made.data_nodes}
    return edits.add(plan, *(host for host in made.hosts if host.id in on), *managers, *made.data_nodes)


def _free_name(plan: Plan, wish: str) -> str:
    """A host name that is not a name and no id of the plan yet."""
    taken = {*plan.by_id, *(host.hostname for host in plan.hosts)}
    return wish if wish not in taken else next_hostname(f"{wish}-1", taken)


def _configured_index_memory(plan: Plan, reported: dict[int, int]) -> dict[int, int]:
    """IndexMemory as config.ini states it, without what the LDM threads add to it.

    How many these are says the plan when that comes out whole, else what is beyond whole MiB.
    """
    if not reported:
        return {}
    threads = {node.node_id: threads_of(plan, node).ldm_instances for node in plan.data_nodes}
    by_node = {}
    for node_id, size in reported.items():
        more = INDEX_MEMORY_OF_LDM_BYTES * threads.get(node_id, 0)
        beyond = size % MIB
        if more and (size - more) % MIB == 0:
            size -= more
        elif beyond % INDEX_MEMORY_OF_LDM_BYTES == 0:
            size -= beyond
        by_node[node_id] = size
    return by_node


def _ordered(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _other_nodes(plan: Plan, told: list[int]) -> list[str]:
    known = {node.node_id for node in plan.data_nodes}
    # STATUS answers for data nodes only.
    more, fewer = sorted(set(told) - known), sorted(known - set(told))
    notes = []
    if more:
        notes.append(f"data node {', '.join(map(str, more))} of the answers is not in the plan")
    if fewer:
        notes.append(f"data node {', '.join(map(str, fewer))} of the plan is not in the answers")
    return notes


def _other_version(plan: Plan, answers: Answers) -> list[str]:
    notes = []
    for text in sorted(answers.versions, key=_ordered):
        try:
            version = NdbVersion.parse(text)
        except BadVersionError:
            notes.append(f"the nodes run {text}, which this program does not know")
            continue
        if version.series != plan.version.series:
            notes.append(f"the nodes run {text}, the plan is for NDB {plan.ndb_version}")
    return notes


def _memory_parameter(
    plan: Plan, name: str, sizes: dict[int, int], origin: SetByImport
) -> tuple[Plan, list[str], list[str]]:
    different = sorted(set(sizes.values()))
    if len(different) > 1:
        shown = ", ".join(map(format_bytes_binary, different))
        return plan, [], [f"{name} differs between the nodes ({shown}): left as it is in the plan"]
    stated = {node.node_id: node.parameters.get(name) for node in plan.data_nodes}
    before = plan.parameters.data_node.get(name)
    if before is None and not any(stated.values()):
        plan = set_parameter(plan, "data_node", name, different[0], origin)
        return plan, [f"{name}: {format_bytes_binary(different[0])}"], []
    other = [n for n, size in sizes.items() if (stated.get(n) or before) != size]
    if other:
        return (
            plan,
            [],
            [
                f"the nodes have {name} {format_bytes_binary(different[0])}, the plan states another value "
                f"for data node {', '.join(map(str, sorted(other)))}"
            ],
        )
    return plan, [], []


def _other_use(plan: Plan, used: dict[int, int]) -> list[str]:
    """Nodes whose memory in use is not what the plan's tables come to."""
    from ndbplan.estimate.stored import memory

    if not plan.tables or not used:
        return []
    by_id = {node.node_id: node.data_memory_bytes for node in memory(plan).nodes}
    notes = []
    for node_id, size in sorted(used.items()):
        if node_id not in by_id:
            continue
        own = by_id[node_id].value
        if abs(size - own) > _NOTABLE * max(size, own):
            notes.append(
                f"data node {node_id} uses {format_bytes_binary(size)} of DataMemory, the plan's tables come "
                f"to {format_bytes_binary(own)}"
            )
    return notes
