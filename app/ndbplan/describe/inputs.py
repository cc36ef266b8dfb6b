"""Values of the inputs of a sweep, as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ndbplan.edits.assign import assign
from ndbplan.edits.changes import ASSUMED, value_changes
from ndbplan.plan.plan import Plan


def value_in_words(plan: Plan, address: str, value: str, values: Sequence[str]) -> str:
    """One of the `values` of an input: what setting it changes says in which unit it is."""
    then = assign(plan, f"{address}={value}")[0]
    # What the plan has already is no change of it, but of what it has with another value.
    others = (assign(plan, f"{address}={other}")[0] for other in values if other != value)
    changes = (value_changes(before, then) for before in chain((plan,), others))
    # That a value is no longer assumed is no value of it.
    shown = (one.shown[1] for found in changes for one in found if not one.name.startswith(ASSUMED))
    return next(shown, value)
