"""Values of a plan's fields as people type them: `64 GB`, `20ms`, `10k`, `25 %`, `yes`, `nvme`, `id, name`.

    read(shape_of(Host, "memory_bytes"), "64 GB")          # 64000000000
    read_parameter("DB", "RedoBuffer", "64M", version)     # 67108864: NDB's own suffixes are powers of 1024

A plain number is what the plan file holds: bytes, seconds, a fraction of one. A value that reads two ways is
refused with both readings. `text_of` writes a value so that `read` gives it back.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from ndbplan.base import units
from ndbplan.base.errors import UserError
from ndbplan.base.frozen import FrozenMap
from ndbplan.base.once import each_key_once
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb import values
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import Part

Kind = Literal[
    "bytes", "rate", "seconds", "count", "number", "share",
    "flag", "choice", "text", "list", "part", "map", "parameter",
]  # fmt: skip
_NOTHING = ("", "null", "none")
_PLAIN = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_THREE_DECIMALS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_YES = ("1", "true", "yes", "on", "y")
_NO = ("0", "false", "no", "off", "n")


class _Unset:
    """What an empty value means: back to the default of the field."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = _Unset()


@dataclass(frozen=True)
class Shape:
    """What a field can hold."""

    kind: Kind
    whole: bool = False
    """Only whole numbers."""
    optional: bool = False
    choices: tuple[str, ...] = ()
    item: Shape | None = None
    """Of a list: what its members are."""
    default: Any = UNSET
    """What the field holds when nothing is stated; UNSET: it must be stated."""


def shape_of(model: type, name: str) -> Shape:
    """What the field `name` of a kind of part can hold."""
    return _shape_of(model, name)


@lru_cache(maxsize=1024)
def _shape_of(model: type[Part], name: str) -> Shape:
    field = model.model_fields[name]
    default = UNSET if field.is_required() else field.get_default(call_default_factory=True)
    if default is PydanticUndefined:
        default = UNSET
    shape = _shape(field.annotation, field.metadata, name)
    return Shape(shape.kind, shape.whole, shape.optional, shape.choices, shape.item, default)


def _shape(annotation: Any, metadata: Iterable[Any], name: str) -> Shape:
    limits = list(metadata)
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        for one in more:
            limits += one.metadata if isinstance(one, FieldInfo) else [one]
        return _shape(inner, limits, name)
    if get_origin(annotation) in (Union, types.UnionType):
        members = [one for one in get_args(annotation) if one is not type(None)]
        optional = len(members) < len(get_args(annotation))
        if len(members) == 1:
            shape = _shape(members[0], limits, name)
            return Shape(shape.kind, shape.whole, optional, shape.choices, shape.item)
        if int in members:
            return Shape("parameter", optional=optional)
        return Shape("part", optional=optional)
    if get_origin(annotation) is tuple:
        return Shape("list", item=_shape(get_args(annotation)[0], (), name))
    if get_origin(annotation) is Literal:
        choices = tuple(str(value) for value in get_args(annotation))
        # One choice alone is the kind of a part, which it keeps.
        return Shape("choice", choices=choices) if len(choices) > 1 else Shape("text")
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Shape("choice", choices=tuple(str(member.value) for member in annotation))
    if annotation is bool:
        return Shape("flag")
    if annotation in (int, float):
        whole = annotation is int
        share = not whole and any(isinstance(m, Ge) and m.ge == 0 for m in limits)
        if share and any(isinstance(m, Le) and m.le == 1 for m in limits):
            return Shape("share")
        return Shape(_unit(name), whole)
    if annotation is str:
        return Shape("text")
    origin = get_origin(annotation) or annotation
    return Shape("map" if isinstance(origin, type) and issubclass(origin, FrozenMap) else "part")


def _unit(name: str) -> Kind:
    """The unit stands in the name."""
    if name.endswith("_bytes_per_s"):
        return "rate"
    if name.endswith("_bytes"):
        return "bytes"
    if name.endswith(("_per_s", "_per_month")):
        return "count"
    return "seconds" if name.endswith("_s") else "count"


_LONGEST = 170
"""Letters of a list of names up to which all are told."""


def near(text: str, known: Iterable[str], what: str = "there are") -> str:
    """What to type instead of a name that is not known: the nearest, else the first of those there are."""
    import difflib

    names = list(dict.fromkeys(known))
    lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(text.lower(), lower, 3, 0.6)
    if close:
        return f"did you mean {' or '.join(lower[name] for name in close)}?"
    shown = ", ".join(names)
    if len(shown) > _LONGEST:
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    if what == "there are" and len(names) == 1:
        what = "there is"
    return f"{what} {shown}" if names else "there is none yet"


