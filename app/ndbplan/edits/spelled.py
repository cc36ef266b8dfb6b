"""Values as people write them behind an address: `32G`, `250MB/s`, and not all their digits.

spelled(place, 53687091200)     # "50G" of DataMemory
"""

from __future__ import annotations

from typing import Any

from ndbplan.base.units import format_ndb_size
from ndbplan.edits.places import Place
from ndbplan.edits.reading import text_of
from ndbplan.ndb import parameters as catalogue

_UNITS = tuple(
    (factor**power, f"{prefix}{'i' if factor == 1024 else ''}B")
    for factor in (1000, 1024)
    for power, prefix in ((4, "T"), (3, "G"), (2, "M"), (1, "K"))
)


def spelled(place: Place, value: Any) -> str:
    """The shortest text that means exactly this value at its place."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text_of(place.shape, value)
    if isinstance(value, float):
        if not value.is_integer() or abs(value) >= 2**53:
            return text_of(place.shape, value)
        value = int(value)
    if place.section and place.shape.kind == "parameter":
        name = str(place.path[-1])
        known = catalogue.exists(place.section, name)
        is_size = known and catalogue.parameter(place.section, name).unit.startswith("bytes")
        return format_ndb_size(value) if is_size else str(value)
    if place.shape.kind not in ("bytes", "rate") or value <= 0:
        return str(value)
    texts = [f"{value // size}{unit}" for size, unit in _UNITS if value % size == 0]
    shortest = min(texts, key=len, default="")
    if not shortest:
        return str(value)
    return f"{shortest}/s" if place.shape.kind == "rate" else shortest
