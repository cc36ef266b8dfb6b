"""What golden results say must make sense, whatever the numbers are."""

from __future__ import annotations

from golden.commands import names
from golden.kept import kept


def test_what_comes_after_a_limit_is_another_one() -> None:
    """No plan is told that without its limit it would be limited by the same thing."""
    looked_at = 0
    for plan in names():
        for file, lines in kept(plan, "max-load").items():
            told = dict(line.split(" = ", 1) for line in lines if ".text = " in line)
            after = told.get("next_limit.limited_by.text")
            assert after is None or told["limited_by.text"] != after, (plan, file)
            looked_at += after is not None
    assert looked_at > 5
