"""Field types that every part of a plan shares: identifiers, names, sizes, the frozen base."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
)

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.units import format_count, how_many

MAX_BYTES = 2**60
MAX_RATE = 1e15
FARTHEST = 1e6
"""From the middle of the canvas, in its units."""


class Part(BaseModel):
    """Base of everything in a plan: frozen, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=False,
        ser_json_inf_nan="constants",
        # A part is mostly validated as a piece of a Plan; its own validator is built when first asked for.
        defer_build=True,
    )


_CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
"""Control characters, those that turn the direction of what follows (digits too), halves of characters, and
what XML may not hold."""


def no_control(text: str) -> str:
    """The text itself; ValueError when it holds a control character."""
    bad = None if text.isprintable() else re.search(_CONTROL, text)
    if bad is not None:
        raise ValueError(f"holds the control character U+{ord(bad[0]):04X}; only printable text is allowed")
    return text


class Assumable(Part):
    """A part that may hold values nobody stated."""

    assumed: tuple[Annotated[str, Field(max_length=120), AfterValidator(no_control)], ...] = Field(
        default=(), max_length=1000
    )
    """Names of fields (or parameters) whose values are assumptions; shown as such."""


def _no_control_but_lines(text: str) -> str:
    no_control(text.replace("\n", " ").replace("\t", " "))
    return text


_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Id = Annotated[str, Field(pattern=_ID_PATTERN)]
"""Identifies an object inside the plan; unique over the whole plan."""


@dataclass(frozen=True, slots=True)
class Ref:
    """Says of a field that it names objects: `host_id: Annotated[Id, Ref("hosts", gone="remove")]`.

    Written once, at the field; `plan.references` finds, checks, renames and takes out what is declared here.
    """

    to: str
    """What the object must be: a key of `plan.references.KINDS`."""
    gone: Literal["remove", "clear"]
    """When the object is removed: the part with this field goes too, or the field no longer states it."""


@dataclass(frozen=True)
class Shown:
    """How a form shows a field: `groups: Annotated[int, Shown("Node groups")]`."""

    label: str
    empty: str | None = None
    """What stands where nothing is stated; None: something always is."""
    tip: str = ""


Label = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(no_control)]
"""A name for people."""

Note = Annotated[str, Field(max_length=20_000), AfterValidator(_no_control_but_lines)]

_IPV6 = r"(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:\.[0-9]{1,3}){0,3}"

_HOSTNAME_PATTERN = rf"^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|{_IPV6})$"
Hostname = Annotated[str, Field(max_length=253, pattern=_HOSTNAME_PATTERN)]
"""A DNS name or IP address, as it goes into config.ini; whether anything can resolve it is for `check`."""

PATH_PATTERN = r"^/[A-Za-z0-9._/@%+=:,-]*$"
PathText = Annotated[str, Field(max_length=512, pattern=PATH_PATTERN)]
"""An absolute path that needs no quoting in INI files and is quoted in scripts all the same."""

_ALLOWED = {
    _ID_PATTERN: "an id is made of letters, digits and . _ - and begins with a letter or digit",
    _HOSTNAME_PATTERN: "a host name is a DNS name or an IP address, without port",
    PATH_PATTERN: "a path begins with / and is made of letters, digits and . _ / @ % + = : , -",
}


_EXAMPLES = {
    _ID_PATTERN: "host-a1",
    _HOSTNAME_PATTERN: "db1.example.org or 10.0.0.5",
    PATH_PATTERN: "/var/lib/mysql-cluster",
}
_FIXES = {
    kind: fix
    for fix, kinds in {
        "write its fields in braces": "model_type model_attributes_type dict_type dataclass_type",
        "write it in brackets": "list_type tuple_type",
        "write a whole number, such as 4": "int_type int_parsing int_from_float int_parsing_size",
        "write a number, such as 1.5": "float_type float_parsing finite_number",
        "write it in quotes": "string_type",
        "write true or false": "bool_type bool_parsing",
    }.items()
    for kind in kinds.split()
}
_ONE_OF = ("literal_error", "enum")
_SHAPES = {
    kind: said
    for said, kinds in {
        "it must be an object, with its fields in braces": (
            "model_type model_attributes_type dict_type dataclass_type"
        ),
        "it must be a list, in brackets": "list_type tuple_type",
        "it must be a whole number": "int_type int_parsing int_from_float int_parsing_size",
        "it must be a number": "float_type float_parsing",
        "it must be a finite number": "finite_number",
        "it must be a text, in quotes": "string_type",
        "it must be true or false": "bool_type bool_parsing",
    }.items()
    for kind in kinds.split()
}
"""Why a value is refused, by the kind of pydantic's error."""


def refusal(error: Mapping[str, Any]) -> str:
    """Why a value is refused, in words, from one error of pydantic."""
    context = error.get("ctx") or {}
    if error["type"] == "value_error":
        return str(context["error"])
    said = (
        _ALLOWED.get(str(context.get("pattern")))
        or _SHAPES.get(error["type"])
        or _limit_in_words(error["type"], context)
        or str(error["msg"]).lower()
    )
    least = context.get("ge", context.get("gt"))
    given = error.get("input")
    # Less than nothing, and none where one is needed, are nobody's limits.
    if error["type"] not in _LIMITS or least == 0 or (least is not None and given in (0, False)):
        return said
    fields = [step for step in error.get("loc", ()) if isinstance(step, str)]
    return f"{said}, {limit_of(fields[-1] if fields else '')}"


