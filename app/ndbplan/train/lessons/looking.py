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
    r"^(?:Invalid (?:command|argument)|ndbplan: |bash: |ls: |tail: |ERROR (?:1046|1049|1054|1064|1146) )",
    re.MULTILINE,
)
"""What was misspelt, or asked of a console that does not know it, showed nothing."""


class Sight(NamedTuple):
    """A line beside what is to be looked at."""

    asks: bool
    """It is one of the lines that can show it."""
    shows: bool
    """And it did."""


def sight(evidence: Evidence, line: str, answer: str, sim: Simulation) -> Sight:
    """Whether a line that was answered so is a look at this, and shows it now."""
    asks = any(has_words(line, words) for words in evidence.look) and not shows_nothing(answer)
    is_so = asks and (not evidence.while_ or parsed(evidence.while_).holds(sim))
    return Sight(asks, is_so and _is_seen(evidence, answer))


def _is_seen(evidence: Evidence, answer: str) -> bool:
    """Whether some line of the answer has the words of any of what is to be seen."""
    lines = answer.splitlines()
    return not evidence.sees or any(has_words(line, words) for words in evidence.sees for line in lines)


def shows_nothing(answer: str) -> bool:
    """Whether a line was refused."""
    return bool(_SHOWS_NOTHING.search(answer))


def has_words(line: str, words: str) -> bool:
    """Whether the words are in a line, one after the other, in whatever case."""
    at, low = 0, line.lower()
    for word in words.lower().split():
        at = low.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True
