"""The map in the distribution panel: nodes by LDM threads or groups by fragments, and what a loss does."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from ndbplan.configuration.failing_parts import Part, place_part
from ndbplan.desktop.analyses.distribution_map_answer import (
    MapAnswer,
    MapQuestion,
    Order,
    ask_map,
    parts_to_lose,
)
from ndbplan.desktop.analyses.fill_map_view import FillMapView
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import as_it_is
from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.sections import Elided
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

if TYPE_CHECKING:
    from ndbplan.estimate.storage.fill_map import Measure, Places

_LEAST_LETTERS = 9
_NOBODY = "Lose nothing"
_SELECTION = "Lose the selection"
_SHOWN: tuple[tuple[str, Places, Order], ...] = (
    ("By rack", "nodes", "rack"),
    ("By number", "nodes", "number"),
    ("Fullest first", "nodes", "fullest"),
    ("Node groups", "groups", "number"),
    ("Fullest groups", "groups", "fullest"),
)


class MapPage(QWidget):
    """The map, how it is shown, and one line about it."""

    loss_shown = Signal(bool)
    """Whether it shows what a loss makes of primaries, whatever else was asked for."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._task: Task | None = None
        self._table_id: str | None = None
        self._measure: Measure = "rows"
        self._offered: Plan | None = None
        self.answer: MapAnswer | None = None
        self.view = FillMapView()
        self.view.chosen.connect(context.selection.set)
        self.view.menu_wanted.connect(self._offer_loss)
        self.line = Elided()
        self.shown = _box("Columns of the map", _LEAST_LETTERS)
        self.shown.setToolTip("Nodes with their LDM threads, or node groups with their fragments")
        self.shown.addItems([text for text, _, _ in _SHOWN])
        self.shown.activated.connect(lambda _i: self.compute())
        self.lost = _box("What is lost", len(_SELECTION) - 2)
        self.lost.setToolTip("Where primary replicas go when this node, host or rack is lost")
        self.lost.setMaxVisibleItems(18)
        self.lost.activated.connect(lambda _i: self.compute())
        context.selection.changed.connect(self._selected)
        self._build()

    def _build(self) -> None:
        self.controls = QWidget()
        """What is chosen here; stands where there is room for it."""
        row = QHBoxLayout(self.controls)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.shown)
        row.addWidget(self.lost)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.line)

    def say_beside(self, beside: bool) -> None:
        """Put the line beside what is chosen, where that has a line of its own; else below the map."""
        row, column = self.controls.layout(), self.layout()
        assert isinstance(row, QHBoxLayout)
        assert isinstance(column, QVBoxLayout)
        line, other = (row, column) if beside else (column, row)
        if line.indexOf(self.line) < 0:
            other.removeWidget(self.line)
            line.addWidget(self.line, 1 if beside else 0)

    def show_table(self, table_id: str | None, measure: Measure) -> None:
        """Show a table, or all of them, by rows, primaries or bytes."""
        self._table_id, self._measure = table_id, measure
        self.compute()

    @property
    def lost_part(self) -> Part | None:
        """What is lost: as chosen, or what is selected on the canvas; None: nothing."""
        chosen = self.lost.currentData()
        if chosen != _SELECTION:
            return chosen if self.lost.currentIndex() > 0 else None
        from ndbplan.describe.losses import part_of

        ids = self.context.selection.ids
        part = part_of(self.context.plan, ids[-1]) if ids else None
        return part if part is not None and part.kind in ("rack", "host", "node") else None

    def compute(self) -> None:
        """Ask the engine, in a thread."""
        if self._task is not None:
            self._task.cancel()
        plan = self.context.plan
        self._offer(plan)
        lost = self.lost_part
        places: Places
        order: Order
        _, places, order = _SHOWN[self.shown.currentIndex()]
        # Primaries are on nodes: what groups hold does not change with a loss.
        places = "nodes" if lost is not None else places
        question = MapQuestion(plan, self._table_id, places, self._measure, order, lost)
        self._task = self.context.tasks.start(lambda _task: ask_map(question), self._done)

    def ways_to_lose(self, column: int) -> list[int]:
        """Entries of the list of what may be lost that take a column of the map along."""
        picture, plan = self.view.picture, self.context.plan
        node_id = picture.columns[column].ids[0] if picture is not None else ""
        node = plan.by_id.get(node_id)
        if not isinstance(node, DataNode):
            return []
        host = plan.host(node.host_id)
        takes = [Part("node", str(node.node_id)), Part("host", host.hostname)]
        takes += [place_part(plan, place) for place in chain(plan.locations, host.location_id)]
        offered = [self.lost.itemData(at) for at in range(self.lost.count())]
        return [offered.index(part) for part in takes if part in offered]

    def _offer_loss(self, column: int, place: QPoint) -> None:
        menu = QMenu(self)
        for at in [*self.ways_to_lose(column), *([0] if self.lost.currentIndex() else [])]:
            menu.addAction(as_it_is(self.lost.itemText(at)), partial(self.lose, at))
        menu.popup(place)

    def lose(self, entry: int) -> None:
        """Lose what an entry of the list says."""
        self.lost.setCurrentIndex(entry)
        self.compute()

    def _offer(self, plan: Plan) -> None:
        """What may be lost, of this plan; a choice that is still there stays."""
        if plan is self._offered:
            return
        self._offered = plan
        chosen = self.lost.currentText()
        self.lost.blockSignals(True)
        self.lost.clear()
        self.lost.addItem(_NOBODY)
        self.lost.addItem(_SELECTION, _SELECTION)
        for part in parts_to_lose(plan):
            self.lost.addItem(f"Lose {part.text}", part)
        self.lost.setCurrentIndex(max(0, self.lost.findText(chosen)))
        self.lost.blockSignals(False)

    def _selected(self, ids: tuple[str, ...]) -> None:
        self.view.mark(frozenset(ids))
        if self.isVisible() and self.lost.currentData() == _SELECTION:
            self.compute()

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        answer: Any = outcome.value
        self.answer = answer
        self.view.show_picture(answer.picture if answer is not None else None)
        self.view.mark(frozenset(self.context.selection.ids))
        self.loss_shown.emit(answer is not None and answer.question.lost is not None)
        words, shorter = outcome.error, ""
        if answer is not None:
            words, shorter = answer.words, answer.shorter
        if self.lost.currentData() == _SELECTION and self.lost_part is None:
            shorter = ""
            words = "Select a data node, a host or a rack on the canvas to see where its primaries go."
        self.line.setText(words, *filter(None, [shorter, re.split("[:;]", shorter)[0]]))
        self.line.setProperty("look", "fieldError" if answer is not None and answer.stops else "muted")
        theme.restyle(self.line)
        self.line.setAlignment(Qt.AlignmentFlag.AlignLeft)


def _box(name: str, letters: int) -> QComboBox:
    """A box that gives way where there is little room."""
    box = ComboBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(_LEAST_LETTERS)
    least = box.minimumSizeHint().width()
    box.setMinimumContentsLength(letters)
    box.setMinimumWidth(least)
    return box
