"""Values that the program set follow the hardware: decided again, by the same rules, when it changes.

    after = followed(before, after)        # what was pinned by hand or imported stays as it is

A value that the program set keeps what had stood there before. When hosts, disks or places of nodes change,
those values are put back and the rules that had decided decide again: a fix that is needed no more is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.checks.harm import RULES_OF_ROOM, harm
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import load_rules
from ndbplan.configuration.stated import Fate, Stated, stated
from ndbplan.edits import validated
from ndbplan.edits.changes import value_changes
from ndbplan.edits.from_host import settled_anew
from ndbplan.edits.parameters import put_origin, set_parameter, stated_at
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import Host
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.plan import Plan

_MOST_ROUNDS = 3
Place = tuple[str, str]
"""Scope and name of a parameter."""


def followed(before: Plan, after: Plan) -> Plan:
    """`after` with what rules had set decided again, when hosts, disks or places of nodes are others.

    Another version decides again on what it does not know, by its own means. Unchanged where nothing else is
    better: rules that cannot mend the new plan leave their values. A host that is only called something else
    changes no value, but the reasons that name it.
    """
    named_anew = _names(before) != _names(after)
    other_hardware = _other_hardware(before, after)
    other_version = before.version != after.version
    if not (named_anew or other_hardware or other_version):
        return after
    load_rules()
    again = settled_anew(_by_counterparts(after) if other_version else after)
    decided = [one for one in stated(again) if _rule_of(one) in RULES and not _took_over(one)]
    if other_version and not other_hardware:
        decided = [one for one in decided if one.reading.fate is Fate.UNKNOWN]
    if decided:
        # A plan that is too incomplete for its rules keeps what they said of it before.
        with suppress(UserError):
            again = _decided_again(again, decided, by_other_means=other_version)
    if not (other_hardware or other_version):
        return _with_reasons(after, again)
    return again if stated(again) != stated(after) else after


def _by_counterparts(plan: Plan) -> Plan:
    """The plan in which counterparts say what the program set of parameters that the version lacks."""
    for one in stated(plan):
        name = one.reading.written
        if one.reading.fate is not Fate.UNKNOWN or not isinstance(one.origin, SetByProgram):
            continue
        other = (
            catalogue.parameter(one.section, name).counterpart if catalogue.exists(one.section, name) else ""
        )
        told = {each.lower() for each in stated_at(plan, one.scope)[0]}
        if other and catalogue.knows(one.section, other, plan.version) and other.lower() not in told:
            plan = set_parameter(plan, one.scope, name, None)
            plan = set_parameter(plan, one.scope, other, one.reading.raw, one.origin)
    return plan


def _names(plan: Plan) -> dict[str, str]:
    return {host.id: host.hostname for host in plan.hosts}


def _with_reasons(plan: Plan, other: Plan) -> Plan:
    """The plan with the reasons that another one gives for the same values."""
    reasons = {
        (one.scope, one.reading.written, one.reading.value, _rule_of(one)): one.origin.reason
        for one in stated(other)
        if isinstance(one.origin, SetByProgram)
    }
    for one in stated(plan):
        reason = reasons.get((one.scope, one.reading.written, one.reading.value, _rule_of(one)))
        if isinstance(one.origin, SetByProgram) and reason not in (None, one.origin.reason):
            origin = validated.changed(one.origin, reason=reason)
            plan = put_origin(plan, one.scope, one.reading.written, origin)
    return plan


def _rule_of(one: Stated) -> str:
    return one.origin.rule if isinstance(one.origin, SetByProgram) else ""


def _took_over(one: Stated) -> bool:
    """Whether the value is that of an old parameter, which is gone: there is nothing to decide it from."""
    return RULES[_rule_of(one)].topic == "obsolete"


def _decided_again(plan: Plan, decided: Iterable[Stated], *, by_other_means: bool) -> Plan:
    """The plan with the rules' values as the rules say now.

    `by_other_means`: they may also set what nothing states, as another version has other parameters.
    """
    places = {(one.scope, one.reading.written) for one in decided}
    rules = {_rule_of(one) for one in decided}
    again = plan
    for one in decided:
        assert isinstance(one.origin, SetByProgram)
        again = set_parameter(again, one.scope, one.reading.written, one.origin.instead, one.origin.imported)
    for _ in range(_MOST_ROUNDS):
        earlier = again
        for name in (name for name in RULES if name in rules):
            for problem in RULES[name].problems(Estimation(again)):
                again = _mended(again, problem, places, by_other_means)
        if again is earlier:
            break
    looked_at = rules | RULES_OF_ROOM
    return plan if harm(_found(plan, looked_at), _found(again, looked_at)) else again


def _mended(plan: Plan, problem: Problem, places: Collection[Place], by_other_means: bool) -> Plan:
    """The plan after a fix that changes nothing but values the program had set, or that nothing states."""
    if problem.edit is None:
        return plan
    try:
        mended = problem.edit(plan)
    except UserError:
        return plan
    changes = value_changes(plan, mended)
    free = [c for c in changes if by_other_means and c.is_parameter and c.before is None]
    allowed = changes and all((c.scope, c.name) in places or c in free for c in changes)
    return mended if allowed else plan


def _found(plan: Plan, rules: Collection[str]) -> list[Problem]:
    now = Estimation(plan)
    return [problem for name in RULES if name in rules for problem in RULES[name].problems(now)]


def _other_hardware(before: Plan, after: Plan) -> bool:
    if before.hosts is after.hosts and before.processes is after.processes:
        return False
    return _hardware(before) != _hardware(after)


def _hardware(plan: Plan) -> tuple[Any, ...]:
    """Hosts and disks without what they are called and where they are drawn, and what runs on them."""
    nodes = ((p.id, p.host_id, getattr(p, "container_memory_bytes", None)) for p in plan.processes)
    return tuple(map(_unnamed, plan.hosts)), tuple(nodes)


def _unnamed(host: Host) -> Host:
    drawn = {"hostname": "", "position": None, "slot": None, "location_id": None}
    return host.model_copy(update={**drawn, "assumed": ()})
