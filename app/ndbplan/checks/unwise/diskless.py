"""Rules about data nodes that write no files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ndbplan.base.units import format_duration
from ndbplan.checks.parameters import without
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import rule, warning
from ndbplan.configuration.node_groups import groups_by_number, groups_without_files
from ndbplan.configuration.settings import nodes_alike
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode


@rule("diskless", "Diskless loses all data when the cluster stops")
def diskless(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        for name in ("Diskless", "Discless"):
            if alike.settings.states(name) and alike.settings.number(name) == 1:
                nodes = [node for w in plan.workloads for node in now.under(w).checkpoint.nodes]
                full = [node.overflow_after_s.value for node in nodes if node.overflow_after_s is not None]
                when = f"comes all the same, here after {format_duration(min(full))}" if full else "can come"
                yield warning(
                    alike.where,
                    f"{name} is 1: redo log and checkpoints still do all their work but the last write, so "
                    f"error 410 {when}; there is no backup, and {_lost(plan, alike.nodes)}",
                    "take it away and create the tables with NOLOGGING (ndb_table_no_logging)",
                    alike.object_ids,
                    without(alike.scope_of(name), name),
                )


def _lost(plan: Plan, nodes: Sequence[DataNode]) -> str:
    """What is gone when these nodes write no files."""
    everything = "a restart of the cluster loses everything"
    empty, groups = groups_without_files(plan), groups_by_number(plan)
    if not nodes or len(empty) == len(groups):
        return everything
    if mine := [number for number in empty if any(node in nodes for node in groups[number])]:
        named = f"node group{'s' if len(mine) > 1 else ''} {', '.join(map(str, mine))}"
        none = f"no data node of {named} keeps its rows in files"
        return f"{none}, without which no other one starts: {everything}"
    whose = "its" if len(nodes) == 1 else "their"
    it = "it" if len(nodes) == 1 else "one of them"
    return (
        f"rows are copied from {whose} node group whenever {it} starts: what was written while {it} was the "
        "only one of its group that ran is lost when it stops"
    )
