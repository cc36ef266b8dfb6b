"""Where the numbers of a report come from: what commands print with --json about one plan.

    answers = Answers(Asked.of(project))
    answers["estimate"]["memory"]           # a Place; None where the plan cannot answer

Each is worked out once, when it is first asked for, from the same analyses that its command asks; of some
only the part that reports show.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.base.shapes import printed
from ndbplan.exporting.evidence import digest
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project
from ndbplan.report.places import Place

if TYPE_CHECKING:
    from ndbplan.advise.max_load import MaxLoad
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.times.restart import Kind
    from ndbplan.simulate.result import SimulationResult

Json = dict[str, Any]
MONTHS = 24
YEAR, _EACH = 12, 2
"""Months of a year, and between two that the command prints."""
LARGE = 48
"""Data nodes from which on what takes longest is left out unless it is named."""


@dataclass(frozen=True)
class Asked:
    """What a report is about."""

    project: Project
    place: int = 0
    """Which variant it describes."""
    against: tuple[str, ...] = ()
    """Names of variants that stand side by side; the first is judged against."""
    seed: int = 1
    workload: str | None = None
    """Name or id of what is simulated; None: the first."""
    given: dict[str, Json | None] = field(default_factory=dict)
    """Answers that are not worked out: their source is not in the project."""

    @property
    def plan(self) -> Plan:
        """The plan that it describes."""
        return self.project.variants[self.place].plan

    @cached_property
    def now(self) -> Estimation:
        """What is estimated of it, under its workload."""
        from ndbplan.estimate.estimation import Estimation, chosen_workload

        return Estimation(self.plan, chosen_workload(self.plan, self.workload))

    @cached_property
    def run(self) -> SimulationResult:
        """Its simulated load. Raises UserError without a workload."""
        from ndbplan.simulate.model.workload import estimation_of
        from ndbplan.simulate.run import simulate

        return simulate(estimation_of(self.plan, self.workload), seed=self.seed)

    @cached_property
    def highest(self) -> MaxLoad:
        """Its highest load. Raises UserError without a workload."""
        from ndbplan.advise.max_load import max_load
        from ndbplan.simulate.model.workload import estimation_of

        return max_load(estimation_of(self.plan, self.workload))


@dataclass
class Answers:
    """What each command says of the plan, by the command."""

    asked: Asked
    cancelled: Callable[[], bool] = lambda: False
    _known: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, command: str) -> Place | None:
        """The answer of a command of SOURCES; None where the plan cannot answer."""
        answer = self.json(command)
        return None if answer is None else Place(answer, f"{command}: ")

    def json(self, command: str) -> Any:
        """The same without its address."""
        if command not in self._known:
            self._known[command] = self._ask(command)
        return self._known[command]

    def _ask(self, command: str) -> Any:
        if self.cancelled():
            from ndbplan.base.errors import Cancelled

            raise Cancelled
        if command in self.asked.given:
            return self.asked.given[command]
        try:
            answer = SOURCES[command](self.asked)
        except UserError:
            return None
        return None if answer is None else printed(answer)

    def digests(self) -> dict[str, str]:
        """SHA-256 of each answer that was given, by its command."""
        found = {command: answer for command, answer in self._known.items() if answer is not None}
        return {command: digest(found[command]) for command in sorted(found)}


def _needs_groups(asked: Asked) -> Estimation:
    from ndbplan.configuration.node_groups import node_groups

    if not node_groups(asked.plan):
        raise UserError("the plan has no complete node group", where="plan", fix="add data nodes")
    return asked.now


def _near(asked: Asked, kind: str) -> Json:
    from ndbplan.estimate.stored import situation
    from ndbplan.ndb.nearness import nearness

    return {"nearness": nearness(kind, situation(asked.plan)).to_json()}


def _plan(asked: Asked) -> Json:
    from ndbplan.plan.project_json import whole

    return whole(asked.plan)


def _hosts(asked: Asked) -> Json:
    """Hosts and processes with every value, also those that a plan file leaves out."""
    return asked.plan.model_dump(mode="json", include={"hosts", "processes", "locations", "calibrations"})


def _check(asked: Asked) -> Json:
    from ndbplan.checks.run import check_all

    problems = check_all(asked.plan)
    return {
        "problems": [problem.to_json() for problem in problems if not problem.waived],
        "waived": [{**p.to_json(), "reason": p.waived} for p in problems if p.waived],
    }


def _estimate(asked: Asked) -> Json:
    now = _needs_groups(asked)
    shape = now.to_json(only=("memory", "disk_space", "disk_data"))
    shape["memory"].update(_near(asked, "storage"))
    return {**shape, "redo": _near(asked, "load")}


def _growth(asked: Asked) -> Json | None:
    from ndbplan.estimate.space.growth import grows, growth

    now = _needs_groups(asked)
    if not grows(asked.plan):
        return None
    # Of a large cluster only each year, at the places that these months have in what the command prints.
    step = YEAR if len(asked.plan.data_nodes) > LARGE else _EACH
    shape = growth(asked.plan, MONTHS, step=step, workload=now.workload).to_json()
    months: list[Json | None] = [None] * (MONTHS // _EACH + 1)
    for month in shape["months"]:
        months[month["month"] // _EACH] = month
    return {"growth": {**shape, "months": months}}


def _distribute(asked: Asked) -> Json:
    """Without each partition: there may be hundreds of each table."""
    from ndbplan.estimate.storage.skew import skew_in_short

    now = _needs_groups(asked)
    return {"tables": [skew_in_short(now.distribution_of(table)) for table in asked.plan.tables]}


def _simulate(asked: Asked) -> Json:
    _needs_groups(asked)
    return asked.run.to_json() | _near(asked, "load")


def _simulate_why(asked: Asked) -> Json:
    """The figures of the first page with their derivations."""
    _needs_groups(asked)
    return {"latency_mean_s": asked.run.latency_mean_s.to_json(why=True)}


def _series(asked: Asked) -> Json:
    _needs_groups(asked)
    rows = iter(csv.reader(asked.run.to_csv().splitlines()))
    names = next(rows)
    return dict(
        zip(names, ([float(one) for one in column] for column in zip(*rows, strict=True)), strict=True)
    )


def _max_load(*, why: bool) -> Callable[[Asked], Json]:
    def answer(asked: Asked) -> Json:
        _needs_groups(asked)
        return asked.highest.to_json(why)

    return answer


def _survive(asked: Asked) -> Json:
    from ndbplan.advise.survival import survive

    _needs_groups(asked)
    return survive(asked.now, 1).to_json()


def _restart(kind: Kind, *, why: bool = False) -> Callable[[Asked], Json]:
    def answer(asked: Asked) -> Json:
        now = _needs_groups(asked).under(None)
        return now.restart(kind, None).to_json(why) | _near(asked, "restart")

    return answer


def _procedure(asked: Asked) -> Json:
    from ndbplan.operations.add_nodes import add_nodes

    return add_nodes(_needs_groups(asked).under(None), 1).to_json() | _near(asked, "restart")


def _reorg(asked: Asked) -> Json:
    return _needs_groups(asked).under(None).reorganise(1).to_json()


def _backup(asked: Asked) -> Json | None:
    now = _needs_groups(asked).under(None)
    saved = now.backup()
    if not saved.nodes:
        # Without a table there is nothing to save.
        return None
    return {
        "backup": saved.to_json() | _near(asked, "backup"),
        "restore": now.restore().to_json(),
    }


def _backup_why(asked: Asked) -> Json | None:
    saved = _needs_groups(asked).under(None).backup()
    return {"backup": {"duration_s": saved.duration_s.to_json(why=True)}} if saved.nodes else None


def _cost(asked: Asked) -> Json | None:
    from ndbplan.advise.cost import cost_of

    found = cost_of(asked.plan)
    return None if found.total is None else found.to_json()


def _tighten(asked: Asked) -> Json:
    from ndbplan.advise.assumed_hardware import deciding_hardware
    from ndbplan.advise.tighten import assumptions

    now = _needs_groups(asked).under(None)
    return {
        "assumptions": [one.to_json() for one in assumptions(now)],
        "hardware": [one.to_json() for one in deciding_hardware(now)],
    }


def _what_matters(asked: Asked) -> Json | None:
    from ndbplan.advise.figures import FIGURES
    from ndbplan.advise.what_matters import what_matters

    now = _needs_groups(asked)
    if now.workload is None:
        return None
    return what_matters(now, FIGURES["max-load"], top=20).to_json()


def _compare(asked: Asked) -> Json | None:
    from ndbplan.advise.compare import compare
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    if len(asked.against) < 2:
        return None
    plans = {variant.name: variant.plan for variant in asked.project.variants}
    columns = [
        (name, Estimation(plans[name], chosen_workload(plans[name], asked.workload)))
        for name in asked.against
    ]
    return compare(columns).to_json()


def _parameters(asked: Asked) -> Json:
    from ndbplan.describe.parameters import SETTERS, parameter_rows

    return {"parameters": [row.to_json() for row in parameter_rows(asked.plan, SETTERS[:3])]}


def _export(asked: Asked) -> Json:
    from ndbplan.exporting.config_ini import render_config_ini

    return {"config.ini": render_config_ini(asked.plan)}


def _runbook(asked: Asked) -> Json:
    from ndbplan.exporting.runbook import render_markdown
    from ndbplan.operations.life import operations

    return {"runbook.md": render_markdown(asked.plan, operations(asked.plan, 1))}


SOURCES: dict[str, Callable[[Asked], Json | None]] = {
    "plan": _plan,
    "plan with defaults": _hosts,
    "check": _check,
    "estimate": _estimate,
    f"estimate --months {MONTHS}": _growth,
    "distribute": _distribute,
    "simulate": _simulate,
    "simulate --csv": _series,
    "simulate --why": _simulate_why,
    "max-load": _max_load(why=False),
    "max-load --why": _max_load(why=True),
    "what-matters": _what_matters,
    "survive": _survive,
    "restart --kind node": _restart("node"),
    "restart --kind node --why": _restart("node", why=True),
    "restart --kind system --why": _restart("system", why=True),
    "restart --kind initial": _restart("initial"),
    "restart --kind system": _restart("system"),
    "restart --kind rolling": _restart("rolling"),
    "procedure --kind add-nodes": _procedure,
    "reorg --add-groups 1": _reorg,
    "backup": _backup,
    "backup --why": _backup_why,
    "cost": _cost,
    "tighten": _tighten,
    "compare": _compare,
    "parameters": _parameters,
    "export --only config": _export,
    "export --only runbook": _runbook,
}
"""By the command that prints the same: `plan` is the plan file, `--csv` the series of a run."""
