"""Requirements from a file, with the plan and the SQL text that it names: what sizing begins with.

wanted = read_requirements(path)
wanted.requirements, wanted.begun        # the plan with tables and workloads, and no hardware yet
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_whole
from ndbplan.base.once import each_key_once
from ndbplan.edits import parts as edits
from ndbplan.edits.ids import NewIds
from ndbplan.edits.own_hardware import Own, read_rows
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.validated import changed, made
from ndbplan.edits.variants import load_variant, variant_in
from ndbplan.importing.ddl.into_plan import with_ddl
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import SERIES
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.file_errors import PlanFileError, readable
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import Requirements, WantedLoad, WantedTransaction
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OpenLoad, RatePoint, Workload

_MOST_BYTES = 20_000_000
_PEAK_LASTS_S = 600.0
"""Of a load that no plan has."""


@dataclass(frozen=True)
class Wanted:
    """Requirements with everything that they name."""

    requirements: Requirements
    begun: Plan
    """Tables and workloads, at their peaks where these are stated, without hosts and nodes."""
    source: Plan | None
    """The plan with the hosts to begin with."""
    own: tuple[Own, ...]
    """Hosts and disks of the requirements' own."""
    notes: tuple[str, ...]
    """What of the SQL text was not taken."""


def read_requirements(path: Path, variant: str | None = None) -> Wanted:
    """What a file of requirements says, or a plan file by itself: a variant of it, or its first.

    FILE@VARIANT names one as well, also where requirements name their plan. Raises PlanFileError, UserError.
    """
    chosen = path if variant is None else path.with_name(f"{path.name}@{variant}")
    if path.suffix == SUFFIX or variant_in(path) is not None:
        return requirements_of(load_variant(chosen))
    document = _document(path)
    if "format_version" in document:
        return requirements_of(load_variant(chosen))
    if variant is not None:
        what = "these are requirements, which have no variants"
        raise UserError(what, where="--variant", fix='name the variant in them: "plan": "FILE@VARIANT"')
    try:
        requirements = Requirements.model_validate(document)
    except ValidationError as error:
        raise readable(error, str(path)) from None
    source = None if requirements.plan is None else load_variant(path.parent / requirements.plan)
    try:
        return put_together(requirements, source)
    except UserError as error:
        # What becomes a workload of the plan is a load here.
        where = f"{path}: {error.where.replace('workloads[', 'loads[', 1)}".rstrip(": ")
        raise PlanFileError(error.what, where=where, fix=error.fix) from None


def _document(path: Path) -> Any:
    content = read_whole(path, _MOST_BYTES, refused=PlanFileError, fix="name a file of requirements")
    fix = "write what `ndbplan schema --requirements` describes, or name a plan"
    try:
        document = json.loads(content, object_pairs_hook=each_key_once)
    except UserError as error:
        raise PlanFileError(error.what, where=str(path), fix=error.fix) from None
    except (ValueError, RecursionError):
        raise PlanFileError("this is not JSON", where=str(path), fix=fix) from None
    if not isinstance(document, dict):
        raise PlanFileError("requirements are a JSON object, { … }", where=str(path), fix=fix)
    return document


def requirements_of(plan: Plan, **stated: Any) -> Wanted:
    """What a plan itself asks for: its tables, workloads, replicas; `stated` are further requirements."""
    replicas = catalogue.default("DB", "NoOfReplicas", plan.version)
    replicas = plan.parameters.data_node.get("NoOfReplicas", replicas)
    fields = {"name": plan.name, "replicas": replicas, **stated}
    return put_together(made(Requirements, fields), plan)


def put_together(requirements: Requirements, source: Plan | None) -> Wanted:
    """The requirements with the plan that they begin with. Raises UserError, which names the field."""
    plan = Plan(ndb_version=SERIES[-1]) if source is None else _bare(source)
    plan = edits.set_plan(plan, name=requirements.name)
    for field in ("ndb_version", "currency", "cost_months"):
        value = getattr(requirements, field)
        if value is not None:
            plan = edits.set_plan(plan, **{field: value})
    if requirements.budget is not None and plan.currency is None:
        raise UserError("a budget needs a currency", where="currency", fix="state one, such as EUR")
    if requirements.least_groups > requirements.most_groups:
        what = f"least_groups {requirements.least_groups} is above most_groups {requirements.most_groups}"
        raise UserError(what, where="least_groups", fix="state no more than most_groups")
    plan, notes = _with_tables(plan, requirements)
    plan = _with_loads(plan, requirements)
    own = read_rows(requirements.hardware.own, "hardware.own")
    called = [(one.kind, one.name) for one in own]
    twice = next((n for n, one in enumerate(called) if one in called[:n]), None)
    if twice is not None:
        what, where = f"there is another {own[twice].kind} '{own[twice].name}'", f"hardware.own[{twice}].name"
        raise UserError(what, where=where, fix="give each a name of its own")
    return Wanted(requirements, _durable(plan, requirements), source, own, tuple(notes))


