"""A seeded sample of what somebody may do in the window; `make attack` does 100,000 actions."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from attack.monkey import attack


def test_nothing_that_somebody_does_is_a_fault(qtbot: QtBot) -> None:
    assert list(attack(60, seed=5)) == []
