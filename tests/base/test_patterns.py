"""Every pattern that looks at what somebody hands in takes time that grows with its length, not its square.

A pattern backtracks over the square of a text where two repetitions without an end may share its letters:
`\\s*x?\\s*y`, `(a+)+`, or `\\s+$` that is searched for. They are found in the patterns themselves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser
from typing import Any

import pytest

import ndbplan
from parsed import parsed

APP = Path(ndbplan.__file__).parent
ALPHABET = frozenset(map(chr, range(128))) | {"é", "²", "\u2028"}
CATEGORIES = {"digit": r"\d", "space": r"\s", "word": r"\w"}
SEARCHES = {"search", "sub", "findall", "finditer", "split", "subn"}


def _letters(items: Any) -> frozenset[str]:
    """Letters that a pattern, or a piece of one, may take."""
    found: set[str] = set()
    for kind, value in items:
        if kind is op.LITERAL:
            found |= {chr(value)}
        elif kind is op.NOT_LITERAL:
            found |= ALPHABET - {chr(value)}
        elif kind is op.ANY:
            found |= ALPHABET
        elif kind is op.IN:
            found |= _class(value)
        elif kind is op.BRANCH:
            for branch in value[1]:
                found |= _letters(branch)
        elif kind is op.SUBPATTERN:
            found |= _letters(value[3])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            found |= _letters(value[2])
        elif kind is op.ATOMIC_GROUP:
            found |= _letters(value)
        elif kind is op.GROUPREF:
            found |= ALPHABET
    return frozenset(found)


def _class(members: Any) -> frozenset[str]:
    found: set[str] = set()
    negated = False
    for kind, value in members:
        if kind is op.NEGATE:
            negated = True
        elif kind is op.LITERAL:
            found.add(chr(value))
        elif kind is op.RANGE:
            found |= {c for c in ALPHABET if value[0] <= ord(c) <= value[1]}
        elif kind is op.CATEGORY:
            name = str(value).lower()
            inside = {c for c in ALPHABET if re.match(CATEGORIES[name.rsplit("_", 1)[-1]], c)}
            found |= ALPHABET - inside if "not" in name else inside
    return ALPHABET - found if negated else frozenset(found)


def _is_endless(item: Any) -> bool:
    kind, value = item
    return kind in (op.MAX_REPEAT, op.MIN_REPEAT) and value[1] is op.MAXREPEAT


def _is_look(item: Any) -> bool:
    """Whether an item takes no letters and may fail."""
    return item[0] in (op.AT, op.ASSERT, op.ASSERT_NOT)


def _is_branch(items: list[Any]) -> bool:
    return len(items) == 1 and items[0][0] is op.BRANCH


def _may_be_nothing(item: Any) -> bool:
    kind, value = item
    return kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and value[0] == 0


def _flat(items: Any) -> list[Any]:
    """A sequence with the groups in it opened."""
    found: list[Any] = []
    for item in items:
        kind, value = item
        if kind is op.SUBPATTERN:
            found += _flat(value[3])
        elif kind in (op.AT, op.ASSERT, op.ASSERT_NOT):
            continue
        else:
            found.append(item)
    return found


def _inside(item: Any) -> Iterator[Any]:
    kind, value = item
    if kind is op.BRANCH:
        yield from value[1]
    elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        yield value[2]


def _shared(items: Any, *, more: bool) -> Iterator[str]:
    """Repetitions that may share letters; `more`: what follows the sequence may fail."""
    flat = _flat(items)
    for i, first in enumerate(flat):
        for inner in _inside(first):
            yield from _shared(inner, more=True)
        if not _is_endless(first):
            continue
        letters = _letters(first[1][2])
        whole = _flat(first[1][2])
        bodies = [_flat(way) for way in whole[0][1][1]] if _is_branch(whole) else [whole]
        for body in bodies:
            if any(map(_is_endless, body)) and _meets([*body, *body], len(body)):
                yield "a repetition of a repetition"
        for j in range(i + 1, len(flat)):
            both = letters & _letters([flat[j]])
            if _is_endless(flat[j]) and both and (more or j + 1 < len(flat)):
                yield f"two repetitions of {''.join(sorted(both))[:12]!r}"
            if _may_be_nothing(flat[j]):
                continue
            if not both:
                break
            letters = both


def _meets(twice: list[Any], middle: int) -> bool:
    """Whether a repetition of the first half may share letters with one of the second."""
    for i in range(middle):
        if not _is_endless(twice[i]):
            continue
        letters = _letters(twice[i][1][2])
        for j in range(i + 1, len(twice)):
            both = letters & _letters([twice[j]])
            if j >= middle and both and _is_endless(twice[j]):
                return True
            if _may_be_nothing(twice[j]):
                continue
            if not both:
                break
            letters = both
    return False


def _begun_again(flat: list[Any]) -> Iterator[str]:
    """A search that runs to the end from each place where it may begin: what repeats may be its beginning."""
    for i, item in enumerate(flat[1:], 1):
        if not _is_endless(item) or all(map(_may_be_nothing, flat[i + 1 :])):
            continue
        letters = _letters(item[1][2])
        if all(letters & _letters([before]) or _may_be_nothing(before) for before in flat[:i]):
            yield "a search whose beginning may stand in what it repeats"


def faults(pattern: str, flags: int, *, searched: bool = False, full: bool = False) -> list[str]:
    """What makes a pattern slow on a long text."""
    items = list(parser.parse(pattern, flags))
    found = list(_shared(items, more=full))
    flat = _flat(items)
    if searched and items and items[0][0] not in (op.AT, op.ASSERT, op.ASSERT_NOT) and len(flat) > 1:
        first = flat[0]
        if _is_endless(first) and not all(map(_may_be_nothing, flat[1:])):
            found.append("a search that begins with a repetition")
    if searched and items and items[0][0] is not op.AT:
        found += _begun_again(flat)
    if searched and flat and items[0] is flat[0] and _is_endless(flat[0]) and any(map(_is_look, items[1:])):
        found.append("a search for a repetition before a place")
    return found


def _text(pattern: object) -> str | None:
    if isinstance(pattern, bytes):
        return pattern.decode("latin-1")
    return pattern if isinstance(pattern, str) else None


def _stated(argument: ast.expr, module: dict[str, Any]) -> str | None:
    """The pattern that a call is given: as it stands there, by its name, or with names in it.

    What is put in only when the call is made stands for a word.
    """
    if isinstance(argument, ast.Constant):
        return _text(argument.value)
    if isinstance(argument, ast.Name):
        return _text(module.get(argument.id))
    if isinstance(argument, ast.JoinedStr):
        parts = []
        for piece in argument.values:
            if isinstance(piece, ast.Constant):
                parts.append(str(piece.value))
            elif isinstance(piece, ast.FormattedValue):
                inside = piece.value
                known = module.get(inside.id) if isinstance(inside, ast.Name) else None
                parts.append(known if isinstance(known, str) else "word")
        return "".join(parts)
    return None


def _patterns() -> Iterator[tuple[str, str, int, set[str]]]:
    """(module, pattern, flags, what is done with it) of every pattern of the program."""
    kept: dict[int, tuple[str, re.Pattern[str], set[str]]] = {}
    for path in sorted(APP.rglob("*.py")):
        if path.name == "__main__.py":
            continue
        name = ".".join(("ndbplan", *path.relative_to(APP).with_suffix("").parts)).removesuffix(".__init__")
        source = path.read_text(encoding="utf-8")
        if not re.search(r"\bre\.|\.(?:match|search|fullmatch|finditer|sub|split)\(", source):
            continue
        uses: dict[str, set[str]] = {}
        module = vars(import_module(name))
        known = {_text(value.pattern) for value in module.values() if isinstance(value, re.Pattern)}
        for node in ast.walk(parsed(source)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            holder = node.func.value
            if not isinstance(holder, ast.Name):
                continue
            if holder.id != "re":
                uses.setdefault(holder.id, set()).add(node.func.attr)
            elif node.func.attr != "escape" and node.args:
                text = _stated(node.args[0], module)
                if text is None and node.func.attr == "compile":
                    continue
                assert text is not None, f"{name}, line {node.lineno}: which pattern this is cannot be told"
                if node.func.attr != "compile":
                    yield name, text, 0, {node.func.attr}
                elif text not in known:
                    # Made inside a function: it may be used for anything.
                    yield name, text, 0, {"search", "fullmatch"}
        for called, value in module.items():
            if isinstance(value, re.Pattern):
                # A pattern that another module uses is there under its name too.
                _, _, used = kept.setdefault(id(value), (name, value, set()))
                used |= uses.get(called, set())
    for name, value, used in kept.values():
        yield name, _text(value.pattern) or "", value.flags & ~re.UNICODE, used or {"search"}


def test_patterns_are_linear() -> None:
    found = [
        f"{module}: {pattern!r}: {', '.join(sorted(set(wrong)))}"
        for module, pattern, flags, uses in _patterns()
        if (wrong := faults(pattern, flags, searched=bool(uses & SEARCHES), full="fullmatch" in uses))
    ]
    assert not found, "\n".join(found)


def test_digits_are_those_of_ascii() -> None:
    assert [f"{module}: {pattern}" for module, pattern, *_ in _patterns() if r"\d" in pattern] == []


@pytest.mark.parametrize(
    "pattern", [r"\s*x?\s*y", r"(a+)+b", r"(?:a|b+c?)*d", r".*,.*;", r"([0-9][0-9_ ]*)\s*([a-z]*)$"]
)
def test_what_is_slow_is_found(pattern: str) -> None:
    assert faults(pattern, 0)


@pytest.mark.parametrize(
    "pattern", [r"\s*=\s*y", r"(?:[^'\\]|\\.|'')*'", r"[a-z]+[0-9]+x", r"(?:a,)*b", r"x.*"]
)
def test_what_is_not_is_not(pattern: str) -> None:
    assert not faults(pattern, 0)


def test_what_is_searched_for_does_not_begin_with_a_repetition() -> None:
    assert faults(r"\s+$", 0, searched=True)
    assert faults(r"\s+(?=x)", 0, searched=True)
    assert not faults(r"(?<!\s)\s+(?=x)", 0, searched=True)
    assert not faults(r"x\s+$", 0, searched=True)
