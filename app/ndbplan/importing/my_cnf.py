"""Options of an SQL node from its my.cnf, put into a plan.

    read = with_options(plan, text, "app-a1.my.cnf")
    read.plan, read.changes, read.noticed

As mysqld reads it: the groups [mysqld], [server] and those of a release ([mysqld-8.4]) count, and the group
of the node ([mysqld@147]) where a host runs several; a later line wins; - and _ are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.units import whole_number
from ndbplan.configuration.mysqld import mysqld_options, options_of_its_place
from ndbplan.edits.parts import update
from ndbplan.ndb.mysqld_options import canonical, fault, option, said_by_the_plan
from ndbplan.ndb.option_file import value_of_line
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode, process_node_ids

_GROUP = re.compile(r"\[([^\]]{1,80})\]")
_SUFFIXES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_SIZE = re.compile(r"([0-9]{1,19})([kmgtpe])", re.IGNORECASE)


class MyCnfError(UserError):
    """A file whose SQL node is not known, or without options of mysqld."""


class Told(NamedTuple):
    """One line of a group that counts."""

    line: int
    name: str
    value: str
    """Nothing for one that stands alone."""


class Read(NamedTuple):
    """What a file made of a plan."""

    plan: Plan
    changes: tuple[str, ...]
    noticed: tuple[tuple[int, str], ...]
    """Lines of which something is to be said, and what."""


def with_options(plan: Plan, text: str, name: str, *, only_these: bool = False) -> Read:
    """The plan with the options of the SQL nodes that a my.cnf is for.

    `only_these`: those that the file lacks go. Raises MyCnfError where no SQL node of the plan fits the file.
    """
    groups, noticed = _groups(text)
    nodes = _nodes(plan, groups, name)
    changes: list[str] = []
    for node in nodes:
        lines = [one for group, one in groups if _counts(group, node, plan)]
        by_name = {one.name: one for one in lines}
        noticed += [(o.line, f"{o.name} is said again below") for o in lines if by_name[o.name] is not o]
        mine = options_of_its_place(plan, node)
        stated: dict[str, int | str] = {}
        for one in by_name.values():
            if said := _against_the_plan(plan, node, one):
                noticed.append((one.line, said))
            elif not said_by_the_plan(one.name) and mine.get(one.name) != one.value:
                stated[one.name] = _value(plan, one)
                noticed += ((one.line, why) for why in _of_an_option(plan, one))
        old = {canonical(key): value for key, value in node.options.items()}
        new = stated if only_these else {**old, **stated}
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                was, is_now = (str(values.get(key, "not set")) for values in (old, new))
                changes.append(f"SQL node {node.node_id}: {key}: {was} → {is_now}")
        plan = update(plan, node.id, options=new)
    return Read(plan, tuple(changes), tuple(sorted(set(noticed))))


def _groups(text: str) -> tuple[list[tuple[str, Told]], list[tuple[int, str]]]:
    """Lines with the group that they stand in, and what is not followed."""
    groups: list[tuple[str, Told]] = []
    noticed: list[tuple[int, str]] = []
    group = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "!":
            noticed.append((number, f"{line.split()[0]} is not followed; give the file itself"))
        elif match := _GROUP.match(line):
            group = match[1].strip().lower()
        else:
            name, behind, value = line.partition("=")
            name = canonical((name if behind else value_of_line(name)).removeprefix("loose-"))
            groups.append((group, Told(number, name, value_of_line(value))))
    return groups, noticed


def _counts(group: str, node: SqlNode, plan: Plan) -> bool:
    series = f"mysqld-{plan.version.major}.{plan.version.minor}"
    return group in ("mysqld", "server", series, f"mysqld@{node.node_id}")


def _nodes(plan: Plan, groups: list[tuple[str, Told]], name: str) -> list[SqlNode]:
    """The SQL nodes that the file is for: by the ids in it, by its name, or the only one."""
    stated = [
        whole_number(one.value)
        for group, one in groups
        if one.name == "ndb-nodeid" and group.startswith(("mysqld", "server"))
    ]
    stated += [whole_number(group[7:]) for group, _ in groups if group.startswith("mysqld@")]
    ids = {node_id for node_id in stated if node_id is not None}
    nodes = [node for node in plan.sql_nodes if ids.intersection(process_node_ids(node))]
    if not nodes and not ids:
        host = name.replace("\\", "/").rpartition("/")[2].removesuffix(".cnf").removesuffix(".my")
        nodes = [node for node in plan.sql_nodes if plan.host(node.host_id).hostname == host]
        nodes = nodes or (list(plan.sql_nodes) if len(plan.sql_nodes) == 1 else [])
    if not any(
        group in ("mysqld", "server") or group.startswith(("mysqld@", "mysqld-")) for group, _ in groups
    ):
        raise MyCnfError("no group of mysqld has an option", where=name, fix="give the my.cnf of an SQL node")
    if not nodes:
        known = ", ".join(str(node.node_id) for node in plan.sql_nodes) or "none"
        told = f"ndb-nodeid {', '.join(map(str, sorted(ids)))}" if ids else "no ndb-nodeid"
        raise MyCnfError(
            f"the file has {told}; SQL nodes of the plan: {known}",
            where=name,
            fix="name the plan with --into, and the file HOST.my.cnf or with the ndb-nodeid of its SQL node",
        )
    return nodes


def _against_the_plan(plan: Plan, node: SqlNode, one: Told) -> str:
    """What the plan says otherwise than the file; nothing where they agree or only the file speaks."""
    why = said_by_the_plan(one.name)
    mine = mysqld_options(plan, node).get(one.name)
    if one.name in ("skip-ndbcluster", "disable-ndbcluster"):
        return fault(one.name, one.value, plan.version)
    if not why or mine is None or mine == one.value:
        return ""
    return f"{one.name} is {one.value or 'set'} here; the plan has {mine}, from {why}"


def _value(plan: Plan, one: Told) -> int | str:
    known = option(one.name, plan.version)
    if known is not None and known.type == "int":
        if match := _SIZE.fullmatch(one.value):
            return int(match[1]) * _SUFFIXES[match[2].lower()]
        number = whole_number(one.value)
        return one.value if number is None else number
    if known is not None and known.type == "bool" and not one.value:
        return "ON"
    return one.value


def _of_an_option(plan: Plan, one: Told) -> Iterator[str]:
    if why := fault(one.name, _value(plan, one), plan.version):
        yield why
    elif option(one.name, plan.version) is None:
        yield f"{one.name} is not among the options that are known here; it is kept as it is"