def read(shape: Shape, text: str) -> Any:
    """The value of a typed text; UNSET for an empty one. Raises UserError.

    Lists take commas between their members, or JSON; parts take JSON and come back as parsed.
    """
    typed = text.strip()
    if shape.kind == "text":
        return _read_text(shape, typed)
    if typed.lower() in _NOTHING:
        return UNSET
    if shape.kind == "flag":
        return _read_flag(typed)
    if shape.kind == "choice":
        return _read_choice(shape, typed)
    if shape.kind == "list":
        return _read_list(shape, typed)
    if shape.kind in ("part", "map"):
        return _read_json(typed)
    if shape.kind == "parameter":
        return int(typed) if _WHOLE.fullmatch(typed) else _quoted(typed)
    return _read_number(shape, typed)


def _read_text(shape: Shape, typed: str) -> Any:
    if not typed or (shape.optional and typed.lower() in _NOTHING):
        return UNSET
    return _quoted(typed)


def _quoted(typed: str) -> str:
    """The text itself, or what stands between double quotes, as JSON writes it."""
    if len(typed) > 1 and typed[0] == typed[-1] == '"':
        try:
            text = json.loads(typed)
        except ValueError:
            return typed
        return text if isinstance(text, str) else typed
    return typed


def _read_flag(typed: str) -> bool:
    word = typed.lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise UserError(f"'{typed[:40]}' is neither yes nor no", fix="write yes or no")


def _read_choice(shape: Shape, typed: str) -> str:
    def plain(word: str) -> str:
        return re.sub(r"[\s_-]+", "_", word.lower())

    for choice in shape.choices:
        if plain(choice) == plain(typed):
            return choice
    raise UserError(
        f"'{typed[:40]}' is not one of {', '.join(shape.choices[:40])}",
        fix=near(typed, shape.choices, "use one of"),
    )


def _read_list(shape: Shape, typed: str) -> Any:
    assert shape.item is not None
    if typed.startswith("[") or shape.item.kind in ("part", "map"):
        items = _read_json(typed)
        if not isinstance(items, list):
            raise UserError(f"'{typed[:40]}' is not a list", fix='write a JSON list such as ["a", "b"]')
        return tuple(items)
    item = shape.item
    return tuple(read(item, part) for part in typed.split(",") if part.strip())


def _read_json(typed: str) -> Any:
    def refuse(constant: str) -> Any:
        raise UserError(f"{constant} stands for a number", fix="write a finite number")

    try:
        return json.loads(typed, object_pairs_hook=each_key_once, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise UserError(f"'{typed[:40]}' is not JSON", fix='write JSON such as {"x": 0, "y": 0}') from None


_PARSERS: dict[str, Callable[[str], float]] = {
    "bytes": units.parse_bytes,
    "rate": units.parse_bytes_per_s,
    "seconds": units.parse_duration_s,
    "count": units.parse_count,
    "number": units.parse_count,
}


def _read_number(shape: Shape, typed: str) -> int | float:
    typed = typed.replace("\u2009", "").replace("\u00a0", " ").replace("−", "-")
    if shape.kind == "share" and typed.endswith("%"):
        # Divided as it is written: 7 % is the number nearest to 0.07.
        return _plain_number(typed[:-1].strip(), "a share", "25 % or 0.25") / 100
    if shape.whole and _WHOLE.fullmatch(typed):
        return int(typed)
    if shape.whole:
        units.refuse_group(typed)
    if _PLAIN.fullmatch(units.by_hand(typed)):
        number: float = float(typed)
    elif shape.kind == "share":
        number = _plain_number(typed, "a share", "25 % or 0.25")
    else:
        number = _PARSERS[shape.kind](typed)
    if shape.kind == "share" and number > 1:
        raise UserError(
            f"{typed[:40]} is more than the whole", fix=f"write {typed[:40]} % or a number up to 1"
        )
    if shape.whole:
        if number != number or abs(number) == float("inf") or number != round(number):
            raise UserError(f"'{typed[:40]}' is not a whole number", fix="write for example 8")
        return round(number)
    return number


def _plain_number(typed: str, what: str, example: str) -> float:
    try:
        return units.parse_factor(units.by_hand(typed))
    except units.TwoReadingsError:
        raise
    except UserError:
        raise UserError(f"'{typed[:40]}' is not {what}", fix=f"write for example {example}") from None


def text_of(shape: Shape, value: Any) -> str:
    """The text that `read` turns into the value again."""
    if value is None:
        return "null"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Three decimals may be thousands to those who write 1,5.
        return f"{value!r}0" if _THREE_DECIMALS.fullmatch(repr(value)) else repr(value)
    if isinstance(value, str):
        needs = value != value.strip() or value.lower() in _NOTHING or value.startswith('"')
        numeric = shape.kind == "parameter" and _WHOLE.fullmatch(value.strip())
        return json.dumps(value, ensure_ascii=False) if needs or numeric else value
    return json.dumps(plain(value), ensure_ascii=False)


def plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, Part):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


