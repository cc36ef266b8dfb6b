"""What a person can read of an error, whatever was typed."""

from __future__ import annotations

import pytest

from ndbplan.base.errors import UserError, readable


@pytest.mark.parametrize("letter", ["x", "\u2028", "\udc80", "\x00", "é", "\U000e0001"])
def test_an_error_stays_short_and_printable(letter: str) -> None:
    line = UserError(letter * 100_000, where=letter * 5_000, fix=letter * 5_000).line
    assert len(line) < 1_000
    assert line.isprintable()


def test_a_long_message_is_cut_between_words() -> None:
    words = [f"figure-{number}" for number in range(200)]
    fix = UserError("no", fix=f"use one of {', '.join(words)}").fix
    head, tail = fix.removeprefix("use one of ").split(" … ")
    assert set(head.rstrip(",").split(", ")) < set(words)
    assert set(tail.split(", ")) < set(words)
    assert len(fix) <= 250


def test_digits_in_groups_stay_as_they_are() -> None:
    """A highest value was told as `1\\u2009000\\u2009000`."""
    assert readable("1\u2009000\u2009000 or less", 100) == "1\u2009000\u2009000 or less"
