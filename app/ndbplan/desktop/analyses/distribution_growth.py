"""Controls of the distribution panel for more node groups: how many, under which load, and into the plan."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QWidget

from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.sections import label, spin_box

_ALL, _SOME, _FEW = 2, 1, 0
"""How much is said: every word, without those of the load, or no name of a field."""


class GrowthControls(QWidget):
    """How many node groups to add, what the clients do meanwhile, and the button that adds them."""

    changed = Signal()
    """Another question is asked; the plan is as it was."""
    groups_chosen = Signal()
    wanted = Signal()
    """The node groups shall be added to the plan."""

    def __init__(self) -> None:
        super().__init__()
        self.groups = spin_box()
        self.groups.setRange(0, 71)
        self.groups.setValue(1)
        self.groups.setAccessibleName("Node groups to add")
        self.groups.setToolTip("How many node groups to add: each with NoOfReplicas data nodes")
        self.groups.valueChanged.connect(lambda _v: self.groups_chosen.emit())
        self.load_box = ComboBox()
        self.load_box.setAccessibleName("Load while reorganising")
        self.load_box.setToolTip("What the clients do meanwhile")
        self.load_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.load_box.setMinimumContentsLength(6)
        self.load_box.setMaximumWidth(240)
        self.load_box.activated.connect(lambda _i: self.changed.emit())
        self.add_button = QPushButton("Add and reorganise")
        self.add_button.setToolTip(
            "Put these node groups into the plan, on hosts like the last group's, and spread the tables over "
            "them; undo takes it back"
        )
        self.add_button.clicked.connect(lambda: self.wanted.emit())
        self._groups_name = label("Add node groups", "fieldLabel", wrap=False)
        self._load_name = label("meanwhile", "fieldLabel", wrap=False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._groups_name)
        row.addWidget(self.groups)
        row.addWidget(self._load_name)
        row.addWidget(self.load_box, 20)
        row.addWidget(self.add_button)

    def fit(self, width: int) -> None:
        """Say as much as there is room for in so many pixels."""
        row = self.layout()
        assert row is not None
        for said in (_ALL, _SOME, _FEW):
            self._say(said)
            row.invalidate()
            if row.minimumSize().width() <= width:
                return

    def _say(self, said: int) -> None:
        self._groups_name.setHidden(said == _FEW)
        self.groups.setPrefix("Groups + " if said == _FEW else "")
        self._load_name.setHidden(said < _ALL)
        self.add_button.setText("Add and reorganise" if said == _ALL else "Add")

    def set_groups(self, groups: int) -> None:
        """Offer so many, without asking."""
        self.groups.blockSignals(True)
        self.groups.setValue(groups)
        self.groups.blockSignals(False)
