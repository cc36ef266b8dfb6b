"""Each key of a JSON object once: Python's own reader takes the last of two values, and says nothing.

json.loads(text, object_pairs_hook=each_key_once)
"""

from __future__ import annotations

from typing import Any

from ndbplan.base.errors import UserError


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object that these keys and values make. Raises UserError where a key stands twice."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    twice = next(key for at, key in enumerate(keys) if key in keys[:at])
    first, value = pairs[0]
    of = f" of the object with {first} {value}" if first != twice and isinstance(value, str | int) else ""
    raise UserError(f"'{twice[:60]}'{of} is stated twice", fix="keep one of them")
