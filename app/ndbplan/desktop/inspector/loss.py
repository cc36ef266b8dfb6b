"""What the loss of the selected parts means for the cluster: goes on, asks, stops."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.describe.losses import meanings
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.look.text import sentence
from ndbplan.desktop.widgets.sections import Section, empty, label

LOOKS = {"goes on": "lossGood", "asks": "lossAsks", "stops": "lossStops"}


class LossSection(QWidget):
    """Follows the plan; nothing is shown for what cannot fail."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__()
        self._context, self._ids = context, tuple(ids)
        self._section = Section("What its loss means" if len(ids) == 1 else "What their loss means")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._section)
        self.refresh()

    def refresh(self) -> None:
        """Judge the plan as it is now."""
        try:
            told = meanings(self._context.plan, self._ids)
        except UserError:
            told = []
        empty(self._section.body)
        for name, loss, why in told:
            line = label(f"{name}: {loss.text}", LOOKS[loss.verdict])
            self._section.body.addWidget(line)
            if why and why not in loss.text:
                self._section.body.addWidget(label(f"{sentence(why)}.", "muted"))
        self.setVisible(bool(told))
