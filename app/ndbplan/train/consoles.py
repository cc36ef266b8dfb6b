"""The consoles of one session: which of them a line is for, and what it answers.

    consoles = Consoles(cluster)
    consoles.answer("ndb_mgm> SHOW")
    consoles.answer("! wait 30s")

A transcript is a text of such lines. The same lines of the same plan give the same answers, to the byte.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from ndbplan.base.errors import UserError
from ndbplan.train import world
from ndbplan.train.answer import PATIENCE_S, Answer, Waited, begin, carry_out, given_up
from ndbplan.train.at_work import UNDER_WAY, Program, is_at_work
from ndbplan.train.host import console as host
from ndbplan.train.live import LiveCluster, SqlSession
from ndbplan.train.mgm import console as mgm
from ndbplan.train.past import Past
from ndbplan.train.prompts import BREAK, session_of, sql_prompt

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


BY_CTRL_C = 130
"""Exit status of a program that Ctrl+C ended."""


class _At(NamedTuple):
    """One console at a moment."""

    program: Program | None = None
    """What is under way at the management client or a shell."""
    shell: host.Shell | None = None
    client: Client | None = None
    session: SqlSession | None = None
    """What others see of a client."""
    is_connected: bool = False
    told: int = 0
    """Of the management client, as `Consoles` has them."""


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

    def __init__(self, cluster: LiveCluster, before: Consoles | None = None) -> None:
        """`before`: those that were in use until now; where time goes back, they are what is found."""
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
        self._late: list[tuple[float, str, str]] = []
        """When a line was answered in the end that waited, at which prompt, and what."""
        self._programs: dict[str, Program] = {}
        """What is under way at the management client and the shells, by their prompts."""
        self.came: Callable[[float, str, str], None] | None = None
        """Who is told of a late answer when it comes, and of its line; not with a branch."""
        self._past: Past[_At] = Past() if before is None else before._past.copy()
        cluster.attendant, cluster.returned = self._go_on, self._go_back

    def on(self, cluster: LiveCluster) -> Consoles:
        """The same consoles on a branch of the cluster."""
        other = copy.copy(self)
        other.cluster = cluster
        other.shells = {name: copy.copy(shell) for name, shell in self.shells.items()}
        other._clients = {number: copy.copy(client) for number, client in self._clients.items()}
        other._late, other._programs, other.came = [], dict(self._programs), None
        other._past = self._past.copy()
        cluster.looks = dict(self.cluster.looks)
        cluster.sessions = dict(self.cluster.sessions)
        cluster.attendant, cluster.returned = other._go_on, other._go_back
        return other

    def answer(self, line: str) -> str:
        """What a line is answered, and what is followed meanwhile; the cluster does what it says."""
        text = self._answer(line)
        found = addressed(line)
        if found is not None:
            self._keep(found.prompt)
        self._note_looks()
        self.cluster.attend()
        if self.is_apart:
            return text
        late, self._late = self._late, []
        answers = "".join(f"({prompt} waited)\n{answer}" for _, prompt, answer in late)
        return text + answers + "".join(news for _, news in self.news())

    @property
    def following(self) -> str:
        """The prompt of a shell that follows a log, which a line `q` or `^C` ends; empty: none does."""
        return next((f"{name}$" for name, shell in self.shells.items() if shell.follows), "")

    def news(self) -> list[tuple[str, str]]:
        """Prompts of shells that follow a log, and its new lines; answers of sessions that waited."""
        late, self._late = self._late, []
        found = ((f"{name}$", shell.news(self.cluster)) for name, shell in self.shells.items())
        return [*((prompt, text) for _, prompt, text in late), *((at, text) for at, text in found if text)]

    def _go_on(self) -> None:
        """Statements that waited go on in the order in which they came."""
        waits = self.cluster.state.waits
        for number in sorted(waits, key=lambda one: (waits[one].since_s, one)):
            text = self._session(number).go_on(self.cluster) if number in self.cluster.state.waits else None
            if text is not None:
                self._late += [(self.cluster.now_s, sql_prompt(number), text)] if text else []
                self._keep(sql_prompt(number))
        for number, client in sorted(self._clients.items()):
            at, said = client.under_way, client.look(self.cluster)
            if at is not None and said is not None:
                if number in self.cluster.sessions:
                    # Idle since its end, not since it was begun.
                    ended = self.cluster.sessions[number]._replace(last_s=self.cluster.now_s)
                    self.cluster.sessions[number] = ended
                self._comes(sql_prompt(number), f"{at.sql};", said)
                self._keep(sql_prompt(number))
        for prompt, program in list(self._programs.items()):
            self._look(prompt, program)
        self._note_looks()

    def _comes(self, prompt: str, line: str, text: str) -> None:
        """A late answer is there."""
        self._late.append((self.cluster.now_s, prompt, text))
        if self.came is not None:
            self.came(self.cluster.now_s, f"{prompt} {line}", text)

    def _note_looks(self) -> None:
        looks = self.cluster.looks
        looks.clear()
        looks.update((prompt, one.since_s) for prompt, one in self._programs.items())
        looks.update(
            (sql_prompt(number), client.under_way.since_s)
            for number, client in self._clients.items()
            if client.under_way is not None
        )

    # What is under way while others go on.

    def _lets_go(self, prompt: str, line: str, reply: Answer) -> str:
        """What is printed of an answer at once; the rest comes as time passes."""
        begun = begin(reply, self.cluster)
        if begun.waits is None:
            return self._ended(prompt, begun)
        self._programs[prompt] = Program(line, self.cluster.now_s, begun.waits)
        return begun.text + UNDER_WAY

    def _look(self, prompt: str, one: Program) -> None:
        """Whether what a program waits for is there."""
        more, waited_s = one.waits(self.cluster), self.cluster.now_s - one.since_s
        if more is None and waited_s < PATIENCE_S and not self.cluster.is_over:
            return
        reply = Answer(given_up(waited_s), 1) if more is None else begin(more, self.cluster)
        if reply.waits is not None:
            self._programs[prompt] = one._replace(waits=reply.waits, text=one.text + reply.text)
        else:
            del self._programs[prompt]
            said = self._ended(prompt, replace(reply, text=one.text + reply.text), one.line)
            self._comes(prompt, one.line, said)
        self._keep(prompt)

    def _ended(self, prompt: str, reply: Answer, line: str = "") -> str:
        """What is printed at the end of a program."""
        if prompt == MGM:
            if reply.ends or self.cluster.state.server is None:
                self.is_connected = False
            return self._events(without="backup" if "BACKUP" in line.upper() else "") + reply.text
        self.shells[prompt[:-1]].status = reply.exit
        return reply.text

    def _broken(self, prompt: str) -> str:
        """Ctrl+C ends the client, not what it asked for."""
        del self._programs[prompt]
        if prompt == MGM:
            self.is_connected = False
        else:
            self.shells[prompt[:-1]].status = BY_CTRL_C
        return f"{BREAK}\n"

    # Where time goes back to.

    def _at(self, prompt: str) -> _At | None:
        """A console as it is now; None: nobody sat at it."""
        program, number = self._programs.get(prompt), session_of(prompt)
        if prompt == MGM:
            return _At(program, is_connected=self.is_connected, told=self._told)
        if number is None:
            shell = self.shells.get(prompt[:-1])
            return None if shell is None else _At(program, copy.copy(shell))
        client = self._clients.get(number)
        seen = self.cluster.sessions.get(number)
        return None if client is None else _At(client=copy.copy(client), session=seen)

    def _keep(self, prompt: str) -> None:
        """Keep a console as it is now, and as it was while its last line was answered."""
        number = session_of(prompt)
        found = None if number or prompt in (MGM, WORLD) else host.find(self.cluster, prompt[:-1])
        prompt = prompt if found is None else f"{found.hostname}$"
        if number in self._clients:
            client = self._clients[number]
            passed, client.passed = client.passed, []
            for one in passed:
                session = self.cluster.sessions.get(number)
                seen = None if session is None else session._replace(last_s=one.from_s)
                self._past.was(
                    prompt, one.from_s, one.to_s, _At(client=cast("Client", one.session), session=seen)
                )
        at = self._at(prompt)
        if at is not None:
            self._past.keep(prompt, self.cluster.now_s, at)

    def _carried_out(self, prompt: str, line: str, reply: Answer) -> Answer:
        """What an answer comes to for who waits for it; where time goes back into the wait, it goes on."""
        at, since_s, waited = self._at(prompt) or _At(), self.cluster.now_s, list[Waited]()
        done = carry_out(reply, self.cluster, waited)
        for one in waited:
            program = Program(line, since_s, one.waits, one.text)
            self._past.was(prompt, one.from_s, one.to_s, at._replace(program=program))
        return done

    def _go_back(self) -> None:
        """Each console is what it was before anything was typed at this moment."""
        now_s = self.cluster.now_s
        self.is_connected, self._told = False, 0
        self.shells, self._clients, self._programs = {}, {}, {}
        self._late = [one for one in self._late if one[0] < now_s]
        self.cluster.sessions.clear()
        for prompt, at in self._past.go_back(now_s):
            number = session_of(prompt)
            if at.program is not None:
                self._programs[prompt] = at.program
            if prompt == MGM:
                self.is_connected, self._told = at.is_connected, at.told
            if at.shell is not None:
                self.shells[prompt[:-1]] = shell = copy.copy(at.shell)
                # What it had printed by now.
                shell.news(self.cluster)
            if number is not None and at.client is not None:
                self._clients[number] = copy.copy(at.client)
                if at.session is not None:
                    self.cluster.sessions[number] = at.session
        self._note_looks()

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
        program = self._programs.get(found.prompt)
        if program is not None:
            if found.text == BREAK:
                return self._broken(found.prompt)
            return is_at_work(found.prompt, program.line, program.since_s, self.cluster)
        if found.prompt == MGM and found.text == BREAK:
            self.is_connected = False
            return f"{BREAK}\n"
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
            was_connected, self.is_connected = self.is_connected, False
            self.cluster.advance(mgm.tries_s(self.cluster))
            return mgm.unanswered(text, self.cluster, was_connected=was_connected)
        if not self.is_connected and mgm.needs_server(text):
            before = mgm.greeting(self.cluster)
            self.is_connected = True
            self._told = len(self.cluster.state.log)
        events = self._events()
        reply = mgm.answer(text, self.cluster)
        if self.cluster.apart and reply.waits is not None:
            return before + events + self._lets_go(MGM, text, reply)
        done = self._carried_out(MGM, text, reply)
        own = reply.waits is not None and "BACKUP" in text.upper()
        meanwhile = self._events(without="backup" if own else "")
        if done.ends or self.cluster.state.server is None:
            self.is_connected = False
        if mgm.connects(text) and not done.text:
            self.is_connected, self._told = True, len(self.cluster.state.log)
            return before + events + meanwhile + mgm.greeting(self.cluster)
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
        if self.cluster.apart and reply.waits is not None:
            return before + self._lets_go(f"{found.hostname}$", text, reply)
        done = self._carried_out(f"{found.hostname}$", text, reply)
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
