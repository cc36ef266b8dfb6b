"""Where somebody sits before a live cluster: time that flows, what stops it, and branches to go back to.

seat = Seat(Consoles(cluster))
seat.stop_when("redo_log 80%")
seat.flow(3.3)                       # or until the breakpoint: seat.stopped_by says which
seat.answer("ndb_mgm> SHOW")
seat.branch()                        # the same moment once more; seat.go_to(0) is the one before
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_clock
from ndbplan.train.conditions import Condition, parsed
from ndbplan.train.consoles import WORLD, Consoles
from ndbplan.train.lessons.play import Play
from ndbplan.train.live import LiveCluster

STEP_S = 0.1
"""The least time that flows."""
AT_ONCE_S = 5.0
"""So much passes between two looks at whether to stop."""
MOST_BRANCHES = 8
MOST_BREAKPOINTS = 8


class _Said(NamedTuple):
    begin_s: float
    line: str
    text: str
    end_s: float


class SeatError(UserError):
    """Something that there are enough of, or none."""


class Seat:
    """One person's place; of a lesson, or before a cluster of one's own."""

    def __init__(self, played: Consoles | Play) -> None:
        # As before a screen: whoever waits at one console goes on at another.
        played.cluster.apart = True
        self._branches: list[Consoles | Play] = [played]
        self._said: list[tuple[_Said, ...]] = [()]
        """What was typed in each branch, and answered."""
        self.place = 0
        """Which branch it is."""
        self.breakpoints: tuple[Condition, ...] = ()
        self._held: set[str] = set()
        """Breakpoints that hold: each stops only when it begins to."""
        self.stopped_by = ""
        """What the last flow of time was stopped by; empty: nothing."""
        self.said: list[str] = []
        """What of a lesson came true while time flowed."""

    @property
    def played(self) -> Consoles | Play:
        """What is played in the branch in front."""
        return self._branches[self.place]

    @property
    def play(self) -> Play | None:
        """The lesson; None: there is none."""
        return self.played if isinstance(self.played, Play) else None

    @property
    def cluster(self) -> LiveCluster:
        """The cluster in front."""
        return self.played.cluster

    @property
    def is_over(self) -> bool:
        """Time passes no more."""
        return self.cluster.is_over or (self.play is not None and self.play.finished)

    def answer(self, line: str) -> str:
        """What a line is answered."""
        played = self.played
        (played.consoles if isinstance(played, Play) else played).is_apart = True
        begin_s = self.cluster.now_s
        text = played.answer(line)
        said = _Said(begin_s, line.strip(), text, self.cluster.now_s)
        self._said[self.place] = (*self._said[self.place], said)
        self.stopped_by = ""
        if said.end_s > begin_s:
            # Time passed while it was answered.
            self._stops()
        self._held = self._holding()
        return text

    def befall(self, line: str) -> str:
        """A deed of a trainer in a lesson: what came of it."""
        if self.play is None:
            return ""
        befallen = self.play.befall(line)
        self.said += [befallen.said] if befallen.said else []
        return befallen.answer

    def flow(self, seconds: float, go_on: Callable[[], bool] = lambda: True) -> float:
        """Let so much time pass, or less: until a breakpoint, the end, or `go_on` says no. How much did."""
        self.stopped_by = ""
        begin_s, left = self.cluster.now_s, round(seconds / STEP_S)
        shares = any(term.is_share for one in self.breakpoints for term in one.terms)
        most = AT_ONCE_S if not self.breakpoints else STEP_S if shares else 1.0
        while left > 0 and not self.is_over and go_on():
            steps = min(left, round(most / STEP_S))
            left -= steps
            self._pass(round(steps * STEP_S, 9))
            if self.breakpoints and self._stops():
                break
        return self.cluster.now_s - begin_s

    def _pass(self, seconds: float) -> None:
        if self.play is not None:
            said = self.play.flow(seconds)
            self.said += [said] if said else []
        else:
            self.cluster.advance(seconds)

    def transcript(self) -> str:
        """What was typed in the branch in front, with what it was answered as remarks: it plays again."""
        at_s, text = STEP_S, f"{WORLD} apart\n"
        for one in self._said[self.place]:
            passed_s = round(one.begin_s - at_s, 1)
            if passed_s > 0:
                text += f"{WORLD} wait {passed_s:g}s\n"
            elif passed_s < 0:
                text += f"{WORLD} rewind to {one.begin_s:g}s\n"
            text += f"{one.line}\n" + "".join(f"# {line}".rstrip() + "\n" for line in one.text.splitlines())
            at_s = one.end_s
        return text

    # Breakpoints.

    def stop_when(self, text: str) -> Condition:
        """Stop time when something begins to be so. Raises UserError for what cannot be asked for."""
        condition = parsed(text)
        condition.found(self.cluster.session.simulation)
        if len(self.breakpoints) >= MOST_BREAKPOINTS:
            raise SeatError(f"there are {MOST_BREAKPOINTS} breakpoints already", fix="take one away")
        if condition.text not in {one.text for one in self.breakpoints}:
            self.breakpoints = (*self.breakpoints, condition)
        self._held = self._holding()
        return condition

    def forget(self, text: str) -> None:
        """Take a breakpoint away."""
        self.breakpoints = tuple(one for one in self.breakpoints if one.text != text)

    def _holding(self) -> set[str]:
        sim = self.cluster.session.simulation
        return {one.text for one in self.breakpoints if one.holds(sim)}

    def _stops(self) -> bool:
        before, self._held = self._held, self._holding()
        new = [one for one in self.breakpoints if one.text in self._held - before]
        if new:
            self.stopped_by = f"{new[0].text}: {new[0].found(self.cluster.session.simulation)}"
        return bool(new)

    # Branches.

    @property
    def branches(self) -> tuple[str, ...]:
        """Each branch, and where it stands: `A 1:30`."""
        return tuple(
            f"{chr(ord('A') + i)} {format_clock(one.cluster.now_s)}" for i, one in enumerate(self._branches)
        )

    def branch(self) -> None:
        """Go on in another branch from here; this one stays where it is. Raises SeatError."""
        here = self.played
        if isinstance(here, Play):
            raise SeatError("a lesson has one course", fix="go back with the slider, which costs points")
        if len(self._branches) >= MOST_BRANCHES:
            raise SeatError(f"there are {MOST_BRANCHES} branches already", fix="begin the session anew")
        self._branches.append(here.on(here.cluster.branch()))
        self._said.append(self._said[self.place])
        self.place = len(self._branches) - 1

    def go_to(self, place: int) -> None:
        """Bring another branch to the front."""
        self.place = max(0, min(place, len(self._branches) - 1))
        self._held = self._holding()
