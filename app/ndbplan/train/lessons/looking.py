"""Whether a line at a console was a look at what a stage asks for, and whether that was to be seen.

    found = sight(evidence, "mysql> SELECT * FROM ndbinfo.logbuffers;", answer, cluster.session.simulation)
    found.asks, found.shows

The same command shows other things at another moment, of another host, or with fewer lines: a debriefing says
only what was there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ndbplan.simulate.simulation import Simulation
from ndbplan.train.conditions import parsed
from ndbplan.train.lessons.model import Evidence

_SHOWS_NOTHING = re.compile(
    r"(?:Invalid (?:command|argument)|Type HELP for help\.|Connected to [Mm]anagement [Ss]erver|"
    r"ERROR [0-9]+ \(|Empty set|(?:[a-z_]+): |Usage: |Unable to connect|Error opening|"
    r"Unknown (?:query option|node type))"
)
"""How lines begin that show nothing: what a console refuses, and what says that nothing was found."""


class Sight(NamedTuple):
    """A line beside what is to be looked at."""

    asks: bool
    """It is one of the lines that can show it."""
    shows: bool
    """And it did."""


def sight(evidence: Evidence, line: str, answer: str, sim: Simulation) -> Sight:
    """Whether a line that was answered so is a look at this, and shows it now."""
    # An error may be what is to be seen.
    shows = _has_any(answer, evidence.sees) if evidence.sees else not shows_nothing(answer)
    asks = any(has_words(line, words) for words in evidence.look) and (shows or not shows_nothing(answer))
    return Sight(asks, asks and shows and (not evidence.while_ or parsed(evidence.while_).holds(sim)))


def _has_any(answer: str, sees: tuple[str, ...]) -> bool:
    """Whether some line of the answer has the words of any of what is to be seen."""
    return any(has_words(line, words) for words in sees for line in answer.splitlines())


def shows_nothing(answer: str) -> bool:
    """Whether a line was refused, or found nothing."""
    lines = (line for line in answer.splitlines() if line.strip())
    return all(_SHOWS_NOTHING.match(line) for line in lines)


def has_words(line: str, words: str) -> bool:
    """Whether the words are in a line, one after the other, in whatever case."""
    at, low = 0, line.lower()
    for word in words.lower().split():
        at = low.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True
