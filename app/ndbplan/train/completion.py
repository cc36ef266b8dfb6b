"""What may follow at a console: the same words in a terminal and in the window.

offered("SH", MGM, cluster.plan).words         # SHOW, SHUTDOWN
offered("data1$ io", MGM, cluster.plan).words  # iostat
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from ndbplan.plan.plan import Plan
from ndbplan.train.consoles import LESSON, LESSON_WORDS, MGM, WORLD, addressed
from ndbplan.train.host.console import PROGRAMS
from ndbplan.train.mgm.console import WORDS
from ndbplan.train.prompts import SQL, session_of, sql_prompt
from ndbplan.train.quantities import NAMES
from ndbplan.train.world import VERBS

_SQL_WORDS = ("SELECT * FROM ndbinfo.", "SHOW TABLES FROM ndbinfo;", "SHOW WARNINGS;",
              "SHOW ENGINE NDB STATUS;", "USE ndbinfo;")  # fmt: skip


class Offered(NamedTuple):
    """What may stand in place of what is typed."""

    typed: str
    """The part of the line that a word takes the place of: its end."""
    words: tuple[str, ...]

    @property
    def common(self) -> str:
        """What all of them begin with, in their own writing; what is typed where that is no more."""
        letters = zip(*(word.lower() for word in self.words), strict=False)
        shared = len(list(takewhile(lambda column: len(set(column)) == 1, letters)))
        return self.words[0][:shared] if shared > len(self.typed) else self.typed


def offered(text: str, front: str, plan: Plan) -> Offered:
    """Words that begin as a line ends that is typed at the console in front, or names another one."""
    found = addressed(text)
    prompt, typed = (found.prompt, found.text) if found is not None else (front, text)
    prompts = [MGM, SQL, sql_prompt(2), WORLD, LESSON, *(f"{host.hostname}$" for host in plan.hosts)]
    words = [*_words(prompt), *(prompts if found is None else ())]
    fitting = (word for word in words if typed and word.lower().startswith(typed.lower()))
    return Offered(typed, tuple(fitting))


def _words(prompt: str) -> Iterable[str]:
    if prompt == WORLD:
        return (*VERBS, *(f"until {name}" for name in NAMES))
    known: dict[str, Iterable[str]] = {MGM: WORDS, LESSON: LESSON_WORDS}
    return known.get(prompt, PROGRAMS if session_of(prompt) is None else _SQL_WORDS)