def correction(error: Mapping[str, Any]) -> str:
    """What to write in place of a value that is refused, from one error of pydantic."""
    context, kind = error.get("ctx") or {}, error["type"]
    if kind in _FIXES:
        return _FIXES[kind]
    if str(context.get("pattern")) in _EXAMPLES:
        return f"write for example {_EXAMPLES[str(context['pattern'])]}"
    words = {"ge": "write {} or more", "gt": "write more than {}", "le": "write {} or less"}
    words |= {"lt": "write less than {}", "max_length": "shorten it to {}", "min_length": "write {} at least"}
    text, limit = next(((text, context[key]) for key, text in words.items() if key in context), ("", 0))
    if text:
        return text.format(how_many(limit, "letter") if kind.startswith("string_") else _in_groups(limit))
    if kind in _ONE_OF:
        return f"write one of these: {context['expected']}"
    return "write what is allowed, or leave it out"


def limit_of(field: str) -> str:
    """Whose limit the highest value or length of a field is, in words."""
    return f"a limit of {'NDB' if field in _LIMITED_BY_NDB else 'this program'}"


def _limit_in_words(kind: str, context: Mapping[str, Any]) -> str:
    """What a number must be, from the context of pydantic's error; nothing for other errors."""
    words = {"ge": "it must be {} or more", "gt": "it must be above {}", "le": "it must be {} or less"}
    words |= {"lt": "it must be below {}", "max_length": "it may have {} at most"}
    words["min_length"] = "it must have {} or more"
    stated = ((text, context[key]) for key, text in words.items() if key in context)
    text, limit = next(stated, ("", 0))
    if kind.startswith("string_"):
        return text.format(how_many(limit, "letter"))
    return text.format(_in_groups(limit))


def _in_groups(limit: float) -> str:
    """A limit as numbers are written everywhere: thousands apart by a thin space."""
    whole = isinstance(limit, int) or (limit == round(limit) and abs(limit) <= _LARGEST_WRITTEN)
    return format_count(limit) if whole else f"{limit:g}"


_LARGEST_WRITTEN = 1e12
"""A larger limit is read more easily as a power of ten."""
_LIMITS = {"less_than", "less_than_equal", "greater_than", "greater_than_equal", "too_long"}
_LIMITED_BY_NDB = {
    "node_id", "pool_node_ids", "node_group", "groups", "location_domain_id", "tables", "columns", "members",
    "scale", "blob_inline_bytes", "blob_part_bytes", "partitions", "grown_from", "hash_map_buckets",
    "primary_key", "distribution_key", "partition_rows", "partition_variable_bytes",
}  # fmt: skip
"""Fields whose highest value is the product's (or SQL's); the others end where nobody plans any more."""


Identifier = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(no_control)]
"""An SQL identifier; any printable text, quoted with backticks where it is used."""

Bytes = Annotated[int, Field(ge=0, le=MAX_BYTES)]
PositiveBytes = Annotated[int, Field(gt=0, le=MAX_BYTES)]
BytesPerS = Annotated[float, Field(ge=1, le=MAX_RATE)]
PerS = Annotated[float, Field(ge=0, le=MAX_RATE)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Price = Annotated[float, Field(ge=0, le=1e12)]
"""Money in the plan's currency; 0 says that it costs nothing, or that the price of its host holds it."""
Watts = Annotated[float, Field(ge=0, le=1e9)]
Rows = Annotated[int, Field(ge=0, le=10**15)]
NodeId = Annotated[int, Field(ge=1, le=255)]


_LONGEST_TEXT = 4096


def _plain(value: object) -> object:
    """A flag as 0 or 1; ValueError for a text that no parameter has, before it is called no number."""
    if isinstance(value, str):
        if len(value) > _LONGEST_TEXT:
            raise ValueError(
                f"it has {len(value)} letters; it may have {_LONGEST_TEXT} at most, {limit_of('')}"
            )
        return no_control(value)
    return int(value) if isinstance(value, bool) else value


ParameterValue = Annotated[int | Annotated[str, Field(max_length=_LONGEST_TEXT)], BeforeValidator(_plain)]


_IN_NO_NAME = re.compile(r"[\s=:#;\[\]]")


def parameter_name(name: str) -> str:
    """The name itself; ValueError when no parameter can be called so."""
    if not 1 <= len(name) <= 120 or _IN_NO_NAME.search(name):
        raise ValueError(
            "is not the name of a parameter: up to 120 letters, no blanks and none of = : # ; [ ]"
        )
    return no_control(name)


ParameterName = Annotated[str, AfterValidator(parameter_name)]
Parameters = FrozenMap[ParameterName, ParameterValue]
"""Configuration parameters by the manual's name; sizes in bytes, flags as 0 and 1, texts as they are."""

NO_PARAMETERS: Parameters = FrozenMap()


def with_kind(part: Any, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """The serialised part with its `kind` in front, which tells the members of a union apart in a file."""
    return {"kind": part.kind, **handler(part)}


class Point(Part):
    """A place on the canvas, in canvas units."""

    x: float = Field(ge=-FARTHEST, le=FARTHEST)
    y: float = Field(ge=-FARTHEST, le=FARTHEST)
