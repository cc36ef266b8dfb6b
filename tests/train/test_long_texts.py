"""LIKE, and texts that are long: no pattern takes long, and no text is cut without a word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.alike import Patterns
from ndbplan.train.sql.console import Client

Ask = Callable[[str], str]


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    client = Client()
    return lambda line: client.answer(line, cluster)


@given(st.text("ab_%\\", max_size=8), st.text("ab", max_size=8))
def test_like_is_what_its_signs_say(pattern: str, text: str) -> None:
    def fits(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "%":
            return any(fits(pattern[1:], text[at:]) for at in range(len(text) + 1))
        if pattern[0] == "\\" and len(pattern) > 1:
            return text[:1] == pattern[1] and fits(pattern[2:], text[1:])
        return bool(text) and pattern[0] in ("_", text[0]) and fits(pattern[1:], text[1:])

    assert Patterns().is_like(pattern, text) == fits(pattern, text)


def test_many_percent_signs_on_a_long_text_end() -> None:
    assert Patterns().is_like("%a" * 40 + "b", "a" * 10_000) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SELECT LENGTH(REPEAT('a', 20000)), LENGTH(LPAD('a', 20000, 'bc'))", "20000 |"),
        ("SELECT LENGTH(MID(REPEAT('a', 20000), 2))", "19999 |"),
        ("SELECT REPEAT('ä', 600000)", "ndbplan: texts of more than 1000000 bytes are not simulated"),
        ("SELECT REPLACE(REPEAT('a', 9999), 'a', REPEAT('b', 9999))", "ndbplan: texts of more than 1000000"),
        ("SELECT RPAD('a', 67108865, 'b') IS NULL", "1 row in set, 1 warning"),
    ],
)
def test_long_texts_are_as_long_as_they_are_or_not_made(line: str, said: str, ask: Ask) -> None:
    assert said in ask(f"{line};")
    if "warning" in said:
        told = "Result of rpad() was larger than max_allowed_packet (67108864) - truncated"
        assert told in ask("SHOW WARNINGS;")
