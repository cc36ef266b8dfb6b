"""One row for each cause: what one cause does to many nodes or hosts is told once, with their count.

one_per_cause(plan, problems)     # "…; the same with 95 more data nodes (50, 51, 52, 53 …)"

Fixes are judged one by one before (offers.py), and so are waivers; rows only put together what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ndbplan.base.units import THIN_SPACE
from ndbplan.checks.problem import Look, Problem, WaysOut
from ndbplan.configuration.settings import ALL_DATA_NODES, data_nodes_named
from ndbplan.edits.changes import together
from ndbplan.plan.plan import Plan

_PLACE = re.compile(r"(data node|management node|SQL node|API slot|host|disk) ([^,]+)")
_NUMBER = re.compile(rf"(?<![\w.])[0-9]++(?:{THIN_SPACE}[0-9]{{3}})*+(?:\.[0-9]++)?")
_MANY = 3
"""Findings from which on one row tells of them; two that differ in numbers are told each, unless the same
solves both."""
_NAMED = 4
"""Places that a row for several names."""
_TOLD_EACH = frozenset({"what-may-fail"})
"""Rules whose every finding is a cause of its own: each part that stops the cluster."""


def once_of_all(plan: Plan, problems: Iterable[Problem]) -> list[Problem]:
    """What is said in the same words of several groups of data nodes is said once, of all of them.

    They are told apart by what each states of its own, folders too, which may have nothing to do with it.
    """
    groups: dict[tuple[object, ...], list[Problem]] = {}
    for number, problem in enumerate(problems):
        is_of_some = problem.where.startswith("data node") and problem.object_ids
        has_fix = problem.edit is not None
        key = (
            problem.rule,
            problem.severity,
            problem.waived,
            problem.message,
            problem.fix,
            has_fix,
            id(problem.solve),
        )
        groups.setdefault(key if is_of_some else (number,), []).append(problem)
    return [_of_all(plan, group) if len(group) > 1 else group[0] for group in groups.values()]


def _of_all(plan: Plan, group: Sequence[Problem]) -> Problem:
    ids = {object_id for problem in group for object_id in problem.object_ids}
    nodes = [node for node in plan.data_nodes if node.id in ids]
    edits = [problem.edit for problem in group if problem.edit is not None]
    is_one = all(edit == edits[0] for edit in edits)
    return replace(
        group[0],
        where=ALL_DATA_NODES if len(nodes) == len(plan.data_nodes) else data_nodes_named(nodes),
        object_ids=tuple(node.id for node in nodes),
        edit=(edits[0] if is_one else together(edits)) if edits else None,
    )


def one_per_cause(plan: Plan, problems: Iterable[Problem]) -> list[Problem]:
    """The problems; those of one rule that say the same of many nodes or hosts are one.

    It stands where the first of them stood. The same: but for numbers and the names of nodes, hosts and
    disks; with a fix that is offered, the same words of the fix too. The one that takes most of its limit
    speaks for all.
    """
    groups: dict[tuple[object, ...], list[tuple[int, Problem]]] = {}
    for number, problem in enumerate(problems):
        place = _PLACE.fullmatch(problem.where)
        key: tuple[object, ...] = (number,)
        if place is not None and problem.rule not in _TOLD_EACH:
            message, fix = _without_names(plan, problem)
            said = problem.fix if problem.edit is not None else fix
            key = (problem.rule, problem.severity, problem.waived, place[1], message, said)
        groups.setdefault(key, []).append((number, problem))
    rows: dict[int, Problem] = {}
    for group in groups.values():
        many = 2 if group[0][1].solve is not None else _MANY
        told = [_as_one([one for _, one in group])] if len(group) >= many else [one for _, one in group]
        rows.update(zip((number for number, _ in group), told, strict=False))
    return _once_of_workloads(plan, [rows[number] for number in sorted(rows)])


def _once_of_workloads(plan: Plan, problems: Iterable[Problem]) -> list[Problem]:
    """What several workloads do in one place is told once, of the one that takes most of the limit.

    Where each has a fix of its own, they are told each: the larger of two values is not known here.
    """
    names = {workload.id: workload.name for workload in plan.workloads}
    groups: dict[tuple[object, ...], list[Problem]] = {}
    for number, problem in enumerate(problems):
        key: tuple[object, ...] = (number,)
        under = next((names[i] for i in problem.object_ids if i in names), None)
        if under is not None and problem.measure and problem.edit is None:
            words = _NUMBER.sub("#", problem.message.replace(f"'{under}'", "#"))
            key = (problem.rule, problem.severity, problem.waived, problem.where, words)
        groups.setdefault(key, []).append(problem)
    return [_of_workloads(names, group) if len(group) > 1 else group[0] for group in groups.values()]


def _of_workloads(names: Mapping[str, str], group: Sequence[Problem]) -> Problem:
    worst_first = sorted(group, key=lambda problem: -problem.measure)
    first = worst_first[0]
    ids = tuple(dict.fromkeys(i for problem in (first, *group) for i in problem.object_ids))
    others = ", ".join(f"'{names[i]}'" for i in ids if i in names and i not in first.object_ids)
    return replace(
        first,
        message=f"{first.message}; it is too much under {others} too",
        object_ids=ids,
        alike=tuple(single(group)),
        solve=first.solve and partial(_of_what_can_be_solved, names, worst_first),
    )


def _of_what_can_be_solved(names: Mapping[str, str], worst_first: Sequence[Problem], look: Look) -> WaysOut:
    """Ways out under the worst workload, which hold under all; without any, under those that take less."""
    found: WaysOut | None = None
    for number, problem in enumerate(worst_first):
        ways = problem.solve(look) if problem.solve is not None else WaysOut((), "")
        found = found or ways
        if not ways.solutions:
            continue
        if not number:
            return ways
        ids = {i for one in worst_first[number:] for i in one.object_ids}
        only = " and ".join(f"'{name}'" for i, name in names.items() if i in ids)
        of_less = (replace(way, title=f"{way.title}: enough for {only} only") for way in ways.solutions)
        return WaysOut(tuple(of_less), found.fix)
    assert found is not None
    return found


def single(problems: Iterable[Problem]) -> list[Problem]:
    """The problems one by one: those that a row stands for in its place."""
    return [each for problem in problems for each in (problem.alike or (problem,))]


def _without_names(plan: Plan, problem: Problem) -> tuple[str, str]:
    names: set[str] = set()
    for object_id in problem.object_ids:
        part = plan.by_id.get(object_id)
        host = plan.host_of_disk.get(object_id) or plan.by_id.get(getattr(part, "host_id", None) or object_id)
        names.add(str(getattr(host, "hostname", "")))
        names |= {disk.name for disk in getattr(host, "disks", ())}
    names = {*names, problem.where.rpartition(" ")[2]} - {""}
    # The longest first: one name may begin another. Node ids are numbers, and no part of larger ones.
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if not name.isdigit())
    pattern = re.compile(rf"(?<![\w.-])(?:{known})(?![\w-])")

    def plain(text: str) -> str:
        return _NUMBER.sub("#", pattern.sub("#", text) if known else text)

    return plain(problem.message), plain(problem.fix or "")


def _as_one(group: Sequence[Problem]) -> Problem:
    first = max(group, key=lambda problem: problem.measure)
    others = [problem for problem in group if problem is not first]
    kind = first.where.removesuffix(_name(first)).strip()
    kinds = f"{kind}s" if len(others) > 1 else kind
    edits = [problem.edit for problem in group if problem.edit is not None]
    return replace(
        first,
        where=f"{first.where} and {len(others)} more",
        message=f"{first.message}; the same with {len(others)} more {kinds} ({_names(others)})",
        object_ids=tuple(dict.fromkeys(i for problem in (first, *others) for i in problem.object_ids)),
        edit=together(edits) if edits else None,
        alike=tuple(group),
    )


def _name(problem: Problem) -> str:
    place = _PLACE.fullmatch(problem.where)
    return problem.where if place is None else place[2]


def _names(problems: Sequence[Problem]) -> str:
    named = list(dict.fromkeys(_name(problem) for problem in problems))
    return ", ".join(named[:_NAMED]) + (" …" if len(named) > _NAMED else "")
