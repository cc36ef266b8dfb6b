"""Problems that the designer accepts, each with its reason."""

from __future__ import annotations

from pydantic import ValidationError

from ndbplan.edits import parts as edits
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import refusal
from ndbplan.plan.plan import Plan, Waiver

_FIXES = {"reason": "say why in one line", "rule": "name a rule as ndbplan check prints it"}


def accept(plan: Plan, rule: str, object_id: str | None, reason: str) -> Plan:
    """Accept what a rule says, of one object or (None) everywhere; a waiver of both is exchanged.

    Raises EditError for a reason that is empty or too long and for an object that is not there.
    """
    try:
        waiver = Waiver(rule=rule, object_id=object_id, reason=reason)
    except ValidationError as error:
        first = error.errors()[0]
        place = str(first["loc"][0])
        raise EditError(
            f"the {place} is refused: {refusal(first)}", fix=_FIXES.get(place, "name an id of the plan")
        ) from None
    others = tuple(w for w in plan.waivers if (w.rule, w.object_id) != (rule, object_id))
    return edits.put(plan, waivers=(*others, waiver))


def withdraw(plan: Plan, waiver: Waiver) -> Plan:
    """No longer accept a problem; it is listed again."""
    return edits.put(plan, waivers=tuple(w for w in plan.waivers if w is not waiver))
