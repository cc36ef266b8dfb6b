"""Who set a parameter, kept true while parameters change: pieces of edits, and what tells origins apart.

plan = credited(before, after, SetByProgram(rule="remedies", reason="RedoBuffer doubled"))
plan = pinned(plan, "data_node", "DataMemory")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ndbplan.plan.fields import Parameters
from ndbplan.plan.origins import ClusterOrigins, Origin, Origins, SetByProgram
from ndbplan.plan.plan import Plan


def with_origin(
    origins: Origins, stated: Parameters, name: str, value: int | str | None, origin: Origin | None
) -> Origins:
    """The origins once `name` has `value` instead of what is stated, set by `origin`; None: by hand.

    What the program decides anew is still instead of what a person or a file had said first; where it comes
    back to that, that is who set it.
    """
    known = [each for each in (*origins, *stated) if each.lower() == name.lower()]
    before = next((origins[each] for each in known if each in origins), None)
    was = next((stated[each] for each in known if each in stated), None)
    for each in known:
        origins = origins.without(each) if each in origins else origins
    if isinstance(origin, SetByProgram):
        origin = _instead(origin, before, was, value)
    return origins if origin is None or value is None else origins.with_(name, origin)


def _instead(
    origin: SetByProgram, before: Origin | None, was: int | str | None, value: int | str | None
) -> Origin | None:
    if isinstance(before, SetByProgram):
        if was == value:
            return before
        was, imported = before.instead, before.imported
    else:
        imported = before
    if was is not None and was == value:
        return imported
    return origin.model_copy(update={"instead": was, "imported": imported})


def still_true(origins: Origins, before: Mapping[str, Any], after: Mapping[str, Any]) -> Origins:
    """The origins of those parameters that are stated as before: others were set by hand."""
    kept = {n: o for n, o in origins.items() if n in after and n in before and after[n] == before[n]}
    return origins if len(kept) == len(origins) else Origins(kept)


def still_true_of_cluster(origins: ClusterOrigins, before: Any, after: Any) -> ClusterOrigins:
    """The same of the parameters of all nodes of a kind."""
    kept: dict[str, Origins] = {}
    for scope in ClusterOrigins.model_fields:
        known: Origins = getattr(origins, scope)
        kept[scope] = still_true(known, getattr(before, scope), getattr(after, scope)) if known else known
    if all(kept[scope] is getattr(origins, scope) for scope in kept):
        return origins
    return origins.model_copy(update=kept)


def has_program_set(plan: Plan) -> bool:
    """Whether the program set any parameter of the plan."""
    of_kinds = (getattr(plan.origins, scope) for scope in ClusterOrigins.model_fields)
    of_parts = (part.origins for part in (*plan.processes, *plan.links))
    return any(isinstance(o, SetByProgram) for origins in (*of_kinds, *of_parts) for o in origins.values())
