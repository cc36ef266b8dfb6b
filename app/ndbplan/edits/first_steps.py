"""From an empty plan to one that can be simulated: what comes next, and what makes it in one edit.

next_step(plan)              # the first of STEPS that the plan lacks; None: it can be simulated
lacking(plan)                # nodes without which its cluster does not start
plan = small_cluster(plan)   # the least that starts and survives one failure
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ndbplan.base.units import how_many
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.from_host import with_settings_of
from ndbplan.plan.plan import Plan


class Step(NamedTuple):
    """One step of the way, in words."""

    key: str
    text: str
    """Of a mark in the row of all steps."""
    missing: str
    """What is said where it is not done."""
    hint: str
    """How it is done."""
    button: str
    """What does it at once."""


STEPS = (
    Step("hosts", "Hosts", "No data node yet", "Drag hosts and data nodes onto the canvas, or begin with the "
         "least that survives a failure.", "Add a small cluster"),
    Step("tables", "Tables", "No table yet", "Paste CREATE TABLE statements, or add a table and its columns.",
         "Tables from SQL…"),
    Step("load", "Load", "No workload yet", "What the clients do, and how often. Begin with one that reads, "
         "changes and adds rows of your tables, then put your figures in.", "Make one from the tables"),
    Step("simulate", "Simulate", "Nothing simulated yet", "See transactions, latency, redo buffers, disks "
         "and redo log over time.", "Simulate"),
    Step("export", "Export", "Nothing exported yet", "config.ini, my.cnf and the runbook.", "Export…"),
)  # fmt: skip
_OF_OTHERS = 2
_LAST_OF_PLAN = 3
"""Steps up to here can be seen in the plan; the others somebody does."""


def step(key: str) -> Step:
    """The step with this key. KeyError when there is none."""
    return {one.key: one for one in STEPS}[key]


def is_done(plan: Plan, key: str) -> bool:
    """Whether the plan has what a step adds; never for those that change no plan."""
    return bool({"hosts": plan.data_nodes, "tables": plan.tables, "load": plan.workloads}.get(key))


def next_step(plan: Plan) -> Step | None:
    """What the plan lacks first to be simulated; None: nothing."""
    return next((one for one in STEPS[:_LAST_OF_PLAN] if not is_done(plan, one.key)), None)


def lacking(plan: Plan) -> list[str]:
    """Kinds of the nodes without which the cluster does not start or answer, as `offers` names them."""
    replicas = no_of_replicas(plan)
    short = -len(plan.data_nodes) % replicas if plan.data_nodes else replicas
    clients = len(plan.sql_nodes) + len(plan.api_slots)
    return ["data"] * short + ["management"] * (not plan.management_nodes) + ["sql"] * (not clients)


def said_lacking(plan: Plan) -> str:
    """`1 data node, 1 management node`."""
    kinds = Counter(lacking(plan))
    names = {"data": "data node", "management": "management node", "sql": "SQL node"}
    return ", ".join(how_many(count, names[kind]) for kind, count in kinds.items())


def small_cluster(plan: Plan) -> Plan:
    """A host for each data node that lacks, and two for management and SQL nodes, which survive a failure.

    Data nodes take their settings from the host, as one does that is dragged there.
    """
    kinds = lacking(plan)
    for _ in range(kinds.count("data")):
        plan = _on_new_host(plan, "data")
    beside = [kind for kind in ("management", "sql") if kind in kinds]
    for _ in range(_OF_OTHERS if beside else 0):
        plan = _on_new_host(plan, *beside)
    return plan


def _on_new_host(plan: Plan, *kinds: str) -> Plan:
    host = offers.make_host(plan, offers.DEFAULT_HOST)
    plan = edits.add(plan, host)
    for kind in kinds:
        process = offers.make_process(plan, kind, host.id)
        plan = edits.add(plan, process)
        if kind == "data":
            plan, _ = with_settings_of(plan, process.id)
    return plan
