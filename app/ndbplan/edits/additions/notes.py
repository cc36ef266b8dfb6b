"""Adding waivers and calibrations: what the designer accepts, and what was measured."""

from __future__ import annotations

from ndbplan.edits import parts as edits
from ndbplan.edits import reading
from ndbplan.edits.additions.words import Made, Words, made, one_name, path_of
from ndbplan.edits.address import AddressError
from ndbplan.edits.assign import referred
from ndbplan.edits.waivers import accept
from ndbplan.ndb.constants import all_constants
from ndbplan.plan.plan import Calibration, Plan


def waivers(plan: Plan, words: Words) -> Made:
    """A problem that is accepted, with its reason."""
    rule = one_name(words, "waiver", needed=True) or ""
    left = words.without("object", "object_id", "reason").fields
    if left:
        raise AddressError(f"a waiver has no {next(iter(left))[:60]}", fix="it has object= and reason=")
    typed = words.fields.get("object") or words.fields.get("object_id")
    object_id = None if typed is None else referred(plan, ("object_id",), typed.strip())
    plan = accept(plan, rule, object_id, words.fields.get("reason", "").strip())
    return plan, [path_of(plan, plan.waivers[-1])]


def calibrations(plan: Plan, words: Words) -> Made:
    """A measured rate that replaces one of the engine's constants."""
    constant = one_name(words, "calibration", needed=True) or ""
    if constant not in all_constants():
        raise AddressError(
            f"the engine has no constant '{constant[:60]}'",
            fix=reading.near(constant, all_constants(), "such as"),
        )
    typed = {"constant": constant, "source": "measured here", **words.fields}
    new = made(plan, Calibration, Words((), typed), "calibration")
    others = tuple(c for c in plan.calibrations if c.constant != constant)
    plan = edits.set_plan(plan, calibrations=(*others, new))
    return plan, [("calibrations", len(plan.calibrations) - 1)]