def _bare(plan: Plan) -> Plan:
    """The plan without hardware, nodes and places."""
    parts = (*plan.locations, *plan.hosts, *plan.processes)
    return edits.remove(plan, [part.id for part in parts]).replace(links=(), waivers=())


def _with_tables(plan: Plan, requirements: Requirements) -> tuple[Plan, list[str]]:
    """The plan with the tables of the SQL text and the stated rows, and what could not be read."""
    notes: list[str] = []
    if requirements.sql is not None:
        found = read_ddl(requirements.sql, plan.version)
        taken = with_ddl(plan, found)
        notes, plan = [*map(str, (*found.problems, *taken.missing))], taken.plan
    if not plan.tables:
        what = f"there is no table ({notes[0]})" if notes else "there is no table"
        raise UserError(what, where="sql", fix="state CREATE TABLE statements, or a plan")
    changes = []
    for name, rows in requirements.rows.items():
        fields: dict[str, Any] = {}
        if rows.now is not None:
            fields |= {"rows": round(rows.now), "partition_rows": (), "partition_variable_bytes": ()}
        if rows.growth_per_month is not None:
            fields["growth_rows_per_month"] = round(rows.growth_per_month)
        changes.append(changed(_table(plan, name, f"rows.{name}"), **fields))
    return edits.put_tables(plan, changes), notes


def _table(plan: Plan, name: str, where: str) -> Table:
    try:
        return plan.table(name)
    except KeyError:
        called = [table for table in plan.tables if table.name == name]
        if len(called) == 1:
            return called[0]
        known = ", ".join(table.full_name for table in plan.tables[:10])
        raise UserError(f"there is no table '{name[:60]}'", where=where, fix=f"use one of {known}") from None


def _with_loads(plan: Plan, requirements: Requirements) -> Plan:
    if requirements.loads:
        known = {workload.name: workload for workload in plan.workloads}
        ids = NewIds(plan)
        workloads = tuple(
            _workload(plan, load, known.get(load.name), f"loads[{n}]", ids)
            for n, load in enumerate(requirements.loads)
        )
        plan = edits.put(plan, workloads=workloads)
    elif not plan.workloads and requirements.job is None:
        raise UserError("there is no load", where="loads", fix="state loads, a job, or a plan with workloads")
    names = [workload.name for workload in plan.workloads]
    if len(names) > len(set(names)):
        raise UserError("two loads have the same name", where="loads", fix="give each a name of its own")
    return plan


def _workload(plan: Plan, load: WantedLoad, known: Workload | None, where: str, ids: NewIds) -> Workload:
    if known is None and not load.transactions:
        what = f"'{load.name}' has no transactions, and no plan has a workload of that name"
        raise UserError(what, where=f"{where}.transactions", fix="state them")
    if known is None and load.peak_per_s is None:
        raise UserError(f"'{load.name}' has no peak", where=f"{where}.peak_per_s", fix="state one")
    fields: dict[str, Any] = {}
    if load.transactions:
        fields["transactions"] = _transactions(plan, load.transactions, where)
    if load.peak_per_s is not None:
        fields["load"] = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=load.peak_per_s),))
    if load.lasts is not None:
        fields["duration_s"] = load.lasts
    if load.through is not None:
        fields["through"] = load.through
    if known is not None:
        return changed(known, **fields)
    fields = {"name": load.name, "duration_s": _PEAK_LASTS_S, **fields}
    return made(Workload, {"id": ids.of(Workload), **fields})


def _transactions(plan: Plan, wanted: Iterable[WantedTransaction], where: str) -> list[dict[str, Any]]:
    """Transactions as a plan file has them, with tables by their ids."""
    found = []
    for n, one in enumerate(wanted):
        operations = []
        for m, operation in enumerate(one.operations):
            place = f"{where}.transactions[{n}].operations[{m}].table"
            table = _table(plan, operation.table, place)
            fields = operation.model_dump(mode="json", exclude={"table"})
            operations.append({**fields, "table_id": table.id})
        found.append({"name": one.name, "weight": one.weight, "operations": operations})
    return found


def _durable(plan: Plan, requirements: Requirements) -> Plan:
    """The plan with what keeps transactions, as far as it is required."""
    wanted = requirements.durability
    plan = set_parameter(plan, "data_node", "NoOfReplicas", requirements.replicas)
    if wanted.time_between_global_checkpoints_ms is not None:
        time_ms = wanted.time_between_global_checkpoints_ms
        plan = set_parameter(plan, "data_node", "TimeBetweenGlobalCheckpoints", time_ms)
    if wanted.all_tables_logged:
        plan = edits.put_tables(plan, [changed(table, logging=True) for table in plan.tables])
    return plan
