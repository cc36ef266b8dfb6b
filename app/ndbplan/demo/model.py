"""What a demo is: scenes, each a saved view of a plan with a text whose numbers are worked out.

    demo = Demo.model_validate(yaml)
    at = demo.worded(demo.starts[0])        # the same with the words of one of its plans

A scene says which variant is shown, what is selected, which panel and moment, how near, and what consoles of
that moment are asked. `{…}` in a text is a number of the plan (see `texts`); none is written as a digit.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ndbplan.base.authored import worded
from ndbplan.plan.fields import Label, Part
from ndbplan.plan.project import MAIN
from ndbplan.train.lessons.model import Line, Name, Span, Worded

MOST_SCENES = 100
Panel = Literal[
    "", "Simulation", "Distribution", "Tables", "Memory", "Operations", "Failures", "Problems", "Compare",
    "What matters", "Export preview",
]  # fmt: skip
"""Tabs of the analyses; nothing: the consoles, or the canvas alone."""
Operation = Literal["node", "initial", "system", "rolling", "add_nodes"]
Chart = Literal["rates", "latency", "buffers", "log", "writes"]


class Fact(Part):
    """A number that somebody measured, to hold against what comes out."""

    value: float
    unit: Annotated[str, Field(max_length=20)] = ""
    source: Annotated[str, Field(min_length=1, max_length=300)]


class Begin(Part):
    """A plan that the demo can be played on."""

    name: Name
    """`published` or `today`, as people choose it."""
    title: Annotated[str, Field(max_length=100)] = ""
    sample: Annotated[str, Field(max_length=100)] = ""
    """A sample of the product; or a file:"""
    file: Annotated[str, Field(max_length=1000)] = ""
    """A plan file, from the folder of the demo; its variants are those that scenes show."""
    changes: tuple[Line, ...] = ()
    """ADDRESS=VALUE, as for `ndbplan set`."""
    words: dict[str, str | int | float] = Field(default_factory=dict)
    """What stands for `{word}` in the scenes."""

    @model_validator(mode="after")
    def _one_plan(self) -> Self:
        if bool(self.sample) == bool(self.file):
            raise ValueError("a plan is either a sample or a file")
        return self


class Variation(Part):
    """A variant that the demo makes of its plan."""

    name: Label
    changes: tuple[Line, ...] = ()
    groups: Annotated[int, Field(ge=0, le=8)] = 0
    """Node groups that are added."""


class Scene(Part):
    """A view and what is said about it."""

    title: Annotated[str, Field(min_length=1, max_length=100)]
    text: Annotated[str, Field(max_length=4000)] = ""
    variant: Label = MAIN
    select: tuple[Annotated[str, Field(max_length=200)], ...] = ()
    """Ids of what is selected on the canvas."""
    look: Literal["all", "selection"] = "all"
    """What the canvas shows; or exactly:"""
    zoom: Annotated[float, Field(gt=0, le=100)] | None = None
    centre: tuple[float, float] | None = None
    """Point of the canvas in the middle."""
    panel: Panel = ""
    chart: Chart | None = None
    """The chart of a simulation that it is about."""
    operation: Operation | None = None
    """The operation that it is about."""
    workload: Annotated[str, Field(max_length=200)] = ""
    """Id of what is simulated; empty: the plan's first."""
    at: Span | Worded = 0.0
    """The moment of the replay, and of the consoles."""
    consoles: tuple[Line, ...] = ()
    """Lines that are asked at that moment: `mysql> SELECT …`, `host1$ iostat -kx`."""

    @property
    def replays(self) -> bool:
        """Whether the canvas shows a moment of a run: the one of the charts, or of the consoles."""
        return self.panel == "Simulation" or bool(self.consoles)


class Demo(Part):
    """A demo."""

    format: Literal[1]
    name: Name
    order: Annotated[int, Field(ge=0, le=999)] = 999
    """Its place in the list."""
    title: Annotated[str, Field(min_length=1, max_length=100)]
    about: Annotated[str, Field(max_length=300)] = ""
    source: Annotated[str, Field(max_length=300)] = ""
    """Where its facts are from."""
    facts: dict[str, Fact] = Field(default_factory=dict)
    starts: tuple[Begin, ...] = Field(min_length=1)
    variants: tuple[Variation, ...] = Field(default=(), max_length=20)
    scenes: tuple[Scene, ...] = Field(default=(), max_length=MOST_SCENES)

    def worded(self, start: Begin) -> Demo:
        """The same with the words of one of its plans in every text, and that plan alone."""
        plain = self.model_dump(by_alias=True, exclude={"starts"})
        return Demo.model_validate(worded(plain, start.words) | {"starts": [start.model_dump()]})

    def start(self, name: str = "") -> Begin | None:
        """The plan of this name; without one the first."""
        return next((one for one in self.starts if not name or one.name == name), None)
