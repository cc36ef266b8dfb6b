"""Adding workloads, transactions, operations, rates and events."""

from __future__ import annotations

from typing import get_args

from ndbplan.edits import offers, reading, validated
from ndbplan.edits import parts as edits
from ndbplan.edits.additions.words import (
    Made,
    Words,
    append,
    holder,
    made,
    no_name,
    object_path,
    one_name,
    path_of,
    quoted,
    set_fields,
    set_inside,
    with_fields,
)
from ndbplan.edits.address import AddressError, resolve
from ndbplan.edits.assign import assign, put
from ndbplan.edits.places import Path, address_of, at
from ndbplan.plan.events import Event, field_typed
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad


def workloads(plan: Plan, words: Words) -> Made:
    """`workload NAME table=T operation=insert rate=4000`: the first transaction and rate in one line.

    `from=tables`: transactions that read, change and add rows of the largest tables.
    """
    name = one_name(words, "workload")
    if any(name in (workload.id, workload.name) for workload in plan.workloads):
        raise AddressError(f"there is a workload '{name}' already", fix="give it another name")
    source = words.fields.get("from", "")
    if source not in ("", "tables"):
        raise AddressError(f"there is no load to be made from '{source[:60]}'", fix="write from=tables")
    part = offers.workload_of_tables(plan, name) if source else offers.make_workload(plan, name)
    words = words.without("from")
    plan = edits.add(plan, part)
    inside = {
        "table": "transactions[0].operations[0].table_id",
        "operation": "transactions[0].operations[0].kind",
        "rate": "load.points[0].rate_per_s",
    }
    kind = words.fields.get("operation", "").strip().lower()
    path = object_path(plan, part.id)
    if kind and kind in reading.shape_of(type(part.transactions[0].operations[0]), "kind").choices:
        plan = put(plan, (*path, "transactions", 0, "name"), kind)
    for key, address in inside.items():
        if key in words.fields:
            plan = _assign_at(plan, path, address.replace("[0]", ""), words.fields[key])
    plan = set_fields(plan, part.id, words.without(*inside))
    return plan, [path_of(plan, plan.workloads[-1])]


def _assign_at(plan: Plan, path: Path, fields: str, typed: str) -> Plan:
    """Set a field below the first member of each list on the way."""
    inner: Path = path
    for name in fields.split("."):
        inner = (*inner, name)
        if isinstance(at(plan, inner), tuple):
            inner = (*inner, 0)
    return assign(plan, f"{address_of(plan, inner)}={typed}")[0]


def transactions(plan: Plan, words: Words) -> Made:
    """Another kind of transaction of a workload, with its first operation."""
    workload_id = holder(plan, words, "workload", "workloads", "workload")
    name = one_name(words, "transaction")
    new = offers.make_transaction(plan, plan.by_id[workload_id])
    new = validated.changed(new, name=name) if name else new
    path, plan = append(plan, (*object_path(plan, workload_id), "transactions"), new)
    inside = {"table": "table_id", "operation": "kind", "rows": "rows", "columns": "columns"}
    for key, field in inside.items():
        if key in words.fields:
            plan = _assign_at(plan, (*path, "operations", 0), field, words.fields[key])
    return set_inside(plan, path, words.without("workload", *inside)), [path]


def operations(plan: Plan, words: Words) -> Made:
    """Another operation of a transaction."""
    no_name(words, "operation")
    workload_id = holder(plan, words, "workload", "workloads", "workload")
    base = object_path(plan, workload_id)
    typed = words.fields.get("transaction")
    if typed is None and len(plan.by_id[workload_id].transactions) > 1:
        raise AddressError("transaction= is missing: in which transaction?", fix="name it")
    path = (*base, "transactions", 0)
    if typed is not None:
        path = resolve(plan, f"{address_of(plan, base)}.transactions[{quoted(typed)}]")[0].path
    new = offers.make_operation(plan, at(plan, path).operations)
    path, plan = append(plan, (*path, "operations"), new)
    return set_inside(plan, path, words.without("workload", "transaction")), [path]


def points(plan: Plan, words: Words) -> Made:
    """The rate from a moment on."""
    no_name(words, "point")
    workload_id = holder(plan, words, "workload", "workloads", "workload")
    load = plan.by_id[workload_id].load
    if not isinstance(load, OpenLoad):
        raise AddressError("its clients wait for answers, so it has no rate", fix="set load.kind=open first")
    new = with_fields(plan, offers.make_point(load.points), words.without("workload"))
    path = (*object_path(plan, workload_id), "load", "points")
    plan = put(plan, path, (*load.points, new))
    # The points are in the order of time: it stands where its moment is.
    place = max(i for i, point in enumerate(at(plan, path)) if point == new)
    return plan, [(*path, place)]


def events(plan: Plan, words: Words) -> Made:
    """What happens in the middle of a workload, or at a moment that is said."""
    typed = (one_name(words, "event", needed=True) or "").lower().replace("-", "_")
    kinds = {one.model_fields["kind"].default: one for one in get_args(get_args(Event)[0])}
    if typed not in kinds:
        raise AddressError(f"there is no event '{typed[:60]}'", fix=reading.near(typed, kinds, "use one of"))
    workload_id = holder(plan, words, "workload", "workloads", "workload")
    fields = words.without("workload")
    spelt: dict[str, str] = {}
    for name, text in fields.fields.items():
        field = field_typed(typed, name)
        # `host=a1 rack=B`: both are on that side of a cut.
        spelt[field] = f"{spelt[field]},{text}" if field in spelt else text
    fields = Words(fields.names, spelt)
    if "at_s" not in spelt:
        half = round(plan.by_id[workload_id].duration_s / 2)
        fields = Words(fields.names, {**spelt, "at_s": str(half)})
    new = made(plan, kinds[typed], fields, f"event {typed}")
    path, plan = append(plan, (*object_path(plan, workload_id), "events"), new)
    return plan, [path]
