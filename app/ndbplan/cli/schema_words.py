"""JSON Schema in few words: kinds of values, lists, objects with keys that are there or may be."""

from __future__ import annotations

from collections.abc import Iterable

from ndbplan.base.shapes import Schema, object_schema

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
NULL: Schema = {"type": "null"}
FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def array(of: Schema) -> Schema:
    """Any number of these."""
    return {"type": "array", "items": of}


def or_null(of: Schema) -> Schema:
    """One of these, or null."""
    return {"type": [of["type"], "null"]} if list(of) == ["type"] else {"anyOf": [of, NULL]}


def record(*, optional: Iterable[str] = (), **properties: Schema) -> Schema:
    """An object with these keys; `optional` need not be there."""
    schema = object_schema(properties)
    schema["required"] = [name for name in properties if name not in optional]
    return schema


def closed(of: Schema, says: str = "") -> Schema:
    """An object that has no other keys."""
    return said({**of, "additionalProperties": False}, says)


def said(of: Schema, says: str) -> Schema:
    """The same with a description."""
    return {**of, "description": says} if says else of


def ref(name: str) -> Schema:
    """What is defined under this name."""
    return {"$ref": f"#/$defs/{name}"}


QUANTITY, ESTIMATED, BOTTLENECK, CHANGE, PART = map(
    ref, ("quantity", "estimated", "bottleneck", "change", "part")
)
FILES = array(STRING)
