"""What the scenes of a demo come to: texts with their numbers, and consoles at the moment of the replay.

    stage = Stage(demo.worded(start), project)
    stage.shown(3).lines, stage.shown(3).consoles

Everything is worked out from the plan when it is first asked for, and kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ndbplan.demo.model import Demo, Scene
from ndbplan.demo.texts import FACT, NOW, TextError, address, paragraphs
from ndbplan.edits.reading import near
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project
from ndbplan.report.document import Line, Run
from ndbplan.report.places import found, rounded, shown
from ndbplan.report.sources import SOURCES, Answers, Asked
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.quantities import SHARES, value

_A_MOMENT_MORE_S = 1.0
_SIDE_BY_SIDE = 4
"""Variants that compare takes."""


class Console(NamedTuple):
    """A line at a console, and what it was answered."""

    line: str
    answer: str


class Shown(NamedTuple):
    """What is said and shown in a scene."""

    title: str
    lines: tuple[Line, ...]
    """Paragraphs."""
    consoles: tuple[Console, ...]


class Stage:
    """The scenes of one demo on one plan. `demo`: with the words of that plan."""

    def __init__(self, demo: Demo, project: Project, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.demo, self.project, self._cancelled = demo, project, cancelled
        self._answers: dict[tuple[str, str], Answers] = {}
        self._clusters: dict[tuple[str, str], LiveCluster] = {}
        self._shown: dict[int, Shown] = {}

    def plan_of(self, scene: Scene) -> Plan:
        """The plan that a scene shows. KeyError for a variant that is not there."""
        return self.project.variants[self._place(scene.variant)].plan

    def workload_of(self, scene: Scene) -> str:
        """Id of what a scene simulates. Raises UserError where the plan has no such workload."""
        plan = self.plan_of(scene)
        if not plan.workloads:
            raise TextError("the plan has no workload", where="workload", fix="add one")
        known = [workload.id for workload in plan.workloads]
        if scene.workload and scene.workload not in known:
            what = f"the plan has no workload '{scene.workload}'"
            raise TextError(what, where="workload", fix=f"one of {', '.join(known)}")
        return scene.workload or known[0]

    def answers(self, scene: Scene, variant: str = "") -> Answers:
        """What commands say of the scene's variant, or of another, under its workload."""
        name = variant or scene.variant
        workload = self.workload_of(scene) if self.plan_of(scene).workloads else ""
        key = (name, workload)
        if key not in self._answers:
            asked = Asked(
                self.project, self._place(name), self.project.names[:_SIDE_BY_SIDE], workload=workload or None
            )
            self._answers[key] = Answers(asked, self._cancelled)
        return self._answers[key]

    def cluster(self, scene: Scene) -> LiveCluster:
        """The simulated cluster at the scene's moment; it is nobody else's. Raises UserError."""
        key, at_s = (scene.variant, self.workload_of(scene)), float(scene.at)
        known = self._clusters.get(key)
        if known is None or known.now_s > at_s:
            plan = self.plan_of(scene)
            lasts_s = max(plan.workload(key[1]).duration_s, at_s + _A_MOMENT_MORE_S)
            known = self._clusters[key] = LiveCluster.begin(plan, key[1], hours=lasts_s / 3600.0)
        known.advance(max(0.0, at_s - known.now_s))
        return known.branch()

    def shown(self, place: int) -> Shown:
        """What a scene says. Raises UserError that says which number there is none of."""
        if place not in self._shown:
            scene = self.demo.scenes[place]
            lines = paragraphs(scene.text, partial(self._number, scene))
            self._shown[place] = Shown(scene.title, lines, self._asked(scene))
        return self._shown[place]

    def _asked(self, scene: Scene) -> tuple[Console, ...]:
        if not scene.consoles:
            return ()
        consoles = Consoles(self.cluster(scene))
        return tuple(Console(line, consoles.answer(line)) for line in scene.consoles)

    def _place(self, variant: str) -> int:
        if variant not in self.project.names:
            raise TextError(
                f"there is no variant '{variant[:60]}'", fix=f"one of {', '.join(self.project.names)}"
            )
        return self.project.names.index(variant)

    def _number(self, scene: Scene, inside: str) -> Line:
        if inside.startswith(FACT):
            return (self._fact(inside.removeprefix(FACT)),)
        if inside.startswith(NOW):
            name = inside.removeprefix(NOW)
            number = value(name, self.cluster(scene).session.simulation)
            unit = "fraction" if name in SHARES else ""
            return (Run(shown(rounded(number, unit), unit), inside, "figure"),)
        variant, at, with_range = address(inside, scene.variant)
        command = at.partition(": ")[0]
        if command not in SOURCES:
            raise TextError(f"'{{{inside[:80]}}}' is not a number of a plan", fix=near(command, SOURCES))
        try:
            place = found(self.answers(scene, variant).json, at)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise TextError(
                f"'{{{inside[:80]}}}': {command} of '{variant}' says nothing there",
                fix=f"see what 'ndbplan {command} PLAN --json' prints",
            ) from error
        whose = "" if variant == scene.variant else f"{variant} | "
        line = place.line() if with_range else (place.run(),)
        return tuple(replace(run, at=f"{whose}{run.at}" if run.at else "") for run in line)

    def _fact(self, name: str) -> Run:
        fact = self.demo.facts.get(name)
        if fact is None:
            raise TextError(f"the demo states no fact '{name[:60]}'", fix=near(name, self.demo.facts))
        return Run(shown(fact.value, fact.unit), f"{FACT}{name}", "figure")
