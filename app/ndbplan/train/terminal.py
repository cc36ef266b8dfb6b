"""Training at a terminal: prompts with history and completion; the cluster's time passes with the clock.

A line goes to the console that its prompt names, `host1$ df -h`, or to the one in front. A prompt alone
brings a console to the front. What is typed is recorded as a transcript that plays again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Protocol, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from ndbplan.train.completion import offered
from ndbplan.train.consoles import LESSON, MGM, WORLD, Addressed, Consoles, addressed
from ndbplan.train.live import LiveCluster
from ndbplan.train.prompts import BREAK

STEP_S = 0.1
FOLLOWS_EVERY_S = 0.2
"""How often new lines of a log that is followed are printed."""


class Answering(Protocol):
    """Whatever answers lines while time passes."""

    def answer(self, line: str) -> str:
        """What a line is answered."""

    def passes(self, seconds: float) -> None:
        """So much time passed without a line."""

    @property
    def is_over(self) -> bool:
        """Nothing more is to be typed."""

    @property
    def following(self) -> str:
        """The prompt of a shell that follows a log; empty: none does."""

    def news(self) -> list[tuple[str, str]]:
        """New lines of what is followed."""


class _Words(Completer):
    """What may follow at a console."""

    def __init__(self, cluster: LiveCluster) -> None:
        self.front, self._cluster = MGM, cluster

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        found = offered(document.text_before_cursor, self.front, self._cluster.plan)
        for word in found.words:
            yield Completion(word, start_position=-len(found.typed))


class Terminal:
    """A session at a terminal; `record` gets what was typed and when.

    `consoles` answer the lines; without them those of the cluster alone.
    """

    def __init__(
        self, cluster: LiveCluster, speed: float, record: TextIO | None = None,
        consoles: Answering | None = None,
    ) -> None:  # fmt: skip
        self.consoles: Answering = Consoles(cluster) if consoles is None else consoles
        self.speed, self._record = speed, record
        # Time passes by itself: what waits at one console holds up no other.
        cluster.apart = speed > 0
        self._completer = _Words(cluster)
        if cluster.apart and consoles is None:
            self._note(f"{WORLD} apart")
        self._owed_s = 0.0
        """Time that has passed by the clock and not yet in the cluster."""

    def line(self, text: str, waited_s: float) -> str:
        """What a line is answered that came so long after the last answer, by the clock."""
        self._pass(waited_s * self.speed)
        found = addressed(text)
        if found is None and text.strip():
            found = Addressed(self._completer.front, text.strip())
        if found is None or not found.text:
            self._completer.front = self._completer.front if found is None else found.prompt
            return "".join(f"({prompt})\n{news}" for prompt, news in self.consoles.news())
        whole = f"{found.prompt} {found.text}"
        self._note(whole)
        return self.consoles.answer(whole)

    @property
    def prompt(self) -> str:
        """That of the console in front."""
        return f"{self._completer.front} "

    def _pass(self, seconds: float) -> None:
        self._owed_s += seconds
        steps = int(self._owed_s / STEP_S)
        if steps:
            passed_s = round(steps * STEP_S, 9)
            self._owed_s -= passed_s
            self._note(f"! wait {passed_s:g}s")
            self.consoles.passes(passed_s)

    def _note(self, line: str) -> None:
        if self._record is not None:
            self._record.write(line + "\n")
            self._record.flush()

    def follow(self, wait: Callable[[], object]) -> None:
        """Print what a shell follows while time passes with the clock, until Ctrl+C."""
        asked_s = time.monotonic()
        try:
            while self.consoles.following and not self.consoles.is_over:
                wait()
                now_s = time.monotonic()
                self._pass((now_s - asked_s) * self.speed)
                asked_s = now_s
                print("".join(text for _, text in self.consoles.news()), end="", flush=True)
        except KeyboardInterrupt:
            print(self.line(f"{self.consoles.following} ^C", 0.0))

    def run(self, more: str = "") -> None:
        """Ask until the end of the input; `more` is said with how to begin."""
        session: PromptSession[str] = PromptSession(completer=self._completer, complete_while_typing=False)
        prompts = "'ndb_mgm>', 'mysql>', 'mysql2>', 'HOST$', '!'"
        print(f"A prompt ({prompts}) changes the console; '! help'; Ctrl-D ends. {more}".rstrip())
        asked_s = time.monotonic()
        while True:
            try:
                text = session.prompt(self.prompt)
            except EOFError:
                return
            except KeyboardInterrupt:
                if self._completer.front in (WORLD, LESSON):
                    continue
                text = BREAK
            print(self.line(text, time.monotonic() - asked_s), end="")
            self.follow(lambda: time.sleep(FOLLOWS_EVERY_S))
            if self.consoles.is_over:
                return
            asked_s = time.monotonic()
