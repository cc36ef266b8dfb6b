"""Changes of configuration parameters and threads: one sensible step up and down, of all nodes and of one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial

from ndbplan.advise.candidate import Change
from ndbplan.base.units import MIB, format_ndb_size, how_many
from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.stated import SCOPES
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.solutions import set_everywhere
from ndbplan.edits.steps import next_down, next_up
from ndbplan.estimate.stored import computed_values_of, threads_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.modelled import moves
from ndbplan.ndb.parameters import Parameter
from ndbplan.ndb.threads.layout import (
    ThreadConfigError,
    ThreadCounts,
    is_automatic,
    parse_thread_config,
    thread_types,
)
from ndbplan.plan.fields import MAX_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

_FROM_NO_BYTES = MIB
"""Nobody asks for one byte of a memory or a buffer."""
_NOT_STEPPED = frozenset({"NoOfReplicas", "NodeGroup", "NodeId", "Id", "ServerPort", "PortNumber"})
"""Stepped otherwise, or names of something."""
_OF_LOG_AND_CHECKPOINTS = frozenset({
    "CompressedLCP", "DiskCheckpointSpeed", "EnablePartialLcp", "EnableRedoControl", "FragmentLogFileSize",
    "InsertRecoveryWork", "MaxDiskWriteSpeed", "MaxDiskWriteSpeedOwnRestart", "MinDiskWriteSpeed",
    "NoOfFragmentLogFiles", "RecoveryWork",
})  # fmt: skip
"""Those whose step takes none of a node's memory or threads and promises clients nothing less."""
_KINDS = ("ldm", "tc", "recv", "send", "query", "recover", "main", "rep")
"""Threads of which there may be more or fewer."""
_THERE_UNLESS_SAID = ("main", "rep", "ldm")
"""Kinds of which a ThreadConfig that does not name them has one."""


def of_parameters(plan: Plan, nodes: Sequence[DataNode]) -> Iterator[Change]:
    """Steps of every parameter of a kind of nodes; `nodes`: which stand for the data nodes like them."""
    for scope, section in SCOPES.items():
        if scope == "shm" and not any(link.kind == "shm" for link in plan.links):
            continue
        for parameter in _stepped(plan, section):
            yield from _of_parameter(plan, scope, section, parameter, nodes)


def of_log_and_checkpoints(plan: Plan, stated: Collection[str]) -> Iterator[Change]:
    """Steps, for all data nodes, of parameters of the redo log and of checkpoints, except those `stated`."""
    for parameter in _stepped(plan, "DB"):
        if is_of_log_or_checkpoints(parameter.name) and parameter.name not in stated:
            yield from _of_parameter(plan, "data_node", "DB", parameter, ())


def steps_of(plan: Plan, scope: str, name: str, node: DataNode | None = None) -> dict[str, Change]:
    """What is tried of one parameter, `up` and `down`: of all nodes of a kind, or of one data node.

    `scope`: a field of `plan.parameters`. Nothing where it is no number that goes up and down.
    """
    section = SCOPES[scope]
    parameter = next((one for one in _stepped(plan, section) if one.name == name), None)
    if parameter is None or not parameter.is_number or parameter.allowed_values:
        return {}
    now = _value_of(plan, scope, parameter) if node is None else _value_on(plan, node, name)
    changes = (
        _of_parameter(plan, scope, section, parameter, ()) if node is None else _on(plan, node, parameter)
    )
    tried = zip(_steps(parameter, now), changes, strict=True)
    return {"up" if float(value) > float(now or 0) else "down": change for value, change in tried}


def is_of_log_or_checkpoints(name: str) -> bool:
    """Whether a parameter of data nodes says how the redo log and checkpoints are written, no more."""
    return name in _OF_LOG_AND_CHECKPOINTS


def _stepped(plan: Plan, section: str) -> Iterator[Parameter]:
    for parameter in catalogue.parameters(section, plan.version):
        if parameter.name not in _NOT_STEPPED and parameter.status != "internal":
            yield parameter


def _of_parameter(
    plan: Plan, scope: str, section: str, parameter: Parameter, nodes: Sequence[DataNode]
) -> Iterator[Change]:
    name, is_carried = parameter.name, not moves(section, parameter.name)
    for value in _steps(parameter, _value_of(plan, scope, parameter)):
        edit = partial(_set, scope=scope, name=name, value=value)
        yield Change(f"{name} {_shown(parameter, value)}", edit, "parameter", is_carried)
    if scope != "data_node" or is_carried or len(plan.data_nodes) < 2:
        return
    for node in nodes:
        yield from _on(plan, node, parameter)


def _on(plan: Plan, node: DataNode, parameter: Parameter) -> Iterator[Change]:
    name = parameter.name
    for value in _steps(parameter, _value_on(plan, node, name)):
        title = f"{name} {_shown(parameter, value)} on data node {node.node_id} alone"
        yield Change(title, partial(set_parameter, scope=node.id, name=name, value=value), "parameter")


def _set(plan: Plan, scope: str, name: str, value: int | str) -> Plan:
    if scope == "data_node" and isinstance(value, int):
        return set_everywhere(plan, name, value)
    return set_parameter(plan, scope, name, value)


