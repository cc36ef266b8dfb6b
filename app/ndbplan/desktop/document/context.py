"""What inspector and analyses work on."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.document.tasks import Tasks
from ndbplan.plan.plan import Plan


@dataclass(frozen=True)
class Context:
    """The document, what is selected, what the engine says, and threads for more."""

    document: Document
    selection: Selection
    estimates: Estimates
    tasks: Tasks

    @property
    def plan(self) -> Plan:
        """The plan as it is now."""
        return self.document.plan
