"""REGEXP and the functions of patterns: of ICU from 8.0.4 on, of POSIX before (manual, Regular Expressions).

calls("icu")["mysql_regexp_like"]("abc", "^B|^A")        # 1
calls("posix")["mysql_regexp_like"]("aé", "^..$")        # 0: it counts bytes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

import regex
from sqlglot import exp

from ndbplan.train.sql.comparing import BY_BYTES
from ndbplan.train.sql.posix_patterns import CLASSES, NoPatternError, in_ours
from ndbplan.train.sql.problem import NotSimulated, SqlError
from ndbplan.train.sql.text_functions import text_of

_MOST_S = 0.5
"""Longer than `regexp_time_limit` lets the server look, whatever the machine: it looks for some 32 ms."""
_SHORT = 16
"""Letters of a text that the server ends with whatever the pattern: "(a+)+b" on 17 is too much for 8.4.11."""
_REFUSED: Mapping[str, tuple[int, str]] = {
    "missing )": (3691, "Mismatched parenthesis in regular expression."),
    "unbalanced parenthesis": (3691, "Mismatched parenthesis in regular expression."),
    "min repeat greater": (3693, "The maximum is less than the minumum in a {min,max} interval."),
    "invalid group reference": (3694, "Invalid back-reference in regular expression."),
    "unterminated character set": (3696, "The regular expression contains an unclosed bracket expression."),
    "bad character range": (
        3697, "The regular expression contains an [x-y] character range where x comes after y.",
    ),
    "bad escape": (3689, "Unrecognized escape sequence in regular expression."),
    "unknown property": (3685, "Illegal argument to a regular expression."),
}  # fmt: skip
"""What is wrong with a pattern, by what `regex` says of it."""
_RULE = ("nothing to repeat", "multiple repeat")
_FLAGS = {"c": 0, "i": 0, "m": regex.MULTILINE, "n": regex.DOTALL, "u": 0}
_INTERVAL = regex.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_CLASS = regex.compile(r"\[:\^?([^\]:]*):\]")
_LOOKS_FAR_BEHIND = regex.compile(r"\(\?<[=!][^()]*[*+]")
_OTHER_GROUP = regex.compile(r"\(\*|\(\?(?![:=!>#imsx-]|<[=!a-zA-Z])")
_OTHER_ESCAPES = frozenset("QKkmMvgL0")
_OTHER_SET = regex.compile(r"\[(?!:)|&&|--")
"""What ICU has otherwise: nested sets and their operators, quoting, groups and letters of `regex` alone."""
_SKIPS = regex.compile(r"\\[pPxNku]\{[^}]*\}|\\.|\[\^?\]?(?:\[:.*?:\]|\\.|[^\]\\])*\]", regex.DOTALL)
"""What a brace in it is a letter of."""


def _refused(code: int, text: str) -> SqlError:
    return SqlError(code, "HY000", text)


def _out_of_bounds() -> SqlError:
    return _refused(3686, "Index out of bounds in regular expression search.")


class _Pattern(NamedTuple):
    """A pattern that can be looked for; `of` makes a value what it is looked for in."""

    compiled: regex.Pattern[str]
    of: Callable[[Any], str]
    is_limited: bool
    """The server gives up after some time, too."""
    is_nested: bool = False
    """What is repeated has several ways itself: of long texts the server tries more than it has time for."""

    def met(self, value: Any, begin: int = 1) -> list[regex.Match[str]]:
        """All of them. Raises SqlError where it takes long, NotSimulated where nobody knows whether."""
        text = self.of(value)
        if not 1 <= begin <= max(1, len(text)):
            raise _out_of_bounds()
        try:
            found = list(self.compiled.finditer(text, begin - 1, timeout=_MOST_S))
            if self.is_nested and not found and len(text) > _SHORT:
                raise NotSimulated("how long the server tries this pattern is not simulated")
            return found
        except TimeoutError:
            if not self.is_limited:
                raise NotSimulated("a pattern that takes this long is not simulated") from None
            raise _refused(3699, "Timeout exceeded in regular expression match.") from None


def _icu(pattern: str, how: str, called: str) -> _Pattern:
    if not set(how) <= set(_FLAGS):
        raise _refused(1210, f"Incorrect arguments to {called}")
    if not pattern:
        raise _refused(*_REFUSED["unknown property"])
    _check_known(pattern)
    _check_braces(pattern)
    if not set(_CLASS.findall(pattern)) <= CLASSES:
        raise _refused(*_REFUSED["unknown property"])
    flags = 0 if how.rfind("c") > how.rfind("i") else regex.IGNORECASE | regex.FULLCASE
    for letter in how:
        flags |= _FLAGS[letter]
    try:
        compiled = regex.compile(pattern, flags)
    except regex.error as error:
        raise _refusal(error, pattern) from None
    return _Pattern(compiled, text_of, True, _is_nested(pattern))


def _check_known(pattern: str) -> None:
    """Where ICU reads a pattern otherwise than `regex` nobody answers. Raises SqlError and NotSimulated."""
    groups = _SKIPS.sub("x", pattern)
    if _LOOKS_FAR_BEHIND.search(groups):
        raise _refused(3695, "The look-behind assertion exceeds the limit in regular expression.")
    escapes = {one[1] for one in _SKIPS.findall(pattern) if one[0] == "\\"}
    sets = [one for one in _SKIPS.findall(pattern) if one[0] == "["]
    if (
        _OTHER_GROUP.search(groups)
        or not escapes.isdisjoint(_OTHER_ESCAPES)
        or any(one.startswith("[:") or _OTHER_SET.search(one, 1) for one in sets)
    ):
        raise NotSimulated("this pattern has a part that is not simulated")


def _is_nested(pattern: str) -> bool:
    """Whether a group that is repeated has a choice in it."""
    plain, groups = _SKIPS.sub("x", pattern), [False]
    for at, letter in enumerate(plain):
        if letter == "(":
            groups.append(False)
        elif letter == ")":
            if groups.pop() and plain[at + 1 : at + 2] in ("*", "+", "{"):
                return True
        elif letter in "*+{|" or (letter == "?" and plain[at - 1] != "("):
            groups = [True] * len(groups)
    return False


def _refusal(error: regex.error, pattern: str) -> Exception:
    if error.msg in _RULE and error.pos is not None:
        return _no_rule(pattern, error.pos)
    for begin, (code, text) in _REFUSED.items():
        if error.msg.startswith(begin):
            return _refused(code, text)
    return NotSimulated(f"this pattern is not simulated: {error.msg}")


def _no_rule(pattern: str, at: int) -> SqlError:
    line, place = pattern.count("\n", 0, at) + 1, at - pattern.rfind("\n", 0, at)
    return _refused(3688, f"Syntax error in regular expression on line {line}, character {place}.")


def _check_braces(pattern: str) -> None:
    """ICU takes no brace for a letter. Raises SqlError."""
    at, is_first = 0, True
    while at < len(pattern):
        if (skipped := _SKIPS.match(pattern, at)) is not None:
            at, is_first = skipped.end(), False
        elif pattern[at] == "}" or (pattern[at] == "{" and is_first):
            raise _no_rule(pattern, at)
        elif pattern[at] == "{":
            found = _INTERVAL.match(pattern, at)
            if found is None:
                raise _refused(3692, "Incorrect description of a {min,max} interval.")
            at = found.end()
        else:
            is_first = pattern[at] in "(|"
            at += 1


def _posix(pattern: str, how: str, called: str) -> _Pattern:
    del how, called  # There are no functions of patterns before ICU, and REGEXP has neither.

    def read(value: Any) -> str:
        return text_of(value).encode().decode("latin-1")

    try:
        ours = in_ours(read(pattern))
    except NoPatternError as error:
        raise SqlError(1139, "42000", f"Got error '{error}' from regexp") from None
    return _Pattern(regex.compile(ours, regex.IGNORECASE | regex.ASCII | regex.DOTALL), read, False)


_LIBRARIES = {"icu": _icu, "posix": _posix}
Read = Callable[[Any, Any, str], _Pattern]


def _like(read: Read, value: Any, pattern: Any, how: Any = "") -> int:
    return int(bool(read(pattern, how, "regexp_like").met(value)))


def _substr(read: Read, value: Any, pattern: Any, begin: int = 1, nth: int = 1, how: Any = "") -> str | None:
    found = read(pattern, how, "regexp_substr").met(value, begin)
    return found[max(1, nth) - 1][0] if len(found) >= max(1, nth) else None


def _instr(
    read: Read, value: Any, pattern: Any, begin: int = 1, nth: int = 1, behind: int = 0, how: Any = ""
) -> int:
    if behind not in (0, 1):
        raise _refused(1210, "Incorrect arguments to regexp_instr: return_option must be 1 or 0.")
    found = read(pattern, how, "regexp_instr").met(value, begin)
    if len(found) < max(1, nth):
        return 0
    met = found[max(1, nth) - 1]
    at: int = met.end() if behind else met.start()
    return at + 1


def _replace(
    read: Read, value: Any, pattern: Any, put: Any, begin: int = 1, nth: int = 0, how: Any = ""
) -> str:
    """Every one that is met is replaced, or the one of a number."""
    searched = read(pattern, how, "regexp_replace")
    met, text = searched.met(value, begin), searched.of(value)
    for one in reversed(met[max(1, nth) - 1 : max(1, nth)] if nth else met):
        text = text[: one.start()] + _put(text_of(put), one) + text[one.end() :]
    return text


def _put(words: str, met: regex.Match[str]) -> str:
    """What stands for one that is met: `$1` is its first group, what follows a backslash a letter."""
    groups = met.re.groups

    def read(part: regex.Match[str]) -> str:
        if part["letter"] is not None:
            return str(part["letter"])
        digits, name = part["digits"], part["name"]
        if name is not None and name in met.re.groupindex:
            return str(met[name] or "")
        if digits is None:
            raise _refused(3887, "A capture group has an invalid name.")
        # Digits are of the number as long as there is such a group.
        taken = max((n for n in range(1, len(digits) + 1) if int(digits[:n]) <= groups), default=0)
        if not taken:
            raise _out_of_bounds()
        return f"{met[int(digits[:taken])] or ''}{digits[taken:]}"

    signs = r"\\(?P<letter>.)|\$(?:(?P<digits>[0-9]+)|\{(?P<name>[^}]*)\})?"
    made: str = regex.sub(signs, read, words, flags=regex.DOTALL)
    return made


def calls(library: str) -> dict[str, Callable[..., Any]]:
    """The functions by their names in SQLite, for `icu` or `posix`; NULL where an argument is NULL."""
    reading = lru_cache(maxsize=64)(_LIBRARIES[library])

    def read(pattern: Any, how: Any, called: str) -> _Pattern:
        return reading(text_of(pattern), text_of(how), called)

    named: dict[str, Callable[..., Any]] = {
        "like": _like,
        "substr": _substr,
        "instr": _instr,
        "replace": _replace,
    }
    return {f"mysql_regexp_{name}": partial(call, read) for name, call in named.items()}


EXACT = "exact"
"""Of a column whose letters differ where their cases do."""
_ARGUMENTS: dict[type, dict[str, str | int | None]] = {
    exp.RegexpLike: {"this": None, "expression": None, "flag": ""},
    exp.RegexpReplace: {
        "this": None, "expression": None, "replacement": None, "position": 1, "occurrence": 0,
        "modifiers": "",
    },
    exp.RegexpSubstr: {"this": None, "expression": None, "position": 1, "occurrence": 1, "parameters": ""},
    exp.RegexpInstr: {
        "this": None, "expression": None, "position": 1, "occurrence": 1, "option": 0, "parameters": "",
    },
}  # fmt: skip
"""Calls by patterns, with the names that the parser has for their arguments, or else the values."""


def ours(node: exp.Expr) -> exp.Expr | None:
    """A call of ours in place of one by a pattern; None: the node is none."""
    names = _ARGUMENTS.get(type(node))
    if names is None:
        return None
    given = [(node.args.get(name) or exp.convert(usual)).copy() for name, usual in names.items()]
    named = next((one.expression.name for one in given[:2] if isinstance(one, exp.Collate)), "")
    if named == BY_BYTES or (not named and any(one.meta.get(EXACT) for one in given[:2])):
        # What is asked for behind it counts.
        given[-1] = exp.DPipe(this=exp.Literal.string("c"), expression=given[-1])
    name = type(node).__name__.removeprefix("Regexp").lower()
    return exp.Anonymous(this=f"mysql_regexp_{name}", expressions=given)