# Configuration parameters

OWNED_BY_PLAN = ("nodeid", "id", "hostname", "executeoncomputer", "nodegroup", "system")
"""Parameters that the plan writes from its hosts and processes."""

_TIMES = {"ms": 1e-3, "us": 1e-6, "s": 1.0}


def parameter_name(section: str, name: str, version: NdbVersion) -> str:
    """The manual's spelling of a parameter that the version has. Raises UserError with the nearest names."""
    if name.lower() in OWNED_BY_PLAN:
        raise UserError(
            f"{name} comes from the hosts and processes of the plan",
            fix="change hostname, node_id, node_group or host_id there",
        )
    if catalogue.knows(section, name, version):
        return catalogue.parameter(section, name, version).name
    if catalogue.exists(section, name):
        known = catalogue.parameter(section, name, version)
        instead = f"; {known.replaced_by} takes its place" if known.replaced_by else ""
        raise UserError(f"{catalogue.lack(section, name, version)}{instead}", fix="set another version")
    names = (entry.name for entry in catalogue.parameters(section, version))
    raise UserError(
        f"NDB {version} has no parameter '{name[:60]}' of this kind of node", fix=near(name, names, "such as")
    )


def read_parameter(section: str, name: str, text: str, version: NdbVersion) -> int | str | None:
    """The value of a parameter; None takes it back. Raises UserError for what the version would refuse.

    NDB's own spelling (`64M`, powers of 1024) and people's (`64 GB`, `2s`, `10 %`) are both read; where they
    differ, as for `10k` of a count, the value is refused with both readings.
    """
    entry = catalogue.parameter(section, name, version)
    typed = text.strip()
    if typed.lower() in _NOTHING and typed.lower() not in {v.lower() for v in entry.allowed_values}:
        return None
    if entry.type == "bool":
        return int(_read_flag(typed))
    try:
        if not entry.is_number:
            value = _quoted(typed)
            values.check_text(entry, value, version)
            return value
        number = _parameter_number(entry, typed, version)
        values.check_range(entry, number)
    except values.BadValueError as error:
        raise error.told() from None
    return number


def _parameter_number(entry: catalogue.Parameter, typed: str, version: NdbVersion) -> int:
    refused: Exception | None = None
    readings: list[int] = []
    try:
        readings.append(values.parse_integer(typed, version))
    except values.BadValueError as error:
        refused = error
    try:
        readings.append(_as_people_mean(entry, typed))
    except UserError as error:
        # A range such as `2 GB` of a count is nothing; what NDB says of it is then the better answer.
        if refused is None and "two ways" in error.what:
            raise
        refused = error if "two ways" in error.what else refused
    if len(set(readings)) > 1:
        raise units.two_readings(typed, f"{readings[0]} as NDB reads it", f"{readings[1]}")
    if not readings:
        assert refused is not None
        raise refused
    return readings[0]


def _as_people_mean(entry: catalogue.Parameter, typed: str) -> int:
    if _WHOLE.fullmatch(typed):
        return int(typed)
    if not re.search(r"[a-z%]", typed, re.I):
        # A time in milliseconds of `1.5` is none, and no one and a half seconds.
        return units.parse_whole(typed)
    typed = units.by_hand(typed)
    number: float
    if entry.unit.startswith("bytes_per_s"):
        number = units.parse_bytes_per_s(typed)
    elif entry.unit.startswith("bytes"):
        number = units.parse_bytes(typed)
    elif entry.unit in _TIMES:
        number = units.parse_duration_s(typed) / _TIMES[entry.unit]
        number = round(number) if abs(number - round(number)) < 1e-9 * max(1.0, number) else number
    elif entry.unit.startswith("percent") and typed.endswith("%"):
        number = _plain_number(typed[:-1].strip(), "a share", "25 %")
    else:
        number = units.parse_count(typed)
    if number != round(number):
        raise UserError(f"'{typed[:40]}' is not a whole number of {entry.unit}", fix="write a whole number")
    return round(number)
