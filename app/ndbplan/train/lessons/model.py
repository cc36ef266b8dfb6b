"""What a lesson is: a story on a plan, what happens in it, and what a trainee is to see, name and cure.

    lesson = Lesson.model_validate(yaml)
    at = lesson.worded(lesson.starts[0])        # the same with the words of one of its plans

Every condition is one of `train/conditions.py`, every deed one of `train/world.py`; a number that is asked
for is worked out from the plan (`figures.py`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ndbplan.base.authored import WORD, worded
from ndbplan.base.errors import UserError
from ndbplan.base.units import format_clock, format_value, parse_duration_s
from ndbplan.plan.fields import Identifier, Part

FULL = 100
"""Points of a lesson."""
LONGEST_S = 86400.0


def _seconds(value: Any) -> Any:
    if isinstance(value, str) and WORD.fullmatch(value):
        return value
    try:
        return parse_duration_s(value) if isinstance(value, str) else value
    except UserError as error:
        raise ValueError(error.what) from None


Span = Annotated[
    float,
    BeforeValidator(_seconds),
    Field(ge=0, le=LONGEST_S),
    WithJsonSchema({"type": ["number", "string"], "description": "Seconds, or a text such as 90s or 5min."}),
]
Worded = Annotated[str, Field(pattern=r"^\{[a-z_]+\}$")]
"""A word that each plan of a lesson puts a value for."""
Text = Annotated[str, Field(min_length=1, max_length=4000)]
Line = Annotated[str, Field(min_length=1, max_length=500)]
Clock = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
Points = Annotated[int, Field(ge=0, le=FULL)]


class Begin(Part):
    """A plan that the lesson can be played on."""

    name: Name
    """`article` or `today`, as people choose it."""
    sample: Identifier
    """A sample of the product."""
    changes: tuple[Line, ...] = ()
    """ADDRESS=VALUE, as for `ndbplan set`."""
    workload: Annotated[str, Field(max_length=200)] = ""
    """What clients send; empty: the plan's first workload."""
    reserved: Annotated[int, Field(ge=0, le=72)] = 0
    """Node groups that are configured besides, and do not run."""
    words: dict[str, str | int | float] = Field(default_factory=dict)
    """What stands for `{word}` in the texts, lines and conditions of the lesson."""


class Happening(Part):
    """Something that befalls the cluster."""

    at: Span
    """After the start."""
    do: Line
    """A deed as behind the prompt `!`."""


class Evidence(Part):
    """Something that can be looked at and shows what is the matter."""

    name: Name
    look: tuple[Line, ...] = Field(min_length=1)
    """The words of any of these are in a line at a console, in this order: `from logbuffers`, `$ iostat`."""
    sees: tuple[Line, ...] = ()
    """The words of any of these are in one line of the answer, in this order; empty: any answer shows it."""
    says: Text
    """What it shows, for the debriefing."""
    while_: Annotated[str, Field(max_length=500)] = Field(default="", alias="while")
    """A condition: looked at only while it is so, it shows something. Empty: it always does."""
    points: Points = 0
    """0: it need not be looked at; the debriefing tells of it."""


class Goal(Part):
    """Something that is to be so."""

    name: Name
    when: Line
    """A condition."""
    lasts: Span = 0.0
    """For how long at least."""
    by: Span | Worded = 0.0
    """When it has to be so at the latest, after the start of the lesson; 0: whenever."""
    says: Text
    points: Points
    at_end: bool = True
    """It has to be so at the end still."""
    cures: bool = False
    """The trouble is over with it."""

    @property
    def asks_for(self) -> str:
        """What is to be so, how long and by when."""
        lasts = f", for {format_value(self.lasts, 's')}" if self.lasts else ""
        by = f", by {format_clock(self.by)}" if isinstance(self.by, float) and self.by else ""
        return f"{self.says}{lasts}{by}"


class Keep(Part):
    """Something that has to be so all the time."""

    name: Name
    when: Line
    since: Span = 0.0
    says: Text
    points: Points


class Option(Part):
    """One answer to choose."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]$")]
    text: Text
    right: bool = False
    why: str = ""


class Question(Part):
    """A question: a number that the plan gives, or a choice."""

    name: Name
    ask: Text
    figure: str = ""
    """Name of a figure; empty: a choice."""
    options: tuple[Option, ...] = ()
    points: Points
    names: bool = False
    """The trouble is named with it."""

    @model_validator(mode="after")
    def _one_kind(self) -> Question:
        if bool(self.figure) == bool(self.options):
            raise ValueError("a question has either a figure or options")
        if self.options and sum(option.right for option in self.options) != 1:
            raise ValueError("exactly one option is right")
        return self


class Hint(Part):
    """Help that costs points."""

    text: Text
    costs: Points


class Stage(Part):
    """A part of the lesson; the next one begins when all of it is done."""

    name: Name
    task: Text
    evidence: tuple[Evidence, ...] = ()
    questions: tuple[Question, ...] = ()
    goals: tuple[Goal, ...] = ()
    hints: tuple[Hint, ...] = ()
    routes: tuple[tuple[Line, ...], ...] = Field(min_length=1)
    """Lines that do all of it; the first way leads to the reference state. `{question}` is its answer."""

    def items(self) -> tuple[Evidence | Question | Goal, ...]:
        """All that is to be done in it."""
        return (*self.evidence, *self.questions, *self.goals)


class Lesson(Part):
    """A lesson."""

    format: Literal[1]
    name: Name
    order: Annotated[int, Field(ge=0, le=999)] = 999
    """Its place in the list."""
    title: Annotated[str, Field(min_length=1, max_length=100)]
    about: Annotated[str, Field(min_length=1, max_length=300)]
    source: Annotated[str, Field(max_length=300)] = ""
    """Where its facts are from."""
    reads: tuple[Annotated[str, Field(pattern=r"^[a-z-]+\.md$")], ...] = ()
    """Pages of the guide."""
    story: Text
    starts: tuple[Begin, ...] = Field(min_length=1)
    clock: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}$")] = (
        "2026-01-05 08:00"
    )
    """What the clocks of the cluster show at the start."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1
    step: Span = 0.1
    """Time of a step of the simulation."""
    limit: Span
    """Simulated time that there is."""
    happens: tuple[Happening, ...] = ()
    trouble: Annotated[str, Field(max_length=500)] = ""
    """A condition: from here on there is something to notice. Empty: from the first happening on."""
    shows: tuple[Line, ...] = ()
    """Quantities that the debriefing compares what was looked at with."""
    allows: tuple[str, ...] = ("load", "set", "move")
    """Deeds of `!` that are in the hands of the trainee."""
    keeps: tuple[Keep, ...] = ()
    stages: tuple[Stage, ...] = Field(min_length=1)
    harms: tuple[Line, ...] = ()
    """Deeds that seem to cure and harm another goal."""
    rewind_costs: Points = 2
    wrong_costs: Annotated[float, Field(ge=0, le=1)] = 0.34
    """Share of a question's points that each wrong answer costs."""

    def worded(self, start: Begin) -> Lesson:
        """The same with the words of one of its plans in every text."""
        plain = self.model_dump(by_alias=True, exclude={"starts"})
        return Lesson.model_validate(
            worded(plain, start.words) | {"starts": [self.model_dump()["starts"][0]]}
        )

    def points(self) -> int:
        """All that can be had."""
        items = [item for stage in self.stages for item in stage.items()]
        return sum(keep.points for keep in self.keeps) + sum(item.points for item in items)

    def start(self, name: str = "") -> Begin | None:
        """The plan of this name; without one the first."""
        return next((one for one in self.starts if not name or one.name == name), None)
