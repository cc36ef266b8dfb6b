"""What the members of a list in a plan are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from ndbplan.base.kept import kept_by_identity
from ndbplan.plan.fields import Part
from ndbplan.plan.plan import EMPTY_PLAN, Calibration, Plan, Waiver
from ndbplan.plan.processes import Link
from ndbplan.plan.tables import Table


def called(plan: Plan, part: Any) -> tuple[str, ...]:
    """What a member of a tuple is called, the surest first; nothing: it is counted."""
    if not isinstance(part, Part):
        return ()
    fields = type(part).model_fields
    if isinstance(part, Table):
        return (part.id, part.full_name, part.name)
    if isinstance(part, Link):
        ends = [plan.by_id.get(i) for i in (part.process_id_1, part.process_id_2)]
        numbers = "/".join(str(getattr(end, "node_id", "")) for end in ends)
        return (f"{part.process_id_1}/{part.process_id_2}", numbers)
    if isinstance(part, Calibration):
        return (part.constant,)
    if isinstance(part, Waiver):
        return (part.rule if part.object_id is None else f"{part.rule}/{part.object_id}", part.rule)
    if "id" in fields:
        other = next((str(getattr(part, n)) for n in ("node_id", "hostname", "name") if n in fields), None)
        own = str(getattr(part, "id"))  # noqa: B009 — which parts have one is seen above
        return (own,) if other is None else (own, other)
    # An event that has a name is not called by it: it tells of a parameter.
    return (str(part.name),) if hasattr(part, "name") and "at_s" not in fields else ()


@kept_by_identity(size=8)
def telling(inside: tuple[Any, ...]) -> Collection[str]:
    """Names that lead to one member of a tuple of objects, as they are looked for."""
    names = Counter(called(EMPTY_PLAN, part)[1] for part in inside)
    return {name for name, times in names.items() if times == 1} - {part.id for part in inside}
