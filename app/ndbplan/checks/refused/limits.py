"""Rules that ndb_mgmd itself has: limits between parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from operator import itemgetter

from ndbplan.base.units import whole_number
from ndbplan.checks.parameters import holding, setting, without
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import error, problem, rule
from ndbplan.configuration.settings import NodesAlike, nodes_alike
from ndbplan.configuration.stated import stated_by_place
from ndbplan.edits.changes import together
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.transaction_size import size_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import node_ids, process_node_ids

_UNLIMITED_DML = 4_294_967_295
_OBJECTS_MAX = 4_294_967_293
"""MaxDMLOperationsPerTransaction that means no limit (its default in the manual), and the largest number of
operations or triggers that ndb_mgmd takes (a running one)."""
_THREAD_PRIORITY = re.compile(r"[ \t]*(fifo|rr)(,\s*[+-]?[0-9][^,]*)?")
"""As NdbThread_SetHighPrioProperties reads it (NdbThread.c): strcmp for the policy, strtol for the number."""
_RESERVED = (
    "ConcurrentIndexOperations",
    "ConcurrentOperations",
    "ConcurrentScans",
    "ConcurrentTransactions",
    "FiredTriggers",
    "LocalScans",
)
_REPLACED_BY_TRANSACTION_MEMORY = (
    "MaxNoOfConcurrentIndexOperations",
    "MaxNoOfFiredTriggers",
    "MaxNoOfLocalScans",
    "MaxNoOfLocalOperations",
)


def wanted_operations(plan: Plan, alike: NodesAlike) -> int:
    """MaxNoOfConcurrentOperations that every rule about it is content with: what they all set it to."""
    wanted = [
        alike.settings.number(name)
        for name in ("MaxNoOfConcurrentOperations", "MaxNoOfConcurrentTransactions")
    ]
    dml = (
        alike.settings.number("MaxDMLOperationsPerTransaction")
        if plan.features.dml_operations_compared
        else _UNLIMITED_DML
    )
    if dml != _UNLIMITED_DML:
        wanted.append(dml)
    return max(*wanted, operations_of_largest_transaction(plan)[0])


def operations_of_largest_transaction(plan: Plan) -> tuple[int, str]:
    """What the limit of one transaction counts of the largest one, and its name."""
    alone = plan.features.transaction_memory
    sizes = (
        (size_of(plan.tables, one, plan.version).counted(writes_alone=alone), one.name)
        for workload in plan.workloads
        for one in workload.transactions
    )
    largest, name = max(sizes, key=itemgetter(0), default=(0.0, ""))
    return math.ceil(largest), name


@rule(
    "operations-and-transactions",
    "MaxNoOfConcurrentOperations is below MaxNoOfConcurrentTransactions",
    refused=True,
)
def operations_and_transactions(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        operations = alike.settings.number("MaxNoOfConcurrentOperations")
        transactions = alike.settings.number("MaxNoOfConcurrentTransactions")
        if operations < transactions:
            wanted = wanted_operations(plan, alike)
            yield error(
                alike.where,
                f"MaxNoOfConcurrentOperations {operations} is below MaxNoOfConcurrentTransactions "
                f"{transactions}; ndb_mgmd refuses the configuration",
                f"set MaxNoOfConcurrentOperations to {wanted}",
                alike.object_ids,
                setting(alike.scope_of("MaxNoOfConcurrentOperations"), "MaxNoOfConcurrentOperations", wanted),
            )


@rule("dml-operations", "MaxDMLOperationsPerTransaction is above MaxNoOfConcurrentOperations", refused=True)
def dml_operations(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.features.dml_operations_compared:
        return
    for alike in nodes_alike(plan):
        dml = alike.settings.number("MaxDMLOperationsPerTransaction")
        operations = alike.settings.number("MaxNoOfConcurrentOperations")
        if dml != _UNLIMITED_DML and dml > operations:
            wanted = wanted_operations(plan, alike)
            yield error(
                alike.where,
                f"MaxDMLOperationsPerTransaction {dml} is above MaxNoOfConcurrentOperations {operations}; "
                "ndb_mgmd refuses the configuration",
                f"set MaxNoOfConcurrentOperations to {wanted}",
                alike.object_ids,
                setting(alike.scope_of("MaxNoOfConcurrentOperations"), "MaxNoOfConcurrentOperations", wanted),
            )


@rule("reserved-limits", "More is reserved than the limit allows", refused=True)
def reserved_limits(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for name in _RESERVED:
        if not catalogue.knows("DB", f"Reserved{name}", plan.version):
            continue
        for alike in nodes_alike(plan):
            reserved, most = alike.settings.number(f"Reserved{name}"), alike.settings.number(f"MaxNoOf{name}")
            if alike.settings.states(f"Reserved{name}") and reserved > most:
                yield error(
                    alike.where,
                    f"Reserved{name} {reserved} is above MaxNoOf{name} {most}; ndb_mgmd refuses the "
                    "configuration",
                    f"lower Reserved{name} to {most}",
                    alike.object_ids,
                    setting(alike.scope_of(f"Reserved{name}"), f"Reserved{name}", most),
                )


@rule("table-objects", "There are too many tables and indexes together", refused=True)
def table_objects(now: Estimation) -> Iterator[Problem]:
    names = ("MaxNoOfTables", "MaxNoOfOrderedIndexes", "MaxNoOfUniqueHashIndexes")
    for alike in nodes_alike(now.plan):
        total = sum(alike.settings.number(name) for name in names)
        if total > _OBJECTS_MAX:
            stated = [name for name in names if alike.settings.states(name)]
            yield error(
                alike.where,
                f"{', '.join(names)} add up to {total}; ndb_mgmd allows {_OBJECTS_MAX}",
                f"set {', '.join(stated)} back to what the schema needs",
                alike.object_ids,
                together(without(alike.scope_of(name), name) for name in stated),
            )


@rule("transaction-memory", "TransactionMemory is set together with settings that it replaces", refused=True)
def transaction_memory(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not catalogue.knows("DB", "TransactionMemory", plan.version):
        return
    for place, values in stated_by_place(plan):
        if place.section != "DB" or "TransactionMemory" not in values:
            continue
        for name in _REPLACED_BY_TRANSACTION_MEMORY:
            if name in values:
                yield error(
                    place.where,
                    f"{name} and TransactionMemory are both set; ndb_mgmd refuses the configuration",
                    f"remove {name}",
                    place.object_ids,
                    without(place.scope, values[name].reading.written),
                )


@rule(
    "start-fail-retries",
    "Start retries have no effect where nodes do not restart by themselves",
    refused=True,
)
def start_fail_retries(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    count = node_ids(plan.processes)
    for alike in nodes_alike(plan):
        # check_mutually_exclusive in ConfigInfo.cpp goes through the ids below the number of nodes only.
        seen = not alike.nodes or any(node.node_id < count for node in alike.nodes)
        for name in ("MaxStartFailRetries", "StartFailRetryDelay"):
            if not catalogue.knows("DB", name, plan.version):
                continue
            default = catalogue.default("DB", name, plan.version)
            if alike.settings.value(name) != default and alike.settings.number("StopOnError") != 0:
                yield problem(
                    Severity.ERROR if seen else Severity.WARNING,
                    alike.where,
                    f"{name} is {alike.settings.value(name)} while StopOnError is 1; "
                    + (
                        f"ndb_mgmd wants its default {default}"
                        if seen
                        else "nodes that do not restart by themselves have no use for it"
                    ),
                    "set StopOnError to 0",
                    alike.object_ids,
                    setting(alike.scope_of("StopOnError"), "StopOnError", 0),
                )


@rule("connection-map", "ConnectionMap does not list data nodes", refused=True)
def connection_map(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    highest = catalogue.parameter("DB", "NodeId", plan.version).maximum or 144
    joined = {frozenset((link.process_id_1, link.process_id_2)) for link in plan.links}
    named = frozenset[str]() if plan.features.connected_by_pair else frozenset[str]().union(*joined)
    for one, nodes in holding(plan, "API", "ConnectionMap"):
        # strtol in check_connection: blanks and a sign before a number do no harm, anything behind it does.
        parts = (re.sub(r"^\s*\+?", "", part) for part in str(one.reading.value).split(","))
        bad = next((part for part in parts if not 1 <= (whole_number(part) or 0) <= highest), None)
        # It is read for connections without a section of their own.
        is_read = any(
            len(process_node_ids(process)) > 1
            or (process.id not in named and frozenset((process.id, node.id)) not in joined)
            for process in nodes
            for node in plan.data_nodes
        )
        if bad is not None and is_read:
            yield error(
                one.where,
                f"ConnectionMap holds '{bad[:20]}'; it is a list of data node ids from 1 to {highest}",
                "write for example 1,2,3",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


@rule("heartbeat-thread-priority", "HeartbeatThreadPriority cannot be read", refused=True)
def heartbeat_thread_priority(now: Estimation) -> Iterator[Problem]:
    name = "HeartbeatThreadPriority"
    for one, _ in (*holding(now.plan, "API", name), *holding(now.plan, "MGM", name)):
        text = str(one.reading.value)
        if not _THREAD_PRIORITY.fullmatch(text):
            yield error(
                one.where,
                f"HeartbeatThreadPriority '{text[:30]}' is not fifo or rr (in small letters) with a number; "
                "ndb_mgmd refuses the configuration",
                "write for example fifo,50",
                one.object_ids,
                without(one.scope, one.reading.written),
            )
