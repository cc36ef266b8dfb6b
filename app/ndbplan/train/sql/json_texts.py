"""Texts of JSON values as the server has them: decimals keep their digits, short names stand first.

    written(read('{"bb": 1.50, "a": 1e2}'))      # '{"a": 100.0, "bb": 1.50}'

Source: manual 8.4, The JSON Data Type; a literal of JSON knows doubles alone, decimals come from SQL.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any


def read(text: str) -> Any:
    """The value of a text. Raises ValueError."""
    return json.loads(text, parse_float=_number)


def _number(text: str) -> float | Decimal:
    return float(text) if "e" in text.lower() else Decimal(text)


def of_literal(text: str) -> str:
    """What is typed as JSON has doubles and no decimals: `[1.50]` is `[1.5]`. What is no JSON stays."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def in_order(value: Any) -> Any:
    """Members of an object stand by the length of their names, then by the names."""
    if isinstance(value, dict):
        return {name: in_order(value[name]) for name in sorted(value, key=lambda one: (len(one), one))}
    return [in_order(one) for one in value] if isinstance(value, list) else value


def written(value: Any, indent: str = "") -> str:
    """With a blank behind each sign; `indent`: a line each, as JSON_PRETTY has it."""
    return _plain(in_order(value), indent, "\n" if indent else "")


def _plain(value: Any, indent: str, line: str) -> str:
    inner = f"{line}{indent}"
    if isinstance(value, dict):
        parts = [f"{_text(name)}: {_plain(one, indent, inner)}" for name, one in value.items()]
        return _around("{}", parts, line, inner)
    if isinstance(value, list):
        return _around("[]", [_plain(one, indent, inner) for one in value], line, inner)
    return f"{value:f}" if isinstance(value, Decimal) else _text(value)


def _around(signs: str, parts: list[str], line: str, inner: str) -> str:
    if not parts:
        return signs
    return f"{signs[0]}{inner}{(',' + (inner or ' ')).join(parts)}{line}{signs[1]}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