def _value_of(plan: Plan, scope: str, parameter: Parameter) -> int | str | None:
    if scope == "data_node":
        nodes = plan.data_nodes
        return (
            _value_on(plan, nodes[0], parameter.name) if nodes else node_settings(plan).value(parameter.name)
        )
    stated = getattr(plan.parameters, scope).get(parameter.name)
    return parameter.default if stated is None else stated


def _value_on(plan: Plan, node: DataNode, name: str) -> int | str | None:
    """The value on a data node, also where it works it out from others, or finds it on its host."""
    value = node_settings(plan, node).value(name)
    if name == "NumCPUs" and not value:
        return plan.host(node.host_id).cores
    with suppress(ThreadConfigError):
        return computed_values_of(plan, node).get(name, value)
    return value


def _steps(parameter: Parameter, now: int | str | None) -> Iterator[int | str]:
    """One sensible step up and one down; the other choices of what is chosen."""
    if parameter.allowed_values:
        yield from (one for one in parameter.allowed_values if one != now)
    elif parameter.name == "AutomaticThreadConfig" and now:
        # Without a ThreadConfig that leaves a node one LDM thread: `of_threads` states the threads.
        return
    elif parameter.type == "bool":
        yield 0 if now else 1
    elif parameter.is_number and isinstance(now, int):
        least, most = parameter.minimum or 0, MAX_BYTES if parameter.maximum is None else parameter.maximum
        steps = (next_up(now), next_down(now))
        for value in (_FROM_NO_BYTES,) if now == 0 and _is_size(parameter) else steps:
            if isinstance(value, int) and least <= value <= most and value != now:
                yield value


def _shown(parameter: Parameter, value: int | str) -> str:
    return format_ndb_size(value) if isinstance(value, int) and _is_size(parameter) else str(value)


def _is_size(parameter: Parameter) -> bool:
    return parameter.unit.startswith("bytes")


# Threads.


def of_threads(plan: Plan, nodes: Sequence[DataNode]) -> Iterator[Change]:
    """One thread of a kind more or fewer, by ThreadConfig; nothing where that binds threads to processors."""
    if not (plan.features.thread_config and nodes):
        return
    each = nodes if len(plan.data_nodes) > 1 else ()
    alone = ((node, node.id, f" on data node {node.node_id} alone") for node in each)
    for node, scope, whose in ((nodes[0], "data_node", ""), *alone):
        if "cpu" in node_settings(plan, node).text("ThreadConfig").lower():
            continue
        try:
            counts = threads_of(plan, node)
        except ThreadConfigError:
            continue
        stated = ""
        if is_automatic(plan.version, {"AutomaticThreadConfig": _automatic(plan, node)}):
            stated = title = f"The same threads by ThreadConfig, not AutomaticThreadConfig{whose}"
            yield Change(title, partial(_with_threads, scope=scope, text=_written(counts)), "threads")
        for kind in _KINDS:
            for wanted in _next_counts(counts, kind):
                text = _written(wanted)
                try:
                    taken = parse_thread_config(plan.version, text)
                except ThreadConfigError:
                    continue
                if taken != counts:
                    title = how_many(getattr(wanted, kind), f"{kind} thread")
                    title += _along(counts, wanted, kind) + whose
                    edit = partial(_with_threads, scope=scope, text=text)
                    yield Change(title, edit, "threads", includes=stated)


def _next_counts(counts: ThreadCounts, kind: str) -> Iterator[ThreadCounts]:
    """One step more and one fewer of a kind.

    The query threads of a ThreadConfig are a multiple of its LDM threads (what AutomaticThreadConfig makes
    need not be one): they go by that many, and follow when those change.
    """
    ldm, query = counts.ldm_instances, counts.query
    if kind == "query":
        steps = [(query // ldm + 1) * ldm, (-(-query // ldm) - 1) * ldm]
        yield from (replace(counts, query=count) for count in steps if count >= 0)
        return
    for count in (getattr(counts, kind) + 1, getattr(counts, kind) - 1):
        if count >= thread_types()[kind]["min"]:
            wanted = replace(counts, **{kind: count})
            yield replace(wanted, query=round(query / ldm) * wanted.ldm)


def _along(counts: ThreadCounts, wanted: ThreadCounts, kind: str) -> str:
    """What else changes with a kind of threads."""
    if kind == "query" or wanted.query == counts.query:
        return ""
    return f" with {how_many(wanted.query, 'query thread')}"


def _written(wanted: ThreadCounts) -> str:
    """ThreadConfig with so many threads of each kind."""
    threads = ((one.name, getattr(wanted, one.name)) for one in fields(wanted))
    return ",".join(f"{name}={{count={n}}}" for name, n in threads if n or name in _THERE_UNLESS_SAID)


def _automatic(plan: Plan, node: DataNode | None = None) -> int | str | None:
    return node_settings(plan, node).value("AutomaticThreadConfig")


def _with_threads(plan: Plan, scope: str, text: str) -> Plan:
    if is_automatic(plan.version, {"AutomaticThreadConfig": _automatic(plan)}):
        plan = set_parameter(plan, scope, "AutomaticThreadConfig", 0)
    return set_parameter(plan, scope, "ThreadConfig", text)
