"""What a person lets happen in a run, at a moment: kill, restart, slow down, fill up, cut off.

Each is an undoable edit of the workload's events; `wanted` then says from when on somebody wants to watch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_duration
from ndbplan.describe.titles import how_called
from ndbplan.desktop.document.document import Document
from ndbplan.edits import events
from ndbplan.plan.events import Event
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

Do = Callable[[str, Callable[[Plan], Plan]], bool]
"""One undoable step with its text; False when it was refused, which was said then."""


def section_name(number: int) -> str:
    """What the section of an event is called on the page of its workload."""
    return f"event {number}"


class EventEdits(QObject):
    """Puts events into the workload that is looked at, where the replay stands."""

    wanted = Signal(float)
    """An event was put at this moment: somebody wants to see what comes of it."""

    def __init__(self, document: Document, do: Do, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._do = document, do
        self.chosen: Callable[[], str | None] = lambda: None
        """Id of the workload that is looked at; None: the plan's first."""
        self.stands_at_s: float | None = None
        """Where the replay of a run stands; None: nothing is replayed."""
        self.run_lasts_s: float | None = None
        """How long the run that is replayed is; None: nothing is replayed."""

    @property
    def workload(self) -> Workload | None:
        """The workload whose events are meant; None: the plan has none, or nothing to run it on."""
        plan, chosen = self._document.plan, self.chosen()
        if not plan.workloads or not plan.data_nodes:
            return None
        return next((w for w in plan.workloads if w.id == chosen), plan.workloads[0])

    @property
    def length_s(self) -> float:
        """How long the run is, or will be."""
        workload = self.workload
        lasts_s = workload.duration_s if workload is not None else 0.0
        return self.run_lasts_s if self.run_lasts_s is not None else lasts_s

    @property
    def moment_s(self) -> float:
        """The moment that is meant unless one is typed: where the replay stands, else the middle."""
        at_s = float(round(self.stands_at_s or 0.0))
        return at_s if 0 < at_s < self.length_s else float(round(self.length_s / 2))

    def keeps_down(self, object_id: str, at_s: float) -> Event | None:
        """The event that keeps a part down, slow or full at a moment; None: it is well."""
        workload = self.workload
        if workload is None:
            return None
        return events.keeps_down(self._document.plan, workload.id, object_id, at_s)

    def kill(self, ids: Sequence[str], at_s: float, back_after_s: float | None = None) -> bool:
        """Let parts fail at one moment; `back_after_s`: started again so long after it."""
        return self._at("Kill", ids, at_s, partial(events.killed, back_after_s=back_after_s))

    def restart(self, ids: Sequence[str], at_s: float) -> bool:
        """Start parts at a moment: what is down by an earlier event then, else what is stopped there."""
        return self._at("Restart", ids, at_s, events.started_again)

    def slow(self, ids: Sequence[str], factor: float, at_s: float, duration_s: float = 0.0) -> bool:
        """Give disks so much of their speed; a duration of 0: until the end of the run."""

        def slowed(plan: Plan, workload_id: str, disk_ids: Sequence[str], at_s: float) -> Plan:
            return events.slowed(plan, workload_id, disk_ids, factor, at_s, duration_s)

        return self._at("Slow down", ids, at_s, slowed)

    def fill(self, ids: Sequence[str], at_s: float, duration_s: float = 0.0) -> bool:
        """Let other files take all room of disks; a duration of 0: until the end of the run."""
        return self._at("Fill up", ids, at_s, partial(events.filled, duration_s=duration_s))

    def lose_device(self, ids: Sequence[str], at_s: float, back_after_s: float | None = None) -> bool:
        """Let one device of each disk fail; `back_after_s`: replaced so long after it."""
        return self._at(
            "Lose a device of", ids, at_s, partial(events.without_device, back_after_s=back_after_s)
        )

    def cut_off(self, ids: Sequence[str], at_s: float, others: Sequence[str] = ()) -> bool:
        """Let parts lose sight of others, or of everything else."""
        return self._at("Cut off", ids, at_s, partial(events.cut_off, other_ids=others))

    def slow_link(
        self,
        ids: Sequence[str],
        factor: float,
        at_s: float,
        duration_s: float = 0.0,
        others: Sequence[str] = (),
    ) -> bool:
        """Give what crosses between parts and others, or everything else, so much of its bandwidth."""
        slowed = partial(events.slowed_link, factor=factor, duration_s=duration_s, other_ids=others)
        return self._at("Slow down the network of", ids, at_s, slowed)

    def _at(self, verb: str, ids: Sequence[str], at_s: float, edit: Callable[..., Plan]) -> bool:
        workload, plan = self.workload, self._document.plan
        if workload is None:
            return False
        what = how_called(plan, ids)
        length_s = self.length_s

        def at(plan: Plan) -> Plan:
            if not 0 <= at_s <= length_s:
                raise UserError(
                    f"{format_duration(at_s)} is after the end of the run, which lasts "
                    f"{format_duration(length_s)}",
                    fix="choose an earlier moment, or simulate for longer",
                )
            return edit(plan, workload.id, ids, at_s=at_s)

        if not self._do(f"{verb} {what} at {format_duration(at_s)}", at):
            return False
        self.wanted.emit(at_s)
        return True
