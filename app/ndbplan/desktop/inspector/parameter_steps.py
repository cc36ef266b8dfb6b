"""One step up and down of the selected parameter, as *What matters* tries it: seen before it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.previews import Edit
from ndbplan.desktop.inspector.mysqld_scope import MysqldScope
from ndbplan.desktop.inspector.parameter_model import Scope
from ndbplan.desktop.widgets.preview_card import preview_made
from ndbplan.desktop.widgets.sections import label, link
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

if TYPE_CHECKING:
    from ndbplan.advise.candidate import Change

_WAYS = ("up", "down")


def _together(found: Sequence[dict[str, Change]]) -> dict[str, Change]:
    """Steps of several nodes that lead to the same value on each of them."""
    if len(found) == 1:
        return found[0]
    same: dict[str, Change] = {}
    for way in _WAYS:
        ones = [steps[way] for steps in found if way in steps]
        texts = {one.title.split(" on ")[0] for one in ones}
        if len(ones) == len(found) and len(texts) == 1:
            edit = partial(_each, [one.edit for one in ones])
            same[way] = replace(ones[0], title=f"{texts.pop()} on {len(ones)} data nodes", edit=edit)
    return same


def _each(edits: Sequence[Edit], plan: Plan) -> Plan:
    for edit in edits:
        plan = edit(plan)
    return plan


class ParameterSteps(QWidget):
    """Links to the next values; hidden where there are none."""

    def __init__(self, context: Context, refuse: Callable[[str], None]) -> None:
        super().__init__()
        self._context, self._refuse = context, refuse
        self._changes: dict[str, Change] = {}
        self._name = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(label("One step", "muted", wrap=False))
        self.links = {way: link("", partial(self._do, way), f"One step {way}") for way in _WAYS}
        for way in reversed(_WAYS):
            preview_made(
                self.links[way],
                lambda: context.estimates.previews,
                f"One step {way}",
                partial(self._edit, way),
            )
            row.addWidget(self.links[way])
        row.addStretch(1)
        self.hide()

    def show_of(self, scope: Scope | None, name: str) -> None:
        """Offer the steps of a parameter at a scope; None: of nothing."""
        self._name = name
        self._changes = {} if scope is None else self._found(scope, name)
        for way, one in self.links.items():
            change = self._changes.get(way)
            one.setVisible(change is not None)
            if change is not None:
                one.setText(change.title.removeprefix(f"{name} ").split(" on ")[0])
        self.setVisible(bool(self._changes))

    def _found(self, scope: Scope, name: str) -> dict[str, Change]:
        from ndbplan.advise.candidate_settings import steps_of

        plan = self._context.plan
        nodes = [node for i in scope.process_ids if isinstance(node := plan.by_id[i], DataNode)]
        if isinstance(scope, MysqldScope) or len(nodes) < len(scope.process_ids):
            return {}
        if not nodes:
            return steps_of(plan, scope.name, name)
        return _together([steps_of(plan, scope.name, name, node) for node in nodes])

    def _edit(self, way: str) -> Edit:
        return self._changes[way].edit if way in self._changes else lambda plan: plan

    def _do(self, way: str) -> None:
        change = self._changes[way]
        try:
            self._context.document.edit(change.title, change.edit)
        except UserError as error:
            self._refuse(error.line)
        else:
            self._refuse("")
