"""Patterns of servers before 8.0.4, and what takes long; those of ICU are among the expressions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.train.sql.posix_patterns import NoPatternError, in_ours
from ndbplan.train.sql.problem import NotSimulated, SqlError
from ndbplan.train.sql.regular_expressions import calls

Like = Callable[[str, str], int]


@pytest.fixture(params=["icu", "posix"])
def like(request: pytest.FixtureRequest) -> Like:
    found: Any = calls(request.param)["mysql_regexp_like"]
    return lambda value, pattern: int(found(value, pattern))


@pytest.mark.parametrize(
    ("value", "pattern", "found"),
    [
        ("fo\nfo", "^fo$", 0), ("fofo", "^f.*$", 1), ("aXbc", "[a-dXYZ]", 1), ("aXbc", "^[a-dXYZ]$", 0),
        ("aXbc", "^[a-dXYZ]+$", 1), ("aXbc", "^[^a-dXYZ]+$", 0), ("gheis", "^[^a-dXYZ]+$", 1),
        ("~", "[[.~.]]", 1), ("justalnums", "[[:alnum:]]+", 1), ("!!", "[[:alnum:]]+", 0),
        ("a word a", "[[:<:]]word[[:>:]]", 1), ("a xword a", "[[:<:]]word[[:>:]]", 0),
        ("1+2", "1+2", 0), ("1+2", "1\\+2", 1), ("pi", "pi|apa", 1), ("pix", "^(pi|apa)$", 0),
        ("pipi", "^(pi)*$", 1), ("abcde", "a[bcd]{2}e", 0), ("abcde", "a[bcd]{3}e", 1),
        ("abcde", "a[bcd]{1,10}e", 1), ("aé", "^..$", 0), ("aé", "^...$", 1), ("ABC", "b", 1),
        ("d", "\\d", 1), ("1", "\\d", 0), ("a\\b", "[\\]", 1), ("a]", "[]]", 1), ("a-", "[b-]", 1),
        ("a{", "a{", 1), ("{", "^{$", 1), ("a\nb", "a.b", 1), ("x", "()x", 1), ("a}", "a}", 1),
    ],
)  # fmt: skip
def test_before_icu_patterns_are_those_of_posix(value: str, pattern: str, found: int) -> None:
    assert calls("posix")["mysql_regexp_like"](value, pattern) == found, in_ours(pattern)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("", "empty (sub)expression"), ("a|", "empty (sub)expression"), ("(|a)", "empty (sub)expression"),
        ("(", "parentheses not balanced"), ("(a", "parentheses not balanced"),
        ("a)", "parentheses not balanced"), ("[a", "brackets ([ ]) not balanced"),
        ("[", "brackets ([ ]) not balanced"), ("*a", "repetition-operator operand invalid"),
        ("a**", "repetition-operator operand invalid"), ("^*", "repetition-operator operand invalid"),
        ("(?i)b", "repetition-operator operand invalid"), ("{1}", "repetition-operator operand invalid"),
        ("a{2", "braces not balanced"), ("a{2,1}", "invalid repetition count(s)"),
        ("a{256}", "invalid repetition count(s)"), ("a{1x}", "invalid repetition count(s)"),
        ("a\\", "trailing backslash (\\)"), ("[b-a]", "invalid character range"),
        ("[[:foo:]]", "invalid character class"), ("[[.ab.]]", "invalid collating element"),
    ],
)  # fmt: skip
def test_before_icu_what_is_no_pattern_is_refused_in_words_of_the_library(pattern: str, why: str) -> None:
    with pytest.raises(SqlError) as refused:
        calls("posix")["mysql_regexp_like"]("a", pattern)
    assert (refused.value.code, refused.value.text) == (1139, f"Got error '{why}' from regexp")


@pytest.mark.parametrize("value", ["a" * 28, "a" * 2000, "a" * 28 + "!"])
@pytest.mark.parametrize(
    "pattern",
    ["^(a+(b)?)+$x", "(a|a)*c", "(a?a?a?a?)*b", "^((a)|(a))*c", "a?" * 26 + "a" * 26, "(a|a)" * 25 + "b",
     "a*a*a*a*b", ".*.*.*x", "(a+)+$", "(x+x+)+y"],
)  # fmt: skip
def test_no_pattern_is_looked_for_without_an_end(pattern: str, value: str, like: Like) -> None:
    with suppress(NotSimulated, SqlError):
        assert like(value, pattern) in (0, 1)


@pytest.mark.parametrize(
    "pattern",
    ["^[[a-z][0-9]]$", "[[a-z]--[aeiou]]", "[a&&b]", "[[.a.]]", "[:alpha:]", "\\Qa\\E", "(?<n>a)\\k<n>",
     "\\v", "\\0101", "\\Ka", "\\m", "(?P<n>a)", "(?|a|b)", "(*FAIL)", "(?V1)a", "(?R)?a",
     "(?(1)a|b)", "(?<_n>a)"],
)  # fmt: skip
def test_what_icu_reads_otherwise_is_not_answered(pattern: str) -> None:
    with pytest.raises(NotSimulated):
        calls("icu")["mysql_regexp_like"]("a", pattern)


def test_what_lies_behind_has_a_bound() -> None:
    with pytest.raises(SqlError, match="look-behind assertion exceeds"):
        calls("icu")["mysql_regexp_like"]("ab", "(?<=a*)b")
    assert calls("icu")["mysql_regexp_like"]("ab", "(?<=a)b") == 1


@given(st.text("ab[]{}()|*+?^$.\\-:,129", max_size=12))
def test_whatever_is_typed_is_a_pattern_or_refused(pattern: str) -> None:
    for library in ("icu", "posix"):
        with suppress(SqlError, NotSimulated):
            assert calls(library)["mysql_regexp_like"]("ab21", pattern) in (0, 1)
    with suppress(NoPatternError):
        in_ours(pattern)
