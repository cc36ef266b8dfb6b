"""What somebody measured, laid over the charts of a run: read in a thread, moved in time, taken away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ndbplan.base.units import format_clock, how_many
from ndbplan.desktop.analyses.simulation.playback import Scrubber
from ndbplan.desktop.analyses.simulation.save_menu import SaveMenu
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome
from ndbplan.plan.file import SUFFIX

if TYPE_CHECKING:
    from ndbplan.importing.held_against import Held
    from ndbplan.importing.measured_series import Measured
    from ndbplan.plan.plan import Plan
    from ndbplan.simulate.result import SimulationResult


class MeasuredOverlay(QObject):
    """One file at a time; another one takes its place."""

    changed = Signal()
    """Other lines are to be drawn, or none."""
    failed = Signal(str)

    def __init__(self, context: Context, menu: SaveMenu, scrubber: Scrubber) -> None:
        super().__init__(menu)
        self._context, self._menu = context, menu
        self._measured: Measured | None = None
        self._name = ""
        self._starts_s = 0.0
        menu.measured_wanted.connect(self.take)
        menu.forget_wanted.connect(self.forget)
        menu.begin_wanted.connect(lambda: self.begin_at(scrubber.at_s))

    def take(self, paths: Iterable[Path]) -> None:
        """Read a file and show what is in it; one that is no series says why."""
        path = next(iter(paths), None)
        if path is None:
            return
        if path.suffix == SUFFIX:
            self.failed.emit(f"{path.name} is a plan — drop it on the canvas to open it")
            return
        self._context.tasks.start(lambda _task: read_in_thread(path), lambda done: self._read(path, done))

    def _read(self, path: Path, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        if outcome.error:
            self.failed.emit(outcome.error)
            return
        self._measured, self._name, self._starts_s = outcome.value, path.name, 0.0
        self._menu.offer_measured(there=True)
        self.changed.emit()

    def begin_at(self, at_s: float) -> None:
        """Let its first moment be this moment of the run."""
        self._starts_s = at_s
        self.changed.emit()

    def forget(self) -> None:
        """Take it away."""
        self._measured = None
        self._menu.offer_measured(there=False)
        self.changed.emit()

    def held(self, result: SimulationResult, plan: Plan) -> Held | None:
        """The lines beside those of a run; None: nothing was measured."""
        if self._measured is None:
            return None
        from ndbplan.importing.held_against import held_against

        return held_against(result, plan, self._measured, self._starts_s)

    def in_words(self, held: Held | None) -> tuple[str, ...]:
        """What is shown of it, in one line, and in shorter ones."""
        if held is None:
            return ("",)
        begin = f" from {format_clock(self._starts_s)} on" if self._starts_s else ""
        notes = "".join(f"; {note}" for note in held.notes)
        lines = how_many(len(held.lines), "line")
        told = f"{lines} over the charts"
        return f"{self._name}: {told}{begin}{notes}", f"{self._name}: {told}", told, f"{lines} measured"


def read_in_thread(path: Path) -> Measured:
    """What is in a file. Raises UserError, which names it."""
    from ndbplan.importing.files import read_file
    from ndbplan.importing.measured_series import MeasuredSeriesError, read_measured

    try:
        return read_measured(read_file(path).decode("utf-8", "replace"))
    except MeasuredSeriesError as error:
        where = f"{path.name}, {error.where}" if error.where else path.name
        raise MeasuredSeriesError(error.what, where=where, fix=error.fix) from None
