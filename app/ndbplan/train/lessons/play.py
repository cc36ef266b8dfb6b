"""A lesson that is played: the consoles of a live cluster, and the words of the lesson beside them.

    play = Play(lesson, lesson.starts[0], "Ann")
    play.answer("mysql> SELECT * FROM ndbinfo.logbuffers;")
    play.answer("lesson> answer cause b")
    play.outcome()

The same lines give the same outcome, to the byte: whatever is handed in can be played again.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_clock
from ndbplan.train import world
from ndbplan.train.conditions import shown
from ndbplan.train.consoles import LESSON, LESSON_WORDS, WORLD, Consoles, addressed
from ndbplan.train.lessons.begin import begun, estimation_of
from ndbplan.train.lessons.looking import sight
from ndbplan.train.lessons.model import FULL, Begin, Evidence, Goal, Lesson, Question, Stage
from ndbplan.train.lessons.questions import Asked, asked
from ndbplan.train.lessons.records import TRAINEE, TRAINER, Befallen, Look, Mark, Step
from ndbplan.train.lessons.referee import Judges, Referee, referee_of
from ndbplan.train.live import LiveCluster

MOST_SHOWN = 12
"""Lines of an answer that the debriefing keeps."""


WAITS = ("wait", "until")
"""What lets time pass and does nothing else."""


class Play:
    """A lesson under way."""

    def __init__(self, lesson: Lesson, start: Begin, trainee: str = "") -> None:
        """Raises UserError when its plan cannot be simulated."""
        self.lesson, self.start, self.trainee = lesson.worded(start), start, trainee
        self.raw = lesson
        self.now = estimation_of(start)
        self.steps: list[Step] = []
        self.looks: list[Look] = []
        self.early: dict[str, float] = {}
        """When evidence was last looked for and did not show."""
        self.marks: dict[str, Mark] = {}
        self.asked: dict[str, Asked] = {}
        self.hints: list[str] = []
        self.skipped: set[str] = set()
        """Stages that the reference route went through."""
        self.rewinds = 0
        self.finished = False
        self.broken: dict[str, float] = {}
        """Keeps that broke before the cluster began anew."""
        self.place = 0
        """Which stage is under way."""
        self.arrivals = 0
        """How often another stage began."""
        self._flowing_from: float | None = None
        """Since when time passes that no line says yet."""
        self._begin(begun(self.lesson, start))

    def _begin(self, cluster: LiveCluster, before: Consoles | None = None) -> None:
        self.cluster, self.consoles = cluster, Consoles(cluster, before)
        self.consoles.came = self._looked
        self._enter()

    def branch(self) -> Play:
        """The same moment once more, which goes on apart."""
        other = copy.copy(self)
        other.cluster = self.cluster.branch()
        other.consoles = self.consoles.on(other.cluster)
        other.consoles.came = other._looked
        for name in ("steps", "looks", "early", "marks", "hints", "skipped", "broken"):
            setattr(other, name, copy.copy(getattr(self, name)))
        other.asked = {name: copy.copy(one) for name, one in self.asked.items()}
        return other

    @property
    def referee(self) -> Referee:
        """Who watches the goals."""
        return referee_of(self.cluster.session.simulation)

    @property
    def stage(self) -> Stage | None:
        """The one under way; None: all are done."""
        return self.lesson.stages[self.place] if self.place < len(self.lesson.stages) else None

    # Lines.

    @property
    def following(self) -> str:
        """The prompt of a shell that follows a log; empty: none does."""
        return self.consoles.following

    def news(self) -> list[tuple[str, str]]:
        """New lines of what is followed."""
        return self.consoles.news()

    def befall(self, line: str) -> Befallen:
        """Something that the trainer does, as behind `!`; what is refused befalls nobody."""
        answer = self._answered(f"{WORLD} {line.strip()}", TRAINER)
        return Befallen(answer, self._progress())

    def answer(self, line: str, by: str = TRAINEE) -> str:
        """What a line is answered, and what of the lesson came true with it."""
        is_over, answer = self.finished, self._answered(line.strip(), by)
        return answer if is_over else answer + self._progress()

    def _answered(self, text: str, by: str) -> str:
        found = addressed(text)
        self._write_down_wait()
        if self.finished:
            return "ndbplan: the lesson is over — see it with 'ndbplan lesson debrief'\n"
        at_s = self.cluster.now_s
        if found is None:
            return self.consoles.answer(text)
        if found.prompt == LESSON:
            answer = self._word(found.text)
        elif found.prompt == WORLD:
            answer = self._world(found.text, by)
        else:
            answer = self.consoles.answer(text)
            if by == TRAINEE:
                self._looked(at_s, text, answer)
        if by == TRAINEE or not answer.startswith("ndbplan: "):
            self.steps.append(Step(at_s, text, self.cluster.now_s, by))
        return answer

    def again(self, step: Step) -> str:
        """A step of an earlier play, at the moment at which it was made; time passes as it did."""
        self.pass_to(step.at_s)
        found = addressed(step.line)
        if found is not None and found.prompt == WORLD and found.text.split(" ")[0] in WAITS:
            self.pass_to(step.ended_s)
            if not self.finished:
                self.steps.append(step)
            return self._progress()
        return self.answer(step.line, step.by)

    def passes(self, seconds: float) -> None:
        """So much time passed without a line."""
        self.answer(f"{WORLD} wait {seconds:g}s")

    def flow(self, seconds: float) -> str:
        """A little time passes while nobody types; what of the lesson came true with it.

        A wait from the last line to the next, or to the end of a stage, is the line that is written down.
        """
        if self.finished:
            return ""
        if self._flowing_from is None:
            self._flowing_from = self.cluster.now_s
        self.cluster.advance(seconds)
        said = self._progress()
        if said:
            self._write_down_wait()
        return said

    def _write_down_wait(self) -> None:
        begun_s, self._flowing_from = self._flowing_from, None
        ended_s = self.cluster.now_s
        if begun_s is not None and ended_s > begun_s:
            self.steps.append(Step(begun_s, f"{WORLD} wait {round(ended_s - begun_s, 9):.10g}s", ended_s))

    @property
    def is_over(self) -> bool:
        """All is done, or the time is over."""
        return self.finished

    def pass_to(self, at_s: float) -> None:
        """Let time pass until then; not back."""
        if at_s > self.cluster.now_s + 1e-9:
            self.cluster.advance(at_s - self.cluster.now_s)

    def _world(self, text: str, by: str) -> str:
        verb = text.split(" ", 1)[0].lower()
        if by == TRAINEE and verb in world.DEEDS and verb not in self.lesson.allows:
            mine = ", ".join((*world.OF_TIME, *self.lesson.allows))
            return f"ndbplan: '{verb}' is not in your hands in this lesson — you may {mine}\n"
        if by == TRAINEE and verb in world.DEEDS and self.stage is not None and not self.stage.goals:
            return "ndbplan: nothing is to be changed in this stage — type 'lesson> task' for what is\n"
        before_s = self.cluster.now_s
        answer = self.consoles.answer(f"{WORLD} {text}")
        if verb == "rewind" and self.cluster.now_s < before_s:
            self.rewinds += 1
            under_way = {goal.name for goal in self.stage.goals} if self.stage else set()
            for name in under_way - self.referee.reached.keys():
                self.marks.pop(name, None)
            self._enter()
        return answer

    def _looked(self, at_s: float, line: str, answer: str) -> None:
        sim = self.cluster.session.simulation
        truth = {name: shown(name, sim) for name in self.lesson.shows}
        stage, shows = self.stage, ""
        for one in () if stage is None else stage.evidence:
            found = sight(one, line, answer, sim)
            if found.shows:
                shows = shows or one.name
                if one.name not in self.marks:
                    self.marks[one.name] = Mark(one.name, at_s, one.points, one.says)
            elif found.asks:
                self.early[one.name] = at_s
        kept = "\n".join(answer.splitlines()[:MOST_SHOWN])
        self.looks.append(Look(at_s, line, kept, truth, shows))

    def too_early(self) -> str:
        """What is said of looks at what the stage asks for that did not show it; empty: there was none."""
        stage = self.stage
        missed = [
            self.early[one.name]
            for one in (() if stage is None else stage.evidence)
            if one.points and one.name in self.early and one.name not in self.marks
        ]
        if not missed:
            return ""
        return f"Your look at {format_clock(max(missed))} did not show it: another moment or place does."

    # Stages.

    def _enter(self) -> None:
        """Goals of the stage count from now on; those of earlier ones did before."""
        names = tuple(
            goal.name for stage in self.lesson.stages[: self.place + 1] for goal in stage.goals
            if goal.name not in self.referee.since
        )  # fmt: skip
        if names:
            self.cluster.act(Judges(names))

    def _progress(self) -> str:
        """What is done by now."""
        said = []
        while (stage := self.stage) is not None:
            for goal in stage.goals:
                if goal.name in self.referee.reached and goal.name not in self.marks:
                    at_s = self.referee.reached[goal.name]
                    late = isinstance(goal.by, float) and 0.0 < goal.by < at_s
                    self.marks[goal.name] = Mark(goal.name, at_s, 0 if late else goal.points, goal.says)
                    said.append(f"{'Too late' if late else 'Reached'}: {goal.says}")
            if any(not self._is_done(item) for item in stage.items()):
                break
            self.place += 1
            self.arrivals += 1
            self._enter()
            after = self.stage
            more = " All is done." if after is None else ""
            said.append(f"Stage '{stage.name}' is done.{more}")
        if not self.finished and (self.stage is None or self.cluster.is_over):
            said.append(self._finish())
        return "".join(f"[lesson] {one}\n" for one in said)

    def _is_done(self, item: Evidence | Question | Goal) -> bool:
        if isinstance(item, Question):
            found = self.asked.get(item.name)
            return found is not None and found.is_closed
        return item.name in self.marks or (isinstance(item, Evidence) and not item.points)

    def _finish(self) -> str:
        self.finished = True
        why = "The time is over. " if self.cluster.is_over and self.stage is not None else ""
        return f"{why}The lesson is over: {self.score():g} of {FULL} points."

    # Words of the lesson.

    def _word(self, text: str) -> str:
        word, _, rest = text.partition(" ")
        known = {
            "task": lambda _rest: self.task(), "hint": self._hint, "answer": self._answer,
            "stage": self._stage, "score": self._score, "read": self._read, "story": self._story,
            "finish": self._end, "help": self._help,
        }.get(word.lower())  # fmt: skip
        if known is None:
            return f"ndbplan: '{word[:40]}' is not a word of a lesson — one of {', '.join(LESSON_WORDS)}\n"
        return known(rest.strip())

    def task(self) -> str:
        """What is to be done now, asked and reached."""
        stage = self.stage
        if stage is None:
            return "All is done.\n"
        left_s = max(0.0, self.lesson.limit - self.cluster.now_s)
        lines = [f"Stage {self.place + 1} of {len(self.lesson.stages)}, '{stage.name}': {stage.task.strip()}"]
        wanted = [one for one in stage.evidence if one.points]
        if wanted:
            seen = sum(one.name in self.marks for one in wanted)
            lines.append(f"  Looked at so far: {seen} of {len(wanted)}. {self.too_early()}".rstrip())
        for question in stage.questions:
            if question.name not in self.asked or not self.asked[question.name].is_closed:
                lines.append(f"  lesson> answer {question.name} …: {question.ask.strip()}")
                lines += [f"    {option.name}) {option.text}" for option in question.options]
        lines += [f"  Goal: {self._goal_told(goal)}" for goal in stage.goals]
        broken = self.broken_keeps()
        for keep in self.lesson.keeps if stage.goals else ():
            lines.append(f"  All the time: {keep.says}{' (not so any more)' if keep.name in broken else ''}.")
        hints = [h for i, h in enumerate(stage.hints) if f"{stage.name}/{i}" not in self.hints]
        if hints:
            lines.append(f"  lesson> hint: {hints[0].costs} points.")
        return "\n".join([*lines, f"  {format_clock(left_s)} of simulated time is left."]) + "\n"

    def _goal_told(self, goal: Goal) -> str:
        if goal.name in self.marks:
            now = "not so any more" if goal.name in self.lost() else "reached"
        else:
            now = "so now" if self.referee.holds(goal.name, self.cluster.session.simulation) else "not so yet"
        return f"{goal.asks_for} ({now})."

    def _story(self, _rest: str) -> str:
        return self.lesson.story.strip() + "\n"

    def _read(self, _rest: str) -> str:
        pages = ", ".join(self.lesson.reads) or "no page in particular"
        return f"The guide: {pages} (in the window under Help, or resources/guide).\n"

    def _hint(self, _rest: str) -> str:
        stage = self.stage
        for number, hint in enumerate(() if stage is None else stage.hints):
            assert stage is not None
            name = f"{stage.name}/{number}"
            if name not in self.hints:
                self.hints.append(name)
                return f"{hint.text.strip()} (costs {hint.costs})\n"
        return "There is no hint more for this stage.\n"

    def _answer(self, rest: str) -> str:
        name, _, given = rest.partition(" ")
        stage = self.stage
        known = {} if stage is None else {question.name: question for question in stage.questions}
        if name not in known:
            there = f"answer one of {', '.join(known)}" if known else "this stage asks nothing"
            what = f"'{name[:40]}' is not asked now" if name else "which question is answered is not said"
            return f"ndbplan: {what} — {there}\n"
        unseen = [] if stage is None else [one for one in stage.evidence if not self._is_done(one)]
        if unseen:
            if early := self.too_early():
                return f"ndbplan: an answer without a look is a guess — {early[0].lower()}{early[1:]}\n"
            return "ndbplan: an answer without a look is a guess — look first: the task says where\n"
        state = self.asked.setdefault(name, asked(known[name], self.now, self.lesson.wrong_costs))
        try:
            said = state.give(given.strip())
        except UserError as error:
            return f"ndbplan: {error.line}\n"
        if state.is_right:
            self.marks[name] = Mark(name, self.cluster.now_s, state.points, known[name].ask)
        return said + "\n"

    def _stage(self, rest: str) -> str:
        names = [stage.name for stage in self.lesson.stages]
        if rest not in names:
            what = f"'{rest[:40]}' is not a stage" if rest else "a stage is wanted"
            return f"ndbplan: {what} — one of {', '.join(names)}\n"
        place = names.index(rest)
        self._keep_broken()
        self.skipped |= {name for name in names[:place] if name not in self._whole_stages()}
        reference = self._reference(place)
        self.place = place
        reference.cluster.apart = self.cluster.apart
        self._begin(reference.cluster, reference.consoles)
        self.arrivals += 1
        return f"You are at the begin of '{rest}', as the reference route gets there.\n"

    def _whole_stages(self) -> set[str]:
        return {stage.name for stage in self.lesson.stages[: self.place]}

    def _reference(self, place: int) -> Play:
        """The lesson after the reference routes of all stages before one."""
        other = Play(self.raw, self.start)
        for stage in other.lesson.stages[:place]:
            for line in other.route_lines(stage.routes[0]):
                other.answer(line)
        return other

    def route_lines(self, route: tuple[str, ...]) -> Iterator[str]:
        """Lines of a route; `{question}` becomes its answer."""
        questions = {one.name: one for stage in self.lesson.stages for one in stage.questions}
        for line in route:
            for name, question in questions.items():
                if f"{{{name}}}" in line:
                    line = line.replace(f"{{{name}}}", asked(question, self.now, 0.0).solution)
            yield line

    def _score(self, _rest: str) -> str:
        done = "".join(
            f"  {mark.points:g} {name} at {format_clock(mark.at_s)}\n" for name, mark in self.marks.items()
        )
        return f"{self.score():g} of {FULL} points\n{done}"

    def _end(self, _rest: str) -> str:
        return f"{self._finish()}\n"

    def _help(self, _rest: str) -> str:
        return (
            "task (what is to be done, asked and reached), story, read, score; hint (costs points);\n"
            "answer QUESTION ANSWER, as in 'answer cause b' or 'answer rate 48MB/s'; finish;\n"
            "stage NAME (brings you to its begin as the reference route gets there; what lies before it "
            "gives no points)\n"
        )

    # Points.

    def _keep_broken(self) -> None:
        self.broken |= {name: at_s for name, at_s in self.referee.broken.items() if name not in self.broken}

    def broken_keeps(self) -> dict[str, float]:
        """What had to be so all the time and was not, and when first."""
        return {**self.referee.broken, **self.broken}

    def lost(self) -> list[str]:
        """Goals that were reached and are not so any more."""
        sim = self.cluster.session.simulation
        return [
            goal.name
            for stage in self.lesson.stages
            for goal in stage.goals
            if goal.name in self.marks and goal.at_end and not self.referee.holds(goal.name, sim)
        ]

    def score(self) -> float:
        """Points so far: what was done, and what has to be so all the time once all else is done."""
        lost = set(self.lost())
        done = sum(mark.points for mark in self.marks.values() if mark.name not in lost)
        broken = self.broken_keeps()
        if self.stage is None:
            done += sum(keep.points for keep in self.lesson.keeps if keep.name not in broken)
        return max(0.0, round(done - self.costs(), 1))

    def costs(self) -> float:
        """Of hints and of going back; wrong answers are off the points of their questions."""
        costs = {f"{s.name}/{i}": hint.costs for s in self.lesson.stages for i, hint in enumerate(s.hints)}
        return sum(costs[name] for name in self.hints) + self.rewinds * self.lesson.rewind_costs


def route(lesson: Lesson, start: Begin, number: int) -> Play:
    """A lesson played by one of its routes: in each stage the way of this number, round again at the last."""
    play = Play(lesson, start)
    for line in lines_of_route(play, number):
        play.answer(line)
    return play


def lines_of_route(play: Play, number: int) -> list[str]:
    """All lines of a route through a lesson."""
    ways = (stage.routes[number % len(stage.routes)] for stage in play.lesson.stages)
    return [line for way in ways for line in play.route_lines(way)]
