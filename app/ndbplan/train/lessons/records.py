"""What is kept of a lesson that is played: its lines, what was looked at, what was done."""

from __future__ import annotations

from typing import NamedTuple

TRAINEE, TRAINER = "trainee", "trainer"


class Step(NamedTuple):
    """A line, when it was given, and when its answer was there, in simulated seconds."""

    at_s: float
    line: str
    ended_s: float
    by: str = TRAINEE


class Look(NamedTuple):
    """Something that was looked at, and what was true then."""

    at_s: float
    line: str
    answer: str
    truth: dict[str, str]
    shows: str
    """Name of the evidence that it was; empty: it was none."""


class Befallen(NamedTuple):
    """What came of a deed of the trainer."""

    answer: str
    """For the trainer."""
    said: str
    """What of the lesson came true with it, for the trainee, who is not told what was done."""


class Mark(NamedTuple):
    """Something that was done."""

    name: str
    at_s: float
    points: float
    text: str
