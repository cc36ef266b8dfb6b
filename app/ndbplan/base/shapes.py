"""How results print as JSON: declared once at the type, as the names of what is printed.

    class HostCpu(Shape):
        JSON = "host utilisation"                # keys that are called like the attributes
    class ParameterChange(Shape):
        JSON = "section parameter=name"          # a key with another name; a path: first=steps.first

The JSON and its schema follow: a Quantity with its range and, if asked, its derivation; None as null; parts
as their own type declares.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from inspect import get_annotations
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

from ndbplan.base.quantity import Quantity

Schema = dict[str, Any]


class Shape:
    """A result that declares what it prints."""

    __slots__ = ()

    JSON: ClassVar[str] = ""
    """The keys in their order, with blanks between; `key=attribute` where the attribute has another name."""
    SHARES: ClassVar[tuple[str, ...]] = ()
    """Figures that are shares of a whole: 1 at most."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """What `--json` prints; with `why` the derivations of numbers too."""
        return {key: as_json(read(self), why) for key, read in _readers(self.JSON)}


@cache
def _readers(declared: str) -> tuple[tuple[str, attrgetter[Any]], ...]:
    return tuple((key, attrgetter(attribute)) for key, attribute in _keys(declared))


def _keys(declared: str) -> list[tuple[str, str]]:
    """(key, path of attributes) of a declaration."""
    keys = []
    for word in declared.split():
        key, _, attribute = word.partition("=")
        keys.append((key, attribute or key))
    return keys


def as_json(value: Any, why: bool = False) -> Any:
    """A value as plain JSON. TypeError for what has no form."""
    if value is None or isinstance(value, bool | int | float) or type(value) is str:
        return value
    if isinstance(value, Quantity):
        return value.to_json(why=why)
    if hasattr(value, "to_json"):
        return value.to_json(why)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(part, why) for key, part in value.items()}
    if isinstance(value, Sequence):
        return [as_json(part, why) for part in value]
    raise TypeError(f"{type(value).__name__} has no form as JSON")


DIGITS = 12
"""Significant digits of numbers that are printed and not whole. From Python 3.12 on sum() makes up for what
rounding loses; what that changes lies behind them."""


def printed(value: Any) -> Any:
    """Plain JSON as it is printed: the same under every version of Python. Whole numbers stay as they are."""
    if type(value) is float:
        return value if value.is_integer() else float(f"{value:.{DIGITS}g}")
    if type(value) is dict:
        return {key: printed(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [printed(part) for part in value]
    return value


_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def schema_of(hint: Any) -> Schema:
    """The JSON Schema of what `as_json` makes of a value of this type; quantities: `#/$defs/quantity`.

    TypeError for a type that has no form as JSON.
    """
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint is Quantity:
        return {"$ref": "#/$defs/quantity"}
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of([schema_of(part) for part in parts])
    if origin is Literal:
        return {"enum": list(parts)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if isinstance(hint, type) and issubclass(hint, Shape):
        return object_schema({key: schema_of(hint_of(hint, path)) for key, path in _keys(hint.JSON)})
    if isinstance(hint, type) and issubclass(hint, str):
        return {"type": "string"}
    if origin in (tuple, list, Sequence) and parts:
        return _array(parts)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    raise TypeError(f"{hint} has no form as JSON")


def promise(result: type[Shape], keys: str, **wider: Schema) -> Schema:
    """An object that has these of the keys that a result prints, each with its type, or the wider one given.

    KeyError for a key that the result does not print.
    """
    paths = dict(_keys(result.JSON))
    names = keys.split()
    missing = [name for name in (*names, *wider) if name not in paths or name not in names]
    if missing:
        raise KeyError(f"{result.__name__} promises no {missing[0]}")
    return object_schema(
        {name: wider[name] if name in wider else schema_of(hint_of(result, paths[name])) for name in names}
    )


def object_schema(properties: Mapping[str, Schema]) -> Schema:
    """An object that has all these properties."""
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def _one_of(parts: list[Schema]) -> Schema:
    if all(list(part) == ["type"] for part in parts):
        return {"type": [part["type"] for part in parts]}
    return {"anyOf": parts}


def _array(parts: tuple[Any, ...]) -> Schema:
    """A tuple of any length of one type, or one with as many members of that type."""
    if parts[-1] is Ellipsis or len(parts) == 1:
        return {"type": "array", "items": schema_of(parts[0])}
    if len(set(parts)) > 1:
        raise TypeError(f"an array of {parts} has no form as JSON")
    size = len(parts)
    return {"type": "array", "items": schema_of(parts[0]), "minItems": size, "maxItems": size}


def hint_of(owner: type, path: str) -> Any:
    """The type of an attribute, by its declaration or what its property gives. AttributeError for none."""
    hint: Any = owner
    for name in path.split("."):
        hint = _declared(hint, name)
    return hint


def _declared(owner: type, name: str) -> Any:
    for base in owner.__mro__:
        hint = get_annotations(base).get(name)
        if hint is None:
            value = base.__dict__.get(name)
            getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
            hint = None if getter is None else getter.__annotations__.get("return")
        if hint is not None:
            known = vars(sys.modules[base.__module__])
            return eval(hint, dict(known)) if isinstance(hint, str) else hint
    raise AttributeError(f"{owner.__name__} has no attribute {name}")
