"""The consoles of one session: which of them a line is for, and what it answers.

    consoles = Consoles(cluster)
    consoles.answer("ndb_mgm> SHOW")
    consoles.answer("! wait 30s")

A transcript is a text of such lines. The same lines of the same plan give the same answers, to the byte.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.train import world
from ndbplan.train.answer import carry_out
from ndbplan.train.host import console as host
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm import console as mgm
from ndbplan.train.prompts import session_of, sql_prompt

if TYPE_CHECKING:
    from ndbplan.train.sql.console import Client

_LINE = re.compile(r"(ndb_mgm>|mysql[2-9]?>|lesson>|!|[A-Za-z0-9_.:\-]+\$)[ \t]*+(.*)", re.DOTALL)
MGM, WORLD, LESSON = "ndb_mgm>", "!", "lesson>"
LESSON_WORDS = ("task", "hint", "answer", "stage", "score", "read", "story", "finish", "help")
"""What a lesson that is played knows; without one it says so."""
_EVENTS = (
    "stop_begins", "stop_all_begins", "stop_done", "stop_aborted", "start_begins", "started", "forced",
    "signal", "backup_started", "backup_completed", "backup_aborted", "memory",
)  # fmt: skip
"""Lines of the cluster log that the management client prints on its own while it is connected."""
_OWN_FORMS = (
    (" completed. StartGCP:", " completed\n StartGCP:"),
    (" #Records:", "\n #Records:"),
    (" Data:", "\n Data:"),
)
"""Where it breaks lines that the log has whole [7.4.10]."""


class Addressed(NamedTuple):
    """A line, and the console that it is for."""

    prompt: str
    """`ndb_mgm>`, `mysql>`, `mysql2>`, `!`, `lesson>`, or `host1$`."""
    text: str


def addressed(line: str) -> Addressed | None:
    """Which console a line is for; None: it names none."""
    match = _LINE.fullmatch(line.strip())
    return None if match is None else Addressed(match[1], match[2].strip())


class Consoles:
    """Somebody's consoles on a live cluster."""

    def __init__(self, cluster: LiveCluster) -> None:
        self.cluster = cluster
        self.is_connected = False
        """The management client has connected to a server."""
        self._told = 0
        """Lines of the cluster log that the client has printed or passed over."""
        self.shells: dict[str, host.Shell] = {}
        self.is_apart = False
        """What is followed has a place of its own, and does not stand behind every answer."""
        self._clients: dict[int, Client] = {}
        """Sessions of the mysql client, by their numbers."""
        self._late: list[tuple[str, str]] = []
        """Prompts of sessions whose statement waited, and what it was answered in the end."""
        cluster.attendant = self._go_on

    def on(self, cluster: LiveCluster) -> Consoles:
        """The same consoles on a branch of the cluster."""
        other = copy.copy(self)
        other.cluster = cluster
        other.shells = {name: copy.copy(shell) for name, shell in self.shells.items()}
        other._clients = {number: copy.copy(client) for number, client in self._clients.items()}
        other._late = []
        cluster.sessions = dict(self.cluster.sessions)
        cluster.attendant = other._go_on
        return other

    def answer(self, line: str) -> str:
        """What a line is answered, and what is followed meanwhile; the cluster does what it says."""
        text = self._answer(line)
        self.cluster.attend()
        if self.is_apart:
            return text
        late, self._late = self._late, []
        answers = "".join(f"({prompt} waited)\n{answer}" for prompt, answer in late)
        return text + answers + "".join(news for _, news in self.news())

    @property
    def following(self) -> str:
        """The prompt of a shell that follows a log, which a line `q` or `^C` ends; empty: none does."""
        return next((f"{name}$" for name, shell in self.shells.items() if shell.follows), "")

    def news(self) -> list[tuple[str, str]]:
        """Prompts of shells that follow a log, and its new lines; answers of sessions that waited."""
        late, self._late = self._late, []
        found = ((f"{name}$", shell.news(self.cluster)) for name, shell in self.shells.items())
        return [*late, *((prompt, text) for prompt, text in found if text)]

    def _go_on(self) -> None:
        """Statements that waited go on in the order in which they came."""
        waits = self.cluster.state.waits
        for number in sorted(waits, key=lambda one: (waits[one].since_s, one)):
            text = self._session(number).go_on(self.cluster) if number in self.cluster.state.waits else None
            if text is not None:
                self._late.append((sql_prompt(number), text))

    def _answer(self, line: str) -> str:
        found = addressed(line)
        if found is None:
            return (
                f"ndbplan: '{line.strip()[:60]}' names no console — begin it with ndb_mgm>, mysql>, "
                "HOST$ or !, as in 'ndb_mgm> SHOW', 'host1$ df -h', '! wait 30s'\n"
            )
        if found.prompt == LESSON:
            return "ndbplan: no lesson is played here — type 'ndbplan lesson list' in a shell\n"
        if found.prompt == WORLD:
            return self._world(found.text)
        if found.prompt == MGM:
            return self._management(found.text)
        if (number := session_of(found.prompt)) is not None:
            return self._session(number).answer(found.text, self.cluster)
        return self._shell(found.prompt[:-1], found.text)

    def passes(self, seconds: float) -> None:
        """So much time passed without a line."""
        self.cluster.advance(seconds)

    @property
    def is_over(self) -> bool:
        """A session goes on as long as somebody types."""
        return False

    def _world(self, text: str) -> str:
        try:
            return world.do(text, self.cluster) + "\n"
        except UserError as error:
            return f"ndbplan: {error.line}\n"

    def _management(self, text: str) -> str:
        before = ""
        if mgm.needs_server(text) and self.cluster.state.server is None:
            self.is_connected = False
            self.cluster.advance(mgm.tries_s(self.cluster))
            return mgm.unanswered(text, self.cluster)
        if not self.is_connected and mgm.needs_server(text):
            before = mgm.greeting(self.cluster)
            self.is_connected = True
            self._told = len(self.cluster.state.log)
        events = self._events()
        reply = mgm.answer(text, self.cluster)
        done = carry_out(reply, self.cluster)
        own = reply.waits is not None and "BACKUP" in text.upper()
        meanwhile = self._events(without="backup" if own else "")
        if done.ends or self.cluster.state.server is None:
            self.is_connected = False
        return before + events + meanwhile + done.text

    def _session(self, number: int) -> Client:
        # sqlglot takes a while to load.
        from ndbplan.train.sql.console import Client

        return self._clients.setdefault(number, Client(number))

    def _events(self, without: str = "") -> str:
        """What the client prints on its own since it last printed anything."""
        log = self.cluster.state.log
        new = log[min(self._told, len(log)) :]
        self._told = len(log)
        shown = (
            line for line in new if line.key in _EVENTS and not (without and line.key.startswith(without))
        )
        # The client names releases in words of its own [7.4.10; reference manual: online addition of nodes].
        release = self.cluster.state.release
        own = [(release.name, f"version {release.ndb}"), *_OWN_FORMS]
        said = ""
        for line in shown:
            text = line.text
            for as_logged, as_printed in own:
                text = text.replace(as_logged, as_printed)
            said += f"Node {line.node_id}: {text}\n"
        return said

    def _shell(self, name: str, text: str) -> str:
        found = host.find(self.cluster, name)
        if found is None:
            known = ", ".join(one.hostname for one in self.cluster.plan.hosts[:8])
            return f"ndbplan: the plan has no host '{name[:60]}' — it has {known}\n"
        shell = self.shells.setdefault(found.hostname, host.Shell(found.id))
        before = "" if self.is_apart else shell.news(self.cluster)
        reply = shell.answer(text, self.cluster)
        done = carry_out(reply, self.cluster)
        if reply.orders or reply.waits is not None:
            # What it waited for decides how it ends.
            shell.status = done.exit
        return before + done.text


class Answered(NamedTuple):
    """A line of a transcript, and what it was answered."""

    line: str
    answer: str
    at_s: float
    """Simulated seconds when the answer was there."""


def answered(lines: Iterable[str], cluster: LiveCluster) -> Iterator[Answered]:
    """Each line of a transcript with its answer; empty lines and remarks have none."""
    consoles = Consoles(cluster)
    for raw in lines:
        line = raw.rstrip("\r\n")
        asks = line.strip() and not line.lstrip().startswith("#")
        yield Answered(line, consoles.answer(line) if asks else "", cluster.now_s)


def transcript(lines: Iterable[str], cluster: LiveCluster) -> Iterator[str]:
    """Each line of a transcript, and behind it what it was answered."""
    for one in answered(lines, cluster):
        yield f"{one.line}\n{one.answer}"
