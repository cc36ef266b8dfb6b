"""Lines of one session of the mysql client: statements one after the other, and those that wait."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

from ndbplan.base.kept import keeping
from ndbplan.train.at_work import INTERRUPTED, UNDER_WAY, is_at_work
from ndbplan.train.live import Hold, LiveCluster, SqlSession, time_passes
from ndbplan.train.prompts import BREAK, sql_prompt
from ndbplan.train.sql import locking, table_locks, transactions, waiting
from ndbplan.train.sql.client_words import KNOWN, SHORT
from ndbplan.train.sql.problem import SqlError, Warned
from ndbplan.train.sql.server import answering
from ndbplan.train.sql.status import with_one_more
from ndbplan.train.sql.typed import Typing, number_of, prompt_of, taken
from ndbplan.train.transacting import Waits


class UnderWay(NamedTuple):
    """A statement that has begun."""

    sql: str
    since_s: float
    hold: Hold
    text: str
    """What would be printed at once."""
    rest: tuple[tuple[str, bool], ...]
    """Statements behind it."""


class Passed(NamedTuple):
    """A session while a statement was under way that held up who typed it."""

    from_s: float
    to_s: float
    session: Lines


class Lines(ABC):
    """Answers lines; what a statement is answered is in the class that inherits it."""

    def __init__(self, number: int) -> None:
        self.number = number
        """Of the session: what it has begun and locked is its own."""
        self.had_node = 0
        """The SQL node that an open transaction was on after the last line; 0: none was open."""
        self.killed = 0
        """How often the connection had been ended by KILL when the last line came."""
        self.warnings: tuple[Warned, ...] = ()
        self.database = ""
        self.has_left = False
        """The last statement was QUIT."""
        self.under_way: UnderWay | None = None
        """The statement that it is at, whose answer is still to come."""
        self.counts: Mapping[str, int] = {}
        """Statements so far, by what counts them."""
        self.passed: list[Passed] = []
        """What was under way while the last line was answered."""
        self.shows_warnings = False
        """Those of a statement are printed behind its answer (`warnings`, `\\W`)."""
        self.typing = Typing()
        """What ends a statement, and what is typed of one that is not complete."""

    @abstractmethod
    def one(self, sql: str, vertical: bool, cluster: LiveCluster) -> str:
        """What one statement is answered. Raises LockWaitError."""

    @abstractmethod
    def connect_anew(self, cluster: LiveCluster) -> str:
        """What the client prints when it finds its connection gone; nothing is left of the session."""

    @abstractmethod
    def variables(self, cluster: LiveCluster) -> Mapping[str, str]:
        """Those of the server, as the session has them."""

    def answer(self, line: str, cluster: LiveCluster) -> str:
        """What the client prints for the statements of a line, up to one that has to wait."""
        seen = cluster.seen_by(self.number)
        is_break = line.strip() == BREAK
        if self.number in cluster.state.waits:
            if not is_break:
                return waiting.still(self.number, cluster)
            waiting.interrupt(self.number, cluster)
            return INTERRUPTED
        if self.under_way is not None:
            if is_break:
                return self._interrupted(seen)
            return is_at_work(sql_prompt(self.number), self.under_way.sql, self.under_way.since_s, cluster)
        if is_break:
            self.typing = self.typing._replace(begun="")
            return "^C\n"
        killed, self.killed = self.killed, cluster.state.killed.get(self.number, 0)
        if killed < self.killed:
            return self.connect_anew(seen) + self.answer(line, cluster)
        if self.had_node and waiting.is_cut_off(self.had_node, cluster):
            self.had_node = 0
            return f"{transactions.LOST_CONNECTION.line}\n"
        with keeping():
            found = taken(line, self.typing, number_of(self.variables(seen)["version"]))
            self.typing = found.typing
            said = found.told + self._all(found.statements, seen)
        return f"{said}{prompt_of(found.typing)}\n" if found.typing.begun else said

    def go_on(self, cluster: LiveCluster) -> str | None:
        """What is printed of a statement that waited; None: it still does."""
        turn = waiting.turn(self.number, cluster)
        if turn is None:
            return None
        one, seen, error = turn.one, cluster.seen_by(self.number), turn.error
        with keeping():
            if error is None:
                return self._all([(one.sql, one.vertical), *one.rest], seen, one.since_s)
            self.warnings = error.warnings
            return f"{error.line}\n{self._all(list(one.rest), seen)}"

    def look(self, cluster: LiveCluster) -> str | None:
        """What is printed of a statement that was under way; None: it still is."""
        at = self.under_way
        seen = cluster.seen_by(self.number)
        if at is None or not at.hold.is_done(seen):
            return None
        self.under_way = None
        with keeping():
            try:
                said = at.hold.ends(seen, at.text)
            except SqlError as error:
                self.warnings, said = error.warnings, f"{error.line}\n"
            return said + self._all(list(at.rest), seen)

    def _interrupted(self, cluster: LiveCluster) -> str:
        """Ctrl+C: the client sends KILL QUERY, and hears of it where the server listens."""
        at = self.under_way
        assert at is not None
        if at.hold.stops is None:
            return INTERRUPTED
        at.hold.stops(cluster)
        self.under_way = None
        with keeping():
            return f"{INTERRUPTED}{waiting.STOPPED.line}\n{self._all(list(at.rest), cluster)}"

    def _with_warnings(self, sql: str, text: str) -> str:
        """An answer with the warnings of its statement, where the client was told to print them.

        One that is the error itself is not said twice (client/mysql.cc, print_warnings).
        """
        word = sql.split(None, 1)[0].lower() if sql[:1] != "\\" else SHORT.get(sql[:2], "")
        self.shows_warnings = {"warnings": True, "nowarning": False}.get(word, self.shows_warnings)
        failed = text.startswith("ERROR ")
        if not self.shows_warnings or word in ("show", *KNOWN) or (failed and len(self.warnings) < 2):
            return text
        return text + "".join(f"{one.level} (Code {one.code}): {one.message}\n" for one in self.warnings)

    def _note(self, cluster: LiveCluster) -> None:
        """Let others see the session, or that it is gone."""
        own = answering(cluster)
        cluster.sessions.pop(self.number, None)
        if self.has_left:
            table_locks.release(cluster)
        if own is not None and not self.has_left:
            killed = cluster.state.killed.get(self.number, 0)
            cluster.sessions[self.number] = SqlSession(
                self.database, cluster.now_s, own.node_id, killed, self.counts
            )

    def _at_work(self, on: UnderWay) -> Lines:
        """The session as it was while a statement was under way."""
        other = copy.copy(self)
        other.under_way, other.passed = on, []
        return other

    def _all(self, asked: list[tuple[str, bool]], cluster: LiveCluster, since_s: float | None = None) -> str:
        """Statements one after the other, up to one that waits; `since_s`: the first has, since then."""
        said = ""
        for at, (sql, vertical) in enumerate(asked):
            waited_s = 0.0 if since_s is None or at else cluster.now_s - since_s
            self.has_left = False
            try:
                cluster.holds.clear()
                cluster.past_holds.clear()
                if not waited_s:
                    self.counts = with_one_more(self.counts, sql)
                from_s = cluster.now_s
                text, begin_s = self._with_warnings(sql, self.one(sql, vertical, cluster)), cluster.now_s
                self._note(cluster)
                if begin_s > from_s:
                    hold, rest = _past_hold(cluster), tuple(asked[at + 1 :])
                    on = UnderWay(sql, from_s - waited_s, hold, text, rest)
                    self.passed.append(Passed(from_s, begin_s, self._at_work(on)))
                if cluster.holds:
                    rest = tuple(asked[at + 1 :])
                    text, hold = waiting.with_time(text, waited_s), cluster.holds.pop()
                    self.under_way = UnderWay(sql, begin_s - waited_s, hold, text, rest)
                    return said + ("" if cluster.takes_turns else UNDER_WAY)
                said += waiting.with_time(text, waited_s)
            except locking.LockWaitError as refused:
                behind, begin_s = asked[at + 1 :], cluster.now_s - waited_s
                values = self.variables(cluster)
                one = locking.waiting(refused, sql, vertical, behind, begin_s, cluster, values)
                cluster.act(Waits(self.number, one))
                return said + waiting.begins(refused.others)
        held = transactions.open_of(cluster)
        self.had_node = 0 if held is None else held.node_id
        return said


def _past_hold(cluster: LiveCluster) -> Hold:
    """What a statement waited for that is over: by its own account, or until now."""
    return cluster.past_holds[-1] if cluster.past_holds else time_passes(cluster.now_s)
