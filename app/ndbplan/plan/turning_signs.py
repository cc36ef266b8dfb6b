"""Signs that turn the direction of what follows: files of earlier programs may hold them, plans may not."""

from __future__ import annotations

import re
from typing import Any

from ndbplan.plan.file_errors import path_of

_SIGNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
STANDS_FOR_A_SIGN = "\ufffd"


def without_signs(document: Any) -> tuple[Any, tuple[str, ...]]:
    """Parsed JSON with a U+FFFD for each sign, so that texts keep their length, and where they stood."""
    found: list[str] = []

    def replaced(text: str, way: tuple[str | int, ...]) -> str:
        if not _SIGNS.search(text):
            return text
        found.append(path_of(way))
        return _SIGNS.sub(STANDS_FOR_A_SIGN, text)

    def healed(value: Any, way: tuple[str | int, ...]) -> Any:
        if isinstance(value, str):
            return replaced(value, way)
        if isinstance(value, list):
            return [healed(one, (*way, number)) for number, one in enumerate(value)]
        if isinstance(value, dict):
            return {replaced(key, way): healed(one, (*way, key)) for key, one in value.items()}
        return value

    return healed(document, ()), tuple(dict.fromkeys(found))
