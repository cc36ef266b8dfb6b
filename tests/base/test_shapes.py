from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Literal

import pytest

import ndbplan
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape, as_json, hint_of, printed, promise, schema_of

EXACT = Quantity(1.0, 0.5, 2.0, "s", (Term("a", 1.0, "s", "plan"),))


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Part(Shape):
    JSON = "id=number time_s"

    number: int
    time_s: Quantity | None


@dataclass(frozen=True)
class Whole(Shape):
    JSON = "name colour kind parts first=first.number links by_name twice"

    name: str
    colour: Colour
    kind: Literal["a", "b"]
    parts: tuple[Part, ...]
    links: tuple[tuple[int, int], ...]
    by_name: Mapping[str, float]
    unsaid: str = "not printed"

    @property
    def first(self) -> Part:
        return self.parts[0]

    @cached_property
    def twice(self) -> int | str | None:
        return 2 * self.first.number


WHOLE = Whole("w", Colour.RED, "a", (Part(1, EXACT), Part(2, None)), ((1, 2),), {"x": 0.5})


def test_what_is_declared_is_printed_in_that_order() -> None:
    shape = WHOLE.to_json()
    assert list(shape) == ["name", "colour", "kind", "parts", "first", "links", "by_name", "twice"]
    quantity = {"value": 1.0, "low": 0.5, "high": 2.0, "unit": "s"}
    assert shape["parts"] == [{"id": 1, "time_s": quantity}, {"id": 2, "time_s": None}]
    assert (shape["colour"], shape["first"], shape["links"], shape["twice"]) == ("red", 1, [[1, 2]], 2)
    assert type(shape["colour"]) is str


def test_derivations_are_printed_when_asked() -> None:
    assert "why" in WHOLE.to_json(why=True)["parts"][0]["time_s"]


def test_versions_of_python_print_the_same() -> None:
    """Python 3.12 adds up 583.9 where 3.11 gets 583.8999999999999; both were seen of one sample."""
    older = {"value": [583.8999999999999, 163.4383931313169], "bytes": 99_999_999_999_999.0, "count": 2**60}
    newer = {"value": (583.9, 163.43839313131693), "bytes": 99_999_999_999_999.0, "count": 2**60}
    assert json.dumps(printed(older)) == json.dumps(printed(newer))
    assert printed(older)["bytes"] == older["bytes"]
    assert printed({"a": [True, None, "x", -0.1]}) == {"a": [True, None, "x", -0.1]}


def test_the_schema_follows_from_the_types() -> None:
    schema = schema_of(Whole)
    part = schema_of(Part)
    assert schema["required"] == list(WHOLE.to_json())
    assert schema["properties"] == {
        "name": {"type": "string"},
        "colour": {"enum": ["red"]},
        "kind": {"enum": ["a", "b"]},
        "parts": {"type": "array", "items": part},
        "first": {"type": "integer"},
        "links": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        },
        "by_name": {"type": "object", "additionalProperties": {"type": "number"}},
        "twice": {"type": ["integer", "string", "null"]},
    }
    time = {"anyOf": [{"$ref": "#/$defs/quantity"}, {"type": "null"}]}
    assert part["properties"] == {"id": {"type": "integer"}, "time_s": time}


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError, match="no form as JSON"):
        as_json(object())
    with pytest.raises(TypeError, match="no form as JSON"):
        schema_of(object)


def declared() -> Iterator[type[Shape]]:
    """Every result of the program that declares its JSON."""
    for module in pkgutil.walk_packages(ndbplan.__path__, "ndbplan."):
        if not module.name.startswith(("ndbplan.desktop", "ndbplan.__main__")):
            importlib.import_module(module.name)
    waiting = [Shape]
    while waiting:
        found = waiting.pop()
        waiting += found.__subclasses__()
        if found.JSON and found.__module__.startswith("ndbplan."):
            yield found


def test_every_declared_name_is_an_attribute_with_a_type() -> None:
    results = list(declared())
    assert len(results) > 50
    for result in results:
        for word in result.JSON.split():
            path = word.partition("=")[2] or word
            try:
                assert schema_of(hint_of(result, path)) is not None
            except NameError:
                # Its type is known to type checkers only, for the sake of what is imported when.
                assert path.split(".")[0] in {name for base in result.__mro__ for name in vars(base)} | {
                    field.name for field in fields(result)
                }


def test_a_key_that_is_not_printed_cannot_be_promised() -> None:
    assert promise(Part, "id")["properties"] == {"id": {"type": "integer"}}
    assert promise(Part, "id", id={"type": "number"})["properties"] == {"id": {"type": "number"}}
    for names, wider in (("number", {}), ("id", {"time_s": {}})):
        with pytest.raises(KeyError, match="promises no"):
            promise(Part, names, **wider)


def test_whoever_writes_its_json_out_says_why() -> None:
    code = Path(ndbplan.__file__).parent
    for path in sorted(code.rglob("*.py")):
        if path.parent.name == "base":
            continue
        after = path.read_text("utf-8").split("def to_json(")[1:]
        for body in after:
            assert "written out" in body.split('"""')[1], path
