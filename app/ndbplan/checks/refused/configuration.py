"""Rules about the configuration as such: what ndb_mgmd of the version refuses or leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.checks.node_cures import another_node
from ndbplan.checks.parameters import without
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.configuration.mysqld import lacks_server_id, server_id, stated_options, writes_binary_log
from ndbplan.configuration.sections import paths_left_out
from ndbplan.configuration.stated import Fate, Stated, stated
from ndbplan.edits.changes import SetField, SetParameter
from ndbplan.edits.sql_options import with_option
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.mysqld_options import fault, in_effect, is_option, lacks, option, who_has, without_prefix
from ndbplan.ndb.values import format_value
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode


@rule("node-kinds", "A data node, a management node or an SQL or API node is missing", refused=True)
def node_kinds(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for name, kind, present in (
        ("data node", "data", plan.data_nodes),
        ("management node", "management", plan.management_nodes),
        ("SQL or API node", "sql", (*plan.sql_nodes, *plan.api_slots)),
    ):
        if not present:
            text = f"there is no {name}; ndb_mgmd asks for one of each kind at least"
            problem = error("cluster", text, f"add a {name}")
            yield replace(problem, solve=partial(another_node, kind, "node-kinds", now))


@rule("unknown-parameter", "The version does not know a parameter")
def unknown_parameter(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in stated(plan):
        reading = one.reading
        if reading.fate is Fate.INTERNAL:
            text = f"{reading.name} is internal and cannot be configured"
            tail = "the export leaves it out, because ndb_mgmd would refuse the file"
        elif reading.fate is Fate.UNKNOWN:
            text = _unknown(plan, one)
            would = "might" if catalogue.may_know(one.section, reading.written, plan.version) else "would"
            tail = f"the export leaves it out, because ndb_mgmd {would} refuse the file"
            if is_option(reading.written) and not catalogue.exists(one.section, reading.written):
                tail = "the export leaves it out here: give it to the SQL nodes as an option of theirs"
        elif reading.fate is Fate.OF_PLAN:
            text = f"{reading.written} is said by the plan's own hosts and nodes"
            tail = "the export leaves this one out"
        elif reading.fate is Fate.UNWRITABLE:
            text = f"{reading.name} '{str(reading.raw)[:40]}' cannot stand in config.ini: {reading.reason}"
            instead = one.section == "SYSTEM" and reading.name == "Name"
            tail = "the export writes the plan's name instead" if instead else "the export leaves it out"
        elif reading.fate is Fate.DOUBLED:
            text = f"{reading.written} is stated twice, in different letter case"
            tail = "the first one counts, the export leaves this one out"
        else:
            if reading.fate is Fate.COUNTS and reading.name != reading.written:
                yield _misspelt(one)
            continue
        yield warning(
            one.where,
            f"{text}; {tail}",
            f"remove {reading.written}",
            one.object_ids,
            without(one.scope, reading.written),
        )


@rule("paths-of-disk-roles", "Disk roles need a path parameter that the version may not know")
def paths_of_disk_roles(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for (name, path), nodes in paths_left_out(plan).items():
        ids = ", ".join(str(node.node_id) for node in nodes)
        yield warning(
            f"data node{'s' if len(nodes) > 1 else ''} {ids}",
            f"disk roles ask for {name}={path}; {catalogue.lack('DB', name, plan.version)}, and the export "
            "leaves it out",
            "give all data nodes the same folder, each on a host of its own: full paths of files say it then",
            tuple(node.id for node in nodes),
            missing="a folder that every data node can have: only whoever mounts the disks knows it",
        )


def _misspelt(one: Stated) -> Problem:
    written, proper = one.reading.written, one.reading.name
    return hint(
        one.where,
        f"'{written}' is written {proper} in the manual; it counts all the same",
        f"write {proper}",
        one.object_ids,
        SetParameter(one.scope, proper, one.reading.raw),
    )


def _unknown(plan: Plan, one: Stated) -> str:
    name = one.reading.written
    if not catalogue.exists(one.section, name) and is_option(name):
        return f"{name} is an option of mysqld and belongs in my.cnf, not in config.ini"
    if not catalogue.exists(one.section, name):
        return f"no NDB version knows a parameter '{name}' for {one.where}"
    return catalogue.lack(one.section, name, plan.version)


@rule("parameter-value", "ndb_mgmd does not take a value", refused=True)
def parameter_value(now: Estimation) -> Iterator[Problem]:
    for one in stated(now.plan):
        entry = one.reading.parameter
        if one.reading.fate is Fate.REFUSED and entry is not None:
            default = f" {format_value(entry, entry.default)}" if entry.default is not None else ""
            yield error(
                one.where,
                f"{entry.name} {one.reading.reason}; ndb_mgmd refuses the configuration",
                f"set it back to the default{default}",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


def _unlike_the_first(plan: Plan, node: SqlNode) -> Iterator[Problem]:
    """What SQL nodes of one cluster must have alike, or each for itself."""
    first = plan.sql_nodes[0]
    names = [in_effect(one.options, "lower-case-table-names", plan.version) for one in (node, first)]
    where = f"SQL node {node.node_id}"
    if names[0] != names[1]:
        text = f"lower-case-table-names is {names[0]}, and {names[1]} for SQL node {first.node_id}: "
        text += "they look for the same table by different names"
        alike = with_option(node, "lower-case-table-names", names[1])
        yield warning(where, text, f"state {names[1]} for both", (node.id, first.id), alike)
    mine = server_id(plan, node)
    before = plan.sql_nodes[: plan.sql_nodes.index(node)] if writes_binary_log(plan, node) else ()
    same = next((n for n in before if writes_binary_log(plan, n) and server_id(plan, n) == mine), None)
    if same is not None:
        text = f"server-id {mine} is that of SQL node {same.node_id} too: in the binary log neither is known "
        text += "from the other, and a cluster that replicates back takes their changes for its own"
        edit = with_option(node, "server-id", node.node_id)
        yield warning(where, text, f"state server-id {node.node_id}", (node.id, same.id), edit)


@rule("mysqld-options", "mysqld does not take an option")
def mysqld_options(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for node in plan.sql_nodes:
        where = f"SQL node {node.node_id}"
        if lacks_server_id(plan, node):
            text = "log-bin without server-id; mysqld would not start with it"
            fix = f"add server-id {node.node_id}, another number for each SQL node"
            numbered = with_option(node, "server-id", node.node_id)
            yield warning(where, text, fix, (node.id,), numbered)
        for lack in lacks(stated_options(node), plan.version):
            text = f"{lack.why}; mysqld would not start with it"
            added = with_option(node, lack.needs, lack.to_be)
            yield warning(where, text, f"add {lack.needs}={lack.to_be}", (node.id,), added)
        yield from _unlike_the_first(plan, node)
        for name, value in node.options.items():
            if why := fault(name, value, plan.version):
                edit = SetField(node.id, "options", node.options.without(name))
                yield warning(where, why, f"remove {name}", (node.id,), edit)
            elif option(without_prefix(name), plan.version) is None:
                seen = "".join(f" ({text})" for text in (who_has(name),) if text)
                text = (
                    f"{name} is not among the options of mysqld that are known here{seen}; "
                    "it is written as it is"
                )
                unknown = "what the option does: only the manual of the version says it"
                yield hint(where, text, "look for it there", (node.id,), missing=unknown)
