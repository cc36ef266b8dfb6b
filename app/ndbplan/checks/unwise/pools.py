"""Rules about pools: concurrent operations and scans, schema objects, locked and interleaved memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ndbplan.base.units import format_bytes_binary, format_count
from ndbplan.checks.parameters import setting
from ndbplan.checks.problem import Problem
from ndbplan.checks.refused.limits import operations_of_largest_transaction, wanted_operations
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.configuration.settings import node_settings, nodes_alike, nodes_alike_in
from ndbplan.edits.changes import together
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.transaction_size import operations_of_one, scans_of_node
from ndbplan.estimate.loaded import open_scans
from ndbplan.estimate.stored import dictionary_of, threads_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.processes import NODE_GROUP_NONE


@rule("memory-locked", "Data nodes can be swapped out", alone=True)
def memory_locked(now: Estimation) -> Iterator[Problem]:
    for alike in nodes_alike_in(now.plan, "LockPagesInMainMemory"):
        if alike.nodes and alike.settings.number("LockPagesInMainMemory") == 0:
            yield hint(
                alike.where,
                "LockPagesInMainMemory is 0: where a host has swap space, parts of the data node can be "
                "swapped out, and heartbeats are missed",
                "set LockPagesInMainMemory to 1 (the user needs the right to lock memory)",
                alike.object_ids,
                setting(alike.scope_of("LockPagesInMainMemory"), "LockPagesInMainMemory", 1),
            )


@rule("numa", "Memory of one socket is used first", alone=True)
def numa(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        if not catalogue.knows("DB", "Numa", plan.version) or alike.settings.number("Numa") != 0:
            continue
        memory = alike.settings.number("DataMemory")
        for node in alike.nodes:
            host = plan.host(node.host_id)
            if host.sockets > 1 and memory > host.memory_bytes / host.sockets:
                yield warning(
                    alike.where,
                    f"Numa is 0 and DataMemory is {format_bytes_binary(memory)}, more than one of the "
                    f"{host.sockets} sockets of {host.hostname} has; one socket fills up and the rest"
                    " is slow",
                    "set Numa to 1",
                    (*alike.object_ids, host.id),
                    setting(alike.scope_of("Numa"), "Numa", 1),
                )
                break


_SCANS = "MaxNoOfConcurrentScans"
_OF_ONE_TRANSACTION = ("MaxNoOfConcurrentOperations", "MaxDMLOperationsPerTransaction")


@rule("concurrent-operations", "The largest transaction does not fit")
def concurrent_operations(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    needed, name = operations_of_largest_transaction(plan)
    counted = "writes" if plan.features.transaction_memory else "operations"
    for alike in nodes_alike(plan):
        limit = operations_of_one(alike.settings)
        if needed > limit:
            wanted = wanted_operations(plan, alike)
            names = [one for one in _OF_ONE_TRANSACTION if alike.settings.number(one) < needed]
            which, verb = " and ".join(names), "is" if len(names) == 1 else "are"
            yield warning(
                alike.where,
                f"transaction '{name}' has {format_count(needed)} {counted}, those of blobs and indexes "
                f"included; {which} {verb} {format_count(limit)}: its coordinator refuses it whole, and "
                "would take it in parts",
                f"set {which} to {wanted}",
                alike.object_ids,
                together(setting(alike.scope_of(one), one, wanted) for one in names),
            )


@rule("concurrent-scans", "More scans are open than coordinators take")
def concurrent_scans(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    nodes = [node for node in plan.data_nodes if node.node_group != NODE_GROUP_NONE]
    limit = sum(scans_of_node(node_settings(plan, node), threads_of(plan, node)) for node in nodes)
    highest = catalogue.parameter("DB", _SCANS, plan.version).maximum or 0
    for workload in plan.workloads if limit else ():
        wanted = open_scans(plan, workload) / limit
        if wanted <= 1:
            continue
        for alike in nodes_alike_in(plan, _SCANS):
            have = alike.settings.number(_SCANS)
            enough = math.ceil(have * wanted)
            yield warning(
                alike.where,
                f"workload '{workload.name}' has {format_count(wanted * limit)} scans open at once, and the "
                f"coordinators of the data nodes take {format_count(limit)} ({_SCANS} {have} for each TC "
                "thread): the others are refused with error 245",
                f"set {_SCANS} to {enough}"
                if enough <= highest
                else f"take fewer sessions that scan, or more TC threads: {_SCANS} goes up to {highest}",
                (*alike.object_ids, workload.id),
                setting(alike.scope_of(_SCANS), _SCANS, enough) if enough <= highest else None,
                measure=wanted,
            )


@rule("schema-objects", "The schema does not fit the dictionary")
def schema_objects(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.tables:
        return
    for alike in nodes_alike(plan):
        if not alike.nodes:
            continue
        for room in dictionary_of(plan, alike.settings):
            name = room.parameter
            if not room.lacks:
                continue
            raised = alike.settings.number(name) + room.lacks
            highest = catalogue.parameter("DB", name, plan.version).maximum or raised
            too_many = room.needed > room.limit
            yield (error if too_many else warning)(
                alike.where,
                f"the tables, with those of the system, need {format_count(room.needed)} {room.what}, and "
                f"{room.source} {'is' if room.source == name else 'are'} {format_count(room.limit)}: "
                + (
                    f"CREATE TABLE is refused with error {room.error}"
                    if too_many
                    else f"a second copy of the largest, which ALTER TABLE may make, needs "
                    f"{format_count(room.second)} more (error {room.error})"
                ),
                f"set {name} to {raised}" if raised <= highest else f"have fewer {room.what}",
                alike.object_ids,
                setting(alike.scope_of(name), name, raised) if raised <= highest else None,
                measure=1 + room.lacks / max(1, room.limit),
            )
