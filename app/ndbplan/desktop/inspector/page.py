"""What every page of the inspector shares: the objects it shows, its forms, its sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.widgets.forms import Form, Inner
from ndbplan.desktop.widgets.sections import Section, label


class Page(QWidget):
    """The editors and explanations of some objects of one kind; built anew for another selection."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__()
        self.context = context
        self.ids = tuple(ids)
        self._refreshed: list[Any] = []
        self._said: QLabel | None = None
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(10)

    def form(self, into: QVBoxLayout | None = None, inner: Inner | None = None) -> Form:
        """A new form for the page's objects at the end of the page (or of a section's body)."""
        form = Form(self.context.document, self.ids, inner, self.context.estimates)
        (into or self.column).addWidget(form)
        self._refreshed.append(form)
        return form

    def section(self, heading: str, *, collapsible: bool = False, expanded: bool = True) -> Section:
        """A new section at the end of the page."""
        section = Section(heading, collapsible=collapsible, expanded=expanded)
        self.column.addWidget(section)
        return section

    def keep_fresh(self, widget: Any) -> None:
        """Call `widget.refresh()` whenever the plan changes."""
        self._refreshed.append(widget)

    @property
    def only(self) -> Any:
        """The object, when the page shows exactly one; None otherwise."""
        return self.context.plan.by_id.get(self.ids[0]) if len(self.ids) == 1 else None

    def say(self, line: str) -> None:
        """Show at the end of the page why something cannot be done."""
        if self._said is None:
            self._said = label("", "fieldError")
            self.column.addWidget(self._said)
        self._said.setText(line)

    def refresh(self) -> None:
        """Show what the plan says now."""
        for widget in self._refreshed:
            widget.refresh()

    def shape(self) -> object:
        """What the page was built for beyond its ids; when it differs the page is built anew."""
        return None

    def show_estimate(self, estimate: Estimate) -> None:
        """Show what the engine says; nothing by default."""
