"""Rules about where tables lie, how they are cut into fragments and what a later reorganisation leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import GIB, format_bytes_binary, format_count, format_percent, how_many
from ndbplan.checks.problem import Edit, Problem, Solution
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.checks.solutions import one_of
from ndbplan.checks.unwise.fragment_cures import numbers_that_divide, smaller_fixed_parts
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.configuration.table_options import has_own_balance
from ndbplan.edits.changes import SetField, together
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.disk_data import reads_backup
from ndbplan.estimate.storage.fragments import page_bytes
from ndbplan.estimate.stored import distribute, has_partitions
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind

_SKEW_WARNING = 1.02
_NEAR_THE_LIMIT = 0.85
"""Share of what the fixed part of a fragment may have."""
_LIMIT_UNTIL = "7.5"
_BIG_TABLE = GIB


def _changed(table_id: str, name: str, value: object) -> Edit:
    return SetField(table_id, name, value)


@rule("no-node-group", "No data node is in a node group")
def no_node_group(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    nodes, replicas = plan.data_nodes, no_of_replicas(plan)
    if not nodes or node_groups(plan):
        return
    told = error(
        "data nodes",
        f"every data node is reserved (NodeGroup {NODE_GROUP_NONE}); without a node group no row has a "
        "place, and no table can be made",
        None,
        [node.id for node in nodes],
    )
    first = nodes[: len(nodes) // replicas * replicas]
    edit: Edit = together(SetField(node.id, "node_group", None) for node in first)
    way = Solution(
        f"Put {how_many(len(first), 'data node')} into node groups",
        "without a NodeGroup they fill them",
        edit,
    )
    unknown = f"leave NodeGroup out of {replicas} data nodes at least; what they lack then is said next"
    yield replace(told, solve=one_of(now, "no-node-group", [way] if first else [], unknown))


@rule("hash-map-skew", "Buckets do not divide evenly over partitions")
def hash_map_skew(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not has_partitions(plan):
        return
    alike: dict[tuple[int, int], list[Table]] = {}
    skews: dict[tuple[int, int], float] = {}
    for table in plan.tables:
        spread = distribute(plan, table)
        skew = spread.skew.structural_ratio
        if skew > _SKEW_WARNING:
            key = (spread.buckets, len(set(spread.hash_map)))
            alike.setdefault(key, []).append(table)
            skews[key] = skew
    for (buckets, partitions), tables in alike.items():
        more = f" and {len(tables) - 1} more tables" if len(tables) > 1 else ""
        yield warning(
            f"table {tables[0].full_name}{more}",
            f"{buckets} buckets do not divide evenly over the {partitions} partitions of "
            f"{tables[0].full_name}{more}: the fullest has "
            f"{format_percent(skews[buckets, partitions] - 1)} more "
            "than the mean",
            "copy the table into a new one with the present default of 3840 buckets"
            if buckets < plan.features.hash_map_buckets
            else numbers_that_divide(buckets, partitions, len(node_groups(plan))),
            [table.id for table in tables],
            missing="how many node groups there are to be: no number of partitions alone is even here",
        )


@rule("reorganise-refused", "A table cannot be reorganised when the cluster grows")
def reorganise_refused(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.features.add_nodes_online:
        return
    decides = "PARTITION_BALANCE" if plan.features.partition_balance else "the number of LDM threads"
    for table in plan.tables:
        if table.partitions is not None:
            yield warning(
                f"table {table.full_name}",
                f"{table.full_name} is created with PARTITIONS {table.partitions}; after an online add-node "
                "REORGANIZE PARTITION refuses it (error 1511)",
                f"leave PARTITIONS out and let {decides} decide",
                [table.id],
                _changed(table.id, "partitions", None),
            )
        elif table.max_rows is not None and not has_own_balance(table, plan.version):
            yield hint(
                f"table {table.full_name}",
                f"{table.full_name} has MAX_ROWS; after an online add-node it is spread with ALTER TABLE … "
                "MAX_ROWS instead of REORGANIZE PARTITION, as the runbook does",
                None,
                [table.id],
                missing="nothing: the runbook does it",
            )


@rule("reorganise-leaves-behind", "A reorganisation leaves something on the old nodes")
def reorganise_leaves_behind(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not (node_groups(plan) and any(node.node_group == NODE_GROUP_NONE for node in plan.data_nodes)):
        return
    for table in plan.tables:
        stays = []
        if any(index.kind != "ordered" for index in table.indexes):
            stays.append("its unique hash indexes")
        if not plan.features.blobs_are_reorganised and any(
            COLUMN_TYPES[c.type].has_parts for c in table.columns
        ):
            stays.append("its blob parts")
        if stays:
            yield warning(
                f"table {table.full_name}",
                f"reorganising {table.full_name} leaves {' and '.join(stays)} on the old node groups",
                "drop and create the unique indexes afterwards, or copy the table",
                [table.id],
                missing="nothing of the plan: it is work on the cluster once the tables are reorganised",
            )


@rule("fixed-part-limit", "The fixed part of a fragment comes near 16 GB")
def fixed_part_limit(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    limit = plan.features.fixed_part_limit_bytes
    if not limit or not has_partitions(plan):
        return
    for table in plan.tables:
        where = distribute(plan, table)
        largest = int(page_bytes(where.rows, where.layout.rows_per_fixed_page).max(initial=0))
        if largest > _NEAR_THE_LIMIT * limit:
            told = warning(
                f"table {table.full_name}",
                f"the fixed-size part of a fragment of {table.full_name} is "
                f"{format_bytes_binary(largest)}; up to "
                f"NDB {_LIMIT_UNTIL} it cannot exceed {format_bytes_binary(limit)}",
                "use more partitions, or NDB 7.6 or later",
                [table.id],
            )
            yield replace(told, solve=partial(smaller_fixed_parts, now, table, _LIMIT_UNTIL))


@rule("fully-replicated-table", "A fully replicated table is large or often written")
def fully_replicated_table(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    copied = [table for table in plan.tables if table.fully_replicated]
    if not copied:
        return
    sizes = {table.table: table.total_bytes.value for table in now.memory.tables}
    for table in copied:
        size = sizes.get(table.full_name, 0.0)
        writes, reads = _writes_and_reads(plan, table)
        if size > _BIG_TABLE or writes > reads:
            reason = (
                f"takes {format_bytes_binary(size)} on every data node"
                if size > _BIG_TABLE
                else "is written more often than read, and every write goes to every node group"
            )
            yield warning(
                f"table {table.full_name}",
                f"{table.full_name} is fully replicated and {reason}",
                "take FULLY_REPLICATED away",
                [table.id],
                _changed(table.id, "fully_replicated", False),
            )


def _in_memory(plan: Plan, problem: Problem) -> bool:
    """Whether no read of the table takes a place in a page buffer: each replica keeps pages of its own."""
    tables = [table for table in plan.tables if table.id in problem.object_ids]
    return not any(column.storage == "disk" for table in tables for column in table.columns)


@rule("read-backup", "Reads do not use every replica, or writes wait for all", alone=_in_memory)
def read_backup(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.features.read_backup or no_of_replicas(plan) == 1:
        # With one copy of the data there is no other replica to read.
        return
    for table in plan.tables:
        on = reads_backup(table, plan.version)
        writes, reads = _writes_and_reads(plan, table)
        if not on and reads > 3 * writes:
            yield hint(
                f"table {table.full_name}",
                f"{table.full_name} is read {format_count(reads)} times per second and written "
                f"{format_count(writes)}, but READ_BACKUP is off: committed reads go to the primary "
                f"replica only",
                "switch READ_BACKUP on",
                [table.id],
                _changed(table.id, "read_backup", True),
            )


def _writes_and_reads(plan: Plan, table: Table) -> tuple[float, float]:
    """Rows of the table written and read per transaction of the mixes, added up over all workloads."""
    writes = reads = 0.0
    for workload in plan.workloads:
        weights = sum(transaction.weight for transaction in workload.transactions)
        for transaction in workload.transactions:
            for operation in transaction.operations:
                if operation.table_id == table.id:
                    rows = operation.rows * transaction.weight / weights
                    if operation.kind in (OperationKind.READ, OperationKind.SCAN):
                        reads += rows
                    else:
                        writes += rows
    return writes, reads
