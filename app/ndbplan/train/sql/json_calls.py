"""Functions of JSON as the server has them: what they find, change and tell of a document.

    CALLS["json_length"]('[1, [2, 3]]')        # 2

Source: manual 8.4, JSON Functions; members stand by the length of their names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from sqlglot import exp

from ndbplan.train.sql import json_texts
from ndbplan.train.sql.json_checks import MARK, check, check_text, takes_all
from ndbplan.train.sql.json_paths import Cells, Every, Place, one_of, places, steps_of
from ndbplan.train.sql.numbers import Kind, kind_of
from ndbplan.train.sql.problem import SqlError

_UNSIGNED_FROM = 2**63


def _document(value: Any) -> Any:
    text = value.decode() if isinstance(value, bytes) else str(value)
    return json_texts.read(text.removeprefix(MARK))


def as_json(value: Any) -> Any:
    """A value of SQL as one of JSON: texts are strings unless they are JSON already."""
    if isinstance(value, str):
        return json_texts.read(value[1:]) if value.startswith(MARK) else value
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _one(document: Any, path: Any) -> list[Any]:
    """What one place holds; empty: nothing is there. Raises SqlError for a path of many places."""
    return [value for _, value in places(document, one_of(path))]


def _with(document: Any, place: Place, change: Callable[[Any], Any]) -> Any:
    """A document in which a place has become another value."""
    if not place:
        return change(document)
    copied: Any = dict(document) if isinstance(document, dict) else list(document)
    copied[place[0]] = _with(copied[place[0]], place[1:], change)
    return copied


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def _put(document: Any, path: Any, value: Any, *, makes: bool, changes: bool) -> Any:
    steps = one_of(path)
    found = list(places(document, steps))
    if found:
        return _with(document, found[0][0], lambda _: value) if changes else document
    parents = list(places(document, steps[:-1]))
    step = steps[-1]
    if not makes or not parents:
        return document

    def add(parent: Any) -> Any:
        if isinstance(parent, dict):
            return {**parent, step: value} if isinstance(step, str) else parent
        if not isinstance(step, int):
            return parent
        cells = parent if isinstance(parent, list) else [parent]
        return [*cells, value] if step >= 0 else [value, *cells]

    return _with(document, parents[0][0], add)


def _putting(*, makes: bool, changes: bool) -> Callable[..., str]:
    def put(document: Any, *given: Any) -> str:
        whole = _document(document)
        for path, value in zip(given[::2], given[1::2], strict=True):
            whole = _put(whole, path, as_json(value), makes=makes, changes=changes)
        return json_texts.written(whole)

    return put


def _removed(document: Any, *paths: Any) -> str:
    whole = _document(document)
    for path in paths:
        steps = one_of(path)
        if not steps:
            raise SqlError(3153, "42000", "The path expression '$' is not allowed in this context.")
        for place, _ in list(places(whole, steps))[:1]:
            if not place:
                # What is no array, as the cell of itself.
                continue

            def less(parent: Any, last: str | int = place[-1]) -> Any:
                if isinstance(parent, dict):
                    return {name: value for name, value in parent.items() if name != last}
                return [value for cell, value in enumerate(parent) if cell != last]

            whole = _with(whole, place[:-1], less)
    return json_texts.written(whole)


def _appended(document: Any, *given: Any) -> str:
    whole = _document(document)
    for path, value in zip(given[::2], given[1::2], strict=True):
        for place, there in list(places(whole, one_of(path)))[:1]:
            cells = [*(there if isinstance(there, list) else [there]), as_json(value)]
            whole = _with(whole, place, _always(cells))
    return json_texts.written(whole)


def _inserted(document: Any, *given: Any) -> str:
    whole = _document(document)
    for path, value in zip(given[::2], given[1::2], strict=True):
        *steps, cell = one_of(path) or [""]
        if not isinstance(cell, int):
            raise SqlError(3165, "42000", "A path expression is not a path to a cell in an array.")
        for place, there in list(places(whole, steps))[:1]:
            if isinstance(there, list):
                at = max(0, cell + len(there) * (cell < 0))
                cells = [*there[:at], as_json(value), *there[at:]]
                whole = _with(whole, place, _always(cells))
    return json_texts.written(whole)


def _patched(value: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for name, one in patch.items():
        found.pop(name, None)
        if one is not None:
            found[name] = _patched(value.get(name) if isinstance(value, dict) else None, one)
    return found


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: _joined(one[name], other[name]) for name in one.keys() & other.keys()}
        return {**one, **other, **both}
    cells = [value if isinstance(value, list) else [value] for value in (one, other)]
    return cells[0] + cells[1]


def _merging(merge: Callable[[Any, Any], Any]) -> Callable[..., str]:
    def merged(*documents: Any) -> str:
        first, *others = (_document(one) for one in documents)
        for one in others:
            first = merge(first, one)
        return json_texts.written(first)

    return merged


def _same(one: Any, other: Any) -> bool:
    one, other = (float(side) if isinstance(side, Decimal) else side for side in (one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _holds(target: Any, wanted: Any) -> bool:
    if isinstance(target, list):
        wants = wanted if isinstance(wanted, list) else [wanted]
        return all(any(_holds(cell, one) for cell in target) for one in wants)
    if isinstance(target, dict) and isinstance(wanted, dict):
        return all(name in target and _holds(target[name], one) for name, one in wanted.items())
    return _same(target, wanted)


def _contains(target: Any, wanted: Any, path: Any = "$") -> int | None:
    found = _one(_document(target), path)
    return int(_holds(found[0], _document(wanted))) if found else None


def _overlaps(one: Any, other: Any) -> int:
    first, second = _document(one), _document(other)
    if isinstance(first, dict) and isinstance(second, dict):
        return int(any(_same(first[name], second[name]) for name in first.keys() & second.keys()))
    cells = [value if isinstance(value, list) else [value] for value in (first, second)]
    return int(any(_same(a, b) for a in cells[0] for b in cells[1]))


def _has_paths(document: Any, how: Any, *paths: Any) -> int:
    chosen = all if takes_all("json_contains_path", how) else any
    return int(chosen([any(True for _ in places(_document(document), steps_of(path))) for path in paths]))


def _extracted(document: Any, *paths: Any) -> str | None:
    """One value, or an array of those that are there where more than one may be."""
    whole, every = _document(document), [steps_of(path) for path in paths]
    found = [value for steps in every for _, value in places(whole, steps)]
    is_one = len(every) == 1 and not any(isinstance(step, Every | Cells) for step in every[0])
    return None if not found else json_texts.written(found[0] if is_one else found)


def _cast(value: Any) -> str:
    if isinstance(value, str):
        check(value, 1, "cast_as_json")
        return json_texts.written(_document(value))
    return json_texts.written(value)


def _kind(document: Any) -> str:
    value = _document(document)
    names: dict[type, str] = {dict: "OBJECT", list: "ARRAY", str: "STRING", bool: "BOOLEAN", float: "DOUBLE",
                              Decimal: "DOUBLE", type(None): "NULL"}  # fmt: skip
    whole = "UNSIGNED INTEGER" if isinstance(value, int) and value >= _UNSIGNED_FROM else "INTEGER"
    return names.get(type(value), whole)


def _length(document: Any, path: Any = "$") -> int | None:
    found = _one(_document(document), path)
    return (len(found[0]) if isinstance(found[0], dict | list) else 1) if found else None


def _deep(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max((_deep(one) for one in inner), default=0)


def _keys(document: Any, path: Any = "$") -> str | None:
    found = _one(_document(document), path)
    return (
        json_texts.written(list(json_texts.in_order(found[0])))
        if found and isinstance(found[0], dict)
        else None
    )


def _is_valid(text: Any) -> int:
    try:
        _document(text)
    except ValueError:
        return 0
    return int(isinstance(text, str))


def _quoted(text: Any) -> str:
    check_text(text, "json_quote")
    return json.dumps(text, ensure_ascii=False)


def _unquoted(text: Any) -> str:
    check_text(text, "json_unquote")
    plain = str(text).removeprefix(MARK)
    if len(plain) > 1 and plain[0] == plain[-1] == '"':
        return str(json.loads(plain))
    return plain


def _value(document: Any, path: Any) -> Any:
    found = _one(_document(document), path)
    if not found or isinstance(found[0], dict | list) or found[0] is None:
        return None
    return found[0] if isinstance(found[0], str) else json_texts.written(found[0])


def _named(place: Place) -> str:
    def step(one: str | int) -> str:
        if isinstance(one, int):
            return f"[{one}]"
        return f".{one}" if re.fullmatch(r"[^\W0-9]\w*", one) else f'."{one}"'

    return "$" + "".join(step(one) for one in place)


def _texts(value: Any, before: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield before, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from _texts(one, (*before, name))


def _searched(document: Any, how: Any, pattern: Any, _escape: Any = None, *paths: Any) -> str | None:
    whole = takes_all("json_search", how)
    like = re.compile(
        "".join({"%": ".*", "_": "."}.get(one, re.escape(one)) for one in str(pattern)), re.DOTALL
    )
    found = list[str]()
    for path in paths or ("$",):
        for begin, value in places(_document(document), steps_of(path)):
            found += [_named(place) for place, text in _texts(value, begin) if like.fullmatch(text)]
    once = list(dict.fromkeys(found))
    if not once:
        return None
    return json.dumps(once if whole and len(once) > 1 else once[0], ensure_ascii=False)


CALLS: dict[str, Callable[..., Any]] = {
    "json_valid": _is_valid, "json_type": _kind, "json_length": _length,
    "json_depth": lambda document: _deep(_document(document)), "json_keys": _keys,
    "json_contains": _contains, "json_contains_path": _has_paths, "json_overlaps": _overlaps,
    "json_quote": _quoted, "json_unquote": _unquoted, "json_extract": _extracted, "json_cast": _cast,
    "json_value": _value, "json_search": _searched,
    "json_pretty": lambda text: json_texts.written(_document(text), "  "),
    "json_remove": _removed, "json_merge": _merging(_joined), "json_merge_preserve": _merging(_joined),
    "json_merge_patch": _merging(_patched),
}  # fmt: skip
"""Those that are NULL where an argument is."""
PUTS: dict[str, Callable[..., Any]] = {
    "json_set": _putting(makes=True, changes=True), "json_insert": _putting(makes=True, changes=False),
    "json_replace": _putting(makes=False, changes=True), "json_array_append": _appended,
    "json_array_insert": _inserted,
}  # fmt: skip
"""Those to which NULL is a value like others."""
_NAMES: dict[type[exp.Expr], str] = {
    exp.JSONType: "json_type", exp.JSONKeys: "json_keys", exp.JSONSet: "json_set",
    exp.JSONRemove: "json_remove", exp.JSONArrayAppend: "json_array_append",
    exp.JSONArrayInsert: "json_array_insert", exp.JSONValue: "json_value",
}  # fmt: skip
_GIVES = (
    "json", "json_extract", "json_cast", "json_array", "json_object", "json_arrayagg", "json_objectagg",
    *PUTS, "json_keys", "json_remove", "json_merge", "json_merge_preserve", "json_merge_patch",
)  # fmt: skip
"""Calls whose value is one of JSON where it is an argument."""


def lax(function: Callable[..., Any]) -> Callable[..., Any]:
    """NULL for a document or a path that is none."""

    def wrapper(*given: Any) -> Any:
        if not given or given[0] is None or None in given[1::2]:
            return None
        return function(*given)

    return wrapper


def marked(value: Any) -> Any:
    """A JSON value as an argument."""
    return value if value is None else f"{MARK}{value}"


def _name(node: exp.Expr | None) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, exp.JSONObject):
        return "json_object"
    return "" if node is None else _NAMES.get(type(node), "")


_TRUTHS = (exp.Boolean, exp.Predicate, exp.Connector, exp.Not)


def keep_kinds(tree: exp.Expr, columns: Mapping[str, Kind]) -> None:
    """In a JSON value truths are true or false, and decimals keep the digits that they have."""
    for literal in list(tree.find_all(exp.Literal)):
        if literal.is_string and _is_document(literal):
            literal.replace(exp.Literal.string(json_texts.of_literal(literal.name)))
    for one in list(tree.find_all(exp.Expression)):
        if not _is_value(one):
            continue
        kind = kind_of(one, columns)
        if isinstance(one.unnest(), _TRUTHS):
            told = exp.Anonymous(this="mysql_truth", expressions=[one.copy()])
        elif kind.name == "decimal":
            told = exp.Anonymous(this="mysql_text", expressions=[one.copy(), exp.Literal.number(kind.digits)])
        else:
            continue
        one.replace(exp.Anonymous(this="json", expressions=[told]))


def _is_document(node: exp.Expr) -> bool:
    """Whether it is the first that a function of JSON is given."""
    around = node.parent
    if around is None or isinstance(around, exp.JSONExtract):
        return around is not None and around.this is node
    name = _name(around)
    if name == "json_quote" or name not in {**CALLS, **PUTS}:
        return False
    given = (one for one in around.iter_expressions() if not isinstance(one, exp.Identifier))
    return next(given, None) is node


def _is_value(node: exp.Expr) -> bool:
    """Whether it becomes part of a JSON value."""
    around = node.parent
    if isinstance(around, exp.JSONKeyValue):
        return around.expression is node
    return _name(around) in ("json_array", "json_arrayagg", *PUTS)


def truth(value: Any) -> str:
    """As JSON writes it."""
    return "null" if value is None else "true" if value else "false"


def ours(node: exp.Expr) -> exp.Expr | None:
    """A call of JSON as ours; None: it is another."""
    name = _name(node)
    if isinstance(node, exp.JSONExtract) and not isinstance(node, exp.JSONExtractScalar):
        paths = [_typed_path(one) for one in (node.expression, *node.expressions)]
        return exp.Anonymous(this="mysql_json_extract", expressions=[node.this.copy(), *paths])
    if isinstance(node, exp.Cast) and node.to.is_type("json"):
        told = exp.Anonymous(this="mysql_truth", expressions=[node.this.copy()])
        value = (
            exp.Anonymous(this="json", expressions=[told])
            if isinstance(node.this, _TRUTHS)
            else node.this.copy()
        )
        return exp.Anonymous(this="mysql_json_cast", expressions=[value])
    if name == "json_arrayagg":
        return exp.Anonymous(this=node.name, expressions=[as_value(node.expressions[0])])
    if name not in CALLS and name not in PUTS:
        return None
    inside = [one for one in node.iter_expressions() if not isinstance(one, exp.Identifier)]
    if name in PUTS:
        inside[1:] = map(as_value, inside[1:])
    return exp.Anonymous(this=f"mysql_{name}", expressions=[one.copy() for one in inside])


def _typed_path(node: exp.Expr) -> exp.Expr:
    """A path that the parser has taken apart, as a text again."""
    return exp.Literal.string(node.sql("mysql")[1:-1]) if isinstance(node, exp.JSONPath) else node.copy()


def as_value(node: exp.Expr) -> exp.Expr:
    """What becomes part of a JSON value; marked where it is one."""
    inner = node.name.removeprefix("mysql_") if isinstance(node, exp.Anonymous) else _name(node)
    if inner not in _GIVES and not isinstance(node, exp.JSONExtract):
        return node
    return exp.Anonymous(this="mysql_json_mark", expressions=[node.copy()])
